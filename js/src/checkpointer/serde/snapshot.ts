// What a value was when it was stored, and whether it still is that. Objects may be changed
// by whoever has them, so that being the same object says nothing; and a chat of thousands of
// messages is compared at each put. So comparing makes nothing; the fields of messages are read
// by their names, which V8 does fastest; and what many snapshots have in common is one object,
// since most of the time is waiting for memory.

import {
  DEEPEST,
  fieldOf,
  hasOrdinaryName,
  isMessage,
  isPlainList,
  isPlainObject,
  type Members,
  MOST_SHARED,
} from "./messages.js";

enum Kind {
  List,
  Object,
  Message,
}

/** What many values have in common. */
interface Shape {
  readonly kind: Kind;
  /** It tells the class, in less time than the prototype. */
  readonly constructor: unknown;
  readonly toJSON: unknown;
  /** The names of its members, in their order; of a message, those in `lc_kwargs`. */
  readonly keys: readonly string[];
  /** What `members` are; of a message, what is not in MessageSnapshot. */
  readonly names: readonly string[];
}

interface ObjectSnapshot {
  readonly shape: Shape;
  /** Of a list, its elements. */
  readonly members: readonly Snapshot[];
}

// These are compared whether they are stored or not: at worst, a message is serialised again.
interface MessageSnapshot extends ObjectSnapshot {
  readonly content: Snapshot;
  readonly id: Snapshot;
  readonly name: Snapshot;
  readonly additional_kwargs: Snapshot;
  readonly response_metadata: Snapshot;
  readonly tool_calls: Snapshot;
  readonly invalid_tool_calls: Snapshot;
  readonly usage_metadata: Snapshot;
}

/** @internal */
export type Snapshot = ObjectSnapshot | string | number | boolean | null | undefined;

/** Instead of a snapshot: the text of the value may depend on anything. @internal */
export const UNKNOWN = Symbol("unknown");
type Taken = Snapshot | typeof UNKNOWN;

const FIELDS = [
  "content",
  "id",
  "name",
  "additional_kwargs",
  "response_metadata",
  "tool_calls",
  "invalid_tool_calls",
  "usage_metadata",
] as const satisfies (keyof MessageSnapshot)[];
const IS_FIELD: ReadonlySet<string> = new Set(FIELDS);

/** @internal */
export function snapshotOf(value: unknown, depth: number = DEEPEST): Taken {
  if (typeof value !== "object" || value === null) {
    return typeof value === "bigint" || typeof value === "function" || typeof value === "symbol"
      ? UNKNOWN
      : (value as Snapshot);
  }
  if (depth === 0) return UNKNOWN;
  if (isPlainList(value)) return snapshotOfMembers(shapeOf(Kind.List, value, []), value, depth);
  if (isPlainObject(value)) {
    // With a member of that name, `constructor` does not tell the class.
    if (Object.hasOwn(value, "constructor")) return UNKNOWN;
    const keys = Object.keys(value);
    const values = keys.map((key) => value[key]);
    return snapshotOfMembers(shapeOf(Kind.Object, value, keys), values, depth);
  }
  return isMessage(value) ? snapshotOfMessage(value, depth) : UNKNOWN;
}

function snapshotOfMembers(
  shape: Shape,
  values: readonly unknown[],
  depth: number,
): ObjectSnapshot | typeof UNKNOWN {
  if (values.length === 0) return emptyOf(shape);
  const members = snapshotsOf(values, depth);
  return members === UNKNOWN ? UNKNOWN : { shape, members };
}

// Holes of a list are members, too. In a circle each level would be gone over once for each
// member of the one above: the first that is unknown ends it.
function snapshotsOf(values: readonly unknown[], depth: number): Snapshot[] | typeof UNKNOWN {
  const snapshots: Snapshot[] = [];
  for (let i = 0; i < values.length; i++) {
    const snapshot = snapshotOf(values[i], depth - 1);
    if (snapshot === UNKNOWN) return UNKNOWN;
    snapshots.push(snapshot);
  }
  return snapshots;
}

function snapshotOfMessage(message: Members, depth: number): MessageSnapshot | typeof UNKNOWN {
  const keys = Object.keys(message.lc_kwargs as Members);
  // Of an undefined field it matters whether the message has it: fieldOf() looks.
  const names = keys.filter((key) => !IS_FIELD.has(key) || message[key] === undefined);
  const shape = shapeOf(Kind.Message, message, keys, names);
  const ofNames = names.map((name) => fieldOf(message, name));
  const others = snapshotOfMembers(shape, ofNames, depth);
  if (others === UNKNOWN) return UNKNOWN;
  const values = FIELDS.map((name) => message[name]);
  const fields = snapshotsOf(values, depth);
  if (fields === UNKNOWN) return UNKNOWN;
  const [content, id, name, additional_kwargs, response_metadata, ...ofAi] = fields;
  const [tool_calls, invalid_tool_calls, usage_metadata] = ofAi;
  return {
    shape,
    members: others.members,
    content,
    id,
    name,
    additional_kwargs,
    response_metadata,
    tool_calls,
    invalid_tool_calls,
    usage_metadata,
  };
}

