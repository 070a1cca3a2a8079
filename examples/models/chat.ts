// A chat with a real model, which remembers what it is told: in the next conversation, too.
//
// Needs: Node 22.18, and a key in the environment or Ollama on this machine.
//
//   npm install keepsake langchain @langchain/core @langchain/langgraph @langchain/openai
//   OPENAI_API_KEY=… node chat.ts "I like oolong tea." "Which tea do I like?"
//
// Each question is a conversation of its own, unless --thread names one. Without a question it
// reads them from the terminal. --provider takes openai, anthropic, google or ollama.

import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { AIMessageChunk } from "@langchain/core/messages";
import { openMemory } from "keepsake";
import { memoryMiddleware, recallTool, rememberTool } from "keepsake/langchain";
import { createAgent } from "langchain";
import { chatModel } from "./provider.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    provider: { type: "string" },
    model: { type: "string" },
    endpoint: { type: "string" },
    file: { type: "string", default: "assistant.db" },
    user: { type: "string", default: "ada" },
    thread: { type: "string" },
    whole: { type: "boolean", default: false }, // waits for the whole answer
  },
});

const { model, name } = await chatModel(values);
const memory = await openMemory({ path: values.file });
const hers = { memory, scope: "user" } as const;
const agent = createAgent({
  model,
  systemPrompt:
    "Answer briefly. When the user tells you something about themselves that will matter later, " +
    "call remember, with one fact in each call.",
  tools: [rememberTool(hers), recallTool(hers)],
  middleware: [memoryMiddleware(hers)],
  checkpointer: memory.checkpointerFor("user"),
});

async function answer(content: string) {
  const thread_id = values.thread ?? crypto.randomUUID();
  const configurable = { thread_id, user_id: values.user };
  const question = { messages: [{ role: "user" as const, content }] };
  if (values.whole) {
    const { messages } = await agent.invoke(question, { configurable });
    process.stdout.write(`${messages.at(-1)?.text}\n`);
    return;
  }
  const parts = await agent.stream(question, { configurable, streamMode: "messages" });
  for await (const [part] of parts) {
    if (AIMessageChunk.isInstance(part)) process.stdout.write(part.text);
  }
  process.stdout.write("\n");
}

console.log(`[${name}]`);
for (const question of positionals) await answer(question);
if (positionals.length === 0) {
  for await (const line of createInterface({ input: process.stdin })) await answer(line);
}
await memory.close();
