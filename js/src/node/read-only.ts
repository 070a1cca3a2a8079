// A database that can be read and not written: on a disk or in an image that is read-only, or in
// somebody else's folder. Nothing holds a lock there. What the engine writes for itself, such as an
// index of words, stays in memory; what a caller writes is refused.

import * as fs from "node:fs";
import type { DatabaseSession } from "../engine/session.js";
import { KeepsakeError } from "../errors.js";
import type { EngineFile, EngineFiles } from "../wasm/engine-file.js";
import { MemoryFile } from "../wasm/memory-files.js";
import { OPERATIONS, type Operation, type OperationRow } from "../wire/operations.js";
import { openNodeFilesForReading } from "./node-files.js";

const BLOCK_BYTES = 4096;

/** Whether `path` can be read where no lock could be made because of `error`. @internal */
export function isOnlyReadable(path: string, error: unknown): boolean {
  if (!(error instanceof KeepsakeError) || error.code !== "read_only") return false;
  return refusalOf(path, fs.constants.R_OK) === undefined && isNobodys(path, error.cause);
}

/** Whether `path` itself can be read and not written, wherever it lies. @internal */
export function isProtected(path: string): boolean {
  const { F_OK, R_OK, W_OK } = fs.constants;
  if (refusalOf(path, F_OK) !== undefined || refusalOf(path, R_OK) !== undefined) return false;
  const refusal = refusalOf(path, W_OK);
  return refusal !== undefined && isNobodys(path, refusal);
}

function refusalOf(path: string, mode: number): unknown {
  try {
    fs.accessSync(path, mode);
    return undefined;
  } catch (error) {
    return error;
  }
}

// Whoever has the file open is about to write it. On a disk that nobody writes to, a lock is one
// that was left there.
function isNobodys(path: string, refusal: unknown): boolean {
  if ((refusal as NodeJS.ErrnoException | undefined)?.code === "EROFS") return true;
  return fs.lstatSync(`${path}-lock`, { throwIfNoEntry: false }) === undefined;
}

/** @internal */
export function cannotWrite(path: string): KeepsakeError {
  return new KeepsakeError(
    "read_only",
    `${path} is open for reading, because it can't be written here: copy it to a folder that you may write`,
  );
}

/** The files as they are, with what is written to them in memory. @internal */
export function openOverFiles(path: string): EngineFiles {
  const files = openNodeFilesForReading(path);
  for (const [name, file] of files)
    files.set(name, name === path ? new Overlay(file) : copyOf(file));
  return files;
}

// A log is short, and written to first.
function copyOf(file: EngineFile): MemoryFile {
  const bytes = new Uint8Array(file.getSize());
  file.read(bytes, { at: 0 });
  file.close();
  return new MemoryFile(bytes);
}

/** A file whose blocks are in memory as soon as they are written. */
class Overlay implements EngineFile {
  readonly #file: EngineFile;
  readonly #blocks = new Map<number, Uint8Array>();
  #size: number;
  // From here on the file shows nothing: it was cut off there.
  #shown: number;

  constructor(file: EngineFile) {
    this.#file = file;
    this.#size = file.getSize();
    this.#shown = this.#size;
  }

  read(into: Uint8Array, { at }: { at: number }): number {
    const count = Math.max(0, Math.min(into.length, this.#size - at));
    const shown = Math.max(0, Math.min(count, this.#shown - at));
    if (shown > 0) this.#file.read(into.subarray(0, shown), { at });
    into.fill(0, shown, count);
    for (const [block, from, to] of blocksOf(at, count)) {
      const bytes = this.#blocks.get(block);
      if (bytes !== undefined) into.set(bytes.subarray(from, to), block * BLOCK_BYTES + from - at);
    }
    return count;
  }

  write(bytes: Uint8Array, { at }: { at: number }): number {
    this.#size = Math.max(this.#size, at + bytes.length);
    for (const [block, from, to] of blocksOf(at, bytes.length)) {
      const begin = block * BLOCK_BYTES + from - at;
      this.#writable(block).set(bytes.subarray(begin, begin + to - from), from);
    }
    return bytes.length;
  }

  truncate(size: number): void {
    const last = Math.floor(size / BLOCK_BYTES);
    if (size < this.#size) {
      for (const block of this.#blocks.keys()) if (block > last) this.#blocks.delete(block);
      this.#blocks.get(last)?.fill(0, size % BLOCK_BYTES);
    }
    this.#shown = Math.min(this.#shown, size);
    this.#size = size;
  }

  getSize(): number {
    return this.#size;
  }

  check(): boolean {
    return this.#file.check?.() ?? true;
  }

  flush(): void {}

  close(): void {
    this.#file.close();
  }

  #writable(block: number): Uint8Array {
    let bytes = this.#blocks.get(block);
    if (bytes === undefined) {
      bytes = new Uint8Array(BLOCK_BYTES);
      this.read(bytes, { at: block * BLOCK_BYTES });
      this.#blocks.set(block, bytes);
    }
    return bytes;
  }
}

// Each block, and which of its bytes these are.
function* blocksOf(at: number, length: number): Generator<[number, number, number]> {
  for (let next = at; next < at + length; ) {
    const block = Math.floor(next / BLOCK_BYTES);
    const from = next - block * BLOCK_BYTES;
    const to = Math.min(BLOCK_BYTES, from + at + length - next);
    yield [block, from, to];
    next += to - from;
  }
}

/** A session that refuses what would be stored, and what was read beside somebody's writes. @internal */
export class ReadOnlySession implements DatabaseSession {
  readonly #path: string;
  readonly #session: DatabaseSession;
  readonly #isUnchanged: () => boolean;

  constructor(path: string, session: DatabaseSession, isUnchanged: () => boolean) {
    this.#path = path;
    this.#session = session;
    this.#isUnchanged = isUnchanged;
  }

  get isBroken(): boolean {
    return this.#session.isBroken;
  }

  execute(request: Uint8Array, spare?: number, operations: readonly Operation[] = []): Uint8Array {
    if (operations.some(stores)) throw cannotWrite(this.#path);
    if (!this.#isUnchanged()) {
      throw new KeepsakeError(
        "changed_outside",
        `${this.#path} is open for reading, and was changed by somebody else: close it, and open it again`,
      );
    }
    return this.#session.execute(request, spare, operations);
  }

  lend(files: EngineFiles): () => void {
    return this.#session.lend(files);
  }

  close(): void {
    this.#session.close();
  }
}

function stores(operation: Operation): boolean {
  const { changes } = OPERATIONS[operation.kind] as OperationRow<Operation>;
  return changes?.(operation) !== undefined;
}
