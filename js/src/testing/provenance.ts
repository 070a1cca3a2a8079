// Where items come from.

import { keysOf, operations, type Run, sortedKeysOf, storeCase } from "./case.js";
import { expectEqual, expectRejection } from "./check.js";
import type { StoreCase, StoreNeed } from "./types.js";

const N = ["n"];
const PAGE = "https://example.org/page";

interface Told {
  origin?: string;
  source?: string;
}

const told = (item: object | null | undefined) => {
  const { origin, source } = Object(item) as Told;
  return [origin, source];
};

function provenanceCase(name: string, run: Run, needs: StoreNeed[] = []): StoreCase {
  return storeCase(name, { needs: ["provenance", ...needs] }, run);
}

export const provenanceCases: readonly StoreCase[] = [
  provenanceCase("an item says where its last put said that it comes from", async (store) => {
    await store.put(N, "k", { n: 1 }, undefined, { origin: "web", source: PAGE });
    expectEqual(told(await store.get(N, "k")), ["web", PAGE], "a get");
    const [hit] = await store.search(N);
    expectEqual(told(hit), ["web", PAGE], "a search");
    await store.put(N, "k", { n: 2 }, undefined, { source: "a file" });
    expectEqual(told(await store.get(N, "k")), [undefined, "a file"], "a source alone");
    await store.put(N, "k", { n: 3 });
    expectEqual(Object.keys((await store.get(N, "k")) ?? {}).includes("origin"), false, "nothing");
  }),
  provenanceCase("the operations of a batch take origin and source", async (store) => {
    await store.batch(
      operations(
        { namespace: N, key: "a", value: { n: 1 }, origin: "tool", source: "search" },
        { namespace: N, key: "b", value: { n: 2 } },
      ),
    );
    expectEqual(told(await store.get(N, "a")), ["tool", "search"], "the first");
    expectEqual(told(await store.get(N, "b")), [undefined, undefined], "the second");
  }),
  provenanceCase("an origin is one of four, and a source short text", async (store) => {
    const put = (options: object) => () => store.put(N, "k", {}, undefined, options);
    await expectRejection(put({ origin: "nobody" }), "another origin");
    await expectRejection(put({ source: "x".repeat(1025) }), "a long source");
    await expectRejection(put({ source: 7 }), "a source that is no text");
    expectEqual(await store.get(N, "k"), null, "what was refused");
  }),
  provenanceCase(
    "hits are worth what their origins are",
    async (store) => {
      await store.put(N, "user", { text: "red" }, undefined, { origin: "user" });
      await store.put(N, "web", { text: "red" }, undefined, { origin: "web" });
      for (const mode of ["vector", "text", "hybrid"] as const) {
        const search = { query: "red", mode };
        const best = async (origins: Record<string, number>) =>
          (await store.search(N, { ...search, origins }))[0]?.key;
        expectEqual(await best({ user: 0.1 }), "web", `the best by ${mode}`);
        expectEqual(await best({ web: 0.1, unknown: 0 }), "user", `the best by ${mode}`);
        expectEqual(sortedKeysOf(await store.search(N, search)), ["user", "web"], mode);
      }
      expectEqual(keysOf(await store.search(N, { origins: { web: 0 } })).length, 2, "a listing");
    },
    ["index", "extras"],
  ),
];
