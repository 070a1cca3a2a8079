// What a RemoteEngine needs of its runtime: a way to the engine that has the database.

import type { Changes } from "../wire/changes.js";
import type { Operation } from "../wire/operations.js";
import type { ChangeListener } from "./changes.js";
import type { EngineStatus, ForeignDatabase } from "./engine.js";
import type { Key } from "./keys.js";

/** @internal */
export interface RemoteRequest {
  operations: readonly Operation[];
  /** The operations, encoded. */
  frame: Uint8Array;
  /** What they change if they succeed; undefined for reads. */
  changes: Changes | undefined;
}

/** @internal */
export interface Transport {
  /**
   * Answers with the response frame. A write may be sent again, since its engine knows it by
   * its header. Requests arrive in the order in which they were made.
   */
  send(request: RemoteRequest): Promise<Uint8Array>;
  /**
   * The same, and first of all wherever the database is opened again; undefined if that is done
   * with each request that follows.
   */
  configure(request: RemoteRequest): Promise<Uint8Array | undefined>;
  /** Runs `body` while the engine can open this database as `name`; hears how much of it was read. */
  lending<T>(
    name: string,
    database: ForeignDatabase,
    body: () => Promise<T>,
    onRead?: (bytes: number) => void,
  ): Promise<T>;
  /** Runs `body` alone among all engines of the database. Without, this one is alone. */
  exclusively?<T>(body: () => Promise<T>): Promise<T>;
  status(): Promise<EngineStatus>;
  /** Without, there is nothing to encrypt. */
  changeKey?(key: Key): Promise<void>;
  /** From now on tells of all changes. Without, the engine hears of its own. */
  hearChanges?(listener: ChangeListener): void;
  /** Settled when nothing is held any more. */
  close(): Promise<void>;
}
