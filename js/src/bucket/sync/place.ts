// How far a device has followed the log. Its file keeps that as the digest of the last record that it
// has carried out, which the core only compares:
//
//   place := version u8 log text digest bytes damaged u8 mark text begin (0 | 1 bytes)
//            configuration (0 | 1 bytes) purged i64 left out: count u32, i64 of each
//            by i64 sent i64
//
// Persistent.

import { KeepsakeError } from "../../errors.js";
import { Reader } from "../../wire/reader.js";
import { Writer } from "../../wire/writer.js";
import type { Log, Position } from "../log/log.js";

const VERSION = 1;

/** @internal */
export interface Place {
  /** The id of the log; "" before the bucket was asked for the first time, or MOVING_IN with an id. */
  readonly log: string;
  readonly position: Position;
  /** The request that gave the memory its index of vectors. */
  readonly configuration: Uint8Array | undefined;
  /** Something up to this record was forgotten. */
  readonly purged: number;
  /** Records that could not be read here. Others may have read them. */
  readonly leftOut: readonly number[];
  /** A random number of this device, which is in every record that it sends. */
  readonly by: number;
  /** The last record that it has sent, or that a copy of its file has; 0 if there is none. */
  readonly sent: number;
}

/** The place of a device that has not asked the bucket yet. @internal */
export const NOWHERE: Place = {
  log: "",
  position: { number: 0, digest: new Uint8Array(), mark: { key: "", begin: undefined } },
  configuration: undefined,
  purged: 0,
  leftOut: [],
  by: 0,
  sent: 0,
};

/**
 * In place of the id of a log, with the id of the record that will have the memory as it was before it
 * synced. No id of a log begins like this: they are hexadecimal.
 *
 * @internal
 */
export const MOVING_IN = "moving in as ";

/** The id of that record, if it is not known whether the memory has moved in. @internal */
export function movingAs({ log }: Place): number | undefined {
  return log.startsWith(MOVING_IN) ? Number(log.slice(MOVING_IN.length)) : undefined;
}

/** Where the log begins, for a device that has read nothing of it. @internal */
export function startOf(log: Log, { by }: Place): Place {
  return { ...NOWHERE, log: log.id, position: log.start, by };
}

/** @internal */
export function encodePlace(place: Place): Uint8Array {
  const { log, position, configuration, purged, leftOut } = place;
  const writer = new Writer();
  writer.u8(VERSION);
  writer.text(log);
  writer.bytes(position.digest);
  writer.flag(position.isDamaged ?? false);
  writer.text(position.mark.key);
  for (const bytes of [position.mark.begin, configuration]) {
    writer.flag(bytes !== undefined);
    if (bytes !== undefined) writer.bytes(bytes);
  }
  writer.i64(purged);
  writer.u32(leftOut.length);
  for (const number of leftOut) writer.i64(number);
  writer.i64(place.by);
  writer.i64(place.sent);
  return writer.finish().slice();
}

/** @internal */
export function decodePlace(number: number, bytes: Uint8Array): Place {
  const reader = new Reader(bytes);
  const version = reader.u8();
  if (version !== VERSION) {
    throw new KeepsakeError(
      "newer_version",
      `a keepsake that came later has synced this memory, in format ${version}; this one knows ${VERSION}: update it`,
    );
  }
  const maybe = () => (reader.flag() ? reader.bytes().slice() : undefined);
  const log = reader.text();
  const digest = reader.bytes().slice();
  const isDamaged = reader.flag() || undefined;
  const key = reader.text();
  const mark = { key, begin: maybe() };
  const configuration = maybe();
  const purged = reader.i64();
  const leftOut = Array.from({ length: reader.u32() }, () => reader.i64());
  const [by, sent] = [reader.i64(), reader.i64()];
  const position = { number, digest, isDamaged, mark };
  return { log, position, configuration, purged, leftOut, by, sent };
}
