// Calls of an object store. Each one ends. Until then, what failed is tried again if that may help.

import { detailOf, KeepsakeError } from "../../errors.js";
import type { ByteRange, ListRange, NamedPort } from "../port.js";
import { type LogClock, sleep } from "./clock.js";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;
/** For one request. A slower one may still arrive. */
const REQUEST_MS = 10_000;
/** With each of so many bytes to send, it may take a second more. */
const BYTES_PER_S = 2 ** 20;
/** For a call with all of its repetitions. */
const CALL_MS = 30_000;
const SILENCE_MS = 20_000;
/** Failures after which nobody needs to ask again. */
const IN_VAIN: ReadonlySet<string> = new Set(["bucket_refused", "closed", "invalid_argument"]);

/**
 * What is known of a `create()`. `no`: an object was there already. `unsure`: so it was, but this may
 * have been it, by a request whose answer was lost. `unknown`: nothing was answered for 30 s, so that
 * it may be there, or come to be.
 *
 * @internal
 */
export type Created = "yes" | "no" | "unsure" | "unknown";

/** @internal */
export class Calls {
  readonly #bucket: NamedPort;
  readonly #clock: LogClock;
  /** How many requests were sent. */
  requests = 0;
  bytesUp = 0;
  bytesDown = 0;
  /** What the store said last instead of an answer. */
  failure = "";
  #answeredAt: number;

  constructor(bucket: NamedPort, clock: LogClock) {
    this.#bucket = bucket;
    this.#clock = clock;
    this.#answeredAt = clock.elapsed();
  }

  /** Whether nothing was answered for about as long as a call waits. */
  get isSilent(): boolean {
    return this.#clock.elapsed() - this.#answeredAt >= SILENCE_MS;
  }

  get place(): string {
    return this.#bucket.place;
  }

  async get(key: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    return this.#got(await this.#untilAnswered(() => this.#bucket.port.get(key, range)));
  }

  /** The same, asked once, for half as long as else a request. */
  async getNow(key: string): Promise<Uint8Array | undefined> {
    this.requests++;
    return this.#got(await this.#inTime(this.#bucket.port.get(key), REQUEST_MS / 2));
  }

  #got(found: Uint8Array | undefined): Uint8Array | undefined {
    this.bytesDown += found?.length ?? 0;
    // Many stores say null.
    return found ?? undefined;
  }

  list(prefix: string, range?: ListRange): Promise<string[]> {
    return this.#untilAnswered(() => this.#bucket.port.list(prefix, range));
  }

  /** All of them. */
  async listAll(prefix: string): Promise<string[]> {
    const all: string[] = [];
    for (;;) {
      const some = await this.list(prefix, { after: all.at(-1) });
      const last = some.at(-1);
      // A store that answers the same again would never come to its end.
      if (last === undefined || (all.length > 0 && last <= (all.at(-1) as string))) return all;
      for (const key of some) all.push(key);
    }
  }

  /** Creates an object that is the same whoever creates it. */
  async ensure(key: string, bytes: Uint8Array): Promise<Created> {
    const created = await this.create(key, bytes);
    if (created === "unknown") throw this.#unreachable("it did not say whether it has an object");
    return created;
  }

  delete(key: string): Promise<void> {
    return this.#untilAnswered(() => this.#bucket.port.delete(key));
  }

  async create(key: string, bytes: Uint8Array): Promise<Created> {
    let requests = 0;
    const requestMs = REQUEST_MS + 1_000 * Math.floor(bytes.length / BYTES_PER_S);
    try {
      return await this.#untilAnswered(async () => {
        this.bytesUp += bytes.length;
        requests++;
        if (await this.#bucket.port.create(key, bytes)) return "yes";
        return requests === 1 ? "no" : "unsure";
      }, requestMs);
    } catch (error) {
      if (error instanceof KeepsakeError && error.code === "unreachable") return "unknown";
      throw error;
    }
  }

  async #untilAnswered<T>(call: () => Promise<T>, requestMs = REQUEST_MS): Promise<T> {
    const end = this.#clock.elapsed() + CALL_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        this.requests++;
        return await this.#inTime(call(), requestMs);
      } catch (error) {
        if (error instanceof KeepsakeError && IN_VAIN.has(error.code)) throw error;
        this.failure = detailOf(error);
        if (this.#clock.elapsed() + pause > end) throw this.#unreachable(error);
      }
      // Calls that were turned away together must not come back together.
      await sleep(this.#clock, pause * (0.5 + this.#clock.random()));
    }
  }

  #inTime<T>(call: Promise<T>, ms: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(ms, () =>
        reject(new Error(`a request had no answer for ${Math.round(ms / 1000)} s`)),
      );
      const answered = (answer: T) => {
        this.#answeredAt = this.#clock.elapsed();
        resolve(answer);
      };
      call.then(answered, reject).finally(cancel);
    });
  }

  #unreachable(cause: unknown): KeepsakeError {
    return new KeepsakeError(
      "unreachable",
      `${this.place} does not answer: ${detailOf(cause)}; it was asked for ${CALL_MS / 1000} s`,
      { cause },
    );
  }
}
