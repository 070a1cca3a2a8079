// Where a database is and how it is kept, said in one type for every host.

import { checkFlag, show } from "../checks.js";
import { invalid, KeepsakeError } from "../errors.js";
import type { MemoryBucket } from "./in-bucket.js";
import { checkKey, type Key } from "./keys.js";

/** A browser's `Worker`, also where no types of browsers are. */
export interface BrowserWorker {
  postMessage(message: unknown): void;
  terminate(): void;
}

/** How the log of a memory in a bucket is kept. */
export interface LogOptions {
  /**
   * For how many days the past is kept that you can restore. What is forgotten goes at once.
   * @default 7
   */
  backupDays?: number | undefined;
  /**
   * How old a read's answer may be, in milliseconds. With 0, each read asks the bucket whether there
   * is something new, which is one request.
   * @default 0
   */
  maxAge?: number | undefined;
  /** What `keepsake bucket` calls this process or device. @default "" */
  device?: string | undefined;
}

/** How a memory is synced with a bucket. */
export interface SyncOptions {
  /** The object store through which it is synced: see `keepsake/bucket`. */
  bucket: MemoryBucket;
  /** What the memory is called there, the same on each device. @default the memory's `name` */
  name?: string | undefined;
  /** Encrypts what is in the bucket: the same on each device. @default the memory's `key` */
  key?: Key | undefined;
  /**
   * How often the bucket is asked for what other devices wrote, in milliseconds; 0 for only when you
   * call `sync()`.
   * @default 15000
   */
  everyMs?: number | undefined;
  /** For how many days the past is kept that you can restore. @default 7 */
  backupDays?: number | undefined;
  /** What this device is called in the log. @default "" */
  device?: string | undefined;
}

/** Where a database is, and how it is kept. */
export interface DatabaseOptions {
  /**
   * Outside browsers: a file, which is made if it is missing, or `":memory:"`. Code
   * for both may give a `name` beside it: browsers read only the name, the others only the path.
   */
  path?: string | undefined;
  /** In browsers: the name of a database of this origin, which is made if it is missing. */
  name?: string | undefined;
  /**
   * `relaxed`: survives the death of the process, tab or browser; a power cut may cost
   * the last moment. `strict`: flushed to the disk at each write, which takes longer.
   * @default "relaxed"
   */
  durability?: "relaxed" | "strict" | undefined;
  /** How many milliseconds to wait for another process that has the file. @default 5000 */
  lockTimeout?: number | undefined;
  /**
   * In Node, Deno and Bun: who may read and write a file that is made, as `chmod` counts. Files
   * beside it get the mode of the database. @default 0o600, its owner alone
   */
  fileMode?: number | undefined;
  /**
   * In Node, Deno and Bun: whether a page whose checksum is wrong is `corrupt` when it is read, as
   * it always is in browsers. `check()` compares checksums without it, too. Another SQLite program
   * that writes to the file writes no checksums: its pages are `corrupt` then.
   * @default false
   */
  verifyPages?: boolean | undefined;
  /**
   * Encrypts the database and its log: 32 random bytes, or a passphrase. A new database gets it;
   * of one that is there, it must be the one that it was made with, or that `changeKey()` gave it
   * last. Not for databases in memory, in a Durable Object and over a connection.
   * @default nothing is encrypted
   */
  key?: Key | undefined;
  /**
   * In browsers: what keeps the database. `auto` takes the best that there is, `opfs`
   * and `indexeddb` fail if it is not there, `memory` keeps nothing.
   * @default "auto"
   */
  storage?: "auto" | "opfs" | "indexeddb" | "memory" | undefined;
  /** In browsers: where `keepsake/worker` is served, or a function that starts it. @default beside the bundle */
  worker?: string | URL | (() => BrowserWorker) | undefined;
  /** In browsers: where `keepsake/wasm` is served. @default beside the bundle */
  wasmUrl?: string | URL | undefined;
}

const DURABILITIES = ["relaxed", "strict"];

/** What every host checks. @internal */
export function checkCommonOptions(options: DatabaseOptions): void {
  const { durability, lockTimeout, fileMode, verifyPages, key } = options;
  if (durability !== undefined && !DURABILITIES.includes(durability)) {
    throw invalid(`durability must be relaxed or strict: ${show(durability)}`);
  }
  if (lockTimeout !== undefined && !(typeof lockTimeout === "number" && lockTimeout >= 0)) {
    throw invalid(`lockTimeout must be a number of milliseconds from 0: ${show(lockTimeout)}`);
  }
  if (fileMode !== undefined && !isFileMode(fileMode)) {
    throw invalid(
      `fileMode must be a number such as 0o600 that its owner can use: ${show(fileMode)}`,
    );
  }
  checkFlag("verifyPages", verifyPages);
  if (key !== undefined) checkKey("key", key);
}

// Its owner must be able to read and write it.
function isFileMode(mode: number): boolean {
  return Number.isInteger(mode) && mode >= 0o600 && mode <= 0o777 && (mode & 0o600) === 0o600;
}

/** Two users of one database must agree on how it is kept. @internal */
export function refuseConflict(
  name: string,
  option: string,
  existing: string,
  wanted: string,
): void {
  if (existing === wanted) return;
  throw new KeepsakeError(
    "conflicting_options",
    `${name} is open with ${option} "${existing}", not "${wanted}"`,
  );
}
