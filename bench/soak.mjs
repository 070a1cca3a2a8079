// What memory does over time: a million mixed operations on one open memory in a file and one
// store in memory, then 10,000 times opened and closed, all in one process. A tenth at a time.
// `--operations` or `--openings` is one of the two alone.

import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { inFolder, introduce, quick, seededRandom, table } from "./lib.mjs";

const hasOperations = !process.argv.includes("--openings");
const hasOpenings = !process.argv.includes("--operations");
const OPERATIONS = quick ? 20_000 : 1_000_000;
const OPENINGS = quick ? 200 : 10_000;
const PARTS = 10;
// What there is stays bounded, so that whatever grows is a leak.
const KEYS = 500;
const THREADS = 50;
const KEPT_CHECKPOINTS = 5;
const DIMS = 16;

// Linear memory is that of every instance which is still there.
const instances = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(module, imports) {
    super(module, imports);
    const memory = Object.values(this.exports).find((one) => one instanceof WebAssembly.Memory);
    if (memory !== undefined) instances.push(new WeakRef(memory));
  }
};
const { InMemoryStore, openMemory } = await import("keepsake");

const random = seededRandom(17);
const pick = (count) => Math.floor(random() * count);
const vectorOf = () => Array.from({ length: DIMS }, () => random() - 0.5);
const index = { dims: DIMS, embeddings: (texts) => texts.map(vectorOf), fields: ["text"] };

function noteOf(n) {
  return { text: `the ${n}th note of ${"many words ".repeat(1 + pick(20))}`, n, tag: `t${n % 7}` };
}

const operations = [
  [32, ({ store }) => store.put(["n", `${pick(5)}`], `k${pick(KEYS)}`, noteOf(pick(1e6)))],
  [30, ({ store }) => store.get(["n", `${pick(5)}`], `k${pick(KEYS)}`)],
  [12, ({ store }) => store.delete(["n", `${pick(5)}`], `k${pick(KEYS)}`)],
  [4, ({ store }) => store.search(["n", `${pick(5)}`], { limit: 5, filter: { tag: "t3" } })],
  [
    1,
    ({ store }) =>
      store.search(["n"], { query: "note of many", ranking: { mode: "text" }, limit: 5 }),
  ],
  [2, ({ store }) => store.search(["n"], { query: "note", ranking: { mode: "vector" }, limit: 5 })],
  [13, putCheckpoint],
  [5, ({ checkpointer }) => checkpointer?.getTuple(configOf(pick(THREADS)))],
  [1, ({ checkpointer }) => checkpointer?.prune({ keepLast: KEPT_CHECKPOINTS })],
];
const wheel = operations.flatMap(([share, run]) => Array.from({ length: share }, () => run));

function configOf(thread) {
  return { configurable: { thread_id: `${thread}`, checkpoint_ns: "" } };
}

async function putCheckpoint({ checkpointer }) {
  if (checkpointer === undefined) return;
  const config = configOf(pick(THREADS));
  const checkpoint = { ...emptyCheckpoint(), id: uuid6(pick(1000)), ts: new Date().toISOString() };
  checkpoint.channel_values = { messages: Array.from({ length: 10 }, (_, i) => `line ${i}`) };
  checkpoint.channel_versions = { messages: 1 };
  const metadata = { source: "loop", step: 1, parents: {} };
  await checkpointer.put(config, checkpoint, metadata, { messages: 1 });
  if (pick(KEPT_CHECKPOINTS) === 0) await checkpointer.deleteThread(config.configurable.thread_id);
}

const megabytes = (bytes) => (bytes / 2 ** 20).toFixed(1);

/** After a collection, if there is a collector to call. */
async function measure(done, begun) {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await setImmediate();
  }
  const { rss, heapUsed } = process.memoryUsage();
  const alive = instances.map((one) => one.deref()).filter((memory) => memory !== undefined);
  const linear = alive.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  return [
    `${done}`,
    megabytes(rss),
    megabytes(heapUsed),
    megabytes(linear),
    `${alive.length}`,
    seconds,
  ];
}

async function soak(count, once) {
  const begun = performance.now();
  const rows = [await measure(0, begun)];
  for (let part = 1; part <= PARTS; part++) {
    for (let i = 0; i < count / PARTS; i++) {
      await once(i);
      if (i % 100 === 0) await setImmediate();
    }
    rows.push(await measure((count / PARTS) * part, begun));
    process.stderr.write(`${rows.at(-1).join(" ")}\n`);
  }
  return rows;
}

const header = ["done", "RSS", "heap", "linear memory", "instances", "s"];

async function soakOperations(path) {
  const memory = await openMemory({ path, index });
  const store = new InMemoryStore({ index });
  const tiers = [memory, { store }];
  const rows = await soak(OPERATIONS, (i) => wheel[pick(wheel.length)](tiers[i % 4 === 0 ? 1 : 0]));
  console.log(`${OPERATIONS} operations\n\n${table(header, rows)}\n`);
  await Promise.all([memory.close(), store.close()]);
}

async function soakOpenings(path) {
  const rows = await soak(OPENINGS, async (i) => {
    const memory = await openMemory({ path: i % 2 === 0 ? path : ":memory:", index });
    await memory.store.put(["cycle"], `k${i % 10}`, { text: "again" });
    await memory.close();
  });
  console.log(`${OPENINGS} times opened, written to and closed\n\n${table(header, rows)}\n`);
}

introduce("Soak", "MB after each tenth; with --expose-gc what is no garbage.");
await inFolder(async (folder) => {
  const path = join(folder, "soak.db");
  if (hasOperations) await soakOperations(path);
  if (hasOpenings) await soakOpenings(path);
});
