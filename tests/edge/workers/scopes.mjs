// Objects that decide what a caller may see.

import {
  KeepsakeError,
  KeepsakeObject,
  keepsake,
  openMemory,
  resolveNamespace,
} from "keepsake/cloudflare";
import { auditOf, putThread } from "../../js/support/auditing.mjs";
import { fill, forgetAda, SECRET } from "../../js/support/forgetting.mjs";
import { differenceOf, optionsOf } from "../../js/support/isolation.mjs";
import { refusal, serve } from "./serve.mjs";

export class Memory extends KeepsakeObject {
  policyFor(caller) {
    if (caller === "admin") return undefined;
    if (typeof caller?.user !== "string") throw new Error("who are you?");
    if (caller.user === "eve") throw new KeepsakeError("access_denied", "eve is locked out");
    const policy = { maxValueBytes: 40, writable: [["notes"], ["user"]] };
    return { user: caller.user, actor: "known to the object", policy };
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

  /** A stub that is not ours, and calls what it likes a configuration. */
  async forged(env) {
    const ada = as(env, "forged", "admin").scoped({ user: "ada" });
    await ada.store.put(["notes"], "k", { n: 1 });
    const stub = env.MEMORY.get(env.MEMORY.idFromName("forged"));
    const clear = { kind: "clearNamespace", namespace: ["user", "ada", "notes"] };
    const answer = await stub.keepsakeExecute({
      frame: new Uint8Array(40),
      changes: undefined,
      configurations: [clear],
      caller: { user: "bob" },
    });
    return { code: answer.code, item: await ada.store.get(["notes"], "k") };
  },

  /** An index of a caller's store is that of the memory; it can't void what is there. */
  async index(env) {
    const embeddings = async (texts) => texts.map((text) => [1, text.includes("tea") ? 1 : 0]);
    const index = { dims: 2, embeddings, model: "one" };
    const ada = as(env, "index", { user: "ada" }, { index });
    await ada.store.put(["notes"], "k", { text: "tea" });
    const replacing = { ...index, model: "two", replace: true };
    return {
      found: (await ada.store.search([], { query: "tea" })).length,
      replaced: await refusal(() =>
        as(env, "index", { user: "bob" }, { index: replacing }).store.get(["notes"], "k"),
      ),
    };
  },

  /** As memories of their own, through a stub. */
  async random(env, portion) {
    const options = { caller: "admin", ...optionsOf(portion.seed) };
    const memory = keepsake(env.MEMORY, `random ${portion.seed}`, options);
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

  /** A secret through a stub: what was told, and what is there. */
  async secrets(env) {
    const usual = as(env, "secrets", "admin");
    await usual.store.put(["n"], "kept", { text: "card 4111 1111 1111 1111" });
    const kept = (await usual.store.get(["n"], "kept")).value;
    const told = [];
    const secrets = { mode: "mask", onMasked: (report) => told.push(report) };
    const { store } = as(env, "secrets", "admin", { secrets });
    await store.put(["n"], "k", { text: "card 4111 1111 1111 1111" });
    const refusing = as(env, "secrets", "admin", { secrets: "refuse" });
    const refused = await refusal(() =>
      refusing.store.put(["n"], "l", { text: "card 4111 1111 1111 1111" }),
    );
    return { kept, told, stored: (await store.get(["n"], "k")).value, refused };
  },

  /** A provider through a stub. */
  async provider(env) {
    const provider = as(env, "provider", "admin").provider();
    const namespace = resolveNamespace("user", { user_id: "ada" });
    await provider.store({ namespace, key: "tea", value: "likes tea", metadata: { class: "a" } });
    const events = [];
    const onAccess = ({ phase, operation, scope }) => events.push(`${phase} ${operation} ${scope}`);
    const ada = as(env, "provider", "admin").scoped({ user: "ada", onAccess });
    return {
      recalled: await provider.recall({ namespace, query_text: "tea", filter: { class: "a" } }),
      scoped: (await ada.store.search([])).map(({ namespace, key }) => [namespace, key]),
      cleared: await provider.clear_namespace(namespace),
      events,
    };
  },
});
