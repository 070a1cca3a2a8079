// What an export and an import may be told.

import { checkFlag, checkListener, checkOptions, checkSteps, type NamesOf } from "../checks.js";
import { checkKey, type Key } from "../engine/keys.js";
import type { DamagedPage } from "../wire/layout.js";

/** How far an export or import is, in bytes. */
export interface TransferProgress {
  done: number;
  total: number;
}

/** How an export or import tells how far it is. */
export interface TransferOptions {
  /**
   * One that throws ends the transfer (`invalid_argument`); what an import of a SQLite file
   * brought is there by then, of any other nothing.
   */
  onProgress?: ((progress: TransferProgress) => void) | undefined;
}

/** How an import is made. */
export interface DatabaseImportOptions extends TransferOptions {
  /** Of an encrypted file. What it is imported into keeps the key that it has, or none. */
  key?: Key | undefined;
}

/**
 * `sqlite`: the file, which other programs read, too; not in a Durable Object, which has
 * none. `portable`: a stream of rows that every memory reads; the texts' index is made
 * anew where it arrives.
 */
export type ExportFormat = "sqlite" | "portable";

/** What an export is made of. */
export interface ExportOptions extends TransferOptions {
  /** @default `portable` in a Durable Object, else `sqlite` */
  format?: ExportFormat | undefined;
  /**
   * What `unfinishedImport()` answered where an earlier export was to arrive: only what is
   * missing there is sent. Of format `portable`.
   */
  resume?: string | undefined;
}

/** What an export made. A SQLite file is read to its end before anything is replaced. */
export type DatabaseBytes = Uint8Array | Blob | ReadableStream<Uint8Array>;

/** How a check goes about it. */
export interface CheckOptions {
  /** How far it is, in pages of the file. */
  onProgress?: ((progress: TransferProgress) => void) | undefined;
  /** Ends the check before the next pages. */
  signal?: AbortSignal | undefined;
  /**
   * Gives pages that don't match their checksum the checksum of what they hold now. For a file
   * that another program wrote to, on purpose: it makes damage look right, too.
   * @default false
   */
  acceptPages?: boolean | undefined;
}

/** What a check found. */
export interface CheckReport {
  /** Nothing is wrong. */
  isOk: boolean;
  /** How many pages the file has. */
  pages: number;
  /** Those that don't match their checksum. */
  damagedPages: DamagedPage[];
  /** What does not fit together, in SQLite's words. Only looked for if no page is damaged. */
  problem?: string | undefined;
}

const CHECK: NamesOf<CheckOptions> = { onProgress: 1, signal: 1, acceptPages: 1 };
const TRANSFER: NamesOf<TransferOptions> = { onProgress: 1 };
const IMPORT: NamesOf<DatabaseImportOptions> = { key: 1, ...TRANSFER };
const EXPORT: NamesOf<ExportOptions> = { format: 1, resume: 1, ...TRANSFER };

/** @internal */
export function checkImport(options: DatabaseImportOptions | undefined): void {
  checkListener("onProgress", checkOptions("import", IMPORT, options).onProgress);
  if (options?.key !== undefined) checkKey("key", options.key);
}

/** @internal */
export function checkExport(options: ExportOptions | undefined): void {
  checkListener("onProgress", checkOptions("an export", EXPORT, options).onProgress);
}

/** @internal */
export function checkCheck(given: CheckOptions | undefined): CheckOptions {
  const options = checkSteps(checkOptions("check", CHECK, given));
  checkFlag("acceptPages", options.acceptPages);
  return options;
}
