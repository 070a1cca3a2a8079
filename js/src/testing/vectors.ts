// Search by meaning, with embeddings of three colours.

import {
  cases,
  keysOf,
  N,
  numbered,
  operations,
  putAll,
  sortedKeysOf,
  table,
  valueAt,
} from "./case.js";
import { expectClose, expectEqual, expectRejection, expectTrue } from "./check.js";
import type { StoreUnderTest } from "./types.js";

const HALF = Math.SQRT1_2;

const put = (key: string, value: unknown) => ({ namespace: N, key, value });

async function expectScores(
  store: StoreUnderTest,
  query: string,
  expected: Record<string, number | undefined>,
): Promise<void> {
  const hits = await store.search(N, { query, limit: 100 });
  expectEqual(sortedKeysOf(hits), Object.keys(expected).sort(), `hits of ${query}`);
  for (const { key, score } of hits) {
    const wanted = expected[key];
    if (wanted === undefined) expectEqual(score, undefined, `score of ${key}`);
    else expectClose(score, wanted, `score of ${key}`);
  }
}

const ranking = cases(["index"], {
  "a query ranks by cosine similarity and returns the score": async (store) => {
    await putAll(store, N, {
      half: { text: "red green" },
      none: { text: "blue" },
      full: { text: "red red" },
      against: { text: "-red" },
    });
    const hits = await store.search(N, { query: "red" });
    expectEqual(keysOf(hits), ["full", "half", "none", "against"], "order");
    expectEqual(keysOf(await store.search(N, { query: "red" })), keysOf(hits), "order once more");
    await expectScores(store, "red", { full: 1, half: HALF, none: 0, against: -1 });
  },
  "search obeys prefix, filter and query together": async (store) => {
    await store.put(["n", "a"], "k1", { text: "red", ok: true });
    await store.put(["n", "b"], "k2", { text: "red green", ok: true });
    await store.put(["n", "b"], "k3", { text: "red", ok: false });
    await store.put(["nn"], "k4", { text: "red", ok: true });
    await store.put(["n"], "tail", { ok: true });
    await store.put(["n"], "filtered tail", { ok: false });
    const hits = await store.search(N, { query: "red", filter: { ok: true } });
    expectEqual(keysOf(hits), ["k1", "k2", "tail"], "hits, and what has no vector behind them");
  },
  "the filter is applied before the limit": async (store) => {
    for (const key of numbered(30)) await store.put(N, key, { text: "red", wanted: false });
    await store.put(N, "far", { text: "red green blue", wanted: true });
    const hits = await store.search(N, { query: "red", filter: { wanted: true }, limit: 1 });
    expectEqual(keysOf(hits), ["far"], "hits");
  },
  "pages of a ranking, with what has no vector behind it, show every item once": async (store) => {
    const keys = numbered(11);
    const items = keys.map((key, i) => [key, i < 6 ? { text: `red ${"green ".repeat(i)}` } : {}]);
    await putAll(store, N, Object.fromEntries(items));
    for (const limit of [1, 2, 3, 4, 5, 20]) {
      const seen: string[] = [];
      for (let offset = 0; offset < keys.length; offset += limit) {
        seen.push(...keysOf(await store.search(N, { query: "red", limit, offset })));
      }
      expectEqual(seen.slice(0, 6), keys.slice(0, 6), `the ranking in pages of ${limit}`);
      expectEqual(seen.sort(), keys, `all in pages of ${limit}`);
    }
    expectEqual(await store.search(N, { query: "red", limit: 0 }), [], "a limit of 0");
  },
  "different queries of one batch are answered each by its own": async (store) => {
    await putAll(store, N, { r: { text: "red" }, b: { text: "blue" } });
    const answers = await store.batch([
      { namespacePrefix: N, query: "red", limit: 1 },
      { namespacePrefix: N, query: "blue", limit: 1 },
      { namespacePrefix: N, limit: 10 },
    ]);
    const keys = answers.map((hits) => sortedKeysOf(hits as { key: string }[]));
    expectEqual(keys, [["r"], ["b"], ["b", "r"]], "hits");
  },
  "1,000 items are ranked exactly": async (store) => {
    const textOf = (i: number) =>
      `${"red ".repeat(i % 37)}${"green ".repeat(i % 11)}${"blue ".repeat(i % 5)}green`;
    await store.batch(operations(...numbered(1000).map((key, i) => put(key, { text: textOf(i) }))));
    const query = "red red blue";
    const hits = await store.search(N, { query, limit: 1000 });
    expectEqual(hits.length, 1000, "hits");
    const scores = hits.map(({ score }) => score ?? Number.NaN);
    const isOrdered = scores.every((score, i) => i === 0 || score <= Number(scores[i - 1]) + 1e-6);
    expectTrue(isOrdered, "scores never rise");
    const best = await store.search(N, { query, limit: 10 });
    expectEqual(keysOf(best), keysOf(hits.slice(0, 10)), "the best 10");
  },
  "a score separates the relevant from the rest": async (store) => {
    await putAll(store, N, { yes: { text: "red red green" }, no: { text: "blue" }, plain: {} });
    const hits = await store.search(N, { query: "red" });
    expectEqual(keysOf(hits.filter((hit) => (hit.score ?? 0) > 0.8)), ["yes"], "relevant");
  },
  "a query sees the items as they were before its batch": async (store) => {
    await store.put(N, "old", { text: "red" });
    const query = { namespacePrefix: N, query: "red" };
    const batch = operations(put("new", { text: "red" }), query, put("old", { text: "blue" }));
    const hits = (await store.batch(batch))[1] as { key: string; score: number }[];
    expectEqual(keysOf(hits), ["old"], "hits");
    expectClose(hits[0]?.score, 1, "score");
  },
  "fields with names of the inside are fields like any other": async (store) => {
    const value = { __namespace: "x", __key: "y", item_id: 1, vector: [1], text: "red" };
    await store.put(N, "k", value);
    const [hit] = await store.search(N, { query: "red", filter: { __key: "y", item_id: 1 } });
    expectEqual([hit?.namespace, hit?.key, hit?.value], [N, "k", value], "hit");
  },
});

