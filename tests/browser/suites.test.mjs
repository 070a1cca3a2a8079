// The official specification of a checkpointer, and the contract of a store, in a page.

import { storeContract } from "keepsake/testing";
import { SPECIFICATION_SIZE } from "../validation/specification-size.mjs";
import { closeBrowsers, openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

const backends = ["memory", "opfs", "indexeddb", "follower"];
let server;
let browser;

beforeAll(async () => {
  server = await servePage("suites");
});

beforeEach(async () => {
  browser = await startChromium();
});

afterEach(closeBrowsers);

afterAll(cleanUp);

async function openSuites() {
  const { page } = await openTab(browser, server.url);
  await page.waitForFunction(() => globalThis.isReady);
  return page;
}

async function openFor(backend) {
  if (backend === "follower") {
    const owner = await openSuites();
    await owner.evaluate(() => globalThis.holdDatabases());
  }
  return openSuites();
}

describe.each(backends)("%s", (backend) => {
  test("passes the whole specification", async () => {
    const page = await openFor(backend);
    const result = await page.evaluate((kind) => globalThis.runSpecification(kind), backend);
    expect(result).toEqual({ passed: SPECIFICATION_SIZE, total: SPECIFICATION_SIZE, failures: [] });
  });

  test("passes the whole contract", async () => {
    const page = await openFor(backend);
    const result = await page.evaluate((kind) => globalThis.runContract(kind), backend);
    const isPersistent = backend !== "memory";
    const cases = storeContract.filter(
      ({ needs }) => isPersistent || !needs.includes("persistence"),
    );
    expect(result).toEqual({ passed: cases.length, total: cases.length, failures: [] });
  });
});
