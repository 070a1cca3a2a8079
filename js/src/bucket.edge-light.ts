import { useFullModule } from "./bucket/full-module.js";
import compiled from "./edge/keepsake.wasm?module";

useFullModule(compiled);

export * from "./bucket.js";
