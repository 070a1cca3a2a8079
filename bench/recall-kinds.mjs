// How much of what answers a question is among the first ten hits, over many kinds of text,
// beside plain FTS5 and plain BM25 in the same run; the better of these is "plain". No option is
// set, but the language.
//
//   node bench/recall-kinds.mjs --locomo=locomo10.json --realtalk=folder --beam=folder
//        --realmem=folder --stackfaq=file --cosqa=folder --mtrag=file --qmsum=folder
//        --cranfield=folder --squad=file.json,file.json [--table=file|--english|--model] [--gate] [--data=file]
//        [--sample=n]
//
// The data is read where it lies and is no part of the project:
//   realtalk   the folder of Chat_*.json of REALTALK       beam     100K/N/… of BEAM
//   realmem    the folder of *_dialogues_256k.json         squad    CMRC, ARCD, XQuAD, …
//   cranfield  the folder of cran.all.1400, cran.qry and cranqrel
//   stackfaq   stackExchange-FAQ.json of BERT-FAQ: what users ask, and answers with their titles
//   cosqa      the folder of *{dev,test}-500.json and code_idx_map.txt: questions, and functions
//   mtrag      a *.jsonl of mtragun-human: the last turn of a talk, and passages
//   qmsum      data/ALL of QMSum, of which test and val: questions, and turns of a meeting
// Name only what may be looked at: the others tell whether a figure is honest.
// --table searches by words and by the meaning of `keepsake/embed` together, too, with a table
// that `cutWordVectors()` made; --english with that of packages/english, and --model with a
// sentence encoder, which is asked alone, too.
// --gate asks what scores (with a table, of both) are worth as a confidence: the gate that keeps a share of the hits that
// answer, chosen on the other sets, and how many questions without an answer then get nothing.
// --sample=n takes each nth question.
// --data=file writes all sets that are named for bench/core/text_fit.cc, which tries other weights.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { InMemoryStore } from "keepsake";
import { staticEmbedder } from "keepsake/embed";
import { introduce, progress, table } from "./lib.mjs";
import { Fts5, PlainBm25 } from "./plain.mjs";
import { DIMS, sentenceEncoder } from "./recall-model.mjs";

const K = 10;

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
  stackfaq: (file) => [stackfaqOf(file)],
  cosqa: (folder) => [cosqaOf(folder)],
  mtrag: (file) => [mtragOf(file)],
  qmsum: (folder) =>
    ["test", "val"].flatMap((part) => filesIn(join(folder, part), /\.json$/).map(qmsumOf)),
  cranfield: (folder) => [cranfieldOf(folder)],
  squad: (file) => [squadOf(file)],
};

const tableFile = optionOf("table");
const hasModel = process.argv.includes("--model");
const embedder = await embedderAsked();

async function embedderAsked() {
  if (tableFile) return staticEmbedder(readFileSync(tableFile));
  if (hasModel) return { dims: DIMS, embedDocuments: await sentenceEncoder() };
  if (!process.argv.includes("--english")) return undefined;
  return staticEmbedder((await import("../packages/english/dist/table.js")).bytes());
}

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

function stackfaqOf(file) {
  const items = [];
  const questions = json(file).root.qapair.flatMap(({ question: title, answer, rephr }, pair) => {
    const answers = [answer]
      .flat()
      .map((text, i) => ({ key: `${pair}:${i}`, value: { title, text } }));
    items.push(...answers);
    const gold = answers.map(({ key }) => key);
    return rephr.filter((text) => text && text !== "*").map((text) => ({ text, gold }));
  });
  return { id: "stackfaq", items, questions };
}

function cosqaOf(folder) {
  const code = Object.entries(json(join(folder, "code_idx_map.txt")));
  return {
    id: "cosqa",
    items: code.map(([text, key]) => ({ key: String(key), value: { text } })),
    questions: filesIn(folder, /-500\.json$/)
      .flatMap(json)
      .map(({ doc, retrieval_idx }) => ({ text: doc, gold: [String(retrieval_idx)] })),
  };
}

function mtragOf(file) {
  const turns = readFileSync(file, "utf8").trim().split("\n").map(JSON.parse);
  const passages = turns.flatMap(({ contexts }) => contexts);
  const texts = new Map(passages.map(({ document_id, text }) => [document_id, text]));
  return {
    id: "mtrag",
    items: [...texts].map(([key, text]) => ({ key, value: { text } })),
    questions: turns.map(({ input, contexts }) => ({
      text: input.at(-1).text,
      gold: [...new Set(contexts.map(({ document_id }) => document_id))],
    })),
  };
}

// Ten hits can't hold a span of a hundred turns: see worth().
function qmsumOf(file) {
  const { meeting_transcripts: turns, specific_query_list: queries } = json(file);
  return {
    id: basename(file),
    items: turns.map(({ speaker, content }, i) => ({
      key: String(i),
      value: { speaker, content },
    })),
    questions: queries.map(({ query, relevant_text_span: spans }) => ({
      text: query,
      gold: turns
        .map((_, i) => i)
        .filter((i) => spans.some(([first, last]) => Number(first) <= i && i <= Number(last)))
        .map(String),
    })),
  };
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
    items: paragraphs.map(({ context }, i) => ({ key: String(i), value: { text: context } })),
    questions: paragraphs.flatMap(({ qas }, i) =>
      qas.map(({ question }) => ({ text: question, gold: [String(i)] })),
    ),
  };
}

