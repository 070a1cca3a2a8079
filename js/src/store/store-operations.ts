// LangGraph's operations, checked and turned into the core's, and its answers
// turned into LangGraph's. The core checks what can be said in its own types;
// here is what only JavaScript can get wrong.

import type {
  ListNamespacesOperation,
  MatchCondition,
  GetOperation as UpstreamGet,
  Item as UpstreamItem,
  PutOperation as UpstreamPut,
  SearchOperation as UpstreamSearch,
  SearchItem as UpstreamSearchItem,
} from "@langchain/langgraph-checkpoint";
import {
  checkChoice,
  checkCount,
  checkEach,
  checkFlag,
  checkNames,
  checkText,
  checkTime,
  isList,
  type NamesOf,
  readInput,
  show,
  textsIn,
  unreadable,
} from "../checks.js";
import { detailOf, invalid, KeepsakeError } from "../errors.js";
import { NO_TTL } from "../wire/custom.js";
import {
  type Item as CoreItem,
  type SearchItem as CoreSearchItem,
  MatchType,
  SearchMode,
  type Validity,
} from "../wire/layout.js";
import type {
  PutOperation as CorePut,
  SearchOperation as CoreSearch,
  OperationOf,
  StoreOperation,
} from "../wire/operations.js";
import { toFloats, type Vector } from "./embedding.js";
import { decodeValue, encodeFilter, encodeValue, type Value } from "./json-value.js";
import { refuseOwnLabel } from "./own-namespaces.js";
import {
  type ItemProvenance,
  type Origin,
  provenanceToCore,
  tellProvenance,
} from "./provenance.js";
import {
  checkRanking,
  explanationOf,
  planOf,
  RANKING_OPTIONS,
  type RankingOptions,
  rankingToCore,
  type Snippet,
  snippetOf,
  type UsualRanking,
} from "./ranking.js";

export type { ListNamespacesOperation, MatchCondition };

/** A moment: a `Date`, milliseconds since 1970, or ISO text, such as "2026-03-01". */
export type Time = Date | number | string;

/** Since when a fact holds, and until when. */
interface Interval {
  /** Absent: from ever. */
  validFrom?: Date;
  /** It holds until before that. Absent: for ever. */
  validUntil?: Date;
}

/** What a store keeps, when it holds and where it comes from, if that was said. */
export interface Item extends UpstreamItem, Interval, ItemProvenance {}

/** As upstream's, and whether reading restarts the item's time to live. */
export interface GetOperation extends UpstreamGet {
  /** @default the store's `ttl.refreshOnRead`, which is true */
  refreshTtl?: boolean | undefined;
}

/** As upstream's, and how long the item lives. */
export interface PutOperation extends UpstreamPut {
  /** Minutes; null for ever. @default the store's `ttl.defaultTtl` */
  ttl?: number | null | undefined;
  /** Since when it holds. Searches leave out what does not hold yet. @default from ever */
  validFrom?: Time | undefined;
  /** Until when it holds: at that moment it does no longer. @default for ever */
  validUntil?: Time | undefined;
  /**
   * The key of the fact that this one replaces, or its place. That one is kept, and holds until
   * this one begins: at `validFrom`, or now. It is no error if it is not there.
   */
  supersedes?: string | { namespace: string[]; key: string } | undefined;
  /** Who or what it comes from. Policies may refuse, quarantine and rank by it. @default unknown */
  origin?: Origin | undefined;
  /** Where exactly: a URL, a tool's name, a file, a run. At most 1,024 bytes. `revoke()` takes it. */
  source?: string | undefined;
}

/** A hit, and what was asked for about it. */
export interface SearchItem extends UpstreamSearchItem, Interval, ItemProvenance {
  /** What the score is made of, with `explain`. */
  explain?: Record<string, number>;
  /** How the hits were looked for, for people: with `explain`. */
  plan?: string;
  /** With `snippet`. */
  snippet?: Snippet;
}

/** As upstream's, which items count, how they are ranked, and what is told of them. */
export interface SearchOperation extends UpstreamSearch {
  /**
   * Finds what is like this, instead of embedding the query: a vector of your own, or an
   * item that has vectors, which is no hit itself. Needs a store with an index.
   */
  near?: Vector | { namespace: string[]; key: string } | undefined;
  /** How hits are found and weighed. What it leaves out is the memory's `ranking`. */
  ranking?: RankingOptions | undefined;
  /**
   * Finds what was valid then; "anytime": also what is not valid now. What was superseded then
   * comes after its successor, with no higher score. @default now
   */
  validAt?: Time | "anytime" | undefined;
  /** Finds also what a policy has put into quarantine. @default false */
  includeQuarantined?: boolean | undefined;
  /** @default the store's `ttl.refreshOnRead`, which is true */
  refreshTtl?: boolean | undefined;
  /** Whether hits say what their score is made of. @default false */
  explain?: boolean | undefined;
  /**
   * Of `text` and `hybrid`: whether hits bring the piece of text that was found, of about so many
   * bytes (true: 160). @default false
   */
  snippet?: boolean | number | undefined;
}

