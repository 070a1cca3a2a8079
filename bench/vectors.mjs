// Search by vector: our stores beside the official InMemoryStore, and with --peers beside
// vector indexes of others. A store's search is all of it, from the call to the items; a
// peer's answers numbers only. 1,000 and 10,000 vectors, with --full 100,000 too, with --size=
// any other number; --peers=usearch,sqlite-vec takes some, --glove words of GloVe, --model
// has the texts of --texts= embedded by Universal Sentence Encoder lite.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { InMemoryStore as OfficialInMemoryStore } from "@langchain/langgraph-checkpoint";
import { InMemoryStore, SqliteStore } from "keepsake";

import { inFolder, introduce, kilobytes, progress, quick, table, textsFile } from "./lib.mjs";
import { dot, makeVectors } from "./vector-data.mjs";
import { loadPeers } from "./vector-peers.mjs";

const has = (option) => process.argv.includes(option);
const numberOf = (option, otherwise) =>
  Number(process.argv.find((arg) => arg.startsWith(`${option}=`))?.split("=")[1] ?? otherwise);

const glove = has("--glove");
const DIMENSIONS = glove ? 100 : 512;
const K = 10;
const FULL = [1000, 10_000, 100_000];
const SIZES = numberOf("--size")
  ? [numberOf("--size")]
  : has("--full")
    ? FULL
    : FULL.slice(0, quick ? 1 : 2);
const QUERIES = quick ? 20 : 50;
const ROUNDS = 3;
// Of a subject's turn in a round, which ends early after it.
const TURN_MS = 1000;
const LEAST_QUERIES = 3;
const BATCH = 250;
const PUTS = 30;
// A peer whose build would take longer, as a smaller one tells, is left out.
const LONGEST_BUILD_MS = numberOf("--longest-build", 150) * 1000;
const RECALLS = [0.95, 0.99];
const PEER = "official InMemoryStore";

// What a namespace leaves of all, and what a filter on a field of the value leaves. Places go
// around from 0 to 999.
const SHARES = [0.5, 0.1, 0.01, 0.001];
const PLACES = 1000;
const GRAPH_WIDTHS = [64, 128, 160, 192, 256, 512];
const percent = (share) => `${share * 100} %`;
const ALL = { title: "all", namespace: [], share: 1 };
const SCOPES = [
  ALL,
  ...SHARES.map((share, i) => ({
    title: `namespace of ${percent(share)}`,
    namespace: ["a", "b", "c", "d"].slice(0, i + 1),
    share,
  })),
  ...SHARES.map((share) => ({
    title: `equality that leaves ${percent(share)}`,
    namespace: [],
    share,
    filter: { [`in${share}`]: true },
  })),
  ...SHARES.map((share) => ({
    title: `range that leaves ${percent(share)}`,
    namespace: [],
    share,
    filter: { place: { $lt: share * PLACES } },
    below: share * PLACES,
  })),
];

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

introduce(
  "Search by vector",
  `${DIMENSIONS} dimensions, the best ${K}, one thread.${textsFile ? "" : " Random vectors say how quick a search is, and little about recall."}`,
);
const peerNames = process.argv.find((arg) => arg.startsWith("--peers="))?.split("=")[1];
const peers = has("--peers") || peerNames ? await loadPeers(peerNames?.split(",")) : [];
const builds = new Map(); // a peer's last one: name → ms per vector
for (const size of SIZES) await inFolder((folder) => report(size, folder));

