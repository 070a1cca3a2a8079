// A memory in a bucket: what a chat of 200 turns sends, with one process and with a new one for each
// turn; and how long a function that begins cold takes for its first call, by the size of the memory.
//
//   node bench/bucket.mjs [--quick]
//
// The store is in memory, behind a delay like that of an object store in the same region: 15 ms for
// each request, and 60 MB/s. The peer puts each checkpoint and each list of writes as an object.

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { MemorySaver as OfficialMemorySaver } from "@langchain/langgraph-checkpoint";
import { openMemory } from "keepsake";
import { customBucket } from "keepsake/bucket";
import { removeTemporaryFolders, temporaryFolder } from "../tests/js/support/temporary.mjs";
import { introduce, kilobytes, quick, seededRandom, table } from "./lib.mjs";

const REQUEST_MS = 15;
const BYTES_PER_MS = 60_000;
const TURNS = quick ? 20 : 200;
const SIZES_MB = quick ? [1] : [1, 10, 100];

introduce(
  "A memory in a bucket",
  `The store answers after ${REQUEST_MS} ms, and transfers 60 MB a second.`,
);

function delayedBucket(delay = REQUEST_MS) {
  const objects = new Map();
  const sent = { requests: 0, up: 0, down: 0 };
  const pass = async (bytes) => {
    sent.requests++;
    if (delay > 0) await sleep(delay + bytes / BYTES_PER_MS);
  };
  const port = {
    async get(key, range) {
      const whole = objects.get(key);
      const bytes = range ? whole?.slice(range.from, range.to) : whole;
      sent.down += bytes?.length ?? 0;
      await pass(bytes?.length ?? 0);
      return bytes;
    },
    async create(key, bytes) {
      sent.up += bytes.length;
      await pass(bytes.length);
      if (objects.has(key)) return false;
      objects.set(key, bytes.slice());
      return true;
    },
    async list(prefix, { after = "", limit = 1000 } = {}) {
      await pass(0);
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after);
      return keys.sort().slice(0, limit);
    },
    async delete(key) {
      await pass(0);
      objects.delete(key);
    },
  };
  return { bucket: customBucket(port, "a store with a delay"), sent, objects };
}

/** The simplest saver of its kind: what the official one in memory has, an object each. */
class SaverOfObjects extends OfficialMemorySaver {
  constructor(sent) {
    super();
    this.sent = sent;
  }

  async put(config, checkpoint, metadata, versions) {
    const [, bytes] = await this.serde.dumpsTyped(checkpoint);
    this.sent.requests++;
    this.sent.up += bytes.length;
    return super.put(config, checkpoint, metadata, versions);
  }

  async putWrites(config, writes, taskId) {
    const [, bytes] = await this.serde.dumpsTyped(writes);
    this.sent.requests++;
    this.sent.up += bytes.length;
    return super.putWrites(config, writes, taskId);
  }

  async getTuple(config) {
    this.sent.requests++;
    return super.getTuple(config);
  }
}

const random = seededRandom(7);
const WORDS = "the a of to in tea garden piano river letter Monday quiet under seven blue".split(
  " ",
);
const sentence = (words) =>
  Array.from({ length: words }, () => WORDS[Math.floor(random() * WORDS.length)]).join(" ");

function graphOver(checkpointer) {
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", () => ({ messages: [new AIMessage(sentence(60))] }))
    .addEdge(START, "agent")
    .compile({ checkpointer });
}

async function chat(open) {
  let steps = 0;
  const begin = performance.now();
  for (let turn = 0; turn < TURNS; turn++) {
    const { checkpointer, done } = await open();
    const graph = graphOver(checkpointer);
    const thread = { configurable: { thread_id: "1" } };
    await graph.invoke({ messages: [new HumanMessage(sentence(20))] }, thread);
    steps += 3; // the input, the start and the agent: a checkpoint each
    await done();
  }
  return { steps, ms: performance.now() - begin };
}

const rows = [];
const report = (name, sent, { steps, ms }) =>
  rows.push([
    name,
    sent.requests,
    (sent.requests / steps).toFixed(2),
    kilobytes(sent.up),
    kilobytes(sent.down),
    (ms / TURNS).toFixed(1),
  ]);

{
  const { bucket, sent } = delayedBucket();
  const memory = await openMemory({ bucket, name: "chat" });
  report(
    "one process",
    sent,
    await chat(async () => ({
      ...memory,
      checkpointer: memory.checkpointer,
      done: async () => {},
    })),
  );
  await memory.close();
}
{
  const { bucket, sent } = delayedBucket();
  const outcome = await chat(async () => {
    const memory = await openMemory({ bucket, name: "chat" });
    return { checkpointer: memory.checkpointer, done: () => memory.close() };
  });
  report("a new function each turn", sent, outcome);
}
{
  const { bucket, sent } = delayedBucket();
  const sync = { bucket, name: "chat", everyMs: 0 };
  const path = join(temporaryFolder(), "device.db");
  const memory = await openMemory({ path, sync });
  const outcome = await chat(async () => ({
    checkpointer: memory.checkpointer,
    done: () => memory.sync(),
  }));
  report("a device, in step after each turn", sent, outcome);
  await memory.close();
  removeTemporaryFolders();
}
{
  const sent = { requests: 0, up: 0, down: 0 };
  const saver = new SaverOfObjects(sent);
  report(
    "an object for each checkpoint",
    sent,
    await chat(async () => ({ checkpointer: saver, done: async () => {} })),
  );
}
console.log(`\nA chat of ${TURNS} turns, ${3 * TURNS} supersteps`);
console.log(table(["", "requests", "a superstep", "up", "down", "ms a turn"], rows));

const cold = [];
for (const size of SIZES_MB) {
  const { bucket, sent, objects } = delayedBucket(0);
  const filling = await openMemory({ bucket, name: "large" });
  const items = (size * 2 ** 20) / 2600;
  for (let i = 0; i < items; i += 500) {
    const operations = Array.from({ length: Math.min(500, items - i) }, (_, j) => ({
      namespace: ["notes", String((i + j) % 50)],
      key: `note ${i + j}`,
      value: { text: `${sentence(280)} number${i + j}` },
    }));
    await filling.store.batch(operations);
  }
  await filling.store.search(["notes", "7"], { query: "number7" });
  await filling.close();
  const { bytes } = await measuredSize(bucket);
  const delayed = delayedBucket();
  for (const [key, value] of objects) delayed.objects.set(key, value);
  for (const [name, call] of [
    ["get", (memory) => memory.store.get(["notes", "7"], "note 7")],
    ["search", (memory) => memory.store.search(["notes", "7"], { query: "number7", limit: 3 })],
  ]) {
    const before = { ...delayed.sent };
    const begin = performance.now();
    const memory = await openMemory({ bucket: delayed.bucket, name: "large" });
    const opened = performance.now();
    const answer = await call(memory);
    const ended = performance.now();
    if (answer === null || answer.length === 0) throw new Error(`${name} found nothing`);
    cold.push([
      `${(bytes / 2 ** 20).toFixed(1)} MB`,
      name,
      (opened - begin).toFixed(0),
      (ended - opened).toFixed(0),
      delayed.sent.requests - before.requests,
      kilobytes(delayed.sent.down - before.down),
    ]);
    await memory.close();
  }
  void sent;
}
console.log("\nThe first call of a new function");
console.log(table(["memory", "call", "open, ms", "call, ms", "requests", "down"], cold));

async function measuredSize(bucket) {
  const memory = await openMemory({ bucket, name: "large" });
  const stats = await memory.stats();
  await memory.close();
  return stats;
}
