// Deletes checkpoints from the database, and the content that only they had.
// A chunk of content is freed only after all rows of every namespace which uses its
// log were gone through (mark and sweep), so that what is shared stays.
#ifndef KEEPSAKE_CHECKPOINT_PRUNING_H_
#define KEEPSAKE_CHECKPOINT_PRUNING_H_

#include <set>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/metadata.h"
#include "checkpoint/retention.h"
#include "checkpoint/stored_checkpoints.h"
#include "checkpoint/stored_values.h"
#include "checkpoint/thread_namespaces.h"
#include "keepsake/database.h"
#include "keepsake/function_ref.h"

namespace keepsake::checkpoint {

// REQUIRES: every method is called within one transaction, Finish() as the last.
class Pruning {
 public:
  Pruning(sql::Database& database, ThreadNamespaces& namespaces, StoredValues& values,
          StoredCheckpoints& records)
      : database_(database), namespaces_(namespaces), values_(values), checkpoints_(records) {}

  Status EraseThread(std::string_view thread_id);
  // Of threads that begin with `thread_prefix`, as Scope has it.
  Status DeleteForRuns(const RunIds& runs, const std::string& thread_prefix);
  // REQUIRES: the rules are valid.
  Status ByRules(const RetentionRules& rules);

  // Frees the content. Once for all that was deleted, since it goes through what is left.
  // `overwrite`: as RetentionRules has it.
  Status Finish(bool overwrite = false);

  // What went so far.
  const Pruned& pruned() const { return pruned_; }

 private:
  Status ByStrategy(std::span<const std::string> thread_ids, PruneStrategy strategy);
  Status KeepLatest(std::string_view thread_id);
  Status PruneThread(std::string_view thread_id, const RetentionRules& rules);
  Status ShrinkTo(std::uint64_t max_bytes, std::span<const std::string> thread_ids);
  Status AddLogsOf(std::string_view thread_id, std::set<LogId>& logs);
  Status AddLogsOf(NamespaceId ns, std::set<LogId>& logs);
  Status CollectPrunable(std::string_view thread_id, std::vector<std::string>& ids);
  // Deletes what `doom` dooms and nothing else is rebuilt from.
  using Doom = FunctionRef<void(std::vector<RetentionNode>&)>;
  Status DeleteDoomed(NamespaceId ns, const Doom& doom);
  Status Erase(std::span<const NamespaceId> namespaces);
  Status DeleteCheckpoint(NamespaceId ns, std::string_view checkpoint_id);
  Result<std::vector<RetentionNode>> ReadNodes(NamespaceId ns);
  Status ReadWrittenChannels(NamespaceId ns, std::vector<RetentionNode>& nodes);
  Result<std::string> OldestId(NamespaceId ns);
  Result<std::string> NewestId(NamespaceId ns);
  Result<std::string> IdBy(std::string_view sql, NamespaceId ns);
  Status MarkAll(NamespaceId ns, Marks& marks);
  Result<std::uint64_t> Sum(std::string_view sql, std::initializer_list<sql::Param> params);

  sql::Database& database_;
  ThreadNamespaces& namespaces_;
  StoredValues& values_;
  StoredCheckpoints& checkpoints_;
  std::set<LogId> touched_;  // of which something may have become free
  Pruned pruned_;
};

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_PRUNING_H_
