// The places of bench/places.mjs, as a Worker uses them: a memory in R2, one in a Durable Object, and
// a saver that puts each checkpoint as an object of R2.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { openMemory } from "keepsake";
import { r2 } from "keepsake/bucket";
import { keepsake } from "keepsake/cloudflare";

export { KeepsakeObject } from "keepsake/cloudflare";

const State = Annotation.Root({
  messages: Annotation({ reducer: (list, more) => list.concat(more), default: () => [] }),
  step: Annotation({ reducer: (_, step) => step, default: () => 0 }),
});
const TEXT = "a sentence of a conversation, of the length that people write. ".repeat(3);
const NAMESPACE = ["users", "ada"];

function loop(checkpointer, steps) {
  return new StateGraph(State)
    .addNode("say", ({ step }) => ({ step: step + 1, messages: [`${step} ${TEXT}`] }))
    .addEdge(START, "say")
    .addConditionalEdges("say", ({ step }) => (step < steps ? "say" : END))
    .compile({ checkpointer });
}

/** What the official saver in memory has, an object each. */
class SaverOfObjects extends MemorySaver {
  constructor(bucket) {
    super();
    this.bucket = bucket;
  }

  async put(config, checkpoint, metadata, versions) {
    const [, bytes] = await this.serde.dumpsTyped({ checkpoint, metadata });
    await this.bucket.put(`${config.configurable.thread_id}/${checkpoint.id}`, bytes);
    return super.put(config, checkpoint, metadata, versions);
  }

  async putWrites(config, writes, task) {
    const { thread_id, checkpoint_id } = config.configurable;
    const [, bytes] = await this.serde.dumpsTyped(writes);
    await this.bucket.put(`${thread_id}/${checkpoint_id}/${task}`, bytes);
    return super.putWrites(config, writes, task);
  }

  async getTuple(config) {
    await this.bucket.get(`${config.configurable.thread_id}/newest`);
    return super.getTuple(config);
  }
}

const open = {
  "memory in R2": (env) => openMemory({ bucket: r2(env.BUCKET), name: "ada" }),
  "memory in a Durable Object": async (env) => keepsake(env.MEMORY, "ada"),
  "an object for each checkpoint": async (env) => ({
    checkpointer: new SaverOfObjects(env.BUCKET),
  }),
};
const opened = new Map();
let threads = 0;

async function memoryAt(place, env) {
  // A stub is of one request.
  if (place === "memory in a Durable Object") return open[place](env);
  if (!opened.has(place)) opened.set(place, await open[place](env));
  return opened.get(place);
}

const methods = {
  async supersteps({ checkpointer }, steps) {
    const thread_id = `t${threads++}`;
    await loop(checkpointer, steps).invoke(
      {},
      { configurable: { thread_id }, recursionLimit: steps + 10 },
    );
  },
  async fill({ store }, count) {
    for (let i = 0; i < count; i++) {
      await store.put(NAMESPACE, `k${i}`, { text: `fact ${i}: ${TEXT}` });
    }
  },
  async questions({ store }, count) {
    for (let i = 0; i < count; i++) await store.search(NAMESPACE, { query: `fact ${i}`, limit: 3 });
  },
  async empty() {},
};

export default {
  async fetch(request, env) {
    const { place, method, count } = await request.json();
    await methods[method](await memoryAt(place, env), count);
    return new Response("done");
  },
};
