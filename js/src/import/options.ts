// What an import of another program's file may be told, and what it answers.

import { checkChoice, checkOptions, checkSteps, checkWhole, type NamesOf } from "../checks.js";

/** The path of a file, outside browsers, or its bytes. */
export type ImportSource = string | Uint8Array | globalThis.Blob;

/** How far an import is. */
export interface ImportProgress {
  /** Rows read so far, of all tables. */
  done: number;
  /** Rows of the file that are to be read. */
  total: number;
}

/** What an import does, and how it tells. */
export interface ImportOptions {
  /** What becomes of items, checkpoints and writes whose names are taken. @default "keep" */
  onConflict?: "keep" | "replace" | undefined;
  /** Refuses a file with more rows (`too_large`) before anything is added. @default no limit */
  maxRows?: number | undefined;
  /** Ends the import before the next row; what was added stays. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: ImportProgress) => void) | undefined;
}

/** A row that was not imported, and why. */
export interface SkippedRow {
  /** `item ["users","1"] key`, `checkpoint thread/ns/id`, or the like. */
  what: string;
  why: string;
}

/** What an import added, and what it could not. */
export interface ImportReport {
  items: number;
  checkpoints: number;
  writes: number;
  /** Items, checkpoints and writes that were there already, and stayed as they were. */
  kept: number;
  skipped: SkippedRow[];
}

const OPTIONS: NamesOf<ImportOptions> = { onConflict: 1, maxRows: 1, signal: 1, onProgress: 1 };
const ON_CONFLICT = { keep: true, replace: true };

/** @internal */
export function checkImportOptions(given: ImportOptions | undefined): ImportOptions {
  const options = checkSteps(checkOptions("importFrom", OPTIONS, given));
  checkChoice("onConflict", ON_CONFLICT, options.onConflict ?? "keep");
  if (options.maxRows !== undefined) checkWhole("maxRows", options.maxRows, 0);
  return options;
}
