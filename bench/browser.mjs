// Databases in one real Chromium, each in a worker as it is meant to run, in turns: our
// engine over OPFS and over IndexedDB, and what else a page could use.

import { openTab } from "../tests/browser/support/chromium.mjs";
import { closeServers, serveFolder } from "../tests/browser/support/static-server.mjs";
import { buildPages, inBrowser, installPeers } from "./browser/driver.mjs";
import { comparisonTable, inFolder, introduce, keepBest, progress, quick, table } from "./lib.mjs";

const ROUNDS = quick ? 2 : 5;
const COUNTS = quick
  ? { inserts: 300, batch: 2000, large: 200, reads: 1000 }
  : { inserts: 2000, batch: 10_000, large: 1000, reads: 10_000 };
const PAGE_CALLS = quick ? 200 : 1000;
const OPENINGS = quick ? 5 : 25;
const RELOADS = quick ? 3 : 9;
const TURNS = quick ? 10 : 40;

const CODE_IS_CACHED_AFTER_MS = 3000;
// As a site serves its files; what the browser keeps compiled, it keeps with such a file.
const HEADERS = { "cache-control": "max-age=3600" };

const PEERS = {
  "@sqlite.org/sqlite-wasm": "3.54.1-build1",
  "@journeyapps/wa-sqlite": "2.0.6",
  "@electric-sql/pglite": "0.5.16",
};

const SCRIPTS = ["keepsake", "sqlite-wasm", "wa-sqlite", "pglite", "indexeddb", "floor", "page"];
const BEST_PEER = "sqlite-wasm sahpool, tuned";
const candidates = [
  { name: "keepsake, OPFS", script: "keepsake.js", peer: BEST_PEER },
  { name: "keepsake, IndexedDB", script: "keepsake.js?storage=indexeddb", peer: "raw IndexedDB" },
  { name: BEST_PEER, script: "sqlite-wasm.js?tuned" },
  { name: "sqlite-wasm sahpool", script: "sqlite-wasm.js" },
  { name: "wa-sqlite coop, tuned", script: "wa-sqlite.js?tuned" },
  { name: "wa-sqlite coop", script: "wa-sqlite.js" },
  { name: "PGlite, relaxed", script: "pglite.js?tuned" },
  { name: "PGlite", script: "pglite.js" },
  { name: "raw IndexedDB", script: "indexeddb.js" },
];

introduce(
  "In a browser",
  `In brackets: how many times as fast as ${BEST_PEER}, and for IndexedDB as IndexedDB by hand. ` +
    "Ours keeps items with namespace, times and TTL, and remembers each write for a retry; the " +
    "others keep a key and a text. Each runs in a worker of one Chromium, on a new profile per round.",
);
installPeers(PEERS);
await inFolder(async (folder) => {
  await buildPages(folder, SCRIPTS, PEERS);
  const { url } = await serveFolder(folder, { headers: HEADERS });
  console.log(`${comparisonTable(candidates, await compareInBrowser(url))}\n`);
  console.log(`### What a page feels\n\n${await pageTable(url)}\n`);
  console.log(`### Until a page has a database\n\n${await openingTable(url)}\n`);
  console.log(`### What the browser takes by itself\n\n${await floorTable(url)}\n`);
});
closeServers();

async function compareInBrowser(url) {
  const results = new Map(candidates.map(({ name }) => [name, { timings: {} }]));
  for (let round = 0; round < ROUNDS; round++) {
    await inBrowser(url, "measureSupersteps", async (page) => {
      for (let i = 0; i < candidates.length; i++) {
        const { name, script } = candidates[(i + round) % candidates.length];
        const parameters = [script, `bench-${i}`, COUNTS];
        progress(`round ${round + 1} of ${ROUNDS}: ${name}`);
        const timings = await page
          .evaluate((all) => globalThis.measure(...all), parameters)
          .catch((error) => failed(name, error));
        keepBest(results.get(name).timings, timings);
      }
    });
  }
  progress("");
  return results;
}

