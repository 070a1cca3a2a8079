// The package as a user gets it: packed, and installed in an empty folder.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./temporary.mjs";

export const projectRoot = fileURLToPath(new URL("../../..", import.meta.url));

/** Runs a program of this Node version's kind and returns what it printed. */
export function run(program, args, options = {}) {
  // Jest's own NODE_OPTIONS are not for the programs that it starts.
  const env = { ...process.env, NODE_OPTIONS: "", NODE_PATH: "", ...options.env };
  return execFileSync(program, args, { encoding: "utf8", stdio: "pipe", ...options, env });
}

/** Of keepsake-english, as packProject() has it. */
export const packEnglish = () => pack(join(projectRoot, "packages/english"));

/** The path of the tarball, and the files in it. */
export const packProject = () => pack(projectRoot);

function pack(project) {
  const folder = temporaryFolder();
  const printed = run(
    "npm",
    ["pack", "--json", "--ignore-scripts", "--silent", "--pack-destination", folder],
    { cwd: project },
  );
  const [{ filename, files }] = JSON.parse(printed);
  return { tarball: join(folder, filename), files: files.map(({ path }) => path) };
}

/** A folder with the tarballs installed, and beside them the peers of this project. */
export function installPackage(...tarballs) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "package.json"), '{ "name": "consumer", "private": true }');
  const offline = [
    "--offline",
    "--no-audit",
    "--no-fund",
    "--legacy-peer-deps",
    "--ignore-scripts",
  ];
  run("npm", ["install", "--silent", ...offline, ...tarballs], { cwd: folder });
  mkdirSync(join(folder, "node_modules/@langchain"));
  for (const peer of ["core", "langgraph", "langgraph-checkpoint"]) {
    const path = join("node_modules/@langchain", peer);
    symlinkSync(join(projectRoot, path), join(folder, path));
  }
  const langchain = "node_modules/langchain";
  symlinkSync(join(projectRoot, langchain), join(folder, langchain));
  return folder;
}

// What is built for one test has no table of words.
function installAll() {
  const hasEnglish = existsSync(join(projectRoot, "packages/english/dist/table.js"));
  return installPackage(...[packProject(), ...(hasEnglish ? [packEnglish()] : [])].map(tarballOf));
}

const tarballOf = ({ tarball }) => tarball;

let installed;

/** A folder with the package installed: that of the whole run, if its set-up made one. */
export function installedFolder() {
  installed ??= process.env.KEEPSAKE_INSTALLED ?? installAll();
  return installed;
}

/** A folder of the caller's own, in which programs find it. */
export function consumerFolder() {
  const folder = temporaryFolder();
  symlinkSync(join(installedFolder(), "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** This Node.js, and those that the set-up fetched for the tests: name and program. */
export function nodeVersions() {
  const others = ["node22", "node24"].map((name) => [
    name,
    join(projectRoot, ".toolchain", name, "bin/node"),
  ]);
  return [[`node${process.versions.node.split(".")[0]}`, process.execPath], ...others];
}

export const isFetched = (program) => existsSync(program);
