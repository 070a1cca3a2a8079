// keepsake-lean.wasm beside this file.

import { readFileSync } from "node:fs";

let compiled: WebAssembly.Module | undefined;

/** @internal */
export function leanModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(
    readFileSync(new URL("./keepsake-lean.wasm", import.meta.url)),
  );
  return compiled;
}
