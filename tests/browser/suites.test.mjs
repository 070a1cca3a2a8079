// The official specification of a checkpointer, and the contract of a store, in a page.

import { testContract } from "../js/support/store-contract.mjs";
import { SPECIFICATION_SIZE } from "../validation/specification-size.mjs";
import { closeBrowsers, openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

const backends = ["memory", "opfs", "indexeddb", "follower"];
// On a busy machine; each case has a limit of its own.
const CONTRACT_MS = 900_000;
let server;

beforeAll(async () => {
  server = await servePage("suites");
});

afterAll(cleanUp);

async function openSuites(browser) {
  const { page } = await openTab(browser, server.url);
  await page.waitForFunction(() => globalThis.isReady);
  return page;
}

async function openFor(backend) {
  const browser = await startChromium();
  if (backend === "follower") {
    const owner = await openSuites(browser);
    await owner.evaluate(() => globalThis.holdDatabases());
  }
  return openSuites(browser);
}

describe.each(backends)("%s", (backend) => {
  let contract;

  beforeAll(async () => {
    const page = await openFor(backend);
    contract = await page.evaluate((kind) => globalThis.runContract(kind), backend);
  }, CONTRACT_MS);

  afterEach(closeBrowsers);

  testContract("Chromium", { isPersistent: backend !== "memory" }, () => contract);

  test("[cap 67] [cap 68] [cap 69] [cap 70] passes the whole specification (Chromium)", async () => {
    const page = await openFor(backend);
    const result = await page.evaluate((kind) => globalThis.runSpecification(kind), backend);
    expect(result).toMatchObject({
      passed: SPECIFICATION_SIZE,
      total: SPECIFICATION_SIZE,
      failures: [],
    });
  });
});
