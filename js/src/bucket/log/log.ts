// The log of a memory in a bucket: records, numbered from 1 on. A writer has written when it has
// created the object of the next number; if that number is taken, it reads that record first. A base
// is the memory as it was after a record: readers begin from the newest one.
//
// Objects are never overwritten, so each one is either there or not. Records are deleted once a base
// has what they say. So if a number is not there, the log ends before it, or it was deleted. A reader
// that mistook one for the other would answer what was true once, or write where nobody reads. Two
// rules keep them apart:
//
// - A record is deleted only by somebody that has known it for REST_MS, and in order (trim.ts).
// - A reader that finds no next number has either been at the end less than SURE_FOR_MS ago, so that
//   nothing can have been written and deleted since; or it asks afterwards whether the record at
//   which it began to read is still there.
//
// A writer asks after it has written, and needs nothing else as long as it is quick. A write that
// arrives late, after its writer gave up, finds a fence at each of the last numbers that were
// deleted, or lies where nobody should read it. A reader that reads it nevertheless notices by the
// second rule. It is deleted when somebody opens the memory.

import type { Key } from "../../engine/keys.js";
import { KeepsakeError } from "../../errors.js";
import type { ByteRange, NamedPort } from "../port.js";
import { Calls, type Created } from "./calls.js";
import { type LogClock, type Moment, momentOf, since, sleep } from "./clock.js";
import { deriveSecrets } from "./log-key.js";
import { type BaseName, LogNames, plainName, readBaseId } from "./names.js";
import { type Read, readObject } from "./reading.js";
import { decodeRecord, encodeRecord, type LogRecord } from "./record.js";
import { digestOf, hexOf, isSameBytes, NO_PRIOR, type Place, Seal } from "./seal.js";

/** An answer about the end of the log counts for so long. */
const SURE_FOR_MS = 1_000;
/** How long a record must be known before it is deleted. @internal */
export const REST_MS = 1_250;
/** After so long, a request of one's own that was given up may have arrived, too. */
const LONG_MS = 30_000;
/** A listing may be so old. @internal */
export const LISTS_LATE_MS = 5_000;
/** Between two listings of something that may be listed late. */
const PAUSE_MS = 100;
/** How many of the last deleted numbers get a fence. @internal */
export const FENCES = 64;
const FORMAT = 1;
/** How many records a reader that is far behind fetches at once. */
const READ_AHEAD = 16;
/** No two objects begin with the same bytes of this length. */
const MARK_BYTES = 80;

/** An object that shows, as long as it is there, that nothing behind a position was deleted. @internal */
export interface Mark {
  readonly key: string;
  /** How the object begins. Without, there must be none. */
  readonly begin: Uint8Array | undefined;
}

/** @internal */
export function markOf(key: string, object: Uint8Array): Mark {
  return { key, begin: object.slice(0, MARK_BYTES) };
}

/** How far somebody has read. @internal */
export interface Position {
  readonly number: number;
  /** Of that record's object, or of the log's head before the first one. */
  readonly digest: Uint8Array;
  /** It could not be read: the record after it can't be checked against it. */
  readonly isDamaged?: true | undefined;
  readonly mark: Mark;
}

/** The position of a reader that has read an entry. @internal */
export function positionOf({ number, digest, isDamaged, mark }: Position): Position {
  return { number, digest, isDamaged, mark };
}

/** A record as it stands in the log. @internal */
export interface Entry extends Position {
  readonly record: LogRecord;
  /** Of its object. */
  readonly bytes: number;
}

/** A record that may be appended. @internal */
export interface Prepared extends Entry {
  readonly object: Uint8Array;
  readonly after: Position;
}

/** What the next number holds. @internal */
export type Next =
  | { readonly is: "record"; readonly entry: Entry }
  /** There is no such record: the log ends before it. */
  | { readonly is: "end" }
  /** The records from here on were deleted: a base has them. */
  | { readonly is: "gone" }
  /** It can't be read, but the records behind it can. */
  | { readonly is: "damaged"; readonly position: Position; readonly why: string };

export interface LogSource {
  readonly bucket: NamedPort;
  readonly name: string;
  readonly key: Key | undefined;
  readonly clock: LogClock;
  /** For how long the past can be asked for. */
  readonly backupMs: number;
  /** Whether it is `not_found` where nothing is, and is not begun. @default false */
  readonly mustExist?: boolean | undefined;
}

