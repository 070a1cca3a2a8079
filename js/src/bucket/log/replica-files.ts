// The files of a replica, in memory. Its database comes from a base, piece by piece. A read of a piece
// that is not there yet fails; the piece is fetched, and the read is tried again. A transaction that
// missed a piece commits nothing, so that nothing is done twice.

import type { EngineFile, EngineFiles } from "../../wasm/engine-file.js";
import { MemoryFile } from "../../wasm/memory-files.js";

/** Bytes of a piece of the database. A base of another size could not be read: persistent. */
export const PIECE_BYTES = 32 * 1024;

/** @internal */
export class ReplicaFile implements EngineFile {
  readonly #file: MemoryFile;
  readonly #absent: Set<number>;
  /** Pieces that differ from the base that it comes from. */
  readonly #changed = new Set<number>();
  /** What was written to pieces that are not there yet. */
  readonly #written = new Map<number, Span[]>();
  /** Pieces that somebody wanted to read. */
  readonly missed = new Set<number>();
  /** How often something was missed. */
  misses = 0;
  #baseSize: number;

  /** Of `size` bytes, of which none is there. */
  constructor(size = 0) {
    this.#file = new MemoryFile();
    this.#file.truncate(size);
    this.#baseSize = size;
    this.#absent = new Set(piecesOf(0, size));
  }

  get changed(): readonly number[] {
    const now = this.getSize();
    const cut = piecesOf(Math.min(now, this.#baseSize), Math.max(now, this.#baseSize));
    return [...new Set([...this.#changed, ...cut])].filter((piece) => piece * PIECE_BYTES < now);
  }

  get absent(): ReadonlySet<number> {
    return this.#absent;
  }

  /** What a base has of a piece. */
  provide(piece: number, bytes: Uint8Array): void {
    if (!this.#absent.delete(piece)) return;
    const at = piece * PIECE_BYTES;
    const end = Math.min(bytes.length, this.getSize() - at);
    let from = 0;
    for (const span of [...(this.#written.get(piece) ?? []).toSorted(byBegin), [end, end]]) {
      const [begin, behind] = span as Span;
      if (begin > from) {
        this.#file.write(bytes.subarray(from, Math.min(begin, end)), { at: at + from });
      }
      from = Math.max(from, behind);
    }
    this.#written.delete(piece);
    this.missed.delete(piece);
  }

  /** From now on it comes from a base which is as it is now. */
  settle(): void {
    this.#changed.clear();
    this.#baseSize = this.getSize();
  }

  /** A copy of a piece, which must be there. */
  pieceAt(piece: number): Uint8Array<ArrayBuffer> {
    const at = piece * PIECE_BYTES;
    const bytes = new Uint8Array(Math.min(PIECE_BYTES, this.getSize() - at));
    this.#file.read(bytes, { at });
    return bytes;
  }

  read(into: Uint8Array, { at }: { at: number }): number {
    this.#require(at, Math.min(at + into.length, this.getSize()));
    return this.#file.read(into, { at });
  }

  write(from: Uint8Array, { at }: { at: number }): number {
    const end = at + from.length;
    this.#noteWritten(at, end);
    for (const piece of piecesOf(Math.min(at, this.getSize()), end)) this.#changed.add(piece);
    return this.#file.write(from, { at });
  }

  truncate(size: number): void {
    const before = this.getSize();
    // When it grows again, there are zeros.
    if (size < before) this.#noteWritten(size, before);
    for (const piece of this.#absent) {
      if (piece * PIECE_BYTES < size) continue;
      this.#absent.delete(piece);
      this.#written.delete(piece);
    }
    if (size !== before) {
      for (const piece of piecesOf(Math.min(size, before), Math.max(size, before))) {
        this.#changed.add(piece);
      }
    }
    this.#file.truncate(size);
  }

  getSize(): number {
    return this.#file.getSize();
  }

  flush(): void {}
  close(): void {}

  #noteWritten(begin: number, end: number): void {
    if (this.#absent.size === 0) return;
    for (const piece of piecesOf(begin, end)) {
      if (!this.#absent.has(piece)) continue;
      const at = piece * PIECE_BYTES;
      const span: Span = [Math.max(begin - at, 0), Math.min(end - at, PIECE_BYTES)];
      this.#written.set(piece, [...(this.#written.get(piece) ?? []), span]);
    }
  }

  #require(begin: number, end: number): void {
    if (this.#absent.size === 0) return;
    let isMissing = false;
    for (const piece of piecesOf(begin, end)) {
      if (!this.#absent.has(piece)) continue;
      this.missed.add(piece);
      isMissing = true;
    }
    if (!isMissing) return;
    this.misses++;
    throw new Error("this piece of the database is not here yet");
  }
}

/** Of a piece, from the one byte up to but not including the other. */
type Span = readonly [begin: number, end: number];

const byBegin = ([a]: Span, [b]: Span) => a - b;

/**
 * Of the database. A transaction of which a part was missed must not be committed.
 *
 * @internal
 */
export class ReplicaLog extends MemoryFile {
  readonly #database: ReplicaFile;
  /** Somebody sets it back, to know of what comes. */
  isWritten = false;

  constructor(database: ReplicaFile) {
    super();
    this.#database = database;
  }

  override write(from: Uint8Array, place: { at: number }): number {
    if (this.#database.missed.size > 0) throw new Error("a piece of the database is not here yet");
    this.isWritten = true;
    return super.write(from, place);
  }
}

/** @internal */
export function piecesOf(begin: number, end: number): number[] {
  const pieces: number[] = [];
  for (let i = Math.floor(begin / PIECE_BYTES); i * PIECE_BYTES < end; i++) pieces.push(i);
  return pieces;
}

/** @internal */
export interface ReplicaFiles {
  readonly database: ReplicaFile;
  readonly log: ReplicaLog;
  readonly files: EngineFiles;
}

/** @internal */
export function replicaFiles(name: string, size: number): ReplicaFiles {
  const database = new ReplicaFile(size);
  const log = new ReplicaLog(database);
  const files: EngineFiles = new Map<string, EngineFile>([
    [name, database],
    [`${name}-wal`, log],
    [`${name}-journal`, new MemoryFile()],
  ]);
  return { database, log, files };
}