/** One operation of a batch. */
export type Operation = GetOperation | PutOperation | SearchOperation | ListNamespacesOperation;

const GET: NamesOf<GetOperation> = { namespace: 1, key: 1, refreshTtl: 1 };
/** What a put takes beside what LangGraph's does. */
export type PutOptions = Omit<PutOperation, keyof UpstreamPut>;
/** @internal */
export const PUT_OPTIONS: NamesOf<PutOptions> = {
  ttl: 1,
  validFrom: 1,
  validUntil: 1,
  supersedes: 1,
  origin: 1,
  source: 1,
};
const PUT: NamesOf<PutOperation> = { namespace: 1, key: 1, value: 1, index: 1, ...PUT_OPTIONS };
const SEARCH: NamesOf<SearchOperation> = {
  filter: 1,
  query: 1,
  limit: 1,
  offset: 1,
  near: 1,
  ranking: RANKING_OPTIONS,
  validAt: 1,
  includeQuarantined: 1,
  refreshTtl: 1,
  explain: 1,
  snippet: 1,
  namespacePrefix: 1,
};
const LISTING: NamesOf<ListNamespacesOperation> = {
  matchConditions: 1,
  maxDepth: 1,
  limit: 1,
  offset: 1,
};
const CONDITION: NamesOf<MatchCondition> = { matchType: 1, path: 1 };
/** @internal */
export const ITEM = { namespace: 1, key: 1 } as const;

/** @internal */
export const MS_PER_MINUTE = 60_000;

/** What belongs to the caller: it travels with each call that says nothing else. @internal */
export interface CallDefaults {
  readonly ranking: UsualRanking;
  /** As a put has it that has none of its own. */
  readonly ttl: number;
  readonly refreshTtl: boolean;
  /** Whether somebody embeds a question here. */
  readonly hasIndex: boolean;
}

/** Throws a KeepsakeError that names the position. @internal */
export function toCore(operations: readonly Operation[], defaults: CallDefaults): StoreOperation[] {
  if (!isList(operations)) {
    throw new KeepsakeError(
      "invalid_operation",
      `operations must be an array: ${show(operations)}`,
    );
  }
  const requests: StoreOperation[] = [];
  const count = readInput("operations", () => operations.length, "invalid_operation");
  // By number, which sees holes, and is quicker than an iterator.
  for (let position = 0; position < count; position++) {
    try {
      requests.push(oneToCore(operations[position] as Operation, defaults));
    } catch (thrown) {
      const error = unreadable("an operation", thrown, "invalid_operation");
      if (count === 1) throw error;
      const message = detailOf(error);
      throw new KeepsakeError(error.code, `operation ${position}: ${message}`, { cause: error });
    }
  }
  return requests;
}

function oneToCore(operation: Operation, defaults: CallDefaults): StoreOperation {
  if (typeof operation !== "object" || operation === null) {
    throw new KeepsakeError(
      "invalid_operation",
      `an operation must be an object, got ${typeof operation}`,
    );
  }
  if ("namespacePrefix" in operation) return searchToCore(operation, defaults);
  if ("value" in operation) return putToCore(operation, defaults);
  if ("namespace" in operation && "key" in operation) return getToCore(operation, defaults);
  const isListing = ["matchConditions", "maxDepth", "limit", "offset"].some(
    (field) => field in operation,
  );
  if (isListing) return listToCore(operation as ListNamespacesOperation);
  throw new KeepsakeError(
    "invalid_operation",
    `an operation must be a get, put, search or listing; its fields are: ${Object.keys(operation).join(", ") || "none"}`,
  );
}

function getToCore(operation: GetOperation, defaults: CallDefaults): OperationOf<"get"> {
  checkNames("get", GET, operation);
  return {
    kind: "get",
    namespace: checkNamespace(operation.namespace),
    key: checkKey(operation.key),
    refreshTtl: checkFlag("refreshTtl", operation.refreshTtl) ?? defaults.refreshTtl,
  };
}

