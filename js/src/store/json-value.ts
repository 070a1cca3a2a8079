// Values as JSON text and back. What JSON has no form for is refused by name,
// except bytes: a Uint8Array travels as {"$keepsake":"bytes","base64":"…"}, and a
// user's own "$keepsake" key as "$$keepsake" (one more "$" each time).
// Plain data takes one cheap walk and then the native JSON functions.

import { isBytes, isDetached } from "../bytes.js";
import { pathTo, unreadable } from "../checks.js";
import { KeepsakeError, type KeepsakeErrorCode } from "../errors.js";

const MARK = "$keepsake";
const OWN_MARK = /^\$+keepsake$/;
const MAX_DEPTH = 1000;
// Of a list: with a comma for each, JSON of more is longer than JavaScript has texts.
const MOST_ELEMENTS = 2 ** 28;

/** A JSON object: what LangGraph keeps in a store. */
export type Value = Record<string, unknown>;

/** The JSON text of an item's value. Throws invalid_value, naming the path. @internal */
export function encodeValue(value: unknown): string {
  return encode(value, "value", "invalid_value");
}

/** The JSON text of a filter, "" for none. Throws invalid_filter, naming the path. @internal */
export function encodeFilter(filter: unknown): string {
  if (filter === undefined || filter === null) return "";
  const text = encode(filter, "filter", "invalid_filter");
  refuseUndefined(filter, "filter");
  return text === "{}" ? "" : text;
}

// JSON would drop it, and the search would silently find what was not meant.
function refuseUndefined(condition: unknown, path: string): void {
  if (condition === undefined) {
    throw new KeepsakeError(
      "invalid_filter",
      `${path} must not be undefined: leave it out, or give null`,
    );
  }
  if (typeof condition !== "object" || condition === null || isBytes(condition)) return;
  for (const [key, member] of Object.entries(condition)) refuseUndefined(member, pathTo(path, key));
}

/** A new value from JSON text made by encodeValue. @internal */
export function decodeValue(json: string): Value {
  const value = JSON.parse(json) as Value;
  return json.includes('$keepsake"') ? (restore(value) as Value) : value;
}

// A number that may be too large for a double.
const HUGE_NUMBER = /\d{300}|[eE]\+?\d{3}/;

/** The JSON text of a value that another program wrote, which knows no marks. @internal */
export function reencodeValue(json: string): string {
  if (HUGE_NUMBER.test(json)) encode(JSON.parse(json), "value", "invalid_value");
  return json.includes('keepsake"') ? JSON.stringify(mark(JSON.parse(json))) : json;
}

function encode(value: unknown, name: string, code: KeepsakeErrorCode): string {
  // A getter may have a value of its own encoded.
  const outer = nulls;
  nulls = 0;
  try {
    return encodeOnce(value, name, code);
  } catch (error) {
    throw isTooLong(error) ? tooLong(name, error) : unreadable(name, error, code);
  } finally {
    nulls = outer;
  }
}

// What JSON.stringify throws of a text longer than JavaScript has them.
function isTooLong(error: unknown): boolean {
  return error instanceof RangeError && /string length|allocation/i.test(error.message);
}

function tooLong(name: string, cause?: unknown): KeepsakeError {
  const rule = `${name} must be JSON of less than 512 MB: keep it in several items`;
  return new KeepsakeError("too_large", rule, { cause });
}

function encodeOnce(value: unknown, name: string, code: KeepsakeErrorCode): string {
  if (!isJsonObject(value)) {
    throw new KeepsakeError(code, `${name} must be a JSON object, got ${kindOf(value)}`);
  }
  const kind = inspect(value, 0);
  if (kind === Kind.Refused) refuse(value, name, code, []);
  // What a getter or a toJSON() answers is asked for once more, and may be something else.
  if (kind === Kind.Plain) {
    const text = JSON.stringify(value);
    if (!hasMoreNulls(text, nulls)) return text;
  } else {
    const copy = mark(value);
    if (isJsonObject(copy) && inspect(copy, 0) !== Kind.Refused) return JSON.stringify(copy);
  }
  throw new KeepsakeError(code, `${name} changes while it is read`);
}

// How many there are in what inspect() saw.
let nulls = 0;

// JSON has null for what it has no form for.
function hasMoreNulls(text: string, most: number): boolean {
  let count = 0;
  for (let at = text.indexOf("null"); at >= 0; at = text.indexOf("null", at + 4)) count++;
  // Some may be parts of texts.
  return count > most && nullsIn(JSON.parse(text)) > most;
}

function nullsIn(value: unknown): number {
  if (value === null) return 1;
  if (typeof value !== "object") return 0;
  let count = 0;
  for (const member of Object.values(value as object)) count += nullsIn(member);
  return count;
}

enum Kind {
  Plain, // JSON.stringify gives the right text
  Marked, // mark() must see it first
  Refused, // refuse() knows why
}

function inspect(value: unknown, depth: number): Kind {
  if (typeof value === "string" || typeof value === "boolean") return Kind.Plain;
  if (typeof value === "number") return Number.isFinite(value) ? Kind.Plain : Kind.Refused;
  if (value === null || value === undefined) {
    if (value === null) nulls++;
    return Kind.Plain;
  }
  if (typeof value !== "object" || depth > MAX_DEPTH) return Kind.Refused;
  if (Array.isArray(value)) return inspectAll(value, depth);
  if (!isRecord(value)) {
    if (isBytes(value)) return isDetached(value) ? Kind.Refused : Kind.Marked;
    if (brokenRule(value) !== undefined) return Kind.Refused;
  }
  if (hasToJson(value)) {
    const kind = inspect(value.toJSON(""), depth + 1);
    return value instanceof Date ? kind : Math.max(kind, Kind.Marked);
  }
  return inspectMembers(value as Value, depth);
}

