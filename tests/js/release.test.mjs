// What scripts/release-check.mjs refuses to publish.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { problemsOf, tarballProblems } from "../../scripts/release-check.mjs";
import { packProject, projectRoot, run } from "./support/installed-package.mjs";
import { removeTemporaryFolders, temporaryFolder } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"));
const golden = `tests/golden/files/${version}`;
const url = "git+https://github.com/somebody/keepsake.git";

/** A checkout that may be published, but for what `change` makes of its files. */
function checkout(change = () => {}) {
  const root = temporaryFolder();
  for (const path of ["package.json", "packages/english/package.json", "CHANGELOG.md", golden]) {
    cpSync(join(projectRoot, path), join(root, path), { recursive: true });
  }
  const edit = (path, of) => {
    const text = readFileSync(join(root, path), "utf8");
    writeFileSync(join(root, path), of(text));
  };
  const editJson = (path, of) =>
    edit(path, (text) => JSON.stringify({ ...JSON.parse(text), ...of(JSON.parse(text)) }));
  for (const path of ["package.json", "packages/english/package.json"]) {
    editJson(path, () => ({ repository: { type: "git", url } }));
  }
  edit("CHANGELOG.md", (text) => text.replace(/^## .*$/m, `## ${version} (2026-12-24)`));
  change({ edit, editJson });
  return root;
}

test("a checkout with all that it takes may be published", () => {
  const told = { tag: `v${version}`, repository: "somebody/keepsake" };
  expect(problemsOf(checkout(), told)).toEqual([]);
  expect(problemsOf(checkout())).toEqual([]);
});

test.each([
  ["another tag", /^the tag is v9\.9\.9, the version \d/, undefined, { tag: "v9.9.9" }],
  [
    "another repository",
    /^`repository\.url` of keepsake names somebody\/keepsake, and this is a\/fork$/,
    undefined,
    { repository: "a/fork" },
  ],
  [
    "a repository that nobody filled in",
    /^`repository\.url` of keepsake is ".*OWNER.*": fill in /,
    ({ editJson }) =>
      editJson("package.json", () => ({ repository: { url: url.replace("somebody", "OWNER") } })),
  ],
  [
    "a changelog without a day",
    /^CHANGELOG\.md begins with "## .* \(unreleased\)"/,
    ({ edit }) => edit("CHANGELOG.md", (text) => text.replace("2026-12-24", "unreleased")),
  ],
  [
    "a changelog that begins with a section before",
    /^CHANGELOG\.md begins with "## 0\.0\.1 \(2026-12-24\)"/,
    ({ edit }) => edit("CHANGELOG.md", (text) => text.replace(`## ${version}`, "## 0.0.1")),
  ],
  [
    "another version of keepsake-english",
    /^keepsake-english is 0\.0\.1, not /,
    ({ editJson }) => editJson("packages/english/package.json", () => ({ version: "0.0.1" })),
  ],
  [
    "a keepsake-english that asks for another version",
    /^keepsake-english asks for keepsake \^0\.0\.1, not /,
    ({ editJson }) =>
      editJson("packages/english/package.json", () => ({
        peerDependencies: { keepsake: "^0.0.1" },
      })),
  ],
  [
    "a golden file that was changed",
    /answers\.json is not what was made for it$/,
    ({ edit }) => edit(`${golden}/answers.json`, (text) => `${text} `),
  ],
])("%s is refused", (_, message, change, told = {}) => {
  const problems = problemsOf(checkout(change), told);
  expect(problems.length).toBeGreaterThan(0);
  for (const problem of problems.slice(0, 1)) expect(problem).toMatch(message);
});

test("a version without golden files is refused, with the command that makes them", () => {
  const root = checkout(({ editJson }) => editJson("package.json", () => ({ version: "9.9.9" })));
  expect(problemsOf(root)).toContain(
    "9.9.9 has no files in tests/golden/files: node scripts/make-golden-file.mjs",
  );
});

test("this checkout is refused as long as nobody says whose it is", () => {
  const check = () => run(process.execPath, [join(projectRoot, "scripts/release-check.mjs")]);
  const { repository } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"));
  if (repository.url.includes("OWNER")) expect(check).toThrow(/fill in "git\+https:/);
});

describe("a tarball", () => {
  const { tarball } = packProject();
  const folder = temporaryFolder();
  run("tar", ["-xzf", tarball, "-C", folder]);
  const manifest = join(folder, "package/package.json");
  const plain = JSON.parse(readFileSync(manifest, "utf8"));

  function packed(change) {
    const made = { ...plain, repository: { type: "git", url } };
    change(made);
    writeFileSync(manifest, JSON.stringify(made));
    const path = join(temporaryFolder(), "keepsake.tgz");
    run("tar", ["-czf", path, "-C", folder, ...tarFiles()]);
    return path;
  }
  const tarFiles = () =>
    run("find", ["package", "-type", "f"], { cwd: folder }).trim().split("\n").sort();

  test("is right as it is packed", () => {
    expect(
      tarballProblems(
        packed(() => {}),
        version,
      ),
    ).toEqual([]);
  });

  test("is refused with anything else in it, or less, or what would run", () => {
    const wrong = packed((made) => {
      made.version = "9.9.9";
      made.dependencies = { lodash: "^4" };
      made.scripts = { ...made.scripts, postinstall: "node evil.js" };
      made.exports = { ...made.exports, "./missing": "./dist/missing.js" };
      mkdirSync(join(folder, "package/node_modules"));
      writeFileSync(join(folder, "package/node_modules/evil.js"), "", { mode: 0o600 });
    });
    expect(tarballProblems(wrong, version)).toEqual([
      `keepsake: the tarball is of 9.9.9, not ${version}`,
      "keepsake: files have odd modes, which another build has not: -rw-------",
      "keepsake: the tarball has what it must not: node_modules/evil.js",
      "keepsake: the tarball lacks dist/missing.js",
      "keepsake: it has dependencies, and its README says that it has none",
      "keepsake: installing it would run postinstall",
    ]);
  });
});
