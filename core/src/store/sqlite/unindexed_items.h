// The items without a vector, which a search by vector gives last and unscored: few in most
// stores. Of many it only knows that they are many. May name items that are gone.
#ifndef KEEPSAKE_STORE_SQLITE_UNINDEXED_ITEMS_H_
#define KEEPSAKE_STORE_SQLITE_UNINDEXED_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

namespace keepsake {

class UnindexedItems {
 public:
  static constexpr std::size_t kMost = 4096;

  void Add(std::int64_t item_id) {
    if (are_many_) return;
    ids_.insert(item_id);
    if (ids_.size() > kMost) {
      are_many_ = true;
      ids_.clear();
    }
  }
  void Remove(std::int64_t item_id) { ids_.erase(item_id); }
  // To those that a look at the rows has found.
  void Shrink(std::set<std::int64_t> found) { ids_ = std::move(found); }

  bool are_many() const { return are_many_; }
  // More than kMost if they are many.
  std::size_t size() const { return are_many_ ? kMost + 1 : ids_.size(); }
  const std::set<std::int64_t>& ids() const { return ids_; }

 private:
  bool are_many_ = false;
  std::set<std::int64_t> ids_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_UNINDEXED_ITEMS_H_
