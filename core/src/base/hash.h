// A checksum, and the stamp of a value. Not against anybody who means harm.
// Persistent: what was stored is checked by it.
#ifndef KEEPSAKE_BASE_HASH_H_
#define KEEPSAKE_BASE_HASH_H_

#include <bit>
#include <cstdint>
#include <cstring>

#include "keepsake/bytes.h"

namespace keepsake {

static_assert(std::endian::native == std::endian::little, "words are read as they lie");

inline std::uint64_t WordAt(const std::uint8_t* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

inline std::uint64_t Mix(std::uint64_t hash, std::uint64_t word) {
  return std::rotl((hash ^ (word * 0x9E3779B97F4A7C15)) * 0xC2B2AE3D27D4EB4F, 31);
}

// Eight bytes at a time, in two chains that a processor follows at once.
inline std::uint64_t HashOf(ByteView bytes, std::uint64_t seed = 0) {
  std::uint64_t even = seed ^ bytes.size();
  std::uint64_t odd = ~seed;
  std::size_t i = 0;
  for (; i + 16 <= bytes.size(); i += 16) {
    even = Mix(even, WordAt(bytes.data() + i));
    odd = Mix(odd, WordAt(bytes.data() + i + 8));
  }
  for (; i < bytes.size(); ++i) even = Mix(even, bytes[i]);
  std::uint64_t hash = Mix(even, odd);
  hash ^= hash >> 32;
  return Mix(hash, hash >> 29);
}

}  // namespace keepsake

#endif  // KEEPSAKE_BASE_HASH_H_
