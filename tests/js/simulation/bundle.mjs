// The package's code as a simulation runs it: from its sources, with the stand-ins for clocks,
// timers and chance, and with limits so small that a short history reaches them.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = join(root, "build/simulation");

const ENTRY = `
export { LogTransport } from "./bucket/log/log-transport.ts";
export { Log } from "./bucket/log/log.ts";
export { Syncer } from "./bucket/sync/syncer.ts";
export { Connection } from "./connection.ts";
export { LogNames } from "./bucket/log/names.ts";
export { BaseReader } from "./bucket/log/base.ts";
export { decodeRecord, withoutSender } from "./bucket/log/record.ts";
export { RemoteEngine } from "./engine/remote-engine.ts";
export { Session } from "./engine/session.ts";
export { IN_BUCKET, SYNCED } from "./engine/in-bucket.ts";
export { LocalEngine } from "./engine/local-engine.ts";
export { WasmInstance } from "./wasm/loader.ts";
export { memoryFiles } from "./wasm/memory-files.ts";
export { decodeResponse, encodeRequest, failureCodeOf, statusesOf } from "./wire/codec.ts";
export { decodeRequest } from "./wire/sent-request.ts";
export { Memory, openMemory } from "./memory.ts";
export { KeepsakeError } from "./errors.ts";
export { default as createModule } from "#glue";
`;

const STAND_INS = {
  "Date.now": "now",
  "performance.now": "elapsed",
  "Math.random": "random",
  crypto: "crypto",
  CompressionStream: "CompressionStream",
  DecompressionStream: "DecompressionStream",
  setTimeout: "setTimeout",
  clearTimeout: "clearTimeout",
  setInterval: "setInterval",
  clearInterval: "clearInterval",
};

/** Limits of the log as they are shipped, and as a short history needs them. */
export const SMALL = [
  ["log/log-transport.ts", "const RECORDS_FOR_BASE = 64;", "const RECORDS_FOR_BASE = 5;"],
  ["log/base.ts", "const FIRST_READ = 256 * 1024;", "const FIRST_READ = 4 * 1024;"],
  ["log/base.ts", "const WHOLE_BYTES = 4 * 2 ** 20;", "const WHOLE_BYTES = 2 ** 22;"],
  ["log/base.ts", "const MOST_REFERENCES = 16;", "const MOST_REFERENCES = 3;"],
  ["log/log.ts", "FENCES = 64;", "FENCES = 4;"],
  ["log/log-transport.ts", "const LEAST_BACKUP_MS = 3_600_000;", "const LEAST_BACKUP_MS = 60_000;"],
  ["sync/syncer.ts", "const LEAST_BACKUP_MS = 3_600_000;", "const LEAST_BACKUP_MS = 60_000;"],
  ["sync/syncer.ts", "const RECORDS_FOR_BASE = 256;", "const RECORDS_FOR_BASE = 6;"],
  ["sync/syncer.ts", "const MOST_RECORD_BYTES = 4 * 2 ** 20;", "const MOST_RECORD_BYTES = 1500;"],
  ["sync/syncer.ts", "const MOST_APPLIED_BYTES = 4 * 2 ** 20;", "const MOST_APPLIED_BYTES = 2500;"],
];

/**
 * The sources below js/src/bucket with these changes, each a file, what stands there once, and what
 * is to stand there instead. Answers where the bundle is.
 */
export async function bundleOf(changes, name) {
  mkdirSync(folder, { recursive: true });
  const used = new Set();
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: { contents: ENTRY, resolveDir: join(root, "js/src") },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    write: false,
    define: {
      BUILD: '"simulation"',
      FAST_WASM_BYTES: "0",
      ...Object.fromEntries(
        Object.entries(STAND_INS).map(([from, to]) => [
          from,
          `globalThis.keepsakeSimulation.${to}`,
        ]),
      ),
    },
    plugins: [
      {
        name: "simulation",
        setup({ onResolve, onLoad }) {
          const glue = { path: join(root, "dist/keepsake.mjs"), external: false };
          onResolve({ filter: /^#(full-)?glue$/ }, () => glue);
          onResolve({ filter: /^#embedded-wasm$/ }, () => ({ path: "none", external: true }));
          onLoad({ filter: /js\/src\/bucket\/.*\.ts$/ }, async ({ path }) => {
            const contents = await readChanged(path, changes, used);
            return { contents, loader: "ts" };
          });
        },
      },
    ],
  });
  const unused = changes.filter((change) => !used.has(change));
  if (unused.length > 0) throw new Error(`no such file: ${unused.map(([file]) => file).join()}`);
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, outputFiles[0].contents);
  return pathToFileURL(path).href;
}

async function readChanged(path, changes, used) {
  const { readFile } = await import("node:fs/promises");
  let text = await readFile(path, "utf8");
  for (const change of changes) {
    const [file, before, after] = change;
    if (!path.endsWith(file)) continue;
    used.add(change);
    const count = text.split(before).length - 1;
    if (count !== 1) throw new Error(`${file} has ${count} times what is to be changed: ${before}`);
    text = text.replace(before, () => after);
  }
  return text;
}
