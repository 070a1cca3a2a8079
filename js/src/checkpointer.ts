// LangGraph's BaseCheckpointSaver over an engine. Values are serialised here by
// `serde`; the core keeps (type, bytes) and each channel value once per version.

import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type DeltaChannelHistory,
  getCheckpointId,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { importFile } from "#importer";
import { dump, toPutOperation } from "./checkpoint-operations.js";
import {
  type DatabaseBytes,
  exportDatabase,
  importDatabase,
  type TransferOptions,
} from "./engine/backup.js";
import { Connection } from "./engine/connection.js";
import type { MaybePromise } from "./engine/engine.js";
import type { DatabaseOptions } from "./engine/options.js";
import { attempt, KeepsakeError, named } from "./errors.js";
import type { ImportOptions, ImportReport, ImportSource } from "./importer.js";
import type {
  AnswerTo,
  Blob,
  CheckpointerStats,
  CheckpointKey,
  Operation as CoreOperation,
  CheckpointTuple as CoreTuple,
  PendingWrite as CoreWrite,
  PruneStrategy,
} from "./wire/operations.js";

export type { CheckpointerStats, PruneStrategy };

/** A checkpoint's id or config, or a moment. */
export type CheckpointBound = RunnableConfig | string | Date;

/** Which checkpoints `list()` yields. */
export interface ListOptions extends Omit<CheckpointListOptions, "before"> {
  /** Only checkpoints older than this. */
  before?: CheckpointBound | undefined;
  /** Only checkpoints newer than this. */
  after?: CheckpointBound | undefined;
}

/** What `prune()` may delete. */
export interface PruneOptions {
  threadIds: string[];
  /**
   * `keepLatest`: keeps the newest checkpoint of each thread and namespace and what
   * it needs. `delete`: keeps nothing.
   * @default "keepLatest"
   */
  strategy?: PruneStrategy | undefined;
}

// The first page is small, since most callers want one checkpoint and stop.
const FIRST_PAGE = 4;
const LARGEST_PAGE = 256;

/** What every saver of keepsake does. Made synchronously, opened by the first call. */
export abstract class KeepsakeSaver extends BaseCheckpointSaver {
  /** @internal */
  protected readonly connection: Connection;

  /** @internal */
  protected constructor(connect: () => Connection, serde?: SerializerProtocol) {
    super(serde);
    try {
      this.connection = connect();
    } catch (error) {
      throw named(new.target.name, error);
    }
  }

