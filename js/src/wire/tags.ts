/**
 * Every number that means something in a frame. core/src/wire/tags.h has the
 * same list; a test compares the two.
 */

/** Raised only when a frame of the old layout would be misread. */
export const VERSION = 1;

/** Persistent, never renumber. */
export const FrameKind = {
  execute: 1,
  open: 2,
  failed: 3,
} as const;

/** Bits of a request's flags. Persistent, never renumber, never reuse. */
export const RequestFlag = {
  remember: 1,
} as const;

/** Persistent, never renumber, never reuse. */
export const Tag = {
  open: 1,

  get: 16,
  put: 17,
  search: 18,
  listNamespaces: 19,
  listKeys: 20,
  clearNamespace: 21,
  sweepExpired: 22,
  configureStore: 23,
  prepareEmbedding: 24,
  storeStats: 25,
  explainAbsence: 26,
  improveIndex: 29,
  readPending: 30,
  embedPending: 31,

  putCheckpoint: 32,
  putWrites: 33,
  getTuple: 34,
  listCheckpoints: 35,
  listWrites: 36,
  deltaChannelHistory: 37,
  deleteThread: 38,
  copyThread: 39,
  deleteForRuns: 40,
  prune: 41,
  checkpointerStats: 42,
  pruneByRules: 43,
  listThreads: 44,
  renameThread: 45,
  putCheckpointDeltas: 46,
  forkThread: 47,

  flush: 48,
  size: 49,
  beginExport: 50,
  readExport: 51,
  endExport: 52,
  importFrom: 53,
  foreignOpen: 54,
  foreignItems: 55,
  foreignCheckpoints: 56,
  foreignWrites: 57,
  foreignClose: 58,

  readRows: 59,
  endRows: 60,
  putRows: 61,
  finishImport: 62,
  importState: 63,
  limitVectors: 64,
} as const;

/** Persistent: index is the number of core's StatusCode, value is its name. */
export const STATUS_CODES = [
  "ok",
  "invalid_argument",
  "invalid_namespace",
  "invalid_key",
  "invalid_value",
  "invalid_filter",
  "invalid_operation",
  "dimension_mismatch",
  "thread_id_required",
  "not_found",
  "malformed_frame",
  "conflicting_options",
  "busy",
  "foreign_file",
  "not_a_database",
  "newer_schema",
  "storage_full",
  "read_only",
  "corrupt",
  "io_error",
  "changed_outside",
  "cannot_open",
  "closed",
  "lost",
  "too_large",
  "access_denied",
  "quota_exceeded",
  "unsupported",
  "internal",
  "model_mismatch",
] as const;

export type StatusCode = (typeof STATUS_CODES)[number];
