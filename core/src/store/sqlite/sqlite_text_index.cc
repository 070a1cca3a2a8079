#include "store/sqlite/sqlite_text_index.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "sql/prefix_range.h"
#include "store/sqlite/id_list.h"
#include "text/text_query.h"
#include "text/text_record.h"

namespace keepsake {
namespace {

using sql::Row;

constexpr std::string_view kReadConfig = "SELECT value FROM meta WHERE name = 'text_index'";
constexpr std::string_view kWriteConfig =
    "INSERT OR REPLACE INTO meta(name, value) VALUES('text_index', ?)";
constexpr std::string_view kClear = "DELETE FROM store_text";
constexpr std::string_view kPut = "INSERT OR REPLACE INTO store_text(item_id, record) VALUES(?, ?)";
constexpr std::string_view kDelete =
    "DELETE FROM store_text WHERE item_id IN (SELECT value FROM json_each(?))";
constexpr std::string_view kLoad =
    "SELECT i.item_id, i.ns, t.record FROM store_kv i LEFT JOIN store_text t"
    " ON t.item_id = i.item_id WHERE i.ns >= ? AND i.ns < ?";
constexpr std::string_view kValues =
    "SELECT item_id, value FROM store_kv"
    " WHERE item_id IN (SELECT value FROM json_each(?)) AND ns = ?";
constexpr std::string_view kThere =
    "SELECT item_id FROM store_kv WHERE item_id IN (SELECT value FROM json_each(?))"
    " AND (expires_at IS NULL OR expires_at > ?)";
constexpr std::string_view kThereWithValues =
    "SELECT item_id, value FROM store_kv WHERE item_id IN (SELECT value FROM json_each(?))"
    " AND (expires_at IS NULL OR expires_at > ?)";
constexpr std::string_view kEmbedded =
    "SELECT t.item_id, v.vector, t.record"
    " FROM json_each(?) c CROSS JOIN store_text t ON t.item_id = c.value"
    " CROSS JOIN store_vectors v ON v.vector_id = (SELECT vector_id FROM store_vectors"
    " WHERE item_id = c.value ORDER BY path LIMIT 1)";

constexpr std::size_t kAnalysedAtOnce = 500;

class SqliteTextSource final : public search::TextSource {
 public:
  SqliteTextSource(sql::Database& database, const CheckedSearch& search,
                   const search::TextQuery& query, const TextConfig& config)
      : database_(database),
        search_(search),
        query_(query),
        config_(config),
        reads_values_(!search.filter.empty() || !query.phrases.empty()) {}

  Result<std::vector<bool>> Wanted(std::span<const std::int64_t> ids) override {
    const std::string list = IdList(ids);
    std::unordered_set<std::int64_t> wanted;
    Status status = database_.Run(reads_values_ ? kThereWithValues : kThere, {list, search_.now_ms},
                                  [&](const Row& row) {
                                    if (IsWanted(row)) wanted.insert(row.Int(0));
                                    return true;
                                  });
    if (!status.ok()) return std::unexpected(std::move(status));
    std::vector<bool> answers;
    for (const std::int64_t id : ids) answers.push_back(wanted.contains(id));
    return answers;
  }

  Status Embedded(std::span<const std::int64_t> ids, search::EmbedderCheck& check) override {
    const std::string list = IdList(ids);
    std::vector<float> vector(search_.query_vector.size());
    return database_.Run(kEmbedded, {list}, [&](const Row& row) {
      const ByteView bytes = row.Blob(1);
      if (bytes.size() != vector.size() * sizeof(float)) return true;
      if (!search::IsSealed(row.Int(0), row.Blob(2))) return true;
      std::memcpy(vector.data(), bytes.data(), bytes.size());
      check.Add(row.Blob(2), vector);
      return true;
    });
  }

 private:
  bool IsWanted(const Row& row) const {
    if (row.Int(0) == search_.excluded_id) return false;
    return !reads_values_ || (search_.filter.Matches(row.Text(1)) &&
                              search::HoldsPhrases(query_, row.Text(1), config_));
  }

