// Listing by search(): scope, order, limit and offset.

import { keysOf, numbered, putAll, storeCase } from "./case.js";
import { expectEqual, expectRejection } from "./check.js";
import type { StoreUnderTest } from "./types.js";

async function allPages(store: StoreUnderTest, limit: number): Promise<string[]> {
  const keys: string[] = [];
  for (let offset = 0; ; offset += limit) {
    const page = await store.search(["n"], { limit, offset });
    keys.push(...keysOf(page));
    if (page.length < limit) return keys;
  }
}

const scope = [
  storeCase("search covers the namespace and all below it", { cap: 40 }, async (store) => {
    for (const namespace of [["a"], ["a", "b"], ["a", "b", "c"], ["b"], ["b", "a"]]) {
      await store.put(namespace, namespace.join("/"), {});
    }
    expectEqual(keysOf(await store.search(["a"])).sort(), ["a", "a/b", "a/b/c"], "below a");
    expectEqual(keysOf(await store.search(["a", "b"])).sort(), ["a/b", "a/b/c"], "below a/b");
    expectEqual(await store.search(["a", "x"]), [], "below a/x");
  }),
  storeCase("an empty prefix searches the whole store", { cap: 40 }, async (store) => {
    await store.put(["a"], "k1", {});
    await store.put(["b", "c"], "k2", {});
    expectEqual(keysOf(await store.search([])).sort(), ["k1", "k2"], "hits");
  }),
  storeCase("a prefix matches whole labels only", { cap: 14 }, async (store) => {
    const siblings = [["user"], ["users"], ["user-1"], ["user", "1"], ["user", "10"], ["use"]];
    for (const namespace of siblings) await store.put(namespace, namespace.join("/"), {});
    expectEqual(
      keysOf(await store.search(["user"])).sort(),
      ["user", "user/1", "user/10"],
      "below user",
    );
    expectEqual(keysOf(await store.search(["user", "1"])), ["user/1"], "below user/1");
  }),
  storeCase("tenants never see each other", { cap: 14 }, async (store) => {
    for (const tenant of ["t1", "t2", "t10"]) {
      await store.put([tenant, "memories"], "k", { secret: tenant });
    }
    for (const tenant of ["t1", "t2", "t10"]) {
      const values = (await store.search([tenant])).map((item) => item.value);
      expectEqual(values, [{ secret: tenant }], `items of ${tenant}`);
    }
  }),
  storeCase(
    "a namespace is searched by listing it, or by a part of a key or a value",
    { cap: 13, needs: ["extras"] },
    async (store) => {
      await putAll(store, ["n"], {
        pref_theme: { v: "dark" },
        pref_size: { v: 7 },
        mem_1: { v: "a dark night" },
      });
      await store.put(["other"], "pref_theme", { v: "dark" });
      const found = async (query: string) =>
        keysOf(await store.search(["n"], { query, mode: "contains" })).sort();
      expectEqual(await found("pref_"), ["pref_size", "pref_theme"], "the beginning of keys");
      expectEqual(await found("dark"), ["mem_1", "pref_theme"], "a part of values");
      expectEqual(await found("none"), [], "what is nowhere");
      expectEqual(
        keysOf(await store.search(["n"])).sort(),
        ["mem_1", "pref_size", "pref_theme"],
        "all of it",
      );
    },
  ),
  storeCase(
    "an agent's session has the same answers in every store",
    { cap: 55, needs: ["index"] },
    async (store) => {
      const batch = await store.batch([
        { namespace: ["ada", "facts"], key: "tea", value: { text: "green", year: 2019 } },
        { namespace: ["ada", "facts"], key: "rain", value: { text: "blue", year: 2004 } },
        { namespace: ["bob"], key: "own", value: { text: "red" } },
        { namespace: ["ada", "facts"], key: "tea" },
      ]);
      expectEqual(batch.length, 4, "results of a batch");
      expectEqual(batch[3], null, "a read sees what was there before its batch");
      expectEqual((await store.get(["ada", "facts"], "tea"))?.value.year, 2019, "get");
      const [hit] = await store.search(["ada"], { query: "blue", limit: 1 });
      expectEqual([hit?.key, hit?.namespace], ["rain", ["ada", "facts"]], "by meaning");
      expectEqual(
        keysOf(await store.search(["ada"], { filter: { year: { $gte: 2010 } } })),
        ["tea"],
        "by filter",
      );
      expectEqual(
        await store.listNamespaces({ maxDepth: 1 }),
        [["ada"], ["bob"]],
        "namespaces, cut to one label",
      );
      await store.put(["ada", "facts"], "tea", { text: "black" });
      await store.delete(["bob"], "own");
      expectEqual((await store.get(["ada", "facts"], "tea"))?.value, { text: "black" }, "update");
      expectEqual(await store.listNamespaces(), [["ada", "facts"]], "after the deletion");
      await expectRejection(() => store.put(["a.b"], "k", {}), "a label with a dot");
    },
  ),
  storeCase("search returns key, value and namespace of every item", { cap: 6 }, async (store) => {
    await putAll(store, ["n"], { a: { n: 1 }, b: { n: 2 } });
    const found = (await store.search(["n"])).map((item) => [item.namespace, item.key, item.value]);
    expectEqual(
      found,
      [
        [["n"], "a", { n: 1 }],
        [["n"], "b", { n: 2 }],
      ],
      "hits",
    );
  }),
];

