// The payloads of the operations that have no struct of their own in the public
// API, and which payload belongs to which tag.
#ifndef KEEPSAKE_WIRE_OPERATIONS_H_
#define KEEPSAKE_WIRE_OPERATIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/layout.h"
#include "wire/tags.h"

namespace keepsake::wire {

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
  std::optional<TtlConfig> ttl;
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
struct Prune {
  std::vector<std::string> thread_ids;
  PruneStrategy strategy = PruneStrategy::kKeepLatest;
};
struct RenameThread {
  std::string source;
  std::string target;
};
// One delta for each of the values.
struct PutCheckpointDeltas {
  NewCheckpoint checkpoint;
  std::vector<ValueDelta> deltas;
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

// EmbeddingPlan as it travels: size_t has no fixed width.
struct EmbeddingPlanAnswer {
  struct Put {
    std::uint32_t position = 0;
    std::vector<std::string> paths;
    std::vector<std::uint32_t> texts;
  };
  std::vector<std::string> texts;
  std::vector<Put> puts;
  std::vector<std::string> queries;
  std::vector<std::uint32_t> query_positions;
  std::vector<std::uint32_t> query_of;
};
EmbeddingPlanAnswer ToAnswer(const EmbeddingPlan& plan);

auto Fields(Is<OperationView> auto& x) { return std::tie(x.tag, x.payload); }
auto Fields(Is<Nothing> auto&) { return std::tie(); }
auto Fields(Is<Open> auto& x) { return std::tie(x.database); }
auto Fields(Is<OneNamespace> auto& x) { return std::tie(x.ns); }
auto Fields(Is<SweepExpired> auto& x) { return std::tie(x.max_items); }
auto Fields(Is<ConfigureStore> auto& x) { return std::tie(x.index, x.ttl, x.text); }
auto Fields(Is<ExplainAbsence> auto& x) { return std::tie(x.search, x.item); }
auto Fields(Is<ReadPending> auto& x) { return std::tie(x.limit); }
auto Fields(Is<EmbedPending> auto& x) { return std::tie(x.items); }
auto Fields(Is<PutWrites> auto& x) { return std::tie(x.key, x.writes); }
auto Fields(Is<ListWrites> auto& x) { return std::tie(x.key, x.channel); }
auto Fields(Is<GetDeltaChannelHistory> auto& x) { return std::tie(x.key, x.channels); }
auto Fields(Is<DeleteThread> auto& x) { return std::tie(x.thread_id); }
auto Fields(Is<CopyThread> auto& x) { return std::tie(x.source, x.target); }
auto Fields(Is<DeleteForRuns> auto& x) { return std::tie(x.run_ids); }
auto Fields(Is<Prune> auto& x) { return std::tie(x.thread_ids, x.strategy); }
auto Fields(Is<RenameThread> auto& x) { return std::tie(x.source, x.target); }
auto Fields(Is<PutCheckpointDeltas> auto& x) { return std::tie(x.checkpoint, x.deltas); }
auto Fields(Is<ForkThread> auto& x) { return std::tie(x.source, x.checkpoint_id, x.target); }
auto Fields(Is<ReadExport> auto& x) { return std::tie(x.offset, x.length); }
auto Fields(Is<ForeignItems> auto& x) { return std::tie(x.table, x.cursor, x.limit); }
auto Fields(Is<ForeignRows> auto& x) { return std::tie(x.cursor, x.limit); }
auto Fields(Is<ReadRows> auto& x) { return std::tie(x.export_id, x.number, x.cursor); }
auto Fields(Is<EndRows> auto& x) { return std::tie(x.export_id); }
auto Fields(Is<PutRows> auto& x) { return std::tie(x.piece); }
auto Fields(Is<FinishImport> auto& x) { return std::tie(x.export_id, x.is_wanted); }
auto Fields(Is<LimitVectors> auto& x) { return std::tie(x.bytes); }
auto Fields(Is<EmbeddingPlanAnswer::Put> auto& x) { return std::tie(x.position, x.paths, x.texts); }
auto Fields(Is<EmbeddingPlanAnswer> auto& x) {
  return std::tie(x.texts, x.puts, x.queries, x.query_positions, x.query_of);
}

}  // namespace keepsake::wire

#endif  // KEEPSAKE_WIRE_OPERATIONS_H_
