// What Keepsake keeps among the items for itself: namespaces with a label that nobody else may
// say. Its items are in quarantine, which searches leave out; what else would find them does so
// here.

import type { MaybePromise } from "../engine/answers.js";
import { KeepsakeError } from "../errors.js";
import type { MatchCondition } from "../wire/layout.js";
import type { StoreOperation } from "../wire/operations.js";

/** Below it are the caches of a memory, and of each scope: no other label is encoded so. @internal */
export const CACHE_LABEL = "%cache";

/** @internal */
export function refuseOwnLabel(label: string): void {
  if (label !== CACHE_LABEL) return;
  throw new KeepsakeError(
    "invalid_namespace",
    `namespace label must not be "${CACHE_LABEL}": what is there is reached by memory.cache`,
  );
}

const MOST = 0xffff_ffff;
// As cache.ts puts them.
const OWN: MatchCondition = { matchType: "suffix", path: [CACHE_LABEL, "*"] };

type Ask = (request: StoreOperation) => MaybePromise<unknown>;
type Found = string[] | { namespace: string[] };

/**
 * The answers without what is Keepsake's own: what is left out of a page, others have the place of.
 * @internal
 */
export function withoutOwn(
  requests: readonly StoreOperation[],
  answers: readonly unknown[],
  ask: Ask,
): MaybePromise<readonly unknown[]> {
  if (!requests.some(mayFindOwn)) return answers;
  return Promise.all(
    requests.map((request, i) =>
      mayFindOwn(request) ? shownOf(request, answers[i] as Found[], ask) : answers[i],
    ),
  );
}

type Paged = Extract<StoreOperation, { kind: "search" | "listNamespaces" }>;

function mayFindOwn(request: StoreOperation): request is Paged {
  return (
    request.kind === "listNamespaces" ||
    (request.kind === "search" && request.includeQuarantined === true)
  );
}

async function shownOf(request: Paged, answer: Found[], ask: Ask): Promise<Found[]> {
  const shown = answer.filter(isNobodysOwn);
  const { offset = 0, limit = DEFAULT_LIMITS[request.kind] } = request;
  if (shown.length === answer.length && (offset === 0 || !(await hasOwn(request, ask)))) {
    return shown;
  }
  const wanted = Math.min(offset + limit, MOST);
  for (let most = wanted; ; ) {
    most = Math.min(2 * most + 1, MOST);
    const page = (await ask({ ...request, offset: 0, limit: most })) as Found[];
    const found = page.filter(isNobodysOwn);
    if (found.length >= wanted || page.length < most) return found.slice(offset, wanted);
  }
}

// Of the core.
const DEFAULT_LIMITS = { search: 10, listNamespaces: 100 };

function isNobodysOwn(found: Found): boolean {
  return !(Array.isArray(found) ? found : found.namespace).includes(CACHE_LABEL);
}

async function hasOwn(request: Paged, ask: Ask): Promise<boolean> {
  const conditions: readonly MatchCondition[] =
    request.kind === "listNamespaces"
      ? (request.matchConditions ?? [])
      : [{ matchType: "prefix", path: request.namespacePrefix }];
  const own = { kind: "listNamespaces", matchConditions: [...conditions, OWN], limit: 1 } as const;
  return ((await ask(own)) as unknown[]).length > 0;
}
