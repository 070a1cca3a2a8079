// A file that several processes work with: each has it open while it is at work.

import { Mutex } from "../engine/mutex.js";
import { type MemoryOptions, openMemory } from "../memory.js";
import type { ScopeOptions } from "../scope/scope.js";
import type { SqliteStore } from "../store/store.js";

// A client waits for 60 s.
const LOCK_TIMEOUT_MS = 20_000;

/** @internal */
export class SharedFile {
  readonly #options: MemoryOptions;
  readonly #scope: ScopeOptions;
  readonly #mutex = new Mutex();

  /** Only what lies in the scope is worked with. */
  constructor(options: MemoryOptions, scope: ScopeOptions) {
    this.#options = { lockTimeout: LOCK_TIMEOUT_MS, ...options };
    this.#scope = scope;
  }

  /** Nobody else reads or writes the file while `body` runs, nor does another `body`. */
  use<T>(body: (store: SqliteStore) => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      const memory = await openMemory(this.#options);
      try {
        return await body(memory.scoped(this.#scope).store);
      } finally {
        await memory.close();
      }
    });
  }
}