  /** The checkpoint that `config` names, or else the newest of its thread and namespace. */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.attempt(async () => {
      // The specification: where there is no thread, there is nothing, and no error.
      if (config?.configurable?.thread_id === undefined) return undefined;
      const key = this.#keyOf(config, () => optionalId("checkpoint_id", getCheckpointId(config)));
      const tuple = await this.#call({ kind: "getTuple", key });
      if (tuple === undefined) return undefined;
      const found = await this.#toTuple(tuple);
      return key.checkpointId === "" ? found : { ...found, config };
    });
  }

  /** Newest first. Loads in pages, and no further than it is iterated. */
  override async *list(
    config: RunnableConfig,
    options: ListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    let left = this.#limitOf(options.limit);
    const { filter, matches } = await this.attempt(() => this.#filterOf(options.filter));
    let cursor: CheckpointKey | undefined;
    for (let size = FIRST_PAGE; left > 0; size = Math.min(size * 4, LARGEST_PAGE)) {
      const limit = matches ? size : Math.min(size, left);
      const page = await this.attempt(() => this.#page(config, options, { filter, cursor, limit }));
      for (const tuple of page) {
        const found = await this.attempt(() => this.#toTuple(tuple));
        if (matches && !matches(found.metadata)) continue;
        yield found;
        if (--left === 0) return;
      }
      if (page.length < limit) return;
      cursor = page.at(-1)?.key;
    }
  }

  /** Stores the values of the channels in `newVersions`; all others are there already. */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.attempt(async () => {
      const key = this.#keyOf(config, () => idOf("checkpoint.id", checkpoint?.id));
      await this.#call(
        await toPutOperation(this.serde, {
          key,
          parentCheckpointId: optionalId("checkpoint_id", config.configurable?.checkpoint_id),
          checkpoint,
          metadata,
          newVersions: newVersions ?? checkpoint.channel_versions,
        }),
      );
      return configOf(key);
    });
  }

  /** The checkpoint itself need not be there yet. */
  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    await this.attempt(async () => {
      const key = this.#keyOf(config, () =>
        idOf("checkpoint_id", config.configurable?.checkpoint_id),
      );
      const stored = await Promise.all(
        writes.map(
          async ([channel, value], i): Promise<CoreWrite> => ({
            taskId: idOf("task_id", taskId),
            idx: Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel] : i,
            channel,
            value: await dump(this.serde, value),
            taskPath,
          }),
        ),
      );
      await this.#call({ kind: "putWrites", key, writes: stored });
    });
  }

  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    return this.attempt(async () => {
      if (options.channels.length === 0) return {};
      const key = this.#keyOf(options.config, () =>
        optionalId("checkpoint_id", getCheckpointId(options.config)),
      );
      const histories = await this.#call({
        kind: "deltaChannelHistory",
        key,
        channels: [...options.channels],
      });
      const entries = histories.map(async ({ channel, seed, writes }) => {
        const history: DeltaChannelHistory = { writes: await this.#toWrites(writes) };
        if (seed !== undefined) history.seed = await this.#load(seed);
        return [channel, history] as const;
      });
      return Object.fromEntries(await Promise.all(entries));
    });
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.attempt(async () =>
      this.#call({ kind: "deleteThread", threadId: threadIdOf(threadId) }),
    );
  }

  /** Copies all checkpoints and writes to a thread that has none. */
  async copyThread(sourceThreadId: string, targetThreadId: string): Promise<void> {
    await this.attempt(async () =>
      this.#call({
        kind: "copyThread",
        source: threadIdOf(sourceThreadId),
        target: threadIdOf(targetThreadId),
      }),
    );
  }

  /** Deletes the checkpoints whose metadata has one of these as `run_id`; says how many. */
  async deleteForRuns(runIds: string[]): Promise<number> {
    return this.attempt(async () =>
      this.#call({
        kind: "deleteForRuns",
        runIds: listOf("runIds", runIds).map((id) => idOf("run_id", id)),
      }),
    );
  }

  /** Deletes history; says how many checkpoints went. What stays can be resumed and rebuilt. */
  async prune({ threadIds, strategy = "keepLatest" }: PruneOptions): Promise<number> {
    return this.attempt(async () => {
      if (strategy !== "keepLatest" && strategy !== "delete") {
        throw new KeepsakeError(
          "invalid_argument",
          `strategy must be keepLatest or delete: ${String(strategy)}`,
        );
      }
      const threads = listOf("threadIds", threadIds).map(threadIdOf);
      return this.#call({ kind: "prune", threadIds: threads, strategy });
    });
  }

  async stats(): Promise<CheckpointerStats> {
    return this.attempt(() => this.#call({ kind: "checkpointerStats" }));
  }

  /** Lets go of the database. Later calls reject with `closed`. Twice is fine. */
  async close(): Promise<void> {
    await this.connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal */
  protected attempt<T>(body: () => MaybePromise<T>): Promise<T> {
    return attempt(this.constructor.name, body);
  }

  async #call<const Op extends CoreOperation>(operation: Op): Promise<AnswerTo<Op>> {
    return (await this.connection.call([operation]))[0];
  }

  #keyOf(config: RunnableConfig, checkpointId: () => string): CheckpointKey {
    const { thread_id, checkpoint_ns } = config?.configurable ?? {};
    return {
      threadId: threadIdOf(thread_id),
      checkpointNs: optionalId("checkpoint_ns", checkpoint_ns),
      checkpointId: checkpointId(),
    };
  }

  #limitOf(limit: number | undefined): number {
    if (limit === undefined || limit === null) return Number.POSITIVE_INFINITY;
    if (typeof limit === "number" && limit >= 0) return limit;
    const error = new KeepsakeError(
      "invalid_argument",
      `limit must be a number from 0: ${String(limit)}`,
    );
    throw named(this.constructor.name, error);
  }

  async #page(
    config: RunnableConfig,
    { before, after }: ListOptions,
    page: { filter: string; cursor: CheckpointKey | undefined; limit: number },
  ): Promise<CoreTuple[]> {
    const { thread_id, checkpoint_ns } = config?.configurable ?? {};
    return this.#call({
      kind: "listCheckpoints",
      threadId: thread_id === undefined ? undefined : threadIdOf(thread_id),
      checkpointNs:
        checkpoint_ns === undefined ? undefined : optionalId("checkpoint_ns", checkpoint_ns),
      checkpointId: optionalId("checkpoint_id", getCheckpointId(config)),
      before: boundOf("before", before, "first"),
      after: boundOf("after", after, "last"),
      ...page,
    });
  }

  // The core filters metadata that the serde made JSON of; any other is opened here.
  async #filterOf(
    filter: Record<string, unknown> | undefined,
  ): Promise<{ filter: string; matches?: (metadata: unknown) => boolean }> {
    const wanted = Object.entries(filter ?? {}).filter(([, value]) => value !== undefined);
    if (wanted.length === 0) return { filter: "" };
    const [type, bytes] = await this.serde.dumpsTyped(Object.fromEntries(wanted));
    if (type === "json") return { filter: new TextDecoder().decode(bytes) };
    const matches = (metadata: unknown) =>
      wanted.every(([name, value]) =>
        isSameJson((metadata as Record<string, unknown>)?.[name], value),
      );
    return { filter: "", matches };
  }

  async #toTuple(tuple: CoreTuple): Promise<CheckpointTuple> {
    const { key, parentCheckpointId } = tuple;
    const [checkpoint, metadata, pendingWrites, ...values] = await Promise.all([
      this.#load(tuple.checkpoint) as Promise<Checkpoint>,
      this.#load(tuple.metadata) as Promise<CheckpointMetadata>,
      this.#toWrites(tuple.pendingWrites),
      ...tuple.values.map(({ value }) => this.#load(value)),
    ]);
    // Not by assignment, so that a channel "__proto__" is a channel like any other.
    checkpoint.channel_values = Object.fromEntries([
      ...Object.entries(checkpoint.channel_values ?? {}),
      ...tuple.values.map(({ channel }, i) => [channel, values[i]] as const),
    ]);
    const result: CheckpointTuple = { config: configOf(key), checkpoint, metadata, pendingWrites };
    if (parentCheckpointId !== "") {
      const parent = { ...key, checkpointId: parentCheckpointId };
      if (checkpoint.v < 4) await this.#migratePendingSends(checkpoint, parent);
      result.parentConfig = configOf(parent);
    }
    return result;
  }

  // Before version 4, what a superstep sent to nodes was kept as its parent's writes.
  async #migratePendingSends(checkpoint: Checkpoint, parent: CheckpointKey): Promise<void> {
    const writes = await this.#call({ kind: "listWrites", key: parent, channel: TASKS });
    checkpoint.channel_values[TASKS] = await Promise.all(
      writes.map(({ value }) => this.#load(value)),
    );
    checkpoint.channel_versions ??= {};
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  async #toWrites(writes: CoreWrite[]): Promise<CheckpointPendingWrite[]> {
    return Promise.all(
      writes.map(
        async ({ taskId, channel, value }): Promise<CheckpointPendingWrite> => [
          taskId,
          channel,
          await this.#load(value),
        ],
      ),
    );
  }

  #load({ type, bytes }: Blob): Promise<unknown> {
    // Bytes are a view into a copy of the whole answer; a serde may hand them to the user.
    return this.serde.loadsTyped(type, type === "json" ? bytes : bytes.slice());
  }
}

