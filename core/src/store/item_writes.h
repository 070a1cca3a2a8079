// The rules by which items are written, once for every table: what is noted for history, and
// what else changes with an item.
#ifndef KEEPSAKE_STORE_ITEM_WRITES_H_
#define KEEPSAKE_STORE_ITEM_WRITES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "keepsake/status.h"
#include "store/checked_batch.h"
#include "store/item_table.h"
#include "store/versions.h"

namespace keepsake {

// Restarts the TTLs of `refreshed` that have one, then puts and deletes.
Status WriteBatch(ItemTable& table, const CheckedBatch& batch,
                  std::span<const std::int64_t> refreshed);

// Says how many items there were.
Result<std::uint64_t> DeleteNamespace(ItemTable& table, std::string_view encoded_ns,
                                      std::int64_t now_ms);
// Deletes expired items, at most `max_items`, and versions that are too old; says how many items.
Result<std::uint64_t> SweepExpired(ItemTable& table, std::uint32_t max_items, std::int64_t now_ms);

// What an erasure writes.
struct ItemErasure {
  ItemIds ids;
  std::vector<std::int64_t> marks;  // of these items, if one may have superseded another
  std::vector<std::int64_t> versions;
  std::vector<StoredVersion> put_back;  // some of these items, as they were before these versions
  std::vector<ReopenedItem> reopened;   // what one of these items superseded
};
// Deletes items, and whatever was made of them or of others that went before; and versions.
// `dims` is the length of the index's vectors.
Status EraseItems(ItemTable& table, ItemErasure erasure, std::size_t dims, std::int64_t now_ms);

// Makes items again what they were before these versions, the last one first. That leaves
// versions, too: of the operation that it answers.
Result<std::int64_t> PutBack(ItemTable& table, std::vector<StoredVersion> versions,
                             std::size_t dims, std::int64_t now_ms);

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_ITEM_WRITES_H_
