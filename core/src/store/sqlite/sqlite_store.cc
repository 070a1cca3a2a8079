#include "keepsake/sqlite_store.h"

#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <unordered_map>
#include <utility>

#include "json/utf8.h"
#include "sql/cannot_write.h"
#include "sql/prefix_range.h"
#include "store/checked_batch.h"
#include "store/embedding.h"
#include "store/item_table.h"
#include "store/item_writes.h"
#include "store/replicated.h"
#include "store/sqlite/id_list.h"
#include "store/sqlite/provenance_columns.h"
#include "store/sqlite/read_int.h"
#include "store/sqlite/sqlite_field_columns.h"
#include "store/sqlite/sqlite_history.h"
#include "store/sqlite/sqlite_text_index.h"
#include "store/sqlite/sqlite_vectors.h"
#include "vectors/cosine.h"

static_assert(std::endian::native == std::endian::little, "vectors are stored little-endian");

namespace keepsake {
namespace {

using sql::Param;
using sql::Row;

// A namespace is a range of `ns` (see sql::PrefixRange), an item is visible until it
// expires, a search sees it where it is valid, and candidates come in the order of (ns, key)
// from the index on them.
constexpr std::string_view kGet =
    "SELECT item_id, value, created_at, updated_at, ttl, valid_from, valid_until,"
    " origin, source FROM store_kv WHERE ns = ? AND key = ? AND (expires_at IS NULL OR expires_at "
    "> ?)";
constexpr std::string_view kListItems =
    "SELECT item_id FROM store_kv"
    " WHERE ns >= ? AND ns < ? AND (expires_at IS NULL OR expires_at > ?)"
    " AND (valid_from IS NULL OR (valid_from <= ? AND valid_until > ?"
    " AND COALESCE(origin, 0) < ?))"
    " ORDER BY updated_at DESC, ns, key LIMIT ? OFFSET ?";
constexpr std::string_view kScanValues =
    "SELECT item_id, updated_at, value, key FROM store_kv"
    " WHERE ns >= ? AND ns < ? AND (expires_at IS NULL OR expires_at > ?)"
    " AND (valid_from IS NULL OR (valid_from <= ? AND valid_until > ?"
    " AND COALESCE(origin, 0) < ?))"
    " ORDER BY ns, key";
// Like kScanValues, but it leaves out items that can't contain a piece. SQLite can't compare
// letters outside ASCII, so that it lets rows with such letters through. A row that SQLite leaves
// out costs a small part of one that it hands over.
constexpr std::string_view kScanContaining =
    "SELECT item_id, updated_at, value, key FROM store_kv"
    " WHERE ns >= ? AND ns < ? AND (expires_at IS NULL OR expires_at > ?)"
    " AND (valid_from IS NULL OR (valid_from <= ? AND valid_until > ?"
    " AND COALESCE(origin, 0) < ?))"
    " AND (length(value) <> length(CAST(value AS BLOB)) OR instr(lower(value), ?)"
    " OR (? AND instr(lower(value), ?)) OR instr(lower(key), ?)"
    " OR length(key) <> length(CAST(key AS BLOB)))"
    " ORDER BY ns, key";
// Like kScanValues, but it reads only the items of a list.
constexpr std::string_view kReadAmong =
    "SELECT i.item_id, i.updated_at, i.value, i.key"
    " FROM json_each(?) c CROSS JOIN store_kv i ON i.item_id = c.value"
    " WHERE i.ns >= ? AND i.ns < ? AND (i.expires_at IS NULL OR i.expires_at > ?)"
    " AND (i.valid_from IS NULL OR (i.valid_from <= ? AND i.valid_until > ?"
    " AND COALESCE(i.origin, 0) < ?))"
    " ORDER BY i.ns, i.key";
constexpr std::string_view kScanVectors =
    "SELECT i.item_id, i.updated_at, v.vector"
    " FROM store_kv i LEFT JOIN store_vectors v ON v.item_id = i.item_id"
    " WHERE i.ns >= ? AND i.ns < ? AND (i.expires_at IS NULL OR i.expires_at > ?)"
    " AND (i.valid_from IS NULL OR (i.valid_from <= ? AND i.valid_until > ?"
    " AND COALESCE(i.origin, 0) < ?))"
    " ORDER BY i.ns, i.key";
// An item has as many rows as it has vectors. CROSS: the list is walked, not the tables.
constexpr std::string_view kReadCandidates =
    "SELECT i.item_id, i.ns, i.key, i.value, i.created_at, i.updated_at, i.ttl, i.valid_from,"
    " i.valid_until, i.superseded_by, i.origin, i.source, v.vector"
    " FROM json_each(?) c CROSS JOIN store_kv i ON i.item_id = c.value"
    " CROSS JOIN store_vectors v ON v.item_id = i.item_id"
    " WHERE (i.expires_at IS NULL OR i.expires_at > ?)"
    " AND (i.valid_from IS NULL OR (i.valid_from <= ? AND i.valid_until > ?"
    " AND COALESCE(i.origin, 0) < ?))";
constexpr std::string_view kReadUnindexed =
    "SELECT i.item_id, i.updated_at, i.value, i.ns,"
    " i.expires_at <= ? OR i.valid_from > ? OR i.valid_until <= ? OR i.origin >= ?, i.key"
    " FROM json_each(?) c CROSS JOIN store_kv i ON i.item_id = c.value ORDER BY i.ns, i.key";
constexpr std::string_view kVectorsOfItem = "SELECT vector FROM store_vectors WHERE item_id = ?";
constexpr std::string_view kVectorsOfKey =
    "SELECT i.item_id, v.vector FROM store_kv i JOIN store_vectors v ON v.item_id = i.item_id"
    " WHERE i.ns = ? AND i.key = ? AND (i.expires_at IS NULL OR i.expires_at > ?)"
    " ORDER BY v.path";
constexpr std::string_view kCountUpTo =
    "SELECT count(*) FROM (SELECT 1 FROM store_kv WHERE ns >= ? AND ns < ? LIMIT ?)";
constexpr std::string_view kFetch =
    "SELECT i.item_id, i.ns, i.key, i.value, i.created_at, i.updated_at, i.ttl, i.valid_from,"
    " i.valid_until, i.superseded_by, i.origin, i.source"
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
constexpr std::string_view kMeasure =
    "SELECT count(*), COALESCE(sum(length(CAST(ns AS BLOB)) + length(CAST(key AS BLOB))"
    "  + length(CAST(value AS BLOB)) + COALESCE(length(CAST(source AS BLOB)), 0)), 0)"
    " FROM store_kv WHERE ns = ? AND (expires_at IS NULL OR expires_at > ?)";
constexpr std::string_view kMeasureBelow =
    "SELECT count(*), COALESCE(sum(length(CAST(ns AS BLOB)) + length(CAST(key AS BLOB))"
    "  + length(CAST(value AS BLOB)) + COALESCE(length(CAST(source AS BLOB)), 0)), 0)"
    " FROM store_kv WHERE ns >= ? AND ns < ? AND (expires_at IS NULL OR expires_at > ?)";
constexpr std::string_view kReadBelow =
    "SELECT item_id, ns, key, value, updated_at, expires_at,"
    " (SELECT count(*) FROM store_vectors v WHERE v.item_id = i.item_id), origin, source"
    " FROM store_kv i WHERE (ns, key) >= (?, ?) AND ns < ? ORDER BY ns, key";
constexpr std::string_view kCount =
    "SELECT count(*), count(DISTINCT ns) FROM store_kv WHERE expires_at IS NULL OR expires_at > ?";
constexpr std::string_view kCountVectors =
    "SELECT count(*) FROM store_vectors v JOIN store_kv i ON i.item_id = v.item_id"
    " WHERE i.expires_at IS NULL OR i.expires_at > ?";

// An expired item that is put again is a new one. A clock may have been set back.
// Where nothing else of the item is written, its id is not asked for: SQLite makes a table of
// answers for that.
constexpr std::string_view kReturningId = " RETURNING item_id";
constexpr std::string_view kPutReturningId =
    "INSERT INTO store_kv(ns, key, value, created_at, updated_at, ttl, expires_at,"
    "  valid_from, valid_until, origin, source)"
    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT(ns, key) DO UPDATE SET value = excluded.value,"
    "  created_at = CASE WHEN expires_at <= excluded.updated_at"
    "   THEN excluded.created_at ELSE created_at END,"
    "  updated_at = CASE WHEN expires_at <= excluded.updated_at"
    "   THEN excluded.updated_at ELSE MAX(excluded.updated_at, created_at) END,"
    "  ttl = excluded.ttl, expires_at = excluded.expires_at, valid_from = excluded.valid_from,"
    "  valid_until = excluded.valid_until, superseded_by = NULL, origin = excluded.origin,"
    "  source = excluded.source"
    " RETURNING item_id";
constexpr std::string_view kPut =
    kPutReturningId.substr(0, kPutReturningId.size() - kReturningId.size());
static_assert(kPutReturningId.ends_with(kReturningId));
constexpr std::string_view kSupersede =
    "UPDATE store_kv SET valid_from = COALESCE(valid_from, ?),"
    "  valid_until = min(COALESCE(valid_until, ?), ?), superseded_by = ?"
    " WHERE ns = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?) RETURNING 1";
constexpr std::string_view kDeleteReturningId =
    "DELETE FROM store_kv WHERE ns = ? AND key = ? RETURNING item_id";
constexpr std::string_view kDelete =
    kDeleteReturningId.substr(0, kDeleteReturningId.size() - kReturningId.size());
static_assert(kDeleteReturningId.ends_with(kReturningId));
constexpr std::string_view kPutBack =
    "INSERT OR REPLACE INTO store_kv(item_id, ns, key, value, created_at, updated_at, ttl,"
    "  expires_at, valid_from, valid_until, superseded_by, origin, source)"
    " VALUES((SELECT item_id FROM store_kv WHERE ns = ? AND key = ?),"
    "  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " RETURNING item_id";
constexpr std::string_view kReadStates =
    "SELECT item_id, ns, key, value, created_at, updated_at, ttl, expires_at, valid_from,"
    "  valid_until, superseded_by, origin, source FROM store_kv WHERE ns >= ? AND ns < ? ORDER BY "
    "ns, key";
constexpr std::string_view kReadState =
    "SELECT item_id, ns, key, value, created_at, updated_at, ttl, expires_at, valid_from,"
    "  valid_until, superseded_by, origin, source FROM store_kv WHERE ns = ? AND key = ?";
constexpr std::string_view kPathsAndVectors =
    "SELECT path, vector FROM store_vectors WHERE item_id = ? ORDER BY path";
constexpr std::string_view kRefreshTtl =
    "UPDATE store_kv SET expires_at = ? + ttl"
    " WHERE item_id IN (SELECT value FROM json_each(?)) AND ttl > 0";
constexpr std::string_view kWithTtl =
    "SELECT ns, key FROM store_kv"
    " WHERE item_id IN (SELECT value FROM json_each(?)) AND ttl > 0 ORDER BY item_id";
// Tells a database in which nothing was ever superseded, so that nobody need look for it.
constexpr std::string_view kNoteSuperseded =
    "INSERT OR IGNORE INTO meta(name, value) VALUES('has_superseded', '1')";
constexpr std::string_view kAnySuperseded = "SELECT 1 FROM meta WHERE name = 'has_superseded'";
constexpr std::string_view kForgetSuccessors =
    "UPDATE store_kv SET superseded_by = NULL"
    " WHERE superseded_by IN (SELECT value FROM json_each(?))";
constexpr std::string_view kSupersededBy =
    "SELECT ns, key FROM store_kv WHERE superseded_by IN (SELECT value FROM json_each(?))"
    " ORDER BY ns, key";
constexpr std::string_view kReopen =
    "UPDATE store_kv SET superseded_by = NULLIF(?, 0), valid_until = ? WHERE ns = ? AND key = ?";
constexpr std::string_view kReadNamespace =
    "SELECT item_id, ns, key, expires_at FROM store_kv WHERE ns = ? ORDER BY key";
constexpr std::string_view kReadExpired =
    "SELECT item_id, ns, key, expires_at FROM store_kv WHERE expires_at <= ?"
    " ORDER BY expires_at LIMIT ?";
constexpr std::string_view kDeleteItems =
    "DELETE FROM store_kv WHERE item_id IN (SELECT value FROM json_each(?))";

// Both ends of an interval are there, or none: a search reads one column of what always holds.
constexpr std::int64_t kEver = ValidityRange::kEver;

// What is in quarantine has them always, so that a search reads its origin there alone.
std::array<Param, 2> ValidityParams(const Validity& validity,
                                    const std::optional<Provenance>& provenance) {
  if (validity == Validity() && !(provenance && provenance->is_quarantined)) return {};
  return {validity.from_ms.value_or(-kEver), validity.until_ms.value_or(kEver)};
}

// Reads the validity of an item from two columns.
std::optional<Validity> ValidityIn(const Row& row, int from, int until) {
  if (row.IsNull(from)) return std::nullopt;
  Validity validity;
  if (row.Int(from) != -kEver) validity.from_ms = row.Int(from);
  if (row.Int(until) != kEver) validity.until_ms = row.Int(until);
  return validity == Validity() ? std::nullopt : std::optional(validity);
}

// The parameters of kScanValues and kScanVectors. Borrows the range.
std::array<Param, 6> ScanParams(const sql::PrefixRange& range, const CheckedSearch& search) {
  return {range.first(),
          range.end(),
          search.now_ms,
          search.validity.begun_by_ms,
          search.validity.ended_after_ms,
          search.validity.origin_below};
}

Param ExpiryParam(std::int64_t expires_at_ms) {
  return expires_at_ms == kNeverExpires ? Param(std::monostate()) : Param(expires_at_ms);
}

// Reads an item from the first columns of kFetch or kReadCandidates.
KeptItem KeptItemIn(const Row& row, std::string_view kept_value) {
  return {.encoded_ns = std::string(row.Text(1)),
          .found = {.id = row.Int(0),
                    .has_ttl = row.Int(6) != PutOp::kNoTtl,
                    .item = {.ns = {},
                             .key = std::string(row.Text(2)),
                             .value = std::string(kept_value),
                             .created_at_ms = row.Int(4),
                             .updated_at_ms = row.Int(5),
                             .validity = ValidityIn(row, 7, 8),
                             .provenance = ProvenanceIn(row, 10)},
                    .successor = row.Int(9)}};
}

// Scores float32 rows.
class RowScorer {
 public:
  // Borrows the query.
  RowScorer(const search::CosineQuery& query, std::size_t dims) : query_(query), vector_(dims) {}

