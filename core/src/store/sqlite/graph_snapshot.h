// A GraphSnapshot keeps the neighbors of a graph over vectors in `graph_chunks`: no
// vectors and no codes, which are kept elsewhere (see sqlite_vectors.h and
// search/hnsw_index.h, which has the bytes).
//
//   chunk_id := snapshot · 2^16 + number
//   number   := 0 the shape | 1… a page of nodes
//   checksum := of chunk_id, the vectors' dimensions and the bytes
//
// A snapshot is written a chunk at a time, its shape last, and then takes the place of the
// one before, of which a few chunks at a time are deleted. One without a shape is not
// there. Who lives is not in it, so that no put or deletion writes to it; what it does
// not cover is scanned. A snapshot that is missing or damaged costs speed only.
#ifndef KEEPSAKE_STORE_SQLITE_GRAPH_SNAPSHOT_H_
#define KEEPSAKE_STORE_SQLITE_GRAPH_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "keepsake/database.h"
#include "keepsake/status.h"
#include "vectors/hnsw_index.h"

namespace keepsake {

class GraphSnapshot {
 public:
  // `database` is borrowed.
  explicit GraphSnapshot(sql::Database& database) : database_(database) {}

  // The last slot that the snapshot covers, 0 without one. Nobody else may ever get one of
  // those slots: the graph would lead to where its vector was.
  search::Slot CoveredTo(std::uint32_t dims);
  // The graph over `codes`, null if there is none that is sound.
  std::unique_ptr<search::HnswIndex> Load(std::uint32_t dims, const search::FlatIndex& codes);

  // Saves the graph, or deletes what was saved, in steps of some 100 KB. A step that fails
  // gives up, and what was saved before still holds.
  void BeginSaving();
  void BeginDropping();
  bool is_busy() const { return is_busy_; }
  // Begins no chunk more; for a graph that goes.
  void GiveUp();
  // False once there is known to be none.
  bool may_be_there() const { return may_be_there_; }
  // REQUIRES: is_busy(); `graph` is the same, and unchanged, from BeginSaving() on.
  Status Step(std::uint32_t dims, search::HnswIndex* graph);

  // At once, within a transaction.
  Status Clear();

 private:
  Status FindNumber();
  Status WriteNextChunk(std::uint32_t dims, search::HnswIndex& graph);
  Status Put(std::int64_t number, std::uint32_t dims, ByteView bytes);
  Status DropOlder();

  sql::Database& database_;
  bool is_busy_ = false;
  std::int64_t snapshot_ = 0;  // that is being written, 0 before the first chunk
  std::size_t pages_ = 0;      // of it that were written
  bool is_whole_ = false;
  bool may_be_there_ = true;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_GRAPH_SNAPSHOT_H_
