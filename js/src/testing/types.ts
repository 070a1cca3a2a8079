// What a store contract case asks for, and what it is given.

import type { Item, Operation, SearchItem } from "@langchain/langgraph-checkpoint";

/** What a store must be able to do for a case to make sense. */
export type StoreNeed =
  /** Takes `index` and answers a query by cosine similarity. */
  | "index"
  /** Takes `ttl`, and `{ ttl }` and `{ refreshTtl }` per call. Times come from `now`. */
  | "ttl"
  /**
   * Puts take `validFrom`, `validUntil` and `supersedes`, searches `asOf` and
   * `includeSuperseded`. Times come from `now`.
   */
  | "validity"
  /** Puts take `origin` and `source`, which items tell; searches take `origins`. */
  | "provenance"
  /**
   * Has `keepHistory`, `dropHistory`, `history`, `undo` and `asOf`. Times come from `now`.
   */
  | "history"
  /** Takes its time from `now`. */
  | "clock"
  /** Can be closed and opened again; the runner passes `reopen`. */
  | "persistence"
  /** Has `listKeys`, `clearNamespace`, search modes, and functions as `index.embeddings`. */
  | "extras";

/** The model that a case gives to a store. */
export interface EmbeddingsUnderTest {
  embedDocuments(texts: string[]): Promise<number[][]>;
  embedQuery(text: string): Promise<number[]>;
}

export type EmbeddingFunctionUnderTest = (texts: string[]) => Promise<number[][]> | number[][];

/** How a case wants its store. */
export interface StoreCaseOptions {
  /** A function from texts to vectors is given only where "extras" are needed. */
  index?: {
    dims: number;
    embeddings: EmbeddingsUnderTest | EmbeddingFunctionUnderTest;
    fields?: string[];
  };
  /** Minutes. */
  ttl?: { defaultTtl?: number; refreshOnRead?: boolean };
  /** Milliseconds since 1970; the store asks it for every time that it needs. */
  now?: () => number;
}

/** How a case searches. */
export interface SearchCaseOptions {
  // biome-ignore lint/suspicious/noExplicitAny: upstream's type of a filter.
  filter?: Record<string, any>;
  limit?: number;
  offset?: number;
  query?: string;
  mode?: "vector" | "contains" | "text" | "hybrid";
  refreshTtl?: boolean;
  near?: number[] | { namespace: string[]; key: string };
  minScore?: number;
  plan?: "auto" | "exact" | "codes" | "graph";
  boosts?: Record<string, number>;
  explain?: boolean;
  asOf?: Date | number | string;
  includeSuperseded?: boolean;
  origins?: Record<string, number>;
}

/** How a case puts. */
export interface PutCaseOptions {
  /** Minutes. */
  ttl?: number | null;
  validFrom?: Date | number | string;
  validUntil?: Date | number | string;
  supersedes?: string | { namespace: string[]; key: string };
  origin?: "user" | "tool" | "web" | "model";
  source?: string;
}

/** `plan` is there if it was asked to explain. */
export type FoundItem = SearchItem & { plan?: string };

/** Any `BaseStore`; the optional members are for the needs "ttl", "validity" and "extras". */
export interface StoreUnderTest {
  batch(operations: Operation[]): Promise<unknown[]>;
  get(namespace: string[], key: string, options?: { refreshTtl?: boolean }): Promise<Item | null>;
  search(namespacePrefix: string[], options?: SearchCaseOptions): Promise<FoundItem[]>;
  put(
    namespace: string[],
    key: string,
    // biome-ignore lint/suspicious/noExplicitAny: upstream's type of a value.
    value: Record<string, any>,
    index?: false | string[],
    options?: PutCaseOptions,
  ): Promise<void>;
  delete(namespace: string[], key: string): Promise<void>;
  listNamespaces(options?: {
    prefix?: string[];
    suffix?: string[];
    maxDepth?: number;
    limit?: number;
    offset?: number;
  }): Promise<string[][]>;
  listKeys?(namespace: string[]): Promise<string[]>;
  clearNamespace?(namespace: string[]): Promise<number>;
  sweepExpired?(): Promise<number>;
  buildIndex?(): Promise<number>;
}

/** A new, empty store. The runner closes what it made when the case is over. */
export type MakeStore = (options?: StoreCaseOptions) => StoreUnderTest | Promise<StoreUnderTest>;

/** Closes the store and opens what it had stored, with these options. */
export type ReopenStore = (
  store: StoreUnderTest,
  options?: StoreCaseOptions,
) => StoreUnderTest | Promise<StoreUnderTest>;

/** One rule of the contract. `run` throws an Error if the store breaks it. */
export interface StoreCase {
  /** A sentence. */
  readonly name: string;
  /** The row of keepsake's capability table that the case proves. */
  readonly cap?: number;
  /** Skip the case unless the store has all of these. */
  readonly needs: readonly StoreNeed[];
  /** Rejects with an Error that says what was expected. */
  run(make: MakeStore, reopen?: ReopenStore): Promise<void>;
}
