// Items: putting, getting, deleting, and what comes back.

import {
  keysOf,
  makingCase,
  numbered,
  operations,
  putAll,
  sortedKeysOf,
  storeCase,
} from "./case.js";
import { expectEqual, expectRejection, expectTrue } from "./check.js";

const NAMESPACE = ["users", "u1", "memories"];

const reading = [
  storeCase(
    "a store without an index keeps, returns and finds items",
    { cap: 1 },
    async (store) => {
      await store.put(NAMESPACE, "k", { text: "hello", n: 1 });
      expectEqual((await store.get(NAMESPACE, "k"))?.value, { text: "hello", n: 1 }, "get");
      expectEqual(keysOf(await store.search(NAMESPACE)), ["k"], "search");
    },
  ),
  storeCase("one key in two namespaces is two items", { cap: 2 }, async (store) => {
    await store.put(["u1", "memories"], "k", { owner: "u1" });
    await store.put(["u2", "memories"], "k", { owner: "u2" });
    await store.delete(["u1", "memories"], "k");
    expectEqual(await store.get(["u1", "memories"], "k"), null, "the deleted one");
    expectEqual((await store.get(["u2", "memories"], "k"))?.value, { owner: "u2" }, "the other");
  }),
  storeCase("get of a missing key is null", { cap: 4 }, async (store) => {
    expectEqual(await store.get(NAMESPACE, "k"), null, "in an empty store");
    await store.put(NAMESPACE, "k", { n: 1 });
    expectEqual((await store.get(NAMESPACE, "k"))?.key, "k", "the key that is there");
    expectEqual(await store.get(NAMESPACE, "K"), null, "beside a key of another case");
    expectEqual(await store.get(["users", "u1"], "k"), null, "in the namespace above");
    expectEqual(await store.get([...NAMESPACE, "x"], "k"), null, "in the namespace below");
  }),
  storeCase(
    "an item has value, key, namespace, createdAt and updatedAt",
    { cap: 38 },
    async (store) => {
      const before = Date.now();
      await store.put(NAMESPACE, "k", { n: 1 });
      const item = await store.get(NAMESPACE, "k");
      expectEqual(
        Object.keys(item ?? {}).sort(),
        ["createdAt", "key", "namespace", "updatedAt", "value"],
        "fields",
      );
      expectEqual(item?.namespace, NAMESPACE, "namespace");
      expectEqual(item?.key, "k", "key");
      const created = item?.createdAt.getTime() ?? 0;
      expectTrue(created >= before - 1 && created <= Date.now() + 1, "createdAt is about now");
      expectEqual(item?.updatedAt, item?.createdAt, "both times of a new item");
    },
  ),
  storeCase("search items have the fields of an item and a score", { cap: 47 }, async (store) => {
    await store.put(NAMESPACE, "k", { n: 1 });
    const [hit] = await store.search(NAMESPACE);
    expectEqual(hit?.value, { n: 1 }, "value");
    expectEqual(hit?.namespace, NAMESPACE, "namespace");
    expectTrue(hit?.createdAt.getTime() === hit?.updatedAt.getTime(), "times");
    expectEqual(hit?.score, undefined, "score without a query");
  }),
  storeCase("a hit can be written as JSON", { cap: 7 }, async (store) => {
    await store.put(NAMESPACE, "k", { n: 1 });
    const [hit] = JSON.parse(JSON.stringify(await store.search(NAMESPACE)));
    expectEqual([hit.key, hit.value, hit.namespace], ["k", { n: 1 }, NAMESPACE], "after JSON");
  }),
  makingCase("a new store is empty and shares nothing with another", { cap: 21 }, async (make) => {
    const [one, two] = [await make(), await make()];
    await one.put(NAMESPACE, "k", { n: 1 });
    expectEqual(await two.get(NAMESPACE, "k"), null, "get from the other store");
    expectEqual(await two.listNamespaces(), [], "namespaces of the other store");
  }),
];

