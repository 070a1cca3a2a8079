// A checkpointer for everybody: whose thread it is, each run says.

import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { KeepsakeSaver, type ListOptions, type SqliteSaver } from "../checkpointer/checkpointer.js";
import { checkOptions, type NamesOf, readInput, refuseMethodsOf, show } from "../checks.js";
import type { Connection } from "../connection.js";
import { invalid, type KeepsakeError, nameError } from "../errors.js";
import { type Policy, toWirePolicy } from "./policy.js";
import {
  checkScopeName,
  checkSources,
  namesScope,
  placeOfRun,
  type ScopeName,
  type ScopeSources,
} from "./scope.js";

const CALL = "checkpointerFor";

/** Whose word counts, and what may be done in the scopes. */
export interface CheckpointerForOptions extends ScopeSources {
  /** Holds in each of the scopes, for their threads. @default everything is allowed */
  policy?: Policy | undefined;
}

const OPTIONS: NamesOf<CheckpointerForOptions> = { sources: 1, policy: 1 };

// In configs that are answered: where their thread lies. A JSON text has no symbols, so that
// nobody who sends one can name a place by it.
const ANSWERED = Symbol("keepsake.answered");
// By which LangGraph lends a graph's checkpointer to its subgraphs.
const LENT = "__pregel_checkpointer";
// So many savers are kept: making one takes 50 µs.
const MOST_SAVERS = 1000;
// So many threads are known by where they were found.
const MOST_FOUND = 20_000;

type Place = readonly string[];

interface Answered {
  [ANSWERED]?: { place: Place; threadId: unknown };
  thread_id?: unknown;
}

/**
 * Each thread lies in the scope that its run names, where `memory.scoped()` has it, too.
 * `memory.checkpointerFor()` makes one; it ends with the memory.
 */
export class ScopedSaver extends BaseCheckpointSaver {
  /** As it is printed, however a bundler calls the class. @internal */
  static override readonly name: string = "ScopedSaver";

  readonly #saver: SqliteSaver;
  readonly #connection: Connection;
  readonly #scope: ScopeName;
  readonly #sources: ScopeSources;
  readonly #policy: ReturnType<typeof toWirePolicy>;
  readonly #savers = new Map<string, SqliteSaver>();
  // Where checkpoints of a thread were found. The last found are the last.
  readonly #found = new Map<string, { threadId: string; place: Place }>();

  // What takes no config can't know whose thread is meant.
  static {
    refuseMethodsOf([KeepsakeSaver.prototype], ScopedSaver.prototype, withoutConfig);
  }

