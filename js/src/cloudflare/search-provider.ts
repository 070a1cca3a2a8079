// Items as a searchable block of context of Cloudflare's agents.

import { checkOptions, checkText, checkWhole, type NamesOf } from "../checks.js";
import { invalid } from "../errors.js";
import type { Memory } from "../memory.js";
import { fencedWithin, KEYED, lineOf } from "../prompt/item-text.js";
import { HYBRID } from "../store/ranking.js";
import { checkNamespace } from "../store/store-operations.js";

/** Which items, and how many are shown. */
export interface SearchProviderOptions {
  /** Where they are. @default ["context", the block's label] */
  namespace?: string[] | undefined;
  /** Items that a search shows at most. @default 10 */
  limit?: number | undefined;
  /** Of what a search answers. It says how many items it leaves out. @default 1000 */
  maxTokens?: number | undefined;
}

/** What `agents/context` calls a SearchProvider. */
export interface SearchProvider {
  /** Called with the label of its block. */
  init(label: string): void;
  /** How many items there are; null if none. */
  get(): Promise<string | null>;
  /** The items that answer a question, a line each, fenced as data; null if none does. */
  search(query: string): Promise<string | null>;
  /** Adds an item, or replaces it: a model's word. */
  set(key: string, content: string): Promise<void>;
}

const OPTIONS: NamesOf<SearchProviderOptions> = { namespace: 1, limit: 1, maxTokens: 1 };

/**
 * Finds items of a memory, or of a scope of one, for a block of context of Cloudflare's agents: by
 * words, and by meaning if the store has an index.
 *
 *     new ContextBlocks([{ label: "facts", provider: searchProvider(memory) }]);
 */
export function searchProvider(
  { store }: Pick<Memory, "store">,
  options?: SearchProviderOptions,
): SearchProvider {
  const given = checkOptions("searchProvider", OPTIONS, options);
  const { namespace, limit = 10, maxTokens = 1000 } = given;
  checkWhole("limit", limit, 1);
  checkWhole("maxTokens", maxTokens, 0);
  let place = namespace && checkNamespace(namespace);
  const placeNow = (): string[] => {
    if (place !== undefined) return place;
    throw invalid('searchProvider has no namespace yet: give it one, such as ["facts"]');
  };
  return {
    init(label) {
      place ??= ["context", checkText("label", label)];
    },
    async get() {
      const { length } = await store.listKeys(placeNow());
      return length === 0 ? null : `${length} items, to be searched`;
    },
    async search(query) {
      const hits = await store.search(placeNow(), { query, limit, ranking: HYBRID });
      if (hits.length === 0) return null;
      const lines = hits.map((hit) => lineOf(hit, KEYED));
      return fencedWithin(maxTokens, "items", lines);
    },
    async set(key, content) {
      const value = { text: checkText("content", content) };
      await store.put(placeNow(), key, value, undefined, { origin: "model" });
    },
  };
}
