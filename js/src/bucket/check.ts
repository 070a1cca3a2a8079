// Whether a store keeps the rules of BucketPort, tried on the store itself.

import { checkOptions, checkWhole, type NamesOf, show } from "../checks.js";
import { detailOf, invalid, KeepsakeError } from "../errors.js";
import type { Bucket } from "./bucket.js";
import { unreachable } from "./guard.js";
import type { BucketPort, ListRange } from "./port.js";

/** How much is tried. */
export interface CheckBucketOptions {
  /** How often several create one key at once. @default 10 */
  rounds?: number | undefined;
  /** How many do. @default 5 */
  writers?: number | undefined;
}

const CHECK_OPTIONS: NamesOf<CheckBucketOptions> = { rounds: 1, writers: 1 };

/** What `checkBucket()` found. */
export interface BucketReport {
  isOk: boolean;
  /** What is wrong, one sentence each. */
  problems: string[];
  /** All of it in one sentence. */
  sentence: string;
  /** Milliseconds of a call, the median. 0 of what was never answered. */
  latency: { create: number; get: number; list: number };
}

const TRIES = 3;
const PAUSE_MS = 200;
const PATIENCE_MS = 60_000;
const LARGE_BYTES = 1_000_000;

/**
 * Tries a bucket, below a folder of its own that is deleted in the end. It takes some hundred calls:
 * seconds, and well below a cent. What the store does wrong is in the report. What it can't see is
 * two machines that are far from each other.
 */
export async function checkBucket(
  bucket: Bucket,
  options?: CheckBucketOptions,
): Promise<BucketReport> {
  const { rounds, writers } = checkOptions("checkBucket", CHECK_OPTIONS, options);
  if (typeof bucket?.port?.get !== "function") {
    throw invalid(
      `checkBucket takes a bucket, as s3(), folder() and others make it: ${show(bucket)}`,
    );
  }
  const most = 1000;
  return new Check(bucket).run(
    checkWhole("rounds", rounds ?? 10, 1, most),
    checkWhole("writers", writers ?? 5, 2, most),
  );
}

class Check {
  readonly #port: BucketPort;
  readonly #place: string;
  readonly #root = `keepsake-check-${randomName()}/`;
  readonly #created = new Set<string>();
  readonly #problems: string[] = [];
  readonly #times = { create: [] as number[], get: [] as number[], list: [] as number[] };

  constructor({ port, place }: Bucket) {
    this.#port = port;
    this.#place = place;
  }

