#include "keepsake/memory_saver.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "checkpoint/channel_refs.h"
#include "checkpoint/metadata.h"
#include "checkpoint/retention.h"
#include "checkpoint/validation.h"
#include "checkpoint/write_order.h"

namespace keepsake {
namespace {

using checkpoint::ChannelRef;
using checkpoint::kNoBlob;

struct StoredBlob {
  ChannelVersion version;
  Blob value;
  std::size_t references = 0;
};

struct StoredCheckpoint {
  std::string parent_checkpoint_id;
  Blob checkpoint;
  Blob metadata;
  std::vector<ChannelRef> channels;
};

// One namespace of one thread. Copies are independent.
class Space final : public checkpoint::ValueBlobs {
 public:
  using Checkpoints = std::map<std::string, StoredCheckpoint, std::less<>>;
  using WriteKey = std::pair<std::string, std::int32_t>;  // task_id, idx
  using Writes = std::map<WriteKey, PendingWrite>;

  const Checkpoints& checkpoints() const { return checkpoints_; }
  bool empty() const { return checkpoints_.empty() && writes_.empty(); }
  std::size_t blob_count() const { return blobs_.size(); }

  std::size_t write_count() const {
    std::size_t count = 0;
    for (const auto& [id, writes] : writes_) count += writes.size();
    return count;
  }

  Status Put(const NewCheckpoint& next) {
    const StoredCheckpoint* parent = Find(next.parent_checkpoint_id);
    auto channels = checkpoint::ResolveChannels(
        next, parent == nullptr ? std::span<const ChannelRef>() : parent->channels, *this);
    if (!channels) return channels.error();
    AddReferences(*channels);
    StoredCheckpoint& slot = checkpoints_[next.key.checkpoint_id];
    DropReferences(slot.channels);
    slot = {next.parent_checkpoint_id, next.checkpoint, next.metadata, *std::move(channels)};
    return {};
  }

  void PutWrites(const std::string& checkpoint_id, std::span<const PendingWrite> writes) {
    Writes& stored = writes_[checkpoint_id];
    for (const PendingWrite& write : writes) {
      const WriteKey key(write.task_id, write.idx);
      if (write.idx < 0) {
        stored.insert_or_assign(key, write);
      } else {
        stored.try_emplace(key, write);
      }
    }
  }

  void Delete(const std::string& checkpoint_id) {
    const auto found = checkpoints_.find(checkpoint_id);
    DropReferences(found->second.channels);
    checkpoints_.erase(found);
    writes_.erase(checkpoint_id);
  }

  // nullptr if there is none.
  const StoredCheckpoint* Find(std::string_view checkpoint_id) const {
    const auto found = checkpoints_.find(checkpoint_id);
    return found == checkpoints_.end() ? nullptr : &found->second;
  }

  const Blob& Value(std::int64_t blob_id) const { return blobs_.at(blob_id).value; }

  // To one channel, or to all.
  std::vector<PendingWrite> OrderedWrites(std::string_view checkpoint_id,
                                          std::optional<std::string_view> channel = {}) const {
    std::vector<PendingWrite> ordered;
    const auto found = writes_.find(checkpoint_id);
    if (found == writes_.end()) return ordered;
    for (const PendingWrite& write : std::views::values(found->second)) {
      if (!channel || write.channel == *channel) ordered.push_back(write);
    }
    checkpoint::SortWrites(ordered);
    return ordered;
  }

  std::vector<checkpoint::RetentionNode> Nodes() const {
    std::vector<checkpoint::RetentionNode> nodes;
    for (const auto& [id, stored] : checkpoints_) {
      nodes.push_back({id, stored.parent_checkpoint_id, stored.channels, WrittenChannels(id)});
    }
    return nodes;
  }

  Result<std::int64_t> Add(const ChannelValue& value) override {
    const std::int64_t id = blobs_.empty() ? 1 : blobs_.rbegin()->first + 1;
    blobs_.emplace(id, StoredBlob{{value.channel, value.version}, value.value});
    versions_[{value.channel, value.version}].insert(id);
    return id;
  }

  Result<std::int64_t> Newest(const ChannelVersion& version) override {
    const auto found = versions_.find({version.channel, version.version});
    return found == versions_.end() ? kNoBlob : *found->second.rbegin();
  }

