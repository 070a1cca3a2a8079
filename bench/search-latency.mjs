// How long a question by words takes, what the index costs a put, and how long the first
// question holds everybody up, beside FTS5 written by hand (porter, stop words left out, an OR of
// the rest; for Chinese trigrams, which is what FTS5 has).
//
//   node bench/search-latency.mjs [--sizes=1000,10000,100000] [--kinds=short,long,chinese]
//        [--texts=file.json] [--cpu]
//
// edge-search.mjs and browser-search.mjs do so in workerd and in Chromium.
import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { InMemoryStore } from "keepsake";
import { introduce, now, progress, table, textsFile } from "./lib.mjs";
import {
  at,
  BEST_TEN,
  MORE,
  matchOf,
  optionOf,
  putTexts,
  schemaOf,
  setOf,
  sizesAsked,
} from "./search-texts.mjs";

const kinds = (optionOf("kinds") ?? (textsFile ? "short" : "short,long,chinese")).split(",");
const strings = textsFile ? stringsIn(JSON.parse(readFileSync(textsFile, "utf8"))) : [];

function stringsIn(value) {
  if (typeof value === "string") return value.length > 20 ? [value] : [];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(stringsIn) : [];
}

// The longest time for which no timer could run.
async function pausesOf(body) {
  let longest = 0;
  let last = now();
  const timer = setInterval(() => {
    const at = now();
    longest = Math.max(longest, at - last);
    last = at;
  }, 0);
  await new Promise((begun) => setTimeout(begun, 20));
  longest = 0;
  last = now();
  await body();
  longest = Math.max(longest, now() - last);
  clearInterval(timer);
  return longest;
}

async function timed(questions, ask) {
  const times = [];
  for (const question of questions) {
    const began = now();
    await ask(question);
    times.push(now() - began);
  }
  return times;
}

const cpu = () => process.cpuUsage().user + process.cpuUsage().system;
const cpuOf = async (body) => {
  const before = cpu();
  await body();
  return (cpu() - before) / 1000;
};

async function ours({ texts, more, questions }) {
  const store = new InMemoryStore();
  await putTexts(store, texts, 0);
  const without = await cpuOf(() => putTexts(store, more, texts.length));
  const firstBegan = now();
  const pause = await pausesOf(() => store.search(["n"], { query: questions[0] }));
  const first = now() - firstBegan;
  const times = await timed(questions, (query) => store.search(["n"], { query }));
  // Until it can be found.
  const withIndex = await cpuOf(() => putTexts(store, more, texts.length + MORE));
  const found = await cpuOf(() => store.search(["n"], { query: questions[0] }));
  await store.close();
  return { without, withIndex, found, first, pause, times };
}

async function byHand({ texts, more, questions, tokenize }) {
  const database = new Database(":memory:");
  database.exec("CREATE TABLE plain(id INTEGER PRIMARY KEY, text TEXT)");
  database.exec(schemaOf(tokenize));
  const into = (name, column) => {
    const insert = database.prepare(`INSERT INTO ${name}(${column}, text) VALUES(?, ?)`);
    return (some, from) =>
      database.transaction(() => {
        for (const [i, text] of some.entries()) insert.run(from + i + 1, text);
      })();
  };
  const [plain, indexed] = [into("plain", "id"), into("t", "rowid")];
  plain(texts, 0);
  indexed(texts, 0);
  const without = await cpuOf(() => plain(more, texts.length));
  const withIndex = await cpuOf(() => indexed(more, texts.length));
  const select = database.prepare(BEST_TEN);
  const ask = async (question) => {
    const match = matchOf(question, tokenize);
    return match === "" ? [] : select.all(match);
  };
  const firstBegan = now();
  const pause = await pausesOf(() => ask(questions[0]));
  const first = now() - firstBegan;
  const times = await timed(questions, ask);
  database.close();
  return { without, withIndex, found: 0, first, pause, times };
}

introduce(
  "A question by words",
  `Milliseconds (with \`--cpu\` of the process, its compiler included), in memory, without an option. \`put\` is an item's share of ${MORE} in one batch (CPU): without an index, with it, and with it until the item can be found (ours analyses texts while nobody calls, or at the next search). \`pause\` is the longest time for which no timer could run during the first search.`,
);
const rows = [];
for (const kind of kinds) {
  for (const size of sizesAsked) {
    const set = setOf(kind, size, strings);
    for (const [name, run] of Object.entries({ keepsake: ours, "FTS5 by hand": byHand })) {
      progress(`${size} ${kind} texts: ${name}`);
      const { without, withIndex, found, first, pause, times } = await run(set);
      rows.push([
        kind,
        size,
        name,
        ...[without, withIndex, withIndex + found].map((ms) => (ms / MORE).toFixed(4)),
        first.toFixed(0),
        pause.toFixed(0),
        at(times, 0.5).toFixed(2),
        at(times, 0.95).toFixed(2),
      ]);
    }
  }
}
progress("");
const header = ["", "texts", "", "put", "with index", "until found"];
console.log(table([...header, "first search", "pause", "median", "95 of 100"], rows));
