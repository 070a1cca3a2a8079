// What travels is described once: both languages have what is made of that.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { layoutFiles } from "../../scripts/wire-layout.mjs";

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test.each(Object.entries(layoutFiles()))("%s is what `npm run layout` makes", (path, text) => {
  expect(read(path) === text).toBe(true);
});

// Tabs of two releases share a memory, and must not misread each other's frames. If the layout is
// another one than that of the last release, raise PROTOCOL in js/src/browser/protocol.ts, once
// for each release. Then write the new pair here.
test("tabs with another layout have another PROTOCOL", () => {
  const [, protocol] = read("js/src/browser/protocol.ts").match(/^export const PROTOCOL = (\d+);/m);
  const layout = read("core/src/wire/layout.txt")
    .replace(/\s*(\/\/|#).*/g, "")
    .replace(/\n+/g, "\n");
  const hash = createHash("sha256").update(layout).digest("hex").slice(0, 16);
  expect({ protocol, hash }).toEqual({ protocol: "1", hash: "f93de2b4082d84e6" });
});
