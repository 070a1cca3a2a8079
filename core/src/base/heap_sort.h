// Sorts in place. Half as fast as std::sort and a tenth of its code, of which each type
// that is sorted gets a copy: for what is sorted once, or is short.
#ifndef KEEPSAKE_BASE_HEAP_SORT_H_
#define KEEPSAKE_BASE_HEAP_SORT_H_

#include <algorithm>

namespace keepsake {

template <typename Range, typename Before>
void HeapSort(Range& range, Before before) {
  std::make_heap(range.begin(), range.end(), before);
  std::sort_heap(range.begin(), range.end(), before);
}

}  // namespace keepsake

#endif  // KEEPSAKE_BASE_HEAP_SORT_H_