 private:
  void AddReferences(std::span<const ChannelRef> refs) {
    for (const ChannelRef& ref : refs) {
      if (ref.blob_id != kNoBlob) ++blobs_.at(ref.blob_id).references;
    }
  }

  void DropReferences(std::span<const ChannelRef> refs) {
    for (const ChannelRef& ref : refs) {
      if (ref.blob_id != kNoBlob && --blobs_.at(ref.blob_id).references == 0) Free(ref.blob_id);
    }
  }

  void Free(std::int64_t blob_id) {
    const auto blob = blobs_.find(blob_id);
    const auto ids = versions_.find({blob->second.version.channel, blob->second.version.version});
    ids->second.erase(blob_id);
    if (ids->second.empty()) versions_.erase(ids);
    blobs_.erase(blob);
  }

  std::vector<std::string> WrittenChannels(std::string_view checkpoint_id) const {
    std::set<std::string> channels;
    const auto found = writes_.find(checkpoint_id);
    if (found != writes_.end()) {
      for (const PendingWrite& write : std::views::values(found->second)) {
        channels.insert(write.channel);
      }
    }
    return {channels.begin(), channels.end()};
  }

  Checkpoints checkpoints_;
  std::map<std::string, Writes, std::less<>> writes_;  // by checkpoint_id
  std::map<std::int64_t, StoredBlob> blobs_;           // newer ones have greater ids
  std::map<std::pair<std::string, std::string>, std::set<std::int64_t>> versions_;
};

using Thread = std::map<std::string, Space>;  // by checkpoint_ns

// Where a checkpoint is, without copying it.
struct Place {
  const std::string* thread_id;
  const std::string* checkpoint_ns;
  const std::string* checkpoint_id;
  const Space* space;
};

bool ListedBefore(const Place& a, const Place& b) {
  return std::tie(*b.checkpoint_id, *a.thread_id, *a.checkpoint_ns) <
         std::tie(*a.checkpoint_id, *b.thread_id, *b.checkpoint_ns);
}

bool IsWithinBounds(const Place& place, const ListCheckpoints& list) {
  const std::string& id = *place.checkpoint_id;
  if (!list.checkpoint_id.empty() && id != list.checkpoint_id) return false;
  if (!list.before.empty() && id >= list.before) return false;
  if (!list.after.empty() && id <= list.after) return false;
  if (!list.cursor) return true;
  const Place cursor = {&list.cursor->thread_id, &list.cursor->checkpoint_ns,
                        &list.cursor->checkpoint_id, nullptr};
  return ListedBefore(cursor, place);
}

CheckpointTuple MakeTuple(const Place& place, const StoredCheckpoint& stored) {
  CheckpointTuple tuple = {{*place.thread_id, *place.checkpoint_ns, *place.checkpoint_id},
                           stored.parent_checkpoint_id,
                           stored.checkpoint,
                           stored.metadata,
                           {},
                           place.space->OrderedWrites(*place.checkpoint_id)};
  for (const ChannelRef& ref : stored.channels) {
    if (ref.blob_id == kNoBlob) continue;
    tuple.values.push_back({ref.channel, ref.version, place.space->Value(ref.blob_id)});
  }
  return tuple;
}

// Goes over the ancestors of a checkpoint, nearest first, each once: a chain of
// parents may run in a circle.
class Ancestors {
 public:
  Ancestors(const Space& space, std::string_view checkpoint_id)
      : space_(space), id_(checkpoint_id), stored_(space.Find(checkpoint_id)) {}

  bool Next() {
    if (stored_ == nullptr) return false;
    visited_.insert(id_);
    id_ = stored_->parent_checkpoint_id;
    stored_ = visited_.contains(id_) ? nullptr : space_.Find(id_);
    return stored_ != nullptr;
  }

  std::string_view id() const { return id_; }
  const StoredCheckpoint& stored() const { return *stored_; }

