// The agent that every packager packs: it counts its visits in a file and in a thread, and says
// where its module came from.

import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { openMemory } from "keepsake";

main().catch((error) => {
  console.log(JSON.stringify({ code: error.code, message: error.message }));
  process.exitCode = 1;
});

async function main() {
  const memory = await openMemory({ path: process.env.MEMORY_PATH });
  const visits = ((await memory.store.get(["app"], "visits"))?.value.count ?? 0) + 1;
  await memory.store.put(["app"], "visits", { count: visits, text: "Ada drinks green tea" });
  const [hit] = await memory.store.search(["app"], { query: "tea" });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("agent", () => ({ messages: [{ role: "assistant", content: hit.value.text }] }))
    .addEdge(START, "agent")
    .compile({ checkpointer: memory.checkpointer, store: memory.store });
  const input = { messages: [{ role: "user", content: "Which tea?" }] };
  const { messages } = await graph.invoke(input, { configurable: { thread_id: "1" } });
  const { module } = await memory.diagnose();
  await memory.close();
  console.log(JSON.stringify({ visits, messages: messages.length, module }));
}
