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
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import {
  checkEach,
  checkFlag,
  checkNumber,
  checkOptions,
  checkText,
  checkWhole,
  isList,
  type NamesOf,
  readInput,
  show,
} from "../checks.js";
import { Connection, checkDatabaseOptions, DATABASE_OPTIONS } from "../connection.js";
import { type MaybePromise, whenAllThere, whenThere } from "../engine/answers.js";
import type { DatabaseOptions } from "../engine/options.js";
import { invalid, KeepsakeError, nameError, orUndefined, withNamedErrors } from "../errors.js";
import type {
  Blob,
  CheckpointerStats,
  CheckpointKey,
  ThreadInfo as CoreThread,
  CheckpointTuple as CoreTuple,
  PendingWrite as CoreWrite,
  PruneChoice,
  Pruned,
  RetentionRules,
} from "../wire/layout.js";
import type { AnswerTo, Operation as CoreOperation, OperationOf } from "../wire/operations.js";
import { toPutOperation } from "./checkpoint-operations.js";
import {
  boundOf,
  type CheckpointBound,
  type Configurable,
  checkpointIdOf,
  configOf,
  configurableOf,
  optionalId,
  threadIdOf,
  uuid6At,
  withRunMetadata,
} from "./config.js";
import { type CheckpointDiff, differenceBetween, isSameJson } from "./diff.js";
import { LatestLists, wholeAgain } from "./latest-lists.js";
import { dump, LaterValues, load, nameOfChannel } from "./serde/serde.js";

export type { CheckpointerStats, Pruned };

/** `keepLatest` of each thread and namespace, or `delete` everything. */
export type PruneStrategy = Exclude<PruneChoice, "byRules">;

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

/**
 * How much history stays. A checkpoint goes if one of the rules says so, but never
 * the newest of its namespace, nor what a newer one is rebuilt from: a thread that
 * waits for a human still resumes.
 */
export interface Retention {
  /** So many of each thread and namespace stay. */
  keepLast?: number | undefined;
  /** In minutes; older ones go. */
  maxAge?: number | undefined;
  /** The oldest go, about a tenth at a time, until the rest takes so many bytes. */
  maxBytes?: number | undefined;
}

/** Which history `prune()` deletes. */
export interface RetentionPruneOptions extends Retention {
  /** @default all threads */
  threadIds?: string[] | undefined;
  /** What is older than this goes. */
  olderThan?: CheckpointBound | undefined;
  /** Says what would go by one of the rules, and keeps it. */
  dryRun?: boolean | undefined;
}

/** Prunes by itself. */
export interface AutomaticRetention extends Retention {
  /** After so many puts. @default 100 */
  every?: number | undefined;
}

/** One of `listThreads()`. */
export interface ThreadSummary {
  threadId: string;
  checkpoints: number;
  /** About; what threads share counts for each of them. */
  bytes: number;
  /** Of the newest checkpoint of the root namespace; undefined if there is none. */
  lastActivity: Date | undefined;
  step: number | undefined;
  checkpointId: string | undefined;
  /** With what the run's config had as `metadata`: a `title`, for example. */
  metadata: CheckpointMetadata<Record<string, unknown>> | undefined;
}

/** Which threads `listThreads()` yields. */
export interface ThreadListOptions {
  limit?: number | undefined;
  /** Only threads whose newest checkpoint's metadata has these members. */
  filter?: Record<string, unknown> | undefined;
  /**
   * Goes on after this one: the last thread of the page before, or these two of it. Threads that
   * were used meanwhile are before it, so that none is listed twice.
   */
  cursor?: Pick<ThreadSummary, "threadId" | "checkpointId"> | undefined;
}

function checkConfig(config: RunnableConfig): void {
  if (config !== undefined && config !== null) return;
  throw invalid(
    `list takes a config, { configurable: { thread_id } }, or { configurable: {} } for all threads: ${show(config)}`,
  );
}

