#include "store/sqlite/sqlite_vectors.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "base/heap_sort.h"
#include "store/embedding.h"
#include "store/sqlite/id_list.h"
#include "store/sqlite/read_int.h"
#include "store/sqlite/stored_codes.h"
#include "store/sqlite/vector_chunk.h"

namespace keepsake {
namespace {

using search::Slot;
using sql::Param;
using sql::Row;

constexpr std::string_view kPutVector =
    "INSERT INTO store_vectors(vector_id, item_id, path, vector) VALUES(?, ?, ?, ?)";
constexpr std::string_view kMoveVector =
    "UPDATE store_vectors SET vector_id = ? WHERE vector_id = ?";
constexpr std::string_view kDeleteOfItem =
    "DELETE FROM store_vectors WHERE item_id = ? RETURNING vector_id";
constexpr std::string_view kDeleteOfItems =
    "DELETE FROM store_vectors WHERE item_id IN (SELECT value FROM json_each(?))"
    " RETURNING vector_id";

constexpr std::string_view kEndPendingOfItem = "DELETE FROM vector_pending WHERE item_id = ?";
constexpr std::string_view kEndPendingOfItems =
    "DELETE FROM vector_pending WHERE item_id IN (SELECT value FROM json_each(?))";
constexpr std::string_view kAllPending =
    "INSERT OR IGNORE INTO vector_pending(item_id, path)"
    " SELECT item_id, CASE path WHEN '' THEN '$' ELSE path END FROM store_vectors";
// See PathsToAwait(): '' are the fields of the index, and '{}' was to get none.
constexpr std::string_view kAwaitFields =
    "INSERT INTO vector_pending(item_id, path) SELECT item_id, '' FROM store_kv"
    " WHERE item_id NOT IN (SELECT item_id FROM vector_pending)";
constexpr std::string_view kAwaitNoMore = "DELETE FROM vector_pending WHERE path = '{}'";
constexpr std::string_view kAwait = "INSERT INTO vector_pending(item_id, path) VALUES(?, ?)";
constexpr std::string_view kAnyRows =
    "SELECT EXISTS (SELECT 1 FROM store_vectors), EXISTS (SELECT 1 FROM vector_pending)";
constexpr std::string_view kDeleteAll = "DELETE FROM store_vectors";
constexpr std::string_view kReadPending =
    "SELECT p.item_id, p.path, i.value FROM vector_pending p"
    " CROSS JOIN store_kv i ON i.item_id = p.item_id"
    " WHERE p.item_id IN (SELECT DISTINCT item_id FROM vector_pending ORDER BY item_id LIMIT ?)"
    " ORDER BY p.item_id, p.path";
constexpr std::string_view kCountPending = "SELECT count(DISTINCT item_id) FROM vector_pending";
constexpr std::string_view kReadWaiting =
    "SELECT i.ns, i.value, p.path FROM vector_pending p"
    " CROSS JOIN store_kv i ON i.item_id = p.item_id WHERE p.item_id = ? ORDER BY p.path";

constexpr std::string_view kLastSlot = "SELECT coalesce(max(vector_id), 0) FROM store_vectors";
constexpr std::string_view kRowsAtMost =
    "SELECT coalesce(max(vector_id), 0) + (SELECT coalesce(max(item_id), 0) FROM store_kv)"
    " FROM store_vectors";
// Their slots will be given again: nothing lives above the last slot.
constexpr std::string_view kDropChunksAbove = "DELETE FROM vector_chunks WHERE first_id > ?";
// `+`: by the index of owners, which is small, and not by the rows with their vectors.
constexpr std::string_view kCountUpTo = "SELECT count(*) FROM store_vectors WHERE +vector_id <= ?";
constexpr std::string_view kReadUnindexedIds =
    "SELECT item_id FROM store_kv i WHERE NOT EXISTS"
    " (SELECT 1 FROM store_vectors v WHERE v.item_id = i.item_id) LIMIT ?";
constexpr std::string_view kLastChunk = "SELECT coalesce(max(first_id), -1) FROM vector_chunks";
constexpr std::string_view kReadRange =
    "SELECT vector_id, vector FROM store_vectors WHERE vector_id >= ? AND vector_id < ?";
// LEFT: a vector whose item is lost has a code, too.
constexpr std::string_view kReadToSeal =
    "SELECT v.vector_id, v.vector, coalesce(i.ns, '')"
    " FROM store_vectors v LEFT JOIN store_kv i ON i.item_id = v.item_id"
    " WHERE v.vector_id >= ? AND v.vector_id < ?";
constexpr std::string_view kPutChunk =
    "INSERT OR REPLACE INTO vector_chunks(first_id, checksum, codes) VALUES(?, ?, ?)";
// Of the number of slots that is given; the last chunk says how far slots are sealed.
constexpr std::string_view kDropDeadChunks =
    "DELETE FROM vector_chunks WHERE first_id < (SELECT max(first_id) FROM vector_chunks)"
    " AND NOT EXISTS (SELECT 1 FROM store_vectors"
    "  WHERE vector_id >= first_id AND vector_id < first_id + ?)";
constexpr std::string_view kDropChunk = "DELETE FROM vector_chunks WHERE first_id = ?";
constexpr std::string_view kDropStrayChunks = "DELETE FROM vector_chunks WHERE first_id % ? <> 0";
constexpr std::string_view kDropChunks = "DELETE FROM vector_chunks";

// These two are answered by indexes alone, whatever values and vectors there are.
constexpr std::string_view kReadNamespaces = "SELECT ns, item_id FROM store_kv ORDER BY ns, key";
constexpr std::string_view kReadOwners =
    "SELECT item_id, vector_id FROM store_vectors ORDER BY item_id, path";
constexpr std::string_view kReadChunks =
    "SELECT first_id, checksum & 9007199254740991, codes FROM vector_chunks ORDER BY first_id";

constexpr std::string_view kReadMeta = "SELECT value FROM meta WHERE name = ?";
constexpr std::string_view kWriteMeta = "INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)";
constexpr std::string_view kDims = "index_dims";
constexpr std::string_view kModel = "index_model";
constexpr std::string_view kAnyVector = "SELECT 1 FROM store_vectors LIMIT 1";

constexpr std::string_view kReadValues = "SELECT item_id, value FROM store_kv ORDER BY item_id";

// The vectors that are stored can't be compared with those of `index`.
Status Mismatch(std::string_view dims, std::string_view model, const IndexConfig& index) {
  constexpr std::string_view kRemedy = "; `replace` gives those up, and reembed() makes new ones";
  const std::string wanted_dims = std::to_string(index.dims);
  if (dims != wanted_dims) {
    return {StatusCode::kDimensionMismatch,
            std::string("index must have the ")
                    .append(dims)
                    .append(" dimensions of the vectors stored already: it has ") +
                wanted_dims + std::string(kRemedy)};
  }
  return {StatusCode::kModelMismatch,
          std::string("index must be of the model of the vectors stored already, \"")
              .append(model)
              .append("\": it is of \"")
              .append(index.model)
              .append("\"")
              .append(kRemedy)};
}

// A search that reads codes from the file takes longer than one of an index, which is read when
// the host has time, or after sixteen such searches: to look at so many codes takes as long
// as to read a row.
constexpr std::size_t kCodesPerRow = 8;

// So that emptying keeps up with chunks that are begun.
constexpr int kSparseChunksPerSeal = 2;

// A snapshot is written anew when its graph has grown by a part of itself, so that all of
// them together cost a few times what the last one does, whatever the number of vectors.
constexpr std::size_t kUnsavedBuilding = 4096, kPartBuilding = 4;
constexpr std::size_t kUnsavedIdle = 256, kPartIdle = 32;

bool IsWorthSaving(const search::HnswIndex& graph, bool has_more, bool is_wanted) {
  const std::size_t unsaved = graph.unsaved();
  if (has_more) return unsaved >= kUnsavedBuilding && unsaved * kPartBuilding >= graph.size();
  if (is_wanted) return unsaved > 0;
  return unsaved >= kUnsavedIdle && unsaved * kPartIdle >= graph.size();
}

ByteView BytesOf(std::span<const float> vector) {
  return {reinterpret_cast<const std::uint8_t*>(vector.data()), vector.size_bytes()};
}

// The vector in a row. A damaged one reads as zeros: who reads the row itself says so.
std::vector<float> VectorOf(ByteView bytes, std::size_t dims) {
  std::vector<float> vector(dims);
  if (bytes.size() == dims * sizeof(float)) {
    std::memcpy(vector.data(), bytes.data(), bytes.size());
  }
  return vector;
}

// Sorts by numbers that differ and are mostly dense, as ids are: without comparing them.
template <typename T, typename NumberOf>
void SortByNumber(std::vector<T>& values, NumberOf number_of) {
  if (std::ranges::is_sorted(values, {}, number_of)) return;
  const std::int64_t first = number_of(*std::ranges::min_element(values, {}, number_of));
  const std::int64_t last = number_of(*std::ranges::max_element(values, {}, number_of));
  constexpr std::size_t kMostGaps = 8;
  if (static_cast<std::size_t>(last - first) / kMostGaps < values.size()) {
    std::vector<T> places(static_cast<std::size_t>(last - first) + 1);
    std::vector<bool> is_taken(places.size());
    for (const T& value : values) {
      const auto place = static_cast<std::size_t>(number_of(value) - first);
      places[place] = value;
      is_taken[place] = true;
    }
    std::size_t count = 0;
    for (std::size_t place = 0; place < places.size(); ++place) {
      if (is_taken[place]) values[count++] = places[place];
    }
    values.resize(count);  // less only where a damaged index names one twice
    return;
  }
  HeapSort(values, [&](const T& a, const T& b) { return number_of(a) < number_of(b); });
}

// "" if there is no such row.
Result<std::string> ReadMeta(sql::Database& database, std::string_view name) {
  std::string value;
  Status status = database.Run(kReadMeta, {name}, [&](const Row& row) { value = row.Text(0); });
  if (!status.ok()) return std::unexpected(std::move(status));
  return value;
}

// A vector that is stored, and whose it is.
struct Stored {
  std::int64_t slot;
  std::int64_t item_id;
  std::uint32_t ns;  // in IndexLoader::namespaces_
};

// Makes an index from what the tables say.
class IndexLoader {
 public:
  IndexLoader(sql::Database& database, std::uint32_t dims)
      : database_(database),
        dims_(dims),
        layout_(dims),
        index_(std::make_unique<search::VectorIndex>(dims)) {}

