// How long a question by words takes, and how long the first one holds everybody up, beside
// FTS5 written by hand (porter, stop words left out, an OR of the rest).
//
//   node bench/search-latency.mjs [--texts=file.json] [--sizes=1000,10000,100000]
//
// The texts are strings of a JSON file, at any depth; without one they are made of words with
// the frequencies of a language (Zipf).
import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { InMemoryStore } from "keepsake";
import { introduce, progress, table, textsFile } from "./lib.mjs";

const QUESTIONS = 200;
const MOST_WORDS = 400;
const sizes = (
  process.argv.find((option) => option.startsWith("--sizes="))?.slice("--sizes=".length) ??
  "1000,10000,100000"
)
  .split(",")
  .map(Number);

let seed = 7;
const random = () => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return seed / 2 ** 32;
};

// Words of two to four syllables; the n-th one is 1/n as frequent as the first.
function madeTexts(count) {
  const syllables = ["ka", "lo", "mi", "ren", "sta", "vo", "tu", "bel", "nor", "pi", "gra", "shu"];
  const syllable = () => syllables[Math.floor(random() * syllables.length)];
  const words = Array.from({ length: 20_000 }, () =>
    Array.from({ length: 2 + Math.floor(random() * 3) }, syllable).join(""),
  );
  const word = () => words[Math.floor(words.length ** random()) - 1];
  return Array.from({ length: count }, () =>
    Array.from({ length: 8 + Math.floor(random() * 25) }, word).join(" "),
  );
}

function stringsIn(value) {
  if (typeof value === "string") return value.includes(" ") ? [value] : [];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(stringsIn) : [];
}

function textsOf(count) {
  if (textsFile === undefined) return madeTexts(count);
  const texts = stringsIn(JSON.parse(readFileSync(textsFile, "utf8")));
  // Where there are too few, each comes again with a word of its own.
  return Array.from({ length: count }, (_, i) =>
    i < texts.length ? texts[i] : `${texts[i % texts.length]} n${i}`,
  );
}

// Some words of a text, as somebody would ask for it.
function questionOf(text) {
  const words = text.split(/\s+/).slice(0, MOST_WORDS);
  return Array.from({ length: 5 }, () => words[Math.floor(random() * words.length)]).join(" ");
}

const at = (list, share) => [...list].sort((a, b) => a - b)[Math.floor(list.length * share)];

// The longest time for which no timer could run.
async function pausesOf(body) {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 0);
  await new Promise((begun) => setTimeout(begun, 20));
  longest = 0;
  last = performance.now();
  await body();
  longest = Math.max(longest, performance.now() - last);
  clearInterval(timer);
  return longest;
}

async function timed(questions, ask) {
  const times = [];
  for (const question of questions) {
    const began = performance.now();
    await ask(question);
    times.push(performance.now() - began);
  }
  return times;
}

async function ours(texts, questions) {
  const store = new InMemoryStore();
  const began = performance.now();
  for (let i = 0; i < texts.length; i += 1000) {
    const part = texts.slice(i, i + 1000);
    await store.batch(
      part.map((text, n) => ({ namespace: ["n"], key: `${i + n}`, value: { text } })),
    );
  }
  const put = performance.now() - began;
  const firstBegan = performance.now();
  const pause = await pausesOf(() => store.search(["n"], { query: questions[0] }));
  const first = performance.now() - firstBegan;
  const times = await timed(questions, (query) => store.search(["n"], { query }));
  await store.stop?.();
  return { put, first, pause, times };
}

const STOP = new Set(
  "a an and are as at be but by did do for from had has have he her his how i in is it its me my not of on or our she so that the their they this to was we were what when where which who why will with you your".split(
    " ",
  ),
);

async function byHand(texts, questions) {
  const database = new Database(":memory:");
  database.exec("CREATE VIRTUAL TABLE t USING fts5(text, tokenize = 'porter unicode61')");
  const insert = database.prepare("INSERT INTO t(rowid, text) VALUES(?, ?)");
  const began = performance.now();
  database.transaction(() => {
    for (const [i, text] of texts.entries()) insert.run(i + 1, text);
  })();
  const put = performance.now() - began;
  const select = database.prepare(
    "SELECT rowid, text FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT 10",
  );
  const ask = async (question) => {
    const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const asked = words.filter((word) => !STOP.has(word)).map((word) => `"${word}"`);
    return asked.length === 0 ? [] : select.all(asked.join(" OR "));
  };
  const firstBegan = performance.now();
  const pause = await pausesOf(() => ask(questions[0]));
  const first = performance.now() - firstBegan;
  const times = await timed(questions, ask);
  database.close();
  return { put, first, pause, times };
}

introduce(
  "A question by words",
  "Milliseconds, on the clock, in memory, without an option. `put` is an item's share of batches of 1,000 (ours analyses texts at the first search, FTS5 as they are written). `pause` is the longest time for which no timer could run during the first search.",
);
const rows = [];
for (const size of sizes) {
  const texts = textsOf(size);
  const questions = Array.from({ length: QUESTIONS }, () =>
    questionOf(texts[Math.floor(random() * texts.length)]),
  );
  for (const [name, run] of Object.entries({ keepsake: ours, "FTS5 by hand": byHand })) {
    progress(`${size} texts: ${name}`);
    const { put, first, pause, times } = await run(texts, questions);
    rows.push([
      size,
      name,
      (put / size).toFixed(4),
      first.toFixed(0),
      pause.toFixed(0),
      at(times, 0.5).toFixed(2),
      at(times, 0.95).toFixed(2),
    ]);
  }
}
progress("");
console.log(table(["texts", "", "put", "first search", "pause", "median", "95 of 100"], rows));
