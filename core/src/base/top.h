// Keeps the first `capacity` of all values pushed, by an order in which no two are
// equal. Memory grows with what is kept, not with the capacity.
#ifndef KEEPSAKE_BASE_TOP_H_
#define KEEPSAKE_BASE_TOP_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace keepsake {

// Before(a, b): a comes before b.
template <typename T, typename Before>
class Top {
 public:
  explicit Top(std::uint64_t capacity, Before before = {}) : capacity_(capacity), before_(before) {}

  void Push(const T& value) {
    if (heap_.size() < capacity_) {
      heap_.push_back(value);
      std::push_heap(heap_.begin(), heap_.end(), before_);
    } else if (capacity_ > 0 && before_(value, heap_.front())) {
      // The heap's front is the last of those kept.
      std::pop_heap(heap_.begin(), heap_.end(), before_);
      heap_.back() = value;
      std::push_heap(heap_.begin(), heap_.end(), before_);
    }
  }

  std::vector<T> TakeSorted() {
    std::sort_heap(heap_.begin(), heap_.end(), before_);
    return std::move(heap_);
  }

 private:
  std::uint64_t capacity_;
  [[no_unique_address]] Before before_;
  std::vector<T> heap_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_BASE_TOP_H_
