// The database itself, in the one worker that owns it: runs jobs one after the other,
// and answers when what they wrote is stored. It ends for good when it fails; the hub
// then opens another on the same storage.

import { answersIn } from "../engine/answers.js";
import { IdleIndex } from "../engine/idle-index.js";
import { type Derivation, type Key, KeyRing, wrongKey } from "../engine/keys.js";
import { IdleScrub } from "../engine/scrubbing.js";
import { openSession, type Session } from "../engine/session.js";
import { KeepsakeError, messageOf } from "../errors.js";
import type { EngineFile, EngineFiles } from "../wasm/engine-file.js";
import { MemoryFile } from "../wasm/memory-files.js";
import { encodeRequest, failureCodeOf } from "../wire/codec.js";
import type { IndexProgress, Scrubbed } from "../wire/layout.js";
import type { Operation } from "../wire/operations.js";
import { BlobFile } from "./blob-file.js";
import type { BrowserStorage } from "./browser-storage.js";
import { type SealedKey, SharedSecret } from "./key-proof.js";
import { compiledModule } from "./module.js";
import { withProgress } from "./progress-files.js";
import {
  type ExportPhase,
  type Failure,
  failureOf,
  type Job,
  type Result,
  type Settings,
} from "./protocol.js";

// A power cut costs at most this much of what was acknowledged, where durability is relaxed.
const FLUSH_AFTER_MS = 100;
const IDLE_MS = 300;
const GROWN_REPLACED_AFTER_MS = 2_000;
// A smaller log is left to grow: each checkpoint writes its pages a second time.
const LOG_WORTH_MOVING = 1 << 20;
// Whoever reads an export has gone.
const EXPORT_ENDS_AFTER_MS = 30_000;

/**
 * A damaged database, which was set aside or could not be. No KeepsakeError, because
 * every one of those is an instance of all classes that extend it. @internal
 */
export class DamagedError extends Error {
  constructor(
    cause: KeepsakeError,
    readonly failure: Failure,
  ) {
    super(failure.message, { cause });
  }
}

/** @internal */
export class Owner {
  readonly storage: BrowserStorage;
  /** Resolves when it can't go on. */
  readonly failed: Promise<void>;
  readonly #settings: Settings;
  readonly #session: Session;
  readonly #keys: KeyRing;
  #lock: { derivation: Derivation; secret: SharedSecret } | undefined;
  readonly #lent = new Map<string, () => void>();
  #fail: () => void = () => {};
  #isOver = false;
  #flushTimer: Timer;
  #idleTimer: Timer;
  #exportTimer: Timer;
  #growthTimer: Timer;
  readonly #idleIndex = new IdleIndex((vectors) => this.#improve(vectors));
  readonly #idleScrub = new IdleScrub((pages) => this.#scrub(pages));

  /**
   * Rejects with a KeepsakeError or DamagedError; then nothing is held, and nothing was deleted.
   * `isAtWork` is called again and again while the files are in use.
   */
  static async open(
    settings: Settings,
    openStorage: () => Promise<BrowserStorage>,
    isAtWork: () => void,
  ): Promise<Owner> {
    const module = compiledModule(settings.wasm);
    // Not unhandled while the storage opens.
    module.catch(() => {});
    const storage = await openStorage();
    const { name, durability, key, nextKey } = settings;
    const keys = new KeyRing(`"${name}"`, key, nextKey);
    try {
      const session = await openSession({
        module: await module,
        database: {
          path: name,
          durability,
          // Nobody else writes to it.
          verifies: true,
          keys: await keys.forFile(storage.files.get(name)),
        },
        files: withProgress(storage.files, isAtWork),
        onClose: () => {},
      });
      const owner = new Owner(settings, storage, session, keys);
      await owner.#shareLock();
      return owner;
    } catch (error) {
      throw await examine(settings, storage, error).finally(() => storage.close());
    }
  }

  private constructor(
    settings: Settings,
    storage: BrowserStorage,
    session: Session,
    keys: KeyRing,
  ) {
    this.#settings = settings;
    this.#keys = keys;
    this.storage = storage;
    this.#session = session;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
    this.#writeLater();
    this.#idleScrub.begin();
  }

  /** How followers derive what they prove; undefined if the database is plain. */
  get lock(): Derivation | undefined {
    return this.#lock?.derivation;
  }

  /** What a follower with the right key says. */
  async proof(owner: string, epoch: number): Promise<string | undefined> {
    return this.#lock?.secret.proof(owner, epoch);
  }

