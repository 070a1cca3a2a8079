// What is read from the versions of a store.
#ifndef KEEPSAKE_STORE_HISTORY_H_
#define KEEPSAKE_STORE_HISTORY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "keepsake/function_ref.h"
#include "keepsake/history.h"
#include "keepsake/status.h"
#include "keepsake/store.h"
#include "store/item_table.h"
#include "store/prefix_set.h"
#include "store/versions.h"

namespace keepsake {

// Of an item: versions from the newest to what was there before all of them. kNoHistory where
// none is kept.
Result<std::vector<Version>> ReadHistory(ItemTable& table, const ItemRef& item, std::uint32_t limit,
                                         std::int64_t now_ms);

// Items as they were then. kNoHistory if that is not known of all that is asked for.
Result<std::optional<StoredItem>> ReadItemAsOf(ItemTable& table, const ItemRef& item,
                                               std::int64_t at_ms, std::int64_t now_ms);
Result<std::vector<StoredItem>> ReadItemsAsOf(ItemTable& table, std::string_view encoded_prefix,
                                              std::int64_t at_ms, std::int64_t now_ms);

// The versions of an operation, those of items in these namespaces alone. kNotFound if there is no
// such operation, kNoHistory if a part of it is gone, kChangedSince as Undo::force says.
Result<std::vector<StoredVersion>> ReadUndo(ItemTable& table, Undo undo,
                                            FunctionRef<bool(const Namespace&)> concerned,
                                            std::int64_t now_ms);

// The newest version whose `before` does not come from there, if the item was something then, and
// would not have expired. An item that was nothing meanwhile has none.
Result<std::optional<StoredVersion>> FindBefore(ItemTable& table, const ItemName& name,
                                                const ProvenanceFilter& from, std::int64_t now_ms);

// What these items superseded, within these prefixes, unless they did so to each other. It
// holds again until its own end, as far as history tells of it, or until another superseded it,
// or superseded the one that goes. REQUIRES: an item that is no more has versions.
Result<std::vector<ReopenedItem>> FindReopened(ItemTable& table, std::span<const ItemName> going,
                                               const PrefixSet& within, std::int64_t now_ms);

// What erasing items takes of versions: their ids. A history of which one version is wanted goes
// as a whole.
struct ErasedVersions {
  std::vector<std::int64_t> ids;
  std::uint64_t bytes = 0;       // of keys and values
  std::vector<ItemName> gone{};  // items that are no more, if it is asked where they come from

  void Add(const ErasedVersions& others) {
    ids.insert(ids.end(), others.ids.begin(), others.ids.end());
    bytes += others.bytes;
  }
};
Status CollectVersions(ItemTable& table, std::string_view encoded_prefix, const Wanted& wanted,
                       ErasedVersions& erased);

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_HISTORY_H_
