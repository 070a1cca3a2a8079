// The JSON of a list, element by element. A chat puts its whole list of messages after
// each step, and serialising it takes longer than all the rest: an element that is what
// it was (snapshot.ts) has the text that it had.

import { JsonPlusSerializer } from "@langchain/langgraph-checkpoint";
import type { MaybePromise } from "../../engine/answers.js";
import type { Blob } from "../../wire/layout.js";
import { textOf } from "./dump.js";
import { isPlainList } from "./messages.js";
import { isSame, type Snapshot, snapshotOf, UNKNOWN } from "./snapshot.js";

// Of a shorter list, taking snapshots would be most of the work.
const WORTH_SPLITTING = 8;
// Of a list of numbers and short texts, what is kept of each would be larger than it.
const WORTH_KEEPING = 64;
// What is kept of an element beside its text, in bytes: some 210 of a number, more of a message.
const KEPT_BESIDE = 256;
const OPENING = "[".charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const CLOSING = "]".charCodeAt(0);

const encoder = new TextEncoder();
const serializer = new JsonPlusSerializer();

/**
 * A list, serialised. What is known of its elements is in lists side by side, since most of
 * the time of going over an object for each would be waiting for memory. @internal
 */
export class ListValue implements Blob {
  readonly type = "json";
  readonly snapshots: readonly Snapshot[];
  /** Of an element whose text is what it was, the same object as in the list before. */
  readonly texts: readonly Uint8Array[];
  /** Where in the bytes each text ends. */
  readonly ends: readonly number[];

  /** `ends` has those of the first elements, as far as they are known; the others are added. */
  constructor(snapshots: readonly Snapshot[], texts: readonly Uint8Array[], ends: number[] = []) {
    this.snapshots = snapshots;
    this.texts = texts;
    for (let i = ends.length; i < texts.length; i++) {
      ends.push((ends[i - 1] ?? 0) + 1 + (texts[i] as Uint8Array).length);
    }
    this.ends = ends;
  }

  /** How many bytes it has, without making them. */
  get size(): number {
    return (this.ends.at(-1) ?? 1) + 1;
  }

  /** About how much memory it takes. */
  get held(): number {
    return this.size + KEPT_BESIDE * this.texts.length;
  }

  get bytes(): Uint8Array {
    const all = new Uint8Array(this.size);
    all[0] = OPENING;
    write(this.texts, all, 1);
    all[all.length - 1] = CLOSING;
    return all;
  }

  /** What between the first `prefix` and the last `suffix` bytes of `base` makes this. */
  differenceFrom(base: ListValue): { prefix: number; suffix: number; middle: Uint8Array } {
    const { texts } = this;
    const first = commonStart(base.texts, texts);
    const last = commonEnd(base.texts, texts, first);
    const end = texts.length - last;
    const added = texts.slice(first, end);
    const hasPrefix = first > 0 && (added.length > 0 || last > 0);
    const hasSuffix = last > 0 && added.length > 0;
    const middle = new Uint8Array(sizeOf(added) + Number(hasPrefix) + Number(hasSuffix));
    if (hasPrefix) middle[0] = COMMA;
    write(added, middle, Number(hasPrefix));
    if (hasSuffix) middle[middle.length - 1] = COMMA;
    const suffix = last === 0 ? 1 : this.size - this.#startOf(end);
    return { prefix: this.ends[first - 1] ?? 1, suffix, middle };
  }

  #startOf(index: number): number {
    return (this.ends[index - 1] ?? 0) + 1;
  }
}

function commonStart(before: readonly unknown[], after: readonly unknown[]): number {
  const most = Math.min(before.length, after.length);
  let first = 0;
  while (first < most && before[first] === after[first]) first++;
  return first;
}

// Of what comes after the first `first`.
function commonEnd(before: readonly unknown[], after: readonly unknown[], first: number): number {
  const most = Math.min(before.length, after.length) - first;
  let last = 0;
  while (last < most && before[before.length - 1 - last] === after[after.length - 1 - last]) last++;
  return last;
}