  Status Run() {
    if (Status status = ReadOwners(); !status.ok()) return status;
    AddChunks();
    return AddRows();
  }

  std::unique_ptr<search::VectorIndex> TakeIndex() { return std::move(index_); }
  UnindexedItems TakeUnindexed() { return std::move(unindexed_); }
  // The first slots of chunks that should be there, and were not found sound.
  std::set<std::int64_t> Damaged() const {
    std::set<std::int64_t> damaged;
    for (const Stored& row : from_rows_) {
      const std::int64_t first = layout_.FirstOf(row.slot);
      if (first <= last_chunk_) damaged.insert(first);
    }
    return damaged;
  }

 private:
  Status ReadOwners() {
    std::vector<std::pair<std::int64_t, std::uint32_t>> ns_of_item;
    Status status = database_.Run(kReadNamespaces, {}, [&](const Row& row) {
      const std::string_view ns = row.Text(0);
      if (namespaces_.empty() || namespaces_.back() != ns) namespaces_.emplace_back(ns);
      ns_of_item.emplace_back(row.Int(1), static_cast<std::uint32_t>(namespaces_.size() - 1));
    });
    if (!status.ok()) return status;
    SortByNumber(ns_of_item, [](const auto& entry) { return entry.first; });
    const Result<std::int64_t> last_slot = ReadInt(database_, kLastSlot);
    if (!last_slot) return last_slot.error();
    auto item = ns_of_item.begin();
    std::int64_t indexed = 0;
    const auto skip_to = [&](std::int64_t item_id) {
      for (; item != ns_of_item.end() && item->first < item_id; ++item) {
        if (item->first != indexed) unindexed_.Add(item->first);
      }
    };
    status = database_.Run(kReadOwners, {}, [&](const Row& row) {
      skip_to(row.Int(0));
      const std::int64_t slot = row.Int(1);
      const bool is_slot = slot > 0 && slot <= *last_slot;  // or the index is damaged
      if (is_slot && item != ns_of_item.end() && item->first == row.Int(0)) {
        stored_.push_back({slot, item->first, item->second});
        indexed = item->first;
      }
    });
    skip_to(std::numeric_limits<std::int64_t>::max());
    SortByNumber(stored_, [](const Stored& stored) { return stored.slot; });
    return status;
  }

