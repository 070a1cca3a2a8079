#include "keepsake/erasure.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "json/utf8.h"
#include "keepsake/scope.h"
#include "store/prefix_set.h"

namespace keepsake {
namespace {

constexpr std::size_t kMaxTextBytes = 1024;  // of a digest or a reason

constexpr std::string_view kFind =
    "SELECT digest, at_ms, items, vectors, versions, threads, checkpoints, bytes, restored"
    " FROM erasures WHERE erasure_id = ?";
constexpr std::string_view kKeep =
    "INSERT INTO erasures(erasure_id, digest, at_ms, items, vectors, versions, threads,"
    "  checkpoints, bytes, restored)"
    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr std::string_view kHolds = "SELECT ns, reason, since_ms FROM holds ORDER BY ns";
constexpr std::string_view kHold =
    "INSERT INTO holds(ns, reason, since_ms) VALUES(?, ?, ?)"
    " ON CONFLICT(ns) DO UPDATE SET reason = excluded.reason";
constexpr std::string_view kRelease = "DELETE FROM holds WHERE ns = ?";
constexpr std::string_view kBeginScrub =
    "INSERT OR REPLACE INTO meta(name, value) VALUES('scrub', '1')";
constexpr std::string_view kIsPending = "SELECT 1 FROM meta WHERE name = 'scrub'";

std::int64_t Signed(std::uint64_t count) { return static_cast<std::int64_t>(count); }

Status CheckText(std::string_view name, const std::string& text, std::size_t least,
                 std::size_t most) {
  if (text.size() >= least && text.size() <= most && json::IsWellFormedUtf8(text) &&
      text.find('\0') == std::string::npos) {
    return {};
  }
  return {StatusCode::kInvalidArgument, std::string(name) + " must have " + std::to_string(least) +
                                            " to " + std::to_string(most) + " bytes of text"};
}

Status CheckErasure(const Erasure& erasure) {
  if (Status status = CheckText("id of an erasure", erasure.id, 1, 64); !status.ok()) {
    return status;
  }
  return CheckText("digest of an erasure", erasure.digest, 0, kMaxTextBytes);
}

// Those named that are there, and those that begin so.
Result<std::vector<std::string>> ThreadsOf(Checkpointer& saver, const Erasure& erasure) {
  std::vector<std::string> threads;
  if (erasure.threads.empty() && !erasure.thread_prefix) return threads;
  ListThreads list;
  if (erasure.threads.empty()) list.thread_prefix = *erasure.thread_prefix;
  auto found = saver.Threads(list);
  if (!found) return std::unexpected(std::move(found.error()));
  const std::unordered_set<std::string_view> named(erasure.threads.begin(), erasure.threads.end());
  for (ThreadInfo& info : *found) {
    const std::string& id = info.thread_id;
    const bool is_below = erasure.thread_prefix && id.starts_with(*erasure.thread_prefix);
    if (is_below || named.contains(id)) threads.push_back(std::move(info.thread_id));
  }
  return threads;
}

Status RefusedBy(const Hold& hold, const Namespace& place) {
  std::string message = "nothing may be forgotten while a hold is on [";
  if (!place.empty() && BeginsWith(place, hold.ns)) {
    return {StatusCode::kHeld,
            "nothing may be forgotten while a hold is on all of this scope: who holds the whole "
            "memory can release() it"};
  }
  for (const std::string& label : hold.ns) {
    if (&label != &hold.ns.front()) message += ", ";
    message += json::Quoted(label);
  }
  message += place.empty() ? "]: " + hold.reason + "; release() it first"
                           : "]: who holds the whole memory can release() it";
  return {StatusCode::kHeld, message};
}

Result<Erased> EraseRows(Store& store, Checkpointer& saver, const Erasure& erasure,
                         std::vector<std::string> threads) {
  const auto items = store.Erase(erasure.namespaces, erasure.filter, erasure.from, erasure.dry_run,
                                 erasure.may_put_back);
  if (!items) return std::unexpected(items.error());
  Erased erased{.items = items->items,
                .vectors = items->vectors,
                .versions = items->versions,
                .bytes = items->bytes,
                .restored = items->restored};
  erased.threads = threads.size();
  if (threads.empty()) return erased;
  RetentionRules rules;
  rules.thread_ids = std::move(threads);
  rules.dry_run = erasure.dry_run;
  rules.strategy = PruneStrategy::kDelete;
  rules.overwrite = true;
  const Result<Pruned> pruned = saver.Prune(rules);
  if (!pruned) return std::unexpected(pruned.error());
  erased.checkpoints = pruned->checkpoints;
  erased.bytes += pruned->bytes;
  return erased;
}

PrefixSet PlacesOf(std::span<const Hold> holds) {
  PrefixSet places;
  for (const Hold& hold : holds) places.Add(EncodeNamespace(hold.ns));
  return places;
}

}  // namespace

Result<Erased> Erasures::Forget(Store& store, Checkpointer& saver, const Erasure& erasure,
                                std::int64_t now_ms,
                                FunctionRef<Status(const Erased& erased)> also) {
  if (database_ == nullptr || erasure.dry_run) return Erase(store, saver, erasure, now_ms, also);
  Result<Erased> erased;
  Status status = database_->InTransaction([&]() -> Status {
    erased = Erase(store, saver, erasure, now_ms, also);
    return erased ? Status() : erased.error();
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return erased;
}

Result<Erased> Erasures::Erase(Store& store, Checkpointer& saver, const Erasure& erasure,
                               std::int64_t now_ms,
                               FunctionRef<Status(const Erased& erased)> also) {
  if (Status status = CheckErasure(erasure); !status.ok()) return std::unexpected(status);
  const Result<std::optional<ErasureRecord>> done = Find(erasure.id);
  if (!done) return std::unexpected(done.error());
  if (*done) return (*done)->erased;
  Result<std::vector<std::string>> threads = ThreadsOf(saver, erasure);
  if (!threads) return std::unexpected(threads.error());
  if (Status status = CheckHolds(erasure, *threads); !status.ok()) return std::unexpected(status);
  Result<Erased> erased = EraseRows(store, saver, erasure, *std::move(threads));
  if (!erased) return erased;
  erased->at_ms = now_ms;
  if (erasure.dry_run) return erased;
  Status status = Keep(erasure, *erased);
  if (status.ok() && also != nullptr) status = also(*erased);
  if (!status.ok()) return std::unexpected(std::move(status));
  return erased;
}

// A hold protects what lies below it, and what it lies in as far as that is asked for whole.
Status Erasures::CheckHolds(const Erasure& erasure, const std::vector<std::string>& threads) {
  const Result<std::vector<Hold>> holds = Holds();
  if (!holds) return holds.error();
  PrefixSet asked;
  for (const Namespace& ns : erasure.namespaces) asked.Add(EncodeNamespace(ns));
  for (const Hold& hold : *holds) {
    const std::string held = EncodeNamespace(hold.ns);
    const auto is_held = [&](const std::string& one) { return one.starts_with(held); };
    if (asked.Covers(held) || std::ranges::any_of(asked, is_held)) {
      return RefusedBy(hold, erasure.place);
    }
    const std::string prefix = ThreadPrefixOf(hold.ns);
    for (const std::string& thread : threads) {
      if (thread.starts_with(prefix)) return RefusedBy(hold, erasure.place);
    }
  }
  return {};
}

Status Erasures::MarkHeld(std::vector<JudgedItem>& items) {
  const Result<std::vector<Hold>> holds = Holds();
  if (!holds) return holds.error();
  const PrefixSet held = PlacesOf(*holds);
  for (JudgedItem& item : items) item.is_held = held.Covers(EncodeNamespace(item.item.ns));
  return {};
}

Result<EvictedItems> Erasures::Evict(
    Store& store, const EvictItems& judged,
    FunctionRef<Status(const std::vector<std::string>& keys)> remove) {
  const Result<std::vector<Hold>> holds = Holds();
  if (!holds) return std::unexpected(holds.error());
  if (PlacesOf(*holds).Covers(EncodeNamespace(judged.ns))) return EvictedItems();
  Result<std::vector<std::string>> keys = store.FindUnchanged(judged);
  if (!keys) return std::unexpected(std::move(keys.error()));
  if (Status status = remove(*keys); !status.ok()) return std::unexpected(std::move(status));
  return EvictedItems{keys->size(), *std::move(keys)};
}

Status Erasures::Keep(const Erasure& erasure, const Erased& erased) {
  if (database_ == nullptr) {
    records_.emplace_back(erasure.id, ErasureRecord{erasure.digest, erased, Scrubbed::kPages});
    return {};
  }
  Status status = database_->Run(
      kKeep, {std::string_view(erasure.id), std::string_view(erasure.digest), erased.at_ms,
              Signed(erased.items), Signed(erased.vectors), Signed(erased.versions),
              Signed(erased.threads), Signed(erased.checkpoints), Signed(erased.bytes),
              Signed(erased.restored)});
  return status.ok() && !database_->is_guarded() ? database_->Run(kBeginScrub) : status;
}

Result<Scrubbed> Erasures::Scrubbing() {
  Scrubbed scrubbed = Scrubbed::kPages;
  if (database_ == nullptr) return scrubbed;
  if (database_->is_guarded()) return Scrubbed::kByHost;
  Status status =
      database_->Run(kIsPending, {}, [&](const sql::Row&) { scrubbed = Scrubbed::kPending; });
  if (!status.ok()) return std::unexpected(std::move(status));
  return scrubbed;
}

Result<Scrubbed> Erasures::Scrub(std::uint32_t pages) {
  const Result<Scrubbed> scrubbed = Scrubbing();
  if (!scrubbed || *scrubbed != Scrubbed::kPending) return scrubbed;
  const Result<bool> is_done = database_->Scrub(pages);
  if (!is_done) return std::unexpected(is_done.error());
  return *is_done ? Scrubbed::kPages : Scrubbed::kPending;
}

Result<std::optional<ErasureRecord>> Erasures::Find(const std::string& id) {
  std::optional<ErasureRecord> record;
  if (database_ == nullptr) {
    const auto found =
        std::ranges::find(records_, id, &std::pair<std::string, ErasureRecord>::first);
    if (found != records_.end()) record = found->second;
    return record;
  }
  Status status = database_->Run(kFind, {std::string_view(id)}, [&](const sql::Row& row) {
    const auto count = [&](int column) { return static_cast<std::uint64_t>(row.Int(column)); };
    record = {std::string(row.Text(0)),
              {row.Int(1), count(2), count(3), count(4), count(5), count(6), count(7), count(8)},
              Scrubbed::kPending};
    return true;
  });
  const Result<Scrubbed> scrubbed = Scrubbing();
  if (status.ok() && !scrubbed) status = scrubbed.error();
  if (!status.ok()) return std::unexpected(std::move(status));
  if (record) record->scrubbed = *scrubbed;
  return record;
}

Status Erasures::Put(const Hold& hold) {
  // Also that no scope could be there.
  if (const auto scope = Scope::Make({{hold.ns, {}}}); !scope) return scope.error();
  Status status = CheckText("reason of a hold", hold.reason, 1, kMaxTextBytes);
  if (!status.ok()) return status;
  const std::string encoded = EncodeNamespace(hold.ns);
  if (database_ != nullptr) {
    return database_->Run(
        kHold, {std::string_view(encoded), std::string_view(hold.reason), hold.since_ms});
  }
  const auto place = std::ranges::lower_bound(holds_, hold.ns, {}, &Hold::ns);
  if (place != holds_.end() && place->ns == hold.ns) {
    place->reason = hold.reason;
  } else {
    holds_.insert(place, hold);
  }
  return {};
}

Status Erasures::Release(const Namespace& ns) {
  if (Status status = ValidateNamespace(ns); !status.ok()) return status;
  const std::string encoded = EncodeNamespace(ns);
  if (database_ != nullptr) return database_->Run(kRelease, {std::string_view(encoded)});
  std::erase_if(holds_, [&](const Hold& hold) { return hold.ns == ns; });
  return {};
}

Result<std::vector<Hold>> Erasures::Holds() {
  if (database_ == nullptr) return holds_;
  std::vector<Hold> holds;
  Status status = database_->Run(kHolds, {}, [&](const sql::Row& row) -> Status {
    Result<Namespace> ns = DecodeNamespace(row.Text(0));
    if (!ns) return ns.error();
    holds.push_back({*std::move(ns), std::string(row.Text(1)), row.Int(2)});
    return {};
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return holds;
}

}  // namespace keepsake