async function pageTable(url) {
  const rows = [];
  await inBrowser(url, "measureSupersteps", async (page) => {
    for (const storage of ["opfs", "indexeddb"]) {
      rows.push([
        `one call, median, ${storage}`,
        ...(await callsOf(page, `page-${storage}`, storage)),
      ]);
    }
    const owner = await openTab({ context: page.context() }, url);
    await owner.page.waitForFunction(() => globalThis.holdMemory);
    await owner.page.evaluate((all) => globalThis.holdMemory(...all), ["shared", "opfs"]);
    rows.push([
      "one call of another tab, median, opfs",
      ...(await callsOf(page, "shared", "opfs")),
    ]);
    await owner.page.close();
    for (const [name, storage] of [
      ["official MemorySaver, nothing kept", undefined],
      ["our SqliteSaver, OPFS", "opfs"],
      ["our SqliteSaver, IndexedDB", "indexeddb"],
    ]) {
      const { count, ms } = await page.evaluate(
        (all) => globalThis.measureSupersteps(...all),
        [`steps-${storage}`, storage, TURNS],
      );
      rows.push([`supersteps: ${name}`, `${Math.round((1000 * count) / ms)}/s`, "", ""]);
    }
  });
  return table(["", "put", "get", "search"], rows);
}

// Raw messages, one write of as many bytes as a put, and the same handles: no program of ours.
async function floorTable(url) {
  let rows;
  await inBrowser(url, "measureSupersteps", async (page) => {
    const parameters = [PAGE_CALLS, OPENINGS];
    const floor = await page.evaluate((all) => globalThis.measureFloor(...all), parameters);
    const owner = await openTab({ context: page.context() }, url);
    await owner.page.waitForFunction(() => globalThis.holdFloor);
    await owner.page.evaluate(() => globalThis.holdFloor());
    const follower = await page.evaluate(
      (count) => globalThis.measureFollowersFloor(count),
      PAGE_CALLS,
    );
    rows = [
      ["a message to a worker and back", floor.way, "any call"],
      ["and one write of 12 KB to OPFS there", floor.write, "a put"],
      ["both from another tab", follower, "a follower's put"],
      ["a worker, and handles of three new files", floor.fresh, "the first of all"],
      ["a worker, and handles of three files", floor.again, "the first after a reload"],
    ].map(([work, ms, of]) => [work, milliseconds(ms), of]);
  });
  return table(["", "median", "is part of"], rows);
}

// From openMemory() until it answers. The first of a page also starts a worker, and loads and
// compiles the module; after a reload the browser has that compiled. The next ones get the worker
// of the last one.
async function openingTable(url) {
  const rows = [];
  const header = ["", "the first of all", "the first after a reload", "another, new", "again"];
  for (const storage of ["opfs", "indexeddb"]) {
    await inBrowser(url, "measureOpening", async (page) => {
      const first = await openOnce(page, storage);
      const reloaded = [];
      for (let i = 0; i < RELOADS; i++) {
        await page.waitForTimeout(CODE_IS_CACHED_AFTER_MS);
        await page.reload();
        await page.waitForFunction(() => globalThis.measureOpening);
        reloaded.push(await openOnce(page, storage));
      }
      const { fresh, again } = await page.evaluate(
        (all) => globalThis.measureOpening(...all),
        [storage, OPENINGS],
      );
      const reload = reloaded.sort((a, b) => a - b)[RELOADS >> 1];
      rows.push([storage, ...[first, reload, fresh, again].map(milliseconds)]);
    });
  }
  return table(header, rows);
}

function openOnce(page, storage) {
  return page.evaluate((all) => globalThis.openAndClose(...all), ["opening", storage]);
}

async function callsOf(page, ...memory) {
  const parameters = [...memory, PAGE_CALLS];
  const medians = await page.evaluate((all) => globalThis.measurePage(...all), parameters);
  return Object.values(medians).map(milliseconds);
}

// The others go on; its column stays empty.
function failed(name, error) {
  console.log(`- ${name} failed: ${error.message.split("\n")[0]}`);
  return {};
}

function milliseconds(ms) {
  return `${ms.toFixed(2)} ms`;
}
