// An agent in a web page. What it learns stays in the browser, in the origin's private files: after
// a reload, and in all tabs.
//
// Needs: a bundler, and what README.md installs; no key.

import { openMemory } from "keepsake";
import { memoryMiddleware, rememberTool } from "keepsake/langchain";
import { AIMessage, createAgent, fakeModel } from "langchain";

const memory = await openMemory({ name: "page" });
const facts = { memory, namespace: ["facts"] };
const model = fakeModel();
const agent = createAgent({
  model,
  tools: [rememberTool(facts)],
  middleware: [memoryMiddleware(facts)],
  checkpointer: memory.checkpointer,
});

// In the place of a model of yours: it stores what is no question, and else says what it was shown.
function script(text: string) {
  if (text.endsWith("?")) {
    model.respond((messages) => new AIMessage(messages.at(-2)?.text || "I know nothing of that."));
    return;
  }
  const tool_calls = [{ name: "remember", args: { text }, id: "1" }];
  model.respond(new AIMessage({ content: "", tool_calls })).respond(new AIMessage("Noted."));
}

function show(text: string) {
  const line = document.createElement("li");
  line.textContent = text;
  document.querySelector("#talk")?.append(line);
}

async function say(text: string) {
  show(`You: ${text}`);
  script(text);
  const thread_id = crypto.randomUUID(); // each question is a conversation of its own
  const { messages } = await agent.invoke(
    { messages: [{ role: "user", content: text }] },
    { configurable: { thread_id } },
  );
  show(`Agent: ${messages.at(-1)?.text}`);
}

const form = document.querySelector("form") as HTMLFormElement;
const input = document.querySelector("input") as HTMLInputElement;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void say(input.value);
  input.value = "";
});
show(`Facts kept in ${memory.persistence}: ${(await memory.stats()).store.items}`);
