// Both tiers of an agent's memory over one database.

import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { type AutomaticRetention, type CheckpointerStats, SqliteSaver } from "./checkpointer.js";
import { exportDatabase, importDatabase } from "./engine/backup.js";
import { Connection, type DatabaseOptions } from "./engine/connection.js";
import { attempt, KeepsakeError } from "./errors.js";
import { type ImportOptions, type ImportReport, importFile } from "./importer.js";
import { SqliteStore, type StoreOptions, type StoreStats } from "./store.js";

/** Options of both tiers, and of their database. */
export interface MemoryOptions extends StoreOptions, DatabaseOptions {
  /** Turns checkpoint values into bytes and back. @default LangGraph's JsonPlusSerializer */
  serde?: SerializerProtocol | undefined;
  /** Prunes the history of threads by itself. @default all history stays */
  retention?: AutomaticRetention | undefined;
}

/** How much both tiers hold. */
export interface MemoryStats {
  store: StoreStats;
  checkpointer: CheckpointerStats;
  /** Size of the database file. */
  bytes: number;
}

/**
 * `file`: survives the process; a power cut may cost the last moment.
 * `file-strict`: survives a power cut too. `none`: gone with the object.
 */
export type Persistence = "file" | "file-strict" | "none";

/** An open database with both tiers: give `store` and `checkpointer` to `compile()`. */
export class Memory {
  readonly store: SqliteStore;
  readonly checkpointer: SqliteSaver;
  readonly persistence: Persistence;
  readonly #connection: Connection;

  /** @internal */
  constructor(options: MemoryOptions, connection: Connection) {
    this.#connection = connection;
    this.store = new SqliteStore(options, connection);
    this.checkpointer = new SqliteSaver(options, connection);
    const isStrict = options.durability === "strict";
    this.persistence = options.path === ":memory:" ? "none" : isStrict ? "file-strict" : "file";
  }

  /**
   * Opens the database, and the store with its index and TTL.
   * @internal
   */
  async open(): Promise<void> {
    await this.#connection.call([{ kind: "size" }]);
    await this.store.stats();
  }

  /** Moves everything into the database file, and to the disk. */
  async flush(): Promise<void> {
    await attempt("Memory", () => this.#connection.call([{ kind: "flush" }]));
  }

  async stats(): Promise<MemoryStats> {
    return attempt("Memory", async () => {
      const [store, checkpointer, bytes] = await this.#connection.call([
        { kind: "storeStats" },
        { kind: "checkpointerStats" },
        { kind: "size" },
      ]);
      return { store, checkpointer, bytes };
    });
  }

  /** The whole database as the bytes of a SQLite file. */
  async export(): Promise<Uint8Array> {
    return attempt("Memory", () => exportDatabase(this.#connection));
  }

  /** Replaces everything by a database that `export()` made; all or nothing. */
  async import(database: Uint8Array): Promise<void> {
    await attempt("Memory", () => importDatabase(this.#connection, database));
  }

  /**
   * Adds what another program's SQLite file holds: LangGraph's SqliteSaver
   * (JavaScript or Python), Python's SqliteStore, a plain store_kv table.
   */
  async importFrom(path: string, options?: ImportOptions): Promise<ImportReport> {
    const { putImported: putItem } = this.store;
    return attempt("Memory", () =>
      importFile(this.#connection, path, { ...options, putItem, serde: this.checkpointer.serde }),
    );
  }

  /** Closes the store, the checkpointer and the database. Twice is fine. */
  async close(): Promise<void> {
    await this.store.close();
    await this.checkpointer.close();
    this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  toJSON(): string {
    return "[Memory]";
  }
}

/**
 * Opens or creates the database at `path`, and waits until it is there.
 *
 *     const memory = await openMemory({ path: "agent.db" });
 *     const graph = builder.compile({ store: memory.store, checkpointer: memory.checkpointer });
 */
export async function openMemory(options: MemoryOptions): Promise<Memory> {
  return attempt("openMemory", async () => {
    if (typeof options !== "object" || options === null) {
      throw new KeepsakeError("invalid_argument", "openMemory takes options with a path");
    }
    if (!("path" in options) && "name" in options) {
      throw new KeepsakeError("unsupported", "name is for browsers; here a database has a path");
    }
    const connection = Connection.toDatabase(options);
    const memory = new Memory(options, connection);
    try {
      await memory.open();
      return memory;
    } catch (error) {
      await memory.close();
      throw error;
    }
  });
}
