// An agent in a Durable Object, with its memory in the object's own SQLite. Each user has an
// object, so that nobody reads what another one said.
//
//   POST /users/ada/threads/1   the text that she says   → what the agent answers
//   GET  /users/ada/facts                                → what it has learnt of her
//
// Needs: wrangler, and what README.md installs; no key.

import { KeepsakeObject, keepsake } from "keepsake/cloudflare";
import { learner, memoryMiddleware } from "keepsake/langchain";
import { AIMessage, createAgent, fakeModel } from "langchain";

const FACTS = ["facts"];

interface Env {
  AGENT: DurableObjectNamespace<Agent>;
}

// In the place of a model of yours: it says what it was shown.
const model = fakeModel();
const answer = () =>
  model.respond((messages) => new AIMessage(messages.at(-2)?.text || "I know nothing of that."));

export class Agent extends KeepsakeObject {
  readonly #learns = learner({
    memory: this.memory,
    namespace: FACTS,
    // In the place of a call of your model: what is no question is a fact.
    extract: ({ messages: [said] }) =>
      said?.text.endsWith("?") ? {} : { put: [said?.text ?? ""] },
    waitUntil: (work) => this.ctx.waitUntil(work),
  });
  readonly #agent = createAgent({
    model,
    middleware: [
      this.#learns.middleware(),
      memoryMiddleware({ memory: this.memory, namespace: FACTS }),
    ],
    checkpointer: this.memory.checkpointer,
  });

  async say(thread_id: string, content: string): Promise<string> {
    answer();
    const { messages } = await this.#agent.invoke(
      { messages: [{ role: "user", content }] },
      { configurable: { thread_id } },
    );
    return messages.at(-1)?.text ?? "";
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, users, user, what, thread] = new URL(request.url).pathname.split("/");
    if (users !== "users" || !user) return new Response("not found\n", { status: 404 });
    if (request.method === "POST" && what === "threads" && thread) {
      return new Response(await env.AGENT.getByName(user).say(thread, await request.text()));
    }
    if (what !== "facts") return new Response("not found\n", { status: 404 });
    const items = await keepsake(env.AGENT, user).store.search(FACTS);
    return Response.json(items.map(({ value }) => value.text));
  },
};
