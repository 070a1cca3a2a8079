// The JSON of a list, element by element. A chat puts its whole list of messages after
// each step, and serialising it takes longer than all the rest: an element that is what
// it was has the text that it had.
//
// Objects may be changed by whoever has them, so that being the same object says
// nothing. Each element is compared with a snapshot of what was serialised, without
// making anything; and only elements of which it is known what their text depends on:
// plain JSON values, and of LangChain's own messages the fields that are stored.

import { JsonPlusSerializer } from "@langchain/langgraph-checkpoint";
import type { MaybePromise } from "../../engine/answers.js";
import type { Blob } from "../../wire/types.js";
import { textOf } from "./dump.js";
import {
  DEEPEST,
  fieldOf,
  isMessage,
  isOrdinary,
  isPlainList,
  isPlainObject,
  type Members,
} from "./messages.js";

// Of a shorter list, taking snapshots would be most of the work.
const WORTH_SPLITTING = 8;
const OPENING = "[".charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const CLOSING = "]".charCodeAt(0);

/** What an object was: what is stored of it, in its order, each a snapshot. */
interface Shape {
  readonly kind: Kind;
  readonly prototype: unknown;
  readonly keys: readonly string[];
  readonly members: readonly Snapshot[];
}
type Snapshot = Shape | string | number | boolean | null | undefined;

enum Kind {
  List,
  Object,
  Message, // its members are the fields that it names in `lc_kwargs`
}

const UNKNOWN = Symbol("a value whose text may depend on anything");
const encoder = new TextEncoder();
const serializer = new JsonPlusSerializer();

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
    let prefix = 1;
    for (; first < most; first++) {
      const element = after[first] as Element;
      if (before[first]?.bytes !== element.bytes) break;
      prefix += element.bytes.length + Number(first > 0);
    }
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
    return { prefix, suffix: 1 + sizeOf(after.slice(after.length - last)), middle };
  }
}

/**
 * The list as LangGraph's serialiser makes it, with the texts of `base` where it has the
 * same; undefined if it must be serialised whole. Reads the list before it returns. @internal
 */
export function dumpList(
  list: unknown,
  base: ListValue | undefined,
): MaybePromise<ListValue> | undefined {
  if (!isPlainList(list) || list.length < WORTH_SPLITTING) return undefined;
  const known = base?.elements ?? [];
  const elements: Element[] = new Array(list.length);
  const pending: Promise<void>[] = [];
  for (let i = 0; i < list.length; i++) {
    const value: unknown = list[i];
    // It is where it was, from the beginning or from the end.
    const same = twinOf(value, known[i]) ?? twinOf(value, known[i + known.length - list.length]);
    if (same !== undefined) {
      elements[i] = same;
      continue;
    }
    const snapshot = snapshotOf(value, DEEPEST);
    if (snapshot === UNKNOWN) return undefined;
    const keep = (bytes: Uint8Array) => {
      // With the same text all the same: members that are undefined have none.
      const twins = [known[i], known[i + known.length - list.length]];
      const alike = twins.find((twin) => twin !== undefined && isSameText(twin.bytes, bytes));
      elements[i] = { snapshot, bytes: alike?.bytes ?? bytes };
    };
    const text = textOf(value);
    if (text !== undefined) keep(encoder.encode(text));
    else pending.push(dumpElement(value).then(keep));
  }
  if (pending.length === 0) return new ListValue(elements);
  return Promise.all(pending).then(() => new ListValue(elements));
}

function isSameText(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function twinOf(value: unknown, element: Element | undefined): Element | undefined {
  return element !== undefined && isSame(element.snapshot, value) ? element : undefined;
}

// In a list, since by itself a value may be stored as another type.
async function dumpElement(value: unknown): Promise<Uint8Array> {
  const [, list] = await serializer.dumpsTyped([value]);
  return list[0] === OPENING ? list.subarray(1, -1) : list;
}

function snapshotOf(value: unknown, depth: number): Snapshot | typeof UNKNOWN {
  if (typeof value !== "object" || value === null) {
    return typeof value === "bigint" || typeof value === "function" || typeof value === "symbol"
      ? UNKNOWN
      : (value as Snapshot);
  }
  if (depth === 0) return UNKNOWN;
  const kind = kindOf(value);
  if (kind === undefined) return UNKNOWN;
  const keys =
    kind === Kind.List ? [] : Object.keys(kind === Kind.Message ? kwargsOf(value) : value);
  const count = kind === Kind.List ? (value as unknown[]).length : keys.length;
  const members: Snapshot[] = [];
  for (let i = 0; i < count; i++) {
    const member = snapshotOf(memberOf(kind, value, keys, i), depth - 1);
    if (member === UNKNOWN) return UNKNOWN;
    members.push(member);
  }
  return { kind, prototype: Object.getPrototypeOf(value), keys, members };
}

// Makes no object: it is done for each element of a list at each put.
function isSame(snapshot: Snapshot, value: unknown): boolean {
  if (typeof snapshot !== "object" || snapshot === null) return snapshot === value;
  if (typeof value !== "object" || value === null) return false;
  if (!isShaped(snapshot, value)) return false;
  const { kind, keys, members } = snapshot;
  for (let i = 0; i < members.length; i++) {
    const member = memberOf(kind, value, keys, i);
    // Most are texts, and the same ones.
    if (members[i] !== member && !isSame(members[i], member)) return false;
  }
  return true;
}

// Whether it has the class and the names of members that it had.
function isShaped({ kind, prototype, keys, members }: Shape, value: object): boolean {
  if (Object.getPrototypeOf(value) !== prototype) return false;
  if (kind === Kind.Message) {
    return isOrdinary(value as Members, prototype as Members) && hasKeys(kwargsOf(value), keys);
  }
  if ((value as Members).toJSON !== undefined) return false;
  return kind === Kind.List
    ? (value as unknown[]).length === members.length
    : hasKeys(value as Members, keys);
}

function kindOf(value: object): Kind | undefined {
  if (isPlainList(value)) return Kind.List;
  if (isPlainObject(value)) return Kind.Object;
  return isMessage(value) ? Kind.Message : undefined;
}

function memberOf(kind: Kind, value: object, keys: readonly string[], i: number): unknown {
  if (kind === Kind.List) return (value as unknown[])[i];
  const key = keys[i] as string;
  return kind === Kind.Message ? fieldOf(value as Members, key) : (value as Members)[key];
}

function kwargsOf(message: object): Members {
  return (message as Members).lc_kwargs as Members;
}

// These, in this order.
function hasKeys(value: Members, keys: readonly string[]): boolean {
  let i = 0;
  for (const key in value) if (key !== keys[i++]) return false;
  return i === keys.length;
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
