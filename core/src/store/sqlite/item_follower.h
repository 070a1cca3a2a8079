// An ItemFollower keeps what a SqliteStore makes of its items beside their rows: texts, vectors,
// columns of fields.
#ifndef KEEPSAKE_STORE_SQLITE_ITEM_FOLLOWER_H_
#define KEEPSAKE_STORE_SQLITE_ITEM_FOLLOWER_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "keepsake/operation.h"
#include "keepsake/status.h"

namespace keepsake {

// An item that was put. Borrowed until its transaction has ended.
struct FollowedItem {
  std::int64_t id;
  std::string_view encoded_ns;
  std::string_view value;
  std::span<const FieldVector> vectors;
  std::span<const std::string> awaited;  // as PathsToAwait(); borrowed for the call alone
};

class ItemFollower {
 public:
  // Each within the transaction that writes or deletes the items.
  virtual Status Put(const FollowedItem&) { return {}; }
  virtual Status Remove(std::span<const std::int64_t>) { return {}; }
  // Gives up what is made of many items, and may hold something of those that are forgotten.
  virtual Status Clear() { return {}; }
  // When such a transaction has ended: if it was not committed, it was undone.
  virtual Status EndTransaction(bool committed) = 0;

 protected:
  ~ItemFollower() = default;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_ITEM_FOLLOWER_H_
