// Filters: equality, operators, and what they do with missing and mixed fields.

import { cases, keysOf, N, numbered, putAll, sortedKeysOf, table } from "./case.js";
import { expectEqual, expectRejection, expectTrue } from "./check.js";

interface FilterRow {
  what: string;
  items: Record<string, Record<string, unknown>>;
  filter: Record<string, unknown>;
  keys: string[];
}

const scalars = {
  text: { v: "1" },
  int: { v: 1 },
  yes: { v: true },
  no: { v: false },
  nil: { v: null },
  zero: { v: 0 },
  empty: { v: "" },
  absent: { other: 1 },
};
const numbers = { one: { n: 1 }, two: { n: 2 }, three: { n: 3 }, text: { n: "2" }, absent: {} };
const deep = {
  list: { v: [1, "a", { b: 2 }] },
  reversed: { v: [{ b: 2 }, "a", 1] },
  object: { v: { a: 1, b: { c: [2] } } },
  swapped: { v: { b: { c: [2] }, a: 1 } },
  other: { v: { a: 1, b: { c: [3] } } },
};
const nested = {
  en: { meta: { lang: "en", year: 1999 } },
  fr: { meta: { lang: "fr", year: 2005 } },
  flat: { meta: "en", lang: "en", year: 2005 },
  none: {},
};
const dates = {
  old: { at: "2024-02-29T00:00:00.000Z" },
  recent: { at: "2026-01-01T00:00:00.000Z" },
};
const names = { upper: { s: "B" }, lower: { s: "a" }, high: { s: "\uffee" }, emoji: { s: "😀" } };

// biome-ignore format: a table reads best by rows.
const rows: FilterRow[] = [
  { what: "an empty filter matches everything", items: numbers, filter: {}, keys: Object.keys(numbers) },
  { what: "a string equals that string only", items: scalars, filter: { v: "1" }, keys: ["text"] },
  { what: "a number equals that number only", items: scalars, filter: { v: 1 }, keys: ["int"] },
  { what: "true is not 1", items: scalars, filter: { v: true }, keys: ["yes"] },
  { what: "false is neither 0 nor empty nor null", items: scalars, filter: { v: false }, keys: ["no"] },
  { what: "null matches null and not what is missing", items: scalars, filter: { v: null }, keys: ["nil"] },
  { what: "the empty string matches itself only", items: scalars, filter: { v: "" }, keys: ["empty"] },
  { what: "several fields must all match", items: { a: { x: 1, y: 1 }, b: { x: 1, y: 2 }, c: { y: 1 } }, filter: { x: 1, y: 1 }, keys: ["a"] },
  { what: "$eq is equality", items: numbers, filter: { n: { $eq: 2 } }, keys: ["two"] },
  { what: "$ne matches other values, other types and missing fields", items: numbers, filter: { n: { $ne: 2 } }, keys: ["one", "three", "text", "absent"] },
  { what: "$gt compares numbers", items: numbers, filter: { n: { $gt: 1 } }, keys: ["two", "three"] },
  { what: "$gte includes the bound", items: numbers, filter: { n: { $gte: 2 } }, keys: ["two", "three"] },
  { what: "$lt compares numbers", items: numbers, filter: { n: { $lt: 2 } }, keys: ["one"] },
  { what: "$lte includes the bound", items: numbers, filter: { n: { $lte: 2 } }, keys: ["one", "two"] },
  { what: "two operators make a range", items: numbers, filter: { n: { $gt: 1, $lt: 3 } }, keys: ["two"] },
  { what: "a string bound compares with strings only", items: numbers, filter: { n: { $gte: "1" } }, keys: ["text"] },
  { what: "ISO dates compare as strings", items: dates, filter: { at: { $gt: "2025-01-01" } }, keys: ["recent"] },
  { what: "strings compare by code point", items: names, filter: { s: { $gt: "\uffee" } }, keys: ["emoji"] },
  { what: "capitals come before small letters", items: names, filter: { s: { $lt: "a" } }, keys: ["upper"] },
  { what: "fractions and negative numbers compare as numbers", items: { a: { n: -1.5 }, b: { n: -1.25 }, c: { n: 1e21 } }, filter: { n: { $gt: -1.5 } }, keys: ["b", "c"] },
  { what: "$in matches any of its values", items: numbers, filter: { n: { $in: [1, 3, "x"] } }, keys: ["one", "three"] },
  { what: "$in of nothing matches nothing", items: numbers, filter: { n: { $in: [] } }, keys: [] },
  { what: "$in compares deeply", items: deep, filter: { v: { $in: [[1, "a", { b: 2 }]] } }, keys: ["list"] },
  { what: "$nin matches all others and missing fields", items: numbers, filter: { n: { $nin: [1, 3] } }, keys: ["two", "text", "absent"] },
  { what: "$nin of nothing matches everything", items: numbers, filter: { n: { $nin: [] } }, keys: Object.keys(numbers) },
  { what: "arrays are equal element by element", items: deep, filter: { v: [1, "a", { b: 2 }] }, keys: ["list"] },
  { what: "objects are equal in any order of keys", items: deep, filter: { v: { $eq: { a: 1, b: { c: [2] } } } }, keys: ["object", "swapped"] },
  { what: "$ne compares deeply", items: deep, filter: { v: { $ne: { a: 1, b: { c: [2] } } } }, keys: ["list", "reversed", "other"] },
  { what: "$eq of an empty object matches an empty object only", items: { a: { o: {} }, b: { o: { x: 1 } }, c: {} }, filter: { o: { $eq: {} } }, keys: ["a"] },
  { what: "a nested object looks into the value", items: nested, filter: { meta: { lang: "en", year: 1999 } }, keys: ["en"] },
  { what: "a nested object asks for its own fields only", items: nested, filter: { meta: { lang: "fr" } }, keys: ["fr"] },
  { what: "an empty nested object asks for an object", items: { a: { o: {} }, b: { o: { x: 1 } }, c: { o: [] }, d: {} }, filter: { o: {} }, keys: ["a", "b"] },
  { what: "a nested object may end in an operator", items: nested, filter: { meta: { year: { $gte: 2000 } } }, keys: ["fr"] },
  { what: "a key with a dot is one literal key", items: { a: { "meta.year": 1 }, b: { meta: { year: 1 } } }, filter: { "meta.year": 1 }, keys: ["a"] },
  { what: "keys with quotes and metacharacters are literal", items: { a: { "it's \"%_[]$": 1 }, b: { its: 1 } }, filter: { "it's \"%_[]$": 1 }, keys: ["a"] },
  { what: "a name of Object.prototype is a field like any other", items: { a: { constructor: "x" }, b: {} }, filter: { constructor: "x" }, keys: ["a"] },
  { what: "a missing toString is missing", items: { a: { toString: 1 }, b: {} }, filter: { toString: { $ne: 1 } }, keys: ["b"] },
  { what: "a Date in the filter is its ISO string", items: dates, filter: { at: new Date("2024-02-29T00:00:00.000Z") }, keys: ["old"] },
  { what: "a Date as a bound is its ISO string", items: dates, filter: { at: { $lt: new Date("2025-01-01") } }, keys: ["old"] },
];

