// How long the demo's page takes until the first answer of its memory, as it says itself.

import { servePage } from "../../demo/serve/serve.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";

const FIGURE = /^[\d,]+\sms$/;

let server;
let address;
let browser;
let tab;
let errors;

beforeAll(async () => {
  ({ server, address } = await servePage({ port: 0, bucket: false }));
  browser = await startChromium();
  ({ page: tab, errors } = await open());
});

afterAll(async () => {
  await cleanUp();
  server.closeAllConnections();
  server.close();
});

async function open() {
  const opened = await openTab(browser, address);
  opened.page.setDefaultTimeout(60_000);
  return opened;
}

async function parts(page) {
  await page.getByRole("button", { name: "See its parts" }).click();
  const shown = await page.locator("#start-steps dt, #start-steps .took").allTextContents();
  await page.getByRole("button", { name: "Close" }).click();
  return shown;
}

test("the bar says how long the first answer took, and its parts add up to it", async () => {
  await tab.locator("#fact-start", { hasText: FIGURE }).waitFor();
  expect(await parts(tab)).toEqual(
    ["Page", "Script", "Module", "Database", "First answer"].flatMap((name) => [
      name,
      expect.stringMatching(FIGURE),
    ]),
  );
  const texts = await tab.locator("#fact-start, #start-steps .took").allTextContents();
  const [total, ...took] = texts.map((text) => Number(text.replace(/\D/g, "")));
  // Each figure is rounded.
  expect(Math.abs(total - took.reduce((sum, one) => sum + one))).toBeLessThanOrEqual(3);
});

test("what was cold is told: the files, or all but them after a reload", async () => {
  const told = tab.locator("#start-total");
  expect(await told.textContent()).toContain("The files came from the server; worker, module");
  await tab.evaluate(() => navigator.serviceWorker.ready);
  await tab.reload();
  expect(await parts(tab)).toContain("Module");
  expect(await told.textContent()).toContain("This browser had the files; worker, module");
});

test("a tab that follows another needs no module, also when it takes over later", async () => {
  const { page, errors: ofSecond } = await open();
  const [first] = await parts(page);
  expect(first).toBe("Page");
  expect(await parts(page)).not.toContain("Module");
  const told = await page.locator("#start-total").textContent();
  expect(told).toContain("another tab had the database open");
  await tab.close();
  await page.locator("#fact-role", { hasText: "Owner" }).waitFor();
  expect(await parts(page)).not.toContain("Module");
  expect([...errors, ...ofSecond]).toEqual([]);
});
