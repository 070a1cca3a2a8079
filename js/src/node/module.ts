// The compiled module of Node: the file beside this code, which is compiled for speed. What was put
// into one file with the rest of a program has none beside it; a text of the package goes with it
// instead, from which the smaller module is unpacked: 25 ms in place of 2, and no other answers.

import * as fs from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { KeepsakeError, messageOf } from "../errors.js";

/** Where a module came from. @internal */
export type ModuleSource = "file" | "text";

/** Made by scripts/build-js.mjs: how many bytes keepsake-fast.wasm has. */
declare const FAST_WASM_BYTES: number;

let loading: Promise<WebAssembly.Module> | undefined;
let source: ModuleSource = "file";

/** Compiled by the first call, once per process and copy of the package. @internal */
export function compiledModule(): Promise<WebAssembly.Module> {
  loading ??= load();
  // The next call tries again.
  loading.catch(() => {
    loading = undefined;
  });
  return loading;
}

/** Of the module that was loaded last. @internal */
export function moduleSource(): ModuleSource {
  return source;
}

async function load(): Promise<WebAssembly.Module> {
  const bytes = readBeside(
    // Literal, because bundlers and tracers of files look for these two calls.
    () => fs.readFileSync(fileURLToPath(new URL("./keepsake-fast.wasm", import.meta.url).href)),
    () => fs.readFileSync(join(__dirname, "keepsake-fast.wasm")),
  );
  // A file of another build would be asked in frames that it does not know.
  const isOurs = bytes?.length === FAST_WASM_BYTES;
  const found = isOurs
    ? bytes
    : await unpack(bytes === undefined ? "is not there" : "is of another build");
  source = isOurs ? "file" : "text";
  try {
    return new WebAssembly.Module(found as BufferSource);
  } catch (cause) {
    throw cannotLoad("keepsake-fast.wasm", `it is damaged: ${messageOf(cause)}`, cause);
  }
}

/**
 * What the first of these reads. They may throw: a bundle has no address of its own, or no folder,
 * or another kind of URL, or no such file. @internal
 */
export function readBeside(...reads: (() => Uint8Array)[]): Uint8Array | undefined {
  for (const read of reads) {
    try {
      return read();
    } catch {
      // The next one may find it.
    }
  }
  return undefined;
}

async function unpack(why: string): Promise<Uint8Array> {
  try {
    const { wasm } = await import("#embedded-wasm");
    return gunzipSync(Buffer.from(wasm, "base64"));
  } catch (cause) {
    throw cannotLoad("keepsake-fast.wasm", `the file ${why}, and ${messageOf(cause)}`, cause);
  }
}

/** @internal */
export function cannotLoad(file: string, why: string, cause?: unknown): KeepsakeError {
  return new KeepsakeError(
    "cannot_open",
    `cannot load ${file}: ${why}; copy it from keepsake/dist beside the file that your bundler makes, ` +
      "or leave keepsake out of the bundle (external)",
    cause === undefined ? undefined : { cause },
  );
}
