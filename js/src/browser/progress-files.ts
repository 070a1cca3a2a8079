// Files that tell when they are used, so that a database at long work is not taken for one
// that hangs: nothing can be asked of it until it is done.

import type { EngineFile, EngineFiles } from "../wasm/engine-file.js";

// Looking at the clock costs as much as a read of what is in memory.
const TELL_EVERY_BYTES = 64 * 4096;

/** Those files, under the same names; `tell` is called with every 256 KB that one moves. @internal */
export function withProgress(files: EngineFiles, tell: () => void): EngineFiles {
  return new Map([...files].map(([name, file]) => [name, new ProgressFile(file, tell)]));
}

class ProgressFile implements EngineFile {
  readonly #file: EngineFile;
  readonly #tell: () => void;
  #bytes = 0;

  constructor(file: EngineFile, tell: () => void) {
    this.#file = file;
    this.#tell = tell;
  }

  read(into: Uint8Array, options: { at: number }): number {
    this.#note(into.byteLength);
    return this.#file.read(into, options);
  }

  write(from: Uint8Array, options: { at: number }): number {
    this.#note(from.byteLength);
    return this.#file.write(from, options);
  }

  truncate(size: number): void {
    this.#file.truncate(size);
  }

  flush(): void {
    this.#file.flush();
  }

  getSize(): number {
    return this.#file.getSize();
  }

  close(): void {
    this.#file.close();
  }

  #note(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < TELL_EVERY_BYTES) return;
    this.#bytes = 0;
    this.#tell();
  }
}