// ---- ours

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

// Words and meaning together.
class OursHybrid extends Ours {
  constructor(searchMode = "hybrid") {
    super({
      index: {
        dims: embedder.dims,
        embeddings: hasModel ? embedder.embedDocuments : embedder,
        fields: ["text", "content", "messages[*].content"],
      },
      ranking: { mode: searchMode },
    });
  }
}

class OursVectors extends OursHybrid {
  constructor() {
    super("vector");
  }
}

// What is asked of vectors, by name.
const BY_VECTORS = [
  ...(embedder ? [["hybrid", OursHybrid]] : []),
  ...(hasModel ? [["vectors", OursVectors]] : []),
];

// ---- measuring

const gain = (i) => 1 / Math.log2(i + 2);
// [recall@10, nDCG@10]. Of more than ten that answer, ten are all.
function worth(found, gold) {
  const most = Math.min(gold.length, K);
  const best = gold.slice(0, K).reduce((sum, _, i) => sum + gain(i), 0);
  const gains = found.reduce((sum, key, i) => sum + (gold.includes(key) ? gain(i) : 0), 0);
  return [gold.filter((key) => found.includes(key)).length / most, gains / best];
}

// Items are added as the talk goes on.
async function worthOf(Finder, talk) {
  const finder = new Finder();
  const sums = [0, 0];
  let known = 0;
  const { items } = talk;
  const asked = talk.questions
    .map((question) => ({ before: items.length, ...question }))
    .sort((a, b) => a.before - b.before);
  for (const { text, gold, before } of asked) {
    if (before > known) await finder.add(items.slice(known, before));
    known = before;
    for (const [i, value] of worth(await finder.search(text), gold).entries()) sums[i] += value;
  }
  await finder.close?.();
  return sums;
}

// [recall@10, nDCG@10] of each finder over all questions that have an answer.
async function meansOf(kind, talks, finders) {
  const sums = finders.map(() => [0, 0]);
  let count = 0;
  for (const talk of talks) {
    progress(`${kind}: ${talk.id}`);
    for (const [i, Finder] of finders.entries()) {
      for (const [j, sum] of (await worthOf(Finder, answeredOf(talk))).entries()) sums[i][j] += sum;
    }
    count += answeredOf(talk).questions.length;
  }
  progress("");
  return { count, means: sums.map((sum) => sum.map((value) => value / count)) };
}

const answeredOf = ({ questions, ...talk }) => ({
  ...talk,
  questions: questions.filter(({ gold }) => gold.length > 0),
});

const PLAIN = [Fts5, PlainBm25];
const betterOf = (means) =>
  [0, 1].map((i) => Math.max(...means.slice(0, PLAIN.length).map((m) => m[i])));
const figure = (value) => value.toFixed(3).replace("0.", ".");

async function printTable(sets) {
  const finders = [...PLAIN, Ours, ...BY_VECTORS.map(([, finder]) => finder)];
  const rows = [];
  for (const [kind, talks] of Object.entries(sets)) {
    const { count, means } = await meansOf(kind, talks, finders);
    const [recall, ndcg] = betterOf(means).map((plain, i) => means[PLAIN.length][i] - plain);
    const figures = means.flatMap((each) => each.map(figure));
    rows.push([kind, count, ...figures, figure(recall), figure(ndcg), Math.min(recall, ndcg)]);
  }
  rows.sort((a, b) => a.at(-1) - b.at(-1));
  const names = ["FTS5", "BM25", "Keepsake", ...BY_VECTORS.map(([name]) => name)];
  const header = names.flatMap((name) => [`${name}: recall@10`, "nDCG@10"]);
  console.log(
    table(
      ["", "questions", ...header, "ours − plain: recall@10", "nDCG@10"],
      rows.map((row) => row.slice(0, -1)),
    ),
  );
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
      const ours = new (embedder ? OursHybrid : Ours)();
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
async function writeData(sets, file) {
  const lines = [];
  for (const [kind, talks] of Object.entries(sets)) {
    const { means } = await meansOf(kind, talks, PLAIN);
    lines.push(`set\t${kind}\t${betterOf(means).join("\t")}`);
    for (const { items, questions } of talks.map(answeredOf)) {
      lines.push(
        "talk",
        ...items.map(({ key, value }) => `item\t${key}\t${JSON.stringify(value)}`),
      );
      for (const { text, gold, before = items.length } of questions) {
        lines.push(`question\t${text.replace(/\s+/g, " ")}\t${gold.join(",")}\t${before}`);
      }
    }
  }
  writeFileSync(file, lines.join("\n"));
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
const data = optionOf("data");
if (data !== undefined) await writeData(sets, data);
else if (process.argv.includes("--gate")) await printGate(sets);
else await printTable(sets);