  /** @internal */
  constructor(
    saver: SqliteSaver,
    connection: Connection,
    scope: ScopeName,
    given?: CheckpointerForOptions,
  ) {
    super(saver.serde);
    const { policy, sources } = checkOptions(CALL, OPTIONS, given);
    checkSources(CALL, sources);
    this.#scope = checkScopeName(scope);
    this.#sources = { sources };
    this.#policy = toWirePolicy(policy);
    this.#saver = saver;
    this.#connection = connection;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const found: CheckpointTuple[] = [];
    for (const place of this.#placesOf(config)) {
      const tuple = await this.#saverAt(place).getTuple(config);
      if (tuple !== undefined) found.push(this.#answered(place, tuple));
    }
    if (found.length < 2) return found[0];
    // Copies of one thread, imported for several.
    throw nameError(CALL, invalid("the config names nobody, and several have this subgraph"));
  }

  override async *list(
    config: RunnableConfig,
    options?: ListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    const place = this.#placeOf(config);
    for await (const tuple of this.#saverAt(place).list(config, options)) {
      yield this.#answered(place, tuple);
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const place = this.#placeOf(config);
    const saver = this.#saverAt(place);
    return placed(place, await saver.put(config, checkpoint, metadata, newVersions));
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath?: string,
  ): Promise<void> {
    await this.#saverAt(this.#placeOf(config)).putWrites(config, writes, taskId, taskPath);
  }

  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    return this.#saverAt(this.#placeOf(options?.config)).getDeltaChannelHistory(options);
  }

  /** Refused, as all that takes no config: ask `memory.scoped({ user }).checkpointer`. */
  override async deleteThread(_threadId: string): Promise<void> {
    throw withoutConfig("deleteThread");
  }

  /** Nothing to do: it ends with its memory. */
  async close(): Promise<void> {}

  #saverAt(place: Place): SqliteSaver {
    const name = JSON.stringify(place);
    const known = this.#savers.get(name);
    if (known !== undefined) return known;
    const level = { place: [...place], policy: this.#policy };
    const saver = this.#saver.within(this.#connection.within(level));
    if (this.#savers.size >= MOST_SAVERS) this.#savers.clear();
    this.#savers.set(name, saver);
    return saver;
  }

  // What the run says counts. Where it says nothing, its config may be one that was answered.
  #placeOf(config: RunnableConfig): Place {
    return asInput(
      () => this.#answeredPlace(config) ?? placeOfRun(this.#scope, config, this.#sources),
    );
  }

  // For getState() with `subgraphs`, LangGraph asks by configs of its own making that have nothing
  // of the one that was answered but the thread. Such a one begins with the saver: where a caller
  // names a subgraph, the saver comes last. Its namespace has the id of a task, which follows from
  // the id of a checkpoint, and so is in one place alone. That of a subgraph with a checkpointer of
  // its own has none, and may be anybody's.
  #placesOf(config: RunnableConfig): Place[] {
    const configurable = asInput(() => Object(config?.configurable));
    const isOfGetState = configurable[LENT] === this && Object.keys(configurable)[0] === LENT;
    if (!isOfGetState || asInput(() => this.#isPlaced(config))) return [this.#placeOf(config)];
    const { thread_id, checkpoint_ns } = configurable;
    if (
      !String(checkpoint_ns)
        .split("|")
        .every((name) => name.includes(":"))
    ) {
      throw nameError(CALL, ownSubgraph(checkpoint_ns));
    }
    const known = [...this.#found.values()].filter((each) => each.threadId === thread_id);
    return known.length > 0 ? known.map(({ place }) => place) : [this.#placeOf(config)];
  }

  #isPlaced(config: RunnableConfig): boolean {
    return (
      namesScope(this.#scope, config, this.#sources) || this.#answeredPlace(config) !== undefined
    );
  }

  #answeredPlace(config: RunnableConfig): Place | undefined {
    const { [ANSWERED]: answered, thread_id }: Answered = Object(config?.configurable);
    if (answered === undefined || answered.threadId !== thread_id) return undefined;
    return namesScope(this.#scope, config, this.#sources) ? undefined : answered.place;
  }

  #answered(place: Place, tuple: CheckpointTuple): CheckpointTuple {
    this.#remember(place, tuple.config.configurable?.thread_id);
    const { parentConfig } = tuple;
    return {
      ...tuple,
      config: placed(place, tuple.config),
      ...(parentConfig !== undefined && { parentConfig: placed(place, parentConfig) }),
    };
  }

  #remember(place: Place, threadId: string): void {
    const name = JSON.stringify([threadId, place]);
    this.#found.delete(name);
    this.#found.set(name, { threadId, place });
    if (this.#found.size <= MOST_FOUND) return;
    this.#found.delete(this.#found.keys().next().value as string);
  }
}

function placed(place: Place, config: RunnableConfig): RunnableConfig {
  const { configurable } = config;
  const answered = { place, threadId: configurable?.thread_id };
  return { ...config, configurable: { ...configurable, [ANSWERED]: answered } };
}

function asInput<T>(read: () => T): T {
  try {
    return readInput("a config", read);
  } catch (error) {
    throw nameError(CALL, error);
  }
}

function ownSubgraph(checkpointNs: unknown): KeepsakeError {
  return invalid(
    `getState() with subgraphs does not say whose subgraph ${show(checkpointNs)} is, which has a checkpointer of its own: read it by its name, getState() of a config with thread_id, checkpoint_ns and whose it is`,
  );
}

function withoutConfig(name: string): KeepsakeError {
  return nameError(
    CALL,
    invalid(
      `${name}() takes no config, so that it is not known whose threads are meant: call it of memory.scoped({ user }).checkpointer`,
    ),
  );
}