  // Also keeps the best of what was scored since TakeBest(). kCorrupt if `bytes` are not of
  // the index.
  Status Add(ByteView bytes) {
    if (bytes.size() != vector_.size() * sizeof(float)) {
      return {StatusCode::kCorrupt, "stored vector has " + std::to_string(bytes.size()) +
                                        " bytes where the index has " +
                                        std::to_string(vector_.size()) + " dimensions"};
    }
    std::memcpy(vector_.data(), bytes.data(), bytes.size());  // a blob may lie anywhere
    const double score = query_.Score(vector_);
    if (!best_ || score > *best_) best_ = score;
    return {};
  }

  std::optional<double> TakeBest() { return std::exchange(best_, std::nullopt); }

 private:
  const search::CosineQuery& query_;
  std::vector<float> vector_;
  std::optional<double> best_;
};

// Below so many rows reading them is quicker than reading the index, if it was not read yet:
// it is worth that when searches have read as many rows.
constexpr std::int64_t kLoadFrom = 1000;
constexpr std::size_t kMostByCodesInFile = 512;
// To look at so many items by their ids is nothing.
constexpr std::size_t kFewUnindexed = 64;

class SqliteStore final : public Store, private ItemTable {
 public:
  SqliteStore(sql::Database& database, StoreOptions options)
      : Store(std::move(options)),
        database_(database),
        text_(database),
        vectors_(database),
        fields_(database),
        history_(database, vectors_, this->options().replicated) {}

