// Where a browser keeps a database: OPFS, else a mirror in IndexedDB, else memory.
// Runs in a dedicated worker that holds the lock of the database's name.
//
// One database has one home. It stays in the mirror if it was asked to be there, moves
// to OPFS if it is there only because OPFS was refused, and once it lives in OPFS a marker
// in IndexedDB says so: if OPFS is refused later, that is an error and not an empty database.

import type { Elsewhere } from "../engine/engine.js";
import { type DamagedDatabase, KeepsakeError } from "../errors.js";
import { closeFiles, type EngineFiles } from "../wasm/engine-file.js";
import { memoryFiles } from "../wasm/memory-files.js";
import type { BrowserStorage, StorageKind, StorageRequest } from "./browser-storage.js";
import { checkName, isAsideDatabase, noSuchAside } from "./database-name.js";
import {
  connectMirror,
  deleteAsideInMirror,
  listAsideInMirror,
  type Mirror,
  readAsideFromMirror,
} from "./idb-mirror.js";
import { copyHalf, empty, finishMove, isHalfMoved } from "./moving.js";
import {
  deleteAsideInOpfs,
  isInOpfs,
  isMirrored,
  listAsideInOpfs,
  type OpfsStorage,
  openOpfs,
  readAsideFromOpfs,
} from "./opfs-files.js";
import { abandonedError, reasonOf, storageError } from "./storage-error.js";

/**
 * Rejects with a KeepsakeError: `busy` if another has the files for too long, `unsupported`
 * if a kind that was asked for is not available, `cannot_open` if the database is in a kind
 * that can't be used now, `storage_full`, `io_error`, `corrupt`. One that is `unwanted` by now
 * lets go of what it has, and rejects. @internal
 */
export async function openStorage(
  request: StorageRequest,
  unwanted?: AbortSignal,
): Promise<BrowserStorage> {
  checkName(request.name);
  const storage = await openKind(request, unwanted);
  if (!unwanted?.aborted) return storage;
  storage.close();
  throw abandonedError(request.name);
}

async function openKind(request: StorageRequest, unwanted?: AbortSignal): Promise<BrowserStorage> {
  switch (request.storage) {
    case "memory":
      return new MemoryStorage(request.name, undefined);
    case "indexeddb":
      return openMirrorOnly(request);
    default:
      return openBest(request, unwanted);
  }
}

/**
 * Where the browser refuses the lock of a name, so that no file of it can be opened either.
 * Throws `unsupported` if a kind was asked for. @internal
 */
export function openWithoutLock(request: StorageRequest, refusal: unknown): BrowserStorage {
  const refused = new Refused(refusal);
  if (request.storage !== "auto") {
    const wanted = request.storage === "opfs" ? "OPFS" : "IndexedDB";
    throw new KeepsakeError(
      "unsupported",
      `${wanted} is not available here, where the browser refuses all storage: ${refused.reason}; it does so in frames of other sites, and where the user blocks cookies. Without the option storage the memory is there as long as the page`,
      { cause: refusal },
    );
  }
  return inMemory(request, `the browser refuses all storage here: ${refused.reason}`);
}

/** What setAside() made. @internal */
export function databaseAside(kind: StorageKind, asideName: string): DamagedDatabase {
  return {
    name: asideName,
    export: () => readAside(kind, asideName),
    delete: () => deleteAside(kind, asideName),
  };
}

/** The bytes of a file that setAside() made. @internal */
export async function readAside(kind: StorageKind, asideName: string): Promise<Blob> {
  if (kind === "opfs") return readAsideFromOpfs(asideName);
  if (kind === "indexeddb") return readAsideFromMirror(asideName);
  throw noSuchAside(asideName);
}

async function deleteAside(kind: StorageKind, asideName: string): Promise<void> {
  if (kind === "opfs") await deleteAsideInOpfs(asideName);
  else if (kind === "indexeddb") await deleteAsideInMirror(asideName);
}

