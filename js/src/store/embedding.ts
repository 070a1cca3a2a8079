// The caller's embedding model, whatever its shape: one call to it per batch, and none for
// what it was asked before.

import { KeepsakeError, messageOf } from "../errors.js";
import type {
  EmbeddingPlan,
  FieldVector,
  ItemVectors,
  PendingEmbeddings,
  StoreOperation,
} from "../wire/operations.js";

/** One vector: numbers, or a typed array of them. */
export type Vector = ArrayLike<number>;

/** A LangChain `Embeddings`, or anything with its two methods. */
export interface EmbeddingModel {
  embedDocuments(texts: string[]): Promise<Vector[]> | Vector[];
  embedQuery(text: string): Promise<Vector> | Vector;
}

/** One vector per text, in order. */
export type EmbeddingFunction = (texts: string[]) => Promise<Vector[]> | Vector[];

const DEFAULT_CACHE = 1000;

/** What is embedded by the caller's model, and its newest answers. @internal */
export class Embedder {
  readonly #texts: (texts: string[]) => Promise<Vector[]> | Vector[];
  readonly #query: ((text: string) => Promise<Vector> | Vector) | undefined;
  readonly #cache: VectorCache;

  /** `cache` is how many vectors are kept. */
  constructor(embeddings: EmbeddingModel | EmbeddingFunction, cache: number = DEFAULT_CACHE) {
    if (!Number.isInteger(cache) || cache < 0) {
      throw new KeepsakeError(
        "invalid_argument",
        `index.cache must be a whole number from 0: ${String(cache)}`,
      );
    }
    this.#cache = new VectorCache(cache);
    if (typeof embeddings === "function") {
      this.#texts = (texts) => embeddings(texts);
    } else if (isModel(embeddings)) {
      this.#texts = (texts) => embeddings.embedDocuments(texts);
      this.#query = (text) => embeddings.embedQuery(text);
    } else {
      throw new KeepsakeError(
        "invalid_argument",
        "index.embeddings must be a function or have embedDocuments and embedQuery",
      );
    }
  }

  /** The operations with the vectors that the plan asks for. */
  async embed(
    operations: readonly StoreOperation[],
    plan: EmbeddingPlan,
  ): Promise<StoreOperation[]> {
    const [texts, queries] = await this.#ask(plan);
    const embedded = [...operations];
    for (const { position, paths, texts: textOf } of plan.puts) {
      const vectors = paths.map((path, i): FieldVector => ({ path, values: at(texts, textOf[i]) }));
      embedded[position] = { ...embedded[position], vectors } as StoreOperation;
    }
    plan.queryPositions.forEach((position, i) => {
      const queryVector = at(queries, plan.queryOf[i]);
      embedded[position] = { ...embedded[position], queryVector } as StoreOperation;
    });
    return embedded;
  }

  /** The operations with the vectors of their queries, if all of these are known. */
  embedKnown(operations: readonly StoreOperation[]): StoreOperation[] | undefined {
    const embedded: StoreOperation[] = [];
    for (const operation of operations) {
      if (operation.kind !== "search") return undefined;
      const queryVector = this.#cache.get(`${this.#query ? "q" : "t"}${operation.query}`);
      if (queryVector === undefined) return undefined;
      embedded.push({ ...operation, queryVector });
    }
    return embedded;
  }

  /** Vectors for items that wait for them. Nothing of it is cached. */
  async embedItems(items: PendingEmbeddings["items"]): Promise<ItemVectors[]> {
    const texts = items.flatMap((item) => item.texts);
    const vectors = await attempted(async () =>
      texts.length === 0 ? [] : toVectors(await this.#texts(texts), texts.length),
    );
    let next = 0;
    return items.map(({ id, fingerprint, paths }) => ({
      id,
      fingerprint,
      vectors: paths.map((path) => ({ path, values: at(vectors, next++) })),
    }));
  }

  #ask({ texts, queries }: EmbeddingPlan): Promise<[Float32Array[], Float32Array[]]> {
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
    const vectors = toVectors(await this.#texts([...unknown]), unknown.length);
    const vectorOf = new Map(unknown.map((text, i) => [text, at(vectors, i)]));
    for (const [text, vector] of vectorOf) this.#cache.set(`t${text}`, vector);
    return texts.map((text, i) => known[i] ?? (vectorOf.get(text) as Float32Array));
  }

  async #embedQuery(
    text: string,
    query: (text: string) => Promise<Vector> | Vector,
  ): Promise<Float32Array> {
    const known = this.#cache.get(`q${text}`);
    if (known !== undefined) return known;
    const vector = toFloats(await query(text));
    this.#cache.set(`q${text}`, vector);
    return vector;
  }
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
  const { model, modelName } = embeddings as { model?: unknown; modelName?: unknown };
  for (const name of [model, modelName]) if (typeof name === "string") return name;
  return "";
}

async function attempted<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw new KeepsakeError("embedding_failed", `the embedding model failed: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function at(vectors: readonly Float32Array[], index: number | undefined): Float32Array {
  return vectors[index as number] as Float32Array;
}

function toVectors(vectors: Vector[], count: number): Float32Array[] {
  if (!Array.isArray(vectors) || vectors.length !== count) {
    throw new TypeError(`it must answer ${count} texts with ${count} vectors`);
  }
  return vectors.map(toFloats);
}

/** @internal */
export function toFloats(vector: Vector): Float32Array {
  const floats = vector instanceof Float32Array ? vector : new Float32Array(vector?.length ?? 0);
  // One by one: from() takes three times as long, and makes numbers of null and "7".
  for (let i = 0; i < floats.length; i++) {
    const number = vector[i];
    if (typeof number !== "number") throw notNumbers();
    floats[i] = number;
    if (!Number.isFinite(floats[i])) throw notNumbers();
  }
  if (floats.length === 0) throw notNumbers();
  return floats;
}

function notNumbers(): TypeError {
  return new TypeError("a vector must be a list of finite numbers");
}
