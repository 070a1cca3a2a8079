// The versions of an InMemoryStore.
#ifndef KEEPSAKE_STORE_MEMORY_MEMORY_HISTORY_H_
#define KEEPSAKE_STORE_MEMORY_MEMORY_HISTORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "store/item_table.h"
#include "store/versions.h"

namespace keepsake {

class MemoryHistory final : public HistoryTable {
 public:
  // The items are borrowed.
  explicit MemoryHistory(ItemTable& items) : table_(items) {}

  // What follows is one operation.
  void Begin(std::string_view actor);
  // Says which operation it was, 0 for none.
  std::int64_t End();

  Status Record(const HistoryRule& rule, Change change, std::string_view encoded_ns,
                std::string_view key, std::int64_t at_ms) override;
  Status Erase(std::span<const std::int64_t> ids) override;
  Status DropOld(std::int64_t now_ms) override;
  Result<const HistoryRules*> Rules() override { return &rules_; }
  Status PutRule(const HistoryRule& rule) override;
  Status DropRule(std::string_view encoded_ns) override;
  Status ReadVersions(const ItemName& name, Visitor<const StoredVersion&> offer) override;
  Status ReadFrom(std::int64_t id, Visitor<const StoredVersion&> offer) override;
  Result<std::optional<StoredVersion>> ReadVersion(std::int64_t id) override;
  Status ReadChangesAfter(std::string_view encoded_prefix, std::int64_t at_ms,
                          Visitor<const StoredVersion&> offer) override;
  Status ReadTraces(std::string_view encoded_prefix, Visitor<const VersionTrace&> offer) override;

 private:
  using Numbers = std::map<std::int64_t, std::int64_t>;  // ids by number

  ItemTable& table_;
  HistoryRules rules_;
  std::map<std::int64_t, StoredVersion> versions_;
  std::map<ItemName, Numbers> items_;
  std::string actor_;
  std::int64_t operation_ = 0;
  std::int64_t last_id_ = 0;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_MEMORY_MEMORY_HISTORY_H_
