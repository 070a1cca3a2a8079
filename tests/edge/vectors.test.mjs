// Vectors are in memory as long as they are used, and as there is room.

import { temporaryFolder } from "../js/support/temporary.mjs";
import { bundleWorker } from "./support/bundle.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

const MB = 1024 * 1024;
// From so many vectors on a search reads an index of them.
const VECTORS = 1_050;
const OBJECTS = 50;

let bundle;
const start = (persist) =>
  startWorkerd("vectors", { classes: { VECTORS: "Vectors" }, bundle, persist });

beforeAll(async () => {
  bundle = await bundleWorker("tests/edge/workers/vectors.mjs");
});

afterAll(cleanUp);

test("the object that was not searched for longest gives up its vectors, and finds the same again", async () => {
  const workerd = await start();
  // An object takes about 0.3 MB.
  await workerd.call("limit", 1 * MB);
  const first = [];
  for (let n = 0; n < 6; n++) {
    await workerd.call("fill", n, VECTORS);
    first.push(await workerd.call("search", n, `object ${n} 7`));
    expect(first[n]).toMatchObject({ loads: 1 });
    expect(first[n].hits[0][0]).toBe("k7");
  }
  const { hits } = first[5];
  expect(await workerd.call("search", 5, "object 5 7")).toEqual({ hits, loads: 1, ranges: 0 });
  const again = await workerd.call("search", 0, "object 0 7");
  expect(again).toMatchObject({ hits: first[0].hits, loads: 2 });
  await workerd.call("limit", 100 * MB);
  for (let n = 0; n < 6; n++) await workerd.call("search", n, "a");
  const { loads } = await workerd.call("search", 0, "a");
  for (let n = 0; n < 6; n++) await workerd.call("search", n, "b");
  expect((await workerd.call("search", 0, "c")).loads).toBe(loads);
});

test("the first search reads codes by chunks, and no name of an item but its hits'", async () => {
  const persist = temporaryFolder();
  const workerd = await start(persist);
  await workerd.call("fill", 0, 3_000);
  const { hits } = await workerd.call("search", 0, "0 77");
  await workerd.kill();
  const woken = await start(persist);
  const first = await woken.call("first", 0, "0 77");
  expect(first).toMatchObject({ hits, loads: 0 });
  // 952 vectors are in no chunk yet, each with its item; below 1,000 items all would be read.
  expect(first.rows).toBeLessThan(3_200);
});

test("codes that were kept are read again, and have checksums that an object can read", async () => {
  const workerd = await start();
  await workerd.call("fill", 0, VECTORS);
  // Of the vectors only those are read that are in no chunk yet.
  expect(await workerd.call("search", 0, "a")).toMatchObject({ loads: 1, ranges: 1 });
  const { chunks, largest } = await workerd.call("sound", 0);
  expect(chunks).toBeGreaterThan(0);
  expect(largest).toBeLessThan(2 ** 53);
});

test(`${OBJECTS} objects with ${VECTORS} vectors each stay within an isolate's memory`, async () => {
  const workerd = await start();
  for (let n = 0; n < OBJECTS; n++) {
    await workerd.call("fill", n, VECTORS);
    const { hits } = await workerd.call("search", n, `object ${n} 3`);
    expect(hits[0][0]).toBe("k3");
  }
  const linear = await workerd.call("linear");
  console.log(`${OBJECTS} objects with vectors: ${(linear / MB).toFixed(1)} MB of linear memory`);
  expect(linear).toBeLessThan(100 * MB);
});