async function report(size, folder) {
  const data = await makeVectors({
    count: size,
    queries: QUERIES,
    dims: DIMENSIONS,
    file: textsFile,
    glove,
    model: has("--model"),
  });
  data.scores = data.queries.map((query) => data.vectors.map((vector) => dot(query, vector)));
  console.log(`### ${size} vectors\n\nVectors: ${data.description}.\n`);
  const index = { dims: DIMENSIONS, embeddings: embeddingsOf(data), fields: ["text"] };
  const path = join(folder, "keepsake.sqlite");
  const stores = [
    await storeSubject(PEER, () => new OfficialInMemoryStore({ index }), data),
    await storeSubject("InMemoryStore", () => new InMemoryStore({ index }), data),
    await storeSubject("SqliteStore, file", () => new SqliteStore({ path, index }), data),
  ];
  const others = [];
  for (const peer of peers) {
    const expectedMs = (builds.get(peer.name) ?? 0) * size * 1.5; // grows faster than they
    if (expectedMs < LONGEST_BUILD_MS) {
      await peerSubject(peer, data, folder).then(
        (subject) => others.push(subject),
        (error) =>
          console.log(`- ${peer.name} is left out: ${String(error.message).slice(0, 200)}`),
      );
    } else
      console.log(
        `- ${peer.name} is left out: it would be built for ${(expectedMs / 60_000).toFixed(0)} minutes.`,
      );
  }

  const rows = [];
  const timings = new Map(); // scope → by subject
  for (const scope of SCOPES) {
    progress(`${size}: ${scope.title}`);
    const subjects = scope.below ? [...stores, ...others.filter(({ filters }) => filters)] : stores;
    timings.set(
      scope,
      await measure(
        subjects.map((subject) => ({ subject, width: subject.wide })),
        scope,
        data,
      ),
    );
    rows.push([
      scope.title,
      ...timings
        .get(scope)
        .slice(0, stores.length)
        .map((own, i, [peer]) => cell(own, i > 0 && peer)),
    ]);
  }
  // Before the graph is there, which the planner would use.
  progress(`${size}: all`);
  const settings = [...stores, ...others].flatMap((subject) =>
    subject.widthFor.map((width, i) => ({ subject, width, recall: RECALLS[i] })),
  );
  const measured = await measure(settings, ALL, data);
  const [officialForAll] = timings.get(ALL);
  for (const row of await graphRows(stores.slice(1), data, officialForAll)) rows.push(row);
  console.log(
    `A cell is the time of one search and its recall@${K}; in brackets how many times as fast as the ${PEER}.\n`,
  );
  console.log(`${table(["", ...stores.map(({ name }) => name)], rows)}\n`);
  await finish(stores[2], path, index);
  const engines = [...stores, ...others].map((subject) => [
    subject.name,
    ...RECALLS.map((recall) => {
      const at = settings.findIndex((each) => each.subject === subject && each.recall === recall);
      const { ms, recall: reached } = measured[at] ?? {};
      if (ms === undefined || reached < recall) return "–";
      const width = settings[at].width;
      return `${perSecond(ms)} (${reached.toFixed(3)}${width ? `, ef ${width}` : ""})`;
    }),
    ...SCOPES.filter(({ below }) => below).map((scope) => {
      const found = timings.get(scope).find((timing) => timing.subject === subject);
      return found ? cell(found) : "–";
    }),
    `${(subject.buildMs / 1000).toFixed(1)} s`,
    kilobytes(subject.memory),
    subject.bytes === undefined ? "–" : kilobytes(subject.bytes),
    subject.openMs === undefined ? "–" : `${subject.openMs.toFixed(0)} ms`,
    subject.putMs === undefined ? "–" : `${subject.putMs.toFixed(2)} ms`,
  ]);
  const header = [
    "",
    ...RECALLS.map((recall) => `queries/s, recall ≥ ${recall}`),
    ...SHARES.map((share) => `filter, ${percent(share)}`),
    "build",
    "memory",
    "on disk",
    "open",
    "durable put",
  ];
  if (others.length > 0) console.log(`${table(header, engines)}\n`);
  else
    console.log(
      `${table(
        ["", ...header.slice(7)],
        engines.map(([name, ...cells]) => [name, ...cells.slice(6)]),
      )}\n`,
    );
  for (const { close } of [...stores, ...others]) await close?.();
}

// All of them again, by a graph that was built first.
async function graphRows(stores, data, peer) {
  const seconds = [];
  for (const { name, buildIndex } of stores) {
    progress(`${data.vectors.length}: the graph of ${name}`);
    const start = performance.now();
    await buildIndex();
    seconds.push(((performance.now() - start) / 1000).toFixed(1));
  }
  const rows = [["all: the graph is built", "", ...seconds.map((each) => `${each} s`)]];
  for (const width of [undefined, ...GRAPH_WIDTHS]) {
    const candidates = stores.map((subject) => ({ subject, width }));
    const measured = await measure(candidates, ALL, data);
    const how = width === undefined ? "as the planner runs it" : `by the graph, ef ${width}`;
    rows.push([`all, ${how}`, "", ...measured.map((own) => cell(own, peer))]);
  }
  return rows;
}

function cell({ ms, recall }, peer) {
  const text = `${ms.toFixed(3)} ms, ${recall.toFixed(3)}`;
  return peer ? `${text} (×${(peer.ms / ms).toFixed(1)})` : text;
}

function perSecond(ms) {
  return ms < 0.1 ? `${(1 / ms).toFixed(1)}k` : (1000 / ms).toFixed(ms < 10 ? 0 : 1);
}

// Candidates take turns; the best round of each counts.
async function measure(candidates, scope, data) {
  const truths = data.queries.map((_, i) => truthOf(i, data, scope));
  const best = candidates.map(({ subject }) => ({
    subject,
    ms: Number.POSITIVE_INFINITY,
    recall: 0,
  }));
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < candidates.length; i++) {
      const at = (i + round) % candidates.length;
      const { subject, width } = candidates[at];
      const { ms, recall } = await takeTurn(subject, width, scope, data.queries, truths);
      best[at].ms = Math.min(best[at].ms, ms);
      best[at].recall = recall;
    }
  }
  return best;
}

async function takeTurn(subject, width, scope, queries, truths) {
  const answers = [];
  const start = performance.now();
  for (let i = 0; i < queries.length; i++) {
    answers.push(await subject.search(i, queries[i], scope, width));
    if (i + 1 >= LEAST_QUERIES && performance.now() - start > TURN_MS) break;
  }
  const ms = (performance.now() - start) / answers.length;
  let hits = 0;
  let wanted = 0;
  answers.forEach((ids, i) => {
    hits += ids.filter((id) => truths[i].has(id)).length;
    wanted += truths[i].size;
  });
  return { ms, recall: hits / wanted };
}

