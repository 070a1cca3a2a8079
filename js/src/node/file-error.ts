// What node:fs throws, as the errors that keepsake promises.

import * as fs from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { KeepsakeError, type KeepsakeErrorCode, messageOf } from "../errors.js";

const CODES: Record<string, KeepsakeErrorCode> = {
  EROFS: "read_only",
  EACCES: "read_only",
  EPERM: "read_only",
  ENOSPC: "storage_full",
  EDQUOT: "storage_full",
};

/** `what` could not be done to `path`. @internal */
export function fileError(what: string, path: string, error: unknown): KeepsakeError {
  const code = CODES[(error as NodeJS.ErrnoException).code ?? ""] ?? "cannot_open";
  return new KeepsakeError(code, `${what} ${path}: ${messageOf(error)}`, { cause: error });
}

/** What is wrong with the folder of a path, and what to do; undefined if it is there. @internal */
export function missingFolder(path: string): string | undefined {
  const folder = dirname(resolve(path));
  if (fs.existsSync(folder)) return undefined;
  const remedy = folder.split(sep).includes("~")
    ? 'only a shell knows "~", where it stands without quotes; in a program write homedir() of node:os'
    : `make it first, as mkdir -p ${folder} does`;
  return `there is no folder ${folder}: ${remedy}`;
}

/** A flag of open(): does not wait for who writes to a pipe, where the system knows it. @internal */
export const NO_WAIT = fs.constants.O_NONBLOCK ?? 0;
// Fails for a symbolic link.
const NO_LINK = fs.constants.O_NOFOLLOW ?? 0;

const ODD: Record<string, string> = {
  ELOOP: "a symbolic link",
  EISDIR: "a folder",
  ENXIO: "a socket or a device",
};

/**
 * Opens what stands beside a database. It may not lead elsewhere, where something would be
 * overwritten: anything but a file is `cannot_open`. @internal
 */
export function openBeside(path: string, flags: number, mode?: number): number {
  let fd: number;
  try {
    fd = fs.openSync(path, flags | NO_LINK | NO_WAIT, mode);
  } catch (error) {
    const what = ODD[(error as NodeJS.ErrnoException).code ?? ""];
    throw what === undefined ? error : oddFile(path, what);
  }
  const found = fs.fstatSync(fd);
  if (found.isFile()) return fd;
  fs.closeSync(fd);
  throw oddFile(path, nameOfOdd(found));
}

/** What is there in place of a file. @internal */
export function nameOfOdd(found: fs.Stats): string {
  if (found.isSymbolicLink()) return "a symbolic link";
  return found.isDirectory() ? "a folder" : "a pipe, a socket or a device";
}

/** @internal */
export function oddFile(path: string, what: string): KeepsakeError {
  return new KeepsakeError(
    "cannot_open",
    `${path} must not be ${what}; remove it and open the database again`,
  );
}

/** A file with a second name would be changed under both, and locked under one. @internal */
export function refuseSecondName(path: string, fd: number): void {
  if (fs.fstatSync(fd).nlink < 2) return;
  throw new KeepsakeError(
    "cannot_open",
    `${path} must not be a hard link, or its other name would change, too; copy it to a new ` +
      "file, and give the copy its name",
  );
}
