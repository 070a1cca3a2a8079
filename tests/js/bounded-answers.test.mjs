// What an answer may take, and what becomes of linear memory that was needed once.

import { rmSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { putCheckpoint, threadConfig } from "./support/checkpoints.mjs";
import { isLong } from "./support/effort.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

setFlagsFromString("--expose-gc");

// Those of every instance that is made from here on.
const memories = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(module, imports) {
    super(module, imports);
    const memory = Object.values(this.exports).find((one) => one instanceof WebAssembly.Memory);
    if (memory !== undefined) memories.push(new WeakRef(memory));
  }
};
const { InMemoryStore, MemorySaver, openMemory, SqliteSaver, SqliteStore } = await import(
  "keepsake"
);

afterAll(() => {
  WebAssembly.Instance = Instance;
  removeTemporaryFolders();
});

const MEGABYTE = 2 ** 20;
const LARGE = "x".repeat(30 * MEGABYTE);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

describe("an answer that would take more than an engine's memory has for it", () => {
  test.each([
    ["in memory", () => new InMemoryStore()],
    ["on a file", () => new SqliteStore({ path: temporaryFile() })],
  ])(
    "is too_large from a store %s, which goes on",
    async (_, make) => {
      const store = make();
      for (let i = 0; i < 9; i++) await store.put(["n"], `k${i}`, { text: LARGE, i });
      const rule =
        /an answer may take at most 256 MB: ask for less at a time, with a smaller limit/;
      await expectRefused(() => store.search(["n"], { limit: 100 }), "too_large", rule);
      const gets = Array.from({ length: 9 }, (_, i) => ({ namespace: ["n"], key: `k${i}` }));
      await expectRefused(() => store.batch(gets), "too_large", rule);
      expect(await store.search(["n"], { limit: 3 })).toHaveLength(3);
      expect((await store.get(["n"], "k8")).value.i).toBe(8);
      expect(await store.listKeys(["n"])).toHaveLength(9);
      await store.close();
    },
    120_000,
  );

  test.each([
    ["in memory", () => new MemorySaver()],
    ["on a file", () => SqliteSaver.fromConnString(temporaryFile())],
  ])(
    "comes in smaller pages from a saver %s",
    async (_, make) => {
      const saver = make();
      const [size, count] = isLong ? [80, 5] : [70, 4];
      const bytes = new Uint8Array(size * MEGABYTE);
      for (let i = 0; i < count; i++) {
        bytes[0] = i;
        await putCheckpoint(saver, threadConfig(`t${i}`), { bytes });
      }
      const found = [];
      for await (const { checkpoint } of saver.list({ configurable: {} })) {
        found.push(checkpoint.channel_values.bytes[0]);
      }
      expect(found.sort()).toEqual([...Array(count).keys()]);
      await saver.close();
    },
    120_000,
  );
});

test.each([
  ["in memory", () => new MemorySaver()],
  ["on a file", () => SqliteSaver.fromConnString(temporaryFile())],
])(
  "ten listed checkpoints of a chat hold its bytes twice, not ten times, from a saver %s",
  async (_, make) => {
    const gc = runInNewContext("gc");
    const saver = make();
    const messages = Array.from({ length: 1000 }, (_, i) => `${i} ${"x".repeat(2000)}`);
    for (let i = 1; i <= 10; i++) {
      await putCheckpoint(saver, threadConfig("t"), { messages: messages.slice(0, 990 + i) });
    }
    const listAll = async () => {
      const tuples = [];
      for await (const tuple of saver.list(threadConfig("t"), { limit: 10 })) tuples.push(tuple);
      return tuples;
    };
    await listAll();
    // Buffers are freed a little after what had them.
    const held = async () => {
      for (let i = 0; i < 3; i++) {
        gc();
        await pause(50);
      }
      return process.memoryUsage().arrayBuffers / MEGABYTE;
    };
    const before = await held();
    const tuples = await listAll();
    // The first answer has four of them, the next one six; each has 2 MB once.
    expect((await held()) - before).toBeLessThan(6);
    expect(tuples.map(({ checkpoint }) => checkpoint.channel_values.messages.length)).toEqual(
      Array.from({ length: 10 }, (_, i) => 1000 - i),
    );
    await saver.close();
  },
);

describe("an instance that one large value made grow", () => {
  const alive = () => memories.map((one) => one.deref()?.buffer.byteLength ?? 0);
  const newest = () => memories.at(-1).deref().buffer.byteLength;

  test("is replaced when nobody calls, and the file goes on", async () => {
    const store = new SqliteStore({ path: temporaryFile() });
    await store.put(["n"], "k", { text: LARGE });
    await store.put(["n"], "small", { n: 1 });
    const count = memories.length;
    const grown = newest();
    expect(grown).toBeGreaterThan(64 * MEGABYTE);
    await pause(2_500);
    expect((await store.get(["n"], "small")).value).toEqual({ n: 1 });
    expect(memories.length).toBe(count + 1);
    expect(newest()).toBeLessThan(grown / 2);
    expect((await store.get(["n"], "k")).value.text).toBe(LARGE);
    await store.close();
  }, 60_000);

  test("stays while an export goes on", async () => {
    const memory = await openMemory({ path: temporaryFile() });
    await memory.store.put(["n"], "k", { text: LARGE });
    const reader = memory.exportStream().getReader();
    let bytes = (await reader.read()).value.length;
    const count = memories.length;
    await pause(2_500);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.length;
    }
    expect(bytes).toBeGreaterThan(LARGE.length);
    expect(memories.length).toBe(count);
    await memory.close();
  }, 60_000);

  test("is not opened again on a file that is not there any more", async () => {
    const path = temporaryFile();
    const store = new SqliteStore({ path });
    await store.put(["n"], "k", { text: LARGE });
    await pause(2_500);
    rmSync(path);
    await expectRefused(() => store.get(["n"], "k"), "changed_outside", /was deleted while it was/);
    await store.close();
  }, 60_000);

  test("goes with an engine in memory that nobody has any more, closed or not", async () => {
    const gc = runInNewContext("gc");
    const before = memories.length;
    const make = async () => {
      const store = new InMemoryStore();
      await store.put(["n"], "k", { n: 1 });
      const memory = await openMemory({ path: ":memory:" });
      memory.onChange(() => {});
      await memory.scoped({ user: "ada" }).store.put(["n"], "k", { n: 1 });
    };
    for (let i = 0; i < 5; i++) await make();
    const left = () =>
      alive()
        .slice(before)
        .filter((bytes) => bytes > 0).length;
    expect(memories.length).toBe(before + 10);
    for (let i = 0; i < 100 && left() > 0; i++) {
      // What was looked at is kept until the end of the task.
      await pause(10);
      gc();
    }
    expect(left()).toBe(0);
  }, 60_000);
});
