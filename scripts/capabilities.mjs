// Makes the capability table of docs/capabilities.md from the names of the tests.
//
//   node scripts/capabilities.mjs          writes it
//   node scripts/capabilities.mjs --check  fails if it is not current
//
// Both fail if a capability is not shown on a platform where it can be.
// Needs the built package, whose store contract is data.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { capabilityGroups, notThere } from "./capability-names.mjs";

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

const capsIn = (texts) => numbersIn(texts, /\[cap (\d+)\]/g);

// The columns of the table. The store contract, the shared cases and agents count where they are
// run with a test for each.
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
  const { agentTitles } = await import("../tests/js/support/remembering-facts.mjs");
  const suites = [
    [/^ *testContract\(/m, storeContract.flatMap(({ cap }) => cap ?? [])],
    [/^ *testCapabilities\(/m, capabilityCases.flatMap(({ caps }) => caps)],
    [/^ *testAgents\(/m, [...capsIn(agentTitles)]],
  ];
  const named = (folder) => capsIn(sources(folder, TEST_FILE));
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

const known = capabilityGroups.flatMap(({ rows }) => Object.keys(rows).map(Number));

function refuseUnknown(proven) {
  const unknown = Object.values(proven).flatMap((rows) =>
    [...rows].filter((number) => !known.includes(number)),
  );
  if (unknown.length > 0) {
    throw new Error(`tests name capabilities that are not in the list: ${unknown.join(", ")}`);
  }
}

const isNotThere = (number, place) =>
  notThere.some((one) => one.place === place && one.rows.includes(number));

/** Where a row is neither shown nor impossible, or both: "29 in Chromium". */
export function wrongRows(proven) {
  return known.flatMap((number) =>
    ["native", "node", "chromium", "workerd"]
      .filter((place) => proven[place].has(number) === isNotThere(number, place))
      .map((place) => `${number} in ${places[place]}`),
  );
}

function refuseWrong(proven) {
  const wrong = wrongRows(proven);
  if (wrong.length === 0) return;
  throw new Error(
    `each capability has a test or a reason in notThere, and not both: ${wrong.join(", ")}`,
  );
}

function markOf(number, place, proven) {
  if (proven[place].has(number)) return "✓";
  return isNotThere(number, place) ? "n/a" : "";
}

function tableOf({ title, rows }, proven) {
  const columns = Object.keys(places);
  const lines = Object.entries(rows).map(([number, name]) => {
    const marks = columns.map((place) => markOf(Number(number), place, proven));
    return `| ${[number, name, ...marks].join(" | ")} |`;
  });
  const head = `| | ${title} | ${Object.values(places).join(" | ")} |`;
  const rule = `|--:|:--|${columns.map(() => ":-:").join("|")}|`;
  return [head, rule, ...lines].join("\n");
}

const reasonLine = ({ place, rows, reason }) =>
  `- ${places[place]}, ${rows.join(", ")}: ${reason}.`;

/** The tables: a row for each capability, and where it is shown. */
export async function capabilityTables() {
  const proven = await provenCapabilities();
  refuseUnknown(proven);
  refuseWrong(proven);
  const tables = capabilityGroups.map((group) => tableOf(group, proven));
  const reasons = ["What is n/a cannot be there:", "", ...notThere.map(reasonLine)].join("\n");
  return [...tables, reasons].join("\n\n");
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
