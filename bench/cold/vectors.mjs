// One process of bench/cold.mjs: `make` fills a file with vectors; `ask` opens it again.
//
//   node bench/cold/vectors.mjs make|ask candidate size path

import Database from "better-sqlite3";
import { openMemory } from "keepsake";
import { at } from "../search-texts.mjs";
import { makeVectors } from "../vector-data.mjs";

const [phase, candidate, size, path] = process.argv.slice(2);
const DIMS = 384;
const QUESTIONS = 20;
const BATCH = 500;
const NAMESPACES = 50;
const IDLE_MS = 1_000;

const { vectors, queries } = await makeVectors({
  count: phase === "make" ? Number(size) : 1,
  queries: QUESTIONS,
  dims: DIMS,
});

const CANDIDATES = {
  async Keepsake() {
    const vectorOf = (text) => (text.startsWith("?") ? queries[text.slice(1)] : vectors[text]);
    const embeddings = async (texts) => texts.map(vectorOf);
    const memory = await openMemory({ path, index: { dims: DIMS, embeddings } });
    const itemOf = (i) => ({
      namespace: ["n", String(i % NAMESPACES)],
      key: String(i),
      value: { text: String(i) },
      index: ["text"],
    });
    return {
      async fill() {
        for (let from = 0; from < vectors.length; from += BATCH) {
          const count = Math.min(BATCH, vectors.length - from);
          await memory.store.batch(Array.from({ length: count }, (_, i) => itemOf(from + i)));
        }
      },
      ask: (number) => memory.store.search(["n"], { query: `?${number}` }),
      close: () => memory.close(),
    };
  },

  "rows by hand"() {
    const db = new Database(path);
    db.pragma("journal_mode = wal");
    db.exec("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, text TEXT, vector BLOB)");
    const insert = db.prepare("INSERT INTO t(text, vector) VALUES(?, ?)");
    const all = db.prepare("SELECT id, vector FROM t");
    return {
      fill: db.transaction(() => {
        vectors.forEach((vector, i) => {
          insert.run(String(i), Buffer.from(Float32Array.from(vector).buffer));
        });
      }),
      ask(number) {
        const vector = queries[number];
        const best = [];
        for (const { id, vector: blob } of all.iterate()) {
          const row = new Float32Array(blob.buffer.slice(blob.byteOffset), 0, DIMS);
          let score = 0;
          for (let i = 0; i < DIMS; i++) score += row[i] * vector[i];
          best.push({ id, score });
        }
        return best.sort((a, b) => b.score - a.score).slice(0, 10);
      },
      close: () => db.close(),
    };
  },
};

/** [CPU ms, ms on the clock] */
async function timeOf(body) {
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  await body();
  const { user, system } = process.cpuUsage(cpu);
  return [(user + system) / 1000, performance.now() - began];
}

const subject = await CANDIDATES[candidate]();
const answer = {};
if (phase === "make") await subject.fill();
else {
  answer.first = await timeOf(() => subject.ask(0));
  answer.second = await timeOf(() => subject.ask(1));
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const times = [];
  for (let i = 2; i < QUESTIONS; i++) times.push(await timeOf(() => subject.ask(i)));
  answer.later = [0, 1].map((part) =>
    at(
      times.map((time) => time[part]),
      0.5,
    ),
  );
}
await subject.close();
console.log(JSON.stringify(answer));
