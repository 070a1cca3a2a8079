// Serves a module of tests/browser/pages as a page, bundled with the built package.

import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { temporaryFolder } from "../../js/support/temporary.mjs";
import { serveFolder } from "./static-server.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Where the page is; `options` are those of the server. */
export async function servePage(name, options) {
  return serveFolder(await buildPage(name), options);
}

/** The same for a module that is given as text. */
export async function serveSource(source, options) {
  const stdin = { contents: source, resolveDir: root, sourcefile: "source.mjs" };
  return serveFolder(await bundle({ stdin }), options);
}

/** A page of examples/, with its own index.html. */
export async function serveExample(name) {
  const folder = await bundle({ entryPoints: [`examples/${name}/page.ts`] });
  cpSync(join(root, "examples", name, "index.html"), join(folder, "index.html"));
  return serveFolder(folder);
}

/** The folder of the page: index.html, page.js, worker.js and keepsake.wasm. */
export function buildPage(name) {
  return bundle({ entryPoints: [`tests/browser/pages/${name}.mjs`] });
}

async function bundle(entry) {
  const folder = temporaryFolder();
  await build({
    absWorkingDir: root,
    ...entry,
    outfile: join(folder, "page.js"),
    bundle: true,
    format: "esm",
    target: "es2022",
    keepNames: true,
    logLevel: "error",
  });
  // esbuild copies no files that a module names.
  for (const file of ["worker.js", "keepsake.wasm"])
    cpSync(join(root, "dist", file), join(folder, file));
  writeFileSync(
    join(folder, "index.html"),
    '<!doctype html><title>keepsake</title><script type="module" src="page.js"></script>',
  );
  return folder;
}
