// The official specification of a checkpointer, and the contract of a store, in workerd.

import { testContract } from "../js/support/store-contract.mjs";
import { SPECIFICATION_SIZE } from "../validation/specification-size.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

// On a busy machine; each case has a limit of its own.
const CONTRACT_MS = 900_000;
let workerd;

beforeAll(async () => {
  workerd = await startWorkerd("suites", { classes: { MEMORY: "Memory", SUITES: "Suites" } });
});

afterAll(cleanUp);

// In linear memory; inside an object; through a stub; with an object that is restarted
// after every operation.
describe.each(["memory", "inside", "stub", "restarted"])("%s", (backend) => {
  let contract;

  beforeAll(async () => {
    contract = await workerd.call("runContract", backend);
  }, CONTRACT_MS);

  testContract("workerd", { isPersistent: backend !== "memory" }, () => contract);

  test("[cap 67] [cap 68] [cap 69] [cap 70] passes the whole specification (workerd)", async () => {
    const result = await workerd.call("runSpecification", backend);
    expect(result).toMatchObject({
      passed: SPECIFICATION_SIZE,
      total: SPECIFICATION_SIZE,
      failures: [],
    });
  });
});
