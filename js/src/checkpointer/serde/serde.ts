// Values of checkpoints as bytes and back. What LangGraph's own serialiser does is done
// faster in this folder, which knows its insides; here alone is decided when.

import { JsonPlusSerializer, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { pathTo, readInput, show } from "../../checks.js";
import type { MaybePromise } from "../../engine/answers.js";
import { isStackOverflow, KeepsakeError, messageOf } from "../../errors.js";
import { sizeOf } from "../../wire/custom.js";
import type { Blob } from "../../wire/layout.js";
import { textOf } from "./dump.js";
import { dumpList, type ListValue } from "./list.js";
import { LaterJson, loadJson } from "./load.js";

const { dumpsTyped, loadsTyped } = JsonPlusSerializer.prototype;
const encoder = new TextEncoder();

// LangGraph's own, unchanged. Any other may make of a value what it likes.
function isKnown(serde: SerializerProtocol): boolean {
  return (
    Object.getPrototypeOf(serde) === JsonPlusSerializer.prototype &&
    Object.keys(serde).length === 0 &&
    serde.dumpsTyped === dumpsTyped &&
    serde.loadsTyped === loadsTyped
  );
}

// Of a longer text a request would need room for three times as much.
const LONGEST_TEXT = 64 * 1024;

/** JSON that becomes bytes within the request. It has no lone surrogates: JSON escapes them. */
class JsonText implements Blob {
  readonly type = "json";
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get bytes(): Uint8Array {
    return encoder.encode(this.text);
  }
}

// What the serialiser writes for undefined.
const UNDEFINED = encoder.encode('{"lc":2,"type":"undefined"}');

/**
 * The bytes of `what`: `channel "messages"`. A function or a symbol becomes undefined, as within
 * an object. A BigInt, a circle within a Map and the like are refused, which LangGraph's own
 * serialiser stores as a text that says so. @internal
 */
export function dump(serde: SerializerProtocol, what: string, value: unknown): MaybePromise<Blob> {
  const text = isKnown(serde) ? readInput(what, () => textOf(value), "invalid_value") : undefined;
  if (text !== undefined) {
    return text.length <= LONGEST_TEXT
      ? new JsonText(text)
      : { type: "json", bytes: encoder.encode(text) };
  }
  return dumpTyped(serde, what, value);
}

async function dumpTyped(serde: SerializerProtocol, what: string, value: unknown): Promise<Blob> {
  try {
    const [type, bytes] = await serde.dumpsTyped(value);
    if (!isKnown(serde)) return { type, bytes };
    if (isGivenUp(value, bytes)) refuse(what, value);
    return { type, bytes: type === "json" && bytes.length === 0 ? UNDEFINED : bytes };
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    const rule = `${what} is nested too deeply: keep it flatter`;
    throw new KeepsakeError("invalid_value", rule, { cause: error });
  }
}

const GIVEN_UP = encoder.encode('"[unable to serialize');

function isGivenUp(value: unknown, bytes: Uint8Array): boolean {
  return typeof value !== "string" && GIVEN_UP.every((byte, i) => bytes[i] === byte);
}

function refuse(what: string, value: unknown): never {
  let why: string;
  let cause: unknown;
  try {
    const path = pathOfBigInt(value);
    why =
      path === undefined ? "it contains itself" : `${path} is a BigInt, give a number or a string`;
  } catch (error) {
    if (isStackOverflow(error)) throw error;
    why = messageOf(error);
    cause = error;
  }
  throw new KeepsakeError("invalid_value", `${what} must be JSON: ${why}`, { cause });
}

// Of what the serialiser goes over, as it goes over it. Throws what a toJSON() throws.
function pathOfBigInt(value: unknown): string | undefined {
  const paths = new Map<unknown, string>();
  let found: string | undefined;
  JSON.stringify(value, function (this: unknown, key: string, member: unknown) {
    const path = paths.get(this);
    const own =
      path === undefined ? "value" : pathTo(path, Array.isArray(this) ? Number(key) : key);
    if (typeof member === "bigint") {
      found ??= own;
      return undefined;
    }
    // What was seen is not gone into again: it may contain itself.
    if (typeof member !== "object" || member === null || paths.has(member)) return null;
    const whole = member instanceof Map || member instanceof Set ? [...member] : member;
    paths.set(member, own).set(whole, own);
    return whole;
  });
  return found;
}

/** Of a list, only elements that are not what they were in `base` are serialised. @internal */
export function dumpChannel(
  serde: SerializerProtocol,
  channel: string,
  value: unknown,
  base: ListValue | undefined,
): MaybePromise<Blob> {
  const list = isKnown(serde) ? dumpList(value, base) : undefined;
  return list ?? dump(serde, nameOfChannel(channel), value);
}

/** @internal */
export function nameOfChannel(channel: string): string {
  return `channel ${show(channel)}`;
}

// A smaller value is made at once.
const WORTH_WAITING = 16 * 1024;

/** Adds values to an object; large ones are made when they are asked for. @internal */
export class LaterValues {
  readonly #serde: SerializerProtocol;
  readonly #channels = new Map<string, LaterJson>();

  constructor(serde: SerializerProtocol) {
    this.#serde = serde;
  }

  /** `what` is what the value is called if it can't be read. */
  async add(values: object, channel: string, blob: Blob, what: () => string): Promise<void> {
    // What is made later must not hold the blob, which is a view of the whole answer.
    const { type } = blob;
    const make = await this.#prepare(channel, blob, what);
    const define = (object: object, member: PropertyDescriptor) =>
      Object.defineProperty(object, channel, { enumerable: true, configurable: true, ...member });
    const set = (object: object, value: unknown) => define(object, { value, writable: true });
    if (make === undefined) {
      set(values, await load(this.#serde, blob, what));
      return;
    }
    let made: { value: unknown } | undefined;
    define(values, {
      set(value) {
        set(this, value);
      },
      get() {
        made ??= { value: readable(what, type, make) };
        // Others may have frozen it.
        if (Object.getOwnPropertyDescriptor(values, channel)?.configurable) set(values, made.value);
        return made.value;
      },
    });
  }

  #prepare(
    channel: string,
    blob: Blob,
    what: () => string,
  ): MaybePromise<(() => unknown) | undefined> {
    const { type } = blob;
    if (type !== "json" || sizeOf(blob) < WORTH_WAITING || !isKnown(this.#serde)) return undefined;
    const later = this.#channels.get(channel) ?? new LaterJson();
    this.#channels.set(channel, later);
    return readable(what, type, () => later.prepare(blob));
  }
}

/**
 * The value; the bytes may be overwritten as soon as this returns. `what` is what it is called if
 * it can't be read. @internal
 */
export function load(
  serde: SerializerProtocol,
  { type, bytes }: Blob,
  what: () => string,
): MaybePromise<unknown> {
  // Bytes are a view of what others have a part of, too; a serde may hand them to the user.
  if (!isKnown(serde)) return serde.loadsTyped(type, bytes.slice());
  return readable(what, type, () =>
    type === "json" ? loadJson(bytes) : serde.loadsTyped(type, bytes.slice()),
  );
}

// What LangGraph's own serialiser can't read, it did not write.
function readable<T>(
  what: () => string,
  type: string,
  read: () => MaybePromise<T>,
): MaybePromise<T> {
  try {
    const value = read();
    return value instanceof Promise ? value.catch((error) => unreadable(what, type, error)) : value;
  } catch (error) {
    return unreadable(what, type, error);
  }
}

// What LangChain's loader says of a class that it does not know: nothing is damaged.
const UNKNOWN_CLASS = /^Invalid (?:namespace|identif\w+): .*?"id":(\[[^\]]*\])/;

function unreadable(what: () => string, type: string, cause: unknown): never {
  const [, id] = UNKNOWN_CLASS.exec(messageOf(cause)) ?? [];
  if (id !== undefined) {
    throw new KeepsakeError(
      "unsupported",
      `${what()} holds an object of the class ${id}, which LangChain's loader does not know: keep plain data in the state, or open the memory with a serde that reads it`,
      { cause },
    );
  }
  throw new KeepsakeError(
    "corrupt",
    `${what()} is damaged, it is no readable ${show(type)}: ${messageOf(cause)}`,
    { cause },
  );
}