/** Where bytes of a database of this kind may be beside its files. @internal */
export async function findElsewhere(kind: StorageKind, name: string): Promise<Elsewhere> {
  const damaged = async (kind: StorageKind) =>
    (await listAside(kind, name)).filter(isAsideDatabase).map((one) => databaseAside(kind, one));
  const inOpfs = await orRefused(() => damaged("opfs"));
  // What can't be known is not denied.
  const wasInHost = kind === "opfs" && (inOpfs instanceof Refused || (await isMirrored(name)));
  const inMirror = wasInHost || kind === "indexeddb" ? await damaged("indexeddb") : [];
  return { wasInHost, damaged: [...inMirror, ...(inOpfs instanceof Refused ? [] : inOpfs)] };
}

/** The names of the database's set-aside files, the oldest first. @internal */
export async function listAside(kind: StorageKind, name: string): Promise<string[]> {
  if (kind === "opfs") return listAsideInOpfs(name);
  return kind === "indexeddb" ? listAsideInMirror(name) : [];
}

async function openBest(request: StorageRequest, unwanted?: AbortSignal): Promise<BrowserStorage> {
  const { name } = request;
  const opfs = await orRefused(() => openOpfs(name, unwanted));
  if (opfs instanceof Refused) {
    if (request.storage === "opfs") {
      throw isSharedWorker() ? onlyPagesHave(name) : unsupported("OPFS", opfs);
    }
    return openWithoutOpfs(request, opfs);
  }
  try {
    const isHome = !opfs.isEmpty && !isHalfMoved(opfs.database);
    return isHome ? opfs : await openNewOpfs(request, opfs);
  } catch (error) {
    opfs.close();
    throw error;
  }
}

// There is no database in OPFS: is it new, somewhere else, or on its way?
async function openNewOpfs(request: StorageRequest, opfs: OpfsStorage): Promise<BrowserStorage> {
  const mirror = await orRefused(() => connectMirror(request.name));
  if (mirror instanceof Refused) {
    // A mirror that can't be reached can't have been written to either.
    if (opfs.isEmpty) return opfs;
    throw halfMoved(request.name, mirror);
  }
  if (mirror.isEmpty) {
    if (!opfs.isEmpty && mirror.home === "opfs") finishMove(opfs.database);
    await orRefused(() => mirror.mark("opfs"));
    mirror.close();
    if (mirror.hasAside) await opfs.noteMirror();
    return opfs;
  }
  if (mirror.home === "fallback") return moveIn(request, opfs, mirror);
  opfs.close();
  if (request.storage === "auto") {
    return mirror.load(request.durability, "this database began in IndexedDB, and stays there");
  }
  mirror.close();
  throw kept(request.name, 'in IndexedDB, so storage must be "auto" or "indexeddb", not "opfs"');
}

// It fell back to IndexedDB when OPFS was refused, which it is no longer.
async function moveIn(
  { name, durability, storage }: StorageRequest,
  opfs: OpfsStorage,
  mirror: Mirror,
): Promise<BrowserStorage> {
  const old = await mirror.load(durability, undefined);
  try {
    await opfs.noteMirror();
    copyHalf(name, old.files, opfs.files);
  } catch (error) {
    discardCopy(name, opfs);
    const reason = `it can't be moved to OPFS: ${reasonOf(error)}`;
    if (storage === "auto") return Object.assign(old, { fallbackReason: reason });
    old.close();
    throw storageError("can't move to OPFS", name, error);
  }
  try {
    // If this fails nobody knows whether it was done, and the next one finds out.
    await old.moveToOpfs();
    finishMove(opfs.database);
    return opfs;
  } catch (error) {
    throw storageError("can't move to OPFS", name, error);
  } finally {
    old.close();
  }
}

function discardCopy(name: string, opfs: OpfsStorage): void {
  try {
    empty(name, opfs.files);
  } catch {
    // It is made anew by the next move.
  }
  opfs.close();
}

function halfMoved(name: string, { reason, cause }: Refused): KeepsakeError {
  return new KeepsakeError(
    "cannot_open",
    `"${name}" was being moved from IndexedDB to OPFS, and IndexedDB can't be read now: ${reason}`,
    { cause },
  );
}