function inspectAll(values: unknown[], depth: number): Kind {
  let worst = Kind.Plain;
  if (values.length > MOST_ELEMENTS) return Kind.Refused;
  for (const value of values) {
    if (value === undefined) nulls++;
    const kind = inspect(value, depth + 1);
    if (kind > worst) worst = kind;
    // At once: a value that refers back to itself twice would take for ever.
    if (worst === Kind.Refused) break;
  }
  return worst;
}

function inspectMembers(object: Value, depth: number): Kind {
  let worst = Kind.Plain;
  if (symbolKeyOf(object) !== undefined) return Kind.Refused;
  for (const key of Object.keys(object)) {
    if (key.startsWith("$") && OWN_MARK.test(key)) worst = Kind.Marked;
    const kind = inspect(object[key], depth + 1);
    if (kind > worst) worst = kind;
    if (worst === Kind.Refused) break;
  }
  return worst;
}

// JSON leaves it out without a word. What is not enumerable is nobody's data.
function symbolKeyOf(object: object): symbol | undefined {
  const symbols = Object.getOwnPropertySymbols(object);
  if (symbols.length === 0) return undefined;
  return symbols.find((one) => Object.prototype.propertyIsEnumerable.call(object, one));
}

// The rule that a value breaks whatever it is part of.
function brokenRule(value: unknown): string | undefined {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return `must be a finite number, got ${value}`;
  }
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") {
    const remedy = typeof value === "bigint" ? ": give a number or a string" : "";
    return `must be JSON, got a ${typeof value}${remedy}`;
  }
  if (value instanceof Date && Number.isNaN(value.getTime())) return "must be a valid Date";
  if (typeof value !== "object" || value === null) return undefined;
  if (isBytes(value))
    return isDetached(value) ? "must have its bytes: they were transferred elsewhere" : undefined;
  if (hasToJson(value)) return undefined;
  // JSON.stringify would make {} of these without a word.
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  const isOpaque =
    ArrayBuffer.isView(value) ||
    /^(Weak)?(Map|Set)$|^(WeakRef|Promise|RegExp|Error|(Shared)?ArrayBuffer)$/.test(tag);
  return isOpaque ? `must be JSON or a Uint8Array, got a ${tag}` : undefined;
}

// Finds and throws what inspect() only noticed.
function refuse(value: unknown, path: string, code: KeepsakeErrorCode, ancestors: unknown[]): void {
  const rule = brokenRule(value);
  if (rule !== undefined) throw new KeepsakeError(code, `${path} ${rule}`);
  if (typeof value !== "object" || value === null || isBytes(value)) return;
  if (ancestors.includes(value)) throw new KeepsakeError(code, `${path} contains itself`);
  if (ancestors.length > MAX_DEPTH) {
    throw new KeepsakeError(
      code,
      `${path.slice(0, 80)}… is nested deeper than ${MAX_DEPTH} levels`,
    );
  }
  ancestors.push(value);
  if (hasToJson(value)) {
    refuse(value.toJSON(""), path, code, ancestors);
  } else if (Array.isArray(value)) {
    if (value.length > MOST_ELEMENTS) throw tooLong(path);
    for (const [i, element] of value.entries()) refuse(element, pathTo(path, i), code, ancestors);
  } else {
    const symbol = symbolKeyOf(value);
    if (symbol !== undefined) {
      throw new KeepsakeError(code, `${path} must have names as keys, not ${String(symbol)}`);
    }
    for (const [key, member] of Object.entries(value))
      refuse(member, pathTo(path, key), code, ancestors);
  }
  ancestors.pop();
}

function mark(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isBytes(value)) return { [MARK]: "bytes", base64: toBase64(value) };
  if (Array.isArray(value)) return value.map(mark);
  if (hasToJson(value)) return mark(value.toJSON(""));
  const plain = unboxed(value);
  if (typeof plain !== "object") return plain;
  // Object.fromEntries, unlike assignment, makes a key of "__proto__".
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      OWN_MARK.test(key) ? `$${key}` : key,
      mark(member),
    ]),
  );
}

// As JSON.stringify does: new Number(3) is 3.
function unboxed(value: object): unknown {
  const tag = Object.prototype.toString.call(value);
  return /^\[object (String|Number|Boolean)\]$/.test(tag) ? value.valueOf() : value;
}

function restore(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(restore);
  const object = value as Value;
  if (object[MARK] === "bytes" && typeof object.base64 === "string")
    return fromBase64(object.base64);
  return Object.fromEntries(
    Object.entries(object).map(([key, member]) => [
      key.startsWith("$$") && OWN_MARK.test(key) ? key.slice(1) : key,
      restore(member),
    ]),
  );
}

function hasToJson(value: object): value is { toJSON(key: string): unknown } {
  return typeof (value as { toJSON?: unknown }).toJSON === "function";
}

function isRecord(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype;
}

function isJsonObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (!isRecord(value) && isBytes(value)) return false;
  const json = hasToJson(value) ? value.toJSON("") : value;
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object"
    ? `a ${value.constructor?.name ?? "object"}`
    : `a ${typeof value}`;
}

/** @internal */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let i = 0; i < bytes.length; i += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  }
  return btoa(binary);
}

/** @internal */
export function fromBase64(base64: string): Uint8Array {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
