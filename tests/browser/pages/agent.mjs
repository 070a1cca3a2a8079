// LangGraph in a page, over a store and a checkpointer that stay.

import {
  Annotation,
  Command,
  END,
  getStore,
  interrupt,
  START,
  StateGraph,
} from "@langchain/langgraph/web";
import { installInterruptShim, openMemory } from "keepsake";
import { askCached } from "../../js/support/cached-graph.mjs";

installInterruptShim();

const State = Annotation.Root({
  log: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

function subgraph() {
  return new StateGraph(State)
    .addNode("ask", () => ({ log: [`answered ${interrupt("what?")}`] }))
    .addNode("remember", async () => {
      const store = getStore();
      await store.put(["facts"], "last", { said: "remembered" });
      return { log: [(await store.get(["facts"], "last")).value.said] };
    })
    .addEdge(START, "ask")
    .addEdge("ask", "remember")
    .addEdge("remember", END)
    .compile();
}

async function openGraph(name) {
  const { store, checkpointer } = await openMemory({ name });
  return new StateGraph(State)
    .addNode("begin", () => ({ log: ["begun"] }))
    .addNode("inner", subgraph())
    .addEdge(START, "begin")
    .addEdge("begin", "inner")
    .addEdge("inner", END)
    .compile({ store, checkpointer });
}

const config = { configurable: { thread_id: "1" } };

/** What it asks. */
globalThis.ask = async (name) => {
  const graph = await openGraph(name);
  const state = await graph.invoke({ log: [] }, config);
  return state.__interrupt__.map(({ value }) => value);
};

/** What it has done, when it is answered. */
globalThis.answer = async (name, answer) => {
  const graph = await openGraph(name);
  const { log } = await graph.invoke(new Command({ resume: answer }), config);
  return log;
};

/** What it answers, and how often its node ran for that: in the memory, or in a scope. */
globalThis.cached = async (name, question, scope) => {
  const memory = await openMemory({ name });
  const answered = await askCached(scope ? memory.scoped(scope) : memory, question);
  await memory.close();
  return answered;
};
