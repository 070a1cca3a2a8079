// A database where there is no OPFS: its files are in memory, and IndexedDB keeps a
// mirror of them: blocks of all files, and a record of each change since these were written.
// So what is stored is always a state that SQLite left behind at the end of a frame.
//
// An IndexedDB database `keepsake/<name>` has these stores:
//   meta     "state"          State: whose the database is, and how long its files are in blocks
//            "home"           "opfs" if the database lives there, "fallback" if it is to move there
//            "reserve"        bytes that can be given up on a full disk
//            "flush"          the time of the last flush()
//   blocks   file * 2^32 + i  the i-th block of the file; 0 is the database, 1 its log, 2 its journal
//            (file + 3) * 2^32 + i  its i-th extent, in which 16 blocks lie
//   records  epoch * 2^32 + i the i-th Record of this epoch, or FENCE
//   aside    [suffix, i]      the i-th block of the set-aside file `<name><suffix>`
// Keys that are numbers are read twice as fast as arrays.
//
// A change is one request, which adds its record: half the time of a few that are waited for. When
// the log begins anew, blocks are written in place of all records.
//
// A block of 4 KiB lies over the extent of 64 KiB that it is part of. Extents are read three times
// as fast, and one is written in the time of three blocks: where four would lie, or all, it is
// written in their place. So a file that is written anew leaves nothing of the one before. Older
// mirrors have only blocks, and get extents 16 MB at a time. Older code that meets an extent misses
// its blocks, and says so.
//
// An epoch is a writer: who writes first after another puts a fence where the other's next record
// would be, in the transaction which begins the next epoch. So a tab that was frozen while another
// took over can't add anything. Whatever else it does asks first whose the database is.

import { KeepsakeError } from "../errors.js";
import { closeFiles, type EngineFiles } from "../wasm/engine-file.js";
import { MemoryFile } from "../wasm/memory-files.js";
import type { BrowserStorage } from "./browser-storage.js";
import { asideSuffix, noSuchAside, SUFFIXES, splitAsideName } from "./database-name.js";
import { inTime } from "./in-time.js";
import { closedError, isQuotaError, storageError } from "./storage-error.js";

type Durability = "relaxed" | "strict";

type Home = "opfs" | "fallback";

interface State {
  /** Whose the database is. */
  writer: string;
  /** Theirs. */
  epoch: number;
  /** Records from this key on are not in the blocks yet. */
  firstRecord: number;
  /** Of the files in blocks, in the order of SUFFIXES. */
  sizes: number[];
}

const NOBODY = "";
const EMPTY: State = { writer: NOBODY, epoch: 0, firstRecord: 0, sizes: SUFFIXES.map(() => 0) };

/** What changed: files are cut, written to, and then as long as this. */
interface Record {
  writer: string;
  /** The key of the record before it, if that is not in the blocks yet. */
  after: number | undefined;
  sizes: number[];
  cuts: (number | undefined)[];
  writes: [file: number, at: number, bytes: Block][];
}

const FENCE = 0;

const VERSION = 1;
const META = "meta";
const BLOCKS = "blocks";
const RECORDS = "records";
const ASIDE = "aside";
const STORES = [META, BLOCKS, RECORDS, ASIDE] as const;
const STATE = "state";
const HOME = "home";
const RESERVE = "reserve";
const FLUSH = "flush";

const BLOCK_BYTES = 4096;
const BLOCKS_PER_EXTENT = 16;
const EXTENT_BYTES = BLOCKS_PER_EXTENT * BLOCK_BYTES;
const MOST_LOOSE_BLOCKS = 3;
// Of an older mirror, in one fold: they need room beside the blocks until it is through.
const MOST_CONVERTED_EXTENTS = 256;
// Several that are under way at once take two thirds of the time.
const READS_AT_ONCE = 8;
const BLOCKS_PER_READ = 256;
const EXTENTS_PER_READ = 16;
const RECORDS_PER_READ = 64;
const KEYS_PER_FILE = 2 ** 32;
const EXTENTS = SUFFIXES.length;
const RECORDS_PER_EPOCH = 2 ** 32;
const MOST_RECORDED_BYTES = 64 << 20;
const LOG = SUFFIXES.indexOf("-wal");
const RESERVE_BYTES = 1 << 20;
const RANDOM_BYTES_AT_ONCE = 1 << 16;