function truthOf(query, { scores }, scope) {
  const ids = [];
  for (let id = 0; id < scores[query].length; id++)
    if (id % PLACES < scope.share * PLACES) ids.push(id);
  ids.sort((a, b) => scores[query][b] - scores[query][a]);
  return new Set(ids.slice(0, K));
}

// Nested namespaces, so that one data set has all shares.
function namespaceOf(id) {
  const depth = SHARES.filter((share) => id % PLACES < share * PLACES).length;
  return depth > 0 ? ["a", "b", "c", "d"].slice(0, depth) : ["z"];
}

function itemValue(id) {
  const place = id % PLACES;
  const shares = SHARES.map((share) => [`in${share}`, place < share * PLACES]);
  return { text: `v${id}`, place, ...Object.fromEntries(shares) };
}

async function storeSubject(name, open, { vectors }) {
  progress(`${vectors.length}: ${name}`);
  const {
    result: store,
    ms,
    memory,
  } = await built(async () => {
    const made = open();
    for (let first = 0; first < vectors.length; first += BATCH) {
      await made.batch(
        Array.from({ length: Math.min(BATCH, vectors.length - first) }, (_, i) => ({
          namespace: namespaceOf(first + i),
          key: String(first + i),
          value: itemValue(first + i),
        })),
      );
    }
    return made;
  });
  return {
    name,
    buildMs: ms,
    memory,
    widthFor: RECALLS.map(() => undefined),
    buildIndex: () => store.buildIndex(),
    search: async (i, _, { namespace, filter }, efSearch) => {
      const ranking = efSearch && { plan: "graph", efSearch };
      const items = await store.search(namespace, { query: `q${i}`, limit: K, filter, ranking });
      return items.map((item) => Number(item.key));
    },
    close: () => store.close?.(),
  };
}

// What a file takes, how long it takes to open it and find something, and what one more costs.
async function finish(subject, path, index) {
  await subject.close();
  subject.close = undefined;
  subject.bytes = folderBytes(path);
  const start = performance.now();
  const store = new SqliteStore({ path, index, durability: "strict" });
  await store.search([], { query: "q0", limit: K });
  subject.openMs = performance.now() - start;
  const times = [];
  for (let i = 0; i < PUTS; i++) {
    const before = performance.now();
    await store.put(["a"], `new${i}`, itemValue(i));
    times.push(performance.now() - before);
  }
  subject.putMs = times.sort((a, b) => a - b)[PUTS / 2];
  await store.close();
}

function folderBytes(path) {
  const folder = join(path, "..");
  return readdirSync(folder)
    .filter((name) => name.startsWith("keepsake.sqlite"))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

async function peerSubject(peer, data, folder) {
  const { vectors, queries } = data;
  progress(`${vectors.length}: ${peer.name}`);
  const {
    result: index,
    ms,
    memory,
  } = await built(async () => {
    const made = await peer.open(DIMENSIONS, vectors.length, folder);
    for (let id = 0; id < vectors.length; id++) await made.add(id, vectors[id], id % PLACES);
    await made.finish?.();
    return made;
  });
  builds.set(peer.name, ms / vectors.length);
  const subject = {
    name: peer.name,
    filters: peer.filters,
    buildMs: ms,
    memory,
    search: (_, query, scope, width) => index.search(query, K, width, scope.below),
    close: index.close,
  };
  subject.bytes = index.save?.();
  if (index.load) {
    const start = performance.now();
    index.load();
    subject.openMs = performance.now() - start;
  }
  // The least width of each recall.
  const truths = queries.map((_, i) => truthOf(i, data, ALL));
  const recalls = [];
  for (const width of peer.widths ?? [undefined]) {
    const { recall } = await takeTurn(subject, width, ALL, queries, truths);
    recalls.push({ width, recall });
    if (recall >= RECALLS[1]) break;
  }
  subject.widthFor = RECALLS.map(
    (least) => (recalls.find(({ recall }) => recall >= least) ?? recalls.at(-1)).width,
  );
  subject.wide = subject.widthFor[1];
  return subject;
}

async function built(make) {
  collectGarbage();
  const before = process.memoryUsage().rss;
  const start = performance.now();
  const result = await make();
  const ms = performance.now() - start;
  collectGarbage();
  return { result, ms, memory: Math.max(0, process.memoryUsage().rss - before) };
}

// Embedding costs nothing here, so that search is what is measured.
function embeddingsOf({ vectors, queries }) {
  const asked = queries.map((query) => Array.from(query));
  const embed = (text) => {
    const i = Number(text.slice(1));
    return text.startsWith("q") ? asked[i] : Array.from(vectors[i]);
  };
  return {
    embedDocuments: async (texts) => texts.map(embed),
    embedQuery: async (text) => embed(text),
  };
}
