// Search by vector: our stores beside the official InMemoryStore, and with --peers beside
// vector indexes of others. A store's search is all of it, from the call to the items; a
// peer's answers numbers only. 100,000 vectors with --large.
import { join } from "node:path";
import { InMemoryStore as OfficialInMemoryStore } from "@langchain/langgraph-checkpoint";
import { InMemoryStore, SqliteStore } from "keepsake";

import { inFolder, introduce, quick, table, textsFile } from "./lib.mjs";
import { dot, makeVectors } from "./vector-data.mjs";
import { loadPeers } from "./vector-peers.mjs";

const DIMENSIONS = 512;
const K = 10;
const SIZES = process.argv.includes("--large") ? [100_000] : quick ? [1000] : [1000, 10_000];
const QUERIES = quick ? 20 : 50;
const ROUNDS = 3;
const BATCH = 100;
const PEER = "official InMemoryStore";
// What a namespace leaves of all, and what a filter on a field of the value leaves.
const SCOPES = [
  { title: "all", namespace: [], share: 1 },
  { title: "namespace of 50 %", namespace: ["a"], share: 0.5 },
  { title: "namespace of 10 %", namespace: ["a", "b"], share: 0.1 },
  { title: "namespace of 1 %", namespace: ["a", "b", "c"], share: 0.01 },
  { title: "namespace of 0.1 %", namespace: ["a", "b", "c", "d"], share: 0.001 },
  { title: "filter that leaves 50 %", namespace: [], share: 0.5, filters: true },
  { title: "filter that leaves 10 %", namespace: [], share: 0.1, filters: true },
  { title: "filter that leaves 1 %", namespace: [], share: 0.01, filters: true },
  { title: "filter that leaves 0.1 %", namespace: [], share: 0.001, filters: true },
];

introduce(
  "Search by vector",
  `${DIMENSIONS} dimensions, the best ${K}, one thread. A cell is the time of one search and its ` +
    `recall@${K}; in brackets how many times as fast as the official InMemoryStore.`,
);
await inFolder(async (folder) => {
  const peers = process.argv.includes("--peers") ? await loadPeers(folder) : [];
  for (const size of SIZES) await report(size, peers, folder);
});

async function report(size, peers, folder) {
  const data = makeVectors({
    count: size,
    queries: QUERIES,
    dims: DIMENSIONS,
    file: textsFile,
  });
  const embeddings = embeddingsOf(data);
  const index = { dims: DIMENSIONS, embeddings, fields: ["text"] };
  const subjects = [
    await storeSubject(PEER, new OfficialInMemoryStore({ index }), data),
    await storeSubject("InMemoryStore", new InMemoryStore({ index }), data),
    await storeSubject(
      "SqliteStore, file",
      new SqliteStore({ path: join(folder, `${size}.sqlite`), index }),
      data,
    ),
  ];
  for (const peer of peers) subjects.push(await peerSubject(peer, data));

  console.log(`### ${size} vectors\n\nVectors: ${data.description}.\n`);
  const rows = [];
  for (const scope of SCOPES) rows.push([scope.title, ...(await measure(scope, subjects, data))]);
  const built = ["build", ...subjects.map(({ buildMs }) => `${(buildMs / 1000).toFixed(2)} s`)];
  console.log(`${table(["", ...subjects.map(({ name }) => name)], [...rows, built])}\n`);
  for (const { close } of subjects) await close?.();
}

// Candidates take turns, query by query; the best round of each counts.
async function measure(scope, subjects, { vectors, queries }) {
  const truths = queries.map((query) => truthOf(query, vectors, scope));
  const best = subjects.map(() => Number.POSITIVE_INFINITY);
  const found = subjects.map(() => 0);
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < subjects.length; i++) {
      const at = (i + round) % subjects.length;
      if (subjects[at].isStore || scope.share === 1) {
        const { ms, hits } = await runQueries(subjects[at], scope, queries, truths);
        best[at] = Math.min(best[at], ms);
        found[at] = hits;
      }
    }
  }
  const wanted = truths.reduce((sum, truth) => sum + truth.size, 0);
  return subjects.map((_, i) => {
    if (!Number.isFinite(best[i])) return "–";
    const speedup = i === 0 ? "" : ` (×${(best[0] / best[i]).toFixed(1)})`;
    return `${(best[i] / queries.length).toFixed(3)} ms, ${(found[i] / wanted).toFixed(3)}${speedup}`;
  });
}

async function runQueries(subject, scope, queries, truths) {
  let hits = 0;
  const answers = [];
  const start = performance.now();
  for (let i = 0; i < queries.length; i++) answers.push(await subject.search(i, queries[i], scope));
  const ms = performance.now() - start;
  answers.forEach((ids, i) => {
    hits += ids.filter((id) => truths[i].has(id)).length;
  });
  return { ms, hits };
}

function isIn(id, scope) {
  return id % 1000 < scope.share * 1000;
}

function truthOf(query, vectors, scope) {
  const scored = [];
  vectors.forEach((vector, id) => {
    if (isIn(id, scope)) scored.push([dot(query, vector), id]);
  });
  scored.sort((a, b) => b[0] - a[0]);
  return new Set(scored.slice(0, K).map(([, id]) => id));
}

// Nested namespaces, so that one data set has all shares.
function namespaceOf(id) {
  const depth = [500, 100, 10, 1].filter((end) => id % 1000 < end).length;
  return depth > 0 ? ["a", "b", "c", "d"].slice(0, depth) : ["z"];
}

async function storeSubject(name, store, { vectors }) {
  const start = performance.now();
  for (let first = 0; first < vectors.length; first += BATCH) {
    await store.batch(
      Array.from({ length: Math.min(BATCH, vectors.length - first) }, (_, i) => ({
        namespace: namespaceOf(first + i),
        key: String(first + i),
        value: { text: `v${first + i}`, place: (first + i) % 1000 },
      })),
    );
  }
  return {
    name,
    isStore: true,
    buildMs: performance.now() - start,
    search: async (i, _, { namespace, share, filters }) => {
      const filter = filters ? { place: { $lt: share * 1000 } } : undefined;
      const items = await store.search(namespace, { query: `q${i}`, limit: K, filter });
      return items.map((item) => Number(item.key));
    },
    close: () => store.close?.(),
  };
}

async function peerSubject({ name, open }, { vectors }) {
  const start = performance.now();
  const index = open(DIMENSIONS, vectors.length);
  for (let id = 0; id < vectors.length; id++) await index.add(id, vectors[id]);
  index.finish?.();
  return {
    name,
    buildMs: performance.now() - start,
    search: async (_, query) => index.search(query, K),
  };
}

// Embedding costs nothing here, so that search is what is measured.
function embeddingsOf({ vectors, queries }) {
  const arrays = { v: vectors.map((v) => Array.from(v)), q: queries.map((v) => Array.from(v)) };
  const embed = (text) => arrays[text[0]][Number(text.slice(1))];
  return {
    embedDocuments: async (texts) => texts.map(embed),
    embedQuery: async (text) => embed(text),
  };
}
