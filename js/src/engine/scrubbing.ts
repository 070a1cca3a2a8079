// An engine clears the pages of a file in portions, after something was forgotten: whoever waits
// for it asks again, and everybody else is served in between.

import type { Scrubbed } from "../wire/layout.js";
import type { MaybePromise } from "./answers.js";

// Of a portion.
const PORTION_MS = 20;
const FIRST_PAGES = 64;
const MOST_PAGES = 4096;
// Until what an earlier engine left is looked for, and until it is tried again.
const QUIET_MS = 200;
const RETRY_MS = 5_000;

/** Clears so many pages. @internal */
export type Scrub = (pages: number) => MaybePromise<Scrubbed>;

/** Chooses how many pages a portion has, so that it lasts about so long. @internal */
export class ScrubPace {
  #pages = FIRST_PAGES;

  async step(scrub: Scrub): Promise<Scrubbed> {
    const start = performance.now();
    const scrubbed = await scrub(this.#pages);
    const ms = Math.max(performance.now() - start, 1);
    const wanted = Math.min((this.#pages * PORTION_MS) / ms, 2 * this.#pages, MOST_PAGES);
    this.#pages = Math.max(1, Math.floor(wanted));
    return scrubbed;
  }
}

/** Clears all pages; rejects if that must wait. @internal */
export async function scrubAll(scrub: Scrub): Promise<void> {
  const pace = new ScrubPace();
  while ((await pace.step(scrub)) === "pending") {
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** Clears what was left when an engine ended, or what had to wait, while nobody asks for it. @internal */
export class IdleScrub {
  readonly #scrub: Scrub;
  #pace = new ScrubPace();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(scrub: Scrub) {
    this.#scrub = scrub;
  }

  /** There may be something. */
  begin(): void {
    this.#wakeIn(QUIET_MS);
  }

  /** For good. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #wakeIn(ms: number): void {
    // Who calls again and again does not put it off.
    if (this.#isStopped || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.#wake(), ms);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  async #wake(): Promise<void> {
    this.#timer = undefined;
    try {
      // As long a pause after each portion leaves half of the time to others.
      if ((await this.#pace.step(this.#scrub)) === "pending") this.#wakeIn(PORTION_MS);
    } catch {
      // An export is being read, or the disk is full. Of an engine that is gone the next one begins.
      this.#wakeIn(RETRY_MS);
    }
  }
}
