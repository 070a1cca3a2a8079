// A Scope is the part of a memory that one user, one conversation or one application may
// see: what lies below a place, under a policy. Whoever holds it names namespaces and
// threads within the scope, and has no name for what is outside.
#ifndef KEEPSAKE_SCOPE_H_
#define KEEPSAKE_SCOPE_H_

#include <concepts>
#include <cstdint>
#include <expected>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "keepsake/checkpointer.h"
#include "keepsake/eviction.h"
#include "keepsake/function_ref.h"
#include "keepsake/namespace.h"
#include "keepsake/operation.h"
#include "keepsake/provenance.h"
#include "keepsake/status.h"
#include "keepsake/store.h"

namespace keepsake {

// What becomes of a put of an origin. Persistent, never renumber.
enum class Trust : std::uint8_t {
  kAllow = 0,
  // It is stored as Provenance::is_quarantined says. It neither supersedes nor replaces what is
  // not in quarantine: kAccessDenied.
  kQuarantine = 1,
  kRefuse = 2,  // kAccessDenied
};

struct OriginRule {
  Origin origin = Origin::kUnknown;
  Trust trust = Trust::kAllow;
  double weight = 1;  // in searches: OriginWeight

  bool operator==(const OriginRule&) const = default;
};

// What may be done within a scope. Nothing is forbidden unless it is said.
struct Policy {
  // Prefixes of the namespaces that may be read and written, as they are called within
  // the scope; nullopt for all. Else kAccessDenied. Threads lie in none: an empty list
  // allows none of them either, any other allows all.
  std::optional<std::vector<Namespace>> readable;
  std::optional<std::vector<Namespace>> writable;
  bool read_only = false;  // neither items nor threads are written: kAccessDenied
  // How many items there are in the scope and in a namespace, bytes of a value (JSON), and
  // bytes of all that is in the scope: of each item its namespace, as stored, its key and its
  // value; of threads ids, checkpoints and writes. Beyond, kQuotaExceeded; what makes it less is
  // always allowed.
  std::optional<std::uint64_t> max_entries;
  std::optional<std::uint64_t> max_entries_per_namespace;
  std::optional<std::uint64_t> max_value_bytes;
  std::optional<std::uint64_t> max_bytes;
  // Of puts without a TTL of their own; and the longest one, which is then the default.
  // A put that asks for more: kQuotaExceeded.
  std::optional<std::int64_t> default_ttl_ms;
  std::optional<std::int64_t> max_ttl_ms;
  // Of several rules, also of several policies, the strictest holds, and weights are multiplied.
  std::vector<OriginRule> origins{};

  bool operator==(const Policy&) const = default;
};

// What the threads of a scope at this place begin with: its labels, each with a "/" behind it,
// "%" and "/" within them as in a URL. Persistent.
std::string ThreadPrefixOf(const Namespace& place);

// What an operation does with items or threads. It reads them if it answers anything about
// them, be it a number.
enum class Access : std::uint8_t { kRead = 1, kWrite = 2, kReadAndWrite = 3 };

struct ScopeLevel {
  Namespace place;  // within the level around it
  Policy policy;
};

// Levels, each within the one before. All their policies hold.
class Scope {
 public:
  static constexpr std::size_t kMaxLevels = 16;

  // kInvalidNamespace if a place is no namespace, is empty, or has the label "*", which
  // stands for any label in a list of namespaces; kInvalidArgument if a number of a policy is
  // out of range.
  static Result<Scope> Make(std::vector<ScopeLevel> levels);

  const std::vector<ScopeLevel>& levels() const { return levels_; }
  // Where it lies in the memory.
  const Namespace& place() const { return place_; }
  // What its threads begin with there: ThreadPrefixOf(place()).
  const std::string& thread_prefix() const { return thread_prefix_; }
  // Whether its threads may be read, and written.
  Status CheckThreads(Access access) const;
  // A message for who is in the scope: names in it are those within.
  std::string Within(std::string message) const;

 private:
  std::vector<ScopeLevel> levels_;
  Namespace place_;
  std::string thread_prefix_;
};

// How much scopes and their namespaces hold, as long as that is known. Namespaces are encoded.
class UsageCache {
 public:
  // Null if it is not known: of a namespace alone, or with what is below it.
  const StoreUsage* Find(std::string_view encoded_ns, bool below) const;
  void Keep(std::string_view encoded_ns, bool below, StoreUsage usage);
  // Before a write to this namespace: of it, and of what it lies in.
  void Forget(std::string_view encoded_ns);
  bool empty() const { return known_.empty(); }
  // After writes that did not go through a ScopedStore, or failed.
  void Clear() { known_.clear(); }

