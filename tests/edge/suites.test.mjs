// The official specification of a checkpointer, and the contract of a store, in workerd.

import { storeContract } from "keepsake/testing";
import { SPECIFICATION_SIZE } from "../validation/specification-size.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

let workerd;

beforeAll(async () => {
  workerd = await startWorkerd("suites", { classes: { MEMORY: "Memory", SUITES: "Suites" } });
});

afterAll(cleanUp);

// In linear memory; inside an object; through a stub; with an object that is restarted
// after every operation.
describe.each(["memory", "inside", "stub", "restarted"])("%s", (backend) => {
  test("passes the whole specification", async () => {
    const result = await workerd.call("runSpecification", backend);
    expect(result).toEqual({ passed: SPECIFICATION_SIZE, total: SPECIFICATION_SIZE, failures: [] });
  });

  test("passes the whole contract", async () => {
    const result = await workerd.call("runContract", backend);
    const cases = storeContract.filter(
      ({ needs }) => backend !== "memory" || !needs.includes("persistence"),
    );
    expect(result).toEqual({ passed: cases.length, total: cases.length, failures: [] });
  });
});
