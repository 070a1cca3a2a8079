// A listener of progress that throws: a typed error with what it threw, and a store that
// goes on.

import { InMemoryStore, openMemory, SqliteStore } from "keepsake";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const N = ["notes"];
const refusal = new Error("no progress, please");
const onProgress = () => {
  throw refusal;
};
const cases = ["tea", "rain"].map((key) => ({ namespacePrefix: N, query: key, relevant: [key] }));
const index = { dims: 2, embeddings: (texts) => texts.map((text) => [text.length, 1]) };

async function fill(store) {
  for (const key of ["tea", "rain"]) await store.put(N, key, { text: key });
  return store;
}

const expectThrown = (call) =>
  expect(call).rejects.toMatchObject({
    name: "KeepsakeError",
    code: "invalid_argument",
    message: expect.stringMatching(/^\[keepsake\] \w+: onProgress threw: no progress, please$/),
    cause: expect.anything(),
  });

test.each(["eval", "tune"])("%s ends, and changes nothing", async (method) => {
  const store = await fill(new InMemoryStore());
  await expectThrown(store[method](cases, { onProgress }));
  expect((await store.eval(cases)).recall).toBe(1);
  await store.close();
});

test("buildIndex and reembed end, and go on by the next call", async () => {
  const path = temporaryFile("progress.db");
  const old = await fill(new SqliteStore({ path, index: { ...index, model: "old" } }));
  await expectThrown(old.buildIndex({ onProgress }));
  expect(await old.buildIndex()).toBe(2);
  await old.close();
  const store = new SqliteStore({ path, index: { ...index, model: "new", replace: true } });
  await expectThrown(store.reembed({ batchSize: 1, onProgress }));
  expect((await store.stats()).pending).toBe(1);
  expect(await store.reembed()).toBe(1);
  expect(await store.search(N, { query: "tea" })).toHaveLength(2);
  await store.close();
});

test.each(["sqlite", "portable"])(
  "export and import of %s end, and can be repeated",
  async (format) => {
    const source = await openMemory({ path: ":memory:" });
    await fill(source.store);
    await expectThrown(source.export({ format, onProgress }));
    const bytes = await source.export({ format });
    const target = await openMemory({ path: ":memory:" });
    await target.store.put(N, "old", {});
    await expectThrown(target.import(bytes, { onProgress }));
    await target.import(bytes);
    expect(await target.store.listKeys(N)).toEqual(["rain", "tea"]);
    await Promise.all([source.close(), target.close()]);
  },
);

test("a listener that is no function is refused", async () => {
  const store = await fill(new InMemoryStore());
  await expect(store.eval(cases, { onProgress: 5 })).rejects.toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining("onProgress"),
  });
  await store.close();
});
