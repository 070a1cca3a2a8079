// Namespaces: which are allowed, how they are listed, and that labels are literal.

import { keysOf, operations, storeCase } from "./case.js";
import { expectEqual, expectRejection } from "./check.js";
import type { StoreUnderTest } from "./types.js";

async function fill(store: StoreUnderTest, namespaces: readonly string[][]): Promise<void> {
  for (const namespace of namespaces) await store.put(namespace, "k", { namespace });
}

const TREE = [
  ["cache"],
  ["docs", "en", "draft"],
  ["docs", "en", "v1"],
  ["docs", "fr", "draft"],
  ["docs", "fr", "draft", "old"],
  ["users", "u1", "memories"],
  ["users", "u2", "memories"],
];

interface ListingRow {
  what: string;
  cap: number;
  options: Parameters<StoreUnderTest["listNamespaces"]>[0];
  expected: string[][];
}

// biome-ignore format: a table reads best by rows.
const listingRows: ListingRow[] = [
  { what: "all of them, sorted", cap: 43, options: {}, expected: TREE },
  { what: "by prefix", cap: 44, options: { prefix: ["docs"] }, expected: TREE.slice(1, 5) },
  { what: "by a prefix of whole labels", cap: 44, options: { prefix: ["doc"] }, expected: [] },
  { what: "by suffix", cap: 44, options: { suffix: ["memories"] }, expected: TREE.slice(5) },
  { what: "by a suffix of two labels", cap: 44, options: { suffix: ["fr", "draft"] }, expected: [["docs", "fr", "draft"]] },
  { what: "by prefix and suffix", cap: 44, options: { prefix: ["docs"], suffix: ["draft"] }, expected: [["docs", "en", "draft"], ["docs", "fr", "draft"]] },
  { what: "where * in a prefix is exactly one label", cap: 44, options: { prefix: ["docs", "*", "draft"] }, expected: [["docs", "en", "draft"], ["docs", "fr", "draft"], ["docs", "fr", "draft", "old"]] },
  { what: "where * in a suffix is exactly one label", cap: 44, options: { suffix: ["users", "*", "memories"] }, expected: TREE.slice(5) },
  { what: "where * needs a label to stand for", cap: 44, options: { prefix: ["cache", "*"] }, expected: [] },
  { what: "where a pattern longer than the namespace matches nothing", cap: 44, options: { suffix: ["a", "b", "c", "d", "memories"] }, expected: [] },
  { what: "cut to maxDepth and made distinct", cap: 45, options: { maxDepth: 1 }, expected: [["cache"], ["docs"], ["users"]] },
  { what: "cut to two labels", cap: 45, options: { maxDepth: 2 }, expected: [["cache"], ["docs", "en"], ["docs", "fr"], ["users", "u1"], ["users", "u2"]] },
  { what: "cut after matching", cap: 45, options: { suffix: ["draft"], maxDepth: 2 }, expected: [["docs", "en"], ["docs", "fr"]] },
  { what: "with a maxDepth beyond the deepest", cap: 45, options: { maxDepth: 99 }, expected: TREE },
  { what: "in pages", cap: 43, options: { limit: 2, offset: 1 }, expected: TREE.slice(1, 3) },
  { what: "in pages of what is distinct", cap: 45, options: { maxDepth: 1, limit: 2, offset: 1 }, expected: [["docs"], ["users"]] },
  { what: "with a limit of 0", cap: 43, options: { limit: 0 }, expected: [] },
  { what: "with an offset beyond the end", cap: 43, options: { offset: 7 }, expected: [] },
];

const listing = [
  ...listingRows.map(({ what, cap, options, expected }) =>
    storeCase(`namespaces are listed ${what}`, { cap }, async (store) => {
      await fill(store, [...TREE].reverse());
      expectEqual(await store.listNamespaces(options), expected, JSON.stringify(options));
      expectEqual((await store.listNamespaces()).length, TREE.length, "all of them");
    }),
  ),
  storeCase("namespaces are sorted label by label, by code point", { cap: 43 }, async (store) => {
    const sorted = [
      ["B"],
      ["a"],
      ["a", "z"],
      ["a", "z", "a"],
      ["a "],
      ["a-", "a"],
      ["aa"],
      ["z"],
      ["\uffee"],
      ["😀"],
    ];
    await fill(store, [...sorted].reverse());
    expectEqual(await store.listNamespaces(), sorted, "order");
  }),
  storeCase("a namespace is listed once however many items it has", { cap: 43 }, async (store) => {
    for (const key of ["a", "b", "c"]) await store.put(["n"], key, {});
    expectEqual(await store.listNamespaces(), [["n"]], "namespaces");
  }),
  storeCase("a namespace that was emptied is no longer listed", { cap: 43 }, async (store) => {
    await fill(store, [["a"], ["a", "b"], ["c"]]);
    await store.delete(["a"], "k");
    await store.delete(["c"], "k");
    expectEqual(await store.listNamespaces(), [["a", "b"]], "namespaces");
    expectEqual(await store.listNamespaces({ maxDepth: 1 }), [["a"]], "cut to one label");
    await store.put(["c"], "k", {});
    expectEqual(await store.listNamespaces(), [["a", "b"], ["c"]], "after another put");
  }),
  storeCase("100 namespaces are listed unless told otherwise", { cap: 43 }, async (store) => {
    const namespaces = Array.from({ length: 130 }, (_, i) => ["n", String(i)]);
    await store.batch(namespaces.map((namespace) => ({ namespace, key: "k", value: {} })));
    expectEqual((await store.listNamespaces()).length, 100, "by default");
    expectEqual((await store.listNamespaces({ limit: 1000 })).length, 130, "with a limit of 1,000");
  }),
  storeCase("several match conditions of one kind must all hold", { cap: 44 }, async (store) => {
    await fill(store, TREE);
    const [found] = await store.batch(
      operations({
        matchConditions: [
          { matchType: "prefix", path: ["docs", "*"] },
          { matchType: "prefix", path: ["*", "fr"] },
          { matchType: "suffix", path: ["draft"] },
        ],
        limit: 10,
        offset: 0,
      }),
    );
    expectEqual(found, [["docs", "fr", "draft"]], "namespaces");
  }),
  storeCase(
    "a label * is found by the wildcard and by search as itself",
    { cap: 44 },
    async (store) => {
      await fill(store, [
        ["a", "*"],
        ["a", "b"],
      ]);
      expectEqual(
        await store.listNamespaces({ prefix: ["a", "*"] }),
        [
          ["a", "*"],
          ["a", "b"],
        ],
        "listing",
      );
      expectEqual((await store.search(["a", "*"])).length, 1, "search");
    },
  ),
];

