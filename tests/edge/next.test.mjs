// The packed tarball in the routes of a Next.js app, as built and served by Next itself.

import { fileURLToPath } from "node:url";
import { buildWithNext, stopServers } from "../browser/support/apps.mjs";
import { removeTemporaryFolders, temporaryFile } from "../js/support/temporary.mjs";

let url;

beforeAll(async () => {
  process.env.MEMORY_PATH = temporaryFile();
  ({ url } = await buildWithNext(fileURLToPath(new URL("next", import.meta.url))));
});

afterAll(async () => {
  delete process.env.MEMORY_PATH;
  await stopServers();
  removeTemporaryFolders();
});

async function ask(path) {
  const response = await fetch(new URL(path, url));
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text);
}

test("an edge route has both tiers in memory, and interrupt() works after an await", async () => {
  expect(await ask("edge?thread=1")).toEqual(["what?", ["this"], "this", "unsupported"]);
  expect(await ask("edge?thread=2")).toEqual(["what?", ["this"], "this", "unsupported"]);
});

test("a Node route keeps a file", async () => {
  expect(await ask("node")).toEqual(["file", 1]);
  expect(await ask("node")).toEqual(["file", 2]);
});
