// What an engine needs of its host: here Node, with its files.

import * as fs from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
// jsdom has none.
import { setImmediate } from "node:timers";
import { isBytes } from "../bytes.js";
import { checkText, isBlob, show } from "../checks.js";
import type { Engine, ForeignDatabase } from "../engine/engine.js";
import { checkKey, KeyRing, refuseKey } from "../engine/keys.js";
import { LocalEngine, type SessionSource } from "../engine/local-engine.js";
import type { OpenFiles } from "../engine/open-files.js";
import { checkCommonOptions, type DatabaseOptions, refuseConflict } from "../engine/options.js";
import { openSession } from "../engine/session.js";
import { refuseUtf16 } from "../engine/text-encoding.js";
import { TickBatch } from "../engine/tick-batch.js";
import { invalid, KeepsakeError } from "../errors.js";
import { closeFiles, type EngineFiles } from "../wasm/engine-file.js";
import { MemoryFile } from "../wasm/memory-files.js";
import { fileError, missingFolder, nameOfOdd, oddFile } from "./file-error.js";
import { type FileLock, lockFile } from "./file-lock.js";
import { compiledModule, moduleSource } from "./module.js";
import { openNodeFiles, openNodeFilesForReading } from "./node-files.js";
import { seesAllProcesses } from "./process-identity.js";
import {
  cannotWrite,
  isOnlyReadable,
  isProtected,
  openOverFiles,
  ReadOnlySession,
} from "./read-only.js";
import { Reserve, ReservingSession } from "./reserve.js";
import { refuseLoneLog, sideSuffixOf } from "./side-files.js";

/** Checked, and absolute, so that a later change of the working folder is no matter. @internal */
export interface ResolvedOptions extends DatabaseOptions {
  path: string;
  isVolatile: boolean;
}

/** Made by scripts/build-js.mjs: a hash of the package. */
declare const BUILD: string;

// Kept here, because a test may replace them by a clock of its own.
const { nextTick } = process;
const clock = performance.now.bind(performance);
const settled = Promise.resolve();

// Node runs promises before ticks, and ticks before timers and input. A loop of awaited writes would
// keep those waiting for ever. So a turn that lasts longer than this lets them in.
const LONGEST_TURN_MS = 20;
let turnBegan: number | undefined;

function isTurnOver(): boolean {
  if (turnBegan !== undefined) return clock() - turnBegan > LONGEST_TURN_MS;
  turnBegan = clock();
  setImmediate(() => {
    turnBegan = undefined;
  });
  return false;
}

function whenTickEnds(run: () => void): void {
  if (isTurnOver()) setImmediate(run);
  else settled.then(() => nextTick(run));
}

const SHARED = Symbol.for("keepsake.engines");
const DEFAULT_LOCK_TIMEOUT_MS = 5_000;
const GROWN_REPLACED_AFTER_MS = 2_000;
// An agent's memory is its user's own.
const DEFAULT_FILE_MODE = 0o600;
// The first page; where there is a key, behind a block of its own.
const SMALLEST = 4096;
const SMALLEST_ENCRYPTED = 2 * SMALLEST;

/** Checks them all, so that a constructor can. @internal */
export function resolveOptions(options: DatabaseOptions): ResolvedOptions {
  if (typeof options !== "object" || options === null)
    throw invalid('it takes options with a path, such as { path: "agent.db" }');
  const { path, name } = options;
  if (path === undefined && name !== undefined) {
    throw new KeepsakeError(
      "unsupported",
      'name is for browsers; in Node, and in jsdom, a database has a path: give both, or path: ":memory:" in a test',
    );
  }
  if (typeof path !== "string" || path === "")
    throw invalid(`path must be a non-empty string, such as "agent.db": ${show(path)}`);
  if (/^(file|sqlite|https?):/i.test(path))
    throw invalid(`path must be a path, not a URL, such as "agent.db": ${show(path)}`);
  if (path.includes("\0")) throw invalid("path must not contain NUL");
  checkText("path", path);
  checkCommonOptions(options);
  const suffix = sideSuffixOf(path);
  if (suffix !== undefined) {
    const rule = `path must not end with ${suffix}, as what belongs to another database does`;
    throw invalid(`${rule}: ${show(path)}`);
  }
  const isVolatile = path === ":memory:";
  // Else what was to be kept nowhere would be in a file.
  if (options.storage === "memory" && !isVolatile) {
    throw invalid('storage "memory" keeps nothing, so path must be ":memory:" beside it');
  }
  if (isVolatile) refuseKey(options, "what is in memory is not written");
  return { ...options, path: isVolatile ? path : resolve(path), isVolatile };
}

