// The page's files, in memory: bundled by esbuild against the built package, in a folder
// whose name changes with their content, so that a browser may keep them for ever.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const page = fileURLToPath(new URL("../page/", import.meta.url));
const dist = fileURLToPath(new URL("../../dist/", import.meta.url));

const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

const common = {
  bundle: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  minify: true,
  write: false,
  logLevel: "warning",
};

// → Map of path → {body, type}
export async function buildPage() {
  const assets = await buildAssets();
  const version = fingerprint(assets);
  const files = new Map();
  const add = (path, body) => files.set(path, { body, type: TYPES[extname(path)] });
  for (const [name, body] of assets) add(`/${version}/${name}`, body);
  add("/index.html", await pageFor(version));
  const cached = ["/", ...[...files.keys()].filter((path) => path !== "/index.html")];
  add("/service-worker.js", await buildServiceWorker(version, cached));
  files.set("/", files.get("/index.html"));
  return files;
}

async function buildAssets() {
  const { outputFiles } = await build({
    ...common,
    entryPoints: ["main.mjs", "worker.mjs", "buckets.mjs", "style.css"].map((name) => page + name),
    outdir: page,
    // The conversation is read, and checked, as a text.
    loader: { ".json": "text" },
  });
  const bundled = outputFiles.map(({ path, contents }) => [basename(path), contents]);
  const copied = [`${dist}keepsake.wasm`, `${page}icon.svg`].map(async (path) => [
    basename(path),
    await readFile(path),
  ]);
  return [...bundled, ...(await Promise.all(copied))];
}

function fingerprint(assets) {
  const hash = createHash("sha256");
  for (const [name, body] of assets) hash.update(name).update(body);
  return `v-${hash.digest("hex").slice(0, 12)}`;
}

async function pageFor(version) {
  const template = await readFile(`${page}index.html`, "utf8");
  return Buffer.from(template.replaceAll("%VERSION%", version));
}

async function buildServiceWorker(version, cached) {
  const { outputFiles } = await build({
    ...common,
    entryPoints: [`${page}service-worker.mjs`],
    define: { VERSION: JSON.stringify(version), FILES: JSON.stringify(cached) },
  });
  return outputFiles[0].contents;
}
