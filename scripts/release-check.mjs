// What must be true before anything is published. Prints each thing that is not, and fails.
//
//   release-check.mjs                    of what is checked out, as `npm publish` asks
//   release-check.mjs v1.2.3             and of that tag
//   release-check.mjs v1.2.3 *.tgz       and of these tarballs
//
// Where it runs on GitHub, the package has to name that repository, which npm's provenance compares.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MOST_BYTES = { keepsake: 4.3e6, "keepsake-english": 6e6 };

/** The files that a tarball may have. */
export const ALLOWED = {
  keepsake:
    /^(dist\/.*\.(js|cjs|mjs|wasm|d\.ts|d\.cts)|dist\/sbom\.cdx\.json|docs\/[\w-]+\.md|docs\/pictures\/[\w-]+\.(svg|webp)|LICENSE|THIRD_PARTY_NOTICES\.md|README\.md|package\.json)$/,
  "keepsake-english":
    /^(dist\/(index\.(js|cjs|d\.ts|d\.cts)|table\.js)|make\.js|LICENSE(-APACHE-2\.0)?|THIRD_PARTY_NOTICES\.md|README\.md|package\.json)$/,
};

/** All that keeps this checkout from being published, in sentences. */
export function problemsOf(root, { tag, repository } = {}) {
  const read = (path) => readFileSync(join(root, path), "utf8");
  const manifest = JSON.parse(read("package.json"));
  const english = JSON.parse(read("packages/english/package.json"));
  const { version } = manifest;
  const problems = [];
  const must = (holds, sentence) => holds || problems.push(sentence);

  must(tag === undefined || tag === `v${version}`, `the tag is ${tag}, the version ${version}`);
  must(english.version === version, `keepsake-english is ${english.version}, not ${version}`);
  must(
    english.peerDependencies.keepsake === `^${version}`,
    `keepsake-english asks for keepsake ${english.peerDependencies.keepsake}, not ^${version}`,
  );
  for (const one of [manifest, english]) problems.push(...repositoryProblems(one, repository));

  const [, heading] = /^## (.+)$/m.exec(read("CHANGELOG.md")) ?? [];
  const dated = /^(\S+) \((\d{4}-\d{2}-\d{2})\)$/.exec(heading ?? "");
  must(
    dated?.[1] === version && !Number.isNaN(Date.parse(dated[2])),
    `CHANGELOG.md begins with "## ${heading}": it is "## ${version} (YYYY-MM-DD)", the day of the release`,
  );
  problems.push(...goldenProblems(join(root, "tests/golden/files", version), version));
  return problems;
}

// Until somebody fills it in, the owner is OWNER. npm makes `bugs` and `homepage` of it.
function repositoryProblems({ name, repository }, wanted) {
  const url = repository?.url;
  const [, named] = /^git\+https:\/\/github\.com\/([\w-]+\/[\w.-]+)\.git$/.exec(url ?? "") ?? [];
  if (named === undefined || named.startsWith("OWNER/")) {
    const form = '"git+https://github.com/<owner>/<name>.git"';
    return [`\`repository.url\` of ${name} is "${url}": fill in ${form}`];
  }
  if (wanted === undefined || named === wanted) return [];
  return [`\`repository.url\` of ${name} names ${named}, and this is ${wanted}`];
}

function goldenProblems(folder, version) {
  if (!existsSync(join(folder, "SHA256SUMS"))) {
    return [`${version} has no files in tests/golden/files: node scripts/make-golden-file.mjs`];
  }
  return readFileSync(join(folder, "SHA256SUMS"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split("  "))
    .filter(([sum, name]) => sum !== sumOf(join(folder, name)))
    .map(([, name]) => `tests/golden/files/${version}/${name} is not what was made for it`);
}

const sumOf = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** All that is wrong with a tarball of this version. */
export function tarballProblems(path, version) {
  const tar = (...words) => execFileSync("tar", words, { encoding: "utf8", maxBuffer: 64 << 20 });
  const manifest = JSON.parse(tar("-xzOf", path, "package/package.json"));
  const { name } = manifest;
  const problems = [];
  const must = (holds, sentence) => holds || problems.push(`${name}: ${sentence}`);
  if (!ALLOWED[name]) return [`${path} is of ${name}, which is not published from here`];

  must(manifest.version === version, `the tarball is of ${manifest.version}, not ${version}`);
  const lines = tar("-tvzf", path).trim().split("\n");
  const files = lines.map((line) => line.split(" package/")[1]);
  must(
    lines.every((line) => line.startsWith("-")),
    "there are links or folders in the tarball",
  );
  const modes = new Set(lines.map((line) => line.slice(0, 10)));
  for (const usual of ["-rw-r--r--", "-rwxr-xr-x"]) modes.delete(usual);
  must(modes.size === 0, `files have odd modes, which another build has not: ${[...modes]}`);
  const others = files.filter((file) => !ALLOWED[name].test(file));
  must(others.length === 0, `the tarball has what it must not: ${others.join(", ")}`);
  const named = [...namedFiles(manifest), "LICENSE", "README.md", "THIRD_PARTY_NOTICES.md"];
  const missing = named.filter((file) => !files.includes(file));
  must(missing.length === 0, `the tarball lacks ${missing.join(", ")}`);
  must(
    Object.keys(manifest.dependencies ?? {}).length === 0,
    "it has dependencies, and its README says that it has none",
  );
  const run = Object.keys(manifest.scripts ?? {}).filter((script) =>
    /^(pre|post)?install$|^prepare$/.test(script),
  );
  must(run.length === 0, `installing it would run ${run.join(", ")}`);
  const { size } = statSync(path);
  must(size < MOST_BYTES[name], `it takes ${size} bytes, more than ${MOST_BYTES[name]}`);
  problems.push(...repositoryProblems(manifest));
  return problems;
}

// What a manifest says that is there.
function namedFiles({ main, types, bin, exports, typesVersions }) {
  const paths = (value) =>
    typeof value === "string" ? [value] : Object.values(value ?? {}).flatMap(paths);
  const all = [main, types, ...paths(bin), ...paths(exports), ...paths(typesVersions)];
  return [...new Set(all.filter(Boolean).map((path) => path.replace(/^\.\//, "")))];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const [tag, ...tarballs] = process.argv.slice(2);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const found = [
    ...problemsOf(root, { tag, repository: process.env.GITHUB_REPOSITORY }),
    ...tarballs.flatMap((path) => tarballProblems(path, version)),
  ];
  for (const problem of new Set(found)) console.error(`[keepsake] ${problem}`);
  if (found.length > 0) process.exit(1);
  const names = readdirSync(join(root, "tests/golden/files")).length;
  console.log(`[keepsake] ${version} may be published; files of ${names} versions are opened`);
}