const others = cases([], {
  "filter: an unknown operator is an error, in an empty store, too": async (store) => {
    for (const items of [{}, numbers]) {
      await putAll(store, N, items);
      for (const filter of [{ n: { $near: 1 } }, { n: { $gt: 1, $near: 2 } }, { $near: [] }]) {
        const what = JSON.stringify(filter);
        const { message } = await expectRejection(() => store.search(N, { filter }), what);
        expectTrue(message.includes("$near"), `the message names $near: ${message}`);
      }
    }
  },
  "filter: an order that nothing has is an error": async (store) => {
    for (const bound of [false, null, [1], { a: 1 }]) {
      const filter = { v: { $gte: bound } };
      await expectRejection(() => store.search(N, { filter }), JSON.stringify(bound));
    }
  },
  "filter: limit and offset count what matches": async (store) => {
    const keys = numbered(12);
    await putAll(store, N, Object.fromEntries(keys.map((key, i) => [key, { odd: i % 2 === 1 }])));
    const page = async (offset: number) =>
      keysOf(await store.search(N, { filter: { odd: true }, limit: 4, offset }));
    const [first, second] = [await page(0), await page(4)];
    expectEqual([first.length, second.length], [4, 2], "sizes of the pages");
    expectEqual(
      [...first, ...second].sort(),
      keys.filter((_, i) => i % 2 === 1),
      "both pages",
    );
  },
  "filter: only items below the prefix are looked at": async (store) => {
    await store.put(["a", "x"], "k1", { n: 1 });
    await store.put(["ab"], "k2", { n: 1 });
    await store.put(["a"], "k3", { n: 2 });
    expectEqual(keysOf(await store.search(["a"], { filter: { n: 1 } })), ["k1"], "hits");
  },
});

export const filterCases = [
  ...cases(
    [],
    table(
      rows,
      ({ what }) => `filter: ${what}`,
      async ({ items, filter, keys }, store) => {
        await putAll(store, N, items);
        const all = await store.search(N, { limit: 100 });
        expectEqual(sortedKeysOf(all), Object.keys(items).sort(), "without a filter");
        const hits = await store.search(N, { filter, limit: 100 });
        expectEqual(sortedKeysOf(hits), [...keys].sort(), JSON.stringify(filter));
      },
    ),
  ),
  ...others,
];
