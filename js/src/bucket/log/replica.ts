// A replica of a memory: a database in this thread's memory, which has executed the records of the
// log up to its position.

import { LocalEngine } from "../../engine/local-engine.js";
import type { OpenFiles } from "../../engine/open-files.js";
import { scrubAll } from "../../engine/scrubbing.js";
import type { DatabaseSession } from "../../engine/session.js";
import { detailOf, KeepsakeError } from "../../errors.js";
import type { Changes } from "../../wire/changes.js";
import { encodeRequest, failureCodeOf } from "../../wire/codec.js";
import type { Operation, OperationOf } from "../../wire/operations.js";
import { changesIn, decodeRequest, itemsIn, type SentItem } from "../../wire/sent-request.js";
import { type Base, BaseReader, isBetterWhole, writeBase } from "./base.js";
import type { Moment } from "./clock.js";
import { withoutReplacing } from "./configuration.js";
import { type Entry, type Log, type Position, positionOf } from "./log.js";
import type { BaseName } from "./names.js";
import { type ReplicaFiles, replicaFiles } from "./replica-files.js";
import { Senders } from "./senders.js";

const NAME = "replica";
/** A call that misses more pieces than this, one after the other, gets all that there are. */
const MOST_MISSES = 40;

/** What makes a database follow a log. What a device put into an empty one has rows of that device. */
const FOLLOWING: readonly Operation[] = [
  { kind: "stopSync" },
  { kind: "startSync", logId: "-", number: 0, digest: new Uint8Array(), marksOnly: true },
];

type Configuration = OperationOf<"configureStore">;

/** Of the requests of a record; undefined for what was left out. @internal */
export type Responses = readonly (Uint8Array | undefined)[];

/** The engine fell over a request, as it does wherever this is executed. @internal */
export class Poisoned extends Error {
  readonly entry: Entry;
  /** Which of the record's requests. */
  readonly index: number;

  constructor(entry: Entry, index: number, cause: unknown) {
    super(detailOf(cause), { cause });
    this.entry = entry;
    this.index = index;
  }
}

/** What a base is to be. @internal */
export interface BaseOrder {
  readonly position: Position;
  /** What a record calls it. */
  readonly image?: BaseName | undefined;
  readonly isWhole: boolean;
  /** Whether an export that is being read ends, for what can't wait. @default it rejects as `busy` */
  readonly endsExport?: boolean;
}

interface Parts {
  readonly log: Log;
  readonly openFiles: OpenFiles;
  readonly files: ReplicaFiles;
  readonly position: Position;
  readonly reader: BaseReader | undefined;
}

/** @internal */
export class Replica {
  readonly #log: Log;
  readonly #openFiles: OpenFiles;
  readonly #files: ReplicaFiles;
  readonly #reader: BaseReader | undefined;
  #engine: LocalEngine;
  readonly #own: Configuration[] = [];
  /** The last record that it has executed. */
  position: Position;
  /** Up to here it is known that no record which it has read was a late write. */
  confirmed: Position;
  /** What each device has sent last. */
  senders: Senders;
  /** The base that its database comes from. */
  base: Base | undefined;
  /** The request that gave the memory its index of vectors. */
  configuration: Uint8Array | undefined;
  /** Something up to this record was forgotten: the bucket must not have it any more. */
  purged: number;
  /** A record that could not be read, and when a base was looked for that has it. */
  leftOut: { readonly number: number; readonly lookedAt: Moment } | undefined;
  /** All such records since its base. */
  readonly damaged: number[] = [];
  // Free pages may have bytes of something that was forgotten.
  #isUnclean = false;
  /** Since the base. */
  recordsSince = 0;
  bytesSince = 0;

  private constructor({ log, openFiles, files, position, reader }: Parts) {
    this.#log = log;
    this.#openFiles = openFiles;
    this.#files = files;
    this.#reader = reader;
    this.base = reader?.base;
    this.purged = reader?.base.purged ?? 0;
    this.senders = reader?.senders ?? new Senders();
    this.configuration = reader?.base.configuration;
    this.position = position;
    this.confirmed = position;
    this.#engine = this.#newEngine();
  }

  /** The memory as a base has it, or an empty one. Throws PieceGone if the base can't be read. */
  static async open(log: Log, openFiles: OpenFiles, name: BaseName | undefined): Promise<Replica> {
    if (name === undefined) {
      const files = replicaFiles(NAME, 0);
      return new Replica({ log, openFiles, files, position: log.start, reader: undefined });
    }
    const reader = await BaseReader.open(log, name);
    const files = await reader.files(NAME);
    const { position } = reader.base;
    log.see(position);
    return new Replica({ log, openFiles, files, position, reader });
  }