/** The objects of a log, as the bucket lists them. @internal */
export interface Listing {
  /** The newest first. */
  readonly bases: readonly BaseName[];
  /** Those that a record names, or will name. */
  readonly images: readonly BaseName[];
  readonly records: readonly number[];
  /** Of the newest record, fence or base; 0 of an empty log. */
  readonly last: number;
  /** All records up to this number were deleted, and all bases before it. */
  readonly cleared: number;
  /** Keys of objects that arrived late, where all was deleted. */
  readonly strays: readonly string[];
}

/** @internal */
export class Log {
  readonly names: LogNames;
  readonly calls: Calls;
  readonly seal: Seal;
  readonly clock: LogClock;
  readonly backupMs: number;
  readonly id: string;
  /** Where the log begins. */
  readonly start: Position;
  // The newest record that any caller has seen.
  #seen: Position;
  /** When it was last known that nothing was behind `#seen`. */
  #sureAt: Moment | undefined;
  #listedAt: Moment | undefined;
  /** The last number that any listing had. */
  #listed = 0;
  /** Records that are being fetched before they are asked for. */
  readonly #ahead = new Map<number, Promise<Uint8Array | undefined>>();

  private constructor(
    parts: Pick<Log, "names" | "calls" | "seal" | "clock" | "backupMs" | "id" | "start">,
  ) {
    this.names = parts.names;
    this.calls = parts.calls;
    this.seal = parts.seal;
    this.clock = parts.clock;
    this.backupMs = parts.backupMs;
    this.id = parts.id;
    this.start = parts.start;
    this.#seen = parts.start;
  }

  /** Opens it, or begins it where nothing is. */
  static async open(source: LogSource): Promise<Log> {
    const { bucket, name, key, clock, backupMs, mustExist } = source;
    const calls = new Calls(bucket, clock);
    const secrets = key === undefined ? undefined : await deriveSecrets(key, name);
    const names = new LogNames(secrets?.name ?? plainName(name));
    const seal = new Seal(secrets?.secret);
    const open = async (object: Uint8Array) => {
      const { content } = await seal.open(HEAD, object);
      return { object, content };
    };
    const head = { calls, clock, key: names.head };
    let read = await readObject(head, open);
    if (read.is === "absent" && mustExist) throw isNotThere(bucket.place, name);
    if (read.is === "absent") {
      await begin(calls, names, seal, name);
      read = await readObject(head, open);
    }
    if (read.is === "absent") throw isNotBegun(bucket.place);
    if (read.is === "damaged") throw new KeepsakeError("corrupt", read.why);
    const { object: found, content } = read.value;
    const { id } = readHead(content, bucket.place, name);
    const mark = { key: names.cut, begin: undefined };
    const start = { number: 0, digest: await digestOf(found), mark };
    return new Log({ names, calls, seal, clock, backupMs, id, start });
  }

  /** A base whose oldest part is older than this is written anew: what is old may be deleted. */
  get longestChainMs(): number {
    return this.backupMs / 2;
  }

  /** The last record that was seen. */
  get seen(): Position {
    return this.#seen;
  }

