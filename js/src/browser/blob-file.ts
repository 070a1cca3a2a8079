// A Blob as a file for the engine, read piece by piece without loading it. In workers only.

import { KeepsakeError } from "../errors.js";
import type { EngineFile } from "../wasm/engine-file.js";

/** What TypeScript's DOM library leaves out, because only workers have it. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

// SQLite reads pages; a Blob costs a call to the browser's process each time.
const READ_AHEAD = 1 << 18;

/** @internal */
export class BlobFile implements EngineFile {
  readonly #blob: Blob;
  readonly #reader = new FileReaderSync();
  readonly #onRead: (bytes: number) => void;
  #ahead = new Uint8Array(0);
  #aheadAt = 0;
  #furthest = 0;

  /** `onRead` hears how much of it was read, each time that it is more than before. */
  constructor(blob: Blob, onRead: (bytes: number) => void) {
    this.#blob = blob;
    this.#onRead = onRead;
  }

  read(into: Uint8Array, { at }: { at: number }): number {
    const end = Math.min(at + into.length, this.#blob.size);
    let count = 0;
    while (at + count < end) {
      const piece = this.#pieceAt(at + count).subarray(0, end - at - count);
      into.set(piece, count);
      count += piece.length;
    }
    return count;
  }

  write(): number {
    throw readOnly();
  }

  truncate(): void {
    throw readOnly();
  }

  getSize(): number {
    return this.#blob.size;
  }

  flush(): void {}
  close(): void {}

  #pieceAt(at: number): Uint8Array {
    if (at < this.#aheadAt || at >= this.#aheadAt + this.#ahead.length) this.#load(at);
    return this.#ahead.subarray(at - this.#aheadAt);
  }

  #load(at: number): void {
    const piece = this.#blob.slice(at, at + READ_AHEAD);
    this.#ahead = new Uint8Array(this.#reader.readAsArrayBuffer(piece));
    this.#aheadAt = at;
    const furthest = at + this.#ahead.length;
    if (furthest <= this.#furthest) return;
    this.#furthest = furthest;
    this.#onRead(furthest);
  }
}

function readOnly(): KeepsakeError {
  return new KeepsakeError("read_only", "a file that was lent is only read");
}
