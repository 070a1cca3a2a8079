// A memory that lives in a bucket. Calls that wait are carried out together: their writes become one
// record, which is appended first, and then executed on this replica. So every answer is for
// something that is in the bucket, and each call sees all that was answered before it, to anybody.

import { answersIn } from "../../engine/answers.js";
import type { ChangeListener } from "../../engine/changes.js";
import type { EngineStatus, ForeignDatabase, LogPoint } from "../../engine/engine.js";
import { Mutex } from "../../engine/mutex.js";
import type { OpenFiles } from "../../engine/open-files.js";
import type { RemoteRequest, Transport } from "../../engine/transport.js";
import { detailOf, KeepsakeError } from "../../errors.js";
import type { Changes } from "../../wire/changes.js";
import { failureCodeOf } from "../../wire/codec.js";
import type { Operation, OperationOf } from "../../wire/operations.js";
import { type Base, PieceGone } from "./base.js";
import { type Moment, momentOf, since, sleep } from "./clock.js";
import { configuringRequest, hasIndex } from "./configuration.js";
import {
  type Entry,
  LISTS_LATE_MS,
  type Listing,
  Log,
  type LogSource,
  type Position,
  positionOf,
} from "./log.js";
import { placeOf, replaceBy, replicaAt, writtenMeanwhile } from "./past.js";
import { type LogRecord, MOST_RECORD_BYTES, type Signed, withoutSender } from "./record.js";
import { changesOfRequest, Poisoned, Replica, type Responses } from "./replica.js";
import { trim, trimTo } from "./trim.js";

/** Records, or bytes of them, after which a base is due. */
const RECORDS_FOR_BASE = 64;
const BYTES_FOR_BASE = 256 * 1024;
/** The most bytes of a record, unless one call alone has more. */
const MOST_BATCH_BYTES = 8 * 2 ** 20;
const LEAST_BACKUP_MS = 3_600_000;
/** A record is some bytes longer than its only request. */
const MOST_FRAME_BYTES = MOST_RECORD_BYTES - 1024;
/** How often a replica that had to leave out a record looks for a base that has it. */
const LOOK_AGAIN_MS = 30_000;
/** How often a call begins anew because others deleted or replaced what it was reading. */
const MOST_TRIES = 8;
/** Between such tries: a listing may be late. */
const PAUSE_MS = 100;

type Configuration = OperationOf<"configureStore">;

/** @internal */
export interface LogTransportParts extends LogSource {
  readonly openFiles: OpenFiles;
  /** How old the answer of a read may be, in ms. */
  readonly maxAge: number;
  /** What this process is called in the log. */
  readonly device: string;
}

interface Waiting extends RemoteRequest {
  readonly resolve: (response: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
  /** As the clock's elapsed() had it. */
  readonly askedAt: number;
}

/** A record that could not be used. */
export interface BadRecord {
  readonly record: number;
  readonly why: string;
}

/** @internal */
export class LogTransport implements Transport {
  readonly #parts: LogTransportParts;
  readonly #mutex = new Mutex();
  #log: Promise<Log> | undefined;
  #replica: Replica | undefined;
  /** The replica that can read a lent database. */
  #lentTo: Replica | undefined;
  readonly #configurations: Configuration[] = [];
  readonly #queue: Waiting[] = [];
  #pumping: Promise<void> | undefined;
  /** The base that is being written. */
  #basing: Promise<void> | undefined;
  /** Old records and bases are being deleted. */
  #isTrimming = false;
  #freshAt: Moment | undefined;
  /** Bases that turned out to be unreadable while the memory is being opened. */
  readonly #unusable = new Set<string>();
  /** Records behind this number were found deleted, then for the first time, by elapsed(). */
  #gone = { after: 0, at: Number.POSITIVE_INFINITY };
  /** When the replica began to be opened, by elapsed(). */
  #openedAt = 0;
  /** When calls were given up last, because the bucket did not answer. */
  #gaveUpAt = Number.NEGATIVE_INFINITY;
  #listener: ChangeListener | undefined;
  readonly #bad = new Map<string, BadRecord>();
  /** Requests that make the engine fail. */
  readonly #poison = new Set<string>();
  /** The record that was appended here last, and the responses to its requests. */
  #own: { readonly number: number; responses?: Responses } | undefined;
  #isClosed = false;

