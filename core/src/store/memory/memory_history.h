// The versions of an InMemoryStore, which reads items for it.
#ifndef KEEPSAKE_STORE_MEMORY_MEMORY_HISTORY_H_
#define KEEPSAKE_STORE_MEMORY_MEMORY_HISTORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "store/versions.h"

namespace keepsake {

class MemoryHistory final : public HistoryTable {
 public:
  // What follows is one operation.
  void Begin(std::string_view actor);
  // Null where no history is kept, and nothing need be recorded.
  const HistoryRule* RuleFor(std::string_view encoded_ns) const { return rules_.Find(encoded_ns); }
  // An item that is about to be changed, as it is.
  void Record(Change change, const ItemName& name, std::optional<ItemState> before,
              std::int64_t at_ms);
  // Says which operation it was, 0 for none.
  std::int64_t End();
  void DropOld(std::int64_t now_ms);
  void Erase(std::span<const std::int64_t> ids);

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

  HistoryRules rules_;
  std::map<std::int64_t, StoredVersion> versions_;
  std::map<ItemName, Numbers> items_;
  std::string actor_;
  std::int64_t operation_ = 0;
  std::int64_t last_id_ = 0;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_MEMORY_MEMORY_HISTORY_H_