// WebKitGTK was seen to give no answer at all after workers had been ended while they wrote.
const OPEN_LIMIT_MS = 5_000;
const ANSWER_LIMIT_MS = 10_000;
const TRANSACTION_LIMIT_MS = 60_000;
const RETRY_PAUSES_MS = [0, 50, 250];

/** Throws what the browser throws if there is no IndexedDB. @internal */
export async function connectMirror(name: string): Promise<Mirror> {
  const connection = new Connection(name);
  try {
    const connected = connection.run("readonly", "relaxed", async ({ meta, records, aside }) => {
      const { sizes, firstRecord } = await stateIn(meta);
      const home = await answerTo<Home | undefined>(meta.get(HOME));
      const unfolded = await answerTo<number>(records.count(recordsFrom(firstRecord)));
      const isEmpty = sizes[0] === 0 && unfolded === 0;
      const hasAside = (await answerTo<number>(aside.count())) > 0;
      return new Mirror(connection, { isEmpty, hasAside, home });
    });
    return await inTime(connected, ANSWER_LIMIT_MS, () => tooSlow(name, ANSWER_LIMIT_MS));
  } catch (error) {
    connection.close();
    throw isQuotaError(error) ? storageError("can't open", name, error) : error;
  }
}

/** @internal */
export function readAsideFromMirror(asideName: string): Promise<Blob> {
  const { name, suffix } = splitAsideName(asideName);
  return withConnection(name, "readonly", async ({ aside }) => {
    const blocks = await answerTo<Block[]>(aside.getAll(blocksOfAside(suffix)));
    if (blocks.length === 0) throw noSuchAside(asideName);
    return new Blob(blocks, { type: "application/octet-stream" });
  });
}

/** @internal */
export function listAsideInMirror(name: string): Promise<string[]> {
  return withConnection(name, "readonly", async ({ aside }) => {
    const keys = await answerTo<IDBValidKey[]>(aside.getAllKeys());
    const suffixes = keys.map((key) => (key as [string, number])[0]);
    return [...new Set(suffixes)].map((suffix) => name + suffix);
  });
}

/** With its log and its journal. @internal */
export function deleteAsideInMirror(asideName: string): Promise<void> {
  const { name, suffix } = splitAsideName(asideName);
  return withConnection(name, "readwrite", ({ aside }) => {
    for (const part of SUFFIXES) aside.delete(blocksOfAside(suffix + part));
  });
}

function blocksOfAside(suffix: string): IDBKeyRange {
  return IDBKeyRange.bound([suffix, 0], [suffix, Number.POSITIVE_INFINITY]);
}

async function withConnection<T>(
  name: string,
  mode: IDBTransactionMode,
  body: Body<T>,
): Promise<T> {
  const connection = new Connection(name);
  try {
    return await connection.run(mode, "relaxed", body);
  } catch (error) {
    throw storageError(mode === "readonly" ? "can't read" : "can't change", name, error);
  } finally {
    connection.close();
  }
}

/** What IndexedDB knows of a database. @internal */
export class Mirror {
  readonly name: string;
  readonly isEmpty: boolean;
  /** Whether a damaged database of this name was set aside here. */
  readonly hasAside: boolean;
  /** Where it lives if not here, or whether it is here only because OPFS was refused. */
  readonly home: Home | undefined;
  readonly #connection: Connection;

