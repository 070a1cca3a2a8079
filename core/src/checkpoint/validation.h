// What a checkpointer refuses, decided once for every implementation.
// Ids are checked before anything is read or written.
#ifndef KEEPSAKE_CHECKPOINT_VALIDATION_H_
#define KEEPSAKE_CHECKPOINT_VALIDATION_H_

#include <span>
#include <string>
#include <string_view>

#include "keepsake/checkpointer.h"
#include "keepsake/status.h"

namespace keepsake::checkpoint {

enum class EmptyId : bool { kRefused, kAllowed };

// kInvalidArgument naming `field` unless `id` is well-formed UTF-8 without NUL
// and of at most kMaxIdBytes.
Status ValidateId(std::string_view field, std::string_view id, EmptyId empty = EmptyId::kRefused);
// As ValidateId(), but kThreadIdRequired if it is empty.
Status ValidateThreadId(std::string_view thread_id);
Status ValidateKey(const CheckpointKey& key, EmptyId empty_checkpoint_id = EmptyId::kRefused);

Status ValidateNewCheckpoint(const NewCheckpoint& checkpoint);
Status ValidateWrites(std::span<const PendingWrite> writes);
Status ValidateCopy(std::string_view source, std::string_view target);
Status ValidateRules(const RetentionRules& rules);
// Why CopyThread() and RenameThread() refuse.
Status NoThread(std::string_view thread_id);
Status TargetNotEmpty(std::string_view target);
// Why Put() refuses a delta.
Status OtherBase(std::string_view channel);
// Why ForkThread() refuses.
Status NoCheckpoint(std::string_view thread_id, std::string_view checkpoint_id);
// All but the filter.
Status ValidateList(const ListCheckpoints& list);

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_VALIDATION_H_