// By class, and by the names.
const shapes = new Map<unknown, Map<string, Shape>>();
const empties = new WeakMap<Shape, ObjectSnapshot>();
const MOST_SHAPES = 200; // of a class

function shapeOf(
  kind: Kind,
  value: object,
  keys: readonly string[],
  names: readonly string[] = keys,
): Shape {
  const { constructor: of, toJSON } = value as Members;
  const shape = { kind, constructor: of, toJSON, keys, names };
  if (keys.length > MOST_SHARED) return shape;
  const alike = shapes.get(of) ?? new Map<string, Shape>();
  shapes.set(of, alike);
  const key = JSON.stringify([keys, names]);
  const known = alike.get(key);
  if (known?.kind === kind && known.toJSON === toJSON) return known;
  if (alike.size >= MOST_SHAPES) alike.clear();
  alike.set(key, shape);
  return shape;
}

function emptyOf(shape: Shape): ObjectSnapshot {
  const empty = empties.get(shape) ?? { shape, members: [] };
  empties.set(shape, empty);
  return empty;
}

/** Whether the value is what it was. @internal */
export function isSame(snapshot: Snapshot, value: unknown): boolean {
  // Most are texts, and the same ones.
  if (snapshot === value) return true;
  if (typeof snapshot !== "object" || snapshot === null) return false;
  if (typeof value !== "object" || value === null) return false;
  const { shape, members } = snapshot;
  // Messages, lists and objects each have a function that reads nothing else: V8 knows a few
  // layouts in one place.
  switch (shape.kind) {
    case Kind.Message:
      return isSameMessage(snapshot as MessageSnapshot, value as Members);
    case Kind.List:
      return isPlainList(value) && areSameElements(members, value);
    default:
      return areSameMembers(snapshot, value as Members);
  }
}

function areSameElements(snapshots: readonly Snapshot[], list: readonly unknown[]): boolean {
  if (list.length !== snapshots.length) return false;
  for (let i = 0; i < snapshots.length; i++) if (!isSame(snapshots[i], list[i])) return false;
  return true;
}

// These, in this order.
function areSameMembers({ shape, members }: ObjectSnapshot, value: Members): boolean {
  if (value.constructor !== shape.constructor || value.toJSON !== undefined) return false;
  if (shape.constructor !== Object && !isPlainObject(value)) return false;
  if (Array.isArray(value)) return false;
  let i = 0;
  for (const key in value) {
    if (key !== shape.keys[i] || !isSame(members[i], value[key])) return false;
    i++;
  }
  return i === members.length && ownsAll(value, shape.keys);
}

// The comparisons here spare most of the calls.
function isSameMessage(was: MessageSnapshot, message: Members): boolean {
  const { content, id, name, additional_kwargs, response_metadata } = message;
  const { tool_calls, invalid_tool_calls, usage_metadata } = message;
  return (
    message.constructor === was.shape.constructor &&
    message.toJSON === was.shape.toJSON &&
    (was.content === content || isSame(was.content, content)) &&
    (was.id === id || isSame(was.id, id)) &&
    (was.name === name || isSame(was.name, name)) &&
    isSame(was.additional_kwargs, additional_kwargs) &&
    isSame(was.response_metadata, response_metadata) &&
    (was.tool_calls === tool_calls || isSame(was.tool_calls, tool_calls)) &&
    (was.invalid_tool_calls === invalid_tool_calls ||
      isSame(was.invalid_tool_calls, invalid_tool_calls)) &&
    (was.usage_metadata === usage_metadata || isSame(was.usage_metadata, usage_metadata)) &&
    hasOrdinaryName(message) &&
    hasKeys(message.lc_kwargs, was.shape.keys) &&
    areSameFields(was.shape.names, was.members, message)
  );
}

function areSameFields(
  names: readonly string[],
  snapshots: readonly Snapshot[],
  message: Members,
): boolean {
  for (let i = 0; i < names.length; i++) {
    if (!isSame(snapshots[i], fieldOf(message, names[i] as string))) return false;
  }
  return true;
}

// A plain object with these, in this order.
function hasKeys(value: unknown, keys: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (value.constructor !== Object || (value as Members).toJSON !== undefined) return false;
  let i = 0;
  for (const key in value) if (key !== keys[i++]) return false;
  return i === keys.length && ownsAll(value, keys);
}

// What is inherited comes last, and is not stored.
function ownsAll(value: object, keys: readonly string[]): boolean {
  const last = keys.at(-1);
  return last === undefined || Object.hasOwn(value, last);
}
