// A namespace of a thread has a number, its ns_id: rows repeat that and
// not two texts. It is there as long as it has checkpoints or writes.
#ifndef KEEPSAKE_CHECKPOINT_THREAD_NAMESPACES_H_
#define KEEPSAKE_CHECKPOINT_THREAD_NAMESPACES_H_

#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/content_logs.h"
#include "checkpoint/thread_list.h"
#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake::checkpoint {

inline constexpr NamespaceId kNoNamespace = 0;

struct ThreadNamespace {
  NamespaceId id = kNoNamespace;
  std::string checkpoint_ns;
};

class ThreadNamespaces {
 public:
  ThreadNamespaces(sql::Database& database, ContentLogs& logs)
      : database_(database), logs_(logs), list_(database) {}

  ThreadList& list() { return list_; }

  // kNoNamespace if there is none.
  Result<NamespaceId> Find(std::string_view thread_id, std::string_view checkpoint_ns);
  Result<NamespaceId> FindOrMake(std::string_view thread_id, std::string_view checkpoint_ns);
  // By checkpoint_ns: the root is the first.
  Result<std::vector<ThreadNamespace>> OfThread(std::string_view thread_id);
  // Of threads that begin so.
  Result<std::vector<std::string>> ThreadIds(const std::string& prefix);
  // kInvalidArgument if the thread has any.
  Status RequireNone(std::string_view thread_id);
  Status Rename(std::string_view thread_id, std::string_view new_thread_id);
  Status Remove(NamespaceId ns);

 private:
  Status MoveToGap(NamespaceId& ns);

  sql::Database& database_;
  ContentLogs& logs_;
  ThreadList list_;
};

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_THREAD_NAMESPACES_H_
