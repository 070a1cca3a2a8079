// The agent of the other files: it learns what its user says, and knows it wherever it runs.
//
// Needs: what README.md installs; no key.

import type { Memory } from "keepsake";
import { learner, memoryMiddleware } from "keepsake/langchain";
import { AIMessage, createAgent, fakeModel } from "langchain";

const FACTS = ["facts"];

/** What the agent answers to a text, in a thread of its user. */
export async function say(memory: Memory, thread_id: string, content: string): Promise<string> {
  const learns = learner({
    memory,
    namespace: FACTS,
    // In the place of a call of your model: what is no question is a fact.
    extract: ({ messages: [said] }) =>
      said?.text.endsWith("?") ? {} : { put: [said?.text ?? ""] },
  });
  // In the place of a model of yours: it says what it was shown.
  const model = fakeModel();
  model.respond((messages) => new AIMessage(messages.at(-2)?.text || "I know nothing of that."));
  const agent = createAgent({
    model,
    middleware: [learns.middleware(), memoryMiddleware({ memory, namespace: FACTS })],
    checkpointer: memory.checkpointer,
  });
  const { messages } = await agent.invoke(
    { messages: [{ role: "user", content }] },
    { configurable: { thread_id } },
  );
  // A function may be stopped as soon as it has answered.
  await learns.settled();
  return messages.at(-1)?.text ?? "";
}
