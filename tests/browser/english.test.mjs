// keepsake-english in pages: every bundler finds its table, and no page waits for it.

import {
  buildWithVite,
  buildWithWebpack,
  bundleWithEsbuild,
  copyAssets,
  serveBundle,
  serveWithVite,
  stopServers,
  withModule,
} from "./support/apps.mjs";
import { startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { closeServers } from "./support/static-server.mjs";
import { openApp, visit } from "./support/visits.mjs";

let browser;

beforeAll(async () => {
  browser = await startChromium();
});

afterEach(async () => {
  await stopServers();
  closeServers();
});

afterAll(cleanUp);

test.each([
  ["vite: the development server", () => serveWithVite("vite")],
  ["vite: a build", () => buildWithVite("vite")],
  ["webpack", () => buildWithWebpack()],
  [
    "esbuild, as one file",
    () => {
      const folder = bundleWithEsbuild();
      copyAssets(folder, "worker.js", "keepsake.wasm");
      return serveBundle(folder);
    },
  ],
])("%s", async (name, make) => {
  const { page, errors } = await openApp(browser, await withModule("english.js", make));
  const { before, first, ...times } = await visit(page);
  if (process.env.KEEPSAKE_LONG) console.log(name, times);
  // In one file the table may be there with the page.
  expect([undefined, "dog"]).toContain(before[0]);
  expect(first).toBe("dog");
  expect(errors).toEqual([]);
});
