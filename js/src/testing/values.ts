// Values: what comes back is what went in, and never the same object.

import { cases, N, operations, table, valueAt } from "./case.js";
import { expectEqual, expectRejection, expectTrue } from "./check.js";
import type { StoreUnderTest } from "./types.js";

type Value = Record<string, unknown>;

async function roundTrip(store: StoreUnderTest, value: Value): Promise<Value | undefined> {
  await store.put(N, "k", value);
  const [hit] = await store.search(N);
  const item = await store.get(N, "k");
  expectEqual(hit?.value, item?.value, "search and get agree");
  return item?.value;
}

const nested = (levels: number): Value =>
  levels === 0 ? { leaf: true } : { inner: [nested(levels - 1)] };

// biome-ignore format: a table reads best by rows.
const SAME: [string, Value][] = [
  ["an empty object", {}],
  ["nested objects and arrays", { a: { b: [1, [2, { c: null }], []], d: {} } }],
  ["numbers at their limits", { max: Number.MAX_SAFE_INTEGER, min: Number.MIN_SAFE_INTEGER, big: 1.7976931348623157e308, small: 5e-324, third: 1 / 3, e21: 1e21 }],
  ["strings of every plane", { a: "", b: "é日本😀", c: "\u0000\u001f\u007f\u2028\ufeff", d: "\"\\/\b\f\n\r\t" }],
  ["lone surrogates", { high: "\ud800", low: "x\udfffy", swapped: "\ude00\ud83d" }],
  ["true, false and null", { yes: true, no: false, nil: null }],
  ["strange keys", { "": 1, " ": 2, "a.b": 3, "$eq": 4, "it's": 5, "😀": 6, "0": 7, "[0]": 8, "%": 9 }],
  ["names of Object.prototype", { constructor: 1, toString: "x", hasOwnProperty: null, valueOf: { a: 1 } }],
  ["internal names", { __namespace: "x", __key: "y", namespace: ["z"], key: 1, value: null, score: 9 }],
  ["bytes", { raw: new Uint8Array([0, 1, 127, 128, 254, 255]), none: new Uint8Array(0) }],
  ["bytes in arrays and objects", { files: [{ content: new Uint8Array([255, 0, 216]) }, new Uint8Array([7])] }],
  ["something that looks like kept bytes", { $keepsake: "bytes", base64: "AAEC" }],
  ["a nested $keepsake", { a: [{ $keepsake: "bytes", base64: "AAEC" }], $keepsake: { $keepsake: { $keepsake: 1 } } }],
  ["an escaped $keepsake", { $$keepsake: 1, $keepsake: "escaped", value: { $keepsake: "object" } }],
  ["a value of 1,000 members", Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`m${i}`, { i, text: `text ${i}` }]))],
  ["a value nested 200 levels deep", nested(200)],
  ["a megabyte of bytes", { raw: Uint8Array.from({ length: 1 << 20 }, (_, i) => (i * 31 + (i >> 8)) & 255) }],
  ["bytes beside a $keepsake", { $keepsake: new Uint8Array([1]), other: { $keepsake: "date", value: new Uint8Array([2]) } }],
];

const at = new Date("2024-02-29T12:34:56.789Z");
const larger = new Uint8Array([9, 9, 1, 2, 3, 9]);

// biome-ignore format: a table reads best by rows.
const CONVERTED: [string, Value, Value][] = [
  ["a view of a larger buffer keeps its own bytes only", { view: larger.subarray(2, 5) }, { view: new Uint8Array([1, 2, 3]) }],
  ["a Date becomes its ISO string", { at, list: [at] }, { at: at.toISOString(), list: [at.toISOString()] }],
  ["undefined members are left out, undefined elements become null", { a: undefined, b: [undefined, 1] }, { b: [null, 1] }],
  ["what has a toJSON is stored as it says", { price: { amount: 3, toJSON: () => ({ euro: 3 }) } }, { price: { euro: 3 } }],
];

