// The embedder of a table that is loaded when there is time: a page does not wait for megabytes.

import { checkOptions, checkWhole, type NamesOf, show } from "../checks.js";
import { detailOf, invalid, KeepsakeError } from "../errors.js";
import { type StaticEmbedder, staticEmbedder } from "./embedder.js";

/** A table of words that is not here yet. */
export interface LazyTable {
  /** What `staticEmbedder(table)` has: known before the table is. */
  dims: number;
  model: string;
  /** Called once, and again where it failed. */
  load: () => Promise<Uint8Array | ArrayBuffer>;
}

/** A `StaticEmbedder` whose table comes later. */
export interface LazyEmbedder extends StaticEmbedder {
  /** Until when words alone answer; undefined once the table is there. Begins to load it when idle. */
  loading(): Promise<void> | undefined;
}

const LAZY_TABLE: NamesOf<LazyTable> = { dims: 1, model: 1, load: 1 };
const MOST_DIMS = 65_536;
// Of a page that is never idle.
const PATIENCE_MS = 1_000;
// After an attempt that failed.
const RETRY_MS = 30_000;

/**
 * The embedder of a table that is loaded later. A store asks `loading()` with its first call, which
 * begins to load it as soon as nothing else is to be done. Until it is there, searches by words and
 * meaning go by words, and what is put gets its vectors afterwards; `embedDocuments()`,
 * `embedQuery()`, `mode: "vector"` and `reembed()` wait for it.
 */
export function lazyEmbedder(table: LazyTable): LazyEmbedder {
  const { dims, model, load } = checkOptions("lazyEmbedder", LAZY_TABLE, table);
  checkWhole("dims", dims, 1, MOST_DIMS);
  if (typeof model !== "string") throw invalid(`model must be a string: ${show(model)}`);
  if (typeof load !== "function") {
    throw invalid(`load must be a function that answers a table: ${show(load)}`);
  }
  let here: StaticEmbedder | undefined;
  let coming: Promise<void> | undefined;
  let begin: (() => void) | undefined;
  // When whoever asks begins anew.
  let again = 0;

  const fetched = async () => {
    const bytes = await load();
    // To read megabytes and to make a table of them is a pause each, not one of both.
    await new Promise<void>(whenIdle);
    const embedder = staticEmbedder(bytes);
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
          `the table of words can't be loaded: ${detailOf(cause)}; see that it is shipped beside its package`,
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
    return here as StaticEmbedder;
  };
  return {
    dims,
    model,
    ranking: { mode: "hybrid", fusion: "standout" },
    loading,
    embedDocuments: async (texts) => (await now()).embedDocuments(texts),
    embedQuery: async (text) => (await now()).embedQuery(text),
  };
}

function whenIdle(run: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(run, { timeout: PATIENCE_MS });
  else setTimeout(run);
}

function noop(): void {}
