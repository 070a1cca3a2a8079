// What may stand beside a database. A file that only has such a name is somebody else's: it is
// refused, and never overwritten or removed.

import * as fs from "node:fs";
import { KeepsakeError } from "../errors.js";
import { openBeside } from "./file-error.js";

const SUFFIXES = ["-wal", "-journal", "-shm", "-lock", "-reserve"];

const RESERVE_BYTE = 0x5a;
const RESERVE_BYTES = 1 << 20;

// How they begin: https://www.sqlite.org/fileformat2.html
const LOG = [0x37, 0x7f, 0x06];
const JOURNAL = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
// A journal of a database that has no page yet has a header, and no page either.
const JOURNAL_HEADER_BYTES = 512;
const BEGINNING_BYTES = 8;

/** The suffix of `path`, if it is the name of something beside a database. @internal */
export function sideSuffixOf(path: string): string | undefined {
  return SUFFIXES.find((suffix) => path.endsWith(suffix));
}

/**
 * A new database would be made beside a log of another, which SQLite deletes then. A crash leaves
 * no such thing: the first `smallest` bytes of a database are synced before its log gets any.
 * @internal
 */
export function refuseLoneLog(path: string, smallest: number): void {
  const size = sizeOf(path) ?? 0;
  if (size >= smallest) return;
  for (const [suffix, most] of [
    ["-wal", 0],
    ["-journal", JOURNAL_HEADER_BYTES],
  ] as const) {
    if ((sizeOf(path + suffix) ?? 0) <= most) continue;
    refuseOtherLogAt(path + suffix, suffix === "-wal");
    const state = fs.existsSync(path) ? `has only ${size} bytes` : "is missing";
    throw new KeepsakeError(
      "cannot_open",
      `${path} ${state}, but ${path}${suffix} is there, with what was written to it last: ` +
        `put the database back, or move ${path}${suffix} away to begin a new one`,
    );
  }
  // It is made when something is stored.
  if (fs.existsSync(path) && isWholeReserve(`${path}-reserve`)) {
    throw new KeepsakeError(
      "cannot_open",
      `${path} has only ${size} bytes, and was a memory, as ${path}-reserve tells: put a copy of ` +
        `it back, or remove ${path}-reserve to begin a new one`,
    );
  }
}

function refuseOtherLogAt(path: string, isLog: boolean): void {
  const fd = openBeside(path, fs.constants.O_RDONLY);
  try {
    refuseOtherLog(path, fd, isLog);
  } finally {
    fs.closeSync(fd);
  }
}

/** Refuses an open log or journal that is none. A power cut may leave zeros of it. @internal */
export function refuseOtherLog(path: string, fd: number, isLog: boolean): void {
  const beginning = new Uint8Array(BEGINNING_BYTES);
  const count = fs.readSync(fd, beginning, 0, BEGINNING_BYTES, 0);
  const known = isLog ? LOG : JOURNAL;
  const found = beginning.subarray(0, Math.min(count, known.length));
  const isOurs = found.every((byte) => byte === 0) || found.every((byte, i) => byte === known[i]);
  if (!isOurs) throw strange(path, isLog ? "a log of SQLite's" : "a journal of SQLite's");
}

/** Refuses a file in place of the reserve. A power cut may leave a part of it, or zeros. @internal */
export function refuseOtherReserve(path: string): void {
  if (!mayBeReserve(path)) throw strange(path, "the reserve that keepsake keeps there");
}

/** Whether nothing is lost with what has this name: a reserve, or another name of something. @internal */
export function mayBeReserve(path: string): boolean {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile() || found.nlink > 1) return true;
  if (found.size > RESERVE_BYTES) return false;
  const bytes = fs.readFileSync(path);
  // At once, because one byte after the other takes ten times as long.
  if (bytes.equals(Buffer.alloc(bytes.length, RESERVE_BYTE))) return true;
  return bytes.every((byte) => byte === RESERVE_BYTE || byte === 0);
}

/** @internal */
export function isWholeReserve(path: string): boolean {
  return sizeOf(path) === RESERVE_BYTES && mayBeReserve(path) && fs.lstatSync(path).nlink === 1;
}

/** @internal */
export function newReserve(): Uint8Array {
  return new Uint8Array(RESERVE_BYTES).fill(RESERVE_BYTE);
}

function strange(path: string, rule: string): KeepsakeError {
  return new KeepsakeError(
    "cannot_open",
    `${path} must be ${rule}, and is something else: rename it, and open the database again`,
  );
}

function sizeOf(path: string): number | undefined {
  return fs.statSync(path, { throwIfNoEntry: false })?.size;
}