  Status Start() { return text_.Start(); }

  Result<std::uint64_t> SweepExpired(std::uint32_t max_items) override {
    return keepsake::SweepExpired(*this, max_items, options().clock->NowMs());
  }
  Result<StoreStats> Stats() override;
  Result<PendingEmbeddings> ReadPending(std::uint32_t limit) override;
  Result<IndexProgress> ImproveIndex(const IndexStep& step) override;

  Status CheckIndex(const IndexConfig& index) override { return vectors_.UseIndex(index); }

 protected:
  ItemTable& items() override { return *this; }
  Result<std::uint64_t> WritePending(std::span<const ItemVectors> items) override;

 private:
  Result<std::optional<FoundItem>> ReadItem(const CheckedGet& get, std::int64_t now_ms) override;
  Result<ItemAndVectors> ReadVectors(const ItemRef& item, std::int64_t now_ms) override;
  Result<std::vector<FoundItem>> ReadHits(const ItemHits& hits, KeptItems kept) override;
  Result<std::vector<std::string>> ReadKeys(std::string_view encoded_ns,
                                            std::int64_t now_ms) override;
  Result<StoreUsage> Measure(std::string_view encoded_ns, bool below, std::int64_t now_ms) override;
  Status ReadNamespaces(std::string_view encoded_prefix, std::int64_t now_ms,
                        Visitor<const Namespace&> offer) override;
  Result<bool> HasSuperseded() override {
    const Result<std::int64_t> any = ReadInt(database_, kAnySuperseded);
    if (!any) return std::unexpected(any.error());
    return *any != 0;
  }
  Result<ItemHits> RankAll(const CheckedSearch& search) override;
  Result<IndexUse> UseIndex(const CheckedSearch& search) override;
  Status ScoreCandidates(std::span<const std::uint64_t> ids, const CheckedSearch& search,
                         const search::CosineQuery& query, ScoredHits<RankedItem>& ranking,
                         KeptItems& kept) override;
  Result<bool> AddUnindexed(const CheckedSearch& search, Page& page) override;
  Result<std::vector<search::TextHit>> RankByText(const CheckedSearch& search, std::size_t most,
                                                  const search::Meaning& meaning,
                                                  search::TextPlan& plan) override {
    TextWork work(text_left());
    Result<std::optional<ItemIds>> among = fields_.Select(search);
    if (!among) return std::unexpected(std::move(among.error()));
    return text_.Search(search, most, options().text, meaning, *among, plan, work);
  }
  Result<std::vector<ExpiringItem>> ReadNamespace(std::string_view encoded_ns) override;
  Result<std::vector<ExpiringItem>> ReadExpired(std::uint32_t max_items,
                                                std::int64_t now_ms) override;
  Status ReadBelow(std::string_view encoded_prefix, const ItemName* after,
                   Visitor<const ItemTrace&> offer) override;
  Result<std::vector<ItemName>> SupersededBy(std::span<const std::int64_t> marks) override;
  Result<std::int64_t> InOperation(FunctionRef<Status()> body, bool is_single) override;
  Result<bool> WriteAlone(const CheckedPut& put, std::int64_t now_ms) override;
  Status RestartTtls(std::span<const std::int64_t> ids, std::int64_t now_ms) override;
  Status PutItem(const CheckedPut& put, std::int64_t now_ms) override;
  Status PutState(const ItemName& name, const ItemState& state) override;
  Status DeleteItem(std::string_view encoded_ns, std::string_view key) override;
  Status DeleteItems(std::span<const std::int64_t> ids) override;
  Status Supersede(const CheckedPut& put, std::int64_t now_ms) override;
  Status Reopen(const ReopenedItem& item) override;
  Status ForgetSuccessors(std::span<const std::int64_t> marks) override;
  Status ForgetDerived() override;
  HistoryTable& history() override { return history_; }
  Result<std::optional<ItemState>> ReadState(const ItemName& name) override;
  Status ReadStates(std::string_view encoded_prefix,
                    Visitor<const ItemName&, const ItemState&> offer) override;