  /** The response to a request, which may change the database. A copy. */
  async execute(request: Uint8Array): Promise<Uint8Array> {
    const { log } = this.#files;
    return this.#untilThere(() => {
      log.isWritten = false;
      return this.#engine.forward(request, () => []);
    });
  }

  /** Whether the request that was executed last has changed the database. */
  get hasWritten(): boolean {
    return this.#files.log.isWritten;
  }

  /**
   * Executes the record that follows the position, without the requests that are to be left out.
   * Answers a response for each of the others. Throws Poisoned if one makes the engine fail.
   */
  async apply(entry: Entry, isLeftOut: (request: number) => boolean): Promise<Responses> {
    const responses: (Uint8Array | undefined)[] = [];
    const requests = entry.record.kind === "requests" ? entry.record.requests : [];
    for (const [i, request] of requests.entries()) {
      responses.push(isLeftOut(i) ? undefined : await this.#applyOne(request, entry, i));
    }
    await this.senders.note(entry);
    this.passed(entry);
    return responses;
  }

  async #applyOne(request: Uint8Array, entry: Entry, index: number): Promise<Uint8Array> {
    const kinds = kindsOf(request);
    try {
      const response = kinds.includes("configureStore")
        ? await this.#configureIndex(request)
        : await this.execute(request);
      if (kinds.includes("forget")) this.#forgot(entry.number);
      return response;
    } catch (error) {
      const isTrap = error instanceof KeepsakeError && error.code === "internal";
      throw isTrap ? new Poisoned(entry, index, error) : error;
    }
  }

  // All that was before is deleted by whoever called forget().
  #forgot(number: number): void {
    this.base = undefined;
    this.purged = number;
    this.#isUnclean = true;
  }

  /** The record counts as executed. */
  passed(entry: Position & { readonly bytes?: number }): void {
    this.position = positionOf(entry);
    if (entry.isDamaged) this.senders.noteUnread(entry.number);
    this.recordsSince++;
    this.bytesSince += entry.bytes ?? 0;
  }

  /** Gives it this index, unless it has one: it may be as old as a time before the index. */
  async keepIndex(configuration: Uint8Array | undefined): Promise<void> {
    if (this.configuration !== undefined || configuration === undefined) return;
    const failure = failureCodeOf(await this.#configureIndex(configuration));
    if (failure === undefined) return;
    throw new KeepsakeError("corrupt", `the index of the memory can't be made: ${failure}`);
  }

  /** Configures how this replica alone reads texts. */
  async configure(operation: Configuration): Promise<void> {
    if (!this.#own.includes(operation)) this.#own.push(operation);
    await this.#untilThere(() => this.#engine.configure(operation, this.#log.clock.now()));
  }

  /**
   * Runs operations of this replica alone, or such as replace its database: they may name a lent one.
   */
  async run<T>(body: (engine: LocalEngine) => Promise<T>): Promise<T> {
    await this.#reader?.fetchAll();
    return body(this.#engine);
  }

  /**
   * Makes a base of what it is now. The database is copied when this resolves; the base is written
   * when `written` resolves.
   */
  async beginBase(order: BaseOrder): Promise<{ written: Promise<Base> }> {
    const { position, image, isWhole, endsExport = false } = order;
    if (endsExport) await this.#call([{ kind: "endExport" }]);
    if (this.#isUnclean) await this.#clean();
    await this.#moveLog();
    const { database } = this.#files;
    const { base, configuration, purged, senders } = this;
    const from =
      isWhole || base === undefined || isBetterWhole(this.#log, base, database) ? undefined : base;
    await this.#reader?.fetch(
      from === undefined
        ? [...database.absent]
        : database.changed.filter((piece) => database.absent.has(piece)),
    );
    this.recordsSince = 0;
    this.bytesSince = 0;
    const writing = writeBase(this.#log, {
      position,
      database,
      configuration,
      purged,
      senders,
      from,
      image,
    });
    // Until it is written there is no base: what changed since the last one is not known any more.
    this.base = undefined;
    const written = writing.then((made) => {
      if (image === undefined && this.purged === purged) this.base = made;
      return made;
    });
    return { written };
  }

  /** Opens the database anew, because a copy of a memory that syncs was put in its place. */
  async startAnew(): Promise<void> {
    await this.#reopen(undefined);
  }

  /** The database, as the bytes of one file. */
  async image(): Promise<Uint8Array> {
    await this.#reader?.fetchAll();
    await this.#moveLog();
    const { database } = this.#files;
    const bytes = new Uint8Array(database.getSize());
    database.read(bytes, { at: 0 });
    return bytes;
  }

  get details(): Record<string, unknown> {
    const { size } = this.#files.database.absent;
    return { record: this.position.number, piecesNotFetched: size };
  }

  close(): void {
    this.#engine.close();
  }

  // A base has the database file and nothing of SQLite's log, so the log is moved into the file.
  // While an export is being read, that can't be done.
  async #moveLog(): Promise<void> {
    await this.#untilThere(() => this.#call([{ kind: "flush" }]));
    if (this.#files.log.getSize() === 0) return;
    throw new KeepsakeError("busy", "an export of the memory is being read: end it, or cancel it");
  }

  async #call(operations: readonly Operation[]): Promise<void> {
    await this.#engine.call(operations, this.#log.clock.now());
  }

  // An open store has one index: to get another one, it is opened anew over the same files.
  async #configureIndex(request: Uint8Array): Promise<Uint8Array> {
    const before = this.configuration;
    if (before !== undefined) await this.#reopen(undefined);
    const response = await this.execute(request);
    if (failureCodeOf(response) === undefined) this.configuration = withoutReplacing(request);
    else if (before !== undefined) await this.#reopen(before);
    return response;
  }

  async #reopen(configuration: Uint8Array | undefined): Promise<void> {
    this.configuration = configuration;
    this.#engine.close();
    this.#engine = this.#newEngine();
    for (const operation of this.#own) await this.configure(operation);
  }

  async #clean(): Promise<void> {
    await this.run((engine) =>
      scrubAll(async (pages) => {
        const [scrubbed] = await engine.call([{ kind: "scrub", pages }], this.#log.clock.now());
        return scrubbed;
      }),
    );
    this.#isUnclean = false;
  }

  // If a piece of the database is missed, all is undone, and done again when the piece is there.
  async #untilThere<T>(body: () => T | Promise<T>): Promise<T> {
    const { database } = this.#files;
    for (let misses = 0; ; misses++) {
      await this.#fetchMissed(misses);
      const before = database.misses;
      try {
        const result = await body();
        const isRight = !(result instanceof Uint8Array) || failureCodeOf(result) === undefined;
        // It succeeded although it missed a piece: it did not need that.
        if (isRight || database.misses === before) return result;
      } catch (error) {
        if (database.misses === before) throw error;
      }
    }
  }

  async #fetchMissed(misses: number): Promise<void> {
    if (this.#files.database.missed.size === 0) return;
    await (misses > MOST_MISSES ? this.#reader?.fetchAll() : this.#reader?.fetchMissed());
  }

  // FOLLOWING gives operations the ids that they have on devices. Without its index, the store would
  // keep items without their vectors.
  #configureSession(session: DatabaseSession): void {
    const header = { clientId: 0, sequence: 0, now: this.#log.clock.now() };
    try {
      for (const operation of FOLLOWING) {
        const failure = failureCodeOf(session.execute(encodeRequest(header, [operation])));
        if (failure !== undefined) throw new Error(`the memory can't be opened: ${failure}`);
      }
      if (this.configuration !== undefined) {
        const failure = failureCodeOf(session.execute(this.configuration));
        if (failure !== undefined) throw new Error(`the memory can't be opened: ${failure}`);
      }
    } catch (error) {
      session.close();
      throw error;
    }
  }

  #newEngine(): LocalEngine {
    const { database, files } = this.#files;
    return new LocalEngine(
      {
        name: this.#log.calls.place,
        isPersistent: true,
        durability: "relaxed",
        open: async () => {
          // A copy: a session takes what it is given with it when it ends.
          const session = await this.#openFiles(NAME, new Map(files));
          this.#configureSession(session);
          const { misses } = database;
          return new WatchedSession(session, () => database.misses > misses);
        },
        release: () => {},
      },
      () => {},
    );
  }
}

// Counts as broken once a piece of the database was missed: then the next one is asked again.
class WatchedSession implements DatabaseSession {
  readonly #session: DatabaseSession;
  readonly #hasMissed: () => boolean;

  constructor(session: DatabaseSession, hasMissed: () => boolean) {
    this.#session = session;
    this.#hasMissed = hasMissed;
  }

  get isBroken(): boolean {
    return this.#session.isBroken || this.#hasMissed();
  }

  execute(...request: Parameters<DatabaseSession["execute"]>): Uint8Array {
    return this.#session.execute(...request);
  }

  lend(...files: Parameters<DatabaseSession["lend"]>): () => void {
    return this.#session.lend(...files);
  }

  close(): void {
    this.#session.close();
  }
}

/** Of the operations of a request. @internal */
export function kindsOf(request: Uint8Array): (string | undefined)[] {
  return decodeRequest(request).operations.map(({ kind }) => kind);
}

/** The items that a request puts or deletes. @internal */
export function itemsOfRequest(request: Uint8Array): SentItem[] {
  return itemsIn(decodeRequest(request));
}

/** What a record changes. @internal */
export function changesOfRequest(request: Uint8Array): Changes[] {
  return changesIn(decodeRequest(request)).filter((changes) => changes !== undefined);
}
