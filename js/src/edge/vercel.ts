// Vercel's edge runtime and Next.js, where `?module` asks for a WebAssembly.Module.

import { installEdgeLightContext } from "./async-context.js";
import { useModule } from "./instance.js";
import compiled from "./keepsake-lean.wasm?module";

/** What an entry does first. @internal */
export function startInVercel(): void {
  useModule(compiled);
  installEdgeLightContext();
}