  /** Throws `rolled_back` if the log knows nothing of where somebody was. */
  async list(): Promise<Listing> {
    const listing = await this.#listNow();
    if (listing.last >= this.#seen.number) return listing;
    // The listing may be late, or by now it has a base with the records that were deleted.
    const { number } = this.#seen;
    if ((await this.calls.get(this.names.record(number))) !== undefined) return listing;
    await sleep(this.clock, LISTS_LATE_MS);
    const later = await this.#listNow();
    if (later.last < number) throw this.rolledBack(`it ends at ${later.last}`);
    return later;
  }

  /**
   * The same, but waits for the listing to have a base with the records that were deleted: those up
   * to `least`, and those that the listing itself says were deleted. A base may be listed late, or be
   * replaced between two pages of a listing. Answers without one if none comes.
   */
  async listWith(least: number): Promise<Listing> {
    let first: Moment | undefined;
    for (;;) {
      const listing = await this.list();
      const needed = Math.max(least, listing.cleared);
      const isThere = needed === 0 || listing.bases.some(({ number }) => number >= needed);
      if (isThere || (first !== undefined && since(this.clock, first) > LISTS_LATE_MS)) {
        return listing;
      }
      first ??= momentOf(this.clock);
      await sleep(this.clock, PAUSE_MS);
    }
  }

  /** The error where no base with the records up to this number is there, or none can be read. */
  isLost(number: number, damages: readonly string[]): KeepsakeError {
    // With nothing damaged, somebody took them away.
    return new KeepsakeError(
      damages.length === 0 ? "rolled_back" : "corrupt",
      `the records up to ${number} of the log were deleted, and no base that has them can be read${damages.map((why) => `; ${why}`).join("")}`,
    );
  }

  async #listNow(): Promise<Listing> {
    const listedAt = momentOf(this.clock);
    const names = (await this.calls.listAll(this.names.entries)).map((key) => this.names.read(key));
    this.#listedAt = listedAt;
    const found = names.filter((one) => one !== undefined);
    // The newest comes first.
    const cleared = found.find(({ isCleared }) => isCleared)?.number ?? 0;
    const bases: BaseName[] = [];
    const images: BaseName[] = [];
    const records: number[] = [];
    const strays: string[] = [];
    for (const { number, id, isCleared } of found) {
      if (isCleared) {
        if (number < cleared) strays.push(this.names.cleared(number));
      } else if (id === undefined) {
        if (number > cleared) records.push(number);
        else if (number <= cleared - FENCES) strays.push(this.names.record(number));
      } else {
        const { oldest = number, isImage } = readBaseId(id);
        const isStray = oldest < cleared || (isImage && number === cleared);
        if (isStray) strays.push(this.names.base({ number, id }));
        else (isImage ? images : bases).push({ number, id });
      }
    }
    const last = Math.max(cleared, records[0] ?? 0, bases[0]?.number ?? 0);
    this.#listed = Math.max(this.#listed, last);
    return { bases, images, records, last, cleared, strays };
  }

