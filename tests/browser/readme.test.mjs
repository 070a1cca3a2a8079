// Every browser snippet of the README runs as it stands, in a page.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { serveSource } from "./support/test-page.mjs";

const readme = readFileSync(join(process.cwd(), "README.md"), "utf8");
const snippets = [...readme.matchAll(/```js browser\n(.*?)```/gs)].map((match) => match[1]);

afterAll(cleanUp);

test("the README has browser snippets", () => expect(snippets.length).toBeGreaterThanOrEqual(2));

test.each(snippets.map((code, i) => [i + 1, code]))("browser snippet %d runs", async (_i, code) => {
  const { url } = await serveSource(`${code}\nglobalThis.isDone = true;`);
  const browser = await startChromium();
  const { page, errors } = await openTab(browser, url);
  await page.waitForFunction(() => globalThis.isDone, undefined, { timeout: 30_000 });
  expect(errors).toEqual([]);
});
