// Makes the capability table of docs/capabilities.md from the titles of the tests that its rows name.
//
//   node scripts/capabilities.mjs          writes it
//   node scripts/capabilities.mjs --check  fails if it is not current
//
// Both fail if a row names a test that is not there, or is not shown on a platform where it can be.
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

// The columns of the table. Shared cases count where they are run with a test for each.
const places = {
  native: "C++",
  node: "Node",
  chromium: "Chromium",
  workerd: "workerd",
  official: "official suite",
};

const rows = capabilityGroups.flatMap((group) => Object.entries(group.rows));
const known = rows.map(([number]) => Number(number));

/** Whether a test of a folder has the title: it stands there, or in the shared cases that run there. */
async function titleFinder() {
  const { storeContract } = await import("../tests/contract/store.mjs");
  const { capabilityCases } = await import("../tests/js/support/capability-cases.mjs");
  const { agentTitles } = await import("../tests/js/support/remembering-facts.mjs");
  const named = (cases) => cases.map(({ name }) => name);
  const suites = [
    [/^ *(testContract\(|describe\.each\(storeBackends\))/m, named(storeContract)],
    [/^ *testCapabilities\(/m, named(capabilityCases)],
    [/^ *testAgents\(/m, agentTitles],
  ];
  return (folder) => {
    const texts = sources(folder, TEST_FILE);
    const run = suites.filter(([call]) => texts.some((text) => call.test(text)));
    const shared = new Set(run.flatMap(([, titles]) => titles));
    return (title) => shared.has(title) || texts.some((text) => text.includes(`"${title}"`));
  };
}

/** The numbers of the rows that each place shows; `has[place]` says if a test has a title there. */
export function rowsShown(rows, has) {
  const shown = Object.fromEntries(Object.keys(has).map((place) => [place, new Set()]));
  for (const [number, [, ...titles]] of rows) {
    for (const title of titles) {
      const found = Object.keys(has).filter((place) => has[place](title));
      if (found.length === 0) throw new Error(`no test is called "${title}" (row ${number})`);
      for (const place of found) shown[place].add(Number(number));
    }
  }
  return shown;
}

async function provenCapabilities() {
  const inFolder = await titleFinder();
  const numbers = sources("tests/core", /\.(cc|h)$/).flatMap((text) =>
    [...text.matchAll(/\bcap_(\d+)_/g)].map(([, number]) => Number(number)),
  );
  const unknown = numbers.filter((number) => !known.includes(number));
  if (unknown.length > 0) throw new Error(`C++ tests name rows that are not there: ${unknown}`);
  return {
    native: new Set(numbers),
    ...rowsShown(rows, {
      node: inFolder("tests/js"),
      chromium: inFolder("tests/browser"),
      workerd: inFolder("tests/edge"),
      official: inFolder("tests/validation"),
    }),
  };
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
  const lines = Object.entries(rows).map(([number, [name]]) => {
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
