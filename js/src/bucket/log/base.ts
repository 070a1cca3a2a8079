// A base is the database as it was after a record, in pieces of 32 KB. A piece that an earlier base
// has as it is stays there, so that a base costs what changed.
//
//   base     := magic (4) length u32 manifest pieces
//   manifest := an object (seal.ts) of kind base, of `length` bytes: compressed JSON, see Manifest
//   pieces   := objects of kind piece, one after another: compressed bytes of the database
//
// Persistent.

import { KeepsakeError } from "../../errors.js";
import { decodeRequest } from "../../wire/sent-request.js";
import type { ByteRange } from "../port.js";
import { type Log, markOf, type Position } from "./log.js";
import { type BaseName, isBaseId, newBaseId, readBaseId } from "./names.js";
import { isCount } from "./record.js";
import { PIECE_BYTES, type ReplicaFile, type ReplicaFiles, replicaFiles } from "./replica-files.js";
import { bytesOfHex, hexOf, joined, NO_PRIOR } from "./seal.js";
import { isSendersJson, Senders, type SendersJson } from "./senders.js";
import { squeeze, unsqueeze } from "./squeeze.js";

const MAGIC = [0x4b, 0x53, 0x42, 0x31]; // KSB1
const FRONT_BYTES = 8;
/** The manifest is fetched together with what is behind it: a small base is there at once. */
const FIRST_READ = 256 * 1024;
/** A base of up to so many bytes is fetched whole: that is as fast as fetching parts of it. */
const WHOLE_BYTES = 4 * 2 ** 20;
const RANGE_BYTES = 4 * 2 ** 20;
const RANGES_AT_ONCE = 4;
/** So many pieces behind a missed one are fetched with it. */
const READ_AHEAD = 7;
const MOST_MANIFEST = 64 * 2 ** 20;
/** The most bytes of a piece in the bucket: sealed, it is a little longer than what it holds. */
const MOST_PIECE = 2 * PIECE_BYTES;
/** A base that would need more other bases than this is written whole. */
const MOST_REFERENCES = 16;

/** Where a piece is: in which of the bases, from which byte of it, how many bytes. */
type PlacedPiece = readonly [base: number, offset: number, length: number];

interface Manifest {
  readonly number: number;
  /** Of the record after which it was made, in hexadecimal. */
  readonly digest: string;
  /** That record could not be read. */
  readonly isDamaged?: true | undefined;
  readonly at: number;
  /** The request that gave the memory its index of vectors, in hexadecimal; "" if it has none. */
  readonly configuration: string;
  /** Something up to this record was forgotten: the bucket must not have it any more. */
  readonly purged: number;
  /** What each device has sent last. The first bases said nothing of that. */
  readonly senders?: SendersJson | undefined;
  /** Of the database. */
  readonly bytes: number;
  /** Itself first, then those that pieces of it are in; and from which byte on each has pieces. */
  readonly bases: readonly (readonly [number: number, id: string, begin: number])[];
  readonly pieces: readonly PlacedPiece[];
}

/** A base that has pieces of another one, or of itself. @internal */
export interface NeededBase extends BaseName {
  /** Its first byte behind the manifest, from where its pieces are counted. */
  readonly begin: number;
}

/** A base that was read, or written. @internal */
export interface Base {
  readonly name: BaseName;
  readonly position: Position;
  readonly at: number;
  readonly configuration: Uint8Array | undefined;
  readonly purged: number;
  readonly bytes: number;
  /** Those that it needs, itself first. */
  readonly needs: readonly NeededBase[];
  readonly pieces: readonly PlacedPiece[];
}

/** What a base is to be made of. @internal */
export interface BaseSource {
  readonly position: Position;
  /** Its write-ahead log is empty. */
  readonly database: ReplicaFile;
  readonly configuration: Uint8Array | undefined;
  readonly purged: number;
  readonly senders: Senders;
  /** The base that the database comes from. Without one, all of it is written. */
  readonly from: Base | undefined;
  /** Its name, if a record is to name it. */
  readonly image?: BaseName | undefined;
}