function checkWrite(write: PendingWrite): PendingWrite {
  if (isList(write) && write.length >= 2) {
    checkText("channel", write[0]);
    return write;
  }
  throw invalid(`a write must be a channel and its value, ["messages", value]: ${show(write)}`);
}

const LIST: NamesOf<ListOptions> = { limit: 1, before: 1, filter: 1, after: 1 };
const DELTAS: NamesOf<{ config: RunnableConfig; channels: string[] }> = { config: 1, channels: 1 };
const LIST_THREADS: NamesOf<ThreadListOptions> = { limit: 1, filter: 1, cursor: 1 };
const RETENTION: NamesOf<Retention> = { keepLast: 1, maxAge: 1, maxBytes: 1 };
const AUTOMATIC: NamesOf<AutomaticRetention> = { ...RETENTION, every: 1 };
const PRUNE: NamesOf<PruneOptions & RetentionPruneOptions> = {
  ...RETENTION,
  threadIds: 1,
  strategy: 1,
  olderThan: 1,
  dryRun: 1,
};

// The first page is small, since most callers want one checkpoint and stop.
const FIRST_PAGE = 4;
const FIRST_THREADS = 16;
const LARGEST_PAGE = 256;

/** What every saver of keepsake does. Made synchronously, opened by the first call. */
export abstract class KeepsakeSaver extends BaseCheckpointSaver {
  /** @internal */
  protected readonly connection: Connection;
  // As its caller knows it: errors begin with that.
  readonly #called: string;
  readonly #latest: LatestLists;
  readonly #retention: AutomaticRetention | undefined;
  // The whole memory's, of which this one has a scope.
  readonly #outer: KeepsakeSaver | undefined;
  readonly #touched = new Set<string>();
  #putsSincePrune = 0;

  /** One that is made of a memory's options leaves the errors of those to the memory. @internal */
  protected constructor(
    connect: () => Connection,
    serde?: SerializerProtocol,
    retention?: AutomaticRetention,
    outer?: KeepsakeSaver,
    isOfMemory = false,
  ) {
    super(serde);
    this.#called = isOfMemory ? "memory.checkpointer" : new.target.name;
    try {
      checkSerde(serde);
      this.#retention = checkRetention(retention);
      this.connection = connect();
      this.#outer = outer;
      this.#latest =
        outer === undefined ? new LatestLists() : outer.#latest.within(this.#threadPrefix);
    } catch (error) {
      throw isOfMemory ? error : nameError(this.#called, error);
    }
  }

  /** The checkpoint that `config` names, or else the newest of its thread and namespace. */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.withNamedErrors(() => {
      // The specification: where there is no thread, there is nothing, and no error.
      const asked = configurableOf(config);
      if (asked.thread_id === undefined) return undefined;
      const key = checkpointKey(asked, () => checkpointIdOf(asked));
      return whenThere(this.#call({ kind: "getTuple", key }), (tuple) => {
        if (tuple === undefined) return undefined;
        if (key.checkpointId === "") return this.#toTuple(tuple);
        return whenThere(this.#toTuple(tuple), (found) => ({ ...found, config }));
      });
    });
  }

