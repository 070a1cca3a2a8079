// Values of checkpoints as bytes and back. What LangGraph's own serialiser does is done
// faster in this folder, which knows its insides; here alone is decided when.

import { JsonPlusSerializer, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import type { MaybePromise } from "../../engine/answers.js";
import type { Blob } from "../../wire/types.js";
import { textOf } from "./dump.js";
import { dumpList, type ListValue } from "./list.js";
import { loadJson } from "./load.js";

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

/** @internal */
export function dump(serde: SerializerProtocol, value: unknown): MaybePromise<Blob> {
  const text = isKnown(serde) ? textOf(value) : undefined;
  if (text !== undefined) return { type: "json", bytes: encoder.encode(text) };
  return serde.dumpsTyped(value).then(([type, bytes]) => ({ type, bytes }));
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

/** The value; the bytes may be overwritten as soon as this returns. @internal */
export function load(serde: SerializerProtocol, { type, bytes }: Blob): MaybePromise<unknown> {
  if (type === "json" && isKnown(serde)) return loadJson(bytes);
  // Bytes are a view into a copy of the whole answer; a serde may hand them to the user.
  return serde.loadsTyped(type, type === "json" ? bytes : bytes.slice());
}
