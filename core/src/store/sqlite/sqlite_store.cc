#include "keepsake/sqlite_store.h"

#include <bit>
#include <cstring>
#include <functional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/page.h"
#include "json/utf8.h"
#include "store/checked_batch.h"
#include "store/embedding.h"
#include "store/fusion.h"
#include "store/namespace_listing.h"
#include "store/refinement.h"
#include "store/scored_hits.h"
#include "store/sqlite/prefix_range.h"
#include "store/sqlite/sqlite_text_index.h"
#include "store/sqlite/sqlite_vectors.h"
#include "vectors/cosine.h"

static_assert(std::endian::native == std::endian::little, "vectors are stored little-endian");

namespace keepsake {
namespace {

using sql::Param;
using sql::Row;

// A namespace is a range of `ns` (see PrefixRange), an item is visible until it
// expires, and candidates come in the order of (ns, key) from the index on them.
constexpr std::string_view kGet =
    "SELECT item_id, value, created_at, updated_at, ttl FROM store_kv"
    " WHERE ns = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)";
constexpr std::string_view kListItems =
    "SELECT item_id FROM store_kv"
    " WHERE ns >= ? AND ns < ? AND (expires_at IS NULL OR expires_at > ?)"
    " ORDER BY updated_at DESC, ns, key LIMIT ? OFFSET ?";
constexpr std::string_view kScanValues =
    "SELECT item_id, updated_at, value, key FROM store_kv"
    " WHERE ns >= ? AND ns < ? AND (expires_at IS NULL OR expires_at > ?)"
    " ORDER BY ns, key";
constexpr std::string_view kScanVectors =
    "SELECT i.item_id, i.updated_at, v.vector"
    " FROM store_kv i LEFT JOIN store_vectors v ON v.item_id = i.item_id"
    " WHERE i.ns >= ? AND i.ns < ? AND (i.expires_at IS NULL OR i.expires_at > ?)"
    " ORDER BY i.ns, i.key";
// An item has as many rows as it has vectors. CROSS: the list is walked, not the tables.
constexpr std::string_view kReadCandidates =
    "SELECT i.item_id, i.ns, i.key, i.value, i.created_at, i.updated_at, i.ttl, v.vector"
    " FROM json_each(?) c CROSS JOIN store_kv i ON i.item_id = c.value"
    " CROSS JOIN store_vectors v ON v.item_id = i.item_id"
    " WHERE i.expires_at IS NULL OR i.expires_at > ?";
constexpr std::string_view kReadUnindexed =
    "SELECT i.item_id, i.updated_at, i.value, i.ns, i.expires_at <= ?"
    " FROM json_each(?) c CROSS JOIN store_kv i ON i.item_id = c.value ORDER BY i.ns, i.key";
constexpr std::string_view kVectorsOfItem = "SELECT vector FROM store_vectors WHERE item_id = ?";
constexpr std::string_view kVectorsOfKey =
    "SELECT i.item_id, v.vector FROM store_kv i JOIN store_vectors v ON v.item_id = i.item_id"
    " WHERE i.ns = ? AND i.key = ? AND (i.expires_at IS NULL OR i.expires_at > ?)"
    " ORDER BY v.path";
constexpr std::string_view kCountUpTo =
    "SELECT count(*) FROM (SELECT 1 FROM store_kv WHERE ns >= ? AND ns < ? LIMIT ?)";
constexpr std::string_view kFetch =
    "SELECT i.item_id, i.ns, i.key, i.value, i.created_at, i.updated_at, i.ttl"
    " FROM json_each(?) c CROSS JOIN store_kv i ON i.item_id = c.value";
// Steps from namespace to namespace, whatever the number of their items.
constexpr std::string_view kNamespaces =
    "WITH RECURSIVE found(ns) AS ("
    "  SELECT min(ns) FROM store_kv WHERE ns >= ? AND ns < ?"
    "  UNION ALL"
    "  SELECT (SELECT min(ns) FROM store_kv WHERE ns > found.ns AND ns < ?)"
    "  FROM found WHERE found.ns IS NOT NULL)"
    " SELECT ns FROM found WHERE EXISTS (SELECT 1 FROM store_kv"
    "  WHERE store_kv.ns = found.ns AND (expires_at IS NULL OR expires_at > ?))";
constexpr std::string_view kKeys =
    "SELECT key FROM store_kv WHERE ns = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY key";
constexpr std::string_view kCount =
    "SELECT count(*), count(DISTINCT ns) FROM store_kv WHERE expires_at IS NULL OR expires_at > ?";
constexpr std::string_view kCountVectors =
    "SELECT count(*) FROM store_vectors v JOIN store_kv i ON i.item_id = v.item_id"
    " WHERE i.expires_at IS NULL OR i.expires_at > ?";

// An expired item that is put again is a new one.
constexpr std::string_view kPut =
    "INSERT INTO store_kv(ns, key, value, created_at, updated_at, ttl, expires_at)"
    " VALUES(?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT(ns, key) DO UPDATE SET value = excluded.value,"
    "  created_at = CASE WHEN expires_at <= excluded.updated_at"
    "   THEN excluded.created_at ELSE created_at END,"
    "  updated_at = excluded.updated_at, ttl = excluded.ttl, expires_at = excluded.expires_at"
    " RETURNING item_id";
constexpr std::string_view kDelete =
    "DELETE FROM store_kv WHERE ns = ? AND key = ? RETURNING item_id";
constexpr std::string_view kRefreshTtl =
    "UPDATE store_kv SET expires_at = ? + ttl"
    " WHERE item_id IN (SELECT value FROM json_each(?)) AND ttl > 0";
constexpr std::string_view kClear =
    "DELETE FROM store_kv WHERE ns = ? RETURNING expires_at, item_id";
constexpr std::string_view kExpiredItems =
    "SELECT item_id FROM store_kv WHERE expires_at <= ? ORDER BY expires_at LIMIT ?";
constexpr std::string_view kDeleteItems =
    "DELETE FROM store_kv WHERE item_id IN (SELECT value FROM json_each(?))";

constexpr std::string_view kReadMeta = "SELECT value FROM meta WHERE name = ?";
constexpr std::string_view kWriteMeta = "INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)";
constexpr std::string_view kDims = "index_dims";
constexpr std::string_view kModel = "index_model";
constexpr std::string_view kAnyVector = "SELECT 1 FROM store_vectors LIMIT 1";

// Item ids as JSON, for json_each(): a statement has few parameters.
class IdList {
 public:
  void Add(std::int64_t id) { (json_ += json_.empty() ? '[' : ',') += std::to_string(id); }
  bool empty() const { return json_.empty(); }
  std::string Take() { return std::move(json_ += ']'); }

