// keepsake/langchain inside a Durable Object, with LangChain's build for browsers.

import { testAgents } from "../js/support/remembering-facts.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

afterAll(cleanUp);

let workerd;

beforeAll(async () => {
  workerd = await startWorkerd("langchain", { classes: { AGENT: "Agent" } });
});

testAgents((name) => workerd.call("run", name));

test("a block of context of Cloudflare's agents is searched", async () => {
  const { empty, full, found, none, placed } = await workerd.call("block");
  expect([empty, full, none]).toEqual([[null, null], "3 items, to be searched", null]);
  expect(found).toBe("- tea: Ada likes green tea\n- cup: Her cup for tea is blue");
  expect(placed).toBe("- rain: It rains in Bergen");
});
