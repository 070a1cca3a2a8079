// A memory as it was at a time, as it is now, and how it becomes what it was.

import type { LogPoint } from "../../engine/engine.js";
import type { OpenFiles } from "../../engine/open-files.js";
import { KeepsakeError } from "../../errors.js";
import { PieceGone } from "./base.js";
import { type Entry, type Log, type Position, positionOf } from "./log.js";
import { type BaseName, newBaseId, readBaseId } from "./names.js";
import type { Signed } from "./record.js";
import { Poisoned, Replica } from "./replica.js";
import { hexOf } from "./seal.js";

/** How often reading begins anew because others deleted records meanwhile. */
const MOST_TRIES = 8;

/** Knows the requests that make the engine fail, and hears of damages. @internal */
export interface Poison {
  readonly isPoison: (entry: Entry, request: number) => boolean;
  readonly notePoison: (poisoned: Poisoned) => void;
  /** This record can't be read, and is left out. */
  readonly noteDamaged?: (number: number, why: string) => void;
}

/**
 * Names a request of a record, by the digest of the record: what was read at its number may turn out
 * to be a late write.
 *
 * @internal
 */
export function placeOf({ digest }: Entry, request: number): string {
  return `${hexOf(digest)} ${request}`;
}

interface Asked extends Poison {
  readonly openFiles: OpenFiles;
  /** Undefined for all that there is. */
  readonly point?: LogPoint;
  /** Bases that can't be read. */
  readonly unusable: ReadonlySet<string>;
}

// Needed records were deleted: a base has them.
class Gone extends Error {
  readonly after: number;

  constructor(after: number) {
    super("records of the log were deleted");
    this.after = after;
  }
}

/**
 * The memory as it was after a record, or when the clocks of its writers said a time. Throws
 * `no_history` if the log does not have that, or if these clocks differ so much that the records of
 * that time are not known.
 *
 * @internal
 */
export async function replicaAt(
  log: Log,
  openFiles: OpenFiles,
  point: LogPoint,
  poison: Poison,
): Promise<Replica> {
  try {
    return await begunAnew(poison, async (unusable) => {
      const { bases, last } = await log.list();
      if ("record" in point && point.record > last) throw noHistory(`ends with record ${last}`);
      const usable = bases.filter(({ id }) => !unusable.has(id));
      const base = await lastBaseOf(log, usable, point);
      const replica = await replayed(log, base, { ...poison, openFiles, unusable, point });
      if ("record" in point || replica.position.number > 0 || last === 0) return replica;
      replica.close();
      throw noHistory(`begins after ${nameOf(point)}; restore({ record: 0 }) empties the memory`);
    });
  } catch (error) {
    if (!(error instanceof Gone)) throw error;
    throw noHistory(`does not reach back to ${nameOf(point)}`);
  }
}

// Whoever wrote a base may have had a slow clock. The record that it stands behind tells, if it is
// still there.
async function lastBaseOf(
  log: Log,
  bases: readonly BaseName[],
  point: LogPoint,
): Promise<BaseName | undefined> {
  for (const base of bases) {
    if ("record" in point) {
      if (base.number <= point.record) return base;
    } else if (readBaseId(base.id).at <= point.at) {
      const read = await log.readRecord(base.number);
      if (
        read.is !== "there" ||
        read.value.record.kind === "fence" ||
        !isLater(read.value, point)
      ) {
        return base;
      }
    }
  }
  return undefined;
}

function isLater({ number, record }: Entry, point: LogPoint): boolean {
  return "at" in point ? record.at > point.at : number > point.record;
}

function nameOf(point: LogPoint): string {
  return "at" in point ? new Date(point.at).toISOString() : `record ${point.record}`;
}

function noHistory(how: string): KeepsakeError {
  return new KeepsakeError("no_history", `the log of the memory ${how}`);
}

/**
 * The memory as it is. The records up to `gone` were found deleted.
 *
 * @internal
 */
