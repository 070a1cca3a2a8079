// What can be asked of an engine: the tags, and the payloads that have no struct of
// their own in the public API. js/src/wire/operations.ts has the same tags; a test
// compares the two. engine/operation_table.cc says what belongs to each.
#ifndef KEEPSAKE_WIRE_OPERATIONS_H_
#define KEEPSAKE_WIRE_OPERATIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/layout.h"

namespace keepsake::wire {

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
  kStoreStats = 24,
  kExplainAbsence = 25,
  kImproveIndex = 26,
  kReadPending = 27,
  kEmbedPending = 28,
  kKeepHistory = 29,
  kDropHistory = 30,
  kHistoryRules = 31,
  kHistory = 32,
  kGetAsOf = 33,
  kSearchAsOf = 34,
  kListNamespacesAsOf = 35,
  kUndo = 36,

  kPutCheckpoint = 64,
  kPutWrites = 65,
  kGetTuple = 66,
  kListCheckpoints = 67,
  kListWrites = 68,
  kDeltaChannelHistory = 69,
  kDeleteThread = 70,
  kCopyThread = 71,
  kRenameThread = 72,
  kForkThread = 73,
  kDeleteForRuns = 74,
  kPrune = 75,
  kListThreads = 76,
  kCheckpointerStats = 77,

  kFlush = 128,
  kSize = 129,
  kBeginExport = 130,
  kReadExport = 131,
  kEndExport = 132,
  kImportFrom = 133,
  kReadRows = 134,
  kEndRows = 135,
  kPutRows = 136,
  kFinishImport = 137,
  kImportState = 138,
  kLimitVectors = 139,
  kForget = 140,
  kFindErasure = 141,
  kHold = 142,
  kRelease = 143,
  kListHolds = 144,
  kCheckPages = 145,
  kSalvage = 146,
  kChangeKey = 147,
  kKeepAudit = 148,
  kAuditRule = 149,
  kAuditLog = 150,
  kScrub = 151,

  kForeignOpen = 192,
  kForeignItems = 193,
  kForeignCheckpoints = 194,
  kForeignWrites = 195,
  kForeignClose = 196,
};

// A tag byte, a length and that many bytes.
struct OperationView {
  std::uint8_t tag = 0;  // any byte: an unknown one fails at its position only
  ByteView payload;
};

struct Nothing {};
struct Open {
  std::optional<sql::OpenOptions> database;  // without one, in memory
};
struct OneNamespace {
  Namespace ns;
};
struct SweepExpired {
  std::uint32_t max_items = 0;
};
struct ConfigureStore {
  std::optional<IndexConfig> index;
  std::optional<TextConfig> text{};
};
struct ExplainAbsence {
  SearchOp search;
  ItemRef item;
};
struct ReadPending {
  std::uint32_t limit = 0;
};
struct EmbedPending {
  std::vector<ItemVectors> items;
};
struct History {
  ItemRef item;
  std::uint32_t limit = 0;
};
template <typename Op>
struct AsOf {
  Op op;
  std::int64_t at_ms = 0;
};
struct PutWrites {
  CheckpointKey key;
  std::vector<PendingWrite> writes;
};
struct ListWrites {
  CheckpointKey key;
  std::string channel;
};
struct GetDeltaChannelHistory {
  CheckpointKey key;
  std::vector<std::string> channels;
};
struct DeleteThread {
  std::string thread_id;
};
struct CopyThread {
  std::string source;
  std::string target;
};
struct DeleteForRuns {
  std::vector<std::string> run_ids;
};
struct RenameThread {
  std::string source;
  std::string target;
};
struct ForkThread {
  std::string source;
  std::string checkpoint_id;
  std::string target;
};
struct ReadExport {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
};
struct ForeignItems {
  import::ForeignTable table = import::ForeignTable::kPythonStore;
  std::string cursor;
  std::uint32_t limit = 0;
};
struct ForeignRows {
  std::string cursor;
  std::uint32_t limit = 0;
};

