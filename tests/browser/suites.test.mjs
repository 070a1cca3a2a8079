// The official specification of a checkpointer, and the contract of a store, in a page.

import { partOf } from "../js/support/effort.mjs";
import { testContract } from "../js/support/store-contract.mjs";
import { casesIn } from "../validation/specification-size.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

// What a follower is asked, the owner answers over its storage: a tenth shows the way there.
const backends = { memory: undefined, opfs: undefined, indexeddb: undefined, follower: partOf(3) };
// On a busy machine; each case has a limit of its own.
const CONTRACT_MS = 900_000;
let server;
let browser;

beforeAll(async () => {
  server = await servePage("suites");
  browser = await startChromium();
});

afterAll(cleanUp);

async function openSuites() {
  const { page } = await openTab(browser, server.url);
  await page.waitForFunction(() => globalThis.isReady);
  return page;
}

describe.each(Object.entries(backends))("%s", (backend, part) => {
  let contract;

  beforeAll(async () => {
    if (backend === "follower") {
      const owner = await openSuites();
      await owner.evaluate(() => globalThis.holdDatabases());
    }
    const page = await openSuites();
    contract = await page.evaluate(
      (given) => globalThis.runContract(...given),
      [backend, { part }],
    );
  }, CONTRACT_MS);

  afterAll(async () => {
    const [, ...pages] = browser.context.pages();
    await Promise.all(pages.map((page) => page.close()));
  });

  testContract("Chromium", { isPersistent: backend !== "memory", part }, () => contract);

  test("passes the official specification", async () => {
    const page = await openSuites();
    const result = await page.evaluate(
      (given) => globalThis.runSpecification(...given),
      [backend, part],
    );
    const total = casesIn(part);
    expect(result).toMatchObject({ passed: total, total, failures: [] });
  });
});
