#include "checkpoint/pruning.h"

#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/varint.h"
#include "checkpoint/stored_writes.h"
#include "sql/prefix_range.h"

namespace keepsake::checkpoint {

using sql::Row;

Status Pruning::EraseThread(std::string_view thread_id) {
  const auto namespaces = namespaces_.OfThread(thread_id);
  if (!namespaces) return namespaces.error();
  std::vector<NamespaceId> ids;
  for (const ThreadNamespace& ns : *namespaces) ids.push_back(ns.id);
  return Erase(ids);
}

Status Pruning::KeepLatest(std::string_view thread_id) {
  const auto namespaces = namespaces_.OfThread(thread_id);
  if (!namespaces) return namespaces.error();
  for (const ThreadNamespace& ns : *namespaces) {
    Status s = DeleteDoomed(ns.id, [](auto& nodes) { DoomByRules({.keep_last = 1}, nodes); });
    if (!s.ok()) return s;
  }
  return {};
}

Status Pruning::DeleteForRuns(const RunIds& runs, const std::string& thread_prefix) {
  const sql::PrefixRange threads(thread_prefix);
  std::map<NamespaceId, std::set<std::string, std::less<>>> doomed;
  Status s = database_.Run(
      "SELECT ns_id, checkpoint_id, checkpoint FROM thread_namespaces "
      "CROSS JOIN checkpoints USING (ns_id) WHERE thread_id >= ? AND thread_id < ?",
      {threads.first(), threads.end()}, [&](const Row& row) -> Status {
        const auto record = checkpoints_.Decode(row.Blob(2));
        if (!record) return record.error();
        if (runs.Own(record->metadata.type, record->metadata.bytes)) {
          doomed[row.Int(0)].emplace(row.Text(1));
        }
        return {};
      });
  for (auto ns = doomed.begin(); s.ok() && ns != doomed.end(); ++ns) {
    s = DeleteDoomed(ns->first, [&](std::vector<RetentionNode>& nodes) {
      for (RetentionNode& node : nodes) node.doomed = ns->second.contains(node.checkpoint_id);
    });
  }
  return s;
}

Status Pruning::ByRules(const RetentionRules& rules) {
  if (rules.strategy != PruneStrategy::kByRules) {
    return ByStrategy(*rules.thread_ids, rules.strategy);
  }
  std::vector<std::string> thread_ids;
  if (rules.thread_ids) {
    thread_ids = *rules.thread_ids;
  } else {
    auto all = namespaces_.ThreadIds(rules.thread_prefix);
    if (!all) return all.error();
    thread_ids = *std::move(all);
  }
  if (rules.keep_last > 0 || !rules.older_than.empty()) {
    for (const std::string& thread_id : thread_ids) {
      if (Status s = PruneThread(thread_id, rules); !s.ok()) return s;
    }
  }
  if (rules.max_bytes > 0) return ShrinkTo(rules.max_bytes, thread_ids);
  if (rules.keep_last > 0 || !rules.older_than.empty()) return {};
  for (const std::string& thread_id : thread_ids) {
    if (Status s = AddLogsOf(thread_id, touched_); !s.ok()) return s;
  }
  return {};
}

Status Pruning::ByStrategy(std::span<const std::string> thread_ids, PruneStrategy strategy) {
  for (const std::string& thread_id : thread_ids) {
    Status s = strategy == PruneStrategy::kDelete ? EraseThread(thread_id) : KeepLatest(thread_id);
    if (!s.ok()) return s;
  }
  return {};
}

Status Pruning::AddLogsOf(std::string_view thread_id, std::set<LogId>& logs) {
  const auto namespaces = namespaces_.OfThread(thread_id);
  if (!namespaces) return namespaces.error();
  for (const ThreadNamespace& ns : *namespaces) {
    if (Status s = AddLogsOf(ns.id, logs); !s.ok()) return s;
  }
  return {};
}

Status Pruning::AddLogsOf(NamespaceId ns, std::set<LogId>& logs) {
  const auto used = values_.logs().LogsOf(ns);
  if (!used) return used.error();
  logs.insert(used->begin(), used->end());
  return {};
}

Status Pruning::PruneThread(std::string_view thread_id, const RetentionRules& rules) {
  const auto namespaces = namespaces_.OfThread(thread_id);
  if (!namespaces) return namespaces.error();
  const auto doom = [&](std::vector<RetentionNode>& nodes) { DoomByRules(rules, nodes); };
  std::string oldest_of_root;
  for (const ThreadNamespace& ns : *namespaces) {
    if (IsOfOneRun(ns.checkpoint_ns)) {
      const auto newest = NewestId(ns.id);
      if (!newest) return newest.error();
      if (!newest->empty() && *newest < oldest_of_root) {
        if (Status s = Erase(std::vector<NamespaceId>{ns.id}); !s.ok()) return s;
        continue;
      }
    }
    if (Status s = DeleteDoomed(ns.id, doom); !s.ok()) return s;
    if (!ns.checkpoint_ns.empty()) continue;
    auto oldest = OldestId(ns.id);
    if (!oldest) return oldest.error();
    oldest_of_root = *std::move(oldest);
  }
  return {};
}

Status Pruning::ShrinkTo(std::uint64_t max_bytes, std::span<const std::string> thread_ids) {
  std::vector<std::string> ids;
  std::set<LogId> logs;
  std::uint64_t bytes = 0;
  for (const std::string& thread_id : thread_ids) {
    if (Status s = CollectPrunable(thread_id, ids); !s.ok()) return s;
    const auto namespaces = namespaces_.OfThread(thread_id);
    if (!namespaces) return namespaces.error();
    for (const ThreadNamespace& ns : *namespaces) {
      const auto rows = values_.logs().BytesOfRows(ns.id);
      if (!rows) return rows.error();
      bytes += *rows;
    }
    if (Status s = AddLogsOf(thread_id, logs); !s.ok()) return s;
  }
  for (const LogId log : logs) {
    const auto content = values_.logs().BytesOfLog(log);
    if (!content) return content.error();
    bytes += *content;
  }
  const std::uint64_t before = pruned_.bytes;
  for (const std::string& bound : AgeBounds(std::move(ids))) {
    if (bytes <= max_bytes + (pruned_.bytes - before)) break;
    for (const std::string& thread_id : thread_ids) {
      Status s = PruneThread(thread_id, {.older_than = bound});
      if (!s.ok()) return s;
    }
    if (Status s = Finish(); !s.ok()) return s;
  }
  return {};
}

// All but the newest of each namespace.
Status Pruning::CollectPrunable(std::string_view thread_id, std::vector<std::string>& ids) {
  return database_.Run(
      "SELECT checkpoint_id FROM checkpoints c JOIN thread_namespaces USING (ns_id) WHERE "
      "thread_id = ? "
      "AND checkpoint_id < (SELECT MAX(checkpoint_id) FROM checkpoints WHERE ns_id = c.ns_id)",
      {thread_id}, [&](const Row& row) { ids.emplace_back(row.Text(0)); });
}

Status Pruning::DeleteDoomed(NamespaceId ns, const Doom& doom) {
  auto nodes = ReadNodes(ns);
  if (!nodes) return nodes.error();
  doom(*nodes);
  SpareNeededAncestors(*nodes);
  bool deleted = false;
  for (const RetentionNode& node : *nodes) {
    if (!node.doomed) continue;
    if (Status s = DeleteCheckpoint(ns, node.checkpoint_id); !s.ok()) return s;
    deleted = true;
  }
  if (!deleted) return {};
  if (Status s = namespaces_.list().NoteChanged(ns); !s.ok()) return s;
  const auto left =
      Sum("SELECT EXISTS (SELECT 1 FROM checkpoints WHERE ns_id = ?) "
          "OR EXISTS (SELECT 1 FROM writes WHERE ns_id = ?)",
          {ns, ns});
  if (!left) return left.error();
  return *left == 0 ? Erase(std::vector<NamespaceId>{ns}) : AddLogsOf(ns, touched_);
}

Status Pruning::Erase(std::span<const NamespaceId> namespaces) {
  for (const NamespaceId ns : namespaces) {
    if (Status s = AddLogsOf(ns, touched_); !s.ok()) return s;
    const auto checkpoints = Sum("SELECT COUNT(*) FROM checkpoints WHERE ns_id = ?", {ns});
    if (!checkpoints) return checkpoints.error();
    const auto rows = values_.logs().BytesOfRows(ns);
    if (!rows) return rows.error();
    if (Status s = namespaces_.Remove(ns); !s.ok()) return s;
    pruned_.checkpoints += *checkpoints;
    pruned_.bytes += *rows;
  }
  return {};
}

Status Pruning::DeleteCheckpoint(NamespaceId ns, std::string_view checkpoint_id) {
  for (const std::string_view sql :
       {"DELETE FROM checkpoints WHERE ns_id = ? AND checkpoint_id = ? RETURNING "
        "LENGTH(checkpoint)",
        "DELETE FROM writes WHERE ns_id = ? AND checkpoint_id = ? RETURNING LENGTH(writes)"}) {
    const auto bytes = Sum(sql, {ns, checkpoint_id});
    if (!bytes) return bytes.error();
    pruned_.bytes += *bytes;
  }
  ++pruned_.checkpoints;
  return {};
}

Result<std::vector<RetentionNode>> Pruning::ReadNodes(NamespaceId ns) {
  std::vector<RetentionNode> nodes;
  const auto add = [&](const Row& row) -> Status {
    const auto record = checkpoints_.Decode(row.Blob(1));
    if (!record) return record.error();
    const auto channels = record->Channels();
    if (!channels) return channels.error();
    RetentionNode node;
    node.checkpoint_id = row.Text(0);
    node.parent_checkpoint_id = record->parent_checkpoint_id;
    for (const StoredChannel& channel : *channels) {
      auto& names = channel.value.front() == kNoValue ? node.empty_channels : node.valued_channels;
      names.emplace_back(channel.name);
    }
    nodes.push_back(std::move(node));
    return {};
  };
  Status s = database_.Run(
      "SELECT checkpoint_id, checkpoint FROM checkpoints WHERE ns_id = ? ORDER BY checkpoint_id",
      {ns}, add);
  if (s.ok()) s = ReadWrittenChannels(ns, nodes);
  if (!s.ok()) return std::unexpected(std::move(s));
  return nodes;
}

Status Pruning::ReadWrittenChannels(NamespaceId ns, std::vector<RetentionNode>& nodes) {
  std::unordered_map<std::string_view, RetentionNode*> by_id;
  for (RetentionNode& node : nodes) by_id.emplace(node.checkpoint_id, &node);
  return database_.Run("SELECT checkpoint_id, writes FROM writes WHERE ns_id = ?", {ns},
                       [&](const Row& row) -> Status {
                         const auto node = by_id.find(row.Text(0));
                         if (node == by_id.end()) return {};
                         const auto writes = DecodeWrites(row.Blob(1));
                         if (!writes) return writes.error();
                         for (const StoredWrite& write : *writes) {
                           node->second->written_channels.emplace_back(write.channel);
                         }
                         return {};
                       });
}

Result<std::string> Pruning::OldestId(NamespaceId ns) {
  return IdBy("SELECT MIN(checkpoint_id) FROM checkpoints WHERE ns_id = ?", ns);
}

Result<std::string> Pruning::NewestId(NamespaceId ns) {
  return IdBy("SELECT MAX(checkpoint_id) FROM checkpoints WHERE ns_id = ?", ns);
}

Result<std::string> Pruning::IdBy(std::string_view sql, NamespaceId ns) {
  std::string id;
  Status s = database_.Run(sql, {ns}, [&](const Row& row) { id = row.Text(0); });
  if (!s.ok()) return std::unexpected(std::move(s));
  return id;
}

Status Pruning::Finish(bool overwrite) {
  const std::set<LogId> logs = std::exchange(touched_, {});
  const auto users = values_.logs().UsersOf(logs);
  if (!users) return users.error();
  Marks marks(logs, overwrite);
  for (const NamespaceId user : *users) {
    if (Status s = MarkAll(user, marks); !s.ok()) return s;
  }
  const auto freed = values_.logs().Sweep(marks);
  if (!freed) return freed.error();
  pruned_.bytes += *freed;
  return {};
}

Status Pruning::MarkAll(NamespaceId ns, Marks& marks) {
  std::vector<LogRange> ranges;
  const auto mark_record = [&](ByteView row) -> Status {
    ranges.push_back(StoredCheckpoints::BaseOf(row));
    const auto record = checkpoints_.Decode(row);
    if (!record) return record.error();
    const auto channels = record->Channels();
    if (!channels) return channels.error();
    for (const StoredChannel& channel : *channels) {
      if (Status s = values_.CollectRanges(channel.value, ranges); !s.ok()) return s;
    }
    return {};
  };
  const auto mark_writes = [&](ByteView row) -> Status {
    const auto writes = DecodeWrites(row);
    if (!writes) return writes.error();
    for (const StoredWrite& write : *writes) {
      if (Status s = values_.CollectRanges(write.value, ranges); !s.ok()) return s;
    }
    return {};
  };
  const auto mark_each = [&](std::string_view sql, const auto& mark) {
    return database_.Run(sql, {ns}, [&](const Row& row) {
      Status status = mark(row.Blob(0));
      for (const LogRange& range : ranges) marks.Mark(ns, range);
      ranges.clear();
      return status;
    });
  };
  Status s = mark_each("SELECT checkpoint FROM checkpoints WHERE ns_id = ?", mark_record);
  return s.ok() ? mark_each("SELECT writes FROM writes WHERE ns_id = ?", mark_writes) : s;
}

Result<std::uint64_t> Pruning::Sum(std::string_view sql, std::initializer_list<sql::Param> params) {
  std::uint64_t sum = 0;
  Status s = database_.Run(sql, params,
                           [&](const Row& row) { sum += static_cast<std::uint64_t>(row.Int(0)); });
  if (!s.ok()) return std::unexpected(std::move(s));
  return sum;
}

}  // namespace keepsake::checkpoint
