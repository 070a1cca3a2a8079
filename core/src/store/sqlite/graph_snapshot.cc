#include "store/sqlite/graph_snapshot.h"

#include <algorithm>
#include <string_view>

#include "store/sqlite/vector_chunk.h"

namespace keepsake {
namespace {

using sql::Row;

constexpr std::int64_t kNumbers = 1 << 16;
// No file has so many. One with a damaged id may seem to.
constexpr std::int64_t kMaxSnapshots = std::int64_t{1} << 32;

constexpr std::string_view kNewest =
    "SELECT chunk_id, checksum, bytes FROM graph_chunks"
    " WHERE chunk_id = (SELECT max(chunk_id) FROM graph_chunks WHERE chunk_id % 65536 = 0)";
constexpr std::string_view kReadPages =
    "SELECT chunk_id, checksum, bytes FROM graph_chunks WHERE chunk_id > ? AND chunk_id < ?"
    " ORDER BY chunk_id";
constexpr std::string_view kLastChunk = "SELECT coalesce(max(chunk_id), 0) FROM graph_chunks";
constexpr std::string_view kPut =
    "INSERT OR REPLACE INTO graph_chunks(chunk_id, checksum, bytes) VALUES(?, ?, ?)";
constexpr std::string_view kDropOlderShapes =
    "DELETE FROM graph_chunks WHERE chunk_id < ? AND chunk_id % 65536 = 0";
constexpr std::string_view kDropOlder =
    "DELETE FROM graph_chunks WHERE chunk_id IN"
    " (SELECT chunk_id FROM graph_chunks WHERE chunk_id < ? ORDER BY chunk_id LIMIT 4)"
    " RETURNING chunk_id";
constexpr std::string_view kDropAll = "DELETE FROM graph_chunks";

bool IsSound(const Row& row, std::uint32_t dims) {
  return row.Int(1) == ChunkChecksum(row.Int(0), dims, row.Blob(2));
}

}  // namespace

search::Slot GraphSnapshot::CoveredTo(std::uint32_t dims) {
  search::Slot covered_to = 0;
  const search::FlatIndex no_codes(dims, search::Metric::kCosine, search::CodeKind::kInt8);
  // A shape that can't be read is one that is not there.
  const Status status = database_.Run(kNewest, {}, [&](const Row& row) {
    search::HnswReader reader(no_codes);
    if (IsSound(row, dims) && reader.ReadShape(row.Blob(2))) covered_to = reader.covered_to();
  });
  return status.ok() ? covered_to : 0;
}

std::unique_ptr<search::HnswIndex> GraphSnapshot::Load(std::uint32_t dims,
                                                       const search::FlatIndex& codes) {
  search::HnswReader reader(codes);
  std::int64_t shape_id = 0;
  Status status = database_.Run(kNewest, {}, [&](const Row& row) {
    if (IsSound(row, dims) && reader.ReadShape(row.Blob(2))) shape_id = row.Int(0);
  });
  if (!status.ok() || shape_id == 0) return nullptr;
  std::int64_t id = shape_id;
  bool sound = true;
  status = database_.Run(kReadPages, {shape_id, shape_id + kNumbers}, [&](const Row& row) {
    sound = row.Int(0) == ++id && IsSound(row, dims) && reader.ReadPage(row.Blob(2));
    return sound;
  });
  return status.ok() && sound ? reader.Finish() : nullptr;
}

void GraphSnapshot::BeginSaving() {
  GiveUp();
  is_busy_ = true;
  may_be_there_ = true;
}

void GraphSnapshot::BeginDropping() {
  GiveUp();
  is_busy_ = true;
  is_whole_ = true;
  snapshot_ = kMaxSnapshots;
}

void GraphSnapshot::GiveUp() {
  is_busy_ = false;
  snapshot_ = 0;
  pages_ = 0;
  is_whole_ = false;
}

Status GraphSnapshot::Step(std::uint32_t dims, search::HnswIndex* graph) {
  Status status = is_whole_        ? DropOlder()
                  : snapshot_ == 0 ? FindNumber()
                                   : WriteNextChunk(dims, *graph);
  if (!status.ok()) GiveUp();
  return status;
}

Status GraphSnapshot::FindNumber() {
  Status status = database_.Run(kLastChunk, {}, [&](const Row& row) {
    snapshot_ = std::max<std::int64_t>(row.Int(0) / kNumbers, 0) + 1;
  });
  if (!status.ok() || snapshot_ < kMaxSnapshots) return status;
  snapshot_ = 1;
  return database_.Run(kDropAll);
}

Status GraphSnapshot::WriteNextChunk(std::uint32_t dims, search::HnswIndex& graph) {
  Bytes bytes;
  if (pages_ < graph.pages()) {
    graph.WritePage(pages_, bytes);
    const Status status = Put(static_cast<std::int64_t>(pages_) + 1, dims, bytes);
    if (status.ok()) ++pages_;
    return status;
  }
  graph.WriteShape(bytes);
  const Status status = database_.InTransaction([&]() -> Status {
    Status step = Put(0, dims, bytes);
    return step.ok() ? database_.Run(kDropOlderShapes, {snapshot_ * kNumbers}) : step;
  });
  if (!status.ok()) return status;
  graph.MarkSaved();
  is_whole_ = true;
  return status;
}

Status GraphSnapshot::Put(std::int64_t number, std::uint32_t dims, ByteView bytes) {
  const std::int64_t id = snapshot_ * kNumbers + number;
  return database_.Run(kPut, {id, ChunkChecksum(id, dims, bytes), bytes});
}

Status GraphSnapshot::DropOlder() {
  bool dropped = false;
  Status status =
      database_.Run(kDropOlder, {snapshot_ * kNumbers}, [&](const Row&) { dropped = true; });
  if (!status.ok() || dropped) return status;
  may_be_there_ = snapshot_ < kMaxSnapshots;
  GiveUp();
  return status;
}

Status GraphSnapshot::Clear() {
  GiveUp();
  return database_.Run(kDropAll);
}

}  // namespace keepsake
