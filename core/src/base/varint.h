// The numbers, texts and bytes of which our binary layouts are made:
//   varint := LEB128: seven bits a byte, the lowest first
//   text   := varint(length) byte*
//   u64    := eight bytes, the lowest first
#ifndef KEEPSAKE_BASE_VARINT_H_
#define KEEPSAKE_BASE_VARINT_H_

#include <cstdint>
#include <cstring>
#include <string_view>

#include "keepsake/bytes.h"

namespace keepsake {

inline ByteView BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view TextOf(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline void Append(ByteView bytes, Bytes& out) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

inline void AppendVarint(std::uint64_t number, Bytes& out) {
  for (; number >= 0x80; number >>= 7) out.push_back(static_cast<std::uint8_t>(number | 0x80));
  out.push_back(static_cast<std::uint8_t>(number));
}
inline void AppendText(std::string_view text, Bytes& out) {
  AppendVarint(text.size(), out);
  Append(BytesOf(text), out);
}
inline void AppendU64(std::uint64_t number, Bytes& out) {
  for (int shift = 0; shift < 64; shift += 8) {
    out.push_back(static_cast<std::uint8_t>(number >> shift));
  }
}

// Reads what the functions above appended. After a mistake it is not ok(), and
// reads nothing but zeros and empty texts.
class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool done() const { return rest_.empty(); }
  ByteView rest() const { return rest_; }

  std::uint64_t Varint() {
    // Most numbers are small.
    if (!rest_.empty() && rest_.front() < 0x80) {
      const std::uint8_t number = rest_.front();
      rest_ = rest_.subspan(1);
      return number;
    }
    return LongVarint();
  }

  std::int64_t Id() { return static_cast<std::int64_t>(Varint()); }

  ByteView Take(std::uint64_t length) {
    if (length > rest_.size()) {
      Fail();
      return {};
    }
    const ByteView bytes = rest_.first(static_cast<std::size_t>(length));
    rest_ = rest_.subspan(bytes.size());
    return bytes;
  }

  std::string_view Text() { return TextOf(Take(Varint())); }

  std::uint64_t U64() {
    std::uint64_t number = 0;
    int shift = 0;
    for (const std::uint8_t byte : Take(8)) {
      number |= static_cast<std::uint64_t>(byte) << shift;
      shift += 8;
    }
    return number;
  }

 private:
  std::uint64_t LongVarint() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const std::uint8_t byte = rest_.front();
      rest_ = rest_.subspan(1);
      number |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return number;
    }
    return Fail();
  }
  std::uint64_t Fail() {
    ok_ = false;
    rest_ = {};
    return 0;
  }

  ByteView rest_;
  bool ok_ = true;
};

}  // namespace keepsake

#endif  // KEEPSAKE_BASE_VARINT_H_
