// What the owner of a database asks of its storage, whatever kind that is.

import type { EngineFiles } from "../wasm/engine-file.js";

/** @internal */
export type StorageKind = "opfs" | "indexeddb" | "memory";

/** @internal */
export interface StorageRequest {
  name: string;
  storage: "auto" | StorageKind;
  durability: "relaxed" | "strict";
}

/** @internal */
export interface BrowserStorage {
  readonly kind: StorageKind;
  /** Why a better kind was not used; undefined if none was refused. */
  readonly fallbackReason: string | undefined;
  /**
   * For openSession(): `${name}`, `${name}-wal` and `${name}-journal`. A session closes
   * and empties it; setAside() fills it anew.
   */
  readonly files: EngineFiles;
  /**
   * Called after every executed frame. Undefined if an answer may be given now; else a
   * promise that resolves when what was written is durable, or rejects with a KeepsakeError
   * (storage_full, io_error, changed_outside): then memory is ahead of storage, and the
   * caller discards its session and storage and opens anew. Concurrent commits share a
   * transaction.
   */
  commit(): Promise<void> | undefined;
  /** Flushes the log to the disk, for relaxed durability. Never throws. */
  flush(): void;
  /**
   * Gives the reserve's room back, so that a delete can be logged on a full disk, after a
   * `flush` operation, which lets the log begin anew. False if there is none.
   */
  releaseReserve(): Promise<boolean>;
  /** Makes the reserve again if there is room. Never rejects. */
  restoreReserve(): Promise<void>;
  /**
   * Copies the damaged files aside as `${name}.corrupt-<time>`, with the log and the journal
   * beside it if there is anything in them, and empties the originals; answers the new name.
   * Rejects and changes nothing if there is no room. No session may be open.
   */
  setAside(): Promise<string>;
  /**
   * Resolves when nothing is being stored, or after 10 s. In WebKit a worker that ends in a
   * transaction may leave it open for ever, and so keep everyone from opening the database.
   * Never rejects.
   */
  settled(): Promise<void>;
  /** Closes every handle, whatever fails. Twice is fine. */
  close(): void;
}
