// The packed tarball in the page and the routes of a Next.js app, as built and served by Next itself.

import { temporaryFile } from "../js/support/temporary.mjs";
import { buildWithNext, stopServers } from "./support/apps.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { expectToRemember } from "./support/visits.mjs";

let server;

beforeAll(async () => {
  process.env.MEMORY_PATH = temporaryFile();
  server = await buildWithNext();
});

afterAll(async () => {
  delete process.env.MEMORY_PATH;
  await stopServers();
  await cleanUp();
});

async function ask(path) {
  const response = await fetch(new URL(path, server.url));
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text);
}

test("a client component that is rendered on the server too remembers in the browser", async () => {
  await expectToRemember(await startChromium(), server);
});

test("an edge route has both tiers in memory, and interrupt() works after an await", async () => {
  expect(await ask("edge?thread=1")).toEqual(["what?", ["this"], "this", "unsupported"]);
  expect(await ask("edge?thread=2")).toEqual(["what?", ["this"], "this", "unsupported"]);
});

test("a Node route keeps a file", async () => {
  expect(await ask("node")).toEqual(["file", "file", 1]);
  expect(await ask("node")).toEqual(["file", "file", 2]);
});

test("server components, actions and keepsake/react work in one page", async () => {
  const { page, errors } = await openTab(await startChromium(), new URL("notes", server.url).href);
  await page.getByLabel("Note").fill("Ada drinks tea");
  await page.getByText("Save").click();
  await page.locator("#notes li", { hasText: "Ada drinks tea" }).waitFor();
  await page.locator("#add").click();
  await page.locator("#drafts li").waitFor();
  await page.reload();
  expect(await page.locator("#notes li").allTextContents()).toEqual(["Ada drinks tea"]);
  await page.locator("#drafts li").waitFor();
  expect(await page.locator("#drafts li").allTextContents()).toEqual(["a draft"]);
  expect(errors).toEqual([]);
});
