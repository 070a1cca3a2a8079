#include "store/sqlite/sqlite_text_index.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "sql/cannot_write.h"
#include "sql/prefix_range.h"
#include "store/sqlite/id_list.h"
#include "text/text_query.h"
#include "text/text_record.h"
#include "text/text_room.h"

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
    "SELECT i.item_id, i.ns, t.record, i.key FROM store_kv i LEFT JOIN store_text t"
    " ON t.item_id = i.item_id WHERE (i.ns, i.key) >= (?, ?) AND i.ns < ? ORDER BY i.ns, i.key";
// In the order of the list, and no further than rows are taken. With a plain `ns = ?` SQLite might
// take the index of namespaces, and read a whole one for each portion.
constexpr std::string_view kValues =
    "SELECT i.item_id, i.value FROM json_each(?) c CROSS JOIN store_kv i ON i.item_id = c.value"
    " WHERE +i.ns = ?";
constexpr std::string_view kThere =
    "SELECT i.item_id FROM json_each(?) c CROSS JOIN store_kv i ON i.item_id = c.value"
    " WHERE (i.expires_at IS NULL OR i.expires_at > ?)"
    " AND (i.valid_from IS NULL OR (i.valid_from <= ? AND i.valid_until > ?"
    " AND COALESCE(i.origin, 0) < ?))";
constexpr std::string_view kThereWithValues =
    "SELECT i.item_id, i.value FROM json_each(?) c CROSS JOIN store_kv i ON i.item_id = c.value"
    " WHERE (i.expires_at IS NULL OR i.expires_at > ?)"
    " AND (i.valid_from IS NULL OR (i.valid_from <= ? AND i.valid_until > ?"
    " AND COALESCE(i.origin, 0) < ?))";
constexpr std::string_view kRecord = "SELECT record FROM store_text WHERE item_id = ?";
constexpr std::string_view kEmbedded =
    "SELECT v.item_id, v.vector, t.record"
    " FROM json_each(?) c CROSS JOIN store_vectors v ON v.vector_id = (SELECT vector_id"
    " FROM store_vectors WHERE item_id = c.value ORDER BY path LIMIT 1)"
    " LEFT JOIN store_text t ON t.item_id = v.item_id";

constexpr std::size_t kAnalysedAtOnce = 200;

class SqliteTextSource final : public search::TextSource {
 public:
  SqliteTextSource(sql::Database& database, const CheckedSearch& search,
                   const search::TextQuery& query, const TextConfig& config,
                   const SqliteTextIndex::Among& among, const std::map<std::int64_t, Bytes>& unkept)
      : database_(database),
        search_(search),
        query_(query),
        config_(config),
        among_(among),
        unkept_(unkept),
        reads_values_(!search.filter.empty() || !query.phrases.empty()) {}

  Result<std::vector<bool>> Wanted(std::span<const std::int64_t> ids, std::size_t enough) override {
    std::unordered_set<std::int64_t> wanted;
    std::vector<std::int64_t> asked;
    std::ranges::copy_if(ids, std::back_inserter(asked), [&](std::int64_t id) {
      return !among_ || std::ranges::binary_search(*among_, id);
    });
    if (asked.empty()) return std::vector<bool>(ids.size());
    const std::string list = IdList(asked);
    const auto [begun_by_ms, ended_after_ms, origin_below] = search_.validity;
    Status status = database_.Run(reads_values_ ? kThereWithValues : kThere,
                                  {list, search_.now_ms, begun_by_ms, ended_after_ms, origin_below},
                                  [&](const Row& row) {
                                    if (IsWanted(row)) wanted.insert(row.Int(0));
                                    return wanted.size() < enough;
                                  });
    if (!status.ok()) return std::unexpected(std::move(status));
    std::vector<bool> answers;
    std::size_t found = 0;
    for (const std::int64_t id : ids) {
      if (found == enough) break;
      answers.push_back(wanted.contains(id));
      if (answers.back()) ++found;
    }
    return answers;
  }

  Status RecordOf(std::int64_t id, FunctionRef<void(ByteView)> use) override {
    if (const auto found = unkept_.find(id); found != unkept_.end()) {
      use(found->second);
      return {};
    }
    return database_.Run(kRecord, {id}, [&](const Row& row) {
      if (search::IsSealed(id, row.Blob(0))) use(row.Blob(0));
    });
  }

