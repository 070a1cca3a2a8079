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

#include "base/answer_room.h"
#include "base/heap_sort.h"
#include "checkpoint/channel_plan.h"
#include "checkpoint/metadata.h"
#include "checkpoint/open_step.h"
#include "checkpoint/retention.h"
#include "checkpoint/stored_values.h"
#include "checkpoint/validation.h"
#include "checkpoint/write_order.h"

namespace keepsake {
namespace {

using checkpoint::ChannelPlan;
using checkpoint::ValueSource;

using BlobId = std::int64_t;
constexpr BlobId kNoBlob = 0;

// Values are referred to by blob and not by version: two forks of a checkpoint
// both make a next version of a channel, with different values.
struct ChannelRef {
  std::string channel;
  std::string version;
  BlobId blob_id = kNoBlob;
};

struct StoredBlob {
  Blob value;
  std::uint64_t stamp = 0;
  std::size_t references = 0;
};

struct StoredCheckpoint {
  std::string parent_checkpoint_id;
  Blob checkpoint;
  Blob metadata;
  std::vector<ChannelRef> channels;
};

// One namespace of one thread. Copies are independent.
class ThreadNamespace {
 public:
  using Checkpoints = std::map<std::string, StoredCheckpoint, std::less<>>;
  using WriteKey = std::pair<std::string, std::int32_t>;  // task_id, idx
  using Writes = std::map<WriteKey, PendingWrite>;

  const Checkpoints& checkpoints() const { return checkpoints_; }
  bool empty() const { return checkpoints_.empty() && writes_.empty(); }

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [id, stored] : checkpoints_) sum += id.size() + BytesOf(stored);
    for (const StoredBlob& blob : std::views::values(blobs_)) sum += blob.value.bytes.size();
    for (const auto& [id, writes] : writes_) sum += BytesOfWrites(id);
    return sum;
  }

  std::size_t BytesOfWrites(const std::string& checkpoint_id) const {
    std::size_t sum = 0;
    const auto found = writes_.find(checkpoint_id);
    if (found == writes_.end()) return sum;
    for (const PendingWrite& write : std::views::values(found->second)) {
      sum += write.task_id.size() + write.channel.size() + write.task_path.size() +
             write.value.bytes.size();
    }
    return sum;
  }

  std::size_t write_count() const {
    std::size_t count = 0;
    for (const auto& [id, writes] : writes_) count += writes.size();
    return count;
  }