  // A chunk that can't be read is one that is not there.
  void AddChunks() {
    auto next = stored_.cbegin();
    const Status status = database_.Run(kReadChunks, {}, [&](const Row& row) {
      const std::int64_t first = row.Int(0);
      const ByteView bytes = row.Blob(2);
      if (!stored_.empty() && first <= stored_.back().slot) last_chunk_ = first;
      if (!IsSoundChunk(layout_, dims_, first, row.Int(1), bytes)) return;
      for (; next != stored_.cend() && next->slot < first; ++next) from_rows_.push_back(*next);
      const VectorChunk chunk(layout_, bytes);
      const auto begin = next;
      for (; next != stored_.cend() && next->slot < first + layout_.slots(); ++next) {
        const auto place = static_cast<std::size_t>(next->slot - first);
        index_->AddCode(static_cast<Slot>(next->slot), static_cast<std::uint64_t>(next->item_id),
                        namespaces_[next->ns], chunk.ScaleAt(place), chunk.CodeAt(place));
      }
      AddDeadCodes(chunk, first, {begin, next});
    });
    from_rows_.insert(from_rows_.end(), next, stored_.cend());
  }

  // A graph is walked over those who died.
  void AddDeadCodes(const VectorChunk& chunk, std::int64_t first, std::span<const Stored> living) {
    if (living.size() == static_cast<std::size_t>(layout_.slots())) return;
    auto next = living.begin();
    for (std::int64_t slot = first; slot < first + layout_.slots(); ++slot) {
      if (next != living.end() && next->slot == slot) {
        ++next;
        continue;
      }
      const auto place = static_cast<std::size_t>(slot - first);
      index_->AddDeadCode(static_cast<Slot>(slot), chunk.ScaleAt(place), chunk.CodeAt(place));
    }
  }

