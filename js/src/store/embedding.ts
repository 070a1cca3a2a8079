// The caller's embedding model, whatever its shape: one call to it per batch, and none for
// what it was asked before.

import { checkChoice, checkOptions, checkWhole, type NamesOf, show } from "../checks.js";
import type { MaybePromise } from "../engine/answers.js";
import { detailOf, invalid, KeepsakeError, messageOf } from "../errors.js";
import {
  type FieldVector,
  Fusion,
  type ItemVectors,
  type PendingEmbeddings,
  SearchMode,
} from "../wire/layout.js";
import type { PutOperation, SearchOperation, StoreOperation } from "../wire/operations.js";
import type { RankingOptions } from "./ranking.js";
import type { SecretGuard } from "./secrets.js";
import { type PathText, textsToEmbed } from "./texts.js";

/** One vector: numbers, or a typed array of them. */
export type Vector = ArrayLike<number>;

/** A LangChain `Embeddings`, or anything with its two methods. */
export interface EmbeddingModel {
  /** How its vectors are used, where neither a search nor the store's options say it. */
  readonly ranking?: Pick<RankingOptions, "mode" | "fusion">;
  /**
   * Until when the model can't be asked, undefined once it can. Meanwhile searches by words and
   * vectors go by words, and items wait for their vectors; nothing of it waits for the model.
   */
  loading?(): Promise<unknown> | undefined;
  embedDocuments(texts: string[]): Promise<Vector[]> | Vector[];
  embedQuery(text: string): Promise<Vector> | Vector;
}

/** One vector per text, in order. */
export type EmbeddingFunction = (texts: string[]) => Promise<Vector[]> | Vector[];

const DEFAULT_CACHE = 1000;

/** What is embedded, by which model, and its newest answers. @internal */
export class Embedder {
  readonly #fields: readonly string[];
  readonly #texts: (texts: string[]) => Promise<Vector[]> | Vector[];
  readonly #query: ((text: string) => Promise<Vector> | Vector) | undefined;
  /** As the model has it. */
  readonly loading: (() => Promise<unknown> | undefined) | undefined;
  readonly #cache: VectorCache;
  // Whether something was embedded, or it was told that nothing is.
  #isSure = false;

  /**
   * `fields` are embedded of what chooses none itself; `cache` is how many vectors are kept. The
   * model is somebody else's: `secrets` are in no text that it is sent.
   */
  constructor(
    embeddings: EmbeddingModel | EmbeddingFunction,
    fields: readonly string[],
    cache: number = DEFAULT_CACHE,
    secrets?: SecretGuard,
  ) {
    const sent = (text: string) => secrets?.sent(text) ?? text;
    this.#fields = fields;
    this.#cache = new VectorCache(checkWhole("index.cache", cache, 0));
    if (typeof embeddings === "function") {
      this.#texts = (texts) => embeddings(texts.map(sent));
    } else if (isModel(embeddings)) {
      this.#texts = (texts) => embeddings.embedDocuments(texts.map(sent));
      this.#query = (text) => embeddings.embedQuery(sent(text));
      if (typeof embeddings.loading === "function") this.loading = () => embeddings.loading?.();
    } else {
      throw new KeepsakeError(
        "invalid_argument",
        "index.embeddings must be a function or have embedDocuments and embedQuery",
      );
    }
  }

