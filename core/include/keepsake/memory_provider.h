// A MemoryProvider is what a workflow engine asks for a memory: entries with metadata, by
// namespace and key. Namespaces are texts here, such as ResolveNamespace() makes of who asks:
// "user:ada". js/src/scope/provider.ts is the same over the same rows.
#ifndef KEEPSAKE_MEMORY_PROVIDER_H_
#define KEEPSAKE_MEMORY_PROVIDER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/scope.h"
#include "keepsake/status.h"
#include "keepsake/store.h"

namespace keepsake {

// A label of a namespace for any text, and back: "%", ".", ":" and NUL as in a URL, "" as "%".
// Persistent.
std::string EncodeLabel(std::string_view text);
std::string DecodeLabel(std::string_view label);

enum class MemoryScope : std::uint8_t { kConversation, kUser, kGlobal };

// Who asks. An empty id is one that is not set.
struct ScopeVariables {
  std::string conversation_id;
  std::string user_id;
  std::string app_id;           // "default" if it is not set
  std::string store_namespace;  // overrides all others
};

// "conv:{conversation_id}", "user:{user_id}" or "global:{app_id}". kInvalidArgument, naming the
// variable, if it is not set. Takes as long as the id is.
Result<std::string> ResolveNamespace(MemoryScope scope, const ScopeVariables& variables);
// Where the entries of such a namespace lie: {"user", "ada"}. Only the first ":" parts labels,
// so that ids may have one. kInvalidArgument for "".
Result<Namespace> PlaceOf(std::string_view resolved);

struct MemoryEntry {
  std::string id;  // namespace and key
  std::string ns;
  std::string key;
  std::string value;     // JSON
  std::string metadata;  // JSON object
  std::int64_t updated_at_ms = 0;
  std::optional<double> score;  // 0…1, of a search
};

struct MemoryQuery {
  std::string ns;
  std::optional<std::string> key;  // this entry, or none; else a search
  std::string query_text;          // "" for a listing, the newest first
  std::string filter;              // of metadata: JSON object, "" for none
  std::uint32_t top_k = 10;
};

// Told before and after each access; never of a value.
struct MemoryAccess {
  enum class Operation : std::uint8_t { kRecall, kStore, kDelete, kClear };
  Operation operation = Operation::kRecall;
  std::string ns;
  std::string node_id;
  std::optional<bool> success;  // after it
  std::uint64_t count = 0;      // entries that it answered or changed
};
using AccessListener = std::function<void(const MemoryAccess&)>;

// Not thread-safe.
class MemoryProvider {
 public:
  // The store is borrowed: a whole one, or what a scope shows of it.
  explicit MemoryProvider(Store& store) : whole_(&store) {}
  explicit MemoryProvider(ScopedStore& store) : scoped_(&store) {}

  // `node_id` says who has access, from here on.
  void Tell(AccessListener listener, std::string node_id = "") {
    listener_ = std::move(listener);
    node_id_ = std::move(node_id);
  }

  // Puts an entry, in the place of what had its key. `metadata` is a JSON object, or "".
  Status Put(const std::string& ns, const std::string& key, const std::string& value,
             const std::string& metadata = "");
  Result<std::vector<MemoryEntry>> Recall(const MemoryQuery& query);
  // kNotFound if there is none.
  Status Delete(const std::string& ns, const std::string& key);
  // All entries of exactly this namespace; says how many there were.
  Result<std::uint64_t> ClearNamespace(const std::string& ns);

 private:
  Status PutEntry(const std::string& ns, const std::string& key, const std::string& value,
                  const std::string& metadata);
  Result<std::vector<MemoryEntry>> Find(const MemoryQuery& query);
  Status DeleteEntry(const std::string& ns, const std::string& key);
  // Calls `call` with whichever store there is.
  template <typename Call>
  auto On(Call call) {
    return whole_ != nullptr ? call(*whole_) : call(*scoped_);
  }
  // Tells the listener of an access before it, and of its outcome after it.
  template <typename Call, typename Count>
  auto Told(MemoryAccess::Operation operation, const std::string& ns, Call call, Count count);

  Store* whole_ = nullptr;
  ScopedStore* scoped_ = nullptr;
  AccessListener listener_;
  std::string node_id_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_MEMORY_PROVIDER_H_
