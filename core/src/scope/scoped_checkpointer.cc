#include <string>
#include <utility>

#include "checkpoint/validation.h"
#include "keepsake/scope.h"

namespace keepsake {
namespace {

template <typename T>
Result<T> Refused(Status status) {
  return std::unexpected(std::move(status));
}

std::uint64_t BytesOf(const CheckpointKey& key) {
  return key.thread_id.size() + key.checkpoint_ns.size() + key.checkpoint_id.size();
}

}  // namespace

Status ScopedCheckpointer::May(Access access,
                               std::initializer_list<std::string_view> thread_ids) const {
  Status status = scope_.CheckThreads(access);
  for (const std::string_view id : thread_ids) {
    if (status.ok()) status = checkpoint::ValidateThreadId(id);
    // Only that it is too long can be wrong with it now.
    if (status.ok()) status = checkpoint::ValidateThreadId(Enter(std::string(id)));
  }
  return status;
}

Status ScopedCheckpointer::MayGrow(std::uint64_t bytes) {
  return store_ == nullptr ? Status() : store_->Grow(bytes);
}

// Of a copy the rows are new, and its content is shared: as much as that of the source at most.
Status ScopedCheckpointer::MayCopy(const std::string& source, const std::string& target) {
  if (store_ == nullptr || !store_->has_quota()) return MayGrow(0);
  const Result<std::uint64_t> bytes = saver_.Measure(Enter(source), false);
  return bytes ? MayGrow(*bytes + target.size()) : bytes.error();
}

std::string ScopedCheckpointer::Enter(const std::string& thread_id) const {
  return thread_id.empty() ? thread_id : scope_.thread_prefix() + thread_id;
}

CheckpointKey ScopedCheckpointer::Enter(const CheckpointKey& key) const {
  return {Enter(key.thread_id), key.checkpoint_ns, key.checkpoint_id};
}

Status ScopedCheckpointer::LeaveCopy(Status status, std::string_view source,
                                     std::string_view checkpoint_id, std::string_view target) {
  if (status.code() == StatusCode::kInvalidArgument) return checkpoint::TargetNotEmpty(target);
  if (status.code() != StatusCode::kNotFound) return status;
  return checkpoint_id.empty() ? checkpoint::NoThread(source)
                               : checkpoint::NoCheckpoint(source, checkpoint_id);
}

void ScopedCheckpointer::Leave(std::string& thread_id) const {
  if (thread_id.starts_with(scope_.thread_prefix())) {
    thread_id.erase(0, scope_.thread_prefix().size());
  }
}

Status ScopedCheckpointer::Put(const NewCheckpoint& checkpoint) {
  if (Status status = May(Access::kWrite, {checkpoint.key.thread_id}); !status.ok()) return status;
  std::uint64_t bytes = BytesOf(checkpoint.key) + checkpoint.checkpoint.bytes.size() +
                        checkpoint.metadata.bytes.size();
  for (const NewValue& value : checkpoint.values) {
    bytes += value.channel.size() + value.version.size() + value.value.bytes.size();
  }
  if (Status status = MayGrow(bytes); !status.ok()) return status;
  NewCheckpoint entered = checkpoint;
  entered.key = Enter(checkpoint.key);
  return saver_.Put(entered);
}

Status ScopedCheckpointer::PutWrites(const CheckpointKey& key,
                                     std::span<const PendingWrite> writes) {
  if (Status status = May(Access::kWrite, {key.thread_id}); !status.ok()) return status;
  std::uint64_t bytes = BytesOf(key);
  for (const PendingWrite& write : writes) {
    bytes += write.task_id.size() + write.channel.size() + write.task_path.size() +
             write.value.bytes.size();
  }
  if (Status status = MayGrow(bytes); !status.ok()) return status;
  return saver_.PutWrites(Enter(key), writes);
}

Result<std::optional<CheckpointTuple>> ScopedCheckpointer::GetTuple(const CheckpointKey& key) {
  if (Status status = May(Access::kRead, {key.thread_id}); !status.ok()) {
    return Refused<std::optional<CheckpointTuple>>(std::move(status));
  }
  auto tuple = saver_.GetTuple(Enter(key));
  if (tuple && *tuple) Leave((*tuple)->key.thread_id);
  return tuple;
}

Result<std::vector<CheckpointTuple>> ScopedCheckpointer::List(const ListCheckpoints& list) {
  Status status = list.thread_id ? May(Access::kRead, {*list.thread_id}) : May(Access::kRead, {});
  if (!status.ok()) return Refused<std::vector<CheckpointTuple>>(std::move(status));
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
  if (Status status = May(Access::kRead, {key.thread_id}); !status.ok()) {
    return Refused<std::vector<PendingWrite>>(std::move(status));
  }
  return saver_.Writes(Enter(key), channel);
}

Result<std::vector<DeltaChannelHistory>> ScopedCheckpointer::GetDeltaChannelHistory(
    const CheckpointKey& key, std::span<const std::string> channels) {
  if (Status status = May(Access::kRead, {key.thread_id}); !status.ok()) {
    return Refused<std::vector<DeltaChannelHistory>>(std::move(status));
  }
  return saver_.GetDeltaChannelHistory(Enter(key), channels);
}

Status ScopedCheckpointer::DeleteThread(const std::string& thread_id) {
  if (Status status = May(Access::kWrite, {thread_id}); !status.ok()) return status;
  return saver_.DeleteThread(Enter(thread_id));
}

Status ScopedCheckpointer::CopyThread(const std::string& source, const std::string& target) {
  Status status = May(Access::kReadAndWrite, {source, target});
  if (status.ok()) status = MayCopy(source, target);
  if (!status.ok()) return status;
  return LeaveCopy(saver_.CopyThread(Enter(source), Enter(target)), source, "", target);
}

Result<std::uint64_t> ScopedCheckpointer::DeleteForRuns(std::span<const std::string> run_ids,
                                                        const std::string& thread_prefix) {
  if (Status status = scope_.CheckThreads(Access::kReadAndWrite); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  return saver_.DeleteForRuns(run_ids, scope_.thread_prefix() + thread_prefix);
}

Result<Pruned> ScopedCheckpointer::Prune(const RetentionRules& rules) {
  const Access access = rules.dry_run ? Access::kRead : Access::kReadAndWrite;
  if (Status status = May(access, {}); !status.ok()) return std::unexpected(std::move(status));
  RetentionRules entered = rules;
  if (entered.thread_ids) {
    for (std::string& thread_id : *entered.thread_ids) {
      if (Status s = May(access, {thread_id}); !s.ok()) return std::unexpected(std::move(s));
      thread_id = Enter(thread_id);
    }
  }
  entered.thread_prefix = scope_.thread_prefix() + rules.thread_prefix;
  return saver_.Prune(entered);
}

Result<std::vector<ThreadInfo>> ScopedCheckpointer::Threads(const ListThreads& list) {
  if (Status status = scope_.CheckThreads(Access::kRead); !status.ok()) {
    return Refused<std::vector<ThreadInfo>>(std::move(status));
  }
  ListThreads entered = list;
  if (entered.cursor) entered.cursor->thread_id = Enter(entered.cursor->thread_id);
  entered.thread_prefix = scope_.thread_prefix() + list.thread_prefix;
  auto threads = saver_.Threads(entered);
  if (!threads) return threads;
  for (ThreadInfo& thread : *threads) Leave(thread.thread_id);
  return threads;
}

Status ScopedCheckpointer::RenameThread(const std::string& source, const std::string& target) {
  Status status = May(Access::kReadAndWrite, {source, target});
  if (status.ok()) status = MayGrow(target.size());
  if (!status.ok()) return status;
  return LeaveCopy(saver_.RenameThread(Enter(source), Enter(target)), source, "", target);
}

Status ScopedCheckpointer::ForkThread(const std::string& source, const std::string& checkpoint_id,
                                      const std::string& target) {
  Status status = May(Access::kReadAndWrite, {source, target});
  if (status.ok()) status = checkpoint::ValidateId("checkpoint_id", checkpoint_id);
  if (status.ok()) status = MayCopy(source, target);
  if (!status.ok()) return status;
  return LeaveCopy(saver_.ForkThread(Enter(source), checkpoint_id, Enter(target)), source,
                   checkpoint_id, target);
}

Result<CheckpointerStats> ScopedCheckpointer::Stats() {
  return Error(StatusCode::kAccessDenied,
               "memory access denied: statistics are of the whole memory: ask it, not a scope");
}

Result<std::uint64_t> ScopedCheckpointer::Measure(const std::string& thread, bool below) {
  if (Status status = scope_.CheckThreads(Access::kRead); !status.ok()) {
    return Refused<std::uint64_t>(std::move(status));
  }
  return saver_.Measure(scope_.thread_prefix() + thread, below);
}

}  // namespace keepsake
