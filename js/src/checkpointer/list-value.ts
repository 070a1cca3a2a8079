// The JSON of a list, element by element. A chat puts its whole list of messages after
// each step, and serialising it takes longer than all the rest: an element that is what
// it was has the text that it had.
//
// Objects may be changed by whoever has them, so that being the same object says
// nothing. Each element is compared with a snapshot of what was serialised, without
// making anything; and only elements of which it is known what their text depends on:
// plain JSON values, and of LangChain's own messages the fields that are stored.

import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { isSameBytes } from "../bytes.js";
import type { Blob } from "../wire/operations.js";
import {
  DEEPEST,
  fieldOf,
  isMessage,
  isOrdinary,
  isPlainList,
  isPlainObject,
  textOf,
} from "./dump-value.js";
import { dumpsAsLangGraph } from "./langgraph-serde.js";

// Of a shorter list, taking snapshots would be most of the work.
const WORTH_SPLITTING = 8;
const OPENING = "[".charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const CLOSING = "]".charCodeAt(0);

type Members = Record<string, unknown>;

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
 * The list as the serialiser makes it, with the texts of `base` where it has the same;
 * undefined if it must be serialised whole. Reads the list before it returns. @internal
 */
export function dumpList(
  serde: SerializerProtocol,
  list: unknown,
  base: ListValue | undefined,
): Promise<ListValue> | undefined {
  if (!isPlainList(list) || list.length < WORTH_SPLITTING) return undefined;
  if (!dumpsAsLangGraph(serde)) return undefined;
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
      const twins = [known[i], known[i + known.length - list.length]];
      const alike = twins.find((twin) => twin !== undefined && isSameBytes(twin.bytes, bytes));
      elements[i] = { snapshot, bytes: alike?.bytes ?? bytes };
    };
    const text = textOf(value);
    if (text !== undefined) keep(encoder.encode(text));
    else pending.push(dumpElement(serde, value).then(keep));
  }
  return Promise.all(pending).then(() => new ListValue(elements));
}

function twinOf(value: unknown, element: Element | undefined): Element | undefined {
  return element !== undefined && isSame(element.snapshot, value) ? element : undefined;
}

// In a list, since by itself a value may be stored as another type.
async function dumpElement(serde: SerializerProtocol, value: unknown): Promise<Uint8Array> {
  const [, list] = await serde.dumpsTyped([value]);
  return list[0] === OPENING ? list.subarray(1, -1) : list;
}

function snapshotOf(value: unknown, depth: number): Snapshot | typeof UNKNOWN {
  if (typeof value !== "object" || value === null) {
    return typeof value === "bigint" || typeof value === "function" || typeof value === "symbol"
      ? UNKNOWN
      : (value as Snapshot);
  }
  if (depth === 0) return UNKNOWN;
  if (isPlainList(value)) return shapeOf(Kind.List, value, [], [...value], depth);
  if (isPlainObject(value)) {
    const keys = Object.keys(value);
    return shapeOf(
      Kind.Object,
      value,
      keys,
      keys.map((key) => value[key]),
      depth,
    );
  }
  if (!isMessage(value)) return UNKNOWN;
  const names = Object.keys(value.lc_kwargs as Members);
  return shapeOf(
    Kind.Message,
    value,
    names,
    names.map((name) => fieldOf(value, name)),
    depth,
  );
}

function shapeOf(
  kind: Kind,
  value: object,
  keys: string[],
  values: unknown[],
  depth: number,
): Shape | typeof UNKNOWN {
  const members: Snapshot[] = [];
  for (let i = 0; i < values.length; i++) {
    const member = snapshotOf(values[i], depth - 1);
    if (member === UNKNOWN) return UNKNOWN;
    members.push(member);
  }
  return { kind, prototype: Object.getPrototypeOf(value), keys, members };
}

// Makes no object: it is done for each element of a list at each put.
function isSame(snapshot: Snapshot, value: unknown): boolean {
  if (typeof snapshot !== "object" || snapshot === null) return snapshot === value;
  if (typeof value !== "object" || value === null) return false;
  if (Object.getPrototypeOf(value) !== snapshot.prototype) return false;
  switch (snapshot.kind) {
    case Kind.Message:
      return isSameMessage(snapshot, value as Members);
    case Kind.Object:
      return isSameObject(snapshot, value as Members);
    case Kind.List:
      return isSameList(snapshot, value as unknown[]);
  }
}

function isSameMessage({ prototype, keys, members }: Shape, message: Members): boolean {
  if (!isOrdinary(message, prototype as Members)) return false;
  if (!hasKeys(message.lc_kwargs as Members, keys)) return false;
  for (let i = 0; i < keys.length; i++) {
    const value = fieldOf(message, keys[i] as string);
    // Most are texts, and the same ones.
    if (members[i] !== value && !isSame(members[i], value)) return false;
  }
  return true;
}

function isSameObject({ keys, members }: Shape, value: Members): boolean {
  if (value.toJSON !== undefined || !hasKeys(value, keys)) return false;
  for (let i = 0; i < keys.length; i++) {
    if (!isSame(members[i], value[keys[i] as string])) return false;
  }
  return true;
}

function isSameList({ members }: Shape, list: unknown[]): boolean {
  if (list.length !== members.length || (list as { toJSON?: unknown }).toJSON !== undefined) {
    return false;
  }
  for (let i = 0; i < members.length; i++) if (!isSame(members[i], list[i])) return false;
  return true;
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
