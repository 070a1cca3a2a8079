// What a record says. Persistent.
//
//   record   := compressed content (squeeze.ts)
//   content  := kind u8 id u64 at_ms i64 device text, and then
//     requests  kind 1: list of bytes       execute frames (core/src/wire/README.md), without
//                                           what only their sender needs to know
//     image     kind 2: text                the memory is replaced by the base of this id, which is
//                                           of this record's number
//     fence     kind 3: nothing             the record of this number was deleted: begin from a base
//     requests  kind 4: by u64 up_to u64    the same as kind 1, from the outbox of a device: which
//               list of bytes               one, and the sequence there of the last request
//
// Numbers are little-endian; list, bytes and text as in frames.

import { show } from "../../checks.js";
import { detailOf, KeepsakeError } from "../../errors.js";
import { requestOf } from "../../wire/codec.js";
import { Reader } from "../../wire/reader.js";
import { decodeRequest } from "../../wire/sent-request.js";
import { Writer } from "../../wire/writer.js";
import { isBaseId } from "./names.js";
import { squeeze, unsqueeze } from "./squeeze.js";

const KINDS = { requests: 1, image: 2, fence: 3, sent: 4 } as const;

/** The most bytes of a record's content. @internal */
export const MOST_RECORD_BYTES = 512 * 2 ** 20;

/** Who made a record, and when. @internal */
export interface Signed {
  /** A random number, which tells a record from another one of the same number. */
  readonly id: number;
  /** When it was made, by its writer's clock. */
  readonly at: number;
  /** What its writer is called. */
  readonly device: string;
}

/** From which outbox requests come. @internal */
export interface Sent {
  /** A random number of the device. Copies of its file have the same one. */
  readonly by: number;
  /** The sequence of the last request there. */
  readonly upTo: number;
}

export type LogRecord = Signed &
  (
    | {
        readonly kind: "requests";
        readonly requests: readonly Uint8Array[];
        readonly sent?: Sent | undefined;
      }
    | { readonly kind: "image"; readonly base: string }
    | { readonly kind: "fence" }
  );

/** Whether it is a whole number from 0 to `most`. @internal */
export function isCount(value: unknown, most = Number.MAX_SAFE_INTEGER): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

/** @internal */
export function encodeRecord(record: LogRecord): Promise<Uint8Array> {
  const writer = new Writer();
  const sent = record.kind === "requests" ? record.sent : undefined;
  writer.u8(sent === undefined ? KINDS[record.kind] : KINDS.sent);
  writer.i64(record.id);
  writer.i64(record.at);
  writer.text(record.device);
  if (sent !== undefined) {
    writer.i64(sent.by);
    writer.i64(sent.upTo);
  }
  if (record.kind === "requests") writer.list(record.requests, (to, one) => to.bytes(one));
  if (record.kind === "image") writer.text(record.base);
  return squeeze(writer.finish());
}

/** Rejects with a RangeError if it is no record, with newer_version if it is of an unknown kind. @internal */
export async function decodeRecord(content: Uint8Array): Promise<LogRecord> {
  const reader = new Reader(await unsqueeze(content, MOST_RECORD_BYTES));
  const kind = reader.u8();
  const common = { id: reader.i64(), at: reader.i64(), device: reader.text() };
  if (kind === KINDS.requests || kind === KINDS.sent) {
    const sent = kind === KINDS.sent ? { by: reader.i64(), upTo: reader.i64() } : undefined;
    const requests = reader.list(readRequest);
    return { kind: "requests", ...common, requests, sent };
  }
  if (kind === KINDS.image) return { kind: "image", ...common, base: readImageId(reader) };
  if (kind === KINDS.fence) return { kind: "fence", ...common };
  // Leaving it out would make another memory than that of packages that know it.
  throw new KeepsakeError(
    "newer_version",
    `the log of the memory has a record of kind ${kind}, which this package does not know: update it`,
  );
}

function readRequest(reader: Reader): Uint8Array {
  const request = reader.bytes();
  try {
    decodeRequest(request);
  } catch (error) {
    throw new RangeError(`a request in it is none: ${detailOf(error)}`, { cause: error });
  }
  return request;
}

function readImageId(reader: Reader): string {
  const id = reader.text();
  if (isBaseId(id)) return id;
  throw new RangeError(`it names no base: ${show(id)}`);
}

/**
 * A request as it goes into the log: without the number by which its sender would know its answer
 * again. The log itself knows a record that was sent twice.
 */
export function withoutSender(request: Uint8Array): Uint8Array {
  const { now, levels, operations, body } = decodeRequest(request);
  return requestOf({ clientId: 0, sequence: 0, now, levels }, operations.length, body).slice();
}