  Result<ItemHits> RankByListing(const CheckedSearch& search);
  Result<ItemHits> RankByValue(const CheckedSearch& search);
  Result<ItemHits> RankByRows(const CheckedSearch& search);
  // How a search by vector finds its hits: by rows of items, by codes as they lie in the file, or
  // by the index.
  enum class Way : std::uint8_t { kRows, kCodesInFile, kIndex };
  Result<Way> QuickestWay(const CheckedSearch& search);
  Status ScoreItem(std::int64_t item_id, RowScorer& scorer);

  // Whether all that a put changes is the row of its item, and perhaps its history.
  Result<bool> IsRowOnly(const CheckedPut& put);
  Status PutRow(const CheckedPut& put, std::int64_t now_ms, std::string_view sql,
                const sql::RowCallback& on_id);
  // Reads an item from the first columns of kReadStates.
  Result<StoredItem> StoredItemIn(const Row& row);
  // `sql` is kReadNamespace or kReadExpired.
  Result<std::vector<ExpiringItem>> ReadExpiring(std::string_view sql,
                                                 std::initializer_list<Param> params);
  // Tells one follower after the other.
  Status TellFollowers(FunctionRef<Status(ItemFollower&)> tell);

  sql::Database& database_;
  SqliteTextIndex text_;
  SqliteVectors vectors_;
  SqliteFieldColumns fields_;
  SqliteHistory history_;
  std::array<ItemFollower*, 3> followers_ = {&text_, &vectors_, &fields_};
  std::int64_t rows_read_ = 0;  // by searches without an index, about
};

Result<std::optional<FoundItem>> SqliteStore::ReadItem(const CheckedGet& get, std::int64_t now_ms) {
  std::optional<FoundItem> found;
  const auto take = [&](const Row& row) -> Result<bool> {
    Status room = TakeRoomOfItem(get.encoded_ns, get.key, row.Text(1), SourceIn(row, 7));
    if (!room.ok()) return std::unexpected(std::move(room));
    found = {.id = row.Int(0),
             .has_ttl = row.Int(4) != PutOp::kNoTtl,
             .item = {.ns = *get.ns,
                      .key = std::string(get.key),
                      .value = std::string(row.Text(1)),
                      .created_at_ms = row.Int(2),
                      .updated_at_ms = row.Int(3),
                      .validity = ValidityIn(row, 5, 6),
                      .provenance = ProvenanceIn(row, 7)}};
    return false;
  };
  Status status = database_.Run(kGet, {get.encoded_ns, get.key, now_ms}, take);
  if (!status.ok()) return std::unexpected(std::move(status));
  return found;
}

// Each of these reads the fewest columns of the fewest rows that can tell.
Result<ItemHits> SqliteStore::RankAll(const CheckedSearch& search) {
  if (!search.filter.empty() || !search.contains.empty()) return RankByValue(search);
  return search.by_vector ? RankByRows(search) : RankByListing(search);
}

Result<ItemHits> SqliteStore::RankByListing(const CheckedSearch& search) {
  const sql::PrefixRange range(search.encoded_prefix);
  ItemHits hits;
  const Status status =
      database_.Run(kListItems,
                    {range.first(), range.end(), search.now_ms, search.validity.begun_by_ms,
                     search.validity.ended_after_ms, search.validity.origin_below,
                     std::int64_t{search.limit}, std::int64_t{search.offset}},
                    [&](const Row& row) { hits.push_back({row.Int(0), std::nullopt}); });
  if (!status.ok()) return std::unexpected(status);
  return hits;
}

// Only vectors of items that match are read; and if its fields were filtered before, only rows
// of items that may match.
Result<ItemHits> SqliteStore::RankByValue(const CheckedSearch& search) {
  const sql::PrefixRange range(search.encoded_prefix);
  const Result<std::optional<ItemIds>> among = fields_.Select(search);
  if (!among) return std::unexpected(among.error());
  Page page(search.offset, search.limit);
  const search::CosineQuery query(search.query_vector);
  RowScorer scorer(query, DimsOf(options()));
  std::int64_t read = 0;
  const auto offer = [&](const Row& row) -> Status {
    constexpr int kItemId = 0, kUpdatedAt = 1, kValue = 2, kKey = 3;
    ++read;
    const std::int64_t id = row.Int(kItemId);
    if (!Wants(search, id, row.Text(kKey), row.Text(kValue))) return {};
    Status scored = search.by_vector ? ScoreItem(id, scorer) : Status();
    page.Push(id, scorer.TakeBest(), row.Int(kUpdatedAt));
    return scored;
  };
  const std::array<Param, 6> scan = ScanParams(range, search);
  Status status;
  if (*among) {
    const std::string list = IdList(**among);
    status = database_.Run(kReadAmong, {list, scan[0], scan[1], scan[2], scan[3], scan[4], scan[5]},
                           offer);
  } else if (search.filter.empty()) {
    const search::Substring& piece = search.contains;
    status =
        database_.Run(kScanContaining,
                      {scan[0], scan[1], scan[2], scan[3], scan[4], scan[5], piece.folded(),
                       std::int64_t{!piece.escaped().empty()}, piece.escaped(), piece.folded()},
                      offer);
  } else {
    status = database_.Run(kScanValues, scan, offer);
    if (status.ok()) status = fields_.NoteScan(search.filter, read);
  }
  if (!status.ok()) return std::unexpected(status);
  return page.Take();
}

Result<IndexUse> SqliteStore::UseIndex(const CheckedSearch& search) {
  if (search.plan == SearchPlan::kExact) return IndexUse();
  if (search.plan == SearchPlan::kAuto) {
    const Result<Way> way = QuickestWay(search);
    if (!way) return std::unexpected(way.error());
    if (*way == Way::kRows) return IndexUse();
    if (*way == Way::kCodesInFile) {
      Result<std::optional<NearItems>> near = vectors_.FindUnread(
          search.query_vector, search.encoded_prefix, std::size_t{search.offset} + search.limit);
      if (!near) return std::unexpected(std::move(near.error()));
      if (*near) return IndexUse{.near = *std::move(near)};
    }
  }
  const std::uint32_t dims = options().index->dims;
  Result<const search::VectorIndex*> index = vectors_.Load(dims, search.plan == SearchPlan::kGraph);
  if (!index) return std::unexpected(std::move(index.error()));
  Result<std::optional<search::SlotSet>> among = vectors_.Select(search.filter);
  if (!among) return std::unexpected(std::move(among.error()));
  return IndexUse{.index = *index, .among = *std::move(among)};
}

// Where searches are few or cover few items, their rows cost less than reading the index.
Result<SqliteStore::Way> SqliteStore::QuickestWay(const CheckedSearch& search) {
  const bool is_loaded = vectors_.is_loaded();
  const std::size_t unindexed = is_loaded ? vectors_.unindexed().size() : 0;
  // Where hits are fewer than wanted, an index has all items without a vector looked at.
  const std::size_t wanted = std::size_t{search.offset} + search.limit;
  const bool has_enough = is_loaded && vectors_.CountBelow(search.encoded_prefix) >= wanted;
  if (is_loaded && (unindexed <= kFewUnindexed || has_enough)) return Way::kIndex;
  const sql::PrefixRange range(search.encoded_prefix);
  const Result<std::int64_t> counted =
      ReadInt(database_, kCountUpTo, {range.first(), range.end(), kLoadFrom});
  if (!counted) return std::unexpected(counted.error());
  const std::int64_t items = *counted;
  if (items >= kLoadFrom) {
    // What a filter hides can't be told from codes, and rows of very many hits cost as much as
    // the index.
    const bool can_tell = search.filter.empty() && wanted <= kMostByCodesInFile;
    return is_loaded || !can_tell ? Way::kIndex : Way::kCodesInFile;
  }
  if (is_loaded) return std::cmp_greater(unindexed, items) ? Way::kRows : Way::kIndex;
  const Result<std::int64_t> rows = vectors_.RowsToLoad();
  if (!rows) return std::unexpected(rows.error());
  const bool is_worth_loading = rows_read_ >= *rows;
  rows_read_ = is_worth_loading ? 0 : rows_read_ + items;
  return is_worth_loading ? Way::kIndex : Way::kRows;
}

Result<bool> SqliteStore::AddUnindexed(const CheckedSearch& search, Page& page) {
  if (Status status = vectors_.RecountUnindexed(); !status.ok()) return std::unexpected(status);
  if (vectors_.unindexed().are_many()) return false;
  if (vectors_.unindexed().size() == 0) return true;
  const std::string ids = IdList(vectors_.unindexed().ids());
  std::set<std::int64_t> found;
  const auto [begun_by_ms, ended_after_ms, origin_below] = search.validity;
  Status status = database_.Run(
      kReadUnindexed, {search.now_ms, begun_by_ms, ended_after_ms, origin_below, ids},
      [&](const Row& row) {
        constexpr int kItemId = 0, kUpdatedAt = 1, kValue = 2, kNamespace = 3, kIsOver = 4,
                      kKey = 5;
        const std::int64_t id = row.Int(kItemId);
        found.insert(id);
        const bool is_wanted = row.Int(kIsOver) == 0 &&
                               row.Text(kNamespace).starts_with(search.encoded_prefix) &&
                               Wants(search, id, row.Text(kKey), row.Text(kValue));
        if (is_wanted) page.PushUnscored(id, row.Int(kUpdatedAt));
      });
  if (!status.ok()) return std::unexpected(std::move(status));
  vectors_.unindexed().Shrink(std::move(found));
  return true;
}

Status SqliteStore::ScoreCandidates(std::span<const std::uint64_t> ids, const CheckedSearch& search,
                                    const search::CosineQuery& query,
                                    ScoredHits<RankedItem>& ranking, KeptItems& kept) {
  constexpr std::size_t kKeptBytes = 4096;
  RowScorer scorer(query, DimsOf(options()));
  RankedItem item;  // whose vectors are being read
  bool is_wanted = false;
  const auto end_item = [&] {
    if (const std::optional<double> best = scorer.TakeBest()) ranking.Push(*best, item);
  };
  const std::string list = IdList(ids);
  const auto [begun_by_ms, ended_after_ms, origin_below] = search.validity;
  Status status = database_.Run(
      kReadCandidates, {list, search.now_ms, begun_by_ms, ended_after_ms, origin_below},
      [&](const Row& row) -> Status {
        if (row.Int(0) != item.id) {
          end_item();
          item.id = row.Int(0);
          is_wanted = Wants(search, item.id, row.Text(2), row.Text(3));
          if (is_wanted) {
            const std::string_view value = row.Text(3);
            const KeptItem& read =
                kept.try_emplace(item.id, KeptItemIn(row, value.size() <= kKeptBytes ? value : ""))
                    .first->second;
            item.encoded_ns = read.encoded_ns;
            item.key = read.found.item.key;
          }
        }
        return is_wanted ? scorer.Add(row.Blob(12)) : Status();
      });
  if (status.ok()) end_item();
  return status;
}

Status SqliteStore::ScoreItem(std::int64_t item_id, RowScorer& scorer) {
  return database_.Run(kVectorsOfItem, {item_id},
                       [&](const Row& row) { return scorer.Add(row.Blob(0)); });
}

Result<ItemHits> SqliteStore::RankByRows(const CheckedSearch& search) {
  const sql::PrefixRange range(search.encoded_prefix);
  Page page(search.offset, search.limit);
  const search::CosineQuery query(search.query_vector);
  RowScorer scorer(query, DimsOf(options()));
  std::int64_t id = 0;  // of the item whose vectors are being read; the first has 1
  std::int64_t updated_at_ms = 0;
  const auto end_item = [&] {
    const std::optional<double> best = scorer.TakeBest();
    if (id != 0 && id != search.excluded_id) page.Push(id, best, updated_at_ms);
  };
  Status status = database_.Run(kScanVectors, ScanParams(range, search), [&](const Row& row) {
    constexpr int kItemId = 0, kUpdatedAt = 1, kVector = 2;
    if (row.Int(kItemId) != id) {
      end_item();
      id = row.Int(kItemId);
      updated_at_ms = row.Int(kUpdatedAt);
    }
    return row.IsNull(kVector) ? Status() : scorer.Add(row.Blob(kVector));
  });
  if (!status.ok()) return std::unexpected(status);
  end_item();
  return page.Take();
}

Result<ItemAndVectors> SqliteStore::ReadVectors(const ItemRef& item, std::int64_t now_ms) {
  const std::size_t dims = options().index->dims;
  ItemAndVectors found;
  const std::string encoded = EncodeNamespace(item.ns);
  Status status = database_.Run(kVectorsOfKey, {encoded, item.key, now_ms}, [&](const Row& row) {
    found.id = row.Int(0);
    const ByteView bytes = row.Blob(1);
    if (bytes.size() != dims * sizeof(float)) return;  // as a damaged row anywhere
    std::vector<float>& vectors = found.vectors;
    vectors.resize(vectors.size() + dims);
    std::memcpy(vectors.data() + vectors.size() - dims, bytes.data(), bytes.size());
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return found;
}

Result<std::vector<FoundItem>> SqliteStore::ReadHits(const ItemHits& hits, KeptItems kept) {
  std::vector<FoundItem> items(hits.size());
  ItemIds missing;
  for (const auto& hit : hits) {
    const auto known = kept.find(hit.id);
    if (known == kept.end() || known->second.found.item.value.empty()) {
      missing.push_back(hit.id);
      continue;
    }
    const Item& item = known->second.found.item;
    Status room = TakeRoomOfItem(known->second.encoded_ns, item.key, item.value,
                                 item.provenance ? item.provenance->source : "");
    if (!room.ok()) return std::unexpected(std::move(room));
  }
  if (!missing.empty()) {
    const std::string ids = IdList(missing);
    Status status = database_.Run(kFetch, {ids}, [&](const Row& row) {
      Status room = TakeRoomOfItem(row.Text(1), row.Text(2), row.Text(3), SourceIn(row, 10));
      if (room.ok()) kept[row.Int(0)] = KeptItemIn(row, row.Text(3));
      return room;
    });
    if (!status.ok()) return std::unexpected(std::move(status));
  }
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const auto found = kept.find(hits[i].id);
    if (found == kept.end()) continue;  // of a damaged file
    Result<Namespace> ns = DecodeNamespace(found->second.encoded_ns);
    if (!ns) return std::unexpected(ns.error());
    items[i] = std::move(found->second.found);
    items[i].item.ns = std::move(*ns);
  }
  return items;
}

Status SqliteStore::ReadNamespaces(std::string_view encoded_prefix, std::int64_t now_ms,
                                   Visitor<const Namespace&> offer) {
  const sql::PrefixRange range{std::string(encoded_prefix)};
  return database_.Run(kNamespaces, {range.first(), range.end(), range.end(), now_ms},
                       [&](const Row& row) -> Result<bool> {
                         const Result<Namespace> ns = DecodeNamespace(row.Text(0));
                         if (!ns) return std::unexpected(ns.error());
                         return offer(*ns);
                       });
}

Result<StoreUsage> SqliteStore::Measure(std::string_view encoded_ns, bool below,
                                        std::int64_t now_ms) {
  const sql::PrefixRange range{std::string(encoded_ns)};
  StoreUsage usage;
  const auto add = [&](const Row& row) {
    usage = {static_cast<std::uint64_t>(row.Int(0)), static_cast<std::uint64_t>(row.Int(1))};
  };
  Status status = below ? database_.Run(kMeasureBelow, {range.first(), range.end(), now_ms}, add)
                        : database_.Run(kMeasure, {encoded_ns, now_ms}, add);
  if (!status.ok()) return std::unexpected(std::move(status));
  return usage;
}

Result<std::int64_t> SqliteStore::InOperation(FunctionRef<Status()> body, bool is_single) {
  Result<std::int64_t> operation = 0;
  Status status = database_.InTransaction([&]() -> Status {
    history_.Begin(actor(), is_single);
    Status written = body();
    if (written.ok() && options().index) written = vectors_.Seal(options().index->dims);
    if (!written.ok()) return written;
    operation = history_.End(options().clock->NowMs());
    return operation ? Status() : operation.error();
  });
  const bool committed = status.ok();
  for (ItemFollower* follower : followers_) {
    Status ended = follower->EndTransaction(committed);
    if (status.ok()) status = std::move(ended);
  }
  if (!status.ok()) return std::unexpected(std::move(status));
  return operation;
}

Status SqliteStore::TellFollowers(FunctionRef<Status(ItemFollower&)> tell) {
  for (ItemFollower* follower : followers_) {
    if (Status status = tell(*follower); !status.ok()) return status;
  }
  return {};
}

Result<bool> SqliteStore::WriteAlone(const CheckedPut& put, std::int64_t now_ms) {
  if (put.op->supersedes) return false;
  const Result<bool> is_row = IsRowOnly(put);
  if (!is_row || !*is_row) return is_row;
  const Result<const HistoryRules*> rules = history_.Rules();
  if (!rules) return std::unexpected(rules.error());
  if ((*rules)->Find(put.encoded_ns) != nullptr) return false;
  Status status = put.op->value ? PutRow(put, now_ms, kPut, nullptr)
                                : database_.Run(kDelete, {put.encoded_ns, put.op->key});
  if (!status.ok()) return std::unexpected(std::move(status));
  return true;
}

Result<bool> SqliteStore::IsRowOnly(const CheckedPut& put) {
  const PutOp& op = *put.op;
  if (!text_.is_empty() || !op.vectors.empty()) return false;
  if (op.index.kind != IndexChoice::Kind::kStoreDefault) return false;
  const Result<bool> has_index = vectors_.HasIndex();
  if (!has_index) return has_index;
  if (*has_index) return false;
  return vectors_.IsEmpty();
}

Status SqliteStore::RestartTtls(std::span<const std::int64_t> ids, std::int64_t now_ms) {
  const std::string list = IdList(ids);
  Replicated* replicated = options().replicated;
  if (replicated == nullptr || !replicated->is_on()) {
    return database_.Run(kRefreshTtl, {now_ms, list});
  }
  return database_.InTransaction([&]() -> Status {
    std::vector<ItemRef> items;
    Status status = database_.Run(kWithTtl, {list}, [&](const Row& row) -> Status {
      Result<Namespace> ns = DecodeNamespace(row.Text(0));
      if (!ns) return std::move(ns.error());
      items.push_back({*std::move(ns), std::string(row.Text(1))});
      return {};
    });
    if (!status.ok() || items.empty()) return status;
    status = database_.Run(kRefreshTtl, {now_ms, list});
    return status.ok() ? replicated->TtlsRestarted(items) : status;
  });
}

Status SqliteStore::PutRow(const CheckedPut& put, std::int64_t now_ms, std::string_view sql,
                           const sql::RowCallback& on_id) {
  const auto [from, until] = ValidityParams(put.validity, put.op->provenance);
  const auto [origin, source] = ProvenanceParams(put.op->provenance);
  return database_.Run(sql,
                       {put.encoded_ns, put.op->key, *put.op->value, now_ms, now_ms, put.ttl_ms,
                        ExpiryParam(ExpiryOf(put.ttl_ms, now_ms)), from, until, origin, source},
                       on_id);
}

Status SqliteStore::PutItem(const CheckedPut& put, std::int64_t now_ms) {
  const Result<bool> is_row = IsRowOnly(put);
  if (!is_row) return is_row.error();
  if (*is_row) return PutRow(put, now_ms, kPut, nullptr);
  std::int64_t id = 0;
  Status status = PutRow(put, now_ms, kPutReturningId, [&](const Row& row) { id = row.Int(0); });
  if (!status.ok()) return status;
  const Result<bool> has_index = vectors_.HasIndex();
  if (!has_index) return has_index.error();
  const IndexConfig* index = options().index ? &*options().index : nullptr;
  const std::vector<std::string> awaited = PathsToAwait(*put.op, index, *has_index);
  return TellFollowers([&](ItemFollower& follower) {
    return follower.Put({id, put.encoded_ns, *put.op->value, put.op->vectors, awaited});
  });
}

Status SqliteStore::PutState(const ItemName& name, const ItemState& state) {
  const std::string_view ns = name.encoded_ns, key = name.key;
  const auto [from, until] = ValidityParams(state.validity, state.provenance);
  const auto [origin, source] = ProvenanceParams(state.provenance);
  const Param successor = state.successor == 0 ? Param(std::monostate()) : Param(state.successor);
  std::int64_t id = 0;
  Status status = database_.Run(
      kPutBack,
      {ns, key, ns, key, std::string_view(state.value), state.created_at_ms, state.updated_at_ms,
       state.ttl_ms, ExpiryParam(state.expires_at_ms), from, until, successor, origin, source},
      [&](const Row& row) { id = row.Int(0); });
  if (status.ok() && state.successor != 0) status = database_.Run(kNoteSuperseded);
  if (!status.ok()) return status;
  return TellFollowers([&](ItemFollower& follower) {
    return follower.Put({id, ns, state.value, state.vectors, state.awaited});
  });
}

Status SqliteStore::DeleteItem(std::string_view encoded_ns, std::string_view key) {
  const Result<bool> no_vectors = vectors_.IsEmpty();
  if (!no_vectors) return no_vectors.error();
  if (*no_vectors && text_.is_empty()) return database_.Run(kDelete, {encoded_ns, key});
  ItemIds ids;
  Status status = database_.Run(kDeleteReturningId, {encoded_ns, key},
                                [&](const Row& row) { ids.push_back(row.Int(0)); });
  if (!status.ok() || ids.empty()) return status;
  return TellFollowers([&](ItemFollower& follower) { return follower.Remove(ids); });
}

Status SqliteStore::DeleteItems(std::span<const std::int64_t> ids) {
  // A Durable Object binds a text of 2 MB at most.
  constexpr std::size_t kMostAtOnce = 50'000;
  while (!ids.empty()) {
    const auto some = ids.first(std::min(ids.size(), kMostAtOnce));
    ids = ids.subspan(some.size());
    const std::string list = IdList(some);
    Status status = TellFollowers([&](ItemFollower& follower) { return follower.Remove(some); });
    if (status.ok()) status = database_.Run(kDeleteItems, {list});
    if (!status.ok()) return status;
  }
  return {};
}

Status SqliteStore::Supersede(const CheckedPut& put, std::int64_t now_ms) {
  const std::int64_t from_ms = *put.validity.from_ms;
  bool is_there = false;
  Status status = database_.Run(kSupersede,
                                {-kEver, from_ms, from_ms, MarkOf(put.encoded_ns, put.op->key),
                                 put.superseded_ns, put.op->supersedes->key, now_ms},
                                [&](const Row&) { is_there = true; });
  return status.ok() && is_there ? database_.Run(kNoteSuperseded) : status;
}

Status SqliteStore::Reopen(const ReopenedItem& item) {
  return database_.Run(kReopen,
                       {item.successor, item.until_ms.value_or(kEver),
                        std::string_view(item.name.encoded_ns), std::string_view(item.name.key)});
}

Status SqliteStore::ForgetSuccessors(std::span<const std::int64_t> marks) {
  const std::string list = IdList(marks);
  return database_.Run(kForgetSuccessors, {list});
}

Status SqliteStore::ForgetDerived() {
  return TellFollowers([](ItemFollower& follower) { return follower.Clear(); });
}

Result<std::vector<ExpiringItem>> SqliteStore::ReadNamespace(std::string_view encoded_ns) {
  return ReadExpiring(kReadNamespace, {encoded_ns});
}

Result<std::vector<ExpiringItem>> SqliteStore::ReadExpired(std::uint32_t max_items,
                                                           std::int64_t now_ms) {
  return ReadExpiring(kReadExpired, {now_ms, std::int64_t{max_items}});
}

Result<std::vector<ExpiringItem>> SqliteStore::ReadExpiring(std::string_view sql,
                                                            std::initializer_list<Param> params) {
  std::vector<ExpiringItem> items;
  Status status = database_.Run(sql, params, [&](const Row& row) {
    items.push_back({row.Int(0),
                     {std::string(row.Text(1)), std::string(row.Text(2))},
                     row.IsNull(3) ? kNeverExpires : row.Int(3)});
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return items;
}

Result<StoredItem> SqliteStore::StoredItemIn(const Row& row) {
  StoredItem item{{std::string(row.Text(1)), std::string(row.Text(2))},
                  {.value = std::string(row.Text(3)),
                   .created_at_ms = row.Int(4),
                   .updated_at_ms = row.Int(5),
                   .ttl_ms = row.Int(6),
                   .expires_at_ms = row.IsNull(7) ? kNeverExpires : row.Int(7),
                   .validity = ValidityIn(row, 8, 9).value_or(Validity()),
                   .successor = row.Int(10),
                   .provenance = ProvenanceIn(row, 11)}};
  const Result<bool> has_index = vectors_.HasIndex();
  if (!has_index) return std::unexpected(has_index.error());
  if (!*has_index) return item;
  Status status = database_.Run(kPathsAndVectors, {row.Int(0)}, [&](const Row& vector) {
    const ByteView bytes = vector.Blob(1);
    FieldVector& kept = item.state.vectors.emplace_back();
    kept.path = vector.Text(0);
    kept.values.resize(bytes.size() / sizeof(float));
    std::memcpy(kept.values.data(), bytes.data(), kept.values.size() * sizeof(float));
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return item;
}

Result<std::optional<ItemState>> SqliteStore::ReadState(const ItemName& name) {
  std::optional<ItemState> state;
  Status status =
      database_.Run(kReadState, {std::string_view(name.encoded_ns), std::string_view(name.key)},
                    [&](const Row& row) -> Status {
                      Result<StoredItem> item = StoredItemIn(row);
                      if (!item) return std::move(item.error());
                      state = std::move(item->state);
                      return {};
                    });
  if (!status.ok()) return std::unexpected(std::move(status));
  return state;
}

Status SqliteStore::ReadStates(std::string_view encoded_prefix,
                               Visitor<const ItemName&, const ItemState&> offer) {
  const sql::PrefixRange range{std::string(encoded_prefix)};
  return database_.Run(kReadStates, {range.first(), range.end()},
                       [&](const Row& row) -> Result<bool> {
                         Result<StoredItem> item = StoredItemIn(row);
                         if (!item) return std::unexpected(std::move(item.error()));
                         return offer(item->name, item->state);
                       });
}

Result<std::vector<std::string>> SqliteStore::ReadKeys(std::string_view encoded_ns,
                                                       std::int64_t now_ms) {
  std::vector<std::string> keys;
  Status status = database_.Run(kKeys, {encoded_ns, now_ms}, [&](const Row& row) {
    Status room = TakeRoomOfItem({}, row.Text(0), {});
    if (room.ok()) keys.emplace_back(row.Text(0));
    return room;
  });
  if (!status.ok()) return std::unexpected(status);
  return keys;
}

Status SqliteStore::ReadBelow(std::string_view encoded_prefix, const ItemName* after,
                              Visitor<const ItemTrace&> offer) {
  const sql::PrefixRange range{std::string(encoded_prefix)};
  const bool is_behind = after != nullptr && encoded_prefix <= after->encoded_ns;
  const std::string_view ns = is_behind ? std::string_view(after->encoded_ns) : encoded_prefix;
  const std::string_view key = is_behind ? std::string_view(after->key) : std::string_view();
  return database_.Run(kReadBelow, {ns, key, range.end()}, [&](const Row& row) -> Result<bool> {
    if (after != nullptr && row.Text(1) == after->encoded_ns && row.Text(2) == after->key) {
      return true;
    }
    return offer({.id = row.Int(0),
                  .encoded_ns = row.Text(1),
                  .key = row.Text(2),
                  .value = row.Text(3),
                  .updated_at_ms = row.Int(4),
                  .expires_at_ms = row.IsNull(5) ? kNeverExpires : row.Int(5),
                  .vectors = static_cast<std::uint64_t>(row.Int(6)),
                  .provenance = ProvenanceIn(row, 7)});
  });
}

Result<std::vector<ItemName>> SqliteStore::SupersededBy(std::span<const std::int64_t> marks) {
  std::vector<ItemName> names;
  const std::string list = IdList(marks);
  Status status = database_.Run(kSupersededBy, {list}, [&](const Row& row) {
    names.push_back({std::string(row.Text(0)), std::string(row.Text(1))});
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return names;
}

Result<StoreStats> SqliteStore::Stats() {
  const std::int64_t now_ms = options().clock->NowMs();
  StoreStats stats;
  const Status status = database_.Run(kCount, {now_ms}, [&](const Row& row) {
    stats.items = static_cast<std::uint64_t>(row.Int(0));
    stats.namespaces = static_cast<std::uint64_t>(row.Int(1));
  });
  if (!status.ok()) return std::unexpected(status);
  const Result<std::uint64_t> vectors = ReadInt(database_, kCountVectors, {now_ms});
  if (!vectors) return std::unexpected(vectors.error());
  stats.vectors = *vectors;
  if (!options().index) return stats;
  const Result<std::uint64_t> pending = vectors_.CountPending();
  if (!pending) return std::unexpected(pending.error());
  stats.pending = *pending;
  const Result<std::uint64_t> in_graph = vectors_.CountInGraph(options().index->dims);
  if (!in_graph) return std::unexpected(in_graph.error());
  stats.in_graph = *in_graph;
  return stats;
}

Result<IndexProgress> SqliteStore::ImproveIndex(const IndexStep& step) {
  Result<IndexProgress> progress =
      options().index ? vectors_.Improve(options().index->dims, step) : IndexProgress{};
  std::optional<std::size_t> left = TextWork::kWhenIdle;
  TextWork work(left);
  const Status status = text_.Improve(options().text, work);
  if (!status.ok() && status.code() != StatusCode::kIndexing) return std::unexpected(status);
  if (progress && !status.ok()) progress->is_done = false;
  return progress;
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
  const auto write = [&]() -> Status {
    written = 0;
    texts.clear();
    for (const ItemVectors& item : items) {
      const Result<bool> was_pending = vectors_.PutPending(item, texts);
      if (!was_pending) return was_pending.error();
      if (*was_pending) ++written;
    }
    return {};
  };
  const Result<std::int64_t> operation = InOperation(write, false);
  if (!operation) return std::unexpected(operation.error());
  return written;
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
