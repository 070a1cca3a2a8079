// What a first request takes, and what many objects take in one isolate.

import { KeepsakeObject, keepsake } from "keepsake/cloudflare";
import { linearMemory } from "./linear-memory.mjs";
import { serve } from "./serve.mjs";

export class Cold extends KeepsakeObject {
  async first() {
    await this.memory.store.put(["n"], "k", { text: "v" });
    return (await this.memory.store.get(["n"], "k")).value;
  }
}

export default serve({
  first: (env) => env.OBJECT.getByName("first").first(),

  async large(env) {
    const { store } = keepsake(env.OBJECT, "large");
    const text = "x".repeat(1_000_000);
    for (let i = 0; i < 30; i++) await store.put(["n"], `k${i}`, { text });
    const found = await store.search(["n"], { limit: 30 });
    const after = linearMemory();
    const again = await store.get(["n"], "k7");
    return { found: found.length, again: again.value.text.length, after, now: linearMemory() };
  },

  // More than an answer takes, beside somebody else.
  async tooLarge(env) {
    const [large, other] = ["too large", "other"].map((name) => keepsake(env.OBJECT, name).store);
    const text = "x".repeat(1_000_000);
    for (let i = 0; i < 40; i++) await large.put(["n"], `k${i}`, { text });
    await other.put(["n"], "k", { n: 1 });
    const refused = await large.search(["n"], { limit: 40 }).catch(({ code, message }) => ({
      code,
      message,
    }));
    return {
      refused,
      other: (await other.get(["n"], "k")).value,
      found: (await large.search(["n"], { limit: 20 })).length,
    };
  },

  async many(env, count) {
    for (let i = 0; i < count; i++) {
      const { store, checkpointer } = keepsake(env.OBJECT, `object ${i}`);
      const items = Array.from({ length: 200 }, (_, n) => ({
        namespace: ["n"],
        key: `k${n}`,
        value: { text: "x".repeat(1000) },
      }));
      await store.batch(items);
      await store.search(["n"], { limit: 200 });
      await checkpointer.getTuple({ configurable: { thread_id: "t", checkpoint_ns: "" } });
    }
    return linearMemory();
  },
});
