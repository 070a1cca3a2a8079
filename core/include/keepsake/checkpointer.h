// A Checkpointer keeps the checkpoints of threads: what a graph's state was
// after each superstep, and the pending writes of supersteps not yet done.
// Every value is an opaque Blob. A new version of a channel's value costs what is
// new in it, and what forks, copies and subgraphs share is stored once.
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

struct CheckpointKey {  // where a checkpoint is
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

struct ChannelValue {  // of one version
  std::string channel;
  std::string version;
  Blob value;

  bool operator==(const ChannelValue&) const = default;
};

// Says that a value is one that is there, with a part exchanged: what lies
// between the first `prefix` and the last `suffix` bytes of the base, the value
// that the channel had last, in the parent or before. Both are known by their stamps,
// numbers that the caller gives to bytes, and never to others.
struct ValueDelta {
  std::uint64_t stamp = 0;       // of the new value, 0 for none
  std::uint64_t base_stamp = 0;  // 0: the value is whole
  std::uint64_t prefix = 0;
  std::uint64_t suffix = 0;

  bool operator==(const ValueDelta&) const = default;
};

struct NewValue {
  std::string channel;
  std::string version;
  Blob value;  // or what of it lies between `prefix` and `suffix`
  ValueDelta delta = {};

  bool operator==(const NewValue&) const = default;
};

struct NewCheckpoint {
  CheckpointKey key;
  std::string parent_checkpoint_id;  // "" for none
  Blob checkpoint;                   // without its channel_values
  Blob metadata;                     // filtered by list() if its type is "json"
  // Every channel of channel_versions. One that is in `new_versions` has the
  // value of `values`, or none; any other keeps the value that it had at this
  // version in the parent, or else in the checkpoint with the greatest id of the
  // same thread and namespace that has a value of this version.
  std::vector<ChannelVersion> channel_versions;
  std::vector<std::string> new_versions;  // channels
  std::vector<NewValue> values;           // of channels in new_versions
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
  std::string thread_prefix{};          // as Scope has it: only threads that begin so
};

struct DeltaChannelHistory {
  std::string channel;
  std::optional<Blob> seed;          // nearest ancestor's stored value
  std::vector<PendingWrite> writes;  // oldest first, those of the seed's ancestor included

  bool operator==(const DeltaChannelHistory&) const = default;
};

enum class PruneStrategy : std::uint8_t {  // persistent
  kByRules = 0,
  kKeepLatest = 1,  // of each thread and namespace, and what it needs to be rebuilt
  kDelete = 2,      // everything of the thread
};

// Which history may go. A strategy other than kByRules needs `thread_ids` and no limit. A
// checkpoint goes if one of the rules says so, but never the newest of its namespace, nor what a
// survivor is rebuilt from. A subgraph's namespace that belongs to one run of it ("node:id") goes
// as a whole when the root's checkpoints of that time are gone. Without any rule nothing goes but
// content to which nothing refers, as replaced checkpoints leave it.
struct RetentionRules {
  std::optional<std::vector<std::string>> thread_ids;  // all threads if absent
  std::uint32_t keep_last = 0;  // of each thread and namespace, 0 for no limit
  std::string older_than;       // what has a lesser checkpoint_id goes, "" for no limit
  std::uint64_t max_bytes = 0;  // of these threads together, the oldest go; 0 for no limit
  bool dry_run = false;         // says what would go, and keeps it
  PruneStrategy strategy = PruneStrategy::kByRules;
  std::string thread_prefix{};  // without `thread_ids`, as Scope has it: of threads that begin so
  // What goes and shares a page with what stays becomes zeros. Rows that went are free pages
  // still: sql::Database::Scrub().
  bool overwrite = false;
};

struct Pruned {
  std::uint64_t checkpoints = 0;
  std::uint64_t bytes = 0;  // of rows and content

  bool operator==(const Pruned&) const = default;
};

// The newest checkpoint is that of the root namespace, or of any if there is none.
struct ThreadInfo {
  std::string thread_id;
  std::string newest_checkpoint_id;  // "" if there are writes only
  Blob checkpoint;                   // the newest one's
  Blob metadata;
  std::uint64_t checkpoints = 0;
  std::uint64_t bytes = 0;  // about; what threads share counts for each
};

// By newest_checkpoint_id descending, then thread_id.
struct ListThreads {
  struct Cursor {
    std::string newest_checkpoint_id;
    std::string thread_id;
  };
  std::optional<Cursor> cursor;  // go on after this one
  std::uint32_t limit = 0xFFFFFFFF;
  std::string filter{};         // of the newest checkpoint's metadata, as ListCheckpoints has it
  std::string thread_prefix{};  // as Scope has it: only threads that begin so
};

struct CheckpointerStats {
  std::uint64_t threads = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes = 0;  // of rows and content

  bool operator==(const CheckpointerStats&) const = default;
};

class Checkpointer {
 public:
  virtual ~Checkpointer() = default;

  // Replaces a checkpoint of the same key. kThreadIdRequired without thread_id,
  // kNotFound if a ValueDelta's base is another value: put it whole.
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

  virtual Status DeleteThread(const std::string& thread_id) = 0;  // and all its writes
  // Replaces nothing: kInvalidArgument if the target has checkpoints or writes,
  // kNotFound if the source has none.
  virtual Status CopyThread(const std::string& source, const std::string& target) = 0;
  // Deletes the checkpoints whose metadata has one of these run_id, and their
  // writes; says how many. Survivors keep their values: a checkpoint from which
  // a survivor's delta channel is rebuilt stays, and is not counted. Of threads that
  // begin with `thread_prefix`, as Scope has it.
  virtual Result<std::uint64_t> DeleteForRuns(std::span<const std::string> run_ids,
                                              const std::string& thread_prefix) = 0;
  Result<std::uint64_t> DeleteForRuns(std::span<const std::string> run_ids) {
    return DeleteForRuns(run_ids, "");
  }
  // Delta channels of what stays can still be rebuilt, and an interrupted thread
  // still resumes.
  virtual Result<Pruned> Prune(const RetentionRules& rules) = 0;

  virtual Result<std::vector<ThreadInfo>> Threads(const ListThreads& list) = 0;  // newest first
  // kInvalidArgument if the target has checkpoints or writes, kNotFound if the
  // source has none.
  virtual Status RenameThread(const std::string& source, const std::string& target) = 0;
  // Copies a checkpoint of the root namespace and its ancestors: the target is what the source
  // was then. If that is the newest, all of the other namespaces comes along. From an older one
  // the thread goes on anew: what its superstep finished stays behind, answers of interrupts,
  // too, and of the other namespaces what is newer. What was asked is still asked: a namespace
  // in which the superstep was interrupted comes along up to there, and stands there, too.
  // kNotFound if there is no such checkpoint.
  virtual Status ForkThread(const std::string& source, const std::string& checkpoint_id,
                            const std::string& target) = 0;
  virtual Result<CheckpointerStats> Stats() = 0;
  // About how many bytes a thread takes, or all that begin so, as Scope has it: ids, rows, and
  // content, which counts once, whoever of them shares it. Goes through all of them.
  virtual Result<std::uint64_t> Measure(const std::string& thread, bool below) = 0;
};

}  // namespace keepsake

#endif  // KEEPSAKE_CHECKPOINTER_H_
