// Deletes what nobody needs any more of a log. Others read and write meanwhile, or delete, too:
// log.ts has the two rules by which they are not mistaken.

import { sleep } from "./clock.js";
import { FENCES, type Listing, type Log, REST_MS } from "./log.js";
import { type BaseName, readBaseId } from "./names.js";
import { decodeRecord, encodeRecord, type LogRecord } from "./record.js";
import { NO_PRIOR } from "./seal.js";

/** How many records are deleted at once, except for the last few. */
const AT_ONCE = 16;
/** How often a late write is deleted that comes to a number before its fence does. */
const MOST_TRIES = 3;

/**
 * Deletes all records up to this number, which a base has, and all bases before it, because something
 * in them was forgotten. Also deletes late writes to numbers that were deleted before.
 *
 * @internal
 */
export async function trimTo(log: Log, number: number): Promise<void> {
  await sleep(log.clock, REST_MS);
  await trimListed(log, await log.list(), number);
}

/** What may be deleted. A replica knows that. @internal */
export interface TrimOrder {
  /** Something up to this record was forgotten. It is deleted if a base is there without it. */
  readonly purged: number;
  /** Deletes what is needed only to know the memory as it was before this time. */
  readonly time: number;
  /** Asked before a step: deleting may end at any moment. */
  readonly isEnded: () => boolean;
}

/** Deletes what was forgotten, and what is too old. @internal */
export async function trim(log: Log, { purged, time, isEnded }: TrimOrder): Promise<void> {
  await sleep(log.clock, REST_MS);
  if (isEnded()) return;
  const listing = await log.list();
  const hasPurged = listing.bases.some(({ number }) => number >= purged);
  const root = rootOf(listing, time);
  await trimListed(log, listing, Math.max(hasPurged ? purged : 0, root?.number ?? 0));
}

// The newest base that was made before the time, needs no other base, and is not needed by the newest
// one. At least one more such base is newer, so a damaged one costs nothing but time.
function rootOf({ bases }: Listing, time: number): BaseName | undefined {
  const [newest] = bases;
  if (newest === undefined) return undefined;
  const limit = readBaseId(newest.id).oldest ?? newest.number;
  const [, ...older] = bases.filter(({ number, id }) => readBaseId(id).isWhole && number <= limit);
  return older.find(({ id }) => readBaseId(id).at <= time);
}

async function trimListed(log: Log, listing: Listing, number: number): Promise<void> {
  const { bases, images, records, strays, cleared } = listing;
  for (const key of strays) await log.calls.delete(key);
  // Bases that need an old one are old, too. Bases go before records, because a reader that begins
  // from a base relies on the records behind it.
  const old = bases.filter((base) => (readBaseId(base.id).oldest ?? base.number) < number);
  for (const base of old) await log.calls.delete(log.names.base(base));
  if (cleared >= number) return;
  await deleteRecords(log, records, number);
  // Images behind that number stay: a record may name them in a moment.
  const passed = images.filter((image) => image.number <= number);
  for (const image of passed) await log.calls.delete(log.names.base(image));
  await log.calls.ensure(log.names.cleared(number), await emptyObject(log, "cleared", number));
}

async function deleteRecords(log: Log, listed: readonly number[], last: number): Promise<void> {
  await log.calls.ensure(log.names.cut, await emptyObject(log, "cut", 0));
  const first = await firstOf(log, Math.min(last, listed.at(-1) ?? last));
  const lastFew = Math.max(first, last - FENCES + 1);
  for (let number = first; number < lastFew; number += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, lastFew - number) }, (_, i) => number + i);
    await Promise.all(some.map((one) => log.calls.delete(log.names.record(one))));
  }
  for (let number = lastFew; number <= last; number++) await replaceByFence(log, number);
}

// A listing may lack what is there.
async function firstOf(log: Log, listed: number): Promise<number> {
  let first = listed;
  while (first > 1) {
    const before = await log.calls.get(log.names.record(first - 1), { from: 0, to: 1 });
    if (before === undefined) break;
    first--;
  }
  return first;
}

async function replaceByFence(log: Log, number: number): Promise<void> {
  const key = log.names.record(number);
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    await log.calls.delete(key);
    if ((await log.calls.ensure(key, await fenceAt(log, number))) === "yes") return;
    if (await isFence(log, number)) return;
  }
}

async function fenceAt(log: Log, number: number): Promise<Uint8Array> {
  const fence: LogRecord = { kind: "fence", id: 0, at: log.clock.now(), device: "" };
  return log.seal.close(log.placeOf(number), NO_PRIOR, await encodeRecord(fence));
}

async function isFence(log: Log, number: number): Promise<boolean> {
  const read = await log.read(log.names.record(number), undefined, async (object) => {
    const { content } = await log.seal.open(log.placeOf(number), object);
    return decodeRecord(content);
  });
  return read.is === "there" && read.value.kind === "fence";
}

// Only whether it is there counts.
function emptyObject(log: Log, detail: string, number: number): Promise<Uint8Array> {
  const place = { logId: log.id, kind: "head", number, detail } as const;
  return log.seal.close(place, NO_PRIOR, new Uint8Array());
}
