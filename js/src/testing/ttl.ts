// TTL, in minutes, by an injected clock.

import { keysOf, putAll, type Run, storeCase } from "./case.js";
import { expectEqual } from "./check.js";
import type { StoreCase, StoreCaseOptions, StoreNeed } from "./types.js";

const N = ["n"];

function ttlCase(
  name: string,
  ttl: StoreCaseOptions["ttl"],
  run: Run,
  needs: StoreNeed[] = [],
): StoreCase {
  return storeCase(name, { cap: 56, needs: ["ttl", ...needs], ttl }, run);
}

const expiry = [
  ttlCase(
    "an item expires after the store's defaultTtl",
    { defaultTtl: 10, refreshOnRead: false },
    async (store, { clock }) => {
      await store.put(N, "k", { n: 1 });
      clock.advanceMs(10 * 60_000 - 1);
      expectEqual((await store.get(N, "k"))?.value, { n: 1 }, "a millisecond before");
      clock.advanceMs(1);
      expectEqual(await store.get(N, "k"), null, "at the very moment");
    },
  ),
  ttlCase(
    "an item put with a ttl expires by it",
    { defaultTtl: 10, refreshOnRead: false },
    async (store, { clock }) => {
      await store.put(N, "short", {}, undefined, { ttl: 1 });
      await store.put(N, "long", {}, undefined, { ttl: 100 });
      clock.advanceMinutes(1);
      expectEqual(await store.get(N, "short"), null, "after one minute");
      clock.advanceMinutes(50);
      expectEqual((await store.get(N, "long"))?.key, "long", "after 51 minutes");
    },
  ),
  ttlCase("a fraction of a minute is a ttl", undefined, async (store, { clock }) => {
    await store.put(N, "k", {}, undefined, { ttl: 0.5 });
    clock.advanceMs(29_999);
    expectEqual((await store.get(N, "k", { refreshTtl: false }))?.key, "k", "a millisecond before");
    clock.advanceMs(1);
    expectEqual(await store.get(N, "k"), null, "after half a minute");
  }),
  ttlCase("without a ttl nothing expires", undefined, async (store, { clock }) => {
    await store.put(N, "k", {});
    clock.advanceMinutes(60 * 24 * 365 * 100);
    expectEqual((await store.get(N, "k"))?.key, "k", "after a century");
  }),
  ttlCase(
    "an expired item is in no search, listing or list of keys",
    undefined,
    async (store, { clock }) => {
      await store.put(["a"], "k", { text: "tea" }, undefined, { ttl: 1 });
      await store.put(["b"], "k", { text: "tea" });
      clock.advanceMinutes(1);
      expectEqual(
        (await store.search([])).map((item) => item.namespace),
        [["b"]],
        "search",
      );
      expectEqual(await store.search(["a"], { filter: { text: "tea" } }), [], "filtered search");
      expectEqual(await store.listNamespaces(), [["b"]], "namespaces");
      expectEqual(
        await store.listNamespaces({ maxDepth: 1 }),
        [["b"]],
        "namespaces cut to one label",
      );
      expectEqual((await store.listKeys?.(["a"])) ?? [], [], "keys");
    },
  ),
  ttlCase("an expired item takes no place in a page", undefined, async (store, { clock }) => {
    await store.put(N, "a", {}, undefined, { ttl: 1 });
    await putAll(store, N, { b: {}, c: {} });
    clock.advanceMinutes(1);
    expectEqual(keysOf(await store.search(N, { limit: 2 })), ["b", "c"], "the first page");
    expectEqual(keysOf(await store.search(N, { limit: 1, offset: 1 })), ["c"], "the second item");
  }),
  ttlCase(
    "an expired item is not found by its vector",
    undefined,
    async (store, { clock }) => {
      await store.put(N, "gone", { text: "red" }, undefined, { ttl: 1 });
      await store.put(N, "here", { text: "red green" });
      clock.advanceMinutes(1);
      expectEqual(keysOf(await store.search(N, { query: "red" })), ["here"], "hits");
    },
    ["index"],
  ),
  ttlCase("an item put after it expired is new", undefined, async (store, { clock }) => {
    await store.put(N, "k", { n: 1 }, undefined, { ttl: 1 });
    clock.advanceMinutes(1);
    await store.put(N, "k", { n: 2 });
    const item = await store.get(N, "k");
    expectEqual(item?.createdAt.getTime(), clock.now(), "createdAt");
    clock.advanceMinutes(1000);
    expectEqual((await store.get(N, "k"))?.value, { n: 2 }, "much later");
  }),
  ttlCase(
    "a put without ttl gives an item the store's default again",
    { defaultTtl: 5, refreshOnRead: false },
    async (store, { clock }) => {
      await store.put(N, "k", { n: 1 }, undefined, { ttl: 100 });
      await store.put(N, "k", { n: 2 });
      clock.advanceMinutes(4);
      expectEqual((await store.get(N, "k"))?.value, { n: 2 }, "after four minutes");
      clock.advanceMinutes(1);
      expectEqual(await store.get(N, "k"), null, "after five minutes");
    },
  ),
  ttlCase(
    "a ttl of null is for ever, whatever the store's default",
    { defaultTtl: 5 },
    async (store, { clock }) => {
      await store.put(N, "k", { n: 1 }, undefined, { ttl: null });
      clock.advanceMinutes(1000);
      expectEqual((await store.get(N, "k"))?.value, { n: 1 }, "after 1,000 minutes");
    },
  ),
  ttlCase(
    "every put starts the ttl anew",
    { defaultTtl: 10, refreshOnRead: false },
    async (store, { clock }) => {
      await store.put(N, "k", { n: 1 });
      clock.advanceMinutes(9);
      await store.put(N, "k", { n: 2 });
      clock.advanceMinutes(9);
      expectEqual((await store.get(N, "k"))?.value, { n: 2 }, "nine minutes after the second put");
    },
  ),
];

