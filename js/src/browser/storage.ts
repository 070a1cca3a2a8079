// Where a browser keeps a database: OPFS, else a mirror in IndexedDB, else memory.
// Runs in a dedicated worker that holds the lock of the database's name.
//
// One database has one home. It stays in the mirror if it began there, and once it
// lives in OPFS a marker in IndexedDB says so: if OPFS is refused later, that is an
// error and not an empty database.

import { KeepsakeError } from "../errors.js";
import { closeFiles, type EngineFiles } from "../wasm/engine-file.js";
import { memoryFiles } from "../wasm/memory-files.js";
import type { BrowserStorage, StorageKind, StorageRequest } from "./browser-storage.js";
import { checkName, noSuchAside } from "./database-name.js";
import { connectMirror, listAsideInMirror, type Mirror, readAsideFromMirror } from "./idb-files.js";
import {
  isInOpfs,
  listAsideInOpfs,
  type OpfsStorage,
  openOpfs,
  readAsideFromOpfs,
} from "./opfs-files.js";
import { reasonOf } from "./storage-error.js";

/**
 * Rejects with a KeepsakeError: `busy` if another has the files for too long, `unsupported`
 * if a kind that was asked for is not available, `cannot_open` if the database is in a kind
 * that can't be used now, `storage_full`, `io_error`, `corrupt`. @internal
 */
export async function openStorage(request: StorageRequest): Promise<BrowserStorage> {
  checkName(request.name);
  switch (request.storage) {
    case "memory":
      return new MemoryStorage(request.name, undefined);
    case "indexeddb":
      return openMirrorOnly(request);
    default:
      return openBest(request);
  }
}

/** The bytes of a file that setAside() made. @internal */
export async function readAside(kind: StorageKind, asideName: string): Promise<Blob> {
  if (kind === "opfs") return readAsideFromOpfs(asideName);
  if (kind === "indexeddb") return readAsideFromMirror(asideName);
  throw noSuchAside(asideName);
}

/** The names of the database's set-aside files, the oldest first. @internal */
export async function listAside(kind: StorageKind, name: string): Promise<string[]> {
  if (kind === "opfs") return listAsideInOpfs(name);
  return kind === "indexeddb" ? listAsideInMirror(name) : [];
}

async function openBest(request: StorageRequest): Promise<BrowserStorage> {
  const { name } = request;
  const opfs = await orRefused(() => openOpfs(name));
  if (opfs instanceof Refused) {
    if (request.storage === "opfs") throw unsupported("OPFS", opfs);
    return openWithoutOpfs(request, `OPFS is not available: ${opfs.reason}`);
  }
  if (!opfs.isEmpty) return opfs;
  try {
    return await openNewOpfs(request, opfs);
  } catch (error) {
    opfs.close();
    throw error;
  }
}

// There is nothing in OPFS: is it new, or somewhere else?
async function openNewOpfs(request: StorageRequest, opfs: OpfsStorage): Promise<BrowserStorage> {
  const mirror = await orRefused(() => connectMirror(request.name));
  // A mirror that can't be reached can't have been written to either.
  if (mirror instanceof Refused) return opfs;
  if (mirror.isEmpty) {
    await orRefused(() => mirror.markAsInOpfs());
    mirror.close();
    return opfs;
  }
  opfs.close();
  if (request.storage === "auto") {
    return mirror.load(request.durability, "this database began in IndexedDB, and stays there");
  }
  mirror.close();
  throw new KeepsakeError(
    "cannot_open",
    `"${request.name}" is kept in IndexedDB, so storage must be "auto" or "indexeddb", not "opfs"`,
  );
}

async function openWithoutOpfs(request: StorageRequest, reason: string): Promise<BrowserStorage> {
  const mirror = await orRefused(() => connectMirror(request.name));
  if (mirror instanceof Refused) {
    const reasons = `${reason}; IndexedDB is not available: ${mirror.reason}`;
    console.warn(`[keepsake] "${request.name}" is only in memory, and gone with it: ${reasons}`);
    return new MemoryStorage(request.name, reasons);
  }
  if (mirror.isEmpty && mirror.isInOpfs) throw unreachable(mirror, reason);
  console.warn(`[keepsake] "${request.name}" is kept in IndexedDB: ${reason}`);
  return mirror.load(request.durability, reason);
}

async function openMirrorOnly(request: StorageRequest): Promise<BrowserStorage> {
  const mirror = await orRefused(() => connectMirror(request.name));
  if (mirror instanceof Refused) throw unsupported("IndexedDB", mirror);
  if (!mirror.isEmpty) return mirror.load(request.durability, undefined);
  const inOpfs = await orRefused(() => isInOpfs(request.name));
  // OPFS knows best; where it is refused, the marker tells.
  if (inOpfs === true || (inOpfs instanceof Refused && mirror.isInOpfs)) {
    throw unreachable(mirror, 'storage must be "auto" or "opfs", not "indexeddb"');
  }
  return mirror.load(request.durability, undefined);
}

function unreachable(mirror: Mirror, reason: string): KeepsakeError {
  mirror.close();
  return new KeepsakeError(
    "cannot_open",
    `"${mirror.name}" is kept in OPFS, which can't be used now: ${reason}`,
  );
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