  Status Embedded(std::span<const std::int64_t> ids, search::EmbedderCheck& check) override {
    const std::string list = IdList(ids);
    std::vector<float> vector(search_.query_vector.size());
    return database_.Run(kEmbedded, {list}, [&](const Row& row) {
      const ByteView bytes = row.Blob(1);
      if (bytes.size() != vector.size() * sizeof(float)) return;
      const auto unkept = unkept_.find(row.Int(0));
      const ByteView record = unkept == unkept_.end() ? row.Blob(2) : ByteView(unkept->second);
      if (!search::IsSealed(row.Int(0), record)) return;
      std::memcpy(vector.data(), bytes.data(), bytes.size());
      check.Add(record, vector);
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
  const SqliteTextIndex::Among& among_;
  const std::map<std::int64_t, Bytes>& unkept_;
  bool reads_values_;
};

}  // namespace

Status SqliteTextIndex::Start() {
  index_.Clear();
  loaded_.Clear();
  begun_.Clear();
  loading_.clear();
  pending_.clear();
  unkept_config_.clear();
  unkept_.clear();
  is_made_ = false;
  return database_.Run(kReadConfig, {}, [&](const Row&) { is_made_ = true; });
}

Status SqliteTextIndex::Put(const FollowedItem& item) {
  if (!is_made_) return {};
  const bool may_have_record = !loaded_.Covers(item.encoded_ns) || index_.Holds(item.id);
  Status status = may_have_record ? Remove(std::span(&item.id, 1)) : Status();
  if (begun_.Covers(item.encoded_ns)) pending_[std::string(item.encoded_ns)].insert(item.id);
  return status;
}

Status SqliteTextIndex::Remove(std::span<const std::int64_t> item_ids) {
  if (!is_made_) return {};
  for (const std::int64_t id : item_ids) {
    index_.Remove(id);
    unkept_.erase(id);
  }
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
  Status status = database_.Run(kReadConfig, {}, [&](const Row& row) { made = row.Text(0); });
  if (!status.ok() || made == wanted || unkept_config_ == wanted) return status;
  status = database_.InTransaction([&] { return NoteConfig(wanted); });
  if (!sql::CannotWrite(status)) {
    if (Status started = Start(); status.ok()) return started;
    return status;
  }
  if (status = Start(); !status.ok()) return status;
  unkept_config_ = wanted;
  is_made_ = true;
  return {};
}

Status SqliteTextIndex::NoteConfig(std::string_view config) {
  Status status = database_.Run(kClear);
  return status.ok() ? database_.Run(kWriteConfig, {config}) : status;
}

Status SqliteTextIndex::KeepRecords() {
  if (unkept_.empty() && unkept_config_.empty()) return {};
  std::size_t kept = 0;
  Status status = database_.InTransaction([&]() -> Status {
    Status step = unkept_config_.empty() ? Status() : NoteConfig(unkept_config_);
    for (const auto& [id, record] : unkept_) {
      if (!step.ok() || kept == kAnalysedAtOnce) break;
      step = database_.Run(kPut, {id, ByteView(record)});
      ++kept;
    }
    return step;
  });
  if (sql::CannotWrite(status)) return {};
  if (!status.ok()) return status;
  keeps_ = true;
  unkept_config_.clear();
  unkept_.erase(unkept_.begin(), std::next(unkept_.begin(), static_cast<std::ptrdiff_t>(kept)));
  return {};
}

Status SqliteTextIndex::Load(const std::string& encoded_prefix, const TextConfig& config,
                             TextWork& work) {
  if (loaded_.Covers(encoded_prefix)) return {};
  begun_.Add(encoded_prefix);
  ItemName& next = loading_.try_emplace(encoded_prefix, ItemName{encoded_prefix, ""}).first->second;
  const sql::PrefixRange range(encoded_prefix);
  const ItemName begin = next;
  search::TextRoom room(index_);
  Status status =
      database_.Run(kLoad, {begin.encoded_ns, begin.key, range.end()}, [&](const Row& row) {
        const bool is_kept = !row.IsNull(2) && unkept_config_.empty();
        const ByteView record = is_kept ? row.Blob(2) : ByteView();
        Status taken = work.Read(record.size()) ? room.TakeRecord(record) : TextWork::NotDone();
        if (taken.ok()) {
          LoadRow(row, record, config);
        } else {
          next = {std::string(row.Text(1)), std::string(row.Text(3))};
        }
        return taken;
      });
  if (!status.ok()) return status;
  loading_.erase(encoded_prefix);
  loaded_.Add(encoded_prefix);
  return {};
}

void SqliteTextIndex::LoadRow(const Row& row, ByteView record, const TextConfig& config) {
  const std::int64_t id = row.Int(0);
  if (index_.Holds(id) || loaded_.Covers(row.Text(1))) return;
  if (search::IsSealed(id, record)) {
    index_.Put(id, row.Text(1), record, config);
  } else {
    pending_[std::string(row.Text(1))].insert(id);
  }
}

// In steps, so that one that is cut short is not in vain.
Status SqliteTextIndex::AnalysePending(std::string_view encoded_prefix, const TextConfig& config,
                                       TextWork& work) {
  for (auto pending = pending_.lower_bound(encoded_prefix);
       pending != pending_.end() && pending->first.starts_with(encoded_prefix);
       pending = pending_.lower_bound(encoded_prefix)) {
    const std::string ns = pending->first;
    std::set<std::int64_t>& ids = pending->second;
    const std::size_t count = std::min(ids.size(), kAnalysedAtOnce);
    const std::vector<std::int64_t> some(
        ids.begin(), std::next(ids.begin(), static_cast<std::ptrdiff_t>(count)));
    Result<std::vector<std::int64_t>> done;
    Status status = database_.InTransaction([&] {
      done = Analyse(ns, some, config, work);
      return done ? Status() : done.error();
    });
    if (!status.ok()) {
      (void)Start();
      // A disk is full when the transaction ends, and all is to be read again.
      const bool is_full = status.code() == StatusCode::kStorageFull;
      return is_full && std::exchange(keeps_, false) ? TextWork::NotDone() : status;
    }
    for (const std::int64_t id : *done) ids.erase(id);
    if (ids.empty()) pending_.erase(ns);
    if (done->size() < some.size()) return TextWork::NotDone();
  }
  return {};
}

Result<std::vector<std::int64_t>> SqliteTextIndex::Analyse(std::string_view encoded_ns,
                                                           std::span<const std::int64_t> ids,
                                                           const TextConfig& config,
                                                           TextWork& work) {
  const std::string list = IdList(ids);
  std::vector<std::int64_t> done;
  std::vector<Bytes> records;
  bool are_all = true;
  search::TextRoom room(index_);
  Status failure;
  Status status = database_.Run(kValues, {list, encoded_ns}, [&](const Row& row) {
    failure = room.TakeValue(row.Text(1));
    are_all = failure.ok() && work.Analyse(row.Text(1));
    if (!are_all) return false;
    const search::TextEntry entry = search::MakeTextEntry(row.Text(1), config);
    done.push_back(row.Int(0));
    records.push_back(search::SealedRecord(row.Int(0), entry.record));
    return true;
  });
  if (status.ok() && done.empty()) status = failure;
  bool keeps = keeps_ && unkept_config_.empty();
  for (std::size_t i = 0; i < done.size() && status.ok(); ++i) {
    if (keeps) status = database_.Run(kPut, {done[i], ByteView(records[i])});
    if (status.code() == StatusCode::kBusy) {
      keeps = false;
      status = {};
    }
    if (!status.ok()) break;
    index_.Put(done[i], encoded_ns, records[i], config);
    if (!keeps) unkept_[done[i]] = std::move(records[i]);
  }
  if (!status.ok()) return std::unexpected(std::move(status));
  // Those that are no more need none either.
  if (are_all) done.assign(ids.begin(), ids.end());
  return done;
}

Status SqliteTextIndex::Improve(const TextConfig& config, TextWork& work) {
  if (!is_made_ || pending_.empty()) return {};
  Status status = MakeFor(config);
  return status.ok() ? AnalysePending("", config, work) : status;
}

// What turns out to be damaged is made anew, once: if that fails, too, an item is damaged.
Result<std::vector<search::TextHit>> SqliteTextIndex::Search(
    const CheckedSearch& search, std::size_t most, const TextConfig& config,
    const search::Meaning& meaning, const Among& among, search::TextPlan& plan, TextWork& work) {
  auto hits = SearchOnce(search, most, config, meaning, among, plan, work);
  if (hits) is_made_anew_ = false;
  if (hits || hits.error().code() != StatusCode::kCorrupt || is_made_anew_) return hits;
  if (!Forget().ok()) return hits;
  // In as many portions as it takes.
  is_made_anew_ = true;
  plan = {};
  return SearchOnce(search, most, config, meaning, among, plan, work);
}

Result<std::vector<search::TextHit>> SqliteTextIndex::SearchOnce(
    const CheckedSearch& search, std::size_t most, const TextConfig& config,
    const search::Meaning& meaning, const Among& among, search::TextPlan& plan, TextWork& work) {
  Status status = MakeFor(config);
  if (status.ok()) status = KeepRecords();
  if (status.ok()) status = Load(search.encoded_prefix, config, work);
  if (status.ok()) status = AnalysePending(search.encoded_prefix, config, work);
  if (status.ok() && work.IsMostlyDone()) status = TextWork::NotDone();
  if (!status.ok()) return std::unexpected(std::move(status));
  const search::TextQuery query =
      search::ParseTextQuery(search.query, config.language, search.now_ms);
  SqliteTextSource source(database_, search, query, config, among, unkept_);
  return search::SearchText(index_, search.encoded_prefix, query, config, source, most, plan,
                            meaning);
}

}  // namespace keepsake