  /**
   * Never rejects; undefined if nothing of the job is stored, because this is over: the next
   * owner has to run it. Jobs take effect in the order in which they came.
   */
  async run(job: Job, onRead: (name: string, bytes: number) => void): Promise<Result | undefined> {
    if (this.#isOver) return undefined;
    try {
      switch (job.kind) {
        case "execute":
          return await this.#execute(job);
        case "lend":
          this.#lend(job.name, job.file, onRead);
          return { ok: true, response: undefined };
        case "takeBack":
          this.#takeBack(job.name);
          return { ok: true, response: undefined };
        case "changeKey":
          return await this.#changeKey(job.key);
      }
    } catch (error) {
      return { ok: false, failure: failureOf(error) };
    }
  }

  /** Moves the log into the database, and lets go of everything. */
  async finish(): Promise<void> {
    this.#quietly(() => this.#run(frame({ kind: "flush" })));
    await this.#commit(false).catch(() => {});
    await this.storage.settled();
    this.close();
  }

  /** Lets go of everything at once. Twice is fine. */
  close(): void {
    this.#isOver = true;
    this.#idleIndex.stop();
    this.#idleScrub.stop();
    const timers = [this.#flushTimer, this.#idleTimer, this.#exportTimer, this.#growthTimer];
    for (const timer of timers) clearTimeout(timer);
    for (const name of [...this.#lent.keys()]) this.#takeBack(name);
    try {
      this.#session.close();
    } catch {
      // A broken instance may not be able to; what it committed is in the files.
    }
    this.storage.close();
  }

  async #execute(job: Job & { kind: "execute" }): Promise<Result | undefined> {
    // Whoever begins one, or an import, holds the lock of transfers: that of another is left over.
    if (job.exports === "begin" || job.isOnce) this.#endLeftExport();
    let response = this.#run(job.request);
    if (job.changes !== undefined && failureCodeOf(response) === "storage_full") {
      response = await this.#runInRoom(job);
    }
    this.#watchExport(job.exports);
    this.#watchGrowth();
    if (!(await this.#commit(job.makesRoom))) return undefined;
    if (job.changes !== undefined) this.#writeLater();
    this.#idleIndex.touch();
    if (job.makesRoom) this.#idleScrub.begin();
    return { ok: true, response };
  }

  async #changeKey(sent: Key | SealedKey): Promise<Result | undefined> {
    const key = await this.#unsealed(sent);
    await this.#keys.change(key, async (encoded) => {
      const step = [{ kind: "changeKey", key: encoded }] as const;
      answersIn(this.#run(frame(...step)), step);
      await this.#commit(false);
    });
    this.#settings.key = key;
    await this.#shareLock();
    return { ok: true, response: undefined };
  }

  async #unsealed(key: Key | SealedKey): Promise<Key> {
    if (typeof key === "string" || key instanceof Uint8Array) return key;
    try {
      if (this.#lock !== undefined) return await this.#lock.secret.open(key);
    } catch {
      // It was sealed before another tab changed the key.
    }
    throw wrongKey(`"${this.#settings.name}"`);
  }

  async #shareLock(): Promise<void> {
    const database = this.storage.files.get(this.#settings.name);
    const shared = database && (await this.#keys.shared(database));
    this.#lock = shared && {
      derivation: shared.derivation,
      secret: new SharedSecret(shared.derived),
    };
  }

  async #improve(vectors: number): Promise<IndexProgress> {
    const step = [{ kind: "improveIndex", vectors, isWanted: false }] as const;
    const [progress] = answersIn(this.#run(frame(...step)), step);
    if (!progress.isDone) {
      await this.#commit(false);
      this.#writeLater();
    }
    return progress;
  }

  async #scrub(pages: number): Promise<Scrubbed> {
    const step = [{ kind: "scrub", pages }] as const;
    const [scrubbed] = answersIn(this.#run(frame(...step)), step);
    if (scrubbed === "pending") {
      await this.#commit(false);
      this.#writeLater();
    }
    return scrubbed;
  }

  // The log moves into the database first, and has as much room again as it had.
  async #runInRoom({ request, makesRoom }: Job & { kind: "execute" }): Promise<Uint8Array> {
    if (makesRoom) await this.storage.releaseReserve();
    this.#run(frame({ kind: "flush" }));
    return this.#run(request);
  }

  /** A copy, which can be posted. */
  #run(request: Uint8Array): Uint8Array {
    try {
      return this.#session.execute(request).slice();
    } catch (error) {
      if (error instanceof KeepsakeError) throw error;
      this.#end();
      throw new KeepsakeError(
        "internal",
        `the engine failed: ${messageOf(error)}; whether the call was stored is not known`,
        { cause: error },
      );
    }
  }

  // If it fails, memory is ahead of what is stored, and must be read anew. False if there is
  // room for it when it is.
  async #commit(makesRoom: boolean): Promise<boolean> {
    const stored = this.storage.commit();
    if (stored === undefined) return true;
    try {
      await stored;
      return true;
    } catch (error) {
      const isFull = error instanceof KeepsakeError && error.code === "storage_full";
      const canBeStored = isFull && makesRoom && (await this.#hasReleasedReserve());
      this.#end();
      if (canBeStored) return false;
      throw error;
    }
  }

  async #hasReleasedReserve(): Promise<boolean> {
    try {
      return await this.storage.releaseReserve();
    } catch {
      // That there is no room is the better reason.
      return false;
    }
  }

