// A memory on a device, one of several that follow a log. Its own file answers its calls. What they
// write waits in an outbox there, which is filled in the same transaction. A round carries out what
// others appended to the log, as if it had come before what waits, and then appends what waits.

import type { LogPoint } from "../../engine/engine.js";
import { scrubAll } from "../../engine/scrubbing.js";
import type {
  MemoryCalls,
  MemorySync,
  SyncedMemory,
  SyncStatus,
} from "../../engine/synced-memory.js";
import { KeepsakeError, messageOf } from "../../errors.js";
import { decodeValue } from "../../store/json-value.js";
import { type Changes, everything, merge } from "../../wire/changes.js";
import type { LogRecord as AppliedRecord, IndexConfig, SyncState } from "../../wire/layout.js";
import { type LogClock, type Moment, momentOf, since } from "../log/clock.js";
import { configuringRequest, hasIndex, indexIn, withoutReplacing } from "../log/configuration.js";
import { type Entry, Log, type LogSource, type Next, positionOf } from "../log/log.js";
import { readBaseId } from "../log/names.js";
import { type Poison, placeOf, replaceBy, replicaAt, replicaNow } from "../log/past.js";
import type { LogRecord, Sent, Signed } from "../log/record.js";
import {
  changesOfRequest,
  itemsOfRequest,
  kindsOf,
  type Poisoned,
  Replica,
} from "../log/replica.js";
import { isSameBytes } from "../log/seal.js";
import { isSent, type LastSent } from "../log/senders.js";
import { trim, trimTo } from "../log/trim.js";
import { Line } from "./line.js";
import {
  decodePlace,
  encodePlace,
  MOVING_IN,
  movingAs,
  NOWHERE,
  type Place,
  startOf,
} from "./place.js";
import { Turns } from "./turns.js";

/** The most bytes of one record, unless one call alone has more. */
const MOST_RECORD_BYTES = 4 * 2 ** 20;
/** The most bytes of records that are carried out at once. Calls wait meanwhile. */
const MOST_APPLIED_BYTES = 4 * 2 ** 20;
const RECORDS_FOR_BASE = 256;
const BYTES_FOR_BASE = 512 * 1024;
const LEAST_BACKUP_MS = 3_600_000;
/** How long after a write a round begins: calls of one burst go up together. */
const AFTER_WRITE_MS = 100;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** How often a device that had to leave out a record looks whether it can be read. */
const LOOK_AGAIN_MS = 30_000;
/** How often a memory is copied into an empty log, if it is written to meanwhile. */
const MOST_COPIES = 3;
/** The name of the file that is lent to the engine. */
const IMAGE = "image of the log";

/** @internal */
export interface SyncerParts extends LogSource {
  readonly memory: SyncedMemory;
  readonly device: string;
  /** 0 for never. */
  readonly everyMs: number;
}

/** @internal */
export class Syncer implements MemorySync {
  readonly #parts: SyncerParts;
  readonly #calls: MemoryCalls;
  readonly #clock: LogClock;
  readonly #turns: Turns;
  readonly #line: Line;
  #log: Log | undefined;
  #round: Promise<void> | undefined;
  /** Something was written since the round began. */
  #isDue = false;
  /** Of several tabs, this one syncs by itself. */
  #leads = false;
  #isApplying = false;
  #isStopped = false;
  #cancelTimer = () => {};
  /** When the next round begins, as the clock's elapsed() has it. */
  #dueAt = Number.POSITIVE_INFINITY;
  readonly #stops: (() => void)[] = [];
  #retryMs = FIRST_RETRY_MS;
  #lastSync: number | undefined;
  #error: KeepsakeError | undefined;
  readonly #bad = new Map<string, { record: number; why: string }>();
  /** When it was looked last whether they can be read. */
  #lookedAt: Moment | undefined;
  readonly #poison: Poison;
  /** Whether a forget() waits, as of `in`, which tells one state of the outbox from another. */
  #forgetWaits = { in: "", answer: false };
  /** The newest base that was seen; undefined before the log was listed. */
  #base: number | undefined;
  #bytesSinceBase = 0;
  /** The file has no bytes of what was forgotten up to this record. */
  #scrubbed = 0;
  /** No object has anything of what was forgotten up to this record. */
  #cleared = 0;

