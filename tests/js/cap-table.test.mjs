// The capability table of docs/ is made from the names of the tests.

import { readFileSync } from "node:fs";
import { capabilityTables, lackingProofs, withCapabilities } from "../../scripts/capabilities.mjs";

const page = () => readFileSync(new URL("../../docs/capabilities.md", import.meta.url), "utf8");

test("the table is current: else run node scripts/capabilities.mjs", async () => {
  expect(page()).toBe(await withCapabilities(page()));
});

test("the table has the rows that the store contract proves, with their marks", async () => {
  const tables = await capabilityTables();
  expect(tables).toMatch(/^\| 41 \| Filters: .* \| ✓ \| ✓ \| ✓ \| ✓ \|.*\|$/m);
  expect(tables).toMatch(/^\| 75 \| SqliteSaver.* \| ✓ \|$/m);
});

test("a capability of search that a platform does not show is an error", () => {
  const all = new Set(Array.from({ length: 100 }, (_, i) => i));
  const proven = { native: all, node: all, chromium: all, workerd: all };
  expect(lackingProofs(proven)).toEqual([]);
  const most = new Set([...all].filter((number) => number !== 29));
  expect(lackingProofs({ ...proven, chromium: most })).toEqual(["29 in Chromium"]);
  expect(lackingProofs({ ...proven, native: new Set() })).toContain("63 in C++");
});

test("a page without the markers is refused", async () => {
  await expect(withCapabilities("# Keepsake")).rejects.toThrow(/must contain/);
});
