// Two callers of one memory, each with settings of its own: whatever one of them sets, the other
// is answered as if it were alone.

import { randomFrom } from "./isolation.mjs";

const START = 1_800_000_000_000;
const SECRET = "the token is ghp_0123456789abcdefghijABCDEFGHIJ012345";
const TEXTS = ["green tea", "black tea, please", "a walk in Paris", SECRET, "tea ".repeat(20)];
const KEYS = ["1", "2", "3"];
const TTLS = [undefined, undefined, 1, 5, 60];

const vectorOf = (text) => {
  const vector = Array(4).fill(0.1);
  for (const letter of text) vector[letter.codePointAt(0) % 4] += 1;
  return vector;
};
const embeddings = async (texts) => texts.map(vectorOf);
export const INDEXES = [
  { dims: 4, fields: ["text"], model: "one", embeddings },
  { dims: 4, fields: ["text"], model: "two", embeddings },
];
export const TEXT_OPTIONS = [{ fields: { text: 1 } }, { fields: { text: 2 }, language: "german" }];

const oneOf = (random, values) => values[random(values.length)];

/** What one of the two sets. `ofMemory`: what the memory has, which it gives too, or differs from. */
function settingsFrom(random, ofMemory) {
  const of = (values) => oneOf(random, values);
  // What the memory lacks would be that of all who come later.
  const likeMemory = (name, all) =>
    ofMemory[name] && of([undefined, ofMemory[name], ofMemory[name], of(all)]);
  const clock = { time: START + of([0, -40, 3, 100_000]) * 60_000 };
  const ttl = of([
    undefined,
    { defaultTtl: of([1, 10, 100]) },
    { defaultTtl: of([2, 20]), refreshOnRead: false },
    { refreshOnRead: of([true, false]) },
  ]);
  const policy = of([
    undefined,
    undefined,
    { defaultTtl: of([3, 30]) },
    { maxTtl: of([2, 50]) },
    { maxValueBytes: 60 },
    { readOnly: true },
    { writable: [["notes"]] },
  ]);
  return {
    clock,
    policy,
    options: {
      ttl,
      secrets: of(["mask", "refuse", "allow"]),
      ranking: { mode: of(["auto", "text", "contains", "hybrid"]) },
      index: likeMemory("index", INDEXES),
      text: likeMemory("text", TEXT_OPTIONS),
    },
    durability: of([...Array(9).fill("relaxed"), "strict"]),
  };
}

function callFrom(random, clock) {
  const of = (values) => oneOf(random, values);
  const ns = [of(["notes", "facts"])];
  const [key, text, ttl] = [of(KEYS), of(TEXTS), of([...TTLS, null])];
  const refreshTtl = of([undefined, true, false]);
  const put = (m) => m.store.put(ns, key, { text }, undefined, ttl === undefined ? {} : { ttl });
  const minutes = of([1, 4, 9, 30]);
  const pass = async () => {
    clock.time += minutes * 60_000;
  };
  return of([
    put,
    put,
    put,
    pass,
    pass,
    (m) => m.store.get(ns, key, { refreshTtl }),
    (m) => m.store.search([], { query: text, refreshTtl }),
    (m) => m.store.search(ns, { filter: { text: { $ne: text } } }),
    (m) => m.store.listKeys(ns),
    (m) => m.store.delete(ns, key),
    (m) =>
      m.store.batch([
        { namespace: ns, key, value: { text } },
        { namespace: ns, key },
      ]),
  ]);
}

const told = async (call) => {
  try {
    return JSON.stringify((await call()) ?? null);
  } catch (error) {
    return String(error.code);
  }
};

/**
 * Plays `rounds` rounds of two callers, and says how an answer differs from that of a caller who
 * is alone, or "". `open(memory, user, settings)` opens for a user the memory of both, 0, or that
 * of one alone, 1 or 2; `refusalOf(settings)` is the code with which it is refused, or undefined.
 */
export async function differenceOfSettings({ seed, rounds, calls, ofMemory, open, refusalOf }) {
  const random = randomFrom(seed);
  for (let round = 0; round < rounds; round++) {
    const callers = [];
    for (const which of [1, 2]) {
      const settings = settingsFrom(random, ofMemory);
      const user = `${seed} ${round} ${which}`;
      const own = { ...settings, clock: { ...settings.clock } };
      const refusal = refusalOf(settings);
      const pair = [];
      for (const [memory, given] of [
        [0, settings],
        [which, own],
      ]) {
        let opened;
        const code = await told(async () => {
          opened = await open(memory, user, given);
        });
        if (code !== (refusal ?? "null")) return `${user}: opened with ${code}, not ${refusal}`;
        if (opened === undefined) continue;
        const heard = [];
        opened.memory.onChange?.(({ namespaces }) => heard.push(namespaces));
        pair.push({ ...opened, clock: given.clock, heard });
      }
      if (pair.length === 2) callers.push({ user, pair });
    }
    for (let i = 0; i < calls * callers.length; i++) {
      const { user, pair } = callers[i % callers.length];
      const state = random(2 ** 31);
      const answers = [];
      for (const { memory, clock } of pair)
        answers.push(await told(() => callFrom(randomFrom(state), clock)(memory)));
      if (answers[0] !== answers[1])
        return `${user}, call ${i}: ${answers[0]} instead of ${answers[1]}`;
    }
    for (const { user, pair } of callers) {
      const [together, alone] = pair.map(({ heard }) => JSON.stringify(heard));
      if (together !== alone) return `${user} heard ${together} instead of ${alone}`;
      for (const { close } of pair) await close();
    }
  }
  return "";
}
