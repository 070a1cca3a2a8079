// What a store can be told when it is made, and how the engine hears of it.

import {
  checkFlag,
  checkOptions,
  checkWhole,
  type NamesOf,
  readInput,
  show,
  textsIn,
} from "../checks.js";
import { invalid } from "../errors.js";
import { defaultTtlOf, NO_TTL } from "../wire/custom.js";
import type { OperationOf } from "../wire/operations.js";
import { type EmbeddingFunction, type EmbeddingModel, nameOfModel } from "./embedding.js";
import {
  RANKING_OPTIONS,
  type RankingOptions,
  TEXT,
  type TextOptions,
  textToCore,
} from "./ranking.js";
import type { SecretHandling, SecretOptions } from "./secrets.js";
import { type CallDefaults, minutesToMs } from "./store-operations.js";

/** What is embedded, and by which model. */
export interface IndexOptions {
  /** Length of every vector. */
  dims: number;
  /** A LangChain `Embeddings`, an object like it, or a function from texts to vectors. */
  embeddings: EmbeddingModel | EmbeddingFunction;
  /**
   * Paths of the texts: `title`, `a.b`, `turns[*].text`, `[-1]`, `$` for the whole value.
   * @default ["$"]
   */
  fields?: string[] | undefined;
  /**
   * Names the model. It is kept in the file, and a store that names another one is refused
   * (`model_mismatch`). @default `embeddings.model`, which LangChain's models have
   */
  model?: string | undefined;
  /**
   * Takes the vectors of another model, or of other `dims`, for void instead of refusing
   * the file: their items wait for `reembed()`. @default false
   */
  replace?: boolean | undefined;
  /** How many of the newest vectors are kept by their text, so that it is not embedded again. @default 1000 */
  cache?: number | undefined;
}

/** How long items live that this store puts, and what its reads restart. Everything is in minutes. */
export interface TtlOptions {
  /** Of items that are put without a `ttl`. @default for ever */
  defaultTtl?: number | undefined;
  /** Whether reading an item restarts its time to live. @default true */
  refreshOnRead?: boolean | undefined;
  /** How often expired items of the memory are deleted; they are never returned in any case. @default never */
  sweepIntervalMinutes?: number | undefined;
}

/** What every store can be told. */
export interface StoreOptions {
  index?: IndexOptions | undefined;
  ttl?: TtlOptions | undefined;
  /** For searches by `text` and `hybrid`. Needs no model, and costs nothing until the first of them. */
  text?: TextOptions | undefined;
  /**
   * How searches find and weigh what they find that do not say it themselves:
   * `{ mode: "hybrid" }` suits most, with an index. Weights hold where a search can have them.
   */
  ranking?: RankingOptions | undefined;
  /**
   * What becomes of keys, tokens, passwords in URLs and card numbers in values. `allow` keeps
   * values as they are given. `mask` stores `[github token]` in their place. `refuse` is
   * `secret_found`, as are secrets in keys and labels with either. @default "allow"
   */
  secrets?: SecretHandling | SecretOptions | undefined;
  /** Milliseconds since 1970; for tests. @default Date.now */
  now?: (() => number) | undefined;
}

const MAX_DIMS = 65_536;

const INDEX: NamesOf<IndexOptions> = {
  dims: 1,
  embeddings: 1,
  fields: 1,
  model: 1,
  replace: 1,
  cache: 1,
};
const TTL: NamesOf<TtlOptions> = { defaultTtl: 1, refreshOnRead: 1, sweepIntervalMinutes: 1 };

/** @internal */
export const STORE_OPTIONS: NamesOf<StoreOptions> = {
  index: INDEX,
  ttl: TTL,
  text: TEXT,
  ranking: RANKING_OPTIONS,
  secrets: 1,
  now: 1,
};
/** A copy of what a store is told, checked below its own names. @internal */
export function checkStoreOptions(given: StoreOptions | null | undefined): StoreOptions {
  const { index, ttl, text, ranking, now, secrets } = readInput("its options", () => ({
    ...given,
  })) as StoreOptions;
  for (const [name, group] of Object.entries({ index, ttl, text, ranking })) {
    if (group === undefined || group) continue;
    throw invalid(`${name} must be options by name, or left out: ${show(group)}`);
  }
  if (now !== undefined && typeof now !== "function") {
    throw invalid(`now must be a function that answers milliseconds: ${show(now)}`);
  }
  return {
    index: index && checkOptions("index", INDEX, index),
    ttl: ttl && checkOptions("ttl", TTL, ttl),
    text: text && checkOptions("text", TEXT, text),
    ranking: ranking && checkOptions("ranking", RANKING_OPTIONS, ranking),
    now,
    secrets,
  };
}

/** What belongs to the memory, and the engine keeps; undefined if it is nothing. @internal */
export function configurationOf({
  index,
  text,
}: StoreOptions): OperationOf<"configureStore"> | undefined {
  if (index === undefined && text === undefined) return undefined;
  return {
    kind: "configureStore",
    index: index && {
      dims: checkWhole("index.dims", index.dims, 1, MAX_DIMS),
      fields: checkFields(index.fields),
      model: checkModel(index.model ?? nameOfModel(index.embeddings)),
      replaceVectors: checkFlag("index.replace", index.replace) ?? false,
    },
    text: text && textToCore(text),
  };
}

/** What travels with each put and each read: others of the memory have a TTL of their own. @internal */
export function ttlOf({ ttl = {} }: StoreOptions): Pick<CallDefaults, "ttl" | "refreshTtl"> {
  const { defaultTtl, refreshOnRead } = ttl;
  return {
    ttl: defaultTtlOf(
      defaultTtl === undefined ? NO_TTL : minutesToMs("ttl.defaultTtl", defaultTtl),
    ),
    refreshTtl: checkFlag("ttl.refreshOnRead", refreshOnRead) ?? true,
  };
}

function checkFields(fields: string[] = ["$"]): string[] {
  const paths = checkPaths("index.fields", fields);
  if (paths.length > 0) return paths;
  throw invalid('index.fields must name a field, or ["$"] for the whole value');
}

/** @internal */
export function checkPaths(name: string, paths: unknown): string[] {
  const texts = textsIn(paths);
  if (texts !== undefined) return texts;
  throw invalid(`${name} must be a list of field paths, such as ["text"]: ${show(paths)}`);
}

function checkModel(model: string): string {
  if (typeof model === "string") return model;
  throw invalid("index.model must be a string");
}