const roundTrips = cases([], {
  ...table(
    SAME,
    ([what]) => `${what} come${what.startsWith("a") ? "s" : ""} back the same`,
    async ([, value], store) => expectEqual(await roundTrip(store, value), value, "value"),
  ),
  ...table(
    CONVERTED,
    ([what]) => what,
    async ([, value, stored], store) => expectEqual(await roundTrip(store, value), stored, "value"),
  ),
  "the order of keys is kept": async (store) => {
    const value = await roundTrip(store, { z: 1, a: { y: 1, b: 2 }, m: 3 });
    expectEqual(JSON.stringify(value), '{"z":1,"a":{"y":1,"b":2},"m":3}', "as JSON");
  },
  "an own __proto__ comes back as an own key and pollutes nothing": async (store) => {
    const text = '{"a":{"__proto__":{"evil":1}},"__proto__":{"evil":2}}';
    const value = (await roundTrip(store, JSON.parse(text))) as Value;
    for (const owner of [value, value.a]) {
      expectTrue(Object.hasOwn(owner as Value, "__proto__"), "an own key");
    }
    for (const other of [{}, value] as Value[]) {
      expectEqual(other.evil, undefined, "the evil member of the value, and of all others");
    }
  },
});

function cyclic(): Value {
  const value: Value = { a: {} };
  (value.a as Value).back = value;
  return value;
}

const REFUSED: [string, () => Value][] = [
  ["NaN", () => ({ n: Number.NaN })],
  ["Infinity", () => ({ n: [Number.NEGATIVE_INFINITY] })],
  ["a BigInt", () => ({ n: 1n })],
  ["a function", () => ({ call: () => 1 })],
  ["a symbol", () => ({ s: Symbol("s") })],
  ["a cycle", cyclic],
];

const refused = cases(
  [],
  table(
    REFUSED,
    ([what]) => `a value with ${what} is refused and the old one stays`,
    async ([, makeValue], store) => {
      await store.put(N, "k", { old: true });
      await expectRejection(() => store.put(N, "k", makeValue()), "put");
      expectEqual(await valueAt(store, "k"), { old: true }, "value");
    },
  ),
);

type Mutable = { list: number[]; raw: Uint8Array };

function spoil(value: unknown): void {
  const mutable = value as Mutable;
  mutable.list.push(99);
  mutable.raw[0] = 99;
}

const original = (): Mutable => ({ list: [1], raw: new Uint8Array([1]) });

async function putKeepsValue(store: StoreUnderTest): Promise<void> {
  const value = original();
  const done = store.put(N, "k", value);
  spoil(value);
  await done;
  spoil(value);
  expectEqual(await valueAt(store, "k"), original(), "stored value");
}

const KEEPS = "put keeps the value as it was when put was called";

const aliasing = [
  ...cases([], {
    [KEEPS]: putKeepsValue,
    "changing what get or search returned changes nothing that is stored": async (store) => {
      await store.put([...N], "k", original());
      for (const read of [
        () => store.get([...N], "k"),
        async () => (await store.search([...N]))[0],
      ]) {
        const item = await read();
        spoil(item?.value);
        item?.namespace.push("x");
        item?.createdAt.setTime(0);
        const again = await read();
        expectEqual(again?.value, original(), "stored value");
        expectEqual(again?.namespace, N, "stored namespace");
        expectTrue((again?.createdAt.getTime() ?? 0) > 0, "stored createdAt");
      }
    },
    "two results of one batch are two objects": async (store) => {
      await store.put(N, "k", original());
      const get = { namespace: N, key: "k" };
      const [one, two] = (await store.batch(operations(get, get))) as { value: Mutable }[];
      spoil(one?.value);
      expectEqual(two?.value, original(), "the other result");
    },
  }),
  ...cases(["index"], { [`with an index too, ${KEEPS}`]: putKeepsValue }, { fields: null }),
];

export const valueCases = [...roundTrips, ...refused, ...aliasing];
