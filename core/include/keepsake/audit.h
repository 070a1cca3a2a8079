// The audit log: who wrote where and when, what a rule refused, and what was erased. It never has
// a key, a value or a query. It is kept where that was asked for, in the database that it tells
// of, in the same transaction. Reads leave nothing, unless they were refused.
//
// An Engine records by itself what its frames do. Whoever calls a Store or a Checkpointer
// directly calls Record().
#ifndef KEEPSAKE_AUDIT_H_
#define KEEPSAKE_AUDIT_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "keepsake/database.h"
#include "keepsake/erasure.h"
#include "keepsake/function_ref.h"
#include "keepsake/namespace.h"
#include "keepsake/status.h"
#include "keepsake/store.h"

namespace keepsake {

// How much is kept: the oldest goes first.
struct AuditRule {
  static constexpr std::uint32_t kMostEntries = 1'000'000;

  std::uint32_t max_entries = 10'000;
  std::optional<std::int64_t> max_age_ms{};  // none: as long as max_entries lets
  std::int64_t since_ms = 0;                 // when it began: the log says

  std::uint32_t MostRefusals() const { return std::clamp(max_entries / 10, 1U, 100U); }

  bool operator==(const AuditRule&) const = default;
};

// Persistent, never renumber.
enum class Audited : std::uint8_t {
  kRecall = 0,  // a read that was refused
  kStore = 1,
  kDelete = 2,
  kClear = 3,
  kUndo = 4,
  kForget = 5,
  kImport = 6,
  kHold = 7,
  kRelease = 8,
  kConfigure = 9,  // what is kept of histories and of this log, the key of the file
};

// What one frame did of one kind at one place.
struct AuditEntry {
  // Longer names are left out.
  static constexpr std::size_t kMostNameBytes = 1024;

  std::int64_t id = 0;  // in the order of time, never given again while the log is kept
  std::int64_t at_ms = 0;
  Audited operation = Audited::kStore;
  Namespace place{};                       // of the scope that asked, {} for the whole memory
  std::optional<Namespace> ns{};           // of items
  std::optional<std::string> thread_id{};  // of checkpoints
  std::string actor{};
  std::string node_id{};
  StatusCode code = StatusCode::kOk;  // why it was refused
  std::uint64_t count = 1;            // items or checkpoints that were changed; refused operations

  bool operator==(const AuditEntry&) const = default;
};

struct AuditQuery {
  Namespace ns_prefix{};  // with the threads of a scope there, {} for all
  std::int64_t since_ms = 0;
  std::optional<std::int64_t> before_id{};  // the next page, behind the last id of this one
  std::uint32_t limit = 100;
  bool threads = true;  // or no entries about threads
};

// Not thread-safe.
class AuditLog {
 public:
  // Borrowed; null in memory, where the log is gone with the object.
  explicit AuditLog(sql::Database* database) : database_(database) {}

  // From now on; again changes how much. nullopt ends it and drops the log.
  Status Keep(std::optional<AuditRule> rule, std::int64_t now_ms);
  // nullopt if none is kept.
  Result<std::optional<AuditRule>> Rule();

  // Their times and ids are given here. Does nothing if no log is kept. Also drops what is too
  // old. Belongs into the transaction of what it tells of. Refusals of one `asker`, the outermost
  // scope of who asked, take MostRefusals() entries; what comes then is counted in one of them,
  // which names no namespace any more. So nobody pushes others' entries out by being refused.
  Status Record(std::span<const AuditEntry> entries, std::int64_t now_ms,
                const Namespace& asker = {});
  // The newest first.
  Result<std::vector<AuditEntry>> Read(const AuditQuery& query, std::int64_t now_ms);

  // Blanks the names of what an erasure took, and who was there: the entries stay. With a
  // filter, a namespace keeps its name as long as the store has something there. So does who
  // erased, if it was not from within what is gone.
  Status Forget(const Erasure& erasure, Store& store);

  // Entries of a thread name it as it is called now, so that it can be forgotten by that name.
  Status Rename(const std::string& thread_id, const std::string& new_thread_id);

  // Nothing is known of rows any more: they were not kept, or are others.
  void Reset();

 private:
  struct Oldest {
    std::int64_t id;
    std::int64_t at_ms;
  };

  // Whether a refusal was counted in an entry that is there.
  Result<bool> CountIn(const AuditEntry& refusal, const Namespace& asker, std::uint32_t most);
  Status Trim(std::int64_t newest_id, std::int64_t now_ms);
  Result<std::optional<Oldest>> FindOldest();
  // Newest first, until one is refused.
  Status Visit(std::int64_t before_id, Visitor<AuditEntry&> offer);

  sql::Database* database_;
  std::optional<std::optional<AuditRule>> rule_;
  std::optional<Oldest> oldest_;
  // In memory.
  std::deque<AuditEntry> entries_;
  std::int64_t last_id_ = 0;
};

}  // namespace keepsake

#endif  // KEEPSAKE_AUDIT_H_
