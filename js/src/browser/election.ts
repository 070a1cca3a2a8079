// How the hubs of a database choose its owner: whoever gets the Web Lock opens the
// database, and owns it for as long as the lock is held. One that is not granted in time
// is asked for again, and an owner that is silent for long loses it to who steals it.

import { KeepsakeError } from "../errors.js";
import type { BrowserStorage } from "./browser-storage.js";
import { inTime } from "./in-time.js";
import { DamagedError, Owner } from "./owner.js";
import { channelName, type Failure, lost, type Settings } from "./protocol.js";
import { openStorage, openWithoutLock } from "./storage.js";
import { errorName, isRefusal } from "./storage-error.js";

// A new request makes the browser evict a holder that sits in its back/forward cache;
// one that waits does not.
const REQUEST_LOCK_AGAIN_MS = 2_000;
const STEAL_AT_MOST_EVERY_MS = 60_000;
// A database that takes longer to open is taken for one that hangs.
const OPENING_MAY_TAKE_MS = 60_000;

/** The hub that stands for election. @internal */
export interface Candidate {
  /** Whether somebody waits for the database, or for its end. */
  readonly wantsDatabase: boolean;
  /** It owns the database now. */
  own(owner: Owner): void;
  /** It does not any more. */
  disown(): void;
  /** There is no lock here, so that nothing can be shared with other hubs. */
  standAlone(): void;
  /** The database could not be opened, or the lock not be asked for, this time. */
  failToOpen(error: unknown): void;
  /** The database is at work, and may hear nobody ask. */
  showLife(): void;
  /** The database was damaged, and is set aside. */
  reportDamage(failure: Failure): void;
  /** Nothing can be done any more. */
  giveUp(failure: Failure): void;
}

/** One time of waiting for the lock, and of holding it. */
class Term {
  /** Since when we hold it. */
  heldSince: number | undefined;
  readonly ended: Promise<void>;
  readonly #over = new AbortController();

  constructor() {
    this.ended = new Promise((resolve) => {
      this.over.addEventListener("abort", () => resolve());
    });
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  get isOver(): boolean {
    return this.over.aborted;
  }

  end(): void {
    this.#over.abort();
  }
}

/** @internal */
export class Election {
  readonly #settings: Settings;
  readonly #candidate: Candidate;
  #term: Term | undefined;
  #isOver = false;
  #hasFailedToOpen = false;
  #lastSteal = Number.NEGATIVE_INFINITY;
  #mustSteal = false;
  #openings = 0;
  #requestAgain: () => void = () => {};
  #tryAgain: (() => void) | undefined;

  constructor(settings: Settings, candidate: Candidate) {
    this.#settings = settings;
    this.#candidate = candidate;
  }

  /** Whether we have the lock. */
  get isHolding(): boolean {
    return this.#term?.heldSince !== undefined;
  }

  /** Whether we have the lock, and may still be opening the database. */
  get mayBeOpening(): boolean {
    const since = this.#term?.heldSince;
    return since !== undefined && performance.now() - since < OPENING_MAY_TAKE_MS;
  }

  /** Whether the files may be in use without an owner: an opening can't be stopped. */
  get isOpening(): boolean {
    return this.#openings > 0;
  }

  /** Stands until end(). */
  async run(): Promise<void> {
    while (!this.#isOver) {
      const term = new Term();
      this.#term = term;
      try {
        await this.#requestLock(term);
      } catch (error) {
        if (isRefusal(error)) await this.#ownAlone(term, error);
        // Not granted in time, or stolen.
        else if (errorName(error) !== "AbortError") this.#failToOpen(error);
      }
      term.end();
      this.#candidate.disown();
      // Others may have the lock, until there is something to do for us.
      if (this.#hasFailedToOpen) await this.#nextNeed();
    }
  }

  /** There is something to do: what could not be opened is tried again. */
  wake(): void {
    this.#tryAgain?.();
  }

  /** Takes the lock from who has it; false if we did so lately, and don't. */
  steal(): boolean {
    const now = performance.now();
    if (this.#mustSteal) return true;
    if (now - this.#lastSteal < STEAL_AT_MOST_EVERY_MS) return false;
    this.#lastSteal = now;
    this.#mustSteal = true;
    this.#requestAgain();
    return true;
  }

  /** Stands no more; what we own is still to be given back, by end(). */
  withdraw(): void {
    this.#isOver = true;
  }

  end(): void {
    this.withdraw();
    this.#term?.end();
    this.#requestAgain();
    this.#tryAgain?.();
  }

  async #requestLock(term: Term): Promise<void> {
    if (navigator.locks === undefined) throw noLocks();
    const aborter = new AbortController();
    this.#requestAgain = () => aborter.abort();
    const timer = setTimeout(this.#requestAgain, REQUEST_LOCK_AGAIN_MS);
    const options: LockOptions = this.#mustSteal ? { steal: true } : { signal: aborter.signal };
    try {
      await navigator.locks.request(channelName(this.#settings.name), options, async () => {
        clearTimeout(timer);
        this.#mustSteal = false;
        this.#requestAgain = () => {};
        await this.#own(term);
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async #ownAlone(term: Term, refusal: unknown): Promise<void> {
    this.#candidate.standAlone();
    await this.#own(term, async () => openWithoutLock(this.#settings, refusal));
  }

  async #own(term: Term, open = () => openStorage(this.#settings, term.over)): Promise<void> {
    this.#hasFailedToOpen = false;
    while (!term.isOver) {
      term.heldSince = performance.now();
      const owner = await this.#open(term, open);
      if (owner === undefined) return;
      this.#candidate.own(owner);
      await Promise.race([term.ended, owner.failed]);
      owner.close();
      if (term.isOver) return;
      if (owner.storage.kind === "memory") this.#candidate.giveUp(lost());
    }
  }

  async #open(term: Term, open: () => Promise<BrowserStorage>): Promise<Owner | undefined> {
    try {
      const owner = await this.#openInTime(open);
      if (!term.isOver) return owner;
      owner.close();
    } catch (error) {
      if (term.isOver) return undefined;
      if (error instanceof DamagedError) this.#candidate.reportDamage(error.failure);
      else this.#failToOpen(error);
    }
    return undefined;
  }

  #openInTime(open: () => Promise<BrowserStorage>): Promise<Owner> {
    const opening = Owner.open(this.#settings, open, () => this.#candidate.showLife());
    const settled = () => void this.#openings--;
    this.#openings++;
    opening.then(settled, settled);
    return inTime(
      opening,
      OPENING_MAY_TAKE_MS,
      () => hangsInOpening(this.#settings.name),
      (late) => late.close(),
    );
  }

  #failToOpen(error: unknown): void {
    this.#hasFailedToOpen = true;
    this.#candidate.failToOpen(error);
  }

  #nextNeed(): Promise<void> {
    if (this.#candidate.wantsDatabase) return Promise.resolve();
    return new Promise((resolve) => {
      this.#tryAgain = () => {
        this.#tryAgain = undefined;
        resolve();
      };
    });
  }
}

function hangsInOpening(name: string): KeepsakeError {
  return new KeepsakeError(
    "busy",
    `"${name}" did not open within ${OPENING_MAY_TAKE_MS / 1000} s: close other tabs of this site, and call again`,
  );
}

// What a frame with a sandbox has no origin for is refused, elsewhere by the browser itself.
function noLocks(): Error {
  if (globalThis.origin === "null") {
    return new DOMException("a frame with a sandbox has no origin of its own", "SecurityError");
  }
  return new KeepsakeError(
    "unsupported",
    "Web Locks are not available here: a page needs https, or http://localhost",
  );
}
