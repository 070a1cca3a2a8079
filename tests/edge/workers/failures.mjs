// Objects in which something fails at a chosen moment.

import { DurableObject } from "cloudflare:workers";
import { durableMemory, InMemoryStore, KeepsakeObject, keepsake } from "keepsake/cloudflare";
import { refusal, serve } from "./serve.mjs";
import trapModule from "./trap.wasm";

const { trap } = new WebAssembly.Instance(trapModule, {}).exports;

// What an instance imports traps when it is armed and the count is down. As an own
// import of the engine it is indistinguishable from a trap in the engine itself.
const armed = { calls: Number.POSITIVE_INFINITY };
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(module, imports) {
    const wrap = (imported) =>
      typeof imported === "function"
        ? (...args) => {
            if (--armed.calls < 0) trap();
            return imported(...args);
          }
        : imported;
    const wrapped = Object.entries(imports).map(([from, functions]) => [
      from,
      Object.fromEntries(Object.entries(functions).map(([name, f]) => [name, wrap(f)])),
    ]);
    super(module, Object.fromEntries(wrapped));
  }
};

const keys = (memory) => memory.store.listKeys(["n"]);
const put = (key) => ({ namespace: ["n"], key, value: { key } });

export class Failing extends DurableObject {
  memory = durableMemory(this.ctx.storage);

  put(key) {
    return this.memory.store.put(["n"], key, { key });
  }

  keys() {
    return keys(this.memory);
  }

  async statement() {
    await this.put("before");
    this.ctx.storage.sql.exec(
      `CREATE TRIGGER refuse BEFORE INSERT ON store_kv WHEN new.key = 'bad'
       BEGIN SELECT RAISE(ABORT, 'refused on purpose'); END`,
    );
    const refused = await refusal(() => this.memory.store.batch([put("a"), put("bad"), put("c")]));
    const during = await keys(this.memory);
    await this.put("after");
    return { refused, during, after: await keys(this.memory) };
  }

  /** The host's `exec` throws at the statement after `count` others. */
  async exception(count) {
    const { storage } = this.ctx;
    let left = Number.POSITIVE_INFINITY;
    const failing = {
      transactionSync: (body) => storage.transactionSync(body),
      sql: {
        get databaseSize() {
          return storage.sql.databaseSize;
        },
        exec(...args) {
          if (--left < 0) throw new Error("thrown on purpose");
          return storage.sql.exec(...args);
        },
      },
    };
    const memory = durableMemory(failing);
    await memory.store.put(["n"], "before", {});
    left = count;
    const refused = await refusal(() => memory.store.batch([put("a"), put("b"), put("c")]));
    left = Number.POSITIVE_INFINITY;
    const during = await keys(memory);
    await memory.store.put(["n"], "after", {});
    return { refused, during, after: await keys(memory) };
  }

  /** The engine traps when it calls its host again after `count` times. */
  async trap(count) {
    await this.put("before");
    armed.calls = count;
    const refused = await refusal(() => this.memory.store.batch([put("a"), put("b"), put("c")]));
    armed.calls = Number.POSITIVE_INFINITY;
    const during = await keys(this.memory);
    await this.put("after");
    return { refused, during, after: await keys(this.memory) };
  }

  async beside() {
    this.ctx.storage.sql.exec("CREATE TABLE notes(text)");
    await this.put("a");
    return keys(this.memory);
  }

  /** What is asked after everything was deleted, one question for each memory. */
  async erased(method) {
    const { store, checkpointer } = this.memory;
    const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
    const putCheckpoint = (id) => {
      const checkpoint = { v: 4, id, ts: "", channel_values: { id }, channel_versions: { id } };
      return checkpointer.put(config, { ...checkpoint, versions_seen: {} }, {}, { id });
    };
    await this.put("before");
    await store.search(["n"], { query: "before", ranking: { mode: "text" } });
    await putCheckpoint("1");
    await this.ctx.storage.deleteAll();
    const methods = {
      get: () => store.get(["n"], "before"),
      put: () => this.put("after"),
      search: () => store.search(["n"], { query: "before", ranking: { mode: "text" } }),
      getTuple: () => checkpointer.getTuple(config),
      putCheckpoint: () => putCheckpoint("2"),
      stats: () => this.memory.stats(),
    };
    const refused = await refusal(methods[method]);
    await this.put("later");
    await putCheckpoint("3");
    const { checkpoint } = await checkpointer.getTuple(config);
    return { refused, keys: await keys(this.memory), values: checkpoint.channel_values };
  }

