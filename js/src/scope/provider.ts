// A memory as a workflow engine asks for one: entries by namespace and key.

import { checkOptions, checkWhole, type NamesOf, show } from "../checks.js";
import { detailOf, invalid, KeepsakeError, type KeepsakeErrorCode } from "../errors.js";
import { type Origin, toldOf } from "../store/provenance.js";
import { HYBRID } from "../store/ranking.js";
import type { KeepsakeStore, SearchOptions } from "../store/store.js";
import type { Item, SearchItem } from "../store/store-operations.js";
import { encodeLabel } from "./labels.js";

/** An entry, as it is recalled. */
export interface MemoryEntry {
  id: string;
  namespace: string;
  key: string;
  value: unknown;
  /** What it was stored with; `time` is when it was, in ISO 8601, unless it has one. */
  metadata: Record<string, unknown>;
  /** 0 to 1, of a search. */
  score?: number | undefined;
  /** Who or what it comes from, if that was said. */
  origin?: Origin | undefined;
  source?: string | undefined;
}

/** An entry that is to be stored. */
export interface MemoryStoreParams {
  /** `user:ada` for `["user", "ada"]`, as `resolveNamespace()` makes it, or any other text. */
  namespace: string;
  key: string;
  value: unknown;
  /** Time, tags, class: whatever is to be filtered by. */
  metadata?: Record<string, unknown> | undefined;
  /** Who or what it comes from, as a put of the store takes it. @default unknown */
  origin?: Origin | undefined;
  /** Where exactly. */
  source?: string | undefined;
}

/** What is to be recalled. */
export interface MemoryQuery {
  namespace: string;
  /** This entry, if it is there. Else a search. */
  key?: string | undefined;
  query_text?: string | undefined;
  /** Of metadata: `{ class: "preference" }`, with the operators of a store's filter. */
  filter?: Record<string, unknown> | undefined;
  /** @default 10 */
  top_k?: number | undefined;
}

const STORE: NamesOf<MemoryStoreParams> = {
  namespace: 1,
  key: 1,
  value: 1,
  metadata: 1,
  origin: 1,
  source: 1,
};
const RECALL: NamesOf<MemoryQuery> = {
  namespace: 1,
  key: 1,
  query_text: 1,
  filter: 1,
  top_k: 1,
};

const DEFAULT_TOP_K = 10;
// What a provider's caller can act on. All else is the provider's own trouble.
const KNOWN: readonly KeepsakeErrorCode[] = ["not_found", "access_denied", "quota_exceeded"];

/**
 * `store`, `recall`, `delete` and `clear_namespace` over a store. It rejects with `not_found`,
 * `access_denied`, `quota_exceeded`, or else `provider_error`, whose `cause` says more.
 */
export class MemoryProvider {
  readonly #store: KeepsakeStore;

  /** @internal */
  constructor(store: KeepsakeStore) {
    this.#store = store;
  }

  /** Puts an entry, in the place of what had its key. */
  async store(params: MemoryStoreParams): Promise<void> {
    await this.#attempt(async () => {
      const given = checkOptions("store", STORE, params);
      const { namespace, key, value, metadata, origin, source } = given;
      if (value === undefined) throw invalid("value of store must be given");
      const entry = { value, metadata: checkMetadata(metadata) };
      await this.#store.put(labelsOf(namespace), key, entry, undefined, { origin, source });
    });
  }

  /** The entry of a key (or none), or else those that a search finds, best first. */
  async recall(query: MemoryQuery): Promise<MemoryEntry[]> {
    return this.#attempt(async () => {
      const given = checkOptions("recall", RECALL, query);
      const { namespace, key, query_text, filter, top_k = DEFAULT_TOP_K } = given;
      const labels = labelsOf(namespace);
      if (key !== undefined) {
        const item = await this.#store.get(labels, key);
        return item === null || item.quarantined ? [] : [entryOf(namespace, item)];
      }
      const options: SearchOptions = { limit: checkWhole("top_k", top_k, 0) };
      if (query_text) Object.assign(options, { query: query_text, ranking: HYBRID });
      if (filter !== undefined) options.filter = { metadata: filter };
      const found = await this.#search(labels, options, top_k);
      return found.map((item) => entryOf(namespace, item));
    });
  }

  /** Deletes an entry. `not_found` if there is none. */
  async delete(namespace: string, key: string): Promise<void> {
    await this.#attempt(async () => {
      const labels = labelsOf(namespace);
      if ((await this.#store.get(labels, key, { refreshTtl: false })) === null) {
        throw new KeepsakeError(
          "not_found",
          `Memory not found: namespace=${namespace}, key=${key}`,
        );
      }
      await this.#store.delete(labels, key);
    });
  }

  /** Deletes all entries of exactly this namespace; says how many there were. */
  async clear_namespace(namespace: string): Promise<number> {
    return this.#attempt(() => this.#store.clearNamespace(labelsOf(namespace)));
  }

  toJSON(): string {
    return "[MemoryProvider]";
  }

  // What lies deeper is of other namespaces.
  async #search(labels: string[], options: SearchOptions, most: number): Promise<SearchItem[]> {
    const found: SearchItem[] = [];
    for (let offset = 0; found.length < most; offset += most) {
      const page = await this.#store.search(labels, { ...options, offset });
      found.push(...page.filter(({ namespace }) => namespace.length === labels.length));
      if (page.length < most) break;
    }
    return found.slice(0, most);
  }

  async #attempt<T>(body: () => Promise<T>): Promise<T> {
    try {
      return await body();
    } catch (error) {
      if (error instanceof KeepsakeError && KNOWN.includes(error.code)) throw error;
      const message = detailOf(error);
      throw new KeepsakeError("provider_error", `MemoryProvider: ${message}`, { cause: error });
    }
  }
}

// `["user", "ada"]`, the place of the scope, of `user:ada`. An id may contain ":", so only the first
// one parts them.
function labelsOf(namespace: unknown): string[] {
  if (typeof namespace !== "string" || namespace === "") {
    throw invalid(`namespace must be a text that is not empty: ${show(namespace)}`);
  }
  const at = namespace.indexOf(":");
  const parts = at < 0 ? [namespace] : [namespace.slice(0, at), namespace.slice(at + 1)];
  return parts.map(encodeLabel);
}

function checkMetadata(metadata: unknown): Record<string, unknown> {
  if (metadata === undefined || metadata === null) return {};
  if (typeof metadata === "object" && !Array.isArray(metadata)) {
    return metadata as Record<string, unknown>;
  }
  throw invalid(`metadata must be an object: ${show(metadata)}`);
}

function entryOf(namespace: string, item: SearchItem | Item): MemoryEntry {
  const { value, metadata } = item.value as { value: unknown; metadata?: Record<string, unknown> };
  const entry: MemoryEntry = {
    id: `${namespace}/${item.key}`,
    namespace,
    key: item.key,
    value,
    metadata: { time: item.updatedAt.toISOString(), ...metadata },
  };
  const score = (item as SearchItem).score;
  if (score !== undefined) entry.score = Math.min(1, Math.max(0, score));
  return Object.assign(entry, toldOf(item));
}