  Status AddRows() {
    for (auto next = from_rows_.cbegin(); next != from_rows_.cend();) {
      // One statement for each chunk's worth, so that gaps are not read over.
      const std::int64_t end = layout_.FirstOf(next->slot) + layout_.slots();
      Status status = database_.Run(kReadRange, {next->slot, end}, [&](const Row& row) {
        for (; next != from_rows_.cend() && next->slot < row.Int(0); ++next) AddZeros(*next);
        if (next != from_rows_.cend() && next->slot == row.Int(0)) {
          Add(*next++, VectorOf(row.Blob(1), dims_));
        }
      });
      if (!status.ok()) return status;
      for (; next != from_rows_.cend() && next->slot < end; ++next) AddZeros(*next);
    }
    return {};
  }

  // What the index on the table has and the table has not.
  void AddZeros(const Stored& row) { Add(row, std::vector<float>(dims_)); }

  void Add(const Stored& row, std::span<const float> vector) {
    index_->Add(static_cast<Slot>(row.slot), static_cast<std::uint64_t>(row.item_id),
                namespaces_[row.ns], vector);
  }

  sql::Database& database_;
  std::uint32_t dims_;
  VectorChunk::Layout layout_;
  std::unique_ptr<search::VectorIndex> index_;
  UnindexedItems unindexed_;
  std::vector<std::string> namespaces_;
  std::vector<Stored> stored_;     // by slot
  std::vector<Stored> from_rows_;  // of them, those that no chunk has
  std::int64_t last_chunk_ = -1;
};

}  // namespace

Status SqliteVectors::Put(const FollowedItem& item) {
  const std::span<const FieldVector> vectors = item.vectors;
  Status status = Remove(std::span(&item.id, 1));
  if (vectors.empty()) {
    changes_.push_back({.kind = Change::Kind::kPutUnindexed, .slot = 0, .item_or_target = item.id});
  }
  if (status.ok() && !vectors.empty()) {
    status = ReadNextSlot(static_cast<std::uint32_t>(vectors[0].values.size()));
  }
  may_have_rows_ = may_have_rows_ || !vectors.empty();
  for (const FieldVector& vector : vectors) {
    if (!status.ok()) break;
    const std::int64_t slot = (*next_slot_)++;
    status = database_.Run(kPutVector, {slot, item.id, vector.path, BytesOf(vector.values)});
    changes_.push_back(
        {Change::Kind::kAdd, slot, item.id, item.encoded_ns, item.value, vector.values});
  }
  may_be_pending_ = may_be_pending_ || !item.awaited.empty();
  for (const std::string& path : item.awaited) {
    if (status.ok()) status = database_.Run(kAwait, {item.id, std::string_view(path)});
  }
  return status;
}

Status SqliteVectors::Remove(std::span<const std::int64_t> item_ids) {
  if (item_ids.size() == 1) return Delete(kDeleteOfItem, kEndPendingOfItem, item_ids.front());
  const std::string list = IdList(item_ids);
  return Delete(kDeleteOfItems, kEndPendingOfItems, std::string_view(list));
}

Status SqliteVectors::Delete(std::string_view sql, std::string_view pending_sql, Param param) {
  if (may_be_pending_) {
    if (Status status = database_.Run(pending_sql, {param}); !status.ok()) return status;
  }
  if (!may_have_rows_) return {};
  return database_.Run(sql, {param}, [&](const Row& row) {
    changes_.push_back({.kind = Change::Kind::kRemove, .slot = row.Int(0)});
  });
}

Status SqliteVectors::ReadNextSlot(std::uint32_t dims) {
  if (next_slot_ && next_to_seal_) return {};
  const Result<std::int64_t> last_slot = ReadInt(database_, kLastSlot);
  if (!last_slot) return last_slot.error();
  Status status = database_.Run(kDropChunksAbove, {*last_slot});
  if (!status.ok()) return status;
  const auto covered_to = static_cast<std::int64_t>(snapshot_.CoveredTo(dims));
  return database_.Run(kLastChunk, {}, [&](const Row& row) {
    const std::int64_t slots = VectorChunk::Layout(dims).slots();
    next_to_seal_ = row.Int(0) < 0 ? 0 : row.Int(0) / slots * slots + slots;
    // Not one that was given already, be it that its transaction failed, nor one of a
    // chunk or a graph, even if the vector that had it is gone.
    next_slot_ = std::max({*last_slot + 1, *next_to_seal_, next_slot_.value_or(1), covered_to + 1});
  });
}

Status SqliteVectors::Seal(std::uint32_t dims) {
  if (!next_slot_ || !next_to_seal_) return {};  // nothing was put yet
  const std::int64_t slots = VectorChunk::Layout(dims).slots();
  if (Status status = RepairOne(dims); !status.ok()) return status;
  if (*next_slot_ - *next_to_seal_ < slots) return {};
  // A file of which no chunk is there catches up, a chunk with each put.
  for (std::int64_t left = 2 + static_cast<std::int64_t>(changes_.size()) / slots;
       left > 0 && *next_slot_ - *next_to_seal_ >= slots; --left) {
    if (Status status = SealRange(*next_to_seal_, dims); !status.ok()) return status;
    *next_to_seal_ += slots;
    if (Status status = EmptySparseChunks(); !status.ok()) return status;
  }
  return database_.Run(kDropDeadChunks, {slots});
}

Status SqliteVectors::RepairOne(std::uint32_t dims) {
  if (damaged_.empty()) return {};
  const std::int64_t first = *damaged_.begin();
  const std::int64_t slots = VectorChunk::Layout(dims).slots();
  damaged_.erase(damaged_.begin());
  if (Status status = database_.Run(kDropStrayChunks, {slots}); !status.ok()) return status;
  // A chunk of which slots are still to be given must not be there at all.
  return first + slots <= *next_slot_ ? SealRange(first, dims) : database_.Run(kDropChunk, {first});
}

Status SqliteVectors::SealRange(std::int64_t first, std::uint32_t dims) {
  const VectorChunk::Layout layout(dims);
  const std::int64_t end = first + layout.slots();
  VectorChunkMaker chunk(layout);
  const Status status = database_.Run(kReadToSeal, {first, end}, [&](const Row& row) {
    chunk.Add(static_cast<std::size_t>(row.Int(0) - first), VectorOf(row.Blob(1), dims),
              row.Text(2));
  });
  if (!status.ok()) return status;
  const Bytes bytes = chunk.Take();
  return database_.Run(kPutChunk, {first, ChunkChecksum(first, dims, bytes), ByteView(bytes)});
}

Status SqliteVectors::EmptySparseChunks() {
  if (index_ == nullptr) return {};
  const search::FlatIndex& codes = index_->codes();
  for (int i = 0; i < kSparseChunksPerSeal; ++i) {
    const std::optional<std::size_t> sparsest = codes.SparsestChunk(emptied_);
    if (!sparsest) return {};
    emptied_.insert(*sparsest);
    for (const Slot slot : codes.SlotsIn(*sparsest)) {
      if (Status status = MoveVector(static_cast<std::int64_t>(slot)); !status.ok()) return status;
    }
  }
  return {};
}

// To the end. Does nothing to one that this transaction deletes.
Status SqliteVectors::MoveVector(std::int64_t slot) {
  const std::int64_t target = (*next_slot_)++;
  changes_.push_back({.kind = Change::Kind::kMove, .slot = slot, .item_or_target = target});
  return database_.Run(kMoveVector, {target, slot});
}

Status SqliteVectors::EndTransaction(bool committed) {
  if (!committed) {
    next_to_seal_.reset();
  } else if (index_ != nullptr) {
    for (const Change& change : changes_) Apply(change);
    VectorBudget::OfThisThread().Use(*this);
  }
  changes_.clear();
  emptied_.clear();
  return {};
}

void SqliteVectors::Apply(const Change& change) {
  const auto slot = static_cast<Slot>(change.slot);
  const auto other = static_cast<std::uint64_t>(change.item_or_target);
  switch (change.kind) {
    case Change::Kind::kAdd:
      unindexed_.Remove(change.item_or_target);
      columns_.Add(slot, change.value);
      return index_->Add(slot, other, change.encoded_ns, change.vector);
    case Change::Kind::kRemove:
      if (index_->codes().Has(slot)) columns_.Remove(slot);
      return index_->Remove(slot);
    case Change::Kind::kMove:
      if (index_->codes().Has(slot)) columns_.Move(slot, other);
      return index_->Move(slot, other);
    case Change::Kind::kPutUnindexed:
      return unindexed_.Add(change.item_or_target);
  }
}

Status SqliteVectors::Clear() {
  GiveUpIndex();
  damaged_.clear();
  next_to_seal_.reset();
  Status status = snapshot_.Clear();
  return status.ok() ? database_.Run(kDropChunks) : status;
}

Status SqliteVectors::UseIndex(const IndexConfig& index) {
  const Result<std::string> dims = ReadMeta(database_, kDims);
  if (!dims) return dims.error();
  const Result<std::string> model = ReadMeta(database_, kModel);
  if (!model) return model.error();
  const std::string wanted_dims = std::to_string(index.dims);
  const bool is_same_size = *dims == wanted_dims;
  const bool is_same_model = model->empty() || index.model.empty() || *model == index.model;
  if (is_same_size && is_same_model) {
    has_index_ = true;
    return model->empty() && !index.model.empty()
               ? database_.Run(kWriteMeta, {kModel, std::string_view(index.model)})
               : Status();
  }
  const Result<std::int64_t> has_vectors = ReadInt(database_, kAnyVector);
  if (!has_vectors) return has_vectors.error();
  if (*has_vectors != 0 && !index.replace_vectors) return Mismatch(*dims, *model, index);
  Status status = database_.InTransaction([&]() -> Status {
    Status step = dims->empty() ? AwaitFields() : GiveUpAll();
    if (step.ok()) step = database_.Run(kWriteMeta, {kDims, std::string_view(wanted_dims)});
    return step.ok() ? database_.Run(kWriteMeta, {kModel, std::string_view(index.model)}) : step;
  });
  if (status.ok()) has_index_ = true;
  return status;
}

Result<bool> SqliteVectors::HasIndex() {
  if (!has_index_) {
    const Result<std::string> dims = ReadMeta(database_, kDims);
    if (!dims) return std::unexpected(dims.error());
    has_index_ = !dims->empty();
  }
  return *has_index_;
}

// Vectors of another model are of no use: they are deleted, and their items wait for new ones.
Status SqliteVectors::GiveUpAll() {
  may_be_pending_ = true;
  has_looked_for_rows_ = true;
  Status status = database_.Run(kAllPending);
  if (status.ok()) status = database_.Run(kDeleteAll);
  return status.ok() ? Clear() : status;
}

Status SqliteVectors::AwaitFields() {
  may_be_pending_ = true;
  Status status = database_.Run(kAwaitFields);
  return status.ok() ? database_.Run(kAwaitNoMore) : status;
}

Result<std::vector<PendingEmbedding>> SqliteVectors::ReadPending(
    std::uint32_t limit, std::span<const std::string> fields) {
  struct Waiting {
    std::int64_t item_id;
    std::vector<std::string> paths;
    std::string value;
  };
  std::vector<Waiting> waiting;
  Status status = database_.Run(kReadPending, {std::int64_t{limit}}, [&](const Row& row) {
    if (waiting.empty() || waiting.back().item_id != row.Int(0)) {
      waiting.push_back({row.Int(0), {}, std::string(row.Text(2))});
    }
    waiting.back().paths.emplace_back(row.Text(1));
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  std::vector<PendingEmbedding> items;
  for (const Waiting& item : waiting) {
    PathTexts texts = TextsAwaited(item.value, item.paths, fields);
    items.push_back({item.item_id, FingerprintOf(item.value, item.paths), std::move(texts.paths),
                     std::move(texts.texts)});
  }
  return items;
}

Result<std::uint64_t> SqliteVectors::CountPending() {
  if (!may_be_pending_) return 0;
  const Result<std::int64_t> count = ReadInt(database_, kCountPending);
  if (count) may_be_pending_ = *count > 0;
  return count;
}

Result<bool> SqliteVectors::PutPending(const ItemVectors& item, std::vector<std::string>& texts) {
  const std::size_t first = texts.size();
  std::vector<std::string> paths;
  Status status = database_.Run(kReadWaiting, {item.id}, [&](const Row& row) {
    if (paths.empty()) {
      texts.emplace_back(row.Text(0));
      texts.emplace_back(row.Text(1));
    }
    paths.emplace_back(row.Text(2));
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  if (paths.empty() || FingerprintOf(texts[first + 1], paths) != item.fingerprint) return false;
  status = Put({item.id, texts[first], texts[first + 1], item.vectors, {}});
  if (!status.ok()) return std::unexpected(std::move(status));
  return true;
}

// Looked for once: rows that were there and are gone might come back, with a rollback. Not in a
// host's database, which others may write to.
Result<bool> SqliteVectors::IsEmpty() {
  if (!has_looked_for_rows_ && !database_.is_guarded() && changes_.empty()) {
    has_looked_for_rows_ = true;
    Status status = database_.Run(kAnyRows, {}, [&](const Row& row) {
      may_have_rows_ = row.Int(0) != 0;
      may_be_pending_ = row.Int(1) != 0;
    });
    if (!status.ok()) return std::unexpected(std::move(status));
  }
  return !may_have_rows_ && !may_be_pending_;
}

Result<std::int64_t> SqliteVectors::RowsToLoad() { return ReadInt(database_, kRowsAtMost); }

Result<const search::VectorIndex*> SqliteVectors::Load(std::uint32_t dims, bool needs_graph) {
  const bool is_first = index_ == nullptr;
  if (is_first) {
    IndexLoader loader(database_, dims);
    if (Status status = loader.Run(); !status.ok()) return std::unexpected(std::move(status));
    damaged_ = loader.Damaged();
    index_ = loader.TakeIndex();
    unindexed_ = loader.TakeUnindexed();
  }
  if (!is_first || needs_graph) ReadGraph(dims);
  VectorBudget::OfThisThread().Use(*this);
  return index_.get();
}

Result<std::optional<NearItems>> SqliteVectors::FindUnread(std::span<const float> query,
                                                           std::string_view encoded_prefix,
                                                           std::size_t wanted) {
  if (index_ != nullptr) return std::nullopt;
  const Result<std::int64_t> to_load = ReadInt(database_, kRowsAtMost);
  if (!to_load) return std::unexpected(to_load.error());
  if (rows_searched_ >= *to_load) return std::nullopt;
  Result<std::optional<NearItems>> near = FindInCodes(database_, query, encoded_prefix, wanted);
  if (near && *near) {
    has_searched_unread_ = true;
    rows_searched_ += static_cast<std::int64_t>((*near)->vectors / kCodesPerRow);
  }
  return near;
}

void SqliteVectors::GiveUpIndex() {
  has_searched_unread_ = false;
  rows_searched_ = 0;
  index_.reset();
  columns_.Clear();
  unindexed_ = {};
  snapshot_.GiveUp();
  has_read_graph_ = false;
}

void SqliteVectors::ReadGraph(std::uint32_t dims) {
  if (!has_read_graph_) index_->AdoptGraph(snapshot_.Load(dims, index_->codes()));
  has_read_graph_ = true;
}

Result<IndexProgress> SqliteVectors::Improve(std::uint32_t dims, const IndexStep& step) {
  if (step.is_wanted || has_searched_unread_) {
    const Result<const search::VectorIndex*> loaded = Load(dims, true);
    if (!loaded) return std::unexpected(loaded.error());
  }
  if (index_ == nullptr) return IndexProgress{};
  ReadGraph(dims);
  const Result<bool> has_more = ImproveGraph(dims, step);
  if (!has_more) return std::unexpected(has_more.error());
  VectorBudget::OfThisThread().Use(*this);
  return IndexProgress{
      .vectors = index_->codes().size(), .in_graph = index_->in_graph(), .is_done = !*has_more};
}

Result<bool> SqliteVectors::ImproveGraph(std::uint32_t dims, const IndexStep& step) {
  if (snapshot_.is_busy()) {
    if (Status status = snapshot_.Step(dims, index_->graph()); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    return true;
  }
  const bool has_more = index_->ImproveGraph(step.vectors, step.is_wanted);
  const search::HnswIndex* graph = index_->graph();
  if (graph == nullptr && !has_more && snapshot_.may_be_there()) snapshot_.BeginDropping();
  if (graph != nullptr && IsWorthSaving(*graph, has_more, step.is_wanted)) snapshot_.BeginSaving();
  return has_more || snapshot_.is_busy();
}

Result<std::uint64_t> SqliteVectors::CountInGraph(std::uint32_t dims) {
  if (index_ != nullptr && has_read_graph_) return index_->in_graph();
  const auto covered_to = static_cast<std::int64_t>(snapshot_.CoveredTo(dims));
  if (covered_to == 0) return 0;
  return ReadInt(database_, kCountUpTo, {covered_to});
}

Status SqliteVectors::RecountUnindexed() {
  if (!unindexed_.are_many()) return {};
  UnindexedItems items;
  constexpr auto kLimit = static_cast<std::int64_t>(UnindexedItems::kMost + 1);
  Status status =
      database_.Run(kReadUnindexedIds, {kLimit}, [&](const Row& row) { items.Add(row.Int(0)); });
  if (status.ok()) unindexed_ = std::move(items);
  return status;
}

Result<std::optional<search::SlotSet>> SqliteVectors::Select(const json::Filter& filter) {
  if (filter.empty()) return std::nullopt;
  if (columns_.Begin(filter)) {
    if (Status status = FillColumns(); !status.ok()) {
      columns_.Clear();
      return std::unexpected(std::move(status));
    }
    columns_.EndFill();
    VectorBudget::OfThisThread().Use(*this);
  }
  return columns_.Select(filter);
}

Status SqliteVectors::FillColumns() {
  const search::FlatIndex& codes = index_->codes();
  std::vector<std::pair<std::int64_t, Slot>> slots;
  slots.reserve(codes.size());
  for (auto slot = codes.FirstFrom(0); slot; slot = codes.FirstFrom(*slot + 1)) {
    slots.emplace_back(static_cast<std::int64_t>(codes.OwnerOf(*slot).item), *slot);
  }
  HeapSort(slots, std::less());
  auto next = slots.cbegin();
  const auto fill_to = [&](std::int64_t item_id, std::string_view value) {
    for (; next != slots.cend() && next->first <= item_id; ++next) {
      columns_.Fill(next->second, next->first == item_id ? value : "null");
    }
  };
  const Status status =
      database_.Run(kReadValues, {}, [&](const Row& row) { fill_to(row.Int(0), row.Text(1)); });
  fill_to(std::numeric_limits<std::int64_t>::max(), "null");
  return status;
}

}  // namespace keepsake
