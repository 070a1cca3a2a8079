// A small app per bundler, with the packed tarball installed; each builder answers where
// the app is served.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { documentation } from "../../js/support/documentation.mjs";
import { isLong } from "../../js/support/effort.mjs";
import { installedFolder, projectRoot, run } from "../../js/support/installed-package.mjs";
import { temporaryFolder } from "../../js/support/temporary.mjs";
import { freePort, serveFolder } from "./static-server.mjs";

const sources = fileURLToPath(new URL("../apps", import.meta.url));
const modules = join(projectRoot, "node_modules");

function linkModule(folder, name) {
  const link = join(folder, "node_modules", name);
  mkdirSync(join(link, ".."), { recursive: true });
  symlinkSync(join(modules, name), link);
}

// The module of an app: what it does, or what it does with keepsake-english.
let module = "main.js";

/** Apps that are made meanwhile do what is in that file of tests/browser/apps. */
export async function withModule(file, make) {
  module = file;
  try {
    return await make();
  } finally {
    module = "main.js";
  }
}

/** A folder with the app's sources and its packages. */
export function newApp(...packages) {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, "package.json"),
    '{ "name": "app", "private": true, "type": "module" }',
  );
  cpSync(join(sources, module), join(folder, "main.js"));
  cpSync(join(sources, "index.html"), join(folder, "index.html"));
  for (const name of ["keepsake", "keepsake-english"]) {
    const installed = join(installedFolder(), "node_modules", name);
    if (existsSync(installed)) {
      cpSync(installed, join(folder, "node_modules", name), { recursive: true });
    }
  }
  const peers = ["core", "langgraph", "langgraph-checkpoint"].map((name) => `@langchain/${name}`);
  for (const name of [...peers, ...packages]) linkModule(folder, name);
  return folder;
}

/** Copies files of the package, as the README tells those whose bundler does not. */
export function copyAssets(folder, ...files) {
  for (const file of files)
    cpSync(join(installedFolder(), "node_modules/keepsake/dist", file), join(folder, file));
}

const vite = (name) => join(modules, name, "bin/vite.js");

export function buildWithVite(name) {
  const folder = newApp();
  run(process.execPath, [vite(name), "build", "--logLevel", "warn"], { cwd: folder });
  return serveFolder(join(folder, "dist"));
}

/** At a port of its own, so that no app finds what another one left at this address. */
export async function serveWithVite(name) {
  const port = String(await freePort());
  return startServer([vite(name), "--host", "127.0.0.1", "--port", port], newApp());
}

/** What it makes is minified in the long run only: that takes most of its time. */
export function buildWithWebpack() {
  const folder = newApp("webpack");
  const script = `
    import webpack from "webpack";
    // LangChain is larger than webpack likes.
    const performance = { hints: false };
    const optimization = { minimize: ${isLong} };
    webpack({ mode: "production", entry: "./main.js", performance, optimization }, (error, stats) => {
      if (error || stats.hasErrors() || stats.hasWarnings()) throw error ?? stats.toString();
    });`;
  runScript(folder, script);
  return serveBundle(join(folder, "dist"));
}

export function buildWithNext() {
  const folder = newApp("next", "react", "react-dom");
  cpSync(join(sources, "next"), join(folder, "app"), { recursive: true });
  // Only because the packages here are links to those of this project.
  const turbopack = { root: "/" };
  // As in webpack's app.
  const experimental = { turbopackMinify: isLong, turbopackSourceMaps: false };
  const configuration = JSON.stringify({ turbopack, experimental });
  writeFileSync(join(folder, "next.config.mjs"), `export default ${configuration};`);
  const next = join(modules, "next/dist/bin/next");
  const env = { NEXT_TELEMETRY_DISABLED: "1" };
  run(process.execPath, [next, "build"], { cwd: folder, env });
  return startServer([next, "start", "--hostname", "127.0.0.1", "--port", "0"], folder, env);
}

const bundles = new Map();

/** A folder with the bundle; `from` is what the app imports instead of keepsake. */
export function bundleWithEsbuild({ from = "keepsake", format = "esm" } = {}) {
  const kind = `${from} ${format}`;
  if (!bundles.has(kind)) bundles.set(kind, makeBundle(from, format));
  const copy = temporaryFolder();
  cpSync(bundles.get(kind), copy, { recursive: true });
  return copy;
}

function makeBundle(from, format) {
  const folder = newApp("esbuild");
  const script = `
    import { build } from "esbuild";
    await build({ entryPoints: ["main.js"], outfile: "dist/main.js", bundle: true,
      format: "${format}", logLevel: "error", alias: { keepsake: "${from}" } });`;
  runScript(folder, script);
  return withPage(join(folder, "dist"));
}

export function bundleWithRollup() {
  const folder = newApp("rollup", "@rollup/plugin-commonjs", "@rollup/plugin-node-resolve");
  const script = `
    import { rollup } from "rollup";
    import commonjs from "@rollup/plugin-commonjs";
    import { nodeResolve } from "@rollup/plugin-node-resolve";
    // Some of what LangChain needs is CommonJS.
    const plugins = [nodeResolve({ browser: true }), commonjs()];
    const bundle = await rollup({ input: "main.js", logLevel: "silent", plugins });
    await bundle.write({ dir: "dist", format: "es" });`;
  runScript(folder, script);
  return withPage(join(folder, "dist"));
}

/** No bundler: the sources themselves, and an import map to the package as it is. */
export function serveSources() {
  const folder = newApp("esbuild");
  const [, importMap] = /<script type="importmap">([^<]*)<\/script>/.exec(documentation);
  // LangChain's packages, as a CDN serves them: those that docs/browser.md names.
  const { imports } = JSON.parse(importMap);
  const peers = Object.keys(imports).filter((name) => name !== "keepsake");
  const entryPoints = peers.map((name) => ({ in: name, out: name }));
  runScript(
    folder,
    `import { build } from "esbuild";
    await build({ entryPoints: ${JSON.stringify(entryPoints)}, outdir: "vendor", bundle: true,
      splitting: true, format: "esm", platform: "browser", logLevel: "error" });`,
  );
  writeFileSync(
    join(folder, "index.html"),
    `<!doctype html><title>app</title>
<script type="importmap">${importMap}</script>
<script type="module" src="./main.js"></script>`,
  );
  return serveFolder(folder);
}

export function serveBundle(folder, options) {
  return serveFolder(withPage(folder), options);
}

function withPage(folder) {
  cpSync(join(sources, "index.html"), join(folder, "index.html"));
  return folder;
}

function runScript(folder, script) {
  writeFileSync(join(folder, "build.mjs"), script);
  run(process.execPath, ["build.mjs"], { cwd: folder });
}

const servers = new Set();

/** Starts a server that prints its address. */
async function startServer(args, cwd, env = {}) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  servers.add(child);
  child.ended = once(child, "exit");
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8");
  child.stderr.on("data", (text) => {
    printed += text;
  });
  for await (const text of child.stdout.iterator({ destroyOnReturn: false })) {
    printed += text;
    const [url] = /http:\/\/127\.0\.0\.1:\d+\/?/.exec(printed) ?? [];
    if (url !== undefined) {
      child.stdout.resume();
      return { url };
    }
  }
  throw new Error(`the server ended: ${printed}`);
}

export async function stopServers() {
  for (const child of servers) child.kill("SIGTERM");
  await Promise.all([...servers].map(({ ended }) => ended));
  servers.clear();
}
