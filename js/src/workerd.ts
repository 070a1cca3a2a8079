import { installWorkerdContext } from "./edge/async-context.js";

await installWorkerdContext();

export * from "./index.js";
