/** The text of worker.js. Made by scripts/build-js.mjs. */
export declare const workerScript: string;
