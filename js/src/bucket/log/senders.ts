// What each device has sent last. A device that never heard whether its requests were appended learns
// it here, though the record itself was deleted meanwhile; and a device notices here that a store
// has lost what it sent.

import type { Entry } from "./log.js";
import { isCount } from "./record.js";
import { digestOf, hexOf } from "./seal.js";

/** Devices that sent something longer ago than this many others are left out of bases. */
const MOST_SENDERS = 1024;
const TAG_BYTES = 8;

/** The last record that a device sent. @internal */
export interface LastSent {
  readonly number: number;
  /** The sequence in its outbox of the last request in that record. */
  readonly upTo: number;
  /** Tells that request from another one of this sequence, as a copy of the device's file may have. */
  readonly tag: string;
}

/** What a manifest says of them. Persistent. @internal */
export type SendersJson = readonly [
  unknownTo: number,
  last: readonly (readonly [by: number, number: number, upTo: number, tag: string])[],
];

/** Whether it is that, in a base of this number. @internal */
export function isSendersJson(json: unknown, number: number): json is SendersJson {
  if (!Array.isArray(json) || !isCount(json[0], number) || !Array.isArray(json[1])) return false;
  return json[1].every(
    (one) =>
      Array.isArray(one) &&
      isCount(one[0]) &&
      isCount(one[1], number) &&
      isCount(one[2]) &&
      typeof one[3] === "string",
  );
}

/** @internal */
export class Senders {
  /** By device, in the order of their records. */
  readonly #last = new Map<number, LastSent>();
  /** Of what was sent up to this record, something may be missing here. */
  #unknownTo: number;

  constructor([unknownTo, last]: SendersJson = [0, []]) {
    this.#unknownTo = unknownTo;
    for (const [by, number, upTo, tag] of last) this.#last.set(by, { number, upTo, tag });
  }

  of(by: number): LastSent | undefined {
    return this.#last.get(by);
  }

  /** Whether a record that a device sent is missing from the log. False if that can't be known. */
  isMissing(by: number, number: number): boolean {
    return number > this.#unknownTo && (this.#last.get(by)?.number ?? 0) < number;
  }

  async note({ number, record }: Entry): Promise<void> {
    if (record.kind !== "requests" || record.sent === undefined) return;
    const { by, upTo } = record.sent;
    const last = { number, upTo, tag: await tagOf(record.requests.at(-1)) };
    this.#last.delete(by);
    this.#last.set(by, last);
    const [oldest] = this.#last;
    if (oldest === undefined || this.#last.size <= MOST_SENDERS) return;
    this.#last.delete(oldest[0]);
    this.#unknownTo = Math.max(this.#unknownTo, oldest[1].number);
  }

  /** A record could not be read, and somebody may have sent it. */
  noteUnread(number: number): void {
    this.#unknownTo = number;
  }

  toJSON(): SendersJson {
    const last = Array.from(this.#last, ([by, { number, upTo, tag }]) => {
      return [by, number, upTo, tag] as const;
    });
    return [this.#unknownTo, last];
  }
}

/** Whether what was sent last is this, which waits in an outbox. @internal */
export async function isSent(
  { upTo, tag }: LastSent,
  last: { readonly sequence: number; readonly request: Uint8Array },
): Promise<boolean> {
  return last.sequence === upTo && tag === (await tagOf(last.request));
}

async function tagOf(request: Uint8Array = new Uint8Array()): Promise<string> {
  return hexOf((await digestOf(request)).subarray(0, TAG_BYTES));
}
