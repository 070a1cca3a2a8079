/**
 * FNV-1a of 32 bits, of bytes or of other whole numbers: enough to tell texts apart.
 * @param seed another one makes another hash
 * @internal
 */
export function fnv1a(numbers: ArrayLike<number>, seed: number = 0x811c9dc5): number {
  let hash = seed;
  // By number: of megabytes an iterator takes ten times as long.
  for (let i = 0; i < numbers.length; i++) {
    hash = Math.imul(hash ^ (numbers[i] as number), 0x01000193);
  }
  return hash >>> 0;
}

// What a typed array is, and nothing that only says so: it reads no property and no prototype.
const kindOf = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)?.get as (this: unknown) => string | undefined;

/** Also of another realm, such as a vm context or a frame. @internal */
export function isBytes(value: unknown): value is Uint8Array {
  return kindOf.call(value) === "Uint8Array";
}

/** Whether a transfer took its bytes away: it looks empty. @internal */
export function isDetached({ buffer, length }: Uint8Array): boolean {
  if (length > 0) return false;
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}
