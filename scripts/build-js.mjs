// Builds the package into dist: ESM and CommonJS bundles for Node with their
// declarations, and beside them the wasm module, its glue, and its text for programs in one file;
// for browsers a module, its worker, and a module that needs no file but that text; for the edge
// modules over the lean wasm.
//
//   build-js.mjs <folder of the module> <folder of the lean module> <part>...
//
// A part is node, browser, edge or declarations; only edge needs the lean module.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const [modules, leanModules, ...parts] = process.argv.slice(2);
const entryPoints = ["js/src/index.ts", "js/src/testing.ts"];
const declaredEntries = [
  "index",
  "testing",
  "sqlite",
  "langchain",
  "embed",
  "bucket",
  "files",
  "inspector",
  "react",
  "bucket",
  "workerd",
  "edge-light",
  "cloudflare",
  "slim",
];
// They know no runtime, nor the engine.
const ADAPTERS = ["langchain", "embed", "bucket", "files", "inspector", "react"].map(
  (name) => `js/src/${name}.ts`,
);
const EDGE_ENTRIES = [
  "workerd",
  "cloudflare",
  "edge-light",
  "slim",
  "bucket.workerd",
  "bucket.edge-light",
];
// Over the lean module.
if (parts.includes("edge")) entryPoints.push("js/src/sqlite.ts");

