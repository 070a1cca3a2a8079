// A Connection is one façade's share of an Engine: made synchronously, opened by
// the first call, closed once. Connections to one database share one Engine.

import { databaseEngine, memoryEngine, openFiles, resolveOptions } from "#host";
import { checkOptions, type NamesOf, show } from "./checks.js";
import type { Answers, MaybePromise } from "./engine/answers.js";
import type { ChangeListener } from "./engine/changes.js";
import type { Engine, EngineStatus, ForeignDatabase, LogPoint } from "./engine/engine.js";
import { IN_BUCKET, type MemoryBucket } from "./engine/in-bucket.js";
import { whenIndexed } from "./engine/indexing.js";
import type { Key } from "./engine/keys.js";
import type { DatabaseOptions } from "./engine/options.js";
import { invalid, KeepsakeError, orUndefined } from "./errors.js";
import type { ScopeLevel } from "./wire/layout.js";
import { type Operation, type OperationOf, rowOf } from "./wire/operations.js";
import { type Author, Levels } from "./wire/scope.js";

/** @internal */
export const DATABASE_OPTIONS: NamesOf<DatabaseOptions> = {
  path: 1,
  name: 1,
  durability: 1,
  lockTimeout: 1,
  fileMode: 1,
  verifyPages: 1,
  key: 1,
  storage: 1,
  worker: 1,
  wasmUrl: 1,
};

/** Of what opens a database: nothing else may be given in their place. @internal */
export function checkDatabaseOptions<Options extends DatabaseOptions>(
  known: NamesOf<Options>,
  options: Options,
): Options {
  if (
    typeof orUndefined(() => (options as { prepare?: unknown } | undefined)?.prepare) === "function"
  ) {
    throw invalid(
      "it opens its database itself: give { path }, or this connection to memoryOver() of keepsake/sqlite",
    );
  }
  // Without any, what is missing is said by the host.
  return options === undefined || options === null ? options : checkOptions("", known, options);
}

/**
 * Hears of an operation before it is asked for. What it throws, the call rejects with. If it
 * answers with a function, that hears of the operation's answer or error. `within` is where the
 * operation is at home, within what the listener listens to. @internal
 */
export type AccessListener = (
  operation: Operation,
  within: readonly string[],
) => OutcomeListener | undefined;

/** @internal */
export type OutcomeListener = (outcome: { answer?: unknown; error?: unknown }) => void;

/** Who hears of the calls, and who makes them. @internal */
export interface Observers {
  readonly hear?: AccessListener | undefined;
  /** Asked at each call. */
  readonly author?: (() => Author) | undefined;
}

const NOTHING = new Uint8Array();

type Configuration = OperationOf<"configureStore">;

interface ConnectionParts extends Observers {
  readonly acquire: () => Engine;
  readonly configuration?: Configuration | undefined;
  readonly levels?: Levels | undefined;
  /** What it is a share of. */
  readonly shared?: Connection | undefined;
  /** Whose engine it uses, as long as that is open. */
  readonly whole?: Connection | undefined;
  readonly elsewhere?: Elsewhere | undefined;
}

/** Where else the memory is, of a memory that syncs. @internal */
export interface Elsewhere {
  /** In which of these places something that was forgotten may be; undefined if it is in none. */
  remains?: () => Promise<string | undefined>;
}

/** @internal */
export class Connection {
  readonly #parts: ConnectionParts;
  /** The same for all parts and shares. */
  readonly elsewhere: Elsewhere;
  #engine: Engine | undefined;
  #configured: Promise<void> | undefined;
  #isConfigured: boolean;
  // How many calls wait for the configuration.
  #waiting = 0;
  #isClosed = false;
  // Of the last call. The same object as long as the author is the same.
  #authored: Levels | undefined;

  private constructor(parts: ConnectionParts) {
    this.elsewhere = parts.elsewhere ?? {};
    this.#parts = { ...parts, elsewhere: this.elsewhere };
    this.#isConfigured = parts.configuration === undefined;
  }

  /** A new in-memory engine, which nobody else can reach. */
  static toMemory(configuration?: Configuration): Connection {
    const engine = memoryEngine();
    return new Connection({ acquire: () => engine, configuration });
  }

