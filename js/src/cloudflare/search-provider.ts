// Items as a searchable block of context of Cloudflare's agents.

import { checkOptions, checkText, checkWhole, type NamesOf } from "../checks.js";
import { invalid } from "../errors.js";
import type { Memory } from "../memory.js";
import { checkNamespace, type SearchItem } from "../store/store-operations.js";

/** Which items, and how many are shown. */
export interface SearchProviderOptions {
  /** Where they are. @default ["context", the block's label] */
  namespace?: string[] | undefined;
  /** Items that a search shows at most. @default 10 */
  limit?: number | undefined;
}

/** What `agents/context` calls a SearchProvider. */
export interface SearchProvider {
  /** Called with the label of its block. */
  init(label: string): void;
  /** How many items there are; null if none. */
  get(): Promise<string | null>;
  /** The items that answer a question, a line each; null if none does. */
  search(query: string): Promise<string | null>;
  /** Adds an item, or replaces it. */
  set(key: string, content: string): Promise<void>;
}

const OPTIONS: NamesOf<SearchProviderOptions> = { namespace: 1, limit: 1 };

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
  const { namespace, limit = 10 } = checkOptions("searchProvider", OPTIONS, options);
  checkWhole("limit", limit, 1);
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
      const hits = await store.search(placeNow(), { query, mode: "hybrid", limit });
      return hits.length === 0 ? null : hits.map(lineOf).join("\n");
    },
    set: (key, content) => store.put(placeNow(), key, { text: checkText("content", content) }),
  };
}

function lineOf({ key, value }: SearchItem): string {
  return `- ${key}: ${typeof value.text === "string" ? value.text : JSON.stringify(value)}`;
}
