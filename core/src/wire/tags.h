// Every number that means something in a frame. js/src/wire/tags.ts has the same
// list; a test compares the two.
#ifndef KEEPSAKE_WIRE_TAGS_H_
#define KEEPSAKE_WIRE_TAGS_H_

#include <cstdint>

namespace keepsake::wire {

// Raised only when a frame of the old layout would be misread.
inline constexpr std::uint8_t kVersion = 1;

// Persistent, never renumber.
enum class FrameKind : std::uint8_t {
  kExecute = 1,
  kOpen = 2,    // exactly one operation, kOpen
  kFailed = 3,  // responses only: the one result stands for every operation
};

// Bits of a request's flags. Persistent, never renumber, never reuse.
enum class RequestFlag : std::uint16_t {
  kRemember = 1,  // kExecute only: the header is followed by `acknowledged`
};

// Persistent, never renumber, never reuse.
enum class Tag : std::uint8_t {
  kOpen = 1,

  kGet = 16,
  kPut = 17,
  kSearch = 18,
  kListNamespaces = 19,
  kListKeys = 20,
  kClearNamespace = 21,
  kSweepExpired = 22,
  kConfigureStore = 23,
  kPrepareEmbedding = 24,
  kStoreStats = 25,
  kExplainAbsence = 26,
  // The two before it were of pending items without fingerprints.
  kImproveIndex = 29,
  kReadPending = 30,
  kEmbedPending = 31,

  kPutCheckpoint = 32,
  kPutWrites = 33,
  kGetTuple = 34,
  kListCheckpoints = 35,
  kListWrites = 36,
  kDeltaChannelHistory = 37,
  kDeleteThread = 38,
  kCopyThread = 39,
  kDeleteForRuns = 40,
  kPrune = 41,
  kCheckpointerStats = 42,
  kPruneByRules = 43,
  kListThreads = 44,
  kRenameThread = 45,
  kPutCheckpointDeltas = 46,
  kForkThread = 47,

  kFlush = 48,
  kSize = 49,
  kBeginExport = 50,
  kReadExport = 51,
  kEndExport = 52,
  kImportFrom = 53,
  kForeignOpen = 54,
  kForeignItems = 55,
  kForeignCheckpoints = 56,
  kForeignWrites = 57,
  kForeignClose = 58,

  kReadRows = 59,
  kEndRows = 60,
  kPutRows = 61,
  kFinishImport = 62,
  kImportState = 63,
  kLimitVectors = 64,
};

}  // namespace keepsake::wire

#endif  // KEEPSAKE_WIRE_TAGS_H_
