// Erasures forget for good: items and threads with all that was made of them. Each leaves a
// record that says what went, and nothing of what it was. A hold refuses them.
#ifndef KEEPSAKE_ERASURE_H_
#define KEEPSAKE_ERASURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "keepsake/checkpointer.h"
#include "keepsake/database.h"
#include "keepsake/eviction.h"
#include "keepsake/function_ref.h"
#include "keepsake/namespace.h"
#include "keepsake/provenance.h"
#include "keepsake/status.h"
#include "keepsake/store.h"

namespace keepsake {

// What is to be forgotten.
struct Erasure {
  std::string id;      // the caller's, 1 to 64 bytes: the same again is answered as before
  std::string digest;  // of the request, as the caller wants to find it in the record
  std::vector<Namespace> namespaces;  // with all below them; {} is everything
  std::string filter;                 // of the items there, "" for all
  ProvenanceFilter from{};            // of the items there: Store::Erase()
  std::vector<std::string> threads;
  std::optional<std::string> thread_prefix;  // and all threads that begin so, "" for all
  bool dry_run = false;                      // says what would go, and keeps it
  // Where who asks is at home. There no hold is told by its reason, and none around it by name.
  Namespace place{};
  FunctionRef<bool(const PutOp&)> may_put_back{nullptr};  // of Store::Erase()
};

struct Erased {
  std::int64_t at_ms = 0;
  std::uint64_t items = 0;
  std::uint64_t vectors = 0;
  std::uint64_t versions = 0;  // of what items were before
  std::uint64_t threads = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t bytes = 0;  // of keys, values, earlier ones, checkpoints and their content
  // Items that have an earlier value again, or hold again: Store::Erase().
  std::uint64_t restored = 0;

  bool operator==(const Erased&) const = default;
};

// Where bytes of what was forgotten may be left. It travels: never renumber.
enum class Scrubbed : std::uint8_t {
  kPages = 0,    // in no page of the file, and not in its log
  kPending = 1,  // in free pages and in the log, until Scrub() has gone over them
  kByHost = 2,   // in the pages of a host's own SQLite, which clears them when it likes
};

// What is kept of an erasure.
struct ErasureRecord {
  std::string digest;
  Erased erased;
  Scrubbed scrubbed = Scrubbed::kPending;
};

// Nothing below a namespace is forgotten, nor the threads of a scope there.
struct Hold {
  Namespace ns;
  std::string reason;
  std::int64_t since_ms = 0;
};

// Not thread-safe.
class Erasures {
 public:
  // Borrowed; null in memory, where records and holds are gone with the object.
  explicit Erasures(sql::Database* database) : database_(database) {}

  // Erases rows in one transaction, and calls `also` in it for whatever else may hold something
  // of them. If that fails, all is as it was; kHeld if a hold is in the way. What is left in pages
  // is to be scrubbed then. REQUIRES: no transaction runs.
  Result<Erased> Forget(Store& store, Checkpointer& saver, const Erasure& erasure,
                        std::int64_t now_ms,
                        FunctionRef<Status(const Erased& erased)> also = nullptr);
  // Goes over the next `pages` pages of the file, for all erasures at once: call it until it is not
  // kPending any more, with whatever else is to be done in between. If it fails (kBusy while an
  // export is read, kStorageFull), nothing was lost: call it again later, or after reopening.
  // REQUIRES: no transaction runs.
  Result<Scrubbed> Scrub(std::uint32_t pages);
  // Where bytes are left now.
  Result<Scrubbed> Scrubbing();
  Result<std::optional<ErasureRecord>> Find(const std::string& id);

  // Replaces the reason of a hold that is there.
  Status Put(const Hold& hold);
  Status Release(const Namespace& ns);
  Result<std::vector<Hold>> Holds();  // by namespace
  // Notes which of these items are held.
  Status MarkHeld(std::vector<JudgedItem>& items);
  // Deletes those that are still as they were judged, by `remove`, unless they are held.
  Result<EvictedItems> Evict(Store& store, const EvictItems& judged,
                             FunctionRef<Status(const std::vector<std::string>& keys)> remove);

 private:
  Result<Erased> Erase(Store& store, Checkpointer& saver, const Erasure& erasure,
                       std::int64_t now_ms, FunctionRef<Status(const Erased& erased)> also);
  Status CheckHolds(const Erasure& erasure, const std::vector<std::string>& threads);
  Status Keep(const Erasure& erasure, const Erased& erased);

  sql::Database* database_;
  // In memory, by id and by namespace.
  std::vector<std::pair<std::string, ErasureRecord>> records_;
  std::vector<Hold> holds_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_ERASURE_H_
