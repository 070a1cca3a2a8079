// Databases in one real Chromium, each in a worker as it is meant to run, in turns: our
// engine over OPFS and over IndexedDB, and what else a page could use.
import { spawnSync } from "node:child_process";
import { cp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { openTab, startChromium } from "../tests/browser/support/chromium.mjs";
import { closeServers, serveFolder } from "../tests/browser/support/static-server.mjs";
import { comparisonTable, inFolder, introduce, keepBest, progress, quick, table } from "./lib.mjs";

const ROUNDS = quick ? 2 : 5;
const COUNTS = quick
  ? { inserts: 300, batch: 2000, large: 200, reads: 1000 }
  : { inserts: 2000, batch: 10_000, large: 1000, reads: 10_000 };
const PAGE_CALLS = quick ? 200 : 1000;
const TURNS = quick ? 10 : 40;

const PEERS = {
  "@sqlite.org/sqlite-wasm": "3.54.1-build1",
  "@journeyapps/wa-sqlite": "2.0.6",
  "@electric-sql/pglite": "0.5.16",
};

const root = fileURLToPath(new URL("..", import.meta.url));
const peersFolder = join(root, "build/bench-peers");
const peerModules = join(peersFolder, "node_modules");

// Modules of Node that a peer names and does not use in a browser.
const withoutNode = {
  name: "without-node",
  setup({ onResolve, onLoad }) {
    const filter = /^(node:.*|fs|fs\/promises|path|url|module|crypto)$/;
    onResolve({ filter }, ({ path }) => ({ path, namespace: "node" }));
    onLoad({ filter: /.*/, namespace: "node" }, () => ({ contents: "export default {};" }));
  },
};

const BEST_PEER = "sqlite-wasm sahpool, tuned";
const candidates = [
  { name: "**keepsake, OPFS**", script: "keepsake.js", peer: BEST_PEER },
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
installPeers();
await inFolder(async (folder) => {
  await buildPages(folder);
  const { url } = await serveFolder(folder);
  console.log(`${comparisonTable(candidates, await compareInBrowser(url))}\n`);
  console.log(`### What a page feels\n\n${await pageTable(url)}\n`);
});
closeServers();

function installPeers() {
  const wanted = Object.entries(PEERS).map(([name, version]) => `${name}@${version}`);
  const options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  const args = ["install", "--prefix", peersFolder, ...options, ...wanted];
  const { status } = spawnSync("npm", args, { stdio: "inherit" });
  if (status !== 0) throw new Error("the peers could not be installed");
}

async function buildPages(folder) {
  const scripts = ["keepsake", "sqlite-wasm", "wa-sqlite", "pglite", "indexeddb", "page"];
  await build({
    absWorkingDir: root,
    entryPoints: scripts.map((name) => `bench/browser/${name}.mjs`),
    outdir: folder,
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["browser"],
    nodePaths: [peerModules],
    plugins: [withoutNode],
    logLevel: "error",
  });
  for (const file of ["worker.js", "keepsake.wasm"])
    await cp(join(root, "dist", file), join(folder, file));
  await copyAssets("@sqlite.org/sqlite-wasm/dist", folder);
  await copyAssets("@journeyapps/wa-sqlite/dist", folder);
  await copyAssets("@electric-sql/pglite/dist", folder);
  await writeFile(join(folder, "index.html"), '<script type="module" src="page.js"></script>');
}

async function copyAssets(path, folder) {
  const from = join(peerModules, path);
  for (const name of await readdir(from)) {
    if (/\.(wasm|data)$/.test(name)) await cp(join(from, name), join(folder, name));
  }
}

async function compareInBrowser(url) {
  const results = new Map(candidates.map(({ name }) => [name, { timings: {} }]));
  for (let round = 0; round < ROUNDS; round++) {
    await inBrowser(url, async (page) => {
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
  await inBrowser(url, async (page) => {
    for (const storage of ["opfs", "indexeddb"]) {
      const medians = await page.evaluate(
        (all) => globalThis.measurePage(...all),
        [`page-${storage}`, storage, PAGE_CALLS],
      );
      rows.push([`one call, median, ${storage}`, ...Object.values(medians).map(milliseconds)]);
    }
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

async function inBrowser(url, body) {
  const browser = await startChromium();
  try {
    const { page } = await openTab(browser, url);
    await page.waitForFunction(() => globalThis.measureSupersteps);
    await body(page);
  } finally {
    await browser.close();
  }
}

// The others go on; its column stays empty.
function failed(name, error) {
  console.log(`- ${name} failed: ${error.message.split("\n")[0]}`);
  return {};
}

function milliseconds(ms) {
  return `${ms.toFixed(2)} ms`;
}
