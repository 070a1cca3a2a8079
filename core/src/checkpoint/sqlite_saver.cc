#include "keepsake/sqlite_saver.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
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
using checkpoint::RetentionNode;
using sql::Database;
using sql::Row;

constexpr std::int64_t kUnlimited = -1;  // LIMIT

Blob BlobAt(const Row& row, int type_column) {
  const ByteView bytes = row.Blob(type_column + 1);
  return {std::string(row.Text(type_column)), Bytes(bytes.begin(), bytes.end())};
}

// Columns from `first` on: task_id, idx, channel, type, value, task_path.
PendingWrite WriteAt(const Row& row, int first) {
  return {std::string(row.Text(first)), static_cast<std::int32_t>(row.Int(first + 1)),
          std::string(row.Text(first + 2)), BlobAt(row, first + 3),
          std::string(row.Text(first + 5))};
}

// A checkpoint's row, whose channels are not looked up yet.
struct CheckpointRow {
  std::string parent_checkpoint_id;
  Blob checkpoint;
  Blob metadata;
  std::vector<ChannelRef> channels;
};

// One thread and namespace: the unit within which checkpoints share blobs.
struct Space {
  std::string_view thread_id;
  std::string_view checkpoint_ns;
};

class SpaceBlobs final : public checkpoint::ValueBlobs {
 public:
  SpaceBlobs(Database& database, Space space) : database_(database), space_(space) {}

  Result<std::int64_t> Add(const ChannelValue& value) override {
    return Id(
        "INSERT INTO checkpoint_blobs(thread_id, checkpoint_ns, channel, version, type, value) "
        "VALUES (?, ?, ?, ?, ?, ?) RETURNING blob_id",
        {space_.thread_id, space_.checkpoint_ns, value.channel, value.version, value.value.type,
         value.value.bytes});
  }

  Result<std::int64_t> Newest(const ChannelVersion& version) override {
    return Id(
        "SELECT blob_id FROM checkpoint_blobs WHERE thread_id = ? AND checkpoint_ns = ? "
        "AND channel = ? AND version = ? ORDER BY blob_id DESC LIMIT 1",
        {space_.thread_id, space_.checkpoint_ns, version.channel, version.version});
  }

 private:
  Result<std::int64_t> Id(std::string_view sql, std::initializer_list<sql::Param> params) {
    std::int64_t id = kNoBlob;
    Status s = database_.Run(sql, params, [&](const Row& row) {
      id = row.Int(0);
      return true;
    });
    if (!s.ok()) return std::unexpected(std::move(s));
    return id;
  }

  Database& database_;
  Space space_;
};

// Gathers delta channel histories while ancestors go by, nearest first.
class HistoryWalk {
 public:
  struct Found {
    std::int64_t seed = kNoBlob;
    std::vector<PendingWrite> newest_first;
  };

  explicit HistoryWalk(std::span<const std::string> channels) {
    for (const std::string& channel : channels) found_.try_emplace(channel);
    unseeded_ = found_.size();
  }

  bool done() const { return unseeded_ == 0; }
  bool IsAt(std::string_view checkpoint_id) const { return checkpoint_id == ancestor_; }
  const Found& of(const std::string& channel) const { return found_.at(channel); }

  // The next ancestor; Leave() ends it.
  Status Enter(std::string_view checkpoint_id, ByteView encoded_channels) {
    ancestor_ = checkpoint_id;
    auto channels = checkpoint::DecodeChannelRefs(encoded_channels);
    if (!channels) return channels.error();
    channels_ = *std::move(channels);
    return {};
  }

  bool Wants(std::string_view channel) const {
    const auto found = found_.find(channel);
    return found != found_.end() && found->second.seed == kNoBlob;
  }

  void Add(PendingWrite write) { writes_.push_back(std::move(write)); }

  // Its writes are replayed upon its values.
  void Leave() {
    checkpoint::SortWrites(writes_);
    for (PendingWrite& write : std::views::reverse(writes_)) {
      found_.find(write.channel)->second.newest_first.push_back(std::move(write));
    }
    writes_.clear();
    for (const ChannelRef& ref : channels_) {
      if (ref.blob_id == kNoBlob || !Wants(ref.channel)) continue;
      found_.find(ref.channel)->second.seed = ref.blob_id;
      --unseeded_;
    }
    channels_.clear();
  }

