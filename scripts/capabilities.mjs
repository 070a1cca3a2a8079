// Makes the capability table of docs/capabilities.md from the names of the tests.
//
//   node scripts/capabilities.mjs          writes it
//   node scripts/capabilities.mjs --check  fails if it is not current
//
// Both fail if a capability that has to be shown on every platform is not.
// Needs the built package, whose store contract is data.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { capabilityGroups, shownEverywhere } from "./capability-names.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const BEGIN = "<!-- capabilities: made by scripts/capabilities.mjs -->";
const END = "<!-- /capabilities -->";
const TEST_FILE = /\.test\.[cm]?[jt]s$/;

function sources(folder, pattern) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((file) => pattern.test(file))
    .map((file) => readFileSync(join(root, folder, file), "utf8"));
}

function numbersIn(texts, pattern) {
  return new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((found) => +found[1])));
}

// The columns of the table. The store contract and the shared cases count where they are run
// with a test for each case.
const places = {
  native: "C++",
  node: "Node",
  chromium: "Chromium",
  workerd: "workerd",
  official: "official suite",
};

async function provenCapabilities() {
  const { storeContract } = await import("keepsake/testing");
  const { capabilityCases } = await import("../tests/js/support/capability-cases.mjs");
  const suites = [
    [/^ *testContract\(/m, storeContract.flatMap(({ cap }) => cap ?? [])],
    [/^ *testCapabilities\(/m, capabilityCases.flatMap(({ caps }) => caps)],
  ];
  const named = (folder) => numbersIn(sources(folder, TEST_FILE), /\[cap (\d+)\]/g);
  const shown = (folder) => {
    const texts = sources(folder, TEST_FILE);
    const run = suites.filter(([call]) => texts.some((text) => call.test(text)));
    return new Set([...named(folder), ...run.flatMap(([, numbers]) => numbers)]);
  };
  return {
    native: numbersIn(sources("tests/core", /\.(cc|h)$/), /\bcap_(\d+)_/g),
    // Its runner of the contract has a test for each case by itself.
    node: new Set([...shown("tests/js"), ...suites[0][1]]),
    chromium: shown("tests/browser"),
    workerd: shown("tests/edge"),
    official: named("tests/validation"),
  };
}

function refuseUnknown(proven) {
  const known = new Set(capabilityGroups.flatMap(({ rows }) => Object.keys(rows).map(Number)));
  const unknown = Object.values(proven).flatMap((rows) => [...rows].filter((n) => !known.has(n)));
  if (unknown.length > 0) {
    throw new Error(`tests name capabilities that are not in the list: ${unknown.join(", ")}`);
  }
}

/** What no test shows that has to be shown there: "29 in Chromium". */
export function lackingProofs(proven) {
  return shownEverywhere.flatMap((number) =>
    ["native", "node", "chromium", "workerd"]
      .filter((place) => !proven[place].has(number))
      .map((place) => `${number} in ${places[place]}`),
  );
}

function refuseLacking(proven) {
  const lacking = lackingProofs(proven);
  if (lacking.length > 0) throw new Error(`no test shows capability ${lacking.join(", ")}`);
}

function tableOf({ title, rows }, proven) {
  const columns = Object.keys(places);
  const lines = Object.entries(rows)
    .map(([number, name]) => [Number(number), name])
    .filter(([number]) => columns.some((place) => proven[place].has(number)))
    .map(([number, name]) => {
      const marks = columns.map((place) => (proven[place].has(number) ? "✓" : ""));
      return `| ${[number, name, ...marks].join(" | ")} |`;
    });
  if (lines.length === 0) return [];
  const head = `| | ${title} | ${Object.values(places).join(" | ")} |`;
  const rule = `|--:|:--|${columns.map(() => ":-:").join("|")}|`;
  return [[head, rule, ...lines].join("\n")];
}

/** The tables: a row per capability that a test proves, and where. */
export async function capabilityTables() {
  const proven = await provenCapabilities();
  refuseUnknown(proven);
  refuseLacking(proven);
  return capabilityGroups.flatMap((group) => tableOf(group, proven)).join("\n\n");
}

/** `readme` with the current tables between its two markers. */
export async function withCapabilities(readme) {
  const [before, rest] = readme.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`docs/capabilities.md must contain ${BEGIN} and ${END}`);
  return `${before}${BEGIN}\n\n${await capabilityTables()}\n\n${END}${after}`;
}

async function main() {
  const path = join(root, "docs/capabilities.md");
  const readme = readFileSync(path, "utf8");
  const current = await withCapabilities(readme);
  if (!process.argv.includes("--check")) {
    writeFileSync(path, current);
  } else if (readme !== current) {
    console.error(
      "The capability table of docs/capabilities.md is not current: run node scripts/capabilities.mjs",
    );
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
