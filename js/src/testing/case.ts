// What the files of cases share.

import type { Operation, SearchItem } from "@langchain/langgraph-checkpoint";
import { expectTrue } from "./check.js";
import { ColourEmbeddings, colourIndex, ManualClock } from "./fakes.js";
import type {
  MakeStore,
  ReopenStore,
  StoreCase,
  StoreCaseOptions,
  StoreNeed,
  StoreUnderTest,
} from "./types.js";

/** What a case may use beside its store. */
interface Bench {
  /** What the store was made with. */
  options: StoreCaseOptions;
  /** The store's, where times come from `now`. */
  clock: ManualClock;
  /** The store's, where it has an index. */
  embeddings: ColourEmbeddings;
  reopen: ReopenStore;
}

/** What a case does. */
export type Run<Store = StoreUnderTest> = (store: Store, bench: Bench) => Promise<void>;

interface CaseOptions extends Pick<StoreCaseOptions, "ttl"> {
  cap?: number;
  needs?: readonly StoreNeed[];
  /** What is embedded: by default the field "text", and the whole value if null. */
  fields?: string[] | null;
}

const TIMED: readonly StoreNeed[] = ["clock", "ttl", "validity", "history"];

/** A case with one store, which is empty and made for what the case needs. */
export function storeCase(
  name: string,
  { fields = ["text"], ttl, ...options }: CaseOptions,
  run: Run,
): StoreCase {
  const { needs = [] } = options;
  return makingCase(name, options, async (make, reopen) => {
    const clock = new ManualClock();
    const embeddings = new ColourEmbeddings();
    const given: StoreCaseOptions = {
      ...(needs.some((need) => TIMED.includes(need)) && { now: clock.now }),
      ...(needs.includes("index") && colourIndex(embeddings, fields ?? undefined)),
      ...(ttl && { ttl }),
    };
    await run(await make(given), { options: given, clock, embeddings, reopen });
  });
}

/** A case that makes its stores by itself. */
export function makingCase(
  name: string,
  { cap, needs = [] }: Pick<CaseOptions, "cap" | "needs">,
  run: (make: MakeStore, reopen: ReopenStore) => Promise<void>,
): StoreCase {
  return {
    name,
    ...(cap === undefined ? {} : { cap }),
    needs,
    async run(make, reopen) {
      if (needs.includes("persistence")) {
        expectTrue(reopen !== undefined, "a case that needs persistence is given `reopen`");
      }
      await run(make, reopen as ReopenStore);
    },
  };
}

/** Operations as a caller without types may write them. */
export function operations(...list: unknown[]): Operation[] {
  return list as Operation[];
}

/** Puts all of them in one batch: they are of the same moment. */
export async function putAll(
  store: StoreUnderTest,
  namespace: string[],
  items: Record<string, Record<string, unknown>>,
): Promise<void> {
  await store.batch(Object.entries(items).map(([key, value]) => ({ namespace, key, value })));
}

export function keysOf(items: readonly { key: string }[]): string[] {
  return items.map((item) => item.key);
}

export function sortedKeysOf(items: readonly { key: string }[]): string[] {
  return keysOf(items).sort();
}

export function scoresOf(items: readonly SearchItem[]): Record<string, number | undefined> {
  return Object.fromEntries(items.map((item) => [item.key, item.score]));
}

export function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `k${String(i).padStart(4, "0")}`);
}
