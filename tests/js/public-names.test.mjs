// What a program can name stays: a name that is gone, or new, is written down in the same commit, by
// scripts/public-names.mjs.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { publicNames } from "../../scripts/public-names.mjs";
import { projectRoot } from "./support/installed-package.mjs";

const written = readFileSync(join(projectRoot, "tests/golden/public-names.txt"), "utf8")
  .trim()
  .split("\n");

test("tests/golden/public-names.txt has every name of the package, and no other", () => {
  const names = publicNames();
  const difference = {
    gone: written.filter((name) => !names.includes(name)),
    new: names.filter((name) => !written.includes(name)),
  };
  expect(difference).toEqual({ gone: [], new: [] });
  expect(written).toEqual([...written].sort());
  expect(names.length).toBeGreaterThan(1000);
});
