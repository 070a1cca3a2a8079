// A Durable Object's SQL storage as a bucket: with `serveBucket()` the object is a relay.

import { checkOptions, type NamesOf, show } from "../../checks.js";
import { invalid } from "../../errors.js";
import { Bucket } from "../bucket.js";
import type { ByteRange, ListRange } from "../port.js";
import { joined } from "./parts.js";

/** What is needed of `ctx.storage` in an object that is kept in SQLite. */
export interface DurableStorage {
  readonly sql: {
    exec(query: string, ...bindings: unknown[]): { toArray(): Record<string, unknown>[] };
  };
  transactionSync<T>(body: () => T): T;
}

/** How the storage is used. */
export interface DurableBucketOptions {
  /** A folder that all is below, such as `agents/ada`. @default none */
  prefix?: string | undefined;
}

const DURABLE_OPTIONS: NamesOf<DurableBucketOptions> = { prefix: 1 };

// A row has 2 MB at most. Persistent: where a piece begins is found by it.
const PIECE = 1_900_000;
// Without a second row, which would be billed, too.
const SCHEMA = `CREATE TABLE IF NOT EXISTS bucket_objects (
  key TEXT NOT NULL, piece INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (key, piece)
) STRICT, WITHOUT ROWID`;
// Behind all signs of keys.
const LAST = "\u{10ffff}";

/**
 * A bucket in the rows of a Durable Object, in a table of its own: `durableBucket(ctx.storage)`. An
 * object has 10 GB at most.
 */
export function durableBucket(storage: DurableStorage, options?: DurableBucketOptions): Bucket {
  const { prefix } = checkOptions("durableBucket", DURABLE_OPTIONS, options);
  if (typeof storage?.sql?.exec !== "function" || typeof storage.transactionSync !== "function") {
    throw invalid(
      `durableBucket takes ctx.storage of a Durable Object that is kept in SQLite (new_sqlite_classes): ${show(storage)}`,
    );
  }
  return new Bucket(new RowsPort(storage), "the Durable Object's rows", prefix);
}

class RowsPort {
  readonly #storage: DurableStorage;
  #isMade = false;

  constructor(storage: DurableStorage) {
    this.#storage = storage;
  }

  async get(key: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    if (range === undefined) {
      const whole = this.#rows(
        "SELECT bytes FROM bucket_objects WHERE key = ? ORDER BY piece",
        key,
      );
      return whole.length === 0 ? undefined : joined(partsIn(whole));
    }
    const [first, last] = [range.from, Math.max(range.to - 1, range.from)].map((at) =>
      Math.floor(at / PIECE),
    ) as [number, number];
    const rows = this.#rows(
      "SELECT bytes FROM bucket_objects WHERE key = ? AND piece BETWEEN ? AND ? ORDER BY piece",
      key,
      first,
      last,
    );
    if (rows.length === 0) return this.#has(key) ? new Uint8Array() : undefined;
    const before = first * PIECE;
    return joined(partsIn(rows)).subarray(range.from - before, range.to - before);
  }

  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    this.#make();
    return this.#storage.transactionSync(() => {
      if (this.#has(key)) return false;
      for (let piece = 0; piece === 0 || piece * PIECE < bytes.length; piece++) {
        const part = bytes.slice(piece * PIECE, (piece + 1) * PIECE).buffer;
        this.#rows(
          "INSERT INTO bucket_objects (key, piece, bytes) VALUES (?, ?, ?)",
          key,
          piece,
          part,
        );
      }
      return true;
    });
  }

  async list(prefix: string, { after, limit }: ListRange = {}): Promise<string[]> {
    const rows = this.#rows(
      `SELECT key FROM bucket_objects WHERE key >= ? AND key < ? AND key > ? AND piece = 0
       ORDER BY key LIMIT ?`,
      prefix,
      prefix + LAST,
      after ?? "",
      limit ?? -1,
    );
    return rows.map(({ key }) => key as string);
  }

  async delete(key: string): Promise<void> {
    this.#rows("DELETE FROM bucket_objects WHERE key = ?", key);
  }

  #has(key: string): boolean {
    return this.#rows("SELECT 1 FROM bucket_objects WHERE key = ? AND piece = 0", key).length > 0;
  }

  #rows(query: string, ...bindings: unknown[]): Record<string, unknown>[] {
    this.#make();
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }

  // Not when the bucket is made, which may be in the constructor of an object that is never asked.
  #make(): void {
    if (this.#isMade) return;
    this.#storage.sql.exec(SCHEMA);
    this.#isMade = true;
  }
}

function partsIn(rows: Record<string, unknown>[]): Uint8Array[] {
  return rows.map(({ bytes }) => new Uint8Array(bytes as ArrayBuffer));
}
