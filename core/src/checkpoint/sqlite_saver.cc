#include "keepsake/sqlite_saver.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/varint.h"
#include "checkpoint/channel_plan.h"
#include "checkpoint/content_logs.h"
#include "checkpoint/last_puts.h"
#include "checkpoint/metadata.h"
#include "checkpoint/open_step.h"
#include "checkpoint/pruning.h"
#include "checkpoint/stored_checkpoints.h"
#include "checkpoint/stored_values.h"
#include "checkpoint/stored_writes.h"
#include "checkpoint/thread_namespaces.h"
#include "checkpoint/validation.h"
#include "checkpoint/write_order.h"
#include "sql/prefix_range.h"

namespace keepsake {
namespace {

using checkpoint::ChannelPlan;
using checkpoint::kNoNamespace;
using checkpoint::kNoValue;
using checkpoint::LastPut;
using checkpoint::NamespaceId;
using checkpoint::Pruning;
using checkpoint::Relative;
using checkpoint::StoredChannel;
using checkpoint::StoredCheckpoint;
using checkpoint::StoredWrite;
using checkpoint::ThreadNamespace;
using checkpoint::ValueSource;
using sql::Database;
using sql::Row;

constexpr std::int64_t kUnlimited = -1;  // LIMIT
// What a smaller value shares with one that has to be sought is not worth a look.
constexpr std::size_t kWorthSharing = 1024;
// Of a list of threads that is filtered so many are read at a time.
constexpr std::uint32_t kThreadsOfPage = 64;

// A row of `checkpoints`.
struct CheckpointRow {
  NamespaceId ns = kNoNamespace;
  std::string checkpoint_id;
  Bytes row;
};

// Undoes a transaction whose work was only to be looked at.
Status DryRun() { return {StatusCode::kInternal, "dry run"}; }

class SqliteSaver final : public Checkpointer {
 public:
  explicit SqliteSaver(Database& database)
      : database_(database),
        values_(database),
        checkpoints_(values_.logs()),
        namespaces_(database, values_.logs()) {}

  Status Put(const NewCheckpoint& next) override {
    if (Status s = checkpoint::ValidateNewCheckpoint(next); !s.ok()) return s;
    if (const auto last = last_puts_.Take(next)) {
      Status s = database_.InTransaction([&] { return StoreUpon(next, *last); });
      if (s.ok()) return s;
      // Perhaps because what is there is another by now: once more, after a look at it.
    }
    return database_.InTransaction([&] { return Store(next); });
  }

  Status PutWrites(const CheckpointKey& key, std::span<const PendingWrite> writes) override {
    if (Status s = checkpoint::ValidateKey(key); !s.ok()) return s;
    if (Status s = checkpoint::ValidateWrites(writes); !s.ok()) return s;
    if (writes.empty()) return {};
    if (TryStoreWrites(key, writes)) return {};
    return database_.InTransaction([&]() -> Status {
      const auto ns = namespaces_.FindOrMake(key.thread_id, key.checkpoint_ns);
      if (!ns) return ns.error();
      std::map<std::string_view, std::vector<const PendingWrite*>> by_task;
      for (const PendingWrite& write : writes) by_task[write.task_id].push_back(&write);
      for (const auto& [task_id, of_task] : by_task) {
        Status s = StoreWrites(*ns, key.checkpoint_id, task_id, of_task);
        if (!s.ok()) return s;
      }
      return {};
    });
  }

  Result<std::optional<CheckpointTuple>> GetTuple(const CheckpointKey& key) override {
    if (Status s = checkpoint::ValidateKey(key, checkpoint::EmptyId::kAllowed); !s.ok()) {
      return std::unexpected(std::move(s));
    }
    auto found = FindCheckpoint(key);
    if (!found) return std::unexpected(std::move(found.error()));
    if (!*found) return std::nullopt;
    const auto record = checkpoints_.Decode((*found)->row);
    if (!record) return std::unexpected(record.error());
    return Complete((*found)->ns, {key.thread_id, key.checkpoint_ns, (*found)->checkpoint_id},
                    *record);
  }

  Result<std::vector<CheckpointTuple>> List(const ListCheckpoints& list) override {
    if (Status s = checkpoint::ValidateList(list); !s.ok()) return std::unexpected(std::move(s));
    const auto filter = checkpoint::MetadataFilter::Parse(list.filter);
    if (!filter) return std::unexpected(filter.error());
    std::vector<CheckpointTuple> tuples;
    if (list.limit == 0) return tuples;
    Status s =
        ForEachListed(list, filter->matches_all(),
                      [&](NamespaceId ns, CheckpointKey key, ByteView row) -> Result<bool> {
                        const auto record = checkpoints_.Decode(row);
                        if (!record) return std::unexpected(record.error());
                        if (!filter->Matches(record->metadata.type, record->metadata.bytes)) {
                          return true;
                        }
                        auto tuple = Complete(ns, std::move(key), *record);
                        if (!tuple) return std::unexpected(std::move(tuple.error()));
                        tuples.push_back(*std::move(tuple));
                        return tuples.size() < list.limit;
                      });
    if (!s.ok()) return std::unexpected(std::move(s));
    return tuples;
  }