  sql::Database& database_;
  const CheckedSearch& search_;
  const search::TextQuery& query_;
  const TextConfig& config_;
  bool reads_values_;
};

}  // namespace

Status SqliteTextIndex::Start() {
  index_.Clear();
  loaded_.clear();
  pending_.clear();
  is_made_ = false;
  return database_.Run(kReadConfig, {}, [&](const Row&) {
    is_made_ = true;
    return true;
  });
}

bool SqliteTextIndex::IsLoaded(std::string_view encoded_prefix) const {
  return std::ranges::any_of(
      loaded_, [&](const std::string& prefix) { return encoded_prefix.starts_with(prefix); });
}

Status SqliteTextIndex::Put(std::int64_t item_id, std::string_view encoded_ns) {
  if (!is_made_) return {};
  const bool is_loaded = IsLoaded(encoded_ns);
  const bool has_record = !is_loaded || index_.Holds(item_id);
  Status status = has_record ? Remove(std::span(&item_id, 1)) : Status();
  if (is_loaded) pending_[std::string(encoded_ns)].insert(item_id);
  return status;
}

Status SqliteTextIndex::Remove(std::span<const std::int64_t> item_ids) {
  if (!is_made_) return {};
  for (const std::int64_t id : item_ids) index_.Remove(id);
  const std::string list = IdList(item_ids);
  return database_.Run(kDelete, {list});
}

Status SqliteTextIndex::Forget() {
  Status status = database_.InTransaction([&] { return database_.Run(kClear); });
  if (Status started = Start(); status.ok()) return started;
  return status;
}

// What is stored under another configuration is of no use any more.
Status SqliteTextIndex::MakeFor(const TextConfig& config) {
  const std::string wanted = search::FingerprintOf(config);
  std::string made;
  Status status = database_.Run(kReadConfig, {}, [&](const Row& row) {
    made = row.Text(0);
    return true;
  });
  if (!status.ok() || made == wanted) return status;
  status = database_.InTransaction([&]() -> Status {
    Status step = database_.Run(kClear);
    return step.ok() ? database_.Run(kWriteConfig, {std::string_view(wanted)}) : step;
  });
  if (Status started = Start(); status.ok()) return started;
  return status;
}

Status SqliteTextIndex::Load(const std::string& encoded_prefix, const TextConfig& config) {
  if (IsLoaded(encoded_prefix)) return {};
  const sql::PrefixRange range(encoded_prefix);
  Status status = database_.Run(kLoad, {range.first(), range.end()}, [&](const Row& row) {
    const std::int64_t id = row.Int(0);
    if (IsLoaded(row.Text(1))) return true;
    if (!row.IsNull(2) && search::IsSealed(id, row.Blob(2))) {
      index_.Put(id, row.Text(1), row.Blob(2), config);
    } else {
      pending_[std::string(row.Text(1))].insert(id);
    }
    return true;
  });
  if (status.ok()) loaded_.insert(encoded_prefix);
  return status;
}

// In steps, so that one that is cut short is not in vain.
Status SqliteTextIndex::AnalysePending(std::string_view encoded_prefix, const TextConfig& config) {
  for (auto pending = pending_.lower_bound(encoded_prefix);
       pending != pending_.end() && pending->first.starts_with(encoded_prefix);
       pending = pending_.lower_bound(encoded_prefix)) {
    const std::string ns = pending->first;
    std::set<std::int64_t>& ids = pending->second;
    const std::size_t count = std::min(ids.size(), kAnalysedAtOnce);
    const std::vector<std::int64_t> some(
        ids.begin(), std::next(ids.begin(), static_cast<std::ptrdiff_t>(count)));
    Status status = database_.InTransaction([&] { return Analyse(ns, some, config); });
    if (!status.ok()) {
      (void)Start();
      return status;
    }
    for (const std::int64_t id : some) ids.erase(id);
    if (ids.empty()) pending_.erase(ns);
  }
  return {};
}

Status SqliteTextIndex::Analyse(std::string_view encoded_ns, std::span<const std::int64_t> ids,
                                const TextConfig& config) {
  const std::string list = IdList(ids);
  std::vector<std::pair<std::int64_t, Bytes>> records;
  Status status = database_.Run(kValues, {list, encoded_ns}, [&](const Row& row) {
    const search::TextEntry entry = search::MakeTextEntry(row.Text(1), config);
    records.emplace_back(row.Int(0), search::SealedRecord(row.Int(0), entry.record));
    return true;
  });
  for (const auto& [id, record] : records) {
    if (status.ok()) status = database_.Run(kPut, {id, ByteView(record)});
    if (status.ok()) index_.Put(id, encoded_ns, record, config);
  }
  return status;
}

// What turns out to be damaged is made anew, once.
Result<std::vector<search::TextHit>> SqliteTextIndex::Search(const CheckedSearch& search,
                                                             std::size_t most,
                                                             const TextConfig& config,
                                                             const search::Meaning& meaning,
                                                             search::TextPlan& plan) {
  auto hits = SearchOnce(search, most, config, meaning, plan);
  if (hits || hits.error().code() != StatusCode::kCorrupt) return hits;
  if (!Forget().ok()) return hits;
  plan = {};
  return SearchOnce(search, most, config, meaning, plan);
}

Result<std::vector<search::TextHit>> SqliteTextIndex::SearchOnce(const CheckedSearch& search,
                                                                 std::size_t most,
                                                                 const TextConfig& config,
                                                                 const search::Meaning& meaning,
                                                                 search::TextPlan& plan) {
  Status status = MakeFor(config);
  if (status.ok()) status = Load(search.encoded_prefix, config);
  if (status.ok()) status = AnalysePending(search.encoded_prefix, config);
  if (!status.ok()) return std::unexpected(std::move(status));
  const search::TextQuery query = search::ParseTextQuery(search.query, config.language);
  SqliteTextSource source(database_, search, query, config);
  return search::SearchText(index_, search.encoded_prefix, query, config, source, most, plan,
                            meaning);
}

}  // namespace keepsake
