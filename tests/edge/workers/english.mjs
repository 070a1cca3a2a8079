// A Durable Object that finds by meaning.

import { DurableObject } from "cloudflare:workers";
import { durableMemory } from "keepsake/cloudflare";
import { english } from "keepsake-english";
import { serve } from "./serve.mjs";

const ns = ["ada"];
const query = "Has she an animal?";

const index = await english();

export class English extends DurableObject {
  store = durableMemory(this.ctx.storage, { index }).store;

  async put(key, text) {
    await this.store.put(ns, key, { text });
    return this.store.stats();
  }

  async find(mode) {
    return (await this.store.search(ns, { query, ranking: { mode } })).map(({ key }) => key);
  }

  stats() {
    return this.store.stats();
  }
}

const object = (env) => env.ENGLISH.getByName("one");

export default serve({
  put: (env, key, text) => object(env).put(key, text),
  find: (env, mode) => object(env).find(mode),
  stats: (env) => object(env).stats(),
});
