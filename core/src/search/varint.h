// Numbers of 7 bits each, the highest bit says that more follow.
#ifndef KEEPSAKE_SEARCH_VARINT_H_
#define KEEPSAKE_SEARCH_VARINT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "keepsake/bytes.h"

namespace keepsake::search {

inline void AppendVarint(std::uint64_t number, Bytes& out) {
  for (; number >= 0x80; number >>= 7) out.push_back(static_cast<std::uint8_t>(number | 0x80));
  out.push_back(static_cast<std::uint8_t>(number));
}

inline void AppendText(std::string_view text, Bytes& out) {
  AppendVarint(text.size(), out);
  out.insert(out.end(), text.begin(), text.end());
}

// Stays within its bytes, whatever they are: once it fails, everything is 0 or empty.
class VarintReader {
 public:
  explicit VarintReader(ByteView bytes) : bytes_(bytes) {}

  bool AtEnd() const { return at_ >= bytes_.size(); }
  bool failed() const { return failed_; }

  std::uint64_t Next() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (AtEnd()) return Fail();
      const std::uint8_t byte = bytes_[at_++];
      number |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return number;
    }
    return Fail();
  }

  std::string_view Text() {
    const std::uint64_t size = Next();
    if (size > bytes_.size() - at_) {
      Fail();
      return {};
    }
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += static_cast<std::size_t>(size);
    return {begin, static_cast<std::size_t>(size)};
  }

 private:
  std::uint64_t Fail() {
    failed_ = true;
    at_ = bytes_.size();
    return 0;
  }

  ByteView bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_SEARCH_VARINT_H_
