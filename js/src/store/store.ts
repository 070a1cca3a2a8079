// LangGraph's BaseStore over an engine.

import { BaseStore, type OperationResults } from "@langchain/langgraph-checkpoint";
import {
  checkFlag,
  checkOptions,
  checkSteps,
  checkTime,
  checkWhole,
  type NamesOf,
} from "../checks.js";
import { Connection, checkDatabaseOptions, DATABASE_OPTIONS } from "../connection.js";
import type { MaybePromise } from "../engine/answers.js";
import { Pace } from "../engine/idle-index.js";
import { Mutex } from "../engine/mutex.js";
import type { DatabaseOptions } from "../engine/options.js";
import {
  detailOf,
  invalid,
  KeepsakeError,
  nameError,
  orUndefined,
  tell,
  throwIfEnded,
  withNamedErrors,
} from "../errors.js";
import { NO_TTL } from "../wire/custom.js";
import type { Absence, ItemVersion as CoreVersion, StoreStats, Undone } from "../wire/layout.js";
import type {
  AnswerTo,
  Operation as CoreOperation,
  PutOperation as CorePut,
  SearchOperation as CoreSearch,
  OperationOf,
  StoreOperation,
} from "../wire/operations.js";
import { Embedder, needsEmbedding, rankingOf } from "./embedding.js";
import {
  type Evaluation,
  type EvaluationCase,
  type EvaluationOptions,
  evaluate,
  type Searchable,
  type Tuning,
  tune,
} from "./evaluation.js";
import { type Doubt, doubtsOf, settle } from "./filter-doubts.js";
import {
  dropHistory,
  type HistoryRule,
  historyRules,
  type KeepHistoryOptions,
  keepHistory,
} from "./history-rules.js";
import {
  checkStoreOptions,
  configurationOf,
  STORE_OPTIONS,
  type StoreOptions,
  ttlOf,
} from "./options.js";
import { withoutOwn } from "./own-namespaces.js";
import {
  HISTORY_OPTIONS,
  type HistoryOptions,
  type ItemVersion,
  type ListNamespacesOptions,
  listOperation,
  PastStore,
  UNDO_OPTIONS,
  type UndoOptions,
} from "./past-store.js";
import { explanationOf, UsualRanking } from "./ranking.js";
import { SecretGuard } from "./secrets.js";
import {
  checkKey,
  checkNamespace,
  fromCore,
  type GetOperation,
  ITEM,
  type Item,
  minutesToMs,
  type Operation,
  PUT_OPTIONS,
  type PutOperation,
  type PutOptions,
  type SearchItem,
  type SearchOperation,
  searchOf,
  type Time,
  toCore,
} from "./store-operations.js";