  /** Newest first. Loads in pages, and no further than it is iterated. */
  override async *list(
    config: RunnableConfig,
    options: ListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const asked = await this.withNamedErrors(() => {
      checkConfig(config);
      const given = checkOptions("list", LIST, options);
      return { ...given, config: configurableOf(config), limit: limitOf(given.limit) };
    });
    let left = asked.limit;
    const { filter, matches } = await this.withNamedErrors(() =>
      this.#filterOf("list", asked.filter),
    );
    let cursor: CheckpointKey | undefined;
    const later = new LaterValues(this.serde);
    let largest = LARGEST_PAGE;
    for (let size = FIRST_PAGE; left > 0; size = Math.min(size * 4, largest)) {
      const wanted = matches ? size : Math.min(size, left);
      const { page, limit } = await this.withNamedErrors(() =>
        withinAnswer(wanted, (limit) => this.#page(asked, { filter, cursor, limit })),
      );
      if (limit < wanted) size = largest = limit;
      for (const tuple of page) {
        const found = await this.withNamedErrors(() => this.#toTuple(tuple, later));
        if (matches && !matches(found.metadata)) continue;
        yield found;
        if (--left === 0) return;
      }
      if (page.length < limit) return;
      cursor = page.at(-1)?.key;
    }
  }

  /**
   * Stores the values of the channels in `newVersions`; all others are there already. What the
   * run's config has as `metadata` is kept beside the checkpoint's own.
   */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.withNamedErrors(async () => {
      const asked = configurableOf(config);
      const parentCheckpointId = optionalId("checkpoint_id", asked.checkpoint_id);
      const { key, operation } = readInput("a checkpoint", () => {
        const key = checkpointKey(asked, () => checkText("checkpoint.id", checkpoint?.id));
        const versions = newVersions ?? checkpoint.channel_versions;
        const parts = {
          key,
          parentCheckpointId,
          checkpoint,
          metadata: withRunMetadata(metadata, config),
          newVersions: versions,
        };
        return { key, operation: toPutOperation(this.serde, parts, this.#latest) };
      });
      await this.#put(await operation);
      const whole = this.#outer ?? this;
      await whole.#retain(this.#threadPrefix + key.threadId);
      return configOf(key);
    });
  }

  async #put(checkpoint: OperationOf<"putCheckpoint">): Promise<void> {
    const shortened = this.#latest.shorten(checkpoint);
    try {
      await this.#call(shortened);
    } catch (error) {
      // The parent is not what was put last: a fork, or another saver's.
      if (!(error instanceof KeepsakeError) || error.code !== "not_found") throw error;
      await this.#call(wholeAgain(checkpoint, shortened));
    }
    this.#latest.keep(checkpoint, shortened);
  }

  get #threadPrefix(): string {
    return this.#outer === undefined ? "" : (this.connection.levels?.threadPrefix ?? "");
  }

  async #retain(threadId: string): Promise<void> {
    if (this.#retention === undefined) return;
    const { every = 100, ...retention } = this.#retention;
    this.#touched.add(threadId);
    this.#putsSincePrune++;
    if (this.#putsSincePrune < every) return;
    this.#putsSincePrune = 0;
    const threadIds = retention.maxBytes === undefined ? [...this.#touched] : undefined;
    this.#touched.clear();
    await this.#pruneBy({ ...retention, threadIds });
  }

  /** The checkpoint itself need not be there yet. */
  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    await this.withNamedErrors(() => {
      const asked = configurableOf(config);
      const key = checkpointKey(asked, () => checkText("checkpoint_id", asked.checkpoint_id));
      const pairs = checkEach("writes", writes, checkWrite);
      const stored = pairs.map(([channel, value], i): MaybePromise<CoreWrite> => {
        const idx = Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel] : i;
        const write = {
          taskId: checkText("task_id", taskId),
          idx: idx as number,
          channel,
          taskPath: checkText("task_path", taskPath),
        };
        return whenThere(dump(this.serde, nameOfChannel(channel), value), (blob) => ({
          ...write,
          value: blob,
        }));
      });
      return whenThere(whenAllThere(stored), (all) =>
        this.#call({ kind: "putWrites", key, writes: all }),
      );
    });
  }

  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    return this.withNamedErrors(async () => {
      const given = checkOptions("getDeltaChannelHistory", DELTAS, options);
      const channels = checkEach("channels", given.channels, (name) => checkText("channel", name));
      if (channels.length === 0) return {};
      const asked = configurableOf(given.config);
      const key = checkpointKey(asked, () => checkpointIdOf(asked));
      const thread = key.threadId;
      const histories = await this.#call({
        kind: "deltaChannelHistory",
        key,
        channels,
      });
      const entries = histories.map(async ({ channel, seed, writes }) => {
        const history: DeltaChannelHistory = {
          writes: await this.#toWrites(writes, thread),
        };
        if (seed !== undefined) history.seed = await this.#load(seed, thread, channel);
        return [channel, history] as const;
      });
      return Object.fromEntries(await Promise.all(entries));
    });
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.withNamedErrors(async () =>
      this.#call({ kind: "deleteThread", threadId: threadIdOf(threadId) }),
    );
  }

  /** Copies all checkpoints and writes to a thread that has none; `not_found` if there are none. */
  async copyThread(sourceThreadId: string, targetThreadId: string): Promise<void> {
    await this.withNamedErrors(async () =>
      this.#call({
        kind: "copyThread",
        source: threadIdOf(sourceThreadId),
        target: threadIdOf(targetThreadId),
      }),
    );
  }

  /** Deletes the checkpoints whose metadata has one of these as `run_id`; says how many. */
  async deleteForRuns(runIds: string[]): Promise<number> {
    return this.withNamedErrors(async () =>
      this.#call({
        kind: "deleteForRuns",
        runIds: checkEach("runIds", runIds, (id) => checkText("run_id", id)),
      }),
    );
  }

  /** Deletes history; says how many checkpoints went. What stays can be resumed and rebuilt. */
  async prune(options: PruneOptions): Promise<number>;
  /** Deletes history by rules; says what went, or with `dryRun` what would go. */
  async prune(options: RetentionPruneOptions): Promise<Pruned>;
  async prune(options: PruneOptions | RetentionPruneOptions): Promise<number | Pruned> {
    return this.withNamedErrors(async () => {
      const given = checkOptions("prune", PRUNE, options as PruneOptions & RetentionPruneOptions);
      const rules = RULES.filter((name) => name in given);
      if (rules.length > 0 && "strategy" in given) {
        throw invalid(`strategy and ${rules.join(", ")} exclude each other: give one of them`);
      }
      if (rules.length > 0) return this.#pruneBy(given);
      if ("dryRun" in given) {
        throw invalid(`dryRun needs one of ${RULES.join(", ")}`);
      }
      return this.#pruneThreads(given);
    });
  }

  async #pruneThreads({ threadIds, strategy = "keepLatest" }: PruneOptions): Promise<number> {
    if (strategy !== "keepLatest" && strategy !== "delete") {
      throw invalid(`strategy must be keepLatest or delete: ${show(strategy)}`);
    }
    if (threadIds === undefined) {
      throw invalid(`prune needs threadIds, or one of ${RULES.join(", ")}`);
    }
    const threads = checkEach("threadIds", threadIds, threadIdOf);
    const rules = { ...rulesOf({}), threadIds: threads, strategy };
    return (await this.#call({ kind: "prune", ...rules })).checkpoints;
  }

  async #pruneBy(options: RetentionPruneOptions): Promise<Pruned> {
    const pruned = await this.#call({ kind: "prune", ...rulesOf(options) });
    // Only now does the file, and with it the quota, get back what is free.
    if (!options.dryRun && pruned.bytes > 0) await this.#call({ kind: "flush" });
    return pruned;
  }

  /** Frees what nothing refers to any more, and makes the file smaller by it. */
  async compact(): Promise<void> {
    await this.withNamedErrors(() => this.#pruneBy({}));
  }

  /** The threads, the last active first. Loads in pages, and no further than it is iterated. */
  async *listThreads(options: ThreadListOptions = {}): AsyncGenerator<ThreadSummary> {
    const asked = await this.withNamedErrors(async () => {
      const given = checkOptions("listThreads", LIST_THREADS, options);
      const left = limitOf(given.limit);
      const cursor = cursorOf(given.cursor);
      return { left, cursor, ...(await this.#filterOf("listThreads", given.filter)) };
    });
    const { filter, matches } = asked;
    let { left, cursor } = asked;
    let largest = LARGEST_PAGE;
    for (let size = FIRST_THREADS; left > 0; size = Math.min(size * 4, largest)) {
      const wanted = matches ? size : Math.min(size, left);
      const { page, limit } = await this.withNamedErrors(() =>
        withinAnswer(wanted, (limit) => this.#call({ kind: "listThreads", cursor, limit, filter })),
      );
      if (limit < wanted) size = largest = limit;
      for (const thread of page) {
        const found = await this.withNamedErrors(() => this.#toSummary(thread));
        if (matches && !matches(found.metadata)) continue;
        yield found;
        if (--left === 0) return;
      }
      if (page.length < limit) return;
      cursor = page.at(-1);
    }
  }

  async #toSummary(thread: CoreThread): Promise<ThreadSummary> {
    const { threadId, checkpoints, bytes, newestCheckpointId } = thread;
    const hasCheckpoint = newestCheckpointId !== "";
    const newest = hasCheckpoint
      ? ((await this.#load(thread.checkpoint, threadId)) as Checkpoint)
      : undefined;
    const metadata = hasCheckpoint
      ? ((await this.#load(thread.metadata, threadId)) as ThreadSummary["metadata"])
      : undefined;
    const lastActivity = new Date(newest?.ts ?? Number.NaN);
    return {
      threadId,
      checkpoints,
      bytes,
      lastActivity: Number.isNaN(lastActivity.getTime()) ? undefined : lastActivity,
      step: metadata?.step,
      checkpointId: hasCheckpoint ? newestCheckpointId : undefined,
      metadata,
    };
  }

  /** The thread, which must be there, has another id from now on. That must have no checkpoints. */
  async renameThread(threadId: string, newThreadId: string): Promise<void> {
    await this.withNamedErrors(async () =>
      this.#call({
        kind: "renameThread",
        source: threadIdOf(threadId),
        target: threadIdOf(newThreadId),
      }),
    );
  }

  /**
   * Makes `newThreadId` what the thread was at a checkpoint (its newest if undefined),
   * with the history up to there. Both share what they have in common.
   */
  async forkThread(
    threadId: string,
    checkpointId: string | undefined,
    newThreadId: string,
  ): Promise<void> {
    const source = threadIdOf(threadId);
    const target = threadIdOf(newThreadId);
    await this.withNamedErrors(async () =>
      checkpointId === undefined
        ? this.#call({ kind: "copyThread", source, target })
        : this.#call({
            kind: "forkThread",
            source,
            checkpointId: checkText("checkpoint_id", checkpointId),
            target,
          }),
    );
  }

  /** What changed between two checkpoints, of one thread or of two. */
  async diff(before: RunnableConfig, after: RunnableConfig): Promise<CheckpointDiff> {
    return this.withNamedErrors(async () => {
      const [a, b] = await Promise.all([this.#valuesAt(before), this.#valuesAt(after)]);
      return differenceBetween(a, b);
    });
  }

  async #valuesAt(config: RunnableConfig): Promise<Map<string, unknown>> {
    const { thread_id, checkpoint_id } = configurableOf(config);
    const thread = JSON.stringify(threadIdOf(thread_id));
    const tuple = await this.getTuple(config);
    if (tuple === undefined) {
      const which = checkpoint_id === undefined ? "checkpoints" : `checkpoint ${checkpoint_id}`;
      throw new KeepsakeError("not_found", `thread ${thread} has no ${which}`);
    }
    return new Map(Object.entries(tuple.checkpoint.channel_values));
  }

  async stats(): Promise<CheckpointerStats> {
    return this.withNamedErrors(() => this.#call({ kind: "checkpointerStats" }));
  }

  /** Lets go of the database. Later calls reject with `closed`. Twice is fine. */
  async close(): Promise<void> {
    await this.connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal */
  protected withNamedErrors<T>(body: () => MaybePromise<T>): Promise<T> {
    return withNamedErrors(this.#called, body);
  }

  #call<const Op extends CoreOperation>(operation: Op): MaybePromise<AnswerTo<Op>> {
    return whenThere(this.connection.call([operation]), (answers) => answers[0]);
  }

  async #page(
    { config, before, after }: Pick<ListOptions, "before" | "after"> & { config: Configurable },
    page: { filter: string; cursor: CheckpointKey | undefined; limit: number },
  ): Promise<CoreTuple[]> {
    const { thread_id, checkpoint_ns } = config;
    return this.#call({
      kind: "listCheckpoints",
      threadId: thread_id === undefined ? undefined : threadIdOf(thread_id),
      checkpointNs:
        checkpoint_ns === undefined ? undefined : optionalId("checkpoint_ns", checkpoint_ns),
      checkpointId: checkpointIdOf(config),
      before: boundOf("before", before, "first"),
      after: boundOf("after", after, "last"),
      ...page,
    });
  }

  // The core filters metadata that the serde made JSON of; any other is opened here.
  async #filterOf(
    method: string,
    filter: Record<string, unknown> | undefined,
  ): Promise<{ filter: string; matches?: (metadata: unknown) => boolean }> {
    const wanted = readInput("filter", () => entriesOf(method, filter ?? {}), "invalid_filter");
    for (const [name, value] of wanted) checkMetadataFilter(method, name, value);
    if (wanted.length === 0) return { filter: "" };
    const [type, bytes] = await this.serde.dumpsTyped(Object.fromEntries(wanted));
    if (type === "json") return { filter: new TextDecoder().decode(bytes) };
    const matches = (metadata: unknown) =>
      wanted.every(([name, value]) =>
        isSameJson((metadata as Record<string, unknown>)?.[name], value),
      );
    return { filter: "", matches };
  }

  // With `later`, large values are made when they are asked for.
  #toTuple(tuple: CoreTuple, later?: LaterValues): MaybePromise<CheckpointTuple> {
    const loaded = later === undefined ? tuple.values : [];
    const { threadId } = tuple.key;
    const parts = whenAllThere([
      this.#load(tuple.checkpoint, threadId),
      this.#load(tuple.metadata, threadId),
      this.#toWrites(tuple.pendingWrites, threadId),
      ...loaded.map(({ channel, value }) => this.#load(value, threadId, channel)),
    ]);
    return whenThere(parts, ([checkpoint, metadata, pendingWrites, ...values]) => {
      const result: CheckpointTuple = {
        config: configOf(tuple.key),
        checkpoint: checkpoint as Checkpoint,
        metadata: metadata as CheckpointMetadata,
        pendingWrites: pendingWrites as CheckpointPendingWrite[],
      };
      // Not by assignment, so that a channel "__proto__" is a channel like any other.
      result.checkpoint.channel_values = Object.fromEntries([
        ...Object.entries(result.checkpoint.channel_values ?? {}),
        ...loaded.map(({ channel }, i) => [channel, values[i]] as const),
      ]);
      const isFirst = tuple.parentCheckpointId === "";
      const parent = { ...tuple.key, checkpointId: tuple.parentCheckpointId };
      if (!isFirst) result.parentConfig = configOf(parent);
      const lacksSends = !isFirst && result.checkpoint.v < 4;
      if (later === undefined && !lacksSends) return result;
      return this.#complete(result, tuple, later, lacksSends ? parent : undefined);
    });
  }

  async #complete(
    result: CheckpointTuple,
    { key, values }: CoreTuple,
    later: LaterValues | undefined,
    sender: CheckpointKey | undefined,
  ): Promise<CheckpointTuple> {
    const { checkpoint } = result;
    for (const { channel, value } of later === undefined ? [] : values) {
      await later?.add(checkpoint.channel_values, channel, value, () =>
        nameOf(key.threadId, channel),
      );
    }
    if (sender !== undefined) await this.#migratePendingSends(checkpoint, sender);
    return result;
  }

  // Before version 4, what a superstep sent to nodes was kept as its parent's writes.
  async #migratePendingSends(checkpoint: Checkpoint, parent: CheckpointKey): Promise<void> {
    const writes = await this.#call({ kind: "listWrites", key: parent, channel: TASKS });
    checkpoint.channel_values[TASKS] = await Promise.all(
      writes.map(({ value }) => this.#load(value, parent.threadId, TASKS)),
    );
    checkpoint.channel_versions ??= {};
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  #toWrites(writes: CoreWrite[], threadId: string): MaybePromise<CheckpointPendingWrite[]> {
    return whenAllThere(
      writes.map(({ taskId, channel, value }) =>
        whenThere(
          this.#load(value, threadId, channel),
          (loaded): CheckpointPendingWrite => [taskId, channel, loaded],
        ),
      ),
    );
  }

  #load(blob: Blob, threadId: string, channel?: string): MaybePromise<unknown> {
    return load(this.serde, blob, () => nameOf(threadId, channel));
  }
}

