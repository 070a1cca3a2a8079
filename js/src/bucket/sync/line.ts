// The bucket and the clock of a device, which may be offline for days. A failure is known at once,
// and nothing goes on when the memory is closed.

import { detailOf, KeepsakeError } from "../../errors.js";
import type { LogClock } from "../log/clock.js";
import type { BucketPort, NamedPort } from "../port.js";

/** @internal */
export class Line implements NamedPort {
  readonly port: BucketPort;
  readonly place: string;
  /** For calls by this line: a wait ends when the line does. */
  readonly clock: LogClock;
  readonly #waits = new Set<() => void>();
  #failure: unknown;
  #isCut = false;

  constructor({ port, place }: NamedPort, clock: LogClock) {
    this.place = place;
    this.port = {
      get: (key, range) => this.#call(() => port.get(key, range)),
      create: (key, bytes) => this.#call(() => port.create(key, bytes)),
      list: (prefix, range) => this.#call(() => port.list(prefix, range)),
      delete: (key) => this.#call(() => port.delete(key)),
    };
    this.clock = {
      now: () => clock.now(),
      elapsed: () => clock.elapsed(),
      random: () => clock.random(),
      later: (ms, run) => clock.later(ms, run),
      after: (ms, run) => this.#after(clock, ms, run),
    };
  }

  /** Why the last request failed, if it did: it may be asked again by now. */
  get failure(): KeepsakeError | undefined {
    if (this.#failure === undefined) return undefined;
    return new KeepsakeError(
      "unreachable",
      `${this.place} does not answer: ${detailOf(this.#failure)}; it is asked again`,
      { cause: this.#failure },
    );
  }

  /** From now on calls are refused, and nobody waits. */
  cut(): void {
    this.#isCut = true;
    for (const run of [...this.#waits]) run();
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isCut) throw new KeepsakeError("closed", "the memory was closed");
    try {
      const answer = await call();
      this.#failure = undefined;
      return answer;
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  #after(clock: LogClock, ms: number, run: () => void): () => void {
    let cancel = () => {};
    const end = () => {
      this.#waits.delete(end);
      cancel();
      run();
    };
    this.#waits.add(end);
    cancel = clock.after(this.#isCut ? 0 : ms, end);
    return () => {
      this.#waits.delete(end);
      cancel();
    };
  }
}
