// Namespaces: which are allowed, how they are listed, and that labels are literal.

import { cases, fill, keysOf, operations, table } from "./case.js";
import { expectEqual, expectRejection } from "./check.js";
import type { StoreUnderTest } from "./types.js";

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
  options: Parameters<StoreUnderTest["listNamespaces"]>[0];
  expected: string[][];
}

// biome-ignore format: a table reads best by rows.
const listingRows: ListingRow[] = [
  { what: "all of them, sorted", options: {}, expected: TREE },
  { what: "by prefix", options: { prefix: ["docs"] }, expected: TREE.slice(1, 5) },
  { what: "by a prefix of whole labels", options: { prefix: ["doc"] }, expected: [] },
  { what: "by suffix", options: { suffix: ["memories"] }, expected: TREE.slice(5) },
  { what: "by a suffix of two labels", options: { suffix: ["fr", "draft"] }, expected: [["docs", "fr", "draft"]] },
  { what: "by prefix and suffix", options: { prefix: ["docs"], suffix: ["draft"] }, expected: [["docs", "en", "draft"], ["docs", "fr", "draft"]] },
  { what: "where * in a prefix is exactly one label", options: { prefix: ["docs", "*", "draft"] }, expected: [["docs", "en", "draft"], ["docs", "fr", "draft"], ["docs", "fr", "draft", "old"]] },
  { what: "where * in a suffix is exactly one label", options: { suffix: ["users", "*", "memories"] }, expected: TREE.slice(5) },
  { what: "where * needs a label to stand for", options: { prefix: ["cache", "*"] }, expected: [] },
  { what: "where a pattern longer than the namespace matches nothing", options: { suffix: ["a", "b", "c", "d", "memories"] }, expected: [] },
  { what: "cut to maxDepth and made distinct", options: { maxDepth: 1 }, expected: [["cache"], ["docs"], ["users"]] },
  { what: "cut to two labels", options: { maxDepth: 2 }, expected: [["cache"], ["docs", "en"], ["docs", "fr"], ["users", "u1"], ["users", "u2"]] },
  { what: "cut after matching", options: { suffix: ["draft"], maxDepth: 2 }, expected: [["docs", "en"], ["docs", "fr"]] },
  { what: "with a maxDepth beyond the deepest", options: { maxDepth: 99 }, expected: TREE },
  { what: "in pages", options: { limit: 2, offset: 1 }, expected: TREE.slice(1, 3) },
  { what: "in pages of what is distinct", options: { maxDepth: 1, limit: 2, offset: 1 }, expected: [["docs"], ["users"]] },
  { what: "with a limit of 0", options: { limit: 0 }, expected: [] },
  { what: "with an offset beyond the end", options: { offset: 7 }, expected: [] },
];

const listing = [
  ...cases(
    [],
    table(
      listingRows,
      ({ what }) => `namespaces are listed ${what}`,
      async ({ options, expected }, store) => {
        await fill(store, [...TREE].reverse());
        expectEqual(await store.listNamespaces(options), expected, JSON.stringify(options));
        expectEqual((await store.listNamespaces()).length, TREE.length, "all of them");
      },
    ),
  ),
  ...cases([], {
    "namespaces are sorted label by label, by code point": async (store) => {
      // biome-ignore format: a list reads best in lines.
      const sorted = [
        ["B"], ["a"], ["a", "z"], ["a", "z", "a"], ["a "], ["a-", "a"], ["aa"], ["z"], ["\uffee"], ["😀"],
      ];
      await fill(store, [...sorted].reverse());
      expectEqual(await store.listNamespaces(), sorted, "order");
    },
    "a namespace is listed once however many items it has, and not once it was emptied": async (
      store,
    ) => {
      for (const key of ["k", "l", "m"]) await store.put(["a"], key, {});
      await fill(store, [["a", "b"], ["c"]]);
      expectEqual(await store.listNamespaces(), [["a"], ["a", "b"], ["c"]], "namespaces");
      for (const key of ["k", "l", "m"]) await store.delete(["a"], key);
      await store.delete(["c"], "k");
      expectEqual(await store.listNamespaces(), [["a", "b"]], "after deletions");
      expectEqual(await store.listNamespaces({ maxDepth: 1 }), [["a"]], "cut to one label");
      await store.put(["c"], "k", {});
      expectEqual(await store.listNamespaces(), [["a", "b"], ["c"]], "after another put");
    },
    "100 namespaces are listed unless told otherwise": async (store) => {
      const namespaces = Array.from({ length: 130 }, (_, i) => ["n", String(i)]);
      await store.batch(namespaces.map((namespace) => ({ namespace, key: "k", value: {} })));
      expectEqual((await store.listNamespaces()).length, 100, "by default");
      expectEqual((await store.listNamespaces({ limit: 1000 })).length, 130, "by a limit of 1,000");
    },
    "several match conditions of one kind must all hold": async (store) => {
      await fill(store, TREE);
      const matchConditions = [
        { matchType: "prefix", path: ["docs", "*"] },
        { matchType: "prefix", path: ["*", "fr"] },
        { matchType: "suffix", path: ["draft"] },
      ];
      const [found] = await store.batch(operations({ matchConditions, limit: 10, offset: 0 }));
      expectEqual(found, [["docs", "fr", "draft"]], "namespaces");
    },
    "a label * is found by the wildcard and by search as itself": async (store) => {
      const namespaces = ["*", "b"].map((label) => ["a", label]);
      await fill(store, namespaces);
      expectEqual(await store.listNamespaces({ prefix: ["a", "*"] }), namespaces, "listing");
      expectEqual((await store.search(["a", "*"])).length, 1, "search");
    },
    "changing listed namespaces changes nothing that is stored": async (store) => {
      await fill(store, [["a", "b"]]);
      (await store.listNamespaces())[0]?.push("c");
      expectEqual(await store.listNamespaces(), [["a", "b"]], "namespaces");
    },
    "changing the namespace array after put moves nothing": async (store) => {
      const namespace = ["a", "b"];
      const done = store.put(namespace, "k", {});
      namespace[0] = "z";
      await done;
      namespace.push("c");
      expectEqual((await store.get(["a", "b"], "k"))?.namespace, ["a", "b"], "namespace");
      expectEqual(await store.listNamespaces(), [["a", "b"]], "namespaces");
    },
  }),
];

