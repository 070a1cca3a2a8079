// An object store as networks and vendors make it: it loses answers, delays requests, turns them
// away, lists late, and damages what it answers or what it holds. What it promises, it keeps: each
// create() has one winner, and once that was answered every get() finds the object.

/** What may go wrong, each with its probability for one request; 0 where it is left out. */
export const NO_FAULTS = {
  /** How long a way takes, in milliseconds. */
  latency: 10,
  /** The request is lost, and nobody says so. */
  lost: 0,
  /** It is done, and its answer is lost. */
  answerLost: 0,
  /** As both of them, but the connection breaks. */
  broken: 0,
  answerBroken: 0,
  /** 429, 503 or 500; the latter also of what was done. */
  throttled: 0,
  failed: 0,
  /** It arrives after so long as `late()` says. */
  delayed: 0,
  /** A proxy sends it twice, the second one so late. */
  doubled: 0,
  /** A body is cut. */
  cut: 0,
  /** A body arrives damaged. */
  damaged: 0,
  /** A listing may be so old, in milliseconds. */
  listsLate: 0,
  /** Keys of a page. */
  page: 1000,
};

const HOUR = 3_600_000;

export class SimulatedBucket {
  /** What is there: key → object. */
  objects = new Map();
  /** All that was ever created, in order. */
  history = [];
  faults;
  /** Nothing arrives. */
  isDown = false;
  /** Processes that reach nothing: `both`, or hear no `answers`. */
  partitions = new Map();
  requests = 0;
  /** Hears who has created what. */
  onCreated = () => {};
  /** The key of a record whose bytes changed. */
  rotten;
  #world;
  #random;
  #tick;
  /** What a listing shows, and from when to when. */
  #listed = [];

  /** `tick` numbers moments: see Journal. */
  constructor(world, random, faults, tick) {
    this.#world = world;
    this.#tick = tick;
    this.#random = random;
    this.faults = { ...NO_FAULTS, ...faults };
  }

  /** The network is healed: from now on all goes well. */
  heal() {
    this.faults = { ...NO_FAULTS };
    this.isDown = false;
    this.partitions.clear();
    this.onCreated = () => {};
  }

  /** The four functions, as a process has them. */
  portOf(process) {
    return {
      get: (key, range) => this.#ask(process, "get", key, () => this.#get(key, range)),
      create: (key, bytes) => {
        const sent = bytes.slice();
        return this.#ask(process, "create", key, () => this.#create(key, sent, process));
      },
      list: (prefix, range) => this.#ask(process, "list", prefix, () => this.#list(prefix, range)),
      delete: (key) => this.#ask(process, "delete", key, () => this.#delete(key)),
    };
  }

  // ---- the way there and back