  /**
   * What follows a position. `from` is where the reader began: at the end of the log, it is checked
   * that nothing behind it was deleted meanwhile, since a late write might lie there instead.
   */
  async next(after: Position, from: Position): Promise<Next> {
    const number = after.number + 1;
    const key = this.names.record(number);
    if (this.#isLongAgo()) await this.list();
    const askedAt = momentOf(this.clock);
    const first = this.#fetchAhead(number);
    const open = (object: Uint8Array) => this.#open(number, object);
    const read = await readObject({ calls: this.calls, clock: this.clock, key, first }, open);
    if (read.is === "absent") {
      return (await this.#isEnd(after, from, askedAt)) ? { is: "end" } : { is: "gone" };
    }
    if (read.is === "damaged") {
      const { object, why } = read;
      if (number > this.#listed) await this.list();
      if (number > this.#listed) throw this.#isNoRecord(number, why);
      const digest = await digestOf(object);
      const position = { number, digest, isDamaged: true, mark: markOf(key, object) } as const;
      this.see(position);
      return { is: "damaged", position, why };
    }
    const { prior, entry } = read.value;
    if (entry.record.kind === "fence") return { is: "gone" };
    const isFree = after.isDamaged || isSameBytes(prior, NO_PRIOR);
    if (!isFree && !isSameBytes(prior, after.digest)) {
      if (!(await this.hasAllSince(from))) return { is: "gone" };
      throw this.rolledBack(`record ${number} follows another one than it did`);
    }
    this.see(entry);
    return { is: "record", entry };
  }

  // Listed records are there: they are fetched before they are asked for.
  #fetchAhead(number: number): Promise<Uint8Array | undefined> | undefined {
    for (const one of this.#ahead.keys()) if (one < number) this.#ahead.delete(one);
    const last = Math.min(this.#listed, number + READ_AHEAD - 1);
    for (let one = number; one <= last; one++) {
      if (this.#ahead.has(one)) continue;
      const fetched = this.calls.get(this.names.record(one));
      // The reader that asks for it fetches it again.
      fetched.catch(() => this.#ahead.delete(one));
      this.#ahead.set(one, fetched);
    }
    const first = this.#ahead.get(number);
    this.#ahead.delete(number);
    return first;
  }

  async #open(number: number, object: Uint8Array): Promise<{ prior: Uint8Array; entry: Entry }> {
    const { prior, content } = await this.seal.open(this.placeOf(number), object);
    const record = await decodeRecord(content);
    const digest = await digestOf(object);
    const mark = markOf(this.names.record(number), object);
    return { prior, entry: { number, digest, mark, record, bytes: object.length } };
  }

  // Nothing was found behind this position, by a request that was sent at `askedAt`.
  async #isEnd(after: Position, from: Position, askedAt: Moment): Promise<boolean> {
    if (Math.max(this.#seen.number, this.#listed) > after.number) return false;
    const isSure = since(this.clock, this.#sureAt) < SURE_FOR_MS;
    if (!isSure && !(await this.hasAllSince(from))) return false;
    this.#sureAt = askedAt;
    return true;
  }

  // A request of one's own that was given up long ago may have arrived at a deleted number.
  #isLongAgo(): boolean {
    const ago = Math.min(since(this.clock, this.#sureAt), since(this.clock, this.#listedAt));
    return ago >= LONG_MS;
  }

  /** Whether nothing behind a position was deleted. */
  async hasAllSince({ number, digest, mark: { key, begin } }: Position): Promise<boolean> {
    if (begin === undefined) return (await this.calls.get(key)) === undefined;
    const found = await this.calls.get(key, { from: 0, to: begin.length });
    if (found === undefined) return false;
    if (isSameBytes(found, begin)) return true;
    // A fence, or a late write, is in its place. If it is damaged, it is there.
    if (key !== this.names.record(number)) return true;
    const read = await this.read(key, undefined, (object) => this.#open(number, object));
    if (read.is === "there") return isSameBytes(read.value.entry.digest, digest);
    return read.is === "damaged";
  }

  /**
   * Throws `rolled_back` if another record has the number of one that was read: the log has another
   * history then. Where all was deleted, a late write may lie, and says nothing.
   */
  async requireSame({ number, digest, isDamaged }: Position): Promise<void> {
    if (number === 0 || isDamaged || number <= (await this.list()).cleared) return;
    const read = await this.readRecord(number);
    if (read.is !== "there" || read.value.record.kind === "fence") return;
    if (!isSameBytes(read.value.digest, digest)) {
      throw this.rolledBack(`another record ${number} is there than before`);
    }
  }

  /** The record of this number, without regard to what comes before it. */
  readRecord(number: number): Promise<Read<Entry>> {
    return this.read(this.names.record(number), undefined, async (object) => {
      const { entry } = await this.#open(number, object);
      return entry;
    });
  }

  /** Reads an object with `open`, again if it comes damaged. */
  read<T>(
    key: string,
    range: ByteRange | undefined,
    open: (object: Uint8Array) => Promise<T>,
  ): Promise<Read<T>> {
    return readObject({ calls: this.calls, clock: this.clock, key, range }, open);
  }

  see(position: Position): void {
    if (position.number > this.#seen.number) this.#seen = positionOf(position);
  }

  /** @internal */
  placeOf(number: number): Place {
    return { logId: this.id, kind: "record", number };
  }

  /** A record as it will be in the log, if nobody is faster. */
  async prepare(after: Position, record: LogRecord): Promise<Prepared> {
    const number = after.number + 1;
    const content = await encodeRecord(record);
    const prior = after.isDamaged ? NO_PRIOR : after.digest;
    const object = await this.seal.close(this.placeOf(number), prior, content);
    const digest = await digestOf(object);
    const mark = markOf(this.names.record(number), object);
    return { number, digest, mark, record, bytes: object.length, object, after };
  }

  /**
   * Appends a record. Answers undefined if its number was taken: then read on, and try again. Throws
   * `unreachable` if nobody can know whether it was written.
   */
  async append({ object, after, ...entry }: Prepared): Promise<Entry | undefined> {
    const { number } = entry;
    // A write to a deleted number would do no harm, but is not needed.
    if (this.#isLongAgo() && (await this.next(after, after)).is !== "end") return undefined;
    const askedAt = momentOf(this.clock);
    const created = await this.calls.create(this.names.record(number), object);
    if (created !== "yes" && !(await this.#isOurs(entry, created))) return undefined;
    if (since(this.clock, this.#sureAt) >= SURE_FOR_MS) await this.#requireReadable(after, number);
    this.see(entry);
    this.#sureAt = askedAt;
    return entry;
  }

  // Whether the record that is there is this one. Nobody knows if it is damaged, or if a fence is
  // there: this record may have been there before it.
  async #isOurs({ number, digest }: Entry, created: Created): Promise<boolean> {
    const key = this.names.record(number);
    const open = async (object: Uint8Array) => {
      if (isSameBytes(digest, await digestOf(object))) return true;
      const { entry } = await this.#open(number, object);
      if (entry.record.kind === "fence" && created !== "no") throw this.#isUnknown(number);
      return false;
    };
    if (created !== "unknown") {
      const read = await this.read(key, undefined, open);
      if (read.is === "there") return read.value;
      throw this.#isUnknown(number);
    }
    // The bucket was silent for long: it is asked once.
    const found = await this.#askedOnce(key, open);
    if (found === undefined) throw this.#isUnknown(number);
    return found;
  }

  async #askedOnce<T>(
    key: string,
    open: (object: Uint8Array) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      const object = await this.calls.getNow(key);
      return object && (await open(object));
    } catch {
      return undefined;
    }
  }

  // Writing took so long that the number may have been deleted before.
  async #requireReadable(after: Position, number: number): Promise<void> {
    if (await this.hasAllSince(after)) return;
    await sleep(this.clock, LISTS_LATE_MS);
    const { bases } = await this.list();
    if (bases.some((base) => base.number >= number)) throw this.#isUnknown(number);
  }

  // A web server may answer its own page for every object that it does not have.
  #isNoRecord(number: number, why: string): KeepsakeError {
    return new KeepsakeError(
      "unreachable",
      `${this.calls.place} answers something for record ${number} of the log, which it does not list: ${why}`,
    );
  }

  #isUnknown(number: number): KeepsakeError {
    const { failure } = this.calls;
    return new KeepsakeError(
      "unreachable",
      `${this.calls.place} did not say whether record ${number} was written: whether the call is stored is not known${failure && `; the last answer was: ${failure}`}`,
    );
  }

  /** The error where records that are needed were deleted, and no base has them. */
  hasNoBase(): KeepsakeError {
    return this.rolledBack("a record is missing, and no base has it");
  }

  rolledBack(how: string): KeepsakeError {
    return new KeepsakeError(
      "rolled_back",
      `the log in ${this.calls.place} is not what it was: ${how}, and record ${this.#seen.number} was read before: put back what the store had, or import an export of a memory that has it under another name`,
    );
  }
}

interface Head {
  readonly id: string;
}

async function begin(calls: Calls, names: LogNames, seal: Seal, name: string): Promise<void> {
  if ((await calls.list(names.entries, { limit: 1 })).length > 0) {
    // Somebody else may have begun it meanwhile.
    if ((await calls.get(names.head)) !== undefined) return;
    throw new KeepsakeError(
      "rolled_back",
      `the log of "${name}" in ${calls.place} has records, but its head is gone: put it back, or take another name`,
    );
  }
  const id = hexOf(crypto.getRandomValues(new Uint8Array(16)));
  const head = new TextEncoder().encode(JSON.stringify({ keepsake: "log", format: FORMAT, id }));
  const object = await seal.close(HEAD, NO_PRIOR, head);
  // Somebody else may have been faster, or the answer was lost.
  if ((await calls.create(names.head, object)) === "unknown") throw isNotBegun(calls.place);
}

function isNotThere(place: string, name: string): KeepsakeError {
  return new KeepsakeError(
    "not_found",
    `there is no memory called ${JSON.stringify(name)} in ${place}: look at its name, and at the key if it has one`,
  );
}

function isNotBegun(place: string): KeepsakeError {
  return new KeepsakeError("unreachable", `${place} did not say whether the log was begun`);
}

const HEAD: Place = { logId: "", kind: "head", number: 0 };

function readHead(content: Uint8Array, place: string, name: string): Head {
  const { keepsake, format, id } = JSON.parse(new TextDecoder().decode(content));
  if (keepsake === "log" && format === FORMAT && /^[0-9a-f]{32}$/.test(id)) return { id };
  throw new KeepsakeError(
    "newer_version",
    `the log of "${name}" in ${place} is of format ${format}, this package reads ${FORMAT}: update it`,
  );
}
