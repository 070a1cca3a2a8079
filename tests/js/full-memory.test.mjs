// An engine in memory that is full refuses what it has no room for, and goes on.

import { InMemoryStore, MemorySaver } from "keepsake";
import { putCheckpoint, threadConfig } from "./support/checkpoints.mjs";

const MEGABYTE = "x".repeat(1_000_000);

test("a store in memory that is full refuses puts, keeps what it has, and goes on", async () => {
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
  expect(count).toBeGreaterThan(1000);
  for (const n of [0, 500, count - 1]) {
    expect((await store.get(["full"], `${n}`)).value.n).toBe(n);
  }
  expect((await store.stats()).items).toBe(count);
  await store.put(["full"], "0", { text: "small" }).catch(() => {});
  for (let i = 0; i < 400; i++) await store.delete(["full"], `${i}`);
  await store.put(["full"], "again", { text: MEGABYTE, n: -1 });
  expect((await store.get(["full"], "again")).value.n).toBe(-1);
  expect((await store.stats()).items).toBe(count - 399);
  await store.close();
}, 120_000);

test("a saver in memory that is full refuses puts and goes on", async () => {
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
}, 120_000);
