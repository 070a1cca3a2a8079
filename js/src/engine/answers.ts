// What an engine answers to operations.

import { KeepsakeError } from "../errors.js";
import { decodeResponse, WireStatus } from "../wire/codec.js";
import type { AnswerTo, Operation } from "../wire/operations.js";

/** @internal */
export type Answers<Operations extends readonly Operation[]> = {
  -readonly [I in keyof Operations]: AnswerTo<Operations[I]>;
};

/** What is there at once if nothing has to be waited for: each promise costs time. @internal */
export type MaybePromise<T> = T | Promise<T>;

/** All answers of a response; throws the first failure among them. @internal */
export function answersIn<const Operations extends readonly Operation[]>(
  response: Uint8Array,
  operations: Operations,
): Answers<Operations> {
  const answers = decodeResponse(response, operations);
  for (const answer of answers) {
    if (answer instanceof WireStatus) throw errorOf(answer);
  }
  return answers as Answers<Operations>;
}

/** @internal */
export function errorOf(
  { code, message }: WireStatus,
  options?: { cause?: unknown },
): KeepsakeError {
  return new KeepsakeError(code === "ok" ? "internal" : code, message, options);
}