 private:
  std::map<std::string, Found, std::less<>> found_;
  std::size_t unseeded_ = 0;
  std::string ancestor_;
  std::vector<ChannelRef> channels_;
  std::vector<PendingWrite> writes_;
};

class SqliteSaver final : public Checkpointer {
 public:
  explicit SqliteSaver(Database& database) : database_(database) {}

  Status Put(const NewCheckpoint& next) override {
    if (Status s = checkpoint::ValidateNewCheckpoint(next); !s.ok()) return s;
    return database_.InTransaction([&] { return Store(next); });
  }

  Status PutWrites(const CheckpointKey& key, std::span<const PendingWrite> writes) override {
    if (Status s = checkpoint::ValidateKey(key); !s.ok()) return s;
    if (Status s = checkpoint::ValidateWrites(writes); !s.ok()) return s;
    if (writes.empty()) return {};
    return database_.InTransaction([&]() -> Status {
      for (const PendingWrite& write : writes) {
        if (Status s = StoreWrite(key, write); !s.ok()) return s;
      }
      return {};
    });
  }

  Result<std::optional<CheckpointTuple>> GetTuple(const CheckpointKey& key) override {
    if (Status s = checkpoint::ValidateKey(key, checkpoint::EmptyId::kAllowed); !s.ok()) {
      return std::unexpected(std::move(s));
    }
    CheckpointKey found = key;
    auto row = key.checkpoint_id.empty() ? ReadNewest(found) : ReadCheckpoint(key);
    if (!row) return std::unexpected(std::move(row.error()));
    if (!*row) return std::nullopt;
    return Complete(std::move(found), **std::move(row));
  }

  Result<std::vector<CheckpointTuple>> List(const ListCheckpoints& list) override {
    if (Status s = checkpoint::ValidateList(list); !s.ok()) return std::unexpected(std::move(s));
    const auto filter = checkpoint::MetadataFilter::Parse(list.filter);
    if (!filter) return std::unexpected(filter.error());
    std::vector<CheckpointTuple> tuples;
    if (list.limit == 0) return tuples;
    Status status;
    Status s = ForEachListed(list, filter->matches_all(), [&](CheckpointKey key) {
      status = AppendIfMatching(std::move(key), *filter, tuples);
      return status.ok() && tuples.size() < list.limit;
    });
    if (!s.ok()) return std::unexpected(std::move(s));
    if (!status.ok()) return std::unexpected(std::move(status));
    return tuples;
  }

  Result<std::vector<PendingWrite>> Writes(const CheckpointKey& key,
                                           const std::string& channel) override {
    if (Status s = checkpoint::ValidateKey(key); !s.ok()) return std::unexpected(std::move(s));
    return ReadWrites(key, channel);
  }

  Result<std::vector<DeltaChannelHistory>> GetDeltaChannelHistory(
      const CheckpointKey& key, std::span<const std::string> channels) override {
    if (Status s = checkpoint::ValidateKey(key, checkpoint::EmptyId::kAllowed); !s.ok()) {
      return std::unexpected(std::move(s));
    }
    HistoryWalk walk(channels);
    if (Status s = WalkAncestors(key, walk); !s.ok()) return std::unexpected(std::move(s));
    std::vector<DeltaChannelHistory> histories;
    for (const std::string& channel : channels) {
      auto history = ReadHistory(channel, walk.of(channel));
      if (!history) return std::unexpected(std::move(history.error()));
      histories.push_back(*std::move(history));
    }
    return histories;
  }

  Status DeleteThread(const std::string& thread_id) override {
    if (Status s = checkpoint::ValidateThreadId(thread_id); !s.ok()) return s;
    return database_.InTransaction([&] { return EraseThread(thread_id); });
  }

  Status CopyThread(const std::string& source, const std::string& target) override {
    if (Status s = checkpoint::ValidateCopy(source, target); !s.ok()) return s;
    return database_.InTransaction([&]() -> Status {
      const auto taken = Count(
          "SELECT EXISTS (SELECT 1 FROM checkpoints WHERE thread_id = ?) "
          "OR EXISTS (SELECT 1 FROM writes WHERE thread_id = ?)",
          {target, target});
      if (!taken) return taken.error();
      if (*taken != 0) return checkpoint::TargetNotEmpty(target);
      return Copy(source, target);
    });
  }

