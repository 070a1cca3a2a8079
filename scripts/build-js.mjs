// Builds the package into dist: ESM and CommonJS bundles with their declarations, and
// beside them the wasm module and its glue. Needs build/wasm, which CMake makes.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const entryPoints = ["js/src/index.ts", "js/src/testing.ts"];

const common = {
  absWorkingDir: root,
  entryPoints,
  outdir: "dist",
  bundle: true,
  platform: "node",
  target: "node20",
  packages: "external",
  sourcemap: true,
  // Errors and toJSON() name the class.
  keepNames: true,
  logLevel: "warning",
};

// The glue stays a file of its own, as emcc wrote it.
const externalGlue = {
  name: "external-glue",
  setup({ onResolve }) {
    onResolve({ filter: /^#glue$/ }, () => ({ path: "./keepsake.mjs", external: true }));
  },
};

function buildEsm() {
  return build({
    ...common,
    format: "esm",
    splitting: true,
    chunkNames: "chunk-[hash]",
    plugins: [externalGlue],
  });
}

// CommonJS can't import the glue, so it is bundled in.
function buildCommonJs() {
  return build({
    ...common,
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    banner: { js: 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
    define: { "import.meta.url": "importMetaUrl" },
  });
}

function buildDeclarations() {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
    cwd: root,
    stdio: "inherit",
  });
  const reachable = new Set();
  for (const entry of ["index.d.ts", "testing.d.ts"]) collectImports(join(dist, entry), reachable);
  for (const file of readdirSync(dist, { recursive: true })) {
    const path = join(dist, file);
    if (reachable.has(path)) writeCommonJsDeclaration(path);
    else if (path.endsWith(".d.ts")) rmSync(path);
  }
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

function copyWasm() {
  for (const file of ["keepsake.wasm", "keepsake.mjs"])
    cpSync(join(root, "build/wasm", file), join(dist, file));
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
copyWasm();
buildDeclarations();
await Promise.all([buildEsm(), buildCommonJs()]);
