// What the lean engine asks of a host that has SQLite.

/** @internal */
export interface EngineHost {
  /**
   * Runs a statement with values in the layout of core/src/sql/host_database.h. Each row
   * goes to `take`, in the same layout, until it answers false; it copies the row.
   * Answers a status code. What `take` throws passes through. `params` is a view that
   * ends when `take` is called. Without `take` the statement answers no rows.
   */
  run(sql: string, params: Uint8Array, take?: (row: Uint8Array) => boolean): number;
  /**
   * Runs `body` in a transaction, or in a savepoint of the one that runs; rolls back
   * if it answers false or throws. Answers a status code, 0 also if `body` answered
   * false. What `body` throws passes through.
   */
  transaction(body: () => boolean): number;
  /** Whether every row costs money: then tables are made when they are needed. */
  readonly billsRows: boolean;
  /** Bytes that the database takes. */
  size(): number;
  /** Why the last call failed, in UTF-8. */
  readonly message: Uint8Array;
  /** Whether tables were found missing, which the engine made when it opened. */
  readonly isEmptied: boolean;
}

/** The hosts of an instance, by the number which is the path of their database. @internal */
export type EngineHosts = Map<number, EngineHost>;