const calls = cases(["index"], {
  "get, listings, and an empty or missing query do not call the embedder": async (
    store,
    { embeddings },
  ) => {
    await putAll(store, N, { a: { text: "red" }, b: { text: "blue" } });
    expectEqual((await store.get(N, "a"))?.key, "a", "get");
    expectEqual(keysOf(await store.search(N, { filter: { text: "red" } })), ["a"], "by a filter");
    expectEqual(await store.listNamespaces(), [N], "namespaces");
    for (const options of [{}, { query: "" }]) {
      const hits = (await store.search(N, options)).map(({ key, score }) => [key, score]);
      expectEqual(
        hits,
        [
          ["a", undefined],
          ["b", undefined],
        ],
        "hits",
      );
    }
    expectEqual([embeddings.documentCalls.length, embeddings.queryCalls], [1, []], "calls");
  },
  "a batch embeds its distinct texts in one call and its distinct queries once each": async (
    store,
    { embeddings },
  ) => {
    await store.batch(
      operations(
        put("a", { text: "red" }),
        { namespacePrefix: N, query: "blue" },
        put("b", { text: "green" }),
        put("c", { text: "red" }),
        { namespacePrefix: N, query: "blue", limit: 1 },
      ),
    );
    expectEqual(
      embeddings.documentCalls.map((texts) => texts.sort()),
      [["green", "red"]],
      "texts",
    );
    expectEqual(embeddings.queryCalls, ["blue"], "queries");
    await expectScores(store, "red", { a: 1, b: 0, c: 1 });
  },
  "of several puts of one key only the last is embedded": async (store, { embeddings }) => {
    await store.batch(operations(put("k", { text: "red" }), put("k", { text: "blue" })));
    expectEqual(embeddings.documentCalls, [["blue"]], "texts");
    await expectScores(store, "blue", { k: 1 });
  },
});

