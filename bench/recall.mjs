// How many of the turns that answer a question are among the first five and ten hits.
//
//   node bench/recall.mjs --data=locomo10.json     or KEEPSAKE_RECALL_DATA=…
//   node bench/recall.mjs --data=dev.json,test.json --model   with a sentence encoder, too
//
// bench/recall-kinds.mjs asks the same of many kinds of text.
//
// With a model, the weight of the vectors is either the default, or fitted to all other
// conversations than the one it is measured on. A random embedder stands beside it.
//
// The data is read where it lies and is no part of the project (LoCoMo: CC BY-NC 4.0).
// Beside it two small sets of our own, in Chinese and in mixed languages.
import { readFileSync } from "node:fs";
import { InMemoryStore, SqliteStore } from "keepsake";
import { Bm25 } from "./bm25.mjs";
import { introduce, progress } from "./lib.mjs";
import { DIMS, noisyEncoder, randomEncoder, sentenceEncoder } from "./recall-model.mjs";

// The weights of the core were fitted to these; the others are held out.
const FITTED = new Set(["conv-26", "conv-30", "conv-41", "conv-42", "conv-43"]);
const CATEGORIES = {
  1: "multi-hop",
  2: "temporal",
  3: "open-domain",
  4: "single-hop",
  5: "adversarial",
};
const TEXT = {
  fields: { text: 1, caption: 0.7, date: 0 },
  group: "session",
  position: "turn",
  speaker: "speaker",
};
const INDEX_FIELDS = ["text", "caption"];
const VECTOR_WEIGHTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.7];
const K = 10;

function optionOf(name) {
  const prefix = `--${name}=`;
  return process.argv.find((argument) => argument.startsWith(prefix))?.slice(prefix.length);
}

// Nine evidence strings hold several turns, or none.
const turnsIn = (evidence) =>
  [...new Set(evidence.flatMap((e) => e.split(/[;\s]+/)))].filter(Boolean);

function conversationOf({ sample_id: id, conversation, qa }) {
  const turns = [];
  for (let session = 1; conversation[`session_${session}`]; session++) {
    conversation[`session_${session}`].forEach((turn, i) => {
      turns.push({
        key: turn.dia_id,
        value: {
          session,
          turn: i,
          speaker: turn.speaker,
          text: turn.text,
          ...(turn.blip_caption && { caption: turn.blip_caption }),
          date: conversation[`session_${session}_date_time`] ?? "",
        },
      });
    });
  }
  const questions = qa
    .map(({ question, category, evidence }) => ({
      question,
      category,
      evidence: turnsIn(evidence),
    }))
    .filter(({ evidence }) => evidence.length > 0);
  return { id, turns, questions };
}

// ---- the floor: BM25 with its usual parameters over lower-case words

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

function plainIndexOf(turns) {
  const index = new Bm25();
  for (const { key, value } of turns) {
    index.add(key, wordsOf(`${value.speaker} ${value.text} ${value.caption ?? ""}`));
  }
  return index;
}

// ---- ours: one store for all conversations, a namespace for each

async function fill(store, conversations) {
  for (const { id, turns } of conversations) {
    await store.batch(turns.map(({ key, value }) => ({ namespace: [id], key, value })));
  }
  return store;
}

const finder = (store, ranking) => async (conversation, query) => {
  const hits = await store.search([conversation.id], { query, limit: K, ranking });
  return hits.map(({ key }) => key);
};

// ---- measuring

class Recall {
  #sums = new Map();

  add(group, found, evidence) {
    const sum = this.#sums.get(group) ?? { questions: 0, at5: 0, at10: 0 };
    const share = (k) => evidence.filter((key) => found.slice(0, k).includes(key)).length;
    sum.questions += 1;
    sum.at5 += share(5) / evidence.length;
    sum.at10 += share(K) / evidence.length;
    this.#sums.set(group, sum);
  }

