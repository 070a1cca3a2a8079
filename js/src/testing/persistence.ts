// What is there after close and reopen.

import { cases, keysOf, N, numbered, putAll, sortedKeysOf, valueAt } from "./case.js";
import { expectClose, expectEqual, expectTrue } from "./check.js";
import { ColourEmbeddings } from "./fakes.js";

const kept = cases(["persistence"], {
  "items are there after close and reopen": async (store, { reopen }) => {
    const raw = new Uint8Array([0, 255]);
    await store.put(["users", "u1"], "k", {
      text: "é😀",
      list: [1, { a: null }],
      raw,
      $keepsake: 1,
    });
    const before = await store.get(["users", "u1"], "k");
    const again = await reopen(store);
    expectEqual(await again.get(["users", "u1"], "k"), before, "the item");
    expectEqual(before?.value.raw, raw, "its bytes");
  },
  "updates, deletions and emptied namespaces are there after reopen": async (store, { reopen }) => {
    await putAll(store, N, { a: { n: 1 }, b: { n: 1 } });
    await store.put(["gone"], "k", {});
    await store.put(N, "a", { n: 2 });
    await store.delete(N, "b");
    await store.delete(["gone"], "k");
    const again = await reopen(store);
    expectEqual(keysOf(await again.search([])), ["a"], "items");
    expectEqual(await valueAt(again, "a"), { n: 2 }, "the updated value");
    expectEqual(await again.listNamespaces(), [N], "namespaces");
  },
  "reopening many times is harmless": async (first, { reopen }) => {
    let store = first;
    for (let round = 0; round < 5; round += 1) {
      await store.put(N, `k${round}`, { round });
      store = await reopen(store);
    }
    expectEqual((await store.search(N)).length, 5, "items");
  },
  "1,000 items in 50 namespaces survive": async (store, { reopen }) => {
    await store.batch(
      numbered(1000).map((key, i) => ({ namespace: ["n", `s${i % 50}`], key, value: { i } })),
    );
    const again = await reopen(store);
    const values = (await again.search(N, { limit: 2000 })).map((item) => item.value.i);
    expectEqual(
      values.sort((l, r) => l - r),
      numbered(1000).map((_, i) => i),
      "values",
    );
    expectEqual((await again.listNamespaces()).length, 50, "namespaces");
  },
  "labels and keys of every kind survive": async (store, { reopen }) => {
    const labels = ["%", "'", "\u001e", "\u001f0", "é", "😀", "*", " "];
    for (const label of labels) await store.put(["root", label], label, { label });
    const again = await reopen(store);
    for (const label of labels) {
      expectEqual(await valueAt(again, label, ["root", label]), { label }, JSON.stringify(label));
    }
    const listed = (await again.listNamespaces()).map((namespace) => namespace[1]);
    expectEqual(listed.sort(), [...labels].sort(), "labels");
  },
  "an acknowledged put is there without an orderly end of the batch before it": async (
    store,
    { reopen },
  ) => {
    const puts = numbered(50).map((key) => store.put(N, key, { key }));
    await puts.at(-1);
    await Promise.all(puts);
    const again = await reopen(store);
    expectEqual((await again.search(N, { limit: 100 })).length, 50, "items");
  },
});

const timed = cases(["persistence", "clock"], {
  "times and order survive": async (store, { clock, options, reopen }) => {
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
});

const expiring = cases(["persistence", "ttl"], {
  "a batch is a promise, what it put is stored, and expires": async (
    store,
    { reopen, options, clock },
  ) => {
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
    expectEqual(sortedKeysOf(await again.search(N)), ["brief", "k", "l"], "after reopening");
    clock.advanceMinutes(1);
    expectEqual(await again.get(N, "brief"), null, "what has expired");
    expectEqual(await valueAt(again, "k"), value, "what has no end");
  },
});

const vectors = cases(["persistence", "index"], {
  "vectors are there after reopen and nothing is embedded again": async (store, { reopen }) => {
    const items = { full: { text: "red" }, half: { text: "red green" }, none: { other: 1 } };
    await putAll(store, N, items);
    const embeddings = new ColourEmbeddings();
    const again = await reopen(store, { index: embeddings.index(["text"]) });
    const hits = await again.search(N, { query: "red" });
    expectEqual(keysOf(hits), ["full", "half", "none"], "order");
    expectClose(hits[1]?.score, Math.SQRT1_2, "score");
    expectEqual(embeddings.documentCalls, [], "texts embedded again");
  },
  "deleted vectors stay deleted after reopen": async (store, { options, reopen }) => {
    await putAll(store, N, { a: { text: "red" }, b: { text: "red" } });
    await store.delete(N, "a");
    const again = await reopen(store, options);
    await again.put(N, "a", { text: "red" }, false);
    const hits = (await again.search(N, { query: "red" })).map(({ key, score }) => [key, score]);
    expectEqual(
      hits,
      [
        ["b", 1],
        ["a", undefined],
      ],
      "hits",
    );
  },
});

export const persistenceCases = [...kept, ...timed, ...expiring, ...vectors];
