// Tools that pack a program for Node, Deno or Bun, or run it in a way of their own. Each makes of the
// folder of an app, with the packed tarball installed, what runs from another folder: `pack` answers
// the program and its arguments. `how` is what docs/packagers.md says; `module` is where the program
// finds keepsake's module then. What differs little from another one runs in the long run only.

import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeFileTrace } from "@vercel/nft";
import { build } from "esbuild";
import { inject } from "postject";
import webpack from "webpack";
import { projectRoot, run } from "../js/support/installed-package.mjs";

const node = process.execPath;

/** The app as CommonJS, too. */
export function writeApp(folder) {
  const source = readFileSync(join(projectRoot, "tests/packagers/app.mjs"), "utf8");
  writeFileSync(join(folder, "app.mjs"), source);
  const required = source.replace(/^import (.*) from (.*);$/gm, "const $1 = require($2);");
  writeFileSync(join(folder, "app.cjs"), required);
}

async function withEsbuild(folder, out, { entry = "app.mjs", format = "esm", from } = {}) {
  const outfile = join(out, format === "esm" ? "main.mjs" : "main.cjs");
  await build({
    absWorkingDir: folder,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format,
    minify: true,
    logLevel: "error",
    alias: from === undefined ? {} : { keepsake: from },
  });
  return [node, outfile];
}

function withWebpack(folder, out, entry) {
  const options = {
    mode: "production",
    context: folder,
    entry: `./${entry}`,
    target: "node",
    output: { path: out, filename: "main.cjs" },
    optimization: { minimize: false },
  };
  return new Promise((resolve, reject) => {
    webpack(options, (error, stats) => {
      if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString()));
      else resolve([node, join(out, "main.cjs")]);
    });
  });
}

async function withFileTracing(folder, out, entry) {
  const { fileList } = await nodeFileTrace([join(folder, entry)], { base: "/" });
  for (const file of fileList) {
    mkdirSync(dirname(join(out, file)), { recursive: true });
    cpSync(join("/", file), join(out, file), { verbatimSymlinks: true, recursive: false });
  }
  return [node, join(out, folder, entry)];
}

async function asExecutable(folder, out) {
  const [, main] = await withEsbuild(folder, out, { format: "cjs" });
  const program = join(out, "program");
  const blob = join(out, "program.blob");
  const config = { main, output: blob, disableExperimentalSEAWarning: true };
  writeFileSync(join(out, "sea.json"), JSON.stringify(config));
  run(node, ["--experimental-sea-config", join(out, "sea.json")]);
  copyFileSync(node, program);
  chmodSync(program, 0o755);
  const sentinelFuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
  await inject(program, "NODE_SEA_BLOB", readFileSync(blob), { sentinelFuse });
  return [program];
}

function withBun(folder, out, bun) {
  const program = join(out, "program");
  run(bun, ["build", "--compile", join(folder, "app.mjs"), "--outfile", program]);
  return [program];
}

/** The rows of docs/packagers.md that are packed for Node, Deno and Bun. */
export const packagers = [
  {
    name: "esbuild, ES module",
    how: "`esbuild agent.mjs --bundle --platform=node --format=esm --outfile=out.mjs`",
    module: "text",
    pack: (folder, out) => withEsbuild(folder, out),
  },
  {
    name: "esbuild, CommonJS",
    how: "`esbuild agent.mjs --bundle --platform=node --outfile=out.cjs`",
    module: "text",
    pack: (folder, out) => withEsbuild(folder, out, { format: "cjs" }),
  },
  {
    name: "esbuild, of a CommonJS entry",
    how: "the same",
    isLong: true,
    module: "text",
    pack: (folder, out) => withEsbuild(folder, out, { format: "cjs", entry: "app.cjs" }),
  },
  {
    name: "esbuild and `keepsake/inline`",
    how: "the same",
    isLong: true,
    module: "text",
    pack: (folder, out) => withEsbuild(folder, out, { from: "keepsake/inline" }),
  },
  {
    name: "esbuild, with the file beside the bundle",
    how: "`cp node_modules/keepsake/dist/keepsake-fast.wasm .`",
    isLong: true,
    module: "file",
    async pack(folder, out) {
      const file = "keepsake-fast.wasm";
      copyFileSync(join(folder, "node_modules/keepsake/dist", file), join(out, file));
      return withEsbuild(folder, out, { format: "cjs" });
    },
  },
  {
    name: "webpack, ES module",
    how: '`target: "node"`',
    isLong: true,
    module: "file",
    pack: (folder, out) => withWebpack(folder, out, "app.mjs"),
  },
  {
    name: "webpack, CommonJS",
    how: '`target: "node"`',
    isLong: true,
    module: "text",
    pack: (folder, out) => withWebpack(folder, out, "app.cjs"),
  },
  {
    name: "file tracing (Vercel, Netlify, Next standalone), ES module",
    how: "nothing",
    isLong: true,
    module: "file",
    pack: (folder, out) => withFileTracing(folder, out, "app.mjs"),
  },
  {
    name: "file tracing, CommonJS",
    how: "nothing",
    module: "file",
    pack: (folder, out) => withFileTracing(folder, out, "app.cjs"),
  },
  {
    name: "Node's single executables",
    how: "bundle with esbuild as CommonJS, then [Node's steps](https://nodejs.org/api/single-executable-applications.html)",
    module: "text",
    pack: asExecutable,
  },
  {
    name: "`bun build --compile`",
    how: "nothing",
    module: "text",
    pack: withBun,
  },
];
