// start → recall → model → store → end, run twice over one memory: the second run finds what the
// first one stored.
//
// Needs: Node 22.18, and what README.md installs; no key.

import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { type MemoryEntry, openMemory } from "keepsake";
import { recallNode, rememberNode } from "keepsake/langchain";
import { AIMessage, fakeModel } from "langchain";

const State = Annotation.Root({
  query: Annotation<string>(),
  results: Annotation<MemoryEntry[]>(),
  count: Annotation<number>(),
  answer: Annotation<string>(),
  stored: Annotation<boolean>(),
  key: Annotation<string>(),
});

// In the place of a model of yours.
const model = fakeModel()
  .respond(new AIMessage("The blue whale is the largest animal."))
  .respond((messages) => new AIMessage(`I know: ${messages[0]?.text.split("\n")[1]}`));

async function answer({ query, results }: typeof State.State) {
  const context = results.map(({ value }) => value).join("\n");
  const { text } = await model.invoke([
    ["system", `You are a helpful assistant. Context:\n${context}`],
    ["user", query],
  ]);
  return { answer: text };
}

const memory = await openMemory({ path: "workflow.db" });
const graph = new StateGraph(State)
  .addNode("recall", recallNode({ scope: "conversation", querySelector: "query", topK: 5 }))
  .addNode("llm", answer)
  .addNode(
    "store",
    rememberNode({
      scope: "conversation",
      key: "exchange_{{#sys.execution_id#}}",
      valueSelector: "answer",
      metadata: { type: "qa_exchange" },
      metadataSelectors: { timestamp: ["sys", "timestamp"] },
    }),
  )
  .addEdge(START, "recall")
  .addEdge("recall", "llm")
  .addEdge("llm", "store")
  .addEdge("store", END)
  .compile({ store: memory.store });

const run = (query: string, run_id: string) =>
  graph.invoke({ query }, { configurable: { conversation_id: "conv-123", run_id } });

for (const [query, id] of [
  ["Which animal is the largest?", "1"],
  ["What did we say of the whale?", "2"],
] as const) {
  const state = await run(query, id);
  console.log(`recalled ${state.count}, answered "${state.answer}", stored ${state.key}`);
}
await memory.close();
