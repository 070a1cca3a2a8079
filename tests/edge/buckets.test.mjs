// R2 and a Durable Object's rows as buckets, in workerd. The contract asks them by way of a relay.

import { httpBucket } from "keepsake/bucket";
import { bytesOf, describeBucket } from "../contract/bucket.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

afterAll(cleanUp);

let workerd;

beforeAll(async () => {
  workerd = await startWorkerd("buckets", { classes: { RELAY: "Relay" }, buckets: ["BUCKET"] });
});

const bucketAt = (path, prefix) =>
  httpBucket({
    url: `http://worker/${path}`,
    prefix,
    fetch: (url, init) => workerd.miniflare.dispatchFetch(url, init),
  });

describeBucket("R2", (prefix) => bucketAt("r2", prefix));
describeBucket("a Durable Object", (prefix) => bucketAt("durable", prefix));

test("checkBucket() runs in a Worker, over its own binding", async () => {
  expect(await workerd.call("check")).toMatchObject({
    isOk: true,
    sentence: expect.stringMatching(/^R2\/checked\/ can keep memories/),
  });
});

test("an object that is larger than a row lies in several", async () => {
  const { port } = bucketAt("durable", "pieces");
  const before = await workerd.call("rows");
  await port.create("large", bytesOf(5_000_000));
  const { n, most } = await workerd.call("rows");
  expect(n - before.n).toBe(3);
  expect(most).toBeLessThan(2_000_000);
  for (const [from, to] of [
    [1_899_999, 1_900_001],
    [3_799_990, 3_800_010],
    [1_900_000, 3_800_000],
    [4_999_999, 6_000_000],
    [5_700_000, 5_700_010],
  ]) {
    const part = await port.get("large", { from, to });
    expect(Buffer.compare(part, bytesOf(5_000_000).subarray(from, to))).toBe(0);
  }
  await port.delete("large");
  expect((await workerd.call("rows")).n).toBe(before.n);
});

test.each([
  ["put: We encountered an internal error. Please try again. (10001)", "unreachable"],
  ["put: Reduce your concurrent request rate for the same object. (10058)", "unreachable"],
  ["Network connection lost.", "unreachable"],
  ["get: The specified bucket does not exist. (10006)", "bucket_refused"],
  ["get: Please enable R2 through the Cloudflare Dashboard. (10042)", "bucket_refused"],
])("what R2 says is understood: %s", async (message, code) => {
  for (const refused of await workerd.call("failing", message)) {
    expect(refused).toMatchObject({ code, message: expect.stringContaining(message) });
  }
});

test("what is cut off, no binding, no rows and a Worker's files are refused", async () => {
  expect(await workerd.call("cutOff")).toMatchObject({
    code: "unreachable",
    message: expect.stringContaining("4 of 10 bytes"),
  });
  expect(await workerd.call("noBinding")).toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining("r2_buckets"),
  });
  expect(await workerd.call("noStorage")).toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining("new_sqlite_classes"),
  });
  expect(await workerd.call("folder")).toMatchObject({ code: "unsupported" });
});
