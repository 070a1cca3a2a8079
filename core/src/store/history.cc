#include "store/history.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "base/heap_sort.h"
#include "json/utf8.h"
#include "store/validity.h"
#include "text/dates.h"

namespace keepsake {
namespace {

std::string Show(std::string_view encoded_ns) {
  const Result<Namespace> ns = DecodeNamespace(encoded_ns);
  std::string text = "[";
  for (const std::string& label : ns ? *ns : Namespace()) {
    if (text.size() > 1) text += ", ";
    text += json::Quoted(label);
  }
  return text + "]";
}

std::string Digits(std::int64_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(width - digits.size(), '0') + digits;
}

// As JavaScript writes it, as far as its times go: 2023-11-14T22:13:20.000Z.
std::string ShowTime(std::int64_t at_ms) {
  constexpr std::int64_t kSecond = 1'000, kMinute = 60 * kSecond, kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour, kMostDays = 100'000'000;
  at_ms = std::clamp(at_ms, -kMostDays * kDay, kMostDays * kDay);
  const std::int64_t rest = (at_ms % kDay + kDay) % kDay;
  return search::NameOfDay((at_ms - rest) / kDay).substr(1) + "T" + Digits(rest / kHour, 2) + ":" +
         Digits(rest / kMinute % 60, 2) + ":" + Digits(rest / kSecond % 60, 2) + "." +
         Digits(rest % kSecond, 3) + "Z";
}

Status NoHistoryOf(std::string_view encoded_ns) {
  return {StatusCode::kNoHistory, "no history is kept of all that is below " + Show(encoded_ns) +
                                      ": keepHistory() keeps it, of what is written from then on"};
}

Status BeforeHistory(std::string_view encoded_ns, std::int64_t at_ms, std::int64_t first_ms) {
  return {StatusCode::kNoHistory, "the history of " + Show(encoded_ns) + " goes back to " +
                                      ShowTime(first_ms) + ": asked for what was at " +
                                      ShowTime(at_ms)};
}

Status Trimmed(const ItemName& name, std::int64_t at_ms) {
  return {StatusCode::kNoHistory, "what " + json::Quoted(name.key) + " in " +
                                      Show(name.encoded_ns) + " was at " + ShowTime(at_ms) +
                                      " is not kept any more: a greater maxVersions keeps more"};
}

// Whether all below the prefix is known as of that time, but for what was trimmed.
Status CheckReach(const HistoryRules& rules, std::string_view encoded_prefix, std::int64_t at_ms,
                  std::int64_t now_ms) {
  if (rules.Find(encoded_prefix) == nullptr) return NoHistoryOf(encoded_prefix);
  const auto reaches = [&](const HistoryRule& rule) {
    return at_ms >= std::max(rule.since_ms, HorizonOf(rule, now_ms));
  };
  for (const auto& [encoded_ns, rule] : rules.rows()) {
    const bool matters =
        encoded_ns.starts_with(encoded_prefix) || &rule == rules.Find(encoded_prefix);
    if (!matters || reaches(rule)) continue;
    // A rule may be of what is around, which is nothing to name.
    const std::string_view of =
        encoded_ns.starts_with(encoded_prefix) ? encoded_ns : encoded_prefix;
    return BeforeHistory(of, at_ms, std::max(rule.since_ms, HorizonOf(rule, now_ms)));
  }
  return {};
}

std::optional<Item> ItemOf(const ItemRef& name, const std::optional<ItemState>& state) {
  return state ? std::optional(ItemOf(name, *state)) : std::nullopt;
}

// What nobody wrote a version of was written before that time, or its versions are gone.
Status CheckUnchanged(const ItemName& name, const ItemState& state, std::int64_t at_ms) {
  return state.updated_at_ms <= at_ms ? Status() : Trimmed(name, at_ms);
}

}  // namespace

Result<std::vector<Version>> ReadHistory(ItemTable& table, const ItemRef& item, std::uint32_t limit,
                                         std::int64_t now_ms) {
  const ItemName name{EncodeNamespace(item.ns), item.key};
  const auto rules = table.history().Rules();
  if (!rules) return std::unexpected(rules.error());
  const HistoryRule* rule = (*rules)->Find(name.encoded_ns);
  if (rule == nullptr) return std::unexpected(NoHistoryOf(name.encoded_ns));
  Result<std::optional<ItemState>> now = table.ReadState(name);
  if (!now) return std::unexpected(std::move(now.error()));
  std::optional<ItemState> after = *std::move(now);
  std::vector<Version> versions;
  const Status status = table.history().ReadVersions(name, [&](const StoredVersion& version) {
    if (versions.size() == limit || version.at_ms <= HorizonOf(*rule, now_ms)) return false;
    versions.push_back({.operation = version.operation,
                        .change = version.change,
                        .at_ms = version.at_ms,
                        .actor = version.actor,
                        .item = ItemOf(item, after)});
    after = version.before;
    return true;
  });
  if (!status.ok()) return std::unexpected(status);
  if (after && versions.size() < limit) {
    versions.push_back({.at_ms = after->updated_at_ms, .actor = "", .item = ItemOf(item, after)});
  }
  return versions;
}

Result<std::optional<StoredItem>> ReadItemAsOf(ItemTable& table, const ItemRef& item,
                                               std::int64_t at_ms, std::int64_t now_ms) {
  const ItemName name{EncodeNamespace(item.ns), item.key};
  at_ms = std::min(at_ms, now_ms);
  const auto rules = table.history().Rules();
  if (!rules) return std::unexpected(rules.error());
  if (Status status = CheckReach(**rules, name.encoded_ns, at_ms, now_ms); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  Result<std::optional<ItemState>> state = table.ReadState(name);
  if (!state) return std::unexpected(std::move(state.error()));
  std::optional<std::int64_t> from_ms;  // since when it was what `state` is
  const Status status = table.history().ReadVersions(name, [&](const StoredVersion& version) {
    if (version.at_ms <= at_ms) return false;
    state = version.before;
    from_ms = version.from_ms;
    return true;
  });
  if (!status.ok()) return std::unexpected(status);
  if (from_ms && at_ms < *from_ms) return std::unexpected(Trimmed(name, at_ms));
  if (!*state || (*state)->expires_at_ms <= at_ms) return std::nullopt;
  if (!from_ms) {
    if (Status known = CheckUnchanged(name, **state, at_ms); !known.ok()) {
      return std::unexpected(std::move(known));
    }
  }
  return StoredItem{name, **std::move(state)};
}

Result<std::vector<StoredItem>> ReadItemsAsOf(ItemTable& table, std::string_view encoded_prefix,
                                              std::int64_t at_ms, std::int64_t now_ms) {
  at_ms = std::min(at_ms, now_ms);
  const auto rules = table.history().Rules();
  if (!rules) return std::unexpected(rules.error());
  Status status = CheckReach(**rules, encoded_prefix, at_ms, now_ms);
  if (!status.ok()) return std::unexpected(std::move(status));
  std::vector<StoredItem> items;
  std::vector<ItemName> changed;  // since then, sorted
  status = table.history().ReadChangesAfter(
      encoded_prefix, at_ms, [&](const StoredVersion& version) -> Status {
        // The first one after that time says what it was.
        if (!changed.empty() && changed.back() == version.name) return {};
        changed.push_back(version.name);
        if (at_ms < version.from_ms) return Trimmed(version.name, at_ms);
        if (version.before && version.before->expires_at_ms > at_ms) {
          items.push_back({version.name, *version.before});
        }
        return {};
      });
  if (!status.ok()) return std::unexpected(std::move(status));
  const auto add_unchanged = [&](const ItemName& name, const ItemState& state) -> Status {
    if (state.expires_at_ms <= at_ms || std::ranges::binary_search(changed, name)) return {};
    Status known = CheckUnchanged(name, state, at_ms);
    if (known.ok()) items.push_back({name, state});
    return known;
  };
  status = table.ReadStates(encoded_prefix, add_unchanged);
  if (!status.ok()) return std::unexpected(std::move(status));
  return items;
}

namespace {

Status NoOperation(std::int64_t operation) {
  return {StatusCode::kNotFound, "the history has no operation " + std::to_string(operation)};
}

// The last operation that changed the item.
Result<std::int64_t> NewestOf(HistoryTable& history, const ItemName& name) {
  std::int64_t newest = 0;
  Status status = history.ReadVersions(name, [&](const StoredVersion& version) {
    newest = version.operation;
    return false;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return newest;
}

Status CheckUnchangedSince(HistoryTable& history, const StoredVersion& version) {
  const Result<std::int64_t> newest = NewestOf(history, version.name);
  if (!newest) return newest.error();
  if (*newest == version.operation) return {};
  return {StatusCode::kChangedSince,
          json::Quoted(version.name.key) + " in " + Show(version.name.encoded_ns) +
              " was changed since operation " + std::to_string(version.operation) +
              ": undo what is newer first, or force it"};
}

// The ids of the versions that an undo puts back.
Result<std::vector<std::int64_t>> FindUndone(HistoryTable& history, const Undo& undo,
                                             FunctionRef<bool(const Namespace&)> concerned,
                                             std::int64_t now_ms) {
  const auto rules = history.Rules();
  if (!rules) return std::unexpected(rules.error());
  const auto concerns = [&](const std::string& encoded_ns) {
    if (concerned == nullptr) return true;
    const Result<Namespace> ns = DecodeNamespace(encoded_ns);
    return ns && concerned(*ns);
  };
  std::vector<std::int64_t> ids;
  std::int64_t next = undo.operation;
  bool is_whole = false;
  bool is_kept = true;
  const auto note = [&](const StoredVersion& version) {
    if (version.operation != undo.operation) return false;
    const HistoryRule* rule = (*rules)->Find(version.name.encoded_ns);
    const bool is_young = rule != nullptr && version.at_ms > HorizonOf(*rule, now_ms);
    const bool is_here = concerns(version.name.encoded_ns);
    // What is too old may have been dropped, or not yet.
    is_kept = is_kept && (is_young || !is_here) && version.id == next++;
    is_whole = version.is_last;
    if (is_young && is_here) ids.push_back(version.id);
    return !version.is_last;
  };
  if (!(*rules)->empty()) {
    Status status = history.ReadFrom(undo.operation, note);
    if (!status.ok()) return std::unexpected(std::move(status));
  }
  if (ids.empty()) return std::unexpected(NoOperation(undo.operation));
  if (!is_kept || !is_whole) {
    return Error(StatusCode::kNoHistory, "a part of operation " + std::to_string(undo.operation) +
                                             " is not kept any more, so that it can't be undone");
  }
  return ids;
}

}  // namespace

Result<std::vector<StoredVersion>> ReadUndo(ItemTable& table, Undo undo,
                                            FunctionRef<bool(const Namespace&)> concerned,
                                            std::int64_t now_ms) {
  HistoryTable& history = table.history();
  const Result<std::int64_t> operation = history.CurrentId(undo.operation);
  if (!operation) return std::unexpected(operation.error());
  undo.operation = *operation;
  const Result<std::vector<std::int64_t>> ids = FindUndone(history, undo, concerned, now_ms);
  if (!ids) return std::unexpected(ids.error());
  std::vector<StoredVersion> versions;
  for (const std::int64_t id : *ids) {
    Result<std::optional<StoredVersion>> version = history.ReadVersion(id);
    if (!version) return std::unexpected(std::move(version.error()));
    if (!*version) continue;  // of a damaged file
    if (!undo.force) {
      Status status = CheckUnchangedSince(history, **version);
      if (!status.ok()) return std::unexpected(std::move(status));
    }
    versions.push_back(**std::move(version));
  }
  return versions;
}

namespace {

// The versions of one item, as an erasure goes over them.
struct TracedItem {
  ItemName name;
  bool is_wanted = false;
  ErasedVersions versions;
};

Status EndItem(ItemTable& table, const Wanted& wanted, TracedItem& item, ErasedVersions& erased) {
  const TracedItem ended = std::exchange(item, {});
  if (ended.versions.ids.empty() || (ended.is_wanted && wanted.from.empty())) {
    erased.Add(ended.versions);
    return {};
  }
  const Result<std::optional<ItemState>> now = table.ReadState(ended.name);
  if (!now) return now.error();
  const bool is_wanted =
      ended.is_wanted || (*now && wanted.Matches((*now)->value, (*now)->provenance));
  if (!is_wanted) return {};
  erased.Add(ended.versions);
  if (!*now) erased.gone.push_back(ended.name);
  return {};
}

// Items that go, by their marks.
using Going = std::unordered_map<std::int64_t, const ItemName*>;

// When an item ends, and what says so; neither if nothing does.
struct End {
  std::optional<std::int64_t> until_ms;
  std::int64_t successor = 0;

  bool operator<(const End& other) const {
    return until_ms && (!other.until_ms || *until_ms < *other.until_ms);
  }
};

End EndOf(const ItemState& state) { return {state.validity.until_ms, state.successor}; }

// As it is, or was when it was last there.
Result<ItemState> LastStateOf(ItemTable& table, const ItemName& name) {
  Result<std::optional<ItemState>> state = table.ReadState(name);
  if (!state) return std::unexpected(state.error());
  if (*state) return **std::move(state);
  ItemState last;
  Status status = table.history().ReadVersions(name, [&](const StoredVersion& version) {
    if (version.before) last = *version.before;
    return !version.before;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return last;
}

// Before one of those that go superseded it.
Result<End> EndBefore(ItemTable& table, const ItemName& name, const Going& going,
                      std::int64_t now_ms) {
  End end;
  const auto rules = table.history().Rules();
  if (!rules) return std::unexpected(rules.error());
  const HistoryRule* rule = (*rules)->Find(name.encoded_ns);
  if (rule == nullptr) return end;
  Status status = table.history().ReadVersions(name, [&](const StoredVersion& version) {
    const bool is_kept = version.at_ms > HorizonOf(*rule, now_ms);
    if (!is_kept || version.change != Change::kSupersede || !version.before) return false;
    end = EndOf(*version.before);
    const bool goes = going.contains(end.successor);
    if (goes) end = {};
    return goes;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return end;
}

// Since when something that stays says otherwise: what superseded the one that goes superseded
// the item, too. Its own end, if that was before.
Result<End> EndByOthers(ItemTable& table, const Going& going, const ItemState& item) {
  End end = EndOf(item);
  for (std::size_t steps = 0; steps <= going.size(); ++steps) {
    const auto next = going.find(end.successor);
    if (next == going.end()) return end.successor == 0 ? End() : end;
    const Result<ItemState> state = LastStateOf(table, *next->second);
    if (!state) return std::unexpected(state.error());
    const std::optional<std::int64_t>& from_ms = state->validity.from_ms;
    if (steps == 0 && from_ms && end.until_ms && *end.until_ms < *from_ms) return End{end.until_ms};
    end = EndOf(*state);
  }
  return End();
}

}  // namespace

Result<std::optional<StoredVersion>> FindBefore(ItemTable& table, const ItemName& name,
                                                const ProvenanceFilter& from, std::int64_t now_ms) {
  std::optional<StoredVersion> found;
  const auto rules = table.history().Rules();
  if (!rules) return std::unexpected(rules.error());
  const HistoryRule* rule = (*rules)->Find(name.encoded_ns);
  if (rule == nullptr) return found;
  Status status = table.history().ReadVersions(name, [&](const StoredVersion& version) {
    if (!version.before || version.at_ms <= HorizonOf(*rule, now_ms)) return false;
    if (from.Matches(version.before->provenance)) return true;
    if (version.before->expires_at_ms > now_ms) found = version;
    return false;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return found;
}

Result<std::vector<ReopenedItem>> FindReopened(ItemTable& table, std::span<const ItemName> going,
                                               const PrefixSet& within, std::int64_t now_ms) {
  std::vector<ReopenedItem> reopened;
  const Result<bool> any = table.HasSuperseded();
  if (!any) return std::unexpected(any.error());
  if (!*any || going.empty()) return reopened;
  Going by_mark;
  std::vector<std::int64_t> marks;
  for (const ItemName& name : going) {
    marks.push_back(MarkOf(name.encoded_ns, name.key));
    by_mark[marks.back()] = &name;
  }
  HeapSort(marks, std::less());
  const Result<std::vector<ItemName>> names = table.SupersededBy(marks);
  if (!names) return std::unexpected(names.error());
  for (const ItemName& name : *names) {
    const auto goes = by_mark.find(MarkOf(name.encoded_ns, name.key));
    if (!within.Covers(name.encoded_ns) || (goes != by_mark.end() && *goes->second == name))
      continue;
    const Result<std::optional<ItemState>> state = table.ReadState(name);
    if (!state) return std::unexpected(state.error());
    if (!*state) continue;  // of a damaged file
    const Result<End> before = EndBefore(table, name, by_mark, now_ms);
    if (!before) return std::unexpected(before.error());
    const Result<End> by_others = EndByOthers(table, by_mark, **state);
    if (!by_others) return std::unexpected(by_others.error());
    const auto [until_ms, successor] = std::min(*before, *by_others);
    if (until_ms && until_ms == (*state)->validity.until_ms) continue;
    reopened.push_back({name, until_ms, successor});
  }
  return reopened;
}

Status CollectVersions(ItemTable& table, std::string_view encoded_prefix, const Wanted& wanted,
                       ErasedVersions& erased) {
  TracedItem item;
  const auto add = [&](const VersionTrace& version) -> Status {
    if (version.encoded_ns != item.name.encoded_ns || version.key != item.name.key) {
      if (Status ended = EndItem(table, wanted, item, erased); !ended.ok()) return ended;
      item.name = {std::string(version.encoded_ns), std::string(version.key)};
    }
    item.is_wanted = item.is_wanted || wanted.is_everything() ||
                     (version.value && wanted.Matches(*version.value, version.provenance));
    item.versions.ids.push_back(version.id);
    item.versions.bytes += version.key.size() + version.value.value_or("").size();
    return {};
  };
  Status status = table.history().ReadTraces(encoded_prefix, add);
  return status.ok() ? EndItem(table, wanted, item, erased) : status;
}

}  // namespace keepsake
