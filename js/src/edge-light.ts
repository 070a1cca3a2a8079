import { installEdgeLightContext } from "./edge/async-context.js";

installEdgeLightContext();

export * from "./index.js";