  /** The engine of a database; one in memory is a new one each time. */
  static toDatabase(
    options: DatabaseOptions,
    configuration?: Configuration,
    observers: Observers = {},
  ): Connection {
    const resolved = resolveOptions(options);
    if (resolved.isVolatile) {
      const engine = memoryEngine(resolved);
      return new Connection({ acquire: () => engine, configuration, ...observers });
    }
    return new Connection({ acquire: () => databaseEngine(resolved), configuration, ...observers });
  }

  /** The engine of a memory in a bucket. */
  static toBucket(bucket: MemoryBucket, options: object, observers: Observers): Connection {
    if (typeof orUndefined(() => bucket[IN_BUCKET]) !== "function") {
      throw invalid(
        `bucket must be what a function of keepsake/bucket makes, such as s3() or customBucket(): ${show(bucket)}`,
      );
    }
    const engine = bucket[IN_BUCKET](options, openFiles);
    return new Connection({ acquire: () => engine, ...observers });
  }

  /** The engine that `acquire` finds, when it is needed, over a database of somebody else's. */
  static toEngine(acquire: () => Engine): Connection {
    return new Connection({ acquire });
  }

  /** Another connection to the same engine. */
  share(configuration?: Configuration): Connection {
    return new Connection({ ...this.#parts, configuration, shared: this.#parts.shared ?? this });
  }

  /**
   * A part of this one, which ends with it and needs no closing; `hear` is told of each of its
   * operations.
   */
  within(level: ScopeLevel, { hear, author }: Observers = {}): Connection {
    const { levels, hear: outer, whole = this } = this.#parts;
    const fromOutside: AccessListener | undefined =
      outer && ((operation, place) => outer(operation, [...level.place, ...place]));
    const both: AccessListener | undefined =
      hear &&
      fromOutside &&
      ((operation, place) => {
        const listeners = [fromOutside(operation, place), hear(operation, place)];
        return (outcome) => {
          for (const listener of listeners) listener?.(outcome);
        };
      });
    return new Connection({
      ...this.#parts,
      configuration: undefined,
      levels: levels?.with(level) ?? new Levels([level]),
      author: author ?? this.#parts.author,
      hear: both ?? hear ?? fromOutside,
      whole,
    });
  }

  /** Where its calls are at home; undefined for the whole memory. */
  get levels(): Levels | undefined {
    return this.#parts.levels;
  }

  /** The same object for all connections that were made of one. */
  get origin(): object {
    return this.#parts.acquire;
  }

  /** Whether another one reads the same rows, in the same scopes and told to the same listener. */
  readsAs(other: Connection): boolean {
    const isSame = other.origin === this.origin && other.#parts.hear === this.#parts.hear;
    return isSame && areEqual(this.levels?.bytes, other.levels?.bytes);
  }

  /** Answers all operations, or fails with the first that failed; at once if it is open. */
  call<const Operations extends readonly Operation[]>(
    operations: Operations,
    now: number = Date.now(),
  ): MaybePromise<Answers<Operations>> {
    const { hear } = this.#parts;
    return hear === undefined
      ? this.#call(operations, now)
      : this.#callHeard(hear, operations, now);
  }

  #call<const Operations extends readonly Operation[]>(
    operations: Operations,
    now: number,
  ): MaybePromise<Answers<Operations>> {
    return operations.some((one) => rowOf(one).isIndexing)
      ? whenIndexed(() => this.#callOnce(operations, now))
      : this.#callOnce(operations, now);
  }

  #callOnce<const Operations extends readonly Operation[]>(
    operations: Operations,
    now: number,
  ): MaybePromise<Answers<Operations>> {
    const engine = this.#open();
    const levels = this.#levelsOfCall();
    // No call overtakes an earlier one that still waits.
    if (this.#isConfigured && this.#waiting === 0) {
      return engine.call(operations, now, levels);
    }
    return this.#callWhenConfigured(engine, operations, now, levels);
  }

  #levelsOfCall(): Levels | undefined {
    const { levels, author } = this.#parts;
    if (author === undefined) return levels;
    const { actor, nodeId } = author();
    const known = this.#authored?.author;
    if (known === undefined || known.actor !== actor || known.nodeId !== nodeId) {
      this.#authored = (levels ?? new Levels([])).by({ actor, nodeId });
    }
    return this.#authored;
  }

