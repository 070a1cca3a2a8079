#include "base/order.h"

#include <algorithm>
#include <numeric>

namespace keepsake {

std::vector<std::size_t> OrderOf(std::size_t count, const Before& before) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  SortStable(order, before);
  return order;
}

void SortStable(std::vector<std::size_t>& indexes, const Before& before) {
  std::stable_sort(indexes.begin(), indexes.end(), before);
}

}  // namespace keepsake
