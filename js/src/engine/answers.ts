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

/** What `next` makes of it: at once if it is there. @internal */
export function whenThere<T, Made>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<Made>,
): MaybePromise<Made> {
  return isPromise(value) ? value.then(next) : next(value);
}

/** All of them: at once if all are there. @internal */
export function whenAllThere<T>(values: readonly MaybePromise<T>[]): MaybePromise<T[]> {
  return values.some(isPromise) ? Promise.all(values) : (values as T[]);
}

// Also what another realm or library takes for one.
function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

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

// What is written in JavaScript, the core can't say.
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^namespace label must not contain '[.:]'/, "; encodeLabel() makes a label of any text"],
  [/^namespace must not be empty$/, ': give it at least one label, such as ["notes"]'],
];

/** @internal */
export function errorOf(
  { code, message }: WireStatus,
  options?: { cause?: unknown },
): KeepsakeError {
  const [, remedy = ""] = REMEDIES.find(([rule]) => rule.test(message)) ?? [];
  return new KeepsakeError(code === "ok" ? "internal" : code, message + remedy, options);
}
