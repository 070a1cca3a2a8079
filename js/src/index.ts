export type { KeepsakeCache } from "./cache/cache.js";
export {
  type AutomaticRetention,
  type CheckpointerStats,
  KeepsakeSaver,
  type ListOptions,
  MemorySaver,
  type Pruned,
  type PruneOptions,
  type PruneStrategy,
  type Retention,
  type RetentionPruneOptions,
  SqliteSaver,
  type SqliteSaverOptions,
  type ThreadListOptions,
  type ThreadSummary,
} from "./checkpointer/checkpointer.js";
export type { CheckpointBound } from "./checkpointer/config.js";
export type { CheckpointDiff } from "./checkpointer/diff.js";
export type { ChangeListener } from "./engine/changes.js";
export type { Persistence } from "./engine/engine.js";
export type { MemoryBucket } from "./engine/in-bucket.js";
export type { Key } from "./engine/keys.js";
export type {
  BrowserWorker,
  DatabaseOptions,
  LogOptions,
  SyncOptions,
} from "./engine/options.js";
export type { SetAside, SyncStatus } from "./engine/synced-memory.js";
export { type DamagedDatabase, KeepsakeError, type KeepsakeErrorCode } from "./errors.js";
export type {
  ImportOptions,
  ImportProgress,
  ImportReport,
  ImportSource,
  SkippedRow,
} from "./import/options.js";
export { installInterruptShim, unwrapStore, withContext } from "./langgraph.js";
export {
  type Diagnosis,
  Memory,
  type MemoryOptions,
  type MemoryStats,
  openMemory,
  type RestoreOptions,
  type SalvageOptions,
  type SalvageTarget,
  salvageMemory,
  type TierOptions,
} from "./memory.js";
export type { AccessEvent, AccessOptions, Author } from "./scope/access.js";
export type { AuditEntry, AuditLogOptions, AuditRule, KeepAuditOptions } from "./scope/audit.js";
export type {
  ErasureCheck,
  ErasureReceipt,
  ForgetOptions,
  Hold,
  RevokeOptions,
  Scrubbed,
} from "./scope/erasure.js";
export type {
  EvictedItem,
  EvictionOrder,
  EvictionReport,
  EvictOptions,
} from "./scope/eviction.js";
export type { Moment } from "./scope/history.js";
export { decodeLabel, encodeLabel } from "./scope/labels.js";
export type { PlacedPolicy, Policy } from "./scope/policy.js";
export {
  type MemoryEntry,
  MemoryProvider,
  type MemoryQuery,
  type MemoryStoreParams,
} from "./scope/provider.js";
export {
  type CustomScope,
  resolveNamespace,
  type ScopedRun,
  type ScopeName,
  type ScopeOptions,
  type ScopeSource,
  type ScopeSources,
  type ScopeVariables,
  scopeOf,
  storeNamespace,
} from "./scope/scope.js";
export { ScopedMemory } from "./scope/scoped-memory.js";
export type { CheckpointerForOptions } from "./scope/scoped-saver.js";
export { type TracerLike, traceAccess } from "./scope/tracing.js";
export type { EmbeddingFunction, EmbeddingModel, Vector } from "./store/embedding.js";
export type { Evaluation, EvaluationCase, EvaluationOptions, Tuning } from "./store/evaluation.js";
export type { HistoryRule, KeepHistoryOptions } from "./store/history-rules.js";
export type { Value } from "./store/json-value.js";
export type { IndexOptions, StoreOptions, TtlOptions } from "./store/options.js";
export {
  type HistoryOptions,
  type ItemVersion,
  type ListNamespacesOptions,
  PastStore,
  type UndoOptions,
} from "./store/past-store.js";
export type { ItemProvenance, Origin } from "./store/provenance.js";
export type { RankingOptions, Snippet, TextOptions } from "./store/ranking.js";
export {
  type Masked,
  type MaskedSecrets,
  maskSecrets,
  type SecretHandling,
  type SecretOptions,
  type SecretPattern,
} from "./store/secrets.js";
export {
  InMemoryStore,
  KeepsakeStore,
  type ReembedOptions,
  type SearchOptions,
  SqliteStore,
  type SqliteStoreOptions,
  type StepOptions,
  type WhyNot,
} from "./store/store.js";
export type {
  GetOperation,
  Item,
  Operation,
  PutOperation,
  PutOptions,
  SearchItem,
  SearchOperation,
  Time,
} from "./store/store-operations.js";
export type {
  CheckOptions,
  CheckReport,
  DatabaseBytes,
  DatabaseImportOptions,
  ExportFormat,
  ExportOptions,
  TransferOptions,
  TransferProgress,
} from "./transfer/options.js";
export type { Changes } from "./wire/changes.js";
export type {
  Absence,
  Change,
  DamagedPage,
  Fusion,
  Language,
  SalvageReport,
  SearchMode,
  SearchPlan,
  StoreStats,
  Undone,
} from "./wire/layout.js";
