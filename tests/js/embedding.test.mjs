// What the model is asked, and what happens when it is another one.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryStore, openMemory, SqliteStore } from "keepsake";

const N = ["notes"];
let folder;
const open = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-embedding-"));
});
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function kept(store) {
  open.push(store);
  return store;
}

/** Counts letters a, b, c…, one dimension each, and its calls. */
function letters(dims = 2) {
  const embed = (texts) => {
    embed.calls.push(texts);
    return texts.map((text) =>
      Array.from({ length: dims }, (_, i) => text.split("abcdef"[i]).length - 1 + 0.01),
    );
  };
  embed.calls = [];
  return embed;
}

const memoryStore = (embeddings, options = {}) =>
  kept(new InMemoryStore({ index: { dims: 2, fields: ["text"], embeddings, ...options } }));

const fileStore = (embeddings, index = {}) =>
  kept(
    new SqliteStore({
      path: join(folder, "memory.db"),
      index: { dims: 2, fields: ["text"], embeddings, ...index },
    }),
  );

test("a function is called once for the texts and queries of a batch", async () => {
  const embed = letters();
  const store = memoryStore(embed);
  await store.batch([
    { namespace: N, key: "1", value: { text: "a" } },
    { namespace: N, key: "2", value: { text: "b" } },
    { namespacePrefix: N, query: "aa" },
  ]);
  expect(embed.calls).toEqual([["a", "b", "aa"]]);
});

test("what was embedded is not embedded again while it is among the newest", async () => {
  const embed = letters();
  const store = memoryStore(embed, { cache: 2 });
  await store.put(N, "1", { text: "a" });
  await store.put(N, "2", { text: "a" });
  await store.search(N, { query: "a" });
  expect(embed.calls).toEqual([["a"]]);
  await store.put(N, "3", { text: "b" });
  await store.put(N, "4", { text: "c" });
  await store.search(N, { query: "a" });
  expect(embed.calls).toEqual([["a"], ["b"], ["c"], ["a"]]);
});

test("documents and queries of a model with two methods are not taken for each other", async () => {
  const store = memoryStore({
    embedDocuments: async (texts) => texts.map(() => [1, 0]),
    embedQuery: async () => [0, 1],
  });
  await store.put(N, "1", { text: "a" });
  for (let i = 0; i < 2; i++) {
    const [hit] = await store.search(N, { query: "a" });
    expect(hit.score).toBeCloseTo(0);
  }
});

test("no vectors are kept with a cache of 0, and a cache of -1 is refused", async () => {
  const embed = letters();
  const store = memoryStore(embed, { cache: 0 });
  await store.put(N, "1", { text: "a" });
  await store.search(N, { query: "a" });
  expect(embed.calls).toEqual([["a"], ["a"]]);
  expect(() => memoryStore(embed, { cache: -1 })).toThrow(/index.cache must be/);
});

test("a vector that the model writes to again is not the one that was kept", async () => {
  const shared = new Float32Array([1, 0]);
  const store = memoryStore((texts) => texts.map(() => shared));
  await store.put(N, "1", { text: "a" });
  shared.set([0, 1]);
  const [hit] = await store.search(N, { query: "a" });
  expect(hit.score).toBeCloseTo(1);
});

test("another model is an error that says what to do, and its vectors are made anew", async () => {
  const first = fileStore(letters(), { model: "one" });
  for (const text of ["aaa", "bbb", "ab"]) await first.put(N, text, { text });
  await first.put(N, "none", { text: "a" }, false);
  await first.close();

  const refused = fileStore(letters(3), { dims: 3, model: "two" });
  await expect(refused.search(N)).rejects.toMatchObject({
    code: "dimension_mismatch",
    message: expect.stringContaining("replace"),
  });
  await refused.close();
  const sameSize = fileStore(letters(), { model: "two" });
  await expect(sameSize.search(N)).rejects.toMatchObject({ code: "model_mismatch" });
  await sameSize.close();

  const embed = letters(3);
  const store = fileStore(embed, { dims: 3, model: "two", replace: true });
  expect(await store.stats()).toMatchObject({ items: 4, vectors: 0, pending: 3 });
  const ended = new AbortController();
  const half = store.reembed({
    batchSize: 2,
    signal: ended.signal,
    onProgress: () => ended.abort(),
  });
  await expect(half).rejects.toMatchObject({ name: "AbortError" });
  for (const batchSize of [0, -1, Number.NaN, 1e10]) {
    await expect(store.reembed({ batchSize })).rejects.toMatchObject({ code: "invalid_argument" });
  }
  expect(await store.stats()).toMatchObject({ vectors: 2, pending: 1 });
  await store.close();

  // Another process goes on.
  const next = fileStore(embed, { dims: 3, model: "two", replace: true });
  const progress = [];
  expect(await next.reembed({ onProgress: (step) => progress.push(step) })).toBe(1);
  expect(progress).toEqual([{ done: 1, left: 0 }]);
  expect(embed.calls.map((texts) => texts.length)).toEqual([2, 1]);
  expect(await next.stats()).toMatchObject({ vectors: 3, pending: 0 });
  const [best] = await next.search(N, { query: "aaaa" });
  expect(best.key).toBe("aaa");
  await next.close();
  await fileStore(embed, { dims: 3, model: "two" }).search(N);
});

