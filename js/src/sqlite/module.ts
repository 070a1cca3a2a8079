// keepsake-lean.wasm beside this file.

import * as fs from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cannotLoad, readBeside } from "../node/module.js";

let compiled: WebAssembly.Module | undefined;

/** @internal */
export function leanModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(leanBytes() as BufferSource);
  return compiled;
}

function leanBytes(): Uint8Array {
  const bytes = readBeside(
    // Literal, because bundlers and tracers of files look for these two calls.
    () => fs.readFileSync(fileURLToPath(new URL("./keepsake-lean.wasm", import.meta.url).href)),
    () => fs.readFileSync(join(__dirname, "keepsake-lean.wasm")),
  );
  if (bytes === undefined) throw cannotLoad("keepsake-lean.wasm", "it is not beside this code");
  return bytes;
}