/** How work goes on that is done in steps. */
export interface StepOptions {
  /** Ends it before the next step; what was done is kept. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: { done: number; left: number }) => void) | undefined;
}

/** How `reembed()` goes on: a step is a call to the model. */
export interface ReembedOptions extends StepOptions {
  /** Items of one step. @default 64 */
  batchSize?: number | undefined;
}

/** Why an item is no hit of a search. */
export interface WhyNot {
  /**
   * `hit`: it is one. `noItem`: there is none, or it has expired. `outsideNamespace`,
   * `filter`: it is not below the prefix, the filter refuses it. `noMatch`: it holds
   * nothing of the query. `notValid`: it does not hold at the time of the search.
   * `quarantined`: a policy keeps it out.
   * `belowMinScore`. `notOnPage`: others come first, or it comes before `offset`.
   */
  reason: Absence;
  /** Its place among all hits, 0 for the first; `diversity` left aside. */
  rank?: number | undefined;
  score?: number | undefined;
  /** The score of the last hit of the page. */
  lastScore?: number | undefined;
  explain?: Record<string, number> | undefined;
}

/** What `search()` looks for below a namespace prefix. */
export type SearchOptions = Omit<SearchOperation, "namespacePrefix">;

const GET_OPTIONS: NamesOf<Pick<GetOperation, "refreshTtl">> = { refreshTtl: 1 };
const STEP_OPTIONS: NamesOf<StepOptions> = { signal: 1, onProgress: 1 };
const REEMBED_OPTIONS: NamesOf<ReembedOptions> = { batchSize: 1, ...STEP_OPTIONS };

type PastOperation = OperationOf<"getAsOf" | "searchAsOf" | "listNamespacesAsOf">;

const MOST_VERSIONS = 1_000_000;
const SWEEP_AT_ONCE = 1000;
// Of a step of reembed().
const MOST_AT_ONCE = 10_000;
const BUILD_STEP_MS = 15;
// A model that is there.
const LOADED = Promise.resolve();
// A longer one would fire at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * What every store of keepsake does. Made synchronously, opened by the first call.
 * Values are copied in and out. One `batch()` is one transaction.
 */
export abstract class KeepsakeStore extends BaseStore {
  /** @internal */
  protected readonly connection: Connection;
  // As its caller knows it: errors begin with that.
  readonly #called: string;
  readonly #given: StoreOptions | null | undefined;
  readonly #model: Embedder | undefined;
  readonly #dims: number | undefined;
  readonly #now: () => number;
  // How its operations are read.
  readonly #secrets: SecretGuard | undefined;
  readonly #reading: Parameters<typeof toCore>[1];
  readonly #sweepIntervalMs: number | undefined;
  #sweeper: ReturnType<typeof setInterval> | undefined;
  // What its model was seen to wait for.
  #awaited: Promise<unknown> | undefined;
  // The last write that still waits for its vectors: later writes come after it.
  #embedding: Promise<unknown> | undefined;
  // Of steps of reembed(), so that no text is embedded twice.
  readonly #reembedding = new Mutex();

  /** One that is made of a memory's options leaves the errors of those to the memory. @internal */
  protected constructor(
    connect: (configuration: OperationOf<"configureStore"> | undefined) => Connection,
    given: StoreOptions | null | undefined,
    isOfMemory = false,
  ) {
    super();
    this.#called = isOfMemory ? "memory.store" : new.target.name;
    this.#given = given;
    try {
      const options = checkStoreOptions(given);
      const configuration = configurationOf(options);
      const { index, now } = options;
      const secrets = SecretGuard.of(options.secrets, "allow");
      this.#secrets = secrets;
      this.#model =
        index &&
        new Embedder(index.embeddings, configuration?.index?.fields ?? [], index.cache, secrets);
      this.#dims = index?.dims;
      this.#now = now === undefined ? Date.now : clockOf(now);
      const hasIndex = index !== undefined;
      const ranking = new UsualRanking(
        options.ranking,
        index && rankingOf(index.embeddings),
        hasIndex,
      );
      this.#reading = { ranking, hasIndex, ...ttlOf(options) };
      const interval = options.ttl?.sweepIntervalMinutes;
      this.#sweepIntervalMs =
        interval === undefined ? undefined : minutesToMs("ttl.sweepIntervalMinutes", interval);
      this.connection = connect(configuration);
    } catch (error) {
      throw isOfMemory ? error : nameError(this.#called, error);
    }
  }

  /**
   * All operations as one transaction, one result each. Reads see the store as it
   * was before; the last write to a key wins; if one fails, nothing is written.
   */
  override async batch<Op extends readonly Operation[]>(
    operations: Op,
  ): Promise<OperationResults<Op>> {
    try {
      const requests = toCore(operations, this.#reading);
      if (requests.length === 0) return [] as unknown as OperationResults<Op>;
      this.start();
      this.#embedLater();
      const tellMasked = this.#secrets?.puts(requests);
      const all = await this.#executeSettled(requests, doubtsOf(operations));
      tellMasked?.();
      const answers = await withoutOwn(requests, all, async (request) => {
        const [answer] = await this.#execute([request]);
        return answer;
      });
      return requests.map((request, i) => fromCore(request, answers[i])) as OperationResults<Op>;
    } catch (error) {
      throw nameError(this.#called, error);
    }
  }

  override async get(
    namespace: string[],
    key: string,
    options?: Pick<GetOperation, "refreshTtl">,
  ): Promise<Item | null> {
    return this.#one(() => {
      const { refreshTtl } = checkOptions("get", GET_OPTIONS, options);
      return { namespace, key, refreshTtl };
    }) as Promise<Item | null>;
  }

  /**
   * `ttl` is in minutes, null for ever. `index` says which fields are embedded, false for none.
   * `validFrom`, `validUntil` and `supersedes` say when a fact holds, `origin` and `source` where
   * it comes from: `PutOperation`.
   */
  override async put(
    namespace: string[],
    key: string,
    value: object,
    index?: false | string[],
    options?: PutOptions,
  ): Promise<void> {
    await this.#one(() => {
      refuseReservedRoot(namespace);
      const given = checkOptions("put", PUT_OPTIONS, options);
      const { ttl, validFrom, validUntil, supersedes, origin, source } = given;
      const put: PutOperation = { namespace, key, value, ttl };
      if (index !== undefined) put.index = index;
      if (validFrom !== undefined) put.validFrom = validFrom;
      if (validUntil !== undefined) put.validUntil = validUntil;
      if (supersedes !== undefined) put.supersedes = supersedes;
      if (origin !== undefined) put.origin = origin;
      if (source !== undefined) put.source = source;
      return put;
    });
  }

