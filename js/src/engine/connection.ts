// A Connection is one façade's share of an Engine: made synchronously, opened by
// the first call, closed once. Connections to one real path share one Engine,
// across the ESM and CommonJS copies of this package too.

import { KeepsakeError } from "../errors.js";
import type { EngineFiles } from "../wasm/engine-file.js";
import type { Operation } from "../wire/operations.js";
import { type Answers, Engine, type MaybePromise, type SessionSource } from "./engine.js";
import {
  absolutePath,
  checkOptions,
  type DatabaseOptions,
  fileSource,
  memorySource,
  onProcessExit,
  realPath,
} from "./host.js";

export type { DatabaseOptions };

const SHARED = Symbol.for("keepsake.engines");

/** @internal */
export class Connection {
  readonly #acquire: () => Engine;
  readonly #configuration: Operation | undefined;
  #engine: Engine | undefined;
  #configured: Promise<void> | undefined;
  #isConfigured: boolean;
  // How many calls wait for the configuration.
  #waiting = 0;
  #isClosed = false;

  private constructor(acquire: () => Engine, configuration?: Operation) {
    this.#acquire = acquire;
    this.#configuration = configuration;
    this.#isConfigured = configuration === undefined;
  }

  /** A new in-memory engine, which nobody else can reach. */
  static toMemory(configuration?: Operation): Connection {
    return Connection.#toPrivate(memorySource(undefined), configuration);
  }

  /** The engine of a database; ":memory:" is a new one each time. */
  static toDatabase(options: DatabaseOptions, configuration?: Operation): Connection {
    checkOptions(options);
    if (options.path === ":memory:")
      return Connection.#toPrivate(memorySource(options), configuration);
    const path = absolutePath(options.path);
    return new Connection(() => sharedEngine({ ...options, path }), configuration);
  }

  static #toPrivate(source: SessionSource, configuration?: Operation): Connection {
    const engine = new Engine(source, () => {});
    return new Connection(() => engine, configuration);
  }

  /** Another connection to the same engine. */
  share(configuration?: Operation): Connection {
    return new Connection(this.#acquire, configuration);
  }

  /** Answers all operations, or fails with the first that failed; at once if it is open. */
  call<const Operations extends readonly Operation[]>(
    operations: Operations,
    now: number = Date.now(),
  ): MaybePromise<Answers<Operations>> {
    const engine = this.#open();
    // No call overtakes an earlier one that still waits.
    if (this.#isConfigured && this.#waiting === 0) return engine.call(operations, now);
    return this.#callWhenConfigured(engine, operations, now);
  }

  /** Runs `body` alone among all that are run by this method on the engine. */
  exclusively<T>(body: () => Promise<T>): Promise<T> {
    return this.#open().exclusively(body);
  }

  /** Runs `body` while the engine can open these files too. */
  lending<T>(files: EngineFiles, body: () => Promise<T>): Promise<T> {
    return this.#open().lending(files, body);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    this.#engine?.release();
    this.#engine = undefined;
    abandoned.unregister(this);
  }

  #open(): Engine {
    if (this.#isClosed) throw new KeepsakeError("closed", "it was closed");
    if (this.#engine === undefined) {
      this.#engine = this.#acquire();
      this.#engine.retain();
      abandoned.register(this, this.#engine, this);
    }
    return this.#engine;
  }

  async #callWhenConfigured<const Operations extends readonly Operation[]>(
    engine: Engine,
    operations: Operations,
    now: number,
  ): Promise<Answers<Operations>> {
    this.#waiting++;
    try {
      this.#configured ??= this.#configure(engine, now);
      await this.#configured;
    } finally {
      this.#waiting--;
    }
    return engine.call(operations, now);
  }

  async #configure(engine: Engine, now: number): Promise<void> {
    try {
      if (this.#configuration !== undefined) await engine.configure(this.#configuration, now);
      this.#isConfigured = true;
    } catch (error) {
      this.#configured = undefined;
      throw error;
    }
  }
}

// A net for façades that were forgotten, not a plan.
const abandoned = new FinalizationRegistry<Engine>((engine) => engine.release());

function sharedEngine(options: DatabaseOptions): Engine {
  const engines = sharedEngines();
  const path = realPath(options.path);
  const existing = engines.get(path);
  if (existing !== undefined) {
    refuseConflict(existing.source, options);
    return existing;
  }
  const engine = new Engine(fileSource({ ...options, path }), () => {
    if (engines.get(path) === engine) engines.delete(path);
  });
  engines.set(path, engine);
  return engine;
}

function sharedEngines(): Map<string, Engine> {
  const shared = globalThis as { [SHARED]?: Map<string, Engine> };
  if (shared[SHARED] === undefined) {
    const engines = new Map<string, Engine>();
    shared[SHARED] = engines;
    onProcessExit(() => {
      for (const engine of [...engines.values()]) engine.close();
    });
  }
  return shared[SHARED];
}

function refuseConflict(source: SessionSource, options: DatabaseOptions): void {
  const durability = options.durability ?? "relaxed";
  if (source.durability === durability) return;
  throw new KeepsakeError(
    "conflicting_options",
    `${source.name} is open with durability "${source.durability}", not "${durability}"`,
  );
}
