// What a memory that syncs gives to the code that syncs it, which comes with its bucket.

import type { KeepsakeError } from "../errors.js";
import type { Changes } from "../wire/changes.js";
import type { IndexConfig } from "../wire/layout.js";
import type { Operation } from "../wire/operations.js";
import type { Answers, MaybePromise } from "./answers.js";
import type { ChangeListener } from "./changes.js";
import type { Engine, ForeignDatabase, LogPoint } from "./engine.js";
import type { OpenFiles } from "./open-files.js";

/** The calls of a Connection that syncing needs. @internal */
export interface MemoryCalls {
  call<const Operations extends readonly Operation[]>(
    operations: Operations,
  ): MaybePromise<Answers<Operations>>;
  lending<T>(name: string, database: ForeignDatabase, body: () => Promise<T>): Promise<T>;
  onChange(listener: ChangeListener): () => void;
}

/** @internal */
export interface SyncedMemory {
  readonly calls: MemoryCalls;
  readonly openFiles: OpenFiles;
  /** Its index of vectors, if it has one. */
  readonly index: IndexConfig | undefined;
  /** What its host calls the database: tabs of one page that have it open sync it in turns. */
  readonly database: string;
  /** Copies all of it into an empty database. */
  copyInto(engine: Engine): Promise<void>;
}

/** How a memory that syncs stands to its bucket. */
export interface SyncStatus {
  /** Whether it is syncing at this moment. */
  isSyncing: boolean;
  /**
   * Calls whose writes only this device has. What it held before it synced is not counted: that is in
   * the bucket when `record` is not 0.
   */
  waiting: number;
  waitingBytes: number;
  /** When the oldest of them was made. */
  waitingSince: Date | undefined;
  /** Something was forgotten here, and the bucket or other devices may still have it. */
  isForgetting: boolean;
  /** When this device last had all that was in the bucket, and the bucket all that was here; undefined if not since it was opened. */
  lastSync: Date | undefined;
  /** Why the last try failed, or the last request of one that goes on; undefined if it did not. */
  error: KeepsakeError | undefined;
  /** The number of the last record of the log that this device has. */
  record: number;
  /** Writes of this device that were refused when they came after those of others. */
  setAside: SetAside[];
  /** Records of the log that could not be read. */
  badRecords: { record: number; why: string }[];
}

/** A write that was done here, and was refused on top of what others had written before it. */
export interface SetAside {
  /** For `dropSetAside()`. */
  id: number;
  /** When it was made. */
  at: Date;
  /** As a KeepsakeError has it. */
  code: string;
  message: string;
  /** What it would have changed. */
  changes: Changes;
  /** The items that it would have put, or deleted, where the value is null. */
  items: { namespace: string[]; key: string; value: unknown }[];
}

/** The syncing of an open memory. @internal */
export interface MemorySync {
  /** From when this resolves, nothing is written here that the log will not have. */
  start(): Promise<void>;
  sync(): Promise<void>;
  status(): Promise<SyncStatus>;
  /** Where what was forgotten here may still be; undefined if it is nowhere. */
  remains(): Promise<string | undefined>;
  dropSetAside(ids: readonly number[]): Promise<void>;
  /** The memory becomes what it was then, on all devices. */
  restore(point: LogPoint): Promise<void>;
  stop(): void;
}
