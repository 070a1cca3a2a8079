#include "checkpoint/channel_plan.h"

#include <unordered_map>
#include <unordered_set>

namespace keepsake::checkpoint {

std::vector<ChannelPlan> PlanChannels(const NewCheckpoint& checkpoint,
                                      std::span<const ParentChannel> parent) {
  const std::unordered_set<std::string_view> is_new(checkpoint.new_versions.begin(),
                                                    checkpoint.new_versions.end());
  std::unordered_map<std::string_view, std::size_t> brought;
  for (std::size_t i = 0; i < checkpoint.values.size(); ++i) {
    brought.emplace(checkpoint.values[i].channel, i);
  }
  std::unordered_map<std::string_view, std::size_t> inherited;
  for (std::size_t i = 0; i < parent.size(); ++i) inherited.emplace(parent[i].channel, i);

  const auto plan = [&](const ChannelVersion& version) -> ChannelPlan {
    if (is_new.contains(version.channel)) {
      const auto value = brought.find(version.channel);
      if (value == brought.end()) return {};
      return {ValueSource::kBrought, value->second};
    }
    const auto same = inherited.find(version.channel);
    if (same != inherited.end() && parent[same->second].version == version.version) {
      return {ValueSource::kParent, same->second};
    }
    return {ValueSource::kSought};
  };

  std::vector<ChannelPlan> plans;
  plans.reserve(checkpoint.channel_versions.size());
  for (const ChannelVersion& version : checkpoint.channel_versions) {
    plans.push_back(plan(version));
  }
  return plans;
}

}  // namespace keepsake::checkpoint
