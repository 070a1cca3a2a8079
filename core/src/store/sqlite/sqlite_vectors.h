// The vectors of a SqliteStore. Rows of `store_vectors` are the truth; codes of them
// are kept in `vector_chunks`, sealed and never changed, and in linear memory from the
// first search that needs them.
//
// A vector's id is its slot: it is given once, in ascending order, and never again.
//   chunk   the codes of a range of slots, written when all of them have been given:
//           for each slot scale, norm (float32), code (see quantizer.h); then their namespaces
// Which slots live is what the index on store_vectors says, so that a chunk can't be
// stale, a deletion writes nothing, and a chunk that is missing or damaged costs reading
// its rows. The last, unsealed slots are read from rows, too. A graph over the codes is
// saved beside them (graph_snapshot.h).
#ifndef KEEPSAKE_STORE_SQLITE_SQLITE_VECTORS_H_
#define KEEPSAKE_STORE_SQLITE_SQLITE_VECTORS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/database.h"
#include "keepsake/operation.h"
#include "keepsake/status.h"
#include "keepsake/store.h"
#include "store/item_table.h"
#include "store/sqlite/graph_snapshot.h"
#include "store/sqlite/item_follower.h"
#include "store/sqlite/unindexed_items.h"
#include "store/sqlite/vector_budget.h"
#include "vectors/field_columns.h"
#include "vectors/vector_index.h"

namespace keepsake {

class SqliteVectors final : public ItemFollower, private VectorBudget::Member {
 public:
  // `database` is borrowed.
  explicit SqliteVectors(sql::Database& database) : database_(database), snapshot_(database) {}
  ~SqliteVectors() { VectorBudget::OfThisThread().Forget(*this); }
  SqliteVectors(const SqliteVectors&) = delete;
  SqliteVectors& operator=(const SqliteVectors&) = delete;

  // Replaces the vectors of an item, and what it waits for.
  Status Put(const FollowedItem& item) override;
  Status Remove(std::span<const std::int64_t> item_ids) override;
  // Forgets all codes.
  Status Clear() override;
  // At the end of the transaction: writes chunks that have become complete. Costs the same for
  // each vector put, however many there are.
  Status Seal(std::uint32_t dims);
  Status EndTransaction(bool committed) override;

  // Makes this the index of the file: see IndexConfig. All items wait for vectors of the first
  // index's fields, but those that chose otherwise.
  Status UseIndex(const IndexConfig& index);
  // Whether the file has an index, known to this store or not.
  Result<bool> HasIndex();
  // Items that wait, the oldest first. A put or delete ends an item's waiting. `fields` are
  // those of the index.
  Result<std::vector<PendingEmbedding>> ReadPending(std::uint32_t limit,
                                                    std::span<const std::string> fields);
  Result<std::uint64_t> CountPending();
  // As Put(), if the item still waits and is what was read; says whether it did. `texts`
  // is kept until EndTransaction(), and has room for two more.
  Result<bool> PutPending(const ItemVectors& item, std::vector<std::string>& texts);

  // Whether it is known that there are no vectors, and that no item waits for any: then a put
  // or a deletion of an item changes nothing here.
  Result<bool> IsEmpty();

  // Rows that Load() reads, at most: of vectors and of items.
  Result<std::int64_t> RowsToLoad();
  bool is_loaded() const { return index_ != nullptr; }
  // REQUIRES: is_loaded().
  std::size_t CountBelow(std::string_view encoded_prefix) const {
    return index_->CountBelow(encoded_prefix);
  }
  // What is nearest by the codes in the file, as long as the index was not read; nullopt where it
  // was, or is worth reading by now, and where these codes can't tell.
  Result<std::optional<NearItems>> FindUnread(std::span<const float> query,
                                              std::string_view encoded_prefix, std::size_t wanted);
  // The index of all vectors, read at the first call, and again after it was given up for those
  // of other databases. The first search does not wait for its graph, unless it `needs_graph`.
  // Valid until the next write, or until another database is used. REQUIRES: the same `dims`
  // each time.
  Result<const search::VectorIndex*> Load(std::uint32_t dims, bool needs_graph);
  // As Store::ImproveIndex().
  Result<IndexProgress> Improve(std::uint32_t dims, const IndexStep& step);
  // Vectors that a graph covers, be it one that was saved and not read yet.
  Result<std::uint64_t> CountInGraph(std::uint32_t dims);
  // What a filter leaves, as far as the columns of its fields tell: nullopt for all. Reads
  // all values when it fills one. REQUIRES: is_loaded().
  Result<std::optional<search::SlotSet>> Select(const json::Filter& filter);
  // REQUIRES: is_loaded().
  UnindexedItems& unindexed() { return unindexed_; }
  // Whether they are many still.
  Status RecountUnindexed();

 private:
  // What a transaction does to the index once it is committed.
  struct Change {
    enum class Kind : std::uint8_t { kAdd, kRemove, kMove, kPutUnindexed } kind;
    std::int64_t slot;  // none of kPutUnindexed
    std::int64_t item_or_target = 0;
    std::string_view encoded_ns;
    std::string_view value;
    std::span<const float> vector;
  };

  std::size_t IndexBytes() const override {
    return index_ == nullptr ? 0 : index_->bytes() + columns_.bytes();
  }
  void GiveUpIndex() override;

  Status Delete(std::string_view sql, std::string_view pending_sql, sql::Param param);
  Status GiveUpAll();
  Status AwaitFields();
  Status ReadNextSlot(std::uint32_t dims);
  Status RepairOne(std::uint32_t dims);
  Status SealRange(std::int64_t first, std::uint32_t dims);
  Status EmptySparseChunks();
  Status MoveVector(std::int64_t slot);
  void Apply(const Change& change);
  void ReadGraph(std::uint32_t dims);
  Result<bool> ImproveGraph(std::uint32_t dims, const IndexStep& step);
  Status FillColumns();

  sql::Database& database_;
  std::unique_ptr<search::VectorIndex> index_;
  GraphSnapshot snapshot_;
  bool has_read_graph_ = false;
  // Of what is in index_.
  search::FieldColumns columns_;
  UnindexedItems unindexed_;
  std::vector<Change> changes_;
  std::optional<std::int64_t> next_slot_;
  std::optional<std::int64_t> next_to_seal_;  // the first slot of a chunk
  std::set<std::int64_t> damaged_;            // first slots of chunks to be written anew
  std::set<std::size_t> emptied_;             // chunks, by this transaction
  std::optional<bool> has_index_;
  bool has_searched_unread_ = false;  // FindUnread()
  std::int64_t rows_searched_ = 0;    // by these
  bool may_be_pending_ = true;        // items may wait for vectors
  bool may_have_rows_ = true;         // of vectors
  bool has_looked_for_rows_ = false;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_SQLITE_VECTORS_H_
