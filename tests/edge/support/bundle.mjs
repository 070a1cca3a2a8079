// A Worker of tests/edge/workers, bundled as wrangler does it, with the package as
// it is packed: the modules that workerd is given.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { installedFolder } from "../../js/support/installed-package.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));

// (module (func (export "trap") unreachable))
const TRAP = Uint8Array.from([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 8, 1, 4, 116, 114, 97, 112, 0, 0,
  10, 5, 1, 3, 0, 0, 11,
]);

/** What wrangler's default conditions choose. */
export const CONDITIONS = ["workerd", "worker", "browser"];

/** `minify` for what is measured. */
export async function bundleWorker(file, { minify = false, metafile = false } = {}) {
  const folder = installedFolder();
  const { outputFiles, metafile: meta } = await build({
    absWorkingDir: root,
    entryPoints: [file],
    bundle: true,
    write: false,
    outfile: "worker.mjs",
    format: "esm",
    target: "es2024",
    platform: "browser",
    conditions: CONDITIONS,
    external: ["node:*", "cloudflare:*"],
    keepNames: true,
    minify,
    metafile,
    logLevel: "error",
    // For a Worker outside of this folder.
    nodePaths: [join(root, "node_modules")],
    plugins: [fromInstalled(folder), wasmModules],
  });
  const wasm = (file) => readFileSync(join(folder, "node_modules/keepsake/dist", file));
  return {
    script: outputFiles[0].text,
    meta,
    modules: [
      { type: "ESModule", path: "worker.mjs", contents: outputFiles[0].text },
      ...["keepsake-lean.wasm", "keepsake.wasm"].map((path) => ({
        type: "CompiledWasm",
        path,
        contents: wasm(path),
      })),
      { type: "CompiledWasm", path: "trap.wasm", contents: TRAP },
    ],
  };
}

function fromInstalled(folder) {
  return {
    name: "installed-keepsake",
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^keepsake(-english)?(\/|$)/ }, ({ path, kind, pluginData }) =>
        pluginData === "ours"
          ? undefined
          : resolve(path, { kind, resolveDir: folder, pluginData: "ours" }),
      );
    },
  };
}

const wasmModules = {
  name: "wasm-modules",
  setup({ onResolve }) {
    onResolve({ filter: /\.wasm$/ }, ({ path }) => ({
      path: `./${path.split("/").at(-1)}`,
      external: true,
    }));
  },
};
