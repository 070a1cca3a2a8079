// README.md and docs/: what a user reads.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./installed-package.mjs";

const read = (path) => ({ path, text: readFileSync(join(projectRoot, path), "utf8") });

/** Every page, README.md first. */
export const pages = [
  read("README.md"),
  ...readdirSync(join(projectRoot, "docs"))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => read(`docs/${name}`)),
];

/** All of it as one text. */
export const documentation = pages.map(({ text }) => text).join("\n");

/** The snippets of a language, such as `js` or `js worker`, each with its page. */
export function snippetsOf(language) {
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))].map(([, code]) => ({
      path,
      code,
    })),
  );
}