// biome-ignore format: a table reads best by rows.
const fieldRows: { what: string; fields: string[] | null; value: Record<string, unknown>; texts: string[] }[] = [
  { what: "the whole value by default", fields: null, value: { a: "red", b: [1, {}] }, texts: [JSON.stringify({ a: "red", b: [1, {}] }, null, 2)] },
  { what: "the whole value as $", fields: ["$"], value: { "é": [], n: 1.5 }, texts: [JSON.stringify({ "é": [], n: 1.5 }, null, 2)] },
  { what: "a field", fields: ["text"], value: { text: "red", other: "blue" }, texts: ["red"] },
  { what: "a nested field", fields: ["a.b.c"], value: { a: { b: { c: "red" } }, "a.b.c": "blue" }, texts: ["red"] },
  { what: "several fields", fields: ["a", "b"], value: { a: "red", b: "blue" }, texts: ["blue", "red"] },
  { what: "every element of an array", fields: ["list[*]"], value: { list: ["red", "green", "blue"] }, texts: ["blue", "green", "red"] },
  { what: "a field of every element", fields: ["list[*].t"], value: { list: [{ t: "red" }, { x: 1 }, { t: "blue" }] }, texts: ["blue", "red"] },
  { what: "the first element", fields: ["list[0]"], value: { list: ["red", "blue"] }, texts: ["red"] },
  { what: "the last element", fields: ["list[-1]"], value: { list: ["red", "blue"] }, texts: ["blue"] },
  { what: "a field of the last element", fields: ["list[-1].t"], value: { list: [{ t: "red" }, { t: "blue" }] }, texts: ["blue"] },
  { what: "every member by *", fields: ["m.*"], value: { m: { a: "red", b: "blue" } }, texts: ["blue", "red"] },
  { what: "chosen members by braces", fields: ["{a,b.c}"], value: { a: "red", b: { c: "blue", d: "green" } }, texts: ["blue", "red"] },
  { what: "numbers and booleans as text", fields: ["n", "b"], value: { n: 1.5, b: true }, texts: ["1.5", "true"] },
  { what: "objects and arrays as indented JSON", fields: ["o", "l"], value: { o: { x: 1 }, l: [1] }, texts: [JSON.stringify([1], null, 2), JSON.stringify({ x: 1 }, null, 2)] },
  { what: "nothing where fields are missing or null", fields: ["a", "b.c", "l[5]", "l[*].x"], value: { a: null, b: 1, l: [2] }, texts: [] },
];

const fields = fieldRows.flatMap(({ what, fields: paths, value, texts }) =>
  cases(
    ["index"],
    {
      [`the index embeds ${what}`]: async (store, { embeddings }) => {
        await store.put(N, "k", value);
        expectEqual(embeddings.documentCalls.flat().sort(), texts, "texts");
        expectEqual(await valueAt(store, "k"), value, "the stored value");
      },
    },
    { fields: paths },
  ),
);

const several = [
  ...cases(
    ["index"],
    {
      "an item is as near as the best of its vectors and comes once": async (store) => {
        await store.put(N, "many", { turns: [{ t: "blue" }, { t: "red" }, { t: "red green" }] });
        await store.put(N, "one", { turns: [{ t: "red green" }] });
        await expectScores(store, "red", { many: 1, one: HALF });
        const hits = await store.search(N, { query: "red", limit: 1, offset: 1 });
        expectEqual(keysOf(hits), ["one"], "the second place");
      },
      "a shorter array leaves no vector of the longer one": async (store) => {
        await store.put(N, "k", { turns: ["red", "green", "blue"].map((t) => ({ t })) });
        await store.put(N, "k", { turns: [{ t: "green" }] });
        await expectScores(store, "red", { k: 0 });
        await expectScores(store, "blue", { k: 0 });
      },
    },
    { fields: ["turns[*].t"] },
  ),
  ...cases(["index"], {
    "a put may name its own paths": async (store) => {
      await store.put(N, "own", { text: "blue", title: "red" }, ["title"]);
      await store.put(N, "default", { text: "blue", title: "red" });
      await expectScores(store, "red", { own: 1, default: 0 });
    },
    "a put with index false is not embedded and comes last without a score": async (
      store,
      { embeddings },
    ) => {
      await store.put(N, "a", { text: "red" }, false);
      await store.put(N, "b", { text: "blue" });
      expectEqual(embeddings.documentCalls.flat(), ["blue"], "texts");
      expectEqual(keysOf(await store.search(N, { query: "red" })), ["b", "a"], "order");
      await expectScores(store, "red", { a: undefined, b: 0 });
    },
  }),
];

