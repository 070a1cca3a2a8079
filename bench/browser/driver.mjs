// What the benchmarks in Chromium share: the page with its workers, and the peers, installed into
// `build/` by the first run.
import { spawnSync } from "node:child_process";
import { cp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { openTab, startChromium } from "../../tests/browser/support/chromium.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
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

/** `peers`: names of packages, with their versions. */
export function installPeers(peers) {
  const wanted = Object.entries(peers).map(([name, version]) => `${name}@${version}`);
  const options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  const args = ["install", "--prefix", peersFolder, ...options, ...wanted];
  const { status } = spawnSync("npm", args, { stdio: "inherit" });
  if (status !== 0) throw new Error("the peers could not be installed");
}

/** `scripts` of this folder, beside a page that runs the last one, and what `peers` load. */
export async function buildPages(folder, scripts, peers) {
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
  for (const name of Object.keys(peers)) await copyAssets(`${name}/dist`, folder);
  await writeFile(
    join(folder, "index.html"),
    `<script type="module" src="${scripts.at(-1)}.js"></script>`,
  );
}

async function copyAssets(path, folder) {
  const from = join(peerModules, path);
  for (const name of await readdir(from)) {
    if (/\.(wasm|data)$/.test(name)) await cp(join(from, name), join(folder, name));
  }
}

/** `measure`: a global of the page, which is there when it can be asked. */
export async function inBrowser(url, measure, body) {
  const browser = await startChromium();
  try {
    const { page } = await openTab(browser, url);
    await page.waitForFunction((name) => globalThis[name], measure);
    await body(page);
  } finally {
    await browser.close();
  }
}