// biome-ignore format: a list reads best in lines.
const LABELS = [
  "%", "_", "a%", "a_c", "abc", "[a]", "[", "]", "?", "*", "'", "\"", "\\", "/", " ", "-", "--", ";",
  "\u0001", "\u001e", "\u001f", "\u001f0", "\u001e0", "\u001e1", "é", "e\u0301", "日本", "😀", "A", "a",
  "user@example", "__proto__", "constructor", "null", "0", "x'); DROP TABLE store_kv; --",
];

const literal = [
  storeCase("labels are literal, whatever they contain", { cap: 2 }, async (store) => {
    for (const label of LABELS) await store.put(["root", label, "leaf"], "k", { label });
    for (const label of LABELS) {
      const name = JSON.stringify(label);
      const item = await store.get(["root", label, "leaf"], "k");
      expectEqual(item?.value, { label }, `get below ${name}`);
      expectEqual(item?.namespace, ["root", label, "leaf"], `namespace below ${name}`);
      const found = (await store.search(["root", label])).map((hit) => hit.value.label);
      expectEqual(found, [label], `search below ${name}`);
    }
    const listed = await store.listNamespaces({ prefix: ["root"], limit: 1000 });
    expectEqual(listed.map((namespace) => namespace[1]).sort(), [...LABELS].sort(), "listing");
  }),
  storeCase("labels of one character are labels", { cap: 2 }, async (store) => {
    await fill(store, [["a"], ["a", "b"], ["a", "b", "c"], ["ab"], ["abc"]]);
    expectEqual((await store.search(["a", "b"])).length, 2, "search below a/b");
    expectEqual((await store.search(["ab"])).length, 1, "search below ab");
  }),
  storeCase("a label of 10,000 characters and 100 labels both work", { cap: 2 }, async (store) => {
    const long = ["x".repeat(10_000), "leaf"];
    const deep = Array.from({ length: 100 }, (_, i) => `label${i}`);
    await fill(store, [long, deep]);
    expectEqual((await store.get(long, "k"))?.namespace, long, "the long label");
    expectEqual((await store.get(deep, "k"))?.namespace, deep, "the deep namespace");
    expectEqual((await store.search(deep.slice(0, 50))).length, 1, "search below 50 labels");
  }),
];

const FORBIDDEN: [string, unknown][] = [
  ["no label", []],
  ["an empty label", ["a", ""]],
  ["a label with a dot", ["a.b"]],
  ["a label with a colon", ["user:1"]],
  ["a label with NUL", ["a\0b"]],
  ["a label that is not a string", ["a", 7]],
  ["a label that is undefined", ["a", undefined]],
  ["a label with a lone surrogate", ["a\ud800"]],
  ["the reserved root label langgraph", ["langgraph", "x"]],
];

const rules = [
  ...FORBIDDEN.map(([what, namespace]) =>
    storeCase(`a namespace with ${what} is refused`, { cap: 52 }, async (store) => {
      await expectRejection(() => store.put(namespace as string[], "k", {}), "put");
      expectEqual(await store.listNamespaces(), [], "namespaces");
    }),
  ),
  storeCase("langgraph is an ordinary label below the root", { cap: 52 }, async (store) => {
    await fill(store, [["a", "langgraph"]]);
    expectEqual(keysOf(await store.search(["a", "langgraph"])), ["k"], "hits");
    expectEqual(await store.search(["langgraph"]), [], "the reserved root can be searched");
  }),
  storeCase("bad labels are refused by reads too", { cap: 52 }, async (store) => {
    for (const bad of [["a.b"], ["a:b"], ["a", ""], ["a\0"], ["\udfff"]]) {
      await expectRejection(() => store.get(bad, "k"), `get ${JSON.stringify(bad)}`);
      await expectRejection(() => store.search(bad), `search ${JSON.stringify(bad)}`);
      await expectRejection(() => store.delete(bad, "k"), `delete ${JSON.stringify(bad)}`);
    }
  }),
  storeCase(
    "permissions by prefix hold: a sibling is never below it",
    { cap: 52 },
    async (store) => {
      await fill(store, [["org", "a"], ["org", "ab"], ["org", "a", "x"], ["org-a"]]);
      const found = (await store.search(["org", "a"])).map((item) => item.namespace);
      expectEqual(
        found.sort((l, r) => l.length - r.length),
        [
          ["org", "a"],
          ["org", "a", "x"],
        ],
        "below org/a",
      );
    },
  ),
];

export const namespaceCases = [...listing, ...literal, ...rules];
