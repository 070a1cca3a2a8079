// Both tiers of an agent's memory over one database.

import type { BaseCheckpointSaver, SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { openFiles } from "#host";
import { importFile, salvageFile } from "#importer";
import { KeepsakeCache } from "./cache/cache.js";
import {
  type AutomaticRetention,
  type CheckpointerStats,
  SqliteSaver,
} from "./checkpointer/checkpointer.js";
import { checkEach, checkOptions, checkTime, checkWhole, type NamesOf, show } from "./checks.js";
import { Connection, checkDatabaseOptions, DATABASE_OPTIONS } from "./connection.js";
import type { ChangeListener } from "./engine/changes.js";
import type { Engine, Persistence } from "./engine/engine.js";
import { type MemoryBucket, SYNCED } from "./engine/in-bucket.js";
import { checkKey, type Key } from "./engine/keys.js";
import type { DatabaseOptions, LogOptions, SyncOptions } from "./engine/options.js";
import type { MemorySync, SyncStatus } from "./engine/synced-memory.js";
import {
  type DamagedDatabase,
  invalid,
  KeepsakeError,
  nameError,
  orUndefined,
  withNamedErrors,
} from "./errors.js";
import {
  checkImportOptions,
  type ImportOptions,
  type ImportReport,
  type ImportSource,
} from "./import/options.js";
import { ACCESS_OPTIONS, type AccessOptions, observersOf } from "./scope/access.js";
import {
  type AuditEntry,
  type AuditLogOptions,
  type AuditRule,
  auditLog,
  auditRule,
  dropAudit,
  type KeepAuditOptions,
  keepAudit,
} from "./scope/audit.js";
import {
  checkReceipt,
  type ErasureCheck,
  type ErasureReceipt,
  type ForgetOptions,
  forget,
  type Hold,
  hold,
  holds,
  type RevokeOptions,
  release,
  revoke,
} from "./scope/erasure.js";
import { type EvictionReport, type EvictOptions, evict } from "./scope/eviction.js";
import { type Moment, momentOf } from "./scope/history.js";
import { refuseMisplaced } from "./scope/misplaced.js";
import { MemoryProvider } from "./scope/provider.js";
import type { ScopeName, ScopeOptions } from "./scope/scope.js";
import { ScopedMemory, type ScopedTierOptions } from "./scope/scoped-memory.js";
import { type CheckpointerForOptions, ScopedSaver } from "./scope/scoped-saver.js";
import { configurationOf, STORE_OPTIONS, type StoreOptions } from "./store/options.js";
import type { PastStore } from "./store/past-store.js";
import { SqliteStore } from "./store/store.js";
import { checkDatabase } from "./transfer/check.js";
import type {
  CheckOptions,
  CheckReport,
  DatabaseBytes,
  DatabaseImportOptions,
  ExportOptions,
} from "./transfer/options.js";
import { discardImport, unfinishedImport } from "./transfer/portable.js";
import { exportDatabase, exportStream, importDatabase } from "./transfer/transfer.js";
import type { SalvageReport, StoreStats } from "./wire/layout.js";

/** Options of both tiers. */
export interface TierOptions extends StoreOptions {
  /** Turns values of checkpoints and of the cache into bytes and back. @default LangGraph's JsonPlusSerializer */
  serde?: SerializerProtocol | undefined;
  /** Prunes the history of threads by itself. @default all history stays */
  retention?: AutomaticRetention | undefined;
}

/** Options of both tiers, and of their database. */
export interface MemoryOptions extends TierOptions, DatabaseOptions, AccessOptions {
  /**
   * An object store in which the memory `name` lives, for functions and processes that have no
   * disk: see `keepsake/bucket`.
   */
  bucket?: MemoryBucket | undefined;
  /** How the log in the bucket is kept. */
  log?: LogOptions | undefined;
  /**
   * Syncs this memory with a bucket, and so with all devices that do the same. Calls are answered
   * here, also offline.
   */
  sync?: SyncOptions | undefined;
}

/** @internal */
export const TIER_OPTIONS: NamesOf<TierOptions> = { ...STORE_OPTIONS, serde: 1, retention: 1 };
const MEMORY_OPTIONS: NamesOf<MemoryOptions> = {
  ...DATABASE_OPTIONS,
  ...TIER_OPTIONS,
  ...ACCESS_OPTIONS,
  bucket: 1,
  log: 1,
  sync: 1,
};

/** How a damaged file is read. */
export interface SalvageOptions {
  /** Of an encrypted one. What is salvaged is encrypted with it, too, unless `into` says otherwise. */
  key?: Key | undefined;
}

/** What a memory is to become again. You give one of the two. */
export interface RestoreOptions {
  /** A time, by the clocks of those who wrote. */
  at?: Date | number | string | undefined;
  /** The number of the last record of the log that counts, as `readLog()` lists them; 0 for none. */
  record?: number | undefined;
}

/** Options of the new memory that takes what is salvaged. */
export interface SalvageTarget extends Omit<MemoryOptions, "key" | "bucket" | "log" | "sync"> {
  /** Encrypts it; `null` for a plain file. @default the key of what is salvaged */
  key?: Key | null | undefined;
}

const SALVAGE_OPTIONS: NamesOf<SalvageOptions> = { key: 1 };
// What is salvaged goes into a file, or a place of its host.
const { bucket: _, log: __, sync: ___, ...SALVAGE_TARGET } = MEMORY_OPTIONS;

/** How much both tiers hold. */
export interface MemoryStats {
  store: StoreStats;
  checkpointer: CheckpointerStats;
  /** Size of the database file. */
  bytes: number;
  /** In browsers: what this origin uses of what it may, in bytes. */
  quota?: { usage: number; quota: number } | undefined;
  /** In browsers: whether the origin's storage is safe from being cleared when space is short. */
  persisted?: boolean | undefined;
}

/** What keeps a memory, and how: for people who look for the reason of something. */
export interface Diagnosis {
  /** `memory` is gone with the object, or with the last tab. */
  persistence: Persistence;
  durability: string;
  /** The path or name of the database. */
  database: string;
  bytes: number;
  [detail: string]: unknown;
}

/** An open database: give `store`, `checkpointer` and `cache` to `compile()`. */
export class Memory {
  /** As it is printed, however a bundler calls the class. @internal */
  static readonly name: string = "Memory";

  readonly store: SqliteStore;
  readonly checkpointer: SqliteSaver;
  /** What nodes with a `cachePolicy` answered: for `compile({ cache })`. */
  readonly cache: KeepsakeCache;
  #options: MemoryOptions;
  // The same object for all scopes, by which their stores know each other.
  readonly #scopedOptions: ScopedTierOptions;
  readonly #connection: Connection;
  #persistence: Persistence;
  #syncing: MemorySync | undefined;

  static {
    refuseMisplaced(Memory, "Memory");
  }

  /** @internal */
  constructor(options: MemoryOptions, connection: Connection, persistence: Persistence = "memory") {
    this.#options = options;
    this.#connection = connection;
    this.#persistence = persistence;
    this.store = new SqliteStore(options, connection);
    this.checkpointer = new SqliteSaver(options, connection);
    this.cache = new KeepsakeCache(connection, options.serde, options.now ?? Date.now);
    this.#scopedOptions = scopedOptionsOf(options, this.checkpointer);
  }

  /**
   * Opens the database, and the store with its index and TTL.
   * @internal
   */
  async open(): Promise<void> {
    this.#persistence = (await this.#connection.status()).persistence;
    await this.store.open();
    if (this.#options.sync !== undefined) await this.#startSyncing(this.#options.sync);
  }

  async #startSyncing({ bucket, ...sync }: SyncOptions): Promise<void> {
    const { path, name, key } = this.#options;
    const connection = this.#connection;
    const syncing = bucket[SYNCED](
      { name, key, ...sync },
      {
        calls: connection,
        openFiles,
        index: configurationOf(this.#options)?.index,
        database: String(name ?? path),
        copyInto: (engine) => copyInto(engine, connection, key),
      },
    );
    await syncing.start();
    this.#syncing = syncing;
    connection.elsewhere.remains = () => syncing.remains();
  }

  /**
   * Resolves when all that was written here before is in the bucket, and all that is there is here.
   * A memory that syncs does this by itself, too: call it to wait for it, or to hear why it fails.
   */
  async sync(): Promise<void> {
    await withNamedErrors("Memory", () => this.#synced("sync").sync());
  }

  /** What waits to be synced and since when, what failed, and what was set aside. */
  async syncStatus(): Promise<SyncStatus> {
    return withNamedErrors("Memory", () => this.#synced("syncStatus").status());
  }

  /** Drops writes that `syncStatus()` lists as set aside, by their ids. */
  async dropSetAside(ids: number[]): Promise<void> {
    await withNamedErrors("Memory", () => {
      const checked = checkEach("ids", ids, (id, i) => checkWhole(`ids[${i}]`, id, 1, MOST_ID));
      return this.#synced("dropSetAside").dropSetAside(checked);
    });
  }

  #synced(method: string): MemorySync {
    if (this.#syncing !== undefined) return this.#syncing;
    throw new KeepsakeError(
      "unsupported",
      `${method}() is of a memory that syncs: openMemory({ path, or name in browsers, sync: { bucket } })`,
    );
  }

  /**
   * The memory becomes what it was at a time, or after a record of the log, everywhere. What was
   * written since stays in the log, so that a later time can be restored, too. For a memory in a
   * bucket, or one that syncs.
   */
  async restore(options: RestoreOptions): Promise<void> {
    await withNamedErrors("Memory", () => {
      const { at, record } = checkOptions("restore", { at: 1, record: 1 }, options);
      if ((at === undefined) === (record === undefined)) {
        throw invalid("restore takes either at, a time, or record, the number of one in the log");
      }
      const point =
        record === undefined
          ? { at: checkTime("at of restore", at) }
          : { record: checkWhole("record of restore", record, 0) };
      return this.#syncing?.restore(point) ?? this.#connection.restore(point);
    });
  }

  /**
   * What keeps this memory: a `file`, `opfs` or `indexeddb` in browsers, a
   * `durable-object`, a `connection` of the application's, or only `memory`.
   */
  get persistence(): Persistence {
    return this.#persistence;
  }

  /**
   * The part that one user, conversation or application may see, under a policy. Its `store`
   * and `checkpointer` have no name for what is outside.
   *
   *     const { store, checkpointer } = memory.scoped({ user: "ada@example.com" });
   */
  scoped(scope: ScopeOptions): ScopedMemory {
    try {
      return new ScopedMemory(this.#scopedOptions, this.#connection, scope);
    } catch (error) {
      throw nameError("Memory", error);
    }
  }

  /**
   * One checkpointer for the agents of all: each thread lies in the scope that its run names, for
   * `"user"` by a `user_id` in `configurable` or `context`. There `memory.scoped()` finds it, and
   * `forget()` takes it. A run that names nobody is refused.
   *
   *     const agent = createAgent({ model, checkpointer: memory.checkpointerFor("user") });
   *     await agent.invoke(input, { configurable: { thread_id, user_id } });
   */
  checkpointerFor(scope: ScopeName, options?: CheckpointerForOptions): BaseCheckpointSaver {
    try {
      return new ScopedSaver(this.checkpointer, this.#connection, scope, options);
    } catch (error) {
      throw nameError("Memory", error);
    }
  }

  /** The same as `store`, `recall`, `delete` and `clear_namespace` of entries. */
  provider(): MemoryProvider {
    return new MemoryProvider(this.store);
  }

  /**
   * Forgets for good: items with their vectors and texts, threads with their pending writes, and
   * every byte of them in the file. All of it goes, or nothing. The receipt can be checked later.
   *
   *     const receipt = await memory.forget({ namespaces: [["user", "ada"]] });
   */
  async forget(options: ForgetOptions): Promise<ErasureReceipt> {
    return withNamedErrors("Memory", () => forget(this.#connection, options));
  }

  /**
   * Takes back all items that come from an origin or a source, as `forget()` does, with their
   * earlier values. Where history knows one of another origin, an item has that again, and what one
   * of them superseded holds again.
   *
   *     await memory.revoke({ sourcePrefix: "https://bad.example/" });
   */
  async revoke(options: RevokeOptions): Promise<ErasureReceipt> {
    return withNamedErrors("Memory", () => revoke(this.#connection, options));
  }

  /** Whether this memory did what the receipt says, and whether there is such a thing again. */
  async checkReceipt(receipt: ErasureReceipt): Promise<ErasureCheck> {
    return withNamedErrors("Memory", () => checkReceipt(this.#connection, receipt));
  }

  /**
   * Databases of this name that were damaged and set aside, the oldest first. A browser keeps them
   * until you delete them, also what was forgotten since. Elsewhere nothing is set aside.
   */
  async damaged(): Promise<DamagedDatabase[]> {
    return withNamedErrors("Memory", async () => {
      const { findElsewhere } = await this.#connection.status();
      return (await findElsewhere?.())?.damaged ?? [];
    });
  }

  /** Until `release()`, `forget()` of anything below the namespace, or of its scope's threads, is `held`, and `evict()` leaves its items. */
  async hold(namespace: string[], reason: string): Promise<void> {
    await withNamedErrors("Memory", () =>
      hold(this.#connection, namespace, reason, this.store.secrets),
    );
  }

  /** Ends a hold. Without one it does nothing. */
  async release(namespace: string[]): Promise<void> {
    await withNamedErrors("Memory", () => release(this.#connection, namespace));
  }

  /** What must not be forgotten, and why. */
  async holds(): Promise<Hold[]> {
    return withNamedErrors("Memory", () => holds(this.#connection));
  }

  /**
   * From now on writes, refusals and erasures leave an entry, in the transaction of what they do:
   * who, when, where, how many, never a key or a value. Again changes how much is kept.
   *
   *     await memory.keepAudit({ maxEntries: 100_000, maxAge: 60 * 24 * 365 });
   */
  async keepAudit(options?: KeepAuditOptions): Promise<void> {
    const { now = Date.now } = this.#options;
    await withNamedErrors("Memory", () => keepAudit(this.#connection, options, now()));
  }

  /** Keeps it no longer, and drops what was kept. */
  async dropAudit(): Promise<void> {
    await withNamedErrors("Memory", () => dropAudit(this.#connection));
  }

  /** How much is kept of who wrote; undefined if nothing is. */
  async auditRule(): Promise<AuditRule | undefined> {
    return withNamedErrors("Memory", () => auditRule(this.#connection));
  }

  /** Who wrote where, and what was refused, the newest first; empty unless `keepAudit()` keeps it. */
  async auditLog(options?: AuditLogOptions): Promise<AuditEntry[]> {
    const { now = Date.now } = this.#options;
    return withNamedErrors("Memory", () => auditLog(this.#connection, options, now()));
  }

  /**
   * Deletes what is needed least, by age, use and size, until the rules hold. Pinned and held
   * items stay, and so does what is put while it runs. Others get their turn between portions;
   * what a signal ended goes on by the next call.
   *
   *     const report = await memory.evict({ namespaces: [["user"]], maxItems: 1000, by: "use", dryRun: true });
   */
  async evict(options: EvictOptions): Promise<EvictionReport> {
    return withNamedErrors("Memory", () => evict(this.#connection, options, this.#options.now));
  }

  /**
   * From now on `key` opens the database, and no other; cut off in its middle, the one before
   * opens it, or this one, or both. What is stored is not encrypted anew: after a key got into
   * wrong hands, import an export into a new memory.
   */
  async changeKey(key: Key): Promise<void> {
    await withNamedErrors("Memory", () =>
      this.#connection.changeKey(checkKey("changeKey: key", key)),
    );
    this.#options = { ...this.#options, key };
  }

  /**
   * The items as they were at a time, or when a checkpoint was made: for reading, by a graph
   * that is replayed, for example.
   *
   *     const then = memory.asOf(config);
   *     const graph = builder.compile({ store: then, checkpointer: memory.checkpointer });
   */
  asOf(moment: Moment): PastStore {
    try {
      return this.store.pastAt(momentOf(this.checkpointer, moment));
    } catch (error) {
      throw nameError("Memory", error);
    }
  }

  /** Moves everything into the database file, and to the disk. */
  async flush(): Promise<void> {
    await withNamedErrors("Memory", () => this.#connection.call([{ kind: "flush" }]));
  }

  async stats(): Promise<MemoryStats> {
    return withNamedErrors("Memory", async () => {
      const [store, checkpointer, bytes] = await this.#connection.call([
        { kind: "storeStats" },
        { kind: "checkpointerStats" },
        { kind: "size" },
      ]);
      return { store, checkpointer, bytes, ...(await storageOfOrigin()) };
    });
  }

  /** Where the memory lives, who owns it, and what went wrong last. Never rejects for a reason of its own. */
  async diagnose(): Promise<Diagnosis> {
    return withNamedErrors("Memory", async () => {
      const { persistence, details } = await this.#connection.status();
      const [bytes] = await this.#connection.call([{ kind: "size" }]);
      const { path, name, durability = "relaxed" } = this.#options;
      return {
        persistence,
        durability,
        database: name ?? path ?? "",
        bytes,
        ...(await storageOfOrigin()),
        ...details,
      };
    });
  }

  /** Calls `listener` after something was written, in this tab or another. Answers how to stop. */
  onChange(listener: ChangeListener): () => void {
    try {
      return this.#connection.onChange(listener);
    } catch (error) {
      throw nameError("Memory", error);
    }
  }

  /** The whole memory as bytes: a SQLite file, or of format `portable`. */
  async export(options?: ExportOptions): Promise<Uint8Array> {
    return withNamedErrors("Memory", () => exportDatabase(this.#connection, options));
  }

  /**
   * The same, piece by piece. Of a SQLite file, other exports and imports wait until it is
   * read to its end or cancelled. One of format `portable` holds up nobody, and sends what
   * is written meanwhile, too; if it is cut short, another one goes on with `resume`.
   */
  exportStream(options?: ExportOptions): ReadableStream<Uint8Array> {
    try {
      return exportStream(this.#connection, options);
    } catch (error) {
      throw nameError("Memory", error);
    }
  }

  /**
   * Replaces everything by what `export()` made; all or nothing. What arrived of a
   * `portable` export that was cut short is kept, and counts when the rest comes.
   */
  async import(database: DatabaseBytes, options?: DatabaseImportOptions): Promise<void> {
    await withNamedErrors("Memory", () => importDatabase(this.#connection, database, options));
  }

  /**
   * Where an import of a `portable` export was cut short: the `resume` of `exportStream()`,
   * so that only the rest is sent. Undefined if nothing waits.
   */
  async unfinishedImport(): Promise<string | undefined> {
    return withNamedErrors("Memory", () => unfinishedImport(this.#connection));
  }

  /** Gives up an import that was cut short, and the room that it takes. */
  async discardImport(): Promise<void> {
    await withNamedErrors("Memory", () => discardImport(this.#connection));
  }

  /**
   * Adds what another program's SQLite file holds: LangGraph's SqliteSaver
   * (JavaScript or Python), Python's SqliteStore, a plain store_kv table. `source` is
   * a path outside browsers, or the file's bytes.
   */
  async importFrom(source: ImportSource, options?: ImportOptions): Promise<ImportReport> {
    const { putImported: putItem } = this.store;
    return withNamedErrors("Memory", () => {
      const given = checkImportOptions(options);
      const target = { ...given, putItem, serde: this.checkpointer.serde };
      return importFile(this.#connection, source, target);
    });
  }

  /**
   * Compares every page of the file with its checksum, and whether tables and indexes fit
   * together. Other calls run in between. `unsupported` where the host's SQLite has the file.
   */
  async check(options?: CheckOptions): Promise<CheckReport> {
    return withNamedErrors("Memory", () => checkDatabase(this.#connection, options));
  }

  /**
   * Copies all that can still be read of this memory into a new one, whose options are given,
   * and says what is lost. This one stays as it is. The new one has its key, unless `into` has
   * another, or `key: null` for none. See also `salvageMemory()`.
   *
   *     const report = await memory.salvage({ path: "salvaged.db" });
   */
  async salvage(into: SalvageTarget): Promise<SalvageReport> {
    const bytes = await this.export({ format: "sqlite" });
    return salvageInto(into, this.#options.key, bytes, undefined);
  }

  /** Closes the store, the checkpointer and the database. Twice is fine. */
  async close(): Promise<void> {
    this.#syncing?.stop();
    const closing = [this.store.close(), this.checkpointer.close(), this.#connection.close()];
    await Promise.all(closing);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  toJSON(): string {
    return "[Memory]";
  }
}

// What expires is swept for the whole memory, and history pruned.
function scopedOptionsOf(
  { index, ttl, text, ranking, secrets, now }: MemoryOptions,
  saver: SqliteSaver,
) {
  const scoped: ScopedTierOptions = { index, text, ranking, secrets, now, saver };
  if (ttl) scoped.ttl = { ...ttl, sweepIntervalMinutes: undefined };
  return scoped;
}

const MOST_ID = Number.MAX_SAFE_INTEGER;

function checkSync({ sync, bucket, path, storage, name }: MemoryOptions): void {
  if (sync === undefined) return;
  if (bucket !== undefined) {
    throw invalid(
      "bucket and sync exclude each other: a memory lives in a bucket, or here and syncs",
    );
  }
  if (typeof orUndefined(() => sync.bucket[SYNCED]) !== "function") {
    throw invalid(
      `sync.bucket must be what a function of keepsake/bucket makes, such as s3() or customBucket(): ${show(orUndefined(() => sync.bucket))}`,
    );
  }
  if (path === ":memory:" || storage === "memory") {
    throw invalid(
      "a memory that syncs is kept on its device: what is in memory only may live in the bucket itself, by { bucket, name }",
    );
  }
  if (name === undefined && sync.name === undefined) {
    throw invalid('sync needs a name, the same on each device: sync: { bucket, name: "ada" }');
  }
}

async function copyInto(engine: Engine, from: Connection, key: Key | undefined): Promise<void> {
  const target = Connection.toEngine(() => engine);
  await importDatabase(target, await exportDatabase(from, { format: "sqlite" }), { key });
}

/**
 * Opens or creates the database at `path`, in browsers the one called `name`, and
 * waits until it is there.
 *
 *     const memory = await openMemory({ path: "agent.db" });
 *     const graph = builder.compile({ store: memory.store, checkpointer: memory.checkpointer });
 */
export async function openMemory(options: MemoryOptions): Promise<Memory> {
  return withNamedErrors("openMemory", async () => {
    const given = checkDatabaseOptions(MEMORY_OPTIONS, options);
    const observers = observersOf("", given ?? {});
    if (given?.log !== undefined && given.bucket === undefined) {
      throw invalid("log is of a memory in a bucket: give it beside bucket");
    }
    checkSync(given ?? {});
    const connection =
      given?.bucket === undefined
        ? Connection.toDatabase(given, undefined, observers)
        : Connection.toBucket(given.bucket, given, observers);
    const memory = new Memory(given, connection);
    try {
      await memory.open();
      return memory;
    } catch (error) {
      await memory.close();
      throw error;
    }
  });
}

/**
 * Copies all that can still be read of a damaged file into a new memory, and says what is lost.
 * For a file that does not open any more. `source` is its path outside browsers, or its bytes;
 * it stays as it is. With a `key`, the new one is encrypted with it, too, unless `into` has
 * another, or `key: null` for none.
 *
 *     const report = await salvageMemory("agent.db", { path: "salvaged.db" });
 */
export async function salvageMemory(
  source: ImportSource,
  into: SalvageTarget,
  options?: SalvageOptions,
): Promise<SalvageReport> {
  const { key } = await withNamedErrors("salvageMemory", () =>
    checkOptions("", SALVAGE_OPTIONS, options),
  );
  return salvageInto(into, key, source, key);
}

// What was encrypted stays so, unless somebody says that it need not. In memory nothing is written.
function salvageInto(
  into: SalvageTarget,
  itsKey: Key | undefined,
  source: ImportSource,
  key: Key | undefined,
): Promise<SalvageReport> {
  return withNamedErrors("salvageMemory", async () => {
    const own = orUndefined(() => into?.key);
    const inherits = own === undefined && orUndefined(() => into?.path) !== ":memory:";
    const wanted = (inherits ? itsKey : own) ?? undefined;
    const options = own === wanted ? into : { ...into, key: wanted };
    const given = checkDatabaseOptions(SALVAGE_TARGET, options as DatabaseOptions);
    const connection = Connection.toDatabase(given);
    try {
      return await salvageFile(connection, source, key);
    } finally {
      connection.close();
    }
  });
}

async function storageOfOrigin(): Promise<Pick<MemoryStats, "quota" | "persisted">> {
  const storage = (globalThis as { navigator?: Partial<Navigator> }).navigator?.storage;
  if (storage?.estimate === undefined) return {};
  const [{ usage = 0, quota = 0 }, persisted] = await Promise.all([
    storage.estimate(),
    storage.persisted?.(),
  ]);
  return { quota: { usage, quota }, persisted };
}
