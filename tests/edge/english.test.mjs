// keepsake-english in a Durable Object: its table is in the Worker.

import { gzipSync } from "node:zlib";
import { bundleWorker } from "./support/bundle.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

let bundle;
beforeAll(async () => {
  bundle = await bundleWorker("tests/edge/workers/english.mjs");
});

afterAll(cleanUp);

test("finds by words at once, and by meaning when the table is there", async () => {
  const workerd = await startWorkerd("english", { classes: { ENGLISH: "English" }, bundle });
  expect((await workerd.call("put", "dog", "Her dog is called Max")).pending).toBe(1);
  await workerd.call("put", "tea", "She drinks green tea");
  while ((await workerd.call("stats")).pending > 0) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect((await workerd.call("find"))[0]).toBe("dog");
  expect((await workerd.call("find", "vector"))[0]).toBe("dog");
  expect(await workerd.call("stats")).toMatchObject({ pending: 0, vectors: 2 });
  expect(workerd.errors).toEqual([]);
});

// A Worker may have 10 MB, on the free plan 3.
test("leaves half of the room that a Worker has", () => {
  const bytes = gzipSync(bundle.script).length;
  expect(bytes).toBeLessThan(5_400_000);
});
