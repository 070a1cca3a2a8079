// Listing by search(): scope, order, limit and offset.

import { cases, fill, keysOf, N, numbered, putAll, sortedKeysOf } from "./case.js";
import { expectEqual } from "./check.js";

const scope = cases([], {
  "search covers the namespace and all below it": async (store) => {
    for (const namespace of [["a"], ["a", "b"], ["a", "b", "c"], ["b"], ["b", "a"]]) {
      await store.put(namespace, namespace.join("/"), {});
    }
    expectEqual(sortedKeysOf(await store.search(["a"])), ["a", "a/b", "a/b/c"], "below a");
    expectEqual(sortedKeysOf(await store.search(["a", "b"])), ["a/b", "a/b/c"], "below a/b");
    expectEqual(await store.search(["a", "x"]), [], "below a/x");
    expectEqual((await store.search([])).length, 5, "in the whole store");
  },
  "a prefix matches whole labels only: a sibling is never below it": async (store) => {
    const siblings = [["user"], ["users"], ["user-1"], ["user", "1"], ["user", "10"], ["use"]];
    for (const namespace of siblings) await store.put(namespace, namespace.join("/"), {});
    expectEqual(
      sortedKeysOf(await store.search(["user"])),
      ["user", "user/1", "user/10"],
      "below user",
    );
    expectEqual(keysOf(await store.search(["user", "1"])), ["user/1"], "below user/1");
  },
  "tenants never see each other": async (store) => {
    const tenants = ["t1", "t2", "t10"].map((tenant) => [tenant, "memories"]);
    await fill(store, tenants);
    for (const namespace of tenants) {
      const values = (await store.search(namespace.slice(0, 1))).map((item) => item.value);
      expectEqual(values, [{ namespace }], `items of ${namespace}`);
    }
  },
});

const pages = cases([], {
  "search returns ten items unless told otherwise": async (store) => {
    for (const key of numbered(15)) await store.put(N, key, {});
    expectEqual((await store.search(N)).length, 10, "by search()");
    const [hits] = await store.batch([{ namespacePrefix: N }]);
    expectEqual((hits as unknown[]).length, 10, "by batch()");
  },
  "a page of nothing, or beyond the end, has what there is": async (store) => {
    await putAll(store, N, { a: {}, b: {} });
    const pages = [
      [{ limit: 0 }, []],
      [{ limit: 1 }, ["a"]],
      [{ limit: 1_000_000 }, ["a", "b"]],
      [{ offset: 0 }, ["a", "b"]],
      [{ offset: 2 }, []],
      [{ offset: 1_000_000 }, []],
    ] as const;
    for (const [page, keys] of pages) {
      expectEqual(keysOf(await store.search(N, page)), keys, JSON.stringify(page));
    }
  },
  "pages show every item once": async (store) => {
    const keys = numbered(103);
    await store.batch(keys.map((key) => ({ namespace: N, key, value: { key } })));
    for (const limit of [1, 10, 50, 103, 200]) {
      const seen: string[] = [];
      for (let offset = 0; offset < keys.length; offset += limit) {
        seen.push(...keysOf(await store.search(N, { limit, offset })));
      }
      expectEqual(seen.sort(), keys, `pages of ${limit}`);
    }
  },
  "no query means no score": async (store) => {
    await putAll(store, N, { a: {}, b: {} });
    for (const options of [{}, { query: "" }]) {
      const hits = (await store.search(N, options)).map(({ key, score }) => [key, score]);
      expectEqual(
        hits,
        ["a", "b"].map((key) => [key, undefined]),
        "hits",
      );
    }
  },
});

const order = cases(["clock"], {
  "items of one moment are ordered by namespace, then key": async (store) => {
    const places: [string[], string][] = [
      [["n"], "a"],
      [["n"], "b"],
      [["n", "a"], "z"],
      [["n", "a", "a"], "z"],
      [["n", "a-"], "a"],
      [["n", "b"], "\uffee"],
      [["n", "b"], "😀"],
    ];
    for (const [namespace, key] of [...places].reverse()) await store.put(namespace, key, {});
    const found = (await store.search(N)).map((item) => [item.namespace, item.key]);
    expectEqual(found, places, "order");
  },
  "the item that was updated last comes first, and reading changes no order": async (
    store,
    { clock },
  ) => {
    for (const key of ["a", "b", "c", "a"]) {
      await store.put(N, key, {});
      clock.advanceMs(1);
    }
    expectEqual(keysOf(await store.search(N)), ["a", "c", "b"], "order");
    await store.get(N, "b");
    await store.search(N, { limit: 1, offset: 1 });
    expectEqual(keysOf(await store.search(N)), ["a", "c", "b"], "order after reads");
  },
});

export const searchCases = [...scope, ...pages, ...order];
