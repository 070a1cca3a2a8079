// How long a question by words takes, what the index costs a put, and how long the first
// question holds everybody up, beside FTS5 written by hand (porter, stop words left out, an OR of
// the rest; for Chinese trigrams, which is what FTS5 has).
//
//   node bench/search-latency.mjs [--sizes=1000,10000,100000] [--kinds=short,long,chinese]
//        [--texts=file.json] [--cpu]
//
// edge-search.mjs and browser-search.mjs do so in workerd and in Chromium.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { InMemoryStore, SqliteStore } from "keepsake";
import { inFolder, introduce, now, progress, table, takeTurns, textsFile } from "./lib.mjs";
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

// The first round also pays for V8, which compiles what it runs.
async function rounds(questions, ask) {
  const cold = await timed(questions, ask);
  const warm = [];
  for (let round = 0; round < 3; round++) warm.push(...(await timed(questions, ask)));
  return { cold, warm };
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
  const times = await rounds(questions, (query) => store.search(["n"], { query }));
  // Until it can be found.
  const withIndex = await cpuOf(() => putTexts(store, more, texts.length + MORE));
  const found = await cpuOf(() => store.search(["n"], { query: questions[0] }));
  await store.close();
  return { without, withIndex, found, first, pause, ...times };
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
  const times = await rounds(questions, ask);
  database.close();
  return { without, withIndex, found: 0, first, pause, ...times };
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
      const { without, withIndex, found, first, pause, cold, warm } = await run(set);
      rows.push([
        kind,
        size,
        name,
        ...[without, withIndex, withIndex + found].map((ms) => (ms / MORE).toFixed(4)),
        first.toFixed(0),
        pause.toFixed(0),
        ...[cold, warm].flatMap((times) =>
          [at(times, 0.5), at(times, 0.95)].map((ms) => ms.toFixed(2)),
        ),
      ]);
    }
  }
}
progress("");
const header = ["", "texts", "", "put", "with index", "until found"];
const asked = ["first 200: median", "95 of 100", "then: median", "95 of 100"];
console.log(table([...header, "first search", "pause", ...asked], rows));

// What the index costs a put: stores that were searched, beside such that never were.
const PUTS = 100;
const { texts, questions, tokenize } = setOf("short", 10_000, strings);
await inFolder(async (folder) => {
  const pairs = {
    "keepsake, in memory": (name) => ourPuts(new InMemoryStore(), name),
    "keepsake, on a file": (name) =>
      ourPuts(new SqliteStore({ path: join(folder, `ours ${name}`) }), name),
    "FTS5 by hand, on a file": (name) => putsByHand(join(folder, `by hand ${name}`), name),
  };
  const subjects = [];
  for (const [pair, open] of Object.entries(pairs)) {
    for (const name of ["without", "with"]) {
      progress(`puts ${name} an index: ${pair}`);
      subjects.push({ name: `${pair}, ${name}`, ...(await open(name)) });
    }
  }
  let count = 0;
  const times = await takeTurns(subjects, 40, {
    prepare: () => Array.from({ length: PUTS }, () => [`m${++count}`, texts[count % texts.length]]),
    work: {
      "one by one": async ({ put }, items) => {
        for (const [key, text] of items) await put(`${key} alone`, text);
      },
      [`a batch of ${PUTS}`]: ({ batch }, items) => batch(items),
    },
  });
  progress("");
  const rows = Object.keys(pairs).map((pair) => [
    pair,
    ...Object.values(times).flatMap((of) => {
      const [without, with_] = ["without", "with"].map((name) => of[`${pair}, ${name}`][0]);
      const each = [without, with_].map((ms) => ((1000 * ms) / PUTS).toFixed(1));
      return [...each, `×${(with_ / without).toFixed(2)}`];
    }),
  ]);
  const columns = Object.keys(times).flatMap((name) => [`${name}: without`, "with the index", ""]);
  console.log(`\n### A put\n\nMicroseconds of CPU, medians.\n\n${table(["", ...columns], rows)}`);
  for (const { close } of subjects) await close();
});

async function ourPuts(store, name) {
  await putTexts(store, texts, 0);
  if (name === "with") await store.search(["n"], { query: questions[0] });
  return {
    put: (key, text) => store.put(["n"], key, { text }),
    batch: (items) =>
      store.batch(items.map(([key, text]) => ({ namespace: ["n"], key, value: { text } }))),
    close: () => store.close(),
  };
}

async function putsByHand(path, name) {
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  database.exec("CREATE TABLE items(id INTEGER PRIMARY KEY, key TEXT UNIQUE, value TEXT)");
  database.exec(schemaOf(tokenize));
  const insertItem = database.prepare("INSERT INTO items(key, value) VALUES(?, ?)");
  const insertText = database.prepare("INSERT INTO t(rowid, text) VALUES(?, ?)");
  const putAll = database.transaction((items) => {
    for (const [key, text] of items) {
      const { lastInsertRowid } = insertItem.run(key, JSON.stringify({ text }));
      if (name === "with") insertText.run(lastInsertRowid, text);
    }
  });
  putAll(texts.map((text, i) => [`${i}`, text]));
  return {
    put: async (key, text) => putAll([[key, text]]),
    batch: async (items) => putAll(items),
    close: () => database.close(),
  };
}
