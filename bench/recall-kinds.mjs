// How much of what answers a question is among the first ten hits, over many kinds of text,
// beside plain FTS5 and plain BM25 in the same run. No option is set, but the language.
//
//   node bench/recall-kinds.mjs --locomo=locomo10.json --realtalk=folder --beam=folder
//        --realmem=folder --cranfield=folder --squad=file.json,file.json [--table=file]
//        [--gate] [--fit] [--sample=n]
//
// The data is read where it lies and is no part of the project:
//   realtalk   the folder of Chat_*.json of REALTALK       beam     100K/N/… of BEAM
//   realmem    the folder of *_dialogues_256k.json         squad    CMRC, ARCD, XQuAD, …
//   cranfield  the folder of cran.all.1400, cran.qry and cranqrel
// Name only what may be looked at: the others tell whether a figure is honest.
// --table searches by words and by the meaning of `keepsake/embed` together, too, with a table
// that `cutWordVectors()` made.
// --gate asks what scores are worth as a confidence: the gate that keeps a share of the hits that
// answer, chosen on the other sets, and how many questions without an answer then get nothing.
// --sample=n takes each nth question.
// --fit fits the weights of the core to all sets that are named (bench/core/text_fit.cc).
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { InMemoryStore } from "keepsake";
import { staticEmbedder } from "keepsake/embed";
import { Bm25 } from "./bm25.mjs";
import { introduce, progress, table } from "./lib.mjs";

const K = 10;
const FIT = fileURLToPath(new URL("../build/bench/bench/core/text_fit", import.meta.url));
const STOP_WORDS = new Set(
  (
    "a an and are as at be because been but by can could did do does for from had has have he her" +
    " his how i if in into is it me my no not of on or our she should so such than that the their" +
    " then there these they this to too very was we were what when where which who whom why will" +
    " with would you your"
  ).split(" "),
);

const optionOf = (name) =>
  process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);
const json = (path) => JSON.parse(readFileSync(path, "utf8"));
const filesIn = (folder, pattern) =>
  readdirSync(folder)
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => join(folder, name));
const turnsIn = (evidence) => [
  ...new Set(evidence.flatMap((e) => e.split(/[;,\s]+/)).filter(Boolean)),
];

// ---- a talk is { id, items: [{ key, value }], questions: [{ text, gold, before? }] }

function talkOf(id, conversation, qa, itemOf) {
  const items = new Map();
  for (let session = 1; conversation[`session_${session}`]; session++) {
    for (const turn of conversation[`session_${session}`]) {
      if (!items.has(turn.dia_id)) items.set(turn.dia_id, itemOf(turn, session, conversation));
    }
  }
  const questions = qa.map(({ question, evidence }) => ({
    text: question,
    gold: turnsIn(evidence).filter((key) => items.has(key)),
  }));
  return { id, items: [...items].map(([key, value]) => ({ key, value })), questions };
}

const KINDS = {
  locomo: (file) =>
    json(file).map(({ sample_id, conversation, qa }) =>
      talkOf(sample_id, conversation, qa, (turn, session) => ({
        speaker: turn.speaker,
        text: turn.text,
        ...(turn.blip_caption && { caption: turn.blip_caption }),
        date: conversation[`session_${session}_date_time`] ?? "",
      })),
    ),
  realtalk: (folder) =>
    filesIn(folder, /\.json$/).map((file) => {
      const { qa, ...chat } = json(file);
      return talkOf(basename(file), chat, qa, (turn) => ({
        speaker: turn.speaker,
        text: turn.clean_text ?? "",
        ...(turn.blip_caption && { caption: turn.blip_caption }),
        date: turn.date_time,
      }));
    }),
  beam: (folder) =>
    readdirSync(folder)
      .sort()
      .map((id) => beamOf(id, join(folder, id))),
  realmem: (folder) => filesIn(folder, /_dialogues_.*\.json$/).map(realmemOf),
  cranfield: (folder) => [cranfieldOf(folder)],
  squad: (file) => [squadOf(file)],
};

const tableFile = optionOf("table");
const embedder = tableFile && staticEmbedder(readFileSync(tableFile));

