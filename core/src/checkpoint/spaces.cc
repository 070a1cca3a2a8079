#include "checkpoint/spaces.h"

#include <utility>

#include "checkpoint/validation.h"

namespace keepsake::checkpoint {

using sql::Row;

Result<SpaceId> Spaces::Find(std::string_view thread_id, std::string_view checkpoint_ns) {
  SpaceId space = kNoSpace;
  Status s = database_.Run("SELECT space FROM spaces WHERE thread_id = ? AND checkpoint_ns = ?",
                           {thread_id, checkpoint_ns}, [&](const Row& row) {
                             space = row.Int(0);
                             return true;
                           });
  if (!s.ok()) return std::unexpected(std::move(s));
  return space;
}

Result<SpaceId> Spaces::FindOrMake(std::string_view thread_id, std::string_view checkpoint_ns) {
  const auto found = Find(thread_id, checkpoint_ns);
  if (!found || *found != kNoSpace) return found;
  SpaceId space = kNoSpace;
  Status s =
      database_.Run("INSERT INTO spaces(thread_id, checkpoint_ns) VALUES (?, ?) RETURNING space",
                    {thread_id, checkpoint_ns}, [&](const Row& row) {
                      space = row.Int(0);
                      return true;
                    });
  if (s.ok() && space > kMaxSpace) s = MoveToGap(space);
  if (s.ok()) s = logs_.AddUser(MainLog(space), space);
  if (!s.ok()) return std::unexpected(std::move(s));
  return space;
}

// The next number of each is given out, as long as there are any; then those of
// spaces that are gone. What others still use of their logs stays before what is new.
Status Spaces::MoveToGap(SpaceId& space) {
  const SpaceId last = std::exchange(space, kNoSpace);
  Status s = database_.Run(
      "UPDATE spaces SET space = (SELECT MIN(before) + 1 FROM "
      "(SELECT 0 AS before UNION ALL SELECT space FROM spaces) "
      "WHERE NOT EXISTS (SELECT 1 FROM spaces WHERE space = before + 1)) "
      "WHERE space = ? RETURNING space",
      {last}, [&](const Row& row) {
        space = row.Int(0);
        return true;
      });
  if (!s.ok() || space <= kMaxSpace) return s;
  return {StatusCode::kTooLarge, "a database has no room for more namespaces of threads"};
}

Result<std::vector<Space>> Spaces::OfThread(std::string_view thread_id) {
  std::vector<Space> spaces;
  Status s = database_.Run(
      "SELECT space, checkpoint_ns FROM spaces WHERE thread_id = ? ORDER BY checkpoint_ns",
      {thread_id}, [&](const Row& row) {
        spaces.push_back({row.Int(0), std::string(row.Text(1))});
        return true;
      });
  if (!s.ok()) return std::unexpected(std::move(s));
  return spaces;
}

Result<std::vector<std::string>> Spaces::ThreadIds() {
  std::vector<std::string> ids;
  Status s = database_.Run("SELECT DISTINCT thread_id FROM spaces", {}, [&](const Row& row) {
    ids.emplace_back(row.Text(0));
    return true;
  });
  if (!s.ok()) return std::unexpected(std::move(s));
  return ids;
}

Status Spaces::RequireNone(std::string_view thread_id) {
  const auto spaces = OfThread(thread_id);
  if (!spaces) return spaces.error();
  return spaces->empty() ? Status() : TargetNotEmpty(thread_id);
}

Status Spaces::Rename(std::string_view thread_id, std::string_view new_thread_id) {
  return database_.Run("UPDATE spaces SET thread_id = ? WHERE thread_id = ?",
                       {new_thread_id, thread_id});
}

Status Spaces::Remove(SpaceId space) {
  for (const std::string_view sql :
       {"DELETE FROM checkpoints WHERE space = ?", "DELETE FROM writes WHERE space = ?",
        "DELETE FROM spaces WHERE space = ?"}) {
    if (Status s = database_.Run(sql, {space}); !s.ok()) return s;
  }
  return logs_.RemoveUser(space);
}

}  // namespace keepsake::checkpoint