  Result<std::vector<PendingWrite>> Writes(const CheckpointKey& key,
                                           const std::string& channel) override {
    if (Status s = checkpoint::ValidateKey(key); !s.ok()) return std::unexpected(std::move(s));
    const auto ns = namespaces_.Find(key.thread_id, key.checkpoint_ns);
    if (!ns) return std::unexpected(ns.error());
    return ReadWrites(*ns, key.checkpoint_id,
                      [&](std::string_view name) { return channel.empty() || name == channel; });
  }

  Result<std::vector<DeltaChannelHistory>> GetDeltaChannelHistory(
      const CheckpointKey& key, std::span<const std::string> channels) override {
    if (Status s = checkpoint::ValidateKey(key, checkpoint::EmptyId::kAllowed); !s.ok()) {
      return std::unexpected(std::move(s));
    }
    std::map<std::string, DeltaChannelHistory, std::less<>> found;
    for (const std::string& channel : channels) found[channel].channel = channel;
    if (Status s = WalkAncestors(key, found); !s.ok()) return std::unexpected(std::move(s));
    std::vector<DeltaChannelHistory> histories;
    for (const std::string& channel : channels) histories.push_back(found[channel]);
    return histories;
  }

  Status DeleteThread(const std::string& thread_id) override {
    if (Status s = checkpoint::ValidateThreadId(thread_id); !s.ok()) return s;
    return InPruning([&](Pruning& pruning) { return pruning.EraseThread(thread_id); }, {}).status;
  }

  Status CopyThread(const std::string& source, const std::string& target) override {
    if (Status s = checkpoint::ValidateCopy(source, target); !s.ok()) return s;
    return database_.InTransaction([&]() -> Status {
      if (Status s = namespaces_.RequireNone(target); !s.ok()) return s;
      const auto namespaces = namespaces_.OfThread(source);
      if (!namespaces) return namespaces.error();
      if (namespaces->empty()) return checkpoint::NoThread(source);
      for (const ThreadNamespace& ns : *namespaces) {
        const auto copy = MakeCopyOf(ns, target);
        if (!copy) return copy.error();
        if (Status s = CopyRows(ns.id, *copy, std::nullopt); !s.ok()) return s;
      }
      return {};
    });
  }

  using Checkpointer::DeleteForRuns;
  Result<std::uint64_t> DeleteForRuns(std::span<const std::string> run_ids,
                                      const std::string& thread_prefix) override {
    const checkpoint::RunIds runs(run_ids);
    return CountOf(InPruning(
        [&](Pruning& pruning) { return pruning.DeleteForRuns(runs, thread_prefix); }, {}));
  }

  Result<Pruned> Prune(const RetentionRules& rules) override {
    if (Status s = checkpoint::ValidateRules(rules); !s.ok()) return std::unexpected(std::move(s));
    auto outcome = InPruning([&](Pruning& pruning) { return pruning.ByRules(rules); },
                             {.dry_run = rules.dry_run, .overwrite = rules.overwrite});
    if (!outcome.status.ok()) return std::unexpected(std::move(outcome.status));
    return outcome.pruned;
  }

  Result<std::vector<ThreadInfo>> Threads(const ListThreads& list) override {
    const auto filter = checkpoint::MetadataFilter::Parse(list.filter);
    if (!filter) return std::unexpected(filter.error());
    ListThreads page = list;
    if (!filter->matches_all()) page.limit = std::max(list.limit, kThreadsOfPage);
    std::vector<ThreadInfo> threads;
    while (threads.size() < list.limit) {
      auto read = namespaces_.list().Read(page);
      if (!read) return read;
      for (ThreadInfo& thread : *read) {
        if (threads.size() == list.limit) break;
        page.cursor = ListThreads::Cursor{thread.newest_checkpoint_id, thread.thread_id};
        Status s = DescribeNewest(thread);
        if (s.ok() && !filter->Matches(thread.metadata.type, thread.metadata.bytes)) continue;
        if (s.ok()) s = DescribeSizes(thread);
        if (!s.ok()) return std::unexpected(std::move(s));
        threads.push_back(std::move(thread));
      }
      if (read->size() < page.limit) break;
    }
    return threads;
  }

  Status RenameThread(const std::string& source, const std::string& target) override {
    if (Status s = checkpoint::ValidateCopy(source, target); !s.ok()) return s;
    return database_.InTransaction([&]() -> Status {
      if (Status s = namespaces_.RequireNone(target); !s.ok()) return s;
      const auto namespaces = namespaces_.OfThread(source);
      if (!namespaces) return namespaces.error();
      if (namespaces->empty()) return checkpoint::NoThread(source);
      return namespaces_.Rename(source, target);
    });
  }

  Status ForkThread(const std::string& source, const std::string& checkpoint_id,
                    const std::string& target) override {
    if (Status s = checkpoint::ValidateKey({source, "", checkpoint_id}); !s.ok()) return s;
    if (Status s = checkpoint::ValidateThreadId(target); !s.ok()) return s;
    return database_.InTransaction([&]() -> Status {
      if (Status s = namespaces_.RequireNone(target); !s.ok()) return s;
      const auto namespaces = namespaces_.OfThread(source);
      if (!namespaces) return namespaces.error();
      return Fork(*namespaces, {source, "", checkpoint_id}, target);
    });
  }

