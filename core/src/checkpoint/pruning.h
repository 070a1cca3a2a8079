// Deletes checkpoints from the database, and the content that only they had.
// A chunk of content is freed only after all rows of every space which uses its
// log were gone through (mark and sweep), so that what is shared stays.
#ifndef KEEPSAKE_CHECKPOINT_PRUNING_H_
#define KEEPSAKE_CHECKPOINT_PRUNING_H_

#include <set>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/metadata.h"
#include "checkpoint/records.h"
#include "checkpoint/retention.h"
#include "checkpoint/spaces.h"
#include "checkpoint/stored_values.h"
#include "keepsake/database.h"
#include "keepsake/function_ref.h"

namespace keepsake::checkpoint {

// REQUIRES: every method is called within one transaction, Finish() as the last.
class Pruning {
 public:
  Pruning(sql::Database& database, Spaces& spaces, StoredValues& values, Records& records)
      : database_(database), spaces_(spaces), values_(values), records_(records) {}

  Status EraseThread(std::string_view thread_id);
  Status KeepLatest(std::string_view thread_id);
  Status DeleteForRuns(const RunIds& runs);
  Status ByRules(const RetentionRules& rules);

  // Frees the content. Once for all that was deleted, since it goes through what is left.
  Status Finish();

  // What went so far.
  const Pruned& pruned() const { return pruned_; }

 private:
  Status PruneThread(std::string_view thread_id, const RetentionRules& rules);
  Status ShrinkTo(std::uint64_t max_bytes, std::span<const std::string> thread_ids);
  Status AddLogsOf(std::string_view thread_id, std::set<LogId>& logs);
  Status AddLogsOf(SpaceId space, std::set<LogId>& logs);
  Status CollectPrunable(std::string_view thread_id, std::vector<std::string>& ids);
  // Deletes what `doom` dooms and nothing else is rebuilt from.
  using Doom = FunctionRef<void(std::vector<RetentionNode>&)>;
  Status DeleteDoomed(SpaceId space, const Doom& doom);
  Status Erase(std::span<const SpaceId> spaces);
  Status DeleteCheckpoint(SpaceId space, std::string_view checkpoint_id);
  Result<std::vector<RetentionNode>> ReadNodes(SpaceId space);
  Status ReadWrittenChannels(SpaceId space, std::vector<RetentionNode>& nodes);
  Result<std::string> OldestId(SpaceId space);
  Result<std::string> NewestId(SpaceId space);
  Result<std::string> IdBy(std::string_view sql, SpaceId space);
  Status MarkAll(SpaceId space, Marks& marks);
  Result<std::uint64_t> Sum(std::string_view sql, std::initializer_list<sql::Param> params);

  sql::Database& database_;
  Spaces& spaces_;
  StoredValues& values_;
  Records& records_;
  std::set<LogId> touched_;  // of which something may have become free
  Pruned pruned_;
};

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_PRUNING_H_