  Result<std::uint64_t> DeleteForRuns(std::span<const std::string> run_ids) override {
    std::uint64_t deleted = 0;
    Status s = database_.InTransaction([&]() -> Status {
      DoomedBySpace doomed;
      if (Status found = FindCheckpointsOf(run_ids, doomed); !found.ok()) return found;
      for (const auto& [space, ids] : doomed) {
        const auto is_doomed = [&](const RetentionNode& node) {
          return ids.contains(node.checkpoint_id);
        };
        Status removed = DeleteDoomed({space.first, space.second}, is_doomed, deleted);
        if (!removed.ok()) return removed;
      }
      return {};
    });
    if (!s.ok()) return std::unexpected(std::move(s));
    return deleted;
  }

  Result<std::uint64_t> Prune(std::span<const std::string> thread_ids,
                              PruneStrategy strategy) override {
    for (const std::string& thread_id : thread_ids) {
      Status s = checkpoint::ValidateThreadId(thread_id);
      if (!s.ok()) return std::unexpected(std::move(s));
    }
    std::uint64_t deleted = 0;
    Status s = database_.InTransaction([&]() -> Status {
      for (const std::string& thread_id : thread_ids) {
        Status pruned = strategy == PruneStrategy::kDelete ? CountAndErase(thread_id, deleted)
                                                           : KeepLatest(thread_id, deleted);
        if (!pruned.ok()) return pruned;
      }
      return {};
    });
    if (!s.ok()) return std::unexpected(std::move(s));
    return deleted;
  }

  Result<CheckpointerStats> Stats() override {
    CheckpointerStats stats;
    Status s = database_.Run(
        "SELECT (SELECT COUNT(*) FROM (SELECT thread_id FROM checkpoints UNION "
        "SELECT thread_id FROM writes)), (SELECT COUNT(*) FROM checkpoints), "
        "(SELECT COUNT(*) FROM writes), (SELECT COUNT(*) FROM checkpoint_blobs)",
        {}, [&](const Row& row) {
          const auto count = [&](int column) {
            return static_cast<std::uint64_t>(row.Int(column));
          };
          stats = {count(0), count(1), count(2), count(3)};
          return true;
        });
    if (!s.ok()) return std::unexpected(std::move(s));
    return stats;
  }

 private:
  using DoomedBySpace = std::map<std::pair<std::string, std::string>, std::set<std::string>>;

  // --- put

  // The channels which a put must know: the parent's, to inherit from, and those
  // of the checkpoint that it replaces.
  struct Relatives {
    std::vector<ChannelRef> parent;
    std::vector<ChannelRef> replaced;
  };

  Status Store(const NewCheckpoint& next) {
    const Space space = {next.key.thread_id, next.key.checkpoint_ns};
    Relatives relatives;
    if (Status s = ReadRelatives(next, relatives); !s.ok()) return s;
    SpaceBlobs blobs(database_, space);
    auto channels = checkpoint::ResolveChannels(next, relatives.parent, blobs);
    if (!channels) return channels.error();
    if (Status s = WriteRow(next, *channels); !s.ok()) return s;
    return FreeUnreferenced(space, relatives.replaced);
  }

  Status ReadRelatives(const NewCheckpoint& next, Relatives& relatives) {
    return RunDecoding(
        "SELECT channels, checkpoint_id FROM checkpoints WHERE thread_id = ? "
        "AND checkpoint_ns = ? AND checkpoint_id IN (?, ?)",
        {next.key.thread_id, next.key.checkpoint_ns, next.key.checkpoint_id,
         next.parent_checkpoint_id},
        [&](const Row& row, std::vector<ChannelRef> channels) {
          const std::string_view id = row.Text(1);
          if (id == next.parent_checkpoint_id) relatives.parent = channels;
          if (id == next.key.checkpoint_id) relatives.replaced = std::move(channels);
        });
  }