 private:
  const Space& space_;
  std::string_view id_;
  const StoredCheckpoint* stored_;
  std::unordered_set<std::string_view> visited_;
};

DeltaChannelHistory HistoryOf(const Space& space, std::string_view checkpoint_id,
                              const std::string& channel) {
  DeltaChannelHistory history{channel, std::nullopt, {}};
  Ancestors ancestors(space, checkpoint_id);
  while (!history.seed && ancestors.Next()) {
    std::vector<PendingWrite> writes = space.OrderedWrites(ancestors.id(), channel);
    std::ranges::move(std::views::reverse(writes), std::back_inserter(history.writes));
    for (const ChannelRef& ref : ancestors.stored().channels) {
      if (ref.channel == channel && ref.blob_id != kNoBlob) history.seed = space.Value(ref.blob_id);
    }
  }
  std::ranges::reverse(history.writes);
  return history;
}

std::uint64_t DeleteDoomed(Space& space, std::vector<checkpoint::RetentionNode>& nodes) {
  checkpoint::SpareNeededAncestors(nodes);
  std::uint64_t deleted = 0;
  for (const checkpoint::RetentionNode& node : nodes) {
    if (!node.doomed) continue;
    space.Delete(node.checkpoint_id);
    ++deleted;
  }
  return deleted;
}

class MemorySaver final : public Checkpointer {
 public:
  Status Put(const NewCheckpoint& next) override {
    if (Status s = checkpoint::ValidateNewCheckpoint(next); !s.ok()) return s;
    return threads_[next.key.thread_id][next.key.checkpoint_ns].Put(next);
  }

  Status PutWrites(const CheckpointKey& key, std::span<const PendingWrite> writes) override {
    if (Status s = checkpoint::ValidateKey(key); !s.ok()) return s;
    if (Status s = checkpoint::ValidateWrites(writes); !s.ok()) return s;
    if (writes.empty()) return {};
    threads_[key.thread_id][key.checkpoint_ns].PutWrites(key.checkpoint_id, writes);
    return {};
  }

  Result<std::optional<CheckpointTuple>> GetTuple(const CheckpointKey& key) override {
    if (Status s = checkpoint::ValidateKey(key, checkpoint::EmptyId::kAllowed); !s.ok()) {
      return std::unexpected(s);
    }
    const Space* space = FindSpace(key);
    if (space == nullptr) return std::nullopt;
    const std::string id = IdOrNewest(*space, key);
    const StoredCheckpoint* stored = space->Find(id);
    if (stored == nullptr) return std::nullopt;
    return MakeTuple({&key.thread_id, &key.checkpoint_ns, &id, space}, *stored);
  }

  Result<std::vector<CheckpointTuple>> List(const ListCheckpoints& list) override {
    if (Status s = checkpoint::ValidateList(list); !s.ok()) return std::unexpected(s);
    const auto filter = checkpoint::MetadataFilter::Parse(list.filter);
    if (!filter) return std::unexpected(filter.error());
    std::vector<CheckpointTuple> tuples;
    for (const Place& place : PlacesOf(list)) {
      if (tuples.size() >= list.limit) break;
      const StoredCheckpoint& stored = *place.space->Find(*place.checkpoint_id);
      if (!filter->Matches(stored.metadata.type, stored.metadata.bytes)) continue;
      tuples.push_back(MakeTuple(place, stored));
    }
    return tuples;
  }

  Result<std::vector<PendingWrite>> Writes(const CheckpointKey& key,
                                           const std::string& channel) override {
    if (Status s = checkpoint::ValidateKey(key); !s.ok()) return std::unexpected(s);
    const Space* space = FindSpace(key);
    if (space == nullptr) return std::vector<PendingWrite>();
    if (channel.empty()) return space->OrderedWrites(key.checkpoint_id);
    return space->OrderedWrites(key.checkpoint_id, channel);
  }

  Result<std::vector<DeltaChannelHistory>> GetDeltaChannelHistory(
      const CheckpointKey& key, std::span<const std::string> channels) override {
    if (Status s = checkpoint::ValidateKey(key, checkpoint::EmptyId::kAllowed); !s.ok()) {
      return std::unexpected(s);
    }
    const Space no_space;
    const Space* found = FindSpace(key);
    const Space& space = found == nullptr ? no_space : *found;
    const std::string id = IdOrNewest(space, key);
    std::vector<DeltaChannelHistory> histories;
    for (const std::string& channel : channels) {
      histories.push_back(HistoryOf(space, id, channel));
    }
    return histories;
  }

  Status DeleteThread(const std::string& thread_id) override {
    if (Status s = checkpoint::ValidateThreadId(thread_id); !s.ok()) return s;
    threads_.erase(thread_id);
    return {};
  }

