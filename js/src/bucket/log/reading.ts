// Reads an object that may be damaged, on its way or where it lies.

import { detailOf, KeepsakeError } from "../../errors.js";
import type { ByteRange } from "../port.js";
import type { Calls } from "./calls.js";
import { type LogClock, sleep } from "./clock.js";

/** An object that is damaged alike so often is damaged where it lies. */
const READS = 3;
const MOST_READS = 12;
const PAUSE_MS = 50;

/** @internal */
export type Read<T> =
  | { readonly is: "absent" }
  | { readonly is: "there"; readonly value: T }
  /** Where it lies. */
  | { readonly is: "damaged"; readonly object: Uint8Array; readonly why: string };

/** Which object, or which part of it. @internal */
export interface ReadFrom {
  readonly calls: Calls;
  readonly clock: LogClock;
  readonly key: string;
  readonly range?: ByteRange | undefined;
  /** What was asked for already. */
  readonly first?: Promise<Uint8Array | undefined> | undefined;
}

/** What `open` makes of an object. It is read again if that finds it damaged. @internal */
export async function readObject<T>(
  { calls, clock, key, range, first }: ReadFrom,
  open: (object: Uint8Array) => Promise<T>,
): Promise<Read<T>> {
  let before: Uint8Array | undefined;
  let alike = 0;
  for (let reads = 1; ; reads++) {
    const object = await ((reads === 1 ? first : undefined) ?? calls.get(key, range));
    if (object === undefined) return { is: "absent" };
    try {
      return { is: "there", value: await open(object) };
    } catch (error) {
      if (!isOfDamage(error)) throw error;
      alike = before !== undefined && isSame(before, object) ? alike + 1 : 1;
      if (alike === READS) return { is: "damaged", object, why: detailOf(error) };
      if (reads === MOST_READS) throw isGarbled(calls.place, key, error);
      before = object.slice();
    }
    await sleep(clock, PAUSE_MS * reads);
  }
}

function isOfDamage(error: unknown): boolean {
  const isCorrupt = error instanceof KeepsakeError && error.code === "corrupt";
  return isCorrupt || error instanceof RangeError;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function isGarbled(place: string, key: string, cause: unknown): KeepsakeError {
  return new KeepsakeError(
    "unreachable",
    `${place} answers ${key} damaged, each time in another way: ${detailOf(cause)}`,
    { cause },
  );
}
