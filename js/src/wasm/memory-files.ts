// Files in memory: for databases that need not stay, and for hosts without any.

import type { EngineFile, EngineFiles } from "./engine-file.js";

/** @internal */
export class MemoryFile implements EngineFile {
  #bytes: Uint8Array;
  #size: number;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#bytes = bytes.slice();
    this.#size = bytes.length;
  }

  read(into: Uint8Array, { at }: { at: number }): number {
    const count = Math.max(0, Math.min(into.length, this.#size - at));
    into.set(this.#bytes.subarray(at, at + count));
    return count;
  }

  write(from: Uint8Array, { at }: { at: number }): number {
    const end = at + from.length;
    this.#reserve(end);
    this.#bytes.set(from, at);
    this.#size = Math.max(this.#size, end);
    return from.length;
  }

  truncate(size: number): void {
    this.#reserve(size);
    // What comes back when the file grows again must be zeros.
    if (size < this.#size) this.#bytes.fill(0, size, this.#size);
    this.#size = size;
  }

  getSize(): number {
    return this.#size;
  }

  flush(): void {}
  close(): void {}

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(size, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
  }
}

/** The files of a database called `name`; `content` is what it begins with. @internal */
export function memoryFiles(name: string, content?: Uint8Array): EngineFiles {
  return new Map([
    [name, new MemoryFile(content)],
    [`${name}-wal`, new MemoryFile()],
    [`${name}-journal`, new MemoryFile()],
  ]);
}