function nameOf(threadId: string, channel: string | undefined): string {
  const what = channel === undefined ? "a checkpoint" : nameOfChannel(channel);
  return `${what} of thread ${show(threadId)}`;
}

// The thread first: of what is missing, it is what matters most.
function checkpointKey(asked: Configurable, checkpointId: () => string): CheckpointKey {
  return {
    threadId: threadIdOf(asked.thread_id),
    checkpointNs: optionalId("checkpoint_ns", asked.checkpoint_ns),
    checkpointId: checkpointId(),
  };
}

// Metadata is compared for equality: an operator or a function would equal nothing.
function checkMetadataFilter(method: string, name: string, value: unknown): void {
  const [operator] = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (operator?.startsWith("$") || typeof value === "function" || typeof value === "symbol") {
    throw new KeepsakeError(
      "invalid_filter",
      `filter.${name} of ${method} must be a value, to which metadata is equal: ${operator ?? show(value)}`,
    );
  }
}

// A page of a list, shorter than that if it would be more than an answer takes.
async function withinAnswer<Row>(
  wanted: number,
  read: (limit: number) => MaybePromise<Row[]>,
): Promise<{ page: Row[]; limit: number }> {
  for (let limit = wanted; ; limit = Math.ceil(limit / 4)) {
    try {
      return { page: await read(limit), limit };
    } catch (error) {
      const isTooLarge = error instanceof KeepsakeError && error.code === "too_large";
      if (!isTooLarge || limit <= 1) throw error;
    }
  }
}

