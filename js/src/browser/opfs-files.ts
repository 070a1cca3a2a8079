// A database in the origin private file system: three access handles, opened before
// SQLite is. They are exclusive, so a dying tab may keep them from us for a moment;
// that is waited out, and never taken for a browser without such files.
// Nothing here deletes a file of a database, least of all a failed open.

import { KeepsakeError } from "../errors.js";
import { closeFiles, type EngineFile, type EngineFiles } from "../wasm/engine-file.js";
import { LogRoom } from "../wasm/log-room.js";
import type { BrowserStorage } from "./browser-storage.js";
import {
  asideSuffix,
  fileNameOf,
  isAsideSuffix,
  noSuchAside,
  SUFFIXES,
  splitAsideName,
} from "./database-name.js";
import { inTime } from "./in-time.js";
import { empty } from "./moving.js";
import { abandonedError, closedError, errorName, reasonOf, storageError } from "./storage-error.js";

const FOLDER = "keepsake";
const RESERVE = ".reserve";
// An empty file that stays for good: a mirror in IndexedDB had bytes of the database once.
const MIRRORED = ".mirrored";
const RESERVE_BYTES = 1 << 20;
const COPY_BYTES = 1 << 20;

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;
const BUSY_LIMIT_MS = 5_000;
// A browser that gives no answer is asked once more, before the whole opening has failed.
const ANSWER_LIMIT_MS = 5_000;

// Of workers only, so lib.dom.d.ts lacks it; its handles have the shape of EngineFile.
interface SyncFileHandle extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<EngineFile>;
}

/**
 * Throws what the browser throws if there are no such files, and a KeepsakeError if there are.
 * An `unwanted` one no longer waits for files that are busy. @internal
 */
export async function openOpfs(name: string, unwanted?: AbortSignal): Promise<OpfsStorage> {
  const folder = await whileBusy(name, () => openFolder({ create: true }), unwanted);
  const storage = new OpfsStorage(name, folder);
  await storage.openFiles(unwanted);
  return storage;
}

/** Whether there is such a database; throws what the browser throws if that can't be known. @internal */
export async function isInOpfs(name: string): Promise<boolean> {
  const file = await existing(async () => {
    const folder = await openFolder();
    return (await folder.getFileHandle(fileNameOf(name))).getFile();
  });
  return file !== undefined && file.size > 0;
}

/** @internal */
export async function readAsideFromOpfs(asideName: string): Promise<Blob> {
  const { name, suffix } = splitAsideName(asideName);
  const file = await existing(async () => {
    const folder = await openFolder();
    return (await folder.getFileHandle(fileNameOf(name) + suffix)).getFile();
  });
  if (file === undefined) throw noSuchAside(asideName);
  return file;
}

/** @internal */
export async function listAsideInOpfs(name: string): Promise<string[]> {
  const folder = await existing(() => openFolder());
  if (folder === undefined) return [];
  const prefix = fileNameOf(name);
  const names: string[] = [];
  for await (const file of folder.keys()) {
    const suffix = file.slice(prefix.length);
    if (file.startsWith(prefix) && isAsideSuffix(suffix)) names.push(name + suffix);
  }
  return names.sort();
}

/** The database last, so that what is left of a cut-off deletion is still listed. @internal */
export async function deleteAsideInOpfs(asideName: string): Promise<void> {
  const { name, suffix } = splitAsideName(asideName);
  const folder = await existing(() => openFolder());
  for (const part of SUFFIXES.toReversed()) {
    await existing(async () => folder?.removeEntry(fileNameOf(name) + suffix + part));
  }
}

/** Whether a database that is in OPFS now was in IndexedDB once, or one of its name. @internal */
export async function isMirrored(name: string): Promise<boolean> {
  const file = await existing(async () => {
    const folder = await openFolder();
    return folder.getFileHandle(fileNameOf(name) + MIRRORED);
  });
  return file !== undefined;
}

/** @internal */
export class OpfsStorage implements BrowserStorage {
  readonly kind = "opfs";
  readonly fallbackReason = undefined;
  readonly files: EngineFiles = new Map();
  readonly #name: string;
  readonly #folder: FileSystemDirectoryHandle;
  #log: LogFile | undefined;
  #hasCommitted = false;
  #isClosed = false;
  // What is done with the reserve, one after the other.
  #reserving: Promise<unknown> = Promise.resolve();

  constructor(name: string, folder: FileSystemDirectoryHandle) {
    this.#name = name;
    this.#folder = folder;
  }

  get database(): EngineFile {
    return this.#file("");
  }

  get isEmpty(): boolean {
    return this.database.getSize() === 0;
  }

