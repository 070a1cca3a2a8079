// The connections of four libraries, as one.

import { invalid } from "../errors.js";
import type { SqlValue } from "../wasm/sql-values.js";

/**
 * An open connection of `node:sqlite` (`DatabaseSync`, Node 22.16 or later), `better-sqlite3`,
 * `libsql` or `bun:sqlite`.
 */
export interface SqliteConnection {
  // biome-ignore lint/suspicious/noExplicitAny: each library has types of its own.
  prepare(sql: string): any;
}

/** A connection of any of the libraries. @internal */
export interface Driver {
  run(sql: string, params?: readonly SqlValue[]): void;
  rows(sql: string, params?: readonly SqlValue[]): Iterable<readonly SqlValue[]>;
  /** Whether the application has begun a transaction, or we have. */
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
}

interface AnyConnection extends SqliteConnection {
  /** node:sqlite. */
  readonly isTransaction?: boolean;
  /** The others. */
  readonly inTransaction?: boolean;
}

// Statements with lists have a text for each length.
const MOST_STATEMENTS = 256;

/** Throws invalid_argument unless it is a connection of a library that is known. @internal */
export function driverOf(given: SqliteConnection): Driver {
  const connection = given as AnyConnection;
  if (typeof connection?.prepare !== "function" || !knowsTransactions(connection)) {
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
  return (
    typeof connection.isTransaction === "boolean" || typeof connection.inTransaction === "boolean"
  );
}
