export { useModule } from "./edge/lean.slim.js";
export * from "./index.js";
