#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "keepsake/audit.h"
#include "keepsake/scope.h"
#include "sql/prefix_range.h"
#include "store/prefix_set.h"

namespace keepsake {
namespace {

using sql::Param;
using sql::Row;

// A database in which nobody asked for a log is told by a row of `meta` that is not there.
constexpr std::string_view kRule =
    "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]')"
    " FROM meta WHERE name = 'audit'";
constexpr std::string_view kPutRule =
    "INSERT OR REPLACE INTO meta(name, value) VALUES('audit',"
    " json_array(CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER)))";
constexpr std::string_view kDropRule = "DELETE FROM meta WHERE name = 'audit'";
constexpr std::string_view kDropAll = "DELETE FROM audit_log";

constexpr std::string_view kRecord =
    "INSERT INTO audit_log(at_ms, operation, place, ns, thread_id, actor, node_id, code, count)"
    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING entry_id";
constexpr std::string_view kRead =
    "SELECT entry_id, at_ms, operation, place, ns, thread_id, actor, node_id, code, count"
    " FROM audit_log WHERE entry_id < ? ORDER BY entry_id DESC";
constexpr std::string_view kBlank =
    "UPDATE audit_log SET place = '', ns = NULL, thread_id = NULL, actor = '', node_id = ''"
    " WHERE entry_id = ?";

constexpr std::string_view kRename = "UPDATE audit_log SET thread_id = ? WHERE thread_id = ?";

constexpr std::string_view kOldest =
    "SELECT entry_id, at_ms FROM audit_log ORDER BY entry_id LIMIT 1";
constexpr std::string_view kNewest =
    "SELECT entry_id FROM audit_log ORDER BY entry_id DESC LIMIT 1";
constexpr std::string_view kDropUpTo = "DELETE FROM audit_log WHERE entry_id <= ?";
constexpr std::string_view kDropOlder =
    "DELETE FROM audit_log WHERE entry_id <"
    " (SELECT entry_id FROM audit_log WHERE at_ms >= ? ORDER BY entry_id LIMIT 1)";

// How many refusals a place and what lies in it has, the last of the same kind, and the last.
constexpr std::string_view kRefusals =
    "SELECT count(*), max(CASE WHEN operation = ? AND code = ? THEN entry_id END), max(entry_id)"
    " FROM audit_log INDEXED BY audit_refusals WHERE code <> 0 AND place >= ? AND place < ?";
constexpr std::string_view kCountIn =
    "UPDATE audit_log SET ns = NULL, thread_id = NULL, count = count + ? WHERE entry_id = ?";

// What each host reads as an integer.
constexpr std::int64_t kLastId = (std::int64_t{1} << 53) - 1;

Status CheckRule(const AuditRule& rule) {
  if (rule.max_entries < 1 || rule.max_entries > AuditRule::kMostEntries) {
    return {StatusCode::kInvalidArgument, "max_entries of an audit log must be 1 to " +
                                              std::to_string(AuditRule::kMostEntries) + ": " +
                                              std::to_string(rule.max_entries)};
  }
  if (rule.max_age_ms && *rule.max_age_ms <= 0) {
    return {StatusCode::kInvalidArgument, "max_age of an audit log must be more than 0"};
  }
  return {};
}

std::int64_t HorizonOf(const AuditRule& rule, std::int64_t now_ms) {
  return rule.max_age_ms ? std::max<std::int64_t>(now_ms - *rule.max_age_ms, 0) : 0;
}

Param TextOrNull(const std::optional<std::string>& text) {
  return text ? Param(std::string_view(*text)) : Param(std::monostate());
}

Result<AuditEntry> EntryIn(const Row& row) {
  AuditEntry entry{.id = row.Int(0),
                   .at_ms = row.Int(1),
                   .operation = static_cast<Audited>(row.Int(2)),
                   .actor = std::string(row.Text(6)),
                   .node_id = std::string(row.Text(7)),
                   .code = static_cast<StatusCode>(row.Int(8)),
                   .count = static_cast<std::uint64_t>(row.Int(9))};
  Result<Namespace> place = DecodeNamespace(row.Text(3));
  if (!place) return std::unexpected(place.error());
  entry.place = *std::move(place);
  if (!row.IsNull(4)) {
    Result<Namespace> ns = DecodeNamespace(row.Text(4));
    if (!ns) return std::unexpected(ns.error());
    entry.ns = *std::move(ns);
  }
  if (!row.IsNull(5)) entry.thread_id = row.Text(5);
  return entry;
}

// Whether an entry is about what lies below `ns`, whose threads begin with `thread_prefix`.
bool IsBelow(const AuditEntry& entry, const Namespace& ns, const std::string& thread_prefix) {
  if (entry.ns) return BeginsWith(*entry.ns, ns);
  if (entry.thread_id) return entry.thread_id->starts_with(thread_prefix);
  return BeginsWith(entry.place, ns);
}

// Whether an entry is about what an erasure took.
class Gone {
 public:
  Gone(const Erasure& erasure, Store& store)
      : erasure_(erasure),
        is_whole_(erasure.filter.empty() && erasure.from.empty()),
        store_(store) {
    for (const Namespace& prefix : erasure.namespaces) prefixes_.Add(EncodeNamespace(prefix));
    threads_.insert(erasure.threads.begin(), erasure.threads.end());
  }

