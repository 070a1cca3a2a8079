// The pending writes of one task for one checkpoint: a row.
//   writes := write*
//   write  := varint(zigzag(idx)) text(channel) text(task_path) value     (stored_values.h)
// Persistent.
#ifndef KEEPSAKE_CHECKPOINT_STORED_WRITES_H_
#define KEEPSAKE_CHECKPOINT_STORED_WRITES_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/checkpointer.h"
#include "keepsake/status.h"

namespace keepsake::checkpoint {

struct StoredWrite {
  std::int32_t idx = 0;
  std::string_view channel;
  std::string_view task_path;
  ByteView value;
};

// Views of `row`. kCorrupt if it is not the layout above.
Result<std::vector<StoredWrite>> DecodeWrites(ByteView row);
Bytes EncodeWrites(std::span<const StoredWrite> writes);

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_STORED_WRITES_H_