// What filters nothing by mistake would show everybody's threads.
function entriesOf(method: string, filter: Record<string, unknown>): [string, unknown][] {
  const prototype = typeof filter === "object" && Object.getPrototypeOf(filter);
  if (prototype !== null && Object.getPrototypeOf(prototype || filter) !== null) {
    const rule = `filter of ${method} must be an object of metadata, such as { user: "ada" }`;
    throw new KeepsakeError("invalid_filter", `${rule}: ${show(filter)}`);
  }
  const entries = Object.entries(filter);
  const [missing] = entries.find(([, value]) => value === undefined) ?? [];
  if (missing === undefined) return entries;
  throw new KeepsakeError(
    "invalid_filter",
    `filter.${missing} of ${method} is undefined, and would filter nothing: leave it out, or give it a value`,
  );
}

function cursorOf(cursor: ThreadListOptions["cursor"]) {
  if (cursor === undefined || cursor === null) return undefined;
  return readInput("cursor", () => {
    if (typeof cursor !== "object") {
      throw invalid(`cursor of listThreads must be a thread that it listed: ${show(cursor)}`);
    }
    // A thread without a checkpoint has none, and says so.
    if (!("checkpointId" in cursor)) {
      throw invalid(`cursor of listThreads must be a whole thread that it listed: ${show(cursor)}`);
    }
    return {
      threadId: checkText("cursor.threadId", cursor.threadId),
      newestCheckpointId: optionalId("cursor.checkpointId", cursor.checkpointId),
    };
  });
}

