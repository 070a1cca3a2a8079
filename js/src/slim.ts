export { useModule } from "./edge/instance.js";
export * from "./index.js";
