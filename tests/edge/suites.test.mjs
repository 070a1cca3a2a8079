// The official specification of a checkpointer, and the contract of a store, in workerd.

import { partOf } from "../js/support/effort.mjs";
import { testContract } from "../js/support/store-contract.mjs";
import { casesIn } from "../validation/specification-size.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

// On a busy machine; each case has a limit of its own.
const CONTRACT_MS = 900_000;
let workerd;

beforeAll(async () => {
  workerd = await startWorkerd("suites", {
    classes: { MEMORY: "Memory", SUITES: "Suites" },
    buckets: ["R2"],
  });
});

afterAll(cleanUp);

// In linear memory; inside an object; through a stub; with an object that is restarted
// after every operation. The last two of these have the same storage as the second. And in a bucket.
const backends = {
  memory: undefined,
  inside: undefined,
  stub: partOf(4),
  restarted: partOf(5),
  bucket: partOf(6),
};

describe.each(Object.entries(backends))("%s", (backend, part) => {
  let contract;

  beforeAll(async () => {
    contract = await workerd.call("runContract", backend, part);
  }, CONTRACT_MS);

  testContract("workerd", { isPersistent: backend !== "memory", part }, () => contract);

  test("passes the official specification", async () => {
    const result = await workerd.call("runSpecification", backend, part);
    const total = casesIn(part);
    expect(result).toMatchObject({ passed: total, total, failures: [] });
  });
});
