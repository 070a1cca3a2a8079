// Values that only Node has; all others are in the store contract.

import { runInNewContext } from "node:vm";
import { InMemoryStore } from "keepsake";
import { closeOpened, closing } from "./support/closing.mjs";
import { expectRefused } from "./support/refusal.mjs";

afterEach(closeOpened);

async function roundTrip(value) {
  const store = closing(new InMemoryStore());
  await store.put(["n"], "k", value);
  return (await store.get(["n"], "k")).value;
}

test("a Buffer comes back as a Uint8Array of its bytes", async () => {
  const { raw } = await roundTrip({ raw: Buffer.from([0, 255, 128]) });
  expect(Buffer.isBuffer(raw)).toBe(false);
  expect([...raw]).toEqual([0, 255, 128]);
});

test("a symbol as a key is refused wherever it is, and other values become what JSON makes of them", async () => {
  const store = closing(new InMemoryStore());
  const mark = Symbol("mark");
  const hidden = Object.defineProperty({ n: 1 }, mark, { value: 1, enumerable: false });
  await expectRefused(
    () => store.put(["n"], "k", { [mark]: 1 }),
    "invalid_value",
    /^.*value must have names as keys, not Symbol\(mark\)$/,
  );
  await expectRefused(
    () => store.put(["n"], "k", { list: [{ deep: { [mark]: 1 } }] }),
    "invalid_value",
    /value\.list\[0\]\.deep must have names as keys/,
  );
  await expectRefused(
    () => store.search(["n"], { filter: { [mark]: 1 } }),
    "invalid_filter",
    /filter must/,
  );
  class Point {
    x = 1;
    get y() {
      return 2;
    }
  }
  const value = {
    hidden,
    gone: undefined,
    // biome-ignore lint/suspicious/noSparseArray: it is what is tested
    list: [undefined, , 1],
    named: Object.assign([1], { extra: 2 }),
    boxed: [new String("x"), new Number(3), Object(true)],
    point: new Point(),
    date: new Date(5),
    zero: -0,
    url: new URL("http://x.example/"),
  };
  await store.put(["n"], "k", value);
  expect((await store.get(["n"], "k")).value).toEqual(JSON.parse(JSON.stringify(value)));
});

test("values of another realm come back the same", async () => {
  const value = runInNewContext(`({
    list: [1, { a: null }],
    raw: new Uint8Array([1, 2]),
    at: new Date("2024-02-29T00:00:00.000Z"),
  })`);
  const answer = await roundTrip(value);
  expect(answer.list).toEqual([1, { a: null }]);
  expect([...answer.raw]).toEqual([1, 2]);
  expect(answer.at).toBe("2024-02-29T00:00:00.000Z");
});

test("objects of classes and without a prototype are stored by their own fields", async () => {
  class Note {
    text = "hello";
    #secret = 1;
    get secret() {
      return this.#secret;
    }
  }
  const bare = Object.assign(Object.create(null), { n: 1 });
  expect(await roundTrip({ note: new Note(), bare })).toEqual({
    note: { text: "hello" },
    bare: { n: 1 },
  });
});