  constructor(parts: LogTransportParts) {
    this.#parts = parts;
  }

  send(request: RemoteRequest): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const { length } = request.frame;
      if (length > MOST_FRAME_BYTES) {
        throw new KeepsakeError("too_large", `a call takes at most 512 MB: ${length} bytes`);
      }
      this.#queue.push({ ...request, resolve, reject, askedAt: this.#parts.clock.elapsed() });
      this.#pumping ??= this.#pump();
    });
  }

  async configure({ operations }: RemoteRequest): Promise<undefined> {
    for (const operation of operations) {
      if (operation.kind === "configureStore") await this.#alone(() => this.#configure(operation));
    }
  }

  async lending<T>(
    name: string,
    database: ForeignDatabase,
    body: () => Promise<T>,
    onRead?: (bytes: number) => void,
  ): Promise<T> {
    const replica = await this.#alone(() => this.#fresh());
    this.#lentTo = replica;
    try {
      return await replica.run((engine) => engine.lending(name, database, body, onRead));
    } finally {
      this.#lentTo = undefined;
    }
  }

  async status(): Promise<EngineStatus> {
    return this.#alone(async () => {
      const replica = await this.#current();
      const { calls, seal } = await this.#opened();
      const details = {
        bucket: calls.place,
        encrypted: seal.isSealed,
        requests: calls.requests,
        bytesUp: calls.bytesUp,
        bytesDown: calls.bytesDown,
        badRecords: [...this.#bad.values()],
        ...replica.details,
      };
      return { persistence: "bucket", details };
    });
  }

  async changeKey(): Promise<void> {
    throw new KeepsakeError(
      "unsupported",
      "the key of a memory in a bucket stays as it is: import an export of it under another name, with a new key",
    );
  }

  hearChanges(listener: ChangeListener): void {
    this.#listener = listener;
  }

  async close(): Promise<void> {
    while (this.#pumping !== undefined || this.#basing !== undefined) {
      await this.#pumping;
      await this.#basing;
    }
    // Wait for what is no call of an engine, too.
    await this.#mutex.run(async () => {
      this.#isClosed = true;
      this.#discard();
    });
  }

  /** The memory becomes what it was then. Later records stay in the log. */
  async restore(point: LogPoint): Promise<void> {
    await this.#alone(async () => {
      const log = await this.#opened();
      const { position, configuration } = await this.#fresh();
      const then = await replicaAt(log, this.#parts.openFiles, point, {
        isPoison: (entry, i) => this.#isPoison(entry, i),
        notePoison: (poisoned) => this.#notePoison(poisoned),
      });
      try {
        await then.keepIndex(configuration);
        await replaceBy(log, then, position, this.#signed());
      } finally {
        then.close();
        this.#discard();
      }
      this.#tell([EVERYTHING]);
    });
  }

  // ---- one after the other

  #alone<T>(body: () => Promise<T>): Promise<T> {
    const askedAt = this.#parts.clock.elapsed();
    return this.#mutex.run(async () => {
      if (this.#isClosed) throw new KeepsakeError("closed", "it was closed");
      this.#requireAnswers(askedAt);
      try {
        return await body();
      } catch (error) {
        await this.#noteSilence(error);
        throw error;
      }
    });
  }

  // Calls that waited behind one that was given up do not wait as long again.
  #requireAnswers(askedAt: number): void {
    if (askedAt >= this.#gaveUpAt) return;
    throw new KeepsakeError(
      "unreachable",
      `${this.#parts.bucket.place} does not answer: a call before this one has asked it for 30 s, and this one was not begun`,
    );
  }

  async #noteSilence(error: unknown): Promise<void> {
    if (!(error instanceof KeepsakeError) || error.code !== "unreachable") return;
    const log = await this.#log?.catch(() => undefined);
    if (log?.calls.isSilent ?? true) this.#gaveUpAt = this.#parts.clock.elapsed();
  }

  async #pump(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#gather();
      await this.#alone(() => this.#carryOutNext()).catch((error) => {
        for (const { reject } of this.#queue.splice(0)) reject(error);
      });
    }
    this.#pumping = undefined;
  }

  // A record costs one request, whatever is in it. So calls made in the same turn of the event loop
  // come along: above all what a graph puts as soon as its last put was answered.
  async #gather(): Promise<void> {
    await Promise.resolve();
    const [first] = this.#queue;
    if (first !== undefined && isWrite(first)) await sleep(this.#parts.clock, 0);
  }

  async #carryOutNext(): Promise<void> {
    const batch = this.#takeBatch();
    try {
      for (const { askedAt } of batch) this.#requireAnswers(askedAt);
      await this.#carryOut(batch);
    } catch (error) {
      await this.#noteSilence(error);
      for (const { reject } of batch) reject(error);
    }
  }

  // Takes calls from the queue as long as they are all reads, or all writes.
  #takeBatch(): readonly Waiting[] {
    const [first] = this.#queue;
    let bytes = 0;
    let count = 0;
    for (const call of this.#queue) {
      bytes += call.frame.length;
      const fits =
        count === 0 ||
        (!isAlone(call) && isWrite(call) === isWrite(first as Waiting) && bytes < MOST_BATCH_BYTES);
      if (!fits) break;
      count++;
      if (isAlone(call)) break;
    }
    return this.#queue.splice(0, count);
  }

  #carryOut(batch: readonly Waiting[]): Promise<void> {
    const [first] = batch;
    if (first === undefined) return Promise.resolve();
    if (replaces(first)) return this.#replace(first);
    return isWrite(first) ? this.#write(batch) : this.#read(batch);
  }

  // All of them were called before the bucket is asked, so it is asked once.
  async #read(batch: readonly Waiting[]): Promise<void> {
    await this.#whileThere(() => this.#fresh());
    for (const call of batch) {
      try {
        call.resolve(await this.#answer(call));
      } catch (error) {
        await this.#noteSilence(error);
        this.#requireAnswers(call.askedAt);
        call.reject(error);
      }
    }
  }

  async #answer({ frame, operations }: Waiting): Promise<Uint8Array> {
    const request = withoutSender(frame);
    const { response, isWrite: isToStore } = await this.#whileThere(async () => {
      const replica = await this.#current();
      const answered = await readFrom(replica, request);
      return { response: answered, isWrite: await hasWritten(replica, request, operations) };
    });
    if (isToStore) return this.#store(request, response);
    // The graph was made by request: a base hands it to all that open the memory later.
    if (hasMadeGraph(operations, response)) this.#beginBase(await this.#current());
    return response;
  }

  // A read that restarts a time to live is a write, which others must know of. It was executed
  // already, and its response counts unless others wrote meanwhile.
  async #store(request: Uint8Array, response: Uint8Array): Promise<Uint8Array> {
    const record = { kind: "requests", ...this.#signed(), requests: [request] } as const;
    const log = await this.#opened();
    const replica = await this.#confirmed();
    let entry: Entry | undefined;
    try {
      entry = await log.append(await log.prepare(replica.position, record));
    } finally {
      if (entry === undefined) this.#discard();
    }
    if (entry === undefined) {
      const [other] = await this.#executed(await this.#append(record));
      return other ?? response;
    }
    replica.passed(entry);
    replica.confirmed = replica.position;
    this.#writeBaseIfDue(replica);
    return response;
  }

  // The base of the replica may be damaged, or others have made a newer one and deleted it.
  async #whileThere<T>(body: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await body();
      } catch (error) {
        if (!(error instanceof PieceGone)) throw error;
        const { message: why, cause } = error;
        if (tries === MOST_TRIES) throw new KeepsakeError("corrupt", why, { cause });
        const { number, id } = error.base;
        this.#unusable.add(id);
        if (!error.isDeleted) this.#noteBad(id, { record: number, why });
        this.#discard();
      }
    }
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const requests = batch.map(({ frame }) => withoutSender(frame));
    const entry = await this.#append({ kind: "requests", ...this.#signed(), requests });
    const responses = await this.#executed(entry);
    const replica = await this.#current();
    if (batch.some(({ operations }) => operations.some(forgets))) {
      await this.#purge(replica, entry.number);
    }
    for (const [i, { resolve, reject, changes }] of batch.entries()) {
      const response = responses[i];
      if (response === undefined) {
        reject(this.#poisoned(entry, i));
      } else {
        if (failureCodeOf(response) === undefined) this.#tell([changes]);
        resolve(response);
      }
    }
    this.#writeBaseIfDue(replica);
  }

  /** The responses to the requests of an own record, whichever replica executes it. */
  async #executed(entry: Entry): Promise<Responses> {
    const own: { number: number; responses?: Responses } = { number: entry.number };
    this.#own = own;
    try {
      await this.#whileThere(async () => {
        for (;;) {
          const replica = await this.#current();
          const isNext = replica.position.number === entry.number - 1;
          if (own.responses !== undefined || !isNext) return;
          await this.#apply(replica, entry);
          replica.confirmed = replica.position;
        }
      });
    } catch (error) {
      throw this.#isStored(entry, error);
    }
    if (own.responses !== undefined) return own.responses;
    throw this.#isStored(entry, undefined);
  }

  #isStored({ number }: Entry, cause: unknown): KeepsakeError {
    const why = cause === undefined ? "" : `: ${detailOf(cause)}`;
    return new KeepsakeError(
      "io_error",
      `the call is stored as record ${number} of the log, but what it was answered is not known${why}`,
      cause === undefined ? undefined : { cause },
    );
  }

  #poisoned(entry: Entry, index: number): KeepsakeError {
    const why = this.#bad.get(placeOf(entry, index))?.why ?? "the engine failed";
    return new KeepsakeError(
      "internal",
      `${why}; the call is record ${entry.number} of the log, and nobody executes it`,
    );
  }

  #signed(): Signed {
    const { clock, device = "" } = this.#parts;
    return { id: Math.floor(clock.random() * Number.MAX_SAFE_INTEGER), at: clock.now(), device };
  }

  // ---- the replica

  #opened(): Promise<Log> {
    if (this.#log === undefined) {
      this.#log = Log.open(this.#parts);
      this.#log.catch(() => {
        this.#log = undefined;
      });
    }
    return this.#log;
  }

  /** A replica that has read the log to where it ended when the replica was opened. */
  async #current(): Promise<Replica> {
    for (let tries = 1; this.#replica === undefined; tries++) {
      if (tries > MOST_TRIES) {
        throw new KeepsakeError("busy", "the log changes faster than it can be read: call again");
      }
      if (tries > 1) await sleep(this.#parts.clock, PAUSE_MS * 2 ** tries);
      await this.#whileThere(() => this.#open());
    }
    return this.#replica;
  }

  /** The same, but it is known that no record which it has read was a late write. */
  async #confirmed(): Promise<Replica> {
    for (;;) {
      const replica = await this.#current();
      if (replica.position.number === replica.confirmed.number) return replica;
      await this.#whileThere(() => this.#catchUp(replica));
    }
  }

  async #open(): Promise<void> {
    const log = await this.#opened();
    this.#openedAt = this.#parts.clock.elapsed();
    const listing = await log.listWith(this.#gone.after);
    const newest = listing.bases.find(({ id }) => !this.#unusable.has(id));
    const least = Math.max(this.#gone.after, listing.cleared);
    if ((newest?.number ?? 0) < least) {
      throw log.isLost(
        least,
        [...this.#bad.values()].map(({ why }) => why),
      );
    }
    const replica = await Replica.open(log, this.#parts.openFiles, newest);
    await this.#begin(replica);
    this.#unusable.clear();
    this.#goOnTrimming(replica, listing);
  }

  // A process that forgot something may have ended before all of it was gone.
  #goOnTrimming({ purged }: Replica, { bases, cleared, strays }: Listing): void {
    const isUnclean = purged > cleared;
    const current = this.#replica;
    if (isUnclean && current !== undefined && !bases.some(({ number }) => number >= purged)) {
      this.#beginBase(current);
    } else if (isUnclean || strays.length > 0) {
      this.#trim(purged);
    }
  }

  async #begin(replica: Replica): Promise<void> {
    try {
      for (const operation of this.#configurations) await replica.configure(operation);
    } catch (error) {
      replica.close();
      throw error;
    }
    this.#replica = replica;
    await this.#catchUp(replica);
  }

  #discard(): void {
    this.#replica?.close();
    this.#replica = undefined;
    this.#freshAt = undefined;
  }

  async #fresh(): Promise<Replica> {
    const { clock, maxAge = 0 } = this.#parts;
    const wasOpen = this.#replica !== undefined;
    const replica = await this.#current();
    if (wasOpen && since(clock, this.#freshAt) >= maxAge) await this.#catchUp(replica);
    return this.#current();
  }

  /** Executes the records that others appended. The replica is discarded if it can't go on. */
  async #catchUp(replica: Replica): Promise<void> {
    const log = await this.#opened();
    while (this.#replica === replica) {
      const askedAt = momentOf(this.#parts.clock);
      const next = await log.next(replica.position, replica.confirmed);
      if (next.is === "end") {
        replica.confirmed = replica.position;
        this.#freshAt = askedAt;
        await this.#lookForLeftOut(log, replica);
        return;
      }
      if (next.is === "gone") {
        this.#noteGone(log, replica.confirmed.number);
        this.#discard();
      } else if (next.is === "damaged") {
        this.#leaveOut(replica, next.position, next.why);
      } else {
        await this.#apply(replica, next.entry);
      }
    }
  }

  // A base with the deleted records may be listed late, but not that late.
  #noteGone(log: Log, after: number): void {
    const isNew = after > this.#gone.after || this.#gone.at === Number.POSITIVE_INFINITY;
    if (isNew) this.#gone = { after, at: this.#parts.clock.elapsed() };
    else if (this.#openedAt - this.#gone.at > 2 * LISTS_LATE_MS) throw log.hasNoBase();
  }

  #leaveOut(replica: Replica, position: Position, why: string): void {
    const { number } = position;
    this.#noteBad(String(number), { record: number, why });
    replica.passed(position);
    replica.leftOut = { number, lookedAt: momentOf(this.#parts.clock) };
  }

  // Another process may have read the record before it was damaged, and made a base since.
  async #lookForLeftOut(log: Log, replica: Replica): Promise<void> {
    const { leftOut } = replica;
    const { clock } = this.#parts;
    if (leftOut === undefined || since(clock, leftOut.lookedAt) < LOOK_AGAIN_MS) return;
    replica.leftOut = { ...leftOut, lookedAt: momentOf(clock) };
    const { bases } = await log.list();
    if (bases.some(({ number }) => number >= leftOut.number)) this.#discard();
  }

  async #apply(replica: Replica, entry: Entry): Promise<void> {
    const { record, number } = entry;
    if (record.kind === "image") return this.#begunAnew(replica, entry, record.base);
    try {
      const responses = await replica.apply(entry, (i) => this.#isPoison(entry, i));
      if (this.#own?.number === number) this.#own.responses = responses;
      else if (record.kind === "requests") this.#tell(record.requests.flatMap(changesOfRequest));
    } catch (error) {
      // A part of the record may be done.
      this.#discard();
      if (!(error instanceof Poisoned)) throw error;
      this.#notePoison(error);
    }
  }

  #isPoison(entry: Entry, index: number): boolean {
    return this.#poison.has(placeOf(entry, index));
  }

  #notePoison({ entry, index, message }: Poisoned): void {
    const place = placeOf(entry, index);
    this.#poison.add(place);
    this.#noteBad(place, { record: entry.number, why: message });
  }

  async #begunAnew(before: Replica, entry: Entry, id: string): Promise<void> {
    const log = await this.#opened();
    const { number } = entry;
    let replica: Replica;
    try {
      replica = await Replica.open(log, this.#parts.openFiles, { number, id });
    } catch (error) {
      if (!(error instanceof PieceGone) || error.isDeleted) throw error;
      return this.#leaveOut(before, entry, detailOf(error));
    }
    this.#discard();
    replica.position = positionOf(entry);
    replica.confirmed = before.confirmed;
    replica.senders = before.senders;
    await this.#begin(replica);
    this.#tell([EVERYTHING]);
  }

  #noteBad(place: string, bad: BadRecord): void {
    this.#bad.set(place, bad);
  }

  #tell(changes: readonly (Changes | undefined)[]): void {
    for (const one of changes) if (one !== undefined) this.#listener?.(one);
  }

  /** Appends the record behind all others. */
  async #append(record: LogRecord): Promise<Entry> {
    const log = await this.#opened();
    for (;;) {
      const replica = await this.#confirmed();
      const prepared = await log.prepare(replica.position, record);
      const askedAt = momentOf(this.#parts.clock);
      const entry = await log.append(prepared);
      if (entry !== undefined) {
        this.#freshAt = askedAt;
        return entry;
      }
      await this.#whileThere(async () => this.#catchUp(await this.#current()));
    }
  }

  // ---- how texts are read, and the index of vectors

  async #configure(operation: Configuration): Promise<void> {
    const { index } = operation;
    const own = { ...operation, index: index && { ...index, replaceVectors: false } };
    const replica = await this.#fresh();
    const mayReplace = replica.configuration === undefined || index?.replaceVectors;
    if (index !== undefined && mayReplace && !hasIndex(replica.configuration, index)) {
      const request = configuringRequest(index, this.#parts.clock.now());
      const record = { kind: "requests", ...this.#signed(), requests: [request] } as const;
      const [response] = await this.#executed(await this.#append(record));
      if (response !== undefined) answersIn(response, [operation]);
    }
    // This rejects if the memory has another index.
    await (await this.#current()).configure(own);
    this.#configurations.push(own);
  }

  // ---- what replaces the whole memory

  async #replace({ frame, resolve }: Waiting): Promise<void> {
    const replica = await this.#fresh();
    if (this.#lentTo !== undefined && this.#lentTo !== replica) throw writtenMeanwhile();
    const { position } = replica;
    try {
      const response = await replica.run(() => replica.execute(withoutSender(frame)));
      if (failureCodeOf(response) === undefined) {
        await replaceBy(await this.#opened(), replica, position, this.#signed());
        this.#tell([EVERYTHING]);
      }
      resolve(response);
    } finally {
      // The next call opens what the log has then: this, or the memory as it was before.
      this.#discard();
    }
  }

  // ---- bases, and deleting what they make superfluous

  #writeBaseIfDue(replica: Replica): void {
    const { recordsSince, bytesSince } = replica;
    const isDue = recordsSince >= RECORDS_FOR_BASE || bytesSince >= BYTES_FOR_BASE;
    if (isDue) this.#beginBase(replica);
  }

  #beginBase(replica: Replica): void {
    if (this.#basing !== undefined) return;
    // Calls go on while it is written. If that fails, nothing is lost: another one is due then.
    this.#basing = this.#writeBase(replica).then(
      () => this.#based(replica),
      () => {
        this.#basing = undefined;
      },
    );
  }

  // So much may have come meanwhile that another one is due.
  #based(replica: Replica): void {
    this.#basing = undefined;
    if (this.#replica === replica) this.#writeBaseIfDue(replica);
  }

  async #writeBase(replica: Replica): Promise<void> {
    const { written } = await this.#alone(async () =>
      this.#replica === replica
        ? replica.beginBase({ position: replica.position, isWhole: false })
        : { written: undefined },
    );
    if ((await written) !== undefined) this.#trim(replica.purged);
  }

  // Nobody waits for this: it goes on when the memory is opened, or the next base is written.
  #trim(purged: number): void {
    if (this.#isTrimming) return;
    this.#isTrimming = true;
    this.#trimNow(purged)
      .catch(() => {})
      .finally(() => {
        this.#isTrimming = false;
      });
  }

  async #trimNow(purged: number): Promise<void> {
    const log = await this.#opened();
    const { clock, backupMs } = this.#parts;
    const time = clock.now() - Math.max(backupMs, LEAST_BACKUP_MS);
    await trim(log, { purged, time, isEnded: () => this.#isClosed });
  }

  // Ends when no object has anything of what was forgotten.
  async #purge(replica: Replica, number: number): Promise<void> {
    const log = await this.#opened();
    try {
      const order = { position: replica.position, isWhole: true, endsExport: true };
      const { written } = await replica.beginBase(order);
      const { name, position } = (await written) as Base;
      await trimTo(log, name.number);
      if (replica.position.number === name.number) replica.position = position;
    } catch (error) {
      this.#beginBase(replica);
      throw new KeepsakeError(
        "unreachable",
        `what was to be forgotten is forgotten, by record ${number} of the log, but ${log.calls.place} may have it still: it goes when the memory is opened again, or call forget() again: ${detailOf(error)}`,
        { cause: error },
      );
    }
  }
}