function limitOf(limit: number | undefined): number {
  if (limit === undefined || limit === null || limit === Number.POSITIVE_INFINITY) {
    return Number.POSITIVE_INFINITY;
  }
  return checkWhole("limit", limit, 0);
}

function checkRetention(retention: AutomaticRetention | undefined): AutomaticRetention | undefined {
  if (retention === undefined || retention === null) return undefined;
  const checked = checkOptions("retention", AUTOMATIC, retention);
  const { every, ...rules } = checked;
  if (every !== undefined) checkWhole("retention.every", every, 1);
  rulesOf(rules);
  if (Object.values(rules).some((rule) => rule !== undefined)) return checked;
  throw invalid("retention needs one of keepLast, maxAge and maxBytes: it would prune nothing");
}

const RULES = ["keepLast", "maxAge", "maxBytes", "olderThan"] as const;
const MINUTE = 60_000;

function rulesOf(options: RetentionPruneOptions): RetentionRules {
  const { threadIds, keepLast, maxAge, maxBytes, olderThan, dryRun } = options;
  const byAge =
    maxAge === undefined
      ? ""
      : uuid6At(
          Date.now() - checkNumber("maxAge", maxAge, 0, Number.MAX_SAFE_INTEGER) * MINUTE,
          "first",
        );
  const byBound = boundOf("olderThan", olderThan, "first");
  return {
    threadIds: threadIds === undefined ? undefined : checkEach("threadIds", threadIds, threadIdOf),
    keepLast: keepLast === undefined ? 0 : checkWhole("keepLast", keepLast, 1),
    // What is older than either goes.
    olderThan: [byAge, byBound].sort().at(-1) ?? "",
    maxBytes: maxBytes === undefined ? 0 : checkWhole("maxBytes", maxBytes, 1),
    dryRun: checkFlag("dryRun", dryRun) ?? false,
  };
}

