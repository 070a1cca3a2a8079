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

/** Opens the memory and keeps it, so that other tabs follow. */
globalThis.holdMemory = async (name, storage) => {
  globalThis.held = await openMemory({ name, storage });
  await globalThis.held.store.put(["users", "ada"], "held", {});
};

globalThis.measurePage = async (name, storage, count) => {
  const memory = await openMemory({ name, storage });
  const medians = {
    put: await medianOf(count, (i) =>
      memory.store.put(["users", "ada"], `key ${i}`, { text: "likes green tea" }),
    ),
    get: await medianOf(count, (i) => memory.store.get(["users", "ada"], `key ${i}`)),
    search: await medianOf(count, () => memory.store.search(["users", "ada"], { limit: 10 })),
  };
  await memory.close();
  return medians;
};

/** One opening, and the end of it. */
globalThis.openAndClose = async (name, storage) => {
  const start = performance.now();
  const memory = await openMemory({ name, storage });
  const ms = performance.now() - start;
  await memory.close();
  return ms;
};

globalThis.measureOpening = async (storage, count) => {
  const times = { fresh: [], again: [] };
  for (let i = 0; i < count; i++) {
    for (const kind of ["fresh", "again"]) {
      times[kind].push(await globalThis.openAndClose(`opening-${i}`, storage));
    }
  }
  return { fresh: middle(times.fresh), again: middle(times.again) };
};

/** What the browser takes by itself for the parts of a call and of an opening. */
globalThis.measureFloor = async (count, openings) => {
  const floor = await startFloor("calls");
  const way = await callsOf(floor, "echo", count);
  const write = await callsOf(floor, "write", count);
  floor.terminate();
  const times = { fresh: [], again: [] };
  for (let i = 0; i < openings; i++) {
    for (const kind of ["fresh", "again"]) {
      const start = performance.now();
      const opened = await startFloor(`opening-${i}`);
      times[kind].push(performance.now() - start);
      await answerTo(opened, { kind: "close" });
      opened.terminate();
    }
  }
  return { way, write, fresh: middle(times.fresh), again: middle(times.again) };
};

/** Keeps the files of a floor, for another tab. */
globalThis.holdFloor = async () => {
  const floor = await startFloor("shared");
  const { port } = new SharedWorker("floor.js", { type: "module" });
  port.onmessage = ({ data, ports }) => floor.postMessage(data, ports);
  port.postMessage("own");
};

globalThis.measureFollowersFloor = (count) => {
  const { port } = new SharedWorker("floor.js", { type: "module" });
  const { port1, port2 } = new MessageChannel();
  port.postMessage({ kind: "serve" }, [port2]);
  const follower = new Worker("floor.js", { type: "module" });
  follower.postMessage({ kind: "follow" }, [port1]);
  return callsOf(follower, "write", count);
};

async function startFloor(name) {
  const worker = new Worker("floor.js", { type: "module" });
  await answerTo(worker, { kind: "open", names: [name, `${name}-wal`, `${name}-journal`] });
  return worker;
}

const callsOf = (worker, kind, count) => medianOf(count, () => answerTo(worker, { kind }));

function answerTo(worker, message) {
  const { promise, resolve, reject } = Promise.withResolvers();
  worker.onmessage = resolve;
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage(message);
  return promise;
}

// Calls one after the other. The clock of a page has a tenth of a millisecond: it takes some
// calls at once.
const CALLS_AT_ONCE = 20;

async function medianOf(count, body) {
  const times = [];
  for (let i = 0; i < count; ) {
    const start = performance.now();
    for (const end = i + CALLS_AT_ONCE; i < end; i++) await body(i);
    times.push((performance.now() - start) / CALLS_AT_ONCE);
  }
  return middle(times);
}

const middle = (times) => times.sort((a, b) => a - b)[times.length >> 1];

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
