// Answers keeps the responses that a client has not acknowledged, in the database
// that they tell of, so that a request which is sent again, perhaps to the next
// owner of the file, is answered again and not applied twice. A client is one in each scope:
// whoever learns its number in another one gets nothing of it, and takes nothing from it.
// Not thread-safe.
#ifndef KEEPSAKE_ENGINE_ANSWERS_H_
#define KEEPSAKE_ENGINE_ANSWERS_H_

#include <cstdint>
#include <limits>
#include <span>

#include "keepsake/bytes.h"
#include "keepsake/database.h"
#include "keepsake/namespace.h"
#include "keepsake/status.h"
#include "wire/frame.h"

namespace keepsake {

class Answers {
 public:
  // `database` is borrowed.
  explicit Answers(sql::Database& database) : database_(database) {}

  // Replaces `response` by the one that was kept for this request; false, and
  // `response` untouched, if there is none. `place` is where its scope lies; {} of the whole
  // memory.
  Result<bool> Find(const wire::Request& request, const Namespace& place, Bytes& response);

  // Keeps the response, and deletes what the request acknowledges; the first call,
  // and then one a day, also what is older than a day, for clients that never came back.
  // REQUIRES: the request has `acknowledged`; within the transaction of what it wrote.
  Status Keep(const wire::Request& request, const Namespace& place, ByteView response);

  Status DeleteAll();
  // Answers that may hold values become a failure that says so: what they answer was done.
  // Those of scopes below the namespaces are deleted, because they have the names of these.
  Status ForgetValues(std::span<const Namespace> forgotten);

 private:
  Status DeleteOld(std::int64_t now_ms);

  sql::Database& database_;
  std::int64_t delete_old_at_ms_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace keepsake

#endif  // KEEPSAKE_ENGINE_ANSWERS_H_
