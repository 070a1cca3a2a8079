// A chat of @langchain/react over a graph that runs in the page; its thread is in the address.

import { interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph/web";
import { useStream } from "@langchain/react";
import { installInterruptShim, openMemory, unwrapStore } from "keepsake";
import { graphTransport } from "keepsake/react";
import { createElement as h, StrictMode, useMemo } from "react";
import { createRoot } from "react-dom/client";

installInterruptShim();
const memory = await openMemory({ name: "stream" });

async function answer({ messages }, config) {
  const store = unwrapStore(config.store);
  const said = messages.at(-1).content;
  const say = (content) => ({ messages: [{ role: "assistant", content }] });
  if (said === "fail") throw new Error("no model here");
  if (said === "wait") {
    await new Promise((_, reject) => {
      config.signal.addEventListener("abort", () => reject(config.signal.reason));
    });
  }
  if (said === "ask") return say(`approved: ${interrupt("may I?")}`);
  if (said.startsWith("remember ")) {
    await store.put([config.configurable.user_id], "fact", { text: said.slice(9) });
    return say("noted");
  }
  const [hit] = await store.search([config.configurable.user_id], { query: said, limit: 1 });
  return say(hit?.value.text ?? `that was message ${messages.length}`);
}

const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", answer)
  .addEdge(START, "answer")
  .compile({ checkpointer: memory.checkpointer, store: memory.store });

function Chat({ threadId }) {
  const configurable = { user_id: "ada" };
  const transport = useMemo(() => graphTransport(graph, { threadId, configurable }), [threadId]);
  const stream = useStream({ transport, threadId });
  Object.assign(globalThis, { stream, transport });
  const { messages, interrupt: question, isLoading, error } = stream;
  return h(
    "dl",
    {},
    h("dd", { id: "messages" }, messages.map(({ text }) => text).join(" | ")),
    h("dd", { id: "question" }, question?.value ?? ""),
    h("dd", { id: "state" }, isLoading ? "running" : "idle"),
    h("dd", { id: "error" }, error?.message ?? ""),
  );
}

const threadId = new URL(location.href).searchParams.get("thread");
const place = document.body.appendChild(document.createElement("div"));
createRoot(place).render(h(StrictMode, {}, h(Chat, { threadId })));
globalThis.say = (content) => globalThis.stream.submit({ messages: [{ role: "user", content }] });
globalThis.ready = true;