function checkSerde(serde: SerializerProtocol | undefined): void {
  if (!serde) return;
  for (const method of ["dumpsTyped", "loadsTyped"] as const) {
    if (typeof orUndefined(() => serde[method]) === "function") continue;
    throw invalid(
      `serde must have the method ${method}: ${show(serde)}; MemorySaver takes it alone, SqliteSaver by name`,
    );
  }
}

/** Keeps checkpoints in linear memory: fast, and gone with the object. */
export class MemorySaver extends KeepsakeSaver {
  /** Errors and toJSON() have it, however a bundler calls the class. @internal */
  static override readonly name: string = "MemorySaver";

  constructor(serde?: SerializerProtocol) {
    super(() => Connection.toMemory(), serde);
  }
}

/** Where a SqliteSaver keeps its checkpoints, and how they are serialised. */
export interface SqliteSaverOptions extends DatabaseOptions {
  /** Turns values into bytes and back. @default LangGraph's JsonPlusSerializer */
  serde?: SerializerProtocol | undefined;
  /** Prunes history by itself. @default all history stays */
  retention?: AutomaticRetention | undefined;
}

const SQLITE_SAVER_OPTIONS: NamesOf<SqliteSaverOptions> = {
  ...DATABASE_OPTIONS,
  serde: 1,
  retention: 1,
};

