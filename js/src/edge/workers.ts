// Cloudflare Workers, where a bundler or the runtime makes a WebAssembly.Module of what is imported.

import { installWorkerdContext } from "./async-context.js";
import { useModule } from "./instance.js";
import compiled from "./keepsake-lean.wasm";

/** What an entry does first. @internal */
export async function startInWorkers(): Promise<void> {
  useModule(compiled);
  await installWorkerdContext();
}