 private:
  std::string json_;
};

Param ExpiryParam(std::int64_t expires_at_ms) {
  return expires_at_ms == kNeverExpires ? Param(std::monostate()) : Param(expires_at_ms);
}

bool IsWanted(const Row& row, const CheckedSearch& search) {
  constexpr int kValue = 2, kKey = 3;
  if (!search.filter.Matches(row.Text(kValue))) return false;
  return search.contains.empty() || search.contains.IsIn(row.Text(kKey)) ||
         search.contains.IsInJson(row.Text(kValue));
}

// An item, as the first columns of kFetch and kReadCandidates have it. The value of a
// candidate is left out if it is large, and "" then, which no value is.
struct ItemRow {
  ItemRow() = default;
  ItemRow(const Row& row, std::string_view kept_value)
      : ns(row.Text(1)),
        key(row.Text(2)),
        value(kept_value),
        created_at_ms(row.Int(4)),
        updated_at_ms(row.Int(5)),
        ttl_ms(row.Int(6)) {}

  std::string ns;  // encoded
  std::string key;
  std::string value;
  std::int64_t created_at_ms = 0;
  std::int64_t updated_at_ms = 0;
  std::int64_t ttl_ms = 0;
};

// Scores float32 rows.
class RowScorer {
 public:
  RowScorer(std::span<const float> query, std::size_t dims) : query_(query), vector_(dims) {}

  // Also keeps the best of what was scored since TakeBest(). False if `bytes` are not of
  // the index, which status() then says.
  bool Add(ByteView bytes) {
    if (bytes.size() != vector_.size() * sizeof(float)) {
      status_ = Status(StatusCode::kCorrupt, "stored vector has " + std::to_string(bytes.size()) +
                                                 " bytes where the index has " +
                                                 std::to_string(vector_.size()) + " dimensions");
      return false;
    }
    std::memcpy(vector_.data(), bytes.data(), bytes.size());  // a blob may lie anywhere
    const double score = query_.Score(vector_);
    if (!best_ || score > *best_) best_ = score;
    return true;
  }

  std::optional<double> TakeBest() { return std::exchange(best_, std::nullopt); }
  const Status& status() const { return status_; }

 private:
  search::CosineQuery query_;
  std::vector<float> vector_;
  std::optional<double> best_;
  Status status_;
};

// Turns the rows of kScanVectors, of which an item has one per vector, into
// candidates.
class VectorScan {
 public:
  VectorScan(RowScorer& scorer, std::int64_t excluded_id, Page<std::int64_t>& page)
      : scorer_(scorer), excluded_id_(excluded_id), page_(page) {}

  // False stops the scan.
  bool Add(const Row& row) {
    constexpr int kItemId = 0, kUpdatedAt = 1, kVector = 2;
    if (row.Int(kItemId) != item_id_) {
      EndItem();
      item_id_ = row.Int(kItemId);
      updated_at_ms_ = row.Int(kUpdatedAt);
    }
    return row.IsNull(kVector) || scorer_.Add(row.Blob(kVector));
  }

  void EndItem() {
    const std::optional<double> best = scorer_.TakeBest();
    if (item_id_ == 0 || item_id_ == excluded_id_) return;
    if (best) {
      page_.PushScored(item_id_, *best);
    } else {
      page_.PushUnscored(item_id_, updated_at_ms_);
    }
  }

 private:
  RowScorer& scorer_;
  std::int64_t excluded_id_;
  Page<std::int64_t>& page_;
  std::int64_t item_id_ = 0;  // the first has 1
  std::int64_t updated_at_ms_ = 0;
};

// Of vectors that can't be compared with those of `index`.
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

// A hit, and where it stands among those with an equal score.
struct RankedItem {
  std::int64_t item_id = 0;
  const ItemRow* row = nullptr;

  bool operator<(const RankedItem& other) const {
    return std::tie(row->ns, row->key) < std::tie(other.row->ns, other.row->key);
  }
};

// Below so many rows reading them is quicker than reading the index, if it was not read yet:
// it is worth that when searches have read as many rows.
constexpr std::int64_t kLoadFrom = 1000;
// To look at so many items by their ids is nothing.
constexpr std::size_t kFewUnindexed = 64;

class SqliteStore final : public Store {
 public:
  SqliteStore(sql::Database& database, StoreOptions options)
      : Store(std::move(options)), database_(database), text_(database), vectors_(database) {}

