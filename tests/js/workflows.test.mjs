// What continuous integration names is there: a workflow is only run elsewhere.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./support/installed-package.mjs";

const folder = join(projectRoot, ".github/workflows");
const workflows = readdirSync(folder).map((name) => [
  name,
  readFileSync(join(folder, name), "utf8"),
]);
const { scripts } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"));

const all = (text, pattern) => [...text.matchAll(pattern)].map(([, found]) => found);

test("there are a workflow for each change and one for releases", () => {
  expect(workflows.map(([name]) => name).sort()).toEqual(["ci.yml", "release.yml"]);
});

test.each(workflows)("%s names tests, scripts and programs that are there", (_name, text) => {
  const paths = all(text, /(?<=\s)((?:tests|\.ci|scripts)\/[\w./-]+)/g);
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([]);
  const named = all(text, /npm run (\w+)/g);
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

test.each(workflows)("%s takes actions by their commit, and may only read", (_name, text) => {
  const used = all(text, /uses: (.+)/g);
  expect(used.filter((action) => !/^actions\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/.test(action))).toEqual(
    [],
  );
  expect(used.length).toBeGreaterThan(0);
  expect(text).toMatch(/^permissions:\n {2}contents: read\n/m);
});

test("the Node of package.json and the systems that are promised are in the matrix", () => {
  const [, text] = workflows.find(([name]) => name === "ci.yml");
  expect(text).toContain("node: [20, 22, 24]");
  expect(text).toMatch(/os: \[ubuntu-[\d.]+, macos-\d+, windows-\d+\]/);
});

test("a link of SECURITY.md leads somewhere", () => {
  const text = readFileSync(join(projectRoot, "SECURITY.md"), "utf8");
  const links = all(text, /\]\(([^)]+)\)/g);
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((link) => !existsSync(join(projectRoot, link)))).toEqual([]);
});
