// The SQLite of a connection that the application has, as the lean engine asks for it. Our
// tables have names of their own there, and other processes may write to them at any time.

import { KeepsakeError, type KeepsakeErrorCode, messageOf } from "../errors.js";
import type { EngineHost } from "../wasm/engine-host.js";
import { decodeParams, RowEncoder } from "../wasm/sql-values.js";
import { STATUS_CODES, type StatusCode } from "../wire/status.js";
import type { Driver } from "./driver.js";

type Code = Exclude<StatusCode, "ok"> & KeepsakeErrorCode;

/** What the names of our tables begin with. */
const PREFIX = "keepsake_";

/** What the engine calls its tables and indexes; a test compares them to those of a file. @internal */
export const NAMES = [
  "answers",
  "audit_log",
  "audit_refusals",
  "checkpoints",
  "content",
  "erasures",
  "field_changes",
  "field_columns",
  "graph_chunks",
  "history_rules",
  "holds",
  "log_users",
  "log_users_ns",
  "meta",
  "store_kv",
  "store_kv_expiry",
  "store_kv_key",
  "store_vectors",
  "store_vectors_item",
  "store_versions",
  "store_versions_item",
  "text_changes",
  "text_pages",
  "thread_namespaces",
  "thread_namespaces_changed",
  "thread_namespaces_key",
  "thread_namespaces_newest",
  "transfer_changes",
  "transfer_pieces",
  "vector_chunks",
  "vector_pending",
  "version_vectors",
  "writes",
] as const;

// A text in quotes stays as it is.
const NAME = new RegExp(
  `'(?:[^']|'')*'|\\b(?:${NAMES.join("|")})\\b|\\bsqlite_(?:master|schema)\\b`,
  "g",
);
const OURS_IN_SCHEMA =
  `(SELECT type, substr(name, ${PREFIX.length + 1}) AS name FROM sqlite_master ` +
  `WHERE substr(name, 1, ${PREFIX.length}) = '${PREFIX}')`;

/** The statement for the names that our tables have beside the application's. @internal */
export function withPrefix(sql: string): string {
  return sql.replace(NAME, (name) => {
    if (name.startsWith("'")) return name;
    return name.startsWith("sqlite_") ? OURS_IN_SCHEMA : PREFIX + name;
  });
}

const CODES: Record<number, Code> = {
  5: "busy",
  6: "busy",
  8: "read_only",
  10: "io_error",
  11: "corrupt",
  13: "storage_full",
  18: "too_large",
  26: "not_a_database",
};
const CODE_NAMES: Record<string, Code> = {
  BUSY: "busy",
  LOCKED: "busy",
  READONLY: "read_only",
  IOERR: "io_error",
  CORRUPT: "corrupt",
  FULL: "storage_full",
  TOOBIG: "too_large",
  NOTADB: "not_a_database",
};

// Not a number: an import would bring one of the past.
const BUMP =
  "INSERT INTO keepsake_meta(name, value) VALUES('revision', hex(randomblob(8))) " +
  "ON CONFLICT(name) DO UPDATE SET value = excluded.value";
// Asks for the lock that a write needs.
const WRITE_NOTHING = "UPDATE keepsake_meta SET value = value WHERE 0";
const IS_OPEN_MEMORY =
  "SELECT 1 FROM sqlite_master WHERE name = 'thread_namespaces' AND type = 'table' " +
  "AND EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'store_kv') " +
  "AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'keepsake_meta')";
const OFFICIAL_CHECKPOINTS =
  "SELECT 1 WHERE 5 = (SELECT count(*) FROM pragma_table_info('checkpoints') " +
  "WHERE name IN ('thread_id', 'checkpoint_ns', 'checkpoint_id', 'checkpoint', 'metadata'))";
const OUR_CHECKPOINTS = "SELECT 1 FROM sqlite_master WHERE name = 'keepsake_checkpoints'";
// All but ours, which begin with keepsake_fields_ or transfer_.
const TRIGGERS =
  "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' " +
  `AND substr(tbl_name, 1, ${PREFIX.length}) = '${PREFIX}' COLLATE NOCASE ` +
  "AND name NOT GLOB 'keepsake_fields_*' AND name NOT GLOB 'transfer_*' LIMIT 1";
const REVISION = "SELECT value FROM keepsake_meta WHERE name = 'revision'";
const IS_READ = /^(SELECT|PRAGMA|WITH)\b/;
// No engine remembers what these change.
const KEPT_BY_NOBODY = /^(SELECT|PRAGMA|WITH|UPDATE store_kv SET expires_at)\b/;

