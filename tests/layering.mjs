// Checks that imports point down the layers, and that no files import each other in a
// circle: in js/src, through package.json's `imports` with all of their conditions, and in
// core/src. Run by ctest and by lint; tests/js/layering.test.mjs shows what it refuses.

import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

// From the top: a file imports from its own folder, or from layers below its own.
export const LAYERS = {
  "js/src": [
    [
      "index",
      "testing",
      "workerd",
      "edge-light",
      "slim",
      "cloudflare.ts",
      "sqlite.ts",
      "langchain.ts",
      "embed.ts",
      "bucket.ts",
      "bucket.workerd.ts",
      "bucket.edge-light.ts",
      "files.ts",
      "inspector.ts",
      "react.ts",
      "cli.ts",
    ],
    ["cli"],
    ["mcp"],
    ["cloudflare", "sqlite", "langchain", "embed", "bucket", "files", "inspector", "react"],
    ["prompt"],
    ["memory"],
    ["scope"],
    ["import"],
    ["cache"],
    ["checkpointer", "store"],
    ["transfer"],
    ["connection"],
    ["node", "browser", "edge"],
    ["engine"],
    ["wire", "wasm"],
    ["langgraph"],
    ["checks"],
    ["errors", "bytes", "text"],
  ],
  "core/src": [
    ["engine"],
    ["wire"],
    ["import", "transfer", "erasure", "audit", "sync"],
    ["scope"],
    ["store", "checkpoint"],
    ["text"],
    ["vectors"],
    ["sql", "json"],
    ["base"],
  ],
};
// One API in several entries, and errors whose parts know each other.
const ENTRIES = LAYERS["js/src"][0];

const JS_IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*["']([.#][^"']+)["']/g;
const CORE_INCLUDE = /^#include "([^"]+)"/gm;

/** What is wrong with these files, path → text; `aliases` are the `imports` of package.json. */
export function complaintsOf(files, aliases = {}) {
  const imports = new Map();
  for (const [path, text] of files) imports.set(path, importsOf(path, text, files, aliases));
  return [...upwardImports(imports), ...circles(unitsOf(imports))];
}

/** A header and its source know what either includes: two of them may depend on each other. */
function unitsOf(imports) {
  const units = new Map();
  for (const [path, targets] of imports) {
    const unit = unitOf(path);
    const others = targets.map(unitOf).filter((other) => other !== unit);
    units.set(unit, [...new Set([...(units.get(unit) ?? []), ...others])]);
  }
  return units;
}

function unitOf(path) {
  return path.replace(/\.(h|cc)$/, "");
}

function importsOf(path, text, files, aliases) {
  const isJs = path.startsWith("js/src/");
  const names = [...text.matchAll(isJs ? JS_IMPORT : CORE_INCLUDE)].map((match) => match[1]);
  const targets = names.flatMap((name) =>
    isJs ? resolveImport(path, name, aliases) : [`core/src/${name}`, `core/include/${name}`],
  );
  return [...new Set(targets)].filter((target) => files.has(target));
}

function resolveImport(path, name, aliases) {
  if (name.startsWith("#")) {
    return allPaths(aliases[name] ?? {}).map((target) => posix.normalize(target));
  }
  return [posix.join(posix.dirname(path), name).replace(/\.js$/, ".ts")];
}

function allPaths(target) {
  return typeof target === "string" ? [target] : Object.values(target).flatMap(allPaths);
}

function* upwardImports(imports) {
  for (const [path, targets] of imports) {
    const from = placeOf(path);
    if (from === undefined) continue;
    if (from.layer < 0) yield `${path} is in no layer`;
    for (const target of targets) {
      const to = placeOf(target);
      if (to === undefined || to.layer < 0 || to.folder === from.folder) continue;
      if (to.layer <= from.layer) yield `${path} imports upwards: ${target}`;
    }
  }
}

/** The folder of a file, and how far from the top it is; -1 if nobody has said. */
function placeOf(path) {
  const [tree, layers] = Object.entries(LAYERS).find(([root]) => path.startsWith(`${root}/`)) ?? [];
  if (tree === undefined) return undefined;
  const [first] = path.slice(tree.length + 1).split("/");
  const names = [first, first.replace(/\.ts$/, "")];
  const layer = layers.findIndex((layer) => names.some((name) => layer.includes(name)));
  // A file beside the folders is a folder of its own, but that entries are one.
  return { folder: layers[layer] === ENTRIES ? "entries" : `${tree}/${names[1]}`, layer };
}

/** One circle for each file that is in one and was not named yet. */
function* circles(imports) {
  const done = new Set();
  const trail = [];
  function* visit(path) {
    if (done.has(path)) return;
    const at = trail.indexOf(path);
    if (at >= 0) {
      yield `a circle of imports: ${[...trail.slice(at), path].join(" -> ")}`;
      return;
    }
    trail.push(path);
    for (const target of imports.get(path)) yield* visit(target);
    trail.pop();
    done.add(path);
  }
  for (const path of imports.keys()) yield* visit(path);
}

/** The sources of a checkout, and the `imports` of its package.json. */
function readTree(root) {
  const files = new Map();
  for (const folder of ["js/src", "core/src", "core/include"]) {
    for (const name of readdirSync(join(root, folder), { recursive: true })) {
      if (!/\.(ts|h|cc)$/.test(name)) continue;
      const path = posix.join(folder, name.replaceAll("\\", "/"));
      files.set(path, readFileSync(join(root, path), "utf8"));
    }
  }
  const { imports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return { files, imports };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { files, imports } = readTree(fileURLToPath(new URL("..", import.meta.url)));
  const complaints = complaintsOf(files, imports);
  for (const complaint of complaints) console.error(`layering: ${complaint}`);
  if (complaints.length === 0) console.log(`layering: ok, ${files.size} files`);
  process.exitCode = complaints.length > 0 ? 1 : 0;
}
