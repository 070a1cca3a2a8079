// What was forgotten is gone from both tiers and from every byte of the file.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openMemory } from "keepsake";
import { checkpointsOf, fill, index, SECRET } from "./support/forgetting.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

function bytesHold(path, text) {
  const folder = dirname(path);
  return readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(text));
}

test("forget leaves nothing of a user in any byte, and all of the others", async () => {
  const path = temporaryFile("forget.db");
  const memory = await openMemory({ path, index });
  const { ada, bob } = await fill(memory);
  const fork = await checkpointsOf(bob.checkpointer, "fork");
  expect(fork).toHaveLength(15);
  expect(bytesHold(path, SECRET)).toBe(true);

  const before = Date.now();
  const would = await ada.forget({ dryRun: true });
  expect(would).toMatchObject({ dryRun: true, place: ["user", "ada"], threads: "all" });
  expect((await memory.stats()).store.items).toBe(60);
  const receipt = await ada.forget();
  expect(receipt.erased).toEqual(would.erased);
  expect(receipt.erased).toMatchObject({ items: 30, vectors: 30, threads: 1, checkpoints: 30 });
  expect(Date.parse(receipt.time)).toBeGreaterThanOrEqual(before);
  expect(bytesHold(path, SECRET)).toBe(false);

  expect(await ada.store.search([], { query: "told" })).toEqual([]);
  expect(await ada.checkpointer.getTuple({ configurable: { thread_id: "t" } })).toBeUndefined();
  expect(await bob.store.search([], { limit: 50 })).toHaveLength(30);
  expect(await bob.store.search([], { query: "own", limit: 50 })).toHaveLength(30);
  expect(await checkpointsOf(bob.checkpointer, "fork")).toEqual(fork);

  await memory.close();
  expect(bytesHold(path, SECRET)).toBe(false);
  const again = await openMemory({ path, index });
  const there = again.scoped({ user: "ada" });
  const kept = JSON.parse(JSON.stringify(receipt));
  expect(await there.checkReceipt(kept)).toEqual({
    isGenuine: true,
    scrubbed: "pages",
    remains: expect.stringMatching(/^All bytes of it were cleared from the file/),
    found: { items: 0, threads: 0 },
  });
  await there.store.put(["facts"], "later", { text: "told anew" });
  expect((await there.checkReceipt(kept)).found).toEqual({ items: 1, threads: 0 });
  // What is put again and plainly deleted is in free pages, and the receipt does not deny it.
  await there.store.put(["facts"], "again", { text: SECRET });
  await there.store.delete(["facts"], "again");
  await again.flush();
  expect(bytesHold(path, SECRET)).toBe(true);
  expect((await there.checkReceipt(kept)).remains).toMatch(/put there later is not looked at\.$/);
  for (const forged of [
    { ...kept, id: "another" },
    { ...kept, time: new Date(0).toISOString() },
    { ...kept, namespaces: [["facts"]] },
    { ...kept, erased: { ...kept.erased, items: 31 } },
    { ...kept, dryRun: true },
  ]) {
    expect((await there.checkReceipt(forged)).isGenuine).toBe(false);
  }
  await expect(again.checkReceipt(kept)).rejects.toMatchObject({
    code: "invalid_argument",
    message: expect.stringMatching(/where the receipt was made: in \["user","ada"\]/),
  });
  await again.close();
});

test("what is forgotten while an export is read is told as pending, and cleared later", async () => {
  const path = temporaryFile("exported.db");
  const memory = await openMemory({ path, index });
  const { ada } = await fill(memory);
  const exported = memory.exportStream({ format: "sqlite" }).getReader();
  await exported.read();
  const receipt = await ada.forget();
  expect(receipt).toMatchObject({
    erased: { items: 30, threads: 1 },
    scrubbed: "pending",
    remains: expect.stringMatching(/^Its rows are gone/),
  });
  expect((await memory.stats()).store.items).toBe(30);
  expect(await ada.checkReceipt(receipt)).toMatchObject({ isGenuine: true, scrubbed: "pending" });
  expect(bytesHold(path, SECRET)).toBe(true);
  await exported.cancel();
  await memory.close();

  // It goes on by itself, after the next opening.
  const again = await openMemory({ path, index });
  const hers = again.scoped({ user: "ada" });
  while ((await hers.checkReceipt(receipt)).scrubbed === "pending") {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await hers.checkReceipt(receipt)).toMatchObject({ isGenuine: true, scrubbed: "pages" });
  await again.close();
  expect(bytesHold(path, SECRET)).toBe(false);
});