  constructor(parts: SyncerParts) {
    this.#parts = parts;
    this.#calls = parts.memory.calls;
    this.#clock = parts.clock;
    this.#line = new Line(parts.bucket, parts.clock);
    this.#turns = new Turns(parts.memory.database);
    const poison = new Set<string>();
    this.#poison = {
      isPoison: (entry, i) => poison.has(placeOf(entry, i)),
      notePoison: ({ entry, index, message }: Poisoned) => {
        poison.add(placeOf(entry, index));
        this.#bad.set(placeOf(entry, index), { record: entry.number, why: message });
      },
      noteDamaged: (number, why) => this.#noteDamaged(number, why),
    };
  }

  // Does not wait for the network: calls made before the bucket is reached wait in the outbox, too. A
  // memory that already has something goes into the log as a whole when the bucket is reached.
  async start(): Promise<void> {
    if ((await this.#stateIfAny()) === undefined && (await this.#isEmpty())) {
      await this.#startSync(NOWHERE);
    }
    if (this.#parts.everyMs === 0) return;
    this.#turns.lead(() => {
      this.#leads = true;
      this.#stops.push(
        this.#calls.onChange(() => {
          // After a failure, more writes do not make it ask more often.
          if (!this.#isApplying) this.#wake(this.#error ? this.#retryMs : AFTER_WRITE_MS);
        }),
        onceOnline(() => this.#wake(0)),
      );
      this.#wake(0);
    });
  }

  async sync(): Promise<void> {
    await this.#round?.catch((error) => {
      // A caller that has waited for a silent bucket does not wait as long again.
      if (this.#log?.calls.isSilent ?? true) throw error;
    });
    await this.#run();
  }

  async status(): Promise<SyncStatus> {
    const { state, hasForget } = await this.#stateAndForget();
    const place = state && placeIn(state);
    const [aside] = state ? await this.#calls.call([{ kind: "listSetAside" }]) : [[]];
    const isUncleared = (place?.purged ?? 0) > this.#cleared;
    // The tab that syncs for all may have cleared it. One round of this tab finds out.
    if (isUncleared && !this.#leads && this.#parts.everyMs > 0) this.#wake(0);
    return {
      isSyncing: this.#round !== undefined,
      waiting: state?.waiting ?? 0,
      waitingBytes: state?.waitingBytes ?? 0,
      waitingSince: dateOf(state?.waitingSince),
      isForgetting: hasForget || isUncleared,
      lastSync: dateOf(this.#lastSync),
      error: this.#error ?? this.#line.failure,
      record: state?.number ?? 0,
      setAside: aside.map(({ sequence, request, at, code, message }) => ({
        id: sequence,
        at: new Date(at),
        code,
        message,
        changes: changesOf([request]),
        items: itemsOfRequest(request).map(({ value, ...item }) => ({
          ...item,
          value: value === undefined ? null : decodeValue(value),
        })),
      })),
      badRecords: this.#badRecords(place?.leftOut ?? []),
    };
  }

  // For records that were left out before the memory was opened, the reason is known only when they
  // have been read again.
  #badRecords(leftOut: readonly number[]): { record: number; why: string }[] {
    const unread = leftOut.filter((record) => !this.#bad.has(String(record)));
    const why = "it could not be read, and is to be read again";
    return [...this.#bad.values(), ...unread.map((record) => ({ record, why }))];
  }

  async remains(): Promise<string | undefined> {
    return (await this.status()).isForgetting ? REMAINS : undefined;
  }

  async dropSetAside(ids: readonly number[]): Promise<void> {
    await this.#calls.call([{ kind: "dropSetAside", sequences: [...ids] }]);
  }

  // What waits here goes up first, so that a later restore() can bring it back.
  async restore(point: LogPoint): Promise<void> {
    await this.sync();
    await this.#turns.take(async () => {
      const log = this.#log as Log;
      const { position, configuration } = await this.#place(log);
      const then = await replicaAt(log, this.#parts.memory.openFiles, point, this.#poison);
      try {
        await then.keepIndex(configuration);
        await replaceBy(log, then, position, this.#signed());
      } finally {
        then.close();
      }
    });
    await this.sync();
  }

  // Does not wait for the network, either: syncing goes on when the memory is opened next.
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#turns.stop();
    this.#line.cut();
    for (const stop of this.#stops.splice(0)) stop();
  }

  // ---- rounds

  #wake(ms: number): void {
    this.#isDue = true;
    if (this.#isStopped || this.#round !== undefined) return;
    // A round never begins later than planned, or steady writes would put it off for ever.
    if (this.#clock.elapsed() + ms < this.#dueAt) this.#later(ms);
  }

  #later(ms: number): void {
    this.#cancelTimer();
    this.#dueAt = this.#clock.elapsed() + ms;
    this.#cancelTimer = this.#clock.later(ms, () => {
      this.#run().catch(() => {});
    });
  }

  #run(): Promise<void> {
    this.#cancelTimer();
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#round ??= this.#runInTurn().finally(() => {
      this.#round = undefined;
      if (this.#isStopped || !this.#leads) return;
      if (this.#error === undefined) {
        this.#later(this.#isDue ? AFTER_WRITE_MS : this.#parts.everyMs);
      } else {
        this.#later(this.#retryMs);
        this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
      }
    });
    return this.#round;
  }

  // One round, even if there are new writes at its end: a caller of sync() must not wait for those.
  async #runInTurn(): Promise<void> {
    try {
      this.#isDue = false;
      await this.#turns.take(() => this.#runRound());
      this.#lastSync = this.#clock.now();
      this.#error = undefined;
      this.#retryMs = FIRST_RETRY_MS;
    } catch (error) {
      this.#error =
        error instanceof KeepsakeError
          ? error
          : new KeepsakeError("internal", `syncing failed: ${messageOf(error)}`, { cause: error });
      throw this.#error;
    }
  }

  async #runRound(): Promise<void> {
    this.#log ??= await this.#openLog();
    const log = this.#log;
    const before = await this.#join(log);
    if (before.position.number > 0) log.see(before.position);
    let place = await this.#withLeftOut(log, before);
    do {
      place = await this.#pull(log, place);
    } while (!(await this.#push(log, place)));
    place = await this.#place(log);
    if (place.purged > this.#scrubbed) await this.#scrub(place.purged);
    if (place.purged > this.#cleared) await this.#clear(log, place.purged);
    else await this.#writeBaseIfDue(log, place);
  }

  // A memory that has followed a log does not begin another one.
  async #openLog(): Promise<Log> {
    const { name, bucket } = this.#parts;
    const source = { ...this.#parts, bucket: this.#line, clock: this.#line.clock };
    const state = await this.#stateIfAny();
    const place = state && placeIn(state);
    if (place === undefined || place.log === "" || movingAs(place) !== undefined) {
      return Log.open(source);
    }
    if (state?.logId !== name) throw this.#isAnother();
    try {
      return await Log.open({ ...source, mustExist: true });
    } catch (error) {
      if (!(error instanceof KeepsakeError) || error.code !== "not_found") throw error;
      throw new KeepsakeError(
        "rolled_back",
        `the log of "${name}" that this memory has synced with is not in ${bucket.place}: give the bucket and the key that it had; or, if it was deleted there, put it back, or import an export of this memory into a new one, which goes into the bucket then`,
        { cause: error },
      );
    }
  }

  #isAnother(): KeepsakeError {
    const { name, bucket } = this.#parts;
    return new KeepsakeError(
      "conflicting_options",
      `this memory has synced with another log than the one of "${name}" in ${bucket.place}: give the bucket, the name and the key that it had, or import an export of it into a new memory`,
    );
  }

  async #stateIfAny(): Promise<SyncState | undefined> {
    const [state] = await this.#calls.call([{ kind: "syncState" }]);
    return state;
  }

  async #state(): Promise<SyncState> {
    const state = await this.#stateIfAny();
    if (state !== undefined) return state;
    throw new KeepsakeError("internal", "the memory does not sync any more");
  }

  async #place(log: Log): Promise<Place> {
    const place = placeIn(await this.#state());
    return place.position.number === 0 ? startOf(log, place) : place;
  }

  // ---- the first time

  // Rules count, too: another device must know what is held.
  async #isEmpty(): Promise<boolean> {
    const [{ items }, { threads }, holds, rules, audit] = await this.#calls.call([
      { kind: "storeStats" },
      { kind: "checkpointerStats" },
      { kind: "listHolds" },
      { kind: "historyRules" },
      { kind: "auditRule" },
    ]);
    return items + threads + holds.length + rules.length === 0 && audit === undefined;
  }

  async #startSync(place: Place): Promise<void> {
    const { name } = this.#parts;
    const digest = encodePlace({ ...place, by: this.#chance() });
    await this.#calls.call([{ kind: "startSync", logId: name, number: 0, digest }]);
  }

  async #stopSync(): Promise<void> {
    await this.#calls.call([{ kind: "stopSync" }]);
  }

  async #join(log: Log): Promise<Place> {
    const state = await this.#stateIfAny();
    const place = state && placeIn(state);
    if (place === undefined || movingAs(place) !== undefined) {
      if (!(await this.#hasMovedIn(log, state))) await this.#moveIn(log);
      return this.#place(log);
    }
    if (state?.logId !== this.#parts.name || (place.log !== "" && place.log !== log.id)) {
      throw this.#isAnother();
    }
    if (this.#base === undefined) {
      const { bases, cleared } = await log.list();
      this.#noteBase(bases[0]?.number ?? 0);
      this.#cleared = cleared;
    }
    return this.#place(log);
  }

  #bothHold(log: Log): KeepsakeError {
    return new KeepsakeError(
      "already_exists",
      `the memory here and the one called "${this.#parts.name}" in ${log.calls.place} both hold something, and two memories do not become one by themselves: sync under another name, or open a new memory here, let it sync, and put into it what you need of the old one`,
    );
  }

  // The process that moved in may have ended before it knew. What was written since it made its copy
  // waits in the outbox.
  async #hasMovedIn(log: Log, state: SyncState | undefined): Promise<boolean> {
    const id = state && movingAs(placeIn(state));
    if (id === undefined || state?.logId !== this.#parts.name) return false;
    const first = await log.readRecord(1);
    if (first.is !== "there" || first.value.record.id !== id) return false;
    await this.#takeWhole(log);
    return true;
  }

  // The memory becomes the first record. What is written meanwhile waits in the outbox. Until that
  // record is known to be in the log, the file says that moving in has only begun.
  async #moveIn(log: Log): Promise<void> {
    for (let tries = 1; tries <= MOST_COPIES; tries++) {
      await this.#stopSync();
      if ((await log.list()).last > 0) throw this.#bothHold(log);
      const signed = this.#signed();
      await this.#startSync({ ...NOWHERE, log: MOVING_IN + signed.id });
      const image = await this.#copied(log);
      try {
        if (image !== undefined) return await this.#appendImage(log, image, signed);
      } finally {
        image?.close();
      }
    }
    await this.#stopSync();
    throw new KeepsakeError(
      "busy",
      "the memory was written to all the time while it was copied into the bucket: sync again",
    );
  }

  async #appendImage(log: Log, image: Replica, signed: Signed): Promise<void> {
    try {
      const entry = await replaceBy(log, image, log.start, signed);
      const { configuration } = image;
      const position = positionOf(entry);
      const digest = encodePlace({ ...(await this.#place(log)), position, configuration });
      await this.#apply([{ number: entry.number, digest, requests: [] }]);
    } catch (error) {
      if (!(error instanceof KeepsakeError) || error.code !== "busy") throw error;
      // Somebody else moved in.
      await this.#stopSync();
      throw this.#bothHold(log);
    }
  }

  /** Answers undefined if there were writes meanwhile: they may be in the copy or not. */
  async #copied(log: Log): Promise<Replica | undefined> {
    const { openFiles, copyInto, index } = this.#parts.memory;
    const replica = await Replica.open(log, openFiles, undefined);
    try {
      await replica.run(copyInto);
      await replica.startAnew();
      if (index !== undefined)
        await replica.keepIndex(configuringRequest(index, this.#clock.now()));
      if ((await this.#state()).waiting === 0) return replica;
    } catch (error) {
      replica.close();
      await this.#stopSync();
      throw error;
    }
    replica.close();
    return undefined;
  }

  // ---- down

  async #pull(log: Log, from: Place): Promise<Place> {
    let place = from;
    for (;;) {
      const { records, next, place: reached, bytes } = await this.#read(log, place);
      const isOpen = next.is !== "end" && next.is !== "gone";
      if (next.is === "gone" || (isOpen && !(await log.hasAllSince(place.position)))) {
        await log.requireSame(place.position);
        place = await this.#takeWhole(log, { gone: place.position.number });
      } else if (next.is === "record" && next.entry.record.kind === "image") {
        place = await this.#takeWhole(log);
      } else {
        this.#bytesSinceBase += bytes;
        place = records.length > 0 ? await this.#carryOut(log, records, reached) : reached;
        if (next.is === "end") return place;
      }
    }
  }

  // Reads the records that follow, as many as are carried out at once, and what comes after them.
  async #read(log: Log, from: Place) {
    let place = from;
    let bytes = 0;
    const records: AppliedRecord[] = [];
    let next: Next = await log.next(place.position, from.position);
    while (bytes <= MOST_APPLIED_BYTES) {
      if (next.is === "damaged") {
        const { position, why } = next;
        this.#noteDamaged(position.number, why);
        place = { ...place, position, leftOut: [...place.leftOut, position.number] };
        records.push({ number: position.number, digest: encodePlace(place), requests: [] });
      } else if (next.is === "record" && next.entry.record.kind === "requests") {
        const { entry } = next;
        place = after(entry, place);
        const requests = requestsOf(entry).filter((one) => !configures(one));
        records.push({ number: entry.number, digest: encodePlace(place), requests });
        bytes += entry.bytes;
      } else {
        break;
      }
      next = await log.next(place.position, from.position);
    }
    return { records, next, place, bytes };
  }

  #noteDamaged(record: number, why: string): void {
    this.#bad.set(String(record), { record, why });
    this.#lookedAt = momentOf(this.#clock);
  }

  // A record may have been damaged only on its way to this device, or a base has it by now. If so, the
  // memory is taken as the log has it.
  async #withLeftOut(log: Log, place: Place): Promise<Place> {
    const { leftOut } = place;
    if (leftOut.length === 0 || since(this.#clock, this.#lookedAt) < LOOK_AGAIN_MS) return place;
    for (const number of leftOut) {
      const read = await log.readRecord(number);
      if (read.is !== "damaged") {
        for (const one of leftOut) this.#bad.delete(String(one));
        return this.#takeWhole(log);
      }
      this.#noteDamaged(number, read.why);
    }
    return place;
  }

  async #carryOut(log: Log, records: AppliedRecord[], reached: Place): Promise<Place> {
    const isWaiting = (await this.#state()).waiting > 0;
    const own = isWaiting ? await this.#ownIn(records) : NONE_OWN;
    const { partly } = own;
    const whole =
      partly === undefined ? records : records.filter((one) => one.number < partly.number);
    try {
      if (whole.length > 0) await this.#apply(whole);
    } catch (error) {
      // A replica of the log can do what this file can't, and leaves out what makes an engine fail.
      const isOurs = error instanceof KeepsakeError && TAKES_WHOLE.has(error.code);
      if (!isOurs) throw error;
      return this.#takeWhole(log, {
        own: isWaiting ? await this.#allOwn(log, own, reached) : undefined,
      });
    }
    return partly === undefined ? reached : this.#takeWhole(log, { own: partly });
  }

  // A copy of this file, or the file that this is a backup of, may have sent what waits here, and more
  // with it. What waits here is confirmed, and the rest comes with the memory as a whole. Until then
  // the record that has more counts as left out.
  async #ownIn(records: readonly AppliedRecord[], from = 0): Promise<Own> {
    const own: Uint8Array[] = [];
    let after = from;
    let [[first]] = await this.#outbox(after, 0);
    for (const { number, digest, requests } of records) {
      if (first === undefined) break;
      const [begin] = requests;
      if (begin === undefined || !isSameBytes(begin, first.request)) continue;
      const [waiting] = await this.#outbox(after, sizeOf(requests));
      const differs = requests.findIndex((one, i) => {
        const waits = waiting[i]?.request;
        return waits === undefined || !isSameBytes(one, waits);
      });
      const same = differs < 0 ? requests : requests.slice(0, differs);
      own.push(...same);
      after = waiting[same.length - 1]?.sequence ?? after;
      if (differs > 0) {
        const place = decodePlace(number, digest);
        const leftOut = encodePlace({ ...place, leftOut: [...place.leftOut, number] });
        return { requests: own, after, partly: { number, digest: leftOut, requests: same } };
      }
      [[first]] = await this.#outbox(after, 0);
    }
    return { requests: own, after, partly: undefined };
  }

  // A file that was closed while something waited can't carry out records one by one. What waits here
  // is looked for in all records that follow, and counts as the next one.
  async #allOwn(log: Log, begun: Own, reached: Place): Promise<AppliedRecord | undefined> {
    const own = [...begun.requests];
    let { after, partly } = begun;
    let place = reached;
    const before = await this.#state();
    while (partly === undefined && own.length < before.waiting) {
      const { records, place: further } = await this.#read(log, place);
      if (records.length === 0) break;
      const { requests, ...more } = await this.#ownIn(records, after);
      own.push(...requests);
      ({ after, partly } = more);
      place = further;
    }
    if (own.length === 0) return undefined;
    return { number: before.number + 1, digest: before.digest, requests: own };
  }

  #outbox(after: number, maxBytes: number) {
    return this.#calls.call([{ kind: "readOutbox", after, maxBytes }]);
  }

  /**
   * Makes the memory what the log has, and carries out again what waits. The records up to `gone` were
   * deleted. `own` is a record that has the requests which wait here first.
   */
  async #takeWhole(
    log: Log,
    { gone = 0, own }: { gone?: number; own?: AppliedRecord | undefined } = {},
  ): Promise<Place> {
    const before = await this.#place(log);
    const { by } = before;
    const replica = await replicaNow(log, this.#parts.memory.openFiles, gone, this.#poison);
    try {
      const { position, configuration, purged, damaged: leftOut, senders } = replica;
      if (senders.isMissing(by, before.sent)) {
        throw log.rolledBack(`record ${before.sent}, which this device has sent, is not in it`);
      }
      const last = senders.of(by);
      const sent = Math.max(before.sent, last?.number ?? 0);
      const place = { log: log.id, position, configuration, purged, leftOut, by, sent };
      const image = { image: IMAGE, imageNumber: position.number, imageDigest: encodePlace(place) };
      const bytes = await replica.image();
      const known = own ?? (last && (await this.#sentAs(before, last)));
      const records = known === undefined ? [] : [known];
      await this.#calls.lending(IMAGE, bytes, () => this.#apply(records, image));
      return place;
    } finally {
      replica.close();
    }
  }

  // The requests that wait here although they are in the log: whether they were appended was never
  // heard. They count as the next record, wherever they are in the log.
  async #sentAs(place: Place, last: LastSent): Promise<AppliedRecord | undefined> {
    const number = place.position.number + 1;
    if (last.number < number) return undefined;
    const [waiting] = await this.#outbox(0, MOST_RECORD_BYTES);
    const count = waiting.findIndex(({ sequence }) => sequence === last.upTo) + 1;
    const newest = waiting[count - 1];
    if (newest === undefined || !(await isSent(last, newest))) return undefined;
    const requests = waiting.slice(0, count).map(({ request }) => request);
    return { number, digest: encodePlace(place), requests };
  }

  async #apply(records: AppliedRecord[], image: object = {}): Promise<void> {
    const { waiting } = await this.#state();
    const isSimple = waiting === 0 && !("image" in image);
    const changes = isSimple ? changesOf(records.flatMap((one) => one.requests)) : everything();
    this.#isApplying = true;
    try {
      await this.#calls.call([{ kind: "catchUp", records, ...image, changes } as never]);
    } finally {
      this.#isApplying = false;
    }
  }

  // ---- up

  /** Answers false if others were faster: their records must be carried out first. */
  async #push(log: Log, from: Place): Promise<boolean> {
    let place = from;
    const index = this.#indexToGive(log, place);
    if (index !== undefined) {
      const request = configuringRequest(index, this.#clock.now());
      const appended = await this.#append(log, place, [request]);
      if (appended === undefined) return false;
      const digest = encodePlace(appended);
      const record = { number: appended.position.number, digest, requests: [] };
      place = await this.#carryOut(log, [record], appended);
    }
    // Later writes are for the next round, or this one might never end.
    let { waiting: left } = await this.#state();
    while (left > 0) {
      const [waiting] = await this.#outbox(0, MOST_RECORD_BYTES);
      const last = waiting.at(-1);
      if (last === undefined) return true;
      const requests = waiting.map(({ request }) => request);
      const sent = { by: place.by, upTo: last.sequence };
      const appended = await this.#append(log, place, requests, sent);
      if (appended === undefined) return false;
      await this.#confirm(appended, last.sequence);
      place = appended;
      left -= waiting.length;
    }
    return true;
  }

  async #append(
    log: Log,
    place: Place,
    requests: readonly Uint8Array[],
    sent?: Sent,
  ): Promise<Place | undefined> {
    const record: LogRecord = { kind: "requests", ...this.#signed(), requests, sent };
    const entry = await log.append(await log.prepare(place.position, record));
    if (entry === undefined) return undefined;
    this.#bytesSinceBase += entry.bytes;
    return after(entry, place);
  }

  async #confirm(place: Place, upTo: number): Promise<void> {
    const { number } = place.position;
    try {
      const digest = encodePlace(place);
      await this.#calls.call([{ kind: "confirmOutbox", number, digest, upTo }]);
    } catch (error) {
      // Another tab may have found the record in the log, and confirmed it.
      if ((await this.#state()).number < number) throw error;
    }
  }

  /** The index of this device, if the memory in the log is to get it. */
  #indexToGive(log: Log, { configuration }: Place): IndexConfig | undefined {
    const { index } = this.#parts.memory;
    if (index === undefined || hasIndex(configuration, index)) return undefined;
    const known = configuration && indexIn(configuration);
    if (known === undefined || index.replaceVectors) return index;
    if (known.dims === index.dims && known.model === index.model) return undefined;
    throw new KeepsakeError(
      "conflicting_options",
      `the memory in ${log.calls.place} has vectors of ${known.dims} dimensions${known.model && ` by ${known.model}`}, and the index here is of ${index.dims}${index.model && ` by ${index.model}`}: give the same index on each device, or index.replace to replace theirs`,
    );
  }

  #signed(): Signed {
    return { id: this.#chance(), at: this.#clock.now(), device: this.#parts.device };
  }

  #chance(): number {
    return Math.floor(this.#clock.random() * Number.MAX_SAFE_INTEGER);
  }

  // ---- what was forgotten, and bases

  // The state is read after the outbox: what was sent in between is in the state then.
  async #stateAndForget(): Promise<{ state: SyncState | undefined; hasForget: boolean }> {
    const before = await this.#stateIfAny();
    if (before === undefined) return { state: undefined, hasForget: false };
    const version = versionOf(before);
    if (version === this.#forgetWaits.in) {
      return { state: before, hasForget: this.#forgetWaits.answer };
    }
    const answer = await this.#hasForgetWaiting();
    const state = await this.#stateIfAny();
    if (state !== undefined && versionOf(state) === version) {
      this.#forgetWaits = { in: version, answer };
    }
    return { state, hasForget: answer };
  }

  async #hasForgetWaiting(): Promise<boolean> {
    let after = 0;
    for (;;) {
      const [rows] = await this.#outbox(after, MOST_RECORD_BYTES);
      const last = rows.at(-1);
      if (last === undefined) return false;
      if (rows.some(({ request }) => forgets(request))) return true;
      after = last.sequence;
    }
  }

  async #scrub(purged: number): Promise<void> {
    await scrubAll(async (pages) => {
      const [scrubbed] = await this.#calls.call([{ kind: "scrub", pages }]);
      return scrubbed;
    });
    this.#scrubbed = purged;
  }

  // Ends when no object has anything of it. If this device stops before, others go on.
  async #clear(log: Log, purged: number): Promise<void> {
    const { cleared, bases } = await log.list();
    if (cleared < purged) {
      // A base that needs no older one, because those are deleted.
      const hasBase = bases.some(({ number, id }) => (readBaseId(id).oldest ?? number) >= purged);
      if (!hasBase) await this.#writeBase(log, true);
      await trimTo(log, purged);
    }
    this.#cleared = purged;
  }

  async #writeBaseIfDue(log: Log, { position: { number }, purged }: Place): Promise<void> {
    if (!this.#isBaseDue(number)) return;
    // Another device may have written one.
    const { bases } = await log.list();
    this.#noteBase(bases[0]?.number ?? 0);
    if (!this.#isBaseDue(number)) return;
    await this.#writeBase(log, false);
    const { backupMs } = this.#parts;
    const time = this.#clock.now() - Math.max(backupMs, LEAST_BACKUP_MS);
    await trim(log, { purged, time, isEnded: () => this.#isStopped });
  }

  #isBaseDue(number: number): boolean {
    return (
      number - (this.#base ?? number) >= RECORDS_FOR_BASE || this.#bytesSinceBase >= BYTES_FOR_BASE
    );
  }

  #noteBase(number: number): void {
    if (number > (this.#base ?? 0)) this.#bytesSinceBase = 0;
    this.#base = number;
  }

  /** Answers after which record it is. */
  async #writeBase(log: Log, isWhole: boolean): Promise<number> {
    const { openFiles } = this.#parts.memory;
    const replica = await replicaNow(log, openFiles, 0, this.#poison);
    try {
      const { written } = await replica.beginBase({ position: replica.position, isWhole });
      const { number } = (await written).name;
      this.#noteBase(number);
      return number;
    } finally {
      replica.close();
    }
  }
}

const REMAINS =
  "The bucket that this memory syncs with still has it, and the file has what waits to be sent there, until syncStatus().isForgetting is false. Each other device has it until it syncs.";

/** What waits here and is in the log already. */
interface Own {
  /** From the first that waits on. */
  readonly requests: readonly Uint8Array[];
  /** The sequence of the last of them. */
  readonly after: number;
  /** The record that has the last of them, and more. */
  readonly partly: AppliedRecord | undefined;
}

const NONE_OWN: Own = { requests: [], after: 0, partly: undefined };

// Errors of carrying out records, after which the memory is taken as a whole.
const TAKES_WHOLE: ReadonlySet<string> = new Set([
  "conflicting_options",
  "internal",
  "invalid_argument",
  "invalid_operation",
  "unsupported",
]);

// Differs for each content of the outbox: what was sent raises the number.
function versionOf({ number, waiting, waitingBytes, waitingSince }: SyncState): string {
  return `${number} ${waiting} ${waitingBytes} ${waitingSince}`;
}

function placeIn({ number, digest }: SyncState): Place {
  return decodePlace(number, digest);
}

function requestsOf({ record }: Entry): readonly Uint8Array[] {
  return record.kind === "requests" ? record.requests : [];
}

/** The place of a device that has carried out a record. */
function after(entry: Entry, place: Place): Place {
  const { record, number } = entry;
  const requests = requestsOf(entry);
  const configuring = requests.findLast(configures);
  const isOurs = record.kind === "requests" && record.sent?.by === place.by;
  return {
    ...place,
    position: positionOf(entry),
    configuration: configuring === undefined ? place.configuration : withoutReplacing(configuring),
    purged: requests.some(forgets) ? number : place.purged,
    sent: isOurs ? number : place.sent,
  };
}

function configures(request: Uint8Array): boolean {
  return kindsOf(request).includes("configureStore");
}

function forgets(request: Uint8Array): boolean {
  return kindsOf(request).includes("forget");
}

function changesOf(requests: readonly Uint8Array[]): Changes {
  let all: Changes = { namespaces: [], threads: [], everything: false };
  for (const one of requests.flatMap(changesOfRequest)) all = merge(all, one);
  return all;
}

function sizeOf(requests: readonly Uint8Array[]): number {
  return requests.reduce((sum, { length }) => sum + length, 0);
}

function dateOf(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}

// Answers how to stop listening.
function onceOnline(listener: () => void): () => void {
  const { addEventListener, removeEventListener } = globalThis as Partial<typeof globalThis>;
  if (addEventListener === undefined || removeEventListener === undefined) return () => {};
  addEventListener("online", listener);
  return () => removeEventListener("online", listener);
}
