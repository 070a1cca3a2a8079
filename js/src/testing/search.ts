// Listing by search(): scope, order, limit and offset.

import { keysOf, numbered, putAll, storeCase } from "./case.js";
import { expectEqual } from "./check.js";
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
