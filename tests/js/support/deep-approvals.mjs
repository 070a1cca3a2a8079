// A subagent of deepagents whose calls of tools wait for a human.

import { createDeepAgent } from "deepagents";
import { AIMessage, fakeModel } from "langchain";
import { answer, callsOf, edit, go, noting, questions, said, threadOf } from "./approvals.mjs";

/** By our middleware, or without `approvals` by deepagents' own option. */
export async function subagent({ approvals, memory }) {
  const ran = [];
  const interruptOn = { send: true };
  const inner = fakeModel()
    .respond(callsOf(["send", "1"]))
    .respond(new AIMessage("Sent, I think."));
  const outer = fakeModel()
    .respond(
      new AIMessage({
        content: "",
        tool_calls: [
          {
            name: "task",
            args: { description: "Send it.", subagent_type: "sender" },
            id: "t1",
            type: "tool_call",
          },
        ],
      }),
    )
    .respond(new AIMessage("All done."));
  const agent = createDeepAgent({
    model: outer,
    tools: [],
    checkpointer: memory.checkpointer,
    subagents: [
      {
        name: "sender",
        description: "Sends.",
        systemPrompt: "You send.",
        model: inner,
        tools: [noting("send", ran)],
        ...(approvals === undefined
          ? { interruptOn }
          : { middleware: [approvals({ interruptOn })] }),
      },
    ],
  });
  const config = threadOf("deep");
  const first = await agent.invoke(go, config);
  const before = [...ran];
  const { messages } = await agent.invoke(answer(edit("send", "2")), config);
  return {
    asked: questions(first),
    before,
    ran,
    messages: said(messages).filter((line) => !line.startsWith("human")),
  };
}
