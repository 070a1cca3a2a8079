// The engine of a database in this thread: a session, which is opened by the first call
// and anew after a trap.

import { KeepsakeError, messageOf } from "../errors.js";
import type { EngineFiles } from "../wasm/engine-file.js";
import { memoryFiles } from "../wasm/memory-files.js";
import { type Changes, merge } from "../wire/changes.js";
import {
  type Answer,
  anySucceeded,
  decodeResponse,
  type ExecuteHeader,
  encodeRequest,
  requestOf,
  statusesOf,
} from "../wire/codec.js";
import type { IndexProgress, Scrubbed } from "../wire/layout.js";
import { type Operation, type OperationOf, rowOf } from "../wire/operations.js";
import type { Levels } from "../wire/scope.js";
import { type Answers, answersIn, type MaybePromise, whenThere } from "./answers.js";
import { type ChangeListener, ChangeListeners, changesOf } from "./changes.js";
import type { Engine, EngineStatus, ForeignDatabase, Persistence } from "./engine.js";
import { IdleIndex } from "./idle-index.js";
import { type Key, type KeyRing, noKeyHere } from "./keys.js";
import { Mutex } from "./mutex.js";
import { IdleScrub } from "./scrubbing.js";
import type { DatabaseSession } from "./session.js";
import type { EncodedCall, Runner, TickBatch } from "./tick-batch.js";

type Configuration = OperationOf<"configureStore">;

/** Those that hold now: for sessions that open their database again by themselves. @internal */
export type Configurations = () => readonly Operation[];

/** How to get sessions on one database. @internal */
export interface SessionSource {
  /** What the database is called in messages. */
  readonly name: string;
  /** False if the data is gone with the session. */
  readonly isPersistent: boolean;
  /** @default "file" or "memory" */
  readonly persistence?: Persistence;
  /** Whether its index may be improved while nobody calls. @default false */
  readonly worksWhenIdle?: boolean;
  /** Opens it anew when nobody has called for so long, if its linear memory has grown. @default never */
  readonly replacedAfterMs?: number;
  /** Makes the writes of a tick one transaction. @default each is one */
  readonly tickBatch?: (runner: Runner) => TickBatch;
  /** Throws where nothing can be stored. @default something can */
  readonly refuseToWrite?: () => void;
  /** What encrypts its file. @default there is none */
  readonly keys?: KeyRing;
  /** More of it for `diagnose()`. @default nothing */
  readonly details?: () => Record<string, unknown>;
  /** Two sources of one database must agree on it. */
  readonly durability: string;
  /** Takes the lock that keeps others out, unless it has it. Rejects with a KeepsakeError. */
  open(configurations: Configurations): Promise<DatabaseSession>;
  /** Gives the lock back. Synchronous, for the end of the process. Twice is fine. */
  release(): void;
}

/** @internal */
export class LocalEngine implements Engine {
  readonly #source: SessionSource;
  readonly #onClosed: () => void;
  // Asked again of every new session: what index and texts of the store are.
  readonly #configurations = new Map<string, Operation>();
  #sequence = 0;
  #references = 0;
  #opening: Promise<void> | undefined;
  // How many calls wait for it to open.
  #waiting = 0;
  #session: DatabaseSession | undefined;
  #isClosed = false;
  #isLost = false;
  readonly #mutex = new Mutex();
  // How many need the session as it is: exports and imports go on in it.
  #needed = 0;
  #growthTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new ChangeListeners();
  readonly #idleIndex: IdleIndex | undefined;
  readonly #idleScrub: IdleScrub | undefined;
  readonly #tickBatch: TickBatch | undefined;

