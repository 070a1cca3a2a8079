#include "checkpoint/thread_list.h"

#include <cstdint>
#include <string>
#include <utility>

#include "sql/prefix_range.h"

namespace keepsake::checkpoint {
namespace {

using sql::Row;

// The newest of the root, or else of all namespaces.
constexpr std::string_view kSettle =
    "UPDATE thread_namespaces AS n SET (listed, newest) = "
    "(SELECT CASE WHEN is_first THEN 1 ELSE 2 END, CASE WHEN is_first THEN COALESCE("
    "CASE WHEN n.checkpoint_ns = '' THEN "
    "(SELECT MAX(checkpoint_id) FROM checkpoints c WHERE c.ns_id = n.ns_id) END, "
    "(SELECT MAX((SELECT MAX(checkpoint_id) FROM checkpoints c WHERE c.ns_id = t.ns_id)) "
    "FROM thread_namespaces t WHERE t.thread_id = n.thread_id), '') ELSE '' END "
    "FROM (SELECT NOT EXISTS (SELECT 1 FROM thread_namespaces t WHERE t.thread_id = n.thread_id "
    "AND t.checkpoint_ns < n.checkpoint_ns) AS is_first)) "
    "WHERE listed = 0";

constexpr std::string_view kReadAll =
    "SELECT thread_id, newest FROM thread_namespaces INDEXED BY thread_namespaces_newest "
    "WHERE listed = 1 AND newest <= ? AND (newest < ? OR thread_id > ?) "
    "AND thread_id >= ? AND thread_id < ? ORDER BY newest DESC, thread_id LIMIT ?";
// Those of a scope may be few among many.
constexpr std::string_view kReadOfPrefix =
    "SELECT thread_id, newest FROM thread_namespaces INDEXED BY thread_namespaces_key "
    "WHERE listed = 1 AND newest <= ? AND (newest < ? OR thread_id > ?) "
    "AND thread_id >= ? AND thread_id < ? ORDER BY newest DESC, thread_id LIMIT ?";

// The same of threads that are not settled, because another connection writes: looks at all.
constexpr std::string_view kReadUnsettled =
    "SELECT thread_id, newest FROM (SELECT n.thread_id, CASE WHEN n.listed = 1 AND NOT EXISTS "
    "(SELECT 1 FROM thread_namespaces t WHERE t.thread_id = n.thread_id AND t.listed = 0) "
    "THEN n.newest ELSE COALESCE(CASE WHEN n.checkpoint_ns = '' THEN "
    "(SELECT MAX(checkpoint_id) FROM checkpoints c WHERE c.ns_id = n.ns_id) END, "
    "(SELECT MAX((SELECT MAX(checkpoint_id) FROM checkpoints c WHERE c.ns_id = t.ns_id)) "
    "FROM thread_namespaces t WHERE t.thread_id = n.thread_id), '') END AS newest "
    "FROM thread_namespaces n WHERE NOT EXISTS (SELECT 1 FROM thread_namespaces t "
    "WHERE t.thread_id = n.thread_id AND t.checkpoint_ns < n.checkpoint_ns)) "
    "WHERE newest <= ? AND (newest < ? OR thread_id > ?) "
    "AND thread_id >= ? AND thread_id < ? ORDER BY newest DESC, thread_id LIMIT ?";

constexpr std::string_view kRowsOfPrefix =
    "SELECT COALESCE(SUM(LENGTH(CAST(n.thread_id AS BLOB)) + LENGTH(CAST(n.checkpoint_ns AS BLOB)) "
    "+ (SELECT COALESCE(SUM(LENGTH(CAST(checkpoint_id AS BLOB)) + LENGTH(checkpoint)), 0) "
    "FROM checkpoints c WHERE c.ns_id = n.ns_id) "
    "+ (SELECT COALESCE(SUM(LENGTH(CAST(checkpoint_id AS BLOB)) + LENGTH(CAST(task_id AS BLOB)) "
    "+ LENGTH(writes)), 0) FROM writes w WHERE w.ns_id = n.ns_id)), 0) "
    "FROM thread_namespaces n INDEXED BY thread_namespaces_key "
    "WHERE thread_id >= ? AND thread_id < ?";
constexpr std::string_view kLogsOfPrefix =
    "SELECT DISTINCT u.log FROM thread_namespaces n INDEXED BY thread_namespaces_key "
    "JOIN log_users u ON u.ns_id = n.ns_id WHERE n.thread_id >= ? AND n.thread_id < ?";

}  // namespace

Status ThreadList::NoteChanged(NamespaceId ns) {
  return database_.Run("UPDATE thread_namespaces SET listed = 0 WHERE ns_id = ? AND listed <> 0",
                       {ns});
}

Status ThreadList::NoteFewer(std::string_view thread_id) {
  return database_.Run(
      "UPDATE thread_namespaces SET listed = 0 WHERE listed <> 0 AND ns_id = (SELECT ns_id FROM "
      "thread_namespaces WHERE thread_id = ? ORDER BY checkpoint_ns LIMIT 1)",
      {thread_id});
}

Result<std::vector<ThreadInfo>> ThreadList::Read(const ListThreads& list) {
  std::vector<ThreadInfo> threads;
  bool is_read = false;
  Status s = database_.InTransaction([&]() -> Status {
    if (Status settled = Settle(); !settled.ok()) return settled;
    Status read = ReadBy(list.thread_prefix.empty() ? kReadAll : kReadOfPrefix, list, threads);
    is_read = read.ok();
    return read;
  });
  if (s.code() == StatusCode::kBusy) s = ReadBy(kReadUnsettled, list, threads);
  // Where there is no room, what was found out is found out again by the next list.
  if (!s.ok() && !(is_read && s.code() == StatusCode::kStorageFull)) {
    return std::unexpected(std::move(s));
  }
  return threads;
}

Result<std::uint64_t> ThreadList::BytesOfRows(const std::string& thread_prefix) {
  const sql::PrefixRange range(thread_prefix);
  std::uint64_t bytes = 0;
  Status s = database_.Run(kRowsOfPrefix, {range.first(), range.end()},
                           [&](const Row& row) { bytes = static_cast<std::uint64_t>(row.Int(0)); });
  if (!s.ok()) return std::unexpected(std::move(s));
  return bytes;
}

Result<std::vector<LogId>> ThreadList::LogsOf(const std::string& thread_prefix) {
  const sql::PrefixRange range(thread_prefix);
  std::vector<LogId> logs;
  Status s = database_.Run(kLogsOfPrefix, {range.first(), range.end()},
                           [&](const Row& row) { logs.push_back(row.Int(0)); });
  if (!s.ok()) return std::unexpected(std::move(s));
  return logs;
}

Status ThreadList::Settle() {
  Status s = database_.Run(
      "UPDATE thread_namespaces SET listed = 0 WHERE listed = 1 AND thread_id IN "
      "(SELECT thread_id FROM thread_namespaces WHERE listed = 0)");
  return s.ok() ? database_.Run(kSettle) : s;
}

Status ThreadList::ReadBy(std::string_view sql, const ListThreads& list,
                          std::vector<ThreadInfo>& threads) {
  threads.clear();
  static constexpr std::uint8_t kBlob[] = {0};  // SQLite sorts every blob after every text
  const sql::PrefixRange range(list.thread_prefix);
  sql::Param newest = ByteView(kBlob);
  std::string_view thread_id;
  if (list.cursor) {
    newest = std::string_view(list.cursor->newest_checkpoint_id);
    thread_id = list.cursor->thread_id;
  }
  return database_.Run(
      sql, {newest, newest, thread_id, range.first(), range.end(), std::int64_t{list.limit}},
      [&](const Row& row) {
        ThreadInfo info;
        info.thread_id = row.Text(0);
        info.newest_checkpoint_id = row.Text(1);
        threads.push_back(std::move(info));
      });
}

}  // namespace keepsake::checkpoint
