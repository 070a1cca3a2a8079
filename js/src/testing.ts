// The contract of a LangGraph.js store as cases without a test runner. Any store
// and any runner can run them:
//
//   import { storeContract } from "keepsake/testing";
//   const able = new Set(["index"]); // what your store supports: see StoreNeed
//   for (const { name, needs, run } of storeContract) {
//     if (needs.every((need) => able.has(need))) test(name, () => run(makeMyStore));
//   }

import { batchCases } from "./testing/batch.js";
import { filterCases } from "./testing/filters.js";
import { itemCases } from "./testing/items.js";
import { namespaceCases } from "./testing/namespaces.js";
import { persistenceCases } from "./testing/persistence.js";
import { searchCases } from "./testing/search.js";
import { ttlCases } from "./testing/ttl.js";
import type { StoreCase } from "./testing/types.js";
import { valueCases } from "./testing/values.js";
import { vectorCases } from "./testing/vectors.js";

export { ColourEmbeddings, ManualClock } from "./testing/fakes.js";
export type {
  EmbeddingsUnderTest,
  MakeStore,
  ReopenStore,
  SearchCaseOptions,
  StoreCase,
  StoreCaseOptions,
  StoreNeed,
  StoreUnderTest,
} from "./testing/types.js";

/** The contract: every case is independent of the others. */
export const storeContract: readonly StoreCase[] = [
  ...itemCases,
  ...batchCases,
  ...filterCases,
  ...searchCases,
  ...namespaceCases,
  ...valueCases,
  ...ttlCases,
  ...vectorCases,
  ...persistenceCases,
];
