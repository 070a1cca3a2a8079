// Values: what comes back is what went in, and never the same object.

import { storeCase } from "./case.js";
import { expectEqual, expectRejection, expectTrue } from "./check.js";
import type { StoreUnderTest } from "./types.js";

type Value = Record<string, unknown>;
const N = ["n"];

async function roundTrip(store: StoreUnderTest, value: Value): Promise<Value | undefined> {
  await store.put(N, "k", value);
  const [hit] = await store.search(N);
  const item = await store.get(N, "k");
  expectEqual(hit?.value, item?.value, "search and get agree");
  return item?.value;
}

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
  ["bytes beside a $keepsake", { $keepsake: new Uint8Array([1]), other: { $keepsake: "date", value: new Uint8Array([2]) } }],
];

const same = SAME.map(([what, value]) =>
  storeCase(
    `${what} come${what.startsWith("a") ? "s" : ""} back the same`,
    { cap: 8 },
    async (store) => {
      expectEqual(await roundTrip(store, value), value, "value");
    },
  ),
);

const converted = [
  storeCase("bytes come back as a Uint8Array", { cap: 8 }, async (store) => {
    const value = await roundTrip(store, { raw: new Uint8Array([1, 2]) });
    expectTrue(value?.raw instanceof Uint8Array, "an instance of Uint8Array");
  }),
  storeCase("a view of a larger buffer keeps its own bytes only", { cap: 8 }, async (store) => {
    const view = new Uint8Array([9, 9, 1, 2, 3, 9]).subarray(2, 5);
    const value = await roundTrip(store, { view });
    expectEqual(value?.view, new Uint8Array([1, 2, 3]), "bytes");
  }),
  storeCase("a megabyte of bytes comes back the same", { cap: 8 }, async (store) => {
    const raw = Uint8Array.from({ length: 1 << 20 }, (_, i) => (i * 31 + (i >> 8)) & 255);
    expectEqual((await roundTrip(store, { raw }))?.raw, raw, "bytes");
  }),
  storeCase("a Date becomes its ISO string", { cap: 8 }, async (store) => {
    const at = new Date("2024-02-29T12:34:56.789Z");
    const value = await roundTrip(store, { at, list: [at] });
    expectEqual(value, { at: at.toISOString(), list: [at.toISOString()] }, "value");
  }),
  storeCase(
    "undefined members are left out, undefined elements become null",
    { cap: 8 },
    async (store) => {
      const value = await roundTrip(store, { a: undefined, b: [undefined, 1] });
      expectEqual(value, { b: [null, 1] }, "value");
    },
  ),
  storeCase("the order of keys is kept", { cap: 8 }, async (store) => {
    const value = await roundTrip(store, { z: 1, a: { y: 1, b: 2 }, m: 3 });
    expectEqual(JSON.stringify(value), '{"z":1,"a":{"y":1,"b":2},"m":3}', "as JSON");
  }),
  storeCase(
    "an own __proto__ comes back as an own key and pollutes nothing",
    { cap: 8 },
    async (store) => {
      const value = await roundTrip(
        store,
        JSON.parse('{"a":{"__proto__":{"evil":1}},"__proto__":{"evil":2}}'),
      );
      expectTrue(Object.hasOwn(value ?? {}, "__proto__"), "an own key of the value");
      expectTrue(
        Object.hasOwn((value?.a as object) ?? {}, "__proto__"),
        "an own key of its member",
      );
      expectEqual(({} as Value).evil, undefined, "the evil member of every other object");
      expectEqual((value as Value).evil, undefined, "the evil member of the value");
    },
  ),
  storeCase("a value nested 200 levels deep comes back the same", { cap: 8 }, async (store) => {
    let value: Value = { leaf: true };
    for (let level = 0; level < 200; level += 1) value = { inner: [value] };
    expectEqual(await roundTrip(store, value), value, "value");
  }),
  storeCase("a value of 1,000 members comes back the same", { cap: 8 }, async (store) => {
    const value = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [`m${i}`, { i, text: `text ${i}` }]),
    );
    expectEqual(await roundTrip(store, value), value, "value");
  }),
  storeCase("what has a toJSON is stored as it says", { cap: 8 }, async (store) => {
    const value = await roundTrip(store, {
      price: { amount: 3, toJSON: () => ({ euro: 3 }) },
    });
    expectEqual(value, { price: { euro: 3 } }, "value");
  }),
];

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

const refused = REFUSED.map(([what, makeValue]) =>
  storeCase(`a value with ${what} is refused and the old one stays`, { cap: 17 }, async (store) => {
    await store.put(N, "k", { old: true });
    await expectRejection(() => store.put(N, "k", makeValue()), "put");
    expectEqual((await store.get(N, "k"))?.value, { old: true }, "value");
  }),
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
  expectEqual((await store.get(N, "k"))?.value, original(), "stored value");
}

const aliasing = [
  storeCase(
    "changing a value after put changes nothing that is stored",
    { cap: 8 },
    async (store) => {
      const value = original();
      await store.put(N, "k", value);
      spoil(value);
      expectEqual((await store.get(N, "k"))?.value, original(), "stored value");
    },
  ),
  storeCase("put keeps the value as it was when put was called", { cap: 8 }, putKeepsValue),
  storeCase(
    "with an index too, put keeps the value as it was when put was called",
    { cap: 8, needs: ["index"], fields: null },
    putKeepsValue,
  ),
  storeCase(
    "changing what get returned changes nothing that is stored",
    { cap: 8 },
    async (store) => {
      await store.put(N, "k", original());
      const item = await store.get(N, "k");
      spoil(item?.value);
      item?.namespace.push("x");
      item?.createdAt.setTime(0);
      const again = await store.get(N, "k");
      expectEqual(again?.value, original(), "stored value");
      expectEqual(again?.namespace, N, "stored namespace");
      expectTrue((again?.createdAt.getTime() ?? 0) > 0, "stored createdAt");
    },
  ),
  storeCase(
    "changing what search returned changes nothing that is stored",
    { cap: 8 },
    async (store) => {
      await store.put(N, "k", original());
      const [hit] = await store.search(N);
      spoil(hit?.value);
      hit?.namespace.push("x");
      const [again] = await store.search(N);
      expectEqual(again?.value, original(), "stored value");
      expectEqual(again?.namespace, N, "stored namespace");
    },
  ),
  storeCase("changing the namespace array after put moves nothing", { cap: 2 }, async (store) => {
    const namespace = ["a", "b"];
    const done = store.put(namespace, "k", {});
    namespace[0] = "z";
    await done;
    namespace.push("c");
    expectEqual((await store.get(["a", "b"], "k"))?.namespace, ["a", "b"], "namespace");
    expectEqual(await store.listNamespaces(), [["a", "b"]], "namespaces");
  }),
  storeCase("two results of one batch are two objects", { cap: 36 }, async (store) => {
    await store.put(N, "k", original());
    const [one, two] = (await store.batch([
      { namespace: N, key: "k" },
      { namespace: N, key: "k" },
    ])) as { value: Mutable }[];
    spoil(one?.value);
    expectEqual(two?.value, original(), "the other result");
  }),
  storeCase(
    "changing listed namespaces changes nothing that is stored",
    { cap: 43 },
    async (store) => {
      await store.put(["a", "b"], "k", {});
      (await store.listNamespaces())[0]?.push("c");
      expectEqual(await store.listNamespaces(), [["a", "b"]], "namespaces");
    },
  ),
];

export const valueCases = [...same, ...converted, ...refused, ...aliasing];
