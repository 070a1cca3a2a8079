// Pending writes are replayed in the order in which live execution applies
// them: by task_path, task_id and idx, texts by code point. Bytes of UTF-8
// compare as code points do, so that a plain comparison of bytes is right.
#ifndef KEEPSAKE_CHECKPOINT_WRITE_ORDER_H_
#define KEEPSAKE_CHECKPOINT_WRITE_ORDER_H_

#include <algorithm>
#include <tuple>
#include <vector>

#include "keepsake/checkpointer.h"

namespace keepsake::checkpoint {

inline void SortWrites(std::vector<PendingWrite>& writes) {
  std::ranges::sort(writes, {}, [](const PendingWrite& write) {
    return std::tie(write.task_path, write.task_id, write.idx);
  });
}

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_WRITE_ORDER_H_
