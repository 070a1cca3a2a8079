// batch(): the order of results, what reads see, and all or nothing.

import type { Item, SearchItem } from "@langchain/langgraph-checkpoint";
import { keysOf, numbered, operations, putAll, sortedKeysOf, storeCase } from "./case.js";
import { expectEqual, expectRejection } from "./check.js";

const N = ["n"];

const get = (key: string) => ({ namespace: N, key });
const put = (key: string, value: unknown) => ({ namespace: N, key, value });
const resultValue = (result: unknown) => (result as Item | null)?.value;

const results = [
  storeCase("an empty batch answers nothing", { cap: 36 }, async (store) => {
    await store.put(N, "a", { n: 1 });
    expectEqual(await store.batch([]), [], "results");
    expectEqual((await store.get(N, "a"))?.value, { n: 1 }, "what was there");
  }),
  storeCase("batch answers every operation in its place", { cap: 36 }, async (store) => {
    await putAll(store, N, { a: { n: 1 }, b: { n: 2 } });
    const answers = await store.batch(
      operations(
        get("b"),
        put("c", { n: 3 }),
        { namespacePrefix: N, limit: 1 },
        get("nobody"),
        { matchConditions: [{ matchType: "prefix", path: N }], limit: 10, offset: 0 },
        get("a"),
      ),
    );
    expectEqual(answers.length, 6, "number of results");
    expectEqual(resultValue(answers[0]), { n: 2 }, "get b");
    expectEqual(answers[1] ?? null, null, "put");
    expectEqual((answers[2] as SearchItem[]).length, 1, "search");
    expectEqual(answers[3], null, "get of a missing key");
    expectEqual(answers[4], [N], "listing");
    expectEqual(resultValue(answers[5]), { n: 1 }, "get a");
  }),
  storeCase(
    "a listing without matchConditions does not shift the results after it",
    { cap: 36 },
    async (store) => {
      await store.put(N, "a", { n: 1 });
      for (const listing of [{ limit: 10, offset: 0 }, { limit: 10 }, { maxDepth: 1 }]) {
        const answers = await store.batch(operations(get("a"), listing, get("nobody")));
        expectEqual(answers.length, 3, "number of results");
        expectEqual(resultValue(answers[0]), { n: 1 }, "get before the listing");
        expectEqual(answers[1], [N], `listing ${JSON.stringify(listing)}`);
        expectEqual(answers[2], null, "get after the listing");
      }
    },
  ),
  storeCase(
    "an operation of no known kind is an error that names its position",
    { cap: 17 },
    async (store) => {
      const error = await expectRejection(
        () => store.batch(operations(put("a", { n: 1 }), { colour: "red" }, get("a"))),
        "a batch with an unknown operation",
      );
      expectEqual(
        /\b1\b/.test(error.message),
        true,
        `the message names position 1: ${error.message}`,
      );
      expectEqual(await store.get(N, "a"), null, "the put beside it");
    },
  ),
  storeCase(
    "get, put, search, delete and listNamespaces are batches of one",
    { cap: 36 },
    async (store) => {
      await store.batch(operations(put("a", { n: 1 })));
      const [one, all, names] = [
        await store.get(N, "a"),
        await store.search(N),
        await store.listNamespaces(),
      ];
      expectEqual(await store.batch(operations(get("a"))), [one], "get");
      expectEqual(await store.batch(operations({ namespacePrefix: N })), [all], "search");
      expectEqual(
        await store.batch(operations({ matchConditions: undefined, limit: 100, offset: 0 })),
        [names],
        "listing",
      );
    },
  ),
];

