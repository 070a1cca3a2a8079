// The versions of a SqliteStore: rows of `store_versions`, with their vectors in
// `version_vectors`, by the rules in `history_rules`.
//
// A database in which nobody asked for history is told by a row of `meta` that is not there:
// it is looked for once, and then a write costs nothing more.
#ifndef KEEPSAKE_STORE_SQLITE_SQLITE_HISTORY_H_
#define KEEPSAKE_STORE_SQLITE_SQLITE_HISTORY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "keepsake/database.h"
#include "store/replicated.h"
#include "store/sqlite/sqlite_vectors.h"
#include "store/versions.h"

namespace keepsake {

class SqliteHistory final : public HistoryTable {
 public:
  // Borrowed; `replicated` may be null.
  SqliteHistory(sql::Database& database, SqliteVectors& vectors, const Replicated* replicated)
      : database_(database), vectors_(vectors), replicated_(replicated) {}

  // What follows, within a transaction of the caller's, is one operation, of one version if it
  // `is_single`.
  void Begin(std::string_view actor, bool is_single);
  // Also drops some of what is too old. Says which operation it was, 0 for none.
  Result<std::int64_t> End(std::int64_t now_ms);

  Status Record(const HistoryRule& rule, Change change, std::string_view encoded_ns,
                std::string_view key, std::int64_t at_ms) override;
  Status Erase(std::span<const std::int64_t> ids) override;
  Status DropOld(std::int64_t now_ms) override;
  Result<const HistoryRules*> Rules() override;
  Status PutRule(const HistoryRule& rule) override;
  Status DropRule(std::string_view encoded_ns) override;
  Status ReadVersions(const ItemName& name, Visitor<const StoredVersion&> offer) override;
  Status ReadFrom(std::int64_t id, Visitor<const StoredVersion&> offer) override;
  Result<std::optional<StoredVersion>> ReadVersion(std::int64_t id) override;
  Status ReadChangesAfter(std::string_view encoded_prefix, std::int64_t at_ms,
                          Visitor<const StoredVersion&> offer) override;
  Status ReadTraces(std::string_view encoded_prefix, Visitor<const VersionTrace&> offer) override;
  Result<std::int64_t> CurrentId(std::int64_t operation) override;

 private:
  Status KeepVectors(std::int64_t id, std::string_view encoded_ns, std::string_view key);
  // Whether some version may have vectors.
  Result<bool> HasVectors();
  Status DropUpTo(std::string_view encoded_ns, std::string_view key, std::int64_t number);
  Status ReadVectors(StoredVersion& version);
  // Offers the version of a row, with its vectors.
  Result<bool> Offer(const sql::Row& row, Visitor<const StoredVersion&> offer);
  Result<std::int64_t> NextId();
  bool is_replicated() const { return replicated_ != nullptr && replicated_->is_on(); }
  // Of the versions from the cursor on, some.
  Status DropSomeOld(std::int64_t now_ms, std::int64_t most, std::int64_t& cursor);
  Status Delete(std::string_view ids);

  sql::Database& database_;
  SqliteVectors& vectors_;
  const Replicated* replicated_;
  std::optional<HistoryRules> rules_;
  std::string actor_;
  bool is_single_ = false;
  std::int64_t operation_ = 0;  // that runs, 0 before its first version
  std::int64_t last_id_ = 0;
  std::optional<bool> has_vectors_;
  std::int64_t next_to_look_at_ = 0;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_SQLITE_HISTORY_H_
