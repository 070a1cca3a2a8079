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
