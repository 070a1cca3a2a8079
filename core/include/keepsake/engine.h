// Engine is the narrow waist: a frame of bytes in, a frame of bytes out, over a store
// and a checkpointer that share one database. It decodes, dispatches and encodes; it has
// no rules of its own. A host needs three calls and no type of ours: one open(config),
// many execute(request), one close(). core/src/wire/README.md has the frames.
// Not thread-safe.
#ifndef KEEPSAKE_ENGINE_H_
#define KEEPSAKE_ENGINE_H_

#include <memory>

#include "keepsake/bytes.h"

namespace keepsake {

class Engine {
 public:
  Engine();
  // Engines which share a response hold the memory of one: a view is then valid until
  // the next call of any of them. `response` is borrowed.
  explicit Engine(Bytes& response);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // `config` is an open frame. Answers a response frame with one result: ok, or
  // why not, and then the engine stays closed and may be opened again.
  // kConflictingOptions if it is open. The view is valid until the next call.
  ByteView Open(ByteView config);

  // Answers every request, malformed ones included: an error is a response. kClosed for
  // every operation while it is not open. Time comes with the request.
  // The view is valid until the next call.
  ByteView Execute(ByteView request);

  // Lets go of the database and its files. Closing twice is fine.
  void Close();

 private:
  class Opened;

  Bytes own_response_;
  Bytes& response_;
  std::unique_ptr<Opened> opened_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_ENGINE_H_
