// The candidates of bench/edge.mjs, each in a Durable Object of its own: what one call of
// it takes is measured outside, because clocks stand still in a Worker that computes.
import { DurableObject } from "cloudflare:workers";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph-checkpoint";
import { durableMemory } from "keepsake/cloudflare";
import { counting } from "./counting.mjs";
import { HandWrittenSaver, HandWrittenStore } from "./hand-written.mjs";

const State = Annotation.Root({
  messages: Annotation({ reducer: (list, more) => list.concat(more), default: () => [] }),
  step: Annotation({ reducer: (_, step) => step, default: () => 0 }),
});

const TEXT = "a sentence of a conversation, of the length that people write. ".repeat(3);

function loop(checkpointer, steps) {
  return new StateGraph(State)
    .addNode("say", ({ step }) => ({ step: step + 1, messages: [`${step} ${TEXT}`] }))
    .addEdge(START, "say")
    .addConditionalEdges("say", ({ step }) => (step < steps ? "say" : END))
    .compile({ checkpointer });
}

const CANDIDATES = {
  keepsake: (storage) => durableMemory(storage),
  "hand-written": (storage) => ({
    checkpointer: new HandWrittenSaver(storage),
    store: new HandWrittenStore(storage),
  }),
  "in memory": () => ({ checkpointer: new MemorySaver(), store: new InMemoryStore() }),
};

const VALUE = { text: "x".repeat(900), n: 1 };
const NAMESPACE = ["users", "ada"];

export class Candidate extends DurableObject {
  #threads = 0;

  open(name) {
    this.storage = counting(this.ctx.storage);
    this.memory = CANDIDATES[name](this.ctx.storage);
    this.counted = CANDIDATES[name](this.storage);
  }

  async supersteps(steps, memory = this.memory) {
    await loop(memory.checkpointer, steps).invoke(
      {},
      { configurable: { thread_id: `t${this.#threads++}` }, recursionLimit: steps + 10 },
    );
  }

  async resume(count, memory = this.memory) {
    for (let i = 0; i < count; i++) {
      await memory.checkpointer.getTuple({
        configurable: { thread_id: `t${this.#threads - 1}`, checkpoint_ns: "" },
      });
    }
  }

  async puts(count, memory = this.memory) {
    for (let i = 0; i < count; i++) await memory.store.put(NAMESPACE, `k${i}`, VALUE);
  }

  /** From now on puts leave what a policy of a company asks for. */
  async govern({ audit, history }) {
    if (audit) await this.counted.keepAudit(audit);
    if (history) await this.counted.store.keepHistory([], history);
  }

  async gets(count, memory = this.memory) {
    for (let i = 0; i < count; i++) await memory.store.get(NAMESPACE, `k${i}`);
  }

  async searches(count, memory = this.memory) {
    for (let i = 0; i < count; i++) await memory.store.search(NAMESPACE, { limit: 10 });
  }

  /** Items of which every thousandth is rare, whose texts are so many times as long. */
  async fill(count, times = 1) {
    await this.counted.store.get(NAMESPACE, "");
    for (let i = 0; i < count; i += 500) {
      await this.counted.store.batch(
        Array.from({ length: 500 }, (_, n) => ({
          namespace: NAMESPACE,
          key: `k${i + n}`,
          value: {
            kind: (i + n) % 1000 === 0 ? "rare" : "common",
            text: `${i + n} ${TEXT.repeat(times)}`,
          },
        })),
      );
    }
    this.storage.take();
  }

  /** The hits of a search, and the rows that it bills. */
  async found(options) {
    const hits = await this.counted.store.search(NAMESPACE, { limit: 50, ...options });
    return { hits: hits.length, ...this.storage.take() };
  }

  /** The rows that an item with a text bills until it can be found by words. */
  async rowsOfText(key) {
    const value = { kind: "common", text: `${key} ${TEXT}` };
    await this.counted.store.put(NAMESPACE, key, value);
    await this.counted.store.search(NAMESPACE, { query: key });
    return this.storage.take();
  }

  /** Rows read and written by `count` of these. */
  async rows(operation, count) {
    // Opens it, if it is not open yet.
    await this.resume(1, this.counted);
    return this.firstRows(operation, count);
  }

  /** The same with what opening takes. */
  async firstRows(operation, count) {
    this.storage.take();
    await this[operation](count, this.counted);
    return this.storage.take();
  }

  bytes() {
    return this.ctx.storage.sql.databaseSize;
  }
}

export default {
  async fetch(request, env) {
    const { name, method, args } = await request.json();
    const object = env.CANDIDATE.getByName(name);
    return Response.json((await object[method](...args)) ?? null);
  },
};
