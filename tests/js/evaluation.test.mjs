import { InMemoryStore } from "keepsake";

const N = ["notes"];
let store;

afterEach(() => store.close());

async function filled(options) {
  store = new InMemoryStore(options);
  const texts = { tea: "green tea", coffee: "black coffee", both: "tea or coffee", rain: "rain" };
  await store.batch(
    Object.entries(texts).map(([key, text]) => ({ namespace: N, key, value: { text } })),
  );
  return store;
}

test("eval counts what is found of what is relevant", async () => {
  await filled();
  const progress = [];
  const report = await store.eval(
    [
      { namespacePrefix: N, query: "green tea", relevant: ["tea"] },
      { namespacePrefix: N, query: "rain", relevant: ["rain", "snow"] },
      { namespacePrefix: N, query: "bicycle", relevant: ["tea"] },
    ],
    { onProgress: (done, total) => progress.push([done, total]) },
  );
  expect(report.cases).toBe(3);
  expect(report.recall).toBeCloseTo((1 + 0.5 + 0) / 3);
  expect(report.mrr).toBeCloseTo((1 + 1 + 0) / 3);
  expect(report.ndcg).toBeGreaterThan(0.5);
  expect(report.latency.p95).toBeGreaterThanOrEqual(report.latency.median);
  expect(progress).toEqual([
    [1, 3],
    [2, 3],
    [3, 3],
  ]);
});

test("a key that is found in two namespaces counts once, and k relevant hits are all there can be", async () => {
  await filled();
  await store.put(["notes", "old"], "tea", { text: "green tea" });
  const twice = [{ namespacePrefix: N, query: "tea", relevant: ["tea"] }];
  expect(await store.eval(twice, { k: 3 })).toMatchObject({ recall: 1, mrr: 1 });
  const more = [{ namespacePrefix: N, query: "tea", relevant: ["tea", "both"] }];
  expect(await store.eval(more, { k: 1 })).toMatchObject({ recall: 0.5, ndcg: 1 });
});

test("an evaluation restarts no TTL", async () => {
  let now = 0;
  store = new InMemoryStore({ ttl: { defaultTtl: 1, refreshOnRead: true }, now: () => now });
  await store.put(N, "tea", { text: "green tea" });
  now = 50_000;
  const cases = [{ namespacePrefix: N, query: "tea", relevant: ["tea"] }];
  expect((await store.eval(cases)).recall).toBe(1);
  now = 70_000;
  expect(await store.get(N, "tea")).toBeNull();
});

test("tune tells of every search, up to the last", async () => {
  await filled();
  const cases = ["tea", "rain", "coffee"].map((key) => ({
    namespacePrefix: N,
    query: key,
    relevant: [key],
  }));
  const progress = [];
  await store.tune(cases, { onProgress: (done, total) => progress.push([done, total]) });
  expect(progress.length).toBeGreaterThan(2 * cases.length);
  expect(progress.map(([done]) => done)).toEqual(progress.map((_, i) => i + 1));
  expect(new Set(progress.map(([, total]) => total))).toEqual(new Set([progress.length]));
  // Weights of words are tried where words count.
  for (const mode of ["text", "contains", "auto"]) {
    await expect(store.tune(cases, { ranking: { mode } })).resolves.toHaveProperty("ranking");
  }
});

test("tune keeps no weights that are no better on cases it did not see", async () => {
  await filled();
  const cases = ["tea", "rain"].map((key) => ({ namespacePrefix: N, query: key, relevant: [key] }));
  const { ranking, before, after } = await store.tune(cases, { k: 1 });
  expect(ranking).toEqual({ mode: "hybrid" });
  expect(after).toEqual(before);
});

test("tune begins with what it is given, and its answer is a ranking for searches and stores", async () => {
  await filled({ ranking: { mode: "text" } });
  const cases = ["tea", "rain"].map((key) => ({ namespacePrefix: N, query: key, relevant: [key] }));
  const { ranking } = await store.tune(cases, { ranking: { boosts: { importance: 0.5 } } });
  expect(ranking).toMatchObject({ mode: "text", boosts: { importance: 0.5 } });
  const [hit] = await store.search(N, { query: "rain", ranking });
  expect(hit.key).toBe("rain");
  const again = new InMemoryStore({ ranking });
  expect(await again.search(N, { query: "rain" })).toEqual([]);
  await again.close();
  await expect(store.eval(cases, { recency: 1 })).rejects.toThrow("it is one of ranking");
});

test("tune finds the weights of a better embedder than the words are", async () => {
  const vectors = { tea: [1, 0], coffee: [0, 1], both: [0.7, 0.7], rain: [-1, 0] };
  const embeddings = (texts) =>
    texts.map((text) => {
      const key = Object.keys(vectors).find((name) => text.includes(name)) ?? "rain";
      return vectors[key];
    });
  await filled({ index: { dims: 2, embeddings, fields: ["text"] } });
  const cases = ["black coffee", "black coffee please"].map((query) => ({
    namespacePrefix: N,
    query,
    relevant: ["coffee"],
  }));
  const { after, before } = await store.tune(cases, { k: 1 });
  expect(after.recall).toBeGreaterThanOrEqual(before.recall);
});

test("cases without relevant keys, and none at all, are refused", async () => {
  await filled();
  await expect(store.eval([])).rejects.toMatchObject({ code: "invalid_argument" });
  await expect(
    store.eval([{ namespacePrefix: N, query: "tea", relevant: [] }]),
  ).rejects.toMatchObject({ code: "invalid_argument" });
});