async function openWithoutOpfs(request: StorageRequest, opfs: Refused): Promise<BrowserStorage> {
  const reason = `OPFS is not available: ${opfs.reason}`;
  const mirror = await orRefused(() => connectMirror(request.name));
  if (mirror instanceof Refused) {
    return inMemory(request, `${reason}; IndexedDB is not available: ${mirror.reason}`);
  }
  // It would keep every page from OPFS for good.
  if (mirror.isEmpty && isSharedWorker()) {
    mirror.close();
    throw onlyPagesHave(request.name);
  }
  if (mirror.isEmpty && mirror.home === "opfs") throw unreachable(mirror, reason);
  if (mirror.isEmpty) await orRefused(() => mirror.mark("fallback"));
  console.warn(`[keepsake] "${request.name}" is kept in IndexedDB: ${reason}`);
  return mirror.load(request.durability, reason);
}

function inMemory({ name }: StorageRequest, reasons: string): MemoryStorage {
  console.warn(`[keepsake] "${name}" is only in memory, and gone with it: ${reasons}`);
  return new MemoryStorage(name, reasons);
}

/** Whether this is a shared or a service worker where pages have OPFS, and we have not. */
function isSharedWorker(): boolean {
  const isOfPage = typeof Worker !== "undefined" || "DedicatedWorkerGlobalScope" in globalThis;
  return !isOfPage && navigator.storage?.getDirectory !== undefined;
}

function onlyPagesHave(name: string): KeepsakeError {
  return new KeepsakeError(
    "unsupported",
    `"${name}" can't be opened by a shared or service worker alone, because only pages have OPFS: open it in a page, too, and call again while that is there; or give storage: "indexeddb" wherever it is opened`,
  );
}

async function openMirrorOnly(request: StorageRequest): Promise<BrowserStorage> {
  const mirror = await orRefused(() => connectMirror(request.name));
  if (mirror instanceof Refused) throw unsupported("IndexedDB", mirror);
  if (!mirror.isEmpty) return mirror.load(request.durability, undefined);
  if (await livesInOpfs(mirror)) {
    mirror.close();
    throw kept(mirror.name, 'in OPFS, so storage must be "auto" or "opfs", not "indexeddb"');
  }
  return mirror.load(request.durability, undefined);
}

async function livesInOpfs(mirror: Mirror): Promise<boolean> {
  try {
    const inOpfs = await orRefused(() => isInOpfs(mirror.name));
    // OPFS knows best; where it is refused, the marker tells.
    return inOpfs instanceof Refused ? mirror.home === "opfs" : inOpfs;
  } catch (error) {
    mirror.close();
    throw error;
  }
}

function unreachable(mirror: Mirror, reason: string): KeepsakeError {
  mirror.close();
  return kept(mirror.name, `in OPFS, which can't be used now: ${reason}`);
}

function kept(name: string, where: string): KeepsakeError {
  return new KeepsakeError("cannot_open", `"${name}" is kept ${where}`);
}

class Refused {
  readonly reason: string;

  constructor(readonly cause: unknown) {
    this.reason = reasonOf(cause);
  }
}

/** Refused if the browser has no such thing; what is there but can't be opened is thrown. */
async function orRefused<T>(open: () => Promise<T>): Promise<T | Refused> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof KeepsakeError) throw error;
    return new Refused(error);
  }
}

function unsupported(what: string, { reason, cause }: Refused): KeepsakeError {
  return new KeepsakeError("unsupported", `${what} is not available here: ${reason}`, { cause });
}

class MemoryStorage implements BrowserStorage {
  readonly kind = "memory";
  readonly fallbackReason: string | undefined;
  readonly files: EngineFiles;

  constructor(name: string, fallbackReason: string | undefined) {
    this.files = memoryFiles(name);
    this.fallbackReason = fallbackReason;
  }

  commit(): undefined {}

  flush(): void {}

  async releaseReserve(): Promise<boolean> {
    return false;
  }

  async restoreReserve(): Promise<void> {}

  async setAside(): Promise<string> {
    throw new KeepsakeError("unsupported", "a database in memory can't be set aside");
  }

  async settled(): Promise<void> {}

  close(): void {
    closeFiles(this.files);
  }
}
