// Moves the files of a database from one storage to another, so that it may be cut off at
// any moment. The bytes by which SQLite knows a database are written last, and alone:
//
//   copy all else → compare → the old home gives the database up → these bytes
//
// Whoever finds a database without them copies it again, if the old home has it still,
// or else adds what is missing.

import { KeepsakeError } from "../errors.js";
import type { EngineFile, EngineFiles } from "../wasm/engine-file.js";
import { SUFFIXES } from "./database-name.js";

const MAGIC = new TextEncoder().encode("SQLite format 3\0");
const COPY_BYTES = 1 << 20;

/** Whether a move of this database was cut off. @internal */
export function isHalfMoved(database: EngineFile): boolean {
  return database.getSize() > 0 && beginOf(database).every((byte) => byte === 0);
}

/** Copies all but what finishMove() adds. What was in `to` is gone. @internal */
export function copyHalf(name: string, from: EngineFiles, to: EngineFiles): void {
  const database = from.get(name);
  if (database === undefined || beginOf(database).some((byte, i) => byte !== MAGIC[i])) {
    throw new KeepsakeError("not_a_database", `"${name}" does not begin as a database does`);
  }
  empty(name, to);
  for (const suffix of SUFFIXES) {
    const [source, target] = [from.get(name + suffix), to.get(name + suffix)];
    if (source === undefined || target === undefined) continue;
    copy(name, source, target, suffix === "" ? MAGIC.length : 0);
  }
}

/** Makes what copyHalf() copied a database. @internal */
export function finishMove(database: EngineFile): void {
  database.write(MAGIC, { at: 0 });
  database.flush();
}

/** The database last: what is left of a log must never meet an empty one. @internal */
export function empty(name: string, files: EngineFiles): void {
  for (const suffix of SUFFIXES.toReversed()) {
    const file = files.get(name + suffix);
    file?.truncate(0);
    file?.flush();
  }
}

function beginOf(database: EngineFile): Uint8Array {
  const begin = new Uint8Array(MAGIC.length);
  database.read(begin, { at: 0 });
  return begin;
}

function copy(name: string, from: EngineFile, to: EngineFile, begin: number): void {
  const size = from.getSize();
  for (let at = begin; at < size; at += COPY_BYTES) {
    const bytes = bytesAt(from, at, size);
    if (to.write(bytes, { at }) < bytes.length) throw noRoom(name, size);
  }
  to.flush();
  for (let at = begin; at < size; at += COPY_BYTES) {
    const copied = bytesAt(to, at, size);
    if (bytesAt(from, at, size).some((byte, i) => byte !== copied[i])) throw differs(name);
  }
}

function bytesAt(file: EngineFile, at: number, end: number): Uint8Array {
  const bytes = new Uint8Array(Math.min(COPY_BYTES, end - at));
  return bytes.subarray(0, file.read(bytes, { at }));
}

function noRoom(name: string, size: number): KeepsakeError {
  return new KeepsakeError("storage_full", `there is no room for "${name}" of ${size} bytes`);
}

function differs(name: string): KeepsakeError {
  return new KeepsakeError("io_error", `a copy of "${name}" is not what was written`);
}
