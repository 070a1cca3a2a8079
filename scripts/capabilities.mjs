// Makes the capability table of README.md from the names of the tests.
//
//   node scripts/capabilities.mjs          writes it
//   node scripts/capabilities.mjs --check  fails if it is not current
//
// Needs the built package, whose store contract is data.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { capabilityGroups } from "./capability-names.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const BEGIN = "<!-- capabilities: made by scripts/capabilities.mjs -->";
const END = "<!-- /capabilities -->";

function sources(folder, pattern) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((file) => pattern.test(file))
    .map((file) => readFileSync(join(root, folder, file), "utf8"));
}

function numbersIn(texts, pattern) {
  return new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((found) => +found[1])));
}

async function provenCapabilities() {
  const { storeContract } = await import("keepsake/testing");
  const named = numbersIn(sources("tests/js", /\.test\.[cm]?[jt]s$/), /\[cap (\d+)\]/g);
  const contract = storeContract.flatMap(({ cap }) => cap ?? []);
  return {
    native: numbersIn(sources("tests/core", /\.(cc|h)$/), /\bcap_(\d+)_/g),
    node: new Set([...named, ...contract]),
    official: numbersIn(sources("tests/validation", /\.test\.mjs$/), /\[cap (\d+)\]/g),
  };
}

function refuseUnknown({ native, node, official }) {
  const known = new Set(capabilityGroups.flatMap(({ rows }) => Object.keys(rows).map(Number)));
  const unknown = [...native, ...node, ...official].filter((number) => !known.has(number));
  if (unknown.length > 0) {
    throw new Error(`tests name capabilities that are not in the list: ${unknown.join(", ")}`);
  }
}

function tableOf({ title, rows }, { native, node, official }) {
  const mark = (proven, number) => (proven.has(number) ? "✓" : "");
  const lines = Object.entries(rows)
    .map(([number, name]) => [Number(number), name])
    .filter(([number]) => native.has(number) || node.has(number) || official.has(number))
    .map(
      ([number, name]) =>
        `| ${number} | ${name} | ${mark(native, number)} | ${mark(node, number)} | ${mark(official, number)} |`,
    );
  if (lines.length === 0) return [];
  const head = `| | ${title} | C++ | JavaScript | official suite |\n|--:|:--|:-:|:-:|:-:|`;
  return [[head, ...lines].join("\n")];
}

/** The tables: a row per capability that a test proves, and where. */
export async function capabilityTables() {
  const proven = await provenCapabilities();
  refuseUnknown(proven);
  return capabilityGroups.flatMap((group) => tableOf(group, proven)).join("\n\n");
}

/** `readme` with the current tables between its two markers. */
export async function withCapabilities(readme) {
  const [before, rest] = readme.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`README.md must contain ${BEGIN} and ${END}`);
  return `${before}${BEGIN}\n\n${await capabilityTables()}\n\n${END}${after}`;
}

async function main() {
  const path = join(root, "README.md");
  const readme = readFileSync(path, "utf8");
  const current = await withCapabilities(readme);
  if (!process.argv.includes("--check")) {
    writeFileSync(path, current);
  } else if (readme !== current) {
    console.error(
      "The capability table of README.md is not current: run node scripts/capabilities.mjs",
    );
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
