#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "base/heap_sort.h"
#include "json/json.h"
#include "json/utf8.h"
#include "keepsake/audit.h"
#include "keepsake/erasure.h"
#include "keepsake/scope.h"
#include "store/embedding.h"

namespace keepsake {
namespace {

std::string Show(const Namespace& ns) {
  std::string text = "[";
  for (const std::string& label : ns) {
    if (text.size() > 1) text += ", ";
    text += json::Quoted(label);
  }
  return text + "]";
}

bool Has(Access access, Access one) {
  return (std::to_underlying(access) & std::to_underlying(one)) != 0;
}

const std::optional<std::vector<Namespace>>& AllowedBy(const Policy& policy, Access one) {
  return one == Access::kRead ? policy.readable : policy.writable;
}

bool Allows(const Policy& policy, Access one, const Namespace& ns) {
  if (one == Access::kWrite && policy.read_only) return false;
  const auto& prefixes = AllowedBy(policy, one);
  return !prefixes || std::ranges::any_of(*prefixes, [&](const Namespace& prefix) {
    return BeginsWith(ns, prefix);
  });
}

// What is around a scope is not named there: neither are the prefixes of policies around it.
Status Denied(const Policy& policy, Access one, const Namespace& ns, bool is_around) {
  const bool is_read = one == Access::kRead;
  std::string message = "memory access denied: the namespace " + Show(ns) + " may not be " +
                        (is_read ? "read" : "written") + ": ";
  if (!is_read && policy.read_only) {
    message += "the policy is read only";
  } else if (is_around) {
    message += "a policy around this scope does not allow it";
  } else {
    message += "the policy allows what begins with";
    const auto& prefixes = *AllowedBy(policy, one);
    for (const Namespace& prefix : prefixes) message += " " + Show(prefix);
    if (prefixes.empty()) message += " nothing";
  }
  return {StatusCode::kAccessDenied, message};
}

// So that nobody stores by vectors what a quota of values does not let.
Status CheckVectorsAreOfTexts(const PutOp& op, const StoreOptions& options) {
  if (op.vectors.empty() || !options.index || !json::Validate(*op.value).ok()) return {};
  const bool by_default = op.index.kind == IndexChoice::Kind::kStoreDefault;
  const auto texts = TextsToEmbed(*op.value, by_default ? options.index->fields : op.index.paths);
  if (!texts) return texts.error();
  const std::unordered_set<std::string_view> paths(texts->paths.begin(), texts->paths.end());
  for (const FieldVector& vector : op.vectors) {
    if (paths.contains(vector.path)) continue;
    return {StatusCode::kInvalidArgument,
            "a vector in a scope with quotas must be of a text of its item: there is none at " +
                json::Quoted(vector.path)};
  }
  return {};
}

std::string_view NameOf(Origin origin) {
  constexpr std::string_view kNames[] = {"unknown", "user", "tool", "web", "model"};
  return kNames[static_cast<std::size_t>(origin)];
}

Status OverQuota(std::string message) { return {StatusCode::kQuotaExceeded, message}; }

// What a batch changes in one namespace, or in all that a level holds; and what of it is asked
// for. That is more where the scope may not read: a put there is one item more, so that nobody
// learns by quotas which keys there are, and how long their values.
struct Growth {
  std::string encoded_ns;
  std::int64_t items = 0;
  std::int64_t bytes = 0;
  std::int64_t asked_items = 0;
  std::int64_t asked_bytes = 0;
};

std::uint64_t Grown(std::uint64_t value, std::int64_t by) {
  const auto sum = static_cast<std::int64_t>(value) + by;
  return sum < 0 ? 0 : static_cast<std::uint64_t>(sum);
}

// A put of a batch, by where it goes.
struct Placed {
  std::string id;  // the namespace, encoded, and the key
  std::size_t ns_size;
  const PutOp* put;

