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
