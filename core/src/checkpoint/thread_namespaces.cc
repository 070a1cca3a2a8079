#include "checkpoint/thread_namespaces.h"

#include <utility>

#include "checkpoint/validation.h"
#include "sql/prefix_range.h"

namespace keepsake::checkpoint {

using sql::Row;

Result<NamespaceId> ThreadNamespaces::Find(std::string_view thread_id,
                                           std::string_view checkpoint_ns) {
  NamespaceId ns = kNoNamespace;
  Status s =
      database_.Run("SELECT ns_id FROM thread_namespaces WHERE thread_id = ? AND checkpoint_ns = ?",
                    {thread_id, checkpoint_ns}, [&](const Row& row) { ns = row.Int(0); });
  if (!s.ok()) return std::unexpected(std::move(s));
  return ns;
}

Result<NamespaceId> ThreadNamespaces::FindOrMake(std::string_view thread_id,
                                                 std::string_view checkpoint_ns) {
  const auto found = Find(thread_id, checkpoint_ns);
  if (!found || *found != kNoNamespace) return found;
  NamespaceId ns = kNoNamespace;
  Status s = database_.Run(
      "INSERT INTO thread_namespaces(thread_id, checkpoint_ns) VALUES (?, ?) RETURNING ns_id",
      {thread_id, checkpoint_ns}, [&](const Row& row) { ns = row.Int(0); });
  if (s.ok() && ns > kMaxNamespace) s = MoveToGap(ns);
  if (s.ok()) s = logs_.AddUser(MainLog(ns), ns);
  if (!s.ok()) return std::unexpected(std::move(s));
  return ns;
}

// The next number of each is given out, as long as there are any; then those of
// namespaces that are gone. What others still use of their logs stays before what is new.
Status ThreadNamespaces::MoveToGap(NamespaceId& ns) {
  const NamespaceId last = std::exchange(ns, kNoNamespace);
  Status s = database_.Run(
      "UPDATE thread_namespaces SET ns_id = (SELECT MIN(before) + 1 FROM "
      "(SELECT 0 AS before UNION ALL SELECT ns_id FROM thread_namespaces) "
      "WHERE NOT EXISTS (SELECT 1 FROM thread_namespaces WHERE ns_id = before + 1)) "
      "WHERE ns_id = ? RETURNING ns_id",
      {last}, [&](const Row& row) { ns = row.Int(0); });
  if (!s.ok() || ns <= kMaxNamespace) return s;
  return {StatusCode::kTooLarge, "a database has no room for more namespaces of threads"};
}

Result<std::vector<ThreadNamespace>> ThreadNamespaces::OfThread(std::string_view thread_id) {
  std::vector<ThreadNamespace> namespaces;
  Status s = database_.Run(
      "SELECT ns_id, checkpoint_ns FROM thread_namespaces WHERE thread_id = ? ORDER BY "
      "checkpoint_ns",
      {thread_id},
      [&](const Row& row) { namespaces.push_back({row.Int(0), std::string(row.Text(1))}); });
  if (!s.ok()) return std::unexpected(std::move(s));
  return namespaces;
}

Result<std::vector<std::string>> ThreadNamespaces::ThreadIds(const std::string& prefix) {
  const sql::PrefixRange range(prefix);
  std::vector<std::string> ids;
  Status s = database_.Run(
      "SELECT DISTINCT thread_id FROM thread_namespaces WHERE thread_id >= ? AND thread_id < ?",
      {range.first(), range.end()}, [&](const Row& row) { ids.emplace_back(row.Text(0)); });
  if (!s.ok()) return std::unexpected(std::move(s));
  return ids;
}

Status ThreadNamespaces::RequireNone(std::string_view thread_id) {
  const auto namespaces = OfThread(thread_id);
  if (!namespaces) return namespaces.error();
  return namespaces->empty() ? Status() : TargetNotEmpty(thread_id);
}

Status ThreadNamespaces::Rename(std::string_view thread_id, std::string_view new_thread_id) {
  return database_.Run("UPDATE thread_namespaces SET thread_id = ? WHERE thread_id = ?",
                       {new_thread_id, thread_id});
}

Status ThreadNamespaces::Remove(NamespaceId ns) {
  for (const std::string_view sql :
       {"DELETE FROM checkpoints WHERE ns_id = ?", "DELETE FROM writes WHERE ns_id = ?"}) {
    if (Status s = database_.Run(sql, {ns}); !s.ok()) return s;
  }
  std::string thread_id;
  Status s = database_.Run("DELETE FROM thread_namespaces WHERE ns_id = ? RETURNING thread_id",
                           {ns}, [&](const Row& row) { thread_id = row.Text(0); });
  if (s.ok()) s = list_.NoteFewer(thread_id);
  return s.ok() ? logs_.RemoveUser(ns) : s;
}

}  // namespace keepsake::checkpoint
