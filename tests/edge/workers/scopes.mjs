// Objects that decide what a caller may see.

import { KeepsakeError, keepsake, openMemory } from "keepsake/cloudflare";
import { auditOf, putThread } from "../../js/support/auditing.mjs";
import { fill, forgetAda, SECRET } from "../../js/support/forgetting.mjs";
import { differenceOf, optionsOf } from "../../js/support/isolation.mjs";
import { differenceOfSettings, INDEXES, TEXT_OPTIONS } from "../../js/support/settings.mjs";
import { ClockedObject, clocked } from "./clocks.mjs";
import { refusal, serve } from "./serve.mjs";

const embeddings = async (texts) => texts.map((text) => [1, text.includes("tea") ? 1 : 0]);
const index = { dims: 2, embeddings, model: "one" };
// Of all objects: which it is, its name would say, which not every runtime tells.
const own = new Map();
const ownSettings = (env, name, options) => {
  own.set(String(env.MEMORY.idFromName(name)), options);
};

export class Memory extends ClockedObject {
  #heard = [];

  memoryOptions() {
    return { ...super.memoryOptions(), ...own.get(String(this.ctx.id)) };
  }

  policyFor(caller) {
    if (caller === "admin") return undefined;
    if (caller?.policy !== undefined) return { user: caller.user, policy: caller.policy };
    if (typeof caller?.user !== "string") throw new Error("who are you?");
    if (caller.user === "eve") throw new KeepsakeError("access_denied", "eve is locked out");
    const policy = { maxValueBytes: 40, writable: [["notes"], ["user"]] };
    return { user: caller.user, actor: "known to the object", policy };
  }

