// An app of tests/browser/apps in a browser, which counts its visits.

import { openTab } from "./chromium.mjs";

export async function openApp(browser, { url }) {
  const tab = await openTab(browser, url);
  await tab.page.waitForFunction(() => globalThis.visit);
  return tab;
}

export const visit = (page, options) => page.evaluate((given) => globalThis.visit(given), options);

/** The app remembers over a reload, and nothing is said on the console. */
export async function expectToRemember(browser, server, options) {
  const { page, errors } = await openApp(browser, server);
  expect(await visit(page, options)).toEqual({ visits: 1, persistence: "opfs" });
  await page.reload();
  await page.waitForFunction(() => globalThis.visit);
  expect(await visit(page, options)).toEqual({ visits: 2, persistence: "opfs" });
  expect(await page.evaluate(() => globalThis.useMemoryOnly())).toEqual({ n: 1 });
  expect(errors).toEqual([]);
}