  Status Start() { return text_.Start(); }

  Result<std::vector<std::string>> List(const Namespace& ns) override;
  Result<std::uint64_t> ClearNamespace(const Namespace& ns) override;
  Result<std::uint64_t> SweepExpired(std::uint32_t max_items) override;
  Result<StoreStats> Stats() override;
  Result<PendingEmbeddings> ReadPending(std::uint32_t limit) override;
  Result<IndexProgress> ImproveIndex(const IndexStep& step) override {
    return options().index ? vectors_.Improve(options().index->dims, step) : IndexProgress{};
  }

  Status CheckIndex(const IndexConfig& index) override;

 protected:
  Result<std::vector<OperationResult>> Apply(const CheckedBatch& batch) override;
  Result<std::uint64_t> WritePending(std::span<const ItemVectors> items) override;

 private:
  using Hits = std::vector<Hit<std::int64_t>>;

  // Reads note the items whose TTL they restart in `refreshed`.
  Result<std::optional<Item>> ReadItem(const CheckedGet& get, std::int64_t now_ms,
                                       IdList& refreshed);
  Result<std::vector<SearchItem>> SearchItems(const CheckedSearch& search, std::int64_t now_ms,
                                              IdList& refreshed);
  Result<Hits> Rank(const CheckedSearch& search, std::int64_t now_ms, search::PlanTaken& taken);
  Result<Hits> RankByListing(const CheckedSearch& search, std::int64_t now_ms);
  Result<Hits> RankByValue(const CheckedSearch& search, std::int64_t now_ms);
  Result<Hits> RankByVector(const CheckedSearch& search, std::int64_t now_ms,
                            search::PlanTaken& taken);
  // The search by the vectors of the item that it names. The span is into `vector`.
  Result<CheckedSearch> ByNear(const CheckedSearch& search, std::int64_t now_ms,
                               std::vector<float>& vector);
  Result<std::vector<search::FusedHit>> RankByText(const CheckedSearch& search, std::int64_t now_ms,
                                                   search::TextPlan& plan,
                                                   search::PlanTaken& taken);
  Result<std::vector<SearchItem>> SearchByText(const CheckedSearch& search, std::int64_t now_ms,
                                               IdList& refreshed);
  // The index, if it is worth reading for this search; else none.
  Result<const search::VectorIndex*> IndexFor(const CheckedSearch& search);
  // Whether rows of items are read in place of an index.
  Result<bool> IsQuickerByRows(const CheckedSearch& search);
  // None if candidates are not enough to answer.
  Result<std::optional<Hits>> RankByIndex(const CheckedSearch& search, std::int64_t now_ms,
                                          const search::VectorIndex& index,
                                          search::PlanTaken& taken);
  // Those that follow the scored ones.
  Status AddUnindexed(const CheckedSearch& search, std::int64_t now_ms, Page<std::int64_t>& page);
  Result<Hits> RankByRows(const CheckedSearch& search, std::int64_t now_ms);
  Result<Hits> RankByFilteredRows(const CheckedSearch& search, std::int64_t now_ms);
  Status ScoreItem(std::int64_t item_id, RowScorer& scorer);
  Status ScoreCandidates(std::span<const std::uint64_t> items, const CheckedSearch& search,
                         std::int64_t now_ms, RowScorer& scorer, ScoredHits<RankedItem>& ranking);
  // Of kReadCandidates, for Fetch().
  const ItemRow& KeepRow(const Row& row);
  Result<std::vector<SearchItem>> Fetch(const Hits& hits, bool refresh_ttl, IdList& refreshed);
  Result<std::vector<Namespace>> ReadNamespaces(const ListNamespacesOp& op, std::int64_t now_ms);

  // "" if there is no such row.
  Result<std::string> ReadMeta(std::string_view name);
  // Whether this store has an index, or another that was here had one.
  Result<bool> IsFileIndexed();

  Status Write(const CheckedBatch& batch, std::string_view refreshed);
  Status PutItem(const CheckedPut& put, std::int64_t now_ms);
  Status DeleteItem(const CheckedPut& put);
  // A transaction that writes items. It may be tried twice: `body` begins anew.
  Status WriteItems(FunctionRef<Status()> body, bool is_again = false);