const writing = [
  storeCase("put replaces the whole value of its key", { cap: 3 }, async (store) => {
    await store.put(NAMESPACE, "k", { a: 1, b: 2 });
    await store.put(NAMESPACE, "k", { b: 3 });
    expectEqual((await store.get(NAMESPACE, "k"))?.value, { b: 3 }, "value");
    expectEqual(keysOf(await store.search(NAMESPACE)), ["k"], "items");
  }),
  storeCase(
    "an update keeps createdAt and moves updatedAt",
    { cap: 46, needs: ["clock"] },
    async (store, { clock }) => {
      const created = clock.now();
      await store.put(NAMESPACE, "k", { n: 1 });
      clock.advanceMs(1234);
      await store.put(NAMESPACE, "k", { n: 2 });
      const item = await store.get(NAMESPACE, "k");
      expectEqual(item?.createdAt.getTime(), created, "createdAt");
      expectEqual(item?.updatedAt.getTime(), created + 1234, "updatedAt");
    },
  ),
  storeCase(
    "an item put after its deletion is new",
    { cap: 46, needs: ["clock"] },
    async (store, { clock }) => {
      await store.put(NAMESPACE, "k", { n: 1 });
      await store.delete(NAMESPACE, "k");
      clock.advanceMs(10);
      await store.put(NAMESPACE, "k", { n: 2 });
      const item = await store.get(NAMESPACE, "k");
      expectEqual(item?.createdAt.getTime(), clock.now(), "createdAt");
    },
  ),
  storeCase("delete removes the item and nothing else", { cap: 51 }, async (store) => {
    await putAll(store, NAMESPACE, { a: { n: 1 }, b: { n: 2 } });
    await store.delete(NAMESPACE, "a");
    expectEqual(await store.get(NAMESPACE, "a"), null, "the deleted item");
    expectEqual(keysOf(await store.search(NAMESPACE)), ["b"], "what is left");
  }),
  storeCase("deleting what is absent is fine and creates nothing", { cap: 51 }, async (store) => {
    await store.put(["other"], "k", {});
    await store.delete(NAMESPACE, "nobody");
    expectEqual(await store.listNamespaces(), [["other"]], "namespaces");
  }),
  storeCase("a put of null deletes", { cap: 39 }, async (store) => {
    await putAll(store, NAMESPACE, { k: { n: 1 }, other: { n: 2 } });
    await store.batch(operations({ namespace: NAMESPACE, key: "k", value: null }));
    expectEqual(await store.get(NAMESPACE, "k"), null, "get");
    expectEqual(keysOf(await store.search(NAMESPACE)), ["other"], "what is left");
  }),
  storeCase("keys may contain anything that a namespace may not", { cap: 16 }, async (store) => {
    const keys = [
      "a::b",
      "a.b",
      "a:b",
      '["a"]::b',
      "%",
      "_",
      "*",
      "'",
      '"',
      "\\",
      "/",
      " ",
      "💾",
      "\u001f",
      "-",
    ];
    for (const key of keys) await store.put(["n"], key, { key });
    for (const key of keys) {
      expectEqual((await store.get(["n"], key))?.value, { key }, `value of ${JSON.stringify(key)}`);
    }
    expectEqual((await store.search(["n"], { limit: 100 })).length, keys.length, "items");
  }),
  storeCase("namespace and key are never confused", { cap: 16 }, async (store) => {
    const places: [string[], string][] = [
      [["a"], "b::c"],
      [["a", "b"], "c"],
      [["a", "b"], ":c"],
      [["a"], "b:c"],
      [["a"], "b\u001fc"],
      [["a"], '["b"]::c'],
    ];
    for (const [namespace, key] of places) await store.put(namespace, key, { namespace, key });
    for (const [namespace, key] of places) {
      expectEqual((await store.get(namespace, key))?.value, { namespace, key }, key);
    }
  }),
  storeCase(
    "typed keys such as pref_theme and mem_7 live side by side",
    { cap: 15 },
    async (store) => {
      await putAll(store, NAMESPACE, {
        pref_theme: { v: "dark" },
        mem_7: { v: 7 },
        pref: { v: 0 },
      });
      await store.put(NAMESPACE, "pref_theme", { v: "light" });
      expectEqual((await store.get(NAMESPACE, "pref_theme"))?.value, { v: "light" }, "pref_theme");
      expectEqual((await store.get(NAMESPACE, "pref"))?.value, { v: 0 }, "pref");
    },
  ),
  storeCase("only objects are values", { cap: 8 }, async (store) => {
    for (const value of ["text", 7, true, ["list"], undefined]) {
      await expectRejection(
        () => store.put(NAMESPACE, "k", value as unknown as Record<string, unknown>),
        `put of ${JSON.stringify(value)}`,
      );
    }
    expectEqual(await store.search([]), [], "items");
  }),
  storeCase("a profile is gathered by get, merge and put", { cap: 54 }, async (store) => {
    for (const facts of [{ name: "Ada" }, { city: "Paris" }, { city: "London" }]) {
      const known = await store.get(["ada"], "profile");
      await store.put(["ada"], "profile", { ...known?.value, ...facts });
    }
    const profile = await store.get(["ada"], "profile");
    expectEqual(profile?.value, { name: "Ada", city: "London" }, "profile");
  }),
];

