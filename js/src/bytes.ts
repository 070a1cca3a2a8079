/**
 * FNV-1a of 32 bits, of bytes or of other whole numbers: enough to tell texts apart.
 * @param seed another one makes another hash
 * @internal
 */
export function fnv1a(numbers: Iterable<number>, seed: number = 0x811c9dc5): number {
  let hash = seed;
  for (const number of numbers) hash = Math.imul(hash ^ number, 0x01000193);
  return hash >>> 0;
}

/** Also of another realm, such as a vm context or a frame. @internal */
export function isBytes(value: unknown): value is Uint8Array {
  return (
    value instanceof Uint8Array || Object.prototype.toString.call(value) === "[object Uint8Array]"
  );
}
