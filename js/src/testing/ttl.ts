// TTL, in minutes, by an injected clock.

import { cases, keysOf, N, numbered, putAll } from "./case.js";
import { expectEqual } from "./check.js";
import type { ManualClock } from "./fakes.js";
import type { StoreCaseOptions, StoreUnderTest } from "./types.js";

type Step = (store: StoreUnderTest, clock: ManualClock) => Promise<void>;

const MS = 1 / 60_000;
const CENTURY = 60 * 24 * 365 * 100;

const put =
  (options?: { ttl: number | null }): Step =>
  (store) =>
    store.put(N, "k", { n: 1 }, undefined, options);

const reads = {
  get: async (store: StoreUnderTest) => [await store.get(N, "k")],
  "get without refresh": async (store: StoreUnderTest) => [
    await store.get(N, "k", { refreshTtl: false }),
  ],
  search: (store: StoreUnderTest) => store.search(N),
  "search without refresh": (store: StoreUnderTest) => store.search(N, { refreshTtl: false }),
};

/** After so many minutes a read finds the item, or not. */
const reading =
  (isThere: boolean) =>
  (minutes: number, by: keyof typeof reads = "get"): Step =>
  async (store, clock) => {
    clock.advanceMinutes(minutes);
    const keys = (await reads[by](store)).flatMap((item) => item?.key ?? []);
    expectEqual(keys, isThere ? ["k"] : [], `${by}, ${minutes} minutes later`);
  };
const there = reading(true);
const gone = reading(false);

const TEN = { defaultTtl: 10 };
const TEN_UNREAD = { defaultTtl: 10, refreshOnRead: false };

// biome-ignore format: a table reads best by rows.
const rows: [string, StoreCaseOptions["ttl"], Step[]][] = [
  ["an item expires after the store's defaultTtl", TEN_UNREAD, [put(), there(10 - MS), gone(MS)]],
  ["an item put with a shorter ttl expires by it", TEN_UNREAD, [put({ ttl: 1 }), there(1 - MS), gone(MS)]],
  ["an item put with a longer ttl expires by it", TEN_UNREAD, [put({ ttl: 100 }), there(51), gone(49)]],
  ["a fraction of a minute is a ttl", undefined, [put({ ttl: 0.5 }), there(0.5 - MS, "get without refresh"), gone(MS)]],
  ["without a ttl nothing expires", undefined, [put(), there(CENTURY)]],
  ["a put without ttl gives an item the store's default again", TEN_UNREAD, [put({ ttl: 100 }), put(), there(9), gone(1)]],
  ["a ttl of null is for ever, whatever the store's default", TEN, [put({ ttl: null }), there(CENTURY)]],
  ["every put starts the ttl anew", TEN_UNREAD, [put(), there(9), put(), there(9)]],
  ["get restarts the ttl where the store refreshes on read", { defaultTtl: 10, refreshOnRead: true }, [put(), there(9), there(9), there(9), gone(10)]],
  ["reads refresh unless the store says otherwise", TEN, [put(), there(9), there(9)]],
  ["an item's own ttl is what a read restarts", { defaultTtl: 100 }, [put({ ttl: 2 }), there(1), gone(2)]],
  ["get with refreshTtl false restarts nothing", TEN, [put(), there(9, "get without refresh"), gone(1)]],
  ["search with refreshTtl false restarts nothing", TEN, [put(), there(9, "search without refresh"), gone(1, "search")]],
  ["with refreshOnRead false no read restarts anything", TEN_UNREAD, [put(), there(9), there(0, "search"), gone(1)]],
];

const expiry = rows.flatMap(([what, ttl, steps]) =>
  cases(
    ["ttl"],
    {
      [what]: async (store, { clock }) => {
        for (const step of steps) await step(store, clock);
      },
    },
    ttl && { ttl },
  ),
);

