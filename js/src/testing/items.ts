// Items: putting, getting, deleting, and what comes back.

import { cases, keysOf, N, operations, putAll, table, valueAt } from "./case.js";
import { expectEqual, expectRejection, expectTrue } from "./check.js";

const NAMESPACE = ["users", "u1", "memories"];

const reading = cases([], {
  "a store without an index keeps, returns and finds items": async (store) => {
    await store.put(NAMESPACE, "k", { text: "hello", n: 1 });
    expectEqual(await valueAt(store, "k", NAMESPACE), { text: "hello", n: 1 }, "get");
    expectEqual(keysOf(await store.search(NAMESPACE)), ["k"], "search");
  },
  "one key in two namespaces is two items": async (store) => {
    await store.put(["u1", "memories"], "k", { owner: "u1" });
    await store.put(["u2", "memories"], "k", { owner: "u2" });
    await store.delete(["u1", "memories"], "k");
    expectEqual(await store.get(["u1", "memories"], "k"), null, "the deleted one");
    expectEqual(await valueAt(store, "k", ["u2", "memories"]), { owner: "u2" }, "the other");
  },
  "get of a missing key is null": async (store) => {
    expectEqual(await store.get(NAMESPACE, "k"), null, "in an empty store");
    await store.put(NAMESPACE, "k", { n: 1 });
    expectEqual((await store.get(NAMESPACE, "k"))?.key, "k", "the key that is there");
    expectEqual(await store.get(NAMESPACE, "K"), null, "beside a key of another case");
    expectEqual(await store.get(["users", "u1"], "k"), null, "in the namespace above");
    expectEqual(await store.get([...NAMESPACE, "x"], "k"), null, "in the namespace below");
  },
  "an item has value, key, namespace, createdAt and updatedAt": async (store) => {
    const before = Date.now();
    await store.put(NAMESPACE, "k", { n: 1 });
    const item = await store.get(NAMESPACE, "k");
    const fields = ["createdAt", "key", "namespace", "updatedAt", "value"];
    expectEqual(Object.keys(item ?? {}).sort(), fields, "fields");
    expectEqual([item?.namespace, item?.key], [NAMESPACE, "k"], "namespace and key");
    const created = item?.createdAt.getTime() ?? 0;
    expectTrue(created >= before - 1 && created <= Date.now() + 1, "createdAt is about now");
    expectEqual(item?.updatedAt, item?.createdAt, "both times of a new item");
  },
  "hits have the fields of an item and a score, and can be written as JSON": async (store) => {
    await putAll(store, N, { a: { n: 1 }, b: { n: 2 } });
    const hits = await store.search(N);
    for (const found of [hits, JSON.parse(JSON.stringify(hits))] as (typeof hits)[]) {
      expectEqual(
        found.map(({ namespace, key, value }) => [namespace, key, value]),
        [
          [N, "a", { n: 1 }],
          [N, "b", { n: 2 }],
        ],
        "hits",
      );
    }
    expectTrue(hits[0]?.createdAt.getTime() === hits[0]?.updatedAt.getTime(), "times");
    expectEqual(hits[0]?.score, undefined, "score without a query");
  },
  "a new store is empty and shares nothing with another": async (one, { make }) => {
    const two = await make();
    await one.put(NAMESPACE, "k", { n: 1 });
    expectEqual(await two.get(NAMESPACE, "k"), null, "get from the other store");
    expectEqual(await two.listNamespaces(), [], "namespaces of the other store");
  },
});

// biome-ignore format: a list reads best in lines.
const KEYS = [
  "a::b", "a.b", "a:b", '["a"]::b', "%", "_", "*", "'", '"', "\\", "/", " ", "💾", "\u001f", "-",
  "pref", "pref_theme", "mem_7",
];
const JOINED_ALIKE: [string[], string][] = [
  [["a"], "b::c"],
  [["a", "b"], "c"],
  [["a", "b"], ":c"],
  [["a"], "b:c"],
  [["a"], "b\u001fc"],
  [["a"], '["b"]::c'],
];

