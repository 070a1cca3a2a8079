// What LangGraph's own serialiser makes of JSON, without its promise for each member and
// without its serialising each message once more: nearly all of the time of a getTuple.
//
// Plain data and messages are made here; whatever else has a record of its own (`lc`) is
// left to the serialiser, which loads a part of a value as it loads it in the whole. The
// classes of messages are those of which it makes instances, found by letting it make one
// of each: there may be several copies of LangChain in a process.

import { JsonPlusSerializer } from "@langchain/langgraph-checkpoint";
import type { MaybePromise } from "../../engine/answers.js";
import { JoinedBlob } from "../../wire/custom.js";
import type { Blob } from "../../wire/layout.js";
import { DEEPEST, MESSAGE_CLASSES, type Members } from "./messages.js";

/** How instances of a class are made of what was stored. */
interface Builder {
  readonly messageClass: new (fields: Members) => object;
  /** The name of a field by that in the stored text; undefined if only LangChain knows. */
  readonly fieldOf: (key: string) => string | undefined;
}

// For classes that want any of these.
const PROBE = { id: "probe", content: "", role: "user", name: "probe", tool_call_id: "probe" };

const [OPENING, CLOSING, COMMA] = [0x5b, 0x5d, 0x2c]; // [ ] ,
const decoder = new TextDecoder();
const serializer = new JsonPlusSerializer();

let builders: ReadonlyMap<unknown, Builder> | undefined;

/** The value; `bytes` may be overwritten as soon as this returns. @internal */
export function loadJson(bytes: Uint8Array): MaybePromise<unknown> {
  const text = decoder.decode(bytes);
  // Of such a member the serialiser makes the prototype.
  if (text.includes('"__proto__"')) return serializer.loadsTyped("json", text);
  const value: unknown = JSON.parse(text);
  return text.includes('"lc"') ? revive(value) : value;
}

function revive(value: unknown): MaybePromise<unknown> {
  return builders === undefined
    ? findBuilders().then(() => revive(value))
    : reviveBy(builders, value);
}

function reviveBy(known: ReadonlyMap<unknown, Builder>, value: unknown): MaybePromise<unknown> {
  const top = [value];
  const reviver = new Reviver(known);
  reviver.reviveMembers(top);
  const { pending } = reviver;
  return pending.length === 0 ? top[0] : Promise.all(pending).then(() => top[0]);
}

/**
 * Loads the values of a channel when they are asked for. Of a list that grew, what was found out
 * of one holds for those before it, which are not even decoded until then. @internal
 */
export class LaterJson {
  // One that needs nothing that has to be waited for, and how it is made of its text.
  #known: Uint8Array = new Uint8Array(0);
  #make: (text: string) => unknown = JSON.parse;

  /**
   * How to make the value; undefined if somebody must be waited for. The bytes are read later.
   */
  async prepare(blob: Blob): Promise<(() => unknown) | undefined> {
    if (blob instanceof JoinedBlob && isBeginningOf(blob, this.#known)) return this.#later(blob);
    const { bytes } = blob;
    if (isOrBegins(bytes, this.#known)) {
      // The next ones of an answer have a view of these bytes, and not of an earlier answer's.
      this.#known = bytes;
      return this.#later(blob);
    }
    const text = decoder.decode(bytes);
    const make = await makerOf(text);
    if (make === undefined) return undefined;
    this.#known = bytes;
    this.#make = make;
    return () => make(text);
  }

  #later(blob: Blob): () => unknown {
    const make = this.#make;
    return () => make(decoder.decode(blob.bytes));
  }
}

async function makerOf(text: string): Promise<((text: string) => unknown) | undefined> {
  if (text.includes('"__proto__"')) return undefined;
  if (!text.includes('"lc"')) return JSON.parse;
  builders ?? (await findBuilders());
  const known = builders as ReadonlyMap<unknown, Builder>;
  if (!new Reviver(known).knowsAll(JSON.parse(text))) return undefined;
  return (other) => reviveBy(known, JSON.parse(other));
}

// Whether it is the other one, or a list of the elements with which that begins.
function isOrBegins(bytes: Uint8Array, other: Uint8Array): boolean {
  const end = bytes.length - 1;
  const isAsLong = bytes.length === other.length;
  const canBegin = bytes[0] === OPENING && bytes[end] === CLOSING && other[end] === COMMA;
  if (!isAsLong && !canBegin) return false;
  // From the end, where lists differ sooner.
  for (let i = isAsLong ? end : end - 1; i >= 0; i--) if (bytes[i] !== other[i]) return false;
  return true;
}

// The same, without a look at the bytes that both have.
function isBeginningOf({ start, rest }: JoinedBlob, other: Uint8Array): boolean {
  if (start.buffer !== other.buffer || start.byteOffset !== other.byteOffset) return false;
  if (rest.length === 0) return start.length === other.length;
  const isCut = other[0] === OPENING && other[start.length] === COMMA;
  return isCut && rest.length === 1 && rest[0] === CLOSING;
}

class Reviver {
  readonly pending: Promise<void>[] = [];
  readonly #builders: ReadonlyMap<unknown, Builder>;

  constructor(known: ReadonlyMap<unknown, Builder>) {
    this.#builders = known;
  }

  /** Replaces what is more than plain data. */
  reviveMembers(parent: unknown[] | Members): void {
    if (Array.isArray(parent)) {
      for (let i = 0; i < parent.length; i++) this.#reviveMember(parent as never, i as never);
    } else {
      for (const key of Object.keys(parent)) this.#reviveMember(parent, key);
    }
  }

  /** Whether all that is more than plain data is made at once. */
  knowsAll(parent: unknown): boolean {
    if (typeof parent !== "object" || parent === null) return true;
    const { lc } = parent as Members;
    if (lc === 1 || lc === 2) return this.#readMessage(parent as Members) !== undefined;
    const members = Array.isArray(parent) ? parent : Object.values(parent);
    return members.every((member) => this.knowsAll(member));
  }

  #reviveMember(parent: Members, key: string): void {
    const value = parent[key];
    if (typeof value !== "object" || value === null) return;
    const { lc } = value as Members;
    if (lc !== 1 && lc !== 2) {
      this.reviveMembers(value as Members);
      return;
    }
    const message = this.#toMessage(value as Members);
    if (message !== undefined) parent[key] = message;
    else this.pending.push(this.#leave(parent, key, value));
  }

  async #leave(parent: Members, key: string, value: unknown): Promise<void> {
    parent[key] = await serializer.loadsTyped("json", JSON.stringify(value));
  }

  #toMessage(record: Members): object | undefined {
    const message = this.#readMessage(record);
    return message && new message.messageClass(message.fields);
  }