const NONE = new ListValue([], []);

/**
 * The list as LangGraph's serialiser makes it, with the texts of `base` where it has the
 * same; undefined if it must be serialised whole. Reads the list before it returns. @internal
 */
export function dumpList(
  list: unknown,
  base: ListValue = NONE,
): MaybePromise<ListValue> | undefined {
  if (!isPlainList(list) || !isWorthSplitting(list)) return undefined;
  const first = sameAtStart(list, base.snapshots);
  const last = sameAtEnd(list, base.snapshots, first);
  const shift = base.snapshots.length - list.length;
  const snapshots = base.snapshots.slice(0, first);
  const texts = base.texts.slice(0, first);
  const pending: Promise<void>[] = [];
  for (let i = first; i < list.length - last; i++) {
    const value: unknown = list[i];
    // It may be where it was, from the beginning or from the end.
    const places = [i, i + shift].filter((place) => place >= 0 && place < base.texts.length);
    const same = places.find((place) => isSame(base.snapshots[place], value));
    if (same !== undefined) {
      snapshots.push(base.snapshots[same]);
      texts.push(base.texts[same] as Uint8Array);
      continue;
    }
    const snapshot = snapshotOf(value);
    if (snapshot === UNKNOWN) return undefined;
    snapshots.push(snapshot);
    const keep = (bytes: Uint8Array) => {
      // With the same text all the same: members that are undefined have none.
      const known = places.map((place) => base.texts[place] as Uint8Array);
      texts[i] = known.find((text) => isSameText(text, bytes)) ?? bytes;
    };
    const text = textOf(value);
    if (text !== undefined) keep(encoder.encode(text));
    else {
      texts.push(new Uint8Array());
      pending.push(dumpElement(value).then(keep));
    }
  }
  for (let i = base.texts.length - last; i < base.texts.length; i++) {
    snapshots.push(base.snapshots[i]);
    texts.push(base.texts[i] as Uint8Array);
  }
  const whole = () => new ListValue(snapshots, texts, base.ends.slice(0, first));
  return pending.length === 0 ? whole() : Promise.all(pending).then(whole);
}

// By some of its elements.
function isWorthSplitting(list: readonly unknown[]): boolean {
  if (list.length < WORTH_SPLITTING) return false;
  for (let i = 0; i < WORTH_SPLITTING; i++) {
    const element = list[Math.floor((i * list.length) / WORTH_SPLITTING)];
    if (typeof element === "object" && element !== null) return true;
    if (typeof element === "string" && element.length > WORTH_KEEPING) return true;
  }
  return false;
}

function sameAtStart(list: readonly unknown[], snapshots: readonly Snapshot[]): number {
  const most = Math.min(list.length, snapshots.length);
  let first = 0;
  while (first < most && isSame(snapshots[first], list[first])) first++;
  return first;
}

function sameAtEnd(
  list: readonly unknown[],
  snapshots: readonly Snapshot[],
  first: number,
): number {
  const shift = snapshots.length - list.length;
  const most = Math.min(list.length, snapshots.length) - first;
  let last = 0;
  while (last < most) {
    const i = list.length - 1 - last;
    if (!isSame(snapshots[i + shift], list[i])) break;
    last++;
  }
  return last;
}

function isSameText(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

// In a list, since by itself a value may be stored as another type.
async function dumpElement(value: unknown): Promise<Uint8Array> {
  const [, list] = await serializer.dumpsTyped([value]);
  return list[0] === OPENING ? list.subarray(1, -1) : list;
}

// With a comma between each two.
function sizeOf(texts: readonly Uint8Array[]): number {
  let size = Math.max(texts.length - 1, 0);
  for (const { length } of texts) size += length;
  return size;
}

function write(texts: readonly Uint8Array[], into: Uint8Array, start: number): void {
  let at = start;
  for (const [i, bytes] of texts.entries()) {
    if (i > 0) into[at++] = COMMA;
    into.set(bytes, at);
    at += bytes.length;
  }
}
