// What a database and its parts are called in a browser's storage.

import { show } from "../checks.js";
import { invalid, KeepsakeError } from "../errors.js";

/** The database, its log and its journal. @internal */
export const SUFFIXES = ["", "-wal", "-journal"] as const;

const LONGEST_NAME = 100;
// Leaves room for the suffixes in the 255 bytes that file systems have for a name.
const MAX_FILE_NAME = 200;
const ASIDE = ".corrupt-";

/** What every database of a browser may be called. @internal */
export function checkName(name: unknown): asserts name is string {
  if (typeof name !== "string" || name === "" || name.length > LONGEST_NAME) {
    throw invalid(`name must be a string of 1 to ${LONGEST_NAME} characters: ${show(name)}`);
  }
  if (name.includes("\0") || !name.isWellFormed()) {
    throw invalid(`name must not contain NUL or lone surrogates: ${JSON.stringify(name)}`);
  }
  const size = fileNameOf(name).length;
  if (size <= MAX_FILE_NAME) return;
  throw invalid(
    `name must take at most ${MAX_FILE_NAME} characters as a file, not ${size}: "${name}"`,
  );
}

/**
 * One file name for each name: in lower case, because some file systems ignore
 * case, and without "-" and ".", so that no name ends like another one's log.
 * @internal
 */
export function fileNameOf(name: string): string {
  let encoded = "";
  for (const byte of new TextEncoder().encode(name)) {
    const character = String.fromCharCode(byte);
    encoded += /[a-z0-9_]/.test(character) ? character : `%${byte.toString(16).padStart(2, "0")}`;
  }
  return encoded;
}

/** What is set aside now is called the database's name and this. @internal */
export function asideSuffix(): string {
  return ASIDE + new Date().toISOString().replace(/[-:.]/g, "");
}

/** Whose file it is that setAside() made, and what was added to the name. @internal */
export function splitAsideName(asideName: string): { name: string; suffix: string } {
  const end = asideName.lastIndexOf(ASIDE);
  if (end < 0) throw noSuchAside(asideName);
  return { name: asideName.slice(0, end), suffix: asideName.slice(end) };
}

/** @internal */
export function isAsideSuffix(suffix: string): boolean {
  return suffix.startsWith(ASIDE);
}

/** Whether it is the database that was set aside, and not a log or journal beside it. @internal */
export function isAsideDatabase(asideName: string): boolean {
  return !SUFFIXES.some((suffix) => suffix !== "" && asideName.endsWith(suffix));
}

/** @internal */
export function noSuchAside(asideName: string): KeepsakeError {
  return new KeepsakeError("not_found", `there is no set-aside file "${asideName}"`);
}
