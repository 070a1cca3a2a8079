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
