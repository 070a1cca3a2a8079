// A database where there is no OPFS: its files are in memory, and IndexedDB keeps a
// mirror of them. One transaction stores all 4 KiB blocks of all files that changed,
// so what is stored is always a state that SQLite left behind at the end of a frame.
//
// An IndexedDB database `keepsake/<name>` has these stores:
//   meta     "state"         { token, sizes: [database, log, journal] }
//            "home"          "opfs" if the database lives there, "fallback" if it is to move there
//            "reserve"       bytes that can be given up on a full disk
//            "flush"         the time of the last flush()
//   blocks   file * 2^32 + i the i-th block of the file; 0 is the database, 1 its log, 2 its journal
//   aside    [suffix, i]     the i-th block of the set-aside file `<name><suffix>`
// Keys that are numbers are read twice as fast as arrays.
//
// Each transaction changes the token, and checks that it is still the one before:
// a tab that was frozen while another took over can't mix its blocks into theirs.

import { KeepsakeError } from "../errors.js";
import { closeFiles, type EngineFiles } from "../wasm/engine-file.js";
import { MemoryFile } from "../wasm/memory-files.js";
import type { BrowserStorage } from "./browser-storage.js";
import { asideSuffix, noSuchAside, SUFFIXES, splitAsideName } from "./database-name.js";
import { closedError, isQuotaError, storageError } from "./storage-error.js";

type Durability = "relaxed" | "strict";

/** What the first token replaces. */
const NO_TOKEN = "";

type Home = "opfs" | "fallback";

interface State {
  token: string;
  /** Of the files, in the order of SUFFIXES. */
  sizes: number[];
}

const EMPTY: State = { token: NO_TOKEN, sizes: SUFFIXES.map(() => 0) };

const VERSION = 1;
const META = "meta";
const BLOCKS = "blocks";
const ASIDE = "aside";
const STORES = [META, BLOCKS, ASIDE] as const;
const STATE = "state";
const HOME = "home";
const RESERVE = "reserve";
const FLUSH = "flush";

const BLOCK_BYTES = 4096;
const BLOCKS_PER_READ = 1024;
const BLOCKS_PER_FILE = 2 ** 32;
const RESERVE_BYTES = 1 << 20;
const RANDOM_BYTES_AT_ONCE = 1 << 16;

const OPEN_LIMIT_MS = 5_000;
const ANSWER_LIMIT_MS = 10_000;
const TRANSACTION_LIMIT_MS = 60_000;
const RETRY_PAUSES_MS = [0, 50, 250];

