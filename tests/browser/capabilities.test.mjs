// Capabilities that are the same on every platform, in Chromium.

import { readFileSync } from "node:fs";
import { expectedByGuide } from "../js/support/backends.mjs";
import { testCapabilities } from "../js/support/capability-cases.mjs";
import { undocumentedNames } from "../js/support/documented.mjs";
import { runOver } from "../js/support/sqlite-bytes.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { inputsOf, servePage, serveSource } from "./support/test-page.mjs";

afterAll(cleanUp);

let browser;
let page;
let errors;

beforeAll(async () => {
  const { url } = await servePage("capabilities");
  browser = await startChromium();
  ({ page, errors } = await openTab(browser, url));
  await page.exposeFunction("runOver", (base64, statement) => {
    const { rows, bytes } = runOver(Buffer.from(base64, "base64"), statement);
    return { rows, bytes: bytes.toString("base64") };
  });
});

afterEach(() => expect(errors).toEqual([]));

testCapabilities("Chromium", (title) => page.evaluate((one) => globalThis.run(one), title));

test("every public name is documented", () => {
  const entries = ["index", "inspector", "react"];
  expect(undocumentedNames(entries.map((name) => `dist/${name}.d.ts`))).toEqual([]);
});

test("the guide says which backend keeps what it is given, and each does", async () => {
  const guide = readFileSync("docs/backends.md", "utf8");
  for (const [name, tried] of Object.entries(await page.evaluate(() => globalThis.tryEach()))) {
    expect([name, tried]).toEqual([name, expectedByGuide(guide, name)]);
  }
});

test("a database is in WAL mode", async () => {
  const { versions, logSize } = await page.evaluate(() => globalThis.journalOf("journal"));
  expect(versions).toEqual([2, 2]);
  expect(logSize).toBeGreaterThan(0);
});

const STORE_ONLY = `
  import { openMemory } from "keepsake";
  globalThis.remember = async () => {
    const { store } = await openMemory({ name: "alone" });
    await store.put(["n"], "k", { n: 1 });
    return (await store.get(["n"], "k")).value;
  };
`;

test("what only remembers loads no graph engine, and nothing else of ours", async () => {
  const inputs = await inputsOf(STORE_ONLY);
  expect(inputs.filter((file) => file.includes("@langchain/langgraph/"))).toEqual([]);
  expect(inputs.filter((file) => file.startsWith("dist/"))).toEqual(["dist/index.browser.js"]);
  const { url } = await serveSource(STORE_ONLY);
  const { page: alone } = await openTab(browser, url);
  expect(await alone.evaluate(() => globalThis.remember())).toEqual({ n: 1 });
});