const paging = [
  storeCase("search returns ten items unless told otherwise", { cap: 12 }, async (store) => {
    for (const key of numbered(15)) await store.put(["n"], key, {});
    expectEqual((await store.search(["n"])).length, 10, "by search()");
    const [hits] = await store.batch([{ namespacePrefix: ["n"] }]);
    expectEqual((hits as unknown[]).length, 10, "by batch()");
  }),
  storeCase("a limit of 0 returns nothing", { cap: 40 }, async (store) => {
    await store.put(["n"], "k", {});
    expectEqual(await store.search(["n"], { limit: 0 }), [], "hits");
    expectEqual((await store.search(["n"], { limit: 1 })).length, 1, "with a limit of 1");
  }),
  storeCase("an offset beyond the end returns nothing", { cap: 40 }, async (store) => {
    await store.put(["n"], "k", {});
    expectEqual((await store.search(["n"], { offset: 0 })).length, 1, "at the beginning");
    expectEqual(await store.search(["n"], { offset: 1 }), [], "at the end");
    expectEqual(await store.search(["n"], { offset: 1_000_000 }), [], "far beyond");
  }),
  storeCase("a limit beyond the end returns what there is", { cap: 12 }, async (store) => {
    await putAll(store, ["n"], { a: {}, b: {} });
    expectEqual((await store.search(["n"], { limit: 1_000_000 })).length, 2, "hits");
  }),
  storeCase("pages show every item once", { cap: 40 }, async (store) => {
    const keys = numbered(103);
    await store.batch(keys.map((key) => ({ namespace: ["n"], key, value: { key } })));
    for (const limit of [1, 10, 50, 103, 200]) {
      expectEqual((await allPages(store, limit)).sort(), keys, `pages of ${limit}`);
    }
  }),
  storeCase(
    "items of one moment are ordered by namespace, then key",
    { cap: 40, needs: ["clock"] },
    async (store) => {
      const places = [
        [["n"], "a"],
        [["n"], "b"],
        [["n", "a"], "z"],
        [["n", "a", "a"], "z"],
        [["n", "a-"], "a"],
        [["n", "b"], "\uffee"],
        [["n", "b"], "😀"],
      ] as const;
      for (const [namespace, key] of [...places].reverse())
        await store.put([...namespace], key, {});
      const found = (await store.search(["n"])).map((item) => [item.namespace, item.key]);
      expectEqual(found, places, "order");
    },
  ),
  storeCase(
    "the item that was updated last comes first",
    { cap: 40, needs: ["clock"] },
    async (store, { clock }) => {
      for (const key of ["a", "b", "c", "a"]) {
        await store.put(["n"], key, {});
        clock.advanceMs(1);
      }
      expectEqual(keysOf(await store.search(["n"])), ["a", "c", "b"], "order");
    },
  ),
  storeCase(
    "reading does not change the order",
    { cap: 40, needs: ["clock"] },
    async (store, { clock }) => {
      for (const key of ["a", "b", "c"]) {
        await store.put(["n"], key, {});
        clock.advanceMs(1);
      }
      await store.get(["n"], "a");
      await store.search(["n"], { limit: 1, offset: 2 });
      expectEqual(keysOf(await store.search(["n"])), ["c", "b", "a"], "order");
    },
  ),
  storeCase("no query means no score", { cap: 9 }, async (store) => {
    await putAll(store, ["n"], { a: {}, b: {} });
    for (const query of [undefined, ""]) {
      const hits = await store.search(["n"], query === undefined ? {} : { query });
      expectEqual(
        hits.map((hit) => [hit.key, hit.score]),
        [
          ["a", undefined],
          ["b", undefined],
        ],
        "hits",
      );
    }
  }),
];

export const searchCases = [...scope, ...paging];
