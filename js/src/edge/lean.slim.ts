// keepsake-lean.wasm where nobody knows how to get it but the user.

import { KeepsakeError } from "../errors.js";

let compiled: WebAssembly.Module | undefined;

/** @internal */
export function leanModule(): WebAssembly.Module {
  if (compiled !== undefined) return compiled;
  throw new KeepsakeError("cannot_open", "give the module of keepsake/lean.wasm to useModule()");
}

/**
 * The compiled `keepsake/lean.wasm`, however it was loaded, or its bytes where they
 * may be compiled. To be called once, before anything else.
 */
export function useModule(module: WebAssembly.Module | BufferSource): void {
  // Not by instanceof: it may be of another realm.
  const isModule = Object.prototype.toString.call(module) === "[object WebAssembly.Module]";
  compiled = isModule
    ? (module as WebAssembly.Module)
    : new WebAssembly.Module(module as BufferSource);
}