function putToCore(operation: PutOperation, defaults: CallDefaults): CorePut {
  checkNames("put", PUT, operation);
  const namespace = checkNamespace(operation.namespace);
  return {
    kind: "put",
    namespace,
    key: checkKey(operation.key),
    value: operation.value === null ? null : encodeValue(operation.value),
    index: checkIndex(operation.index),
    ttl: ttlToMs(operation.ttl, defaults),
    validity: validityToCore(operation),
    supersedes: supersededToCore(operation.supersedes, namespace),
    provenance: provenanceToCore(operation),
  };
}

function validityToCore({ validFrom, validUntil }: PutOptions): Validity | undefined {
  if (validFrom === undefined && validUntil === undefined) return undefined;
  return {
    from: validFrom === undefined ? undefined : checkTime("validFrom", validFrom),
    until: validUntil === undefined ? undefined : checkTime("validUntil", validUntil),
  };
}

function supersededToCore(
  item: PutOptions["supersedes"],
  namespace: string[],
): CorePut["supersedes"] {
  if (item === undefined) return undefined;
  if (typeof item === "string") return { namespace, key: checkKey(item) };
  if (typeof item !== "object" || item === null || !("key" in item)) {
    throw invalid(`supersedes must be a key, or { namespace, key } of an item: ${show(item)}`);
  }
  checkNames("supersedes", ITEM, item);
  return { namespace: checkNamespace(item.namespace), key: checkKey(item.key) };
}

function searchToCore(
  operation: SearchOperation,
  { ranking: usual, hasIndex, refreshTtl }: CallDefaults,
): CoreSearch {
  checkNames("search", SEARCH, operation);
  const { query } = operation;
  if (query !== undefined && query !== null && typeof query !== "string") {
    throw invalid(`query must be a string: ${show(query)}`);
  }
  const own = checkRanking(operation.ranking);
  const mode = checkChoice("mode", SearchMode, own?.mode ?? usual.mode);
  const near = nearToCore(operation.near);
  const isQuestion = Boolean(query) || near !== undefined;
  const ranking = usual.of(own, mode, isQuestion, hasIndex);
  const isEver = operation.validAt === "anytime";
  // Where nobody embeds the question, the words are left, also if somebody else, another tab or
  // another Worker, has told the engine of an index.
  const isByWords = Boolean(query) && !hasIndex && near === undefined && mode === "hybrid";
  // Each by its name: an object that another is spread into is slow to read.
  return {
    kind: "search",
    namespacePrefix: checkNamespace(operation.namespacePrefix),
    filter: encodeFilter(operation.filter),
    query: query ?? "",
    limit: checkCount("limit", operation.limit),
    offset: checkCount("offset", operation.offset),
    mode: isByWords ? "text" : mode,
    refreshTtl: checkFlag("refreshTtl", operation.refreshTtl) ?? refreshTtl,
    ranking: rankingToCore(ranking, operation),
    ...planOf(ranking),
    near: near?.near,
    queryVector: near?.queryVector,
    asOf: isEver || operation.validAt === undefined ? undefined : momentOf(operation.validAt),
    includeSuperseded: isEver,
    includeQuarantined: checkFlag("includeQuarantined", operation.includeQuarantined),
  };
}

function momentOf(validAt: Time): number {
  if (typeof validAt !== "boolean") return checkTime("validAt", validAt);
  throw invalid(`validAt must be a moment, or "anytime" for what held at any time: ${validAt}`);
}

function nearToCore(
  near: SearchOperation["near"],
): Pick<CoreSearch, "near" | "queryVector"> | undefined {
  if (near === undefined || near === null) return undefined;
  if (typeof near === "object" && "key" in near) {
    checkNames("near", ITEM, near);
    return { near: { namespace: checkNamespace(near.namespace), key: checkKey(near.key) } };
  }
  try {
    return { queryVector: toFloats(near as Vector) };
  } catch (error) {
    throw invalid(
      `near must be a list of finite numbers, not all zero, or { namespace, key } of an item: ${show(near)}`,
      error,
    );
  }
}

function listToCore(operation: ListNamespacesOperation): OperationOf<"listNamespaces"> {
  checkNames("listNamespaces", LISTING, operation);
  const { matchConditions = [] } = operation;
  if (!Array.isArray(matchConditions)) {
    throw new KeepsakeError("invalid_operation", "matchConditions must be an array");
  }
  return {
    kind: "listNamespaces",
    matchConditions: checkEach("matchConditions", matchConditions, checkCondition),
    maxDepth: checkCount("maxDepth", operation.maxDepth),
    limit: checkCount("limit", operation.limit),
    offset: checkCount("offset", operation.offset),
  };
}