function listOf<T>(name: string, list: T[]): T[] {
  if (Array.isArray(list)) return list;
  throw new KeepsakeError("invalid_argument", `${name} must be a list: ${String(list)}`);
}

/** Keeps checkpoints in linear memory: fast, and gone with the object. */
export class MemorySaver extends KeepsakeSaver {
  constructor(serde?: SerializerProtocol) {
    super(() => Connection.toMemory(), serde);
  }
}

/** Where a SqliteSaver keeps its checkpoints, and how they are serialised. */
export interface SqliteSaverOptions extends DatabaseOptions {
  /** Turns values into bytes and back. @default LangGraph's JsonPlusSerializer */
  serde?: SerializerProtocol | undefined;
}

/**
 * Keeps checkpoints in a SQLite file, which it shares with every other SqliteSaver
 * and SqliteStore of this process on the same path. `":memory:"` keeps nothing.
 */
export class SqliteSaver extends KeepsakeSaver {
  constructor(options: SqliteSaverOptions);
  /** @internal */
  constructor(options: SqliteSaverOptions, shared: Connection);
  constructor(options: SqliteSaverOptions, shared?: Connection) {
    super(() => shared?.share() ?? Connection.toDatabase(options), options?.serde);
  }

  /** A path, or `":memory:"`. */
  static fromConnString(path: string): SqliteSaver {
    return new SqliteSaver({ path });
  }

