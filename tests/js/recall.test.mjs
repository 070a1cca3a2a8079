// A ratchet: what answers a question stays where it is found, over each kind of text. The floors
// are what the ranking has; raise them when it gains. bench/recall-kinds.mjs has large sets.
import { readFileSync } from "node:fs";
import { InMemoryStore } from "keepsake";
import { TEXTS } from "./support/recall-texts.mjs";

const K = 3;
const FLOORS = {
  "one-line turns": 0.66,
  "real chat": 0.71,
  "long answers": 1,
  "code and lists": 1,
  notes: 1,
  documents: 1,
  German: 1,
  Chinese: 1,
  Arabic: 1,
  mixed: 0.85,
  "bench: Chinese": 0.95,
  "bench: mixed languages": 0.93,
};

/** The texts of bench/recall-sets, which are written as conversations. */
function ofBench(name) {
  const file = new URL(`../../bench/recall-sets/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")).map(({ conversation, qa }) => {
    const turns = [];
    for (let i = 1; conversation[`session_${i}`]; i++) turns.push(...conversation[`session_${i}`]);
    const numbers = new Map(turns.map(({ dia_id }, i) => [dia_id, i]));
    return {
      values: turns.map(({ speaker, text }) => ({ speaker, text })),
      questions: qa
        .map(({ question, evidence }) => [
          question,
          evidence.flatMap((all) => all.split(/[;\s]+/)).map((id) => numbers.get(id)),
        ])
        .filter(([, answers]) => answers.length > 0),
    };
  });
}

const SETS = {
  ...Object.fromEntries(Object.entries(TEXTS).map(([name, text]) => [name, [text]])),
  "bench: Chinese": ofBench("chinese"),
  "bench: mixed languages": ofBench("mixed"),
};

async function recallOf({ values, questions, language = "english" }) {
  await using store = new InMemoryStore({ text: { language } });
  await store.batch(values.map((value, i) => ({ namespace: ["t"], key: String(i), value })));
  let sum = 0;
  for (const [query, answers] of questions) {
    const hits = await store.search(["t"], { query, limit: K });
    const found = answers.filter((i) => hits.some(({ key }) => key === String(i)));
    sum += found.length / answers.length;
  }
  return { sum, count: questions.length };
}

test("every kind of text has a floor", () => {
  expect(Object.keys(FLOORS)).toEqual(Object.keys(SETS));
});

test.each(Object.entries(SETS))("%s: answers are among the first three", async (name, texts) => {
  let all = 0;
  let found = 0;
  for (const text of texts) {
    const { sum, count } = await recallOf(text);
    found += sum;
    all += count;
  }
  const recall = Math.floor((100 * found) / all) / 100;
  expect(recall).toBeGreaterThanOrEqual(FLOORS[name]);
});
