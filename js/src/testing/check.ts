// Checks without a test runner: each throws an Error which says what was expected.

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
}

function sameBytes(left: Uint8Array, right: unknown): boolean {
  return (
    right instanceof Uint8Array &&
    left.length === right.length &&
    left.every((byte, i) => byte === right[i])
  );
}

function sameMembers(left: Record<string, unknown>, right: Record<string, unknown>): boolean {
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && same(left[key], right[key]))
  );
}

function same(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (left instanceof Uint8Array) return sameBytes(left, right);
  if (!isPlain(left) || !isPlain(right)) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  if (Object.prototype.toString.call(left) === "[object Date]") {
    return Number(left as unknown as Date) === Number(right as unknown as Date);
  }
  return sameMembers(left, right);
}

function show(value: unknown): string {
  const text = JSON.stringify(value, (_, member: unknown) => {
    if (member === undefined) return "(undefined)";
    if (member instanceof Uint8Array) return `bytes(${member.length}) ${member.slice(0, 16)}`;
    return member;
  });
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}

export function expectTrue(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

/** Deep equality; the order of an object's keys does not count. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (!same(actual, expected)) {
    throw new Error(`${what}\n  expected: ${show(expected)}\n  actual:   ${show(actual)}`);
  }
}

export function expectClose(actual: number | undefined, expected: number, what: string): void {
  if (actual === undefined || !(Math.abs(actual - expected) < 1e-5)) {
    throw new Error(`${what}\n  expected: about ${expected}\n  actual:   ${actual}`);
  }
}

/** Whether the call throws or its promise rejects, it must do so with an Error. */
export async function expectRejection(call: () => unknown, what: string): Promise<Error> {
  let outcome: unknown;
  try {
    outcome = await call();
  } catch (error) {
    // An Error of another realm is no instance of this one's.
    const named = error as Partial<Error> | null;
    expectTrue(typeof named?.message === "string", `${what}: rejected with something not an Error`);
    expectTrue(named?.message !== "", `${what}: rejected without a message`);
    return error as Error;
  }
  throw new Error(`${what}: expected an error\n  actual:   ${show(outcome)}`);
}
