// A Durable Object's memory in workerd: ours, a saver and store written by hand over
// `ctx.storage.sql`, and LangGraph's own in memory. Times are of requests, less those of an
// empty one; rows are what Cloudflare bills.

import { bundleWorker } from "../tests/edge/support/bundle.mjs";
import { startWorkerd } from "../tests/edge/support/workerd.mjs";
import { introduce, quick, table } from "./lib.mjs";

const STEPS = 50;
const ROUNDS = quick ? 5 : 15;
const COUNT = quick ? 100 : 400;
const CANDIDATES = ["keepsake", "hand-written", "in memory"];
const OPERATIONS = {
  supersteps: { count: STEPS, label: `superstep of ${STEPS}` },
  resume: { count: 100, label: "getTuple of the last one" },
  puts: { count: COUNT, label: "put of 1 KB, each a commit" },
  gets: { count: COUNT, label: "get" },
  searches: { count: COUNT, label: "search, newest 10" },
};

const bundle = await bundleWorker("bench/edge/worker.mjs", { minify: true });
const workerd = await startWorkerd("bench", { classes: { CANDIDATE: "Candidate" }, bundle });

async function call(name, method, ...args) {
  const start = performance.now();
  const response = await workerd.miniflare.dispatchFetch("http://bench/", {
    method: "POST",
    body: JSON.stringify({ name, method, args }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${name} ${method}: ${text}`);
  return { ms: performance.now() - start, answer: JSON.parse(text) };
}

const LEAST = Number.POSITIVE_INFINITY;
const best = Object.fromEntries(CANDIDATES.map((name) => [name, {}]));
let empty = LEAST;
for (const name of CANDIDATES) await call(name, "open", name);
for (let round = 0; round < ROUNDS; round++) {
  for (let i = 0; i < CANDIDATES.length; i++) {
    const name = CANDIDATES[(i + round) % CANDIDATES.length];
    empty = Math.min(empty, (await call(name, "bytes")).ms);
    for (const [operation, { count }] of Object.entries(OPERATIONS)) {
      const { ms } = await call(name, operation, count);
      best[name][operation] = Math.min(best[name][operation] ?? LEAST, ms);
    }
  }
}
for (const timings of Object.values(best)) {
  for (const [operation, { count }] of Object.entries(OPERATIONS))
    timings[operation] = (timings[operation] - empty) / count;
}

introduce("On the edge", "One call in workerd, on the clock; the best round of each.");
const ratio = (operation, name) =>
  (best[name][operation] / best["hand-written"][operation]).toFixed(2);
console.log(
  table(
    ["", ...CANDIDATES],
    Object.entries(OPERATIONS).map(([operation, { label }]) => [
      label,
      ...CANDIDATES.map(
        (name) => `${best[name][operation].toFixed(3)} ms (×${ratio(operation, name)})`,
      ),
    ]),
  ),
);

console.log("\n### Rows that are billed\n\nRead + written, for each call.\n");
const rows = {};
for (const name of CANDIDATES.slice(0, 2)) {
  rows[name] = {};
  for (const [operation, { count }] of Object.entries(OPERATIONS)) {
    const { answer } = await call(name, "rows", operation, count);
    rows[name][operation] =
      `${(answer.read / count).toFixed(1)} + ${(answer.written / count).toFixed(1)}`;
  }
}
console.log(
  table(
    ["", ...CANDIDATES.slice(0, 2)],
    Object.entries(OPERATIONS).map(([operation, { label }]) => [
      label,
      ...CANDIDATES.slice(0, 2).map((name) => rows[name][operation]),
    ]),
  ),
);

const ITEMS = quick ? 3_000 : 30_000;
const rare = { filter: { kind: "rare" } };
await call("filters", "open", "keepsake");
await call("filters", "fill", ITEMS);
const searches = [];
for (const [label, options] of [
  ["the first filter of a field", rare],
  ["the second, which makes its column", rare],
  ["every later one", rare],
  ["what contains a text", { query: `${ITEMS - 1} a sent`, ranking: { mode: "contains" } }],
]) {
  const { ms, answer } = await call("filters", "found", options);
  const { hits, read, written } = answer;
  searches.push([label, hits, (ms - empty).toFixed(1), read, written]);
}
console.log(`\n### Filters over ${ITEMS} items\n`);
console.log(table(["", "hits", "ms", "rows read", "rows written"], searches));
await workerd.kill();