const writing = cases([], {
  "put replaces the whole value of its key": async (store) => {
    await store.put(N, "k", { a: 1, b: 2 });
    await store.put(N, "k", { b: 3 });
    expectEqual(await valueAt(store, "k"), { b: 3 }, "value");
    expectEqual(keysOf(await store.search(N)), ["k"], "items");
  },
  "delete removes the item and nothing else": async (store) => {
    await putAll(store, N, { a: { n: 1 }, b: { n: 2 } });
    await store.delete(N, "a");
    expectEqual(await store.get(N, "a"), null, "the deleted item");
    expectEqual(keysOf(await store.search(N)), ["b"], "what is left");
  },
  "deleting what is absent is fine and creates nothing": async (store) => {
    await store.put(["other"], "k", {});
    await store.delete(N, "nobody");
    expectEqual(await store.listNamespaces(), [["other"]], "namespaces");
  },
  "a put of null deletes": async (store) => {
    await putAll(store, N, { k: { n: 1 }, other: { n: 2 } });
    await store.batch(operations({ namespace: N, key: "k", value: null }));
    expectEqual(await store.get(N, "k"), null, "get");
    expectEqual(keysOf(await store.search(N)), ["other"], "what is left");
  },
  "keys may contain anything that a namespace may not, and live side by side": async (store) => {
    for (const key of KEYS) await store.put(N, key, { key });
    await store.put(N, "pref_theme", { key: "pref_theme", v: "light" });
    for (const key of KEYS) {
      const value = key === "pref_theme" ? { key, v: "light" } : { key };
      expectEqual(await valueAt(store, key), value, `value of ${JSON.stringify(key)}`);
    }
    expectEqual((await store.search(N, { limit: 100 })).length, KEYS.length, "items");
  },
  ...table(
    ["", " in one batch"],
    (how) => `namespace and key are never confused${how}`,
    async (how, store) => {
      const puts = JOINED_ALIKE.map(([namespace, key]) => ({
        namespace,
        key,
        value: { namespace, key },
      }));
      if (how) await store.batch(puts);
      else for (const { namespace, key, value } of puts) await store.put(namespace, key, value);
      for (const { namespace, key, value } of puts) {
        expectEqual(await valueAt(store, key, namespace), value, key);
      }
    },
  ),
  "only objects are values": async (store) => {
    for (const value of ["text", 7, true, ["list"], undefined]) {
      const put = () => store.put(N, "k", value as unknown as Record<string, unknown>);
      await expectRejection(put, `put of ${JSON.stringify(value)}`);
    }
    expectEqual(await store.search([]), [], "items");
  },
  "a profile is gathered by get, merge and put": async (store) => {
    for (const facts of [{ name: "Ada" }, { city: "Paris" }, { city: "London" }]) {
      const known = await store.get(["ada"], "profile");
      await store.put(["ada"], "profile", { ...known?.value, ...facts });
    }
    const profile = await valueAt(store, "profile", ["ada"]);
    expectEqual(profile, { name: "Ada", city: "London" }, "profile");
  },
});

const timed = cases(["clock"], {
  "an update keeps createdAt and moves updatedAt": async (store, { clock }) => {
    const created = clock.now();
    await store.put(N, "k", { n: 1 });
    clock.advanceMs(1234);
    await store.put(N, "k", { n: 2 });
    const item = await store.get(N, "k");
    expectEqual(item?.createdAt.getTime(), created, "createdAt");
    expectEqual(item?.updatedAt.getTime(), created + 1234, "updatedAt");
  },
  "an item put after its deletion is new": async (store, { clock }) => {
    await store.put(N, "k", { n: 1 });
    await store.delete(N, "k");
    clock.advanceMs(10);
    await store.put(N, "k", { n: 2 });
    expectEqual((await store.get(N, "k"))?.createdAt.getTime(), clock.now(), "createdAt");
  },
});

export const itemCases = [...reading, ...writing, ...timed];