  async run(rounds: number, writers: number): Promise<BucketReport> {
    const steps = [
      () => this.#createOnce(),
      () => this.#createAtOnce(rounds, writers),
      () => this.#ranges(),
      () => this.#sizes(),
      () => this.#lists(),
      () => this.#deletes(),
    ];
    for (const step of steps) if (!(await this.#survives(step))) break;
    await this.#survives(() => this.#cleanUp());
    return this.#report(rounds, writers);
  }

  async #createOnce(): Promise<void> {
    const key = this.#key("once");
    if ((await this.#get(key)) !== undefined)
      this.#tell("get() answers something for a key that was never created");
    const first = bytesOf(100, 1);
    if (!(await this.#create(key, first))) this.#tell("create() of a new key answers false");
    await this.#expect(key, first, "what was created is not what is read right after it");
    if (await this.#create(key, bytesOf(90, 2))) {
      this.#tell(
        "create() of a key that is there answers true: two writers would overwrite each other",
      );
    }
    await this.#expect(key, first, "create() changes an object that is there");
  }

  async #createAtOnce(rounds: number, writers: number): Promise<void> {
    const found = { none: 0, several: 0, late: 0, other: 0 };
    for (let round = 0; round < rounds; round++) {
      const key = this.#key(`race/${round}`);
      // As a reader does that waits for it: what says "not there" must not be kept anywhere.
      await this.#get(key);
      const texts = Array.from({ length: writers }, (_, i) => bytesOf(50 + i, round * writers + i));
      this.#created.add(key);
      const answers = await Promise.all(
        texts.map((text) =>
          this.#timed("create", () => this.#port.create(key, text)).catch((error: unknown) => {
            if (isPassing(error)) return "unknown" as const;
            throw error;
          }),
        ),
      );
      const there = await this.#get(key);
      const winners = texts.filter((_, i) => answers[i] === true);
      // Of those without an answer each may have won.
      const maybe = texts.filter((_, i) => answers[i] === "unknown");
      if (winners.length > 1) found.several++;
      else if (winners.length === 0 && maybe.length === 0) found.none++;
      else if (there === undefined && winners.length > 0) found.late++;
      else if (there !== undefined) {
        const expected = winners.length > 0 ? winners : maybe;
        if (!expected.some((text) => isSame(text, there))) found.other++;
      }
    }
    const inRounds = (count: number, problem: string) => {
      if (count > 0) this.#tell(`${problem} (in ${count} of ${rounds} rounds)`);
    };
    inRounds(
      found.several,
      "of several that create one key at once, more than one is told that it did",
    );
    inRounds(found.none, "of several that create one key at once, none is told that it did");
    inRounds(found.late, "an object is not there right after it was created");
    inRounds(
      found.other,
      "of several that create one key at once, another one's bytes are there than the winner's",
    );
  }

  async #ranges(): Promise<void> {
    const key = this.#key("range");
    const whole = bytesOf(1000, 7);
    await this.#create(key, whole);
    const ranges: [number, number][] = [
      [100, 200],
      [0, 1],
      [900, 2000],
      [2000, 2010],
      [0, 0],
    ];
    for (const [from, to] of ranges) {
      const problem = `get() of the bytes from ${from} to ${to} of 1000 does not answer them`;
      await this.#attempt(problem, async () => {
        const part = await this.#get(key, { from, to });
        if (!isSame(part, whole.subarray(from, to))) this.#tell(problem);
      });
    }
    const missing = await this.#get(this.#key("no-range"), { from: 0, to: 10 });
    if (missing !== undefined)
      this.#tell("get() of a range answers something for a key that was never created");
  }

  async #sizes(): Promise<void> {
    for (const size of [0, LARGE_BYTES]) {
      const key = this.#key(`size-${size}`);
      const bytes = bytesOf(size, 3);
      if (!(await this.#create(key, bytes))) this.#tell(`create() of ${size} bytes answers false`);
      await this.#expect(key, bytes, `an object of ${size} bytes does not come back as it was`);
    }
  }

  async #lists(): Promise<void> {
    const begin = this.#key("list/");
    const names = ["0", "B", "a-b", "a.b", "a/b", "a_b", "ab", "b/0001", "b/0002", "b/0010"];
    // Not in their order.
    const mixed = [3, 8, 1, 6, 0, 9, 4, 2, 7, 5].map((i) => begin + names[i]);
    for (const key of mixed) await this.#create(key, bytesOf(1, 1));
    const keys = [...mixed].sort();
    const expect = async (what: string, expected: string[], prefix: string, after?: string) => {
      const problem = `list() ${what} does not answer the keys that are there, in ascending order of their bytes`;
      await this.#attempt(problem, async () => {
        const all = await this.#listAll(prefix, after, 1000);
        const missing = expected.filter((key) => !all.includes(key)).length;
        if (missing > 0)
          this.#tell(`list() ${what} leaves out ${missing} of ${expected.length} keys`);
        else if (all.join() !== expected.join()) this.#tell(problem);
      });
    };
    await expect("of a prefix", keys, begin);
    await expect("of a prefix within a name", keys.slice(2, 7), `${begin}a`);
    await expect("of a prefix that no key has", [], `${begin}zz`);
    await expect("after a key", keys.slice(5), begin, keys[4]);
    await expect("after a key that is not there", keys.slice(8), begin, `${begin}b/0001x`);
    await this.#attempt("list() with a limit does not answer", async () => {
      const some = await this.#list(begin, { limit: 3 });
      const isBegin =
        some.length > 0 && some.length <= 3 && some.every((key, i) => key === keys[i]);
      if (!isBegin) this.#tell("list() with a limit does not answer the first keys");
      const all = await this.#listAll(begin, undefined, 3);
      if (all.join() !== keys.join()) this.#tell("list() by pages does not answer all keys");
    });
  }

  /** By as many calls as it takes. */
  async #listAll(prefix: string, after: string | undefined, limit: number): Promise<string[]> {
    const all: string[] = [];
    let last = after;
    for (;;) {
      const page = await this.#list(prefix, { after: last, limit });
      if (page.length === 0) return all;
      for (const key of page) all.push(key);
      last = page.at(-1) as string;
    }
  }

  async #deletes(): Promise<void> {
    const key = this.#key("deleted");
    await this.#create(key, bytesOf(10, 1));
    await this.#again(() => this.#port.delete(key));
    if ((await this.#get(key)) !== undefined)
      this.#tell("an object that was deleted is still read");
    if ((await this.#listAll(key, undefined, 10)).length > 0)
      this.#tell("an object that was deleted is still listed");
    await this.#attempt("delete() of a key that is not there fails", () =>
      this.#again(() => this.#port.delete(key)),
    );
  }

  async #cleanUp(): Promise<void> {
    const keys = [...this.#created];
    const left: string[] = [];
    const next = async (): Promise<void> => {
      for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
        const one = key;
        await this.#again(() => this.#port.delete(one)).catch(() => left.push(one));
      }
    };
    await Promise.all(Array.from({ length: 8 }, next));
    if (left.length > 0)
      this.#tell(
        `${left.length} objects of this check can't be deleted: delete the folder ${this.#root} yourself`,
      );
  }

  #report(rounds: number, writers: number): BucketReport {
    const problems = [...new Set(this.#problems)];
    const { create, get, list } = this.#times;
    const latency = { create: median(create), get: median(get), list: median(list) };
    const [first, ...more] = problems;
    const rest = more.length === 0 ? "" : `, and ${more.length} more`;
    const sentence =
      first === undefined
        ? `${this.#place} can keep memories: of ${writers} writers at once one won in each of ${rounds} rounds, and what was created was read at once (create ${latency.create} ms, get ${latency.get} ms, list ${latency.list} ms).`
        : `${this.#place} can't keep memories: ${first}${rest}.`;
    return { isOk: first === undefined, problems, sentence, latency };
  }

  #key(name: string): string {
    return this.#root + name;
  }

  #tell(problem: string): void {
    this.#problems.push(problem);
  }

  /** False if the store failed in a way that makes no sense to try further. */
  async #survives(step: () => Promise<void>): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      this.#tell(wordsOf(error, this.#place));
      return false;
    }
  }

  /** What fails here is one problem, and the others are tried. */
  async #attempt(problem: string, body: () => Promise<void>): Promise<void> {
    try {
      await body();
    } catch (error) {
      this.#tell(`${problem}: ${wordsOf(error, this.#place)}`);
    }
  }

  async #expect(key: string, bytes: Uint8Array, problem: string): Promise<void> {
    const there = await this.#get(key);
    if (there === undefined) this.#tell("an object is not there right after it was created");
    else if (!isSame(there, bytes)) this.#tell(problem);
  }

  #get(key: string, range?: { from: number; to: number }): Promise<Uint8Array | undefined> {
    return this.#again(() => this.#timed("get", () => this.#port.get(key, range)));
  }

  #list(prefix: string, range: ListRange): Promise<string[]> {
    return this.#again(() => this.#timed("list", () => this.#port.list(prefix, range)));
  }

  /** Whether this call created it, also where its answer was lost. */
  async #create(key: string, bytes: Uint8Array): Promise<boolean> {
    this.#created.add(key);
    let isLost = false;
    const isNew = await this.#again(async () => {
      try {
        return await this.#timed("create", () => this.#port.create(key, bytes));
      } catch (error) {
        isLost = true;
        throw error;
      }
    });
    return isNew || (isLost && isSame(await this.#get(key), bytes));
  }

  /** A store may not answer now and then. */
  async #again<T>(body: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await body();
      } catch (error) {
        if (!isPassing(error) || tries === TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries));
      }
    }
  }

  async #timed<T>(what: keyof BucketReport["latency"], body: () => Promise<T>): Promise<T> {
    const began = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<never>((_, reject) => {
      const silent = () => reject(unreachable(this.#place, "it is silent"));
      timer = setTimeout(silent, PATIENCE_MS);
    });
    try {
      const answer = await Promise.race([body(), silence]);
      this.#times[what].push(performance.now() - began);
      return answer;
    } finally {
      clearTimeout(timer);
    }
  }
}

// Also in a page by http, which has no randomUUID().
function randomName(): string {
  const numbers = globalThis.crypto.getRandomValues(new Uint32Array(4));
  return Array.from(numbers, (number) => number.toString(36)).join("");
}

function isPassing(error: unknown): boolean {
  return error instanceof KeepsakeError && error.code === "unreachable";
}

function wordsOf(error: unknown, place: string): string {
  const words = detailOf(error);
  return words.startsWith(`${place}: `) ? words.slice(place.length + 2) : words;
}

function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** Others for each seed, and such that no part is like another. */
function bytesOf(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  const { imul } = Math;
  let state = imul(seed + 1, 0x9e3779b1);
  for (let i = 0; i < length; i++) {
    state = (imul(state, 1664525) + 1013904223) | 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

function median(times: number[]): number {
  const middle = [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0;
  return Math.round(middle * 10) / 10;
}
