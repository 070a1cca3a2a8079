export type { SqliteConnection } from "./sqlite/driver.js";
export { memoryOver } from "./sqlite/memory-over.js";