// The glue of the module that is built, bundled in.
const bundledGlue = {
  name: "bundled-glue",
  setup({ onResolve, initialOptions }) {
    const folder = initialOptions.conditions?.includes("edge") ? leanModules : modules;
    onResolve({ filter: /^#glue$/ }, () => ({ path: join(root, folder, "keepsake.mjs") }));
    onResolve({ filter: /^#lean-glue$/ }, () => ({
      path: join(root, leanModules, "keepsake.mjs"),
    }));
    onResolve({ filter: /^#full-glue$/ }, () => ({ path: join(root, modules, "keepsake.mjs") }));
  },
};

// Loaded only by programs in one file, and part of what they are.
const textOfWasm = {
  name: "text-of-wasm",
  setup({ onResolve }) {
    onResolve({ filter: /^#embedded-wasm$/ }, () => ({
      path: "./embedded-wasm.js",
      external: true,
    }));
  },
};

const common = {
  absWorkingDir: root,
  outdir: "dist",
  plugins: [bundledGlue, textOfWasm],
  bundle: true,
  packages: "external",
  logLevel: "warning",
};

const forNode = {
  ...common,
  entryPoints,
  platform: "node",
  target: "node20",
  define: parts.includes("node")
    ? { FAST_WASM_BYTES: String(statSync(fastModule()).size), BUILD: JSON.stringify(buildOf()) }
    : {},
};

// What is built for one test has one module, for Node and for browsers.
function fastModule() {
  const fast = join(root, modules, "keepsake-fast.wasm");
  return existsSync(fast) ? fast : join(root, modules, "keepsake.wasm");
}

// The module, and how it is asked.
function buildOf() {
  const hash = createHash("sha256").update(readFileSync(fastModule()));
  return hash
    .update(readFileSync(join(root, "js/src/wire/layout.ts")))
    .digest("hex")
    .slice(0, 16);
}

const forBrowsers = {
  ...common,
  platform: "browser",
  target: "es2022",
  format: "esm",
  conditions: ["browser"],
  define: parts.includes("browser") ? { WASM_BUILD: JSON.stringify(hashOf("keepsake.wasm")) } : {},
};

// The glue stays a file of its own, as emcc wrote it.
const externalGlue = {
  name: "external-glue",
  setup({ onResolve }) {
    onResolve({ filter: /^#glue$/ }, () => ({ path: "./keepsake.mjs", external: true }));
    onResolve({ filter: /^#lean-glue$/ }, () => ({ path: "./keepsake-lean.mjs", external: true }));
  },
};

function hashOf(file) {
  const bytes = readFileSync(join(root, modules, file));
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}

function buildNode() {
  return Promise.all([buildEsm(), buildCommonJs()]);
}

function buildEsm() {
  return build({
    ...forNode,
    entryPoints: [...entryPoints, "js/src/cli.ts"],
    format: "esm",
    splitting: true,
    chunkNames: "chunk-[hash]",
    plugins: [externalGlue, textOfWasm],
  });
}

// CommonJS can't import the glue.
function buildCommonJs() {
  return build({
    ...forNode,
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    banner: { js: 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
    define: { ...forNode.define, "import.meta.url": "importMetaUrl" },
  });
}

// One file each for all runtimes, apart from the rest.
function buildAdapters() {
  const adapters = {
    ...common,
    packages: undefined,
    external: ["@langchain/*", "langchain", "react"],
    platform: "neutral",
    entryPoints: ADAPTERS,
  };
  const forms = { ".js": "esm", ".cjs": "cjs" };
  return Promise.all(
    Object.entries(forms).map(([extension, format]) =>
      build({ ...adapters, format, target: "es2022", outExtension: { ".js": extension } }),
    ),
  );
}

// The glue is in each of these files. The worker is one file, whatever loads it: no import
// of its own, no address to be guessed.
function buildBrowser() {
  const worker = { in: "js/src/browser/worker.ts", out: "worker" };
  const index = { in: "js/src/index.ts", out: "index.browser" };
  return Promise.all([build({ ...forBrowsers, entryPoints: [index, worker] }), buildInline()]);
}

// The same module with the worker in it, as a text, and an import of the wasm's.
async function buildInline() {
  const worker = await build({
    ...forBrowsers,
    entryPoints: ["js/src/browser/worker.ts"],
    minify: true,
    write: false,
  });
  await build({
    ...forBrowsers,
    entryPoints: [{ in: "js/src/index.ts", out: "inline" }],
    conditions: ["browser", "inline"],
    plugins: [bundledGlue, textOfWasm, textOfWorker(worker.outputFiles[0].text)],
  });
}

function writeTextOfWasm() {
  const bytes = readFileSync(join(root, modules, "keepsake.wasm"));
  const text = gzipSync(bytes, { level: 9 }).toString("base64");
  writeFileSync(join(dist, "embedded-wasm.js"), `export const wasm = "${text}";\n`);
}

// Runtimes whose bundlers know what to do with an import of a wasm file. What several
// entries need is in files of its own, so that an isolate has one wasm instance.
async function buildEdge() {
  for (const kind of ["wasm", "mjs"]) {
    cpSync(join(root, leanModules, `keepsake.${kind}`), join(dist, `keepsake-lean.${kind}`));
  }
  await build({
    ...common,
    entryPoints: EDGE_ENTRIES.map((name) => `js/src/${name}.ts`),
    conditions: ["edge"],
    platform: "neutral",
    target: "es2022",
    format: "esm",
    splitting: true,
    chunkNames: "edge-[hash]",
    plugins: [bundledGlue, externalWasm],
    external: ["node:*", "cloudflare:*"],
  });
}

const externalWasm = {
  name: "external-wasm",
  setup({ onResolve }) {
    onResolve({ filter: /keepsake(-lean)?\.wasm/ }, ({ path }) => ({
      path: `./${path.split("/").at(-1)}`,
      external: true,
    }));
  },
};

function textOfWorker(text) {
  const contents = `export const workerScript = ${JSON.stringify(text)};`;
  return {
    name: "text-of-worker",
    setup({ onResolve, onLoad }) {
      const filter = /^#embedded-worker$/;
      onResolve({ filter }, () => ({ path: "worker", namespace: "text" }));
      onLoad({ filter: /.*/, namespace: "text" }, () => ({ contents }));
    },
  };
}

function buildDeclarations() {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
    cwd: root,
    stdio: "inherit",
  });
  for (const file of readdirSync(dist, { recursive: true })) {
    if (file.endsWith(".d.ts")) nameHost(join(dist, file));
  }
  const reachable = new Set();
  for (const entry of declaredEntries) collectImports(join(dist, `${entry}.d.ts`), reachable);
  for (const file of readdirSync(dist, { recursive: true })) {
    const path = join(dist, file);
    if (reachable.has(path)) writeCommonJsDeclaration(path);
    else if (path.endsWith(".d.ts")) rmSync(path);
  }
}

// Which sources `#host` means is decided when a bundle is built; its types are the same.
function nameHost(file) {
  const host = relative(dirname(file), join(dist, "node/host.js"));
  const path = host.startsWith(".") ? host : `./${host}`;
  writeFileSync(file, readFileSync(file, "utf8").replaceAll('"#host"', `"${path}"`));
}

// What the public declarations name; the others describe what nobody can reach.
function collectImports(file, reachable) {
  if (reachable.has(file)) return;
  reachable.add(file);
  for (const [, path] of readFileSync(file, "utf8").matchAll(/["'](\.[^"']*)\.js["']/g)) {
    collectImports(join(dirname(file), `${path}.d.ts`), reachable);
  }
}

function writeCommonJsDeclaration(file) {
  const declaration = readFileSync(file, "utf8").replace(/(["'])(\.[^"']*)\.js\1/g, "$1$2.cjs$1");
  writeFileSync(file.replace(/\.ts$/, ".cts"), declaration);
}

const builds = {
  node: buildNode,
  browser: buildBrowser,
  edge: buildEdge,
  declarations: buildDeclarations,
};

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
for (const file of ["keepsake.wasm", "keepsake.mjs"])
  cpSync(join(root, modules, file), join(dist, file));
if (parts.includes("node")) cpSync(fastModule(), join(dist, "keepsake-fast.wasm"));
writeTextOfWasm();
await Promise.all([buildAdapters(), ...parts.map((part) => builds[part]())]);
