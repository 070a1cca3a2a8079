#include "store/sqlite/sqlite_text_index.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "base/hash.h"
#include "base/varint.h"
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
constexpr std::string_view kReadPage = "SELECT bytes FROM text_pages WHERE page_id = ?";
constexpr std::string_view kWritePage =
    "INSERT OR REPLACE INTO text_pages(page_id, bytes) VALUES(?, ?)";
constexpr std::string_view kDropPages = "DELETE FROM text_pages WHERE page_id >= ? AND page_id < ?";
constexpr std::string_view kDropAllPages = "DELETE FROM text_pages";
constexpr std::string_view kNoteChanges =
    "INSERT OR IGNORE INTO text_changes(item_id) SELECT value FROM json_each(?)";
constexpr std::string_view kNoteChange = "INSERT OR IGNORE INTO text_changes(item_id) VALUES(?)";
constexpr std::string_view kReadChanges =
    "SELECT c.item_id, i.ns FROM text_changes c LEFT JOIN store_kv i ON i.item_id = c.item_id";
constexpr std::string_view kDropChanges =
    "DELETE FROM text_changes WHERE item_id IN (SELECT value FROM json_each(?))";
constexpr std::string_view kDropAllChanges = "DELETE FROM text_changes";
// A host may read all rows of a statement before it gives the first.
constexpr std::string_view kCover =
    "SELECT item_id, ns, key, value FROM store_kv WHERE (ns, key) >= (?, ?) AND ns < ?"
    " ORDER BY ns, key LIMIT ?";
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
constexpr std::string_view kValue = "SELECT value FROM store_kv WHERE item_id = ?";
constexpr std::string_view kVectors =
    "SELECT v.item_id, v.vector FROM json_each(?) c CROSS JOIN store_vectors v ON v.vector_id ="
    " (SELECT vector_id FROM store_vectors WHERE item_id = c.value ORDER BY path LIMIT 1)";

constexpr std::size_t kAnalysedAtOnce = 200;
// Where all of a store is to be covered, for so many prefixes were asked for one by one.
constexpr std::ptrdiff_t kMostCovered = 64;
// So much that is fresh is not to be analysed again by who opens the file again.
constexpr std::size_t kFreshWhenIdle = 16;
constexpr search::PageNumber kStatePage = 0;
// A Durable Object binds a text of 2 MB at most.
constexpr std::size_t kIdsAtOnce = 50'000;

