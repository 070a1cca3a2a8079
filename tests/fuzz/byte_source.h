// A ByteSource turns fuzzer's bytes into decisions; when they are used up, every
// decision is the first one.
#ifndef KEEPSAKE_TESTS_FUZZ_BYTE_SOURCE_H_
#define KEEPSAKE_TESTS_FUZZ_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "keepsake/bytes.h"

namespace keepsake::fuzz {

class ByteSource {
 public:
  explicit ByteSource(ByteView bytes) : bytes_(bytes) {}

  bool empty() const { return position_ == bytes_.size(); }
  std::uint8_t Byte() { return empty() ? 0 : bytes_[position_++]; }
  std::size_t Below(std::size_t bound) { return Byte() % bound; }
  bool Chance(std::size_t one_in) { return Below(one_in) == one_in - 1; }
  ByteView Take(std::size_t count) {
    const ByteView taken = bytes_.subspan(position_, std::min(count, bytes_.size() - position_));
    position_ += taken.size();
    return taken;
  }
  ByteView Rest() { return Take(bytes_.size()); }

  template <typename T>
  T Of(std::initializer_list<T> choices) {
    return *(choices.begin() + Below(choices.size()));
  }
  std::string Text(std::initializer_list<const char*> choices) { return Of(choices); }

 private:
  ByteView bytes_;
  std::size_t position_ = 0;
};

}  // namespace keepsake::fuzz

#endif  // KEEPSAKE_TESTS_FUZZ_BYTE_SOURCE_H_