const extras = [
  storeCase(
    "listKeys returns the keys of exactly that namespace by code point",
    { cap: 5, needs: ["extras"] },
    async (store) => {
      const sorted = ["A", "a", "b", "é", "\uffee", "😀"];
      for (const key of [...sorted].reverse()) await store.put(["n"], key, {});
      await store.put(["n", "below"], "x", {});
      await store.put(["nn"], "x", {});
      expectEqual(await store.listKeys?.(["n"]), sorted, "keys");
      expectEqual(await store.listKeys?.(["nothing"]), [], "keys of an empty namespace");
    },
  ),
  storeCase(
    "clearNamespace deletes exactly that namespace and says how many",
    { cap: 5, needs: ["extras"] },
    async (store) => {
      await putAll(store, ["n"], { a: {}, b: {} });
      await store.put(["n", "below"], "x", {});
      await store.put(["nn"], "x", {});
      expectEqual(await store.clearNamespace?.(["n"]), 2, "count");
      expectEqual(await store.clearNamespace?.(["n"]), 0, "count of the second time");
      expectEqual(await store.listNamespaces(), [["n", "below"], ["nn"]], "what is left");
    },
  ),
  storeCase(
    "contains finds a substring of key or value in any ASCII case",
    { cap: 10, needs: ["extras"] },
    async (store) => {
      await putAll(store, ["n"], {
        tea_time: { text: "biscuits" },
        k2: { text: "Green TEA, please" },
        k3: { text: "coffee" },
      });
      const hits = await store.search(["n"], { query: "tea", mode: "contains" });
      expectEqual(sortedKeysOf(hits), ["k2", "tea_time"], "hits");
      expectEqual(
        hits.map((hit) => hit.score),
        [undefined, undefined],
        "scores",
      );
    },
  ),
  storeCase(
    "contains takes % _ \\ and quotes literally",
    { cap: 11, needs: ["extras"] },
    async (store) => {
      const texts = {
        percent: "100%",
        under: "a_b",
        back: "c\\d",
        quote: "it's",
        plain: "100 aXb cd its",
      };
      for (const [key, text] of Object.entries(texts)) await store.put(["n"], key, { text });
      const find = async (query: string) =>
        keysOf(await store.search(["n"], { query, mode: "contains" }));
      expectEqual(await find("0%"), ["percent"], "%");
      expectEqual(await find("a_b"), ["under"], "_");
      expectEqual(await find("it's"), ["quote"], "'");
      expectEqual(await find("\\"), ["back"], "\\");
    },
  ),
  storeCase(
    "without an index a query is answered by contains",
    { cap: 10, needs: ["extras"] },
    async (store) => {
      await putAll(store, ["n"], { a: { text: "needle" }, b: { text: "hay" } });
      expectEqual(keysOf(await store.search(["n"], { query: "needle" })), ["a"], "hits");
      expectEqual(await store.search(["n"], { query: "nothing like it" }), [], "no hits");
    },
  ),
  storeCase(
    "contains obeys prefix, filter, limit and offset",
    { cap: 42, needs: ["extras"] },
    async (store) => {
      for (const key of numbered(8)) {
        await store.put(["n", "in"], key, { text: "tea", even: Number(key.slice(1)) % 2 === 0 });
      }
      await store.put(["out"], "x", { text: "tea", even: true });
      const page = { query: "tea", mode: "contains", filter: { even: true }, limit: 3 } as const;
      const first = await store.search(["n"], page);
      const second = await store.search(["n"], { ...page, offset: 3 });
      expectEqual(
        sortedKeysOf([...first, ...second]),
        ["k0000", "k0002", "k0004", "k0006"],
        "both pages",
      );
      expectEqual([first.length, second.length], [3, 1], "sizes of the pages");
    },
  ),
  storeCase("contains with an empty query lists", { cap: 9, needs: ["extras"] }, async (store) => {
    await putAll(store, ["n"], { a: {}, b: {} });
    const hits = await store.search(["n"], { query: "", mode: "contains" });
    expectEqual(keysOf(hits), ["a", "b"], "an empty query lists");
  }),
];

export const itemCases = [...reading, ...writing, ...extras];
