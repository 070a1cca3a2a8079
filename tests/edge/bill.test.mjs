// What Cloudflare bills: the candidates of bench/edge.mjs count their rows.
import { bundleWorker } from "./support/bundle.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

let workerd;

beforeAll(async () => {
  const bundle = await bundleWorker("bench/edge/worker.mjs");
  workerd = await startWorkerd("bill", { classes: { CANDIDATE: "Candidate" }, bundle });
});

afterAll(cleanUp);

async function call(name, method, ...args) {
  const response = await workerd.miniflare.dispatchFetch("http://bill/", {
    method: "POST",
    body: JSON.stringify({ name, method, args }),
  });
  return response.json();
}

test("a superstep bills no more rows than a saver written by hand, and writes fewer than half", async () => {
  const rowsOf = async (name) => {
    await call(name, "open", name);
    return call(name, "rows", "supersteps", 50);
  };
  const ours = await rowsOf("keepsake");
  const byHand = await rowsOf("hand-written");
  expect(ours.read + ours.written).toBeLessThanOrEqual(byHand.read + byHand.written);
  expect(ours.written).toBeLessThan(byHand.written / 2);
});

describe("a new object", () => {
  const MOST_READ = 60;
  const MOST_WRITTEN = 40;

  test.each([
    ["put", "puts"],
    ["superstep", "supersteps"],
  ])("bills few rows for its first %s", async (what, operation) => {
    const name = `first ${what}`;
    await call(name, "open", "keepsake");
    const { read, written } = await call(name, "firstRows", operation, 1);
    expect(read).toBeLessThanOrEqual(MOST_READ);
    expect(written).toBeLessThanOrEqual(MOST_WRITTEN);
  });

  test("bills few rows for the first put after it was evicted", async () => {
    await call("evicted", "open", "keepsake");
    await call("evicted", "supersteps", 1);
    await call("evicted", "puts", 1);
    await call("evicted", "open", "keepsake");
    const { read, written } = await call("evicted", "firstRows", "puts", 1);
    expect(read).toBeLessThanOrEqual(10);
    expect(written).toBeLessThanOrEqual(5);
  });
});

test("an audit log bills two rows of a put, and three when it is full", async () => {
  const rowsOf = async (name, governed) => {
    await call(name, "open", "keepsake");
    await call(name, "firstRows", "puts", 10);
    if (governed) await call(name, "govern", governed);
    await call(name, "firstRows", "puts", 10);
    return call(name, "firstRows", "puts", 10);
  };
  const off = await rowsOf("audit off");
  const on = await rowsOf("audit on", { audit: {} });
  const full = await rowsOf("audit full", { audit: { maxEntries: 5 } });
  const history = await rowsOf("history on", { history: { maxVersions: 2 } });
  console.log("rows of 10 puts", { off, on, full, history });
  expect(on.written - off.written).toBeLessThanOrEqual(10);
  expect(on.read - off.read).toBeLessThanOrEqual(10);
  expect(full.written - off.written).toBeLessThanOrEqual(20);
  expect(full.read - off.read).toBeLessThanOrEqual(40);
});

test("a filter of a field that was filtered before bills no row of what it leaves out", async () => {
  await call("filter", "open", "keepsake");
  await call("filter", "fill", 3000);
  const filter = () => call("filter", "found", { filter: { kind: "rare" } });
  expect((await filter()).read).toBeGreaterThan(3000);
  await filter();
  const { hits, read, written } = await filter();
  expect(hits).toBe(3);
  // Each hit twice, the columns, and who is asked what they hold.
  expect(read).toBeLessThanOrEqual(30);
  expect(written).toBe(0);
  await call("filter", "open", "keepsake");
  expect((await filter()).read).toBeLessThanOrEqual(60);
});

test("a new item with a text bills at most six written rows, until it can be found", async () => {
  await call("text", "open", "keepsake");
  await call("text", "fill", 500);
  await call("text", "rowsOfText", "first");
  const { written } = await call("text", "rowsOfText", "second");
  expect(written).toBeLessThanOrEqual(6);
});

// In portions, each of which once read the whole namespace again: 1,000 texts took 50,000 rows.
test("the first question by words bills a few rows for each text, however many portions it takes", async () => {
  const COUNT = 1000;
  await call("first question", "open", "keepsake");
  await call("first question", "fill", COUNT, 5);
  const { hits, read, written } = await call("first question", "found", { query: "sentence" });
  expect(hits).toBe(50);
  expect(read).toBeLessThanOrEqual(6 * COUNT);
  expect(written).toBeLessThanOrEqual(COUNT + 10);
});
