// What docs/migration.md says of stores: each row of its table, on LangGraph's class and on ours.

import { readFileSync } from "node:fs";
import { InMemoryStore as OfficialStore } from "@langchain/langgraph-checkpoint";
import { InMemoryStore } from "keepsake";

const N = ["notes"];
const page = readFileSync("docs/migration.md", "utf8");

const embed = (text) => [/tea/.test(text) ? 1 : 0, 1];
const index = () => ({
  dims: 2,
  fields: ["text"],
  embeddings: {
    embedDocuments: async (texts) => texts.map(embed),
    embedQuery: async (text) => embed(text),
  },
});
const longer = () => ({ ...index(), dims: 3 });

const stored = async (store, value) => {
  await store.put(N, "1", value);
  return (await store.get(N, "1")).value;
};
const found = async (store, value, options) => {
  await store.put(N, "1", value);
  return (await store.search(N, options)).length;
};
const later = () => new Promise((resolve) => setTimeout(resolve, 3));

// What is done, [what the official store answers, what ours does]; an error by its code or name.
const rows = {
  "`search` with a `query`, no `index`": [
    async (store) => {
      await store.put(N, "1", { text: "tea" });
      await store.put(N, "2", { text: "rain" });
      return (await store.search(N, { query: "tea" })).map(({ key }) => key);
    },
    ["1", "2"],
    ["1"],
  ],
  "`search` without a `query`": [
    async (store) => {
      for (const key of ["1", "2", "1"]) {
        await store.put(N, key, {});
        await later();
      }
      await store.put(N, "3", {});
      return (await store.search(N)).map(({ key }) => key);
    },
    ["1", "2", "3"],
    ["3", "1", "2"],
  ],
  "change an object after `put`": [
    async (store) => {
      const value = { n: [1] };
      await store.put(N, "1", value);
      value.n.push(2);
      return (await store.get(N, "1")).value;
    },
    { n: [1, 2] },
    { n: [1] },
  ],
  "change what `get` answered": [
    async (store) => {
      (await stored(store, { n: 1 })).n = 2;
      return (await store.get(N, "1")).value;
    },
    { n: 2 },
    { n: 1 },
  ],
  "put a `Date`": [
    async (store) => (await stored(store, { at: new Date(0) })).at,
    new Date(0),
    "1970-01-01T00:00:00.000Z",
  ],
  "put `undefined` in an object": [
    async (store) => Object.keys(await stored(store, { a: undefined })),
    ["a"],
    [],
  ],
  "put an object of a class": [
    async (store) => (await stored(store, { place: new URL("https://a.example/") })).place,
    new URL("https://a.example/"),
    "https://a.example/",
  ],
  "put `NaN`, a `Map`, a function or a BigInt": [
    (store) => stored(store, { n: Number.NaN }),
    { n: Number.NaN },
    "invalid_value",
  ],
  "put a list or a text as the value": [(store) => stored(store, [1]), [1], "invalid_value"],
  "filter texts or dates by `$gt`": [
    (store) => found(store, { at: "2024-05-01" }, { filter: { at: { $gt: "2024-01-01" } } }),
    0,
    1,
  ],
  'filter a number against `"10"`': [
    (store) => found(store, { n: "10" }, { filter: { n: { $gt: 9 } } }),
    1,
    0,
  ],
  "filter by a list or an object": [
    (store) => found(store, { tags: ["a", "b"] }, { filter: { tags: ["a", "b"] } }),
    0,
    1,
  ],
  "filter by an unknown operator": [
    (store) => found(store, { n: 1 }, { filter: { n: { $regex: "1" } } }),
    0,
    "invalid_filter",
  ],
  "give an option that does not exist": [
    (store) => found(store, { n: 1 }, { where: { n: 2 } }),
    1,
    "invalid_argument",
  ],
  "a negative `limit`": [(store) => found(store, {}, { limit: -1 }), 0, "invalid_argument"],
  "a key that is no text": [
    async (store) => {
      await store.put(N, 1, {});
      return (await store.get(N, 1)).key;
    },
    1,
    "invalid_key",
  ],
  "a namespace that breaks a rule": [
    (store) => store.put(["a:b"], "1", {}),
    "InvalidNamespaceError",
    "invalid_namespace",
  ],
  "list the namespace of deleted items": [
    async (store) => {
      await store.put(N, "1", {});
      await store.delete(N, "1");
      return store.listNamespaces();
    },
    [N],
    [],
  ],
  "delete an item, and put it with `index: false`": [
    async (store) => {
      await store.put(N, "1", { text: "tea" });
      await store.delete(N, "1");
      await store.put(N, "1", { text: "tea" }, false);
      const [hit] = await store.search(N, { query: "tea" });
      return hit.score === undefined ? "no vector" : Math.round(hit.score);
    },
    1,
    "no vector",
    index,
  ],
  "vectors of another length than `dims`": [
    (store) => stored(store, { text: "tea" }),
    { text: "tea" },
    "dimension_mismatch",
    longer,
  ],
};

const outcome = (work) => work().catch((error) => error.code ?? error.name);

test.each(Object.entries(rows))("%s", async (_row, [work, official, ours, makeIndex]) => {
  const options = makeIndex && { index: makeIndex() };
  expect(await outcome(() => work(new OfficialStore(options)))).toEqual(official);
  const store = new InMemoryStore(options);
  expect(await outcome(() => work(store))).toEqual(ours);
  await store.close();
});

test("the page has these rows and no others", () => {
  const [, table] = /## Stores\n[\s\S]*?\n\| --- .*\n([\s\S]*?)\n\n/.exec(page);
  expect(table.split("\n").map((line) => line.split(" | ")[0].slice(2))).toEqual(Object.keys(rows));
});
