// A file that several processes work with: each has it open while it is at work.

import { Turns } from "../engine/turns.js";
import { type Memory, type MemoryOptions, openMemory } from "../memory.js";

// A client waits for 60 s.
const LOCK_TIMEOUT_MS = 20_000;

/** @internal */
export class SharedFile {
  readonly #options: MemoryOptions;
  readonly #turns = new Turns();

  constructor(options: MemoryOptions) {
    this.#options = { lockTimeout: LOCK_TIMEOUT_MS, ...options };
  }

  /** Nobody else reads or writes the file while `body` runs, nor does another `body`. */
  use<T>(body: (memory: Memory) => Promise<T>): Promise<T> {
    return this.#turns.take(async () => {
      const memory = await openMemory(this.#options);
      try {
        return await body(memory);
      } finally {
        await memory.close();
      }
    });
  }
}
