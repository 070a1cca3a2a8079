// What arguments must be. Each check answers what it was given, or refuses it by its name.

import { invalid, KeepsakeError, type KeepsakeErrorCode } from "./errors.js";

/** A string that UTF-8 has a form for. @internal */
export function checkText(
  name: string,
  text: unknown,
  code: KeepsakeErrorCode = "invalid_argument",
): string {
  if (typeof text !== "string") {
    const kind = text === null ? "null" : typeof text;
    throw new KeepsakeError(code, `${name} must be a string, got ${kind}`);
  }
  if (text.isWellFormed()) return text;
  throw new KeepsakeError(
    code,
    `${name} must not contain a lone surrogate: ${JSON.stringify(text)}`,
  );
}

/** @internal */
export function checkNumber(
  name: string,
  number: unknown,
  least = -Number.MAX_VALUE,
  most = Number.MAX_VALUE,
): number {
  if (typeof number === "number" && number >= least && number <= most) return number;
  throw invalid(`${name} must be a number${rangeOf(least, most)}: ${String(number)}`);
}

/** @internal */
export function checkWhole(
  name: string,
  number: unknown,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  if (Number.isInteger(number)) {
    const whole = number as number;
    if (whole >= least && whole <= most) return whole;
  }
  throw invalid(`${name} must be a whole number${rangeOf(least, most)}: ${String(number)}`);
}

function rangeOf(least: number, most: number): string {
  const from = least === -Number.MAX_VALUE ? "" : ` from ${least}`;
  return most >= Number.MAX_SAFE_INTEGER ? from : `${from} to ${most}`;
}

/** One of the names of `choices`. @internal */
export function checkChoice<T extends string>(
  name: string,
  choices: Record<T, unknown>,
  choice: T,
): T {
  if (Object.hasOwn(choices, choice)) return choice;
  const names = Object.keys(choices).join(", ");
  throw invalid(`${name} must be one of ${names}: ${JSON.stringify(choice)}`);
}

/** @internal */
export function checkList<T>(name: string, list: T[]): T[] {
  if (Array.isArray(list)) return list;
  throw invalid(`${name} must be a list: ${String(list)}`);
}
