// Where each channel of a new checkpoint has its value from.
#ifndef KEEPSAKE_CHECKPOINT_CHANNEL_PLAN_H_
#define KEEPSAKE_CHECKPOINT_CHANNEL_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "keepsake/checkpointer.h"

namespace keepsake::checkpoint {

enum class ValueSource : std::uint8_t {
  kNone,     // it has none
  kBrought,  // `index` is that of NewCheckpoint::values
  kParent,   // `index` is that of the parent's channels
  kSought,   // any other checkpoint's value of this version
};

struct ChannelPlan {
  ValueSource source = ValueSource::kNone;
  std::size_t index = 0;
};

struct ParentChannel {
  std::string_view channel;
  std::string_view version;
};

// A channel that has no value in the parent may have had one before: a delta channel has
// one every so often. What it had last is sought in so many ancestors of the parent.
inline constexpr int kMostAncestors = 1024;

// One plan for each of the checkpoint's channel_versions.
// REQUIRES: ValidateNewCheckpoint(checkpoint).
std::vector<ChannelPlan> PlanChannels(const NewCheckpoint& checkpoint,
                                      std::span<const ParentChannel> parent);

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_CHANNEL_PLAN_H_
