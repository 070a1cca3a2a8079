// What arguments must be. Each check answers what it was given, or refuses it by its name.

import { isBytes } from "./bytes.js";
import {
  invalid,
  KeepsakeError,
  type KeepsakeErrorCode,
  messageOf,
  orUndefined,
} from "./errors.js";

/**
 * What `read` makes of something of the caller's, which may have getters, or be a proxy, that
 * throw: that is the caller's mistake, and no fault of ours. @internal
 */
export function readInput<T>(name: string, read: () => T, code?: KeepsakeErrorCode): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(name, error, code);
  }
}

/** What `readInput()` throws. @internal */
export function unreadable(
  name: string,
  error: unknown,
  code: KeepsakeErrorCode = "invalid_argument",
): KeepsakeError {
  if (error instanceof KeepsakeError) return error;
  const rule = `${name} must be plain data that can be read: reading it threw "${messageOf(error)}"`;
  return new KeepsakeError(code, rule, { cause: error });
}

/** Also of a proxy that was revoked, which is none. @internal */
export function isList(value: unknown): value is unknown[] {
  return orUndefined(() => Array.isArray(value)) ?? false;
}

/** No proxy of one, nor what only inherits from one. @internal */
export function isBlob(value: unknown): value is Blob {
  return orUndefined(() => value instanceof Blob && value.size >= 0) ?? false;
}

/** Of a typed array or a buffer; undefined if it is neither. @internal */
export function bytesIn(value: unknown): Uint8Array | undefined {
  if (isBytes(value)) return value;
  return orUndefined(() => (value instanceof ArrayBuffer ? new Uint8Array(value) : undefined));
}

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

/** Milliseconds since 1970 of a Date, NaN if it is invalid; undefined if it is none. @internal */
export function msOfDate(value: unknown): number | undefined {
  return orUndefined(() =>
    value instanceof Date ? Date.prototype.getTime.call(value) : undefined,
  );
}

/** Milliseconds since 1970 of a moment. @internal */
export function checkTime(name: string, time: unknown): number {
  if (typeof time === "number") return checkWhole(name, time, -MOST_MS, MOST_MS);
  const ofDate = msOfDate(time);
  const ms = ofDate ?? isoToMs(time);
  if (!Number.isNaN(ms)) return ms;
  const given = ofDate === undefined ? show(time) : "an invalid Date";
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
  if (typeof choice === "string" && Object.hasOwn(choices, choice)) return choice;
  const names = Object.keys(choices).join(", ");
  throw invalid(`${name} must be one of ${names}: ${show(choice)}`);
}

/** @internal */
export function checkList<T>(name: string, list: T[]): T[] {
  if (isList(list)) return list as T[];
  throw noList(name, list);
}

/** What `check` makes of each, by its number: a gap is refused, however many there are. @internal */
export function checkEach<T, R>(
  name: string,
  list: readonly T[],
  check: (one: T, i: number) => R,
): R[] {
  if (!isList(list)) throw noList(name, list);
  return readInput(name, () => {
    const checked: R[] = [];
    const { length } = list;
    for (let i = 0; i < length; i++) checked.push(check(list[i] as T, i));
    return checked;
  });
}

function noList(name: string, given: unknown): KeepsakeError {
  return invalid(`${name} must be a list: ${show(given)}`);
}

/** A copy of a list of texts; undefined if it is none. @internal */
export function textsIn(list: unknown): string[] | undefined {
  return orUndefined(() => copyOfTexts(list));
}

function copyOfTexts(list: unknown): string[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const texts: string[] = [];
  for (let i = 0; i < list.length; i++) {
    const text: unknown = list[i];
    if (typeof text !== "string") return undefined;
    texts.push(text);
  }
  return texts;
}

/**
 * Every option of a call by its name: the compiler sees that none is missing. A group of options
 * has their names, so that one that is given beside the group is told where it belongs. @internal
 */
export type NamesOf<Options> = Record<keyof Options, 1 | Readonly<Record<string, unknown>>>;

/**
 * A copy of the options of `call` ("" if its errors name it anyhow), all of which it knows: one
 * that is ignored would change what is answered without a word. @internal
 */
export function checkOptions<Options extends object>(
  call: string,
  known: NamesOf<Options>,
  options: Options | null | undefined,
): Options {
  if (options === undefined || options === null) return {} as Options;
  return readInput(call === "" ? "its options" : `the options of ${call}`, () => {
    checkNames(call, known, options);
    const copy = {} as Options;
    for (const name of Object.keys(known) as (keyof Options)[]) {
      if (name in options) copy[name] = options[name];
    }
    return copy;
  });
}

/** That `call` knows all of its options, which are read later. @internal */
export function checkNames<Options extends object>(
  call: string,
  known: NamesOf<Options>,
  options: Options,
): void {
  if (typeof options !== "object" || Array.isArray(options)) {
    throw invalid(
      `${call || "it"} takes options by name, such as { ${Object.keys(known)[0]}: … }: ${show(options)}`,
    );
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name) || options[name as keyof Options] === undefined) continue;
    throw unknownOption(call, known, name);
  }
}

function unknownOption(
  call: string,
  known: NamesOf<Record<string, unknown>>,
  name: string,
): KeepsakeError {
  const place = call === "" ? "" : ` of ${call}`;
  return invalid(`unknown option "${name}"${place}: ${remedyFor(known, name)}`);
}

function remedyFor(known: NamesOf<Record<string, unknown>>, name: string): string {
  const groups = Object.entries(known).filter(([, names]) => names !== 1);
  const home = groups.find(([, names]) => Object.hasOwn(names as object, name));
  if (home !== undefined) return `it is one of ${home[0]}: { ${home[0]}: { ${name}: … } }`;
  const meant = nearest(name, Object.keys(known));
  if (meant !== undefined) return `did you mean "${meant}"?`;
  for (const [group, names] of groups) {
    const within = nearest(name, Object.keys(names));
    if (within !== undefined) return `did you mean { ${group}: { ${within}: … } }?`;
  }
  return `it takes ${Object.keys(known).join(", ")}`;
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
  filename: "path name",
  db: "path",
  database: "path name",
  serializer: "serde",
  searchmode: "mode",
  asof: "validAt",
  includesuperseded: "validAt",
  nodeid: "actor",
  threadid: "threadIds",
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
  return orUndefined(() => shown(given)) ?? "an object that can't be read";
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
  const throws = orUndefined(() => (signal as AbortSignal)?.throwIfAborted);
  if (signal === undefined || typeof throws === "function") return options;
  throw invalid(`signal must be an AbortSignal, as an AbortController has one: ${show(signal)}`);
}

/**
 * Gives `prototype` the methods of others that it lacks: whoever calls one is told what `refusal`
 * says of its name. @internal
 */
export function refuseMethodsOf(
  others: object[],
  prototype: object,
  refusal: (name: string) => KeepsakeError,
): void {
  for (let other of others) {
    for (; other !== Object.prototype; other = Object.getPrototypeOf(other)) {
      for (const name of Object.getOwnPropertyNames(other)) {
        if (name in prototype) continue;
        const refused = () => {
          throw refusal(name);
        };
        Object.defineProperty(prototype, name, { value: refused, configurable: true });
      }
    }
  }
}

const MAX_COUNT = 0xffff_ffff;

/** A whole number; infinity is the largest that there is. @internal */
export function checkCount(name: string, count: number | null | undefined): number | undefined {
  if (count === undefined || count === null) return undefined;
  return count === Number.POSITIVE_INFINITY ? MAX_COUNT : checkWhole(name, count, 0, MAX_COUNT);
}