  std::string_view encoded_ns() const { return std::string_view(id).substr(0, ns_size); }
};

// The last put of each key, by namespace and key.
std::vector<Placed> LastPuts(std::span<const Operation> operations) {
  std::vector<Placed> puts;
  for (const Operation& operation : operations) {
    const auto* put = std::get_if<PutOp>(&operation);
    if (put == nullptr) continue;
    std::string id = EncodeNamespace(put->ns);
    const std::size_t ns_size = id.size();
    puts.push_back({id + put->key, ns_size, put});
  }
  // They lie one after the other, so that the later has the greater address.
  HeapSort(puts, [](const Placed& a, const Placed& b) {
    return a.id != b.id ? a.id < b.id : a.put > b.put;
  });
  const auto is_same = [](const Placed& a, const Placed& b) { return a.id == b.id; };
  puts.erase(std::unique(puts.begin(), puts.end(), is_same), puts.end());
  return puts;
}

// As StoreUsage counts them.
std::size_t BytesOf(std::string_view value, const std::optional<Provenance>& provenance) {
  return value.size() + (provenance ? provenance->source.size() : 0);
}

Result<std::vector<Growth>> GrowthOf(Store& store, std::span<const Placed> puts,
                                     FunctionRef<bool(const Namespace&)> may_read) {
  std::vector<Operation> gets;
  for (const Placed& placed : puts) {
    gets.push_back(GetOp{.ns = placed.put->ns, .key = placed.put->key, .refresh_ttl = false});
  }
  const Result<std::vector<OperationResult>> found = store.Batch(gets);
  if (!found) return std::unexpected(found.error());
  std::vector<Growth> growth;
  for (std::size_t i = 0; i < puts.size(); ++i) {
    const PutOp& put = *puts[i].put;
    if (growth.empty() || growth.back().encoded_ns != puts[i].encoded_ns()) {
      growth.push_back({.encoded_ns = std::string(puts[i].encoded_ns())});
    }
    Growth& here = growth.back();
    const auto grow = [&](std::int64_t items, std::size_t bytes, bool is_asked) {
      const auto more = items * static_cast<std::int64_t>(puts[i].id.size() + bytes);
      here.items += items;
      here.bytes += more;
      if (!is_asked) return;
      here.asked_items += items;
      here.asked_bytes += more;
    };
    if (const auto& old = std::get<std::optional<Item>>((*found)[i])) {
      grow(-1, BytesOf(old->value, old->provenance), may_read(put.ns));
    }
    if (put.value) grow(1, BytesOf(*put.value, put.provenance), true);
  }
  return growth;
}

constexpr std::uint64_t kNoQuota = std::numeric_limits<std::uint64_t>::max();

bool HasQuota(const Scope& scope) {
  return std::ranges::any_of(scope.levels(), [](const ScopeLevel& level) {
    const Policy& policy = level.policy;
    return policy.max_entries || policy.max_entries_per_namespace || policy.max_bytes;
  });
}

}  // namespace

// A quota, of a namespace or of a level, and what is to grow against it.
struct QuotaClaim {
  Growth growth;
  bool below;
  std::uint64_t max_items;
  std::uint64_t max_bytes;
  bool is_open;  // the scope may know what there is
};

namespace {

std::vector<QuotaClaim> ClaimsOf(const Scope& scope, const std::vector<Growth>& growth,
                                 std::int64_t thread_bytes,
                                 FunctionRef<bool(const Namespace&)> may_read) {
  std::vector<QuotaClaim> claims;
  Growth all;
  for (const ScopeLevel& level : scope.levels()) {
    const auto& [place, policy] = level;
    const bool is_around = &level != &scope.levels().back();
    all = {.encoded_ns = all.encoded_ns + EncodeNamespace(place),
           .bytes = thread_bytes,
           .asked_bytes = thread_bytes};
    for (const Growth& here : growth) {
      all.items += here.items;
      all.bytes += here.bytes;
      all.asked_items += here.asked_items;
      all.asked_bytes += here.asked_bytes;
      const auto& most = policy.max_entries_per_namespace;
      if (!most) continue;
      const Result<Namespace> ns = DecodeNamespace(here.encoded_ns);
      claims.push_back({here, false, *most, kNoQuota, ns && may_read(*ns)});
    }
    if (policy.max_entries || policy.max_bytes) {
      claims.push_back({all, true, policy.max_entries.value_or(kNoQuota),
                        policy.max_bytes.value_or(kNoQuota),
                        !is_around && may_read(scope.place())});
    }
  }
  return claims;
}

bool HasRoom(const QuotaClaim& claim, const StoreUsage& usage) {
  const Growth& growth = claim.growth;
  return growth.asked_items <= 0 || Grown(usage.items, growth.asked_items) <= claim.max_items;
}

bool Fits(const QuotaClaim& claim, const StoreUsage& usage) {
  const Growth& growth = claim.growth;
  return HasRoom(claim, usage) &&
         (growth.asked_bytes <= 0 || Grown(usage.bytes, growth.asked_bytes) <= claim.max_bytes);
}

Status Exceeded(const QuotaClaim& claim, const StoreUsage& usage, Namespace ns) {
  const bool is_of_bytes = HasRoom(claim, usage);
  const std::uint64_t sum = is_of_bytes ? Grown(usage.bytes, claim.growth.asked_bytes)
                                        : Grown(usage.items, claim.growth.asked_items);
  const std::uint64_t most = is_of_bytes ? claim.max_bytes : claim.max_items;
  return OverQuota((claim.below ? "the scope" : "namespace " + Show(ns)) + " would have " +
                   (claim.is_open ? std::to_string(sum) : "more") +
                   (is_of_bytes ? " bytes of items and threads" : " entries") +
                   ", which exceeds max " + std::to_string(most));
}

template <typename T>
Result<T> Only(Result<std::vector<OperationResult>> results) {
  if (!results) return std::unexpected(std::move(results.error()));
  return std::get<T>(std::move(results->front()));
}

Status StatusOf(const Result<std::vector<OperationResult>>& results) {
  return results ? Status() : results.error();
}

}  // namespace

// All policies must allow it.
Status ScopedStore::Enter(Namespace& ns, Access access, NamespaceRules rules) const {
  if (Status status = ValidateNamespace(ns, rules); !status.ok()) return status;
  std::size_t depth = 0;  // of the labels that stand before those of the scope
  for (std::size_t level = scope_.levels().size(); level-- > 0;) {
    const auto& [place, policy] = scope_.levels()[level];
    for (const Access one : {Access::kRead, Access::kWrite}) {
      if (!Has(access, one) || Allows(policy, one, ns)) continue;
      ns.erase(ns.begin(), ns.begin() + static_cast<std::ptrdiff_t>(depth));
      return Denied(policy, one, ns, depth > 0);
    }
    ns.insert(ns.begin(), place.begin(), place.end());
    depth += place.size();
  }
  return {};
}

bool ScopedStore::MayRead(Namespace ns) const {
  if (!BeginsWith(ns, scope_.place())) return false;
  LeaveNamespace(ns);
  return Enter(ns, Access::kRead, kPrefix).ok();
}

Status ScopedStore::Enter(GetOp& op, Access access) const {
  op.refresh_ttl = op.refresh_ttl && MayWrite(op.ns);
  return Enter(op.ns, access);
}

Status ScopedStore::Enter(PutOp& op, Access access) const {
  if (op.value) {
    if (Status status = SetTtl(op); !status.ok()) return status;
    Status status = HasQuota(scope_) ? CheckVectorsAreOfTexts(op, store_.options()) : Status();
    if (!status.ok()) return status;
    for (const ScopeLevel& level : scope_.levels()) {
      const auto& most = level.policy.max_value_bytes;
      if (!most || op.value->size() <= *most) continue;
      return OverQuota("Value size " + std::to_string(op.value->size()) + " exceeds max " +
                       std::to_string(*most) + ": " + Show(op.ns) + " " + json::Quoted(op.key));
    }
  }
  if (op.supersedes) {
    if (Status status = Enter(*op.supersedes, access); !status.ok()) return status;
  }
  if (Status status = Enter(op.ns, access); !status.ok()) return status;
  return op.value ? SetTrust(op) : Status();
}

Status ScopedStore::SetTrust(PutOp& op) const {
  const Origin origin = op.provenance ? op.provenance->origin : Origin::kUnknown;
  Trust trust = Trust::kAllow;
  for (const ScopeLevel& level : scope_.levels()) {
    for (const OriginRule& rule : level.policy.origins) {
      if (rule.origin == origin) trust = std::max(trust, rule.trust);
    }
  }
  if (trust == Trust::kAllow) return {};
  const auto denied = [&](std::string_view why) -> Status {
    return {StatusCode::kAccessDenied, "memory access denied: an item of origin " +
                                           std::string(NameOf(origin)) + std::string(why) + ": " +
                                           json::Quoted(op.key)};
  };
  if (trust == Trust::kRefuse) return denied(" is refused by the policy");
  if (op.supersedes) return denied(" goes into quarantine, and supersedes nothing there");
  const Operation get = GetOp{.ns = op.ns, .key = op.key, .refresh_ttl = false};
  const auto found = Only<std::optional<Item>>(store_.Batch({&get, 1}));
  if (!found) return found.error();
  if (*found && !((*found)->provenance && (*found)->provenance->is_quarantined)) {
    return denied(" goes into quarantine, and replaces nothing outside: give it another key");
  }
  if (!op.provenance) op.provenance.emplace();
  op.provenance->is_quarantined = true;
  return {};
}

Status ScopedStore::SetTtl(PutOp& op) const {
  for (const ScopeLevel& level : scope_.levels()) {
    const Policy& policy = level.policy;
    if (!op.has_own_ttl() && policy.default_ttl_ms) op.ttl_ms = *policy.default_ttl_ms;
  }
  for (const ScopeLevel& level : scope_.levels()) {
    const auto& most = level.policy.max_ttl_ms;
    if (!most) continue;
    const std::int64_t ttl = op.TtlIn(store_.options().ttl.default_ttl_ms);
    if (ttl != PutOp::kNoTtl && ttl <= *most) continue;
    if (op.has_own_ttl()) {
      const std::string wanted = ttl == PutOp::kNoTtl ? "no end" : std::to_string(ttl) + " ms";
      return OverQuota("time to live of " + wanted + " exceeds max " + std::to_string(*most) +
                       " ms: " + Show(op.ns) + " " + json::Quoted(op.key));
    }
    op.ttl_ms = *most;
  }
  return {};
}

Status ScopedStore::Enter(SearchOp& op, Access access) const {
  op.refresh_ttl = op.refresh_ttl && MayWrite(op.ns_prefix);
  if (op.near) {
    if (Status status = Enter(*op.near, Access::kRead); !status.ok()) return status;
  }
  for (const ScopeLevel& level : scope_.levels()) {
    for (const OriginRule& rule : level.policy.origins) {
      if (rule.weight == 1) continue;
      if (!op.ranking) op.ranking.emplace();
      op.ranking->origins.push_back({rule.origin, rule.weight});
    }
  }
  return Enter(op.ns_prefix, access, kPrefix);
}

// What may be read must be said by a prefix without "*". A suffix is looked for among the
// labels within the scope: as many as it has stand behind the place.
Status ScopedStore::Enter(ListNamespacesOp& op, Access access) const {
  const Namespace& place = scope_.place();
  Namespace literal;
  std::size_t least = 1;
  for (MatchCondition& condition : op.match_conditions) {
    Namespace& path = condition.path;
    least = std::max(least, path.size());
    if (condition.match_type == MatchType::kSuffix) continue;
    Namespace begin(path.begin(), std::ranges::find(path, "*"));
    if (begin.size() > literal.size()) literal = std::move(begin);
    path.insert(path.begin(), place.begin(), place.end());
  }
  if (Status status = Enter(literal, access, kPrefix); !status.ok()) return status;
  MatchCondition within{MatchType::kPrefix, place};
  within.path.insert(within.path.end(), least, "*");
  op.match_conditions.push_back(std::move(within));
  if (op.max_depth.value_or(0) > 0) {  // 0 is refused
    const std::uint64_t depth = std::uint64_t{*op.max_depth} + place.size();
    op.max_depth = static_cast<std::uint32_t>(std::min<std::uint64_t>(depth, UINT32_MAX));
  }
  return {};
}

void ScopedStore::LeaveNamespace(Namespace& ns) const {
  const std::size_t depth = std::min(scope_.place().size(), ns.size());
  ns.erase(ns.begin(), ns.begin() + static_cast<std::ptrdiff_t>(depth));
}

void ScopedStore::Leave(std::optional<Item>& item) const {
  if (item) LeaveNamespace(item->ns);
}

// A plan counts what is outside, too.
void ScopedStore::Leave(std::vector<SearchItem>& items) const {
  for (SearchItem& item : items) {
    LeaveNamespace(item.item.ns);
    item.plan.clear();
  }
}

void ScopedStore::Leave(std::vector<Namespace>& namespaces) const {
  for (Namespace& ns : namespaces) LeaveNamespace(ns);
}

void ScopedStore::Leave(std::vector<Version>& versions) const {
  for (Version& version : versions) Leave(version.item);
}

Result<std::vector<OperationResult>> ScopedStore::Batch(std::span<const Operation> operations) {
  std::vector<Operation> entered(operations.begin(), operations.end());
  for (std::size_t i = 0; i < entered.size(); ++i) {
    const bool is_put = std::holds_alternative<PutOp>(entered[i]);
    const Access access = is_put ? Access::kWrite : Access::kRead;
    Status status = std::visit([&](auto& op) { return Enter(op, access); }, entered[i]);
    if (status.ok()) continue;
    if (entered.size() == 1) return std::unexpected(std::move(status));
    return Error(status.code(), "operation " + std::to_string(i) + ": " + status.message());
  }
  if (Status status = CheckQuotas(entered); !status.ok()) return std::unexpected(status);
  Result<std::vector<OperationResult>> results = store_.Batch(entered);
  if (!results) {
    if (usage_ != nullptr) usage_->Clear();
    return results;
  }
  for (OperationResult& result : *results) {
    std::visit([&](auto& answer) { Leave(answer); }, result);
  }
  return results;
}

Status ScopedStore::CheckQuotas(std::span<const Operation> operations) {
  const bool has_quota = HasQuota(scope_);
  if (!has_quota && (usage_ == nullptr || usage_->empty())) return {};
  const std::vector<Placed> puts = LastPuts(operations);
  if (has_quota && !puts.empty()) {
    const auto may_read = [&](const Namespace& ns) { return MayRead(ns); };
    const Result<std::vector<Growth>> growth = GrowthOf(store_, puts, may_read);
    if (!growth) return growth.error();
    return Claim(ClaimsOf(scope_, *growth, 0, may_read), [&] {
      for (const Placed& placed : puts) usage_->Forget(placed.encoded_ns());
    });
  }
  if (usage_ == nullptr) return {};
  for (const Placed& placed : puts) usage_->Forget(placed.encoded_ns());
  return {};
}

bool ScopedStore::has_quota() const { return HasQuota(scope_); }

// A thread may be one of a scope further in, whose usage may be known, too.
Status ScopedStore::Grow(std::uint64_t thread_bytes) {
  const auto forget = [&] {
    if (!usage_->empty()) usage_->Clear();
  };
  if (!HasQuota(scope_)) {
    if (usage_ != nullptr) forget();
    return {};
  }
  const auto may_read = [&](const Namespace& ns) { return MayRead(ns); };
  const auto bytes = static_cast<std::int64_t>(std::min(thread_bytes, kNoQuota / 4));
  return Claim(ClaimsOf(scope_, {}, bytes, may_read), forget);
}

// Fails if a quota does not let it; else `forget` makes room for what is known from now on.
Status ScopedStore::Claim(std::span<const QuotaClaim> claims, FunctionRef<void()> forget) {
  std::vector<StoreUsage> usages;
  for (const QuotaClaim& claim : claims) {
    const Result<StoreUsage> usage = UsageFor(claim.growth.encoded_ns, claim.below,
                                              [&](auto& used) { return Fits(claim, used); });
    if (!usage) return usage.error();
    if (!Fits(claim, *usage)) {
      Result<Namespace> ns = DecodeNamespace(claim.growth.encoded_ns);
      if (!ns) return ns.error();
      LeaveNamespace(*ns);
      return Exceeded(claim, *usage, *ns);
    }
    usages.push_back(
        {Grown(usage->items, claim.growth.items), Grown(usage->bytes, claim.growth.bytes)});
  }
  if (usage_ == nullptr) return {};
  forget();
  for (std::size_t i = 0; i < claims.size(); ++i) {
    usage_->Keep(claims[i].growth.encoded_ns, claims[i].below, usages[i]);
  }
  return {};
}

// What was known may count what has expired since: if it is too much, it is counted anew.
Result<StoreUsage> ScopedStore::UsageFor(std::string_view encoded_ns, bool below,
                                         FunctionRef<bool(const StoreUsage&)> fits) {
  const StoreUsage* known = usage_ == nullptr ? nullptr : usage_->Find(encoded_ns, below);
  if (known != nullptr && fits(*known)) return *known;
  const Result<Namespace> ns = DecodeNamespace(encoded_ns);
  if (!ns) return std::unexpected(ns.error());
  Result<StoreUsage> usage = store_.Measure(*ns, below);
  if (!usage || !below || saver_ == nullptr) return usage;
  const Result<std::uint64_t> threads = saver_->Measure(ThreadPrefixOf(*ns), true);
  if (!threads) return std::unexpected(threads.error());
  usage->bytes += *threads;
  return usage;
}

Result<std::optional<Item>> ScopedStore::Get(Namespace ns, std::string key) {
  const Operation operation = GetOp{.ns = std::move(ns), .key = std::move(key)};
  return Only<std::optional<Item>>(Batch({&operation, 1}));
}

Status ScopedStore::Put(Namespace ns, std::string key, std::string value) {
  if (Status status = ValidateNamespace(ns); !status.ok()) return status;
  const Operation operation =
      PutOp{.ns = std::move(ns), .key = std::move(key), .value = std::move(value)};
  return StatusOf(Batch({&operation, 1}));
}

Status ScopedStore::Delete(Namespace ns, std::string key) {
  const Operation operation = PutOp{.ns = std::move(ns), .key = std::move(key)};
  return StatusOf(Batch({&operation, 1}));
}

Result<std::vector<SearchItem>> ScopedStore::Search(SearchOp search) {
  const Operation operation = std::move(search);
  return Only<std::vector<SearchItem>>(Batch({&operation, 1}));
}

Result<std::vector<Namespace>> ScopedStore::ListNamespaces(ListNamespacesOp list) {
  const Operation operation = std::move(list);
  return Only<std::vector<Namespace>>(Batch({&operation, 1}));
}

Status ScopedStore::Enter(Erasure& erasure) const {
  for (Namespace& ns : erasure.namespaces) {
    if (Status status = Enter(ns, Access::kReadAndWrite, kPrefix); !status.ok()) return status;
  }
  if (!erasure.threads.empty() || erasure.thread_prefix) {
    const Status status = scope_.CheckThreads(Access::kReadAndWrite);
    if (!status.ok()) return status;
  }
  erasure.place = scope_.place();
  for (std::string& thread : erasure.threads) thread = scope_.thread_prefix() + thread;
  if (erasure.thread_prefix)
    *erasure.thread_prefix = scope_.thread_prefix() + *erasure.thread_prefix;
  if (usage_ != nullptr) usage_->Clear();
  return {};
}

Status ScopedStore::Enter(JudgeItems& page) const {
  Status status = Enter(page.ns_prefix, Access::kRead, kPrefix);
  return status.ok() && page.after ? Enter(*page.after, Access::kRead) : status;
}

void ScopedStore::Leave(std::vector<JudgedItem>& items) const {
  for (JudgedItem& item : items) LeaveNamespace(item.item.ns);
}

Status ScopedStore::Enter(AuditQuery& query) const {
  query.threads = scope_.CheckThreads(Access::kRead).ok();
  return Enter(query.ns_prefix, Access::kRead, kPrefix);
}

void ScopedStore::Leave(AuditEntry& entry) const {
  if (!BeginsWith(entry.place, scope_.place())) entry.place.clear();
  LeaveNamespace(entry.place);
  if (entry.ns) LeaveNamespace(*entry.ns);
  if (entry.thread_id) entry.thread_id->erase(0, scope_.thread_prefix().size());
}

// What it was may be more than the policies let it be now.
Status ScopedStore::MayPutBack(std::span<const PutOp> puts) {
  std::vector<Operation> operations;
  for (PutOp put : puts) {
    LeaveNamespace(put.ns);
    const std::optional<Provenance> was = put.provenance;
    if (Status status = Enter(put, Access::kWrite); !status.ok()) return status;
    if (put.provenance != was) {
      return {StatusCode::kAccessDenied,
              "memory access denied: what it was would go into quarantine now: " +
                  json::Quoted(put.key)};
    }
    operations.emplace_back(std::move(put));
  }
  return CheckQuotas(operations);
}

Result<Undone> ScopedStore::UndoOperation(const Undo& undo) {
  const auto is_seen = [&](const Namespace& ns) { return MayRead(ns); };
  Result<std::vector<PutOp>> puts = store_.ReadUndo(undo, is_seen);
  if (!puts) return std::unexpected(std::move(puts.error()));
  // The last of what is put back is what stays: versions are put back in reverse order.
  std::ranges::reverse(*puts);
  if (Status status = MayPutBack(*puts); !status.ok()) return std::unexpected(std::move(status));
  Result<Undone> undone = store_.UndoOperation(undo, is_seen);
  if (!undone && usage_ != nullptr) usage_->Clear();
  return undone;
}

}  // namespace keepsake