  /** Those that are open are closed first. */
  async openFiles(unwanted?: AbortSignal): Promise<void> {
    closeFiles(this.files);
    const names = SUFFIXES.map((suffix) => fileNameOf(this.#name) + suffix);
    const handles = await whileBusy(this.#name, () => openAll(this.#folder, names), unwanted);
    const [database, log, journal] = handles as [EngineFile, EngineFile, EngineFile];
    this.#log = new LogFile(log, database);
    this.files.set(this.#name, new OpfsFile(database));
    this.files.set(`${this.#name}-wal`, this.#log);
    this.files.set(`${this.#name}-journal`, new OpfsFile(journal));
    if (this.#isClosed) this.close();
  }

  /** For ever: the browser may keep what was in a mirror, and nobody can clear that. */
  async noteMirror(): Promise<void> {
    try {
      await this.#folder.getFileHandle(fileNameOf(this.#name) + MIRRORED, { create: true });
    } catch (error) {
      throw storageError("can't note where it was", this.#name, error);
    }
  }

  commit(): undefined {
    if (this.#hasCommitted) return;
    this.#hasCommitted = true;
    void this.restoreReserve();
  }

  flush(): void {
    try {
      this.#log?.flush();
    } catch {
      // It is still to be flushed; strict durability, which promises it, is SQLite's doing.
    }
  }

  async releaseReserve(): Promise<boolean> {
    try {
      return await this.#withReserve(() => emptyReserve(this.#folder, this.#reserveName));
    } catch (error) {
      throw storageError("can't release the reserve of", this.#name, error);
    }
  }

  async restoreReserve(): Promise<void> {
    try {
      await this.#withReserve(async () => {
        const reserve = new OpfsFile(await openFile(this.#folder, this.#reserveName, true));
        try {
          fillReserve(reserve);
        } finally {
          reserve.close();
        }
      });
    } catch {
      // There is none then, which releaseReserve() says.
    }
  }

  async setAside(): Promise<string> {
    if (this.#isClosed) throw closedError(this.#name);
    const aside = asideSuffix();
    const copies: string[] = [];
    try {
      await this.openFiles();
      for (const suffix of SUFFIXES) {
        const file = this.#file(suffix);
        if (suffix !== "" && file.getSize() === 0) continue;
        copies.push(fileNameOf(this.#name) + aside + suffix);
        await copyInto(this.#folder, copies.at(-1) as string, file);
      }
    } catch (error) {
      for (const copy of copies) await this.#folder.removeEntry(copy).catch(ignore);
      throw storageError("can't set aside", this.#name, error);
    }
    this.#empty();
    return this.#name + aside;
  }

  async settled(): Promise<void> {
    await this.#reserving;
  }

  close(): void {
    this.#isClosed = true;
    closeFiles(this.files);
  }

  get #reserveName(): string {
    return fileNameOf(this.#name) + RESERVE;
  }

  #file(suffix: string): EngineFile {
    const file = this.files.get(this.#name + suffix);
    if (file === undefined) throw closedError(this.#name);
    return file;
  }

  #empty(): void {
    try {
      empty(this.#name, this.files);
    } catch (error) {
      throw storageError("can't empty", this.#name, error);
    }
  }

  #withReserve<T>(body: () => Promise<T>): Promise<T> {
    const result = this.#reserving.then(() => {
      if (this.#isClosed) throw closedError(this.#name);
      return whileBusy(this.#name, body);
    });
    this.#reserving = result.catch(ignore);
    return result;
  }
}

class OpfsFile implements EngineFile {
  readonly #handle: EngineFile;
  #isFlushed = true;

  constructor(handle: EngineFile) {
    this.#handle = handle;
  }

  read(into: Uint8Array, options: { at: number }): number {
    return this.#handle.read(into, options);
  }

  write(from: Uint8Array, options: { at: number }): number {
    this.#isFlushed = false;
    const count = this.#handle.write(from, options);
    // Without room Firefox writes less, and Chrome up to 150 answers -8 without its sign.
    // The VFS takes a short count for a full disk.
    return count <= from.length ? count : 0;
  }

  truncate(size: number): void {
    this.#isFlushed = false;
    this.#handle.truncate(size);
  }

  flush(): void {
    if (this.#isFlushed) return;
    this.#handle.flush();
    this.#isFlushed = true;
  }

  getSize(): number {
    return this.#handle.getSize();
  }

  close(): void {
    this.#handle.close();
  }
}

class LogFile extends OpfsFile {
  readonly #room: LogRoom;

  constructor(handle: EngineFile, database: EngineFile) {
    super(handle);
    this.#room = new LogRoom(database, (_, size) => database.truncate(size));
  }

  override write(from: Uint8Array, options: { at: number }): number {
    this.#room.make(from, options.at);
    return super.write(from, options);
  }
}

async function openFolder(options?: FileSystemGetDirectoryOptions) {
  const opening = async () => {
    const root = await navigator.storage.getDirectory();
    return root.getDirectoryHandle(FOLDER, options);
  };
  return inTime(opening(), ANSWER_LIMIT_MS, () => noAnswer(FOLDER));
}

async function openFile(
  folder: FileSystemDirectoryHandle,
  name: string,
  create: boolean,
): Promise<EngineFile> {
  const opening = async () => {
    const file = (await folder.getFileHandle(name, { create })) as SyncFileHandle;
    return file.createSyncAccessHandle();
  };
  return inTime(
    opening(),
    ANSWER_LIMIT_MS,
    () => noAnswer(`${FOLDER}/${name}`),
    (late) => late.close(),
  );
}

/** Side by side, because a handle takes Firefox 30 ms. All of them or none. */
async function openAll(folder: FileSystemDirectoryHandle, names: string[]): Promise<EngineFile[]> {
  const outcomes = await Promise.allSettled(names.map((name) => openFile(folder, name, true)));
  const files: EngineFile[] = [];
  const failures: unknown[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") files.push(outcome.value);
    else failures.push(outcome.reason);
  }
  if (failures.length === 0) return files;
  for (const file of files) file.close();
  // One that is not busy will not go away by waiting.
  throw failures.find((failure) => !isBusy(failure)) ?? failures[0];
}

async function whileBusy<T>(
  name: string,
  open: () => Promise<T>,
  unwanted?: AbortSignal,
): Promise<T> {
  let deadline = performance.now() + BUSY_LIMIT_MS;
  let isUnanswered = false;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await open();
    } catch (error) {
      if (!isUnanswered && isNoAnswer(error)) {
        // It is asked once more, and waited for if the late answer has the files.
        isUnanswered = true;
        deadline = performance.now() + BUSY_LIMIT_MS;
      } else if (!isBusy(error) && !isPassing(error)) throw fullOrAsItIs(name, error);
      if (performance.now() + pause > deadline) {
        throw isBusy(error) ? busyError(name, error) : passingError(name, error);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (unwanted?.aborted) throw abandonedError(name);
  }
}

function isBusy(error: unknown): boolean {
  return errorName(error) === "NoModificationAllowedError";
}

function isNoAnswer(error: unknown): boolean {
  return error instanceof KeepsakeError && error.code === "busy";
}

function noAnswer(what: string): KeepsakeError {
  return new KeepsakeError(
    "busy",
    `the browser did not open ${what} within ${ANSWER_LIMIT_MS / 1000} s: close other tabs of this site, and call again`,
  );
}

// What a browser says that has such files, but not now. Chromium says InvalidStateError
// as long as a tab is there that had a file open when the site's data was cleared.
const PASSING = new Set(["InvalidStateError", "NotReadableError"]);

function isPassing(error: unknown): boolean {
  return PASSING.has(errorName(error) ?? "");
}

function passingError(name: string, error: unknown): KeepsakeError {
  return new KeepsakeError(
    "cannot_open",
    `the browser refuses the files of "${name}" for now (${reasonOf(error)}), as it does after a site's data was cleared under an open tab: close all tabs of this site, then open it again; if that does not help, restart the browser`,
    { cause: error },
  );
}

function busyError(name: string, error: unknown): KeepsakeError {
  return new KeepsakeError(
    "busy",
    `the files of "${name}" were open in another tab, or a worker that has stopped, for ${BUSY_LIMIT_MS / 1000} s, and it does not answer: close or reload the tabs of this site that hang, then call again`,
    { cause: error },
  );
}

// A full disk is no reason to look for the database somewhere else.
function fullOrAsItIs(name: string, error: unknown): unknown {
  const known = storageError("can't open", name, error);
  return known.code === "storage_full" ? known : error;
}

async function existing<T>(open: () => Promise<T>): Promise<T | undefined> {
  try {
    return await open();
  } catch (error) {
    if (errorName(error) === "NotFoundError") return undefined;
    throw error;
  }
}

async function emptyReserve(folder: FileSystemDirectoryHandle, name: string): Promise<boolean> {
  const reserve = await existing(() => openFile(folder, name, false));
  if (reserve === undefined) return false;
  try {
    if (reserve.getSize() === 0) return false;
    reserve.truncate(0);
    reserve.flush();
    return true;
  } finally {
    reserve.close();
  }
}

function fillReserve(reserve: OpfsFile): void {
  if (reserve.getSize() >= RESERVE_BYTES) return;
  const zeros = new Uint8Array(RESERVE_BYTES);
  let isFull = true;
  try {
    isFull = reserve.write(zeros, { at: 0 }) < RESERVE_BYTES;
  } finally {
    // Half a reserve is only in the way.
    if (isFull) reserve.truncate(0);
  }
}

async function copyInto(
  folder: FileSystemDirectoryHandle,
  name: string,
  from: EngineFile,
): Promise<void> {
  const to = new OpfsFile(await openFile(folder, name, true));
  try {
    const buffer = new Uint8Array(COPY_BYTES);
    const size = from.getSize();
    for (let at = 0; at < size; at += COPY_BYTES) {
      const bytes = buffer.subarray(0, from.read(buffer, { at }));
      if (to.write(bytes, { at }) === bytes.length) continue;
      throw new KeepsakeError("storage_full", `there is no room for ${name} of ${size} bytes`);
    }
    to.flush();
  } finally {
    to.close();
  }
}

function ignore(): void {}
