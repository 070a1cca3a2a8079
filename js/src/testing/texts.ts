// Searches by text, and by text and vector.

import { keysOf, putAll, storeCase } from "./case.js";
import { expectClose, expectEqual, expectRejection, expectTrue } from "./check.js";

const N = ["notes"];

export const textCases = [
  storeCase(
    "text finds the words of a question in any form, and nothing where nothing matches",
    { cap: 6, needs: ["extras"] },
    async (store) => {
      await putAll(store, N, {
        walk: { text: "We walked to the café on 8 May 2023" },
        tea: { text: "我喜欢喝茶" },
        code: { text: "call getUserName" },
      });
      const find = async (query: string) => keysOf(await store.search(N, { query, mode: "text" }));
      expectEqual(await find("Where did they go for a walk?"), ["walk"], "a stem");
      expectEqual(await find("CAFE"), ["walk"], "without an accent");
      expectEqual(await find("茶"), ["tea"], "one character");
      expectEqual(await find("user name"), ["code"], "a part of an identifier");
      expectEqual(await find("bicycle"), [], "nothing");
    },
  ),
  storeCase(
    "text scores are between 0 and 1, the best first",
    { cap: 7, needs: ["extras"] },
    async (store) => {
      await putAll(store, N, { both: { text: "green tea" }, one: { text: "green car" } });
      const hits = await store.search(N, { query: "green tea", mode: "text" });
      expectEqual(keysOf(hits), ["both", "one"], "order");
      for (const { score } of hits)
        expectTrue(score !== undefined && score > 0 && score < 1, "score");
    },
  ),
  storeCase(
    "hybrid finds by words what has no vector, and by vector what has no word",
    { cap: 60, needs: ["index", "extras"] },
    async (store) => {
      await store.put(N, "vector", { text: "red" });
      await store.put(N, "word", { note: "a red scarf" }, false);
      const hits = await store.search(N, { query: "red", mode: "hybrid" });
      expectEqual([...keysOf(hits)].sort(), ["vector", "word"], "hits");
    },
  ),
  storeCase(
    "hybrid finds by vector only what holds the phrases that were asked for",
    { cap: 60, needs: ["index", "extras"] },
    async (store) => {
      await putAll(store, N, {
        phrase: { text: "red green scarf" },
        apart: { text: "green scarf, and red" },
        near: { text: "green red" },
      });
      const hits = await store.search(N, { query: '"red green"', mode: "hybrid" });
      expectEqual(keysOf(hits), ["phrase"], "hits");
    },
  ),
  storeCase("hybrid without an index is text", { cap: 1, needs: ["extras"] }, async (store) => {
    await putAll(store, N, { a: { text: "tea" }, b: { text: "coffee" } });
    const text = await store.search(N, { query: "tea", mode: "text" });
    const hybrid = await store.search(N, { query: "tea", mode: "hybrid" });
    expectEqual(keysOf(hybrid), ["a"], "hits");
    expectClose(hybrid[0]?.score, text[0]?.score ?? Number.NaN, "score");
  }),
  storeCase("an unknown mode is an error", { needs: ["extras"] }, async (store) => {
    // @ts-expect-error: callers without types may do so
    await expectRejection(() => store.search(N, { query: "tea", mode: "toast" }), "search");
  }),
];
