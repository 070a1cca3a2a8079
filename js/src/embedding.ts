// The caller's embedding model, whatever its shape, and one call to it per batch.

import { KeepsakeError, messageOf } from "./errors.js";
import type { EmbeddingPlan, FieldVector, StoreOperation } from "./wire/operations.js";

/** One vector: numbers, or a typed array of them. */
export type Vector = ArrayLike<number>;

/** A LangChain `Embeddings`, or anything with its two methods. */
export interface EmbeddingModel {
  embedDocuments(texts: string[]): Promise<Vector[]> | Vector[];
  embedQuery(text: string): Promise<Vector> | Vector;
}

/** One vector per text, in order. */
export type EmbeddingFunction = (texts: string[]) => Promise<Vector[]> | Vector[];

/** @internal */
export function toModel(embeddings: EmbeddingModel | EmbeddingFunction): EmbeddingModel {
  if (typeof embeddings === "function") {
    return {
      embedDocuments: (texts) => embeddings(texts),
      embedQuery: async (text) => (await embeddings([text]))[0] as Vector,
    };
  }
  if (
    typeof embeddings?.embedDocuments === "function" &&
    typeof embeddings.embedQuery === "function"
  ) {
    return embeddings;
  }
  throw new KeepsakeError(
    "invalid_argument",
    "index.embeddings must be a function or have embedDocuments and embedQuery",
  );
}

/** The operations with the vectors that the plan asks for. @internal */
export async function embed(
  operations: readonly StoreOperation[],
  plan: EmbeddingPlan,
  model: EmbeddingModel,
): Promise<StoreOperation[]> {
  const [texts, queries] = await askModel(plan, model);
  const embedded = [...operations];
  for (const { position, paths, texts: textOf } of plan.puts) {
    const vectors = paths.map((path, i): FieldVector => ({ path, values: texts[textOf[i]] }));
    embedded[position] = { ...embedded[position], vectors } as StoreOperation;
  }
  plan.queryPositions.forEach((position, i) => {
    const queryVector = queries[plan.queryOf[i]];
    embedded[position] = { ...embedded[position], queryVector } as StoreOperation;
  });
  return embedded;
}

async function askModel(
  plan: EmbeddingPlan,
  model: EmbeddingModel,
): Promise<[Float32Array[], Float32Array[]]> {
  try {
    const [texts, queries] = await Promise.all([
      plan.texts.length > 0 ? model.embedDocuments([...plan.texts]) : [],
      Promise.all(plan.queries.map((query) => model.embedQuery(query))),
    ]);
    return [toVectors(texts, plan.texts.length), toVectors(queries, plan.queries.length)];
  } catch (error) {
    throw new KeepsakeError("embedding_failed", `the embedding model failed: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function toVectors(vectors: Vector[], count: number): Float32Array[] {
  if (!Array.isArray(vectors) || vectors.length !== count) {
    throw new TypeError(`it must answer ${count} texts with ${count} vectors`);
  }
  return vectors.map((vector) => {
    const floats = vector instanceof Float32Array ? vector : Float32Array.from(vector ?? []);
    if (floats.length === 0 || !floats.every(Number.isFinite)) {
      throw new TypeError("a vector must be a list of finite numbers");
    }
    return floats;
  });
}
