// A deep agent whose files are in a memory: what it writes in one conversation it reads in the
// next one, after a restart. No disk, no sandbox.
//
// Needs: Node 22.18, deepagents, and what README.md installs; no key.

import { createDeepAgent } from "deepagents";
import { openMemory } from "keepsake";
import { filesBackend } from "keepsake/files";
import { AIMessage, fakeModel } from "langchain";

const call = (name: string, args: Record<string, unknown>) =>
  new AIMessage({ content: "", tool_calls: [{ name, args, id: name }] });

// In the place of a model of yours: it keeps a plan, and looks for it later.
const model = fakeModel()
  .respond(
    call("write_file", { file_path: "/plans/trip.md", content: "Pack the tea.\nBuy tickets." }),
  )
  .respond(new AIMessage("I wrote it down."))
  .respond(call("grep", { pattern: "tickets", path: "/" }))
  .respond((messages) => new AIMessage(`I found: ${messages.at(-1)?.text}`));

const agentOver = (memory: Awaited<ReturnType<typeof openMemory>>) =>
  createDeepAgent({
    model,
    backend: filesBackend(memory.scoped({ user: "ada" })),
    checkpointer: memory.checkpointer,
  });
const ask = (content: string) => ({ messages: [{ role: "user" as const, content }] });
const thread = (thread_id: string) => ({ configurable: { thread_id } });

let memory = await openMemory({ path: "files.db" });
const first = await agentOver(memory).invoke(ask("Plan my trip."), thread("monday"));
console.log(first.messages.at(-1)?.text);
await memory.close();

memory = await openMemory({ path: "files.db" });
const second = await agentOver(memory).invoke(ask("What must I buy?"), thread("tuesday"));
console.log(second.messages.at(-1)?.text);
// The file is an item of hers, which any search finds.
const [file] = await memory.scoped({ user: "ada" }).store.search([], { query: "tickets" });
console.log("an item below:", file?.namespace.join("/"), file?.key);
await memory.close();