class SqliteTextSource final : public search::TextSource {
 public:
  SqliteTextSource(sql::Database& database, const CheckedSearch& search,
                   const search::TextQuery& query, const TextConfig& config,
                   const SqliteTextIndex::Among& among)
      : database_(database),
        search_(search),
        query_(query),
        config_(config),
        among_(among),
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
    return database_.Run(kValue, {id}, [&](const Row& row) {
      use(search::MakeTextRecord(row.Text(0), config_, search::kTellingBytes));
    });
  }

  Status VectorsOf(std::span<const std::int64_t> ids,
                   FunctionRef<void(std::int64_t, std::span<const float>)> use) override {
    const std::string list = IdList(ids);
    std::vector<float> vector(search_.query_vector.size());
    return database_.Run(kVectors, {list}, [&](const Row& row) {
      const ByteView bytes = row.Blob(1);
      if (bytes.size() != vector.size() * sizeof(float)) return;
      std::memcpy(vector.data(), bytes.data(), bytes.size());
      use(row.Int(0), vector);
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
  bool reads_values_;
};

}  // namespace

Status SqliteTextIndex::Start() {
  index_.Clear();
  covered_.Clear();
  begun_.Clear();
  covering_.clear();
  pending_.clear();
  settled_.clear();
  is_unnoted_ = false;
  unkept_config_.clear();
  is_open_ = is_made_ = false;
  return database_.Run(kReadConfig, {}, [&](const Row&) { is_made_ = true; });
}

Status SqliteTextIndex::Put(const FollowedItem& item) {
  if (!is_made_) return {};
  if (is_open_) {
    if (!begun_.Covers(item.encoded_ns)) return {};
    index_.Remove(item.id);
    pending_[std::string(item.encoded_ns)].insert(item.id);
    settled_.erase(item.id);
  }
  return database_.Run(kNoteChange, {item.id});
}

Status SqliteTextIndex::Remove(std::span<const std::int64_t> item_ids) {
  if (!is_made_) return {};
  if (is_open_) {
    for (const std::int64_t id : item_ids) {
      index_.Remove(id);
      settled_.insert(id);
    }
  }
  if (item_ids.size() == 1) return database_.Run(kNoteChange, {item_ids[0]});
  const std::string list = IdList(item_ids);
  return database_.Run(kNoteChanges, {list});
}

Status SqliteTextIndex::Clear() {
  if (!is_made_) return {};
  Status status = is_open_ ? Status() : ReadState();
  if (status.ok() && is_unnoted_) status = Flush();
  if (status.ok()) status = index_.Purge();
  if (status.code() == StatusCode::kCorrupt) return Forget();
  if (status.ok()) status = ForgetNames();
  return status.ok() ? WriteAll() : status;
}

// A namespace may be somebody's address, and a key what is known of them.
Status SqliteTextIndex::ForgetNames() {
  const auto first_from = [&](const std::string& encoded_prefix, const ItemName& from) {
    std::optional<ItemName> first;
    const sql::PrefixRange range(encoded_prefix);
    Status status = database_.Run(
        kCover, {from.encoded_ns, from.key, range.end(), std::int64_t{1}},
        [&](const Row& row) { first = {std::string(row.Text(1)), std::string(row.Text(2))}; });
    return std::pair(std::move(status), std::move(first));
  };
  for (auto covering = covering_.begin(); covering != covering_.end();) {
    auto& [prefix, next] = *covering;
    auto [status, first] = first_from(prefix, next);
    if (!status.ok()) return status;
    if (first) {
      next = *std::move(first);
      ++covering;
    } else {
      covered_.Add(prefix);
      covering = covering_.erase(covering);
    }
  }
  PrefixSet covered;
  for (const std::string& prefix : covered_) {
    const auto [status, first] = first_from(prefix, {prefix, ""});
    if (!status.ok()) return status;
    if (first || prefix.empty()) covered.Add(prefix);
  }
  covered_ = std::move(covered);
  begun_ = covered_;
  for (const auto& [prefix, next] : covering_) begun_.Add(prefix);
  return {};
}

Status SqliteTextIndex::ReadPage(search::PageNumber number, FunctionRef<void(ByteView)> use) {
  return database_.Run(kReadPage, {number}, [&](const Row& row) { use(row.Blob(0)); });
}

Status SqliteTextIndex::Forget() {
  Status status = database_.InTransaction([&] {
    Status step = database_.Run(kDropAllPages);
    return step.ok() ? database_.Run(kDropAllChanges) : step;
  });
  if (Status started = Start(); status.ok()) return started;
  return status;
}

Status SqliteTextIndex::Open(const TextConfig& config) {
  const std::string wanted = search::FingerprintOf(config);
  std::string made;
  Status status = database_.Run(kReadConfig, {}, [&](const Row& row) { made = row.Text(0); });
  if (!status.ok()) return status;
  if (made != wanted && unkept_config_ != wanted) {
    status = database_.InTransaction([&] { return NoteConfig(wanted); });
    if (!status.ok() && !sql::CannotWrite(status)) return status;
    const bool is_unkept = !status.ok();
    if (status = Start(); !status.ok()) return status;
    is_made_ = true;
    // There is nothing to be read that is of use.
    is_open_ = is_unkept;
    if (is_unkept) unkept_config_ = wanted;
  }
  index_.Use(config);
  return is_open_ ? Status() : ReadState();
}

Status SqliteTextIndex::NoteConfig(std::string_view config) {
  Status status = database_.Run(kDropAllPages);
  if (status.ok()) status = database_.Run(kDropAllChanges);
  return status.ok() ? database_.Run(kWriteConfig, {config}) : status;
}

Status SqliteTextIndex::ReadState() {
  bool is_there = false, is_whole = true;
  Status status = ReadPage(kStatePage, [&](ByteView state) {
    is_there = true;
    is_whole = Restore(state);
  });
  if (!status.ok()) return status;
  if (!is_whole) return {StatusCode::kCorrupt, "the state of the index of texts is damaged"};
  is_open_ = true;
  // Without a state nothing is covered, and whatever is noted is of no use.
  return is_there ? ReadChanges() : Status();
}

Status SqliteTextIndex::ReadChanges() {
  return database_.Run(kReadChanges, {}, [&](const Row& row) {
    const std::int64_t id = row.Int(0);
    index_.Remove(id);
    if (!row.IsNull(1) && begun_.Covers(row.Text(1))) {
      pending_[std::string(row.Text(1))].insert(id);
    } else {
      settled_.insert(id);
    }
  });
}

//   state := index:bytes covered:varint prefix:text* covering:varint (prefix ns key):text* seal:u64
Bytes SqliteTextIndex::State() const {
  Bytes state;
  const Bytes index = index_.State();
  AppendVarint(index.size(), state);
  Append(index, state);
  AppendVarint(static_cast<std::uint64_t>(std::distance(covered_.begin(), covered_.end())), state);
  for (const std::string& prefix : covered_) AppendText(prefix, state);
  AppendVarint(covering_.size(), state);
  for (const auto& [prefix, next] : covering_) {
    for (const std::string_view text : {std::string_view(prefix), std::string_view(next.encoded_ns),
                                        std::string_view(next.key)}) {
      AppendText(text, state);
    }
  }
  AppendU64(HashOf(state), state);
  return state;
}

bool SqliteTextIndex::Restore(ByteView state) {
  constexpr std::size_t kSeal = 8;
  if (state.size() < kSeal) return false;
  const ByteView content = state.first(state.size() - kSeal);
  if (HashOf(content) != WordAt(state.data() + content.size())) return false;
  ByteReader reader(content);
  if (!index_.Restore(reader.Take(reader.Varint()))) return false;
  for (std::uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) {
    covered_.Add(std::string(reader.Text()));
  }
  for (std::uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) {
    const std::string prefix(reader.Text()), ns(reader.Text()), key(reader.Text());
    covering_[prefix] = {ns, key};
  }
  for (const std::string& prefix : covered_) begun_.Add(prefix);
  for (const auto& [prefix, next] : covering_) begun_.Add(prefix);
  return reader.ok();
}

// In steps, so that one that is cut short is not in vain.
Status SqliteTextIndex::Cover(const std::string& encoded_prefix, const TextConfig& config,
                              TextWork& work) {
  while (!covered_.Covers(encoded_prefix)) {
    const Result<bool> has_ended = CoverSome(encoded_prefix, config, work);
    if (!has_ended) return has_ended.error();
    if (index_.IsFull()) {
      if (Status status = Flush(); !status.ok()) return status;
    }
    if (!*has_ended) return TextWork::NotDone();
    // What is covered now is noted nowhere else.
    if (covered_.Covers(encoded_prefix) && is_unnoted_) return Flush();
  }
  return {};
}

// Says whether it ended for another reason than that the work is done.
Result<bool> SqliteTextIndex::CoverSome(const std::string& encoded_prefix, const TextConfig& config,
                                        TextWork& work) {
  begun_.Add(encoded_prefix);
  ItemName& next =
      covering_.try_emplace(encoded_prefix, ItemName{encoded_prefix, ""}).first->second;
  // Two that overlap may come to the same item.
  const bool is_alone = covering_.size() == 1;
  const ItemName begin = next;
  const sql::PrefixRange range(encoded_prefix);
  search::TextRoom room;
  std::size_t seen = 0, taken = 0;
  bool may_go_on = true, is_cut = false;
  Status failure;
  constexpr auto kRows = static_cast<std::int64_t>(kAnalysedAtOnce) + 1;
  Status status =
      database_.Run(kCover, {begin.encoded_ns, begin.key, range.end(), kRows}, [&](const Row& row) {
        const bool is_known = covered_.Covers(row.Text(1));
        if (!is_known) {
          failure = room.TakeValue(row.Text(3));
          may_go_on = failure.ok() && work.Analyse(row.Text(3));
        }
        is_cut = !may_go_on || seen++ == kAnalysedAtOnce;
        if (is_cut) {
          next = {std::string(row.Text(1)), std::string(row.Text(2))};
          return false;
        }
        if (is_known) return true;
        ++taken;
        Bytes record = search::MakeTextRecord(row.Text(3), config);
        if (is_alone) {
          index_.Add(row.Int(0), row.Text(1), std::move(record));
        } else {
          index_.Put(row.Int(0), row.Text(1), std::move(record));
        }
        is_unnoted_ = true;
        return true;
      });
  if (status.ok() && taken == 0) status = failure;
  if (!status.ok()) return std::unexpected(std::move(status));
  if (!is_cut) {
    covering_.erase(encoded_prefix);
    covered_.Add(encoded_prefix);
  }
  return may_go_on;
}

Status SqliteTextIndex::AnalysePending(std::string_view encoded_prefix, const TextConfig& config,
                                       TextWork& work) {
  for (auto pending = pending_.lower_bound(encoded_prefix);
       pending != pending_.end() && pending->first.starts_with(encoded_prefix);
       pending = pending_.lower_bound(encoded_prefix)) {
    std::set<std::int64_t>& ids = pending->second;
    const std::size_t count = std::min(ids.size(), kAnalysedAtOnce);
    const std::vector<std::int64_t> some(
        ids.begin(), std::next(ids.begin(), static_cast<std::ptrdiff_t>(count)));
    const auto done = Analyse(pending->first, some, config, work);
    if (!done) return done.error();
    for (const std::int64_t id : *done) ids.erase(id);
    if (ids.empty()) pending_.erase(pending);
    if (index_.IsFull()) {
      if (Status status = Flush(); !status.ok()) return status;
    }
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
  bool are_all = true;
  search::TextRoom room;
  Status failure;
  Status status = database_.Run(kValues, {list, encoded_ns}, [&](const Row& row) {
    failure = room.TakeValue(row.Text(1));
    are_all = failure.ok() && work.Analyse(row.Text(1));
    if (!are_all) return false;
    done.push_back(row.Int(0));
    index_.Put(row.Int(0), encoded_ns, search::MakeTextRecord(row.Text(1), config));
    return true;
  });
  if (status.ok() && done.empty()) status = failure;
  if (!status.ok()) return std::unexpected(std::move(status));
  if (!are_all) return done;
  // Those that are no more need none either.
  std::set<std::int64_t> gone(ids.begin(), ids.end());
  for (const std::int64_t id : done) gone.erase(id);
  settled_.insert(gone.begin(), gone.end());
  return std::vector<std::int64_t>(ids.begin(), ids.end());
}

Status SqliteTextIndex::Flush() {
  const std::vector<std::int64_t> fresh = index_.FreshIds();
  if (Status status = index_.Flush(); !status.ok()) return status;
  settled_.insert(fresh.begin(), fresh.end());
  is_unnoted_ = false;
  return Keep();
}

Status SqliteTextIndex::Keep() {
  if (!index_.IsToBeWritten() && unkept_config_.empty()) return {};
  if (is_unnoted_) return Flush();
  Status status = database_.InTransaction([&]() -> Status {
    Status step = unkept_config_.empty() ? Status() : NoteConfig(unkept_config_);
    return step.ok() ? WriteAll() : step;
  });
  if (sql::CannotWrite(status)) return {};
  if (status.ok()) {
    unkept_config_.clear();
    return {};
  }
  (void)Start();
  return status;
}

Status SqliteTextIndex::WriteAll() {
  Status status;
  for (const std::uint32_t segment : index_.dropped()) {
    if (!status.ok()) return status;
    status =
        database_.Run(kDropPages, {search::PageOf(segment, 0), search::PageOf(segment + 1, 0)});
  }
  for (const auto& [number, page] : index_.unwritten()) {
    if (!status.ok()) return status;
    status = database_.Run(kWritePage, {number, ByteView(page)});
  }
  const Bytes state = State();
  if (status.ok()) status = database_.Run(kWritePage, {kStatePage, ByteView(state)});
  const std::vector<std::int64_t> settled(settled_.begin(), settled_.end());
  for (std::span<const std::int64_t> left = settled; !left.empty() && status.ok();) {
    const auto some = left.first(std::min(left.size(), kIdsAtOnce));
    left = left.subspan(some.size());
    const std::string list = IdList(some);
    status = database_.Run(kDropChanges, {list});
  }
  if (!status.ok()) return status;
  index_.NoteWritten();
  settled_.clear();
  return {};
}

Status SqliteTextIndex::Improve(const TextConfig& config, TextWork& work) {
  if (!is_made_) return {};
  Status status = Open(config);
  if (status.ok()) status = Cover("", config, work);
  if (status.ok()) status = AnalysePending("", config, work);
  if (!status.ok()) return status;
  const Result<bool> has_more = index_.Merge();
  if (!has_more) return has_more.error();
  status = index_.FreshIds().size() >= kFreshWhenIdle ? Flush() : Keep();
  return status.ok() && *has_more ? TextWork::NotDone() : status;
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
  Status status = Open(config);
  const bool are_many = std::distance(covered_.begin(), covered_.end()) >= kMostCovered;
  const std::string prefix = are_many ? std::string() : std::string(search.encoded_prefix);
  if (status.ok()) status = Cover(prefix, config, work);
  if (status.ok()) status = AnalysePending(search.encoded_prefix, config, work);
  if (status.ok()) status = Keep();
  if (status.ok() && work.IsMostlyDone()) status = TextWork::NotDone();
  if (!status.ok()) return std::unexpected(std::move(status));
  const search::TextQuery query =
      search::ParseTextQuery(search.query, config.language, search.now_ms);
  const auto texts = index_.View(search.encoded_prefix);
  if (!texts) return std::unexpected(texts.error());
  SqliteTextSource source(database_, search, query, config, among);
  return search::SearchText(**texts, query, config, source, most, plan, meaning);
}

}  // namespace keepsake
