// What the façade itself decides: in which order calls take effect, what a call keeps of
// its arguments, and what an object is when it is closed, printed or forgotten.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { InMemoryStore, MemorySaver, openMemory, SqliteSaver, SqliteStore } from "keepsake";
import { putCheckpoint, threadConfig } from "./support/checkpoints.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

/** An embedding model that answers when it is told to. */
function slowModel() {
  const waiting = [];
  return {
    waiting,
    embedDocuments: (texts) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve: () => resolve(texts.map(() => [1, 0])), reject });
      }),
    embedQuery: async () => [1, 0],
  };
}

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");
const settle = () => new Promise((resolve) => setTimeout(resolve, 20));

function storeOn(model) {
  return new InMemoryStore({ index: { dims: 2, embeddings: model, fields: ["text"] } });
}

describe("calls that are not awaited", () => {
  test("take effect in the order in which they were made", async () => {
    await using store = new SqliteStore({ path: temporaryFile() });
    const calls = [
      store.put(["n"], "k", { i: 1 }),
      store.get(["n"], "k"),
      store.put(["n"], "k", { i: 2 }),
      store.get(["n"], "k"),
      store.delete(["n"], "k"),
      store.get(["n"], "k"),
    ];
    const [, first, , second, , third] = await Promise.all(calls);
    expect([first?.value, second?.value, third]).toEqual([{ i: 1 }, { i: 2 }, null]);
  });

  test("let the last put of a key win, even if the vectors of the first come later", async () => {
    const model = slowModel();
    await using store = storeOn(model);
    const puts = [
      store.put(["n"], "k", { text: "first" }),
      store.put(["n"], "k", { text: "second" }),
    ];
    await settle();
    model.waiting[1].resolve();
    await settle();
    model.waiting[0].resolve();
    await Promise.all(puts);
    expect((await store.get(["n"], "k")).value).toEqual({ text: "second" });
  });

  test("do not make a read wait for the vectors of a put", async () => {
    const model = slowModel();
    await using store = storeOn(model);
    const put = store.put(["n"], "k", { text: "slow" });
    expect(await store.get(["n"], "k")).toBeNull();
    const remove = store.delete(["n"], "k");
    await settle();
    model.waiting[0].resolve();
    await Promise.all([put, remove]);
    expect(await store.get(["n"], "k")).toBeNull();
  });

  test("go on after one whose embedding failed, which alone is refused", async () => {
    const model = slowModel();
    await using store = storeOn(model);
    const bad = store.put(["n"], "bad", { text: "a" });
    const good = store.put(["n"], "good", { text: "b" });
    await settle();
    const cause = new Error("model is away");
    model.waiting[0].reject(cause);
    model.waiting[1].resolve();
    expect((await expectRefused(() => bad, "embedding_failed", /model is away/)).cause).toBe(cause);
    await good;
    expect(await store.listKeys(["n"])).toEqual(["good"]);
  });

  test("keep what their arguments were when they were made", async () => {
    await using memory = await openMemory({ path: ":memory:" });
    const namespace = ["n"];
    const value = { list: [1] };
    const stored = memory.store.put(namespace, "k", value);
    namespace[0] = "changed";
    value.list.push(2);
    const values = { list: [1] };
    const put = putCheckpoint(memory.checkpointer, threadConfig("t"), values);
    values.list.push(2);
    await Promise.all([stored, put]);
    expect((await memory.store.get(["n"], "k")).value).toEqual({ list: [1] });
    const { checkpoint } = await memory.checkpointer.getTuple(threadConfig("t"));
    expect(checkpoint.channel_values).toEqual({ list: [1] });
  });
});

const made = [
  ["InMemoryStore", () => new InMemoryStore(), (store) => store.get(["n"], "k")],
  ["SqliteStore", () => new SqliteStore({ path: ":memory:" }), (store) => store.get(["n"], "k")],
  ["MemorySaver", () => new MemorySaver(), (saver) => saver.getTuple(threadConfig("t"))],
  [
    "SqliteSaver",
    () => SqliteSaver.fromConnString(":memory:"),
    (saver) => saver.getTuple(threadConfig("t")),
  ],
];

describe.each(made)("%s", (name, make, read) => {
  test("may be closed twice, used or not, and then answers closed", async () => {
    const unused = make();
    await unused.close();
    await expectRefused(() => read(unused), "closed", new RegExp(`^\\[keepsake\\] ${name}: `));
    const used = make();
    await read(used);
    await used.close();
    await used.close();
    await expectRefused(() => read(used), "closed");
  });

  test("prints as its name", () => {
    expect(JSON.stringify({ in: make() })).toBe(`{"in":"[${name}]"}`);
  });
});

describe("openMemory", () => {
  test("serves both tiers from one database until it is closed", async () => {
    const path = temporaryFile();
    const memory = await openMemory({ path });
    expect(memory.persistence).toBe("file");
    await memory.store.put(["n"], "k", { n: 1 });
    await putCheckpoint(memory.checkpointer, threadConfig("t"), { a: 1 });
    const stats = await memory.stats();
    const none = { vectors: 0, pending: 0, inGraph: 0 };
    expect(stats.store).toEqual({ items: 1, namespaces: 1, ...none });
    expect(stats.checkpointer).toMatchObject({ threads: 1, checkpoints: 1 });
    await memory.flush();
    expect((await memory.stats()).bytes).toBeGreaterThan(0);
    await memory.close();
    await expectRefused(() => memory.stats(), "closed");
    await expectRefused(() => memory.store.get(["n"], "k"), "closed");
    await expectRefused(() => memory.checkpointer.getTuple(threadConfig("t")), "closed");
  });

  test("keeps the other tier open when one is closed", async () => {
    await using memory = await openMemory({ path: ":memory:" });
    await memory.store.put(["n"], "k", { n: 1 });
    await memory.checkpointer.close();
    expect(await memory.store.listKeys(["n"])).toEqual(["k"]);
    expect(memory.persistence).toBe("memory");
  });

  test("does not know name yet, and says so", async () => {
    await expectRefused(() => openMemory({ name: "agent" }), "unsupported", /name/);
  });
});

test("a store that is forgotten gives its file back", async () => {
  const path = temporaryFile();
  await (async () => {
    const forgotten = new SqliteStore({ path });
    await forgotten.put(["n"], "k", { n: 1 });
  })();
  const engines = globalThis[Symbol.for("keepsake.engines")];
  expect(engines.size).toBe(1);
  for (let i = 0; i < 50 && engines.size > 0; i += 1) {
    gc();
    await settle();
  }
  expect(engines.size).toBe(0);
});