  /** Moves everything into the database file, and to the disk. */
  async flush(): Promise<void> {
    await this.attempt(() => this.connection.call([{ kind: "flush" }]));
  }

  /** The whole database, items included, as the bytes of a SQLite file. */
  async export(options?: TransferOptions): Promise<Uint8Array> {
    return this.attempt(() => exportDatabase(this.connection, options));
  }

  /** Replaces the whole database, items included, by one that `export()` made. */
  async import(database: DatabaseBytes, options?: TransferOptions): Promise<void> {
    await this.attempt(() => importDatabase(this.connection, database, options));
  }

  /** Adds the checkpoints of a file of LangGraph's own SqliteSaver, JavaScript's or Python's. */
  async importFrom(source: ImportSource, options?: ImportOptions): Promise<ImportReport> {
    return this.attempt(() =>
      importFile(this.connection, source, { ...options, serde: this.serde }),
    );
  }
}

function configOf({ threadId, checkpointNs, checkpointId }: CheckpointKey): RunnableConfig {
  return {
    configurable: { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId },
  };
}

function threadIdOf(threadId: unknown): string {
  if (threadId === undefined || threadId === null || threadId === "") {
    throw new KeepsakeError(
      "thread_id_required",
      "configurable.thread_id is required with a checkpointer",
    );
  }
  return idOf("thread_id", threadId);
}

function idOf(name: string, id: unknown): string {
  if (typeof id !== "string") {
    throw new KeepsakeError(
      "invalid_argument",
      `${name} must be a string, got ${id === null ? "null" : typeof id}`,
    );
  }
  if (!id.isWellFormed()) {
    throw new KeepsakeError(
      "invalid_argument",
      `${name} must not contain a lone surrogate: ${JSON.stringify(id)}`,
    );
  }
  return id;
}

function optionalId(name: string, id: unknown): string {
  return id === undefined || id === null ? "" : idOf(name, id);
}

function boundOf(name: string, bound: CheckpointBound | undefined, end: "first" | "last"): string {
  if (bound === undefined || bound === null) return "";
  if (bound instanceof Date) return uuid6At(bound, end);
  return optionalId(name, typeof bound === "string" ? bound : getCheckpointId(bound));
}

// Checkpoint ids are version 6 UUIDs: they begin with their time, in units of
// 100 ns since 1582. The least and the greatest of a millisecond are its bounds.
function uuid6At(moment: Date, end: "first" | "last"): string {
  const ms = moment.getTime();
  if (Number.isNaN(ms))
    throw new KeepsakeError("invalid_argument", "before and after must be valid dates");
  const ticks = (BigInt(ms) + 12_219_292_800_000n) * 10_000n + (end === "last" ? 9_999n : 0n);
  const hex = ticks.toString(16).padStart(15, "0");
  const rest = end === "last" ? "ffff-ffffffffffff" : "0000-000000000000";
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-6${hex.slice(12)}-${rest}`;
}

function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      isSameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}
