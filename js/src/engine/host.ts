// What an engine needs of its host: here Node, with its files.

import * as fs from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { KeepsakeError } from "../errors.js";
import type { EngineFiles } from "../wasm/engine-file.js";
import { openNodeFiles, openNodeFilesForReading } from "../wasm/node-files.js";
import type { SessionSource } from "./engine.js";
import { fileError } from "./file-error.js";
import { type FileLock, lockFile } from "./file-lock.js";
import { openSession } from "./session.js";

/** Where a database is, and how it is kept. */
export interface DatabaseOptions {
  /** A file, which is made if it is missing, or `":memory:"`. */
  path: string;
  /**
   * `relaxed`: survives the death of the process; a power cut may cost the last
   * moment. `strict`: flushed to the disk at each write, which takes longer.
   * @default "relaxed"
   */
  durability?: "relaxed" | "strict" | undefined;
  /** How many milliseconds to wait for another process that has the file. @default 5000 */
  lockTimeout?: number | undefined;
}

const DEFAULT_LOCK_TIMEOUT_MS = 5_000;

/** Checks them all, so that a constructor can. @internal */
export function checkOptions(options: DatabaseOptions): void {
  if (typeof options !== "object" || options === null)
    throw invalid("options must be an object with a path");
  const { path, durability, lockTimeout } = options;
  if (typeof path !== "string" || path === "")
    throw invalid(`path must be a non-empty string: ${String(path)}`);
  if (path.includes("\0")) throw invalid("path must not contain NUL");
  if (durability !== undefined && durability !== "relaxed" && durability !== "strict") {
    throw invalid(`durability must be relaxed or strict: ${String(durability)}`);
  }
  if (lockTimeout !== undefined && !(typeof lockTimeout === "number" && lockTimeout >= 0)) {
    throw invalid(`lockTimeout must be a number of milliseconds from 0: ${String(lockTimeout)}`);
  }
}

function invalid(rule: string): KeepsakeError {
  return new KeepsakeError("invalid_argument", rule);
}

/** Absolute, so that a later change of the working folder is no matter. @internal */
export function absolutePath(path: string): string {
  return resolve(path);
}

/** The one name of a file that may not be there yet. @internal */
export function realPath(path: string): string {
  try {
    return fs.realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      throw fileError("cannot open", path, error);
  }
  const target = linkTarget(path);
  if (target !== undefined) return realPath(resolve(dirname(path), target));
  try {
    return join(fs.realpathSync(dirname(path)), basename(path));
  } catch (error) {
    throw fileError("cannot open", path, error);
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return fs.readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** The database in a file, whose path is real. @internal */
export function fileSource({
  path,
  durability = "relaxed",
  lockTimeout,
}: DatabaseOptions): SessionSource {
  let lock: FileLock | undefined;
  return {
    name: path,
    isPersistent: true,
    durability,
    async open() {
      if (fs.statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
        throw new KeepsakeError("cannot_open", `path must be a file, not a folder: ${path}`);
      }
      lock ??= await lockFile(path, lockTimeout ?? DEFAULT_LOCK_TIMEOUT_MS);
      refuseOtherPrograms(path);
      return openSession({
        module: compiledModule(),
        database: { path, durability },
        files: open(path, openNodeFiles),
      });
    },
    release() {
      lock?.release();
      lock = undefined;
    },
  };
}

// Other SQLite programs know nothing of our lock, but make shared memory beside the
// file for as long as they have it open. We never do. A program that crashed leaves
// it behind: nobody locks it then, and the next program would make it anew.
function refuseOtherPrograms(path: string): void {
  const sharedMemory = `${path}-shm`;
  const found = fs.statSync(sharedMemory, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (isLocked(found.ino) === false) {
    fs.rmSync(sharedMemory, { force: true });
    return;
  }
  throw new KeepsakeError(
    "busy",
    `another SQLite program has ${path} open; if none does, one crashed: delete ${sharedMemory}`,
  );
}

// Undefined where the operating system does not tell.
function isLocked(inode: number): boolean | undefined {
  try {
    const locks = fs.readFileSync("/proc/locks", "utf8");
    return locks.split("\n").some((line) => line.includes(`:${inode} `));
  } catch {
    return undefined;
  }
}

/** A database in linear memory; without options, no database at all. @internal */
export function memorySource(options: DatabaseOptions | undefined): SessionSource {
  const { path = "memory", durability = "relaxed" } = options ?? {};
  return {
    name: path,
    isPersistent: false,
    durability,
    open: () =>
      openSession({
        module: compiledModule(),
        database: options && { path, durability },
        files: new Map(),
      }),
    release: () => {},
  };
}

/** The files of another program's database, as they are; none if there is no such file. @internal */
export function foreignFiles(path: string): EngineFiles {
  return open(path, openNodeFilesForReading);
}

function open(path: string, files: (path: string) => EngineFiles): EngineFiles {
  try {
    return files(path);
  } catch (error) {
    throw fileError("cannot open", path, error);
  }
}

let compiled: WebAssembly.Module | undefined;

// Compiled by the first call, once per process and copy of the package.
function compiledModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(fs.readFileSync(new URL("./keepsake.wasm", import.meta.url)));
  return compiled;
}

/** @internal */
export function onProcessExit(body: () => void): void {
  process.on("exit", body);
}
