// What travels is described once: both languages have what is made of that.

import { readFileSync } from "node:fs";
import { layoutFiles } from "../../scripts/wire-layout.mjs";

test.each(Object.entries(layoutFiles()))("%s is what `npm run layout` makes", (path, text) => {
  const isSame = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8") === text;
  expect(isSame).toBe(true);
});