export async function replicaNow(
  log: Log,
  openFiles: OpenFiles,
  gone: number,
  poison: Poison,
): Promise<Replica> {
  let least = gone;
  for (let tries = 1; ; tries++) {
    try {
      return await begunAnew(poison, async (unusable, damages) => {
        const { bases, cleared } = await log.listWith(least);
        const base = bases.find(({ id }) => !unusable.has(id));
        const needed = Math.max(least, cleared);
        if ((base?.number ?? 0) < needed) throw log.isLost(needed, damages);
        const asked = { ...poison, openFiles, unusable };
        return replayed(log, base, asked);
      });
    } catch (error) {
      if (!(error instanceof Gone)) throw error;
      if (tries === MOST_TRIES) throw log.hasNoBase();
      least = Math.max(least, error.after);
    }
  }
}

// Begins anew without a base that can't be read, or a request that makes the engine fail.
async function begunAnew(
  poison: Poison,
  body: (unusable: ReadonlySet<string>, damages: readonly string[]) => Promise<Replica>,
): Promise<Replica> {
  const unusable = new Set<string>();
  const damages: string[] = [];
  for (;;) {
    try {
      return await body(unusable, damages);
    } catch (error) {
      if (error instanceof Poisoned) {
        poison.notePoison(error);
      } else if (error instanceof PieceGone) {
        unusable.add(error.base.id);
        if (!error.isDeleted) damages.push(error.message);
      } else {
        throw error;
      }
    }
  }
}

async function replayed(log: Log, base: BaseName | undefined, asked: Asked): Promise<Replica> {
  let replica = await Replica.open(log, asked.openFiles, base);
  const from = replica.confirmed;
  try {
    for (;;) {
      const next = await log.next(replica.position, from);
      if (next.is === "end") return replica;
      if (next.is === "gone") throw new Gone(from.number);
      if (next.is === "damaged") {
        asked.noteDamaged?.(next.position.number, next.why);
        replica.damaged.push(next.position.number);
        replica.passed(next.position);
        continue;
      }
      const { entry } = next;
      const { record, number } = entry;
      const { point } = asked;
      if (point !== undefined && isLater(entry, point)) {
        if ("at" in point) await requireOrder(log, entry, { from, point });
        if (await log.hasAllSince(from)) return replica;
        throw new Gone(from.number);
      }
      if (record.kind === "image" && !asked.unusable.has(record.base)) {
        replica.close();
        const { senders } = replica;
        replica = await Replica.open(log, asked.openFiles, { number, id: record.base });
        replica.position = positionOf(entry);
        replica.senders = senders;
      } else {
        await replica.apply(entry, (i) => asked.isPoison(entry, i));
      }
    }
  } catch (error) {
    replica.close();
    throw error;
  }
}

// Where a clock was fast or slow, no place in the log divides what was before from what came later.
async function requireOrder(
  log: Log,
  later: Entry,
  { from, point }: { from: Position; point: LogPoint },
): Promise<void> {
  let position: Position = positionOf(later);
  for (;;) {
    const next = await log.next(position, from);
    if (next.is === "end" || next.is === "gone") return;
    if (next.is === "record" && !isLater(next.entry, point)) {
      throw new KeepsakeError(
        "no_history",
        `the clocks of the devices differ: the log has record ${next.entry.number} of ${timeOf(next.entry)} after record ${later.number} of ${timeOf(later)}. Name the last record that counts in place of a time, as restore({ record: ${later.number} }) does; readLog() and keepsake bucket list them`,
      );
    }
    position = next.is === "record" ? positionOf(next.entry) : next.position;
  }
}

function timeOf({ record }: Entry): string {
  return new Date(record.at).toISOString();
}

/**
 * Appends a record behind `position` which says that the memory is this one. Throws `busy`, and does
 * nothing, if others were faster.
 *
 * @internal
 */
export async function replaceBy(
  log: Log,
  image: Replica,
  position: Position,
  signed: Signed,
): Promise<Entry> {
  const id = newBaseId(log.clock.now(), log.clock.random, { is: "image" });
  const prepared = await log.prepare(position, { kind: "image", ...signed, base: id });
  const name = { number: prepared.number, id };
  const { written } = await image.beginBase({ position: prepared, image: name, isWhole: true });
  await written;
  const entry = await log.append(prepared);
  if (entry !== undefined) return entry;
  // If this fails, it is deleted when the records before the next base are.
  await log.calls.delete(log.names.base(name)).catch(() => {});
  throw writtenMeanwhile();
}

/** @internal */
export function writtenMeanwhile(): KeepsakeError {
  return new KeepsakeError(
    "busy",
    "others wrote to the memory while it was replaced: nothing was done, do it again",
  );
}
