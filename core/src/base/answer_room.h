// How much memory the answer to a request may take. An allocation that fails is the end of a
// wasm instance, and of what its engines hold in memory, so whoever collects values for an
// answer asks first.
#ifndef KEEPSAKE_BASE_ANSWER_ROOM_H_
#define KEEPSAKE_BASE_ANSWER_ROOM_H_

#include <cstddef>
#include <cstdint>

#include "keepsake/status.h"

namespace keepsake {

// Of the request that this thread answers, for as long as it lives. Without one there is no limit.
class AnswerRoom {
 public:
  explicit AnswerRoom(std::size_t most);
  ~AnswerRoom();
  AnswerRoom(const AnswerRoom&) = delete;
  AnswerRoom& operator=(const AnswerRoom&) = delete;

  // kTooLarge if the answer may not have `bytes` more, or if memory has no room for them and for
  // the response that they are written into.
  static Status Take(std::size_t bytes);
  static std::size_t taken();

 private:
  Status Add(std::size_t bytes);

  std::size_t most_;
  std::size_t taken_ = 0;
  std::size_t found_ = 0;  // so much there is room for
  AnswerRoom* outer_;
};

// kStorageFull if memory has no room for so many bytes in one piece.
Status FindRoom(std::uint64_t bytes);

}  // namespace keepsake

#endif  // KEEPSAKE_BASE_ANSWER_ROOM_H_