  bool operator()(const AuditEntry& entry) {
    return Is(entry.place) || (entry.ns && Is(*entry.ns)) ||
           (entry.thread_id && Is(*entry.thread_id));
  }
  // What went wrong on the way.
  const Status& status() const { return status_; }

 private:
  bool Is(const std::string& thread_id) const {
    return threads_.contains(thread_id) ||
           (erasure_.thread_prefix && thread_id.starts_with(*erasure_.thread_prefix));
  }

  bool Is(const Namespace& ns) {
    const std::string encoded = EncodeNamespace(ns);
    if (!prefixes_.Covers(encoded)) return false;
    if (is_whole_) return true;
    if (ns.empty()) return false;  // it names nothing
    const auto [known, is_new] = known_.try_emplace(encoded, false);
    if (!is_new) return known->second;
    const Result<StoreUsage> usage = store_.Measure(ns, true);
    if (!usage) status_ = usage.error();
    return known->second = usage && usage->items == 0;
  }

  const Erasure& erasure_;
  bool is_whole_;
  Store& store_;
  PrefixSet prefixes_;
  std::unordered_set<std::string_view> threads_;
  std::unordered_map<std::string, bool> known_;
  Status status_;
};

}  // namespace

void AuditLog::Reset() {
  oldest_.reset();
  if (database_ != nullptr) rule_.reset();
}

Result<std::optional<AuditRule>> AuditLog::Rule() {
  if (rule_) return *rule_;
  std::optional<AuditRule> rule;
  if (database_ != nullptr) {
    Status status = database_->Run(kRule, {}, [&](const Row& row) {
      rule = {.max_entries = static_cast<std::uint32_t>(row.Int(0)), .since_ms = row.Int(2)};
      if (!row.IsNull(1)) rule->max_age_ms = row.Int(1);
    });
    if (!status.ok()) return std::unexpected(std::move(status));
  }
  return rule_.emplace(rule);
}

Status AuditLog::Keep(std::optional<AuditRule> rule, std::int64_t now_ms) {
  if (rule) {
    if (Status status = CheckRule(*rule); !status.ok()) return status;
    const Result<std::optional<AuditRule>> before = Rule();
    if (!before) return before.error();
    rule->since_ms = *before ? (*before)->since_ms : now_ms;
  }
  Reset();
  if (database_ == nullptr) {
    rule_ = rule;
    if (!rule) entries_.clear();
    return rule ? Trim(last_id_, now_ms) : Status();
  }
  return database_->InTransaction([&]() -> Status {
    if (!rule) {
      Status status = database_->Run(kDropRule);
      return status.ok() ? database_->Run(kDropAll) : status;
    }
    const Param max_age = rule->max_age_ms ? Param(*rule->max_age_ms) : Param(std::monostate());
    Status status =
        database_->Run(kPutRule, {std::int64_t{rule->max_entries}, max_age, rule->since_ms});
    std::int64_t newest = 0;
    if (status.ok()) {
      status = database_->Run(kNewest, {}, [&](const Row& row) { newest = row.Int(0); });
    }
    if (status.ok() && newest > 0) status = Trim(newest, now_ms);
    rule_.reset();
    return status;
  });
}

Result<bool> AuditLog::CountIn(const AuditEntry& refusal, const Namespace& asker,
                               std::uint32_t most) {
  if (database_ == nullptr) {
    AuditEntry* alike = nullptr;
    AuditEntry* last = nullptr;
    std::uint32_t count = 0;
    for (std::size_t i = entries_.size(); i-- > 0 && count < most;) {
      AuditEntry& entry = entries_[i];
      if (entry.code == StatusCode::kOk || !BeginsWith(entry.place, asker)) continue;
      ++count;
      if (last == nullptr) last = &entry;
      const bool is_alike = entry.operation == refusal.operation && entry.code == refusal.code;
      if (alike == nullptr && is_alike) alike = &entry;
    }
    if (count < most) return false;
    AuditEntry& counting = alike != nullptr ? *alike : *last;
    counting.ns.reset();
    counting.thread_id.reset();
    counting.count += refusal.count;
    return true;
  }
  const sql::PrefixRange range(EncodeNamespace(asker));
  std::int64_t entry_id = 0;
  Status status =
      database_->Run(kRefusals,
                     {std::int64_t{std::to_underlying(refusal.operation)},
                      std::int64_t{std::to_underlying(refusal.code)}, range.first(), range.end()},
                     [&](const Row& row) {
                       if (row.Int(0) >= std::int64_t{most})
                         entry_id = row.Int(row.IsNull(1) ? 2 : 1);
                     });
  if (status.ok() && entry_id > 0) {
    status = database_->Run(kCountIn, {static_cast<std::int64_t>(refusal.count), entry_id});
  }
  if (!status.ok()) return std::unexpected(std::move(status));
  return entry_id > 0;
}

Status AuditLog::Record(std::span<const AuditEntry> entries, std::int64_t now_ms,
                        const Namespace& asker) {
  const Result<std::optional<AuditRule>> rule = Rule();
  if (!rule) return rule.error();
  if (!*rule || entries.empty()) return {};
  std::int64_t newest = last_id_;
  for (const AuditEntry& entry : entries) {
    if (entry.code != StatusCode::kOk && !asker.empty()) {
      const Result<bool> is_counted = CountIn(entry, asker, (*rule)->MostRefusals());
      if (!is_counted) return is_counted.error();
      if (*is_counted) continue;
    }
    if (database_ == nullptr) {
      entries_.push_back(entry);
      entries_.back().id = newest = ++last_id_;
      entries_.back().at_ms = now_ms;
      continue;
    }
    const std::string place = EncodeNamespace(entry.place);
    std::optional<std::string> ns;
    if (entry.ns) ns = EncodeNamespace(*entry.ns);
    Status status = database_->Run(
        kRecord,
        {now_ms, std::int64_t{std::to_underlying(entry.operation)}, std::string_view(place),
         TextOrNull(ns), TextOrNull(entry.thread_id), std::string_view(entry.actor),
         std::string_view(entry.node_id), std::int64_t{std::to_underlying(entry.code)},
         static_cast<std::int64_t>(entry.count)},
        [&](const Row& row) { newest = row.Int(0); });
    if (!status.ok()) return status;
  }
  return newest > 0 ? Trim(newest, now_ms) : Status();
}

Result<std::optional<AuditLog::Oldest>> AuditLog::FindOldest() {
  std::optional<Oldest> oldest;
  if (database_ == nullptr) {
    if (!entries_.empty()) oldest = {entries_.front().id, entries_.front().at_ms};
    return oldest;
  }
  Status status =
      database_->Run(kOldest, {}, [&](const Row& row) { oldest = {row.Int(0), row.Int(1)}; });
  if (!status.ok()) return std::unexpected(std::move(status));
  return oldest;
}

// Where nothing is too old, nothing is looked at.
Status AuditLog::Trim(std::int64_t newest_id, std::int64_t now_ms) {
  const Result<std::optional<AuditRule>> rule = Rule();
  if (!rule) return rule.error();
  const std::int64_t last_to_drop = newest_id - std::int64_t{(*rule)->max_entries};
  const std::int64_t horizon = HorizonOf(**rule, now_ms);
  if (!oldest_) {
    const auto found = FindOldest();
    if (!found) return found.error();
    oldest_ = *found;
  }
  if (!oldest_ || (oldest_->id > last_to_drop && oldest_->at_ms >= horizon)) return {};
  Status status;
  if (database_ == nullptr) {
    while (!entries_.empty() &&
           (entries_.front().id <= last_to_drop || entries_.front().at_ms < horizon)) {
      entries_.pop_front();
    }
  } else {
    if (oldest_->id <= last_to_drop) status = database_->Run(kDropUpTo, {last_to_drop});
    if (status.ok() && horizon > 0) status = database_->Run(kDropOlder, {horizon});
  }
  oldest_.reset();
  return status;
}

Status AuditLog::Visit(std::int64_t before_id, Visitor<AuditEntry&> offer) {
  if (database_ == nullptr) {
    Status failure;
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (entries_[i].id < before_id && !offer.GoesOn(failure, entries_[i])) break;
    }
    return failure;
  }
  const Result<std::optional<AuditRule>> rule = Rule();
  if (!rule) return rule.error();
  if (!*rule) return {};
  return database_->Run(kRead, {before_id}, [&](const Row& row) -> Result<bool> {
    Result<AuditEntry> entry = EntryIn(row);
    if (!entry) return std::unexpected(std::move(entry.error()));
    return offer(*entry);
  });
}

