// Opaque bytes, owned and viewed, and the pair in which serialised values travel.
#ifndef KEEPSAKE_BYTES_H_
#define KEEPSAKE_BYTES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace keepsake {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

// A value as a Serializer made it: its tag ("json", "bytes", …) and its bytes.
// Stored and returned untouched.
struct Blob {
  std::string type;
  Bytes bytes;

  bool operator==(const Blob&) const = default;
};

}  // namespace keepsake

#endif  // KEEPSAKE_BYTES_H_