const refresh = [
  ttlCase(
    "get restarts the ttl where the store refreshes on read",
    { defaultTtl: 10, refreshOnRead: true },
    async (store, { clock }) => {
      await store.put(N, "k", {});
      for (let round = 0; round < 3; round += 1) {
        clock.advanceMinutes(9);
        expectEqual((await store.get(N, "k"))?.key, "k", `read ${round}`);
      }
      clock.advanceMinutes(10);
      expectEqual(await store.get(N, "k"), null, "ten minutes after the last read");
    },
  ),
  ttlCase(
    "reads refresh unless the store says otherwise",
    { defaultTtl: 10 },
    async (store, { clock }) => {
      await store.put(N, "k", {});
      clock.advanceMinutes(9);
      expectEqual((await store.get(N, "k"))?.key, "k", "the read");
      clock.advanceMinutes(9);
      expectEqual((await store.get(N, "k"))?.key, "k", "18 minutes after the put");
    },
  ),
  ttlCase(
    "an item's own ttl is what a read restarts",
    { defaultTtl: 100 },
    async (store, { clock }) => {
      await store.put(N, "k", {}, undefined, { ttl: 2 });
      clock.advanceMinutes(1);
      expectEqual((await store.get(N, "k"))?.key, "k", "the read");
      clock.advanceMinutes(2);
      expectEqual(await store.get(N, "k"), null, "two minutes after the read");
    },
  ),
  ttlCase(
    "get with refreshTtl false restarts nothing",
    { defaultTtl: 10 },
    async (store, { clock }) => {
      await store.put(N, "k", {});
      clock.advanceMinutes(9);
      const read = await store.get(N, "k", { refreshTtl: false });
      expectEqual(read?.key, "k", "the read");
      clock.advanceMinutes(1);
      expectEqual(await store.get(N, "k"), null, "ten minutes after the put");
    },
  ),
  ttlCase(
    "with refreshOnRead false no read restarts anything",
    { defaultTtl: 10, refreshOnRead: false },
    async (store, { clock }) => {
      await store.put(N, "k", {});
      clock.advanceMinutes(9);
      expectEqual((await store.get(N, "k"))?.key, "k", "the read");
      expectEqual(keysOf(await store.search(N)), ["k"], "the search");
      clock.advanceMinutes(1);
      expectEqual(await store.get(N, "k"), null, "ten minutes after the put");
    },
  ),
  ttlCase(
    "search restarts the ttl of what it returns and of nothing else",
    { defaultTtl: 10 },
    async (store, { clock }) => {
      await putAll(store, N, { a: {}, b: {} });
      clock.advanceMinutes(9);
      expectEqual(keysOf(await store.search(N, { limit: 1 })), ["a"], "the page");
      clock.advanceMinutes(1);
      expectEqual(keysOf(await store.search(N)), ["a"], "what is left");
    },
  ),
  ttlCase(
    "search with refreshTtl false restarts nothing",
    { defaultTtl: 10 },
    async (store, { clock }) => {
      await store.put(N, "k", {});
      clock.advanceMinutes(9);
      expectEqual(keysOf(await store.search(N, { refreshTtl: false })), ["k"], "the search");
      clock.advanceMinutes(1);
      expectEqual(await store.search(N), [], "ten minutes after the put");
    },
  ),
  ttlCase(
    "a read moves neither createdAt nor updatedAt",
    { defaultTtl: 10 },
    async (store, { clock }) => {
      const created = clock.now();
      await store.put(N, "k", {});
      clock.advanceMinutes(5);
      expectEqual((await store.get(N, "k"))?.key, "k", "the read");
      const item = await store.get(N, "k");
      expectEqual(
        [item?.createdAt.getTime(), item?.updatedAt.getTime()],
        [created, created],
        "times",
      );
    },
  ),
];

const sweep = [
  ttlCase(
    "sweepExpired deletes what has expired and says how much",
    undefined,
    async (store, { clock }) => {
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
  ),
  ttlCase("sweepExpired deletes thousands at once", undefined, async (store, { clock }) => {
    const keys = Array.from({ length: 2500 }, (_, i) => `k${i}`);
    await Promise.all(keys.map((key) => store.put(N, key, {}, undefined, { ttl: 1 })));
    clock.advanceMinutes(1);
    expectEqual(await store.sweepExpired?.(), 2500, "count");
  }),
  ttlCase(
    "expiry is kept on storage",
    { defaultTtl: 10, refreshOnRead: false },
    async (store, { clock, options, reopen }) => {
      await store.put(N, "short", {});
      await store.put(N, "long", {}, undefined, { ttl: 20 });
      clock.advanceMinutes(5);
      const again = await reopen(store, options);
      expectEqual(keysOf(await again.search(N)), ["long", "short"], "five minutes after the put");
      clock.advanceMinutes(5);
      expectEqual(keysOf(await again.search(N)), ["long"], "ten minutes after the put");
      const third = await reopen(again, options);
      clock.advanceMinutes(10);
      expectEqual(await third.search(N), [], "twenty minutes after the put");
      expectEqual(await third.sweepExpired?.(), 2, "swept");
    },
    ["persistence"],
  ),
];

export const ttlCases = [...expiry, ...refresh, ...sweep];
