// What a saver put last, so that of the next version only what is new is sent.
// The engine checks each base by its stamp, so that a wrong guess costs a second
// call and never a wrong value.

import { commonPrefix, commonSuffix } from "../bytes.js";
import type { Blob, CheckpointKey, NewCheckpoint, ValueDelta } from "../wire/operations.js";
import { ListValue } from "./list-value.js";

// A smaller value is sent faster than it is compared.
const WORTH_COMPARING = 1024;
// Of all values together. The least recently put go first.
const KEPT_BYTES = 32 * 1024 * 1024;
// With more than this new between beginning and end, edits may lie apart: the
// engine, which has the whole value then, finds them.
const LARGEST_MIDDLE_EDIT = 4096;

const WHOLE = { stamp: 0, baseStamp: 0, prefix: 0, suffix: 0 } as const;

interface Kept {
  stamp: number;
  value: Blob;
}

/** @internal */
export class LatestValues {
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** The list that was put last, if it is known by its elements. */
  listOf(key: CheckpointKey, channel: string): ListValue | undefined {
    const value = this.#kept.get(keyOf(key, channel))?.value;
    return value instanceof ListValue ? value : undefined;
  }

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
    const { key, values } = checkpoint;
    // A channel may have lost its value, as a delta channel has from one snapshot to the
    // next: the engine finds the last one.
    for (const [i, { channel, value }] of values.entries()) {
      const stamp = deltas[i]?.stamp ?? 0;
      const name = keyOf(key, channel);
      const size = sizeOf(value);
      this.#drop(name);
      if (stamp === 0 || size > KEPT_BYTES) continue;
      const isOurs = value instanceof ListValue || (areOurs && value.type === "json");
      const kept = isOurs ? value : { type: value.type, bytes: value.bytes.slice() };
      this.#kept.set(name, { stamp, value: kept });
      this.#bytes += size;
    }
    for (const name of this.#kept.keys()) {
      if (this.#bytes <= KEPT_BYTES) break;
      this.#drop(name);
    }
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name);
    if (kept !== undefined) this.#bytes -= sizeOf(kept.value);
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
  const size = sizeOf(value);
  if (size < WORTH_COMPARING) return { delta: WHOLE, middle: value };
  const stamp = newStamp();
  const whole = { delta: { ...WHOLE, stamp }, middle: value };
  if (base === undefined || base.value.type !== value.type) return whole;
  const { prefix, suffix, middle } = compare(base.value, value);
  const replaced = sizeOf(base.value) - prefix - suffix;
  if (middle.length > size / 2 || (replaced > 0 && middle.length > LARGEST_MIDDLE_EDIT)) {
    return whole;
  }
  return {
    delta: { stamp, baseStamp: base.stamp, prefix, suffix },
    middle: { type: value.type, bytes: middle },
  };
}

function compare(base: Blob, value: Blob): { prefix: number; suffix: number; middle: Uint8Array } {
  if (base instanceof ListValue && value instanceof ListValue) return value.differenceFrom(base);
  const [before, bytes] = [base.bytes, value.bytes];
  const most = Math.min(before.length, bytes.length);
  const prefix = commonPrefix(before, bytes, most);
  const suffix = commonSuffix(before, bytes, most - prefix);
  return { prefix, suffix, middle: bytes.subarray(prefix, bytes.length - suffix) };
}

function sizeOf(value: Blob): number {
  return value instanceof ListValue ? value.size : value.bytes.length;
}

function newStamp(): number {
  return 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1));
}