  Status Put(const NewCheckpoint& next) {
    const StoredCheckpoint* parent = Find(next.parent_checkpoint_id);
    std::vector<Blob> values;
    for (const NewValue& value : next.values) {
      auto whole = WholeOf(value, parent);
      if (!whole) return whole.error();
      values.push_back(*std::move(whole));
    }
    std::vector<ChannelRef> channels = Resolve(next, parent, values);
    AddReferences(channels);
    StoredCheckpoint& slot = checkpoints_[next.key.checkpoint_id];
    DropReferences(slot.channels);
    slot = {next.parent_checkpoint_id, next.checkpoint, next.metadata, std::move(channels)};
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

  void CopyFrom(const ThreadNamespace& source, const std::string& checkpoint_id) {
    const auto writes = source.writes_.find(checkpoint_id);
    if (writes != source.writes_.end()) writes_.insert(*writes);
    const StoredCheckpoint* stored = source.Find(checkpoint_id);
    if (stored == nullptr) return;
    for (const ChannelRef& ref : stored->channels) {
      if (ref.blob_id == kNoBlob) continue;
      const StoredBlob& blob = source.blobs_.at(ref.blob_id);
      blobs_.try_emplace(ref.blob_id, StoredBlob{blob.value, blob.stamp, 0});
    }
    AddReferences(stored->channels);
    checkpoints_.emplace(checkpoint_id, *stored);
  }

  // Its superstep is to be done anew.
  void Reopen(const std::string& checkpoint_id) {
    const auto found = writes_.find(checkpoint_id);
    if (found == writes_.end()) return;
    std::erase_if(found->second, [](const auto& entry) {
      return !checkpoint::StaysOpen(entry.second.task_id, entry.second.idx);
    });
    if (found->second.empty()) writes_.erase(found);
  }

  // The last before `end` that an interrupt stopped, "" if there is none after `begin`.
  std::string LastInterrupted(const std::string& begin, const std::string& end) const {
    const auto first = writes_.upper_bound(begin);
    for (auto at = writes_.lower_bound(end); at != first;) {
      --at;
      if (std::ranges::any_of(std::views::keys(at->second), checkpoint::IsInterrupt,
                              &WriteKey::second)) {
        return at->first;
      }
    }
    return {};
  }

  // Of checkpoints and of writes without one.
  std::set<std::string> Ids() const {
    std::set<std::string> ids;
    for (const auto& [id, stored] : checkpoints_) ids.insert(id);
    for (const auto& [id, writes] : writes_) ids.insert(id);
    return ids;
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

  const Blob& Value(BlobId blob_id) const { return blobs_.at(blob_id).value; }

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
      checkpoint::RetentionNode node;
      node.checkpoint_id = id;
      node.parent_checkpoint_id = stored.parent_checkpoint_id;
      node.written_channels = WrittenChannels(id);
      for (const ChannelRef& ref : stored.channels) {
        auto& names = ref.blob_id == kNoBlob ? node.empty_channels : node.valued_channels;
        names.push_back(ref.channel);
      }
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

 private:
  static std::uint64_t BytesOf(const StoredCheckpoint& stored) {
    return stored.checkpoint.bytes.size() + stored.metadata.bytes.size();
  }

  // kNotFound if it is the difference from what the channel had not last.
  Result<Blob> WholeOf(const NewValue& value, const StoredCheckpoint* parent) const {
    const ValueDelta& delta = value.delta;
    if (delta.base_stamp == 0) return value.value;
    const StoredBlob* base = LastValue(value.channel, parent);
    if (base == nullptr || base->stamp != delta.base_stamp ||
        delta.prefix > base->value.bytes.size() ||
        delta.suffix > base->value.bytes.size() - delta.prefix) {
      return std::unexpected(checkpoint::OtherBase(value.channel));
    }
    const Bytes& bytes = base->value.bytes;
    const auto size =
        static_cast<std::size_t>(delta.prefix + value.value.bytes.size() + delta.suffix);
    // It may be far more than the request has.
    if (Status s = FindRoom(size); !s.ok()) return std::unexpected(std::move(s));
    Blob whole = {value.value.type, {}};
    whole.bytes.reserve(size);
    whole.bytes.assign(bytes.begin(), bytes.begin() + Offset(delta.prefix));
    std::ranges::copy(value.value.bytes, std::back_inserter(whole.bytes));
    whole.bytes.insert(whole.bytes.end(), bytes.end() - Offset(delta.suffix), bytes.end());
    return whole;
  }

  // Of the parent, or else of its nearest ancestor that has one; or null.
  const StoredBlob* LastValue(std::string_view channel, const StoredCheckpoint* stored) const {
    for (int i = 0; i <= checkpoint::kMostAncestors && stored != nullptr; ++i) {
      for (const ChannelRef& ref : stored->channels) {
        if (ref.channel == channel && ref.blob_id != kNoBlob) return &blobs_.at(ref.blob_id);
      }
      const auto found = checkpoints_.find(stored->parent_checkpoint_id);
      stored = found == checkpoints_.end() ? nullptr : &found->second;
    }
    return nullptr;
  }

  static std::ptrdiff_t Offset(std::uint64_t size) { return static_cast<std::ptrdiff_t>(size); }

  std::vector<ChannelRef> Resolve(const NewCheckpoint& next, const StoredCheckpoint* parent,
                                  std::span<const Blob> values) {
    std::vector<checkpoint::ParentChannel> of_parent;
    const auto refs = parent == nullptr ? std::span<const ChannelRef>() : parent->channels;
    for (const ChannelRef& ref : refs) of_parent.push_back({ref.channel, ref.version});
    const std::vector<ChannelPlan> plans = checkpoint::PlanChannels(next, of_parent);
    std::vector<ChannelRef> channels;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const ChannelVersion& version = next.channel_versions[i];
      const std::size_t index = plans[i].index;
      BlobId id = kNoBlob;
      if (plans[i].source == ValueSource::kBrought) {
        id = Add(values[index], StampOf(next.values[index]));
      } else if (plans[i].source == ValueSource::kParent) {
        id = refs[index].blob_id;
      } else if (plans[i].source == ValueSource::kSought) {
        id = Seek(version);
      }
      channels.push_back({version.channel, version.version, id});
    }
    return channels;
  }

  // As SqliteSaver, which has none for what is short.
  static std::uint64_t StampOf(const NewValue& value) {
    const bool is_short =
        value.delta.base_stamp == 0 && value.value.bytes.size() <= checkpoint::kShortValue;
    return is_short ? 0 : value.delta.stamp;
  }

  BlobId Add(const Blob& value, std::uint64_t stamp) {
    const BlobId id = blobs_.empty() ? 1 : blobs_.rbegin()->first + 1;
    blobs_.emplace(id, StoredBlob{value, stamp});
    return id;
  }

  // The value of this version in the checkpoint with the greatest id.
  BlobId Seek(const ChannelVersion& version) const {
    for (const StoredCheckpoint& stored : std::views::reverse(std::views::values(checkpoints_))) {
      for (const ChannelRef& ref : stored.channels) {
        const bool is_it = ref.channel == version.channel && ref.version == version.version;
        if (is_it && ref.blob_id != kNoBlob) return ref.blob_id;
      }
    }
    return kNoBlob;
  }

  void AddReferences(std::span<const ChannelRef> refs) {
    for (const ChannelRef& ref : refs) {
      if (ref.blob_id != kNoBlob) ++blobs_.at(ref.blob_id).references;
    }
  }

  void DropReferences(std::span<const ChannelRef> refs) {
    for (const ChannelRef& ref : refs) {
      if (ref.blob_id != kNoBlob && --blobs_.at(ref.blob_id).references == 0) {
        blobs_.erase(ref.blob_id);
      }
    }
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
  std::map<BlobId, StoredBlob> blobs_;                 // newer ones have greater ids
};

using Thread = std::map<std::string, ThreadNamespace>;  // by checkpoint_ns
using ThreadMap = std::map<std::string, Thread>;

// Where a checkpoint is, without copying it.
struct ListedCheckpoint {
  const std::string* thread_id;
  const std::string* checkpoint_ns;
  const std::string* checkpoint_id;
  const ThreadNamespace* ns;
};

bool ListedBefore(const ListedCheckpoint& a, const ListedCheckpoint& b) {
  return std::tie(*b.checkpoint_id, *a.thread_id, *a.checkpoint_ns) <
         std::tie(*a.checkpoint_id, *b.thread_id, *b.checkpoint_ns);
}

bool IsWithinBounds(const ListedCheckpoint& place, const ListCheckpoints& list) {
  const std::string& id = *place.checkpoint_id;
  if (!list.checkpoint_id.empty() && id != list.checkpoint_id) return false;
  if (!list.before.empty() && id >= list.before) return false;
  if (!list.after.empty() && id <= list.after) return false;
  if (!list.cursor) return true;
  const ListedCheckpoint cursor = {&list.cursor->thread_id, &list.cursor->checkpoint_ns,
                                   &list.cursor->checkpoint_id, nullptr};
  return ListedBefore(cursor, place);
}

Status TakeRoom(const ListedCheckpoint& place, const StoredCheckpoint& stored) {
  std::size_t bytes = stored.checkpoint.bytes.size() + stored.metadata.bytes.size() +
                      place.ns->BytesOfWrites(*place.checkpoint_id);
  for (const ChannelRef& ref : stored.channels) {
    if (ref.blob_id != kNoBlob) bytes += place.ns->Value(ref.blob_id).bytes.size();
  }
  return AnswerRoom::Take(bytes);
}

// REQUIRES: TakeRoom().
CheckpointTuple MakeTuple(const ListedCheckpoint& place, const StoredCheckpoint& stored) {
  CheckpointTuple tuple = {{*place.thread_id, *place.checkpoint_ns, *place.checkpoint_id},
                           stored.parent_checkpoint_id,
                           stored.checkpoint,
                           stored.metadata,
                           {},
                           place.ns->OrderedWrites(*place.checkpoint_id)};
  for (const ChannelRef& ref : stored.channels) {
    if (ref.blob_id == kNoBlob) continue;
    tuple.values.push_back({ref.channel, ref.version, place.ns->Value(ref.blob_id)});
  }
  return tuple;
}

// Goes over the ancestors of a checkpoint, nearest first, each once: a chain of
// parents may run in a circle.
class Ancestors {
 public:
  Ancestors(const ThreadNamespace& ns, std::string_view checkpoint_id)
      : space_(ns), id_(checkpoint_id), stored_(ns.Find(checkpoint_id)) {}

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
  const ThreadNamespace& space_;
  std::string_view id_;
  const StoredCheckpoint* stored_;
  std::unordered_set<std::string_view> visited_;
};

DeltaChannelHistory HistoryOf(const ThreadNamespace& ns, std::string_view checkpoint_id,
                              const std::string& channel) {
  DeltaChannelHistory history{channel, std::nullopt, {}};
  Ancestors ancestors(ns, checkpoint_id);
  while (!history.seed && ancestors.Next()) {
    std::vector<PendingWrite> writes = ns.OrderedWrites(ancestors.id(), channel);
    std::ranges::move(std::views::reverse(writes), std::back_inserter(history.writes));
    for (const ChannelRef& ref : ancestors.stored().channels) {
      if (ref.channel == channel && ref.blob_id != kNoBlob) history.seed = ns.Value(ref.blob_id);
    }
  }
  std::ranges::reverse(history.writes);
  return history;
}

std::uint64_t DeleteDoomed(ThreadNamespace& ns, std::vector<checkpoint::RetentionNode>& nodes) {
  checkpoint::SpareNeededAncestors(nodes);
  std::uint64_t deleted = 0;
  for (const checkpoint::RetentionNode& node : nodes) {
    if (!node.doomed) continue;
    ns.Delete(node.checkpoint_id);
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
    const ThreadNamespace* ns = FindNamespace(key);
    if (ns == nullptr) return std::nullopt;
    const std::string id = IdOrNewest(*ns, key);
    const StoredCheckpoint* stored = ns->Find(id);
    if (stored == nullptr) return std::nullopt;
    const ListedCheckpoint place = {&key.thread_id, &key.checkpoint_ns, &id, ns};
    if (Status s = TakeRoom(place, *stored); !s.ok()) return std::unexpected(std::move(s));
    return MakeTuple(place, *stored);
  }

  Result<std::vector<CheckpointTuple>> List(const ListCheckpoints& list) override {
    if (Status s = checkpoint::ValidateList(list); !s.ok()) return std::unexpected(s);
    const auto filter = checkpoint::MetadataFilter::Parse(list.filter);
    if (!filter) return std::unexpected(filter.error());
    std::vector<CheckpointTuple> tuples;
    for (const ListedCheckpoint& place : ListedBy(list)) {
      if (tuples.size() >= list.limit) break;
      const StoredCheckpoint& stored = *place.ns->Find(*place.checkpoint_id);
      if (!filter->Matches(stored.metadata.type, stored.metadata.bytes)) continue;
      if (Status s = TakeRoom(place, stored); !s.ok()) return std::unexpected(std::move(s));
      tuples.push_back(MakeTuple(place, stored));
    }
    return tuples;
  }

  Result<std::vector<PendingWrite>> Writes(const CheckpointKey& key,
                                           const std::string& channel) override {
    if (Status s = checkpoint::ValidateKey(key); !s.ok()) return std::unexpected(s);
    const ThreadNamespace* ns = FindNamespace(key);
    if (ns == nullptr) return std::vector<PendingWrite>();
    if (Status s = AnswerRoom::Take(ns->BytesOfWrites(key.checkpoint_id)); !s.ok()) {
      return std::unexpected(std::move(s));
    }
    if (channel.empty()) return ns->OrderedWrites(key.checkpoint_id);
    return ns->OrderedWrites(key.checkpoint_id, channel);
  }

  Result<std::vector<DeltaChannelHistory>> GetDeltaChannelHistory(
      const CheckpointKey& key, std::span<const std::string> channels) override {
    if (Status s = checkpoint::ValidateKey(key, checkpoint::EmptyId::kAllowed); !s.ok()) {
      return std::unexpected(s);
    }
    const ThreadNamespace no_space;
    const ThreadNamespace* found = FindNamespace(key);
    const ThreadNamespace& ns = found == nullptr ? no_space : *found;
    const std::string id = IdOrNewest(ns, key);
    std::vector<DeltaChannelHistory> histories;
    for (const std::string& channel : channels) {
      histories.push_back(HistoryOf(ns, id, channel));
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
    if (IsEmpty(source)) return checkpoint::NoThread(source);
    std::uint64_t bytes = 0;
    for (const auto& [name, ns] : threads_.at(source)) bytes += ns.bytes();
    if (Status s = FindRoom(static_cast<std::size_t>(bytes)); !s.ok()) return s;
    Thread copy = threads_.at(source);
    threads_.insert_or_assign(target, std::move(copy));
    return {};
  }

  using Checkpointer::DeleteForRuns;
  Result<std::uint64_t> DeleteForRuns(std::span<const std::string> run_ids,
                                      const std::string& thread_prefix) override {
    const checkpoint::RunIds runs(run_ids);
    std::uint64_t deleted = 0;
    for (auto& [thread_id, thread] : threads_) {
      if (!thread_id.starts_with(thread_prefix)) continue;
      for (ThreadNamespace& ns : std::views::values(thread)) {
        std::vector<checkpoint::RetentionNode> nodes = ns.Nodes();
        for (checkpoint::RetentionNode& node : nodes) {
          const Blob& metadata = ns.Find(node.checkpoint_id)->metadata;
          node.doomed = runs.Own(metadata.type, metadata.bytes);
        }
        deleted += DeleteDoomed(ns, nodes);
      }
    }
    return deleted;
  }

  Result<Pruned> Prune(const RetentionRules& rules) override {
    if (Status s = checkpoint::ValidateRules(rules); !s.ok()) return std::unexpected(s);
    if (!rules.dry_run) return Apply(threads_, rules);
    ThreadMap copy = threads_;
    return Apply(copy, rules);
  }

  Result<std::vector<ThreadInfo>> Threads(const ListThreads& list) override {
    using Entry = std::pair<std::string_view, std::string_view>;  // newest checkpoint, thread
    const auto comes_before = [](const Entry& a, const Entry& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    };
    const auto filter = checkpoint::MetadataFilter::Parse(list.filter);
    if (!filter) return std::unexpected(filter.error());
    std::vector<Entry> entries;
    for (const auto& [thread_id, thread] : threads_) {
      if (IsEmpty(thread_id) || !thread_id.starts_with(list.thread_prefix)) continue;
      const ThreadNamespace* newest = NewestOf(thread);
      if (!filter->matches_all()) {
        if (newest == nullptr) continue;
        const Blob& metadata = newest->Find(NewestId(*newest))->metadata;
        if (!filter->Matches(metadata.type, metadata.bytes)) continue;
      }
      const Entry entry(newest == nullptr ? "" : std::string_view(NewestId(*newest)), thread_id);
      const bool is_after =
          !list.cursor ||
          comes_before({list.cursor->newest_checkpoint_id, list.cursor->thread_id}, entry);
      if (is_after) entries.push_back(entry);
    }
    HeapSort(entries, comes_before);
    if (entries.size() > list.limit) entries.resize(list.limit);
    std::vector<ThreadInfo> infos;
    for (const Entry& entry : entries) {
      const auto thread = threads_.find(std::string(entry.second));
      infos.push_back(Describe(thread->first, thread->second));
    }
    return infos;
  }

  Status RenameThread(const std::string& source, const std::string& target) override {
    if (Status s = checkpoint::ValidateCopy(source, target); !s.ok()) return s;
    if (!IsEmpty(target)) return checkpoint::TargetNotEmpty(target);
    if (IsEmpty(source)) return checkpoint::NoThread(source);
    const auto found = threads_.find(source);
    Thread moved = std::move(found->second);
    threads_.erase(found);
    threads_.insert_or_assign(target, std::move(moved));
    return {};
  }

  Status ForkThread(const std::string& source, const std::string& checkpoint_id,
                    const std::string& target) override {
    if (Status s = checkpoint::ValidateKey({source, "", checkpoint_id}); !s.ok()) return s;
    if (Status s = checkpoint::ValidateThreadId(target); !s.ok()) return s;
    if (!IsEmpty(target)) return checkpoint::TargetNotEmpty(target);
    const ThreadNamespace* root = FindNamespace({source, "", checkpoint_id});
    if (root == nullptr || root->Find(checkpoint_id) == nullptr) {
      return checkpoint::NoCheckpoint(source, checkpoint_id);
    }
    Thread fork;
    std::set<std::string> copied;
    for (std::string id = checkpoint_id; root->Find(id) != nullptr && copied.insert(id).second;
         id = root->Find(id)->parent_checkpoint_id) {
      fork[""].CopyFrom(*root, id);
    }
    const auto successor = root->checkpoints().upper_bound(checkpoint_id);
    const bool is_anew = successor != root->checkpoints().end();
    if (is_anew) fork[""].Reopen(checkpoint_id);
    const bool asks = is_anew && !fork[""].LastInterrupted("", successor->first).empty();
    for (const auto& [checkpoint_ns, ns] : threads_.at(source)) {
      if (checkpoint_ns.empty()) continue;
      const std::string open = asks ? ns.LastInterrupted(checkpoint_id, successor->first) : "";
      const std::string& last = open.empty() ? checkpoint_id : open;
      for (const std::string& id : ns.Ids()) {
        if (is_anew && id > last) break;
        fork[checkpoint_ns].CopyFrom(ns, id);
      }
      if (!open.empty()) fork[checkpoint_ns].Reopen(open);
    }
    threads_.insert_or_assign(target, std::move(fork));
    return {};
  }

  Result<CheckpointerStats> Stats() override {
    CheckpointerStats stats;
    for (const auto& [thread_id, thread] : threads_) {
      if (!IsEmpty(thread_id)) ++stats.threads;
      for (const ThreadNamespace& ns : std::views::values(thread)) {
        stats.checkpoints += ns.checkpoints().size();
        stats.writes += ns.write_count();
        stats.bytes += ns.bytes();
      }
    }
    return stats;
  }

  Result<std::uint64_t> Measure(const std::string& thread, bool below) override {
    std::uint64_t bytes = 0;
    for (auto at = threads_.lower_bound(thread); at != threads_.end(); ++at) {
      const auto& [thread_id, namespaces] = *at;
      if (below ? !thread_id.starts_with(thread) : thread_id != thread) break;
      for (const auto& [checkpoint_ns, ns] : namespaces) {
        if (!ns.empty()) bytes += thread_id.size() + checkpoint_ns.size() + ns.bytes();
      }
    }
    return bytes;
  }

 private:
  const ThreadNamespace* FindNamespace(const CheckpointKey& key) const {
    const auto thread = threads_.find(key.thread_id);
    if (thread == threads_.end()) return nullptr;
    const auto ns = thread->second.find(key.checkpoint_ns);
    return ns == thread->second.end() ? nullptr : &ns->second;
  }

  // "" if none is given and there is none.
  static std::string IdOrNewest(const ThreadNamespace& ns, const CheckpointKey& key) {
    if (!key.checkpoint_id.empty() || ns.checkpoints().empty()) return key.checkpoint_id;
    return ns.checkpoints().rbegin()->first;
  }

  bool IsEmpty(const std::string& thread_id) const {
    const auto thread = threads_.find(thread_id);
    if (thread == threads_.end()) return true;
    return std::ranges::all_of(std::views::values(thread->second),
                               [](const ThreadNamespace& ns) { return ns.empty(); });
  }

  static std::uint64_t PruneNamespace(ThreadNamespace& ns, const RetentionRules& rules) {
    std::vector<checkpoint::RetentionNode> nodes = ns.Nodes();
    checkpoint::DoomByRules(rules, nodes);
    return DeleteDoomed(ns, nodes);
  }

  static std::uint64_t PruneThread(Thread& thread, const RetentionRules& rules) {
    std::uint64_t deleted = 0;
    std::string oldest_of_root;
    for (auto& [checkpoint_ns, ns] : thread) {
      const ThreadNamespace::Checkpoints& checkpoints = ns.checkpoints();
      const bool is_over = checkpoint::IsOfOneRun(checkpoint_ns) && !checkpoints.empty() &&
                           checkpoints.rbegin()->first < oldest_of_root;
      deleted += is_over ? checkpoints.size() : PruneNamespace(ns, rules);
      if (is_over) ns = ThreadNamespace();
      if (checkpoint_ns.empty() && !checkpoints.empty()) {
        oldest_of_root = checkpoints.begin()->first;
      }
    }
    return deleted;
  }

  static std::uint64_t BytesOf(const ThreadMap& threads, std::span<const std::string> thread_ids) {
    std::uint64_t bytes = 0;
    for (const std::string& thread_id : thread_ids) {
      const auto thread = threads.find(thread_id);
      if (thread == threads.end()) continue;
      for (const ThreadNamespace& ns : std::views::values(thread->second)) bytes += ns.bytes();
    }
    return bytes;
  }

  static std::uint64_t PruneThreads(ThreadMap& threads, std::span<const std::string> thread_ids,
                                    const RetentionRules& rules) {
    std::uint64_t deleted = 0;
    for (const std::string& thread_id : thread_ids) {
      const auto thread = threads.find(thread_id);
      if (thread != threads.end()) deleted += PruneThread(thread->second, rules);
    }
    return deleted;
  }

  // All but the newest of each namespace.
  static std::vector<std::string> PrunableIds(const ThreadMap& threads,
                                              std::span<const std::string> thread_ids) {
    std::vector<std::string> ids;
    for (const std::string& thread_id : thread_ids) {
      const auto thread = threads.find(thread_id);
      if (thread == threads.end()) continue;
      for (const ThreadNamespace& ns : std::views::values(thread->second)) {
        for (const auto& [id, stored] : ns.checkpoints()) {
          if (id != ns.checkpoints().rbegin()->first) ids.push_back(id);
        }
      }
    }
    return ids;
  }

  static std::uint64_t PruneByStrategy(ThreadMap& threads, std::span<const std::string> thread_ids,
                                       PruneStrategy strategy) {
    std::uint64_t deleted = 0;
    for (const std::string& thread_id : thread_ids) {
      const auto thread = threads.find(thread_id);
      if (thread == threads.end()) continue;
      for (ThreadNamespace& ns : std::views::values(thread->second)) {
        deleted += strategy == PruneStrategy::kDelete ? ns.checkpoints().size()
                                                      : PruneNamespace(ns, {.keep_last = 1});
      }
      if (strategy == PruneStrategy::kDelete) threads.erase(thread);
    }
    return deleted;
  }

  static Pruned Apply(ThreadMap& threads, const RetentionRules& rules) {
    std::vector<std::string> thread_ids;
    if (rules.thread_ids) {
      thread_ids = *rules.thread_ids;
    } else {
      std::ranges::copy_if(
          std::views::keys(threads), std::back_inserter(thread_ids),
          [&](const std::string& id) { return id.starts_with(rules.thread_prefix); });
    }
    Pruned pruned;
    const std::uint64_t before = BytesOf(threads, thread_ids);
    if (rules.strategy != PruneStrategy::kByRules) {
      pruned.checkpoints = PruneByStrategy(threads, thread_ids, rules.strategy);
    } else if (rules.keep_last > 0 || !rules.older_than.empty()) {
      pruned.checkpoints = PruneThreads(threads, thread_ids, rules);
    }
    if (rules.max_bytes > 0) {
      for (std::string& bound : checkpoint::AgeBounds(PrunableIds(threads, thread_ids))) {
        if (BytesOf(threads, thread_ids) <= rules.max_bytes) break;
        const RetentionRules by_age = {.older_than = std::move(bound)};
        pruned.checkpoints += PruneThreads(threads, thread_ids, by_age);
      }
    }
    pruned.bytes = before - BytesOf(threads, thread_ids);
    return pruned;
  }

  // The namespace with the newest checkpoint: the root if it has any. Null if none has.
  static const ThreadNamespace* NewestOf(const Thread& thread) {
    const ThreadNamespace* newest = nullptr;
    for (const auto& [checkpoint_ns, ns] : thread) {
      if (ns.checkpoints().empty()) continue;
      if (newest == nullptr || NewestId(ns) > NewestId(*newest)) newest = &ns;
      if (checkpoint_ns.empty()) break;
    }
    return newest;
  }

  static const std::string& NewestId(const ThreadNamespace& ns) {
    return ns.checkpoints().rbegin()->first;
  }

  static ThreadInfo Describe(const std::string& thread_id, const Thread& thread) {
    ThreadInfo info;
    info.thread_id = thread_id;
    for (const ThreadNamespace& ns : std::views::values(thread)) {
      info.checkpoints += ns.checkpoints().size();
      info.bytes += ns.bytes();
    }
    if (const ThreadNamespace* newest = NewestOf(thread)) {
      const auto& [id, stored] = *newest->checkpoints().rbegin();
      info.newest_checkpoint_id = id;
      info.checkpoint = stored.checkpoint;
      info.metadata = stored.metadata;
    }
    return info;
  }

  // What is within the bounds of `list`, in its order.
  std::vector<ListedCheckpoint> ListedBy(const ListCheckpoints& list) const {
    std::vector<ListedCheckpoint> places;
    for (const auto& [thread_id, thread] : threads_) {
      if (list.thread_id && thread_id != *list.thread_id) continue;
      if (!thread_id.starts_with(list.thread_prefix)) continue;
      for (const auto& [checkpoint_ns, ns] : thread) {
        if (list.checkpoint_ns && checkpoint_ns != *list.checkpoint_ns) continue;
        for (const auto& [id, stored] : std::views::reverse(ns.checkpoints())) {
          const ListedCheckpoint place = {&thread_id, &checkpoint_ns, &id, &ns};
          if (IsWithinBounds(place, list)) places.push_back(place);
        }
      }
    }
    if (!std::ranges::is_sorted(places, ListedBefore)) HeapSort(places, ListedBefore);
    return places;
  }

  ThreadMap threads_;
};

}  // namespace

std::unique_ptr<Checkpointer> MakeMemorySaver() { return std::make_unique<MemorySaver>(); }

}  // namespace keepsake