test("others have their turn while pages are cleared", async () => {
  const path = temporaryFile("turns.db");
  const memory = await openMemory({ path });
  const text = "t".repeat(10_000);
  for (let i = 0; i < 600; i++) await memory.store.put(["user", "bob"], `k${i}`, { text });
  await memory.store.put(["user", "ada"], SECRET, { text: `${SECRET} ${text}` });
  let turns = 0;
  let isDone = false;
  const forgotten = memory.forget({ namespaces: [["user", "ada"]] }).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setTimeout(resolve));
    await memory.store.put(["others"], `k${turns++ % 7}`, { turns });
  }
  expect(await forgotten).toMatchObject({ erased: { items: 1 }, scrubbed: "pages" });
  expect(turns).toBeGreaterThan(3);
  expect(bytesHold(path, SECRET)).toBe(false);
  expect(await memory.check()).toMatchObject({ isOk: true });
  expect((await memory.stats()).store.items).toBe(600 + Math.min(turns, 7));
  await memory.close();
});

test("forget goes by namespace, filter and thread", async () => {
  const memory = await openMemory({ path: ":memory:" });
  const { ada } = await fill(memory);
  const some = await memory.forget({ namespaces: [["user"]], filter: { n: { $gte: 28 } } });
  expect(some.erased).toMatchObject({ items: 2, threads: 0 });
  expect(some.threads).toEqual([]);
  const thread = await memory.forget({ threads: ["user/bob/t", "nobody"] });
  expect(thread.erased).toMatchObject({ items: 0, threads: 1, checkpoints: 30 });
  const threads = await ada.forget({ threads: "all" });
  expect(threads.erased).toMatchObject({ items: 0, threads: 1 });
  expect((await ada.forget({ filter: { n: 1 } })).erased).toMatchObject({ items: 1, threads: 0 });
  expect((await ada.forget()).erased).toMatchObject({ items: 27, threads: 0 });
  expect((await memory.stats()).store.items).toBe(30);
  await memory.close();
});

test("what is held is not forgotten until it is released", async () => {
  const memory = await openMemory({ path: temporaryFile("held.db") });
  const { ada } = await fill(memory);
  await memory.hold(["user", "ada"], "case 7");
  expect(await memory.holds()).toEqual([
    { namespace: ["user", "ada"], reason: "case 7", since: expect.stringMatching(/^20/) },
  ]);
  // A scope is not told why it is held.
  await expect(ada.forget()).rejects.toMatchObject({
    code: "held",
    message: expect.stringMatching(/a hold is on all of this scope: who holds the whole memory/),
  });
  for (const refused of [
    () => memory.forget({ namespaces: [[]] }),
    () => memory.forget({ threads: ["user/ada/t"] }),
  ]) {
    await expect(refused()).rejects.toMatchObject({
      code: "held",
      message: expect.stringMatching(
        /a hold is on \["user", "ada"\]: case 7; release\(\) it first/,
      ),
    });
  }
  expect((await memory.stats()).store.items).toBe(60);
  await expect(memory.hold(["user", "bob"], "")).rejects.toMatchObject({
    code: "invalid_argument",
  });
  await memory.release(["user", "ada"]);
  expect(await memory.holds()).toEqual([]);
  expect((await ada.forget()).erased.items).toBe(30);
  await memory.close();
});

test("forget says what it wants, and its accesses are told of", async () => {
  const memory = await openMemory({ path: ":memory:" });
  const events = [];
  const ada = memory.scoped({ user: "ada", onAccess: (event) => events.push(event) });
  await ada.forget();
  expect(events.map(({ phase, operation, success }) => [phase, operation, success])).toEqual([
    ["before", "forget", undefined],
    ["after", "forget", true],
  ]);
  for (const [options, message] of [
    [undefined, /takes namespaces or threads/],
    [{ filter: { a: 1 } }, /takes namespaces or threads/],
    [{ threads: ["t"], filter: { a: 1 } }, /in which namespaces/],
    [{ namespace: ["a"] }, /unknown option "namespace".*did you mean "namespaces"/],
    [{ namespaces: ["a"] }, /namespace must be an array of labels/],
    [{ threads: "some" }, /threads must be a list or "all"/],
  ]) {
    await expect(memory.forget(options)).rejects.toThrow(message);
  }
  const reader = memory.scoped({ user: "ada", policy: { readOnly: true } });
  await expect(reader.forget()).rejects.toMatchObject({ code: "access_denied" });
  await expect(ada.checkReceipt({ nothing: 1 })).rejects.toMatchObject({
    code: "invalid_argument",
  });
  await memory.close();
});
