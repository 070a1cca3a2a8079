// Listings, and searches by words, by vectors and by both.

import { cases, keysOf, N, putAll, sortedKeysOf } from "./own-cases.mjs";

// No two are alike in direction.
const mixOf = (i) =>
  ["red", "green", "blue"]
    .flatMap((colour, k) => Array(1 + ((i * (2 * k + 3)) % (17 + k))).fill(colour))
    .join(" ");

export const searchCases = [
  ...cases([], {
    "listKeys returns the keys of exactly that namespace by code point": async (store) => {
      const sorted = ["A", "a", "b", "é", "\uffee", "😀"];
      for (const key of [...sorted].reverse()) await store.put(N, key, {});
      await store.put(["n", "below"], "x", {});
      await store.put(["nn"], "x", {});
      expect(await store.listKeys(N)).toEqual(sorted);
      expect(await store.listKeys(["nothing"])).toEqual([]);
    },
    "an expired item is in no list of keys": async (store, { clock }) => {
      await store.put(N, "brief", {}, undefined, { ttl: 1 });
      await store.put(N, "kept", {});
      clock.advanceMinutes(1);
      expect(await store.listKeys(N)).toEqual(["kept"]);
    },
    "clearNamespace deletes exactly that namespace and says how many": async (store) => {
      await putAll(store, N, { a: {}, b: {} });
      await store.put(["n", "below"], "x", {});
      await store.put(["nn"], "x", {});
      expect(await store.clearNamespace(N)).toBe(2);
      expect(await store.clearNamespace(N)).toBe(0);
      expect(await store.listNamespaces()).toEqual([["n", "below"], ["nn"]]);
    },
    "contains finds a substring of key or value in any ASCII case": async (store) => {
      await putAll(store, N, {
        tea_time: { text: "biscuits" },
        k2: { text: "Green TEA, please" },
        k3: { text: "coffee" },
      });
      const hits = await store.search(N, { query: "tea", ranking: { mode: "contains" } });
      expect(sortedKeysOf(hits)).toEqual(["k2", "tea_time"]);
      expect(hits.map((hit) => hit.score)).toEqual([undefined, undefined]);
    },
    "contains takes % _ \\ and quotes literally": async (store) => {
      const texts = {
        percent: "100%",
        under: "a_b",
        back: "c\\d",
        quote: "it's",
        plain: "100 aXb cd its",
      };
      for (const [key, text] of Object.entries(texts)) await store.put(N, key, { text });
      const find = async (query) =>
        keysOf(await store.search(N, { query, ranking: { mode: "contains" } }));
      expect(await find("0%")).toEqual(["percent"]);
      expect(await find("a_b")).toEqual(["under"]);
      expect(await find("it's")).toEqual(["quote"]);
      expect(await find("\\")).toEqual(["back"]);
    },
    "without an index a query is answered by contains": async (store) => {
      await putAll(store, N, { a: { text: "needle" }, b: { text: "hay" } });
      expect(keysOf(await store.search(N, { query: "needle" }))).toEqual(["a"]);
      expect(await store.search(N, { query: "nothing like it" })).toEqual([]);
    },
    "contains obeys prefix, filter, limit and offset": async (store) => {
      for (let i = 0; i < 8; i++) {
        await store.put(["n", "in"], `k${i}`, { text: "tea", even: i % 2 === 0 });
      }
      await store.put(["out"], "x", { text: "tea", even: true });
      const page = {
        query: "tea",
        ranking: { mode: "contains" },
        filter: { even: true },
        limit: 3,
      };
      const first = await store.search(N, page);
      const second = await store.search(N, { ...page, offset: 3 });
      expect(sortedKeysOf([...first, ...second])).toEqual(["k0", "k2", "k4", "k6"]);
      expect([first.length, second.length]).toEqual([3, 1]);
    },
    "contains with an empty query lists": async (store) => {
      await putAll(store, N, { a: {}, b: {} });
      const hits = await store.search(N, { query: "", ranking: { mode: "contains" } });
      expect(keysOf(hits)).toEqual(["a", "b"]);
    },
  }),
  ...cases([], {
    "a namespace is searched by listing it, or by a part of a key or a value": async (store) => {
      await putAll(store, N, {
        pref_theme: { v: "dark" },
        pref_size: { v: 7 },
        mem_1: { v: "a dark night" },
      });
      await store.put(["other"], "pref_theme", { v: "dark" });
      const found = async (query) =>
        keysOf(await store.search(N, { query, ranking: { mode: "contains" } })).sort();
      expect(await found("pref_")).toEqual(["pref_size", "pref_theme"]);
      expect(await found("dark")).toEqual(["mem_1", "pref_theme"]);
      expect(await found("none")).toEqual([]);
      expect(keysOf(await store.search(N)).sort()).toEqual(["mem_1", "pref_size", "pref_theme"]);
    },
  }),
  ...cases([], {
    "text finds the words of a question in any form, and nothing where nothing matches": async (
      store,
    ) => {
      await putAll(store, N, {
        walk: { text: "We walked to the café on 8 May 2023" },
        tea: { text: "我喜欢喝茶" },
        code: { text: "call getUserName" },
      });
      const find = async (query) =>
        keysOf(await store.search(N, { query, ranking: { mode: "text" } }));
      expect(await find("Where did they go for a walk?")).toEqual(["walk"]);
      expect(await find("CAFE")).toEqual(["walk"]);
      expect(await find("茶")).toEqual(["tea"]);
      expect(await find("user name")).toEqual(["code"]);
      expect(await find("bicycle")).toEqual([]);
    },
    "text scores are between 0 and 1, the best first": async (store) => {
      await putAll(store, N, { both: { text: "green tea" }, one: { text: "green car" } });
      const hits = await store.search(N, { query: "green tea", ranking: { mode: "text" } });
      expect(keysOf(hits)).toEqual(["both", "one"]);
      for (const { score } of hits)
        expect(score !== undefined && score > 0 && score < 1).toBe(true);
    },
    "hybrid without an index is text": async (store) => {
      await putAll(store, N, { a: { text: "tea" }, b: { text: "coffee" } });
      const text = await store.search(N, { query: "tea", ranking: { mode: "text" } });
      const hybrid = await store.search(N, { query: "tea", ranking: { mode: "hybrid" } });
      expect(keysOf(hybrid)).toEqual(["a"]);
      expect(hybrid[0]?.score).toBeCloseTo(text[0]?.score ?? Number.NaN, 5);
    },
    "an unknown mode is an error": async (store) => {
      await expect(async () =>
        store.search(N, { query: "tea", ranking: { mode: "toast" } }),
      ).rejects.toThrow();
    },
  }),
  ...cases(["index"], {
    "hybrid finds by words what has no vector, and by vector what has no word": async (store) => {
      await store.put(N, "vector", { text: "red" });
      await store.put(N, "word", { note: "a red scarf" }, false);
      const hits = await store.search(N, { query: "red", ranking: { mode: "hybrid" } });
      expect([...keysOf(hits)].sort()).toEqual(["vector", "word"]);
    },
    "hybrid finds by vector only what holds the phrases that were asked for": async (store) => {
      await putAll(store, N, {
        phrase: { text: "red green scarf" },
        apart: { text: "green scarf, and red" },
        near: { text: "green red" },
      });
      const hits = await store.search(N, { query: '"red green"', ranking: { mode: "hybrid" } });
      expect(keysOf(hits)).toEqual(["phrase"]);
    },
  }),
  ...cases(["index"], {
    "clearNamespace takes the vectors away": async (store) => {
      await store.put(N, "k", { text: "red" });
      await store.clearNamespace(N);
      await store.put(N, "k", { text: "red" }, false);
      const [hit] = await store.search(N, { query: "red" });
      expect([hit.key, hit.score]).toEqual(["k", undefined]);
    },
    "contains can be asked of a store with an index, and embeds nothing": async (
      store,
      { embeddings },
    ) => {
      await putAll(store, N, { a: { text: "dark red wine" }, b: { text: "red" } });
      const hits = await store.search(N, { query: "wine", ranking: { mode: "contains" } });
      expect(hits.map((hit) => [hit.key, hit.score])).toEqual([["a", undefined]]);
      expect(embeddings.queryCalls).toEqual([]);
    },
    "vector can be asked for by name": async (store) => {
      await store.put(N, "a", { text: "red" });
      const hits = await store.search(N, { query: "red", ranking: { mode: "vector" } });
      expect(hits[0]?.score).toBeCloseTo(1, 5);
    },
    "an episode is found by one that is like it, which is no hit itself": async (
      store,
      { embeddings },
    ) => {
      await putAll(store, N, {
        now: { text: "red" },
        like: { text: "red green" },
        unlike: { text: "blue" },
      });
      const near = { namespace: N, key: "now" };
      expect(keysOf(await store.search(N, { near }))).toEqual(["like", "unlike"]);
      expect(keysOf(await store.search(N, { near: [0, 0, 1], limit: 1 }))).toEqual(["unlike"]);
      expect(embeddings.queryCalls).toEqual([]);
      await expect(async () =>
        store.search(N, { near: { namespace: N, key: "missing" } }),
      ).rejects.toThrow();
    },
    "hits below a threshold are left out": async (store) => {
      await putAll(store, N, {
        full: { text: "red" },
        half: { text: "red green" },
        none: { text: "blue" },
      });
      const hits = await store.search(N, {
        query: "red",
        ranking: { mode: "vector", minScore: 0.6 },
      });
      expect(keysOf(hits)).toEqual(["full", "half"]);
    },
  }),
  ...cases(["index"], {
    "a function from texts to vectors is an embedding model, asynchronous or not": async (
      _store,
      { make },
    ) => {
      const embed = (texts) => texts.map((text) => (text.includes("red") ? [1, 0] : [0, 1]));
      for (const embeddings of [embed, async (texts) => embed(texts)]) {
        const store = await make({ index: { dims: 2, embeddings } });
        await putAll(store, N, { red: { text: "red" }, blue: { text: "blue" } });
        const hits = (await store.search(N, { query: "red" })).map(({ key, score }) => [
          key,
          score,
        ]);
        expect(hits).toEqual([
          ["red", 1],
          ["blue", 0],
        ]);
      }
    },
  }),
  ...cases([], {
    "vector asked of a store without an index is an error": async (store) => {
      await expect(async () =>
        store.search(N, { query: "red", ranking: { mode: "vector" } }),
      ).rejects.toThrow();
    },
    "what was rewarded comes first among what says the same": async (store) => {
      await putAll(store, N, {
        failed: { text: "restart the server", reward: -1 },
        unknown: { text: "restart the server" },
        worked: { text: "restart the server", reward: 1 },
      });
      const hits = await store.search(N, {
        query: "restart server",
        ranking: { mode: "text", boosts: { reward: 0.5 } },
      });
      expect(keysOf(hits)).toEqual(["worked", "unknown", "failed"]);
    },
  }),
  ...cases(["persistence", "index", "graph"], {
    "a graph over vectors is built and saved, and finds the same by every plan after reopen":
      async (store, { options, reopen }) => {
        const items = Array.from({ length: 300 }, (_, i) => [`k${i}`, { text: mixOf(i) }]);
        await putAll(store, N, Object.fromEntries(items));
        expect(await store.buildIndex()).toBe(300);
        const find = async (from, plan) =>
          keysOf(await from.search(N, { query: "red red green", limit: 5, ranking: { plan } }));
        const expected = await find(store, "exact");
        const again = await reopen(store, options);
        const [hit] = await again.search(N, {
          query: "red",
          ranking: { plan: "graph" },
          explain: true,
        });
        expect(hit?.plan).toEqual("vectors: graph of 300, 300 in the graph");
        for (const plan of ["exact", "codes", "graph"]) {
          expect(await find(again, plan)).toEqual(expected);
        }
        expect(await again.buildIndex()).toBe(300);
      },
  }),
];
