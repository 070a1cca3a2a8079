// Serves a module of tests/browser/pages as a page, bundled with the built package.

import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { temporaryFolder } from "../../js/support/temporary.mjs";
import { serveFolder } from "./static-server.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));

const OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  target: "es2022",
  keepNames: true,
  logLevel: "error",
};

/** Where the page is; `options` are those of the server. */
export async function servePage(name, options) {
  return serveFolder(await buildPage(name), options);
}

/** The same for a module that is given as text. */
export async function serveSource(source, options) {
  return serveFolder(await bundle({ stdin: stdinOf(source) }), options);
}

/** The files that such a page is made of. */
export async function inputsOf(source) {
  const { metafile } = await build({
    ...OPTIONS,
    stdin: stdinOf(source),
    write: false,
    metafile: true,
  });
  return Object.keys(metafile.inputs);
}

const stdinOf = (contents) => ({ contents, resolveDir: root, sourcefile: "source.mjs" });

/** A page of examples/, with its own index.html, and more options of esbuild. */
export async function serveExample(name, more) {
  const folder = await bundle({ entryPoints: [`examples/${name}/page.ts`], ...more });
  cpSync(join(root, "examples", name, "index.html"), join(folder, "index.html"));
  return serveFolder(folder);
}

/** The folder of the page, with more options of esbuild: index.html, page.js, worker.js and keepsake.wasm. */
export function buildPage(name, more) {
  return bundle({ entryPoints: [`tests/browser/pages/${name}.mjs`], ...more });
}

async function bundle(entry) {
  const folder = temporaryFolder();
  await build({ ...OPTIONS, ...entry, outfile: join(folder, "page.js") });
  // esbuild copies no files that a module names.
  for (const file of ["worker.js", "keepsake.wasm"])
    cpSync(join(root, "dist", file), join(folder, file));
  writeFileSync(
    join(folder, "index.html"),
    '<!doctype html><title>keepsake</title><script type="module" src="page.js"></script>',
  );
  return folder;
}
