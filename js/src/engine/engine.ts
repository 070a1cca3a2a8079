// An Engine runs requests on one database, in the order in which they were made, and
// lives as long as somebody retains it. Façades reach it through a Connection. A
// LocalEngine is in this thread; a RemoteEngine is in another thread, tab or machine.

import type { DamagedDatabase } from "../errors.js";
import type { EngineFiles } from "../wasm/engine-file.js";
import type { Operation, OperationOf } from "../wire/operations.js";
import type { Levels } from "../wire/scope.js";
import type { Answers, MaybePromise } from "./answers.js";
import type { ChangeListener } from "./changes.js";
import type { Key } from "./keys.js";

/** What keeps a database. */
export type Persistence =
  | "file"
  | "opfs"
  | "indexeddb"
  | "durable-object"
  | "connection"
  | "bucket"
  | "memory";

/** What an engine tells of itself. @internal */
export interface EngineStatus {
  persistence: Persistence;
  /** More, for people who look for the reason of something. */
  details: Record<string, unknown>;
  /** Where bytes of the database may be beside its files. Without, they are nowhere else. */
  findElsewhere?: (() => Promise<Elsewhere>) | undefined;
}

/** Where a host has bytes of a database beside its files. @internal */
export interface Elsewhere {
  /** It was in storage once that the host alone can clear. */
  wasInHost: boolean;
  /** Databases of its name that were damaged and set aside, the oldest first. */
  damaged: DamagedDatabase[];
}

/** A database to read from: its files, or all of its bytes. @internal */
export type ForeignDatabase = EngineFiles | Uint8Array | Blob;

/** A time, in ms since 1970, or the number of a record of the log, after which it was. @internal */
export type LogPoint = { readonly at: number } | { readonly record: number };

/** @internal */
export interface Engine {
  retain(): void;
  /** The last one closes it. */
  release(): MaybePromise<void>;
  /**
   * Answers all operations, or fails with the first that failed; at once if it can.
   * @param levels where they are at home; without, the whole memory
   */
  call<const Operations extends readonly Operation[]>(
    operations: Operations,
    now: number,
    levels?: Levels,
  ): MaybePromise<Answers<Operations>>;
  /** Runs `operation` now, and first of all wherever the database is opened again. */
  configure(operation: OperationOf<"configureStore">, now: number): Promise<void>;
  /** Runs `body` while the engine can open this database as `name`; hears how much of it was read. */
  lending<T>(
    name: string,
    database: ForeignDatabase,
    body: () => Promise<T>,
    onRead?: (bytes: number) => void,
  ): Promise<T>;
  /** Runs `body` alone among those that are run by this method on this database. */
  exclusively<T>(body: () => Promise<T>): Promise<T>;
  status(): Promise<EngineStatus>;
  /** From now on this key opens the database, and no other. */
  changeKey(key: Key): Promise<void>;
  /** The memory becomes what it was then: where there is a log of all that was written. */
  restore?(point: LogPoint): Promise<void>;
  /** Answers how to stop listening. */
  onChange(listener: ChangeListener): () => void;
  /** Settled when it has let go of its files; at once if it can, as a process that exits needs it. */
  close(): MaybePromise<void>;
}
