// A process without AsyncLocalStorage, as a browser is: LangGraph's /web entry, and
// what works in it with and without our shim. Prints its findings as JSON.

import {
  Annotation,
  Command,
  entrypoint,
  getStore,
  interrupt,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph/web";
import { InMemoryStore, installInterruptShim, MemorySaver, withContext } from "keepsake";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const config = (id) => ({ configurable: { thread_id: id } });
const log = () => Annotation({ reducer: (a, b) => a.concat(b), default: () => [] });
const failure = (promise) =>
  promise.then(
    () => "none",
    ({ message }) => message,
  );

function graphOf(nodes) {
  const builder = new StateGraph(Annotation.Root({ log: log() }));
  for (const [name, node] of Object.entries(nodes)) {
    builder.addNode(name, node).addEdge(START, name);
  }
  return builder.compile({ checkpointer: new MemorySaver(), store: new InMemoryStore() });
}

/** Runs until nothing is asked any more; each question is answered by itself in capitals. */
async function runToEnd(graph, id) {
  let state = await graph.invoke({ log: [] }, config(id));
  while (state.__interrupt__) {
    const resume = Object.fromEntries(
      state.__interrupt__.map(({ id: of, value }) => [of, value.toUpperCase()]),
    );
    state = await graph.invoke(new Command({ resume }), config(id));
  }
  return state.log;
}

const findings = {};
const asking = graphOf({ ask: () => ({ log: [interrupt("now")] }) });
findings.without = await failure(asking.invoke({ log: [] }, config("0")));

findings.installed = installInterruptShim();
findings.installedTwice = installInterruptShim();
findings.interrupt = await runToEnd(asking, "1");

findings.store = await graphOf({
  write: async () => {
    const store = getStore();
    await store.put(["n"], "k", { n: 1 });
    return { log: [(await store.get(["n"], "k")).value.n] };
  },
}).invoke({ log: [] }, config("2"));

const double = task("double", async (n) => {
  await pause(1);
  return 2 * n;
});
findings.task = await entrypoint(
  { name: "double both", checkpointer: new MemorySaver() },
  async (n) => Promise.all([double(n), double(n + 1)]),
).invoke(1, config("3"));

findings.concurrent = await runToEnd(
  graphOf({
    slow: async (_, given) => {
      await pause(20);
      return { log: [withContext(given, () => interrupt("slow"))] };
    },
    fast: async (_, given) => {
      await pause(5);
      return { log: [withContext(given, () => interrupt("fast"))] };
    },
    sync: () => ({ log: [interrupt("sync")] }),
  }),
  "4",
);

findings.afterAwait = await failure(
  graphOf({
    late: async () => {
      await pause(5);
      return { log: [interrupt("late")] };
    },
    other: async () => {
      await pause(20);
      return { log: ["other"] };
    },
  }).invoke({ log: [] }, config("5")),
);

// A second graph that is started while a node of the first waits is no part of it.
const bystander = graphOf({ only: (_, { configurable }) => ({ log: [configurable.thread_id] }) });
let started;
await graphOf({
  wait: async () => {
    started = pause(1).then(() => bystander.invoke({ log: [] }, config("own")));
    await pause(20);
    return {};
  },
}).invoke({ log: [] }, config("6"));
findings.bystander = (await started).log;

console.log(JSON.stringify(findings));
