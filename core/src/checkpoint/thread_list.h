// The threads in the order of their newest checkpoints, the latest first, without a look at
// each of them.
//
// Each namespace of a thread has a row in `thread_namespaces`, whose `listed` is
//   0  the thread is to be looked at again: something of this namespace changed
//   1  the first namespace of its thread: `newest` is the newest checkpoint of the thread
//   2  another namespace, which tells nothing
// What changes a namespace whose row is 0 already writes nothing for it: a put finds that out in
// the statement that it runs anyway. Who lists the threads looks at those that changed.
#ifndef KEEPSAKE_CHECKPOINT_THREAD_LIST_H_
#define KEEPSAKE_CHECKPOINT_THREAD_LIST_H_

#include <string_view>
#include <vector>

#include "checkpoint/content_logs.h"
#include "keepsake/checkpointer.h"
#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake::checkpoint {

class ThreadList {
 public:
  explicit ThreadList(sql::Database& database) : database_(database) {}

  // A checkpoint of the namespace is about to come, or went.
  Status NoteChanged(NamespaceId ns);
  // The thread has lost a namespace.
  Status NoteFewer(std::string_view thread_id);
  // With their ids only.
  Result<std::vector<ThreadInfo>> Read(const ListThreads& list);
  // Of the threads that begin so: ids and rows, and the logs that have their content.
  Result<std::uint64_t> BytesOfRows(const std::string& thread_prefix);
  Result<std::vector<LogId>> LogsOf(const std::string& thread_prefix);

 private:
  Status Settle();
  Status ReadBy(std::string_view sql, const ListThreads& list, std::vector<ThreadInfo>& threads);

  sql::Database& database_;
};

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_THREAD_LIST_H_
