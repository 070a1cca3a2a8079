// The texts of a value that are embedded: core/src/json/path.h has the grammar of paths,
// and core/src/store/embedding.cc does the same. tests/golden/texts.jsonl holds both to it.

import { KeepsakeError } from "../errors.js";

/** A text, and the path by which its vector is kept. */
export interface PathText {
  readonly path: string;
  readonly text: string;
}

// Of one path. A text counts for more than itself, so that empty ones count, too.
const MOST_TEXT = 64 * 1024 * 1024;
const PER_TEXT = 32;

/** `value` is JSON text. Each path gives its texts in the order of the value. @internal */
export function textsToEmbed(value: string, paths: readonly string[]): PathText[] {
  const root: unknown = JSON.parse(value);
  const found = new Map<string, string>();
  for (const path of paths) {
    const texts = textsAt(root, path);
    for (const [i, text] of texts.entries()) {
      const textPath = texts.length === 1 ? path : `${path}.${i}`;
      if (!found.has(textPath)) found.set(textPath, text);
    }
  }
  return Array.from(found, ([path, text]) => ({ path, text }));
}

function textsAt(root: unknown, path: string): string[] {
  const texts: string[] = [];
  if (path === "" || path === "$") texts.push(layOut(root));
  else collect(root, tokensOf(path), texts);
  const size = texts.reduce((sum, text) => sum + text.length + PER_TEXT, 0);
  if (size <= MOST_TEXT) return texts;
  throw new KeepsakeError(
    "too_large",
    `texts at path ${JSON.stringify(path)} exceed 64 MiB; embed fewer fields of such a value`,
  );
}

function collect(root: unknown, tokens: readonly string[], texts: string[]): void {
  if (tokens[0] === "$") texts.push(layOut(root));
  let values = [root];
  for (const token of tokens) {
    if (isEnclosed(token, "{", "}")) {
      for (const value of values) collectFields(value, token.slice(1, -1), texts);
      return;
    }
    values = values.flatMap((value) => step(value, token));
  }
  for (const value of values) if (value !== null) texts.push(asIndexed(value));
}

// "{a,b.c}": each field by plain names; here null counts as a text.
function collectFields(value: unknown, fields: string, texts: string[]): void {
  for (const field of fields.split(",")) {
    const names = tokensOf(field.trim());
    let found: unknown = value;
    for (const name of names) found = childOf(found, name);
    if (names.length > 0 && found !== undefined) texts.push(asIndexed(found));
  }
}

/** The values to which one step leads. */
function step(value: unknown, token: string): unknown[] {
  if (isEnclosed(token, "[", "]")) {
    if (!Array.isArray(value)) return [];
    if (token === "[*]") return value;
    const index = /^\s*\+?(-?\d+)/.exec(token.slice(1, -1));
    const element = index ? value.at(Number(index[1])) : undefined;
    return element === undefined ? [] : [element];
  }
  if (token === "*") return typeof value === "object" && value !== null ? Object.values(value) : [];
  const child = childOf(value, token);
  return child === undefined ? [] : [child];
}

// A name leads to a member of an object, or by its number to an element of an array.
function childOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function asIndexed(value: unknown): string {
  return typeof value === "string" ? value.toWellFormed() : layOut(value);
}

function layOut(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

function isEnclosed(token: string, opening: string, closing: string): boolean {
  return token.length >= 2 && token.startsWith(opening) && token.endsWith(closing);
}

function tokensOf(path: string): string[] {
  const tokens: string[] = [];
  let name = "";
  const endName = () => {
    if (name !== "") tokens.push(name);
    name = "";
  };
  for (let at = 0; at < path.length; ) {
    const char = path[at] as string;
    if (char === "[" || char === "{") {
      endName();
      const end = endOfGroup(path, at, char, char === "[" ? "]" : "}");
      tokens.push(path.slice(at, end));
      at = end;
      continue;
    }
    if (char === ".") endName();
    else name += char;
    at++;
  }
  endName();
  return tokens;
}

// The closing one included.
function endOfGroup(path: string, begin: number, opening: string, closing: string): number {
  let depth = 1;
  let at = begin + 1;
  for (; at < path.length && depth > 0; at++) {
    if (path[at] === opening) depth++;
    if (path[at] === closing) depth--;
  }
  return at;
}
