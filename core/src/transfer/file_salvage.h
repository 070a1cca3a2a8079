// What can still be read of a damaged file, as rows of a new database.
#ifndef KEEPSAKE_TRANSFER_FILE_SALVAGE_H_
#define KEEPSAKE_TRANSFER_FILE_SALVAGE_H_

#include <cstdint>
#include <vector>

#include "keepsake/checkpointer.h"
#include "keepsake/database.h"
#include "keepsake/status.h"
#include "keepsake/store.h"

namespace keepsake::transfer {

// Names of what is lost are listed up to this many of a kind.
inline constexpr std::size_t kMostLostNames = 10'000;

struct Salvage {
  std::uint64_t items = 0;  // that are here now, as are the next three
  std::uint64_t vectors = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t writes = 0;
  std::vector<sql::DamagedPage> damaged;  // pages that held something
  // Whose name is in an index, and whose value is lost.
  std::uint64_t lost_item_count = 0;
  std::vector<ItemRef> lost_items;
  // Of which a part is lost, so that none of it was kept.
  std::uint64_t lost_checkpoint_count = 0;
  std::vector<CheckpointKey> lost_checkpoints;
};

// Copies the rows of the file at `source` that can be read, in one transaction. The file stays
// as it is. Versions of an item that are older than a lost one are left out, and where nothing
// is left of an item, the history begins at `now_ms`: a wrong answer is worse than none.
// kInvalidArgument unless `target` is new, kForeignFile if the file has no table of
// ours.
Result<Salvage> SalvageRows(sql::Database& target, const sql::OpenOptions& source,
                            std::int64_t now_ms);

// Drops the checkpoints that can't be read from what was salvaged, and counts what is left.
// `saver` must be started anew afterwards.
Status DropUnreadable(sql::Database& target, Checkpointer& saver, Salvage& salvage);

}  // namespace keepsake::transfer

#endif  // KEEPSAKE_TRANSFER_FILE_SALVAGE_H_