/** The database is copied before the first wait: it may be written to meanwhile. @internal */
export async function writeBase(
  log: Log,
  { position, database, configuration, purged, senders, from, image }: BaseSource,
): Promise<Base> {
  const count = Math.ceil(database.getSize() / PIECE_BYTES);
  const changed = new Set(database.changed);
  const isWhole = from === undefined;
  const { clock } = log;
  const name = image ?? newName(log, position.number, from);
  // Copies: what is written meanwhile must not be in the base.
  const fresh = new Map<number, Uint8Array>();
  for (let i = 0; i < count; i++) {
    if (isWhole || changed.has(i)) fresh.set(i, database.pieceAt(i));
  }
  const bytes = database.getSize();
  const sent = senders.toJSON();
  database.settle();
  // Its own pieces begin behind its manifest, whose length is known later.
  const needs = [{ ...name, begin: 0 }, ...(isWhole ? [] : from.needs)];
  const pieces: PlacedPiece[] = [];
  const bodies: Uint8Array[] = [];
  let offset = 0;
  for (let i = 0; i < count; i++) {
    const own = fresh.get(i);
    if (own === undefined) {
      const [base, at, length] = (from as Base).pieces[i] as PlacedPiece;
      pieces.push([base + 1, at, length]);
      continue;
    }
    const body = await log.seal.close(pieceOf(log, name, i), NO_PRIOR, await squeeze(own));
    pieces.push([0, offset, body.length]);
    bodies.push(body);
    offset += body.length;
  }
  const used = compact(needs, pieces);
  const manifest: Manifest = {
    number: position.number,
    digest: hexOf(position.digest),
    isDamaged: position.isDamaged,
    at: clock.now(),
    configuration: configuration === undefined ? "" : hexOf(configuration),
    purged,
    senders: sent,
    bytes,
    bases: used.needs.map(({ number, id, begin }) => [number, id, begin] as const),
    pieces: used.pieces,
  };
  const text = new TextEncoder().encode(JSON.stringify(manifest));
  const sealed = await log.seal.close(
    { logId: log.id, kind: "base", number: name.number, detail: name.id },
    NO_PRIOR,
    await squeeze(text),
  );
  const front = new Uint8Array(FRONT_BYTES);
  front.set(MAGIC);
  new DataView(front.buffer).setUint32(4, sealed.length, true);
  const object = joined(front, sealed, ...bodies);
  const key = log.names.base(name);
  const created = await log.calls.create(key, object);
  if (created === "unknown") {
    throw new KeepsakeError(
      "unreachable",
      `${log.calls.place} did not say whether a base was written`,
    );
  }
  const itself = { ...name, begin: FRONT_BYTES + sealed.length };
  return {
    name,
    position: { ...position, mark: markOf(key, object) },
    at: manifest.at,
    configuration,
    purged,
    bytes,
    needs: [itself, ...used.needs.slice(1)],
    pieces: used.pieces,
  };
}

function newName({ clock }: Log, number: number, from: Base | undefined): BaseName {
  const kind =
    from === undefined
      ? ({ is: "whole" } as const)
      : ({ is: "part", oldest: Math.min(...from.needs.map((one) => one.number)) } as const);
  return { number, id: newBaseId(clock.now(), clock.random, kind) };
}

// If most of it changed, one object is read faster than several. And an old base may be deleted soon.
export function isBetterWhole(log: Log, from: Base, database: ReplicaFile): boolean {
  const count = Math.ceil(database.getSize() / PIECE_BYTES);
  const root = Math.min(...from.needs.map(({ id }) => readBaseId(id).at));
  const isOld = log.clock.now() - root > log.longestChainMs;
  return isOld || database.changed.length * 2 > count || from.needs.length >= MOST_REFERENCES;
}

// Leaves out bases that have none of the pieces.
function compact(
  needs: readonly NeededBase[],
  pieces: readonly PlacedPiece[],
): Pick<Base, "needs" | "pieces"> {
  const used = new Set([0, ...pieces.map(([base]) => base)]);
  const kept = needs.filter((_, i) => used.has(i));
  const places = new Map(kept.map((name, i) => [name, i]));
  return {
    needs: kept,
    pieces: pieces.map(([base, offset, length]) => [
      places.get(needs[base] as NeededBase) as number,
      offset,
      length,
    ]),
  };
}

// Without a key, anybody who may write into the bucket can make a base.
function readManifest(bytes: Uint8Array, name: BaseName): Manifest {
  try {
    const manifest: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isManifest(manifest as Manifest, name)) return manifest as Manifest;
  } catch {
    // It is no JSON, or a part of it is missing.
  }
  throw new KeepsakeError("corrupt", `base ${name.number} of the log says what can't be`);
}

