// What a saver put last, so that of the next version only what is new is sent.
// The engine checks each base by its stamp, so that a wrong guess costs a second
// call and never a wrong value.

import type { Blob, CheckpointKey, NewCheckpoint, ValueDelta } from "./wire/operations.js";

// A smaller value is sent faster than it is compared.
const WORTH_COMPARING = 1024;
// Of all values together. The least recently put go first.
const KEPT_BYTES = 32 * 1024 * 1024;
// With more than this new between beginning and end, edits may lie apart: the
// engine, which has the whole value then, finds them.
const LARGEST_MIDDLE_EDIT = 4096;
const BLOCK = 64 * 1024;

const WHOLE = { stamp: 0, baseStamp: 0, prefix: 0, suffix: 0 } as const;

interface Kept {
  stamp: number;
  value: Blob;
}

/** @internal */
export class LatestValues {
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** The same checkpoint, with the differences from what was put last. */
  shorten(checkpoint: NewCheckpoint): { deltas: ValueDelta[]; values: NewCheckpoint["values"] } {
    const deltas: ValueDelta[] = [];
    const values = checkpoint.values.map((value) => {
      const base = this.#kept.get(keyOf(checkpoint.key, value.channel));
      const { delta, middle } = differenceOf(value.value, base);
      deltas.push(delta);
      return { ...value, value: middle };
    });
    return { deltas, values };
  }

  /**
   * After these values, whole, were put with these stamps. Without `areOurs` somebody
   * else may change their bytes.
   */
  keep(checkpoint: NewCheckpoint, deltas: readonly ValueDelta[], areOurs: boolean): void {
    const { key, values, newVersions } = checkpoint;
    // Some have lost their value, as "__start__" does in the step that reads it.
    for (const channel of newVersions) this.#drop(keyOf(key, channel));
    for (const [i, { channel, value }] of values.entries()) {
      const stamp = deltas[i]?.stamp ?? 0;
      const name = keyOf(key, channel);
      if (stamp === 0 || value.bytes.length > KEPT_BYTES) continue;
      const bytes = areOurs && value.type === "json" ? value.bytes : value.bytes.slice();
      this.#kept.set(name, { stamp, value: { type: value.type, bytes } });
      this.#bytes += value.bytes.length;
    }
    for (const name of this.#kept.keys()) {
      if (this.#bytes <= KEPT_BYTES) break;
      this.#drop(name);
    }
  }

  #drop(name: string): void {
    this.#bytes -= this.#kept.get(name)?.value.bytes.length ?? 0;
    this.#kept.delete(name);
  }
}

/** The same deltas, of values that are sent whole. @internal */
export function wholeDeltas(deltas: readonly ValueDelta[]): ValueDelta[] {
  return deltas.map(({ stamp }) => ({ ...WHOLE, stamp }));
}

function keyOf({ threadId, checkpointNs }: CheckpointKey, channel: string): string {
  // NUL is in no id.
  return `${threadId}\0${checkpointNs}\0${channel}`;
}

function differenceOf(value: Blob, base: Kept | undefined): { delta: ValueDelta; middle: Blob } {
  const { type, bytes } = value;
  if (bytes.length < WORTH_COMPARING) return { delta: WHOLE, middle: value };
  const stamp = newStamp();
  const whole = { delta: { ...WHOLE, stamp }, middle: value };
  if (base === undefined || base.value.type !== type) return whole;
  const before = base.value.bytes;
  const most = Math.min(before.length, bytes.length);
  const prefix = commonPrefix(before, bytes, most);
  const suffix = commonSuffix(before, bytes, most - prefix);
  const length = bytes.length - prefix - suffix;
  const replaced = before.length - prefix - suffix;
  if (length > bytes.length / 2 || (replaced > 0 && length > LARGEST_MIDDLE_EDIT)) return whole;
  return {
    delta: { stamp, baseStamp: base.stamp, prefix, suffix },
    middle: { type, bytes: bytes.subarray(prefix, prefix + length) },
  };
}

function newStamp(): number {
  return 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1));
}

function commonPrefix(a: Uint8Array, b: Uint8Array, most: number): number {
  let length = 0;
  while (length + BLOCK <= most && isSame(a, b, length, length, BLOCK)) length += BLOCK;
  while (length < most && a[length] === b[length]) length++;
  return length;
}

function commonSuffix(a: Uint8Array, b: Uint8Array, most: number): number {
  let length = 0;
  while (
    length + BLOCK <= most &&
    isSame(a, b, a.length - length - BLOCK, b.length - length - BLOCK, BLOCK)
  ) {
    length += BLOCK;
  }
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}

// Node compares bytes ten times as fast as a loop does.
const compareBytes: ((a: Uint8Array, b: Uint8Array) => number) | undefined = (
  globalThis as { Buffer?: { compare(a: Uint8Array, b: Uint8Array): number } }
).Buffer?.compare;

function isSame(a: Uint8Array, b: Uint8Array, atA: number, atB: number, length: number): boolean {
  if (compareBytes !== undefined) {
    return compareBytes(a.subarray(atA, atA + length), b.subarray(atB, atB + length)) === 0;
  }
  for (let i = 0; i < length; i++) {
    if (a[atA + i] !== b[atB + i]) return false;
  }
  return true;
}
