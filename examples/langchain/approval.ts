// A human decides before anything is forgotten. The agent waits in the database, for months if it
// has to: here the process ends between the question and the answer.

import { Command, interrupt, isInterrupted } from "@langchain/langgraph";
import { openMemory } from "keepsake";
import { forgetTool, memoryMiddleware } from "keepsake/langchain";
import { AIMessage, createAgent, createMiddleware, fakeModel, ToolMessage } from "langchain";

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

interface Question {
  name: string;
  args: object;
}

// Each call of a tool waits for a human.
const approval = createMiddleware({
  name: "approval",
  wrapToolCall: (request, handler) => {
    const { name, args, id = "" } = request.toolCall;
    const isApproved = interrupt<Question, boolean>({ name, args });
    return isApproved
      ? handler(request)
      : new ToolMessage({ content: "Refused by a human.", tool_call_id: id });
  },
});

const agentOver = (memory: Awaited<ReturnType<typeof openMemory>>) =>
  createAgent({
    model,
    tools: [forgetTool(hers)],
    middleware: [approval, memoryMiddleware(hers)],
    checkpointer: memory.checkpointerFor("user"),
    store: memory.store,
  });

let memory = await openMemory({ path: "approval.db" });
await memory.store.put(["user", "ada"], "tea", { text: "Ada likes oolong tea" });
const question = { messages: [{ role: "user" as const, content: "Forget which tea I like." }] };
const stopped = await agentOver(memory).invoke(question, config);
if (!isInterrupted<Question>(stopped)) throw new Error("it did not ask");
for (const { value } of stopped.__interrupt__) {
  console.log("may I:", value?.name, JSON.stringify(value?.args));
}
await memory.close();

// Later, another process has the answer.
memory = await openMemory({ path: "approval.db" });
console.log("still there:", (await memory.store.search(["user", "ada"])).length);
const { messages } = await agentOver(memory).invoke(new Command({ resume: true }), config);
console.log(messages.at(-1)?.text);
console.log("left:", (await memory.store.search(["user", "ada"])).length);
await memory.close();
