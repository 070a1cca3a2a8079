// A function at the edge: on Cloudflare the memory of each user lives in R2. On Vercel and Netlify
// it is the same with `vercelBlob()` and `netlifyBlobs()`.
//
//   POST /users/ada/threads/1   the text that she says   → what the agent answers
//
// Needs: what README.md installs, and a bucket; no key of a model.

import { openMemory } from "keepsake";
import { type R2Binding, r2 } from "keepsake/bucket";
import { say } from "./agent.js";

export default {
  async fetch(request: Request, env: { MEMORIES: R2Binding }): Promise<Response> {
    const [, users, user, , thread] = new URL(request.url).pathname.split("/");
    if (users !== "users" || !user || !thread) return new Response("not found\n", { status: 404 });
    const bucket = r2(env.MEMORIES);
    const memory = await openMemory({ bucket, name: user, log: { device: "edge" } });
    try {
      return new Response(await say(memory, thread, await request.text()));
    } finally {
      await memory.close();
    }
  },
};