  sql::Database& database_;
  SqliteTextIndex text_;
  SqliteVectors vectors_;
  std::int64_t rows_read_ = 0;  // by searches without an index, about
  std::optional<bool> is_file_indexed_;
  // What was read of items by the search that runs, by id: a hit is read once.
  std::unordered_map<std::int64_t, ItemRow> rows_;
};

Result<std::vector<OperationResult>> SqliteStore::Apply(const CheckedBatch& batch) {
  std::vector<OperationResult> results(batch.size);
  IdList refreshed;
  for (const CheckedGet& get : batch.gets) {
    Result<std::optional<Item>> item = ReadItem(get, batch.now_ms, refreshed);
    if (!item) return std::unexpected(std::move(item.error()));
    results[get.position] = std::move(*item);
  }
  for (const CheckedSearch& search : batch.searches) {
    Result<std::vector<SearchItem>> items = SearchItems(search, batch.now_ms, refreshed);
    if (!items) return std::unexpected(std::move(items.error()));
    results[search.position] = std::move(*items);
  }
  for (const CheckedListNamespaces& list : batch.lists) {
    Result<std::vector<Namespace>> namespaces = ReadNamespaces(*list.op, batch.now_ms);
    if (!namespaces) return std::unexpected(std::move(namespaces.error()));
    results[list.position] = std::move(*namespaces);
  }
  // Nothing may write between these reads and the writes: there is one connection.
  if (batch.puts.empty() && refreshed.empty()) return results;
  const std::string list = refreshed.empty() ? "" : refreshed.Take();
  const Status status = WriteItems([&] { return Write(batch, list); });
  if (!status.ok()) return std::unexpected(status);
  return results;
}

Status SqliteStore::WriteItems(FunctionRef<Status()> body, bool is_again) {
  Status written;
  Status status = database_.InTransaction([&]() -> Status {
    written = body();
    if (written.ok() && options().index) written = vectors_.Seal(options().index->dims);
    return written;
  });
  vectors_.EndTransaction(status.ok());
  if (Status ended = text_.EndTransaction(status.ok()); status.ok()) return ended;
  // Much of the text index, which may be damaged, is written when the transaction ends.
  const bool may_be_text = status.code() == StatusCode::kCorrupt ||
                           (status.code() == StatusCode::kInternal && written.ok());
  if (!may_be_text || is_again || !text_.is_made()) return status;
  return text_.GiveUp().ok() ? WriteItems(body, true) : status;
}

Result<std::optional<Item>> SqliteStore::ReadItem(const CheckedGet& get, std::int64_t now_ms,
                                                  IdList& refreshed) {
  std::optional<Item> item;
  const Status status = database_.Run(kGet, {get.encoded_ns, get.key, now_ms}, [&](const Row& row) {
    item = {.ns = *get.ns,
            .key = std::string(get.key),
            .value = std::string(row.Text(1)),
            .created_at_ms = row.Int(2),
            .updated_at_ms = row.Int(3)};
    if (get.refresh_ttl && row.Int(4) != PutOp::kNoTtl) refreshed.Add(row.Int(0));
    return false;
  });
  if (!status.ok()) return std::unexpected(status);
  return item;
}

Result<std::vector<SearchItem>> SqliteStore::SearchItems(const CheckedSearch& search,
                                                         std::int64_t now_ms, IdList& refreshed) {
  if (search.limit == 0) return {};
  rows_.clear();
  if (search.near != nullptr) {
    std::vector<float> vector;
    const Result<CheckedSearch> by_near = ByNear(search, now_ms, vector);
    if (!by_near) return std::unexpected(by_near.error());
    return SearchItems(*by_near, now_ms, refreshed);
  }
  if (search.by_text) return SearchByText(search, now_ms, refreshed);
  search::PlanTaken taken;
  Result<Hits> hits = Rank(search, now_ms, taken);
  if (!hits) return std::unexpected(hits.error());
  DropBelow(search, *hits);
  Result<std::vector<SearchItem>> items = Fetch(*hits, search.refresh_ttl, refreshed);
  if (!items || !search.by_vector || !search.ranking.explain) return items;
  for (SearchItem& item : *items) item.plan = Describe(taken);
  return items;
}

Result<SqliteStore::Hits> SqliteStore::Rank(const CheckedSearch& search, std::int64_t now_ms,
                                            search::PlanTaken& taken) {
  if (search.by_vector) return RankByVector(search, now_ms, taken);
  const bool reads_values = !search.filter.empty() || !search.contains.empty();
  return reads_values ? RankByValue(search, now_ms) : RankByListing(search, now_ms);
}

Result<SqliteStore::Hits> SqliteStore::RankByListing(const CheckedSearch& search,
                                                     std::int64_t now_ms) {
  const PrefixRange range(search.encoded_prefix);
  Hits hits;
  const Status status = database_.Run(
      kListItems,
      {range.first(), range.end(), now_ms, std::int64_t{search.limit}, std::int64_t{search.offset}},
      [&](const Row& row) {
        hits.push_back({row.Int(0), std::nullopt});
        return true;
      });
  if (!status.ok()) return std::unexpected(status);
  return hits;
}

Result<SqliteStore::Hits> SqliteStore::RankByValue(const CheckedSearch& search,
                                                   std::int64_t now_ms) {
  const PrefixRange range(search.encoded_prefix);
  Page<std::int64_t> page(search.offset, search.limit);
  const Status status =
      database_.Run(kScanValues, {range.first(), range.end(), now_ms}, [&](const Row& row) {
        if (IsWanted(row, search)) page.PushUnscored(row.Int(0), row.Int(1));
        return true;
      });
  if (!status.ok()) return std::unexpected(status);
  return page.Take();
}

Result<SqliteStore::Hits> SqliteStore::RankByVector(const CheckedSearch& search,
                                                    std::int64_t now_ms, search::PlanTaken& taken) {
  const Result<const search::VectorIndex*> index = IndexFor(search);
  if (!index) return std::unexpected(index.error());
  if (*index != nullptr) {
    Result<std::optional<Hits>> hits = RankByIndex(search, now_ms, **index, taken);
    if (!hits) return std::unexpected(std::move(hits.error()));
    if (*hits) return std::move(**hits);
    taken.plan = SearchPlan::kExact;
  }
  return search.filter.empty() ? RankByRows(search, now_ms) : RankByFilteredRows(search, now_ms);
}

Result<const search::VectorIndex*> SqliteStore::IndexFor(const CheckedSearch& search) {
  if (search.plan == SearchPlan::kExact) return nullptr;
  if (search.plan == SearchPlan::kAuto) {
    const Result<bool> by_rows = IsQuickerByRows(search);
    if (!by_rows) return std::unexpected(by_rows.error());
    if (*by_rows) return nullptr;
  }
  const std::uint32_t dims = options().index->dims;
  Result<const search::VectorIndex*> index = vectors_.Load(dims);
  return index && search.plan == SearchPlan::kGraph ? vectors_.Load(dims) : index;
}

Result<bool> SqliteStore::IsQuickerByRows(const CheckedSearch& search) {
  const bool is_loaded = vectors_.is_loaded();
  const std::size_t unindexed = is_loaded ? vectors_.unindexed().size() : 0;
  // Where hits are fewer than wanted, an index has all items without a vector looked at.
  const std::size_t wanted = std::size_t{search.offset} + search.limit;
  const bool has_enough = is_loaded && vectors_.CountBelow(search.encoded_prefix) >= wanted;
  if (is_loaded && (unindexed <= kFewUnindexed || has_enough)) return false;
  const PrefixRange range(search.encoded_prefix);
  std::int64_t items = 0;
  const Status status =
      database_.Run(kCountUpTo, {range.first(), range.end(), kLoadFrom}, [&](const Row& row) {
        items = row.Int(0);
        return true;
      });
  if (!status.ok()) return std::unexpected(status);
  if (items >= kLoadFrom) return false;
  if (is_loaded) return std::cmp_greater(unindexed, items);
  const Result<std::int64_t> rows = vectors_.RowsToLoad();
  if (!rows) return std::unexpected(rows.error());
  const bool is_worth_loading = rows_read_ >= *rows;
  rows_read_ = is_worth_loading ? 0 : rows_read_ + items;
  return !is_worth_loading;
}

Result<std::optional<SqliteStore::Hits>> SqliteStore::RankByIndex(const CheckedSearch& search,
                                                                  std::int64_t now_ms,
                                                                  const search::VectorIndex& index,
                                                                  search::PlanTaken& taken) {
  const std::size_t wanted = std::size_t{search.offset} + search.limit;
  const auto among = vectors_.Select(search.filter);
  if (!among) return std::unexpected(among.error());
  search::VectorSearch candidates = index.Search({.vector = search.query_vector,
                                                  .encoded_prefix = search.encoded_prefix,
                                                  .among = *among ? &**among : nullptr,
                                                  .is_filtered = !search.filter.empty(),
                                                  .wanted = wanted,
                                                  .forced = search.plan,
                                                  .ef_search = search.ef_search});
  RowScorer scorer(search.query_vector, options().index->dims);
  ScoredHits<RankedItem> ranking;
  while (!ranking.IsSettled(wanted, candidates.bound())) {
    const std::span<const std::uint64_t> items = candidates.Next();
    taken = candidates.taken();
    if (items.empty()) {
      if (!candidates.is_exhausted()) return std::nullopt;
      if (Status status = vectors_.RecountUnindexed(); !status.ok()) return std::unexpected(status);
      if (vectors_.unindexed().are_many()) return std::nullopt;
      break;
    }
    const Status status = ScoreCandidates(items, search, now_ms, scorer, ranking);
    if (!status.ok()) return std::unexpected(status);
  }
  Page<std::int64_t> page(search.offset, search.limit);
  const bool all_scored = ranking.size() < wanted;
  for (const auto& entry : ranking.Take(0, wanted, std::less<RankedItem>())) {
    page.PushScored(entry.id.item_id, entry.score);
  }
  if (all_scored) {
    const Status status = AddUnindexed(search, now_ms, page);
    if (!status.ok()) return std::unexpected(status);
  }
  return page.Take();
}

Status SqliteStore::AddUnindexed(const CheckedSearch& search, std::int64_t now_ms,
                                 Page<std::int64_t>& page) {
  IdList ids;
  for (const std::int64_t id : vectors_.unindexed().ids()) ids.Add(id);
  if (ids.empty()) return {};
  std::set<std::int64_t> found;
  const Status status = database_.Run(kReadUnindexed, {now_ms, ids.Take()}, [&](const Row& row) {
    found.insert(row.Int(0));
    const bool is_wanted = row.Int(4) == 0 && row.Int(0) != search.excluded_id &&
                           row.Text(3).starts_with(search.encoded_prefix) &&
                           search.filter.Matches(row.Text(2));
    if (is_wanted) page.PushUnscored(row.Int(0), row.Int(1));
    return true;
  });
  if (status.ok()) vectors_.unindexed().Shrink(std::move(found));
  return status;
}

Status SqliteStore::ScoreCandidates(std::span<const std::uint64_t> items,
                                    const CheckedSearch& search, std::int64_t now_ms,
                                    RowScorer& scorer, ScoredHits<RankedItem>& ranking) {
  IdList ids;
  for (const std::uint64_t item : items) ids.Add(static_cast<std::int64_t>(item));
  RankedItem item;  // whose vectors are being read
  bool is_wanted = false;
  const auto end_item = [&] {
    if (const std::optional<double> best = scorer.TakeBest()) ranking.Push(*best, item);
  };
  Status status = database_.Run(kReadCandidates, {ids.Take(), now_ms}, [&](const Row& row) {
    if (row.Int(0) != item.item_id) {
      end_item();
      item.item_id = row.Int(0);
      is_wanted = item.item_id != search.excluded_id &&
                  (search.filter.empty() || search.filter.Matches(row.Text(3)));
      if (is_wanted) item.row = &KeepRow(row);
    }
    return !is_wanted || scorer.Add(row.Blob(7));
  });
  if (status.ok()) status = scorer.status();
  if (status.ok()) end_item();
  return status;
}

const ItemRow& SqliteStore::KeepRow(const Row& row) {
  constexpr std::size_t kKeptBytes = 4096;
  const std::string_view value = row.Text(3);
  return rows_.try_emplace(row.Int(0), row, value.size() <= kKeptBytes ? value : "").first->second;
}

Status SqliteStore::ScoreItem(std::int64_t item_id, RowScorer& scorer) {
  const Status status = database_.Run(kVectorsOfItem, {item_id},
                                      [&](const Row& row) { return scorer.Add(row.Blob(0)); });
  return status.ok() ? scorer.status() : status;
}

Result<SqliteStore::Hits> SqliteStore::RankByRows(const CheckedSearch& search,
                                                  std::int64_t now_ms) {
  const PrefixRange range(search.encoded_prefix);
  Page<std::int64_t> page(search.offset, search.limit);
  RowScorer scorer(search.query_vector, options().index->dims);
  VectorScan scan(scorer, search.excluded_id, page);
  Status status = database_.Run(kScanVectors, {range.first(), range.end(), now_ms},
                                [&](const Row& row) { return scan.Add(row); });
  if (status.ok()) status = scorer.status();
  if (!status.ok()) return std::unexpected(status);
  scan.EndItem();
  return page.Take();
}

// Only vectors of items that match are read.
Result<SqliteStore::Hits> SqliteStore::RankByFilteredRows(const CheckedSearch& search,
                                                          std::int64_t now_ms) {
  const PrefixRange range(search.encoded_prefix);
  Page<std::int64_t> page(search.offset, search.limit);
  RowScorer scorer(search.query_vector, options().index->dims);
  Status damage;
  const Status status =
      database_.Run(kScanValues, {range.first(), range.end(), now_ms}, [&](const Row& row) {
        if (row.Int(0) == search.excluded_id || !search.filter.Matches(row.Text(2))) return true;
        damage = ScoreItem(row.Int(0), scorer);
        if (const std::optional<double> best = scorer.TakeBest()) {
          page.PushScored(row.Int(0), *best);
        } else {
          page.PushUnscored(row.Int(0), row.Int(1));
        }
        return damage.ok();
      });
  if (!status.ok()) return std::unexpected(status);
  if (!damage.ok()) return std::unexpected(damage);
  return page.Take();
}

Result<std::vector<search::FusedHit>> SqliteStore::RankByText(const CheckedSearch& search,
                                                              std::int64_t now_ms,
                                                              search::TextPlan& plan,
                                                              search::PlanTaken& taken) {
  Result<Hits> vectors;
  if (search.by_vector) vectors = RankByVector(VectorPartOf(search), now_ms, taken);
  if (!vectors) return std::unexpected(vectors.error());
  const auto text = text_.Search(search, options().text,
                                 search::MeaningOf(*vectors, search.ranking), now_ms, plan);
  if (!text) return std::unexpected(text.error());
  if (!search.by_vector) return search::FromText(*text);
  return search::Fuse(*text, *vectors, search.ranking, plan);
}

Result<std::vector<SearchItem>> SqliteStore::SearchByText(const CheckedSearch& search,
                                                          std::int64_t now_ms, IdList& refreshed) {
  search::TextPlan plan;
  search::PlanTaken taken;
  auto ranked = RankByText(search, now_ms, plan, taken);
  if (!ranked) return std::unexpected(std::move(ranked.error()));
  if (ranked->size() > HitsToRefine(search)) {
    ranked->resize(static_cast<std::size_t>(HitsToRefine(search)));
  }
  Hits hits;
  for (const search::FusedHit& hit : *ranked) hits.push_back({hit.id, hit.score});
  IdList none;
  Result<std::vector<SearchItem>> items = Fetch(hits, false, none);
  if (!items) return items;
  for (std::size_t i = 0; i < hits.size(); ++i) (*items)[i].parts = std::move((*ranked)[i].parts);
  std::vector<SearchItem> page;
  for (const std::size_t i : Refine(search, options().text, now_ms, *items)) {
    if (search.ranking.explain) {
      (*items)[i].plan = Describe(search, plan);
      if (search.by_vector) (*items)[i].plan += "; " + Describe(taken);
    }
    page.push_back(std::move((*items)[i]));
    if (search.refresh_ttl) refreshed.Add(hits[i].id);
  }
  return page;
}

Result<CheckedSearch> SqliteStore::ByNear(const CheckedSearch& search, std::int64_t now_ms,
                                          std::vector<float>& vector) {
  const std::size_t dims = options().index->dims;
  std::int64_t item_id = 0;
  std::vector<float> vectors;
  const std::string encoded = EncodeNamespace(search.near->ns);
  const Status status =
      database_.Run(kVectorsOfKey, {encoded, search.near->key, now_ms}, [&](const Row& row) {
        item_id = row.Int(0);
        const ByteView bytes = row.Blob(1);
        if (bytes.size() != dims * sizeof(float)) return true;  // as a damaged row anywhere
        vectors.resize(vectors.size() + dims);
        std::memcpy(vectors.data() + vectors.size() - dims, bytes.data(), bytes.size());
        return true;
      });
  if (!status.ok()) return std::unexpected(status);
  if (vectors.empty()) return NoNearVectors(*search.near);
  vector = search::MeanDirection(vectors, dims);
  return BySimilarity(search, item_id, vector);
}

Result<std::vector<SearchItem>> SqliteStore::Fetch(const Hits& hits, bool refresh_ttl,
                                                   IdList& refreshed) {
  std::vector<SearchItem> items(hits.size());
  if (hits.empty()) return items;
  IdList ids;
  for (const auto& hit : hits) {
    const auto kept = rows_.find(hit.id);
    if (kept == rows_.end() || kept->second.value.empty()) ids.Add(hit.id);
  }
  if (!ids.empty()) {
    const Status status = database_.Run(kFetch, {ids.Take()}, [&](const Row& row) {
      rows_[row.Int(0)] = ItemRow(row, row.Text(3));
      return true;
    });
    if (!status.ok()) return std::unexpected(status);
  }
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const auto found = rows_.find(hits[i].id);
    if (found == rows_.end()) continue;  // of a damaged file
    ItemRow& row = found->second;
    Result<Namespace> ns = DecodeNamespace(row.ns);
    if (!ns) return std::unexpected(ns.error());
    items[i] = {.item = {.ns = std::move(*ns),
                         .key = std::move(row.key),
                         .value = std::move(row.value),
                         .created_at_ms = row.created_at_ms,
                         .updated_at_ms = row.updated_at_ms},
                .score = hits[i].score};
    if (refresh_ttl && row.ttl_ms != PutOp::kNoTtl) refreshed.Add(hits[i].id);
  }
  rows_.clear();
  return items;
}

Result<std::vector<Namespace>> SqliteStore::ReadNamespaces(const ListNamespacesOp& op,
                                                           std::int64_t now_ms) {
  NamespaceListing listing(op);
  const PrefixRange range(listing.EncodedPrefix());
  Status damage;
  const Status status = database_.Run(
      kNamespaces, {range.first(), range.end(), range.end(), now_ms}, [&](const Row& row) {
        const Result<Namespace> ns = DecodeNamespace(row.Text(0));
        if (!ns) damage = ns.error();
        return ns && listing.Offer(*ns);
      });
  if (!status.ok()) return std::unexpected(status);
  if (!damage.ok()) return std::unexpected(damage);
  return listing.Take();
}

Status SqliteStore::Write(const CheckedBatch& batch, std::string_view refreshed) {
  if (!refreshed.empty()) {
    const Status status = database_.Run(kRefreshTtl, {batch.now_ms, refreshed});
    if (!status.ok()) return status;
  }
  for (const CheckedPut& put : batch.puts) {
    const Status status = put.op->value ? PutItem(put, batch.now_ms) : DeleteItem(put);
    if (!status.ok()) return status;
  }
  return {};
}

Status SqliteStore::PutItem(const CheckedPut& put, std::int64_t now_ms) {
  std::int64_t item_id = 0;
  Status status = database_.Run(kPut,
                                {put.encoded_ns, put.op->key, *put.op->value, now_ms, now_ms,
                                 put.ttl_ms, ExpiryParam(ExpiryOf(put.ttl_ms, now_ms))},
                                [&](const Row& row) {
                                  item_id = row.Int(0);
                                  return true;
                                });
  if (status.ok()) status = text_.Put(item_id, put.encoded_ns, *put.op->value, options().text);
  if (status.ok()) {
    status = vectors_.Put({item_id, put.encoded_ns, *put.op->value}, put.op->vectors);
  }
  if (!status.ok() || !put.op->vectors.empty()) return status;
  const Result<bool> is_indexed = IsFileIndexed();
  if (!is_indexed) return is_indexed.error();
  const IndexConfig* index = options().index ? &*options().index : nullptr;
  return vectors_.Await(item_id, PathsToAwait(*put.op, index, *is_indexed));
}

Result<bool> SqliteStore::IsFileIndexed() {
  if (options().index) return true;
  if (!is_file_indexed_) {
    const Result<std::string> dims = ReadMeta(kDims);
    if (!dims) return std::unexpected(dims.error());
    is_file_indexed_ = !dims->empty();
  }
  return *is_file_indexed_;
}

Status SqliteStore::DeleteItem(const CheckedPut& put) {
  std::optional<std::int64_t> item_id;
  Status status = database_.Run(kDelete, {put.encoded_ns, put.op->key}, [&](const Row& row) {
    item_id = row.Int(0);
    return true;
  });
  if (!status.ok() || !item_id) return status;
  IdList ids;
  ids.Add(*item_id);
  status = text_.Remove(ids.Take());
  return status.ok() ? vectors_.DeleteOfItem(*item_id) : status;
}

Result<std::vector<std::string>> SqliteStore::List(const Namespace& ns) {
  if (Status status = CheckExactNamespace(ns); !status.ok()) return std::unexpected(status);
  std::vector<std::string> keys;
  const std::string encoded = EncodeNamespace(ns);
  const Status status =
      database_.Run(kKeys, {encoded, options().clock->NowMs()}, [&](const Row& row) {
        keys.emplace_back(row.Text(0));
        return true;
      });
  if (!status.ok()) return std::unexpected(status);
  return keys;
}

Result<std::uint64_t> SqliteStore::ClearNamespace(const Namespace& ns) {
  if (Status status = CheckExactNamespace(ns); !status.ok()) return std::unexpected(status);
  const std::string encoded = EncodeNamespace(ns);
  const std::int64_t now_ms = options().clock->NowMs();
  std::uint64_t cleared = 0;
  const Status status = WriteItems([&]() -> Status {
    cleared = 0;
    if (Status vectors = vectors_.DeleteOfNamespace(encoded); !vectors.ok()) return vectors;
    IdList ids;
    const Status items = database_.Run(kClear, {encoded}, [&](const Row& row) {
      if (row.IsNull(0) || row.Int(0) > now_ms) ++cleared;
      ids.Add(row.Int(1));
      return true;
    });
    return items.ok() && !ids.empty() ? text_.Remove(ids.Take()) : items;
  });
  if (!status.ok()) return std::unexpected(status);
  return cleared;
}

Result<std::uint64_t> SqliteStore::SweepExpired(std::uint32_t max_items) {
  IdList ids;
  std::uint64_t swept = 0;
  Status status = database_.Run(kExpiredItems, {options().clock->NowMs(), std::int64_t{max_items}},
                                [&](const Row& row) {
                                  ids.Add(row.Int(0));
                                  ++swept;
                                  return true;
                                });
  if (status.ok() && swept > 0) {
    const std::string list = ids.Take();
    status = WriteItems([&]() -> Status {
      Status step = vectors_.DeleteOfItems(list);
      if (step.ok()) step = text_.Remove(list);
      return step.ok() ? database_.Run(kDeleteItems, {list}) : step;
    });
  }
  if (!status.ok()) return std::unexpected(status);
  return swept;
}

Result<StoreStats> SqliteStore::Stats() {
  const std::int64_t now_ms = options().clock->NowMs();
  StoreStats stats;
  const auto count = [](const Row& row, int column) {
    return static_cast<std::uint64_t>(row.Int(column));
  };
  Status status = database_.Run(kCount, {now_ms}, [&](const Row& row) {
    stats.items = count(row, 0);
    stats.namespaces = count(row, 1);
    return true;
  });
  if (status.ok()) {
    status = database_.Run(kCountVectors, {now_ms}, [&](const Row& row) {
      stats.vectors = count(row, 0);
      return true;
    });
  }
  if (!status.ok()) return std::unexpected(status);
  if (!options().index) return stats;
  const Result<std::uint64_t> pending = vectors_.CountPending();
  if (!pending) return std::unexpected(pending.error());
  stats.pending = *pending;
  const Result<std::uint64_t> in_graph = vectors_.CountInGraph(options().index->dims);
  if (!in_graph) return std::unexpected(in_graph.error());
  stats.in_graph = *in_graph;
  return stats;
}

Result<PendingEmbeddings> SqliteStore::ReadPending(std::uint32_t limit) {
  if (!options().index) return PendingEmbeddings();
  const Result<std::uint64_t> left = vectors_.CountPending();
  if (!left) return std::unexpected(left.error());
  if (*left == 0) return PendingEmbeddings();
  Result<std::vector<PendingEmbedding>> items =
      vectors_.ReadPending(limit, options().index->fields);
  if (!items) return std::unexpected(std::move(items.error()));
  return PendingEmbeddings{std::move(*items), *left};
}

Result<std::uint64_t> SqliteStore::WritePending(std::span<const ItemVectors> items) {
  std::uint64_t written = 0;
  std::vector<std::string> texts;
  texts.reserve(2 * items.size());  // views into them last until the transaction ends
  const Status status = WriteItems([&]() -> Status {
    written = 0;
    texts.clear();
    for (const ItemVectors& item : items) {
      const Result<bool> was_pending = vectors_.PutPending(item, texts);
      if (!was_pending) return was_pending.error();
      if (*was_pending) ++written;
    }
    return {};
  });
  if (!status.ok()) return std::unexpected(status);
  return written;
}

Result<std::string> SqliteStore::ReadMeta(std::string_view name) {
  std::string value;
  Status status = database_.Run(kReadMeta, {name}, [&](const Row& row) {
    value = row.Text(0);
    return true;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return value;
}

Status SqliteStore::CheckIndex(const IndexConfig& index) {
  const Result<std::string> dims = ReadMeta(kDims);
  if (!dims) return dims.error();
  const Result<std::string> model = ReadMeta(kModel);
  if (!model) return model.error();
  const std::string wanted_dims = std::to_string(index.dims);
  const bool is_same_size = *dims == wanted_dims;
  const bool is_same_model = model->empty() || index.model.empty() || *model == index.model;
  if (is_same_size && is_same_model) {
    return model->empty() && !index.model.empty()
               ? database_.Run(kWriteMeta, {kModel, std::string_view(index.model)})
               : Status();
  }
  bool has_vectors = false;
  Status status = database_.Run(kAnyVector, {}, [&](const Row&) {
    has_vectors = true;
    return true;
  });
  if (!status.ok()) return status;
  if (has_vectors && !index.replace_vectors) return Mismatch(*dims, *model, index);
  return database_.InTransaction([&]() -> Status {
    Status step = dims->empty() ? vectors_.AwaitFields() : vectors_.GiveUpAll();
    if (step.ok()) step = database_.Run(kWriteMeta, {kDims, std::string_view(wanted_dims)});
    return step.ok() ? database_.Run(kWriteMeta, {kModel, std::string_view(index.model)}) : step;
  });
}

}  // namespace

Result<std::unique_ptr<Store>> MakeSqliteStore(sql::Database& database, StoreOptions options) {
  if (Status status = CheckOptions(options); !status.ok()) return std::unexpected(status);
  auto store = std::make_unique<SqliteStore>(database, std::move(options));
  if (Status status = store->Start(); !status.ok()) return std::unexpected(std::move(status));
  if (store->options().index) {
    Status status = store->CheckIndex(*store->options().index);
    if (!status.ok()) return std::unexpected(std::move(status));
  }
  return store;
}

}  // namespace keepsake