  #callHeard<const Operations extends readonly Operation[]>(
    hear: AccessListener,
    operations: Operations,
    now: number,
  ): MaybePromise<Answers<Operations>> {
    const listeners = operations.map((operation) => hear(operation, []));
    const tell = (answers: Answers<Operations>) => {
      listeners.forEach((listener, i) => {
        listener?.({ answer: answers[i] });
      });
      return answers;
    };
    const tellFailed = (error: unknown): never => {
      for (const listener of listeners) listener?.({ error });
      throw error;
    };
    let answers: MaybePromise<Answers<Operations>>;
    try {
      answers = this.#call(operations, now);
    } catch (error) {
      return tellFailed(error);
    }
    return answers instanceof Promise ? answers.then(tell, tellFailed) : tell(answers);
  }

  /** Runs `body` alone among all that are run by this method on the engine. */
  exclusively<T>(body: () => Promise<T>): Promise<T> {
    return this.#open().exclusively(body);
  }

  /** Runs `body` while the engine can open this database as `name`. */
  lending<T>(
    name: string,
    database: ForeignDatabase,
    body: () => Promise<T>,
    onRead?: (bytes: number) => void,
  ): Promise<T> {
    return this.#open().lending(name, database, body, onRead);
  }

  status(): Promise<EngineStatus> {
    return this.#open().status();
  }

  /** Rejects where no log of the past is kept. */
  restore(point: LogPoint): Promise<void> {
    const restored = this.#open().restore?.(point);
    if (restored !== undefined) return restored;
    throw new KeepsakeError(
      "unsupported",
      "restore() is of a memory in a bucket, or of one that syncs; keepHistory() and undo() work on items everywhere",
    );
  }

  /** From now on this key opens the database, and no other. */
  changeKey(key: Key): Promise<void> {
    return this.#open().changeKey(key);
  }

  /** Hears what is written through any connection to the engine. Answers how to stop. */
  onChange(listener: ChangeListener): () => void {
    if (typeof listener !== "function") {
      throw invalid(`onChange takes a function: ${show(listener)}`);
    }
    const { levels } = this;
    if (levels === undefined) return this.#open().onChange(listener);
    return this.#open().onChange((changes) => {
      const own = levels.inward(changes);
      if (own !== undefined) listener(own);
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Settled when the engine has let go of its files, if nobody else uses it. */
  close(): MaybePromise<void> {
    this.#isClosed = true;
    const released = this.#engine?.release();
    this.#engine = undefined;
    abandoned.unregister(this);
    return released;
  }

  #open(): Engine {
    if (this.#isClosed) throw new KeepsakeError("closed", "it was closed");
    if (this.#parts.whole !== undefined) return this.#parts.whole.#open();
    if (this.#engine === undefined) {
      const { shared = this, acquire } = this.#parts;
      // What is open has let it in; the key that was given may be an earlier one by now.
      this.#engine = shared.#engine ?? acquire();
      this.#engine.retain();
      abandoned.register(this, this.#engine, this);
    }
    return this.#engine;
  }

  async #callWhenConfigured<const Operations extends readonly Operation[]>(
    engine: Engine,
    operations: Operations,
    now: number,
    levels: Levels | undefined,
  ): Promise<Answers<Operations>> {
    this.#waiting++;
    try {
      this.#configured ??= this.#configure(engine, now);
      await this.#configured;
    } finally {
      this.#waiting--;
    }
    return engine.call(operations, now, levels);
  }

  async #configure(engine: Engine, now: number): Promise<void> {
    try {
      const { configuration } = this.#parts;
      if (configuration !== undefined) await engine.configure(configuration, now);
      this.#isConfigured = true;
    } catch (error) {
      this.#configured = undefined;
      throw error;
    }
  }
}

function areEqual(one: Uint8Array = NOTHING, other: Uint8Array = NOTHING): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}

// A net for façades that were forgotten, not a plan.
const abandoned = new FinalizationRegistry<Engine>((engine) => engine.release());
