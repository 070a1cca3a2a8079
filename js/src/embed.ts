// Entry `keepsake/embed`: meaning without a service: published tables of word vectors, and models that are loaded later.

export { type StaticEmbedder, staticEmbedder } from "./embed/embedder.js";
export { type LazyEmbedder, type LazyModel, lazyEmbedder } from "./embed/lazy.js";
export { type CutOptions, cutWordVectors, type TableSource } from "./embed/read.js";
