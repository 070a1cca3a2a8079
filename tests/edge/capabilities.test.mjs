// Capabilities that are the same on every platform, in workerd.

import { readFileSync } from "node:fs";
import { expectedByGuide } from "../js/support/backends.mjs";
import { testCapabilities } from "../js/support/capability-cases.mjs";
import { undocumentedNames } from "../js/support/documented.mjs";
import { bundleWorker } from "./support/bundle.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

afterAll(cleanUp);

let workerd;

beforeAll(async () => {
  workerd = await startWorkerd("capabilities", { classes: { MEMORY: "Memory" } });
});

testCapabilities("workerd", (title) => workerd.call("run", title));

test("every public name is documented", () => {
  const entries = ["workerd", "cloudflare", "edge-light", "slim"];
  expect(undocumentedNames(entries.map((name) => `dist/${name}.d.ts`))).toEqual([]);
});

test("the guide says which backend keeps what it is given, and each does", async () => {
  const guide = readFileSync("docs/backends.md", "utf8");
  for (const [name, tried] of Object.entries(await workerd.call("tryEach"))) {
    expect([name, tried]).toEqual([name, expectedByGuide(guide, name)]);
  }
});

test("what only remembers loads no graph engine, and nothing else of ours", async () => {
  const bundle = await bundleWorker("tests/edge/workers/cold.mjs", { metafile: true });
  const inputs = Object.keys(bundle.meta.inputs);
  expect(inputs.filter((file) => file.includes("@langchain/langgraph/"))).toEqual([]);
  const ours = inputs.filter((file) => file.includes("/keepsake/dist/"));
  expect(ours).toContainEqual(expect.stringMatching(/cloudflare\.js$/));
  expect(ours.filter((file) => !/dist\/(cloudflare|edge-\w+)\.js$/.test(file))).toEqual([]);
  const alone = await startWorkerd("cold", { classes: { OBJECT: "Cold" }, bundle });
  expect(await alone.call("first")).toEqual({ text: "v" });
});
