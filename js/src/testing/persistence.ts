// What is there after close and reopen.

import { keysOf, numbered, putAll, type Run, storeCase } from "./case.js";
import { expectClose, expectEqual, expectTrue } from "./check.js";
import { ColourEmbeddings, colourIndex } from "./fakes.js";
import type { StoreCase, StoreNeed, StoreUnderTest } from "./types.js";

const N = ["n"];

function persistenceCase(name: string, cap: number, run: Run, needs: StoreNeed[] = []): StoreCase {
  return storeCase(name, { cap, needs: ["persistence", ...needs] }, run);
}

export const persistenceCases = [
  persistenceCase("items are there after close and reopen", 26, async (store, { reopen }) => {
    const value = {
      text: "é😀",
      list: [1, { a: null }],
      raw: new Uint8Array([0, 255]),
      $keepsake: 1,
    };
    await store.put(["users", "u1"], "k", value);
    const before = await store.get(["users", "u1"], "k");
    const again = await reopen(store);
    expectEqual(await again.get(["users", "u1"], "k"), before, "the item");
    expectEqual((await again.get(["users", "u1"], "k"))?.value, value, "its value");
  }),
  persistenceCase(
    "updates, deletions and emptied namespaces are there after reopen",
    26,
    async (store, { reopen }) => {
      await putAll(store, N, { a: { n: 1 }, b: { n: 1 } });
      await store.put(["gone"], "k", {});
      await store.put(N, "a", { n: 2 });
      await store.delete(N, "b");
      await store.delete(["gone"], "k");
      const again = await reopen(store);
      expectEqual(
        (await again.search([])).map((item) => [item.key, item.value]),
        [["a", { n: 2 }]],
        "items",
      );
      expectEqual(await again.listNamespaces(), [N], "namespaces");
    },
  ),
  persistenceCase(
    "a batch is a promise, what it put is stored, and expires",
    64,
    async (store, { reopen, options, clock }) => {
      const value = { n: 1 };
      const pending = store.batch([
        { namespace: N, key: "k", value },
        { namespace: N, key: "l", value },
        { namespace: N, key: "k" },
      ]);
      expectTrue(typeof pending.then === "function", "batch() returns a promise");
      expectEqual((await pending)[2], null, "a read of the same batch");
      await store.put(N, "brief", value, undefined, { ttl: 1 });
      const again = await reopen(store, options);
      expectEqual(keysOf(await again.search(N)).sort(), ["brief", "k", "l"], "after reopening");
      clock.advanceMinutes(1);
      expectEqual(await again.get(N, "brief"), null, "what has expired");
      expectEqual((await again.get(N, "k"))?.value, value, "what has no end");
    },
    ["clock", "ttl"],
  ),
  persistenceCase("reopening many times is harmless", 22, async (first, { reopen }) => {
    let store = first;
    for (let round = 0; round < 5; round += 1) {
      await store.put(N, `k${round}`, { round });
      store = await reopen(store);
    }
    expectEqual((await store.search(N)).length, 5, "items");
  }),
  persistenceCase("1,000 items in 50 namespaces survive", 26, async (store, { reopen }) => {
    await store.batch(
      numbered(1000).map((key, i) => ({ namespace: ["n", `s${i % 50}`], key, value: { i } })),
    );
    const again = await reopen(store);
    const items = await again.search(N, { limit: 2000 });
    expectEqual(
      items.map((item) => item.value.i).sort((l, r) => l - r),
      numbered(1000).map((_, i) => i),
      "values",
    );
    expectEqual((await again.listNamespaces()).length, 50, "namespaces");
  }),
  persistenceCase("labels and keys of every kind survive", 22, async (store, { reopen }) => {
    const labels = ["%", "'", "\u001e", "\u001f0", "é", "😀", "*", " "];
    for (const label of labels) await store.put(["root", label], label, { label });
    const again = await reopen(store);
    for (const label of labels) {
      expectEqual(
        (await again.get(["root", label], label))?.value,
        { label },
        JSON.stringify(label),
      );
    }
    expectEqual(
      (await again.listNamespaces()).map((namespace) => namespace[1]).sort(),
      [...labels].sort(),
      "labels",
    );
  }),
  persistenceCase(
    "times and order survive",
    46,
    async (store, { clock, options, reopen }) => {
      const created = clock.now();
      for (const key of ["a", "b", "c", "a"]) {
        await store.put(N, key, {});
        clock.advanceMs(1000);
      }
      const again = await reopen(store, options);
      const items = await again.search(N);
      expectEqual(keysOf(items), ["a", "c", "b"], "order");
      expectEqual(items[0]?.createdAt.getTime(), created, "createdAt");
      expectEqual(items[0]?.updatedAt.getTime(), created + 3000, "updatedAt");
    },
    ["clock"],
  ),
  persistenceCase(
    "vectors are there after reopen and nothing is embedded again",
    35,
    async (store, { reopen }) => {
      await putAll(store, N, {
        full: { text: "red" },
        half: { text: "red green" },
        none: { other: 1 },
      });
      const embeddings = new ColourEmbeddings();
      const again = await reopen(store, colourIndex(embeddings, ["text"]));
      const hits = await again.search(N, { query: "red" });
      expectEqual(keysOf(hits), ["full", "half", "none"], "order");
      expectClose(hits[1]?.score, Math.SQRT1_2, "score");
      expectEqual(embeddings.documentCalls, [], "texts embedded again");
    },
    ["index"],
  ),
  persistenceCase(
    "deleted vectors stay deleted after reopen",
    61,
    async (store, { reopen }) => {
      await putAll(store, N, { a: { text: "red" }, b: { text: "red" } });
      await store.delete(N, "a");
      const again = await reopen(store, colourIndex(undefined, ["text"]));
      await again.put(N, "a", { text: "red" }, false);
      const hits = await again.search(N, { query: "red" });
      expectEqual(
        hits.map((hit) => [hit.key, hit.score === undefined]),
        [
          ["b", false],
          ["a", true],
        ],
        "hits",
      );
    },
    ["index"],
  ),
  persistenceCase(
    "an acknowledged put is there without an orderly end of the batch before it",
    26,
    async (store, { reopen }) => {
      const puts = numbered(50).map((key) => store.put(N, key, { key }));
      await puts.at(-1);
      await Promise.all(puts);
      const again = await reopen(store);
      expectEqual((await again.search(N, { limit: 100 })).length, 50, "items");
    },
  ),
  persistenceCase(
    "a graph over vectors is built and saved, and finds the same by every plan after reopen",
    35,
    async (store, { options, reopen }) => {
      const items = numbered(300).map((key, i) => [key, { text: mixOf(i) }] as const);
      await putAll(store, N, Object.fromEntries(items));
      expectEqual(await store.buildIndex?.(), 300, "vectors in the graph");
      const find = async (from: StoreUnderTest, plan?: "exact" | "codes" | "graph") =>
        keysOf(await from.search(N, { query: "red red green", limit: 5, ...(plan && { plan }) }));
      const expected = await find(store, "exact");
      const again = await reopen(store, options);
      const [hit] = await again.search(N, { query: "red", plan: "graph", explain: true });
      expectEqual(hit?.plan, "vectors: graph of 300, 300 in the graph", "the plan");
      for (const plan of ["exact", "codes", "graph"] as const) {
        expectEqual(await find(again, plan), expected, `hits by ${plan}`);
      }
      expectEqual(await again.buildIndex?.(), 300, "vectors in the graph after reopen");
    },
    ["index", "extras"],
  ),
];

// No two are alike in direction.
function mixOf(i: number): string {
  return ["red", "green", "blue"]
    .flatMap((colour, k) => Array(1 + ((i * (2 * k + 3)) % (17 + k))).fill(colour))
    .join(" ");
}
