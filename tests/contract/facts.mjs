// Facts that hold for a while, what superseded them, and where they come from.

import { cases, keysOf, N, sortedKeysOf } from "./own-cases.mjs";

const DAY_MINUTES = 24 * 60;
const PAGE = "https://example.org/page";

const told = ({ origin, source }) => [origin, source];

export const factCases = [
  ...cases([], {
    "a fact is found from validFrom on, and until before validUntil": async (store, { clock }) => {
      const from = clock.now() + 1000;
      await store.put(N, "k", { n: 1 }, undefined, { validFrom: from, validUntil: from + 1000 });
      expect(keysOf(await store.search(N))).toEqual([]);
      expect(keysOf(await store.search(N, { validAt: from }))).toEqual(["k"]);
      clock.advanceMs(1000);
      expect(keysOf(await store.search(N))).toEqual(["k"]);
      clock.advanceMs(1000);
      expect(keysOf(await store.search(N))).toEqual([]);
      expect((await store.get(N, "k"))?.value).toEqual({ n: 1 });
    },
    "times are Dates, milliseconds or ISO texts": async (store) => {
      await store.put(N, "k", {}, undefined, { validFrom: "2020-01-01", validUntil: "2021-01-01" });
      for (const asOf of [
        Date.UTC(2020, 5),
        new Date(Date.UTC(2020, 5)),
        "2020-06-01T01:00+01:00",
      ]) {
        expect(keysOf(await store.search(N, { validAt: asOf }))).toEqual(["k"]);
      }
      const found = await store.get(N, "k");
      expect(found?.validFrom?.toISOString()).toEqual("2020-01-01T00:00:00.000Z");
      expect(found?.validUntil?.toISOString()).toEqual("2021-01-01T00:00:00.000Z");
      await expect(async () => store.search(N, { validAt: "last year" })).rejects.toThrow();
    },
    "a fact that was superseded is found as of then only": async (store, { clock }) => {
      await store.put(N, "bern", { home: "Bern" });
      const before = clock.now();
      clock.advanceMinutes(DAY_MINUTES);
      await store.put(N, "basel", { home: "Basel" }, undefined, { supersedes: "bern" });
      expect(keysOf(await store.search(N))).toEqual(["basel"]);
      expect(keysOf(await store.search(N, { validAt: before }))).toEqual(["bern"]);
      expect(keysOf(await store.search(N, { validAt: "anytime" }))).toEqual(["basel", "bern"]);
      expect(keysOf(await store.search(N, { filter: { home: "Bern" } }))).toEqual([]);
    },
    "the operations of a batch take validity, one after the other": async (store) => {
      const supersedes = { namespace: N, key: "a" };
      await store.batch([
        { namespace: N, key: "a", value: { n: 1 } },
        { namespace: ["m"], key: "b", value: { n: 2 }, supersedes },
      ]);
      expect(keysOf(await store.search([]))).toEqual(["b"]);
      const search = { namespacePrefix: [], validAt: "anytime" };
      const [hits] = await store.batch([search]);
      expect(keysOf(hits)).toEqual(["b", "a"]);
    },
    "a fact that is put again has the validity of that put": async (store) => {
      await store.put(N, "a", {});
      await store.put(N, "b", {}, undefined, { supersedes: "a" });
      await store.put(N, "a", {});
      expect(sortedKeysOf(await store.search(N))).toEqual(["a", "b"]);
    },
  }),
  ...cases(["index"], {
    "no search shows a fact before its successor": async (store) => {
      await store.put(N, "old", { text: "red red red" });
      await store.put(N, "new", { text: "red, and some blue" }, undefined, { supersedes: "old" });
      await store.put(N, "other", { text: "red green" });
      for (const mode of ["vector", "text", "hybrid", "contains"]) {
        const options = { query: "red", ranking: { mode } };
        expect(sortedKeysOf(await store.search(N, options))).toEqual(["new", "other"]);
        const all = await store.search(N, { ...options, validAt: "anytime" });
        expect(sortedKeysOf(all)).toEqual(["new", "old", "other"]);
        const [older, newer] = ["old", "new"].map((key) =>
          all.findIndex((item) => item.key === key),
        );
        expect(newer < older).toBe(true);
        const page = { ...options, validAt: "anytime", limit: 1, offset: 1 };
        expect(keysOf(await store.search(N, page))).toEqual([all[1]?.key]);
      }
    },
  }),
  ...cases([], {
    "an item says where its last put said that it comes from": async (store) => {
      await store.put(N, "k", { n: 1 }, undefined, { origin: "web", source: PAGE });
      expect(told(await store.get(N, "k"))).toEqual(["web", PAGE]);
      const [hit] = await store.search(N);
      expect(told(hit)).toEqual(["web", PAGE]);
      await store.put(N, "k", { n: 2 }, undefined, { source: "a file" });
      expect(told(await store.get(N, "k"))).toEqual([undefined, "a file"]);
      await store.put(N, "k", { n: 3 });
      expect(Object.keys((await store.get(N, "k")) ?? {}).includes("origin")).toBe(false);
    },
    "the operations of a batch take origin and source": async (store) => {
      await store.batch([
        { namespace: N, key: "a", value: { n: 1 }, origin: "tool", source: "search" },
        { namespace: N, key: "b", value: { n: 2 } },
      ]);
      expect(told(await store.get(N, "a"))).toEqual(["tool", "search"]);
      expect(told(await store.get(N, "b"))).toEqual([undefined, undefined]);
    },
    "an origin is one of four, and a source short text": async (store) => {
      const put = (options) => () => store.put(N, "k", {}, undefined, options);
      await expect(put({ origin: "nobody" })).rejects.toThrow();
      await expect(put({ source: "x".repeat(1025) })).rejects.toThrow();
      await expect(put({ source: 7 })).rejects.toThrow();
      expect(await store.get(N, "k")).toBeNull();
    },
  }),
  ...cases(["index"], {
    "hits are worth what their origins are": async (store) => {
      await store.put(N, "user", { text: "red" }, undefined, { origin: "user" });
      await store.put(N, "web", { text: "red" }, undefined, { origin: "web" });
      for (const mode of ["vector", "text", "hybrid"]) {
        const search = { query: "red", ranking: { mode } };
        const best = async (origins) =>
          (await store.search(N, { ...search, ranking: { ...search.ranking, origins } }))[0]?.key;
        expect(await best({ user: 0.1 })).toEqual("web");
        expect(await best({ web: 0.1, unknown: 0 })).toEqual("user");
        expect(sortedKeysOf(await store.search(N, search))).toEqual(["user", "web"]);
      }
      expect(keysOf(await store.search(N, { ranking: { origins: { web: 0 } } })).length).toBe(2);
    },
  }),
];
