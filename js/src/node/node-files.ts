// Files of node:fs, as Node, Bun and Deno have it. Who may open them is not
// decided here: a lock around the path keeps a second keepsake out, and check()
// notices other programs.

import * as fs from "node:fs";
import { dirname } from "node:path";
import { KeepsakeError } from "../errors.js";
import { closeFiles, type EngineFile, type EngineFiles } from "../wasm/engine-file.js";
import { LogRoom } from "../wasm/log-room.js";
import { MemoryFile } from "../wasm/memory-files.js";
import { NO_WAIT, openBeside, refuseSecondName } from "./file-error.js";
import type { Reserve } from "./reserve.js";
import { refuseOtherLog } from "./side-files.js";

// What of a file is compared with what we wrote there, before each commit. In a log it is the
// header; in a database it holds the bond, which is not the same in any copy (file_sums.h).
const LOG_HEADER_SIZE = 32;
const DATABASE_HEADER_SIZE = 100;

/** Why there is no such file for us. It is left out, and the engine says that it can't open it. */
const UNREACHABLE = new Set([
  "EACCES",
  "EEXIST",
  "EISDIR",
  "ELOOP",
  "ENAMETOOLONG",
  "ENOENT",
  "ENOTDIR",
  "EPERM",
  "EROFS",
]);

interface Kind {
  isLog: boolean;
  isDatabase: boolean;
  isWritable: boolean;
  isNew: boolean;
  /** Of the database that is written to. */
  reserve?: Reserve;
}

const QUIETLY = { throwIfNoEntry: false } as const;
const BEGINNING = { at: 0 } as const;

const NO_ROOM = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

class NodeFile implements EngineFile {
  readonly #path: string;
  readonly #isLog: boolean;
  readonly #headerSize: number;
  readonly #isWritable: boolean;
  readonly #identity: fs.Stats;
  readonly #reserve: Reserve | undefined;
  readonly #sharedMemory: string;
  readonly #fd: number;
  #size: number;
  #header: Uint8Array;
  // For check(), which comes before each commit.
  readonly #found: Uint8Array;
  #isNew: boolean;

  constructor(path: string, fd: number, kind: Kind) {
    this.#path = path;
    this.#fd = fd;
    this.#isLog = kind.isLog;
    this.#headerSize = kind.isLog ? LOG_HEADER_SIZE : kind.isDatabase ? DATABASE_HEADER_SIZE : 0;
    this.#found = new Uint8Array(this.#headerSize);
    this.#isWritable = kind.isWritable;
    this.#isNew = kind.isNew;
    this.#reserve = kind.reserve;
    this.#sharedMemory = path.replace(/-wal$/, "-shm");
    this.#identity = fs.fstatSync(fd);
    this.#size = this.#identity.size;
    this.#header = this.#readHeader();
  }