const EVERYTHING: Changes = { namespaces: [], threads: [], everything: true };

function hasMadeGraph(operations: readonly Operation[], response: Uint8Array): boolean {
  const [first] = operations;
  if (first?.kind !== "improveIndex" || !first.isWanted) return false;
  return answersIn(response, [first])[0].isDone;
}

function isAlone(call: RemoteRequest): boolean {
  return replaces(call) || call.operations.some(forgets);
}

function isWrite({ changes }: RemoteRequest): boolean {
  return changes !== undefined;
}

function forgets(operation: Operation): boolean {
  return operation.kind === "forget" && !operation.dryRun;
}

function replaces({ operations }: RemoteRequest): boolean {
  return operations.some(
    (one) =>
      one.kind === "importFrom" ||
      one.kind === "salvage" ||
      (one.kind === "finishImport" && one.isWanted),
  );
}

// The index of texts is made in portions.
async function readFrom(replica: Replica, request: Uint8Array): Promise<Uint8Array> {
  for (;;) {
    const response = await replica.execute(request);
    if (failureCodeOf(response) !== "indexing") return response;
    await new Promise((resolve) => setTimeout(resolve));
  }
}

// Whether a read wrote something that belongs in the log. Its first execution may also have noted a
// failure in the audit log, or completed an index of texts. A second one writes only if the read
// restarts a time to live.
async function hasWritten(
  replica: Replica,
  request: Uint8Array,
  operations: readonly Operation[],
): Promise<boolean> {
  if (!replica.hasWritten) return false;
  if (!operations.some(mayRestartTtl)) return false;
  await replica.execute(request);
  return replica.hasWritten;
}

function mayRestartTtl(operation: Operation): boolean {
  return (
    (operation.kind === "get" || operation.kind === "search") && operation.refreshTtl !== false
  );
}
