// An engine in memory that is full refuses what it has no room for, and goes on.

import Database from "better-sqlite3";
import { InMemoryStore, MemorySaver, SqliteStore } from "keepsake";
import { memoryOver } from "keepsake/sqlite";
import { putCheckpoint, threadConfig } from "./support/checkpoints.mjs";
import { isLong } from "./support/effort.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const MEGABYTE = "x".repeat(1_000_000);

const { grow } = WebAssembly.Memory.prototype;
afterEach(() => {
  WebAssembly.Memory.prototype.grow = grow;
});

// The long run fills all of 2 GB. From 1 GB on, room is looked for before a call begins.
function limitMemory() {
  if (isLong) return;
  WebAssembly.Memory.prototype.grow = function (pages) {
    const bytes = this.buffer.byteLength + pages * 65_536;
    if (bytes > 1100 * 2 ** 20) throw new RangeError("made by a test");
    return grow.call(this, pages);
  };
}

test("a store in memory that is full refuses puts, keeps what it has, and goes on", async () => {
  limitMemory();
  const store = new InMemoryStore();
  let count = 0;
  let refusal;
  while (refusal === undefined && count < 3000) {
    await store.put(["full"], `${count}`, { text: MEGABYTE, n: count }).then(
      () => count++,
      (error) => {
        refusal = error;
      },
    );
  }
  expect(refusal).toMatchObject({
    code: "storage_full",
    message: expect.stringMatching(/no room in memory .* nothing was done; delete items/),
  });
  expect(count).toBeGreaterThan(isLong ? 1000 : 500);
  for (const n of [0, 500, count - 1]) {
    expect((await store.get(["full"], `${n}`)).value.n).toBe(n);
  }
  expect((await store.stats()).items).toBe(count);
  // Reads that it has no room for, too.
  const all = await store.search(["full"], { limit: count }).catch((error) => error);
  expect(all).toMatchObject({ code: "too_large", message: expect.stringContaining("for less") });
  for (let limit = 200; ; limit = Math.ceil(limit / 2)) {
    const some = await store.search(["full"], { limit }).catch((error) => error);
    if (Array.isArray(some)) break;
    expect(some).toMatchObject({ code: "too_large" });
    expect(limit).toBeGreaterThan(10);
  }
  expect((await store.stats()).items).toBe(count);
  await store.put(["full"], "0", { text: "small" }).catch(() => {});
  for (let i = 0; i < 400; i++) await store.delete(["full"], `${i}`);
  await store.put(["full"], "again", { text: MEGABYTE, n: -1 });
  expect((await store.get(["full"], "again")).value.n).toBe(-1);
  expect((await store.stats()).items).toBe(count - 399);
  await store.close();
}, 300_000);

test("a saver in memory that is full refuses puts and goes on", async () => {
  limitMemory();
  const saver = new MemorySaver();
  const bytes = new Uint8Array(16_000_000);
  let threads = 0;
  let refusal;
  while (refusal === undefined && threads < 300) {
    bytes[0] = threads;
    bytes[1] = threads >> 8;
    await putCheckpoint(saver, threadConfig(`${threads}`), { bytes }).then(
      () => threads++,
      (error) => {
        refusal = error;
      },
    );
  }
  expect(refusal).toMatchObject({ code: "storage_full" });
  const first = await saver.getTuple(threadConfig("0"));
  expect(first.checkpoint.channel_values.bytes.length).toBe(bytes.length);
  for (let i = 0; i < 30; i++) await saver.deleteThread(`${i}`);
  await putCheckpoint(saver, threadConfig("again"), { bytes });
  expect((await saver.getTuple(threadConfig("again"))).checkpoint.channel_values.bytes.length).toBe(
    bytes.length,
  );
  await saver.close();
}, 300_000);

describe("memory that may not grow, as in a small isolate,", () => {
  test.each([
    ["in memory", async () => new InMemoryStore()],
    ["on a file", async () => new SqliteStore({ path: temporaryFile() })],
    ["over a connection", async () => memoryOver(new Database(":memory:")).store],
  ])("%s refuses a call that did not begin, and says so", async (_, make) => {
    const store = await make();
    await store.put(["n"], "before", { n: 1 });
    WebAssembly.Memory.prototype.grow = () => {
      throw new RangeError("made by a test");
    };
    const large = { text: "x".repeat(30 << 20) };
    const refused = await store.put(["n"], "large", large).catch((error) => error);
    expect(refused).toMatchObject({ code: "storage_full" });
    expect(refused.message).toContain("nothing was done");
    expect(refused.message).not.toContain("not known");
    await store.put(["n"], "after", { n: 2 });
    WebAssembly.Memory.prototype.grow = grow;
    await store.put(["n"], "large", large);
    const keys = (await store.search(["n"])).map(({ key }) => key).sort();
    expect(keys).toEqual(["after", "before", "large"]);
    await store.close();
  });

  test("a search by words that has no room for its index is refused, and the rest goes on", async () => {
    const store = new InMemoryStore();
    const words = (n) => Array.from({ length: 100_000 }, (_, i) => `w${n}x${i.toString(36)}`);
    for (let n = 0; n < 10; n++) await store.put(["n"], `${n}`, { text: words(n).join(" ") });
    WebAssembly.Memory.prototype.grow = () => {
      throw new RangeError("made by a test");
    };
    const search = () => store.search(["n"], { query: "w3x7", limit: 1 });
    expect(await search().catch((error) => error)).toMatchObject({
      code: "storage_full",
      message: expect.stringMatching(/memory has no room .* nothing was done; delete something/),
    });
    expect((await store.get(["n"], "5")).key).toBe("5");
    await store.delete(["n"], "5");
    await store.put(["n"], "after", { text: "w3x7" });
    WebAssembly.Memory.prototype.grow = grow;
    expect((await search()).map(({ key }) => key)).toEqual(["3"]);
    expect((await store.stats()).items).toBe(10);
    await store.close();
  });
});
