// An agent stores what it is told, and knows it in the next conversation, after a restart.
//
// Needs: Node 22.18, and what README.md installs; no key.

import { openMemory } from "keepsake";
import { memoryMiddleware, rememberTool } from "keepsake/langchain";
import { AIMessage, createAgent, fakeModel } from "langchain";

const hers = { scope: "user" } as const;
const user = (thread_id: string) => ({ configurable: { thread_id, user_id: "ada" } });
const ask = (content: string) => ({ messages: [{ role: "user" as const, content }] });

// In the place of a model of yours: it stores a fact, and later says what it was shown.
const model = fakeModel()
  .respond(
    new AIMessage({
      content: "",
      tool_calls: [
        { name: "remember", args: { text: "Ada's flight to Porto is on 3 May" }, id: "1" },
      ],
    }),
  )
  .respond(new AIMessage("Noted."))
  .respond((messages) => new AIMessage(`I was shown: ${messages.at(-2)?.text}`));

const agentOver = (memory: Awaited<ReturnType<typeof openMemory>>) =>
  createAgent({
    model,
    systemPrompt: "You are Ada's assistant.",
    tools: [rememberTool(hers)],
    middleware: [memoryMiddleware(hers)],
    checkpointer: memory.checkpointerFor("user"),
    store: memory.store,
  });

// Monday.
let memory = await openMemory({ path: "assistant.db" });
await agentOver(memory).invoke(ask("I fly to Porto on the third of May."), user("monday"));
const [fact] = await memory.store.search(["user", "ada"]);
console.log("stored:", fact?.value);
await memory.close();

// Tuesday: another conversation, of another process.
memory = await openMemory({ path: "assistant.db" });
const { messages } = await agentOver(memory).invoke(
  ask("When is my flight to Porto?"),
  user("tuesday"),
);
console.log(messages.at(-1)?.text);
// The conversation itself holds the question and the answer alone.
console.log("messages of the thread:", messages.length);
await memory.close();
