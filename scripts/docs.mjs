// `npm run docs`: the site in build/docs, of README.md, docs/*.md and the types. Sources of
// the pages are gathered first: links of Markdown work on GitHub, in the package and here.
//
//   npm run docs -- --base /keepsake/    where the site will lie on its host
//   npm run docs -- --out folder         another folder than build/docs

import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Application } from "typedoc";
import { build } from "vitepress";
import { contentsOf, siteOptions } from "./docs/site.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const ENTRIES =
  "index cloudflare sqlite langchain files embed bucket inspector react testing".split(" ");

const { values } = parseArgs({
  options: { base: { type: "string" }, out: { type: "string", default: `${root}build/docs` } },
});
const out = resolve(values.out);
// Within the project, where its packages are found.
const source = `${root}build/docs-source`;

await rm(source, { recursive: true, force: true });
await mkdir(`${source}/.vitepress`, { recursive: true });
await cp(`${root}docs`, source, { recursive: true });
for (const name of await readdir(source)) {
  if (!name.endsWith(".md")) continue;
  await writeFile(
    `${source}/${name}`,
    withoutExpressions(await readFile(`${source}/${name}`, "utf8")),
  );
}
const contents = await readFile(`${root}docs/README.md`, "utf8");
await rm(`${source}/README.md`);
await writeFile(`${source}/contents.md`, contents);
await writeFile(`${source}/index.md`, asHome(await readFile(`${root}README.md`, "utf8")));
const options = siteOptions({ contents, out, base: values.base });
await writeFile(
  `${source}/.vitepress/config.mjs`,
  `export default ${JSON.stringify(options, null, 2)};\n`,
);
await build(source); // empties the folder
await makeReference();
await makePlainText();
// What the generators may leave running holds up nobody.
process.exit(0);

// Vue takes `{{ }}` of code within a line for an expression of its own.
function withoutExpressions(text) {
  return text.replace(
    /`([^`\n]*\{\{[^`\n]*)`/g,
    (_, code) => `<code v-pre>${escaped(code)}</code>`,
  );
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

// Files beside README.md that the site does not have are named there, without a link.
function asHome(text) {
  return text
    .replaceAll("](docs/README.md)", "](contents.md)")
    .replaceAll("](docs/", "](")
    .replace(/\[([^\]]+)\]\((?:LICENSE|THIRD_PARTY_NOTICES\.md)\)/g, "$1");
}

async function makeReference() {
  const application = await Application.bootstrap({
    entryPoints: ENTRIES.map((name) => `${root}js/src/${name}.ts`),
    tsconfig: `${root}tsconfig.json`,
    readme: "none",
    name: "Keepsake, API reference",
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeProtected: true,
    excludeExternals: true,
    // Lint checks the types.
    skipErrorChecking: true,
    navigationLinks: { Documentation: `${options.base}index.html` },
    logLevel: "Error",
  });
  const project = await application.convert();
  if (project === undefined) throw new Error("typedoc could not read the types");
  await application.generateDocs(project, `${out}/api`);
}

// For models: an index by https://llmstxt.org, and each page as it was written.
async function makePlainText() {
  const pages = (await readdir(`${root}docs`)).filter((name) => /^(?!README).*\.md$/.test(name));
  for (const name of pages) await cp(`${root}docs/${name}`, `${out}/${name}`);
  const [, about] = /^# .+\n+(.+)/.exec(contents);
  const sections = contentsOf(contents).map(({ text, items }) =>
    [
      `## ${text}`,
      "",
      ...items.map((page) => `- [${page.text}](${page.file}): ${page.about}`),
    ].join("\n"),
  );
  await writeFile(`${out}/llms.txt`, `${["# Keepsake", `> ${about}`, ...sections].join("\n\n")}\n`);
}
