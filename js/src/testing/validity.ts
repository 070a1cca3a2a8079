// Facts that hold for a while, and what superseded them.

import { keysOf, operations, type Run, sortedKeysOf, storeCase } from "./case.js";
import { expectEqual, expectRejection, expectTrue } from "./check.js";
import type { StoreCase, StoreNeed } from "./types.js";

const N = ["n"];
const DAY_MINUTES = 24 * 60;

function validityCase(name: string, run: Run, needs: StoreNeed[] = []): StoreCase {
  return storeCase(name, { needs: ["validity", ...needs] }, run);
}

export const validityCases: readonly StoreCase[] = [
  validityCase(
    "a fact is found from validFrom on, and until before validUntil",
    async (store, { clock }) => {
      const from = clock.now() + 1000;
      await store.put(N, "k", { n: 1 }, undefined, { validFrom: from, validUntil: from + 1000 });
      expectEqual(keysOf(await store.search(N)), [], "before");
      expectEqual(keysOf(await store.search(N, { asOf: from })), ["k"], "as of its beginning");
      clock.advanceMs(1000);
      expectEqual(keysOf(await store.search(N)), ["k"], "from its beginning on");
      clock.advanceMs(1000);
      expectEqual(keysOf(await store.search(N)), [], "at its end");
      expectEqual((await store.get(N, "k"))?.value, { n: 1 }, "a get");
    },
  ),
  validityCase("times are Dates, milliseconds or ISO texts", async (store) => {
    await store.put(N, "k", {}, undefined, { validFrom: "2020-01-01", validUntil: "2021-01-01" });
    for (const asOf of [Date.UTC(2020, 5), new Date(Date.UTC(2020, 5)), "2020-06-01T01:00+01:00"]) {
      expectEqual(keysOf(await store.search(N, { asOf })), ["k"], `as of ${String(asOf)}`);
    }
    const found = (await store.get(N, "k")) as { validFrom?: Date; validUntil?: Date } | null;
    expectEqual(found?.validFrom?.toISOString(), "2020-01-01T00:00:00.000Z", "validFrom");
    expectEqual(found?.validUntil?.toISOString(), "2021-01-01T00:00:00.000Z", "validUntil");
    await expectRejection(() => store.search(N, { asOf: "last year" }), "what is no time");
  }),
  validityCase("a fact that was superseded is found as of then only", async (store, { clock }) => {
    await store.put(N, "bern", { home: "Bern" });
    const before = clock.now();
    clock.advanceMinutes(DAY_MINUTES);
    await store.put(N, "basel", { home: "Basel" }, undefined, { supersedes: "bern" });
    expectEqual(keysOf(await store.search(N)), ["basel"], "now");
    expectEqual(keysOf(await store.search(N, { asOf: before })), ["bern"], "as of before");
    expectEqual(
      keysOf(await store.search(N, { includeSuperseded: true })),
      ["basel", "bern"],
      "with what was superseded",
    );
    expectEqual(keysOf(await store.search(N, { filter: { home: "Bern" } })), [], "by a filter");
  }),
  validityCase("the operations of a batch take validity, one after the other", async (store) => {
    const supersedes = { namespace: N, key: "a" };
    await store.batch(
      operations(
        { namespace: N, key: "a", value: { n: 1 } },
        { namespace: ["m"], key: "b", value: { n: 2 }, supersedes },
      ),
    );
    expectEqual(keysOf(await store.search([])), ["b"], "what is left");
    const search = { namespacePrefix: [], includeSuperseded: true };
    const [hits] = (await store.batch(operations(search))) as [{ key: string }[]];
    expectEqual(keysOf(hits), ["b", "a"], "with what was superseded");
  }),
  validityCase("a fact that is put again has the validity of that put", async (store) => {
    await store.put(N, "a", {});
    await store.put(N, "b", {}, undefined, { supersedes: "a" });
    await store.put(N, "a", {});
    expectEqual(sortedKeysOf(await store.search(N)), ["a", "b"], "both");
  }),
  validityCase(
    "no search shows a fact before its successor",
    async (store) => {
      await store.put(N, "old", { text: "red red red" });
      await store.put(N, "new", { text: "red, and some blue" }, undefined, { supersedes: "old" });
      await store.put(N, "other", { text: "red green" });
      for (const mode of ["vector", "text", "hybrid", "contains"] as const) {
        const options = { query: "red", mode };
        expectEqual(sortedKeysOf(await store.search(N, options)), ["new", "other"], mode);
        const all = await store.search(N, { ...options, includeSuperseded: true });
        expectEqual(sortedKeysOf(all), ["new", "old", "other"], `${mode}, with superseded`);
        const [older, newer] = ["old", "new"].map((key) =>
          all.findIndex((item) => item.key === key),
        ) as [number, number];
        expectTrue(newer < older, `${mode} gives the successor first`);
        const page = { ...options, includeSuperseded: true, limit: 1, offset: 1 };
        expectEqual(keysOf(await store.search(N, page)), [all[1]?.key], `${mode}, a page`);
      }
    },
    ["index", "extras"],
  ),
];
