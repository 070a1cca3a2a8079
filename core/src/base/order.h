// Sorting by index: one instance of the sort for all that is sorted, which is small,
// where one for each type would be tens of kilobytes.
#ifndef KEEPSAKE_BASE_ORDER_H_
#define KEEPSAKE_BASE_ORDER_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "keepsake/function_ref.h"

namespace keepsake {

// Whether the item with the first index comes before the one with the second.
using Before = FunctionRef<bool(std::size_t, std::size_t)>;

// 0 … count − 1 in their order; what is equal stays as it was.
std::vector<std::size_t> OrderOf(std::size_t count, const Before& before);

// The elements of `from` in this order.
template <typename T>
std::vector<T> InOrder(std::vector<T>& from, const std::vector<std::size_t>& order) {
  std::vector<T> sorted;
  sorted.reserve(order.size());
  for (const std::size_t index : order) sorted.push_back(std::move(from[index]));
  return sorted;
}

}  // namespace keepsake

#endif  // KEEPSAKE_BASE_ORDER_H_
