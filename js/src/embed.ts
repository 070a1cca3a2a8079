// Entry `keepsake/embed`: meaning without a service, from a published table of word vectors.

export { type StaticEmbedder, staticEmbedder } from "./embed/embedder.js";
export { type LazyEmbedder, type LazyTable, lazyEmbedder } from "./embed/lazy.js";
export { type CutOptions, cutWordVectors, type TableSource } from "./embed/read.js";
