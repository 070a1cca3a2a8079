import { startInWorkers } from "./edge/workers.js";

await startInWorkers();

export * from "./index.js";
