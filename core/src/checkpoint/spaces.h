// A space is one namespace of one thread, and has a number: rows repeat that and
// not two texts. A space is there as long as it has checkpoints or writes.
#ifndef KEEPSAKE_CHECKPOINT_SPACES_H_
#define KEEPSAKE_CHECKPOINT_SPACES_H_

#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/content_logs.h"
#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake::checkpoint {

inline constexpr SpaceId kNoSpace = 0;

struct Space {
  SpaceId id = kNoSpace;
  std::string checkpoint_ns;
};

class Spaces {
 public:
  Spaces(sql::Database& database, ContentLogs& logs) : database_(database), logs_(logs) {}

  // kNoSpace if there is none.
  Result<SpaceId> Find(std::string_view thread_id, std::string_view checkpoint_ns);
  Result<SpaceId> FindOrMake(std::string_view thread_id, std::string_view checkpoint_ns);
  // By checkpoint_ns: the root is the first.
  Result<std::vector<Space>> OfThread(std::string_view thread_id);
  Result<std::vector<std::string>> ThreadIds();
  // kInvalidArgument if the thread has any.
  Status RequireNone(std::string_view thread_id);
  Status Rename(std::string_view thread_id, std::string_view new_thread_id);
  Status Remove(SpaceId space);

 private:
  Status MoveToGap(SpaceId& space);

  sql::Database& database_;
  ContentLogs& logs_;
};

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_SPACES_H_