const order = [
  storeCase("reads see the store as it was before the batch", { cap: 37 }, async (store) => {
    await store.put(N, "old", { n: 1 });
    const answers = await store.batch(
      operations(
        put("old", { n: 2 }),
        put("new", { n: 1 }),
        get("old"),
        get("new"),
        { namespacePrefix: [] },
        { matchConditions: [], limit: 10, offset: 0 },
        { namespace: ["other"], key: "k", value: { n: 1 } },
      ),
    );
    expectEqual(resultValue(answers[2]), { n: 1 }, "get of an item that the batch overwrites");
    expectEqual(answers[3], null, "get of an item that the batch creates");
    expectEqual(keysOf(answers[4] as Item[]), ["old"], "search");
    expectEqual(answers[5], [N], "namespaces");
    expectEqual((await store.get(N, "old"))?.value, { n: 2 }, "afterwards");
  }),
  storeCase("of several puts of one key the last wins", { cap: 37 }, async (store) => {
    await store.batch(operations(put("k", { n: 1 }), put("other", { n: 9 }), put("k", { n: 2 })));
    expectEqual((await store.get(N, "k"))?.value, { n: 2 }, "value");
  }),
  storeCase(
    "a put after a delete in one batch puts, a delete after a put deletes",
    { cap: 37 },
    async (store) => {
      await putAll(store, N, { a: { n: 1 }, b: { n: 1 } });
      await store.batch(
        operations(put("a", null), put("a", { n: 2 }), put("b", { n: 2 }), put("b", null)),
      );
      expectEqual((await store.get(N, "a"))?.value, { n: 2 }, "delete, put");
      expectEqual(await store.get(N, "b"), null, "put, delete");
    },
  ),
  storeCase("keys that join alike are not one key", { cap: 37 }, async (store) => {
    await store.batch(
      operations(
        { namespace: ["a"], key: "b:c", value: { n: 1 } },
        { namespace: ["a", "b"], key: "c", value: { n: 2 } },
      ),
    );
    expectEqual((await store.get(["a"], "b:c"))?.value, { n: 1 }, "the first");
    expectEqual((await store.get(["a", "b"], "c"))?.value, { n: 2 }, "the second");
  }),
  storeCase("a batch of 2,000 operations is answered in full", { cap: 36 }, async (store) => {
    const keys = numbered(1000);
    await store.batch(operations(...keys.map((key) => put(key, { key }))));
    const answers = await store.batch(
      operations(...keys.map(get), ...keys.map(() => get("nobody"))),
    );
    expectEqual(
      answers.map((answer) => resultValue(answer)?.key),
      [...keys, ...keys.map(() => undefined)],
      "values",
    );
  }),
];

const atomicity: [string, unknown][] = [
  ["an invalid namespace", { namespace: ["a.b"], key: "k", value: {} }],
  ["an empty namespace", { namespace: [], key: "k", value: {} }],
  ["a value that is not JSON", { namespace: N, key: "k", value: { n: 10n } }],
  ["an unknown filter operator", { namespacePrefix: N, filter: { n: { $near: 1 } } }],
  ["a key that is not a string", { namespace: N, key: 7, value: {} }],
];

const failing = atomicity.map(([what, operation]) =>
  storeCase(`a batch with ${what} changes nothing`, { cap: 37 }, async (store) => {
    await store.put(N, "old", { n: 1 });
    await expectRejection(
      () =>
        store.batch(
          operations(put("new", { n: 1 }), put("old", null), operation, put("old", { n: 2 })),
        ),
      "the batch",
    );
    const items = await store.search([]);
    expectEqual(
      items.map((item) => [item.key, item.value]),
      [["old", { n: 1 }]],
      "items",
    );
  }),
);

const concurrency = [
  storeCase("100 puts and 100 gets at once all succeed", { cap: 18 }, async (store) => {
    const keys = numbered(100);
    await Promise.all(keys.map((key) => store.put(N, key, { key })));
    const items = await Promise.all(keys.map((key) => store.get(N, key)));
    expectEqual(
      items.map((item) => item?.value.key),
      keys,
      "values",
    );
    expectEqual((await store.search(N, { limit: 1000 })).length, 100, "items");
  }),
  storeCase(
    "puts of one key at once leave the value of the last call",
    { cap: 18 },
    async (store) => {
      await Promise.all(numbered(50).map((key, n) => store.put(N, "k", { key, n })));
      expectEqual((await store.get(N, "k"))?.value.n, 49, "value");
    },
  ),
  storeCase("what a put has acknowledged the next call sees", { cap: 18 }, async (store) => {
    const rounds = numbered(20).map(async (key) => {
      for (let n = 0; n < 5; n += 1) {
        await store.put(N, key, { n });
        expectEqual((await store.get(N, key))?.value, { n }, `round ${n} of ${key}`);
      }
      await store.delete(N, key);
      expectEqual(await store.get(N, key), null, `${key} after its deletion`);
    });
    await Promise.all(rounds);
    expectEqual(await store.search([]), [], "items at the end");
  }),
  storeCase("one failing call does not disturb those beside it", { cap: 18 }, async (store) => {
    const outcomes = await Promise.allSettled([
      store.put(N, "a", { n: 1 }),
      store.put(["a.b"], "b", { n: 2 }),
      store.put(N, "c", { n: 3 }),
    ]);
    expectEqual(
      outcomes.map((outcome) => outcome.status),
      ["fulfilled", "rejected", "fulfilled"],
      "outcomes",
    );
    expectEqual(sortedKeysOf(await store.search(N)), ["a", "c"], "items");
  }),
];

export const batchCases = [...results, ...order, ...failing, ...concurrency];
