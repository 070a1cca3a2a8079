// What IndexedDB has of a database's files, and how it is read.
//
// An IndexedDB database `keepsake/<name>` has these stores:
//   meta     "state"          State: whose the database is, and how long its files are in blocks
//            "home"           "opfs" if the database lives there, "fallback" if it is to move there
//            "reserve"        bytes that can be given up on a full disk
//            "flush"          the time of the last flush()
//   blocks   file * 2^32 + i  the i-th block of the file; 0 is the database, 1 its log, 2 its journal
//            (file + 3) * 2^32 + i  its i-th extent, in which 16 blocks lie
//   records  epoch * 2^32 + i the i-th ChangeRecord of this epoch, or FENCE
//   aside    [suffix, i]      the i-th block of the set-aside file `<name><suffix>`
// Keys that are numbers are read twice as fast as arrays.
//
// A commit is one request, which adds its record: half the time of a few that are waited for. When
// the log begins anew, the records are folded: what they changed is written to blocks, and they
// are deleted.
//
// An epoch is a writer: who writes first after another puts a fence where the other's next record
// would be, in the transaction which begins the next epoch. So a tab that was frozen while another
// took over can't add anything. Whatever else it does asks first whose the database is.

import { KeepsakeError } from "../errors.js";
import { SUFFIXES } from "./database-name.js";
import { answerTo, type Stores } from "./idb-connection.js";
import {
  BLOCK_BYTES,
  type Block,
  type ChangeRecord,
  EXTENT_BYTES,
  extentOf,
  MirrorFile,
  pieceCount,
} from "./mirror-file.js";

/** @internal */
export interface State {
  /** Whose the database is. */
  writer: string;
  /** Theirs. */
  epoch: number;
  /** Records from this key on are not in the blocks yet. */
  firstRecord: number;
  /** Of the files in blocks, in the order of SUFFIXES. */
  sizes: number[];
}

/** What was written last, as it is read. @internal */
export interface Loaded {
  state: State;
  files: MirrorFile[];
  lastRecord: number | undefined;
  /** Where the owner before would add its next record. */
  nextRecord: number;
  /** Among the records that are not in the blocks yet. */
  fences: number[];
  recordedBytes: number;
}

export type Home = "opfs" | "fallback";

export const STATE = "state";
export const HOME = "home";
export const FENCE = 0;
export const RECORDS_PER_EPOCH = 2 ** 32;
/** The first extents are behind all blocks. @internal */
export const EXTENTS = SUFFIXES.length;
const KEYS_PER_FILE = 2 ** 32;

// Several that are under way at once take two thirds of the time.
const READS_AT_ONCE = 8;
const BLOCKS_PER_READ = 256;
const EXTENTS_PER_READ = 16;
const RECORDS_PER_READ = 64;

/** @internal */
export async function stateIn(meta: IDBObjectStore): Promise<State> {
  const found = await answerTo<State | undefined>(meta.get(STATE));
  return found ?? { writer: "", epoch: 0, firstRecord: 0, sizes: SUFFIXES.map(() => 0) };
}

/** @internal */
export async function readFiles({ meta, blocks, records }: Stores, name: string): Promise<Loaded> {
  const state = await stateIn(meta);
  const recorded: Recorded[] = [];
  const [files] = await Promise.all([
    Promise.all(state.sizes.map((size, i) => readFile(blocks, i, size, `${name}${SUFFIXES[i]}`))),
    readAll<Recorded[1]>(records, recordsFrom(state.firstRecord), RECORDS_PER_READ, (...all) =>
      recorded.push(all),
    ),
  ]);
  return redoRecords({ state, files }, recorded, name);
}

type Recorded = [key: number, record: ChangeRecord | typeof FENCE];

function redoRecords(
  { state, files }: Pick<Loaded, "state" | "files">,
  recorded: Recorded[],
  name: string,
): Loaded {
  const loaded: Loaded = {
    state,
    files,
    lastRecord: undefined,
    nextRecord: state.firstRecord,
    fences: [],
    recordedBytes: 0,
  };
  for (const [key, record] of recorded) {
    if (typeof record !== "object") {
      loaded.fences.push(key);
      continue;
    }
    if (record.after !== loaded.lastRecord) throw isMissing("records", name);
    for (const file of files) file.redo(record);
    loaded.lastRecord = key;
    loaded.nextRecord = key + 1;
    loaded.recordedBytes += record.writes.reduce((sum, [, , bytes]) => sum + bytes.length, 0);
  }
  return loaded;
}

/** @internal */
export function recordsFrom(key: number): IDBKeyRange {
  return IDBKeyRange.lowerBound(key);
}

async function readFile(
  blocks: IDBObjectStore,
  i: number,
  size: number,
  name: string,
): Promise<MirrorFile> {
  const file = new MirrorFile(i, size);
  if (size === 0) return file;
  const ends = new Map<number, number>();
  const blockCount = pieceCount(size, BLOCK_BYTES);
  const extents = keyRange(EXTENTS + i, 0, pieceCount(size, EXTENT_BYTES));
  await readAll<Block>(blocks, extents, EXTENTS_PER_READ, (key, bytes) => {
    const extent = key % KEYS_PER_FILE;
    file.restore(bytes, extent * EXTENT_BYTES);
    ends.set(extent, extent * EXTENT_BYTES + bytes.length);
  });
  await readAll<Block>(blocks, keyRange(i, 0, blockCount), BLOCKS_PER_READ, (key, bytes) => {
    file.restoreLoose(bytes, key % KEYS_PER_FILE);
  });
  for (let index = 0; index < blockCount; index++) {
    const isThere = file.isLoose(index) || index * BLOCK_BYTES < (ends.get(extentOf(index)) ?? 0);
    if (!isThere) throw isMissing("blocks", name);
  }
  return file;
}

/** In the order of their keys. */
async function readAll<T>(
  store: IDBObjectStore,
  range: IDBKeyRange,
  perRead: number,
  receive: (key: number, value: T) => void,
): Promise<void> {
  const keys = await answerTo<number[]>(store.getAllKeys(range));
  const read = async (first: number) => {
    const some = keys.slice(first, first + perRead);
    const between = IDBKeyRange.bound(some[0], some.at(-1));
    const values = await answerTo<T[]>(store.getAll(between));
    for (const [i, value] of values.entries()) receive(some[i] as number, value);
  };
  for (let first = 0; first < keys.length; first += READS_AT_ONCE * perRead) {
    const reads: Promise<void>[] = [];
    for (let i = 0; i < READS_AT_ONCE && first + i * perRead < keys.length; i++) {
      reads.push(read(first + i * perRead));
    }
    await Promise.all(reads);
  }
}

/** @internal */
export function blockKey(file: number, index: number): number {
  return file * KEYS_PER_FILE + index;
}

/** @internal */
export function keyRange(file: number, begin: number, end = KEYS_PER_FILE): IDBKeyRange {
  return IDBKeyRange.bound(blockKey(file, begin), blockKey(file, end), false, true);
}

function isMissing(what: string, file: string): KeepsakeError {
  return new KeepsakeError("corrupt", `IndexedDB lacks some of the ${what} of "${file}"`);
}
