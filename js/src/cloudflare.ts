import { startInWorkers } from "./edge/workers.js";

await startInWorkers();

export { durableMemory } from "./cloudflare/durable-memory.js";
export {
  KeepsakeObject,
  keepsake,
  type MemoryNamespace,
  type StubOptions,
} from "./cloudflare/keepsake-object.js";
export {
  type SearchProvider,
  type SearchProviderOptions,
  searchProvider,
} from "./cloudflare/search-provider.js";
export { limitVectorMemory } from "./edge/instance.js";
export type { ObjectStorage } from "./edge/sql-host.js";
export * from "./index.js";