 private:
  struct Known {
    std::string encoded_ns;
    bool below;
    StoreUsage usage;
  };
  std::vector<Known> known_;
};

// A store, seen from a scope. Not thread-safe.
class ScopedStore {
 public:
  // All are borrowed. Without `usage`, what a quota needs is counted anew each time; without
  // `saver`, threads take no room.
  ScopedStore(Store& store, const Scope& scope, UsageCache* usage = nullptr,
              Checkpointer* saver = nullptr)
      : store_(store), scope_(scope), usage_(usage), saver_(saver) {}

  // As Store has them, with namespaces within the scope.
  Result<std::vector<OperationResult>> Batch(std::span<const Operation> operations);
  Result<std::optional<Item>> Get(Namespace ns, std::string key);
  Status Put(Namespace ns, std::string key, std::string value);
  Status Delete(Namespace ns, std::string key);
  Result<std::vector<SearchItem>> Search(SearchOp search);
  Result<std::vector<Namespace>> ListNamespaces(ListNamespacesOp list = {});
  auto List(Namespace ns) { return Call(kLooks, &Store::List, ns); }
  auto ClearNamespace(Namespace ns) { return Call(kChanges, &Store::ClearNamespace, ns); }
  auto ExplainAbsence(SearchOp search, ItemRef item) {
    return Call(kLooks, &Store::ExplainAbsence, search, item);
  }
  auto History(ItemRef item, std::uint32_t limit) {
    return Call(kLooks, &Store::History, item, limit);
  }
  auto GetAsOf(GetOp get, std::int64_t at_ms) { return Call(kLooks, &Store::GetAsOf, get, at_ms); }
  auto SearchAsOf(SearchOp search, std::int64_t at_ms) {
    return Call(kLooks, &Store::SearchAsOf, search, at_ms);
  }
  auto ListNamespacesAsOf(ListNamespacesOp list, std::int64_t at_ms) {
    return Call(kLooks, &Store::ListNamespacesAsOf, list, at_ms);
  }
  // What the operation did within the scope, to what may be read there, if all policies let it
  // be written back.
  Result<Undone> UndoOperation(const Undo& undo);

  // Whether all policies let items be again what they were, and their quotas have room for it,
  // which is then taken.
  Status MayPutBack(std::span<const PutOp> puts);

  // Any other method of Store. Its arguments enter the scope, in place, and its answer leaves
  // it: each type of them needs an Enter() or a Leave() below. Each of them answers something,
  // so that all must be readable; what one changes must be writable, too. What answers nothing
  // returns a Status, and does not compile here.
  enum Effect : std::uint8_t { kLooks, kChanges };
  template <typename T, typename... Parameters, typename... Arguments>
  Result<T> Call(Effect effect, Result<T> (Store::*method)(Parameters...),
                 Arguments&... arguments) {
    static_assert(!(... && std::integral<Arguments>), "nothing keeps it within the scope");
    const Access access = effect == kChanges ? Access::kReadAndWrite : Access::kRead;
    Status status;
    if (!(... && (status = Enter(arguments, access)).ok())) return std::unexpected(status);
    if (usage_ != nullptr && effect == kChanges) usage_->Clear();
    Result<T> answer = (store_.*method)(arguments...);
    if (answer) Leave(*answer);
    return answer;
  }

  bool has_quota() const;
  // Threads are to grow by so many bytes: kQuotaExceeded if that is more than a quota lets.
  Status Grow(std::uint64_t thread_bytes);

  // Replaces names of the scope by those of the memory, if all of it may be read and written.
  Status Enter(struct Erasure& erasure) const;
  Status Enter(EvictItems& judged) const { return Enter(judged.ns, Access::kReadAndWrite); }
  // The same, if it may be read; and back. Places around the scope are {}.
  Status Enter(JudgeItems& page) const;
  void Leave(std::vector<JudgedItem>& items) const;
  Status Enter(struct AuditQuery& query) const;
  void Leave(struct AuditEntry& entry) const;

 private:
  static constexpr NamespaceRules kExact = {.allow_reserved_root = true};
  static constexpr NamespaceRules kPrefix = {.allow_empty = true, .allow_reserved_root = true};

