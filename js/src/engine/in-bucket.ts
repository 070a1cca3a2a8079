// How a memory in a bucket is opened: by the bucket, so that only who imports one has the code.

import type { Engine } from "./engine.js";
import type { OpenFiles } from "./open-files.js";
import type { MemorySync, SyncedMemory } from "./synced-memory.js";

/** The method of a bucket that opens a memory in it. The same in all copies of this package. @internal */
export const IN_BUCKET: unique symbol = Symbol.for("keepsake.bucket") as never;

/** The method of a bucket that syncs an open memory with it. @internal */
export const SYNCED: unique symbol = Symbol.for("keepsake.synced") as never;

/** A bucket, as `keepsake/bucket` makes it. */
export interface MemoryBucket {
  /** @internal */
  [IN_BUCKET](options: object, openFiles: OpenFiles): Engine;
  /** @internal */
  [SYNCED](options: object, memory: SyncedMemory): MemorySync;
}
