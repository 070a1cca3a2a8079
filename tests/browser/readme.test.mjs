// Every browser snippet of README.md and docs/ runs as it stands, in a page.

import { snippetsOf } from "../js/support/documentation.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { serveSource } from "./support/test-page.mjs";

const snippets = snippetsOf("js browser").map(({ code }) => code);

let browser;

beforeAll(async () => {
  browser = await startChromium();
});

afterAll(cleanUp);

test("there are browser snippets", () => expect(snippets.length).toBeGreaterThanOrEqual(2));

test.each(snippets.map((code, i) => [i + 1, code]))("browser snippet %d runs", async (_i, code) => {
  const { url } = await serveSource(`${code}\nglobalThis.isDone = true;`);
  const { page, errors } = await openTab(browser, url);
  await page.waitForFunction(() => globalThis.isDone, undefined, { timeout: 30_000 });
  expect(errors).toEqual([]);
});
