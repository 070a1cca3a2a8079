// A file in memory that knows what of it differs from what IndexedDB has.
//
// Since the last record: where it was cut, and the ranges that were written. Since the last fold:
// the blocks that changed. A block of 4 KiB lies over the extent of 64 KiB that it is part of.
// Extents are read three times as fast, and one is written in the time of three blocks: where four
// would lie, or all, the extent is written in their place. So a file that is written anew leaves
// nothing of the one before.

import { MemoryFile } from "../wasm/memory-files.js";
import { SUFFIXES } from "./database-name.js";

export const BLOCK_BYTES = 4096;
export const BLOCKS_PER_EXTENT = 16;
export const EXTENT_BYTES = BLOCKS_PER_EXTENT * BLOCK_BYTES;
const MOST_LOOSE_BLOCKS = 3;

/** Its place in SUFFIXES. @internal */
export const LOG = SUFFIXES.indexOf("-wal");

export type Block = Uint8Array<ArrayBuffer>;

/** What one commit changed: files are cut, written to, and then as long as this. @internal */
export interface ChangeRecord {
  writer: string;
  /** The key of the record before it, if that is not in the blocks yet. */
  after: number | undefined;
  sizes: number[];
  cuts: (number | undefined)[];
  writes: [file: number, at: number, bytes: Block][];
}

/** What differs from the blocks of a file. */
interface Changes {
  size: number;
  /** What was stored behind its end is gone. */
  isCut: boolean;
  loose: Piece[];
  /** They take the place of the blocks in them. */
  extents: Piece[];
}

type Piece = [index: number, bytes: Block];

/** @internal */
export class MirrorFile extends MemoryFile {
  readonly #i: number;
  // Since the last record.
  #cut: number | undefined;
  #written: [begin: number, end: number][] = [];
  // Since the blocks were written.
  readonly #changed = new Set<number>();
  #isCut = false;
  /** Blocks that lie over an extent, or where there is none. */
  readonly #loose = new Set<number>();

  /** The `i`-th in SUFFIXES. */
  constructor(i: number, size = 0) {
    super();
    super.truncate(size);
    this.#i = i;
  }

  get hasChanges(): boolean {
    return this.#cut !== undefined || this.#written.length > 0;
  }

  /** The least size that it had. */
  get cutSinceRecord(): number | undefined {
    return this.#cut;
  }

  get bytesSinceRecord(): number {
    return this.#written.reduce((sum, [begin, end]) => sum + end - begin, 0);
  }

  override write(from: Uint8Array, { at }: { at: number }): number {
    // A log that begins anew has nothing of the one before.
    if (this.#i === LOG && at === 0) this.truncate(0);
    const begin = Math.min(at, this.getSize());
    const count = super.write(from, { at });
    this.#note(begin, at + count);
    return count;
  }

  override truncate(size: number): void {
    const before = this.getSize();
    super.truncate(size);
    if (size > before) this.#note(before, size);
    if (size < before) this.#noteCut(size);
  }

  takeWrites(): [at: number, bytes: Block][] {
    const writes = this.#written.map(([begin, end]): [number, Block] => [
      begin,
      this.#bytes(begin, end),
    ]);
    this.#forgetRecord();
    return writes;
  }

  takeChanges(): Changes {
    const changes: Changes = {
      size: this.getSize(),
      isCut: this.#isCut,
      loose: [],
      extents: [],
    };
    const blockCount = pieceCount(changes.size, BLOCK_BYTES);
    for (const [extent, blocks] of this.#unmerged()) {
      const inAll = Math.min(BLOCKS_PER_EXTENT, blockCount - extent * BLOCKS_PER_EXTENT);
      if (blocks.length > MOST_LOOSE_BLOCKS || blocks.length === inAll) {
        changes.extents.push([extent, this.#piece(extent, EXTENT_BYTES)]);
        for (const index of blocks) this.#loose.delete(index);
        continue;
      }
      for (const index of blocks) {
        if (!this.#changed.has(index)) continue;
        changes.loose.push([index, this.#piece(index, BLOCK_BYTES)]);
        this.#loose.add(index);
      }
    }
    this.#changed.clear();
    this.#isCut = false;
    this.#forgetRecord();
    return changes;
  }

  /** What an extent has of it. */
  restore(bytes: Block, at: number): void {
    super.write(bytes.subarray(0, this.getSize() - at), { at });
  }

  /** What a block has of it, after the extents. */
  restoreLoose(bytes: Block, index: number): void {
    this.restore(bytes, index * BLOCK_BYTES);
    this.#loose.add(index);
  }

  isLoose(index: number): boolean {
    return this.#loose.has(index);
  }

  /** Does again what was recorded. */
  redo({ sizes, cuts, writes }: ChangeRecord): void {
    const cut = cuts[this.#i];
    if (cut !== undefined) this.truncate(cut);
    for (const [file, at, bytes] of writes) if (file === this.#i) this.write(bytes, { at });
    this.truncate(sizes[this.#i] as number);
    this.#forgetRecord();
  }

  /** The blocks in each extent that are not as it has them. */
  #unmerged(): Map<number, number[]> {
    const extents = new Map<number, number[]>();
    for (const index of new Set([...this.#loose, ...this.#changed])) {
      const extent = extentOf(index);
      const blocks = extents.get(extent);
      if (blocks === undefined) extents.set(extent, [index]);
      else blocks.push(index);
    }
    return extents;
  }

  #forgetRecord(): void {
    this.#cut = undefined;
    this.#written = [];
  }

  #note(begin: number, end: number): void {
    for (let i = Math.floor(begin / BLOCK_BYTES); i * BLOCK_BYTES < end; i++) this.#changed.add(i);
    const last = this.#written.at(-1);
    if (last === undefined || begin < last[0] || begin > last[1]) this.#written.push([begin, end]);
    else last[1] = Math.max(last[1], end);
  }

  #noteCut(size: number): void {
    this.#isCut = true;
    this.#cut = Math.min(this.#cut ?? size, size);
    for (const range of this.#written) range[1] = Math.min(range[1], size);
    this.#written = this.#written.filter(([begin, end]) => begin < end);
    const count = pieceCount(size, BLOCK_BYTES);
    for (const blocks of [this.#changed, this.#loose]) {
      for (const index of blocks) if (index >= count) blocks.delete(index);
    }
    // So the extent it ends in is written anew: nothing of what was cut off stays in there.
    const first = extentOf(count - 1) * BLOCKS_PER_EXTENT;
    for (let index = Math.max(0, first); index < count; index++) this.#changed.add(index);
  }

  #piece(index: number, length: number): Block {
    const at = index * length;
    return this.#bytes(at, Math.min(at + length, this.getSize()));
  }

  #bytes(begin: number, end: number): Block {
    const bytes = new Uint8Array(end - begin);
    this.read(bytes, { at: begin });
    return bytes;
  }
}

/** @internal */
export function newFiles(): MirrorFile[] {
  return SUFFIXES.map((_, i) => new MirrorFile(i));
}

/** @internal */
export function pieceCount(size: number, length: number): number {
  return Math.ceil(size / length);
}

/** @internal */
export function extentOf(block: number): number {
  return Math.floor(block / BLOCKS_PER_EXTENT);
}