test("a model that comes later gets the items from before it, and those put without it", async () => {
  const plain = () => kept(new SqliteStore({ path: join(folder, "memory.db") }));
  const first = plain();
  await first.put(N, "a", { text: "aaa" });
  await first.put(N, "b", { text: "bbb" });
  await first.put(N, "none", { other: 1 });
  await first.put(N, "secret", { text: "aaa" }, false);
  await first.put(N, "title", { text: "aaa", title: "bb" }, ["title"]);
  expect((await first.stats()).pending).toBe(0);
  await first.close();

  const embed = letters();
  const store = fileStore(embed);
  expect(await store.stats()).toMatchObject({ vectors: 0, pending: 4 });
  expect((await store.search(N, { query: "a" })).map(({ score }) => score)).toEqual(
    Array(5).fill(undefined),
  );
  embed.calls.length = 0;
  expect(await store.reembed()).toBe(4);
  expect(embed.calls).toEqual([["aaa", "bbb", "bb"]]);
  expect(await store.stats()).toMatchObject({ vectors: 3, pending: 0 });
  expect((await store.search(N, { query: "bb" }))[0].key).toBe("title");
  await store.close();

  const without = plain();
  await without.put(N, "a", { text: "now b: bbbbb" });
  await without.put(N, "hidden", { text: "b" }, false);
  await without.close();
  const again = fileStore(embed);
  expect(await again.stats()).toMatchObject({ vectors: 2, pending: 1 });
  expect(await again.reembed()).toBe(1);
  expect((await again.search(N, { query: "b" })).slice(0, 3).map(({ key }) => key)).toEqual([
    "title",
    "b",
    "a",
  ]);
});

test("an import while the model is asked: no text of before is taken for one of now", async () => {
  const old = fileStore(letters());
  await old.put(N, "a", { text: "a" });
  await old.close();
  const source = await openMemory({ path: join(folder, "source.db") });
  open.push(source);
  await source.store.put(N, "other", { text: "bbb" });
  const other = await source.export();

  const embed = letters(3);
  let memory;
  let isFirst = true;
  const embeddings = async (texts) => {
    if (isFirst && texts.includes("a")) {
      isFirst = false;
      await memory.import(other);
    }
    return embed(texts);
  };
  const index = { dims: 3, fields: ["text"], embeddings, replace: true };
  memory = await openMemory({ path: join(folder, "memory.db"), index });
  open.push(memory);
  expect((await memory.store.stats()).pending).toBe(1);
  expect(await memory.store.reembed()).toBe(1);
  expect(await memory.store.stats()).toMatchObject({ items: 1, vectors: 1, pending: 0 });
  const [hit] = await memory.store.search(N, { query: "bbb" });
  expect(hit.key).toBe("other");
  expect(hit.score).toBeCloseTo(1);
});

test("two stores on one file, of which one has the model: what the other one puts waits", async () => {
  const path = join(folder, "memory.db");
  const embed = letters();
  const withIndex = fileStore(embed);
  await withIndex.put(N, "a", { text: "aaa" });
  const without = kept(new SqliteStore({ path }));
  await without.put(N, "b", { text: "bbb" });
  await without.put(N, "a", { text: "now bb" });
  await without.put(N, "hidden", { text: "b" }, false);
  for (const mode of [undefined, "auto", "contains", "text", "hybrid"]) {
    const hits = await without.search(N, { query: "bbb", ranking: { mode } });
    expect(hits.map(({ key }) => key)).toEqual(["b"]);
  }
  expect(await without.search(N, { ranking: { mode: "auto" } })).toHaveLength(3);
  await expect(
    without.search(N, { query: "bbb", ranking: { mode: "vector" } }),
  ).rejects.toMatchObject({
    code: "invalid_argument",
  });
  expect(await withIndex.stats()).toMatchObject({ items: 3, vectors: 0, pending: 2 });
  expect(await withIndex.reembed()).toBe(2);
  expect((await withIndex.search(N, { query: "b" })).map(({ key }) => key)).toEqual([
    "a",
    "b",
    "hidden",
  ]);
});