/** A new engine in memory; without options it has no database at all. @internal */
export function memoryEngine(options?: ResolvedOptions): Engine {
  return new LocalEngine(memorySource(options), () => {});
}

/** The one engine of the file, for the ESM and CommonJS copies of this package too. @internal */
export function databaseEngine(options: ResolvedOptions): Engine {
  const engines = sharedEngines();
  const path = realPath(options.path);
  // Another build's copy of the package, which may ask in other frames, has an engine of its own: of
  // one file, one of them is told that it is busy.
  const name = `${BUILD} ${path}`;
  const existing = engines.get(name);
  if (existing !== undefined) {
    existing.admit(options.key && checkKey("key", options.key));
    refuseConflict(path, "durability", existing.durability, options.durability ?? "relaxed");
    return existing;
  }
  const engine = new LocalEngine(fileSource({ ...options, path }), () => {
    if (engines.get(name) === engine) engines.delete(name);
  });
  engines.set(name, engine);
  return engine;
}

function sharedEngines(): Map<string, LocalEngine> {
  const shared = globalThis as { [SHARED]?: Map<string, LocalEngine> };
  if (shared[SHARED] === undefined) {
    const engines = new Map<string, LocalEngine>();
    shared[SHARED] = engines;
    process.on("exit", () => {
      for (const engine of [...engines.values()]) engine.close();
    });
  }
  return shared[SHARED];
}

// The one name of a file that may not be there yet.
function realPath(path: string): string {
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
  } catch (cause) {
    const missing = missingFolder(path);
    if (missing !== undefined) throw new KeepsakeError("cannot_open", missing, { cause });
    throw fileError("cannot open", path, cause);
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return fs.readlinkSync(path);
  } catch {
    return undefined;
  }
}

// The database in a file, whose path is real.
function fileSource({
  path,
  durability = "relaxed",
  lockTimeout = DEFAULT_LOCK_TIMEOUT_MS,
  fileMode = DEFAULT_FILE_MODE,
  verifyPages = false,
  key,
}: ResolvedOptions): SessionSource {
  let lock: FileLock | undefined;
  let isReadOnly = false;
  const keys = new KeyRing(path, key && checkKey("key", key));
  // The file that was opened first, and as a session left it that ended since. Also without the
  // lock: who was refused once is refused until it is closed.
  let opened: fs.Stats | undefined;
  let left: fs.Stats | undefined;
  const sessionOver = async (files: EngineFiles) =>
    openSession({
      module: await compiledModule(),
      database: { path, durability, verifies: verifyPages, keys: await keysFor(keys, path, files) },
      files,
    });
  const openForReading = async () => {
    const files = open(path, () => {
      refuseLoneLog(path, key === undefined ? SMALLEST : SMALLEST_ENCRYPTED);
      return openOverFiles(path);
    });
    const database = files.get(path);
    const session = await sessionOver(files);
    return new ReadOnlySession(path, session, () => database?.check?.() ?? true);
  };
  return {
    name: path,
    isPersistent: true,
    worksWhenIdle: true,
    durability,
    details: () => ({ ...diagnosis(), readOnly: isReadOnly }),
    refuseToWrite() {
      if (isReadOnly) throw cannotWrite(path);
    },
    keys,
    replacedAfterMs: GROWN_REPLACED_AFTER_MS,
    tickBatch: (runner) => new TickBatch(runner, whenTickEnds),
    async open() {
      refuseOddFile(path);
      const reserve = new Reserve(path);
      isReadOnly = lock === undefined && isProtected(path);
      if (isReadOnly) return openForReading();
      try {
        lock ??= await lockInRoom(path, lockTimeout, reserve);
      } catch (error) {
        isReadOnly = isOnlyReadable(path, error);
        if (!isReadOnly) throw error;
        return openForReading();
      }
      if (opened !== undefined) refuseAnother(path, opened, left);
      const isCrashed = refuseOtherPrograms(path);
      const files = open(path, () => {
        reserve.refuseOther();
        refuseLoneLog(path, key === undefined ? SMALLEST : SMALLEST_ENCRYPTED);
        return openNodeFiles(path, fileMode, reserve);
      });
      // So the engine knows that the log is another program's.
      if (isCrashed) files.set(`${path}-shm`, new MemoryFile(new Uint8Array(1)));
      const session = await sessionOver(files);
      opened = fs.statSync(path);
      left = undefined;
      return new ReservingSession(session, reserve, () => {
        left = fs.statSync(path, { throwIfNoEntry: false });
      });
    },
    release() {
      lock?.release();
      lock = undefined;
    },
  };
}

