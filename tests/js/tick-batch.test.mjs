// Writes of one tick share a transaction: what is answered, and in which order, is what it would
// be if each had one of its own.

import { readFileSync } from "node:fs";
import { jest } from "@jest/globals";
import { openMemory, SqliteSaver, SqliteStore } from "keepsake";
import { checkpointOf, metadataOf, threadConfig } from "./support/checkpoints.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const newPath = () => temporaryFile();
const keys = Array.from({ length: 50 }, (_, i) => `key-${i}`);

const at = (id) => threadConfig("t", id);

function put(saver, id, parent) {
  return saver.put(at(parent), { ...checkpointOf(), id }, metadataOf(), {});
}

describe("writes of one tick", () => {
  test("are one transaction of the log", async () => {
    const paths = { together: newPath(), apart: newPath() };
    // A millisecond that ends within the tick would end a transaction, too.
    const now = () => 1;
    await using together = new SqliteStore({ path: paths.together, now });
    await using apart = new SqliteStore({ path: paths.apart, now });
    for (const store of [together, apart]) await store.put(["a"], "first", { n: 0 });
    const before = commits(paths.together);
    expect(commits(paths.apart)).toBe(before);
    await Promise.all(keys.map((key) => together.put(["a"], key, { n: 1 })));
    for (const key of keys) await apart.put(["a"], key, { n: 1 });
    expect(commits(paths.together) - before).toBe(1);
    expect(commits(paths.apart) - before).toBe(keys.length);
    expect(await together.search(["a"], { limit: 100 })).toHaveLength(51);
  });

  test("of a superstep are one transaction of the log", async () => {
    const path = newPath();
    await using saver = new SqliteSaver({ path });
    await put(saver, "1");
    const before = commits(path);
    await Promise.all([put(saver, "2", "1"), saver.putWrites(at("2"), [["a", 2]], "2")]);
    expect(commits(path) - before).toBe(1);
    const tuple = await saver.getTuple(at("2"));
    expect(tuple.pendingWrites).toEqual([["2", "a", 2]]);
  });

  test("are seen by a read that was asked for after them, and not by one before", async () => {
    await using store = new SqliteStore({ path: newPath() });
    await store.put(["a"], "x", { n: 0 });
    const answers = await Promise.all([
      store.get(["a"], "x"),
      store.put(["a"], "x", { n: 1 }),
      store.get(["a"], "x"),
      store.put(["a"], "x", { n: 2 }),
      store.delete(["a"], "x"),
      store.get(["a"], "x"),
    ]);
    const values = [answers[0], answers[2], answers[5]].map((item) => item?.value);
    expect(values).toEqual([{ n: 0 }, { n: 1 }, undefined]);
  });

  test("put an item anew that was deleted before", async () => {
    let now = 1000;
    await using store = new SqliteStore({ path: newPath(), now: () => now });
    await store.put(["a"], "x", { n: 0 });
    now = 2000;
    await Promise.all([store.delete(["a"], "x"), store.put(["a"], "x", { n: 1 })]);
    expect((await store.get(["a"], "x")).createdAt).toEqual(new Date(2000));
  });

  test("fail one by one", async () => {
    await using memory = await openMemory({ path: newPath() });
    const user = memory.scoped({ user: "1", policy: { maxEntriesPerNamespace: 2 } });
    const outcomes = await Promise.allSettled([
      user.store.put(["own"], "a", { n: 1 }),
      user.store.put(["own"], "b", { n: 2 }),
      user.store.put(["own"], "c", { n: 3 }),
      memory.store.put(["others"], "d", { n: 4 }),
      put(memory.checkpointer, "1"),
    ]);
    expect(outcomes.map(({ status, reason }) => reason?.code ?? status)).toEqual([
      "fulfilled",
      "fulfilled",
      "quota_exceeded",
      "fulfilled",
      "fulfilled",
    ]);
    expect((await user.store.search(["own"])).map(({ key }) => key).sort()).toEqual(["a", "b"]);
    expect((await memory.store.get(["others"], "d")).value).toEqual({ n: 4 });
    expect(await memory.checkpointer.getTuple(at())).toBeDefined();
  });

  test("are stored when the memory is closed in the same tick", async () => {
    const path = newPath();
    const store = new SqliteStore({ path });
    await store.put(["a"], "x", { n: 1 });
    const written = [store.put(["a"], "y", { n: 2 }), store.put(["a"], "z", { n: 3 })];
    await store.close();
    await Promise.all(written);
    await using again = new SqliteStore({ path });
    expect(await again.search(["a"])).toHaveLength(3);
  });

  test("are told of, each by itself", async () => {
    await using memory = await openMemory({ path: newPath() });
    await memory.store.put(["a"], "x", { n: 1 });
    const heard = [];
    memory.onChange(({ namespaces, threads }) => heard.push(namespaces[0]?.[0] ?? threads[0]));
    await Promise.all([
      memory.store.put(["a"], "x", { n: 1 }),
      memory.store.put(["b"], "x", { n: 1 }),
      put(memory.checkpointer, "1"),
    ]);
    expect(heard).toEqual(["a", "b", "t"]);
  });

  test("need no clock that a test stopped", async () => {
    await using store = new SqliteStore({ path: newPath() });
    await store.put(["a"], "x", { n: 1 });
    jest.useFakeTimers();
    try {
      await store.put(["a"], "y", { n: 2 });
      expect((await store.get(["a"], "y")).value).toEqual({ n: 2 });
    } finally {
      jest.useRealTimers();
    }
  });

  test("may be larger than a request", async () => {
    await using store = new SqliteStore({ path: newPath() });
    await store.put(["a"], "first", { n: 1 });
    const text = "x".repeat(600_000);
    await Promise.all(keys.slice(0, 8).map((key) => store.put(["a"], key, { text })));
    expect(await store.search(["a"])).toHaveLength(9);
  });
});

// Transactions in the log: a frame of one ends it if bytes 4 to 7 of its header are not 0.
function commits(path) {
  const log = readFileSync(`${path}-wal`);
  const frame = 24 + log.readUInt32BE(8);
  let count = 0;
  for (let start = 32; start < log.length; start += frame) {
    if (log.readUInt32BE(start + 4) !== 0) count++;
  }
  return count;
}
