// The JSON of a list, element by element. A chat puts its whole list of messages after
// each step, and serialising it takes longer than all the rest: an element that is what
// it was has the text that it had.
//
// Objects may be changed by whoever has them, so that being the same object says
// nothing. Each element is compared with a snapshot of what was serialised, member by
// member, which takes a tenth of the time; and only elements of which it is known what
// their text depends on: plain JSON values, and messages of LangChain's own classes.

import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { isSameBytes } from "./compare-bytes.js";
import { isLangGraphs, MESSAGE_CLASSES } from "./langgraph-serde.js";
import type { Blob } from "./wire/operations.js";

// Of a shorter list, taking snapshots would be most of the work.
const WORTH_SPLITTING = 8;
// What nests deeper is serialised as a whole; so are circles.
const DEEPEST = 24;
const OPENING = "[".charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const CLOSING = "]".charCodeAt(0);

// Their text depends on their own members, and on nothing else.
const PLAIN = new Set<unknown>([Object.prototype, null]);
const MESSAGES = new Set<unknown>(Object.values(MESSAGE_CLASSES).map(({ prototype }) => prototype));

/** What an object was: its members in their order, each a snapshot. */
interface Shape {
  readonly prototype: unknown;
  readonly keys: readonly string[] | undefined;
  readonly members: readonly Snapshot[];
}
type Snapshot = Shape | string | number | boolean | null | undefined;

const UNKNOWN = Symbol("a value whose text may depend on anything");

interface Element {
  readonly snapshot: Snapshot;
  /** The same object as long as the text is the same. */
  readonly bytes: Uint8Array;
}

/** A list, serialised. @internal */
export class ListValue implements Blob {
  readonly type = "json";
  readonly elements: readonly Element[];
  /** How many bytes it has, without making them. */
  readonly size: number;

  constructor(elements: readonly Element[]) {
    this.elements = elements;
    this.size = 2 + sizeOf(elements);
  }

  get bytes(): Uint8Array {
    const all = new Uint8Array(this.size);
    all[0] = OPENING;
    write(this.elements, all, 1);
    all[this.size - 1] = CLOSING;
    return all;
  }

  /** What between the first `prefix` and the last `suffix` bytes of `base` makes this. */
  differenceFrom(base: ListValue): { prefix: number; suffix: number; middle: Uint8Array } {
    const [before, after] = [base.elements, this.elements];
    const most = Math.min(before.length, after.length);
    let first = 0;
    while (first < most && before[first]?.bytes === after[first]?.bytes) first++;
    let last = 0;
    while (last < most - first && before.at(-1 - last)?.bytes === after.at(-1 - last)?.bytes) {
      last++;
    }
    const added = after.slice(first, after.length - last);
    const hasPrefix = first > 0 && (added.length > 0 || last > 0);
    const hasSuffix = last > 0 && added.length > 0;
    const middle = new Uint8Array(sizeOf(added) + Number(hasPrefix) + Number(hasSuffix));
    if (hasPrefix) middle[0] = COMMA;
    write(added, middle, Number(hasPrefix));
    if (hasSuffix) middle[middle.length - 1] = COMMA;
    return {
      prefix: 1 + sizeOf(after.slice(0, first)),
      suffix: 1 + sizeOf(after.slice(after.length - last)),
      middle,
    };
  }
}

/**
 * The list as the serialiser makes it, with the texts of `base` where it has the same;
 * undefined if it must be serialised whole. Reads the list before it returns. @internal
 */
export function dumpList(
  serde: SerializerProtocol,
  list: unknown,
  base: ListValue | undefined,
): Promise<ListValue> | undefined {
  if (!isPlainList(list) || list.length < WORTH_SPLITTING || !isLangGraphs(serde)) return undefined;
  const known = base?.elements ?? [];
  const elements: Element[] = new Array(list.length);
  const pending: Promise<void>[] = [];
  for (let i = 0; i < list.length; i++) {
    const value: unknown = list[i];
    // It is where it was, from the beginning or from the end.
    const twins = [known[i], known[i + known.length - list.length]];
    const same = twins.find((twin) => twin !== undefined && isSame(twin.snapshot, value));
    if (same !== undefined) {
      elements[i] = same;
      continue;
    }
    const snapshot = snapshotOf(value, DEEPEST);
    if (snapshot === UNKNOWN) return undefined;
    pending.push(
      dumpElement(serde, value).then((bytes) => {
        const alike = twins.find((twin) => twin !== undefined && isSameBytes(twin.bytes, bytes));
        elements[i] = { snapshot, bytes: alike?.bytes ?? bytes };
      }),
    );
  }
  return Promise.all(pending).then(() => new ListValue(elements));
}

// In a list, since by itself a value may be stored as another type.
async function dumpElement(serde: SerializerProtocol, value: unknown): Promise<Uint8Array> {
  const [, list] = await serde.dumpsTyped([value]);
  return list[0] === OPENING ? list.subarray(1, -1) : list;
}

function isPlainList(value: unknown): value is unknown[] {
  return (
    Array.isArray(value) &&
    Object.getPrototypeOf(value) === Array.prototype &&
    (value as { toJSON?: unknown }).toJSON === undefined
  );
}

function snapshotOf(value: unknown, depth: number): Snapshot | typeof UNKNOWN {
  if (typeof value !== "object" || value === null) {
    return typeof value === "bigint" || typeof value === "function" || typeof value === "symbol"
      ? UNKNOWN
      : (value as Snapshot);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (depth === 0 || !isKnown(value, prototype)) return UNKNOWN;
  const keys = Array.isArray(value) ? undefined : Object.keys(value);
  const values =
    keys === undefined ? (value as unknown[]) : keys.map((key) => memberOf(value, key));
  const members: Snapshot[] = [];
  for (let i = 0; i < values.length; i++) {
    const member = snapshotOf(values[i], depth - 1);
    if (member === UNKNOWN) return UNKNOWN;
    members.push(member);
  }
  return { prototype, keys, members };
}

function isSame(snapshot: Snapshot, value: unknown): boolean {
  if (typeof snapshot !== "object" || snapshot === null) return snapshot === value;
  if (typeof value !== "object" || value === null) return false;
  const { prototype, keys, members } = snapshot;
  if (Object.getPrototypeOf(value) !== prototype || !isKnown(value, prototype)) return false;
  if (keys === undefined) {
    const list = value as unknown[];
    return list.length === members.length && members.every((member, i) => isSame(member, list[i]));
  }
  const current = Object.keys(value);
  if (current.length !== keys.length) return false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    if (current[i] !== key || !isSame(members[i], memberOf(value, key))) return false;
  }
  return true;
}

function isKnown(value: object, prototype: unknown): boolean {
  const { toJSON } = value as { toJSON?: unknown };
  if (MESSAGES.has(prototype)) return toJSON === (prototype as { toJSON: unknown }).toJSON;
  return toJSON === undefined && (PLAIN.has(prototype) || prototype === Array.prototype);
}

function memberOf(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}

// With a comma between each two.
function sizeOf(elements: readonly Element[]): number {
  let size = Math.max(elements.length - 1, 0);
  for (const { bytes } of elements) size += bytes.length;
  return size;
}

function write(elements: readonly Element[], into: Uint8Array, start: number): void {
  let at = start;
  for (const [i, { bytes }] of elements.entries()) {
    if (i > 0) into[at++] = COMMA;
    into.set(bytes, at);
    at += bytes.length;
  }
}
