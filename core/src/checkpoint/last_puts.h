// What was put last, in memory, so that the next put need not read it: mostly it is the
// child of that. Nothing tells when it is undone or replaced, so that who uses it must
// have the database compare it with what is stored, in the statement that writes.
#ifndef KEEPSAKE_CHECKPOINT_LAST_PUTS_H_
#define KEEPSAKE_CHECKPOINT_LAST_PUTS_H_

#include <list>
#include <optional>
#include <string_view>
#include <vector>

#include "checkpoint/content_logs.h"
#include "checkpoint/stored_checkpoints.h"
#include "keepsake/bytes.h"
#include "keepsake/checkpointer.h"
#include "keepsake/status.h"

namespace keepsake::checkpoint {

// The checkpoint whose channels a new one has, or resembles.
struct Relative {
  bool is_parent = false;
  Bytes row;  // empty: there is none
  std::optional<StoredCheckpoint> record;
  std::vector<StoredChannel> channels;

  // Empty if the channel is not there, or has none.
  ByteView ValueOf(std::string_view channel) const;
};

struct LastPut {
  CheckpointKey key;
  NamespaceId ns = 0;
  Relative relative;
};

class LastPuts {
 public:
  // The last put of its namespace, if it is the parent of `next`; it is forgotten.
  std::optional<LastPut> Take(const NewCheckpoint& next);
  // `record` is what `row` tells. kCorrupt if it is none.
  Status Keep(const CheckpointKey& key, NamespaceId ns, Bytes row, Bytes record);

 private:
  std::list<LastPut> puts_;  // one of a namespace, the latest first
};

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_LAST_PUTS_H_