  Result<CheckpointerStats> Stats() override {
    CheckpointerStats stats;
    Status s = database_.Run(
        "SELECT (SELECT COUNT(DISTINCT thread_id) FROM thread_namespaces), "
        "(SELECT COUNT(*) FROM checkpoints), (SELECT COALESCE(SUM(count), 0) FROM writes), "
        "(SELECT COALESCE(SUM(LENGTH(checkpoint)), 0) FROM checkpoints) + "
        "(SELECT COALESCE(SUM(LENGTH(writes)), 0) FROM writes) + "
        "(SELECT COALESCE(SUM(LENGTH(bytes)), 0) FROM content)",
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

  Result<std::uint64_t> Measure(const std::string& thread, bool below) override {
    if (!below) {
      ThreadInfo info;
      info.thread_id = thread;
      Status s = DescribeSizes(info);
      if (!s.ok()) return std::unexpected(std::move(s));
      return info.bytes;
    }
    auto bytes = namespaces_.list().BytesOfRows(thread);
    if (!bytes) return bytes;
    const auto logs = namespaces_.list().LogsOf(thread);
    if (!logs) return std::unexpected(logs.error());
    for (const checkpoint::LogId log : *logs) {
      const auto of_log = values_.logs().BytesOfLog(log);
      if (!of_log) return of_log;
      *bytes += *of_log;
    }
    return bytes;
  }

 private:
  // --- put

  Status Store(const NewCheckpoint& next) {
    const auto ns = namespaces_.FindOrMake(next.key.thread_id, next.key.checkpoint_ns);
    if (!ns) return ns.error();
    if (Status s = namespaces_.list().NoteChanged(*ns); !s.ok()) return s;
    const auto relative = ReadRelative(*ns, next.parent_checkpoint_id);
    if (!relative) return relative.error();
    return Insert(next, *ns, *relative, [&](ByteView row) {
      return database_.Run(
          "INSERT OR REPLACE INTO checkpoints(ns_id, checkpoint_id, checkpoint) VALUES (?, ?, ?)",
          {*ns, next.key.checkpoint_id, row});
    });
  }

  // Fails if `last` is not what is stored: then there is no namespace, which must not be null.
  Status StoreUpon(const NewCheckpoint& next, const LastPut& last) {
    return Insert(next, last.ns, last.relative, [&](ByteView row) {
      return database_.Run(
          "INSERT OR REPLACE INTO checkpoints(ns_id, checkpoint_id, checkpoint) VALUES ("
          "(SELECT ns_id FROM thread_namespaces CROSS JOIN checkpoints USING (ns_id) WHERE "
          "thread_id = ? "
          "AND checkpoint_ns = ? AND ns_id = ? AND listed = 0 AND checkpoint_id = ? "
          "AND checkpoint = ?), ?, ?)",
          {next.key.thread_id, next.key.checkpoint_ns, last.ns, next.parent_checkpoint_id,
           last.relative.row, next.key.checkpoint_id, row});
    });
  }

  template <typename InsertRow>
  Status Insert(const NewCheckpoint& next, NamespaceId ns, const Relative& relative,
                InsertRow insert_row) {
    Bytes record = checkpoint::EncodeCheckpoint(next);
    if (Status s = AppendChannels(next, ns, relative, record); !s.ok()) return s;
    const ByteView previous = relative.record ? relative.record->bytes() : ByteView();
    auto row = checkpoints_.Encode(ns, record, relative.row, previous);
    if (!row) return row.error();
    if (Status s = insert_row(*row); !s.ok()) return s;
    return last_puts_.Keep(next.key, ns, *std::move(row), std::move(record));
  }

  // The parent, or else the newest of the namespace.
  Result<Relative> ReadRelative(NamespaceId ns, const std::string& parent_id) {
    Relative relative;
    for (const bool is_parent : {true, false}) {
      if (is_parent && parent_id.empty()) continue;
      auto found = ReadCheckpoint(ns, is_parent ? parent_id : "");
      if (!found) return std::unexpected(std::move(found.error()));
      if (!*found) continue;
      relative.is_parent = is_parent;
      relative.row = std::move((*found)->row);
      break;
    }
    if (relative.row.empty()) return relative;
    auto record = checkpoints_.Decode(relative.row);
    if (!record) return std::unexpected(std::move(record.error()));
    relative.record = *std::move(record);
    auto channels = relative.record->Channels();
    if (!channels) return std::unexpected(std::move(channels.error()));
    relative.channels = *std::move(channels);
    return relative;
  }

  Status AppendChannels(const NewCheckpoint& next, NamespaceId ns, const Relative& relative,
                        Bytes& record) {
    std::vector<checkpoint::ParentChannel> parent;
    if (relative.is_parent) {
      for (const StoredChannel& channel : relative.channels) {
        parent.push_back({channel.name, channel.version});
      }
    }
    const std::vector<ChannelPlan> plans = checkpoint::PlanChannels(next, parent);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const ChannelVersion& version = next.channel_versions[i];
      Bytes value;
      Status s;
      if (plans[i].source == ValueSource::kBrought) {
        s = StoreValue(next, next.values[plans[i].index], ns, relative, value);
      } else if (plans[i].source == ValueSource::kParent) {
        keepsake::Append(relative.channels[plans[i].index].value, value);
      } else if (plans[i].source == ValueSource::kSought) {
        s = FindValue(ns, version, value);
      }
      if (!s.ok()) return s;
      if (value.empty()) value.push_back(kNoValue);
      checkpoint::AppendChannel(version.channel, version.version, value, record);
    }
    return {};
  }

  Status StoreValue(const NewCheckpoint& next, const NewValue& value, NamespaceId ns,
                    const Relative& relative, Bytes& out) {
    const bool is_whole = value.delta.base_stamp == 0;
    checkpoint::ValuePlace place = {ns, value.channel, {}, ns};
    if (is_whole || relative.is_parent) place.base = relative.ValueOf(value.channel);
    Bytes earlier;
    if (place.base.empty() && relative.is_parent &&
        (!is_whole || value.value.bytes.size() >= kWorthSharing)) {
      if (Status s = FindEarlier(ns, relative, value.channel, earlier); !s.ok()) return s;
      place.base = earlier;
    }
    if (!place.base.empty() || !is_whole || next.key.checkpoint_ns.empty() ||
        value.value.bytes.size() < kWorthSharing) {
      return values_.Put(place, value, out);
    }
    const auto enclosing = ReadEnclosing(next.key, place.base_space);
    if (!enclosing) return enclosing.error();
    place.base = enclosing->ValueOf(value.channel);
    return values_.Put(place, value, out);
  }

  // The value that the channel had last in an ancestor of the parent, or nothing.
  Status FindEarlier(NamespaceId ns, const Relative& parent, std::string_view channel,
                     Bytes& value) {
    std::string id(parent.record->parent_checkpoint_id);
    for (int i = 0; i < checkpoint::kMostAncestors && !id.empty() && value.empty(); ++i) {
      const auto found = ReadCheckpoint(ns, id);
      if (!found) return found.error();
      if (!*found) break;
      const auto record = checkpoints_.Decode((*found)->row);
      if (!record) return record.error();
      const auto channels = record->Channels();
      if (!channels) return channels.error();
      for (const StoredChannel& own : *channels) {
        if (own.name == channel && own.value.front() != kNoValue) {
          keepsake::Append(own.value, value);
        }
      }
      id = record->parent_checkpoint_id;
    }
    return {};
  }

  // A subgraph begins with what its graph has.
  Result<Relative> ReadEnclosing(const CheckpointKey& key, NamespaceId& enclosing) {
    const std::size_t end = key.checkpoint_ns.rfind('|');
    const std::string_view outer =
        std::string_view(key.checkpoint_ns).substr(0, end == std::string::npos ? 0 : end);
    const auto ns = namespaces_.Find(key.thread_id, outer);
    if (!ns) return std::unexpected(ns.error());
    enclosing = *ns;
    return ReadRelative(*ns, "");
  }

  // That of this version in the checkpoint with the greatest id.
  Status FindValue(NamespaceId ns, const ChannelVersion& version, Bytes& value) {
    return database_.Run(
        "SELECT checkpoint FROM checkpoints WHERE ns_id = ? ORDER BY checkpoint_id DESC", {ns},
        [&](const Row& row) -> Result<bool> {
          const auto record = checkpoints_.Decode(row.Blob(0));
          if (!record) return std::unexpected(record.error());
          const auto channels = record->Channels();
          if (!channels) return std::unexpected(channels.error());
          for (const StoredChannel& channel : *channels) {
            if (channel.name != version.channel || channel.version != version.version) continue;
            if (channel.value.front() != kNoValue) keepsake::Append(channel.value, value);
          }
          return value.empty();
        });
  }

  Status StoreWrites(NamespaceId ns, const std::string& checkpoint_id, std::string_view task_id,
                     std::span<const PendingWrite* const> writes) {
    Bytes there;
    Status s = database_.Run(
        "SELECT writes FROM writes WHERE ns_id = ? AND checkpoint_id = ? AND task_id = ?",
        {ns, checkpoint_id, task_id},
        [&](const Row& row) { keepsake::Append(row.Blob(0), there); });
    if (!s.ok()) return s;
    auto stored = checkpoint::DecodeWrites(there);
    if (!stored) return stored.error();
    std::vector<Bytes> values;
    if (s = AddWrites(ns, writes, values, *stored); !s.ok()) return s;
    return database_.Run(
        "INSERT OR REPLACE INTO writes(ns_id, checkpoint_id, task_id, count, writes) "
        "VALUES (?, ?, ?, ?, ?)",
        {ns, checkpoint_id, task_id, static_cast<std::int64_t>(stored->size()),
         checkpoint::EncodeWrites(*stored)});
  }

  // The short writes of one task that has none yet, in one statement. False, and nothing
  // was done, if it may be another case.
  bool TryStoreWrites(const CheckpointKey& key, std::span<const PendingWrite> writes) {
    std::vector<const PendingWrite*> of_task;
    std::size_t bytes = 0;
    for (const PendingWrite& write : writes) {
      if (write.task_id != writes.front().task_id) return false;
      bytes += write.value.bytes.size();
      of_task.push_back(&write);
    }
    if (bytes > checkpoint::kShortWrites) return false;
    std::vector<Bytes> values;
    std::vector<StoredWrite> stored;
    if (!AddWrites(kNoNamespace, of_task, values, stored).ok()) return false;
    return database_
        .Run(
            "INSERT INTO writes(ns_id, checkpoint_id, task_id, count, writes) VALUES ("
            "(SELECT ns_id FROM thread_namespaces WHERE thread_id = ? AND checkpoint_ns = ?), ?, "
            "?, ?, ?)",
            {key.thread_id, key.checkpoint_ns, key.checkpoint_id, writes.front().task_id,
             static_cast<std::int64_t>(stored.size()), checkpoint::EncodeWrites(stored)})
        .ok();
  }

  // `values` are what `stored` has views of.
  Status AddWrites(NamespaceId ns, std::span<const PendingWrite* const> writes,
                   std::vector<Bytes>& values, std::vector<StoredWrite>& stored) {
    values.resize(writes.size());
    std::size_t room = checkpoint::kShortWrites;
    for (std::size_t i = 0; i < writes.size(); ++i) {
      const PendingWrite& write = *writes[i];
      const auto same = std::ranges::find(stored, write.idx, &StoredWrite::idx);
      if (same != stored.end() && write.idx >= 0) continue;
      const std::size_t most = std::max(room, checkpoint::kShortValue);
      if (Status s = values_.Put(ns, write.value, values[i], most); !s.ok()) return s;
      room -= std::min(room, values[i].size());
      const StoredWrite added = {write.idx, write.channel, write.task_path, values[i]};
      if (same != stored.end()) {
        *same = added;
      } else {
        stored.push_back(added);
      }
    }
    return {};
  }

  // --- read

  // The newest if `checkpoint_id` is empty.
  Result<std::optional<CheckpointRow>> ReadCheckpoint(NamespaceId ns,
                                                      const std::string& checkpoint_id) {
    return checkpoint_id.empty()
               ? ReadOne(
                     "SELECT ns_id, checkpoint_id, checkpoint FROM checkpoints WHERE ns_id = ? "
                     "ORDER BY checkpoint_id DESC LIMIT 1",
                     {ns})
               : ReadOne(
                     "SELECT ns_id, checkpoint_id, checkpoint FROM checkpoints WHERE ns_id = ? "
                     "AND checkpoint_id = ?",
                     {ns, checkpoint_id});
  }

  Result<std::optional<CheckpointRow>> FindCheckpoint(const CheckpointKey& key) {
    return key.checkpoint_id.empty()
               ? ReadOne(
                     "SELECT ns_id, checkpoint_id, checkpoint "
                     "FROM thread_namespaces CROSS JOIN checkpoints USING (ns_id) "
                     "WHERE thread_id = ? AND checkpoint_ns = ? "
                     "ORDER BY checkpoint_id DESC LIMIT 1",
                     {key.thread_id, key.checkpoint_ns})
               : ReadOne(
                     "SELECT ns_id, checkpoint_id, checkpoint "
                     "FROM thread_namespaces CROSS JOIN checkpoints USING (ns_id) "
                     "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
                     {key.thread_id, key.checkpoint_ns, key.checkpoint_id});
  }

  Result<std::optional<CheckpointRow>> ReadOne(std::string_view sql,
                                               std::initializer_list<sql::Param> params) {
    std::optional<CheckpointRow> found;
    Status s = database_.Run(sql, params, [&](const Row& row) {
      const ByteView record = row.Blob(2);
      found = {row.Int(0), std::string(row.Text(1)), Bytes(record.begin(), record.end())};
    });
    if (!s.ok()) return std::unexpected(std::move(s));
    return found;
  }

  // Adds values and pending writes.
  Result<CheckpointTuple> Complete(NamespaceId ns, CheckpointKey key,
                                   const StoredCheckpoint& record) {
    auto writes = ReadWrites(ns, key.checkpoint_id, [](std::string_view) { return true; });
    if (!writes) return std::unexpected(std::move(writes.error()));
    CheckpointTuple tuple = {std::move(key),
                             std::string(record.parent_checkpoint_id),
                             record.checkpoint.ToBlob(),
                             record.metadata.ToBlob(),
                             {},
                             *std::move(writes)};
    const auto channels = record.Channels();
    if (!channels) return std::unexpected(channels.error());
    for (const StoredChannel& channel : *channels) {
      if (channel.value.front() == kNoValue) continue;
      auto value = values_.Read(channel.value);
      if (!value) return std::unexpected(std::move(value.error()));
      tuple.values.push_back({std::string(channel.name), channel.version, *std::move(value)});
    }
    return tuple;
  }

  Result<std::vector<PendingWrite>> ReadWrites(NamespaceId ns, const std::string& checkpoint_id,
                                               FunctionRef<bool(std::string_view channel)> wants) {
    std::vector<PendingWrite> writes;
    Status s = database_.Run(
        "SELECT task_id, writes FROM writes WHERE ns_id = ? AND checkpoint_id = ?",
        {ns, checkpoint_id}, [&](const Row& row) -> Status {
          const auto stored = checkpoint::DecodeWrites(row.Blob(1));
          if (!stored) return stored.error();
          for (const StoredWrite& write : *stored) {
            if (!wants(write.channel)) continue;
            auto value = values_.Read(write.value);
            if (!value) return std::move(value.error());
            writes.push_back({std::string(row.Text(0)), write.idx, std::string(write.channel),
                              *std::move(value), std::string(write.task_path)});
          }
          return {};
        });
    if (!s.ok()) return std::unexpected(std::move(s));
    checkpoint::SortWrites(writes);
    return writes;
  }

  // --- list

  using OnListed = Visitor<NamespaceId, CheckpointKey, ByteView>;

  // Calls `on_row` for each row within the bounds of `list`, in its order.
  Status ForEachListed(const ListCheckpoints& list, bool limited, const OnListed& on_row) {
    std::vector<sql::Param> params;
    const sql::PrefixRange threads(list.thread_prefix);
    const std::string_view sql = ChooseListing(list, threads, params);
    AppendBounds(list, params);
    params.push_back(limited ? std::int64_t{list.limit} : kUnlimited);
    return database_.Run(sql, params, [&](const Row& row) {
      return on_row(row.Int(0),
                    {std::string(row.Text(1)), std::string(row.Text(2)), std::string(row.Text(3))},
                    row.Blob(4));
    });
  }

  // Within one namespace rows come as they lie; of several, keys are sorted first, so
  // that their rows are read as far as the list is.
  static std::string_view ChooseListing(const ListCheckpoints& list,
                                        const sql::PrefixRange& threads,
                                        std::vector<sql::Param>& params) {
    if (list.thread_id && list.checkpoint_ns) {
      params = {*list.thread_id, *list.checkpoint_ns};
      return "SELECT ns_id, thread_id, checkpoint_ns, checkpoint_id, checkpoint "
             "FROM thread_namespaces CROSS JOIN checkpoints USING (ns_id) "
             "WHERE thread_id = ? AND checkpoint_ns = ? "
             "AND checkpoint_id >= ? AND checkpoint_id <= ? AND checkpoint_id NOT IN (?, ?) "
             "AND (checkpoint_id <> ? OR (thread_id, checkpoint_ns) > (?, ?)) "
             "ORDER BY checkpoint_id DESC LIMIT ?";
    }
    if (list.thread_id) {
      params = {*list.thread_id};
      return "SELECT l.ns_id, thread_id, checkpoint_ns, l.checkpoint_id, checkpoint FROM ("
             "SELECT ns_id, thread_id, checkpoint_ns, checkpoint_id "
             "FROM thread_namespaces CROSS JOIN checkpoints USING (ns_id) WHERE thread_id = ? "
             "AND checkpoint_id >= ? AND checkpoint_id <= ? AND checkpoint_id NOT IN (?, ?) "
             "AND (checkpoint_id <> ? OR (thread_id, checkpoint_ns) > (?, ?)) "
             "ORDER BY checkpoint_id DESC, checkpoint_ns LIMIT ?) AS l "
             "CROSS JOIN checkpoints c ON c.ns_id = l.ns_id AND c.checkpoint_id = l.checkpoint_id";
    }
    const sql::Param ns = list.checkpoint_ns ? sql::Param(*list.checkpoint_ns) : sql::Param();
    params = {threads.first(), threads.end(), ns, ns};
    return "SELECT l.ns_id, thread_id, checkpoint_ns, l.checkpoint_id, checkpoint FROM ("
           "SELECT ns_id, thread_id, checkpoint_ns, checkpoint_id "
           "FROM thread_namespaces CROSS JOIN checkpoints USING (ns_id) "
           "WHERE thread_id >= ? AND thread_id < ? AND (? IS NULL OR checkpoint_ns = ?) "
           "AND checkpoint_id >= ? AND checkpoint_id <= ? AND checkpoint_id NOT IN (?, ?) "
           "AND (checkpoint_id <> ? OR (thread_id, checkpoint_ns) > (?, ?)) "
           "ORDER BY checkpoint_id DESC, thread_id, checkpoint_ns LIMIT ?) AS l "
           "CROSS JOIN checkpoints c ON c.ns_id = l.ns_id AND c.checkpoint_id = l.checkpoint_id";
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

  using Histories = std::map<std::string, DeltaChannelHistory, std::less<>>;

  // Nearest first, each once: a chain of parents may run in a circle.
  Status WalkAncestors(const CheckpointKey& key, Histories& histories) {
    const auto ns = namespaces_.Find(key.thread_id, key.checkpoint_ns);
    if (!ns) return ns.error();
    std::set<std::string, std::less<>> visited;
    std::string id = key.checkpoint_id;
    std::size_t unseeded = histories.size();
    for (bool is_ancestor = false; unseeded > 0 && (id.empty() ? !is_ancestor : true);
         is_ancestor = true) {
      const auto found = ReadCheckpoint(*ns, id);
      if (!found) return found.error();
      if (!*found || !visited.insert((*found)->checkpoint_id).second) break;
      const auto record = checkpoints_.Decode((*found)->row);
      if (!record) return record.error();
      if (is_ancestor) {
        Status s = AddAncestor(*ns, (*found)->checkpoint_id, *record, histories, unseeded);
        if (!s.ok()) return s;
      }
      id = record->parent_checkpoint_id;
    }
    for (auto& [channel, history] : histories) std::ranges::reverse(history.writes);
    return {};
  }

  // Its writes are replayed upon its values.
  Status AddAncestor(NamespaceId ns, const std::string& checkpoint_id,
                     const StoredCheckpoint& record, Histories& histories, std::size_t& unseeded) {
    auto writes = ReadWrites(ns, checkpoint_id, [&](std::string_view channel) {
      const auto history = histories.find(channel);
      return history != histories.end() && !history->second.seed;
    });
    if (!writes) return writes.error();
    for (PendingWrite& write : std::views::reverse(*writes)) {
      histories.find(write.channel)->second.writes.push_back(std::move(write));
    }
    const auto channels = record.Channels();
    if (!channels) return channels.error();
    for (const StoredChannel& channel : *channels) {
      const auto history = histories.find(channel.name);
      if (history == histories.end() || history->second.seed) continue;
      if (channel.value.front() == kNoValue) continue;
      auto seed = values_.Read(channel.value);
      if (!seed) return seed.error();
      history->second.seed = *std::move(seed);
      --unseeded;
    }
    return {};
  }

  // --- delete

  struct Outcome {
    Status status;
    Pruned pruned;
  };

  struct PruningMode {
    bool dry_run = false;
    bool overwrite = false;
  };

  Outcome InPruning(FunctionRef<Status(Pruning&)> body, PruningMode mode) {
    Pruning pruning(database_, namespaces_, values_, checkpoints_);
    bool looked = false;
    Status status = database_.InTransaction([&]() -> Status {
      if (Status s = body(pruning); !s.ok()) return s;
      if (Status s = pruning.Finish(mode.overwrite); !s.ok()) return s;
      looked = mode.dry_run;
      return looked ? DryRun() : Status();
    });
    return {looked ? Status() : std::move(status), pruning.pruned()};
  }

  static Result<std::uint64_t> CountOf(Outcome outcome) {
    if (!outcome.status.ok()) return std::unexpected(std::move(outcome.status));
    return outcome.pruned.checkpoints;
  }

  // --- threads

  // Which uses the same content.
  Result<NamespaceId> MakeCopyOf(const ThreadNamespace& ns, const std::string& target) {
    const auto copy = namespaces_.FindOrMake(target, ns.checkpoint_ns);
    if (!copy) return copy;
    if (Status s = values_.logs().AddUserOfAll(ns.id, *copy); !s.ok()) {
      return std::unexpected(std::move(s));
    }
    return copy;
  }

  // With `before` only what has a lesser id.
  Status CopyRows(NamespaceId source, NamespaceId target,
                  const std::optional<std::string>& before) {
    const std::string_view bound = before ? std::string_view(*before) : "";
    const std::int64_t all = before ? 0 : 1;
    Status s = database_.Run(
        "INSERT INTO checkpoints(ns_id, checkpoint_id, checkpoint) SELECT ?, checkpoint_id, "
        "checkpoint "
        "FROM checkpoints WHERE ns_id = ? AND (? OR checkpoint_id < ?)",
        {target, source, all, bound});
    if (!s.ok()) return s;
    return database_.Run(
        "INSERT INTO writes(ns_id, checkpoint_id, task_id, count, writes) "
        "SELECT ?, checkpoint_id, task_id, count, writes FROM writes "
        "WHERE ns_id = ? AND (? OR checkpoint_id < ?)",
        {target, source, all, bound});
  }

  Status Fork(std::span<const ThreadNamespace> namespaces, const CheckpointKey& from,
              const std::string& target) {
    if (namespaces.empty() || !namespaces.front().checkpoint_ns.empty()) return NoCheckpoint(from);
    const ThreadNamespace& root = namespaces.front();
    const auto copy = MakeCopyOf(root, target);
    if (!copy) return copy.error();
    if (Status s = CopyLineage(root.id, *copy, from); !s.ok()) return s;
    std::optional<std::string> successor;
    Status s = database_.Run(
        "SELECT checkpoint_id FROM checkpoints WHERE ns_id = ? AND checkpoint_id > ? "
        "ORDER BY checkpoint_id LIMIT 1",
        {root.id, from.checkpoint_id}, [&](const Row& row) { successor = row.Text(0); });
    if (s.ok() && successor) s = Reopen(*copy, from.checkpoint_id);
    std::string asked;
    if (s.ok() && successor) s = FindLastInterrupted(*copy, "", asked);
    for (const ThreadNamespace& ns : namespaces.subspan(1)) {
      if (!s.ok()) break;
      const auto copied = MakeCopyOf(ns, target);
      if (!copied) return copied.error();
      s = CopyRows(ns.id, *copied, successor);
      if (s.ok() && successor) s = ReopenWithin(*copied, from.checkpoint_id, !asked.empty());
      if (s.ok()) s = RemoveIfEmpty(*copied);
    }
    return s;
  }

  // Of a namespace of a subgraph what the superstep after `root_id` did is gone, but for that up
  // to its question.
  Status ReopenWithin(NamespaceId ns, const std::string& root_id, bool asks) {
    std::string open;
    if (asks) {
      if (Status s = FindLastInterrupted(ns, root_id, open); !s.ok()) return s;
    }
    for (const std::string_view sql :
         {"DELETE FROM checkpoints WHERE ns_id = ? AND checkpoint_id > ?",
          "DELETE FROM writes WHERE ns_id = ? AND checkpoint_id > ?"}) {
      if (Status s = database_.Run(sql, {ns, open.empty() ? root_id : open}); !s.ok()) return s;
    }
    return open.empty() ? Status() : Reopen(ns, open);
  }

  // Its superstep is to be done anew.
  Status Reopen(NamespaceId ns, const std::string& checkpoint_id) {
    std::vector<std::pair<std::string, Bytes>> tasks;
    Status s =
        database_.Run("SELECT task_id, writes FROM writes WHERE ns_id = ? AND checkpoint_id = ?",
                      {ns, checkpoint_id}, [&](const Row& row) {
                        const ByteView writes = row.Blob(1);
                        tasks.emplace_back(row.Text(0), Bytes(writes.begin(), writes.end()));
                      });
    for (const auto& [task_id, row] : tasks) {
      if (!s.ok()) break;
      auto stored = checkpoint::DecodeWrites(row);
      if (!stored) return stored.error();
      std::erase_if(*stored, [&](const StoredWrite& write) {
        return !checkpoint::StaysOpen(task_id, write.idx);
      });
      s = stored->empty()
              ? database_.Run(
                    "DELETE FROM writes WHERE ns_id = ? AND checkpoint_id = ? AND task_id = ?",
                    {ns, checkpoint_id, task_id})
              : database_.Run(
                    "UPDATE writes SET count = ?, writes = ? "
                    "WHERE ns_id = ? AND checkpoint_id = ? AND task_id = ?",
                    {static_cast<std::int64_t>(stored->size()), checkpoint::EncodeWrites(*stored),
                     ns, checkpoint_id, task_id});
    }
    return s;
  }

  // The last checkpoint after `begin` that an interrupt stopped, "" if there is none.
  Status FindLastInterrupted(NamespaceId ns, std::string_view begin, std::string& found) {
    return database_.Run(
        "SELECT checkpoint_id, writes FROM writes WHERE ns_id = ? AND checkpoint_id > ? "
        "ORDER BY checkpoint_id",
        {ns, begin}, [&](const Row& row) -> Status {
          const auto stored = checkpoint::DecodeWrites(row.Blob(1));
          if (!stored) return stored.error();
          if (std::ranges::any_of(*stored, checkpoint::IsInterrupt, &StoredWrite::idx)) {
            found = row.Text(0);
          }
          return {};
        });
  }

  // A checkpoint and its ancestors.
  Status CopyLineage(NamespaceId source, NamespaceId target, const CheckpointKey& from) {
    std::set<std::string> copied;
    bool is_there = false;
    std::string id = from.checkpoint_id;
    while (!id.empty() && copied.insert(id).second) {
      const auto found = ReadCheckpoint(source, id);
      if (!found) return found.error();
      if (!*found) break;
      for (const std::string_view sql :
           {"INSERT INTO checkpoints(ns_id, checkpoint_id, checkpoint) SELECT ?, checkpoint_id, "
            "checkpoint "
            "FROM checkpoints WHERE ns_id = ? AND checkpoint_id = ?",
            "INSERT INTO writes(ns_id, checkpoint_id, task_id, count, writes) "
            "SELECT ?, checkpoint_id, task_id, count, writes FROM writes "
            "WHERE ns_id = ? AND checkpoint_id = ?"}) {
        if (Status s = database_.Run(sql, {target, source, id}); !s.ok()) return s;
      }
      const auto record = checkpoints_.Decode((*found)->row);
      if (!record) return record.error();
      id = record->parent_checkpoint_id;
      is_there = true;
    }
    return is_there ? Status() : NoCheckpoint(from);
  }

  Status RemoveIfEmpty(NamespaceId ns) {
    bool empty = false;
    Status s = database_.Run(
        "SELECT NOT EXISTS (SELECT 1 FROM checkpoints WHERE ns_id = ?) "
        "AND NOT EXISTS (SELECT 1 FROM writes WHERE ns_id = ?)",
        {ns, ns}, [&](const Row& row) { empty = row.Int(0) != 0; });
    return s.ok() && empty ? namespaces_.Remove(ns) : s;
  }

  Status DescribeSizes(ThreadInfo& thread) {
    const auto namespaces = namespaces_.OfThread(thread.thread_id);
    if (!namespaces) return namespaces.error();
    std::set<checkpoint::LogId> logs;
    for (const ThreadNamespace& ns : *namespaces) {
      if (Status s = DescribeNamespace(ns.id, thread, logs); !s.ok()) return s;
    }
    for (const checkpoint::LogId log : logs) {
      const auto bytes = values_.logs().BytesOfLog(log);
      if (!bytes) return bytes.error();
      thread.bytes += *bytes;
    }
    return {};
  }

  Status DescribeNamespace(NamespaceId ns, ThreadInfo& thread, std::set<checkpoint::LogId>& logs) {
    const auto used = values_.logs().LogsOf(ns);
    if (!used) return used.error();
    logs.insert(used->begin(), used->end());
    const auto rows = values_.logs().BytesOfRows(ns);
    if (!rows) return rows.error();
    thread.bytes += *rows;
    return database_.Run(
        "SELECT COUNT(*) FROM checkpoints WHERE ns_id = ?", {ns},
        [&](const Row& row) { thread.checkpoints += static_cast<std::uint64_t>(row.Int(0)); });
  }

  Status DescribeNewest(ThreadInfo& thread) {
    if (thread.newest_checkpoint_id.empty()) return {};
    const auto namespaces = namespaces_.OfThread(thread.thread_id);
    if (!namespaces) return namespaces.error();
    for (const ThreadNamespace& ns : *namespaces) {
      const auto newest = ReadCheckpoint(ns.id, thread.newest_checkpoint_id);
      if (!newest) return newest.error();
      if (!*newest) continue;
      const auto record = checkpoints_.Decode((*newest)->row);
      if (!record) return record.error();
      thread.checkpoint = record->checkpoint.ToBlob();
      thread.metadata = record->metadata.ToBlob();
      break;
    }
    return {};
  }

  static Status NoCheckpoint(const CheckpointKey& key) {
    return checkpoint::NoCheckpoint(key.thread_id, key.checkpoint_id);
  }

  Database& database_;
  checkpoint::StoredValues values_;
  checkpoint::StoredCheckpoints checkpoints_;
  checkpoint::ThreadNamespaces namespaces_;
  checkpoint::LastPuts last_puts_;
};

}  // namespace

Result<std::unique_ptr<Checkpointer>> MakeSqliteSaver(Database& database) {
  return std::make_unique<SqliteSaver>(database);
}

}  // namespace keepsake
