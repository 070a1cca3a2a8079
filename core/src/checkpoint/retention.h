// Which checkpoints may go without taking away what others are rebuilt from.
//
// A delta channel has a version but no value in most checkpoints; its value is
// that of the nearest ancestor which has one, and the writes to it from there
// on. A survivor therefore keeps, for each such channel, its ancestors up to
// that one. If none of them has writes to the channel, then it is no delta
// channel but one that was emptied (LangGraph's "branch:to:x" and "__start__"
// are, after each step), and it needs nothing: otherwise a routine prune would
// keep a thread back to the last time that each branch was taken.
//
// Deleting for runs follows the same rule, so that a checkpoint of a deleted run
// may stay: emptying the state of runs that were not to be deleted is worse.
// A spared ancestor is kept for its descendants' sake only; its own delta
// channels may lack theirs.
#ifndef KEEPSAKE_CHECKPOINT_RETENTION_H_
#define KEEPSAKE_CHECKPOINT_RETENTION_H_

#include <string>
#include <string_view>
#include <vector>

#include "keepsake/checkpointer.h"

namespace keepsake::checkpoint {

struct RetentionNode {
  std::string checkpoint_id;
  std::string parent_checkpoint_id;
  std::vector<std::string> valued_channels;
  std::vector<std::string> empty_channels;  // a version, but no value
  std::vector<std::string> written_channels;
  bool doomed = false;
};

// Takes `doomed` from the nodes that a node which is not doomed is rebuilt
// from. `nodes` are all of one thread and namespace. Chains of parents may be
// broken or run in circles.
void SpareNeededAncestors(std::vector<RetentionNode>& nodes);

// Dooms what `rules` let go, but not the newest. `nodes` are all of one thread and
// namespace, by checkpoint_id. Of the rules only keep_last and older_than count.
void DoomByRules(const RetentionRules& rules, std::vector<RetentionNode>& nodes);

// Whether a namespace belongs to one run of a subgraph: "node:id", "a|node:id".
bool IsOfOneRun(std::string_view checkpoint_ns);

// How max_bytes is met: `ids` (of all checkpoints but the newest of their
// namespace) in order, tenth by tenth, are the older_than to prune by. The last
// bound is greater than all of them.
std::vector<std::string> AgeBounds(std::vector<std::string> ids);

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_RETENTION_H_
