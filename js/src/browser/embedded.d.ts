/** The text of worker.js. Made by scripts/build-js.mjs. */
export declare const workerScript: string;
/** The bytes of keepsake.wasm. */
export declare const wasmBase64: string;
