/**
 * What operations and answers are made of: operation.h, store.h, checkpointer.h,
 * database.h and foreign_file.h, in camelCase.
 * Values, filters and metadata filters are JSON text. Times are milliseconds.
 */

import type { StatusCode } from "./status.js";

export type Namespace = readonly string[];

export interface Blob {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** What the bytes are in UTF-8, if that is known: it is encoded where it goes. */
  readonly text?: string;
}

// ---- store

export interface Item {
  namespace: string[];
  key: string;
  value: string;
  createdAt: number;
  updatedAt: number;
  /** Absent if it holds at any time. */
  validity?: Validity | undefined;
  /** Absent if nobody said where it comes from. */
  provenance?: Provenance | undefined;
}

/** Who or what an item comes from, as whoever put it says. */
export const Origin = { unknown: 0, user: 1, tool: 2, web: 3, model: 4 } as const;

/** provenance.h says what it means. @internal */
export interface Provenance {
  readonly origin: keyof typeof Origin;
  /** "" for none. */
  readonly source: string;
  readonly isQuarantined: boolean;
}

/** Items that come from there: an unknown origin is any, and "" any source. @internal */
export interface ProvenanceFilter {
  readonly origin: keyof typeof Origin;
  readonly source: string;
  readonly isPrefix: boolean;
}

/** What a hit of an origin is worth. @internal */
export interface OriginWeight {
  readonly origin: keyof typeof Origin;
  readonly weight: number;
}

/** What becomes of a put of an origin. */
export const Trust = { allow: 0, quarantine: 1, refuse: 2 } as const;

/** @internal */
export interface OriginRule extends OriginWeight {
  readonly trust: keyof typeof Trust;
}

/** When a fact holds: from the one moment on, until before the other. */
export interface Validity {
  readonly from?: number | undefined;
  readonly until?: number | undefined;
}

export interface SearchItem extends Item {
  /** Higher is better; absent if the item is not ranked. */
  score: number | undefined;
  /** What the score is made of, in the order in which it was applied; empty unless asked for. */
  parts: ScorePart[];
  snippet: Snippet | undefined;
  /** How the hits were looked for; "" unless asked for. */
  plan: string;
}

export interface ScorePart {
  name: string;
  value: number;
}

export interface Snippet {
  text: string;
  /** Offsets in the UTF-8 bytes of the text. */
  highlights: { begin: number; end: number }[];
}

export interface FieldVector {
  readonly path: string;
  readonly values: Float32Array;
}

/** Which texts of a value are embedded: the store's default, none, or those at these paths. */
export type IndexChoice = undefined | false | readonly string[];

export const DEFAULT_TTL = -1;
export const NO_TTL = 0;

/** The TTL of a put that has none of its own, by a caller with this default; as PutOp::AsDefault(). */
export function defaultTtlOf(ms: number): number {
  return ms === NO_TTL ? DEFAULT_TTL : -1 - ms;
}

/** By what a search finds items: `SearchOptions.mode` has what each does. */
export const SearchMode = { auto: 0, vector: 1, contains: 2, text: 3, hybrid: 4 } as const;
/** By what a search finds items: `SearchOptions.mode` has what each does. */
export type SearchMode = keyof typeof SearchMode;

/** How a search by vector finds its candidates; scores are exact whatever it is. */
export const SearchPlan = { auto: 0, exact: 1, codes: 2, graph: 3 } as const;
/** How a search by vector finds its candidates; scores are exact whatever it is. */
export type SearchPlan = keyof typeof SearchPlan;

/** How words and vectors are put together: `RankingOptions.fusion` has what each does. */
export const Fusion = { weighted: 0, reciprocalRank: 1, standout: 2 } as const;
/** How words and vectors are put together: `RankingOptions.fusion` has what each does. */
export type Fusion = keyof typeof Fusion;

/** Whose words are stemmed. */
export const Language = {
  none: 0,
  english: 1,
  german: 2,
  french: 3,
  spanish: 4,
  italian: 5,
  portuguese: 6,
} as const;
/** Whose words are stemmed. */
export type Language = keyof typeof Language;

/** ranking.h says what it means. */
export interface Ranking {
  readonly minScore: number | undefined;
  readonly fusion: Fusion;
  readonly vectorWeight: number;
  readonly recency: number;
  readonly halfLife: number;
  readonly boosts: readonly { readonly path: string; readonly weight: number }[];
  readonly diversity: number;
  readonly explain: boolean;
  readonly snippetLength: number;
  readonly origins: readonly OriginWeight[];
}