  override async delete(namespace: string[], key: string): Promise<void> {
    await this.batch([{ namespace, key, value: null }]);
  }

  override async search(
    namespacePrefix: string[],
    options: SearchOptions = {},
  ): Promise<SearchItem[]> {
    return this.#one(() => searchOf(namespacePrefix, options)) as Promise<SearchItem[]>;
  }

  override async listNamespaces(options?: ListNamespacesOptions): Promise<string[][]> {
    return this.#one(() => listOperation(options)) as Promise<string[][]>;
  }

  /**
   * Keeps what the items of this namespace and of all below it were, from now on: for
   * `history()`, `undo()` and `asOf()`. `[]` is everything. The database remembers it, so that
   * every tab and process does it. Again changes how much is kept.
   */
  async keepHistory(namespace: string[], options?: KeepHistoryOptions): Promise<void> {
    await this.withNamedErrors(() => keepHistory(this.connection, namespace, options, this.#now()));
  }

  /** Keeps it no longer, and drops what was kept by that rule. */
  async dropHistory(namespace: string[]): Promise<void> {
    await this.withNamedErrors(() => dropHistory(this.connection, namespace));
  }

  /** Which namespaces keep what their items were. */
  async historyRules(): Promise<HistoryRule[]> {
    return this.withNamedErrors(() => historyRules(this.connection));
  }

  /**
   * What an item was, the newest version first; the last one may be what was there before the
   * history began. `no_history` where `memory.store.keepHistory()` keeps none.
   */
  async history(
    namespace: string[],
    key: string,
    options?: HistoryOptions,
  ): Promise<ItemVersion[]> {
    return this.withNamedErrors(async () => {
      const { limit } = checkOptions("history", HISTORY_OPTIONS, options);
      if (limit !== undefined) checkWhole("limit", limit, 1, MOST_VERSIONS);
      const item = { namespace: checkNamespace(namespace), key: checkKey(key) };
      const versions = await this.#call(() => ({ kind: "history", ...item, limit }));
      return versions.map((version) => versionFromCore(version));
    });
  }

  /**
   * Makes items again what they were before an operation that `history()` tells of: values,
   * times, TTLs and vectors. All of a batch, or nothing; in a scope, what it did there.
   * `changed_since` if something newer changed one of them, `no_history` if a part of it is
   * not kept any more.
   */
  async undo(operation: number, options?: UndoOptions): Promise<Undone> {
    return this.withNamedErrors(() => {
      const { force } = checkOptions("undo", UNDO_OPTIONS, options);
      checkWhole("operation", operation, 1);
      const isForced = checkFlag("force", force) ?? false;
      return this.#call(() => ({ kind: "undo", operation, force: isForced }));
    });
  }

  /**
   * The items as they were at that time, to be read: what the memory held then. What was true
   * then, as far as it knows now, is `search(…, { validAt })`.
   */
  asOf(time: Time): PastStore {
    let at: number;
    try {
      at = checkTime("the time of asOf", time);
    } catch (error) {
      throw nameError(this.#called, error);
    }
    return this.pastAt(() => at);
  }

  /** The same, of a time that is found when it is needed. @internal */
  pastAt(at: () => MaybePromise<number>): PastStore {
    return new PastStore(async (operations) => {
      const requests = toCore(operations, this.#reading);
      if (requests.some(isWrite)) {
        throw new KeepsakeError(
          "read_only",
          "what was can't be written: write to the store of now",
        );
      }
      const doubts = doubtsOf(operations);
      const both = [
        ...requests,
        ...toCore(
          doubts.flatMap(({ probes }) => probes),
          this.#reading,
        ),
      ];
      const [time, embedded] = [await at(), (await this.#model?.embed(both)) ?? both];
      const asked = embedded.map((request) => asOfRequest(request, time));
      const all = await this.connection.call(asked, this.#now());
      settle(doubts, all.slice(requests.length));
      const answers = await withoutOwn(requests, all, async (request) => {
        const [ready] = (await this.#model?.embed([request])) ?? [request];
        const past = asOfRequest(ready as StoreOperation, time);
        return (await this.connection.call([past], this.#now()))[0];
      });
      return requests.map((request, i) => fromCore(request, answers[i]));
    });
  }

  /** What is done here about secrets; undefined if nothing is. @internal */
  get secrets(): SecretGuard | undefined {
    return this.#secrets;
  }

  /** Whether another store reads the same items by the same rules: scopes are made anew. @internal */
  readsAs(other: unknown): boolean {
    if (typeof other !== "object" || other === null || !(#given in other)) return false;
    return other.#given === this.#given && this.connection.readsAs(other.connection);
  }

  /** The keys of exactly this namespace, sorted by code point. */
  async listKeys(namespace: string[]): Promise<string[]> {
    return this.#call(() => ({ kind: "listKeys", namespace: checkNamespace(namespace) }));
  }

  /** Deletes all items of exactly this namespace; says how many there were. */
  async clearNamespace(namespace: string[]): Promise<number> {
    return this.#call(() => ({ kind: "clearNamespace", namespace: checkNamespace(namespace) }));
  }

  /** Deletes what has expired; says how many items. */
  async sweepExpired(): Promise<number> {
    let swept = 0;
    for (;;) {
      const count = await this.#call(() => ({ kind: "sweepExpired", maxItems: SWEEP_AT_ONCE }));
      swept += count;
      if (count < SWEEP_AT_ONCE) return swept;
    }
  }

  /**
   * Why an item is no hit of a search, `namespacePrefix` being its namespace unless another
   * is said. As dear as the search without a limit.
   */
  async whyNot(
    namespacePrefix: string[],
    item: string | { namespace: string[]; key: string },
    options: SearchOptions = {},
  ): Promise<WhyNot> {
    return this.withNamedErrors(async () => {
      const { namespace, key } =
        typeof item === "object" && item !== null
          ? checkOptions("the item of whyNot", ITEM, item)
          : { namespace: namespacePrefix, key: item };
      const requests = toCore([searchOf(namespacePrefix, options)], this.#reading);
      const [search] = (await this.#model?.embed(requests)) ?? requests;
      const [why] = await this.connection.call(
        [
          {
            kind: "explainAbsence",
            search: search as CoreSearch,
            namespace: checkNamespace(namespace),
            key: checkKey(key),
          },
        ],
        this.#now(),
      );
      const { absence: reason, rank, score, lastScore, parts } = why;
      return { reason, rank, score, lastScore, explain: explanationOf({ parts }) };
    });
  }

  /**
   * Embeds the items that wait for vectors: those whose vectors `index.replace` made void, and
   * those that were put before there was an `index`, or by a store without it. Says how many
   * got theirs; one that was put or deleted meanwhile does not count, nor does one that another `reembed()` of this
   * store had, which goes on at the same time. A model that is loaded later,
   * as that of `english()`, is there when this has ended, also if nothing waited.
   * Other calls go on meanwhile, and where it was ended it goes on by the next call, be it of
   * another process.
   */
  async reembed(options: ReembedOptions = {}): Promise<number> {
    return this.withNamedErrors(async () => {
      const given = checkSteps(checkOptions("reembed", REEMBED_OPTIONS, options));
      const { batchSize = 64, signal, onProgress } = given;
      const model = this.#model;
      if (!model) {
        throw invalid("reembed needs a store with an index");
      }
      checkWhole("batchSize", batchSize, 1, MOST_AT_ONCE);
      await model.loading?.();
      const step = async () => {
        throwIfEnded(signal);
        const { items, left } = await this.#call(() => ({ kind: "readPending", limit: batchSize }));
        if (items.length === 0) return undefined;
        const embedded = await model.embedItems(items);
        const done = await this.#call(() => ({ kind: "embedPending", items: embedded }));
        return { done, left: left - items.length };
      };
      for (let done = 0; ; ) {
        const made = await this.#reembedding.run(step);
        if (made === undefined) return done;
        done += made.done;
        tell(onProgress, { done, left: made.left });
      }
    });
  }

  /**
   * Takes every vector into the graph that searches among very many of them follow, and
   * saves it; says how many it has. From 5,000 vectors on (6,000 of 64 dimensions) it is built while nobody calls,
   * except in Durable Objects: this is for who wants it now, or of fewer. Other calls go on
   * meanwhile, and where it was ended it goes on from what was saved.
   */
  async buildIndex(options: StepOptions = {}): Promise<number> {
    return this.withNamedErrors(async () => {
      const { signal, onProgress } = checkSteps(checkOptions("buildIndex", STEP_OPTIONS, options));
      if (this.#dims === undefined) {
        throw invalid("buildIndex needs a store with an index");
      }
      const pace = new Pace(BUILD_STEP_MS);
      for (;;) {
        throwIfEnded(signal);
        const { vectors, inGraph, isDone } = await pace.step((count) =>
          this.#call(() => ({ kind: "improveIndex", vectors: count, isWanted: true })),
        );
        tell(onProgress, { done: inGraph, left: vectors - inGraph });
        if (isDone) return inGraph;
        await new Promise((resolve) => setTimeout(resolve));
      }
    });
  }

  /** How well searches find what answers these questions. Reads restart no time to live. */
  async eval(cases: EvaluationCase[], options?: EvaluationOptions): Promise<Evaluation> {
    return this.withNamedErrors(() => evaluate(this.#forEvaluation(), cases, options));
  }

  /** Which weights find more of what answers these questions. Changes nothing. */
  async tune(cases: EvaluationCase[], options?: EvaluationOptions): Promise<Tuning> {
    return this.withNamedErrors(() => tune(this.#forEvaluation(), cases, options));
  }

  /**
   * Opens the database, with this store's index. Reads no row of it.
   * @internal
   */
  async open(): Promise<void> {
    this.#embedLater();
    await this.#call(() => ({ kind: "size" }));
  }

  async stats(): Promise<StoreStats> {
    return this.#call(() => ({ kind: "storeStats" }));
  }

  /** Starts the sweeper, if `ttl.sweepIntervalMinutes` is set. The first call does it too. */
  override start(): void {
    if (
      this.#sweepIntervalMs === undefined ||
      this.#sweeper !== undefined ||
      this.connection.isClosed
    )
      return;
    // A timer would keep a store for ever that nobody has any more.
    const self = new WeakRef(this);
    const sweep = () => {
      const store = self.deref();
      // A sweep that fails is tried again at the next turn; reads hide what expired.
      if (store) store.sweepExpired().catch(() => {});
      else clearInterval(timer);
    };
    const timer = setInterval(sweep, Math.min(this.#sweepIntervalMs, LONGEST_TIMER_MS));
    this.#sweeper = timer;
    (this.#sweeper as { unref?: () => void }).unref?.();
  }

  /** Stops the sweeper. */
  override stop(): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  /** Lets go of the database. Later calls reject with `closed`. Twice is fine. */
  async close(): Promise<void> {
    this.stop();
    await this.connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  toJSON(): string {
    return `[${this.constructor.name}]`;
  }

  /** Which database its items are in, and where it is at home there. @internal */
  get whereabouts(): { origin: object; place: readonly string[] } {
    return { origin: this.connection.origin, place: this.connection.levels?.place ?? [] };
  }

  #forEvaluation(): Searchable {
    return {
      mode: this.#reading.ranking.saidMode,
      search: (prefix, options) => this.search(prefix, { ...options, refreshTtl: false }),
    };
  }

  // Reads are probed with the filters, writes once these are settled: a call that fails writes
  // nothing.
  #executeSettled(requests: StoreOperation[], doubts: Doubt[]): MaybePromise<readonly unknown[]> {
    if (doubts.length === 0) return this.#execute(requests);
    const both = doubts.flatMap(({ probes }) => probes);
    const probes = toCore(both, this.#reading);
    if (!requests.some(isWrite)) return this.#probe(requests, probes, doubts);
    const earlier = this.#earlierWrites(requests);
    const ready = this.#model?.embed(requests) ?? requests;
    const settled = this.#probe([], probes, doubts);
    const written = Promise.all([ready, earlier, settled]).then(([embedded]) =>
      this.connection.call(embedded, this.#now()),
    );
    this.#remember(written);
    return written;
  }

  async #probe(
    requests: StoreOperation[],
    probes: StoreOperation[],
    doubts: Doubt[],
  ): Promise<readonly unknown[]> {
    const answers = await this.#execute([...requests, ...probes]);
    settle(doubts, answers.slice(requests.length));
    return answers;
  }

  #execute(requests: StoreOperation[]): MaybePromise<readonly unknown[]> {
    if (this.#model && requests.some(needsEmbedding))
      return this.#executeEmbedded(requests, this.#model);
    const earlier = this.#earlierWrites(requests);
    if (earlier) return earlier.then(() => this.connection.call(requests, this.#now()));
    return this.connection.call(requests, this.#now());
  }

  // Writes keep their order. Reads need not wait for vectors of writes that have not been made
  // yet: a model may be slow, or never answer.
  #earlierWrites(requests: StoreOperation[]): Promise<unknown> | undefined {
    return requests.some(isWrite) ? this.#embedding : undefined;
  }

  #executeEmbedded(requests: StoreOperation[], model: Embedder): MaybePromise<readonly unknown[]> {
    const embedded = model.embed(requests);
    const earlier = this.#earlierWrites(requests);
    // What was embedded before needs no promise.
    if (!earlier && Array.isArray(embedded)) return this.connection.call(embedded, this.#now());
    const written = Promise.all([embedded, earlier]).then(([ready]) =>
      this.connection.call(ready, this.#now()),
    );
    if (requests.some(isWrite)) this.#remember(written);
    return written;
  }

  // Once a model that is loaded later is there, what was put before gets its vectors: now, in a
  // session that was too short, or in a scope. Scopes leave it to the memory.
  #embedLater(): void {
    if (this.#model?.loading === undefined || this.connection.levels) return;
    const loaded = this.#model.loading() ?? LOADED;
    if (this.#awaited === loaded || this.#awaited === LOADED) return;
    this.#awaited = loaded;
    loaded
      .then(() => {
        this.#awaited = LOADED;
        return this.reembed();
      })
      .catch((error: KeepsakeError) => {
        if (error.code === "closed") return;
        console.warn(
          `[keepsake] ${this.#called} finds items without vectors by words alone: ${detailOf(error)} (${error.code})`,
        );
      });
  }

  #remember(written: Promise<unknown>): void {
    const settled: Promise<void> = written.then(noop, noop).then(() => {
      if (this.#embedding === settled) this.#embedding = undefined;
    });
    this.#embedding = settled;
  }

  // A batch of what is made of a call's arguments.
  async #one(operation: () => Operation): Promise<unknown> {
    let only: Operation;
    try {
      only = operation();
    } catch (error) {
      throw nameError(this.#called, error);
    }
    return (await this.batch([only]))[0];
  }

  #call<const Op extends CoreOperation>(operation: () => Op): Promise<AnswerTo<Op>> {
    return this.withNamedErrors(
      async () => (await this.connection.call([operation()], this.#now()))[0],
    );
  }

  /**
   * Puts an item that was created and updated then, with the vectors that it brings
   * if they fit, or else its texts embedded anew.
   * @internal
   */
  readonly putImported = async (
    put: CorePut,
    createdAt: number,
    updatedAt: number,
  ): Promise<void> => {
    const fits = put.vectors?.length && put.vectors.every((v) => v.values.length === this.#dims);
    const { ttl = this.#reading.ttl } = put;
    const requests: StoreOperation[] = [{ ...put, ttl, ...(!fits && { vectors: [] }) }];
    const [ready] = (await this.#model?.embed(requests)) ?? requests;
    // A put sets what its clock says: the first creates, the second updates.
    if (createdAt < updatedAt)
      await this.connection.call([{ ...ready, ttl: NO_TTL } as CorePut], createdAt);
    await this.connection.call([ready], updatedAt);
  };

  /** @internal */
  protected withNamedErrors<T>(body: () => MaybePromise<T>): Promise<T> {
    return withNamedErrors(this.#called, body);
  }
}

/** Keeps items in linear memory: fast, and gone with the object. */
export class InMemoryStore extends KeepsakeStore {
  /** Errors and toJSON() have it, however a bundler calls the class. @internal */
  static override readonly name: string = "InMemoryStore";

  constructor(options: StoreOptions = {}) {
    super((configuration) => {
      checkOptions("", STORE_OPTIONS, options);
      return Connection.toMemory(configuration);
    }, options);
  }
}

/** A SqliteStore's database, index and expiry. */
export interface SqliteStoreOptions extends StoreOptions, DatabaseOptions {}

const SQLITE_STORE_OPTIONS: NamesOf<SqliteStoreOptions> = {
  ...DATABASE_OPTIONS,
  ...STORE_OPTIONS,
};

/**
 * Keeps items in a SQLite file, which it shares with every other SqliteStore and
 * SqliteSaver of this process on the same path. `":memory:"` keeps nothing.
 */
export class SqliteStore extends KeepsakeStore {
  /** Errors and toJSON() have it, however a bundler calls the class. @internal */
  static override readonly name: string = "SqliteStore";

  constructor(options: SqliteStoreOptions);
  /** @internal */
  constructor(options: SqliteStoreOptions, shared: Connection);
  constructor(options: SqliteStoreOptions, shared?: Connection) {
    const isOfMemory = shared instanceof Connection;
    super(
      (configuration) => {
        if (isOfMemory) return shared.share(configuration);
        const given = checkDatabaseOptions(SQLITE_STORE_OPTIONS, options);
        if (shared === undefined) return Connection.toDatabase(given, configuration);
        throw invalid("it takes all of its options in one: { path, index }");
      },
      options,
      isOfMemory,
    );
  }
}

function asOfRequest(request: StoreOperation, at: number): PastOperation {
  switch (request.kind) {
    case "get":
      return { kind: "getAsOf", at, get: request };
    case "search":
      return { kind: "searchAsOf", at, search: request };
    case "listNamespaces":
      return { kind: "listNamespacesAsOf", at, list: request };
    case "put":
      throw new KeepsakeError("internal", "a write was asked of the past");
  }
}

function versionFromCore({ operation, change, at, actor, item }: CoreVersion): ItemVersion {
  const found = item === undefined ? null : (fromCore({ kind: "get" } as never, item) as Item);
  return {
    ...(operation > 0 && { operation }),
    change,
    time: new Date(at),
    ...(actor !== "" && { actor }),
    value: found?.value ?? null,
    item: found,
  };
}

// A clock of the caller's own.
function clockOf(now: () => number): () => number {
  return () => checkWhole("what now() answers", now(), 0);
}

// Upstream's rule for put(); batch() may write there.
function refuseReservedRoot(namespace: string[]): void {
  if (orUndefined(() => Array.isArray(namespace) && namespace[0]) !== "langgraph") return;
  throw new KeepsakeError("invalid_namespace", 'the first namespace label must not be "langgraph"');
}

function isWrite(operation: StoreOperation): boolean {
  return operation.kind === "put";
}

function noop(): void {}
