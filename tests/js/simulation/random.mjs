// Chance by a seed: the same seed, the same history.

/** Numbers from 0 up to but not including 1, as mulberry32 makes them. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed | 0;
    // Seeds that lie side by side begin alike.
    for (let i = 0; i < 3; i++) this.next();
  }

  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number below `n`. */
  below(n) {
    return Math.floor(this.next() * n);
  }

  /** A whole number from `least` to `most`. */
  between(least, most) {
    return least + this.below(most - least + 1);
  }

  /** True with this probability. */
  chance(probability) {
    return this.next() < probability;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  /** One of `{ name: weight }`. */
  weighted(weights) {
    const entries = Object.entries(weights);
    let at = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      at -= weight;
      if (at < 0) return name;
    }
    return entries.at(-1)[0];
  }

  /** Most are short, some are ten times as long: as networks have it. */
  delay(usual) {
    const u = this.next();
    return usual * (0.5 + u) * (this.chance(0.05) ? 10 : 1);
  }

  bytes(into) {
    for (let i = 0; i < into.length; i++) into[i] = this.below(256);
    return into;
  }

  /** Another source of chance, so that what is added to the one does not shift the other. */
  fork() {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}