/**
 * Keeps checkpoints in a SQLite file, which it shares with every other SqliteSaver
 * and SqliteStore of this process on the same path. `":memory:"` keeps nothing.
 */
export class SqliteSaver extends KeepsakeSaver {
  /** Errors and toJSON() have it, however a bundler calls the class. @internal */
  static override readonly name: string = "SqliteSaver";

  constructor(options: SqliteSaverOptions);
  /** @internal */
  constructor(options: SqliteSaverOptions, shared: Connection, outer?: SqliteSaver);
  constructor(options: SqliteSaverOptions, shared?: Connection, outer?: SqliteSaver) {
    const isOfMemory = shared instanceof Connection;
    super(
      () => {
        if (isOfMemory) return shared.share();
        const given = checkDatabaseOptions(SQLITE_SAVER_OPTIONS, options);
        if (shared === undefined) return Connection.toDatabase(given);
        throw invalid("it takes a serde by name: { path, serde }");
      },
      // What can't be read is refused above.
      orUndefined(() => options?.serde),
      orUndefined(() => options?.retention),
      outer,
      isOfMemory,
    );
  }

  /** The same within a scope: of the serde and the retention of the whole. @internal */
  within(scope: Connection): SqliteSaver {
    return new SqliteSaver({ serde: this.serde }, scope, this);
  }

  /** A path, or `":memory:"`. */
  static fromConnString(path: string): SqliteSaver {
    return new SqliteSaver({ path });
  }
}
