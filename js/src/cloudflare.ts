import { installWorkerdContext } from "./edge/async-context.js";

await installWorkerdContext();

export { durableMemory } from "./edge/durable-memory.js";
export { limitVectorMemory } from "./edge/instance.js";
export {
  KeepsakeObject,
  keepsake,
  type MemoryNamespace,
  type StubOptions,
} from "./edge/keepsake-object.js";
export type { ObjectStorage } from "./edge/sql-host.js";
export * from "./index.js";
