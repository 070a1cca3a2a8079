/** The bytes of keepsake.wasm, packed by gzip, in base64. Made by scripts/build-js.mjs. */
export declare const wasm: string;
