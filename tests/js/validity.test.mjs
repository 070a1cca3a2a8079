// Facts that hold for a while, in a memory: across files, scopes and changes. What every store
// does with them is in the contract (keepsake/testing).

import { openMemory, SqliteStore } from "keepsake";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const N = ["facts"];
const bern = { text: "lives in Bern" };
const basel = { text: "lives in Basel" };

async function movedTo(store) {
  await store.put(N, "bern", bern, undefined, { validFrom: "2019-04-01" });
  await store.put(N, "basel", basel, undefined, { validFrom: "2025-09-01", supersedes: "bern" });
}

const keysOf = (items) => items.map(({ key }) => key);

async function expectMoved(store) {
  expect(keysOf(await store.search(N, { query: "lives" }))).toEqual(["basel"]);
  expect(keysOf(await store.search(N, { validAt: "2024-01-01" }))).toEqual(["bern"]);
  expect(keysOf(await store.search(N, { validAt: "2018-01-01" }))).toEqual([]);
  const all = await store.search(N, { query: "lives in Bern", validAt: "anytime" });
  expect(keysOf(all)).toEqual(["basel", "bern"]);
  expect(all[1].score).toBeLessThanOrEqual(all[0].score);
}

test("a fact and its successor are there when a file is opened again", async () => {
  const path = temporaryFile();
  const store = new SqliteStore({ path });
  await movedTo(store);
  await store.close();
  const again = new SqliteStore({ path });
  await expectMoved(again);
  await again.close();
});

test.each(["sqlite", "portable"])("validity travels in an export (%s)", async (format) => {
  const source = await openMemory({ path: temporaryFile() });
  await movedTo(source.store);
  const target = await openMemory({ path: temporaryFile() });
  await target.import(await source.export({ format }));
  await expectMoved(target.store);
  await Promise.all([source.close(), target.close()]);
});

test("items say when they hold, if that was said", async () => {
  const memory = await openMemory({ path: ":memory:" });
  await movedTo(memory.store);
  await memory.store.put(N, "always", {});
  const [old, always] = await memory.store.batch([
    { namespace: N, key: "bern" },
    { namespace: N, key: "always" },
  ]);
  expect([old.validFrom, old.validUntil].map((time) => time.toISOString().slice(0, 10))).toEqual([
    "2019-04-01",
    "2025-09-01",
  ]);
  expect(Object.keys(always).sort()).toEqual([
    "createdAt",
    "key",
    "namespace",
    "updatedAt",
    "value",
  ]);
  await memory.close();
});

test("who listens hears of both namespaces", async () => {
  const memory = await openMemory({ path: ":memory:" });
  const heard = [];
  memory.onChange(({ namespaces }) => heard.push(...namespaces));
  await memory.store.put(["old"], "a", {});
  await memory.store.put(["new"], "b", {}, false, { supersedes: { namespace: ["old"], key: "a" } });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(heard).toEqual([["old"], ["new"], ["old"]]);
  await memory.close();
});

test("a scope supersedes nothing outside, and nothing that it may not write", async () => {
  const memory = await openMemory({ path: ":memory:" });
  await memory.store.put(["user", "bob", "facts"], "a", bern);
  const ada = memory.scoped({ user: "ada", policy: { writable: [["facts"]] } });
  await memory.store.put(["user", "ada", "shared"], "a", bern);
  const theirs = { supersedes: { namespace: ["shared"], key: "a" } };
  await expect(ada.store.put(N, "b", basel, false, theirs)).rejects.toMatchObject({
    code: "access_denied",
  });
  // Of a scope, each namespace is one within it.
  const his = { supersedes: { namespace: ["user", "bob", "facts"], key: "a" } };
  const bold = memory.scoped({ user: "ada" });
  await bold.store.put(N, "b", basel, false, his);
  expect(keysOf(await memory.store.search(["user", "bob"]))).toEqual(["a"]);
  await movedTo(ada.store);
  expect(keysOf(await ada.store.search([], { validAt: "2020-01-01" }))).toEqual(["bern", "a"]);
  await memory.close();
});

test("whyNot says that a fact does not hold", async () => {
  const memory = await openMemory({ path: ":memory:" });
  await movedTo(memory.store);
  const why = (options) => memory.store.whyNot(N, "bern", { query: "lives", ...options });
  expect(await why()).toMatchObject({ reason: "notValid" });
  expect(await why({ validAt: "2020-01-01" })).toMatchObject({ reason: "hit" });
  expect(await why({ validAt: "anytime" })).toMatchObject({ reason: "hit", rank: 1 });
  await memory.close();
});
