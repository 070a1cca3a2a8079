// Calls whose answer is lost, by objects that are restarted after they have done the work.

import { KeepsakeObject, keepsake } from "keepsake/cloudflare";
import { refusal, serve } from "./serve.mjs";

export class Memory extends KeepsakeObject {
  restart() {
    this.ctx.abort("restarted by a test");
  }

  answers() {
    return this.ctx.storage.sql.exec("SELECT count(*) AS n FROM answers").one().n;
  }
}

/** The namespace, with answers that are lost: `losses` says how, call by call. */
function losing(namespace, losses, calls = []) {
  return {
    idFromName: (name) => namespace.idFromName(name),
    get(id) {
      calls.push("connect");
      const object = namespace.get(id);
      return {
        async keepsakeExecute(request) {
          // A write is to be remembered.
          const loss = (request.frame[2] & 1) === 0 ? undefined : losses.shift();
          calls.push(loss?.name ?? "answer");
          if (loss?.before) throw Object.assign(new Error("not reached"), loss.before);
          const response = await object.keepsakeExecute(request);
          if (loss === undefined) return response;
          // What its own exception says, when an object is reset.
          const error = await object.restart().catch((thrown) => thrown);
          await loss.meanwhile?.();
          throw loss.after ? Object.assign(new Error("lost"), loss.after) : error;
        },
      };
    },
  };
}

const value = async ({ store }) => (await store.get(["n"], "k"))?.value.n;

export default serve({
  /** Somebody else writes after the first try was applied, and before the second. */
  async put(env) {
    const other = keepsake(env.MEMORY, "put");
    const calls = [];
    const losses = [{ name: "reset", meanwhile: () => other.store.put(["n"], "k", { n: 2 }) }];
    const memory = keepsake(losing(env.MEMORY, losses, calls), "put");
    await memory.store.put(["n"], "k", { n: 1 });
    return { calls, value: await value(memory) };
  },

  /** The number of items deleted is that of the first try. */
  async count(env) {
    const losses = [];
    const memory = keepsake(losing(env.MEMORY, losses), "count");
    for (const key of ["a", "b", "c"]) await memory.store.put(["n"], key, { n: 1 });
    losses.push({ name: "lost" }, { name: "lost" });
    return memory.store.clearNamespace(["n"]);
  },

  async notReached(env) {
    const losses = [{ name: "unreachable", before: { retryable: true } }];
    const memory = keepsake(losing(env.MEMORY, losses), "not reached");
    await memory.store.put(["n"], "k", { n: 3 });
    return value(memory);
  },

  async overloaded(env) {
    const calls = [];
    const losses = [{ name: "overloaded", before: { overloaded: true, retryable: true } }];
    const memory = keepsake(losing(env.MEMORY, losses, calls), "overloaded");
    const refused = await refusal(() => memory.store.put(["n"], "k", { n: 4 }));
    return { refused, calls };
  },

  /** `before` is what Cloudflare says of every try. */
  async failing(env, before) {
    const losses = Array.from({ length: 9 }, () => ({ name: "broken", before }));
    const memory = keepsake(losing(env.MEMORY, losses), "failing");
    const refused = await refusal(() => memory.store.put(["n"], "k", { n: 5 }));
    return { refused, tries: 9 - losses.length };
  },

  async many(env) {
    const losses = [];
    const memory = keepsake(losing(env.MEMORY, losses), "many");
    for (let i = 0; i < 10; i++) {
      if (i % 3 === 1) losses.push({ name: "reset" });
      await memory.store.put(["n"], `k${i}`, { n: i });
    }
    const together = Array.from({ length: 10 }, (_, i) =>
      memory.store.put(["m"], `k${i}`, { n: i }),
    );
    losses.push({ name: "reset" });
    await Promise.all(together);
    const keys = await Promise.all([memory.store.listKeys(["n"]), memory.store.listKeys(["m"])]);
    await memory.store.put(["n"], "last", { n: 1 });
    return {
      keys: keys.map((found) => found.length),
      answers: await env.MEMORY.getByName("many").answers(),
    };
  },
});