  constructor(source: SessionSource, onClosed: () => void) {
    this.#source = source;
    this.#onClosed = onClosed;
    if (source.worksWhenIdle) {
      this.#idleIndex = new IdleIndex((vectors) => this.#improve(vectors));
      this.#idleScrub = new IdleScrub((pages) => this.#scrub(pages));
    }
    this.#tickBatch = source.tickBatch?.({
      runAll: (all) => this.#runAll(all),
      runAlone: (one) => this.#runAlone(one),
      onDone: (operations, levels) => this.#noteDone(operations, levels),
    });
  }

  /** Throws if whoever has `key` may not have the database. */
  admit(key: Key | undefined): void {
    this.#source.keys?.admit(key);
  }

  get durability(): string {
    return this.#source.durability;
  }

  retain(): void {
    this.#references++;
  }

  release(): void {
    if (--this.#references === 0) this.close();
  }

  call<const Operations extends readonly Operation[]>(
    operations: Operations,
    now: number,
    levels?: Levels,
  ): MaybePromise<Answers<Operations>> {
    if (this.#tickBatch?.takes(operations) && this.#isOpen())
      return this.#tickBatch.add(operations, now, levels);
    return this.#serve(() => this.#run(operations, now, levels));
  }

  /** The response to a request of another machine, whose operations change this; a copy. */
  forward(
    request: Uint8Array,
    changesOf: () => readonly (Changes | undefined)[],
  ): MaybePromise<Uint8Array> {
    const run = () => {
      const response = this.#execute(this.#sessionNow(), request).slice();
      if (!this.#listeners.isEmpty) this.#tellDone(changesOf(), response);
      return response;
    };
    return this.#serve(run, (response) => !anySucceeded(response));
  }

  #tellDone(changed: readonly (Changes | undefined)[], response: Uint8Array): void {
    const statuses = statusesOf(response);
    let all: Changes | undefined;
    for (const [i, changes] of changed.entries()) {
      if (changes !== undefined && statuses[i] === "ok") all = merge(all, changes);
    }
    if (all !== undefined) this.#listeners.tell(all);
  }

  // What failed is run once more if the session turned out to be without a database.
  #serve<T>(run: () => T, hasFailed: (result: T) => boolean = () => false): MaybePromise<T> {
    this.#tickBatch?.flush();
    if (!this.#isOpen()) return this.#whenOpen(run);
    try {
      const result = run();
      return hasFailed(result) && this.#discardIfBroken() ? this.#whenOpen(run) : result;
    } catch (error) {
      if (!this.#discardIfBroken()) throw error;
      return this.#whenOpen(run);
    }
  }

  async configure(operation: Configuration, now: number): Promise<void> {
    // At once, so that no session in between is without it.
    await whenThere(this.call([operation], now), () => {
      this.#configurations.set(JSON.stringify(operation), withoutReplacing(operation));
    });
  }

  /** The same, unless it holds already. */
  async ensureConfigured(operation: Configuration, now: number): Promise<void> {
    if (!this.#configurations.has(JSON.stringify(operation))) await this.configure(operation, now);
  }

  async lending<T>(
    name: string,
    database: ForeignDatabase,
    body: () => Promise<T>,
    onRead?: (bytes: number) => void,
  ): Promise<T> {
    const files = await filesOf(name, database);
    await this.#ready();
    this.#tickBatch?.flush();
    const takeBack = this.#sessionNow().lend(files);
    try {
      const result = await body();
      onRead?.(files.get(name)?.getSize() ?? 0);
      return result;
    } finally {
      takeBack();
    }
  }

  async status(): Promise<EngineStatus> {
    await this.#ready();
    const { isPersistent, persistence = isPersistent ? "file" : "memory" } = this.#source;
    return { persistence, details: this.#source.details?.() ?? {} };
  }

  async changeKey(key: Key): Promise<void> {
    const { keys } = this.#source;
    if (keys === undefined)
      throw noKeyHere("what is in memory is not written, and a host encrypts");
    this.#source.refuseToWrite?.();
    await this.#mutex.run(() =>
      keys.change(key, async (encoded) => {
        await this.call([{ kind: "changeKey", key: encoded }], Date.now());
      }),
    );
  }

  onChange(listener: ChangeListener): () => void {
    return this.#listeners.add(listener);
  }

  exclusively<T>(body: () => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      this.#needed++;
      try {
        return await body();
      } finally {
        this.#needed--;
      }
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#tickBatch?.flush();
    this.#isClosed = true;
    this.#idleIndex?.stop();
    this.#idleScrub?.stop();
    clearTimeout(this.#growthTimer);
    this.#discard();
    this.#source.release();
    this.#onClosed();
  }

  // No call overtakes an earlier one that still waits.
  #isOpen(): boolean {
    this.#discardIfBroken();
    return this.#session !== undefined && this.#waiting === 0;
  }

  // A call of another engine in the same instance may have trapped.
  #discardIfBroken(): boolean {
    if (!this.#session?.isBroken) return false;
    this.#isLost = !this.#source.isPersistent;
    this.#discard();
    return true;
  }

  async #whenOpen<T>(run: () => T): Promise<T> {
    this.#waiting++;
    try {
      do await this.#ready();
      while (this.#discardIfBroken());
    } finally {
      this.#waiting--;
    }
    return run();
  }

  #ready(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<void> {
    try {
      if (this.#isLost) throw lost(this.#source);
      this.#session = await this.#source.open(() => [...this.#configurations.values()]);
      if (this.#isClosed) throw closed(this.#source);
      const configurations = [...this.#configurations.values()];
      if (configurations.length > 0) this.#run(configurations, Date.now());
      this.#idleScrub?.begin();
    } catch (error) {
      this.#discard();
      this.#source.release();
      throw error;
    }
  }

  #run<const Operations extends readonly Operation[]>(
    operations: Operations,
    now: number,
    levels?: Levels,
  ): Answers<Operations> {
    const session = this.#sessionNow();
    const request = encodeRequest(this.#headerOf(now, levels), operations);
    const response = this.#execute(session, request, operations);
    const answers = answersIn(response, operations);
    this.#noteDone(operations, levels);
    return answers;
  }

  #headerOf(now: number, levels: Levels | undefined): ExecuteHeader {
    // Nothing is sent again, so that it needs no name.
    return { clientId: 0, sequence: ++this.#sequence, now, levels };
  }

  #noteDone(operations: readonly Operation[], levels: Levels | undefined): void {
    this.#tellChanges(operations, levels);
    if (this.#idleIndex !== undefined && operations.some(usesIndex)) this.#idleIndex.touch();
    if (operations[0]?.kind === "forget") this.#idleScrub?.begin();
  }

  // Linear memory never shrinks: one large value would occupy it for as long as the program runs.
  // What the next call finds is opened from the file.
  #watchGrowth(session: DatabaseSession): void {
    const { replacedAfterMs } = this.#source;
    if (replacedAfterMs === undefined || !session.isGrown) return;
    clearTimeout(this.#growthTimer);
    this.#growthTimer = setTimeout(() => {
      if (this.#session !== session || this.#isClosed) return;
      if (this.#needed > 0) this.#watchGrowth(session);
      else this.#discard();
    }, replacedAfterMs);
    (this.#growthTimer as { unref?: () => void }).unref?.();
  }

  // Undefined if nothing was done: the session was gone, or refused it.
  #runAll(all: EncodedCall): readonly Answer<Operation>[] | undefined {
    if (!this.#isOpen()) return undefined;
    const session = this.#sessionNow();
    try {
      return decodeResponse(this.#executeEncoded(session, all), all.operations);
    } catch (error) {
      const isRefused = error instanceof KeepsakeError && this.#session === session;
      if (!isRefused) throw error;
      return undefined;
    }
  }

  #runAlone(one: EncodedCall): MaybePromise<readonly unknown[]> {
    const { operations, now, levels } = one;
    if (this.#isOpen()) {
      try {
        const answers = answersIn(this.#executeEncoded(this.#sessionNow(), one), operations);
        this.#noteDone(operations, levels);
        return answers;
      } catch (error) {
        if (!this.#discardIfBroken()) throw error;
      }
    }
    return this.#whenOpen(() => this.#run(operations, now, levels));
  }

  #executeEncoded(session: DatabaseSession, call: EncodedCall): Uint8Array {
    const { operations, body, now, levels } = call;
    const request = requestOf(this.#headerOf(now, levels), operations.length, body);
    return this.#execute(session, request, operations);
  }

  #improve(vectors: number): IndexProgress {
    return this.#run([{ kind: "improveIndex", vectors, isWanted: false }], Date.now())[0];
  }

  #scrub(pages: number): Scrubbed {
    return this.#run([{ kind: "scrub", pages }], Date.now())[0];
  }

  #tellChanges(operations: readonly Operation[], levels?: Levels): void {
    if (this.#listeners.isEmpty) return;
    const changes = changesOf(operations, levels);
    if (changes !== undefined) this.#listeners.tell(changes);
  }

  #sessionNow(): DatabaseSession {
    if (this.#session !== undefined) return this.#session;
    throw this.#isLost ? lost(this.#source) : closed(this.#source);
  }

  #execute(
    session: DatabaseSession,
    request: Uint8Array,
    operations: readonly Operation[] = [],
  ): Uint8Array {
    try {
      const response = session.execute(request, spareOf(operations), operations);
      this.#watchGrowth(session);
      return response;
    } catch (error) {
      if (error instanceof KeepsakeError) throw error;
      this.#isLost = !this.#source.isPersistent;
      this.#discard();
      const outcome = this.#isLost
        ? "what it held in memory is lost"
        : "whether the call was stored is not known; the next call reopens from storage";
      throw new KeepsakeError(
        "internal",
        `the engine of ${this.#source.name} failed: ${messageOf(error)}; ${outcome}`,
        {
          cause: error,
        },
      );
    }
  }

  #discard(): void {
    const session = this.#session;
    this.#session = undefined;
    this.#opening = undefined;
    try {
      session?.close();
    } catch {
      // A broken instance may not be able to; its files are closed all the same.
    }
  }
}

// What must be left of memory: for the answers of later reads, and for indexes of vectors, which
// grow by as much as they are. Who makes room must always be able to.
const SPARED_BY_WRITES = 128 * 2 ** 20;
const SPARED_BY_VECTORS = 256 * 2 ** 20;

function spareOf(operations: readonly Operation[]): number | undefined {
  let makesRoom = operations.length > 0;
  let isWrite = false;
  let isOfVectors = false;
  for (const one of operations) {
    const row = rowOf(one);
    makesRoom &&= row.makesRoom?.(one) ?? false;
    isWrite ||= row.changes !== undefined;
    isOfVectors ||= one.kind === "put" && (one.vectors?.length ?? 0) > 0;
  }
  if (makesRoom) return 0;
  if (!isWrite) return undefined;
  return isOfVectors ? SPARED_BY_VECTORS : SPARED_BY_WRITES;
}

// Vectors of another model are given up once.
function withoutReplacing(operation: Configuration): Configuration {
  const { index } = operation;
  return index === undefined
    ? operation
    : { ...operation, index: { ...index, replaceVectors: false } };
}

const usesIndex = (one: Operation) => rowOf(one).usesIndex;

async function filesOf(name: string, database: ForeignDatabase): Promise<EngineFiles> {
  if (database instanceof Map) return database;
  if (database instanceof Uint8Array) return memoryFiles(name, database);
  return memoryFiles(name, new Uint8Array(await database.arrayBuffer()));
}

function lost(source: SessionSource): KeepsakeError {
  return new KeepsakeError(
    "lost",
    `${source.name} failed earlier, and what it held in memory with it`,
  );
}

function closed(source: SessionSource): KeepsakeError {
  return new KeepsakeError("closed", `${source.name} is closed`);
}