struct ReadRows {
  std::string export_id;
  std::uint64_t number = 0;  // of the piece
  Bytes cursor;
};
struct EndRows {
  std::string export_id;
};
struct PutRows {
  Bytes piece;
};
struct FinishImport {
  std::string export_id;
  bool is_wanted = false;
};

struct LimitVectors {
  std::uint64_t bytes = 0;
};

struct FindErasure {
  std::string id;
};
struct CheckPages {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool accepts = false;
};

struct ChangeKey {
  Bytes key;  // as sql::EncodeKeys() makes it
};

struct Scrub {
  std::uint32_t pages = 0;
};

struct KeepAudit {
  std::optional<AuditRule> rule;
};

auto Fields(Is<OperationView> auto& x) { return std::tie(x.tag, x.payload); }
auto Fields(Is<Nothing> auto&) { return std::tie(); }
auto Fields(Is<Open> auto& x) { return std::tie(x.database); }
auto Fields(Is<OneNamespace> auto& x) { return std::tie(x.ns); }
auto Fields(Is<SweepExpired> auto& x) { return std::tie(x.max_items); }
auto Fields(Is<ConfigureStore> auto& x) { return std::tie(x.index, x.text); }
auto Fields(Is<ExplainAbsence> auto& x) { return std::tie(x.search, x.item); }
auto Fields(Is<ReadPending> auto& x) { return std::tie(x.limit); }
auto Fields(Is<EmbedPending> auto& x) { return std::tie(x.items); }
auto Fields(Is<History> auto& x) { return std::tie(x.item, x.limit); }
auto Fields(Is<AsOf<GetOp>> auto& x) { return std::tie(x.op, x.at_ms); }
auto Fields(Is<AsOf<SearchOp>> auto& x) { return std::tie(x.op, x.at_ms); }
auto Fields(Is<AsOf<ListNamespacesOp>> auto& x) { return std::tie(x.op, x.at_ms); }
auto Fields(Is<PutWrites> auto& x) { return std::tie(x.key, x.writes); }
auto Fields(Is<ListWrites> auto& x) { return std::tie(x.key, x.channel); }
auto Fields(Is<GetDeltaChannelHistory> auto& x) { return std::tie(x.key, x.channels); }
auto Fields(Is<DeleteThread> auto& x) { return std::tie(x.thread_id); }
auto Fields(Is<CopyThread> auto& x) { return std::tie(x.source, x.target); }
auto Fields(Is<DeleteForRuns> auto& x) { return std::tie(x.run_ids); }
auto Fields(Is<RenameThread> auto& x) { return std::tie(x.source, x.target); }
auto Fields(Is<ForkThread> auto& x) { return std::tie(x.source, x.checkpoint_id, x.target); }
auto Fields(Is<ReadExport> auto& x) { return std::tie(x.offset, x.length); }
auto Fields(Is<ForeignItems> auto& x) { return std::tie(x.table, x.cursor, x.limit); }
auto Fields(Is<ForeignRows> auto& x) { return std::tie(x.cursor, x.limit); }
auto Fields(Is<ReadRows> auto& x) { return std::tie(x.export_id, x.number, x.cursor); }
auto Fields(Is<EndRows> auto& x) { return std::tie(x.export_id); }
auto Fields(Is<PutRows> auto& x) { return std::tie(x.piece); }
auto Fields(Is<FinishImport> auto& x) { return std::tie(x.export_id, x.is_wanted); }
auto Fields(Is<LimitVectors> auto& x) { return std::tie(x.bytes); }
auto Fields(Is<FindErasure> auto& x) { return std::tie(x.id); }
auto Fields(Is<ChangeKey> auto& x) { return std::tie(x.key); }
auto Fields(Is<Scrub> auto& x) { return std::tie(x.pages); }
auto Fields(Is<KeepAudit> auto& x) { return std::tie(x.rule); }
auto Fields(Is<CheckPages> auto& x) { return std::tie(x.first, x.count, x.accepts); }

}  // namespace keepsake::wire

#endif  // KEEPSAKE_WIRE_OPERATIONS_H_
