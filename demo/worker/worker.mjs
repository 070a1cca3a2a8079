// The page's agent on Cloudflare: an object for each user, with the agent and its memory
// in it, and a Worker that finds the object. README.md has the requests.
import { KeepsakeObject, keepsake } from "keepsake/cloudflare";
import { Agent } from "../page/agent/agent.mjs";
import { ScriptedModel } from "../page/agent/scripted-model.mjs";
import { SEARCH } from "../search.mjs";

const model = new ScriptedModel();

export class AgentObject extends KeepsakeObject {
  #agent = new Agent({ memory: this.memory, model: () => model });

  memoryOptions() {
    return SEARCH;
  }

  async say(thread, text) {
    await this.#agent.say(thread, text, () => {});
    return this.state(thread);
  }

  async decide(thread, approved) {
    await this.#agent.decide(thread, approved, () => {});
    return this.state(thread);
  }

  async state(thread) {
    const { messages, question } = await this.#agent.state(thread);
    const spoken = messages.filter(({ content }) => content !== "");
    return { answer: spoken.at(-1)?.content, question, messages: messages.length };
  }
}

export default {
  async fetch(request, env) {
    const [, users, user, ...rest] = new URL(request.url).pathname
      .split("/")
      .map(decodeURIComponent);
    if (users !== "users" || !user) return new Response("not found\n", { status: 404 });
    if (rest[0] === "items") return Response.json(await items(env, user));
    if (rest[0] !== "threads" || !rest[1]) return new Response("not found\n", { status: 404 });
    return Response.json(await converse(request, env.AGENT.getByName(user), rest[1]));
  },
};

async function converse(request, object, thread) {
  if (request.method === "GET") return object.state(thread);
  const { text, approved } = await request.json();
  return text === undefined ? object.decide(thread, approved) : object.say(thread, text);
}

// The Worker itself reaches a user's memory in a line.
async function items(env, user) {
  const { store } = keepsake(env.AGENT, user);
  const found = await store.search([], { limit: 100 });
  return found.map(({ namespace, key, value }) => ({ namespace, key, text: value.text }));
}
