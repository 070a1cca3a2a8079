// A loop of awaited writes lets in what waits outside of it: timers, files, other requests.

import { openMemory } from "keepsake";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const MOST = 50_000;
test("a timer runs beside a loop of awaited writes", async () => {
  await using memory = await openMemory({ path: temporaryFile() });
  let isDone = false;
  setTimeout(() => {
    isDone = true;
  }, 0);
  let count = 0;
  while (!isDone && count < MOST) await memory.store.put(["n"], `k${count % 100}`, { n: count++ });
  expect(isDone).toBe(true);
});

test("a change of the key ends beside a loop of writes", async () => {
  const key = new Uint8Array(32).fill(1);
  await using memory = await openMemory({ path: temporaryFile(), key });
  let isDone = false;
  const changed = memory.changeKey("a passphrase that is new").then(() => {
    isDone = true;
  });
  let count = 0;
  while (!isDone && count < MOST) await memory.store.put(["n"], "k", { n: count++ });
  expect(isDone).toBe(true);
  await changed;
});

test("calls keep their order where a turn of the loop ends", async () => {
  await using memory = await openMemory({ path: temporaryFile() });
  await memory.store.put(["n"], "k", { n: 0 });
  for (let n = 1; n < 2000; n++) {
    const before = memory.store.get(["n"], "k");
    const put = memory.store.put(["n"], "k", { n });
    const after = memory.store.get(["n"], "k");
    await put;
    expect([(await before).value.n, (await after).value.n]).toEqual([n - 1, n]);
  }
});