  constructor(
    connection: Connection,
    { isEmpty, hasAside, home }: Pick<Mirror, "isEmpty" | "hasAside" | "home">,
  ) {
    this.name = connection.name;
    this.isEmpty = isEmpty;
    this.hasAside = hasAside;
    this.home = home;
    this.#connection = connection;
  }

  async mark(home: Home): Promise<void> {
    if (this.home === home) return;
    await this.#connection.run("readwrite", "strict", ({ meta }) => meta.put(home, HOME));
  }

  close(): void {
    this.#connection.close();
  }

  /** Reads the files. The connection is the storage's from now on. */
  async load(durability: Durability, fallbackReason: string | undefined): Promise<IdbStorage> {
    try {
      const loaded = await this.#connection.run("readonly", "relaxed", (stores) =>
        readFiles(stores, this.name),
      );
      return new IdbStorage(this.#connection, loaded, durability, fallbackReason);
    } catch (error) {
      this.close();
      throw storageError("can't load", this.name, error);
    }
  }
}

interface Loaded {
  state: State;
  files: MirrorFile[];
  lastRecord: number | undefined;
  /** Where the owner before would add its next record. */
  nextRecord: number;
  /** Among the records that are not in the blocks yet. */
  fences: number[];
  recordedBytes: number;
}

/** @internal */
export class IdbStorage implements BrowserStorage {
  readonly kind = "indexeddb";
  fallbackReason: string | undefined;
  readonly files: EngineFiles = new Map();
  readonly #connection: Connection;
  readonly #durability: Durability;
  readonly #writer = Math.random().toString(36).slice(2);
  readonly #epoch: number;
  /** How the owner before left it. */
  readonly #found: Loaded;
  #claimedBy: IDBDatabase | undefined;
  readonly #files: MirrorFile[];
  /** As it is stored once this has written. */
  #state: State;
  // Records that are not in the blocks yet.
  #lastRecord: number | undefined;
  #nextRecord: number;
  #fences: number[];
  #recordedBytes: number;
  #storing: Promise<void> | undefined;
  // What was changed while a transaction was under way, for all who wait for it.
  #next: Promise<void> | undefined;
  #failure: KeepsakeError | undefined;
  #isFlushed = true;

  constructor(
    connection: Connection,
    loaded: Loaded,
    durability: Durability,
    fallbackReason: string | undefined,
  ) {
    this.#connection = connection;
    this.#found = loaded;
    this.#files = loaded.files;
    this.#epoch = loaded.state.epoch + 1;
    this.#state = { ...loaded.state, writer: this.#writer, epoch: this.#epoch };
    this.#lastRecord = loaded.lastRecord;
    this.#nextRecord = this.#epoch * RECORDS_PER_EPOCH;
    this.#fences = [...loaded.fences, loaded.nextRecord];
    this.#recordedBytes = loaded.recordedBytes;
    this.#durability = durability;
    this.fallbackReason = fallbackReason;
    this.#provideFiles();
  }

