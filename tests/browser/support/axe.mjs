// What axe finds wrong in a page for people who can't see it, or use no mouse.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isLong } from "../../js/support/effort.mjs";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

function settled() {
  const roots = [...document.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? []);
  const animations = [document, ...roots].flatMap((root) => root.getAnimations());
  // One that is cut off has ended, too; one without an end is not waited for.
  const ended = Promise.allSettled(animations.map(({ finished }) => finished));
  return Promise.race([ended, new Promise((done) => setTimeout(done, 5_000))]);
}

// Of all rules, these alone go by colours: in dark nothing else differs. The long run tries all.
const OF_COLOURS = ["color-contrast", "link-in-text-block"];
const RULES = { light: undefined, dark: isLong ? undefined : OF_COLOURS };

/** → a line for each element of each rule that is broken, in light and in dark; also in shadow trees. */
export async function violations(page) {
  const lines = [];
  for (const [colorScheme, runOnly] of Object.entries(RULES)) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // Nothing is pointed at, and what changes its colour slowly has changed it.
    await page.mouse.move(0, 0);
    await page.evaluate(settled);
    // The page's policy forbids script elements.
    if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
    const found = await page.evaluate((options) => globalThis.axe.run(options), {
      resultTypes: ["violations"],
      ...(runOnly && { runOnly }),
    });
    for (const { id, nodes } of found.violations) {
      lines.push(...nodes.map(({ target, failureSummary }) => line(id, target, failureSummary)));
    }
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "no-preference" });
  return lines.map((text) => text.replace(/\s+/g, " "));

  function line(id, target, summary) {
    return `${page.viewportSize().width} px: ${id}: ${target.flat().join(" ")}: ${summary}`;
  }
}
