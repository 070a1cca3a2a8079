// A Durable Object that finds by meaning.

import { DurableObject } from "cloudflare:workers";
import { durableMemory } from "keepsake/cloudflare";
import { english } from "keepsake-english";
import { serve } from "./serve.mjs";

const ns = ["ada"];
const query = "Has she an animal?";

export class English extends DurableObject {
  async memory() {
    this.opened ??= durableMemory(this.ctx.storage, { index: await english() });
    return this.opened;
  }

  async put(key, text) {
    const { store } = await this.memory();
    await store.put(ns, key, { text });
    return store.stats();
  }

  async find(mode) {
    const { store } = await this.memory();
    return (await store.search(ns, { query, mode })).map(({ key }) => key);
  }

  async stats() {
    return (await this.memory()).store.stats();
  }
}

const object = (env) => env.ENGLISH.getByName("one");

export default serve({
  put: (env, key, text) => object(env).put(key, text),
  find: (env, mode) => object(env).find(mode),
  stats: (env) => object(env).stats(),
});
