#include "store/memory/memory_history.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace keepsake {

void MemoryHistory::Begin(std::string_view actor) {
  actor_ = actor;
  operation_ = 0;
}

Status MemoryHistory::Record(const HistoryRule& rule, Change change, std::string_view encoded_ns,
                             std::string_view key, std::int64_t at_ms) {
  const ItemName name{std::string(encoded_ns), std::string(key)};
  Result<std::optional<ItemState>> state = table_.ReadState(name);
  if (!state) return std::move(state.error());
  std::optional<ItemState>& before = *state;
  Numbers& numbers = items_[name];
  const StoredVersion* last = numbers.empty() ? nullptr : &versions_.at(numbers.rbegin()->second);
  const std::int64_t since_ms = rule.since_ms;
  const std::int64_t began_ms = before ? std::max(since_ms, before->updated_at_ms) : since_ms;
  const std::int64_t id = ++last_id_;
  if (operation_ == 0) operation_ = id;
  StoredVersion version{.id = id,
                        .operation = operation_,
                        .change = change,
                        .actor = actor_,
                        .name = name,
                        .number = last == nullptr ? 1 : last->number + 1,
                        .from_ms = last == nullptr ? began_ms : last->at_ms,
                        .at_ms = std::max(at_ms, last == nullptr ? since_ms : last->at_ms),
                        .before = std::move(before)};
  numbers.emplace(version.number, id);
  versions_.emplace(id, std::move(version));
  if (numbers.size() > rule.max_versions) {
    versions_.erase(numbers.begin()->second);
    numbers.erase(numbers.begin());
  }
  return {};
}

std::int64_t MemoryHistory::End() {
  if (operation_ != 0) {
    const auto last = versions_.find(last_id_);
    if (last != versions_.end()) last->second.is_last = true;
  }
  return operation_;
}

Status MemoryHistory::DropOld(std::int64_t now_ms) {
  std::vector<std::int64_t> old;
  for (const auto& [id, version] : versions_) {
    const HistoryRule* rule = rules_.Find(version.name.encoded_ns);
    if (rule == nullptr || version.at_ms <= HorizonOf(*rule, now_ms)) old.push_back(id);
  }
  return Erase(old);
}

Status MemoryHistory::Erase(std::span<const std::int64_t> ids) {
  for (const std::int64_t id : ids) {
    const auto version = versions_.find(id);
    if (version == versions_.end()) continue;
    const auto item = items_.find(version->second.name);
    item->second.erase(version->second.number);
    if (item->second.empty()) items_.erase(item);
    versions_.erase(version);
  }
  return {};
}

Status MemoryHistory::PutRule(const HistoryRule& rule) {
  std::vector<HistoryRules::Row> rows = rules_.rows();
  const std::string encoded = EncodeNamespace(rule.ns);
  std::erase_if(rows, [&](const HistoryRules::Row& row) { return row.encoded_ns == encoded; });
  rows.push_back({encoded, rule});
  rules_ = HistoryRules(std::move(rows));
  return {};
}

Status MemoryHistory::DropRule(std::string_view encoded_ns) {
  std::vector<HistoryRules::Row> rows = rules_.rows();
  std::erase_if(rows, [&](const HistoryRules::Row& row) { return row.encoded_ns == encoded_ns; });
  rules_ = HistoryRules(std::move(rows));
  std::vector<std::int64_t> ids;
  for (const auto& [id, version] : versions_) {
    if (rules_.Find(version.name.encoded_ns) == nullptr) ids.push_back(id);
  }
  return Erase(ids);
}

Status MemoryHistory::ReadVersions(const ItemName& name, Visitor<const StoredVersion&> offer) {
  const auto item = items_.find(name);
  if (item == items_.end()) return {};
  Status failure;
  for (auto number = item->second.rbegin(); number != item->second.rend(); ++number) {
    if (!offer.GoesOn(failure, versions_.at(number->second))) break;
  }
  return failure;
}

Status MemoryHistory::ReadFrom(std::int64_t id, Visitor<const StoredVersion&> offer) {
  Status failure;
  for (auto version = versions_.lower_bound(id); version != versions_.end(); ++version) {
    if (!offer.GoesOn(failure, version->second)) break;
  }
  return failure;
}

Result<std::optional<StoredVersion>> MemoryHistory::ReadVersion(std::int64_t id) {
  const auto version = versions_.find(id);
  return version == versions_.end() ? std::nullopt : std::optional(version->second);
}

Status MemoryHistory::ReadChangesAfter(std::string_view encoded_prefix, std::int64_t at_ms,
                                       Visitor<const StoredVersion&> offer) {
  Status failure;
  for (auto item = items_.lower_bound({std::string(encoded_prefix), ""}); item != items_.end();
       ++item) {
    if (!item->first.encoded_ns.starts_with(encoded_prefix)) break;
    for (const auto& [number, id] : item->second) {
      const StoredVersion& version = versions_.at(id);
      if (version.at_ms > at_ms && !offer.GoesOn(failure, version)) return failure;
    }
  }
  return failure;
}

Status MemoryHistory::ReadTraces(std::string_view encoded_prefix,
                                 Visitor<const VersionTrace&> offer) {
  Status failure;
  for (auto item = items_.lower_bound({std::string(encoded_prefix), ""}); item != items_.end();
       ++item) {
    const auto& [encoded_ns, key] = item->first;
    if (!encoded_ns.starts_with(encoded_prefix)) break;
    for (const auto& [number, id] : item->second) {
      const StoredVersion& version = versions_.at(id);
      VersionTrace trace{.id = id, .encoded_ns = encoded_ns, .key = key};
      if (version.before) {
        trace.value = version.before->value;
        trace.provenance = version.before->provenance;
      }
      if (!offer.GoesOn(failure, trace)) return failure;
    }
  }
  return failure;
}

}  // namespace keepsake
