// A Session is an Engine that is opened and closed by frames, so that a host
// needs three calls and no type of ours: one open(config), many
// execute(request), one close(). The wasm binding is this class and nothing else.
// Not thread-safe.
#ifndef KEEPSAKE_ENGINE_SESSION_H_
#define KEEPSAKE_ENGINE_SESSION_H_

#include <memory>

#include "keepsake/bytes.h"
#include "keepsake/engine.h"

namespace keepsake {

class Session {
 public:
  Session();
  // Sessions which share a response hold the memory of one: a view is then valid until
  // the next call of any of them. `response` is borrowed.
  explicit Session(Bytes& response);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // `config` is an open frame. Answers a response frame with one result: ok, or
  // why not, and then the session stays closed and may be opened again.
  // kConflictingOptions if it is open. The view is valid until the next call.
  ByteView Open(ByteView config);

  // Answers kClosed for every operation while the session is not open.
  // The view is valid until the next call.
  ByteView Execute(ByteView request);

  // Lets go of the database and its files. Closing twice is fine.
  void Close();

 private:
  Bytes own_response_;
  Bytes& response_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_ENGINE_SESSION_H_