  get #name(): string {
    return this.#connection.name;
  }

  commit(): Promise<void> | undefined {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    // Whoever has read what is not stored yet waits until it is.
    if (!this.#files.some((file) => file.hasChanges)) return this.#next ?? this.#storing;
    if (this.#storing === undefined) return this.#store();
    this.#next ??= this.#storing.then(() => {
      this.#next = undefined;
      return this.#store();
    });
    return this.#next;
  }

  flush(): void {
    if (this.#isFlushed || this.#durability === "strict") return;
    this.#isFlushed = true;
    // A strict transaction takes the relaxed ones before it to the disk.
    this.#connection
      .run("readwrite", "strict", ({ meta }) => meta.put(Date.now(), FLUSH))
      .catch(() => {
        this.#isFlushed = false;
      });
  }

  async releaseReserve(): Promise<boolean> {
    try {
      return await this.#connection.run("readwrite", "relaxed", async ({ meta }) => {
        if ((await answerTo<number>(meta.count(RESERVE))) === 0) return false;
        meta.delete(RESERVE);
        return true;
      });
    } catch (error) {
      throw storageError("can't release the reserve of", this.#name, error);
    }
  }

  async restoreReserve(): Promise<void> {
    try {
      await this.#connection.run("readwrite", "relaxed", async ({ meta }) => {
        if ((await answerTo<number>(meta.count(RESERVE))) > 0) return;
        meta.put(incompressible(RESERVE_BYTES), RESERVE);
      });
    } catch {
      // There is none then, which releaseReserve() says.
    }
  }

  async setAside(): Promise<string> {
    await this.#storing?.catch(ignore);
    const aside = asideSuffix();
    try {
      await this.#giveUp((stores) => copyAside(stores, this.#name, aside));
    } catch (error) {
      throw storageError("can't set aside", this.#name, error);
    }
    this.#files.splice(0, Number.POSITIVE_INFINITY, ...newFiles());
    this.#failure = undefined;
    this.#provideFiles();
    return this.#name + aside;
  }

  /** The database lives in OPFS from now on, and nothing of it here. This is to be closed. */
  async moveToOpfs(): Promise<void> {
    await this.#giveUp(({ meta }) => {
      meta.delete(RESERVE);
      meta.put("opfs" satisfies Home, HOME);
    });
  }

  settled(): Promise<void> {
    const settled = this.#connection.settled();
    return inTime(settled, ANSWER_LIMIT_MS, () => undefined).catch(ignore);
  }

  close(): void {
    this.#connection.close();
    closeFiles(this.files);
  }

  /** There are no files afterwards; `body` does something about them. */
  async #giveUp(body: (stores: Stores) => void | Promise<void>): Promise<void> {
    await this.#replaceRecords("strict", EMPTY.sizes, async (stores) => {
      await body(stores);
      stores.blocks.clear();
    });
  }

  #provideFiles(): void {
    for (const [i, file] of this.#files.entries()) {
      this.files.set(`${this.#name}${SUFFIXES[i]}`, file);
    }
  }

  #store(): Promise<void> {
    const isFirst = this.#claimedBy === undefined;
    this.#storing = this.#storeChanges().then(
      () => {
        this.#storing = undefined;
        this.#isFlushed = false;
        if (isFirst) void this.restoreReserve();
      },
      (error) => {
        this.#storing = undefined;
        this.#failure = storageError("can't store", this.#name, error);
        throw this.#failure;
      },
    );
    return this.#storing;
  }

  // What is in a log before it begins anew is of no use: blocks of it need never be written.
  #storeChanges(): Promise<void> {
    const sizes = this.#files.map(sizeOf);
    const cuts = this.#files.map((file) => file.cutSinceRecord);
    const bytes = this.#files.reduce((sum, file) => sum + file.bytesSinceRecord, 0);
    if (cuts[LOG] !== undefined || this.#recordedBytes + bytes > MOST_RECORDED_BYTES) {
      return this.#fold(sizes);
    }
    const writes = this.#files.flatMap((file, i) =>
      file.takeWrites().map(([at, written]): Record["writes"][0] => [i, at, written]),
    );
    const record = { writer: this.#writer, after: this.#lastRecord, sizes, cuts, writes };
    this.#recordedBytes += bytes;
    this.#lastRecord = this.#nextRecord++;
    return this.#add(record, this.#lastRecord);
  }

  async #add(record: Record, key: number): Promise<void> {
    try {
      await this.#write(this.#durability, ({ records }) => {
        records.add(record, key);
      });
    } catch (error) {
      // It may have been added by a connection that was lost then.
      if (!isChangedOutside(error) || !(await this.#hasAdded(key))) throw error;
    }
  }

  #hasAdded(key: number): Promise<boolean> {
    return this.#connection.run("readonly", "relaxed", async ({ records }) => {
      const found = await answerTo<Record | typeof FENCE | undefined>(records.get(key));
      return typeof found === "object" && found.writer === this.#writer;
    });
  }

  /** Writes blocks in place of records. */
  #fold(sizes: number[]): Promise<void> {
    const changes = this.#files.map((file) => file.takeChanges());
    return this.#replaceRecords(this.#durability, sizes, ({ blocks }) => {
      for (const [file, { size, isCut, loose, extents }] of changes.entries()) {
        if (isCut) {
          blocks.delete(keyRange(file, pieceCount(size, BLOCK_BYTES)));
          blocks.delete(keyRange(EXTENTS + file, pieceCount(size, EXTENT_BYTES)));
        }
        for (const [index, block] of loose) blocks.put(block, keyOf(file, index));
        for (const [index, extent] of extents) {
          const first = index * BLOCKS_PER_EXTENT;
          blocks.delete(keyRange(file, first, first + BLOCKS_PER_EXTENT));
          blocks.put(extent, keyOf(EXTENTS + file, index));
        }
      }
    });
  }

  // It takes a key, so that whoever has read what was there before finds out.
  async #replaceRecords(
    durability: Durability,
    sizes: number[],
    body: (stores: Stores) => void | Promise<void>,
  ): Promise<void> {
    const state = { ...this.#state, firstRecord: this.#nextRecord + 1, sizes };
    await this.#write(durability, async (stores) => {
      await this.#claim(stores);
      await body(stores);
      let begin = this.#state.firstRecord;
      for (const end of [...this.#fences, this.#nextRecord]) {
        if (begin < end) stores.records.delete(IDBKeyRange.bound(begin, end, false, true));
        begin = end + 1;
      }
      stores.meta.put(state, STATE);
    });
    this.#state = state;
    this.#nextRecord = state.firstRecord;
    this.#lastRecord = undefined;
    this.#fences = [];
    this.#recordedBytes = 0;
  }

  /** Rejects if somebody else has written. `body` may add a record; for anything else it claims. */
  async #write(
    durability: Durability,
    body: (stores: Stores) => void | Promise<void>,
  ): Promise<void> {
    let by: IDBDatabase | undefined;
    try {
      await this.#connection.run("readwrite", durability, async (stores, database) => {
        by = database;
        if (this.#claimedBy !== database) await this.#claim(stores);
        await body(stores);
      });
    } catch (error) {
      throw isConstraintError(error) ? changedOutside(this.#name) : error;
    }
    this.#claimedBy = by;
  }

  /** Throws if somebody else has written; from now on nobody can who read it before. */
  async #claim({ meta, records }: Stores): Promise<void> {
    const { writer, firstRecord } = await stateIn(meta);
    if (writer === this.#writer) return;
    const found = this.#found;
    const isAsFound = writer === found.state.writer && firstRecord === found.state.firstRecord;
    if (this.#claimedBy !== undefined || !isAsFound) throw changedOutside(this.#name);
    records.add(FENCE, found.nextRecord);
    meta.put(this.#state, STATE);
  }
}

function sizeOf(file: MirrorFile): number {
  return file.getSize();
}

type Block = Uint8Array<ArrayBuffer>;

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

class MirrorFile extends MemoryFile {
  readonly #isLog: boolean;
  // Since the last record.
  #cut: number | undefined;
  #written: [begin: number, end: number][] = [];
  // Since the blocks were written.
  readonly #changed = new Set<number>();
  #isCut = false;
  /** Blocks that lie over an extent, or where there is none. */
  readonly #loose = new Set<number>();

  constructor(isLog: boolean, size = 0) {
    super();
    super.truncate(size);
    this.#isLog = isLog;
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
    if (this.#isLog && at === 0) this.truncate(0);
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
    let convertible = MOST_CONVERTED_EXTENTS;
    for (const [extent, blocks] of this.#unmerged()) {
      const inAll = Math.min(BLOCKS_PER_EXTENT, blockCount - extent * BLOCKS_PER_EXTENT);
      if (blocks.length > MOST_LOOSE_BLOCKS || blocks.length === inAll) {
        const isOld = !blocks.some((index) => this.#changed.has(index));
        if (isOld && convertible-- <= 0) continue;
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
  redo(i: number, { sizes, cuts, writes }: Record): void {
    const cut = cuts[i];
    if (cut !== undefined) this.truncate(cut);
    for (const [file, at, bytes] of writes) if (file === i) this.write(bytes, { at });
    this.truncate(sizes[i] as number);
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

function newFiles(): MirrorFile[] {
  return SUFFIXES.map((_, i) => new MirrorFile(i === LOG));
}

function pieceCount(size: number, length: number): number {
  return Math.ceil(size / length);
}

function extentOf(block: number): number {
  return Math.floor(block / BLOCKS_PER_EXTENT);
}

// ---- what is stored

interface Stores {
  meta: IDBObjectStore;
  blocks: IDBObjectStore;
  records: IDBObjectStore;
  aside: IDBObjectStore;
}

async function stateIn(meta: IDBObjectStore): Promise<State> {
  return (await answerTo<State | undefined>(meta.get(STATE))) ?? EMPTY;
}

async function readFiles({ meta, blocks, records }: Stores, name: string): Promise<Loaded> {
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

type Recorded = [key: number, record: Record | typeof FENCE];

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
    for (const [file, mirror] of files.entries()) mirror.redo(file, record);
    loaded.lastRecord = key;
    loaded.nextRecord = key + 1;
    loaded.recordedBytes += record.writes.reduce((sum, [, , bytes]) => sum + bytes.length, 0);
  }
  return loaded;
}

function recordsFrom(key: number): IDBKeyRange {
  return IDBKeyRange.lowerBound(key);
}

async function readFile(
  blocks: IDBObjectStore,
  i: number,
  size: number,
  name: string,
): Promise<MirrorFile> {
  const file = new MirrorFile(i === LOG, size);
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

function keyOf(file: number, index: number): number {
  return file * KEYS_PER_FILE + index;
}

function keyRange(file: number, begin: number, end = KEYS_PER_FILE): IDBKeyRange {
  return IDBKeyRange.bound(keyOf(file, begin), keyOf(file, end), false, true);
}

async function copyAside(stores: Stores, name: string, to: string): Promise<void> {
  const { files } = await readFiles(stores, name);
  for (const [i, file] of files.entries()) {
    for (let at = 0; at < file.getSize(); at += BLOCK_BYTES) {
      const block = new Uint8Array(Math.min(BLOCK_BYTES, file.getSize() - at));
      file.read(block, { at });
      stores.aside.put(block, [to + SUFFIXES[i], at / BLOCK_BYTES]);
    }
  }
}

function changedOutside(name: string): KeepsakeError {
  return new KeepsakeError(
    "changed_outside",
    `the mirror of "${name}" in IndexedDB was changed or deleted by someone else`,
  );
}

function isMissing(what: string, file: string): KeepsakeError {
  return new KeepsakeError("corrupt", `IndexedDB lacks some of the ${what} of "${file}"`);
}

function isChangedOutside(error: unknown): boolean {
  return error instanceof KeepsakeError && error.code === "changed_outside";
}

function isConstraintError(error: unknown): boolean {
  return error instanceof DOMException && error.name === "ConstraintError";
}

// Browsers compress what they store; zeros would keep no room free.
function incompressible(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += RANDOM_BYTES_AT_ONCE) {
    crypto.getRandomValues(bytes.subarray(at, at + RANDOM_BYTES_AT_ONCE));
  }
  return bytes;
}

// ---- IndexedDB with promises

type Body<T> = (stores: Stores, database: IDBDatabase) => T | Promise<T>;

/** Opens by itself, and again if the browser closed it, as iOS does in the background. */
class Connection {
  readonly name: string;
  #opened: IDBDatabase | undefined;
  #wasOpened = false;
  #isClosed = false;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(name: string) {
    this.name = name;
  }

  /**
   * Resolves with what `body` answered when the transaction is complete. `body` may wait
   * for answerTo() only. Runs again if the connection was lost: it has to bear that. It hears
   * which connection it is.
   */
  run<T>(mode: IDBTransactionMode, durability: Durability, body: Body<T>): Promise<T> {
    const running = this.#run(mode, durability, body);
    this.#underWay.add(running);
    const forget = () => this.#underWay.delete(running);
    running.then(forget, forget);
    return inTime(running, TRANSACTION_LIMIT_MS, () => transactionHangs(this.name));
  }

  /** Resolves when no transaction is under way. Never rejects. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  async #run<T>(mode: IDBTransactionMode, durability: Durability, body: Body<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        const database = await this.#database();
        return await transact(database, mode, durability, (stores) => body(stores, database));
      } catch (error) {
        const pause = RETRY_PAUSES_MS[attempt];
        if (pause === undefined || !this.#mayBeLost || isFinal(error)) throw error;
        this.#drop();
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  // What could never be opened was not lost.
  get #mayBeLost(): boolean {
    return this.#wasOpened && !this.#isClosed;
  }

  async #database(): Promise<IDBDatabase> {
    if (this.#opened !== undefined) return this.#opened;
    if (this.#isClosed) throw closedError(this.name);
    const database = await openDatabase(this.name);
    if (this.#opened !== undefined) {
      // Another transaction was faster. Nobody would close this one.
      database.close();
      return this.#opened;
    }
    // Somebody deletes it, and would wait for us.
    database.onversionchange = () => this.#drop();
    database.onclose = () => this.#drop();
    this.#opened = database;
    this.#wasOpened = true;
    if (this.#isClosed) this.#drop();
    return database;
  }

  #drop(): void {
    this.#opened?.close();
    this.#opened = undefined;
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof KeepsakeError || isQuotaError(error) || isConstraintError(error);
}

function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(`keepsake/${name}`, VERSION);
  request.onupgradeneeded = () => {
    for (const store of STORES) request.result.createObjectStore(store);
  };
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      request.onsuccess = () => request.result.close();
      reject(tooSlow(name, OPEN_LIMIT_MS));
    }, OPEN_LIMIT_MS);
    request.onsuccess = () => {
      clearTimeout(timer);
      resolve(request.result);
    };
    request.onerror = () => {
      clearTimeout(timer);
      reject(request.error);
    };
  });
}

function tooSlow(name: string, limit: number): KeepsakeError {
  return new KeepsakeError(
    "busy",
    `IndexedDB did not open the mirror of "${name}" within ${limit / 1000} s`,
  );
}

function transactionHangs(name: string): KeepsakeError {
  return new KeepsakeError(
    "io_error",
    `IndexedDB did not end a transaction on "${name}" within ${TRANSACTION_LIMIT_MS / 1000} s; whether it was stored is not known`,
  );
}

async function transact<T>(
  database: IDBDatabase,
  mode: IDBTransactionMode,
  durability: Durability,
  body: (stores: Stores) => T | Promise<T>,
): Promise<T> {
  const transaction = database.transaction(STORES, mode, { durability });
  const completion = completionOf(transaction);
  completion.catch(ignore);
  try {
    const answer = await body({
      meta: transaction.objectStore(META),
      blocks: transaction.objectStore(BLOCKS),
      records: transaction.objectStore(RECORDS),
      aside: transaction.objectStore(ASIDE),
    });
    transaction.commit?.();
    await completion;
    return answer;
  } catch (error) {
    abort(transaction);
    throw transaction.error ?? error;
  }
}

function completionOf(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("transaction was aborted"));
  });
}

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // It has ended already.
  }
}

function answerTo<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function ignore(): void {}
