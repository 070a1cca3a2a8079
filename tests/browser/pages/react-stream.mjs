// A chat of @langchain/react over a graph that runs in the page, or an agent of createAgent(); the
// thread is in the address.

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph/web";
import { useStream } from "@langchain/react";
import { installInterruptShim, openMemory, unwrapStore } from "keepsake";
import { memoryMiddleware } from "keepsake/langchain";
import { graphTransport, useSharedThread, useThreads } from "keepsake/react";
import { createAgent, tool } from "langchain";
import { createElement as h, StrictMode, useMemo } from "react";
import { createRoot } from "react-dom/client";
import { z } from "zod";

installInterruptShim();
const memory = await openMemory({ name: "stream" });

// Calls the tool, or says something letter by letter.
class Letters extends BaseChatModel {
  _llmType() {
    return "letters";
  }

  bindTools() {
    return this;
  }

  async *_streamResponseChunks(messages, { signal }, manager) {
    globalThis.calls = (globalThis.calls ?? 0) + 1;
    const id = crypto.randomUUID();
    const chunk = (text, fields) =>
      new ChatGenerationChunk({
        text,
        message: new AIMessageChunk({ content: text, id, ...fields }),
      });
    const last = messages.at(-1);
    const isAsked = last.getType() === "human";
    if (isAsked && last.text.startsWith("send ")) {
      const args = JSON.stringify({ text: last.text.slice(5) });
      const call = { name: "send", args, id: "call", index: 0, type: "tool_call_chunk" };
      yield chunk("", { tool_call_chunks: [call] });
      return;
    }
    for (const letter of isAsked ? `about ${last.text}` : last.text) {
      if (last.text.startsWith("slow")) await new Promise((resolve) => setTimeout(resolve, 50));
      signal?.throwIfAborted();
      const next = chunk(letter);
      yield next;
      await manager?.handleLLMNewToken(letter, undefined, undefined, undefined, undefined, {
        chunk: next,
      });
    }
  }
}

const model = new Letters({});
const send = tool(
  ({ text }) => {
    const answer = interrupt(`send ${text}?`);
    if (answer.decision === "reject") return `not sent: ${answer.reason}`;
    return `sent: ${answer.decision === "edit" ? answer.text : text}`;
  },
  { name: "send", description: "Sends a text.", schema: z.object({ text: z.string() }) },
);
const agent = createAgent({
  model,
  tools: [send],
  middleware: [memoryMiddleware({ memory, namespace: ["facts"] })],
  checkpointer: memory.checkpointer,
});

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
  if (said.startsWith("slow")) return { messages: [await model.invoke(messages, config)] };
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

const { searchParams } = new URL(location.href);
const shown = searchParams.has("agent") ? agent : graph;

function Chat({ threadId }) {
  const configurable = { user_id: "ada" };
  const transport = useMemo(() => graphTransport(shown, { threadId, configurable }), [threadId]);
  const stream = useStream({ transport, threadId });
  useSharedThread(memory, transport, stream);
  const { data: threads = [] } = useThreads(memory, { limit: 5 });
  Object.assign(globalThis, { stream, transport });
  const { messages, interrupt: question, isLoading, error } = stream;
  globalThis.loadings = [...(globalThis.loadings ?? []), isLoading];
  const titles = threads.map(({ threadId: id, metadata }) => metadata?.title ?? id);
  return h(
    "dl",
    {},
    h("dd", { id: "messages" }, messages.map(({ text }) => text).join(" | ")),
    h("dd", { id: "question" }, question?.value ?? ""),
    h("dd", { id: "state" }, isLoading ? "running" : "idle"),
    h("dd", { id: "error" }, error?.message ?? ""),
    h("dd", { id: "titles" }, titles.join(" | ")),
  );
}

const place = document.body.appendChild(document.createElement("div"));
createRoot(place).render(h(StrictMode, {}, h(Chat, { threadId: searchParams.get("thread") })));
globalThis.say = (content, options) =>
  globalThis.stream.submit({ messages: [{ role: "user", content }] }, options);
globalThis.ready = true;
