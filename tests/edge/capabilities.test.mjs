// Capabilities that are the same on every platform, in workerd.

import { testCapabilities } from "../js/support/capability-cases.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

afterAll(cleanUp);

let workerd;

beforeAll(async () => {
  workerd = await startWorkerd("capabilities", { classes: { MEMORY: "Memory" } });
});

testCapabilities("workerd", (title) => workerd.call("run", title));
