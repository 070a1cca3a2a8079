// One process of an agent on the file argv[2]: "ask" runs to its question and ends
// without closing, "answer" goes on. Prints the result as JSON.

import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { openMemory } from "keepsake";

const [, , path, step] = process.argv;
const { store, checkpointer } = await openMemory({ path });

const State = Annotation.Root({
  log: Annotation({ reducer: (log, more) => log.concat(more), default: () => [] }),
});

const graph = new StateGraph(State)
  .addNode("begin", () => ({ log: ["begun"] }))
  .addNode("ask", () => ({ log: [`answered ${interrupt("what?")}`] }))
  .addEdge(START, "begin")
  .addEdge("begin", "ask")
  .addEdge("ask", END)
  .compile({ store, checkpointer });

const config = { configurable: { thread_id: "t" } };
if (step === "ask") {
  const state = await graph.invoke({ log: [] }, config);
  await store.put(["n"], "k", { raw: new Uint8Array([255]) });
  console.log(JSON.stringify(state.__interrupt__.map(({ value }) => value)));
  process.exit(0);
}
const { log } = await graph.invoke(new Command({ resume: "this" }), config);
const item = await store.get(["n"], "k");
console.log(JSON.stringify([...log, [...item.value.raw]]));
