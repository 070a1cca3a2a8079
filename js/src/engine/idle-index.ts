// Improves the index over vectors while nobody calls, in steps so short that a call which
// comes meanwhile hardly waits.

import type { IndexProgress } from "../wire/layout.js";
import type { MaybePromise } from "./answers.js";

// Of no call. Where calls never end, it takes its turn all the same.
const QUIET_MS = 200;
const PATIENCE_MS = 5_000;
// As long a pause after each step leaves half of the time to others.
const STEP_MS = 3;

const FIRST_VECTORS = 4;
const MOST_VECTORS = 64;

/** Chooses how many vectors a step takes, so that it lasts about so long. @internal */
export class Pace {
  readonly #stepMs: number;
  #vectors = FIRST_VECTORS;
  #inGraph: number | undefined;

  constructor(stepMs: number) {
    this.#stepMs = stepMs;
  }

  async step(run: (vectors: number) => MaybePromise<IndexProgress>): Promise<IndexProgress> {
    const start = performance.now();
    const progress = await run(this.#vectors);
    const ms = performance.now() - start;
    // The first step may have read the index; one that saved inserted nothing.
    const inserted = this.#inGraph === undefined ? 0 : progress.inGraph - this.#inGraph;
    this.#inGraph = progress.inGraph;
    if (inserted > 0) {
      const most = Math.min(MOST_VECTORS, 2 * this.#vectors);
      this.#vectors = Math.max(1, Math.min(most, Math.floor((inserted * this.#stepMs) / ms)));
    }
    return progress;
  }
}

/** @internal */
export class IdleIndex {
  readonly #improve: (vectors: number) => MaybePromise<IndexProgress>;
  readonly #pace = new Pace(STEP_MS);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #calledAt = 0;
  #waitingSince = 0;
  #isStopped = false;

  /** `improve` takes up to so many vectors into the index; what it throws ends it until the next call. */
  constructor(improve: (vectors: number) => MaybePromise<IndexProgress>) {
    this.#improve = improve;
  }

  /** Somebody called, and may have changed the index. */
  touch(): void {
    this.#calledAt = performance.now();
    if (this.#timer !== undefined || this.#isStopped) return;
    this.#waitingSince = this.#calledAt;
    this.#wakeIn(QUIET_MS);
  }

  /** For good. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #wakeIn(ms: number): void {
    this.#timer = setTimeout(() => void this.#wake(), ms);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  async #wake(): Promise<void> {
    const now = performance.now();
    const quiet = now - this.#calledAt;
    if (quiet < QUIET_MS && now - this.#waitingSince < PATIENCE_MS) {
      this.#wakeIn(QUIET_MS - quiet);
      return;
    }
    let isDone = true;
    try {
      ({ isDone } = await this.#pace.step(this.#improve));
    } catch {
      // A full disk, or an engine that is gone: the next call says so.
    }
    this.#timer = undefined;
    if (isDone || this.#isStopped) return;
    this.#waitingSince = now;
    this.#wakeIn(STEP_MS);
  }
}
