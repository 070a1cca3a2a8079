// IndexedDB with promises: the transactions of one database.

import { KeepsakeError } from "../errors.js";
import { inTime } from "./in-time.js";
import { closedError, isQuotaError } from "./storage-error.js";

/** @internal */
export type Durability = "relaxed" | "strict";

/** mirror-reader.ts says what is in them. @internal */
export interface Stores {
  meta: IDBObjectStore;
  blocks: IDBObjectStore;
  records: IDBObjectStore;
  aside: IDBObjectStore;
}

/** @internal */
export type Body<T> = (stores: Stores, database: IDBDatabase) => T | Promise<T>;

const STORES = ["meta", "blocks", "records", "aside"] as const satisfies (keyof Stores)[];
const VERSION = 1;

// WebKitGTK was seen to give no answer at all after workers had been ended while they wrote.
const OPEN_LIMIT_MS = 5_000;
const TRANSACTION_LIMIT_MS = 60_000;
const RETRY_PAUSES_MS = [0, 50, 250];

/** Opens by itself, and again if the browser closed it, as iOS does in the background. @internal */
export class Connection {
  readonly name: string;
  #opened: IDBDatabase | undefined;
  #wasOpened = false;
  #isClosed = false;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(name: string) {
    this.name = name;
  }

  /**
   * Resolves with what `body` answered when the transaction is complete. `body` may wait for
   * answerTo() only, and is called again if the connection was lost. It is given the connection.
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
    // Somebody is deleting it, and would wait for us.
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

/** A record of that key was there. @internal */
export function isConstraintError(error: unknown): boolean {
  return error instanceof DOMException && error.name === "ConstraintError";
}

function isFinal(error: unknown): boolean {
  return error instanceof KeepsakeError || isQuotaError(error) || isConstraintError(error);
}

function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(`keepsake/${name}`, VERSION);
  request.onupgradeneeded = () => {
    for (const store of STORES) request.result.createObjectStore(store);
  };
  return inTime(
    answerTo<IDBDatabase>(request),
    OPEN_LIMIT_MS,
    () => tooSlow(name, OPEN_LIMIT_MS),
    (database) => database.close(),
  );
}

/** @internal */
export function tooSlow(name: string, limit: number): KeepsakeError {
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
  completion.catch(() => {});
  try {
    const answer = await body({
      meta: transaction.objectStore("meta"),
      blocks: transaction.objectStore("blocks"),
      records: transaction.objectStore("records"),
      aside: transaction.objectStore("aside"),
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

/** @internal */
export function answerTo<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
