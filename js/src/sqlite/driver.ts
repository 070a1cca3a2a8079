// The connections of four libraries, as one.

import { readInput } from "../checks.js";
import { invalid } from "../errors.js";
import type { SqlValue } from "../wasm/sql-values.js";

/**
 * An open connection of `node:sqlite` (`DatabaseSync`, Node 22.16 or later), `better-sqlite3`,
 * `libsql` or `bun:sqlite`.
 */
export interface SqliteConnection {
  // biome-ignore lint/suspicious/noExplicitAny: each library has types of its own.
  prepare(sql: string): any;
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  exec(sql: string): any;
}

/** A connection of any of the libraries. @internal */
export interface Driver {
  /** Leaves no statement behind, which libsql would not let go of if it failed. */
  exec(sql: string): void;
  run(sql: string, params?: readonly SqlValue[]): void;
  rows(sql: string, params?: readonly SqlValue[]): Iterable<readonly SqlValue[]>;
  /** Whether the application has begun a transaction, or we have. Throws if it is closed. */
  readonly isInTransaction: boolean;
}

/** What the libraries' statements have of this. */
interface Statement {
  run(...params: readonly unknown[]): unknown;
  all(...params: readonly unknown[]): unknown[];
  /** better-sqlite3 and libsql: rows as arrays; whether it answers rows. */
  raw?(isRaw: boolean): Statement;
  readonly reader?: boolean;
  /** node:sqlite: rows as arrays. */
  setReturnArrays?(isArray: boolean): void;
  /** bun:sqlite: rows as arrays. */
  values?(...params: readonly unknown[]): unknown[][];
  /** Whether integers are BigInts: better-sqlite3, libsql, bun:sqlite; node:sqlite. */
  safeIntegers?(areBig: boolean): unknown;
  setReadBigInts?(areBig: boolean): void;
}

interface AnyConnection extends SqliteConnection {
  /** node:sqlite. */
  readonly isTransaction?: boolean;
  /** The others. */
  readonly inTransaction?: boolean;
  /** better-sqlite3 and libsql. */
  readonly open?: boolean;
}

// Statements with lists have a text for each length.
const MOST_STATEMENTS = 256;

/** Throws invalid_argument unless it is a connection of a library that is known. @internal */
export function driverOf(given: SqliteConnection): Driver {
  const connection = given as AnyConnection;
  const isConnection = readInput(
    "a connection",
    () =>
      typeof connection?.prepare === "function" &&
      typeof connection.exec === "function" &&
      knowsTransactions(connection),
  );
  if (!isConnection) {
    throw invalid(
      "memoryOver takes an open connection of node:sqlite (Node 22.16 or later), " +
        "better-sqlite3, libsql or bun:sqlite; a path goes to openMemory({ path })",
    );
  }
  const statements = new Map<string, Statement>();
  const prepared = (sql: string): Statement => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = connection.prepare(sql) as Statement;
      statement.setReturnArrays?.(true);
      statement.safeIntegers?.(false);
      statement.setReadBigInts?.(false);
      // In bun:sqlite raw() is another one.
      if (statement.values === undefined && statement.reader) statement.raw?.(true);
      if (statements.size >= MOST_STATEMENTS) {
        statements.delete(statements.keys().next().value as string);
      }
      statements.set(sql, statement);
    }
    return statement;
  };
  return {
    exec: (sql) => void connection.exec(sql),
    run(sql, params = []) {
      const statement = prepared(sql);
      if (statement.reader) rowsOf(statement, params);
      else statement.run(...argumentsOf(statement, params));
    },
    // Not one by one: a connection that answers rows takes no other statement.
    rows(sql, params = []) {
      const statement = prepared(sql);
      if (statement.reader !== false) return rowsOf(statement, params);
      statement.run(...argumentsOf(statement, params));
      return [];
    },
    get isInTransaction() {
      // libsql's own property aborts the process then.
      if (connection.open === false) throw new Error("the connection is closed");
      return connection.isTransaction ?? connection.inTransaction ?? false;
    },
  };
}

function rowsOf(statement: Statement, params: readonly SqlValue[]): SqlValue[][] {
  const args = argumentsOf(statement, params);
  return (statement.values?.(...args) ?? statement.all(...args)) as SqlValue[][];
}

// bun:sqlite takes a first value that is an object for the names of values.
function argumentsOf(statement: Statement, params: readonly SqlValue[]): readonly unknown[] {
  return statement.values === undefined ? params : [params];
}

function knowsTransactions(connection: AnyConnection): boolean {
  if (connection.open === false) return true;
  return (
    typeof connection.isTransaction === "boolean" || typeof connection.inTransaction === "boolean"
  );
}
