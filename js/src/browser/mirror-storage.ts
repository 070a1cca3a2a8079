// A database where there is no OPFS: its files are in memory, and IndexedDB keeps a
// mirror of them: blocks of all files, and a record of each change since these were written.
// So what is stored is always a state that SQLite left behind at the end of a frame.

import { KeepsakeError } from "../errors.js";
import { closeFiles, type EngineFiles } from "../wasm/engine-file.js";
import type { BrowserStorage } from "./browser-storage.js";
import { asideSuffix, SUFFIXES } from "./database-name.js";
import {
  answerTo,
  type Connection,
  type Durability,
  isConstraintError,
  type Stores,
} from "./idb-connection.js";
import { inTime } from "./in-time.js";
import {
  BLOCK_BYTES,
  BLOCKS_PER_EXTENT,
  type ChangeRecord,
  EXTENT_BYTES,
  LOG,
  type MirrorFile,
  newFiles,
  pieceCount,
} from "./mirror-file.js";
import {
  blockKey,
  EXTENTS,
  FENCE,
  HOME,
  type Home,
  keyRange,
  type Loaded,
  RECORDS_PER_EPOCH,
  readFiles,
  STATE,
  type State,
  stateIn,
} from "./mirror-reader.js";
import { storageError } from "./storage-error.js";

const RESERVE = "reserve";
const FLUSH = "flush";
const MOST_RECORDED_BYTES = 64 << 20;
const RESERVE_BYTES = 1 << 20;
const RANDOM_BYTES_AT_ONCE = 1 << 16;
const SETTLED_LIMIT_MS = 10_000;

/** @internal */
export class MirrorStorage implements BrowserStorage {
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
  // The transaction after it: of what is changed meanwhile, for all who wait for that.
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
    await this.#storing?.catch(() => {});
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
    return inTime(settled, SETTLED_LIMIT_MS, () => undefined).catch(() => {});
  }

  close(): void {
    this.#connection.close();
    closeFiles(this.files);
  }

  /** Deletes the files here, after `body` did something with them. */
  async #giveUp(body: (stores: Stores) => void | Promise<void>): Promise<void> {
    const sizes = SUFFIXES.map(() => 0);
    await this.#replaceRecords("strict", sizes, async (stores) => {
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

  // A log that begins anew makes what was in it useless, so that its blocks are never written.
  #storeChanges(): Promise<void> {
    const sizes = this.#files.map((file) => file.getSize());
    const cuts = this.#files.map((file) => file.cutSinceRecord);
    const bytes = this.#files.reduce((sum, file) => sum + file.bytesSinceRecord, 0);
    if (cuts[LOG] !== undefined || this.#recordedBytes + bytes > MOST_RECORDED_BYTES) {
      return this.#fold(sizes);
    }
    const writes = this.#files.flatMap((file, i) =>
      file.takeWrites().map(([at, written]): ChangeRecord["writes"][0] => [i, at, written]),
    );
    const record = { writer: this.#writer, after: this.#lastRecord, sizes, cuts, writes };
    this.#recordedBytes += bytes;
    this.#lastRecord = this.#nextRecord++;
    return this.#add(record, this.#lastRecord);
  }

  async #add(record: ChangeRecord, key: number): Promise<void> {
    try {
      await this.#write(this.#durability, ({ records }) => {
        records.add(record, key);
      });
    } catch (error) {
      // The first try may have added it, and then lost its connection before we heard of it.
      if (!isChangedOutside(error) || !(await this.#hasAdded(key))) throw error;
    }
  }

  #hasAdded(key: number): Promise<boolean> {
    return this.#connection.run("readonly", "relaxed", async ({ records }) => {
      const found = await answerTo<ChangeRecord | typeof FENCE | undefined>(records.get(key));
      return typeof found === "object" && found.writer === this.#writer;
    });
  }

  /** Writes to blocks what the records changed, and deletes those. */
  #fold(sizes: number[]): Promise<void> {
    const changes = this.#files.map((file) => file.takeChanges());
    return this.#replaceRecords(this.#durability, sizes, ({ blocks }) => {
      for (const [file, { size, isCut, loose, extents }] of changes.entries()) {
        if (isCut) {
          blocks.delete(keyRange(file, pieceCount(size, BLOCK_BYTES)));
          blocks.delete(keyRange(EXTENTS + file, pieceCount(size, EXTENT_BYTES)));
        }
        for (const [index, block] of loose) blocks.put(block, blockKey(file, index));
        for (const [index, extent] of extents) {
          const first = index * BLOCKS_PER_EXTENT;
          blocks.delete(keyRange(file, first, first + BLOCKS_PER_EXTENT));
          blocks.put(extent, blockKey(EXTENTS + file, index));
        }
      }
    });
  }

  // firstRecord grows even if there were no records, so that #claim() of whoever read what was here
  // before finds that it changed.
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

  /** Rejects if somebody else has written. `body` calls #claim(), unless it only adds a record. */
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

function isChangedOutside(error: unknown): boolean {
  return error instanceof KeepsakeError && error.code === "changed_outside";
}

// Browsers compress what they store; zeros would keep no room free.
function incompressible(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += RANDOM_BYTES_AT_ONCE) {
    crypto.getRandomValues(bytes.subarray(at, at + RANDOM_BYTES_AT_ONCE));
  }
  return bytes;
}
