// How long this page load took until the memory's first answer, as performance marks tell it.

const markOf = (moment) => `keepsake-demo:${moment}`;
const STEPS = ["page", "script", "module", "database", "answer"];

/** Tells "change" when a moment is known. */
export class ColdStart extends EventTarget {
  /** What the page's worker is called, and the channel that it tells on. */
  worker = `keepsake-demo:${crypto.randomUUID()}`;

  constructor() {
    super();
    const channel = new BroadcastChannel(this.worker);
    channel.addEventListener("message", ({ data }) => {
      channel.close();
      this.#noteModule(data - performance.timeOrigin);
    });
  }

  // A tab that followed compiles it late, when it takes over.
  #noteModule(time) {
    if (time < (timeOf("answer") ?? Number.POSITIVE_INFINITY)) this.mark("module", time);
  }

  /** `step` is over; only its first time counts. */
  mark(step, startTime = performance.now()) {
    if (timeOf(step) !== undefined) return;
    performance.mark(markOf(step), { startTime });
    this.dispatchEvent(new Event("change"));
  }

  /**
   * → {milliseconds, steps, areFilesKept, isFollower}, or undefined before the first answer; each
   * step has {name, from, milliseconds}. No step for the module is a tab that follows another.
   */
  measured() {
    const milliseconds = timeOf("answer");
    if (milliseconds === undefined) return undefined;
    const script = scriptOf();
    // A browser may have dropped what it knows of files.
    this.mark("page", Math.min(script?.responseEnd ?? 0, timeOf("script")));
    const over = STEPS.map((name) => ({ name, at: timeOf(name) })).filter(({ at }) => at);
    const steps = over.map(({ name, at }, i) => {
      const from = i === 0 ? 0 : over[i - 1].at;
      return { name, from, milliseconds: Math.max(0, at - from) };
    });
    return {
      milliseconds,
      steps,
      scriptBytes: script?.decodedBodySize ?? 0,
      areFilesKept: script !== undefined && script.transferSize === 0,
      isFollower: timeOf("module") === undefined,
    };
  }
}

function timeOf(step) {
  return performance.getEntriesByName(markOf(step), "mark")[0]?.startTime;
}

function scriptOf() {
  const { src } = document.querySelector("script[type=module]");
  return performance.getEntriesByName(src, "resource")[0];
}