  #readMessage({ lc, type, id, kwargs }: Members) {
    if (lc !== 1 || type !== "constructor" || !Array.isArray(id) || id.length !== 3) return;
    if (id[0] !== "langchain_core" || id[1] !== "messages") return;
    const builder = this.#builders.get(id[2]);
    if (builder === undefined || !isObject(kwargs) || !isPlain(kwargs, DEEPEST)) return;
    const fields = renamed(kwargs, builder);
    return fields && { messageClass: builder.messageClass, fields };
  }
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Without records of LangChain's or LangGraph's.
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (!isPlain(value[i], depth - 1)) return false;
    return true;
  }
  for (const key of Object.keys(value)) {
    if (key === "lc" || key === "__lc_escaped__") return false;
    if (!isPlain((value as Members)[key], depth - 1)) return false;
  }
  return true;
}

// Most often they have the names that they need already.
function renamed(kwargs: Members, { fieldOf }: Builder): Members | undefined {
  let isSame = true;
  for (const key of Object.keys(kwargs)) {
    const field = fieldOf(key);
    if (field === undefined) return undefined;
    isSame &&= field === key;
  }
  if (isSame) return kwargs;
  return Object.fromEntries(Object.entries(kwargs).map(([key, v]) => [fieldOf(key) as string, v]));
}

async function findBuilders(): Promise<void> {
  const found = await Promise.all(Object.keys(MESSAGE_CLASSES).map(findBuilder));
  builders ??= new Map(found.flatMap((entry) => (entry === undefined ? [] : [entry])));
}

async function findBuilder(name: string): Promise<[string, Builder] | undefined> {
  const id = ["langchain_core", "messages", name];
  const record = { lc: 1, type: "constructor", id, kwargs: PROBE };
  try {
    const instance = (await serializer.loadsTyped("json", JSON.stringify(record))) as object;
    const messageClass = instance.constructor as Builder["messageClass"];
    const fields = fieldsOf(messageClass);
    const fieldOf = (key: string) => fields.get(key) ?? (isOneWord(key) ? key : undefined);
    return [name, { messageClass, fieldOf }];
  } catch {
    return undefined;
  }
}

// A field of such a name has the same one in the text.
function isOneWord(key: string): boolean {
  return /^[a-z]+$/.test(key) && !(key in Object.prototype);
}

// By their names in the text: LangChain's aliases, of the class and those it extends.
function fieldsOf(messageClass: object): Map<string, string> {
  const fields = new Map<string, string>();
  const aliases: Record<string, string> = {};
  for (let current = messageClass; typeof current === "function"; ) {
    Object.assign(
      aliases,
      Reflect.get((current as { prototype: object }).prototype ?? {}, "lc_aliases"),
    );
    current = Object.getPrototypeOf(current);
  }
  for (const [field, key] of Object.entries(aliases)) fields.set(key, field);
  return fields;
}