  Status WriteRow(const NewCheckpoint& next, std::span<const ChannelRef> channels) {
    const Bytes encoded = checkpoint::EncodeChannelRefs(channels);
    return database_.Run(
        "INSERT OR REPLACE INTO checkpoints(thread_id, checkpoint_ns, checkpoint_id, "
        "parent_checkpoint_id, type, checkpoint, metadata_type, metadata, channels) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {next.key.thread_id, next.key.checkpoint_ns, next.key.checkpoint_id,
         next.parent_checkpoint_id, next.checkpoint.type, next.checkpoint.bytes, next.metadata.type,
         next.metadata.bytes, encoded});
  }

  Status StoreWrite(const CheckpointKey& key, const PendingWrite& write) {
    constexpr std::string_view kReplace =
        "INSERT OR REPLACE INTO writes(thread_id, checkpoint_ns, checkpoint_id, task_id, idx, "
        "channel, type, value, task_path) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    constexpr std::string_view kKeep =
        "INSERT OR IGNORE INTO writes(thread_id, checkpoint_ns, checkpoint_id, task_id, idx, "
        "channel, type, value, task_path) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    return database_.Run(write.idx < 0 ? kReplace : kKeep,
                         {key.thread_id, key.checkpoint_ns, key.checkpoint_id, write.task_id,
                          std::int64_t{write.idx}, write.channel, write.value.type,
                          write.value.bytes, write.task_path});
  }

  // --- read

  Result<std::optional<CheckpointRow>> ReadCheckpoint(const CheckpointKey& key) {
    return ReadRow(
        "SELECT channels, parent_checkpoint_id, type, checkpoint, metadata_type, metadata, "
        "checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? "
        "AND checkpoint_id = ?",
        {key.thread_id, key.checkpoint_ns, key.checkpoint_id}, nullptr);
  }

  // Fills in `key.checkpoint_id`.
  Result<std::optional<CheckpointRow>> ReadNewest(CheckpointKey& key) {
    return ReadRow(
        "SELECT channels, parent_checkpoint_id, type, checkpoint, metadata_type, metadata, "
        "checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? "
        "ORDER BY checkpoint_id DESC LIMIT 1",
        {key.thread_id, key.checkpoint_ns}, &key.checkpoint_id);
  }

  Result<std::optional<CheckpointRow>> ReadRow(std::string_view sql,
                                               std::initializer_list<sql::Param> params,
                                               std::string* checkpoint_id) {
    std::optional<CheckpointRow> found;
    Status s = RunDecoding(sql, params, [&](const Row& row, std::vector<ChannelRef> channels) {
      found = {std::string(row.Text(1)), BlobAt(row, 2), BlobAt(row, 4), std::move(channels)};
      if (checkpoint_id != nullptr) *checkpoint_id = row.Text(6);
    });
    if (!s.ok()) return std::unexpected(std::move(s));
    return found;
  }

  // Adds values and pending writes.
  Result<CheckpointTuple> Complete(CheckpointKey key, CheckpointRow row) {
    auto writes = ReadWrites(key, "");
    if (!writes) return std::unexpected(std::move(writes.error()));
    CheckpointTuple tuple = {std::move(key),
                             std::move(row.parent_checkpoint_id),
                             std::move(row.checkpoint),
                             std::move(row.metadata),
                             {},
                             *std::move(writes)};
    for (ChannelRef& ref : row.channels) {
      if (ref.blob_id == kNoBlob) continue;
      auto value = ReadValue(ref.blob_id);
      if (!value) return std::unexpected(std::move(value.error()));
      tuple.values.push_back({std::move(ref.channel), std::move(ref.version), *std::move(value)});
    }
    return tuple;
  }

  Result<Blob> ReadValue(std::int64_t blob_id) {
    std::optional<Blob> value;
    Status s = database_.Run("SELECT type, value FROM checkpoint_blobs WHERE blob_id = ?",
                             {blob_id}, [&](const Row& row) {
                               value = BlobAt(row, 0);
                               return true;
                             });
    if (!s.ok()) return std::unexpected(std::move(s));
    if (!value) return std::unexpected(MissingValue());
    return *std::move(value);
  }

  Result<std::vector<PendingWrite>> ReadWrites(const CheckpointKey& key, std::string_view channel) {
    std::vector<PendingWrite> writes;
    Status s = database_.Run(
        "SELECT task_id, idx, channel, type, value, task_path FROM writes "
        "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
        {key.thread_id, key.checkpoint_ns, key.checkpoint_id}, [&](const Row& row) {
          if (channel.empty() || row.Text(2) == channel) writes.push_back(WriteAt(row, 0));
          return true;
        });
    if (!s.ok()) return std::unexpected(std::move(s));
    checkpoint::SortWrites(writes);
    return writes;
  }

  // --- list

  Status AppendIfMatching(CheckpointKey key, const checkpoint::MetadataFilter& filter,
                          std::vector<CheckpointTuple>& tuples) {
    auto row = ReadCheckpoint(key);
    if (!row) return row.error();
    if (!*row || !filter.Matches((*row)->metadata.type, (*row)->metadata.bytes)) return {};
    auto tuple = Complete(std::move(key), **std::move(row));
    if (!tuple) return tuple.error();
    tuples.push_back(*std::move(tuple));
    return {};
  }

  // Calls `on_key` for what is within the bounds of `list`, in its order, until
  // it returns false. Reads keys only, which are all in the primary key's index,
  // so that sorting those of several namespaces does not load their checkpoints.
  Status ForEachListed(const ListCheckpoints& list, bool limited,
                       const std::function<bool(CheckpointKey)>& on_key) {
    std::vector<sql::Param> params;
    const std::string_view sql = ChooseListing(list, params);
    AppendBounds(list, params);
    params.push_back(limited ? std::int64_t{list.limit} : kUnlimited);
    return database_.Run(sql, params, [&](const Row& row) {
      return on_key({std::string(row.Text(0)), std::string(row.Text(1)), std::string(row.Text(2))});
    });
  }

  static std::string_view ChooseListing(const ListCheckpoints& list,
                                        std::vector<sql::Param>& params) {
    if (list.thread_id && list.checkpoint_ns) {
      params = {*list.thread_id, *list.checkpoint_ns};
      return "SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints "
             "WHERE thread_id = ? AND checkpoint_ns = ? "
             "AND checkpoint_id >= ? AND checkpoint_id <= ? AND checkpoint_id NOT IN (?, ?) "
             "AND (checkpoint_id <> ? OR (thread_id, checkpoint_ns) > (?, ?)) "
             "ORDER BY checkpoint_id DESC LIMIT ?";
    }
    if (list.thread_id) {
      params = {*list.thread_id};
      return "SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints "
             "WHERE thread_id = ? "
             "AND checkpoint_id >= ? AND checkpoint_id <= ? AND checkpoint_id NOT IN (?, ?) "
             "AND (checkpoint_id <> ? OR (thread_id, checkpoint_ns) > (?, ?)) "
             "ORDER BY checkpoint_id DESC, checkpoint_ns LIMIT ?";
    }
    const sql::Param any_namespace;
    params.assign(2, list.checkpoint_ns ? sql::Param(*list.checkpoint_ns) : any_namespace);
    return "SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints "
           "WHERE (? IS NULL OR checkpoint_ns = ?) "
           "AND checkpoint_id >= ? AND checkpoint_id <= ? AND checkpoint_id NOT IN (?, ?) "
           "AND (checkpoint_id <> ? OR (thread_id, checkpoint_ns) > (?, ?)) "
           "ORDER BY checkpoint_id DESC, thread_id, checkpoint_ns LIMIT ?";
  }

  // One range, so that a page is found at its place in the index, and then the
  // ends which do not belong to it. No id is "", so that "" excludes nothing.
  static void AppendBounds(const ListCheckpoints& list, std::vector<sql::Param>& params) {
    static constexpr std::uint8_t kBlob[] = {0};  // SQLite sorts every blob after every text
    static const std::string kNone;
    const std::string& cursor_id = list.cursor ? list.cursor->checkpoint_id : kNone;
    sql::Param upper = ByteView(kBlob);
    std::string_view lowest;
    for (const std::string* bound : {&list.before, &list.checkpoint_id, &cursor_id}) {
      if (bound->empty() || (!lowest.empty() && *bound >= lowest)) continue;
      lowest = *bound;
      upper = lowest;
    }
    params.push_back(std::max<std::string_view>(list.after, list.checkpoint_id));
    params.push_back(upper);
    params.push_back(list.before);
    params.push_back(list.after);
    params.push_back(cursor_id);
    params.push_back(list.cursor ? list.cursor->thread_id : kNone);
    params.push_back(list.cursor ? list.cursor->checkpoint_ns : kNone);
  }

  // --- delta channels

  // UNION drops a checkpoint that comes again, which ends a chain of parents
  // that runs in a circle. SQLite finds ancestors as they are asked for, so that
  // stopping early reads no more of them. CROSS JOIN keeps it from looking
  // through the whole thread for each step.
  Status WalkAncestors(const CheckpointKey& key, HistoryWalk& walk) {
    const auto target = IdOrNewest(key);
    if (!target) return target.error();
    Status status;
    Status s = database_.Run(
        "WITH RECURSIVE chain(checkpoint_id, parent_checkpoint_id) AS ("
        "SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints "
        "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? "
        "UNION SELECT c.checkpoint_id, c.parent_checkpoint_id FROM chain CROSS JOIN checkpoints c "
        "ON c.thread_id = ? AND c.checkpoint_ns = ? AND c.checkpoint_id = "
        "chain.parent_checkpoint_id) "
        "SELECT a.checkpoint_id, a.channels, w.task_id, w.idx, w.channel, w.type, w.value, "
        "w.task_path FROM chain CROSS JOIN checkpoints a ON a.thread_id = ? "
        "AND a.checkpoint_ns = ? AND a.checkpoint_id = chain.checkpoint_id "
        "LEFT JOIN writes w ON w.thread_id = ? AND w.checkpoint_ns = ? "
        "AND w.checkpoint_id = a.checkpoint_id WHERE chain.checkpoint_id <> ?",
        {key.thread_id, key.checkpoint_ns, *target, key.thread_id, key.checkpoint_ns, key.thread_id,
         key.checkpoint_ns, key.thread_id, key.checkpoint_ns, *target},
        [&](const Row& row) {
          if (!walk.IsAt(row.Text(0))) {
            walk.Leave();
            if (walk.done()) return false;
            status = walk.Enter(row.Text(0), row.Blob(1));
          }
          if (!row.IsNull(2) && walk.Wants(row.Text(4))) walk.Add(WriteAt(row, 2));
          return status.ok();
        });
    walk.Leave();
    return s.ok() ? status : s;
  }

  // "" if none is given and there is none.
  Result<std::string> IdOrNewest(const CheckpointKey& key) {
    std::string id = key.checkpoint_id;
    if (!id.empty()) return id;
    Status s = database_.Run(
        "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? "
        "ORDER BY checkpoint_id DESC LIMIT 1",
        {key.thread_id, key.checkpoint_ns}, [&](const Row& row) {
          id = row.Text(0);
          return true;
        });
    if (!s.ok()) return std::unexpected(std::move(s));
    return id;
  }

  Result<DeltaChannelHistory> ReadHistory(const std::string& channel,
                                          const HistoryWalk::Found& found) {
    const auto& newest_first = found.newest_first;
    DeltaChannelHistory history = {
        channel, std::nullopt, {newest_first.rbegin(), newest_first.rend()}};
    if (found.seed == kNoBlob) return history;
    auto seed = ReadValue(found.seed);
    if (!seed) return std::unexpected(std::move(seed.error()));
    history.seed = *std::move(seed);
    return history;
  }

  // --- delete

  Status EraseThread(const std::string& thread_id) {
    return RunEach(
        {"DELETE FROM checkpoints WHERE thread_id = ?", "DELETE FROM writes WHERE thread_id = ?",
         "DELETE FROM checkpoint_blobs WHERE thread_id = ?"},
        {thread_id});
  }

  Status CountAndErase(const std::string& thread_id, std::uint64_t& deleted) {
    const auto count = Count("SELECT COUNT(*) FROM checkpoints WHERE thread_id = ?", {thread_id});
    if (!count) return count.error();
    deleted += static_cast<std::uint64_t>(*count);
    return EraseThread(thread_id);
  }

  Status KeepLatest(const std::string& thread_id, std::uint64_t& deleted) {
    std::map<std::string, std::string> newest;  // of each namespace
    Status s = database_.Run(
        "SELECT checkpoint_ns, MAX(checkpoint_id) FROM checkpoints WHERE thread_id = ? "
        "GROUP BY checkpoint_ns HAVING COUNT(*) > 1",
        {thread_id}, [&](const Row& row) {
          newest.emplace(row.Text(0), row.Text(1));
          return true;
        });
    if (!s.ok()) return s;
    for (const auto& [checkpoint_ns, newest_id] : newest) {
      const auto is_doomed = [&](const RetentionNode& node) {
        return node.checkpoint_id != newest_id;
      };
      Status removed = DeleteDoomed({thread_id, checkpoint_ns}, is_doomed, deleted);
      if (!removed.ok()) return removed;
    }
    return {};
  }

  Status FindCheckpointsOf(std::span<const std::string> run_ids, DoomedBySpace& doomed) {
    const checkpoint::RunIds runs(run_ids);
    return database_.Run(
        "SELECT metadata_type, metadata, thread_id, checkpoint_ns, checkpoint_id FROM checkpoints",
        {}, [&](const Row& row) {
          if (runs.Own(row.Text(0), row.Blob(1))) {
            doomed[{std::string(row.Text(2)), std::string(row.Text(3))}].emplace(row.Text(4));
          }
          return true;
        });
  }

  // Deletes the checkpoints that `is_doomed` and that no other one is rebuilt from.
  Status DeleteDoomed(Space space, const std::function<bool(const RetentionNode&)>& is_doomed,
                      std::uint64_t& deleted) {
    std::vector<RetentionNode> nodes;
    if (Status s = ReadNodes(space, nodes); !s.ok()) return s;
    for (RetentionNode& node : nodes) node.doomed = is_doomed(node);
    checkpoint::SpareNeededAncestors(nodes);
    std::vector<ChannelRef> dropped;
    for (const RetentionNode& node : nodes) {
      if (!node.doomed) continue;
      if (Status s = DeleteCheckpoint(space, node.checkpoint_id); !s.ok()) return s;
      dropped.insert(dropped.end(), node.channels.begin(), node.channels.end());
      ++deleted;
    }
    return FreeUnreferenced(space, dropped);
  }

  Status ReadNodes(Space space, std::vector<RetentionNode>& nodes) {
    Status s = RunDecoding(
        "SELECT channels, checkpoint_id, parent_checkpoint_id FROM checkpoints "
        "WHERE thread_id = ? AND checkpoint_ns = ?",
        {space.thread_id, space.checkpoint_ns}, [&](const Row& row, std::vector<ChannelRef> refs) {
          nodes.push_back(
              {std::string(row.Text(1)), std::string(row.Text(2)), std::move(refs), {}, false});
        });
    if (!s.ok()) return s;
    std::unordered_map<std::string_view, RetentionNode*> by_id;
    for (RetentionNode& node : nodes) by_id.emplace(node.checkpoint_id, &node);
    return database_.Run(
        "SELECT DISTINCT checkpoint_id, channel FROM writes "
        "WHERE thread_id = ? AND checkpoint_ns = ?",
        {space.thread_id, space.checkpoint_ns}, [&](const Row& row) {
          const auto node = by_id.find(row.Text(0));
          if (node != by_id.end()) node->second->written_channels.emplace_back(row.Text(1));
          return true;
        });
  }

  Status DeleteCheckpoint(Space space, const std::string& checkpoint_id) {
    return RunEach({"DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? "
                    "AND checkpoint_id = ?",
                    "DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns = ? "
                    "AND checkpoint_id = ?"},
                   {space.thread_id, space.checkpoint_ns, checkpoint_id});
  }

  // Deletes those of the blobs that checkpoints let go of to which no other
  // checkpoint refers; only those of the same space can.
  Status FreeUnreferenced(Space space, std::span<const ChannelRef> dropped) {
    std::unordered_set<std::int64_t> unreferenced;
    for (const ChannelRef& ref : dropped) {
      if (ref.blob_id != kNoBlob) unreferenced.insert(ref.blob_id);
    }
    if (unreferenced.empty()) return {};
    Status s =
        RunDecoding("SELECT channels FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?",
                    {space.thread_id, space.checkpoint_ns},
                    [&](const Row&, const std::vector<ChannelRef>& refs) {
                      for (const ChannelRef& ref : refs) unreferenced.erase(ref.blob_id);
                    });
    if (!s.ok()) return s;
    for (const std::int64_t blob_id : unreferenced) {
      s = database_.Run("DELETE FROM checkpoint_blobs WHERE blob_id = ?", {blob_id});
      if (!s.ok()) return s;
    }
    return {};
  }

  // --- copy

  Status Copy(const std::string& source, const std::string& target) {
    std::unordered_map<std::int64_t, std::int64_t> copy_of = {{kNoBlob, kNoBlob}};
    if (Status s = CopyBlobs(source, target, copy_of); !s.ok()) return s;
    if (Status s = CopyCheckpoints(source, target, copy_of); !s.ok()) return s;
    return database_.Run(
        "INSERT INTO writes(thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, "
        "value, task_path) SELECT ?, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, "
        "value, task_path FROM writes WHERE thread_id = ?",
        {target, source});
  }

  // In the order of their ids, by which the newest of a version is told.
  Status CopyBlobs(const std::string& source, const std::string& target,
                   std::unordered_map<std::int64_t, std::int64_t>& copy_of) {
    std::vector<std::int64_t> ids;
    Status s =
        database_.Run("SELECT blob_id FROM checkpoint_blobs WHERE thread_id = ? ORDER BY blob_id",
                      {source}, [&](const Row& row) {
                        ids.push_back(row.Int(0));
                        return true;
                      });
    for (auto id = ids.begin(); s.ok() && id != ids.end(); ++id) {
      s = database_.Run(
          "INSERT INTO checkpoint_blobs(thread_id, checkpoint_ns, channel, version, type, value) "
          "SELECT ?, checkpoint_ns, channel, version, type, value FROM checkpoint_blobs "
          "WHERE blob_id = ? RETURNING blob_id",
          {target, *id}, [&](const Row& row) {
            copy_of[*id] = row.Int(0);
            return true;
          });
    }
    return s;
  }

  Status CopyCheckpoints(const std::string& source, const std::string& target,
                         const std::unordered_map<std::int64_t, std::int64_t>& copy_of) {
    struct Copied {
      std::string checkpoint_ns;
      std::string checkpoint_id;
      std::vector<ChannelRef> channels;
    };
    std::vector<Copied> copies;
    Status s = RunDecoding(
        "SELECT channels, checkpoint_ns, checkpoint_id FROM checkpoints WHERE thread_id = ?",
        {source}, [&](const Row& row, std::vector<ChannelRef> refs) {
          copies.push_back({std::string(row.Text(1)), std::string(row.Text(2)), std::move(refs)});
        });
    for (auto copy = copies.begin(); s.ok() && copy != copies.end(); ++copy) {
      for (ChannelRef& ref : copy->channels) {
        const auto blob = copy_of.find(ref.blob_id);
        if (blob == copy_of.end()) return MissingValue();
        ref.blob_id = blob->second;
      }
      const Bytes encoded = checkpoint::EncodeChannelRefs(copy->channels);
      s = database_.Run(
          "INSERT INTO checkpoints(thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, "
          "type, checkpoint, metadata_type, metadata, channels) SELECT ?, checkpoint_ns, "
          "checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata_type, metadata, ? "
          "FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
          {target, encoded, source, copy->checkpoint_ns, copy->checkpoint_id});
    }
    return s;
  }

  // --- statements

  // Runs a statement whose first column is `channels`.
  Status RunDecoding(std::string_view sql, std::initializer_list<sql::Param> params,
                     const std::function<void(const Row&, std::vector<ChannelRef>)>& on_row) {
    Status status;
    Status s = database_.Run(sql, params, [&](const Row& row) {
      auto channels = checkpoint::DecodeChannelRefs(row.Blob(0));
      if (!channels) {
        status = std::move(channels.error());
        return false;
      }
      on_row(row, *std::move(channels));
      return true;
    });
    return s.ok() ? status : s;
  }

  Status RunEach(std::initializer_list<std::string_view> statements,
                 std::initializer_list<sql::Param> params) {
    for (const std::string_view sql : statements) {
      if (Status s = database_.Run(sql, params); !s.ok()) return s;
    }
    return {};
  }

  Result<std::int64_t> Count(std::string_view sql, std::initializer_list<sql::Param> params) {
    std::int64_t count = 0;
    Status s = database_.Run(sql, params, [&](const Row& row) {
      count = row.Int(0);
      return true;
    });
    if (!s.ok()) return std::unexpected(std::move(s));
    return count;
  }

  static Status MissingValue() {
    return {StatusCode::kCorrupt, "a channel value of a checkpoint is missing"};
  }

  Database& database_;
};

}  // namespace

std::unique_ptr<Checkpointer> MakeSqliteSaver(Database& database) {
  return std::make_unique<SqliteSaver>(database);
}

}  // namespace keepsake
