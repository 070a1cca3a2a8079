// Answers keeps the responses that a client has not acknowledged, in the database
// that they tell of, so that a request which is sent again, perhaps to the next
// owner of the file, is answered again and not applied twice. A client is one in each scope, under
// each policy: whoever learns its number in another one gets nothing of it, and takes nothing.
// Not thread-safe.
#ifndef KEEPSAKE_ENGINE_ANSWERS_H_
#define KEEPSAKE_ENGINE_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

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

  // Whom an answer is for.
  struct Caller {
    // Where its scope lies, as EncodeNamespace() has it, and then what tells its policies from
    // others; "" of the whole memory.
    std::string place;
    std::size_t around = 0;  // bytes of it that are of the outermost scope
  };

  // Replaces `response` by the one that was kept for this request; false, and
  // `response` untouched, if there is none.
  Result<bool> Find(const wire::Request& request, const Caller& caller, Bytes& response);

  // Of all that is kept for a scope, more or less: the newest.
  static constexpr std::size_t kMostOfScope = 1024;
  static constexpr std::size_t kMostBytesOfScope = std::size_t{1} << 20;
  // Of one answer, in a scope and in the whole memory. Those to writes are shorter; a longer one,
  // which has what was read beside them, is kept as a failure that says so.
  static constexpr std::size_t kMostBytesInScope = 16 * 1024;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;

  // Keeps the response, and deletes what the request acknowledges; the first call,
  // and then one a day, also what is older than a day, for clients that never came back.
  // REQUIRES: the request has `acknowledged`; within the transaction of what it wrote.
  Status Keep(const wire::Request& request, const Caller& caller, ByteView response);

  Status DeleteAll();
  // Answers that may hold values become a failure that says so: what they answer was done.
  // Those of scopes below the namespaces are deleted, because they have the names of these.
  Status ForgetValues(std::span<const Namespace> forgotten);

 private:
  Status DeleteOld(std::int64_t now_ms);
  // Beyond what is kept for a scope.
  Status DeleteSurplus(std::string_view around);

  sql::Database& database_;
  std::size_t kept_ = 0;
  std::int64_t delete_old_at_ms_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace keepsake

#endif  // KEEPSAKE_ENGINE_ANSWERS_H_
