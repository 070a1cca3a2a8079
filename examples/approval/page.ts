// An agent in a page asks before it sends a mail. The question waits in the browser's own storage:
// reload the page, and answer then.
//
// Needs: a bundler, and what README.md installs; no key.

import { Command } from "@langchain/langgraph";
import { openMemory } from "keepsake";
import { humanInTheLoopMiddleware } from "keepsake/langchain";
import {
  AIMessage,
  type BaseMessage,
  createAgent,
  type Decision,
  fakeModel,
  type HITLRequest,
  type HITLResponse,
  tool,
} from "langchain";

const memory = await openMemory({ name: "approval" });
const config = { configurable: { thread_id: "mail" } };

const send = tool(({ text }: { text: string }) => `Sent: ${text}`, {
  name: "send",
  description: "Sends a mail to Bob.",
  schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
});

const model = fakeModel(); // in the place of one of yours
const agent = createAgent({
  model,
  tools: [send],
  middleware: [
    humanInTheLoopMiddleware({
      interruptOn: { send: { allowedDecisions: ["approve", "edit", "reject"] } },
      descriptionPrefix: "May I?",
    }),
  ],
  checkpointer: memory.checkpointer,
});

const element = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
const form = element<HTMLFormElement>("question");
const text = element<HTMLInputElement>("text");

/** What was said, and what waits for an answer. */
async function show() {
  const { values, tasks } = await agent.graph.getState(config);
  const messages: BaseMessage[] = values.messages ?? [];
  const lines = messages.filter((message) => message.text !== "");
  element("talk").replaceChildren(
    ...lines.map((message) => {
      const line = document.createElement("li");
      line.textContent = `${message.type}: ${message.text}`;
      return line;
    }),
  );
  const [question] = tasks.flatMap(({ interrupts }) => interrupts);
  const [action] = (question?.value as HITLRequest | undefined)?.actionRequests ?? [];
  form.hidden = action === undefined;
  element("description").textContent = action?.description ?? "";
  text.value = `${action?.args.text ?? ""}`;
}

function decisionOf(type: string): Decision {
  if (type === "edit") {
    return { type, editedAction: { name: "send", args: { text: text.value } } };
  }
  return type === "approve" ? { type } : { type: "reject", message: "The user said no." };
}

element("start").addEventListener("click", async () => {
  const args = { text: "Tea is ready" };
  model.respond(new AIMessage({ content: "", tool_calls: [{ name: "send", args, id: "1" }] }));
  const messages = [{ role: "user" as const, content: "Tell Bob that tea is ready." }];
  await agent.invoke({ messages }, config);
  await show();
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { value } = (event as SubmitEvent).submitter as HTMLButtonElement;
  model.respond((messages) => new AIMessage(`I was told: ${messages.at(-1)?.text}`));
  const resume: HITLResponse = { decisions: [decisionOf(value)] };
  await agent.invoke(new Command({ resume }), config);
  await show();
});

await show();
document.body.dataset.ready = "yes";