/** Throws what the browser throws if there is no IndexedDB. @internal */
export async function connectMirror(name: string): Promise<Mirror> {
  const connection = new Connection(name);
  try {
    const connected = connection.run("readonly", "relaxed", async ({ meta }) => {
      const state = await answerTo<State | undefined>(meta.get(STATE));
      const home = await answerTo<Home | undefined>(meta.get(HOME));
      return new Mirror(connection, state ?? EMPTY, home);
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
  return withConnection(name, async ({ aside }) => {
    const range = IDBKeyRange.bound([suffix, 0], [suffix, Number.POSITIVE_INFINITY]);
    const blocks = await answerTo<Block[]>(aside.getAll(range));
    if (blocks.length === 0) throw noSuchAside(asideName);
    return new Blob(blocks, { type: "application/octet-stream" });
  });
}

/** @internal */
export function listAsideInMirror(name: string): Promise<string[]> {
  return withConnection(name, async ({ aside }) => {
    const keys = await answerTo<IDBValidKey[]>(aside.getAllKeys());
    const suffixes = keys.map((key) => (key as [string, number])[0]);
    return [...new Set(suffixes)].map((suffix) => name + suffix);
  });
}

async function withConnection<T>(name: string, body: (stores: Stores) => Promise<T>): Promise<T> {
  const connection = new Connection(name);
  try {
    return await connection.run("readonly", "relaxed", body);
  } catch (error) {
    throw storageError("can't read", name, error);
  } finally {
    connection.close();
  }
}

/** What IndexedDB knows of a database. @internal */
export class Mirror {
  readonly name: string;
  /** Where it lives if not here, or whether it is here only because OPFS was refused. */
  readonly home: Home | undefined;
  readonly #connection: Connection;
  readonly #state: State;

  constructor(connection: Connection, state: State, home: Home | undefined) {
    this.name = connection.name;
    this.home = home;
    this.#connection = connection;
    this.#state = state;
  }

  get isEmpty(): boolean {
    return this.#state.sizes[0] === 0;
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
  token: string;
  files: MirrorFile[];
}

/** @internal */
export class IdbStorage implements BrowserStorage {
  readonly kind = "indexeddb";
  fallbackReason: string | undefined;
  readonly files: EngineFiles = new Map();
  readonly #connection: Connection;
  readonly #durability: Durability;
  #loaded: Loaded;
  #storing: Promise<void> | undefined;
  // What was changed while a transaction was under way, for all who wait for it.
  #next: Promise<void> | undefined;
  #failure: KeepsakeError | undefined;
  #commits = 0;
  #isFlushed = true;
  readonly #writer = Math.random().toString(36).slice(2);

  constructor(
    connection: Connection,
    loaded: Loaded,
    durability: Durability,
    fallbackReason: string | undefined,
  ) {
    this.#connection = connection;
    this.#loaded = loaded;
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
    if (!this.#loaded.files.some((file) => file.hasChanges)) return this.#next ?? this.#storing;
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
    let token: string;
    try {
      token = await this.#giveUp((stores, found) => moveBlocks(stores, found, aside));
    } catch (error) {
      throw storageError("can't set aside", this.#name, error);
    }
    this.#loaded = { token, files: SUFFIXES.map(() => new MirrorFile()) };
    this.#failure = undefined;
    this.#provideFiles();
    return this.#name + aside;
  }

  /** The database lives in OPFS from now on, and nothing of it here. This is to be closed. */
  async moveToOpfs(): Promise<void> {
    await this.#giveUp(({ meta, blocks }) => {
      blocks.clear();
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

  /** There are no files afterwards; `body` does something about their blocks. */
  async #giveUp(body: (stores: Stores, found: State) => void | Promise<void>): Promise<string> {
    const before = this.#loaded.token;
    const token = this.#nextToken();
    await this.#connection.run("readwrite", "strict", async (stores) => {
      const found = await answerTo<State | undefined>(stores.meta.get(STATE));
      if (found?.token === token) return; // by a connection that was lost then
      checkToken(this.#name, found, [before]);
      await body(stores, found ?? EMPTY);
      stores.meta.put({ ...EMPTY, token }, STATE);
    });
    return token;
  }

  #provideFiles(): void {
    for (const [i, file] of this.#loaded.files.entries()) {
      this.files.set(`${this.#name}${SUFFIXES[i]}`, file);
    }
  }

  #nextToken(): string {
    this.#commits++;
    return `${this.#writer}:${this.#commits}`;
  }

  #store(): Promise<void> {
    const isFirst = this.#commits === 0;
    const state = { token: this.#nextToken(), sizes: this.#loaded.files.map(sizeOf) };
    const changes = this.#loaded.files.map((file) => file.takeChanges());
    this.#storing = this.#put(state, changes).then(
      () => {
        this.#storing = undefined;
        this.#loaded.token = state.token;
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

  async #put(state: State, changes: readonly Changes[]): Promise<void> {
    const before = this.#loaded.token;
    await this.#connection.run("readwrite", this.#durability, async ({ meta, blocks }) => {
      const found = meta.get(STATE);
      meta.put(state, STATE);
      for (const [file, { changed, end }] of changes.entries()) {
        if (end !== undefined) blocks.delete(blockRange(file, end));
        for (const [index, block] of changed) blocks.put(block, blockKey(file, index));
      }
      // Asked first and looked at last, so that nothing waits for it.
      checkToken(this.#name, await answerTo<State | undefined>(found), [before, state.token]);
    });
  }
}

function sizeOf(file: MirrorFile): number {
  return file.getSize();
}

type Block = Uint8Array<ArrayBuffer>;

/** What has to be stored of a file. */
interface Changes {
  changed: [index: number, block: Block][];
  /** Blocks from here on are gone. */
  end: number | undefined;
}

class MirrorFile extends MemoryFile {
  readonly #changed = new Set<number>();
  #isCut = false;

  get hasChanges(): boolean {
    return this.#isCut || this.#changed.size > 0;
  }

  override write(from: Uint8Array, { at }: { at: number }): number {
    const begin = Math.min(at, this.getSize());
    const count = super.write(from, { at });
    this.#note(begin, at + count);
    return count;
  }

  override truncate(size: number): void {
    const before = this.getSize();
    super.truncate(size);
    if (size > before) this.#note(before, size);
    if (size < before) this.#cut();
  }

  takeChanges(): Changes {
    const end = this.#isCut ? blockCount(this.getSize()) : undefined;
    const changed: Changes["changed"] = [];
    for (const index of this.#changed) changed.push([index, this.#block(index)]);
    this.#changed.clear();
    this.#isCut = false;
    return { changed, end };
  }

  #note(begin: number, end: number): void {
    for (let i = Math.floor(begin / BLOCK_BYTES); i * BLOCK_BYTES < end; i++) this.#changed.add(i);
  }

  #cut(): void {
    this.#isCut = true;
    const count = blockCount(this.getSize());
    for (const index of this.#changed) if (index >= count) this.#changed.delete(index);
  }

  #block(index: number): Block {
    const at = index * BLOCK_BYTES;
    const block = new Uint8Array(Math.min(BLOCK_BYTES, this.getSize() - at));
    this.read(block, { at });
    return block;
  }
}

function blockCount(size: number): number {
  return Math.ceil(size / BLOCK_BYTES);
}

// ---- what is stored

interface Stores {
  meta: IDBObjectStore;
  blocks: IDBObjectStore;
  aside: IDBObjectStore;
}

async function readFiles({ meta, blocks }: Stores, name: string): Promise<Loaded> {
  const { token, sizes } = (await answerTo<State | undefined>(meta.get(STATE))) ?? EMPTY;
  const files: MirrorFile[] = [];
  for (const [i, size] of sizes.entries()) {
    const content = new Uint8Array(size);
    const found = await readBlocks(blocks, i, size, (block, index) => {
      const at = index * BLOCK_BYTES;
      content.set(block.subarray(0, size - at), at);
    });
    if (found !== blockCount(size)) throw blocksAreMissing(`${name}${SUFFIXES[i]}`);
    files.push(new MirrorFile(content));
  }
  return { token, files };
}

/** Answers how many there were. */
async function readBlocks(
  blocks: IDBObjectStore,
  file: number,
  size: number,
  receive: (block: Block, index: number) => void,
): Promise<number> {
  const count = blockCount(size);
  let found = 0;
  for (let first = 0; first < count; first += BLOCKS_PER_READ) {
    const range = blockRange(file, first, Math.min(first + BLOCKS_PER_READ, count));
    for (const block of await answerTo<Block[]>(blocks.getAll(range))) receive(block, found++);
  }
  return found;
}

function blockKey(file: number, index: number): number {
  return file * BLOCKS_PER_FILE + index;
}

function blockRange(file: number, begin: number, end = BLOCKS_PER_FILE): IDBKeyRange {
  return IDBKeyRange.bound(blockKey(file, begin), blockKey(file, end), false, true);
}

async function moveBlocks({ blocks, aside }: Stores, { sizes }: State, to: string): Promise<void> {
  for (const [file, size] of sizes.entries()) {
    await readBlocks(blocks, file, size, (block, index) => {
      const rest = block.subarray(0, size - index * BLOCK_BYTES);
      aside.put(rest.slice(), [to + SUFFIXES[file], index]);
    });
    blocks.delete(blockRange(file, 0));
  }
}

function checkToken(name: string, found: State | undefined, expected: string[]): void {
  if (expected.includes(found?.token ?? NO_TOKEN)) return;
  throw new KeepsakeError(
    "changed_outside",
    `the mirror of "${name}" in IndexedDB was changed or deleted by someone else`,
  );
}

function blocksAreMissing(file: string): KeepsakeError {
  return new KeepsakeError("corrupt", `IndexedDB lacks some of the blocks of "${file}"`);
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
   * for answerTo() only. Runs again if the connection was lost: it has to bear that.
   */
  run<T>(
    mode: IDBTransactionMode,
    durability: Durability,
    body: (stores: Stores) => T | Promise<T>,
  ): Promise<T> {
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

  async #run<T>(
    mode: IDBTransactionMode,
    durability: Durability,
    body: (stores: Stores) => T | Promise<T>,
  ): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await transact(await this.#database(), mode, durability, body);
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
  return error instanceof KeepsakeError || isQuotaError(error);
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

// WebKitGTK was seen to give no answer at all after workers had been ended while they wrote.
function inTime<T>(answer: Promise<T>, limit: number, late: () => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), limit);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
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