// biome-ignore format: a list reads best in lines.
const LABELS = [
  "%", "_", "a%", "a_c", "abc", "[a]", "[", "]", "?", "*", "'", "\"", "\\", "/", " ", "-", "--", ";",
  "\u0001", "\u001e", "\u001f", "\u001f0", "\u001e0", "\u001e1", "é", "e\u0301", "日本", "😀", "A", "a",
  "user@example", "__proto__", "constructor", "null", "0", "x'); DROP TABLE store_kv; --",
];

const literal = cases([], {
  "labels are literal, whatever they contain": async (store) => {
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
  },
  "a label may have one character or 10,000, and a namespace 100 labels": async (store) => {
    const long = ["x".repeat(10_000), "leaf"];
    const deep = Array.from({ length: 100 }, (_, i) => `label${i}`);
    await fill(store, [long, deep, ["a"], ["a", "b"], ["a", "b", "c"], ["ab"], ["abc"]]);
    expectEqual((await store.get(long, "k"))?.namespace, long, "the long label");
    expectEqual((await store.get(deep, "k"))?.namespace, deep, "the deep namespace");
    const below: [string[], number][] = [
      [deep.slice(0, 50), 1],
      [["a", "b"], 2],
      [["ab"], 1],
    ];
    for (const [prefix, count] of below) {
      expectEqual((await store.search(prefix)).length, count, `search below ${prefix}`);
    }
  },
});

const BAD_LABELS: [string, unknown][] = [
  ["an empty label", ["a", ""]],
  ["a label with a dot", ["a.b"]],
  ["a label with a colon", ["user:1"]],
  ["a label with NUL", ["a\0b"]],
  ["a label that is not a string", ["a", 7]],
  ["a label that is undefined", ["a", undefined]],
  ["a label with a lone surrogate", ["a\ud800"]],
];
const NOT_WRITTEN: [string, unknown][] = [
  ["no label", []],
  ["the reserved root label langgraph", ["langgraph", "x"]],
];

async function refusesPut(store: StoreUnderTest, namespace: string[]): Promise<void> {
  await expectRejection(() => store.put(namespace, "k", {}), "put");
  expectEqual(await store.listNamespaces(), [], "namespaces");
}

const rules = cases([], {
  ...table(
    NOT_WRITTEN,
    ([what]) => `a namespace with ${what} is refused`,
    ([, namespace], store) => refusesPut(store, namespace as string[]),
  ),
  ...table(
    BAD_LABELS,
    ([what]) => `a namespace with ${what} is refused, by reads too`,
    async ([, bad], store) => {
      const namespace = bad as string[];
      await refusesPut(store, namespace);
      await expectRejection(() => store.get(namespace, "k"), "get");
      await expectRejection(() => store.search(namespace), "search");
      await expectRejection(() => store.delete(namespace, "k"), "delete");
    },
  ),
  "langgraph is an ordinary label below the root": async (store) => {
    await fill(store, [["a", "langgraph"]]);
    expectEqual(keysOf(await store.search(["a", "langgraph"])), ["k"], "hits");
    expectEqual(await store.search(["langgraph"]), [], "the reserved root can be searched");
  },
});

export const namespaceCases = [...listing, ...literal, ...rules];
