// A wasm trap ends the instance, not the process, and never what was stored.

import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { InMemoryStore, MemorySaver, openMemory, SqliteStore } from "keepsake";
import { putCheckpoint, threadConfig } from "./support/checkpoints.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";
import { traps } from "./support/traps.mjs";

afterEach(() => {
  traps.armed = false;
});
afterAll(removeTemporaryFolders);

/** The call that traps. Large, so that memory has to grow even without a file. */
async function trap(call) {
  traps.armed = true;
  const error = await expectRefused(call, "internal", /unreachable/);
  traps.armed = false;
  return error;
}

const large = () => ({ text: "x".repeat(40_000_000) });

test("a store on a file is reopened by the next call, with all that was acknowledged", async () => {
  const path = temporaryFile();
  await using memory = await openMemory({ path, ttl: { defaultTtl: 60 } });
  for (let i = 0; i < 100; i += 1) await memory.store.put(["n"], `k${i}`, { i });
  const error = await trap(() => memory.store.put(["n"], "unknown", { text: "x".repeat(100_000) }));
  expect(error.cause).toBeInstanceOf(Error);

  expect(await memory.store.listKeys(["n"])).toHaveLength(100);
  await memory.store.put(["n"], "after", { n: 1 });
  await putCheckpoint(memory.checkpointer, threadConfig("t"), { a: 1 });
  await memory.close();
  expect(readdirSync(dirname(path))).toEqual([basename(path)]);

  await using again = await openMemory({ path });
  expect((await again.stats()).store.items).toBe(101);
  expect(await again.checkpointer.getTuple(threadConfig("t"))).toBeDefined();
});

test("it may trap again and again", async () => {
  await using store = new SqliteStore({ path: temporaryFile() });
  for (let i = 0; i < 10; i += 1) {
    await store.put(["n"], `k${i}`, { i });
    await trap(() => store.put(["n"], "unknown", { text: "x".repeat(100_000) }));
  }
  expect(await store.listKeys(["n"])).toHaveLength(10);
});

test("what the store was configured with holds after a trap", async () => {
  const asked = [];
  const embeddings = (texts) => {
    asked.push(...texts);
    return texts.map(() => [1, 0]);
  };
  await using store = new SqliteStore({
    path: temporaryFile(),
    index: { dims: 2, embeddings, fields: ["a"] },
  });
  await store.put(["n"], "k", { a: "first" });
  await trap(() => store.put(["n"], "unknown", { b: "x".repeat(100_000) }));
  await store.put(["n"], "k", { a: "second", b: "never embedded" });
  expect(asked).toEqual(["first", "second"]);
});

test.each([
  [
    "a store",
    () => new InMemoryStore(),
    (store) => store.put(["n"], "k", large()),
    (store) => store.get(["n"], "k"),
  ],
  [
    "a store on :memory:",
    () => new SqliteStore({ path: ":memory:" }),
    (store) => store.put(["n"], "k", large()),
    (store) => store.get(["n"], "k"),
  ],
  [
    "a saver",
    () => new MemorySaver(),
    (saver) => putCheckpoint(saver, threadConfig("t"), large()),
    (saver) => saver.getTuple(threadConfig("t")),
  ],
])("%s in memory says that it is lost, and a new one works", async (_, make, write, read) => {
  const broken = make();
  await read(broken);
  await trap(() => write(broken));
  await expectRefused(() => read(broken), "lost");
  await expectRefused(() => write(broken), "lost");
  await broken.close();

  const fresh = make();
  await write(fresh);
  expect(await read(fresh)).toBeTruthy();
  await fresh.close();
});
