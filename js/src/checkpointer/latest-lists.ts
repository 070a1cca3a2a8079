// The lists that a saver put last, so that of the next version only what is new is sent.
// The engine checks each base by its stamp, so that a wrong guess costs a second call and
// never a wrong value. What else is new in a value, the engine finds: it has the base.

import type { CheckpointKey, NewCheckpoint, NewValue, ValueDelta } from "../wire/layout.js";
import { ListValue } from "./serde/list.js";

// A smaller list is sent whole as fast.
const WORTH_SHORTENING = 1024;
// Of all lists together. The least recently put go first.
const KEPT_BYTES = 32 * 1024 * 1024;
// With more than this new between beginning and end, edits may lie apart: the engine,
// given the whole list, finds them.
const LARGEST_MIDDLE_EDIT = 4096;

const WHOLE = { baseStamp: 0, prefix: 0, suffix: 0 } as const;

interface Kept {
  stamp: number;
  list: ListValue;
}

interface Room {
  readonly kept: Map<string, Kept>;
  bytes: number;
}

/** @internal */
export class LatestLists {
  readonly #threadPrefix: string;
  // One room for all scopes of a memory.
  readonly #room: Room;

  constructor(threadPrefix = "", room: Room = { kept: new Map(), bytes: 0 }) {
    this.#threadPrefix = threadPrefix;
    this.#room = room;
  }

  /** Those of a scope, whose threads begin with this in the memory. */
  within(threadPrefix: string): LatestLists {
    return new LatestLists(threadPrefix, this.#room);
  }

  /** The list that was put last, if it is known by its elements. */
  listOf(key: CheckpointKey, channel: string): ListValue | undefined {
    return this.#room.kept.get(this.#nameOf(key, channel))?.list;
  }

  /** The same checkpoint, with what is new in its lists. */
  shorten<Checkpoint extends NewCheckpoint>(checkpoint: Checkpoint): Checkpoint {
    const values = checkpoint.values.map((value): NewValue => {
      const list = value.value;
      if (!(list instanceof ListValue) || list.size < WORTH_SHORTENING) return value;
      const base = this.#room.kept.get(this.#nameOf(checkpoint.key, value.channel));
      const { delta, middle } = differenceOf(list, base);
      if (middle === undefined) return { ...value, delta };
      return { ...value, delta, value: { type: list.type, bytes: middle } };
    });
    const isSame = values.every((value, i) => value === checkpoint.values[i]);
    return isSame ? checkpoint : { ...checkpoint, values };
  }

  /** After this checkpoint was put as `shortened`. */
  keep({ key, values }: NewCheckpoint, shortened: NewCheckpoint): void {
    // A channel may have lost its value, as a delta channel has from one snapshot to the
    // next: the engine finds the last one.
    for (const [i, { channel, value }] of values.entries()) {
      const stamp = shortened.values[i]?.delta?.stamp;
      const name = this.#nameOf(key, channel);
      this.#drop(name);
      if (stamp === undefined || !(value instanceof ListValue) || value.held > KEPT_BYTES) continue;
      this.#room.kept.set(name, { stamp, list: value });
      this.#room.bytes += value.held;
    }
    for (const name of this.#room.kept.keys()) {
      if (this.#room.bytes <= KEPT_BYTES) break;
      this.#drop(name);
    }
  }

  #nameOf({ threadId, checkpointNs }: CheckpointKey, channel: string): string {
    // NUL is in no id.
    return `${this.#threadPrefix}${threadId}\0${checkpointNs}\0${channel}`;
  }

  #drop(name: string): void {
    this.#room.bytes -= this.#room.kept.get(name)?.list.held ?? 0;
    this.#room.kept.delete(name);
  }
}

/** The checkpoint with the stamps of `shortened`, and no value shortened. @internal */
export function wholeAgain<Checkpoint extends NewCheckpoint>(
  checkpoint: Checkpoint,
  shortened: Checkpoint,
): Checkpoint {
  const values = checkpoint.values.map((value, i) => {
    const stamp = shortened.values[i]?.delta?.stamp;
    return stamp === undefined ? value : { ...value, delta: { ...WHOLE, stamp } };
  });
  return { ...checkpoint, values };
}

// Without `middle`, the list is sent whole.
function differenceOf(
  list: ListValue,
  base: Kept | undefined,
): { delta: ValueDelta; middle?: Uint8Array } {
  const stamp = 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1));
  const whole = { delta: { ...WHOLE, stamp } };
  if (base === undefined) return whole;
  const { prefix, suffix, middle } = list.differenceFrom(base.list);
  const replaced = base.list.size - prefix - suffix;
  if (middle.length > list.size / 2 || (replaced > 0 && middle.length > LARGEST_MIDDLE_EDIT)) {
    return whole;
  }
  return { delta: { stamp, baseStamp: base.stamp, prefix, suffix }, middle };
}