function isManifest(manifest: Manifest, { number, id }: BaseName): boolean {
  const { bases, pieces, senders } = manifest;
  const isPiece = ([base, offset, length]: PlacedPiece) =>
    isCount(base, bases.length - 1) && isCount(offset) && isCount(length, MOST_PIECE);
  return (
    manifest.number === number &&
    isHex(manifest.digest) &&
    manifest.digest.length === 64 &&
    Number.isFinite(manifest.at) &&
    isConfiguration(manifest.configuration) &&
    isCount(manifest.purged, number) &&
    isCount(manifest.bytes) &&
    pieces.length === Math.ceil(manifest.bytes / PIECE_BYTES) &&
    pieces.every(isPiece) &&
    bases.every(
      ([one, oneId, begin]) => isCount(one, number) && isBaseId(oneId) && isCount(begin),
    ) &&
    bases[0]?.[0] === number &&
    bases[0][1] === id &&
    (senders === undefined || isSendersJson(senders, number))
  );
}

// Throws if it is hexadecimal, but no request.
function isConfiguration(text: unknown): boolean {
  if (!isHex(text)) return false;
  if (text !== "") decodeRequest(bytesOfHex(text));
  return true;
}

function isHex(text: unknown): text is string {
  return typeof text === "string" && /^(?:[0-9a-f]{2})*$/.test(text);
}

function pieceOf(log: Log, { number, id }: BaseName, piece: number) {
  return { logId: log.id, kind: "piece", number, detail: `${id} ${piece}` } as const;
}

/**
 * The database needs a piece of a base that can't be read any more: begin anew from another base.
 *
 * @internal
 */
export class PieceGone extends Error {
  /** The base that the database comes from. */
  readonly base: BaseName;
  /** It was deleted: it is not damaged. */
  readonly isDeleted: boolean;

  constructor(base: BaseName, why: string, isDeleted = false) {
    super(why);
    this.base = base;
    this.isDeleted = isDeleted;
  }
}

/** Fetches the pieces of a database that comes from a base. @internal */
export class BaseReader {
  readonly base: Base;
  /** What each device had sent last when it was made. */
  readonly senders: Senders;
  readonly #log: Log;
  #front: Uint8Array;
  #database: ReplicaFile | undefined;

  private constructor(log: Log, base: Base, senders: Senders, front: Uint8Array) {
    this.#log = log;
    this.base = base;
    this.senders = senders;
    this.#front = front;
  }

  /** Throws PieceGone if there is no such base any more, or if it is damaged. */
  static async open(log: Log, name: BaseName): Promise<BaseReader> {
    const key = log.names.base(name);
    const range = { from: 0, to: FIRST_READ };
    const read = await log.read(key, range, (front) => BaseReader.#openFront(log, name, front));
    if (read.is === "there") return read.value;
    if (read.is === "absent") throw isGone(name, name);
    throw isDamaged(name, name, read.why);
  }

  static async #openFront(log: Log, name: BaseName, begins: Uint8Array): Promise<BaseReader> {
    const key = log.names.base(name);
    let front = begins;
    if (front.length < FRONT_BYTES || !MAGIC.every((byte, i) => byte === front[i])) {
      throw new KeepsakeError("corrupt", `base ${name.number} of the log is none`);
    }
    const length = new DataView(front.buffer, front.byteOffset).getUint32(4, true);
    const begin = FRONT_BYTES + length;
    if (begin > front.length && length <= MOST_MANIFEST) {
      const rest = await log.calls.get(key, { from: front.length, to: begin });
      front = joined(front, rest ?? new Uint8Array());
    }
    const place = { logId: log.id, kind: "base", number: name.number, detail: name.id } as const;
    const { content } = await log.seal.open(place, front.subarray(FRONT_BYTES, begin));
    const manifest = readManifest(await unsqueeze(content, MOST_MANIFEST), name);
    const { number, digest, isDamaged, at, purged, bytes, bases, pieces, ...rest } = manifest;
    const senders = new Senders(rest.senders ?? [number, []]);
    const configuration = rest.configuration === "" ? undefined : bytesOfHex(rest.configuration);
    const needs = bases.map(([one, id, from], i) => ({
      number: one,
      id,
      begin: i === 0 ? begin : from,
    }));
    const position = { number, digest: bytesOfHex(digest), isDamaged, mark: markOf(key, front) };
    const base = { name, position, at, configuration, purged, bytes, needs, pieces };
    return new BaseReader(log, base, senders, front);
  }

