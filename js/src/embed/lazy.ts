// An embedding model that is loaded when there is time: a page does not wait for megabytes.

import { checkOptions, checkWhole, type NamesOf, show } from "../checks.js";
import { detailOf, invalid, KeepsakeError } from "../errors.js";
import type { EmbeddingModel, Vector } from "../store/embedding.js";
import { staticEmbedder } from "./embedder.js";

/** A table of words, or another embedding model, that is not here yet. */
export interface LazyModel {
  /** The length of its vectors: known before the model is here. */
  dims: number;
  /** What the file calls it. Of a table it is what `staticEmbedder(table)` has. */
  model: string;
  /** Answers the table or the model. Called once, and again where it failed. */
  load: () => Promise<Uint8Array | ArrayBuffer | EmbeddingModel>;
  /**
   * How its vectors are used where neither a search nor the store's options say it.
   * @default { mode: "hybrid", fusion: "standout" }, which suits a table
   */
  ranking?: EmbeddingModel["ranking"];
}

/** An embedding model that comes later. */
export interface LazyEmbedder extends EmbeddingModel {
  /** For `index.dims`. */
  readonly dims: number;
  readonly model: string;
  /** Until when words alone answer; undefined once the model is there. Begins to load it when idle. */
  loading(): Promise<void> | undefined;
  embedDocuments(texts: string[]): Promise<Vector[]>;
  embedQuery(text: string): Promise<Vector>;
}

const LAZY_MODEL: NamesOf<LazyModel> = { dims: 1, model: 1, load: 1, ranking: 1 };
const MOST_DIMS = 65_536;
// Of a page that is never idle.
const PATIENCE_MS = 1_000;
// After an attempt that failed.
const RETRY_MS = 30_000;

/**
 * The embedder of a table, or of another model, that is loaded later. A store asks `loading()` with its first call, which
 * begins to load it as soon as nothing else is to be done. Until it is there, searches by words and
 * meaning go by words, and what is put gets its vectors afterwards; `embedDocuments()`,
 * `embedQuery()`, `mode: "vector"` and `reembed()` wait for it.
 */
export function lazyEmbedder(options: LazyModel): LazyEmbedder {
  const { dims, model, load, ranking } = checkOptions("lazyEmbedder", LAZY_MODEL, options);
  checkWhole("dims", dims, 1, MOST_DIMS);
  if (typeof model !== "string") throw invalid(`model must be a string: ${show(model)}`);
  if (typeof load !== "function") {
    throw invalid(`load must be a function that answers a table or a model: ${show(load)}`);
  }
  let here: EmbeddingModel | undefined;
  let coming: Promise<void> | undefined;
  let begin: (() => void) | undefined;
  // When whoever asks begins anew.
  let again = 0;

  const fetched = async () => {
    const loaded = await load();
    if (isModel(loaded)) {
      here = loaded;
      return;
    }
    // To read megabytes and to make a table of them is a pause each, not one of both.
    await new Promise<void>(whenIdle);
    const embedder = staticEmbedder(loaded);
    if (embedder.model !== model || embedder.dims !== dims) {
      throw invalid(`it is ${embedder.model} and not ${model}: take loader and table of one build`);
    }
    here = embedder;
  };
  const loading = () => {
    if (here !== undefined) return undefined;
    if (coming !== undefined && Date.now() < again) return coming;
    again = Number.POSITIVE_INFINITY;
    coming = new Promise<void>((resolve) => {
      begin = resolve;
      whenIdle(resolve);
    })
      .then(fetched)
      .catch((cause: unknown) => {
        again = Date.now() + RETRY_MS;
        throw new KeepsakeError(
          "embedding_failed",
          `the embedding model ${show(model)} can't be loaded: ${detailOf(cause)}; see that its files are where load() takes them from`,
          { cause },
        );
      });
    coming.catch(noop); // it may be that nobody waits
    return coming;
  };
  const now = async () => {
    const waiting = loading();
    begin?.();
    await waiting;
    return here as EmbeddingModel;
  };
  return {
    dims,
    model,
    ranking: ranking ?? { mode: "hybrid", fusion: "standout" },
    loading,
    embedDocuments: async (texts) => (await now()).embedDocuments(texts),
    embedQuery: async (text) => (await now()).embedQuery(text),
  };
}

function isModel(loaded: Uint8Array | ArrayBuffer | EmbeddingModel): loaded is EmbeddingModel {
  return typeof (loaded as EmbeddingModel)?.embedQuery === "function";
}

function whenIdle(run: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(run, { timeout: PATIENCE_MS });
  else setTimeout(run);
}

function noop(): void {}
