// Search by meaning, with embeddings of three colours.

import {
  keysOf,
  makingCase,
  numbered,
  operations,
  putAll,
  type Run,
  scoresOf,
  sortedKeysOf,
  storeCase,
} from "./case.js";
import { expectClose, expectEqual, expectRejection, expectTrue } from "./check.js";
import { ColourEmbeddings, colourIndex, colourVector } from "./fakes.js";
import type { EmbeddingsUnderTest, StoreCase, StoreNeed, StoreUnderTest } from "./types.js";

const N = ["n"];
const HALF = Math.SQRT1_2;

/** The store indexes `fields`, by default the field "text". */
function vectorCase(
  name: string,
  options: { cap: number; fields?: string[] | null; needs?: StoreNeed[] },
  run: Run,
): StoreCase {
  return storeCase(name, { ...options, needs: ["index", ...(options.needs ?? [])] }, run);
}

async function expectScores(
  store: StoreUnderTest,
  query: string,
  expected: Record<string, number | undefined>,
): Promise<void> {
  const hits = await store.search(N, { query, limit: 100 });
  expectEqual(sortedKeysOf(hits), Object.keys(expected).sort(), `hits of ${query}`);
  const scores = scoresOf(hits);
  for (const [key, score] of Object.entries(expected)) {
    if (score === undefined) expectEqual(scores[key], undefined, `score of ${key}`);
    else expectClose(scores[key], score, `score of ${key}`);
  }
}

