// Values of checkpoints as bytes and back. What LangGraph's own serialiser does is done
// faster in this folder, which knows its insides; here alone is decided when.

import { JsonPlusSerializer, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { show } from "../../checks.js";
import type { MaybePromise } from "../../engine/answers.js";
import { isStackOverflow, KeepsakeError, messageOf } from "../../errors.js";
import type { Blob } from "../../wire/types.js";
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

/**
 * What LangGraph's own serialiser has no JSON for, it stores as a text that says so. That is
 * refused if it is nested too deeply, or if the value is needed: a checkpoint, its metadata.
 * @internal
 */
export function dump(
  serde: SerializerProtocol,
  value: unknown,
  isNeeded = false,
): MaybePromise<Blob> {
  const text = isKnown(serde) ? textOf(value) : undefined;
  if (text !== undefined) {
    return text.length <= LONGEST_TEXT
      ? new JsonText(text)
      : { type: "json", bytes: encoder.encode(text) };
  }
  return dumpTyped(serde, value, isNeeded);
}

async function dumpTyped(
  serde: SerializerProtocol,
  value: unknown,
  isNeeded: boolean,
): Promise<Blob> {
  try {
    const [type, bytes] = await serde.dumpsTyped(value);
    if (isKnown(serde) && isGivenUp(value, bytes)) refuse(value, isNeeded);
    return { type, bytes };
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    const rule = "a value of a checkpoint is nested too deeply: keep it flatter";
    throw new KeepsakeError("invalid_value", rule, { cause: error });
  }
}

const GIVEN_UP = encoder.encode('"[unable to serialize');

function isGivenUp(value: unknown, bytes: Uint8Array): boolean {
  return typeof value !== "string" && GIVEN_UP.every((byte, i) => bytes[i] === byte);
}

function refuse(value: unknown, isNeeded: boolean): void {
  try {
    JSON.stringify(value);
  } catch (cause) {
    if (isStackOverflow(cause)) throw cause;
    if (!isNeeded) return;
    const rule = `a checkpoint and its metadata must be JSON: ${messageOf(cause)}`;
    throw new KeepsakeError("invalid_value", rule, { cause });
  }
}

/** Of a list, only elements that are not what they were in `base` are serialised. @internal */
export function dumpChannel(
  serde: SerializerProtocol,
  value: unknown,
  base: ListValue | undefined,
): MaybePromise<Blob> {
  const list = isKnown(serde) ? dumpList(value, base) : undefined;
  return list ?? dump(serde, value);
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

  async add(values: object, channel: string, blob: Blob): Promise<void> {
    const make = await this.#prepare(channel, blob);
    const define = (member: PropertyDescriptor) =>
      Object.defineProperty(values, channel, { enumerable: true, configurable: true, ...member });
    const set = (value: unknown) => define({ value, writable: true });
    if (make === undefined) set(await load(this.#serde, blob));
    else
      define({
        set,
        get: () => (set(readable(blob.type, make)) as Record<string, unknown>)[channel],
      });
  }

  #prepare(channel: string, { type, bytes }: Blob): MaybePromise<(() => unknown) | undefined> {
    if (type !== "json" || bytes.length < WORTH_WAITING || !isKnown(this.#serde)) return undefined;
    const later = this.#channels.get(channel) ?? new LaterJson();
    this.#channels.set(channel, later);
    return readable(type, () => later.prepare(bytes));
  }
}

/** The value; the bytes may be overwritten as soon as this returns. @internal */
export function load(serde: SerializerProtocol, { type, bytes }: Blob): MaybePromise<unknown> {
  // Bytes are a view of what others have a part of, too; a serde may hand them to the user.
  if (!isKnown(serde)) return serde.loadsTyped(type, bytes.slice());
  return readable(type, () =>
    type === "json" ? loadJson(bytes) : serde.loadsTyped(type, bytes.slice()),
  );
}

// What LangGraph's own serialiser can't read, it did not write.
function readable<T>(type: string, read: () => MaybePromise<T>): MaybePromise<T> {
  try {
    const value = read();
    return value instanceof Promise ? value.catch((error) => unreadable(type, error)) : value;
  } catch (error) {
    return unreadable(type, error);
  }
}

function unreadable(type: string, cause: unknown): never {
  throw new KeepsakeError(
    "corrupt",
    `a value of a checkpoint is damaged, it is no readable ${show(type)}: ${messageOf(cause)}`,
    { cause },
  );
}