  read(into: Uint8Array, { at }: { at: number }): number {
    let count = 0;
    while (count < into.length) {
      const read = fs.readSync(this.#fd, into, count, into.length - count, at + count);
      if (read === 0) break;
      count += read;
    }
    return count;
  }

  write(from: Uint8Array, { at }: { at: number }): number {
    this.#requireWritable();
    let count = 0;
    try {
      while (count < from.length) {
        const written = fs.writeSync(this.#fd, from, count, from.length - count, at + count);
        if (written === 0) break;
        count += written;
      }
      this.#reserve?.noteWrite();
    } catch (error) {
      this.#noteFull(error);
      throw error;
    } finally {
      this.#size = Math.max(this.#size, at + count);
      this.#noteHeader(from.subarray(0, count), at);
    }
    return count;
  }

  truncate(size: number): void {
    if (size === this.#size) return;
    this.#requireWritable();
    fs.ftruncateSync(this.#fd, size);
    this.#size = size;
    this.#header = this.#header.slice(0, size);
  }

  flush(): void {
    fs.fdatasyncSync(this.#fd);
    if (!this.#isNew) return;
    this.#isNew = false;
    flushFolder(dirname(this.#path));
  }

  getSize(): number {
    return fs.fstatSync(this.#fd).size;
  }

  check(): boolean {
    const found = fs.statSync(this.#path, QUIETLY);
    if (found === undefined || found.size !== this.#size) return false;
    if (found.ino !== this.#identity.ino || found.dev !== this.#identity.dev) return false;
    // We never make one: whoever did may copy our log into the database and delete it.
    if (this.#isLog && fs.existsSync(this.#sharedMemory)) return false;
    // A log that was begun anew by somebody else may have its old size, and so may a copy of the
    // database that was put in its place.
    return this.#hasItsHeader();
  }

  /** A log or journal that is empty and still ours is of no use to anyone. */
  removeIfEmpty(): void {
    if (this.#isWritable && this.#size === 0 && this.check()) fs.rmSync(this.#path);
  }

  close(): void {
    fs.closeSync(this.#fd);
  }

  #noteFull(error: unknown): void {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (this.#reserve !== undefined && NO_ROOM.has(code)) this.#reserve.isNeeded = true;
  }

  #requireWritable(): void {
    if (this.#isWritable) return;
    throw Object.assign(new Error(`file must be writable: "${this.#path}"`), { code: "EROFS" });
  }

  #hasItsHeader(): boolean {
    const [header, found] = [this.#header, this.#found];
    if (found.length === 0) return true;
    const count = this.read(found, BEGINNING);
    if (count !== header.length) return false;
    for (let i = 0; i < count; i++) if (found[i] !== header[i]) return false;
    return true;
  }

  #readHeader(): Uint8Array {
    const header = new Uint8Array(this.#headerSize);
    return header.subarray(0, this.read(header, { at: 0 }));
  }

  #noteHeader(written: Uint8Array, at: number): void {
    const size = Math.min(this.#headerSize, this.#size);
    if (at >= size && this.#header.length === size) return;
    const header = new Uint8Array(size);
    header.set(this.#header.subarray(0, size));
    // What is written behind it makes the file longer, by zeros.
    if (at < size) header.set(written.subarray(0, size - at), at);
    this.#header = header;
  }
}

/** A log or journal that is closed for good: gone if it is empty. */
class SideFile extends NodeFile {
  override close(): void {
    try {
      this.removeIfEmpty();
    } finally {
      super.close();
    }
  }
}

// The log of a database that is written to.
class LogFile extends SideFile {
  readonly #room: LogRoom;

  constructor(path: string, fd: number, kind: Kind, database: EngineFile) {
    super(path, fd, kind);
    // A size alone would keep no room.
    this.#room = new LogRoom(database, (from, to) =>
      database.write(new Uint8Array(to - from), { at: from }),
    );
  }

  override write(from: Uint8Array, options: { at: number }): number {
    this.#room.make(from, options.at);
    return super.write(from, options);
  }
}

const { O_CREAT, O_EXCL, O_RDONLY, O_RDWR } = fs.constants;
const CREATE = O_RDWR | O_CREAT | O_EXCL;

/**
 * Opens the files of the database at `path`, and creates what is missing: a database with this
 * `mode`, and beside it what may be read and written by those who may read and write it. @internal
 */
export function openNodeFiles(path: string, mode: number, reserve: Reserve): EngineFiles {
  let modeOfDatabase = mode;
  let database: EngineFile | undefined;
  return openAll(path, (name, isLog) => {
    const isSideFile = isLog !== undefined;
    for (const flags of [O_RDWR, CREATE, O_RDONLY]) {
      const fd = tryOpen(name, flags, isSideFile, modeOfDatabase);
      if (fd === undefined) continue;
      if (isSideFile) {
        requireLog(name, fd, isLog);
        setMode(fd, modeOfDatabase);
      } else modeOfDatabase = fs.fstatSync(fd).mode & 0o777;
      const kind: Kind = {
        isLog: isLog === true,
        isDatabase: !isSideFile,
        isWritable: flags !== O_RDONLY,
        isNew: flags === CREATE,
        reserve,
      };
      if (kind.isLog && database !== undefined) return new LogFile(name, fd, kind, database);
      if (isSideFile) return new SideFile(name, fd, kind);
      database = new NodeFile(name, fd, kind);
      return database;
    }
    return undefined;
  });
}

function requireLog(path: string, fd: number, isLog: boolean): void {
  try {
    refuseOtherLog(path, fd, isLog);
  } catch (error) {
    closed(fd);
    throw error;
  }
}

// What was put into a side file was in the database: nobody else may read it.
function setMode(fd: number, mode: number): void {
  if ((fs.fstatSync(fd).mode & 0o777) === mode) return;
  try {
    fs.fchmodSync(fd, mode);
  } catch {
    // Another user's file, who decides about it.
  }
}

/** Opens what there is of the database at `path`, which stays as it is. @internal */
export function openNodeFilesForReading(path: string): EngineFiles {
  return openAll(path, (name, isLog) => {
    const fd = tryOpen(name, O_RDONLY, isLog !== undefined);
    if (fd !== undefined) {
      if (isLog !== undefined) requireLog(name, fd, isLog);
      const [isDatabase, isWritable, isNew] = [isLog === undefined, false, false];
      return new NodeFile(name, fd, { isLog: isLog === true, isDatabase, isWritable, isNew });
    }
    if (isLog === undefined) return undefined;
    refuseHiddenLog(name);
    // A reader wants a log even if there is nothing in it.
    return new MemoryFile();
  });
}

// Without it the database would be read as it was before the last writes.
function refuseHiddenLog(path: string): void {
  if ((fs.lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  throw new KeepsakeError(
    "cannot_open",
    `${path} has what was written last, and you may not read it: get the right to read it, too, or a copy from whoever has the memory open`,
  );
}

/** `isLog` is undefined for the database itself. */
type OpenOne = (name: string, isLog?: boolean) => EngineFile | undefined;

function openAll(path: string, openOne: OpenOne): EngineFiles {
  const files: EngineFiles = new Map();
  const database = openOne(path);
  if (database === undefined) return files;
  files.set(path, database);
  try {
    for (const [suffix, isLog] of [
      ["-wal", true],
      ["-journal", false],
    ] as const) {
      const file = openOne(path + suffix, isLog);
      if (file !== undefined) files.set(path + suffix, file);
    }
    return files;
  } catch (error) {
    closeFiles(files);
    throw error;
  }
}

function tryOpen(
  path: string,
  flags: number,
  isSideFile: boolean,
  mode?: number,
): number | undefined {
  let fd: number;
  try {
    fd = isSideFile ? openBeside(path, flags, mode) : fs.openSync(path, flags | NO_WAIT, mode);
  } catch (error) {
    if (UNREACHABLE.has((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
  try {
    // A folder opens too, if it is only to be read.
    if (!fs.fstatSync(fd).isFile()) return closed(fd);
    if (flags !== O_RDONLY) refuseSecondName(path, fd);
    return fd;
  } catch (error) {
    closed(fd);
    throw error;
  }
}

function closed(fd: number): undefined {
  fs.closeSync(fd);
}

/** So that the name of a new file survives a power cut, where folders can be flushed. */
function flushFolder(path: string): void {
  let fd: number | undefined;
  try {
    fd = fs.openSync(path, "r");
    fs.fsyncSync(fd);
  } catch {
    // Windows has no such thing.
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}
