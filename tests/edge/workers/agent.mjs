// An agent that asks, inside an object and in the Worker; for what happens when the
// process ends meanwhile. Bundled with wrangler's default conditions, under which
// LangGraph is its build for browsers.

import {
  Annotation,
  Command,
  END,
  getStore,
  interrupt,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { KeepsakeObject, keepsake } from "keepsake/cloudflare";
import { askCached } from "../../js/support/cached-graph.mjs";
import { serve } from "./serve.mjs";

const State = Annotation.Root({
  log: Annotation({ reducer: (log, more) => log.concat(more), default: () => [] }),
});

function compile({ store, checkpointer }) {
  const inner = new StateGraph(State)
    .addNode("begin", async () => {
      await Promise.resolve();
      return { log: ["begun"] };
    })
    .addNode("ask", async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      const answer = interrupt("what?");
      await getStore().put(["answers"], "last", { answer });
      return { log: [`answered ${answer}`] };
    })
    .addEdge(START, "begin")
    .addEdge("begin", "ask")
    .addEdge("ask", END)
    .compile();
  return new StateGraph(State)
    .addNode("inner", inner)
    .addNode("remember", async () => {
      const item = await getStore().get(["answers"], "last");
      return { log: [`remembered ${item.value.answer}`] };
    })
    .addEdge(START, "inner")
    .addEdge("inner", "remember")
    .addEdge("remember", END)
    .compile({ store, checkpointer });
}

async function ask(memory, thread) {
  const state = await compile(memory).invoke({ log: [] }, { configurable: { thread_id: thread } });
  return state.__interrupt__.map(({ value }) => value);
}

async function answer(memory, thread, reply) {
  const config = { configurable: { thread_id: thread } };
  const { log } = await compile(memory).invoke(new Command({ resume: reply }), config);
  return log;
}

export class Agent extends KeepsakeObject {
  cached(question) {
    return askCached(this.memory, question);
  }

  ask(thread) {
    return ask(this.memory, thread);
  }

  answer(thread, reply) {
    return answer(this.memory, thread, reply);
  }
}

const agent = (env, name) => env.AGENT.get(env.AGENT.idFromName(name));

export default serve({
  ask: (env, name, thread) => agent(env, name).ask(thread),
  answer: (env, name, thread, reply) => agent(env, name).answer(thread, reply),
  cached: (env, name, question) => agent(env, name).cached(question),
  cachedByStub: (env, name, question) => askCached(keepsake(env.AGENT, name), question),
  cachedInScope: (env, name, question) =>
    askCached(keepsake(env.AGENT, name).scoped({ user: "ada" }), question),
  askByStub: (env, name, thread) => ask(keepsake(env.AGENT, name), thread),
  answerByStub: (env, name, thread, reply) => answer(keepsake(env.AGENT, name), thread, reply),
});