  Status CopyThread(const std::string& source, const std::string& target) override {
    if (Status s = checkpoint::ValidateCopy(source, target); !s.ok()) return s;
    if (!IsEmpty(target)) return checkpoint::TargetNotEmpty(target);
    const auto found = threads_.find(source);
    if (found == threads_.end()) return {};
    Thread copy = found->second;
    threads_.insert_or_assign(target, std::move(copy));
    return {};
  }

  Result<std::uint64_t> DeleteForRuns(std::span<const std::string> run_ids) override {
    const checkpoint::RunIds runs(run_ids);
    std::uint64_t deleted = 0;
    for (Thread& thread : std::views::values(threads_)) {
      for (Space& space : std::views::values(thread)) {
        std::vector<checkpoint::RetentionNode> nodes = space.Nodes();
        for (checkpoint::RetentionNode& node : nodes) {
          const Blob& metadata = space.Find(node.checkpoint_id)->metadata;
          node.doomed = runs.Own(metadata.type, metadata.bytes);
        }
        deleted += DeleteDoomed(space, nodes);
      }
    }
    return deleted;
  }

  Result<std::uint64_t> Prune(std::span<const std::string> thread_ids,
                              PruneStrategy strategy) override {
    for (const std::string& thread_id : thread_ids) {
      if (Status s = checkpoint::ValidateThreadId(thread_id); !s.ok()) return std::unexpected(s);
    }
    std::uint64_t deleted = 0;
    for (const std::string& thread_id : thread_ids) {
      const auto thread = threads_.find(thread_id);
      if (thread == threads_.end()) continue;
      for (Space& space : std::views::values(thread->second)) {
        deleted +=
            strategy == PruneStrategy::kDelete ? space.checkpoints().size() : KeepLatest(space);
      }
      if (strategy == PruneStrategy::kDelete) threads_.erase(thread);
    }
    return deleted;
  }

  Result<CheckpointerStats> Stats() override {
    CheckpointerStats stats;
    for (const auto& [thread_id, thread] : threads_) {
      if (!IsEmpty(thread_id)) ++stats.threads;
      for (const Space& space : std::views::values(thread)) {
        stats.checkpoints += space.checkpoints().size();
        stats.writes += space.write_count();
        stats.blobs += space.blob_count();
      }
    }
    return stats;
  }

 private:
  const Space* FindSpace(const CheckpointKey& key) const {
    const auto thread = threads_.find(key.thread_id);
    if (thread == threads_.end()) return nullptr;
    const auto space = thread->second.find(key.checkpoint_ns);
    return space == thread->second.end() ? nullptr : &space->second;
  }

  // "" if none is given and there is none.
  static std::string IdOrNewest(const Space& space, const CheckpointKey& key) {
    if (!key.checkpoint_id.empty() || space.checkpoints().empty()) return key.checkpoint_id;
    return space.checkpoints().rbegin()->first;
  }

  bool IsEmpty(const std::string& thread_id) const {
    const auto thread = threads_.find(thread_id);
    if (thread == threads_.end()) return true;
    return std::ranges::all_of(std::views::values(thread->second),
                               [](const Space& space) { return space.empty(); });
  }

  static std::uint64_t KeepLatest(Space& space) {
    std::vector<checkpoint::RetentionNode> nodes = space.Nodes();
    if (nodes.empty()) return 0;
    for (checkpoint::RetentionNode& node : nodes) node.doomed = true;
    nodes.back().doomed = false;
    return DeleteDoomed(space, nodes);
  }

  // What is within the bounds of `list`, in its order.
  std::vector<Place> PlacesOf(const ListCheckpoints& list) const {
    std::vector<Place> places;
    for (const auto& [thread_id, thread] : threads_) {
      if (list.thread_id && thread_id != *list.thread_id) continue;
      for (const auto& [checkpoint_ns, space] : thread) {
        if (list.checkpoint_ns && checkpoint_ns != *list.checkpoint_ns) continue;
        for (const auto& [id, stored] : std::views::reverse(space.checkpoints())) {
          const Place place = {&thread_id, &checkpoint_ns, &id, &space};
          if (IsWithinBounds(place, list)) places.push_back(place);
        }
      }
    }
    if (!std::ranges::is_sorted(places, ListedBefore)) std::ranges::sort(places, ListedBefore);
    return places;
  }

  std::map<std::string, Thread> threads_;
};

}  // namespace

std::unique_ptr<Checkpointer> MakeMemorySaver() { return std::make_unique<MemorySaver>(); }

}  // namespace keepsake
