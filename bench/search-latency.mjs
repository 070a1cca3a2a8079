// How long a question by words takes, what the index costs a put, and how long the first
// question holds everybody up, beside FTS5 written by hand (porter, stop words left out, an OR of
// the rest; for Chinese trigrams, which is what FTS5 has).
//
//   node bench/search-latency.mjs [--sizes=1000,10000,100000] [--kinds=short,long,chinese]
//        [--texts=file.json] [--cpu]
//
// Texts are made of words with the frequencies of a language (Zipf): of 8 to 32 words, of 150 to
// 350, of 200 to 400 Chinese characters; or they are strings of a JSON file, at any depth.
import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { InMemoryStore } from "keepsake";
import { introduce, now, progress, table, textsFile } from "./lib.mjs";

const QUESTIONS = 200;
const MOST_WORDS = 400;
const optionOf = (name) =>
  process.argv.find((option) => option.startsWith(`--${name}=`))?.slice(name.length + 3);
const sizes = (optionOf("sizes") ?? "1000,10000,100000").split(",").map(Number);
// So many more are put when the others can be found.
const MORE = 500;

let seed = 7;
const random = () => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return seed / 2 ** 32;
};

// The n-th of them is 1/n as frequent as the first.
const oneOf = (words) => words[Math.floor(words.length ** random()) - 1];
const many = (least, most, make) =>
  Array.from({ length: least + Math.floor(random() * (most - least + 1)) }, make);

// Of two to four syllables.
function madeWords() {
  const syllables = ["ka", "lo", "mi", "ren", "sta", "vo", "tu", "bel", "nor", "pi", "gra", "shu"];
  return Array.from({ length: 20_000 }, () =>
    many(2, 4, () => syllables[Math.floor(random() * syllables.length)]).join(""),
  );
}

function chineseWords() {
  const character = () => String.fromCodePoint(0x4e00 + Math.floor(3000 * random() ** 2));
  return Array.from({ length: 20_000 }, () => many(1, 3, character).join(""));
}

const KINDS = {
  short: (words = madeWords()) => ({
    text: () => many(8, 32, () => oneOf(words)).join(" "),
    question: () => many(5, 5, () => oneOf(words)).join(" "),
    tokenize: "porter unicode61",
  }),
  long: (words = madeWords()) => ({
    ...KINDS.short(words),
    text: () => many(150, 350, () => oneOf(words)).join(" "),
  }),
  chinese: (words = chineseWords()) => ({
    text: () => many(100, 200, () => oneOf(words)).join(""),
    question: () => many(6, 6, () => oneOf(words)).join(""),
    tokenize: "trigram",
  }),
};
const kinds = (optionOf("kinds") ?? (textsFile ? "short" : "short,long,chinese")).split(",");

function stringsIn(value) {
  if (typeof value === "string") return value.length > 20 ? [value] : [];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(stringsIn) : [];
}

// Of a file each comes again, with a word of its own, where there are too few. A question is some
// words of a text.
function setOf(kind, size) {
  const made = KINDS[kind]();
  const strings = textsFile ? stringsIn(JSON.parse(readFileSync(textsFile, "utf8"))) : [];
  const textAt = (i) =>
    strings.length === 0
      ? made.text()
      : strings[i % strings.length] + (i < strings.length ? "" : ` n${i}`);
  const texts = Array.from({ length: size + MORE }, (_, i) => textAt(i));
  const questionOf = (text) => {
    if (kind === "chinese") return text.slice(0, 200).slice(-12);
    const words = text.split(/\s+/).slice(0, MOST_WORDS);
    return many(5, 5, () => words[Math.floor(random() * words.length)]).join(" ");
  };
  const question = () =>
    strings.length === 0 ? made.question() : questionOf(texts[Math.floor(random() * size)]);
  const questions = many(QUESTIONS, QUESTIONS, question);
  return {
    texts: texts.slice(0, size),
    more: texts.slice(size),
    questions,
    tokenize: made.tokenize,
  };
}

const at = (list, share) => [...list].sort((a, b) => a - b)[Math.floor(list.length * share)];

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

async function put(store, texts, from) {
  for (let i = 0; i < texts.length; i += 500) {
    await store.batch(
      texts.slice(i, i + 500).map((text, n) => ({
        namespace: ["n"],
        key: `${from + i + n}`,
        value: { text },
      })),
    );
  }
}

const cpu = () => process.cpuUsage().user + process.cpuUsage().system;
const cpuOf = async (body) => {
  const before = cpu();
  await body();
  return (cpu() - before) / 1000;
};

async function ours({ texts, more, questions }) {
  const store = new InMemoryStore();
  await put(store, texts, 0);
  const without = await cpuOf(() => put(store, more, texts.length));
  const firstBegan = now();
  const pause = await pausesOf(() => store.search(["n"], { query: questions[0] }));
  const first = now() - firstBegan;
  const times = await timed(questions, (query) => store.search(["n"], { query }));
  // Until it can be found.
  const withIndex = await cpuOf(() => put(store, more, texts.length + MORE));
  const found = await cpuOf(() => store.search(["n"], { query: questions[0] }));
  await store.stop?.();
  return { without, withIndex, found, first, pause, times };
}

const STOP = new Set(
  "a an and are as at be but by did do for from had has have he her his how i in is it its me my not of on or our she so that the their they this to was we were what when where which who why will with you your".split(
    " ",
  ),
);

async function byHand({ texts, more, questions, tokenize }) {
  const database = new Database(":memory:");
  database.exec("CREATE TABLE plain(id INTEGER PRIMARY KEY, text TEXT)");
  database.exec(`CREATE VIRTUAL TABLE t USING fts5(text, tokenize = '${tokenize}')`);
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
  const select = database.prepare(
    "SELECT rowid, text FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT 10",
  );
  const wordsOf = (question) =>
    tokenize === "trigram"
      ? Array.from({ length: Math.max(question.length - 2, 0) }, (_, i) => question.slice(i, i + 3))
      : (question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !STOP.has(word));
  const ask = async (question) => {
    const asked = wordsOf(question).map((word) => `"${word.replaceAll('"', '""')}"`);
    return asked.length === 0 ? [] : select.all(asked.join(" OR "));
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
  for (const size of sizes) {
    const set = setOf(kind, size);
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