const ranking = [
  vectorCase(
    "a query ranks by cosine similarity and returns the score",
    { cap: 33 },
    async (store) => {
      await putAll(store, N, {
        half: { text: "red green" },
        none: { text: "blue" },
        full: { text: "red red" },
        against: { text: "-red" },
      });
      const hits = await store.search(N, { query: "red" });
      expectEqual(keysOf(hits), ["full", "half", "none", "against"], "order");
      await expectScores(store, "red", { full: 1, half: HALF, none: 0, against: -1 });
    },
  ),
  makingCase(
    "a vector of zeros, which has no direction, is an error",
    { cap: 63, needs: ["index"] },
    async (make) => {
      const zeros = (texts: string[]) => texts.map(() => [0, 0, 0]);
      const store = await make(colourIndex(zeros, ["text"]));
      await expectRejection(() => store.put(N, "k", { text: "red" }), "put");
      await expectRejection(() => store.search(N, { query: "red" }), "search");
      expectEqual(await store.get(N, "k"), null, "nothing was written");
    },
  ),
  vectorCase("search obeys prefix, filter and query together", { cap: 42 }, async (store) => {
    await store.put(["n", "a"], "k1", { text: "red", ok: true });
    await store.put(["n", "b"], "k2", { text: "red green", ok: true });
    await store.put(["n", "b"], "k3", { text: "red", ok: false });
    await store.put(["nn"], "k4", { text: "red", ok: true });
    const hits = await store.search(["n"], { query: "red", filter: { ok: true } });
    expectEqual(keysOf(hits), ["k1", "k2"], "hits");
  }),
  vectorCase("the filter is applied before the limit", { cap: 60 }, async (store) => {
    for (const key of numbered(30)) await store.put(N, key, { text: "red", wanted: false });
    await store.put(N, "far", { text: "red green blue", wanted: true });
    const hits = await store.search(N, { query: "red", filter: { wanted: true }, limit: 1 });
    expectEqual(keysOf(hits), ["far"], "hits");
  }),
  vectorCase("limit and offset page through the ranking", { cap: 40 }, async (store) => {
    for (let i = 0; i < 9; i += 1)
      await store.put(N, `k${i}`, { text: `red ${"green ".repeat(i)}` });
    const pages: string[] = [];
    for (let offset = 0; offset < 12; offset += 4) {
      pages.push(...keysOf(await store.search(N, { query: "red", limit: 4, offset })));
    }
    expectEqual(pages, ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"], "all pages");
    expectEqual(await store.search(N, { query: "red", limit: 0 }), [], "a limit of 0");
  }),
  vectorCase(
    "a threshold on the score separates the relevant from the rest",
    { cap: 54 },
    async (store) => {
      await putAll(store, N, {
        yes: { text: "red red green" },
        no: { text: "blue" },
        plain: { other: 1 },
      });
      const hits = await store.search(N, { query: "red" });
      expectEqual(keysOf(hits.filter((hit) => (hit.score ?? 0) > 0.8)), ["yes"], "relevant");
    },
  ),
  vectorCase(
    "different queries of one batch are answered each by its own",
    { cap: 36 },
    async (store) => {
      await putAll(store, N, { r: { text: "red" }, b: { text: "blue" } });
      const answers = await store.batch([
        { namespacePrefix: N, query: "red", limit: 1 },
        { namespacePrefix: N, query: "blue", limit: 1 },
        { namespacePrefix: N, limit: 10 },
      ]);
      const keys = answers.map((hits) => sortedKeysOf(hits as { key: string }[]));
      expectEqual(keys, [["r"], ["b"], ["b", "r"]], "hits");
    },
  ),
  vectorCase("1,000 items are ranked exactly", { cap: 34 }, async (store) => {
    await store.batch(
      numbered(1000).map((key, i) => ({
        namespace: N,
        key,
        value: {
          text: `${"red ".repeat(i % 37)}${"green ".repeat(i % 11)}${"blue ".repeat(i % 5)}green`,
        },
      })),
    );
    const hits = await store.search(N, { query: "red red blue", limit: 1000 });
    expectEqual(hits.length, 1000, "hits");
    const ordered = hits.every(
      (hit, i) => i === 0 || (hit.score ?? 0) <= (hits[i - 1]?.score ?? 0) + 1e-6,
    );
    expectTrue(ordered, "scores never rise");
    const best = await store.search(N, { query: "red red blue", limit: 10 });
    expectEqual(keysOf(best), keysOf(hits.slice(0, 10)), "the best 10");
  }),
];

const calls = [
  vectorCase(
    "an empty or missing query does not call the embedder",
    { cap: 9 },
    async (store, { embeddings }) => {
      await putAll(store, N, { a: { text: "red" }, b: { text: "blue" } });
      const hits = [...(await store.search(N)), ...(await store.search(N, { query: "" }))];
      expectEqual(embeddings.queryCalls, [], "queries embedded");
      expectEqual(
        hits.map((hit) => [hit.key, hit.score]),
        [
          ["a", undefined],
          ["b", undefined],
          ["a", undefined],
          ["b", undefined],
        ],
        "hits",
      );
    },
  ),
  vectorCase(
    "get and listing never call the embedder",
    { cap: 32 },
    async (store, { embeddings }) => {
      await store.put(N, "k", { text: "red" });
      const before = embeddings.documentCalls.length;
      expectEqual((await store.get(N, "k"))?.key, "k", "get");
      expectEqual(keysOf(await store.search(N, { filter: { text: "red" } })), ["k"], "search");
      expectEqual(await store.listNamespaces(), [N], "namespaces");
      expectEqual(
        [embeddings.documentCalls.length, embeddings.queryCalls.length],
        [before, 0],
        "calls",
      );
    },
  ),
  vectorCase(
    "a batch embeds its distinct texts in one call and its distinct queries once each",
    { cap: 30 },
    async (store, { embeddings }) => {
      await store.batch(
        operations(
          { namespace: N, key: "a", value: { text: "red" } },
          { namespacePrefix: N, query: "blue" },
          { namespace: N, key: "b", value: { text: "green" } },
          { namespace: N, key: "c", value: { text: "red" } },
          { namespacePrefix: N, query: "blue", limit: 1 },
        ),
      );
      expectEqual(
        embeddings.documentCalls.map((texts) => [...texts].sort()),
        [["green", "red"]],
        "texts",
      );
      expectEqual(embeddings.queryCalls, ["blue"], "queries");
      await expectScores(store, "red", { a: 1, b: 0, c: 1 });
    },
  ),
  vectorCase(
    "of several puts of one key only the last is embedded",
    { cap: 37 },
    async (store, { embeddings }) => {
      await store.batch(
        operations(
          { namespace: N, key: "k", value: { text: "red" } },
          { namespace: N, key: "k", value: { text: "blue" } },
        ),
      );
      expectEqual(embeddings.documentCalls, [["blue"]], "texts");
      await expectScores(store, "blue", { k: 1 });
    },
  ),
  vectorCase("a query sees the items as they were before its batch", { cap: 37 }, async (store) => {
    await store.put(N, "old", { text: "red" });
    const [, hits] = await store.batch(
      operations(
        { namespace: N, key: "new", value: { text: "red" } },
        { namespacePrefix: N, query: "red" },
        { namespace: N, key: "old", value: { text: "blue" } },
      ),
    );
    const found = (hits as { key: string; score: number }[]).map((hit) => [
      hit.key,
      Math.round(hit.score),
    ]);
    expectEqual(found, [["old", 1]], "hits");
  }),
];

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

const fields = [
  ...fieldRows.map(({ what, fields: paths, value, texts }) =>
    vectorCase(
      `the index embeds ${what}`,
      { cap: 48, fields: paths },
      async (store, { embeddings }) => {
        await store.put(N, "k", value);
        expectEqual(embeddings.documentCalls.flat().sort(), texts, "texts");
        expectEqual((await store.get(N, "k"))?.value, value, "the stored value");
      },
    ),
  ),
  vectorCase(
    "value.text is the text to embed where the index names it",
    { cap: 31 },
    async (store, { embeddings }) => {
      await store.put(N, "k", { text: "red", noise: "green green" });
      expectEqual(embeddings.documentCalls, [["red"]], "texts");
    },
  ),
  vectorCase(
    "an item is as near as the best of its vectors and comes once",
    { cap: 49, fields: ["turns[*].t"] },
    async (store) => {
      await store.put(N, "many", { turns: [{ t: "blue" }, { t: "red" }, { t: "red green" }] });
      await store.put(N, "one", { turns: [{ t: "red green" }] });
      await expectScores(store, "red", { many: 1, one: HALF });
      const hits = await store.search(N, { query: "red", limit: 1, offset: 1 });
      expectEqual(keysOf(hits), ["one"], "the second place");
    },
  ),
  vectorCase("a put may name its own paths", { cap: 39 }, async (store) => {
    await store.put(N, "own", { text: "blue", title: "red" }, ["title"]);
    await store.put(N, "default", { text: "blue", title: "red" });
    await expectScores(store, "red", { own: 1, default: 0 });
  }),
  vectorCase(
    "a put with index false is not embedded and comes last without a score",
    { cap: 39 },
    async (store, { embeddings }) => {
      await store.put(N, "a", { text: "red" }, false);
      await store.put(N, "b", { text: "blue" });
      expectEqual(embeddings.documentCalls.flat(), ["blue"], "texts");
      const hits = await store.search(N, { query: "red" });
      expectEqual(
        hits.map((hit) => [hit.key, hit.score === undefined]),
        [
          ["b", false],
          ["a", true],
        ],
        "hits",
      );
    },
  ),
];

const tail = [
  vectorCase("items without vectors fill up the page", { cap: 49 }, async (store) => {
    await putAll(store, N, { r: { text: "red" }, x: { other: 1 }, y: { other: 2 } });
    const hits = await store.search(N, { query: "red" });
    expectEqual(hits[0]?.key, "r", "the first");
    await expectScores(store, "red", { r: 1, x: undefined, y: undefined });
    expectEqual((await store.search(N, { query: "red", limit: 2 })).length, 2, "a page of two");
  }),
  vectorCase(
    "pages with a tail of items without vectors show every item once",
    { cap: 49 },
    async (store) => {
      const items = Object.fromEntries(
        numbered(11).map((key, i) => [key, i < 4 ? { text: "red ".repeat(i + 1) } : { n: i }]),
      );
      await putAll(store, N, items);
      for (const limit of [1, 2, 3, 5, 20]) {
        const seen: string[] = [];
        for (let offset = 0; offset < 11; offset += limit) {
          seen.push(...keysOf(await store.search(N, { query: "red", limit, offset })));
        }
        expectEqual(seen.sort(), numbered(11), `pages of ${limit}`);
      }
    },
  ),
  vectorCase("the tail obeys prefix and filter", { cap: 49 }, async (store) => {
    await store.put(N, "r", { text: "red", ok: true });
    await store.put(N, "x", { ok: true });
    await store.put(N, "y", { ok: false });
    await store.put(["other"], "z", { ok: true });
    expectEqual(
      keysOf(await store.search(N, { query: "red", filter: { ok: true } })),
      ["r", "x"],
      "hits",
    );
  }),
];

const staleness = [
  vectorCase("a deleted item is in no result", { cap: 61 }, async (store) => {
    await putAll(store, N, { a: { text: "red" }, b: { text: "red green" } });
    await store.delete(N, "a");
    expectEqual(keysOf(await store.search(N, { query: "red" })), ["b"], "hits");
  }),
  vectorCase("deleting an item deletes its vectors", { cap: 61 }, async (store) => {
    await store.put(N, "k", { text: "red" });
    await store.delete(N, "k");
    await store.put(N, "k", { text: "red" }, false);
    await expectScores(store, "red", { k: undefined });
  }),
  vectorCase("an update replaces the vectors", { cap: 49 }, async (store) => {
    await store.put(N, "k", { text: "red" });
    await store.put(N, "k", { text: "blue" });
    await expectScores(store, "red", { k: 0 });
    await expectScores(store, "blue", { k: 1 });
  }),
  vectorCase(
    "a shorter array leaves no vector of the longer one",
    { cap: 49, fields: ["list[*]"] },
    async (store) => {
      await store.put(N, "k", { list: ["red", "green", "blue"] });
      await store.put(N, "k", { list: ["green"] });
      await expectScores(store, "red", { k: 0 });
      await expectScores(store, "blue", { k: 0 });
    },
  ),
  vectorCase("an update with index false takes the vectors away", { cap: 39 }, async (store) => {
    await store.put(N, "k", { text: "red" });
    await store.put(N, "k", { text: "red" }, false);
    await expectScores(store, "red", { k: undefined });
  }),
  vectorCase(
    "an update without the indexed field takes the vectors away",
    { cap: 48 },
    async (store) => {
      await store.put(N, "k", { text: "red" });
      await store.put(N, "k", { other: 1 });
      await expectScores(store, "red", { k: undefined });
    },
  ),
  vectorCase("an update with other paths keeps none of the former", { cap: 39 }, async (store) => {
    await store.put(N, "k", { text: "red", title: "blue" });
    await store.put(N, "k", { text: "red", title: "blue" }, ["title"]);
    await expectScores(store, "red", { k: 0 });
  }),
  vectorCase(
    "clearNamespace takes the vectors away",
    { cap: 61, needs: ["extras"] },
    async (store) => {
      await store.put(N, "k", { text: "red" });
      await store.clearNamespace?.(N);
      await store.put(N, "k", { text: "red" }, false);
      await expectScores(store, "red", { k: undefined });
    },
  ),
];

function failing(method: "embedDocuments" | "embedQuery"): EmbeddingsUnderTest {
  const embeddings = new ColourEmbeddings();
  embeddings[method] = async () => {
    throw new Error("the model is away");
  };
  return embeddings;
}

const failures = [
  makingCase(
    "an embedder that fails on documents fails the batch, and nothing is stored",
    { cap: 30, needs: ["index"] },
    async (make) => {
      const store = await make(colourIndex(failing("embedDocuments"), ["text"]));
      await store.put(N, "old", { text: "red" }, false);
      await expectRejection(
        () =>
          store.batch(
            operations(
              { namespace: N, key: "new", value: { text: "red" } },
              { namespace: N, key: "old", value: null },
            ),
          ),
        "the batch",
      );
      expectEqual(keysOf(await store.search([])), ["old"], "items");
    },
  ),
  makingCase(
    "an embedder that fails on the query fails the search only",
    { cap: 33, needs: ["index"] },
    async (make) => {
      const store = await make(colourIndex(failing("embedQuery"), ["text"]));
      await store.put(N, "k", { text: "red" });
      await expectRejection(() => store.search(N, { query: "red" }), "search");
      expectEqual((await store.get(N, "k"))?.key, "k", "the item");
    },
  ),
  makingCase(
    "a vector of another length is an error, and nothing is stored",
    { cap: 30, needs: ["index"] },
    async (make) => {
      const embeddings = new ColourEmbeddings();
      const store = await make({ index: { dims: 4, embeddings, fields: ["text"] } });
      await expectRejection(() => store.put(N, "k", { text: "red" }), "put");
      expectEqual(await store.search([]), [], "items");
      await expectRejection(() => store.search(N, { query: "red" }), "search");
    },
  ),
  makingCase(
    "an embedder that returns too few vectors is an error",
    { cap: 30, needs: ["index"] },
    async (make) => {
      const embeddings = new ColourEmbeddings();
      embeddings.embedDocuments = async () => [];
      const store = await make(colourIndex(embeddings, ["text"]));
      await expectRejection(() => store.put(N, "k", { text: "red" }), "put");
      expectEqual(await store.search([]), [], "items");
    },
  ),
];

const functions = (["a function", "an asynchronous function"] as const).map((what) =>
  makingCase(
    `${what} from texts to vectors is an embedding model`,
    { cap: 50, needs: ["index", "extras"] },
    async (make) => {
      const embed = (texts: string[]) => texts.map(colourVector);
      const isAsync = what.startsWith("an ");
      const store = await make(colourIndex(isAsync ? async (texts) => embed(texts) : embed));
      await putAll(store, N, { red: { text: "red" }, blue: { text: "blue" } });
      await expectScores(store, "red", { red: 1, blue: 0 });
    },
  ),
);

const modes = [
  vectorCase(
    "contains can be asked of a store with an index, and embeds nothing",
    { cap: 10, needs: ["extras"] },
    async (store, { embeddings }) => {
      await putAll(store, N, { a: { text: "dark red wine" }, b: { text: "red" } });
      const hits = await store.search(N, { query: "wine", mode: "contains" });
      expectEqual(
        hits.map((hit) => [hit.key, hit.score]),
        [["a", undefined]],
        "hits",
      );
      expectEqual(embeddings.queryCalls, [], "queries embedded");
    },
  ),
  vectorCase("vector can be asked for by name", { cap: 33, needs: ["extras"] }, async (store) => {
    await store.put(N, "a", { text: "red" });
    const hits = await store.search(N, { query: "red", mode: "vector" });
    expectClose(hits[0]?.score, 1, "score");
  }),
  storeCase(
    "vector asked of a store without an index is an error",
    { cap: 33, needs: ["extras"] },
    async (store) => {
      await expectRejection(() => store.search(N, { query: "red", mode: "vector" }), "search");
    },
  ),
  storeCase(
    "a query restarts nothing but the times of reads: order and scores stay",
    { cap: 63, needs: ["index", "clock"] },
    async (store, { clock }) => {
      for (const key of ["a", "b"]) {
        await store.put(N, key, { text: "red" });
        clock.advanceMs(5);
      }
      const first = keysOf(await store.search(N, { query: "red" }));
      const second = keysOf(await store.search(N, { query: "red" }));
      expectEqual([...first].sort(), ["a", "b"], "hits");
      expectEqual(second, first, "order of equals");
    },
  ),
];

const episodes = [
  vectorCase(
    "one put writes the item and what it is found by, and a later one replaces both",
    { cap: 29 },
    async (store) => {
      await store.put(N, "k", { text: "red", n: 1 });
      await store.put(N, "k", { text: "blue", n: 2 });
      const hits = await store.search(N, { query: "blue" });
      expectEqual(
        hits.map(({ key, value }) => [key, value.n]),
        [["k", 2]],
        "hits",
      );
      expectClose(hits[0]?.score, 1, "score");
    },
  ),
  vectorCase(
    "an episode is found by one that is like it, which is no hit itself",
    { cap: 58, needs: ["extras"] },
    async (store, { embeddings }) => {
      await putAll(store, N, {
        now: { text: "red" },
        like: { text: "red green" },
        unlike: { text: "blue" },
      });
      const near = { namespace: N, key: "now" };
      expectEqual(keysOf(await store.search(N, { near })), ["like", "unlike"], "near an item");
      expectEqual(
        keysOf(await store.search(N, { near: [0, 0, 1], limit: 1 })),
        ["unlike"],
        "near a vector",
      );
      expectEqual(embeddings.queryCalls, [], "queries embedded");
      await expectRejection(
        () => store.search(N, { near: { namespace: N, key: "missing" } }),
        "search",
      );
    },
  ),
  vectorCase(
    "an item and its vectors are written together, or neither is",
    { cap: 59 },
    async (store) => {
      await expectRejection(
        () =>
          store.batch([
            { namespace: N, key: "good", value: { text: "red" } },
            { namespace: [], key: "bad", value: { text: "red" } },
          ]),
        "batch",
      );
      expectEqual(await store.search(N, { query: "red" }), [], "hits");
      await store.put(N, "good", { text: "red" });
      expectEqual(keysOf(await store.search(N, { query: "red" })), ["good"], "hits");
    },
  ),
  vectorCase(
    "fields with names of the inside are fields like any other",
    { cap: 62 },
    async (store) => {
      const value = { __namespace: "x", __key: "y", item_id: 1, vector: [1], text: "red" };
      await store.put(N, "k", value);
      const [hit] = await store.search(N, { query: "red", filter: { __key: "y", item_id: 1 } });
      expectEqual(hit?.value, value, "value");
      expectEqual([hit?.namespace, hit?.key], [N, "k"], "where");
    },
  ),
  vectorCase(
    "hits below a threshold are left out",
    { cap: 54, needs: ["extras"] },
    async (store) => {
      await putAll(store, N, {
        full: { text: "red" },
        half: { text: "red green" },
        none: { text: "blue" },
      });
      const hits = await store.search(N, { query: "red", mode: "vector", minScore: 0.6 });
      expectEqual(keysOf(hits), ["full", "half"], "hits");
    },
  ),
  storeCase(
    "what was rewarded comes first among what says the same",
    { cap: 65, needs: ["extras"] },
    async (store) => {
      await putAll(store, N, {
        failed: { text: "restart the server", reward: -1 },
        unknown: { text: "restart the server" },
        worked: { text: "restart the server", reward: 1 },
      });
      const hits = await store.search(N, {
        query: "restart server",
        mode: "text",
        boosts: { reward: 0.5 },
      });
      expectEqual(keysOf(hits), ["worked", "unknown", "failed"], "hits");
    },
  ),
];

export const vectorCases = [
  ...ranking,
  ...calls,
  ...fields,
  ...tail,
  ...staleness,
  ...episodes,
  ...failures,
  ...functions,
  ...modes,
];
