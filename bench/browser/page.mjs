// The page: starts a candidate's worker for the driver, and measures what a page itself
// feels: calls of our store from the page, and supersteps of a graph.

import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph/web";
import { MemorySaver as OfficialMemorySaver } from "@langchain/langgraph-checkpoint";
import { openMemory } from "keepsake";

globalThis.measure = (script, name, counts) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(script, { type: "module" });
    worker.onmessage = ({ data }) => {
      worker.terminate();
      if (data.error) reject(new Error(data.error));
      else resolve(data.timings);
    };
    worker.onerror = (event) => reject(new Error(event.message || "the worker did not load"));
    worker.postMessage({ name, counts });
  });

globalThis.measurePage = async (name, storage, count) => {
  const memory = await openMemory({ name, storage });
  const medians = {};
  for (const [operation, body] of Object.entries({
    put: (i) => memory.store.put(["users", "ada"], `key ${i}`, { text: "likes green tea" }),
    get: (i) => memory.store.get(["users", "ada"], `key ${i}`),
    search: () => memory.store.search(["users", "ada"], { limit: 10 }),
  })) {
    const times = [];
    for (let i = 0; i < count; i++) {
      const start = performance.now();
      await body(i);
      times.push(performance.now() - start);
    }
    medians[operation] = times.sort((a, b) => a - b)[count >> 1];
  }
  await memory.close();
  return medians;
};

globalThis.measureSupersteps = async (name, storage, turns) => {
  const memory = storage === undefined ? undefined : await openMemory({ name, storage });
  const checkpointer = memory?.checkpointer ?? new OfficialMemorySaver();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("agent", () => ({ messages: [{ role: "assistant", content: "I will remember it." }] }))
    .addEdge(START, "agent")
    .compile({ checkpointer });
  const thread = { configurable: { thread_id: name } };
  const start = performance.now();
  for (let i = 0; i < turns; i++) {
    await graph.invoke({ messages: [{ role: "user", content: `turn ${i}` }] }, thread);
  }
  const ms = performance.now() - start;
  await memory?.close();
  // The input and the agent's step each make a checkpoint.
  return { count: 2 * turns, ms };
};