const idsIn = (value) =>
  typeof value === "number"
    ? [String(value)]
    : value && typeof value === "object"
      ? Object.values(value).flatMap(idsIn)
      : [];

function beamOf(id, folder) {
  const messages = json(join(folder, "chat.json")).flatMap(({ turns }) => turns.flat());
  const probing = json(join(folder, "probing_questions/probing_questions.json"));
  return {
    id,
    items: messages.map(({ id, role, content }) => ({
      key: String(id),
      value: { role, content: role === "user" ? content.replace(/\s*->->[\s\S]*$/, "") : content },
    })),
    questions: Object.values(probing)
      .flat()
      .map(({ question, source_chat_ids }) => ({
        text: question,
        gold: [...new Set(idsIn(source_chat_ids))],
      })),
  };
}

// A question is asked when the sessions before its own are known.
function realmemOf(file) {
  const { dialogues } = json(file);
  const questions = dialogues.flatMap(({ dialogue_turns: turns }, before) =>
    turns.flatMap((turn, i) =>
      turn.is_query
        ? [{ text: turn.content, gold: [...new Set(turns[i + 1]?.memory_session_uuids)], before }]
        : [],
    ),
  );
  const items = dialogues.map(({ session_uuid, current_time, dialogue_turns }) => ({
    key: session_uuid,
    value: {
      date: current_time,
      messages: dialogue_turns.map(({ speaker, content }) => ({ role: speaker, content })),
    },
  }));
  return { id: basename(file), items, questions };
}

function cranfieldOf(folder) {
  const read = (name) => readFileSync(join(folder, name), "latin1");
  const parts = (text) => text.split(/^\.I \d+\s*$/m).slice(1);
  const section = (text, name) =>
    (text.split(new RegExp(`^\\.${name}\\s*$`, "m"))[1] ?? "").split(/^\.[A-Z]\s*$/m)[0].trim();
  const relevant = new Map();
  for (const line of read("cranqrel").split("\n")) {
    const [query, item, grade] = line.trim().split(/\s+/);
    if (Number(grade) > 0) relevant.set(query, [...(relevant.get(query) ?? []), item]);
  }
  return {
    id: "cranfield",
    isByRank: true,
    items: parts(read("cran.all.1400")).map((text, i) => ({
      key: String(i + 1),
      value: { title: section(text, "T"), text: section(text, "W") },
    })),
    questions: parts(read("cran.qry")).map((text, i) => ({
      text: section(text, "W"),
      gold: relevant.get(String(i + 1)) ?? [],
    })),
  };
}

function squadOf(file) {
  const paragraphs = json(file).data.flatMap(({ paragraphs }) => paragraphs);
  return {
    id: basename(file),
    isByRank: true,
    items: paragraphs.map(({ context }, i) => ({ key: String(i), value: { text: context } })),
    questions: paragraphs.flatMap(({ qas }, i) =>
      qas.map(({ question }) => ({ text: question, gold: [String(i)] })),
    ),
  };
}

// ---- the floors

const stringsIn = (value) =>
  typeof value === "string"
    ? [value]
    : value && typeof value === "object"
      ? Object.values(value).flatMap(stringsIn)
      : [];
const wordsOf = (text) =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((word) =>
    /[\u3040-\u9fff]/.test(word) ? [...word] : [word],
  );
const questionWords = (text) => [...new Set(wordsOf(text).filter((word) => !STOP_WORDS.has(word)))];