export const MatchType = { prefix: 0, suffix: 1 } as const;
export type MatchType = keyof typeof MatchType;

export interface MatchCondition {
  readonly matchType: MatchType;
  readonly path: Namespace;
}

export interface GetRequest {
  readonly namespace: Namespace;
  readonly key: string;
  readonly refreshTtl?: boolean | undefined;
}

export interface PutRequest {
  readonly namespace: Namespace;
  readonly key: string;
  /** null deletes. */
  readonly value: string | null;
  readonly index?: IndexChoice;
  /** Milliseconds or NO_TTL; or a default, which a policy may replace or cap: defaultTtlOf(). */
  readonly ttl?: number | undefined;
  readonly vectors?: readonly FieldVector[] | undefined;
  readonly validity?: Validity | undefined;
  /** Whose validity ends where this one's begins. */
  readonly supersedes?: ItemRef | undefined;
  readonly provenance?: Provenance | undefined;
}

export interface ItemRef {
  readonly namespace: Namespace;
  readonly key: string;
}

export interface SearchRequest {
  readonly namespacePrefix: Namespace;
  readonly filter?: string | undefined;
  readonly query?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly mode?: SearchMode | undefined;
  readonly refreshTtl?: boolean | undefined;
  readonly queryVector?: Float32Array | undefined;
  readonly ranking?: Ranking | undefined;
  /** Whose vectors are the query's. */
  readonly near?: ItemRef | undefined;
  readonly plan?: SearchPlan | undefined;
  /** 0 for what suits the limit. */
  readonly efSearch?: number | undefined;
  /** What was valid then; absent: now. */
  readonly asOf?: number | undefined;
  readonly includeSuperseded?: boolean | undefined;
  readonly includeQuarantined?: boolean | undefined;
}

