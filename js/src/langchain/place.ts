// Whose items: a store, and a namespace in it, found from the config of each run.

import { checkList, type NamesOf, show } from "../checks.js";
import { invalid } from "../errors.js";
import { unwrapStore } from "../langgraph.js";
import {
  checkScopeName,
  checkSources,
  kindOf,
  placeOfRun,
  type ScopeName,
  type ScopeSources,
} from "../scope/scope.js";
import type { SecretGuard } from "../store/secrets.js";
import type { SearchOptions } from "../store/store.js";
import {
  checkNamespace,
  type Item,
  type PutOptions,
  type SearchItem,
} from "../store/store-operations.js";

/** What a run tells of itself: a node's config, a tool's runtime or a middleware's. */
export interface Run {
  // biome-ignore lint/suspicious/noExplicitAny: as LangChain has it.
  configurable?: Record<string, any> | undefined;
  context?: unknown;
  store?: unknown;
  state?: unknown;
  executionInfo?: unknown;
}

/** What is asked of a store: all of LangGraph's have it. */
export interface ItemStore {
  get(namespace: string[], key: string): Promise<Item | null>;
  put(
    namespace: string[],
    key: string,
    value: object,
    index?: false | string[],
    options?: Pick<PutOptions, "origin" | "source">,
  ): Promise<void>;
  delete(namespace: string[], key: string): Promise<void>;
  search(namespacePrefix: string[], options?: SearchOptions): Promise<SearchItem[]>;
  /** Whether another store reads the same items by the same rules. */
  readsAs?(other: object): boolean;
  /** Where it is at home in its database. @internal */
  readonly whereabouts?: { readonly place: readonly string[] };
}

/** A memory, or a scope of one. */
export interface HasStore {
  readonly store: object;
}

/** Whose items: a `scope`, a `namespace`, or a namespace within a scope. */
export interface PlaceOptions extends ScopeSources {
  /** A memory or a scope of one, or what answers it for a run. @default the graph's store */
  memory?: HasStore | ((run: Run) => HasStore) | undefined;
  /** A store, in the place of a memory. */
  store?: object | undefined;
  /**
   * Whose: found from `context` and `configurable` of the run, as `scopeOf()` does it. `"user"`
   * needs a `user_id`.
   */
  scope?: ScopeName | undefined;
  /** Where: within the scope if there is one. @default [] */
  namespace?: string[] | ((run: Run) => string[]) | undefined;
}

/** @internal */
export const PLACE_OPTIONS: NamesOf<PlaceOptions> = {
  memory: 1,
  store: 1,
  scope: 1,
  namespace: 1,
  sources: 1,
};

/** A place in a store. @internal */
export interface Place {
  store: ItemStore;
  labels: string[];
  /** Undefined if what is written there is kept as it is. */
  secrets?: SecretGuard | undefined;
}

/** Of what a model writes, or a program on its behalf. @internal */
export const BY_MODEL = { origin: "model" } as const;

/** Below a place: turns that wait for a learner. They are no facts. @internal */
export const UNLEARNT = "keepsake-unlearnt";
// Of those, what a second search looks past, the third four times as much, and so on.
const LOOKED_PAST = 100;

/** What a search of a place finds, without what waits to be learnt or was set aside. @internal */
export async function facts(
  { store, labels }: Place,
  options: SearchOptions & { limit: number },
): Promise<SearchItem[]> {
  const { limit } = options;
  let most = limit;
  for (let past = LOOKED_PAST; ; past *= 4) {
    const hits = await store.search(labels, { ...options, limit: most });
    const found = hits.filter(({ namespace }) => namespace.at(-1) !== UNLEARNT);
    if (found.length >= limit || hits.length < most) return found.slice(0, limit);
    most = limit + past;
  }
}

/** An item for a model. What is in quarantine is not there for it. @internal */
export async function itemAt({ store, labels }: Place, key: string): Promise<Item | undefined> {
  const item = await store.get(labels, key);
  return item === null || item.quarantined ? undefined : item;
}

/** Refuses what names nobody, before the first run. @internal */
export function checkPlace(call: string, options: PlaceOptions): void {
  const { memory, store, scope, namespace, sources } = options;
  checkSources(call, sources);
  if (sources !== undefined && scope === undefined) {
    throw invalid(`sources of ${call} are those of a scope: give it one, such as "user"`);
  }
  if (scope === undefined && namespace === undefined) {
    throw invalid(
      `${call} must be told whose items: give it a scope, such as "user", or a namespace, such as ["facts"]`,
    );
  }
  if (scope !== undefined) checkScopeName(scope, `scope of ${call}`);
  if (Array.isArray(namespace)) checkNamespace(namespace);
  else if (namespace !== undefined && typeof namespace !== "function") {
    checkList("namespace", namespace as never);
  }
  if (memory !== undefined && store !== undefined) {
    throw invalid(`${call} takes a memory or a store, not both`);
  }
  if (store !== undefined) checkLevel(call, checkStore(call, store), scope);
  if (memory !== undefined && typeof memory !== "function") {
    if (typeof (memory as { then?: unknown } | null)?.then === "function")
      throw invalid(`${call} got a promise as memory: await openMemory(…) first`);
    checkLevel(call, checkStore(call, memory?.store), scope);
  }
}

// A user within a user is nobody whom a program means.
function checkLevel(call: string, store: ItemStore, scope: ScopeName | undefined): ItemStore {
  const place = store.whereabouts?.place ?? [];
  if (scope === undefined || place.length === 0) return store;
  const kind = kindOf(scope);
  if (!place.some((label, i) => i % 2 === 0 && label === kind)) return store;
  throw invalid(
    `${call} got a memory that is scoped already, to ${JSON.stringify(place)}, and its scope ${show(scope)} would be one more within that: give it the whole memory, or a namespace such as ["facts"] in the place of the scope`,
  );
}

/** @internal */
export function placeOf(call: string, options: PlaceOptions, run: Run): Place {
  const { memory, store, scope, namespace, sources } = options;
  const whose = typeof memory === "function" ? memory(run) : memory;
  const within = typeof namespace === "function" ? namespace(run) : (namespace ?? []);
  const found = unwrapStore(store ?? whose?.store ?? (run.store as object | undefined));
  return {
    store: checkLevel(call, checkStore(call, found), scope),
    labels: [
      ...(scope === undefined ? [] : placeOfRun(scope, run, { sources })),
      ...checkNamespace(within),
    ],
  };
}

function checkStore(call: string, store: unknown): ItemStore {
  if (typeof (store as Partial<ItemStore> | null | undefined)?.search === "function") {
    return store as ItemStore;
  }
  throw invalid(
    `${call} has no store${store === undefined || store === null ? "" : `, got ${show(store)}`}: give it memory or store, or give the graph or agent a store`,
  );
}