class Fts5 {
  #db = new Database(":memory:");
  #keys = [];
  constructor() {
    this.#db.exec("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61')");
  }
  async add(items) {
    const insert = this.#db.prepare("INSERT INTO t(rowid, x) VALUES (?, ?)");
    for (const { key, value } of items) {
      insert.run(this.#keys.push(key), wordsOf(stringsIn(value).join(" ")).join(" "));
    }
  }
  async search(text) {
    const words = questionWords(text).map((word) => `"${word}"`);
    if (words.length === 0) return [];
    return this.#db
      .prepare(`SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ${K}`)
      .all(words.join(" OR "))
      .map(({ rowid }) => this.#keys[rowid - 1]);
  }
}

class PlainBm25 {
  #index = new Bm25();
  async add(items) {
    for (const { key, value } of items) {
      this.#index.add(key, wordsOf(stringsIn(value).join(" ")));
    }
  }
  async search(text) {
    return this.#index.search(questionWords(text), K);
  }
}

class Ours {
  #store;
  constructor(options) {
    const text = { language: optionOf("language") ?? "english" };
    this.#store = new InMemoryStore({ text, ...options });
  }
  async add(items) {
    await this.#store.batch(items.map(({ key, value }) => ({ namespace: ["t"], key, value })));
  }
  async search(query) {
    return (await this.scored(query)).map(({ key }) => key);
  }
  async scored(query) {
    return this.#store.search(["t"], { query, limit: K });
  }
  async close() {
    await this.#store.close();
  }
}

// With a table of word vectors: words and meaning together.
class OursWithTable extends Ours {
  constructor() {
    super({
      index: {
        dims: embedder.dims,
        embeddings: embedder,
        fields: ["text", "content", "messages[*].content"],
      },
      searchMode: "hybrid",
    });
  }
}

// ---- measuring

const gain = (i) => 1 / Math.log2(i + 2);
function worth(found, gold, isByRank) {
  if (!isByRank) return gold.filter((key) => found.includes(key)).length / gold.length;
  const best = gold.slice(0, K).reduce((sum, _, i) => sum + gain(i), 0);
  return found.reduce((sum, key, i) => sum + (gold.includes(key) ? gain(i) : 0), 0) / best;
}

// Items are added as the talk goes on.
async function worthOf(finder, talk, questions) {
  let sum = 0;
  let known = 0;
  const { items } = talk;
  const asked = questions
    .map((question) => ({ before: items.length, ...question }))
    .sort((a, b) => a.before - b.before);
  for (const { text, gold, before } of asked) {
    if (before > known) await finder.add(items.slice(known, before));
    known = before;
    sum += worth(await finder.search(text), gold, talk.isByRank);
  }
  await finder.close?.();
  return sum;
}

async function row(kind, talks) {
  const finders = [Fts5, PlainBm25, Ours, ...(embedder ? [OursWithTable] : [])];
  const sums = finders.map(() => 0);
  let count = 0;
  for (const talk of talks) {
    const asked = talk.questions.filter(({ gold }) => gold.length > 0);
    progress(`${kind}: ${talk.id}`);
    for (const [i, Finder] of finders.entries()) {
      sums[i] += await worthOf(new Finder(), talk, asked);
    }
    count += asked.length;
  }
  progress("");
  const what = talks.some(({ isByRank }) => isByRank) ? "nDCG@10" : "recall@10";
  return [kind, what, count, ...sums.map((sum) => (sum / count).toFixed(3))];
}

// ---- the gate

const KEPT = [0.98, 0.95, 0.9, 0.8];
const DEFAULT_GATE = 0.07; // js/src/langchain/recall.ts

// Scores of hits that answer, and of the best hit for questions that nothing answers.
async function scoresOf(kind, talks) {
  const scores = { answers: [], abstention: [], elsewhere: [] };
  for (const [i, talk] of talks.entries()) {
    progress(`${kind}: ${talk.id}`);
    const parts = talks.length > 1 ? [talk] : halvesOf(talk);
    for (const { items, questions } of parts) {
      const known = new Set(items.map(({ key }) => key));
      const ours = new Ours();
      await ours.add(items);
      const best = async (text) => (await ours.scored(text))[0]?.score ?? 0;
      for (const { text, gold } of questions) {
        const hits = await ours.scored(text);
        if (gold.length === 0 && kind === "beam") scores.abstention.push(hits[0]?.score ?? 0);
        if (gold.length > 0 && !gold.some((key) => known.has(key))) {
          scores.elsewhere.push(hits[0]?.score ?? 0);
        }
        for (const { key, score } of hits) if (gold.includes(key)) scores.answers.push(score);
      }
      if (talks.length === 1) continue;
      for (const { text } of talks[(i + 1) % talks.length].questions) {
        scores.elsewhere.push(await best(text));
      }
      await ours.close();
    }
  }
  progress("");
  return scores;
}

// All questions are asked of half of the texts: to some of them it has no answer.
function halvesOf({ items, questions }) {
  return [{ items: items.filter((_, i) => i % 2 === 0), questions }];
}

// Each set counts alike.
function gateThatKeeps(share, sets) {
  const answers = sets
    .flatMap(({ answers }) => answers.map((score) => [score, 1 / answers.length]))
    .sort(([a], [b]) => a - b);
  let below = 0;
  for (const [score, weight] of answers) {
    below += weight;
    if (below > (1 - share) * sets.length) return score;
  }
  return 0;
}

const shareOf = (scores, holds) =>
  scores.length === 0 ? "" : (scores.filter(holds).length / scores.length).toFixed(2);

async function printGate(sets) {
  const all = {};
  for (const [kind, talks] of Object.entries(sets)) all[kind] = await scoresOf(kind, talks);
  const rows = Object.entries(all).flatMap(([kind, scores]) => {
    const others = Object.keys(all).filter((other) => other !== kind);
    const gates =
      others.length === 0
        ? []
        : KEPT.map((share) => [
            `${share}`,
            gateThatKeeps(
              share,
              others.map((other) => all[other]),
            ),
          ]);
    return [...gates, ["default", DEFAULT_GATE]].map(([share, gate]) => [
      kind,
      share,
      gate.toFixed(3),
      shareOf(scores.answers, (score) => score >= gate),
      shareOf(scores.elsewhere, (score) => score < gate),
      shareOf(scores.abstention, (score) => score < gate),
    ]);
  });
  console.log(
    table(
      [
        "",
        "kept elsewhere",
        "gate",
        "answers kept",
        "nothing: other talk",
        "nothing: detail missing",
      ],
      rows,
    ),
  );
}

// As text_fit.cc reads it.
function printFit(sets) {
  if (!existsSync(FIT)) throw new Error(`build it first (preset bench): ${FIT}`);
  const folder = mkdtempSync(join(tmpdir(), "keepsake-fit-"));
  const lines = Object.entries(sets).flatMap(([kind, talks]) => [
    `set\t${kind}\t${talks.some(({ isByRank }) => isByRank) ? "rank" : "recall"}`,
    ...talks.flatMap(({ items, questions }) => [
      "talk",
      ...items.map(({ key, value }) => `item\t${key}\t${JSON.stringify(value)}`),
      ...questions
        .filter(({ gold }) => gold.length > 0)
        .map(
          ({ text, gold, before = items.length }) =>
            `question\t${text.replace(/\s+/g, " ")}\t${gold.join(",")}\t${before}`,
        ),
    ]),
  ]);
  try {
    writeFileSync(join(folder, "data.tsv"), lines.join("\n"));
    execFileSync(FIT, [join(folder, "data.tsv")], { stdio: ["ignore", "inherit", "inherit"] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

introduce("Recall by kinds of text", "What answers a question, among the first ten hits.");
const sets = {};
for (const [kind, read] of Object.entries(KINDS)) {
  const where = optionOf(kind);
  if (where !== undefined && kind === "squad") {
    for (const file of where.split(",")) sets[basename(file)] = KINDS.squad(file);
  } else if (where !== undefined) sets[kind] = read(where);
}
const each = Number(optionOf("sample") ?? 1);
for (const talk of Object.values(sets).flat()) {
  talk.questions = talk.questions.filter((_, i) => i % each === 0);
}
if (process.argv.includes("--fit")) {
  printFit(sets);
} else if (process.argv.includes("--gate")) {
  await printGate(sets);
} else {
  const header = ["", "measure", "questions", "FTS5", "BM25", "Keepsake, no option"];
  if (embedder) header.push("with a table of words");
  console.log(table(header, []));
  // Row by row: some sets take minutes.
  for (const [kind, talks] of Object.entries(sets)) {
    console.log(`| ${(await row(kind, talks)).join(" | ")} |`);
  }
}