  /** The files of the database. A small one is fetched whole, a large one when it is read. */
  async files(name: string): Promise<ReplicaFiles> {
    const made = replicaFiles(name, this.base.bytes);
    this.#database = made.database;
    const size = this.base.pieces.reduce((sum, [, , length]) => sum + length, 0);
    if (size <= WHOLE_BYTES) await this.fetch([...made.database.absent]);
    return made;
  }

  /** Fetches the pieces that were missed, and some behind them. */
  async fetchMissed(): Promise<void> {
    const database = this.#database as ReplicaFile;
    const wanted = new Set<number>();
    for (const piece of database.missed) {
      for (let i = piece; i <= piece + READ_AHEAD; i++) if (database.absent.has(i)) wanted.add(i);
    }
    await this.fetch([...wanted]);
    database.missed.clear();
  }

  /** Fetches all that is not there yet. */
  fetchAll(): Promise<void> {
    return this.fetch([...(this.#database as ReplicaFile).absent]);
  }

  async fetch(wanted: readonly number[]): Promise<void> {
    const ranges = this.#rangesOf(wanted);
    for (let i = 0; i < ranges.length; i += RANGES_AT_ONCE) {
      await Promise.all(
        ranges.slice(i, i + RANGES_AT_ONCE).map((range) => this.#fetchRange(range)),
      );
    }
  }

  // Pieces that lie side by side in one object are fetched together.
  #rangesOf(wanted: readonly number[]): number[][] {
    const sorted = wanted.toSorted((a, b) => {
      const [baseA, offsetA] = this.base.pieces[a] as PlacedPiece;
      const [baseB, offsetB] = this.base.pieces[b] as PlacedPiece;
      return baseA - baseB || offsetA - offsetB;
    });
    const ranges: number[][] = [];
    let end: readonly [number, number] = [-1, -1];
    let size = 0;
    for (const piece of sorted) {
      const [base, offset, length] = this.base.pieces[piece] as PlacedPiece;
      const goesOn = end[0] === base && end[1] === offset && size + length <= RANGE_BYTES;
      if (!goesOn) {
        ranges.push([]);
        size = 0;
      }
      ranges.at(-1)?.push(piece);
      size += length;
      end = [base, offset + length];
    }
    return ranges;
  }

  async #fetchRange(range: readonly number[]): Promise<void> {
    const [base, first] = this.base.pieces[range[0] as number] as PlacedPiece;
    const [, lastAt, lastLength] = this.base.pieces[range.at(-1) as number] as PlacedPiece;
    const name = this.base.needs[base] as NeededBase;
    const from = name.begin + first;
    const to = name.begin + lastAt + lastLength;
    const open = (bytes: Uint8Array) => this.#piecesIn(bytes, range, first, name);
    const opened =
      (base === 0 ? await this.#inFront(from, to, open) : undefined) ??
      (await this.#read(name, { from, to }, open));
    for (const [i, piece] of range.entries()) {
      this.#database?.provide(piece, opened[i] as Uint8Array);
    }
  }

  async #piecesIn(
    bytes: Uint8Array,
    range: readonly number[],
    first: number,
    name: BaseName,
  ): Promise<Uint8Array[]> {
    const opened: Uint8Array[] = [];
    for (const piece of range) {
      const [, offset, length] = this.base.pieces[piece] as PlacedPiece;
      const object = bytes.subarray(offset - first, offset - first + length);
      const { content } = await this.#log.seal.open(pieceOf(this.#log, name, piece), object);
      opened.push(await unsqueeze(content, PIECE_BYTES));
    }
    return opened;
  }

  // Reads them from what came with the manifest, if that is not damaged.
  async #inFront<T>(
    from: number,
    to: number,
    open: (bytes: Uint8Array) => Promise<T>,
  ): Promise<T | undefined> {
    if (to > this.#front.length) return undefined;
    try {
      return await open(this.#front.subarray(from, to));
    } catch {
      return undefined;
    }
  }

  async #read<T>(
    name: BaseName,
    range: ByteRange,
    open: (bytes: Uint8Array) => Promise<T>,
  ): Promise<T> {
    const read = await this.#log.read(this.#log.names.base(name), range, open);
    if (read.is === "there") return read.value;
    if (read.is === "absent") throw isGone(this.base.name, name);
    throw isDamaged(this.base.name, name, read.why);
  }
}

function isGone(base: BaseName, { number }: BaseName): PieceGone {
  return new PieceGone(base, `base ${number} of the log was deleted`, true);
}

function isDamaged(base: BaseName, { number }: BaseName, why: string): PieceGone {
  return new PieceGone(base, `base ${number} of the log can't be read: ${why}`);
}