test("a model that names itself is known by that name", async () => {
  const model = (name) => ({
    model: name,
    embedDocuments: async (texts) => texts.map(() => [1, 0]),
    embedQuery: async () => [1, 0],
  });
  const first = fileStore(model("one"));
  await first.put(N, "a", { text: "a" });
  await first.close();
  await expect(fileStore(model("two")).search(N)).rejects.toMatchObject({
    code: "model_mismatch",
    message: expect.stringContaining('"one"'),
  });
});

// An item that was put before its turn waits no more: eight are embedded.
test("calls are answered while items are embedded anew, and what is put then stays", async () => {
  const first = fileStore(letters(), { model: "one" });
  await first.batch(
    Array.from({ length: 9 }, (_, i) => ({ namespace: N, key: `${i}`, value: { text: "a" } })),
  );
  await first.close();
  const store = fileStore(letters(), { model: "two", replace: true });
  await store.stats();
  const puts = [];
  await store.reembed({
    batchSize: 3,
    onProgress: ({ done }) => puts.push(store.put(N, `${9 - done}`, { text: "b" })),
  });
  await Promise.all(puts);
  const hits = await store.search(N, { query: "b", limit: 100 });
  expect(hits).toHaveLength(9);
  expect(
    hits
      .filter(({ score }) => score > 0.99)
      .map(({ key }) => key)
      .sort(),
  ).toEqual(["1", "3", "6"]);
  expect((await store.stats()).pending).toBe(0);
});

test("why an item is no hit can be asked", async () => {
  const store = memoryStore(letters());
  for (const text of ["aaa", "ab", "bbb"]) await store.put(N, text, { text, kind: text.length });
  const reason = async (item, options) => (await store.whyNot(N, item, options)).reason;
  expect(await reason("aaa", { query: "a", limit: 1 })).toBe("hit");
  expect(await reason("missing", { query: "a" })).toBe("noItem");
  expect(await reason({ namespace: ["m"], key: "x" }, { query: "a" })).toBe("noItem");
  expect(await reason("ab", { query: "a", filter: { kind: 3 } })).toBe("filter");
  expect(await reason("ab", { query: "zebra", ranking: { mode: "text" } })).toBe("noMatch");
  expect(await reason("bbb", { query: "a", ranking: { minScore: 0.9 } })).toBe("belowMinScore");
  await store.put(["m"], "x", { text: "a" });
  expect(await reason({ namespace: ["m"], key: "x" }, { query: "a" })).toBe("outsideNamespace");
  const why = await store.whyNot(N, "ab", { query: "a", limit: 1 });
  expect(why).toMatchObject({ reason: "notOnPage", rank: 1 });
  expect(why.lastScore).toBeGreaterThan(why.score);
});

test("explain tells the plan of a search by words", async () => {
  const store = memoryStore(letters());
  await store.put(N, "a", { text: "green tea" });
  const [hit] = await store.search(N, { query: "tea", ranking: { mode: "hybrid" }, explain: true });
  expect(hit.plan).toBe("words and vectors: 1 candidate of 1 item; vectors: codes of 1");
  expect(hit.explain.words).toBeGreaterThan(0);
});

test("reads do not wait for a model that embeds what is put", async () => {
  let answer;
  const slow = new Promise((resolve) => {
    answer = resolve;
  });
  const embed = letters();
  const store = memoryStore(async (texts) => {
    if (texts.includes("slow")) await slow;
    return embed(texts);
  });
  await store.put(N, "a", { text: "a" });
  const order = [];
  const put = store.put(N, "s", { text: "slow" }).then(() => order.push("put"));
  const remove = store.delete(N, "a").then(() => order.push("delete"));
  for (const query of ["a", "new question"]) {
    expect((await store.search(N, { query })).map(({ key }) => key)).toEqual(["a"]);
  }
  expect(order).toEqual([]);
  answer();
  await Promise.all([put, remove]);
  expect(order).toEqual(["put", "delete"]); // writes keep their order
  expect(await store.listKeys(N)).toEqual(["s"]);
});

test.each([
  [[1, null]],
  [[1, true]],
  [["7", 1]],
  [[1, Number.NaN]],
  [[1, 1e39]],
  [[]],
  [null],
  [7],
])("an embedder that answers %j is an error", async (vector) => {
  const store = memoryStore((texts) => texts.map(() => vector));
  await expect(store.put(N, "a", { text: "a" })).rejects.toMatchObject({
    code: "embedding_failed",
  });
  expect(await store.listKeys(N)).toEqual([]);
});