Result<std::vector<AuditEntry>> AuditLog::Read(const AuditQuery& query, std::int64_t now_ms) {
  const NamespaceRules any{.allow_empty = true, .allow_reserved_root = true};
  Status status = ValidateNamespace(query.ns_prefix, any);
  if (!status.ok()) return std::unexpected(std::move(status));
  const Result<std::optional<AuditRule>> rule = Rule();
  if (!rule) return std::unexpected(rule.error());
  std::vector<AuditEntry> found;
  if (!*rule || query.limit == 0) return found;
  const std::int64_t since = std::max(query.since_ms, HorizonOf(**rule, now_ms));
  const std::string thread_prefix = ThreadPrefixOf(query.ns_prefix);
  const std::int64_t before = std::min(query.before_id.value_or(kLastId), kLastId);
  status = Visit(before, [&](const AuditEntry& entry) {
    if (entry.at_ms >= since && (query.threads || !entry.thread_id) &&
        IsBelow(entry, query.ns_prefix, thread_prefix)) {
      found.push_back(entry);
    }
    return found.size() < query.limit;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return found;
}

Status AuditLog::Rename(const std::string& thread_id, const std::string& new_thread_id) {
  for (AuditEntry& entry : entries_) {
    if (entry.thread_id == thread_id) entry.thread_id = new_thread_id;
  }
  if (database_ == nullptr) return {};
  return database_->Run(kRename, {std::string_view(new_thread_id), std::string_view(thread_id)});
}

Status AuditLog::Forget(const Erasure& erasure, Store& store) {
  Gone gone(erasure, store);
  std::vector<std::int64_t> ids;
  Status status = Visit(kLastId, [&](AuditEntry& entry) {
    if (entry.operation == Audited::kForget && entry.place.empty()) return true;
    if (!gone(entry)) return true;
    if (database_ != nullptr) {
      ids.push_back(entry.id);
    } else {
      entry = {.id = entry.id,
               .at_ms = entry.at_ms,
               .operation = entry.operation,
               .code = entry.code,
               .count = entry.count};
    }
    return true;
  });
  if (status.ok()) status = gone.status();
  for (const std::int64_t id : ids) {
    if (status.ok()) status = database_->Run(kBlank, {id});
  }
  return status;
}

}  // namespace keepsake
