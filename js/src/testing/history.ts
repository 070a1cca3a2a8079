// What items were, what is undone, and the store as it was.

import type { Item, SearchItem } from "@langchain/langgraph-checkpoint";
import { keysOf, type Run, storeCase } from "./case.js";
import { expectEqual, expectRejection } from "./check.js";
import type { StoreCase, StoreNeed, StoreUnderTest } from "./types.js";

const N = ["n"];

interface Version {
  operation?: number;
  change: string;
  time: Date;
  value: unknown;
  item: Item | null;
}

/** What the cases ask of a store that keeps history. */
interface StoreWithHistory extends StoreUnderTest {
  keepHistory(namespace: string[], options?: object): Promise<void>;
  dropHistory(namespace: string[]): Promise<void>;
  history(namespace: string[], key: string, options?: object): Promise<Version[]>;
  undo(operation: number | undefined, options?: object): Promise<{ items: number }>;
  asOf(time: number): {
    get(namespace: string[], key: string): Promise<Item | null>;
    put(namespace: string[], key: string, value: object): Promise<void>;
    search(prefix: string[], options?: object): Promise<SearchItem[]>;
    listNamespaces(options?: object): Promise<string[][]>;
  };
}

function historyCase(name: string, run: Run<StoreWithHistory>, needs: StoreNeed[] = []): StoreCase {
  return storeCase(name, { needs: ["history", ...needs] }, async (store, bench) => {
    const kept = store as StoreWithHistory;
    await kept.keepHistory(N);
    await run(kept, bench);
  });
}

const valuesOf = (versions: Version[]) => versions.map(({ value }) => value);

export const historyCases: readonly StoreCase[] = [
  historyCase(
    "a history has each value with its time and what made it",
    async (store, { clock }) => {
      const began = clock.now();
      await store.put(N, "k", { n: 1 });
      clock.advanceMs(10);
      await store.put(N, "k", { n: 2 });
      clock.advanceMs(10);
      await store.delete(N, "k");
      const versions = await store.history(N, "k");
      expectEqual(valuesOf(versions), [null, { n: 2 }, { n: 1 }], "values");
      expectEqual(
        versions.map(({ change, time }) => [change, time.getTime() - began]),
        [
          ["delete", 20],
          ["put", 10],
          ["put", 0],
        ],
        "changes and times",
      );
      expectEqual((await store.history(N, "k", { limit: 1 })).length, 1, "with a limit");
      await expectRejection(() => store.history(["elsewhere"], "k"), "where none is kept");
    },
  ),
  historyCase("a store is read as it was at a time", async (store, { clock }) => {
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
    const keysAsOf = async (time: number, options?: object) =>
      keysOf(await store.asOf(time).search(N, options)).sort();
    expectEqual(await keysAsOf(empty), [], "before all");
    expectEqual(await keysAsOf(first), ["a"], "then");
    expectEqual(await keysAsOf(second), ["a", "b"], "later");
    expectEqual(await keysAsOf(clock.now()), ["a"], "now");
    expectEqual(await keysAsOf(first, { query: "tea" }), ["a"], "by words");
    expectEqual(await keysAsOf(second, { query: "tea" }), ["b"], "by words, later");
    expectEqual(await keysAsOf(second, { filter: { text: "coffee" } }), ["a"], "by a filter");
    expectEqual(
      (await store.asOf(first).get([...N, "m"], "a"))?.value,
      { text: "green tea" },
      "get",
    );
    expectEqual(await store.asOf(empty).get([...N, "m"], "a"), null, "a get before it was there");
    expectEqual(await store.asOf(first).listNamespaces({ prefix: N }), [["n", "m"]], "namespaces");
    await expectRejection(() => store.asOf(first).put(N, "k", {}), "a write");
    await expectRejection(() => store.asOf(empty - 1).search(N), "a time that is not known");
    await expectRejection(() => store.asOf(first).search([]), "a prefix that is not known whole");
  }),
  historyCase("a put, a delete and a batch are undone", async (store, { clock }) => {
    await store.put(N, "a", { n: 1 });
    clock.advanceMs(10);
    await store.put(N, "a", { n: 2 });
    const [put] = await store.history(N, "a");
    await store.undo(put?.operation);
    expectEqual((await store.get(N, "a"))?.value, { n: 1 }, "a put");
    await store.delete(N, "a");
    await store.undo((await store.history(N, "a"))[0]?.operation);
    expectEqual((await store.get(N, "a"))?.value, { n: 1 }, "a delete");
    await store.batch([
      { namespace: N, key: "a", value: null },
      { namespace: N, key: "b", value: { n: 3 } },
    ]);
    const undone = await store.undo((await store.history(N, "b"))[0]?.operation);
    expectEqual(undone.items, 2, "items of a batch");
    expectEqual((await store.get(N, "a"))?.value, { n: 1 }, "of a batch, what was deleted");
    expectEqual(await store.get(N, "b"), null, "of a batch, what was put");
    await expectRejection(() => store.undo(put?.operation), "what changed since");
    await store.undo(put?.operation, { force: true });
    expectEqual((await store.get(N, "a"))?.value, { n: 1 }, "by force");
  }),
  historyCase("a history is bounded, and can be dropped", async (store, { clock }) => {
    await store.keepHistory(N, { maxVersions: 5 });
    for (let n = 0; n < 9; n++) {
      clock.advanceMs(10);
      await store.put(N, "k", { n });
    }
    const values = valuesOf(await store.history(N, "k")) as { n: number }[];
    expectEqual(
      values.map(({ n }) => n),
      [8, 7, 6, 5, 4, 3],
      "five operations, and what was before them",
    );
    await store.dropHistory(N);
    await expectRejection(() => store.history(N, "k"), "once it is dropped");
  }),
  historyCase(
    "an undo restores vectors, and the past is searched by them",
    async (store, { clock }) => {
      await store.put(N, "k", { text: "red" });
      const red = clock.now();
      clock.advanceMs(10);
      await store.put(N, "k", { text: "blue" });
      const best = async (from: Pick<StoreWithHistory, "search">) => {
        const [hit] = await from.search(N, { query: "red", mode: "vector" });
        return Math.round((hit?.score ?? -1) * 100) / 100;
      };
      const now = await best(store);
      const then = await best(store.asOf(red) as never);
      expectEqual(then > now, true, "it was more like red then");
      await store.undo((await store.history(N, "k"))[0]?.operation);
      expectEqual(await best(store), then, "after the undo");
    },
    ["index"],
  ),
];
