#include <string>
#include <utility>

#include "keepsake/scope.h"

namespace keepsake {
namespace {

constexpr std::string_view kReadOnly =
    "memory access denied: threads may not be written: the policy is read only";

}  // namespace

Status ScopedCheckpointer::MayWrite() const {
  return scope_.is_read_only() ? Status(StatusCode::kAccessDenied, kReadOnly) : Status();
}

std::string ScopedCheckpointer::Enter(const std::string& thread_id) const {
  return thread_id.empty() ? thread_id : scope_.thread_prefix() + thread_id;
}

CheckpointKey ScopedCheckpointer::Enter(const CheckpointKey& key) const {
  return {Enter(key.thread_id), key.checkpoint_ns, key.checkpoint_id};
}

void ScopedCheckpointer::Leave(std::string& thread_id) const {
  if (thread_id.starts_with(scope_.thread_prefix())) {
    thread_id.erase(0, scope_.thread_prefix().size());
  }
}

Status ScopedCheckpointer::Put(const NewCheckpoint& checkpoint) {
  if (Status status = MayWrite(); !status.ok()) return status;
  NewCheckpoint entered = checkpoint;
  entered.key = Enter(checkpoint.key);
  return saver_.Put(entered);
}

Status ScopedCheckpointer::PutWrites(const CheckpointKey& key,
                                     std::span<const PendingWrite> writes) {
  if (Status status = MayWrite(); !status.ok()) return status;
  return saver_.PutWrites(Enter(key), writes);
}

Result<std::optional<CheckpointTuple>> ScopedCheckpointer::GetTuple(const CheckpointKey& key) {
  auto tuple = saver_.GetTuple(Enter(key));
  if (tuple && *tuple) Leave((*tuple)->key.thread_id);
  return tuple;
}

Result<std::vector<CheckpointTuple>> ScopedCheckpointer::List(const ListCheckpoints& list) {
  ListCheckpoints entered = list;
  if (entered.thread_id) entered.thread_id = Enter(*entered.thread_id);
  if (entered.cursor) entered.cursor = Enter(*entered.cursor);
  entered.thread_prefix = scope_.thread_prefix() + list.thread_prefix;
  auto tuples = saver_.List(entered);
  if (!tuples) return tuples;
  for (CheckpointTuple& tuple : *tuples) Leave(tuple.key.thread_id);
  return tuples;
}

Result<std::vector<PendingWrite>> ScopedCheckpointer::Writes(const CheckpointKey& key,
                                                             const std::string& channel) {
  return saver_.Writes(Enter(key), channel);
}

Result<std::vector<DeltaChannelHistory>> ScopedCheckpointer::GetDeltaChannelHistory(
    const CheckpointKey& key, std::span<const std::string> channels) {
  return saver_.GetDeltaChannelHistory(Enter(key), channels);
}

Status ScopedCheckpointer::DeleteThread(const std::string& thread_id) {
  if (Status status = MayWrite(); !status.ok()) return status;
  return saver_.DeleteThread(Enter(thread_id));
}

Status ScopedCheckpointer::CopyThread(const std::string& source, const std::string& target) {
  if (Status status = MayWrite(); !status.ok()) return status;
  return saver_.CopyThread(Enter(source), Enter(target));
}

Result<std::uint64_t> ScopedCheckpointer::DeleteForRuns(std::span<const std::string> run_ids,
                                                        const std::string& thread_prefix) {
  if (Status status = MayWrite(); !status.ok()) return std::unexpected(std::move(status));
  return saver_.DeleteForRuns(run_ids, scope_.thread_prefix() + thread_prefix);
}

Result<Pruned> ScopedCheckpointer::Prune(const RetentionRules& rules) {
  if (Status status = MayWrite(); !rules.dry_run && !status.ok()) {
    return std::unexpected(std::move(status));
  }
  RetentionRules entered = rules;
  if (entered.thread_ids) {
    for (std::string& thread_id : *entered.thread_ids) thread_id = Enter(thread_id);
  }
  entered.thread_prefix = scope_.thread_prefix() + rules.thread_prefix;
  return saver_.Prune(entered);
}

Result<std::vector<ThreadInfo>> ScopedCheckpointer::Threads(const ListThreads& list) {
  ListThreads entered = list;
  if (entered.cursor) entered.cursor->thread_id = Enter(entered.cursor->thread_id);
  entered.thread_prefix = scope_.thread_prefix() + list.thread_prefix;
  auto threads = saver_.Threads(entered);
  if (!threads) return threads;
  for (ThreadInfo& thread : *threads) Leave(thread.thread_id);
  return threads;
}

Status ScopedCheckpointer::RenameThread(const std::string& source, const std::string& target) {
  if (Status status = MayWrite(); !status.ok()) return status;
  return saver_.RenameThread(Enter(source), Enter(target));
}

Status ScopedCheckpointer::ForkThread(const std::string& source, const std::string& checkpoint_id,
                                      const std::string& target) {
  if (Status status = MayWrite(); !status.ok()) return status;
  return saver_.ForkThread(Enter(source), checkpoint_id, Enter(target));
}

Result<CheckpointerStats> ScopedCheckpointer::Stats() {
  return Error(StatusCode::kAccessDenied,
               "memory access denied: statistics are of the whole memory: ask it, not a scope");
}

}  // namespace keepsake