function checkCondition(condition: MatchCondition): MatchCondition {
  const matchType = condition?.matchType;
  if (typeof matchType !== "string" || !Object.hasOwn(MatchType, matchType)) {
    throw new KeepsakeError(
      "invalid_operation",
      `matchType must be prefix or suffix: ${show(matchType)}`,
    );
  }
  checkNames("a match condition", CONDITION, condition);
  return { matchType, path: checkNamespace(condition.path) };
}

/** A search by these options, whose names are checked with it. @internal */
export function searchOf(
  namespacePrefix: string[],
  options: Omit<SearchOperation, "namespacePrefix"> | null | undefined,
): SearchOperation {
  return readInput("the options of search", () => {
    const given = options ?? {};
    if (typeof given === "object" && !("namespacePrefix" in given) && !Array.isArray(given)) {
      // Not spread first: to ask that for what it lacks is slow in Node 20.
      return { namespacePrefix, ...given };
    }
    throw invalid(`search takes options such as { query, limit }: ${show(options)}`);
  });
}

/** @internal */
export function checkNamespace(namespace: string[]): string[] {
  try {
    return copyOfLabels(namespace);
  } catch (error) {
    throw unreadable("namespace", error, "invalid_namespace");
  }
}

function copyOfLabels(namespace: string[]): string[] {
  if (!Array.isArray(namespace)) {
    throw new KeepsakeError(
      "invalid_namespace",
      `namespace must be an array of labels, such as ["users", "ada"]: ${show(namespace)}`,
    );
  }
  const labels: string[] = [];
  // By number, which sees holes, and is quicker than an iterator.
  for (let i = 0; i < namespace.length; i++) {
    const label = checkText("namespace label", namespace[i], "invalid_namespace");
    refuseOwnLabel(label);
    labels.push(label);
  }
  return labels;
}

/** @internal */
export function checkKey(key: string): string {
  return checkText("key", key, "invalid_key");
}

function checkIndex(index: false | string[] | null | undefined): false | string[] | undefined {
  if (index === undefined || index === null) return undefined;
  if (index === false) return false;
  const paths = textsIn(index);
  if (paths !== undefined) return paths;
  throw invalid(
    `index must be false or a list of field paths: ${show(index)}; options are the fifth argument, put(namespace, key, value, index, options)`,
  );
}

function ttlToMs(minutes: number | null | undefined, defaults: CallDefaults): number {
  if (minutes === undefined) return defaults.ttl;
  return minutes === null ? NO_TTL : minutesToMs("ttl", minutes);
}

/** @internal */
export function minutesToMs(name: string, minutes: number): number {
  const ms = typeof minutes === "number" ? Math.ceil(minutes * MS_PER_MINUTE) : 0;
  if (Number.isSafeInteger(ms) && ms > 0) return ms;
  throw invalid(`${name} must be a positive number of minutes: ${show(minutes)}`);
}

/** @internal */
export function fromCore(operation: StoreOperation, answer: unknown): unknown {
  switch (operation.kind) {
    case "get":
      return answer === null ? null : toItem(answer as CoreItem);
    case "search":
      return (answer as CoreSearchItem[]).map(toSearchItem);
    case "listNamespaces":
      return answer;
    case "put":
      return undefined; // As the type says; upstream's InMemoryStore answers null.
  }
}

function toItem(item: CoreItem): Item {
  const found: Item = {
    value: storedValue(item) as Value & Item["value"],
    key: item.key,
    namespace: item.namespace,
    createdAt: new Date(item.createdAt),
    updatedAt: new Date(item.updatedAt),
  };
  const { from, until } = item.validity ?? {};
  if (from !== undefined) found.validFrom = new Date(from);
  if (until !== undefined) found.validUntil = new Date(until);
  tellProvenance(item.provenance, found);
  return found;
}

/** @internal */
export function storedValue({ namespace, key, value }: CoreItem): Value {
  try {
    return decodeValue(value);
  } catch (cause) {
    const item = `${JSON.stringify(key)} in ${JSON.stringify(namespace)}`;
    throw new KeepsakeError("corrupt", `the value of ${item} is damaged`, { cause });
  }
}

function toSearchItem(item: CoreSearchItem): SearchItem {
  const found = toItem(item) as SearchItem;
  (found as { score: number | undefined }).score = item.score;
  const explain = explanationOf(item);
  if (explain) found.explain = explain;
  if (item.plan !== "") found.plan = item.plan;
  const snippet = snippetOf(item);
  if (snippet) found.snippet = snippet;
  return found;
}
