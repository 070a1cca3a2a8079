// Engine is the narrow waist: a frame of bytes in, a frame of bytes out, over a
// store and a checkpointer that share one database. It decodes, dispatches and
// encodes; it has no rules of its own. core/src/wire/README.md has the layout.
// Not thread-safe.
#ifndef KEEPSAKE_ENGINE_H_
#define KEEPSAKE_ENGINE_H_

#include <memory>
#include <optional>

#include "keepsake/bytes.h"
#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake {

class Engine {
 public:
  // Without a database: InMemoryStore and MemorySaver. Responses are written to
  // `response`, which is borrowed; engines of one thread may share it.
  static Result<std::unique_ptr<Engine>> Open(std::optional<sql::OpenOptions> database,
                                              Bytes& response);
  virtual ~Engine() = default;

  // Answers every request, malformed ones included: an error is a response.
  // Time comes with the request. The view is of `response`, and valid until the next
  // Execute() of an engine that shares it.
  virtual ByteView Execute(ByteView request) = 0;
};

}  // namespace keepsake

#endif  // KEEPSAKE_ENGINE_H_
