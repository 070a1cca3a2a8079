// keepsake-lean.wasm where `?module` asks for a WebAssembly.Module: Vercel, Next.js.

import compiled from "./keepsake-lean.wasm?module";

/** @internal */
export function leanModule(): WebAssembly.Module {
  return compiled;
}
