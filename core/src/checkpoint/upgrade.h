// Takes over the checkpoints of schema version 1, where each value was a row.
#ifndef KEEPSAKE_CHECKPOINT_UPGRADE_H_
#define KEEPSAKE_CHECKPOINT_UPGRADE_H_

#include "keepsake/checkpointer.h"
#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake::checkpoint {

// Puts what the tables old_checkpoints, old_checkpoint_blobs and old_writes hold
// into `saver`, and drops them; does nothing if they are not there. One
// transaction: a file is never half upgraded.
Status UpgradeCheckpoints(sql::Database& database, Checkpointer& saver);

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_UPGRADE_H_
