// Gives LangGraph its AsyncLocalStorage, before any graph runs. Bundlers for Workers
// choose LangGraph's build for browsers, which has none: interrupt() would find no graph.

import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { installInterruptShim } from "../langgraph.js";

type Storage = Parameters<typeof AsyncLocalStorageProviderSingleton.initializeGlobalInstance>[0];
type StorageClass = (new () => unknown) | undefined;

/** In workerd: it is there with the compatibility flag nodejs_compat or nodejs_als. @internal */
export async function installWorkerdContext(): Promise<void> {
  const hooks = await import("node:async_hooks").catch(() => undefined);
  install(hooks?.AsyncLocalStorage);
}

/** In Vercel's edge runtime, which has it as a global. @internal */
export function installEdgeLightContext(): void {
  install((globalThis as { AsyncLocalStorage?: StorageClass }).AsyncLocalStorage);
}

function install(AsyncLocalStorage: StorageClass): void {
  if (AsyncLocalStorage === undefined) {
    installInterruptShim();
    return;
  }
  // The first one stays, whoever brings it.
  AsyncLocalStorageProviderSingleton.initializeGlobalInstance(new AsyncLocalStorage() as Storage);
}