// better-sqlite3 while rows are taken one by one.
const ITERATING = /busy executing a query/;
const FINISH_LOOP = "; end the loop over iterate() first, or take all rows at once by all()";
const HIDDEN =
  "the connection has a temporary table, view or trigger that hides or watches one of ours, which begin with keepsake_: drop it";
const UNDO =
  "; the application changed what this memory needs: one of its tables, which begin with keepsake_, what is on them, or a function of SQLite's. Undo that";
// What the engine answers by itself: it makes tables, reads those of others, and takes rows in.
const IS_FOR_CORE = /no such table|\bmeta\b| CREATE | INSERT OR REPLACE /i;
// SQLite says that a file is read-only when it is gone, too.
const FILE_IN_PLACE =
  "; the connection's file must be one to write to, and still be there: open it again if it was moved or deleted";
const REMEDIES: Partial<Record<Code, string>> = {
  busy: "; another connection writes: give yours a busy timeout (PRAGMA busy_timeout = 5000)",
  read_only: "; memoryOver() takes a connection that may write",
};

const MOST_TEXTS = 1000;
const encoder = new TextEncoder();
const rowEncoder = new RowEncoder();

/** @internal */
export class ConnectionHost implements EngineHost {
  readonly #driver: Driver;
  readonly #texts = new Map<string, string>();
  message = new Uint8Array(0);
  readonly isEmptied = false;
  readonly billsRows = false;
  #depth = 0;
  // Whether the request that runs wrote what an engine may remember.
  #wrote = false;
  // The request that runs: whether it waits for the lock of a writer, and whether it has it.
  #isWrite = false;
  #mayWrite: boolean | undefined;
  // When what the engine remembers was true.
  #dataVersion: unknown;
  #revision: unknown;
  #isKnown = false;
  // That whose triggers were looked at.
  #schemaVersion: unknown;
  // The schemas in which there are no tables of ours.
  #strangers = "";

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /**
   * Runs a request as one transaction, or within the application's. `body` hears whether the
   * engine must forget what it remembers. Throws a KeepsakeError if the transaction can't be
   * begun or ended, and then nothing was kept.
   *
   * A read takes no lock from others: what it would write (indexes, times to live) is `busy`
   * while another connection writes, and in a transaction of the application's. The engine then
   * goes without.
   */
  within<T>(isWrite: boolean, body: (hasChanged: boolean) => T): T {
    const isGuest = this.isGuest;
    const begin = isGuest ? "SAVEPOINT keepsake" : isWrite ? "BEGIN IMMEDIATE" : "BEGIN";
    this.#control(begin);
    try {
      this.#refuseOtherMemories();
      this.#wrote = false;
      this.#isWrite = isWrite;
      this.#mayWrite = isGuest ? (isWrite ? undefined : false) : isWrite || undefined;
      const result = body(this.#hasChanged());
      if (!this.#driver.isInTransaction) {
        this.#isKnown = false;
        return result;
      }
      if (this.#wrote) this.#driver.exec(BUMP);
      if (this.#wrote || !this.#isKnown) this.#know();
      this.#control(isGuest ? "RELEASE keepsake" : "COMMIT");
      // Nobody tells whether the application's transaction is kept.
      if (isGuest) this.#isKnown = false;
      return result;
    } catch (error) {
      this.#isKnown = false;
      this.#undo(isGuest);
      throw error instanceof KeepsakeError ? error : this.#errorOf(error);
    }
  }

  /** Whether calls are part of a transaction of the application's. */
  get isGuest(): boolean {
    try {
      return this.#driver.isInTransaction;
    } catch (error) {
      throw this.#errorOf(error);
    }
  }

  /** Throws unless the tables here are ours, or nobody's. REQUIRES: in a transaction. */
  refuseOpenMemory(): void {
    const [row] = this.#driver.rows(IS_OPEN_MEMORY);
    if (row === undefined) return;
    throw new KeepsakeError(
      "foreign_file",
      "the file is one of openMemory(), whose tables have other names: export() it there in " +
        "format portable, and import() that over a connection to a new file",
    );
  }

  /** Throws if the connection is one that may not write. REQUIRES: our tables are there. */
  refuseReader(): void {
    if (this.#mayWrite === false) return;
    try {
      this.#atOnce(() => this.#driver.exec(WRITE_NOTHING));
    } catch (error) {
      if (codeOf(error) !== "busy") throw this.#errorOf(error);
    }
  }

  /** Says that threads which LangGraph's own saver keeps in the file are not shown. */
  tellOfOfficialThreads(): void {
    if (!this.#hasRows(OFFICIAL_CHECKPOINTS, "checkpoints")) return;
    if (this.#hasRows(OUR_CHECKPOINTS, "keepsake_checkpoints")) return;
    console.warn(
      "[keepsake] memoryOver: the file has threads of LangGraph's SqliteSaver, which this memory " +
        "does not show: openMemory() a new file, importFrom() this one there, and import() its " +
        'export({ format: "portable" }) over the connection',
    );
  }

  #hasRows(isTable: string, table: string): boolean {
    const [found] = this.#driver.rows(isTable);
    if (found === undefined) return false;
    const [row] = this.#driver.rows(`SELECT 1 FROM ${table} LIMIT 1`);
    return row !== undefined;
  }

  /** How safe a write is, in the words of openMemory(). */
  get durability(): string {
    const [[synchronous] = []] = this.#driver.rows("PRAGMA synchronous");
    if (Number(synchronous) === 0) return "off";
    return Number(synchronous) === 1 ? "relaxed" : "strict";
  }

  run(sql: string, params: Uint8Array, take?: (row: Uint8Array) => boolean): number {
    let rows: Iterable<readonly unknown[]>;
    try {
      const values = decodeParams(params);
      if (!IS_READ.test(sql) && !this.#hasLock()) return this.#answerBusy();
      if (take === undefined) {
        this.#driver.run(this.#textOf(sql), values);
        this.#note(sql);
        return 0;
      }
      rows = this.#driver.rows(this.#textOf(sql), values);
      this.#note(sql);
    } catch (error) {
      return this.#failWith(error, sql);
    }
    for (const row of rows) {
      let bytes: Uint8Array;
      try {
        bytes = rowEncoder.encode(row as Parameters<RowEncoder["encode"]>[0]);
      } catch (error) {
        return this.#failWith(error);
      }
      if (!take(bytes)) return 0;
    }
    return 0;
  }

  transaction(body: () => boolean): number {
    const savepoint = `keepsake_${++this.#depth}`;
    try {
      try {
        this.#driver.exec(`SAVEPOINT ${savepoint}`);
      } catch (error) {
        return this.#failWith(error);
      }
      let isKept = false;
      try {
        isKept = body();
      } finally {
        // A trigger of the application's may have rolled back all of it.
        if (this.#driver.isInTransaction) {
          if (!isKept) this.#driver.exec(`ROLLBACK TO ${savepoint}`);
          this.#driver.exec(`RELEASE ${savepoint}`);
        }
      }
      return 0;
    } finally {
      this.#depth--;
    }
  }

  size(): number {
    const [[pages] = [0]] = this.#driver.rows("PRAGMA page_count");
    const [[bytes] = [0]] = this.#driver.rows("PRAGMA page_size");
    return Number(pages) * Number(bytes);
  }

  // A table that main has not would be looked for there.
  #refuseOtherMemories(): void {
    const schemas = this.#driver.rows("PRAGMA database_list");
    const others = [...schemas].map(([, name]) => String(name)).filter((name) => name !== "main");
    // What is temporary comes at any time, and hides what is in main.
    if (others.join() === this.#strangers && !others.includes("temp")) return;
    for (const name of others) {
      const [found] = this.#driver.rows(ofUs(name));
      if (found === undefined) continue;
      if (name === "temp") throw new KeepsakeError("invalid_operation", HIDDEN);
      throw new KeepsakeError(
        "invalid_operation",
        `the database "${name}" of the connection has tables of a memory: DETACH it, and give memoryOver() a connection of its own to it`,
      );
    }
    this.#strangers = others.join();
  }

  // A trigger may leave out or undo a write that was answered. Statements that make one, and all
  // others that change the schema, change its version.
  #refuseTriggers(): void {
    const [[version] = []] = this.#driver.rows("PRAGMA schema_version");
    if (this.#isKnown && version === this.#schemaVersion) return;
    const [found] = this.#driver.rows(TRIGGERS);
    if (found === undefined) {
      this.#schemaVersion = version;
      return;
    }
    throw new KeepsakeError(
      "invalid_operation",
      `the trigger "${found[0]}" is on ${found[1]}, and may undo what was answered: drop it, and hear of changes by onChange()`,
    );
  }

  // By a statement that may fail without harm. Only a write waits for it.
  #hasLock(): boolean {
    if (this.#mayWrite !== undefined) return this.#mayWrite;
    if (this.#isWrite) {
      if (this.#isKnown) this.#driver.exec(WRITE_NOTHING);
      this.#mayWrite = true;
      return true;
    }
    try {
      this.#atOnce(() => this.#driver.exec(WRITE_NOTHING));
      this.#mayWrite = true;
    } catch {
      this.#mayWrite = false;
    }
    return this.#mayWrite;
  }

  // Without waiting for others, as the connection may be told to.
  #atOnce(body: () => void): void {
    const [[timeout] = [0]] = this.#driver.rows("PRAGMA busy_timeout");
    this.#driver.exec("PRAGMA busy_timeout = 0");
    try {
      body();
    } finally {
      this.#driver.exec(`PRAGMA busy_timeout = ${Number(timeout)}`);
    }
  }

  #answerBusy(): number {
    this.message = encoder.encode("another connection writes, or may want to");
    return STATUS_CODES.indexOf("busy");
  }

  #note(sql: string): void {
    this.#wrote ||= !KEPT_BY_NOBODY.test(sql);
  }

  // Whether another connection wrote what the engine may remember. REQUIRES: in a transaction.
  #hasChanged(): boolean {
    this.#refuseTriggers();
    if (!this.#isKnown) return true;
    const [[version] = []] = this.#driver.rows("PRAGMA data_version");
    if (version === this.#dataVersion) return false;
    // It may have written to the application's tables only.
    // An engine that is opened anew knows what is there now, also if it then only reads.
    this.#isKnown = this.#readRevision() === this.#revision;
    this.#dataVersion = version;
    return !this.#isKnown;
  }

  // What the engine remembers from now on is of now. REQUIRES: in a transaction.
  #know(): void {
    const [[version] = []] = this.#driver.rows("PRAGMA data_version");
    this.#dataVersion = version;
    this.#revision = this.#readRevision();
    this.#isKnown = true;
  }

  #readRevision(): unknown {
    const [[revision] = []] = this.#driver.rows(REVISION);
    return revision;
  }

  #control(sql: string): void {
    try {
      this.#driver.exec(sql);
    } catch (error) {
      throw this.#errorOf(error);
    }
  }

  #undo(isGuest: boolean): void {
    try {
      if (isGuest) this.#driver.exec("ROLLBACK TO keepsake; RELEASE keepsake");
      else if (this.#driver.isInTransaction) this.#driver.exec("ROLLBACK");
    } catch {
      // SQLite may have rolled back by itself, as it does on a full disk.
    }
  }

  #textOf(sql: string): string {
    let text = this.#texts.get(sql);
    if (text === undefined) {
      text = withPrefix(sql);
      if (this.#texts.size >= MOST_TEXTS) this.#texts.clear();
      this.#texts.set(sql, text);
    }
    return text;
  }

  #errorOf(error: unknown): KeepsakeError {
    const code = codeOf(error);
    const isIterating = ITERATING.test(messageOf(error));
    const remedy = isIterating ? FINISH_LOOP : (REMEDIES[code] ?? "");
    const rule = `the connection failed: ${messageOf(error)}`;
    const isOfOurs = code === "internal" && messageOf(error).includes(PREFIX);
    return isOfOurs
      ? new KeepsakeError("changed_outside", `${rule}${UNDO}`, { cause: error })
      : new KeepsakeError(code, `${rule}${remedy}`, { cause: error });
  }

  #failWith(error: unknown, sql = ""): number {
    const message = messageOf(error).replaceAll(PREFIX, "");
    // Somebody dropped our tables.
    if (message.includes("no such table: meta")) this.#isKnown = false;
    // Some libraries put words of their own before SQLite's.
    const missing = message.indexOf("no such table: ");
    const code = codeOf(error);
    if (code === "internal" && !IS_FOR_CORE.test(`${message} ${sql}`)) {
      this.message = encoder.encode(`the connection failed: ${message}${UNDO}`);
      return STATUS_CODES.indexOf("changed_outside");
    }
    const rule = code === "read_only" ? FILE_IN_PLACE : "";
    this.message = encoder.encode((missing < 0 ? message : message.slice(missing)) + rule);
    return STATUS_CODES.indexOf(code);
  }
}

function ofUs(schema: string): string {
  const quoted = `"${schema.replaceAll('"', '""')}"`;
  const isOurs = `substr(name, 1, ${PREFIX.length}) = '${PREFIX}' OR substr(tbl_name, 1, ${PREFIX.length}) = '${PREFIX}'`;
  return `SELECT 1 FROM ${quoted}.sqlite_master WHERE ${isOurs} LIMIT 1`;
}

function codeOf(error: unknown): Code {
  if (ITERATING.test(messageOf(error))) return "busy";
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (typeof errcode === "number") return CODES[errcode & 0xff] ?? "internal";
  const name = /SQLITE_([A-Z]+)/.exec(`${String(code)} ${messageOf(error)}`)?.[1] ?? "";
  if (name !== "" && name in CODE_NAMES) return CODE_NAMES[name] as Code;
  return /not open|closed/i.test(messageOf(error)) ? "closed" : "internal";
}
