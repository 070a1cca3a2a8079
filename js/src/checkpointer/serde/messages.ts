// What is known of LangChain's own messages: which classes they have, and what of an instance
// their text depends on.

import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";

export type Members = Record<string, unknown>;

/** What nests deeper is left to the serialiser; so are circles. @internal */
export const DEEPEST = 24;

/** By the names that are stored. Their text depends on nothing but their members. @internal */
export const MESSAGE_CLASSES = {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} as const;

const NAMESPACE = ["langchain_core", "messages"];
const MESSAGES = new Set<unknown>(Object.values(MESSAGE_CLASSES).map((known) => known.prototype));

/** Of an object with more names than these, what is known is not kept for others. @internal */
export const MOST_SHARED = 32;

/** One of LangChain's own messages, of which it is known what its text depends on. @internal */
export function isMessage(value: object): value is Members {
  const known = Object.getPrototypeOf(value) as Members;
  if (!MESSAGES.has(known)) return false;
  return (
    (value as Members).toJSON === known.toJSON &&
    value.constructor === known.constructor &&
    isPlainObject((value as Members).lc_kwargs) &&
    hasOrdinaryName(value as Members)
  );
}

/** Whether a message of LangChain's has the name of its class in its text. @internal */
export function hasOrdinaryName(message: Members): boolean {
  const { lc_serializable, lc_namespace } = message;
  return (
    lc_serializable === true &&
    !Object.hasOwn(message, "lc_id") &&
    Array.isArray(lc_namespace) &&
    lc_namespace.length === NAMESPACE.length &&
    lc_namespace[0] === NAMESPACE[0] &&
    lc_namespace[1] === NAMESPACE[1]
  );
}

/** What a message is stored with by the name of one of its `lc_kwargs`. @internal */
export function fieldOf(message: Members, name: string): unknown {
  const value = message[name];
  return value === undefined && !(name in message) ? (message.lc_kwargs as Members)[name] : value;
}

/** An object without a class and a text of its own. @internal */
export function isPlainObject(value: unknown): value is Members {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    (prototype === Object.prototype || prototype === null) &&
    (value as Members).toJSON === undefined
  );
}

/** @internal */
export function isPlainList(value: unknown): value is unknown[] {
  return (
    Array.isArray(value) &&
    Object.getPrototypeOf(value) === Array.prototype &&
    (value as { toJSON?: unknown }).toJSON === undefined
  );
}
