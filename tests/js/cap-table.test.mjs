// The capability table of docs/ is made from the titles of the tests.

import { readFileSync } from "node:fs";
import {
  capabilityTables,
  rowsShown,
  withCapabilities,
  wrongRows,
} from "../../scripts/capabilities.mjs";
import { notThere } from "../../scripts/capability-names.mjs";

const page = () => readFileSync(new URL("../../docs/capabilities.md", import.meta.url), "utf8");

test("the table is current: else run node scripts/capabilities.mjs", async () => {
  expect(page()).toBe(await withCapabilities(page()));
});

test("the table has the rows that the store contract proves, with their marks", async () => {
  const tables = await capabilityTables();
  expect(tables).toMatch(/^\| 41 \| Filters: .* \| ✓ \| ✓ \| ✓ \| ✓ \|.*\|$/m);
  expect(tables).toMatch(/^\| 75 \| SqliteSaver.* \| ✓ \|$/m);
});

test("each row has a test or a reason on every platform, and not both", () => {
  const all = Array.from({ length: 109 }, (_, i) => i + 1);
  const proven = Object.fromEntries(
    ["native", "node", "chromium", "workerd"].map((place) => [place, new Set(all)]),
  );
  for (const { place, rows } of notThere) for (const row of rows) proven[place].delete(row);
  expect(wrongRows(proven)).toEqual([]);
  proven.chromium.delete(29);
  proven.native.add(53);
  expect(wrongRows(proven)).toEqual(["29 in Chromium", "53 in C++"]);
});

test("a row that names a test which is not there is refused", () => {
  const has = { node: (title) => title !== "gone", official: (title) => title === "both" };
  const rows = [
    ["1", ["a name", "both"]],
    ["2", ["a name", "gone"]],
  ];
  expect(rowsShown(rows.slice(0, 1), has)).toEqual({ node: new Set([1]), official: new Set([1]) });
  expect(() => rowsShown(rows, has)).toThrow('no test is called "gone" (row 2)');
});

test("a page without the markers is refused", async () => {
  await expect(withCapabilities("# Keepsake")).rejects.toThrow(/must contain/);
});
