// What CONTRIBUTING.md names is there: what was renamed must not stay in a recipe.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = process.cwd();
const text = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
const below = (folder) => readdirSync(join(root, folder), { recursive: true });
const files = [
  ...readdirSync(root),
  ...["core", "docs", "js", "scripts", "tests", "wasm"].flatMap((folder) =>
    below(folder).map((file) => `${folder}/${file}`),
  ),
];

// With its folder, or alone where it was named before.
test("each file", () => {
  const named = [...text.matchAll(/`([\w./-]+\.(?:cc|h|json|md|mjs|sh|ts|txt))`/g)];
  const missing = named
    .map(([, name]) => name)
    .filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)));
  expect(named.length).toBeGreaterThan(30);
  expect(missing).toEqual([]);
});

test("each function", () => {
  const sources = files
    .filter((file) => /^(core|js|scripts|tests)\/.*\.(cc|h|mjs|sh|ts)$/.test(file))
    .filter((file) => !file.endsWith(".test.mjs"))
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");
  const named = [...text.matchAll(/`(\w+)\(\)`/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(7);
  expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(sources))).toEqual([]);
});
