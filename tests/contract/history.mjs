// What items were, what is undone, and the store as it was.

import { cases, keysOf, N } from "./own-cases.mjs";

const valuesOf = (versions) => versions.map(({ value }) => value);

export const historyCases = [
  ...cases([], {
    "a history has each value with its time and what made it": async (store, { clock }) => {
      await store.keepHistory(N);
      const began = clock.now();
      await store.put(N, "k", { n: 1 });
      clock.advanceMs(10);
      await store.put(N, "k", { n: 2 });
      clock.advanceMs(10);
      await store.delete(N, "k");
      const versions = await store.history(N, "k");
      expect(valuesOf(versions)).toEqual([null, { n: 2 }, { n: 1 }]);
      expect(versions.map(({ change, time }) => [change, time.getTime() - began])).toEqual([
        ["delete", 20],
        ["put", 10],
        ["put", 0],
      ]);
      expect((await store.history(N, "k", { limit: 1 })).length).toBe(1);
      await expect(async () => store.history(["elsewhere"], "k")).rejects.toThrow();
    },
    "a store is read as it was at a time": async (store, { clock }) => {
      await store.keepHistory(N);
      const empty = clock.now();
      clock.advanceMs(10);
      await store.put([...N, "m"], "a", { text: "green tea" });
      const first = clock.now();
      clock.advanceMs(10);
      await store.batch([
        { namespace: [...N, "m"], key: "a", value: { text: "coffee" } },
        { namespace: N, key: "b", value: { text: "black tea" } },
      ]);
      const second = clock.now();
      clock.advanceMs(10);
      await store.delete(N, "b");
      const keysAsOf = async (time, options) =>
        keysOf(await store.asOf(time).search(N, options)).sort();
      expect(await keysAsOf(empty)).toEqual([]);
      expect(await keysAsOf(first)).toEqual(["a"]);
      expect(await keysAsOf(second)).toEqual(["a", "b"]);
      expect(await keysAsOf(clock.now())).toEqual(["a"]);
      expect(await keysAsOf(first, { query: "tea" })).toEqual(["a"]);
      expect(await keysAsOf(second, { query: "tea" })).toEqual(["b"]);
      expect(await keysAsOf(second, { filter: { text: "coffee" } })).toEqual(["a"]);
      expect((await store.asOf(first).get([...N, "m"], "a"))?.value).toEqual({ text: "green tea" });
      expect(await store.asOf(empty).get([...N, "m"], "a")).toBeNull();
      expect(await store.asOf(first).listNamespaces({ prefix: N })).toEqual([["n", "m"]]);
      await expect(async () => store.asOf(first).put(N, "k", {})).rejects.toThrow();
      await expect(async () => store.asOf(empty - 1).search(N)).rejects.toThrow();
      await expect(async () => store.asOf(first).search([])).rejects.toThrow();
    },
    "a put, a delete and a batch are undone": async (store, { clock }) => {
      await store.keepHistory(N);
      await store.put(N, "a", { n: 1 });
      clock.advanceMs(10);
      await store.put(N, "a", { n: 2 });
      const [put] = await store.history(N, "a");
      await store.undo(put?.operation);
      expect((await store.get(N, "a"))?.value).toEqual({ n: 1 });
      await store.delete(N, "a");
      await store.undo((await store.history(N, "a"))[0]?.operation);
      expect((await store.get(N, "a"))?.value).toEqual({ n: 1 });
      await store.batch([
        { namespace: N, key: "a", value: null },
        { namespace: N, key: "b", value: { n: 3 } },
      ]);
      const undone = await store.undo((await store.history(N, "b"))[0]?.operation);
      expect(undone.items).toBe(2);
      expect((await store.get(N, "a"))?.value).toEqual({ n: 1 });
      expect(await store.get(N, "b")).toBeNull();
      await expect(async () => store.undo(put?.operation)).rejects.toThrow();
      await store.undo(put?.operation, { force: true });
      expect((await store.get(N, "a"))?.value).toEqual({ n: 1 });
    },
    "a history is bounded, and can be dropped": async (store, { clock }) => {
      await store.keepHistory(N, { maxVersions: 5 });
      for (let n = 0; n < 9; n++) {
        clock.advanceMs(10);
        await store.put(N, "k", { n });
      }
      const values = valuesOf(await store.history(N, "k"));
      expect(values.map(({ n }) => n)).toEqual([8, 7, 6, 5, 4, 3]);
      await store.dropHistory(N);
      await expect(async () => store.history(N, "k")).rejects.toThrow();
    },
  }),
  ...cases(["index"], {
    "an undo restores vectors, and the past is searched by them": async (store, { clock }) => {
      await store.keepHistory(N);
      await store.put(N, "k", { text: "red" });
      const red = clock.now();
      clock.advanceMs(10);
      await store.put(N, "k", { text: "blue" });
      const best = async (from) => {
        const [hit] = await from.search(N, { query: "red", ranking: { mode: "vector" } });
        return Math.round((hit?.score ?? -1) * 100) / 100;
      };
      const now = await best(store);
      const then = await best(store.asOf(red));
      expect(then > now).toBe(true);
      await store.undo((await store.history(N, "k"))[0]?.operation);
      expect(await best(store)).toEqual(then);
    },
  }),
];
