// keepsake-lean.wasm where a bundler or the runtime makes a WebAssembly.Module of what
// is imported: Cloudflare Workers. lean.edge-light.ts and lean.slim.ts say the same for others.

import compiled from "./keepsake-lean.wasm";

/** @internal */
export function leanModule(): WebAssembly.Module {
  return compiled;
}