  /** The first call, which makes the tables, is in a transaction that is undone. */
  async undone() {
    const refused = await refusal(() =>
      this.ctx.storage.transaction(async () => {
        await this.put("before");
        throw new Error("undone on purpose");
      }),
    );
    await this.put("after");
    return { refused, keys: await keys(this.memory) };
  }

  foreign() {
    this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS writes(text)");
    return refusal(() => this.put("a"));
  }
}

export class Memory extends KeepsakeObject {
  erase() {
    return this.ctx.storage.deleteAll();
  }

  spoil() {
    this.ctx.storage.sql.exec("CREATE TABLE writes(text)");
  }
}

const object = (env, name) => env.FAILING.get(env.FAILING.idFromName(name));

export default serve({
  beside: (env) => object(env, "beside").beside(),
  statement: (env) => object(env, "statement").statement(),
  exception: (env, count) => object(env, `exception ${count}`).exception(count),
  trap: (env, count) => object(env, `trap ${count}`).trap(count),
  erased: (env, method) => object(env, `erased ${method}`).erased(method),
  undone: (env) => object(env, "undone").undone(),
  foreign: (env) => object(env, "foreign").foreign(),

  /** A trap in one object, seen by others of the isolate. */
  async bystander(env) {
    const other = object(env, "bystander");
    await other.put("before");
    const inMemory = new InMemoryStore();
    await inMemory.put(["n"], "k", {});
    await object(env, "culprit").trap(2);
    await other.put("after");
    return {
      keys: await other.keys(),
      inMemory: await refusal(() => inMemory.get(["n"], "k")),
    };
  },

  /** Of an object that was emptied, by those who go on calling it. */
  async erasedByStub(env) {
    const memory = keepsake(env.MEMORY, "erased by stub");
    const object = env.MEMORY.getByName("erased by stub");
    await memory.store.put(["n"], "before", {});
    await object.erase();
    const found = await memory.store.get(["n"], "before");
    await object.erase();
    await memory.store.put(["n"], "after", {});
    return { found, keys: await keys(memory) };
  },

  async mistakes(env) {
    const memory = keepsake(env.MEMORY, "mistakes");
    await memory.store.put(["n"], "k", { user: { name: "Ada" } });
    return Promise.all([
      refusal(async () => keepsake(env.MEMORY, "mistakes", { locationhint: "weur" })),
      refusal(async () => keepsake(env.MEMORY, "mistakes", { path: "agent.db" })),
      refusal(async () => durableMemory(env.MEMORY, { ttl: 60 })),
      refusal(async () => durableMemory(env.MEMORY, { searchmode: "text" })),
      refusal(async () => keepsake(env.MEMORY, "mistakes", { key: "a passphrase" })),
      refusal(async () => durableMemory(env.MEMORY, { key: "a passphrase" })),
      refusal(() => memory.store.search(["n"], { where: {} })),
      refusal(() => memory.store.search(["n"], { filter: { "user.name": "Ada" } })),
      refusal(() => memory.checkpointer.renameThread("nobody", "somebody")),
    ]);
  },

  async byStub(env) {
    const memory = keepsake(env.MEMORY, "by stub");
    const config = { configurable: { checkpoint_ns: "" } };
    const codes = [
      await refusal(() => memory.checkpointer.put(config, { id: "1" }, {}, {})),
      await refusal(() => memory.store.search(["n"], { filter: { a: { $no: 1 } } })),
      await refusal(() => memory.store.put(["n"], "k", { text: "x".repeat(3_000_000) })),
      await refusal(() => memory.store.put([""], "k", {})),
      await refusal(() => memory.export({ format: "sqlite" })),
    ];
    await memory.store.put(["n"], "k", { there: true });
    const spoiled = env.MEMORY.get(env.MEMORY.idFromName("spoiled"));
    await spoiled.spoil();
    codes.push(await refusal(() => keepsake(env.MEMORY, "spoiled").store.get(["n"], "k")));
    return { codes, item: (await memory.store.get(["n"], "k")).value };
  },
});