type Change = (store: StoreUnderTest) => Promise<void>;

const TWO = { text: "red", title: "blue" };
const notEmbedded: Change = (store) => store.put(N, "k", { text: "red" }, false);

// What is done to an item whose text is red, and what "red" scores then.
const staleness: [string, Change[], Record<string, number | undefined>][] = [
  ["a deleted item is in no result", [(store) => store.delete(N, "k")], {}],
  [
    "deleting an item deletes its vectors",
    [(store) => store.delete(N, "k"), notEmbedded],
    { k: undefined },
  ],
  ["an update with index false takes the vectors away", [notEmbedded], { k: undefined }],
  [
    "an update without the indexed field takes the vectors away",
    [(store) => store.put(N, "k", { other: 1 })],
    { k: undefined },
  ],
  [
    "an update with other paths keeps none of the former",
    [(store) => store.put(N, "k", TWO), (store) => store.put(N, "k", TWO, ["title"])],
    { k: 0 },
  ],
];

const replaced = cases(["index"], {
  ...table(
    staleness,
    ([what]) => what,
    async ([, changes, expected], store) => {
      await store.put(N, "k", { text: "red" });
      await expectScores(store, "red", { k: 1 });
      for (const change of changes) await change(store);
      await expectScores(store, "red", expected);
    },
  ),
  "one put writes the item and what it is found by, and a later one replaces both": async (
    store,
  ) => {
    await store.put(N, "k", { text: "red", n: 1 });
    await store.put(N, "k", { text: "blue", n: 2 });
    const hits = await store.search(N, { query: "blue" });
    expectEqual(
      hits.map(({ key, value }) => [key, value.n]),
      [["k", 2]],
      "hits",
    );
    await expectScores(store, "blue", { k: 1 });
    await expectScores(store, "red", { k: 0 });
  },
  "an item and its vectors are written together, or neither is": async (store) => {
    const batch = operations(put("good", { text: "red" }), { ...put("bad", {}), namespace: [] });
    await expectRejection(() => store.batch(batch), "batch");
    expectEqual(await store.search(N, { query: "red" }), [], "hits");
    await store.put(N, "good", { text: "red" });
    expectEqual(keysOf(await store.search(N, { query: "red" })), ["good"], "hits");
  },
});

// What a broken model answers to texts.
const broken: [string, (texts: string[]) => Promise<number[][]>][] = [
  ["an embedder that fails", async () => Promise.reject(new Error("the model is away"))],
  ["a vector of another length", async (texts) => texts.map(() => [1, 0, 0, 0])],
  ["a vector of zeros, which has no direction,", async (texts) => texts.map(() => [0, 0, 0])],
  [
    "an embedder that returns too few vectors",
    async (texts) => texts.slice(1).map(() => [1, 0, 0]),
  ],
];

const failures = cases(
  ["index"],
  table(
    broken,
    ([what]) => `${what} is an error of puts, of which nothing is stored, and of queries`,
    async ([, answer], store, { embeddings }) => {
      await store.put(N, "old", { text: "red" });
      embeddings.answer = answer;
      const batch = operations(put("new", { text: "green" }), put("old", null));
      await expectRejection(() => store.batch(batch), "the batch");
      expectEqual(keysOf(await store.search([])), ["old"], "items");
      await expectRejection(() => store.search(N, { query: "blue" }), "search");
      expectEqual((await store.get(N, "old"))?.key, "old", "the item");
    },
  ),
);

export const vectorCases = [...ranking, ...calls, ...fields, ...several, ...replaced, ...failures];