  get groups() {
    return [...this.#sums.keys()];
  }

  at10(group) {
    const { questions, at10 } = this.#sums.get(group);
    return at10 / questions;
  }

  questions(group) {
    return this.#sums.get(group).questions;
  }

  text(group) {
    const { questions, at5, at10 } = this.#sums.get(group);
    return `${(at5 / questions).toFixed(3)} / ${(at10 / questions).toFixed(3)}`;
  }
}

function groupsOf(conversation, question) {
  const isKnown = FITTED.has(conversation.id);
  return [
    "all",
    isKnown ? "conversations that the weights were fitted to" : "held-out conversations",
    CATEGORIES[question.category] ?? "other",
    conversation.id,
  ];
}

// A column is {name, find(conversation, question) → keys}.
async function measure(conversations, columns) {
  const recalls = new Map(columns.map(({ name }) => [name, new Recall()]));
  for (const conversation of conversations) {
    for (const { question, category, evidence } of conversation.questions) {
      progress(`${conversation.id}: ${question}`);
      for (const { name, find } of columns) {
        const found = await find(conversation, question);
        for (const group of groupsOf(conversation, { category })) {
          recalls.get(name).add(group, found, evidence);
        }
      }
    }
  }
  progress("");
  return recalls;
}

// For each conversation the weight that is best for the others.
async function fittedWeights(conversations, store) {
  const columns = VECTOR_WEIGHTS.map((vectorWeight) => ({
    name: vectorWeight,
    find: finder(store, { mode: "hybrid", vectorWeight }),
  }));
  const recalls = await measure(conversations, columns);
  const worth = (weight, but) =>
    conversations
      .filter(({ id }) => id !== but)
      .reduce((sum, { id, questions }) => sum + recalls.get(weight).at10(id) * questions.length, 0);
  return new Map(
    conversations.map(({ id }) => [
      id,
      VECTOR_WEIGHTS.reduce((best, weight) =>
        worth(weight, id) > worth(best, id) ? weight : best,
      ),
    ]),
  );
}

function print(title, columns) {
  const names = [...columns.keys()];
  const [first] = columns.values();
  console.log(`### ${title}\n\nrecall@5 / recall@10 of turns\n`);
  console.log(`| | questions | ${names.join(" | ")} |`);
  console.log(`|---|---|${names.map(() => "---").join("|")}|`);
  for (const group of first.groups.sort((a, b) => order(a) - order(b) || a.localeCompare(b))) {
    const cells = names.map((name) => columns.get(name).text(group));
    console.log(`| ${group} | ${first.questions(group)} | ${cells.join(" | ")} |`);
  }
  console.log();
}

const order = (group) => (group === "all" ? 0 : group.includes("conversations") ? 1 : 2);

function plainColumn(conversations) {
  const indexes = new Map(conversations.map(({ id, turns }) => [id, plainIndexOf(turns)]));
  return {
    name: "plain BM25",
    find: async ({ id }, question) => indexes.get(id).search(wordsOf(question), K),
  };
}

async function modelColumns(conversations, make) {
  const columns = [];
  const stores = [];
  for (const [name, embeddings] of Object.entries(await embedders())) {
    const index = { dims: DIMS, fields: INDEX_FIELDS, embeddings, cache: 0 };
    const store = await fill(make({ text: TEXT, index }), conversations);
    stores.push(store);
    columns.push({ name: `words and ${name}`, find: finder(store, { mode: "hybrid" }) });
    if (name !== "USE lite") continue;
    columns.push({ name: `${name} alone`, find: finder(store, { mode: "vector" }) });
    if (conversations.length < 2) continue;
    const weights = await fittedWeights(conversations, store);
    columns.push({
      name: `words and ${name}, weight fitted to the others`,
      find: (conversation, query) =>
        finder(store, { mode: "hybrid", vectorWeight: weights.get(conversation.id) })(
          conversation,
          query,
        ),
    });
  }
  return { columns, stores };
}

let encoder;
async function embedders() {
  encoder ??= await sentenceEncoder();
  return {
    "USE lite": encoder,
    random: randomEncoder,
    "USE lite, half noise": noisyEncoder(encoder, 0.5),
  };
}

async function run(title, samples) {
  const conversations = samples.map(conversationOf);
  const memory = await fill(new InMemoryStore({ text: TEXT }), conversations);
  const sqlite = await fill(new SqliteStore({ path: ":memory:", text: TEXT }), conversations);
  const modelled = process.argv.includes("--model")
    ? await modelColumns(conversations, (options) => new InMemoryStore(options))
    : { columns: [], stores: [] };
  const columns = [
    plainColumn(conversations),
    { name: "words", find: finder(memory, { mode: "text" }) },
    { name: "words, SqliteStore", find: finder(sqlite, { mode: "text" }) },
    ...modelled.columns,
  ];
  print(title, await measure(conversations, columns));
  await Promise.all([memory, sqlite, ...modelled.stores].map((store) => store.close()));
}

introduce("Recall", "Which turns of a conversation answer a question.");
const data = optionOf("data") ?? process.env.KEEPSAKE_RECALL_DATA;
if (data) {
  await run(
    "LoCoMo",
    data.split(",").flatMap((file) => JSON.parse(readFileSync(file, "utf8"))),
  );
} else {
  console.log("LoCoMo was left out: say where it lies with --data or KEEPSAKE_RECALL_DATA.\n");
}
const OURS = { Chinese: "chinese", "Mixed languages": "mixed" };
for (const [title, file] of Object.entries(OURS)) {
  const path = new URL(`recall-sets/${file}.json`, import.meta.url);
  await run(title, JSON.parse(readFileSync(path, "utf8")));
}
