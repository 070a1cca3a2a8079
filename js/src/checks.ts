// What arguments must be. Each check answers what it was given, or refuses it by its name.

import { invalid, KeepsakeError, type KeepsakeErrorCode, tried } from "./errors.js";

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
  throw invalid(`${name} must be a number${rangeOf(least, most)}: ${show(number)}`);
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
  throw invalid(`${name} must be a whole number${rangeOf(least, most)}: ${show(number)}`);
}

function rangeOf(least: number, most: number): string {
  const from = least === -Number.MAX_VALUE ? "" : ` from ${least}`;
  return most >= Number.MAX_SAFE_INTEGER ? from : `${from} to ${most}`;
}

// A day, or a moment that says how far its clock is from UTC.
const ISO_TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;
// Of a Date, on both sides of 1970.
const MOST_MS = 8_640_000_000_000_000;

/** Milliseconds since 1970 of a moment. @internal */
export function checkTime(name: string, time: unknown): number {
  if (typeof time === "number") return checkWhole(name, time, -MOST_MS, MOST_MS);
  const ms = time instanceof Date ? time.getTime() : isoToMs(time);
  if (!Number.isNaN(ms)) return ms;
  const given = time instanceof Date ? "an invalid Date" : show(time);
  throw invalid(
    `${name} must be a Date, milliseconds since 1970, or ISO text with its zone, such as "2026-03-01" or "2026-03-01T09:30Z": ${given}`,
  );
}

function isoToMs(text: unknown): number {
  if (typeof text !== "string" || !ISO_TIME.test(text)) return Number.NaN;
  // Some engines take the 31st of February for the 2nd of March.
  const day = new Date(`${text.slice(0, 10)}T00:00Z`);
  const isDay = !Number.isNaN(day.getTime()) && text.startsWith(day.toISOString().slice(0, 10));
  return isDay ? Date.parse(text) : Number.NaN;
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
  throw invalid(`${name} must be a list: ${show(list)}`);
}

/** What `check` makes of each, by its number: a gap is refused, however many there are. @internal */
export function checkEach<T, R>(name: string, list: T[], check: (one: T) => R): R[] {
  const { length } = checkList(name, list);
  const checked: R[] = [];
  for (let i = 0; i < length; i++) checked.push(check(list[i] as T));
  return checked;
}

/** A copy of a list of texts; undefined if it is none. @internal */
export function textsIn(list: unknown): string[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const texts: string[] = [];
  for (let i = 0; i < list.length; i++) {
    const text: unknown = list[i];
    if (typeof text !== "string") return undefined;
    texts.push(text);
  }
  return texts;
}

/** Every option of a call by its name: the compiler sees that none is missing. @internal */
export type NamesOf<Options> = Record<keyof Options, 1>;

/**
 * The options of `call` ("" if its errors name it anyhow), all of which it knows: one that is
 * ignored would change what is answered without a word. @internal
 */
export function checkOptions<Options extends object>(
  call: string,
  known: NamesOf<Options>,
  options: Options | null | undefined,
): Options {
  if (options === undefined || options === null) return {} as Options;
  if (typeof options !== "object" || Array.isArray(options)) {
    throw invalid(
      `${call || "it"} takes options by name, such as { ${Object.keys(known)[0]}: … }: ${show(options)}`,
    );
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name) || options[name as keyof Options] === undefined) continue;
    throw unknownOption(call, Object.keys(known), name);
  }
  return options;
}

function unknownOption(call: string, known: string[], name: string): KeepsakeError {
  const meant = nearest(name, known);
  const remedy = meant === undefined ? `it takes ${known.join(", ")}` : `did you mean "${meant}"?`;
  const place = call === "" ? "" : ` of ${call}`;
  return invalid(`unknown option "${name}"${place}: ${remedy}`);
}

// What others call it, without capitals and signs. The first that the call knows is meant.
const SYNONYMS: Record<string, string> = {
  where: "filter",
  k: "limit",
  topk: "limit",
  count: "limit keepLast",
  skip: "offset",
  threshold: "minScore",
  minimumscore: "minScore",
  text: "query",
  vector: "near",
  embedding: "near embeddings",
  embedder: "embeddings",
  dimensions: "dims",
  ttl: "defaultTtl",
  file: "path",
  db: "path",
  database: "path name",
  serializer: "serde",
  threadid: "threadIds",
  embeddings: "index",
  dims: "index",
  fields: "index text",
  expires: "ttl",
  limit: "k",
  expected: "relevant",
  olderthan: "maxAge",
  overwrite: "onConflict",
  type: "format",
  replaces: "supersedes",
  since: "validFrom",
};

/** The one of `known` that `name` was most likely to be. @internal */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name);
  const synonyms = Object.hasOwn(SYNONYMS, wanted) ? (SYNONYMS[wanted] as string).split(" ") : [];
  const ranked = known.map((each) => ({ each, edits: editsBetween(wanted, plain(each)) }));
  const [closest] = ranked.sort((a, b) => a.edits - b.edits);
  if (closest !== undefined && closest.edits <= Math.min(2, wanted.length / 3)) {
    return closest.each;
  }
  const isPart = (part: string, whole: string) => part.length > 2 && whole.includes(part);
  return (
    synonyms.find((each) => known.includes(each)) ??
    known.find((each) => isPart(wanted, plain(each)) || isPart(plain(each), wanted))
  );
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

// Letters to insert, delete or replace, and neighbours to exchange.
function editsBetween(a: string, b: string): number {
  let earlier: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] as number) + (a[i] === b[j] ? 0 : 1);
      const isExchange = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      const exchanged = isExchange ? (earlier[j - 1] as number) + 1 : replaced;
      const changed = Math.min((row[j + 1] as number) + 1, (next[j] as number) + 1);
      next.push(Math.min(replaced, exchanged, changed));
    }
    earlier = row;
    row = next;
  }
  return row[b.length] as number;
}

/** What somebody gave, shortly. @internal */
export function show(given: unknown): string {
  return tried(() => shown(given)) ?? "an object that can't be read";
}

function shown(given: unknown): string {
  if (typeof given === "string") return JSON.stringify(given.slice(0, 80));
  if (Array.isArray(given)) return "a list";
  if (typeof given === "object" && given !== null) {
    const name = given.constructor?.name ?? "Object";
    return name === "Object" ? "an object" : `an object of ${name}`;
  }
  return typeof given === "function" ? "a function" : String(given);
}

/** Where a member is, as an error names it: `value.list[0]["a b"]`. @internal */
export function pathTo(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  return /^[\w$]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** @internal */
export function checkFlag(name: string, flag: unknown): boolean | undefined {
  if (flag === undefined || typeof flag === "boolean") return flag;
  throw invalid(`${name} must be true or false: ${show(flag)}`);
}

/** @internal */
export function checkListener(name: string, listener: unknown): void {
  if (listener === undefined || typeof listener === "function") return;
  throw invalid(`${name} must be a function: ${show(listener)}`);
}

/** Of anything that can be ended, and tells how far it is. @internal */
export function checkSteps<Steps extends { signal?: unknown; onProgress?: unknown }>(
  options: Steps,
): Steps {
  const { signal, onProgress } = options;
  checkListener("onProgress", onProgress);
  if (signal === undefined || typeof (signal as AbortSignal)?.throwIfAborted === "function") {
    return options;
  }
  throw invalid(`signal must be an AbortSignal, as an AbortController has one: ${show(signal)}`);
}
