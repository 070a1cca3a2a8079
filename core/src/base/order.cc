#include "base/order.h"

#include <numeric>

#include "base/heap_sort.h"

namespace keepsake {

std::vector<std::size_t> OrderOf(std::size_t count, const Before& before) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  HeapSort(order,
           [&](std::size_t a, std::size_t b) { return before(a, b) || (a < b && !before(b, a)); });
  return order;
}

}  // namespace keepsake