  /** The operations with their vectors: at once if the model need not be asked. */
  embed(operations: readonly StoreOperation[]): MaybePromise<StoreOperation[]> {
    const loading = this.loading?.();
    if (loading) return embedMeanwhile(operations) ?? this.#embedAfter(loading, operations);
    const plan = planOf(operations, this.#fields);
    this.#watch(operations, plan.puts);
    const texts = plan.texts.map((text) => this.#cache.get(`t${text}`));
    const queries = plan.queries.map((text) => this.#cache.get(this.#queryKey(text)));
    if (areAll(texts) && areAll(queries)) return withVectors(operations, plan, texts, queries);
    return this.#ask(plan).then(([asked, questions]) =>
      withVectors(operations, plan, asked, questions),
    );
  }

  async #embedAfter(
    loading: Promise<unknown>,
    operations: readonly StoreOperation[],
  ): Promise<StoreOperation[]> {
    await attempted(() => loading);
    return this.embed(operations);
  }

  /** Vectors for items that wait for them. Nothing of it is cached. */
  async embedItems(items: PendingEmbeddings["items"]): Promise<ItemVectors[]> {
    const texts = items.flatMap((item) => item.texts);
    const vectors = await attempted(async () =>
      texts.length === 0 ? [] : toVectors(await this.#texts(texts), texts),
    );
    let next = 0;
    return items.map(({ id, fingerprint, paths }) => ({
      id,
      fingerprint,
      vectors: paths.map((path) => ({ path, values: at(vectors, next++) })),
    }));
  }

  // Fields that are misspelt make no vectors, which who puts the first items should know.
  #watch(operations: readonly StoreOperation[], puts: Plan["puts"]): void {
    if (this.#isSure) return;
    this.#isSure = [...puts.values()].some(({ length }) => length > 0);
    const byDefault = [...puts.keys()].filter((at) => !(operations[at] as PutOperation).index);
    if (this.#isSure || byDefault.length === 0) return;
    this.#isSure = true;
    console.warn(
      `[keepsake] the first ${byDefault.length === 1 ? "item has" : "items have"} no text at index.fields ${JSON.stringify(this.#fields)}, and so no vectors. If that is meant, put such items with index: false.`,
    );
  }

  #queryKey(text: string): string {
    return `${this.#query ? "q" : "t"}${text}`;
  }

  #ask({ texts, queries }: Plan): Promise<[Float32Array[], Float32Array[]]> {
    const query = this.#query;
    return attempted(async () => {
      if (query === undefined) {
        const all = await this.#embedTexts([...texts, ...queries]);
        return [all.slice(0, texts.length), all.slice(texts.length)];
      }
      return Promise.all([
        this.#embedTexts(texts),
        Promise.all(queries.map((text) => this.#embedQuery(text, query))),
      ]);
    });
  }

  // One call for those that are not known yet.
  async #embedTexts(texts: string[]): Promise<Float32Array[]> {
    const known = texts.map((text) => this.#cache.get(`t${text}`));
    const unknown = [...new Set(texts.filter((_, i) => known[i] === undefined))];
    if (unknown.length === 0) return known as Float32Array[];
    const vectors = toVectors(await this.#texts([...unknown]), unknown);
    const vectorOf = new Map(unknown.map((text, i) => [text, at(vectors, i)]));
    for (const [text, vector] of vectorOf) this.#cache.set(`t${text}`, vector);
    return texts.map((text, i) => known[i] ?? (vectorOf.get(text) as Float32Array));
  }

  async #embedQuery(
    text: string,
    query: (text: string) => Promise<Vector> | Vector,
  ): Promise<Float32Array> {
    const known = this.#cache.get(this.#queryKey(text));
    if (known !== undefined) return known;
    const vector = toVector(await query(text), text);
    this.#cache.set(this.#queryKey(text), vector);
    return vector;
  }
}

/** What a batch needs embedded. */
interface Plan {
  /** For embedDocuments, and those of the puts by their position. */
  texts: string[];
  puts: Map<number, PathText[]>;
  /** For embedQuery, and that of the searches by their position. */
  queries: string[];
  searches: Map<number, string>;
}

function planOf(operations: readonly StoreOperation[], fields: readonly string[]): Plan {
  const puts = new Map<number, PathText[]>();
  const searches = new Map<number, string>();
  for (const [position, operation] of operations.entries()) {
    if (!needsEmbedding(operation)) continue;
    if (operation.kind === "search") searches.set(position, operation.query as string);
    else if (isLastPut(operations, position)) {
      const paths = operation.index || fields;
      puts.set(position, textsToEmbed(operation.value as string, paths));
    }
  }
  const texts = [...puts.values()].flatMap((found) => found.map(({ text }) => text));
  return {
    texts: [...new Set(texts)],
    puts,
    queries: [...new Set(searches.values())],
    searches,
  };
}

// Without a model that is being loaded: what is put waits for its vectors. Undefined if a search
// asks for nothing but vectors.
function embedMeanwhile(operations: readonly StoreOperation[]): StoreOperation[] | undefined {
  const asksForVectors = operations.some(
    (operation) =>
      operation.kind === "search" && needsEmbedding(operation) && operation.mode !== "hybrid",
  );
  if (asksForVectors) return undefined;
  return operations.map((operation) =>
    operation.kind === "search" && needsEmbedding(operation)
      ? { ...operation, mode: "text" }
      : operation,
  );
}

// What a later one replaces need not be embedded.
function isLastPut(operations: readonly StoreOperation[], position: number): boolean {
  const put = operations[position] as PutOperation;
  return !operations.some(
    (later, at) =>
      at > position &&
      later.kind === "put" &&
      later.key === put.key &&
      isSameNamespace(later.namespace, put.namespace),
  );
}

function withVectors(
  operations: readonly StoreOperation[],
  plan: Plan,
  texts: readonly Float32Array[],
  queries: readonly Float32Array[],
): StoreOperation[] {
  const textVectors = new Map(plan.texts.map((text, i) => [text, at(texts, i)]));
  const queryVectors = new Map(plan.queries.map((text, i) => [text, at(queries, i)]));
  const embedded = [...operations];
  for (const [position, found] of plan.puts) {
    const vectors = found.map(
      ({ path, text }): FieldVector => ({
        path,
        values: textVectors.get(text) as Float32Array,
      }),
    );
    embedded[position] = { ...(operations[position] as PutOperation), vectors };
  }
  for (const [position, text] of plan.searches) {
    const search = operations[position] as SearchOperation;
    embedded[position] = { ...search, queryVector: queryVectors.get(text) };
  }
  return embedded;
}

const EMBEDS_NOTHING: ReadonlySet<SearchMode | undefined> = new Set(["contains", "text"]);

/** Whether the model may have to be asked before this. @internal */
export function needsEmbedding(
  operation: StoreOperation,
): operation is PutOperation | SearchOperation {
  if (operation.kind === "put") {
    return operation.value !== null && operation.index !== false && !operation.vectors?.length;
  }
  return (
    operation.kind === "search" &&
    operation.query !== "" &&
    operation.limit !== 0 &&
    operation.near === undefined &&
    operation.queryVector === undefined &&
    !EMBEDS_NOTHING.has(operation.mode)
  );
}

// The newest vectors by what they are of.
class VectorCache {
  readonly #most: number;
  readonly #vectors = new Map<string, Float32Array>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): Float32Array | undefined {
    const vector = this.#vectors.get(key);
    if (vector === undefined) return undefined;
    this.#vectors.delete(key); // a Map is in the order in which it was filled
    this.#vectors.set(key, vector);
    return vector;
  }

  set(key: string, vector: Float32Array): void {
    if (this.#most === 0) return;
    if (this.#vectors.size >= this.#most) {
      this.#vectors.delete(this.#vectors.keys().next().value as string);
    }
    this.#vectors.set(key, vector.slice()); // the model may write to its own again
  }
}

function isModel(embeddings: EmbeddingModel): boolean {
  return (
    typeof embeddings?.embedDocuments === "function" && typeof embeddings.embedQuery === "function"
  );
}

/** What the model calls itself: LangChain's models do. "" if it doesn't. @internal */
export function nameOfModel(embeddings: EmbeddingModel | EmbeddingFunction): string {
  // What is none, the Embedder refuses.
  const { model, modelName } = (embeddings ?? {}) as { model?: unknown; modelName?: unknown };
  for (const name of [model, modelName]) if (typeof name === "string") return name;
  return "";
}

const OF_MODELS: NamesOf<NonNullable<EmbeddingModel["ranking"]>> = { mode: 1, fusion: 1 };

/** What the model says of it. @internal */
export function rankingOf(embeddings: EmbeddingModel | EmbeddingFunction): RankingOptions {
  const { ranking } = (embeddings ?? {}) as EmbeddingModel;
  for (const name of ["searchMode", "fusion"]) {
    if (name in Object(embeddings)) {
      throw invalid(`embeddings.${name} is now embeddings.ranking: { mode, fusion }`);
    }
  }
  const { mode, fusion } = checkOptions("embeddings.ranking", OF_MODELS, ranking);
  if (mode !== undefined) checkChoice("embeddings.ranking.mode", SearchMode, mode);
  if (fusion !== undefined) checkChoice("embeddings.ranking.fusion", Fusion, fusion);
  return { mode, fusion };
}

async function attempted<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw new KeepsakeError("embedding_failed", `the embedding model failed: ${detailOf(error)}`, {
      cause: error,
    });
  }
}

function areAll(vectors: readonly (Float32Array | undefined)[]): vectors is Float32Array[] {
  return !vectors.includes(undefined);
}

function isSameNamespace(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((label, i) => label === b[i]);
}

function at(vectors: readonly Float32Array[], index: number | undefined): Float32Array {
  return vectors[index as number] as Float32Array;
}

function toVectors(vectors: Vector[], texts: readonly string[]): Float32Array[] {
  const count = texts.length;
  if (!Array.isArray(vectors) || vectors.length !== count) {
    const answered = Array.isArray(vectors) ? `${vectors.length} vectors` : show(vectors);
    throw new TypeError(`it must answer ${count} texts with ${count} vectors, not ${answered}`);
  }
  return vectors.map((vector, i) => toVector(vector, texts[i] as string));
}

// Of a text. One of zeros is near to nothing and to everything: a model that failed.
function toVector(vector: Vector, text: string): Float32Array {
  try {
    return toFloats(vector);
  } catch (error) {
    throw new TypeError(`of the text ${show(text)}: ${messageOf(error)}`);
  }
}

/** @internal */
export function toFloats(vector: Vector): Float32Array {
  const floats = vector instanceof Float32Array ? vector : new Float32Array(vector?.length ?? 0);
  // One by one: from() takes three times as long, and makes numbers of null and "7".
  let hasDirection = false;
  for (let i = 0; i < floats.length; i++) {
    const number = vector[i];
    if (typeof number !== "number") throw notNumbers();
    floats[i] = number;
    if (!Number.isFinite(floats[i])) throw notNumbers();
    hasDirection ||= floats[i] !== 0;
  }
  if (floats.length === 0) throw notNumbers();
  if (!hasDirection) throw new TypeError("a vector must not be all zeros, which has no direction");
  return floats;
}

function notNumbers(): TypeError {
  return new TypeError("a vector must be a list of finite numbers");
}