export interface ListNamespacesRequest {
  readonly matchConditions?: readonly MatchCondition[] | undefined;
  readonly maxDepth?: number | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

export interface IndexConfig {
  readonly dims: number;
  readonly fields: readonly string[];
  /** "" for unknown. */
  readonly model: string;
  readonly replaceVectors: boolean;
}

export interface TextConfig {
  readonly fields: readonly { readonly path: string; readonly weight: number }[];
  readonly group: string;
  readonly position: string;
  readonly speaker: string;
  readonly language: Language;
}

/** How much a store holds. Expired items that are not yet swept count. */
export interface StoreStats {
  items: number;
  namespaces: number;
  vectors: number;
  /** Items that wait for `reembed()`. */
  pending: number;
  /** Of the vectors, those that searches can find by the graph: see `buildIndex()`. */
  inGraph: number;
}

export interface IndexProgress {
  vectors: number;
  inGraph: number;
  isDone: boolean;
}

/** What made a version of an item. */
export const Change = {
  /** Not known: it was there before its history begins. */
  earlier: 0,
  put: 1,
  delete: 2,
  /** Another item superseded it. */
  supersede: 3,
  /** It had expired, and was swept. */
  expire: 4,
  undo: 5,
} as const;
/** What made a version of an item. */
export type Change = keyof typeof Change;

/** Ages in milliseconds. @internal */
export interface HistoryRequest {
  readonly namespace: Namespace;
  readonly maxVersions: number;
  readonly maxAge: number | undefined;
}

/** @internal */
export interface HistoryRule {
  namespace: string[];
  maxVersions: number;
  maxAge: number | undefined;
  since: number;
}

/** @internal */
export interface ItemVersion {
  operation: number;
  change: Change;
  at: number;
  actor: string;
  item: Item | undefined;
}

/** What an entry of the audit log tells of. */
export const Audited = {
  recall: 0,
  store: 1,
  delete: 2,
  clear: 3,
  undo: 4,
  forget: 5,
  import: 6,
  hold: 7,
  release: 8,
  configure: 9,
} as const;
/** What an entry of the audit log tells of. */
export type Audited = keyof typeof Audited;

/** An age in milliseconds. @internal */
export interface AuditRule {
  readonly maxEntries: number;
  readonly maxAge: number | undefined;
}

/** @internal */
export interface AuditRequest {
  readonly namespace: Namespace;
  readonly since: number;
  readonly before: number | undefined;
  readonly limit: number;
}

/** @internal */
export interface AuditEntry {
  id: number;
  at: number;
  operation: Audited;
  place: string[];
  namespace: string[] | undefined;
  threadId: string | undefined;
  actor: string;
  nodeId: string;
  code: StatusCode;
  count: number;
}

/** What an undo did. */
export interface Undone {
  /** The undoing itself, which can be undone as well. */
  operation: number;
  /** How many items are again what they were. */
  items: number;
}

/** Why an item is no hit: `WhyNot.reason` has what each means. */
export const Absence = {
  hit: 0,
  noItem: 1,
  outsideNamespace: 2,
  filter: 3,
  noMatch: 4,
  belowMinScore: 5,
  notOnPage: 6,
  notValid: 7,
  quarantined: 8,
} as const;
/** Why an item is no hit: `WhyNot.reason` has what each means. */
export type Absence = keyof typeof Absence;

export interface WhyNot {
  absence: Absence;
  rank: number | undefined;
  score: number | undefined;
  lastScore: number | undefined;
  parts: ScorePart[];
}

export interface PendingEmbeddings {
  items: {
    id: number;
    fingerprint: number;
    paths: string[];
    /** Parallel to paths. */
    texts: string[];
  }[];
  /** Items included. */
  left: number;
}

export interface ItemVectors {
  readonly id: number;
  fingerprint: number;
  readonly vectors: readonly FieldVector[];
}

export interface StoreConfiguration {
  readonly index?: IndexConfig | undefined;
  readonly text?: TextConfig | undefined;
}

// ---- checkpointer

export interface CheckpointKey {
  readonly threadId: string;
  readonly checkpointNs: string;
  /** "" for the newest, where that makes sense. */
  readonly checkpointId: string;
}

export interface ChannelVersion {
  readonly channel: string;
  readonly version: string;
}

export interface ChannelValue extends ChannelVersion {
  readonly value: Blob;
}

export interface PendingWrite {
  readonly taskId: string;
  readonly idx: number;
  readonly channel: string;
  readonly value: Blob;
  readonly taskPath: string;
}

export interface CheckpointTuple {
  key: CheckpointKey;
  /** "" for none. */
  parentCheckpointId: string;
  checkpoint: Blob;
  metadata: Blob;
  values: ChannelValue[];
  pendingWrites: PendingWrite[];
}

export interface DeltaChannelHistory {
  channel: string;
  seed: Blob | undefined;
  writes: PendingWrite[];
}

export const PruneStrategy = { byRules: 0, keepLatest: 1, delete: 2 } as const;
/** `keepLatest` of each thread and namespace, or `delete` everything. */
export type PruneStrategy = Exclude<keyof typeof PruneStrategy, "byRules">;

/** How much a saver holds. */
export interface CheckpointerStats {
  threads: number;
  checkpoints: number;
  writes: number;
  /** Of checkpoints, writes and their content. */
  bytes: number;
}

/** Between `prefix` and `suffix` bytes of the base stands what the value holds. */
export interface ValueDelta {
  /** Names the bytes of the new value; 0 for none. */
  readonly stamp: number;
  /** 0: the value is whole. */
  readonly baseStamp: number;
  readonly prefix: number;
  readonly suffix: number;
}

export interface NewValue extends ChannelValue {
  /** @default the value is whole, and nobody refers to it */
  readonly delta?: ValueDelta | undefined;
}

export interface RetentionRules {
  /** All threads if absent. */
  readonly threadIds?: readonly string[] | undefined;
  /** 0 for no limit. */
  readonly keepLast: number;
  /** A checkpoint id, "" for no limit. */
  readonly olderThan: string;
  /** 0 for no limit. */
  readonly maxBytes: number;
  readonly dryRun: boolean;
  /** In place of rules, for these threads. */
  readonly strategy?: PruneStrategy | undefined;
}

/** What a prune deleted, or would delete. */
export interface Pruned {
  checkpoints: number;
  bytes: number;
}

export interface ThreadInfo {
  threadId: string;
  newestCheckpointId: string;
  checkpoint: Blob;
  metadata: Blob;
  checkpoints: number;
  bytes: number;
}

export interface CheckpointList {
  readonly threadId?: string | undefined;
  readonly checkpointNs?: string | undefined;
  readonly checkpointId?: string | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly filter?: string | undefined;
  readonly cursor?: CheckpointKey | undefined;
  readonly limit?: number | undefined;
}

export interface ThreadList {
  readonly cursor?: { newestCheckpointId: string; threadId: string } | undefined;
  readonly limit?: number | undefined;
}

export interface NewCheckpoint {
  readonly key: CheckpointKey;
  /** "" for none. */
  readonly parentCheckpointId: string;
  readonly checkpoint: Blob;
  readonly metadata: Blob;
  readonly channelVersions: readonly ChannelVersion[];
  readonly newVersions: readonly string[];
  readonly values: readonly NewValue[];
}

// ---- database

export const Durability = { relaxed: 0, strict: 1 } as const;
export type Durability = keyof typeof Durability;

export interface OpenOptions {
  /** ":memory:" keeps nothing. */
  readonly path: string;
  readonly durability?: Durability | undefined;
  readonly vfs?: string | undefined;
  /** Whether a page whose checksum is wrong is `corrupt` when it is read. @default false */
  readonly verifies?: boolean | undefined;
  /** What may open an encrypted file, encoded (engine/keys.ts). @default a plain file */
  readonly keys?: Uint8Array | undefined;
}

export const ForeignTable = {
  saverCheckpoints: 1,
  saverWrites: 2,
  pythonStore: 3,
  plainStoreKv: 4,
} as const;
export type ForeignTable = keyof typeof ForeignTable;

export interface ForeignTableInfo {
  table: ForeignTable;
  rows: number;
}

/** A row that breaks a rule, or a table that lacks a column. */
export interface ForeignSkip {
  row: string;
  why: string;
}

export interface ForeignTables {
  readable: ForeignTableInfo[];
  skipped: ForeignSkip[];
}

export interface ForeignItem {
  item: Item;
  ttl: number;
  /** 0: never. */
  expiresAt: number;
  vectors: FieldVector[];
}

export interface ForeignCheckpoint {
  key: CheckpointKey;
  parentCheckpointId: string;
  /** Still holds its channel_values. */
  checkpoint: Blob;
  metadata: Blob;
}

export interface ForeignWrite {
  key: CheckpointKey;
  write: PendingWrite;
}

export interface ForeignPage<Row> {
  rows: Row[];
  skipped: ForeignSkip[];
  cursor: string;
  done: boolean;
}

export interface PageRequest {
  /** "" to begin, then the last page's. */
  readonly cursor: string;
  readonly limit: number;
}

// ---- rows that travel

/** Which piece of an export of rows: the first has no cursor. */
export interface RowsRequest {
  readonly exportId: string;
  readonly number: number;
  readonly cursor: Uint8Array;
}

/** What of an export is here already, and what is the next piece of it. */
export interface ImportState {
  exportId: string;
  next: number;
  cursor: Uint8Array;
  isComplete: boolean;
}

/** @internal */
export interface ErasureRequest {
  readonly id: string;
  readonly digest: string;
  readonly namespaces: readonly Namespace[];
  readonly filter: string;
  /** Of the items there; absent for all. */
  readonly from?: ProvenanceFilter | undefined;
  readonly threads: readonly string[];
  /** And all threads that begin so. */
  readonly threadPrefix: string | undefined;
  readonly dryRun: boolean;
}

/** A page of the file that is not as it was written, and what needs it. */
export interface DamagedPage {
  /** From 1. */
  page: number;
  /** A table or index of the file, `free`, or `""` if it is not known. */
  heldBy: string;
}

/** @internal */
export interface PageCheck {
  pages: number;
  damaged: DamagedPage[];
  problem: string;
}

/** What a salvage saved, and what is lost. */
export interface SalvageReport {
  items: number;
  vectors: number;
  checkpoints: number;
  writes: number;
  damagedPages: DamagedPage[];
  /** Items whose name is known and whose value is lost. */
  lostItemCount: number;
  /** The first 10,000 of them. */
  lostItems: { namespace: string[]; key: string }[];
  /** Checkpoints of which a part is lost. None of it was kept. */
  lostCheckpointCount: number;
  /** The first 10,000 of them. */
  lostCheckpoints: CheckpointKey[];
}

/** @internal */
export interface Erased {
  at: number;
  items: number;
  vectors: number;
  versions: number;
  threads: number;
  checkpoints: number;
  bytes: number;
  restored: number;
}

/** @internal */
export interface ErasureRecord {
  digest: string;
  erased: Erased;
  scrubbed: Scrubbed;
}

/** @internal */
export const Scrubbed = { pages: 0, pending: 1, byHost: 2 } as const;
/** @internal */
export type Scrubbed = (typeof Scrubbed)[keyof typeof Scrubbed];