async function keysFor(keys: KeyRing, path: string, files: EngineFiles) {
  try {
    if (keys.isEmpty) refuseUtf16(path, files.get(path));
    return await keys.forFile(files.get(path));
  } catch (error) {
    closeFiles(files);
    throw error;
  }
}

// A process that was killed on a full disk left its reserve there.
async function lockInRoom(path: string, timeout: number, reserve: Reserve): Promise<FileLock> {
  try {
    return await lockFile(path, timeout);
  } catch (error) {
    const isFull = error instanceof KeepsakeError && error.code === "storage_full";
    if (!isFull || !reserve.release()) throw error;
    return lockFile(path, timeout);
  }
}

// What is opened again must not begin anew because somebody deleted or replaced the file, or wrote
// to it while no session had it.
function refuseAnother(path: string, { ino, dev }: fs.Stats, left: fs.Stats | undefined): void {
  const found = fs.statSync(path, { throwIfNoEntry: false });
  const isSame = found?.ino === ino && found.dev === dev;
  if (isSame && (left === undefined || isAsLeft(found, left))) return;
  const replaced = isSame ? "changed" : "replaced";
  throw new KeepsakeError(
    "changed_outside",
    `${path} was ${found === undefined ? "deleted" : replaced} while it was open: close it, and open it again`,
  );
}

function isAsLeft(found: fs.Stats, left: fs.Stats): boolean {
  return found.size === left.size && found.mtimeMs === left.mtimeMs;
}

// Other SQLite programs know nothing of our lock, but make shared memory beside the
// file for as long as they have it open. We never do. A program that crashed leaves
// it behind: nobody locks it then, and the next program would make it anew. True if one did.
function refuseOtherPrograms(path: string): boolean {
  const sharedMemory = `${path}-shm`;
  const found = fs.lstatSync(sharedMemory, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isFile()) throw oddFile(sharedMemory, nameOfOdd(found));
  if (seesAllProcesses() && isLocked(found.ino) === false) {
    fs.rmSync(sharedMemory, { force: true });
    return true;
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

/** @internal */
export const openFiles: OpenFiles = async (name, files) =>
  openSession({
    module: await compiledModule(),
    database: { path: name, durability: "relaxed" },
    files,
  });

const diagnosis = () => ({ module: moduleSource() });

// A database in linear memory; without options, no database at all.
function memorySource(options: ResolvedOptions | undefined): SessionSource {
  const { path = "memory", durability = "relaxed" } = options ?? {};
  return {
    name: path,
    isPersistent: false,
    worksWhenIdle: true,
    durability,
    details: diagnosis,
    open: async () =>
      openSession({
        module: await compiledModule(),
        database: options && { path, durability },
        files: new Map(),
      }),
    release: () => {},
  };
}

export { keysOfForeign } from "../engine/keys.js";
export { refuseForeignUtf16 } from "../engine/text-encoding.js";

/** Another program's database, as it is; no files if there is no such file. @internal */
export function foreignDatabase(source: unknown): { name: string; database: ForeignDatabase } {
  if (isBytes(source) || isBlob(source)) {
    return { name: "database to import from", database: source };
  }
  if (typeof source !== "string") {
    throw invalid(`importFrom takes the path of a file, or its bytes: ${show(source)}`);
  }
  const name = resolve(source);
  refuseOddFile(name);
  return { name, database: open(name, openNodeFilesForReading) };
}

function kindOfFile(path: string): fs.Stats | undefined {
  try {
    return fs.statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw fileError("cannot open", path, error);
  }
}

// Opening a pipe waits for whoever writes to it, and holds up everything.
function refuseOddFile(path: string): void {
  const found = kindOfFile(path);
  if (found === undefined || found.isFile()) return;
  throw new KeepsakeError("cannot_open", `path must be a file, not ${nameOfOdd(found)}: ${path}`);
}

function open(path: string, files: (path: string) => EngineFiles): EngineFiles {
  try {
    return files(path);
  } catch (error) {
    if (error instanceof KeepsakeError) throw error;
    throw fileError("cannot open", path, error);
  }
}
