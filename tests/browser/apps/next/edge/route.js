// LangGraph and both tiers in memory, in Next's edge runtime.

import { Annotation, Command, interrupt, START, StateGraph } from "@langchain/langgraph";
import { InMemoryStore, MemorySaver, SqliteStore } from "keepsake";

export const runtime = "edge";

const State = Annotation.Root({
  log: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

const store = new InMemoryStore();
const graph = new StateGraph(State)
  .addNode("ask", async (_state, config) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const reply = interrupt("what?");
    await config.store.put(["n"], "reply", { text: reply });
    return { log: [reply] };
  })
  .addEdge(START, "ask")
  .compile({ checkpointer: new MemorySaver(), store });

export async function GET(request) {
  const thread_id = new URL(request.url).searchParams.get("thread");
  const config = { configurable: { thread_id } };
  const { __interrupt__ } = await graph.invoke({ log: [] }, config);
  const { log } = await graph.invoke(new Command({ resume: "this" }), config);
  const [found] = await store.search(["n"], { query: "this" });
  let file;
  try {
    new SqliteStore({ path: "a.db" });
  } catch ({ code }) {
    file = code;
  }
  return Response.json([__interrupt__[0].value, log, found.value.text, file]);
}
