#include "checkpoint/retention.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "base/heap_sort.h"

namespace keepsake::checkpoint {
namespace {

// Checkpoints older than version 4 find their pending sends among the parent's
// writes to this channel, which newer ones list among their own channels.
constexpr std::string_view kPendingSends = "__pregel_tasks";

using Index = std::ptrdiff_t;
constexpr Index kNone = -1;

// What matters about one channel, as indexes of nodes.
struct ChannelUse {
  std::vector<Index> with_value;
  std::vector<Index> written;
  std::vector<Index> wanting;  // survivors with a version and no value
};

class Retention {
 public:
  explicit Retention(std::vector<RetentionNode>& nodes)
      : nodes_(nodes), parents_(nodes.size(), kNone), steps_(nodes.size()) {}

  void Run() {
    LinkParents();
    for (auto& [channel, use] : CollectUses()) SpareFor(use);
    SparePendingSends();
  }

 private:
  struct Step {
    bool has_value = false;
    bool written = false;
    enum : std::uint8_t { kUnknown, kOnPath, kKnown } state = kUnknown;
    bool spared = false;
    // Of the way from here to the nearest node with a value, or to the root:
    Index seed = kNone;  // that node
    Index farthest_write = kNone;
  };

  void LinkParents() {
    std::unordered_map<std::string_view, Index> by_id;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      by_id.emplace(nodes_[i].checkpoint_id, static_cast<Index>(i));
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto parent = by_id.find(nodes_[i].parent_checkpoint_id);
      if (parent != by_id.end()) parents_[i] = parent->second;
    }
  }

  std::unordered_map<std::string_view, ChannelUse> CollectUses() const {
    std::unordered_map<std::string_view, ChannelUse> uses;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto index = static_cast<Index>(i);
      for (const std::string& channel : nodes_[i].valued_channels) {
        uses[channel].with_value.push_back(index);
      }
      for (const std::string& channel : nodes_[i].empty_channels) {
        if (!nodes_[i].doomed) uses[channel].wanting.push_back(index);
      }
      for (const std::string& channel : nodes_[i].written_channels) {
        uses[channel].written.push_back(index);
      }
    }
    return uses;
  }

  void SpareFor(const ChannelUse& use) {
    if (use.wanting.empty() || use.written.empty()) return;
    steps_.assign(nodes_.size(), {});
    for (const Index i : use.with_value) step(i).has_value = true;
    for (const Index i : use.written) step(i).written = true;
    for (const Index i : use.wanting) {
      const Index first = parent(i);
      if (first == kNone) continue;
      Explore(first);
      SpareWay(first);
    }
  }

  // Fills in the steps from `first` on, each node once for all walks.
  void Explore(Index first) {
    std::vector<Index> path;
    Index at = first;
    while (at != kNone && step(at).state == Step::kUnknown) {
      step(at).state = Step::kOnPath;
      path.push_back(at);
      at = step(at).has_value ? kNone : parent(at);
    }
    const bool joins_known = at != kNone && step(at).state == Step::kKnown;
    Step beyond = joins_known ? step(at) : Step();
    for (auto i = path.rbegin(); i != path.rend(); ++i) {
      Step& here = step(*i);
      here.state = Step::kKnown;
      here.seed = here.has_value ? *i : beyond.seed;
      here.farthest_write = beyond.farthest_write;
      if (here.farthest_write == kNone && here.written) here.farthest_write = *i;
      beyond = here;
    }
  }

  void SpareWay(Index first) {
    const Step& begin = step(first);
    if (begin.farthest_write == kNone) return;
    const Index last = begin.seed != kNone ? begin.seed : begin.farthest_write;
    for (Index at = first; at != kNone && !step(at).spared; at = parent(at)) {
      step(at).spared = true;
      nodes_[static_cast<std::size_t>(at)].doomed = false;
      if (at == last) return;
    }
  }

  void SparePendingSends() {
    std::vector<Index> needed;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].doomed || parents_[i] == kNone || ListsPendingSends(nodes_[i])) continue;
      if (WritesPendingSends(nodes_[static_cast<std::size_t>(parents_[i])])) {
        needed.push_back(parents_[i]);
      }
    }
    for (const Index i : needed) nodes_[static_cast<std::size_t>(i)].doomed = false;
  }

  static bool Contains(const std::vector<std::string>& channels) {
    return std::ranges::find(channels, kPendingSends) != channels.end();
  }

  static bool ListsPendingSends(const RetentionNode& node) {
    return Contains(node.valued_channels) || Contains(node.empty_channels);
  }

  static bool WritesPendingSends(const RetentionNode& node) {
    return Contains(node.written_channels);
  }

  Step& step(Index i) { return steps_[static_cast<std::size_t>(i)]; }
  Index parent(Index i) const { return parents_[static_cast<std::size_t>(i)]; }

  std::vector<RetentionNode>& nodes_;
  std::vector<Index> parents_;
  std::vector<Step> steps_;  // of the channel in hand
};

}  // namespace

void SpareNeededAncestors(std::vector<RetentionNode>& nodes) { Retention(nodes).Run(); }

void DoomByRules(const RetentionRules& rules, std::vector<RetentionNode>& nodes) {
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const bool beyond_last = rules.keep_last > 0 && nodes.size() - i > rules.keep_last;
    nodes[i].doomed = beyond_last || nodes[i].checkpoint_id < rules.older_than;
  }
}

bool IsOfOneRun(std::string_view checkpoint_ns) { return checkpoint_ns.contains(':'); }

std::vector<std::string> AgeBounds(std::vector<std::string> ids) {
  constexpr std::size_t kSteps = 10;
  HeapSort(ids, std::less());
  std::vector<std::string> bounds;
  for (std::size_t step = 1; step <= kSteps && !ids.empty(); ++step) {
    const std::size_t end = (ids.size() * step + kSteps - 1) / kSteps;
    // No text lies between a text and the same with a NUL after it.
    std::string bound = ids[end - 1] + '\0';
    if (bounds.empty() || bounds.back() != bound) bounds.push_back(std::move(bound));
  }
  return bounds;
}

}  // namespace keepsake::checkpoint
