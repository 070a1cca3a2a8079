// A human decides before anything is forgotten. The agent waits in the database, for months if it
// has to: here the process ends between the question and the answer.
//
// Needs: Node 22.18, and what README.md installs; no key.

import { Command, isInterrupted } from "@langchain/langgraph";
import { openMemory } from "keepsake";
import { forgetTool, humanInTheLoopMiddleware, memoryMiddleware } from "keepsake/langchain";
import { AIMessage, createAgent, fakeModel, type HITLRequest, type HITLResponse } from "langchain";

const hers = { scope: "user" } as const;
const config = { configurable: { thread_id: "1", user_id: "ada" } };

// In the place of a model of yours: it wants to forget the tea.
const model = fakeModel()
  .respond(
    new AIMessage({
      content: "",
      tool_calls: [{ name: "forget", args: { key: "tea" }, id: "1" }],
    }),
  )
  .respond((messages) => new AIMessage(`The tool said: ${messages.at(-1)?.text}`));

const agentOver = (memory: Awaited<ReturnType<typeof openMemory>>) =>
  createAgent({
    model,
    tools: [forgetTool(hers)],
    middleware: [
      humanInTheLoopMiddleware({ interruptOn: { forget: true } }),
      memoryMiddleware(hers),
    ],
    checkpointer: memory.checkpointerFor("user"),
    store: memory.store,
  });

let memory = await openMemory({ path: "approval.db" });
await memory.store.put(["user", "ada"], "tea", { text: "Ada likes oolong tea" });
const question = { messages: [{ role: "user" as const, content: "Forget which tea I like." }] };
const stopped = await agentOver(memory).invoke(question, config);
if (!isInterrupted<HITLRequest>(stopped)) throw new Error("it did not ask");
for (const { name, args } of stopped.__interrupt__[0]?.value?.actionRequests ?? []) {
  console.log("may I:", name, JSON.stringify(args));
}
await memory.close();

// Later, another process has the answer.
memory = await openMemory({ path: "approval.db" });
console.log("still there:", (await memory.store.search(["user", "ada"])).length);
const resume: HITLResponse = { decisions: [{ type: "approve" }] };
const { messages } = await agentOver(memory).invoke(new Command({ resume }), config);
console.log(messages.at(-1)?.text);
console.log("left:", (await memory.store.search(["user", "ada"])).length);
await memory.close();
