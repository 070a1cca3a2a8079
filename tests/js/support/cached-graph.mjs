// A graph with a slow node that has a cachePolicy.

import { Annotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ question: Annotation(), answer: Annotation() });

/** What it answers, and how often its slow node ran for that: a memory, or a scope of one. */
export async function askCached({ cache }, question, { ttl = 60, answer = "42" } = {}) {
  let runs = 0;
  const graph = new StateGraph(State)
    .addNode(
      "slow",
      async (state) => {
        runs += 1;
        return { answer: `${answer} to ${state.question}` };
      },
      { cachePolicy: { ttl } },
    )
    .addEdge(START, "slow")
    .compile({ cache });
  const state = await graph.invoke({ question });
  return { answer: state.answer, runs };
}
