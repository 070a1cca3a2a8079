// The capability table of docs/ is made from the names of the tests.

import { readFileSync } from "node:fs";
import { capabilityTables, withCapabilities, wrongRows } from "../../scripts/capabilities.mjs";
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

test("a page without the markers is refused", async () => {
  await expect(withCapabilities("# Keepsake")).rejects.toThrow(/must contain/);
});
