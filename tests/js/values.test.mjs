// Values that only Node has; all others are in the store contract.

import { runInNewContext } from "node:vm";
import { InMemoryStore } from "keepsake";
import { closeOpened, closing } from "./support/closing.mjs";

afterEach(closeOpened);

async function roundTrip(value) {
  const store = closing(new InMemoryStore());
  await store.put(["n"], "k", value);
  return (await store.get(["n"], "k")).value;
}

test("[cap 8] a Buffer comes back as a Uint8Array of its bytes", async () => {
  const { raw } = await roundTrip({ raw: Buffer.from([0, 255, 128]) });
  expect(Buffer.isBuffer(raw)).toBe(false);
  expect([...raw]).toEqual([0, 255, 128]);
});

test("[cap 8] values of another realm come back the same", async () => {
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

test("[cap 8] objects of classes and without a prototype are stored by their own fields", async () => {
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
