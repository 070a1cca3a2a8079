// Asks for memory before texts are analysed and taken into an index: an allocation that fails is
// the end of a wasm instance, and of what its engines hold in memory.
#ifndef KEEPSAKE_TEXT_TEXT_ROOM_H_
#define KEEPSAKE_TEXT_TEXT_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "keepsake/status.h"

namespace keepsake::search {

// Of one call.
class TextRoom {
 public:
  // kStorageFull if memory has no room to analyse this value and to take what comes of it.
  Status TakeValue(std::string_view value);

 private:
  Status Take(std::uint64_t bytes);

  std::uint64_t found_ = 0;  // there is room for so much
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TEXT_ROOM_H_
