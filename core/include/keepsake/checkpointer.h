// A Checkpointer keeps the checkpoints of threads: what a graph's state was
// after each superstep, and the pending writes of supersteps not yet done.
// Every value is an opaque Blob; channel values are stored once per version.
// Not thread-safe; belongs to one thread (in wasm, one worker).
#ifndef KEEPSAKE_CHECKPOINTER_H_
#define KEEPSAKE_CHECKPOINTER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/status.h"

namespace keepsake {

// Ids are non-empty well-formed UTF-8 without NUL, at most kMaxIdBytes;
// checkpoint_ns may be empty (the root graph). Ids sort by code point, and a
// later checkpoint of a thread has a greater checkpoint_id (uuid6).
inline constexpr std::size_t kMaxIdBytes = 8 * 1024;

struct CheckpointKey {
  std::string thread_id;
  std::string checkpoint_ns;
  std::string checkpoint_id;

  auto operator<=>(const CheckpointKey&) const = default;
};

// Versions are compared for equality only; the caller chooses their text.
struct ChannelVersion {
  std::string channel;
  std::string version;

  bool operator==(const ChannelVersion&) const = default;
};

struct ChannelValue {
  std::string channel;
  std::string version;
  Blob value;

  bool operator==(const ChannelValue&) const = default;
};

struct NewCheckpoint {
  CheckpointKey key;
  std::string parent_checkpoint_id;  // "" for none
  Blob checkpoint;                   // without its channel_values
  Blob metadata;                     // filtered by list() if its type is "json"
  // Every channel of channel_versions. One that is in `new_versions` has the
  // value of `values`, or none; any other keeps the value that it had at this
  // version in the parent, or else in the newest put of the same thread and
  // namespace that brought this version.
  std::vector<ChannelVersion> channel_versions;
  std::vector<std::string> new_versions;  // channels
  std::vector<ChannelValue> values;       // of channels in new_versions
};

// idx < 0 marks a special write (error, scheduled, interrupt, resume), which
// replaces an earlier one; a write with idx >= 0 that is there already stays.
struct PendingWrite {
  std::string task_id;
  std::int32_t idx = 0;
  std::string channel;
  Blob value;
  std::string task_path;

  bool operator==(const PendingWrite&) const = default;
};

struct CheckpointTuple {
  CheckpointKey key;
  std::string parent_checkpoint_id;  // "" for none
  Blob checkpoint;
  Blob metadata;
  std::vector<ChannelValue> values;          // in the order of channel_versions
  std::vector<PendingWrite> pending_writes;  // by (task_path, task_id, idx)

  bool operator==(const CheckpointTuple&) const = default;
};

// Newest first: by checkpoint_id descending, then thread_id, then checkpoint_ns.
struct ListCheckpoints {
  std::optional<std::string> thread_id;      // all threads if absent
  std::optional<std::string> checkpoint_ns;  // all namespaces if absent
  std::string checkpoint_id;                 // only this one, "" for all
  std::string before;                        // checkpoint_id < before, "" for no bound
  std::string after;                         // checkpoint_id > after, "" for no bound
  // JSON object; every member must equal the metadata's of that name (deep).
  // Metadata of another type than "json" matches no filter.
  std::string filter;
  std::optional<CheckpointKey> cursor;  // go on after this one
  std::uint32_t limit = 0xFFFFFFFF;     // 0 returns none
};

struct DeltaChannelHistory {
  std::string channel;
  std::optional<Blob> seed;          // nearest ancestor's stored value
  std::vector<PendingWrite> writes;  // oldest first, those of the seed's ancestor included

  bool operator==(const DeltaChannelHistory&) const = default;
};

enum class PruneStrategy : std::uint8_t {  // persistent
  kKeepLatest = 0,  // of each thread and namespace, and what it needs to be rebuilt
  kDelete = 1,      // everything of the thread
};

struct CheckpointerStats {
  std::uint64_t threads = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t writes = 0;
  std::uint64_t blobs = 0;

  bool operator==(const CheckpointerStats&) const = default;
};

class Checkpointer {
 public:
  virtual ~Checkpointer() = default;

  // Replaces a checkpoint of the same key. kThreadIdRequired without thread_id.
  virtual Status Put(const NewCheckpoint& checkpoint) = 0;
  // The checkpoint itself need not be there yet.
  virtual Status PutWrites(const CheckpointKey& key, std::span<const PendingWrite> writes) = 0;

  // With an empty checkpoint_id the newest of the thread and namespace.
  virtual Result<std::optional<CheckpointTuple>> GetTuple(const CheckpointKey& key) = 0;
  virtual Result<std::vector<CheckpointTuple>> List(const ListCheckpoints& list) = 0;
  // Pending writes of one checkpoint, to one channel unless `channel` is empty.
  virtual Result<std::vector<PendingWrite>> Writes(const CheckpointKey& key,
                                                   const std::string& channel) = 0;
  // One entry per channel, in order. Follows parents from the checkpoint (the
  // newest if checkpoint_id is empty), whose own writes do not count, up to the
  // nearest ancestor with a value of the channel.
  virtual Result<std::vector<DeltaChannelHistory>> GetDeltaChannelHistory(
      const CheckpointKey& key, std::span<const std::string> channels) = 0;

  virtual Status DeleteThread(const std::string& thread_id) = 0;
  // Replaces nothing: kInvalidArgument if the target has checkpoints or writes.
  // A source without any leaves the target empty.
  virtual Status CopyThread(const std::string& source, const std::string& target) = 0;
  // Deletes the checkpoints whose metadata has one of these run_id, and their
  // writes; says how many. Survivors keep their values: a checkpoint from which
  // a survivor's delta channel is rebuilt stays, and is not counted.
  virtual Result<std::uint64_t> DeleteForRuns(std::span<const std::string> run_ids) = 0;
  // Says how many checkpoints went. Delta channels of what stays can still be
  // rebuilt, and an interrupted thread still resumes.
  virtual Result<std::uint64_t> Prune(std::span<const std::string> thread_ids,
                                      PruneStrategy strategy) = 0;
  virtual Result<CheckpointerStats> Stats() = 0;
};

}  // namespace keepsake

#endif  // KEEPSAKE_CHECKPOINTER_H_