  Status Enter(Namespace& ns, Access access, NamespaceRules rules = kExact) const;
  Status Enter(ItemRef& item, Access access) const { return Enter(item.ns, access); }
  Status Enter(GetOp& op, Access access) const;
  Status Enter(PutOp& op, Access access) const;
  Status Enter(SearchOp& op, Access access) const;
  Status Enter(ListNamespacesOp& op, Access access) const;
  Status Enter(std::integral auto, Access) const { return {}; }
  bool MayWrite(Namespace ns) const { return Enter(ns, Access::kWrite, kPrefix).ok(); }
  // As the memory calls it.
  bool MayRead(Namespace ns) const;
  Status SetTtl(PutOp& op) const;
  // Refuses the put, or makes it one into quarantine. Within the memory by now.
  Status SetTrust(PutOp& op) const;

  void Leave(std::optional<Item>& item) const;
  void Leave(std::vector<SearchItem>& items) const;
  void Leave(std::vector<Namespace>& namespaces) const;
  void Leave(std::vector<Version>& versions) const;
  void Leave(const std::vector<std::string>&) const {}  // keys
  void Leave(const WhyNot&) const {}
  void Leave(std::integral auto) const {}
  void Leave(std::monostate) const {}
  void LeaveNamespace(Namespace& ns) const;

  Status CheckQuotas(std::span<const Operation> operations);
  Status Claim(std::span<const struct QuotaClaim> claims, FunctionRef<void()> forget);
  Result<StoreUsage> UsageFor(std::string_view encoded_ns, bool below,
                              FunctionRef<bool(const StoreUsage&)> fits);

  Store& store_;
  const Scope& scope_;
  UsageCache* usage_;
  Checkpointer* saver_;
};

// A checkpointer, seen from a scope: its threads are those of the scope. Not thread-safe.
class ScopedCheckpointer final : public Checkpointer {
 public:
  // All are borrowed. `store`, of the same scope, knows its quotas; without it none hold.
  ScopedCheckpointer(Checkpointer& saver, const Scope& scope, ScopedStore* store = nullptr)
      : saver_(saver), scope_(scope), store_(store) {}

  Status Put(const NewCheckpoint& checkpoint) override;
  Status PutWrites(const CheckpointKey& key, std::span<const PendingWrite> writes) override;
  Result<std::optional<CheckpointTuple>> GetTuple(const CheckpointKey& key) override;
  Result<std::vector<CheckpointTuple>> List(const ListCheckpoints& list) override;
  Result<std::vector<PendingWrite>> Writes(const CheckpointKey& key,
                                           const std::string& channel) override;
  Result<std::vector<DeltaChannelHistory>> GetDeltaChannelHistory(
      const CheckpointKey& key, std::span<const std::string> channels) override;
  Status DeleteThread(const std::string& thread_id) override;
  Status CopyThread(const std::string& source, const std::string& target) override;
  Result<std::uint64_t> DeleteForRuns(std::span<const std::string> run_ids,
                                      const std::string& thread_prefix) override;
  Result<Pruned> Prune(const RetentionRules& rules) override;
  Result<std::vector<ThreadInfo>> Threads(const ListThreads& list) override;
  Status RenameThread(const std::string& source, const std::string& target) override;
  Status ForkThread(const std::string& source, const std::string& checkpoint_id,
                    const std::string& target) override;
  // kAccessDenied: they are of all threads.
  Result<CheckpointerStats> Stats() override;
  Result<std::uint64_t> Measure(const std::string& thread, bool below) override;

 private:
  // Whether the threads, as the caller names them, may be read or written.
  Status May(Access access, std::initializer_list<std::string_view> thread_ids) const;
  // Before it grows by so much, or by a copy of a thread.
  Status MayGrow(std::uint64_t bytes);
  Status MayCopy(const std::string& source, const std::string& target);
  // Empty stays empty, so that it is refused.
  std::string Enter(const std::string& thread_id) const;
  CheckpointKey Enter(const CheckpointKey& key) const;
  void Leave(std::string& thread_id) const;
  // Why a copy was refused, by the caller's names.
  static Status LeaveCopy(Status status, std::string_view source, std::string_view checkpoint_id,
                          std::string_view target);

  Checkpointer& saver_;
  const Scope& scope_;
  ScopedStore* store_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_SCOPE_H_
