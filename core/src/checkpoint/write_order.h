// Pending writes are replayed in the order in which live execution applies
// them: by task_path, task_id and idx, texts by code point. Bytes of UTF-8
// compare as code points do, so that a plain comparison of bytes is right.
#ifndef KEEPSAKE_CHECKPOINT_WRITE_ORDER_H_
#define KEEPSAKE_CHECKPOINT_WRITE_ORDER_H_

#include <tuple>
#include <vector>

#include "base/heap_sort.h"
#include "keepsake/checkpointer.h"

namespace keepsake::checkpoint {

inline void SortWrites(std::vector<PendingWrite>& writes) {
  const auto key = [](const PendingWrite& write) {
    return std::tie(write.task_path, write.task_id, write.idx);
  };
  HeapSort(writes, [&](const PendingWrite& a, const PendingWrite& b) { return key(a) < key(b); });
}

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_WRITE_ORDER_H_
