// The SQLite of a Durable Object, as the lean engine asks for it.

import { messageOf } from "../errors.js";
import type { EngineHost } from "../wasm/engine-host.js";
import { decodeParams, RowEncoder, type SqlValue } from "../wasm/sql-values.js";
import { STATUS_CODES } from "../wire/status.js";

/** A Durable Object's `ctx.storage`: as much of it as keepsake uses. */
export interface ObjectStorage {
  sql: {
    /** Has read the values that are bound when a statement without rows returns. */
    // biome-ignore lint/suspicious/noExplicitAny: what Cloudflare's own types take and answer.
    exec(query: string, ...bindings: any[]): { raw(): Iterable<any[]> };
    readonly databaseSize: number;
  };
  transactionSync<T>(body: () => T): T;
}

type Code = (typeof STATUS_CODES)[number];

/** What a Durable Object documents as the most that a row may take. */
const MAX_ROW_BYTES = 2 * 1024 * 1024;

const CODES: Record<string, Code> = {
  TOOBIG: "too_large",
  FULL: "storage_full",
  READONLY: "read_only",
  CORRUPT: "corrupt",
  NOTADB: "not_a_database",
  IOERR: "io_error",
  BUSY: "busy",
  LOCKED: "busy",
};

const encoder = new TextEncoder();

const ROLLBACK = new Error("rolled back on purpose");

// Its buffer is free again as soon as a row was taken, also for statements within.
const rowEncoder = new RowEncoder();

/** @internal */
export class SqlHost implements EngineHost {
  readonly #storage: ObjectStorage;
  message = new Uint8Array(0);
  readonly billsRows = true;
  // By deleteAll(), or with a transaction of the caller's that was rolled back.
  isEmptied = false;

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
  }

  run(sql: string, params: Uint8Array, take?: (row: Uint8Array) => boolean): number {
    if (params.length > MAX_ROW_BYTES) {
      return this.#fail(
        "too_large",
        `a row takes at most 2 MB in a Durable Object: ${params.length} bytes`,
      );
    }
    let rows: Iterator<SqlValue[]>;
    try {
      // Without rows all is done when exec() returns; else the cursor may still ask for them.
      const values = decodeParams(params, take === undefined);
      const cursor = this.#storage.sql.exec(sql, ...values);
      // It has run, and looking at what it answers takes as long again.
      if (take === undefined) return 0;
      rows = cursor.raw()[Symbol.iterator]();
    } catch (error) {
      return this.#failWith(error);
    }
    for (;;) {
      let row: Uint8Array;
      try {
        const { done, value } = rows.next();
        if (done) return 0;
        row = rowEncoder.encode(value);
      } catch (error) {
        return this.#failWith(error);
      }
      if (!take(row)) return 0;
    }
  }

  transaction(body: () => boolean): number {
    let trap: { error: unknown } | undefined;
    try {
      // It commits whatever does not throw, also what a promise has not done yet:
      // `body` is synchronous.
      this.#storage.transactionSync(() => {
        try {
          if (body() === true) return;
        } catch (error) {
          trap = { error };
        }
        throw ROLLBACK;
      });
    } catch (error) {
      if (trap !== undefined) throw trap.error;
      if (error !== ROLLBACK) return this.#failWith(error);
    }
    return 0;
  }

  size(): number {
    return this.#storage.sql.databaseSize;
  }

  #failWith(error: unknown): number {
    const message = messageOf(error);
    const name = /SQLITE_([A-Z]+)/.exec(message)?.[1] ?? "";
    // Every other table is made when a statement misses it.
    if (message.startsWith("no such table: meta")) this.isEmptied = true;
    return this.#fail(CODES[name] ?? "internal", message);
  }

  #fail(code: Code, message: string): number {
    this.message = encoder.encode(message);
    return STATUS_CODES.indexOf(code);
  }
}
