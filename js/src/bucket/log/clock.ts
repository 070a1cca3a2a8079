// The clock and the random numbers of a log. Tests give their own.

/** @internal */
export interface LogClock {
  /** Milliseconds since 1970, as the clock of this host has it: somebody may set it. */
  now(): number;
  /** Milliseconds since some moment. Nobody sets it, but it may stand still while the host sleeps. */
  elapsed(): number;
  /** Calls `run` after so many milliseconds. Answers how to call it off. */
  after(ms: number, run: () => void): () => void;
  /** The same; but nobody waits for it, so that the process may end before. */
  later(ms: number, run: () => void): () => void;
  /** From 0 up to but not including 1. */
  random(): number;
}

/** With more, a timer rings at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** @internal */
export const realClock: LogClock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
  later(ms, run) {
    const timer = setTimeout(run, Math.min(ms, LONGEST_TIMER_MS));
    (timer as { unref?: () => void }).unref?.();
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** @internal */
export function sleep(clock: LogClock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}

/** A moment, by both of a host's clocks. @internal */
export interface Moment {
  readonly now: number;
  readonly elapsed: number;
}

/** @internal */
export function momentOf(clock: LogClock): Moment {
  return { now: clock.now(), elapsed: clock.elapsed() };
}

/**
 * How long ago a moment was at most, as long as one of the two clocks was neither set nor stood
 * still. Infinity without a moment.
 *
 * @internal
 */
export function since(clock: LogClock, moment: Moment | undefined): number {
  if (moment === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(Math.abs(clock.now() - moment.now), clock.elapsed() - moment.elapsed);
}