  /** From now on: what was heard since. */
  hear() {
    this.#heard = [];
    this.memory.onChange((changes) => this.#heard.push(changes));
  }

  heard() {
    return this.#heard;
  }

  restart() {
    this.ctx.abort("restarted by a test");
  }

  /** How many cells of its tables hold the text. */
  cellsWith(text) {
    const { sql } = this.ctx.storage;
    const bytes = new TextEncoder().encode(text).join();
    const holds = (cell) =>
      cell instanceof ArrayBuffer
        ? new Uint8Array(cell).join().includes(bytes)
        : String(cell).includes(text);
    const tables = [...sql.exec("SELECT name FROM sqlite_master WHERE type = 'table'")];
    return tables
      .map(({ name }) => name)
      .filter((name) => !name.startsWith("_cf_"))
      .flatMap((name) => [...sql.exec(`SELECT * FROM "${name}"`).raw()].flat())
      .filter(holds).length;
  }
}

const as = (env, name, caller, options) => keepsake(env.MEMORY, name, { caller, ...options });
// Each call at the time of whoever makes it.
const clockedFor = (env, name, { now, ...options }) => {
  const memory = keepsake(env.MEMORY, name, options);
  const store = new Proxy(memory.store, {
    get: (target, method) =>
      typeof target[method] !== "function"
        ? target[method]
        : (...args) => {
            clocked(env.MEMORY, name, { now });
            return target[method](...args);
          },
  });
  return { store, close: () => memory.close() };
};
const idsOf = async (threads) => {
  const ids = [];
  for await (const { threadId } of threads) ids.push(threadId);
  return ids;
};

export default serve({
  async isolation(env) {
    const ada = as(env, "isolation", { user: "ada@example.com" });
    const bob = as(env, "isolation", { user: "bob" });
    await ada.store.put(["notes"], "k", { text: "green tea" });
    await putThread(ada, "t");
    const admin = as(env, "isolation", "admin");
    return {
      own: (await ada.store.search([], { query: "tea" })).map(({ namespace }) => namespace),
      other: [await bob.store.search([]), await bob.store.listNamespaces()],
      threads: [
        await idsOf(ada.checkpointer.listThreads()),
        await idsOf(bob.checkpointer.listThreads()),
      ],
      whole: await admin.store.listNamespaces(),
      wholeThreads: await idsOf(admin.checkpointer.listThreads()),
    };
  },

  /** A caller's own scope is within the one that the object gives it. */
  async within(env) {
    const bob = as(env, "within", { user: "bob" });
    await bob.scoped({ user: "ada" }).store.put(["n"], "k", { n: 1 });
    return as(env, "within", "admin").store.listNamespaces();
  },

  async refusals(env) {
    const ada = as(env, "refusals", { user: "ada" });
    const { store } = ada;
    return [
      await refusal(() => store.put(["facts"], "k", { n: 1 })),
      await refusal(() => store.put(["notes"], "k", { text: "x".repeat(40) })),
      await refusal(() => store.stats()),
      await refusal(() => ada.export({ format: "portable" })),
      await refusal(() => as(env, "refusals", undefined).store.get(["n"], "k")),
      await refusal(() => as(env, "refusals", { user: "eve" }).store.get(["n"], "k")),
    ];
  },

  /** A request as anybody could send it, who has a stub. */
  async raw(env, { name, caller, frame, ...more }) {
    const request = { frame: Uint8Array.from(frame), settings: undefined, caller, ...more };
    const response = await env.MEMORY.get(env.MEMORY.idFromName(name)).keepsakeExecute(request);
    return response instanceof Uint8Array ? { frame: [...response] } : response;
  },

  /** The same of somebody who keeps a log, and what the object heard meanwhile. */
  async watched(env, { name, frames }) {
    const admin = as(env, name, "admin");
    const object = env.MEMORY.get(env.MEMORY.idFromName(name));
    await admin.keepAudit({ maxAge: 60 });
    await admin.store.put(["user", "ada", "notes"], "kept", { n: 1 });
    await object.hear();
    const answers = [];
    for (const { caller, frame, ...more } of frames) {
      const request = { frame: Uint8Array.from(frame), settings: undefined, caller, ...more };
      const response = await object.keepsakeExecute(request);
      answers.push(response instanceof Uint8Array ? { frame: [...response] } : response);
    }
    const items = await admin.store.search([], { limit: 100 });
    return {
      answers,
      heard: await object.heard(),
      items: items.map(({ namespace, key, updatedAt }) => [...namespace, key, +updatedAt]),
      log: await admin.auditLog(),
      now: Date.now(),
    };
  },

  /** The object's own index counts: what a scoped caller brings is that, or is refused alone. */
  async index(env, name = "index") {
    ownSettings(env, name, { index });
    const [ada, bob] = ["ada", "bob"].map(
      (user) => (given) => as(env, name, { user }, given && { index: given }).store,
    );
    await ada(index).put(["notes"], "k", { text: "tea" });
    const others = [
      { ...index, model: "two", replace: true },
      { ...index, dims: 3 },
      { ...index, replace: true },
    ];
    const refused = [];
    for (const other of others)
      refused.push(await refusal(() => bob(other).put(["notes"], "k", {})));
    const object = env.MEMORY.get(env.MEMORY.idFromName(name));
    await object.restart().catch(() => {});
    refused.push(await refusal(() => bob(others[0]).get(["notes"], "k")));
    return {
      refused,
      found: (await ada(index).search([], { query: "tea", ranking: { mode: "vector" } })).length,
      without: (await bob().search([])).length,
      stats: await as(env, name, "admin").store.stats(),
    };
  },

  /** Where the object has no index, none comes from a scoped caller, also after a restart. */
  async noIndex(env) {
    const bob = (options) => as(env, "no index", { user: "bob" }, options).store;
    const object = env.MEMORY.get(env.MEMORY.idFromName("no index"));
    const refused = [];
    for (const options of [{ index }, { text: { fields: { text: 2 } } }]) {
      refused.push(await refusal(() => bob(options).put(["notes"], "k", { text: "tea" })));
      await object.restart().catch(() => {});
    }
    const ada = as(env, "no index", { user: "ada" }).store;
    await ada.put(["notes"], "k", { text: "tea" });
    const three = { ...index, dims: 3, embeddings: async (texts) => texts.map(() => [1, 2, 3]) };
    const admin = as(env, "no index", "admin", { index: three }).store;
    return { refused, own: (await ada.search([])).length, pending: (await admin.stats()).pending };
  },

  async now(env) {
    return refusal(async () => keepsake(env.MEMORY, "now", { now: () => 0 }));
  },

  /** Two callers by policyFor() and their settings: whatever one sets, the other does not feel. */
  async settings(env, { seed, rounds }) {
    const ofMemory = { index: seed % 2 ? INDEXES[0] : undefined, text: TEXT_OPTIONS[0] };
    const names = ["both", "first", "second"].map((which) => `settings ${seed} ${which}`);
    for (const name of names) ownSettings(env, name, ofMemory);
    const differs = (name, given) => given !== undefined && given !== ofMemory[name];
    return differenceOfSettings({
      seed,
      rounds,
      calls: 5,
      ofMemory,
      refusalOf: ({ options }) =>
        differs("index", options.index) || differs("text", options.text)
          ? "conflicting_options"
          : undefined,
      async open(which, user, { options, clock, policy = {} }) {
        const caller = { user, policy };
        const given = { ...options, caller, now: () => clock.time };
        const { store, close } = clockedFor(env, names[which], given);
        await store.get(["notes"], "none");
        return { memory: { store }, close };
      },
    });
  },

  /** As memories of their own, through a stub. */
  async random(env, portion) {
    const options = { caller: "admin", ...optionsOf(portion.seed) };
    const memory = clocked(env.MEMORY, `random ${portion.seed}`, options);
    return differenceOf(memory, openMemory, portion);
  },

  /** Forgets one of two users, and says in how many cells she was and is. */
  async forget(env) {
    const cells = (name) => env.MEMORY.get(env.MEMORY.idFromName(name)).cellsWith(SECRET);
    await fill(as(env, "filled", "admin"));
    const outcome = await forgetAda(as(env, "forget", "admin"));
    const memory = as(env, "forget", "admin");
    await memory.hold(["user", "bob"], "case 7");
    const refused = await refusal(() => memory.forget({ namespaces: [["user"]] }));
    return { outcome, before: await cells("filled"), after: await cells("forget"), refused };
  },

  /** What is kept of who wrote, and of a caller whom the object refused. */
  async audit(env) {
    const outcome = await auditOf(as(env, "audit", "admin"));
    const memory = as(env, "audit", "admin");
    await memory.keepAudit();
    const ada = as(env, "audit", { user: "ada" });
    await ada.store.put(["notes"], "k", { n: 1 });
    await refusal(() => ada.store.put(["facts"], "k", { n: 1 }));
    const refused = await refusal(() => ada.dropAudit());
    return { outcome, log: await memory.auditLog(), refused };
  },
});