  #writeLater(): void {
    if (this.#settings.durability === "relaxed") {
      this.#flushTimer ??= setTimeout(() => {
        this.#flushTimer = undefined;
        this.#quietly(() => this.storage.flush());
      }, FLUSH_AFTER_MS);
    }
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#whenIdle(), IDLE_MS);
  }

  async #whenIdle(): Promise<void> {
    const log = this.storage.files.get(`${this.#settings.name}-wal`);
    if (log !== undefined && log.getSize() >= LOG_WORTH_MOVING) {
      this.#quietly(() => this.#run(frame({ kind: "flush" })));
      await this.#commit(false).catch(() => {});
    }
    if (!this.#isOver) await this.storage.restoreReserve();
  }

  // Linear memory never shrinks. When nobody needs it, this is over, and the hub opens another.
  #watchGrowth(): void {
    if (!this.#session.isGrown || this.storage.kind === "memory") return;
    clearTimeout(this.#growthTimer);
    this.#growthTimer = setTimeout(() => void this.#endIfGrown(), GROWN_REPLACED_AFTER_MS);
  }

  async #endIfGrown(): Promise<void> {
    if (this.#lent.size > 0 || this.#exportTimer !== undefined) return this.#watchGrowth();
    this.#quietly(() => this.#run(frame({ kind: "flush" })));
    await this.#commit(false).catch(() => {});
    await this.storage.settled();
    if (!this.#isOver) this.#end();
  }

  #watchExport(phase: ExportPhase | undefined): void {
    if (phase === undefined) return;
    clearTimeout(this.#exportTimer);
    this.#exportTimer =
      phase === "end" ? undefined : setTimeout(() => this.#endLeftExport(), EXPORT_ENDS_AFTER_MS);
  }

  #endLeftExport(): void {
    if (this.#exportTimer === undefined) return;
    clearTimeout(this.#exportTimer);
    this.#exportTimer = undefined;
    this.#quietly(() => this.#run(frame({ kind: "endExport" })));
  }

  // What one left behind that was closed makes way.
  #lend(name: string, file: Blob, onRead: (name: string, bytes: number) => void): void {
    this.#takeBack(name);
    const files: EngineFiles = new Map<string, EngineFile>([
      [name, new BlobFile(file, (bytes) => onRead(name, bytes))],
      [`${name}-wal`, new MemoryFile()],
      [`${name}-journal`, new MemoryFile()],
    ]);
    this.#lent.set(name, this.#session.lend(files));
  }

  #takeBack(name: string): void {
    this.#lent.get(name)?.();
    this.#lent.delete(name);
  }

  #quietly(body: () => void): void {
    if (this.#isOver) return;
    try {
      body();
    } catch {
      // The next call that needs it says so.
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#fail();
  }
}

type Timer = ReturnType<typeof setTimeout> | undefined;

function frame(operation: Operation): Uint8Array {
  return encodeRequest({ clientId: 0, sequence: 0, now: Date.now() }, [operation]);
}

/** What is to be said of a database that did not open; one that is damaged is set aside first. */
async function examine(
  { name }: Settings,
  storage: BrowserStorage,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof KeepsakeError)) return error;
  if (error.code !== "corrupt" && error.code !== "not_a_database") return error;
  const failure = failureOf(error);
  try {
    const aside = await storage.setAside();
    failure.aside = { kind: storage.kind, name: aside };
    failure.message += `; the damaged memory "${name}" is set aside as "${aside}", and can be exported from this error`;
  } catch (problem) {
    failure.message += `; it could not be set aside and stays where it is: ${messageOf(problem)}`;
  }
  return new DamagedError(error, failure);
}
