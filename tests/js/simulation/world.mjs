// A world of processes whose time is simulated. One event happens at a time, at a moment of the
// simulated time, in one process; all that follows from it without waiting happens before the next.
// Nothing else moves, so that a seed repeats everything.

import { setImmediate } from "node:timers";

/** So many events are no history any more: something turns in a circle. */
const MOST_EVENTS = 30_000;

export class World {
  /** Milliseconds since the world began. */
  time = 0;
  /** Whose event it is. */
  current;
  random;
  /** Events so far. */
  events = 0;
  #heap = [];
  #count = 0;
  #log;

  /** `log` hears each line of a story. */
  constructor(random, log) {
    this.random = random;
    this.#log = log;
  }

  /** 2027-01-01, for example. */
  static BEGIN = 1_798_761_600_000;

  tell(...words) {
    if (this.#log === undefined) return;
    const name = this.current === undefined ? "" : `${this.current.name}: `;
    this.#log(`${String(Math.round(this.time)).padStart(9)} ${name}${words.map(show).join(" ")}`);
  }

  get isTold() {
    return this.#log !== undefined;
  }

  /** Runs it after so many milliseconds, in a process. Answers how to call it off. */
  after(ms, run, process = this.current) {
    const event = { at: this.time + Math.max(0, ms), order: this.#count++, run, process };
    event.life = process?.life;
    push(this.#heap, event);
    return () => {
      event.run = undefined;
    };
  }

  /** Until `isDone`, or nothing is left to happen. */
  async run(isDone = () => false) {
    await this.settle();
    while (!isDone()) {
      const event = pop(this.#heap);
      if (event === undefined) return;
      const { process, run } = event;
      if (run === undefined || (process !== undefined && process.life !== event.life)) continue;
      if (process !== undefined && process.wakesAt > event.at) {
        // It sleeps. What would have happened meanwhile happens when it wakes, in its order.
        event.at = process.wakesAt;
        event.order = this.#count++;
        push(this.#heap, event);
        continue;
      }
      if (++this.events > MOST_EVENTS) throw new Error(`${MOST_EVENTS} events, and no end`);
      this.time = Math.max(this.time, event.at);
      this.current = process;
      run();
      await this.settle();
      this.current = undefined;
    }
  }

  /** Until nothing goes on without waiting for an event. */
  settle() {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

/** A process, a function or a device: it has a clock, sleeps, and is killed. */
export class Process {
  /** Changes when it is killed: what it waited for never happens. */
  life = {};
  wakesAt = 0;
  /** It is about to be killed: what it does until then never leaves it. */
  isDead = false;
  /** When something came to it from outside, as its elapsed() has it. */
  answeredAt = 0;
  #world;
  #random;
  #skew;
  #asleep = 0;

  constructor(world, name, { skew }) {
    this.#world = world;
    this.#random = world.random.fork();
    this.name = name;
    this.#skew = skew;
  }

  /** Wrong by its skew, and whole milliseconds, as Date.now() is. */
  now() {
    return Math.floor(World.BEGIN + this.#world.time + this.#skew);
  }

  /** Never goes back, and stands still while it sleeps: as some hosts' performance.now(). */
  elapsed() {
    return this.#world.time - this.#asleep;
  }

  random() {
    return this.#random.next();
  }

  bytes(into) {
    return this.#random.bytes(into);
  }

  after(ms, run) {
    return this.#world.after(ms, run, this);
  }

  /** Somebody sets its clock. */
  jump(ms) {
    this.#skew += ms;
  }

  /** As a function between two calls, or a laptop that is shut. */
  sleep(ms) {
    this.wakesAt = this.#world.time + ms;
    this.#asleep += ms;
  }

  kill() {
    this.life = {};
    this.isDead = false;
    this.wakesAt = 0;
  }
}

function show(word) {
  return typeof word === "string" ? word : JSON.stringify(word);
}

function isBefore(a, b) {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap, event) {
  let i = heap.push(event) - 1;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (!isBefore(event, heap[parent])) break;
    heap[i] = heap[parent];
    i = parent;
  }
  heap[i] = event;
}

function pop(heap) {
  const first = heap[0];
  const last = heap.pop();
  if (heap.length === 0 || first === undefined) return first;
  let i = 0;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child++;
    if (!isBefore(heap[child], last)) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = last;
  return first;
}