const refresh = cases(
  ["ttl"],
  {
    "search restarts the ttl of what it returns and of nothing else": async (store, { clock }) => {
      await putAll(store, N, { a: {}, b: {} });
      clock.advanceMinutes(9);
      expectEqual(keysOf(await store.search(N, { limit: 1 })), ["a"], "the page");
      clock.advanceMinutes(1);
      expectEqual(keysOf(await store.search(N)), ["a"], "what is left");
    },
    "a read that restarts the ttl moves neither createdAt nor updatedAt": async (
      store,
      { clock },
    ) => {
      const created = clock.now();
      await put()(store, clock);
      await there(5)(store, clock);
      const item = await store.get(N, "k");
      const times = [item?.createdAt.getTime(), item?.updatedAt.getTime()];
      expectEqual(times, [created, created], "times");
    },
  },
  { ttl: TEN },
);

const expired = cases(["ttl"], {
  "an expired item is in no search or listing, and takes no place in a page": async (
    store,
    { clock },
  ) => {
    await store.put(["a"], "a", { text: "tea" }, undefined, { ttl: 1 });
    await putAll(store, ["b"], { b: { text: "tea" }, c: {} });
    clock.advanceMinutes(1);
    expectEqual(keysOf(await store.search([], { limit: 2 })), ["b", "c"], "the first page");
    expectEqual(keysOf(await store.search([], { limit: 1, offset: 1 })), ["c"], "the second item");
    expectEqual(keysOf(await store.search([], { filter: { text: "tea" } })), ["b"], "by a filter");
    expectEqual(await store.listNamespaces(), [["b"]], "namespaces");
    expectEqual(await store.listNamespaces({ maxDepth: 1 }), [["b"]], "cut to one label");
  },
  "an item put after it expired is new": async (store, { clock }) => {
    await put({ ttl: 1 })(store, clock);
    clock.advanceMinutes(1);
    await put()(store, clock);
    expectEqual((await store.get(N, "k"))?.createdAt.getTime(), clock.now(), "createdAt");
    await there(1000)(store, clock);
  },
  "sweepExpired deletes what has expired and says how much": async (store, { clock }) => {
    await store.put(["a"], "k1", {}, undefined, { ttl: 1 });
    await store.put(["a", "b"], "k2", {}, undefined, { ttl: 2 });
    await store.put(["c"], "k3", {});
    expectEqual(await store.sweepExpired?.(), 0, "before anything expired");
    clock.advanceMinutes(1);
    expectEqual(await store.sweepExpired?.(), 1, "after one minute");
    clock.advanceMinutes(1);
    expectEqual(await store.sweepExpired?.(), 1, "after two minutes");
    expectEqual(await store.sweepExpired?.(), 0, "once more");
    expectEqual(await store.listNamespaces(), [["c"]], "what is left");
  },
  "sweepExpired deletes thousands at once": async (store, { clock }) => {
    const puts = numbered(2500).map((key) => store.put(N, key, {}, undefined, { ttl: 1 }));
    await Promise.all(puts);
    clock.advanceMinutes(1);
    expectEqual(await store.sweepExpired?.(), 2500, "count");
  },
});

const others = [
  ...cases(["ttl", "index"], {
    "an expired item is not found by its vector": async (store, { clock }) => {
      await store.put(N, "gone", { text: "red" }, undefined, { ttl: 1 });
      await store.put(N, "here", { text: "red green" });
      clock.advanceMinutes(1);
      expectEqual(keysOf(await store.search(N, { query: "red" })), ["here"], "hits");
    },
  }),
  ...cases(
    ["ttl", "persistence"],
    {
      "expiry is kept on storage": async (store, { clock, options, reopen }) => {
        await store.put(N, "short", {});
        await store.put(N, "long", {}, undefined, { ttl: 20 });
        clock.advanceMinutes(5);
        const again = await reopen(store, options);
        expectEqual(keysOf(await again.search(N)), ["long", "short"], "after five minutes");
        clock.advanceMinutes(5);
        expectEqual(keysOf(await again.search(N)), ["long"], "after ten minutes");
        const third = await reopen(again, options);
        clock.advanceMinutes(10);
        expectEqual(await third.search(N), [], "after twenty minutes");
        expectEqual(await third.sweepExpired?.(), 2, "swept");
      },
    },
    { ttl: TEN_UNREAD },
  ),
];

export const ttlCases = [...expiry, ...refresh, ...expired, ...others];
