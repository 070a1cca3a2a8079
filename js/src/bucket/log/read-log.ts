// What the log of a memory has, for people: records with who wrote them and when, bases, damages.

import { checkOptions, checkText, checkWhole, type NamesOf } from "../../checks.js";
import { checkKey, type Key } from "../../engine/keys.js";
import { decodeRequest } from "../../wire/sent-request.js";
import type { NamedPort } from "../port.js";
import { realClock } from "./clock.js";
import { type Entry, Log } from "./log.js";
import { readBaseId } from "./names.js";
import type { LogRecord } from "./record.js";

/** Which log is read. */
export interface ReadLogOptions {
  /** What the memory is called in the bucket. */
  name: string;
  /** Of an encrypted memory. */
  key?: Key | undefined;
  /** Only so many of its last records are read; each is a request. @default all that are there */
  limit?: number | undefined;
}

/** A record of a log: what one device or function wrote at once. */
export interface LogRow {
  record: number;
  /** By the clock of who wrote it. `memory.restore({ at })` takes such a time. */
  at: Date;
  /** Who wrote it, if it said so. */
  device: string;
  /** Of its object. */
  bytes: number;
  /** What was done, such as `put`, and how often; `restore` where the whole memory was replaced. */
  calls: Record<string, number>;
}

/** A log as it was read. */
export interface LogReport {
  /** The last `limit` of those that are still there, the oldest first. */
  records: LogRow[];
  /** How many are still listed: older ones were deleted, because a base has what they did. */
  total: number;
  /** The memory as a whole after a record, the newest first. */
  bases: { record: number; at: Date }[];
  /** Those among the last `limit` that can't be read. */
  badRecords: { record: number; why: string }[];
  /** Of the last record. */
  last: number;
}

const READ_LOG: NamesOf<ReadLogOptions> = { name: 1, key: 1, limit: 1 };
/** Records that are fetched at once. */
const AT_ONCE = 16;

/**
 * Reads the records of a memory's log in a bucket that are still there, or the last few of them.
 * Rejects with `not_found` if there is no log of that name.
 *
 *     const { records, total } = await readLog(bucket, { name: "ada", limit: 20 });
 */
export async function readLog(bucket: NamedPort, options: ReadLogOptions): Promise<LogReport> {
  const { name, key, limit } = checkOptions("readLog", READ_LOG, options);
  const text = checkText("name", name);
  if (limit !== undefined) checkWhole("limit", limit, 1);
  const log = await Log.open({
    bucket,
    name: text,
    key: key === undefined ? undefined : checkKey("key", key),
    clock: realClock,
    backupMs: 0,
    mustExist: true,
  });
  const { bases, records: listed, last } = await log.list();
  const numbers = listed.toSorted((a, b) => a - b).slice(-(limit ?? listed.length));
  const records: LogRow[] = [];
  const badRecords: LogReport["badRecords"] = [];
  for (let i = 0; i < numbers.length; i += AT_ONCE) {
    const some = numbers.slice(i, i + AT_ONCE);
    const reads = await Promise.all(some.map((number) => log.readRecord(number)));
    for (const [at, read] of reads.entries()) {
      if (read.is === "damaged") badRecords.push({ record: some[at] as number, why: read.why });
      if (read.is === "there" && read.value.record.kind !== "fence")
        records.push(rowOf(read.value));
    }
  }
  // A fence stands where a record was deleted.
  const deleted = numbers.length - records.length - badRecords.length;
  return {
    records,
    total: listed.length - deleted,
    bases: bases.map(({ number, id }) => ({ record: number, at: new Date(readBaseId(id).at) })),
    badRecords,
    last,
  };
}

function rowOf({ number, record, bytes }: Entry): LogRow {
  const { at, device } = record;
  return { record: number, at: new Date(at), device, bytes, calls: callsOf(record) };
}

function callsOf(record: LogRecord): Record<string, number> {
  if (record.kind === "image") return { restore: 1 };
  const calls: Record<string, number> = {};
  const requests = record.kind === "requests" ? record.requests : [];
  for (const request of requests) {
    for (const { kind = "unknown" } of decodeRequest(request).operations) {
      calls[kind] = (calls[kind] ?? 0) + 1;
    }
  }
  return calls;
}
