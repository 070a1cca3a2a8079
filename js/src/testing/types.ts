// What a store contract case asks for, and what it is given.

import type { Item, Operation, SearchItem } from "@langchain/langgraph-checkpoint";

/** What a store must be able to do for a case to make sense. */
export type StoreNeed =
  /** Takes `index` and answers a query by cosine similarity. */
  | "index"
  /** Takes `ttl`, and `{ ttl }` and `{ refreshTtl }` per call. Times come from `now`. */
  | "ttl"
  /** Takes its time from `now`. */
  | "clock"
  /** Can be closed and opened again; the runner passes `reopen`. */
  | "persistence";

/** The model that a case gives to a store. */
export interface EmbeddingsUnderTest {
  embedDocuments(texts: string[]): Promise<number[][]>;
  embedQuery(text: string): Promise<number[]>;
}

/** How a case wants its store. */
export interface StoreCaseOptions {
  index?: { dims: number; embeddings: EmbeddingsUnderTest; fields?: string[] };
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
  refreshTtl?: boolean;
}

/** Any `BaseStore`; `sweepExpired` and the options of calls are for the need "ttl". */
export interface StoreUnderTest {
  batch(operations: Operation[]): Promise<unknown[]>;
  get(namespace: string[], key: string, options?: { refreshTtl?: boolean }): Promise<Item | null>;
  search(namespacePrefix: string[], options?: SearchCaseOptions): Promise<SearchItem[]>;
  put(
    namespace: string[],
    key: string,
    // biome-ignore lint/suspicious/noExplicitAny: upstream's type of a value.
    value: Record<string, any>,
    index?: false | string[],
    /** Minutes. */
    options?: { ttl?: number | null },
  ): Promise<void>;
  delete(namespace: string[], key: string): Promise<void>;
  listNamespaces(options?: {
    prefix?: string[];
    suffix?: string[];
    maxDepth?: number;
    limit?: number;
    offset?: number;
  }): Promise<string[][]>;
  sweepExpired?(): Promise<number>;
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
  /** Skip the case unless the store has all of these. */
  readonly needs: readonly StoreNeed[];
  /** Rejects with an Error that says what was expected. */
  run(make: MakeStore, reopen?: ReopenStore): Promise<void>;
}