  #ask(process, kind, key, carryOut) {
    const { faults } = this;
    const random = this.#random;
    const world = this.#world;
    this.requests++;
    const id = this.requests;
    const fate = this.#fateOf(process);
    const there = random.chance(faults.delayed) ? this.#late() : random.delay(faults.latency);
    const back = random.delay(faults.latency);
    if (world.isTold) world.tell(`→ ${id} ${kind} ${short(key)}`, fate === "well" ? "" : fate);
    return new Promise((resolve, reject) => {
      if (process.isDead) return;
      const answer = (after, settle) => world.after(after, settle, process);
      const fail = (after, why) => answer(after, () => reject(new Error(why)));
      if (fate === "lost") return;
      if (fate === "broken") return fail(there, "ECONNRESET");
      if (fate === "throttled") return fail(there + back, "503 Slow Down");
      if (random.chance(faults.doubled)) this.#arrive(this.#late(), id, kind, key, carryOut);
      this.#arrive(there, id, kind, key, carryOut, (result) => {
        if (fate === "answerLost" || this.partitions.has(process)) return;
        if (fate === "answerBroken") return fail(back, "socket hang up");
        if (fate === "failed") return fail(back, "500 Internal Server Error");
        answer(back, () => {
          if (world.isTold) world.tell(`← ${id} ${kind}`, told(result));
          process.answeredAt = process.elapsed();
          // It may have been deleted before it was asked for.
          const isRotten = kind === "get" && key === this.rotten && result !== undefined;
          if (isRotten) process.hasReadRotten = true;
          resolve(result);
        });
      });
    });
  }

  #fateOf(process) {
    const { faults } = this;
    const random = this.#random;
    const isCut = this.isDown || this.partitions.get(process) === "both";
    if (isCut) return random.chance(0.5) ? "lost" : "broken";
    const fates = ["lost", "answerLost", "broken", "answerBroken", "throttled", "failed"];
    const at = random.next();
    let sum = 0;
    for (const fate of fates) {
      sum += faults[fate];
      if (at < sum) return fate;
    }
    return "well";
  }

  #late() {
    const random = this.#random;
    return random.pick([500, 5_000, 20_000, 40_000, 600_000, HOUR]) * (0.5 + random.next());
  }

  #arrive(after, id, kind, key, carryOut, answer) {
    this.#world.after(
      after,
      () => {
        if (this.isDown) return;
        const result = carryOut();
        if (this.#world.isTold && kind !== "get") {
          this.#world.tell(`  ${id} ${kind} ${short(key)} is done:`, told(result));
        }
        answer?.(result);
      },
      undefined,
    );
  }

  // ---- what it does

  #get(key, range) {
    const object = this.objects.get(key);
    if (object === undefined) return undefined;
    const bytes = object.bytes.slice(range?.from ?? 0, range?.to);
    if (this.#random.chance(this.faults.cut)) {
      return bytes.slice(0, this.#random.below(bytes.length));
    }
    if (this.#random.chance(this.faults.damaged)) damage(bytes, this.#random);
    return bytes;
  }

  #create(key, bytes, process) {
    if (this.objects.has(key)) return false;
    const object = { key, bytes, at: this.#world.time, by: process.name, tick: this.#tick() };
    this.objects.set(key, object);
    this.history.push({ ...object, bytes: bytes.slice() });
    const entry = { key, from: this.#world.time + this.#lateness(), to: Number.POSITIVE_INFINITY };
    object.listed = entry;
    this.#listed.push(entry);
    this.onCreated(process, key);
    return true;
  }

  #delete(key) {
    const object = this.objects.get(key);
    if (object === undefined) return;
    object.listed.to = Math.max(object.listed.from, this.#world.time + this.#lateness());
    this.objects.delete(key);
  }

  #list(prefix, { after = "", limit = Number.POSITIVE_INFINITY } = {}) {
    const now = this.#world.time;
    this.#listed = this.#listed.filter(({ to }) => to > now);
    const keys = this.#listed
      .filter(({ key, from }) => from <= now && key.startsWith(prefix) && key > after)
      .map(({ key }) => key);
    return [...new Set(keys)].sort().slice(0, Math.min(limit, this.faults.page));
  }

  #lateness() {
    const { listsLate } = this.faults;
    return listsLate === 0 || this.#random.chance(0.5) ? 0 : this.#random.next() * listsLate;
  }

  /** Whether no record was deleted. */
  hasAllRecords() {
    const records = this.history.filter(({ key }) => /\/l\/\d{13}$/.test(key));
    return records.every(({ key, tick }) => this.objects.get(key)?.tick === tick);
  }

  /** Bytes of an object change where they lie. Answers its key. */
  rot(isChosen) {
    const keys = [...this.objects.keys()].filter(isChosen).sort();
    if (keys.length === 0) return undefined;
    const key = this.#random.pick(keys);
    damage(this.objects.get(key).bytes, this.#random);
    return key;
  }
}

// Also where the object says what it is, which is little of it.
function damage(bytes, random) {
  const at = random.chance(0.3)
    ? random.below(Math.min(bytes.length, 40))
    : random.below(bytes.length);
  if (bytes.length > 0) bytes[at] ^= 1 << random.below(8);
}

function short(key) {
  const name = key.slice(key.indexOf("/") + 1);
  return name.replace(/^l\/(\d{13})/, (_, left) => `#${9_999_999_999_999 - Number(left)}`);
}

function told(result) {
  if (result instanceof Uint8Array) return `${result.length} bytes`;
  if (Array.isArray(result)) return result.map((key) => short(key)).join(" ");
  return String(result);
}
