// batch(): the order of results, what reads see, and all or nothing.

import type { Item, SearchItem } from "@langchain/langgraph-checkpoint";
import {
  cases,
  keysOf,
  N,
  numbered,
  operations,
  putAll,
  sortedKeysOf,
  table,
  valueAt,
} from "./case.js";
import { expectEqual, expectRejection, expectTrue } from "./check.js";

const get = (key: string) => ({ namespace: N, key });
const put = (key: string, value: unknown) => ({ namespace: N, key, value });
const resultValue = (result: unknown) => (result as Item | null)?.value;

const results = cases([], {
  "an empty batch answers nothing": async (store) => {
    await store.put(N, "a", { n: 1 });
    expectEqual(await store.batch([]), [], "results");
    expectEqual(await valueAt(store, "a"), { n: 1 }, "what was there");
  },
  "batch answers every operation in its place": async (store) => {
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
  },
  "a listing without matchConditions does not shift the results after it": async (store) => {
    await store.put(N, "a", { n: 1 });
    for (const listing of [{ limit: 10, offset: 0 }, { limit: 10 }, { maxDepth: 1 }]) {
      const answers = await store.batch(operations(get("a"), listing, get("nobody")));
      expectEqual(answers.length, 3, "number of results");
      expectEqual(resultValue(answers[0]), { n: 1 }, "get before the listing");
      expectEqual(answers[1], [N], `listing ${JSON.stringify(listing)}`);
      expectEqual(answers[2], null, "get after the listing");
    }
  },
  "an operation of no known kind is an error that names its position": async (store) => {
    const batch = operations(put("a", { n: 1 }), { colour: "red" }, get("a"));
    const { message } = await expectRejection(() => store.batch(batch), "an unknown operation");
    expectTrue(/\b1\b/.test(message), `the message names position 1: ${message}`);
    expectEqual(await store.get(N, "a"), null, "the put beside it");
  },
  "get, put, search, delete and listNamespaces are batches of one": async (store) => {
    await store.batch(operations(put("a", { n: 1 })));
    const one = await store.get(N, "a");
    const all = await store.search(N);
    const names = await store.listNamespaces();
    const listing = { matchConditions: undefined, limit: 100, offset: 0 };
    expectEqual(await store.batch(operations(get("a"))), [one], "get");
    expectEqual(await store.batch(operations({ namespacePrefix: N })), [all], "search");
    expectEqual(await store.batch(operations(listing)), [names], "listing");
  },
});

const order = cases([], {
  "reads see the store as it was before the batch": async (store) => {
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
    expectEqual(await valueAt(store, "old"), { n: 2 }, "afterwards");
  },
  "of several puts and deletions of one key the last wins": async (store) => {
    await putAll(store, N, { a: { n: 1 }, b: { n: 1 } });
    await store.batch(operations(put("k", { n: 1 }), put("other", { n: 9 }), put("k", { n: 2 })));
    expectEqual(await valueAt(store, "k"), { n: 2 }, "put, put");
    await store.batch(
      operations(put("a", null), put("a", { n: 2 }), put("b", { n: 2 }), put("b", null)),
    );
    expectEqual(await valueAt(store, "a"), { n: 2 }, "delete, put");
    expectEqual(await store.get(N, "b"), null, "put, delete");
  },
  "a batch of 2,000 operations is answered in full": async (store) => {
    const keys = numbered(1000);
    await store.batch(operations(...keys.map((key) => put(key, { key }))));
    const gets = [...keys.map(get), ...keys.map(() => get("nobody"))];
    const found = (await store.batch(operations(...gets))).map(
      (answer) => resultValue(answer)?.key,
    );
    expectEqual(found, [...keys, ...keys.map(() => undefined)], "values");
  },
});

const failing: [string, unknown][] = [
  ["an invalid namespace", { namespace: ["a.b"], key: "k", value: {} }],
  ["an empty namespace", { namespace: [], key: "k", value: {} }],
  ["a value that is not JSON", put("k", { n: 10n })],
  ["an unknown filter operator", { namespacePrefix: N, filter: { n: { $near: 1 } } }],
  ["a key that is not a string", { namespace: N, key: 7, value: {} }],
];

const atomicity = cases(
  [],
  table(
    failing,
    ([what]) => `a batch with ${what} changes nothing`,
    async ([, operation], store) => {
      await store.put(N, "old", { n: 1 });
      const batch = [put("new", { n: 1 }), put("old", null), operation, put("old", { n: 2 })];
      await expectRejection(() => store.batch(operations(...batch)), "the batch");
      expectEqual(keysOf(await store.search([])), ["old"], "items");
      expectEqual(await valueAt(store, "old"), { n: 1 }, "value");
    },
  ),
);

const concurrency = cases([], {
  "100 puts and 100 gets at once all succeed": async (store) => {
    const keys = numbered(100);
    await Promise.all(keys.map((key) => store.put(N, key, { key })));
    const values = await Promise.all(keys.map((key) => valueAt(store, key)));
    expectEqual(
      values,
      keys.map((key) => ({ key })),
      "values",
    );
    expectEqual((await store.search(N, { limit: 1000 })).length, 100, "items");
  },
  "puts of one key at once leave the value of the last call": async (store) => {
    await Promise.all(numbered(50).map((_, n) => store.put(N, "k", { n })));
    expectEqual(await valueAt(store, "k"), { n: 49 }, "value");
  },
  "what a put has acknowledged the next call sees": async (store) => {
    const rounds = numbered(20).map(async (key) => {
      for (let n = 0; n < 5; n += 1) {
        await store.put(N, key, { n });
        expectEqual(await valueAt(store, key), { n }, `round ${n} of ${key}`);
      }
      await store.delete(N, key);
      expectEqual(await store.get(N, key), null, `${key} after its deletion`);
    });
    await Promise.all(rounds);
    expectEqual(await store.search([]), [], "items at the end");
  },
  "one failing call does not disturb those beside it": async (store) => {
    const outcomes = await Promise.allSettled([
      store.put(N, "a", { n: 1 }),
      store.put(["a.b"], "b", { n: 2 }),
      store.put(N, "c", { n: 3 }),
    ]);
    const statuses = outcomes.map(({ status }) => status);
    expectEqual(statuses, ["fulfilled", "rejected", "fulfilled"], "outcomes");
    expectEqual(sortedKeysOf(await store.search(N)), ["a", "c"], "items");
  },
});

export const batchCases = [...results, ...order, ...atomicity, ...concurrency];
