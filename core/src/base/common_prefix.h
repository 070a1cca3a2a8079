#ifndef KEEPSAKE_BASE_COMMON_PREFIX_H_
#define KEEPSAKE_BASE_COMMON_PREFIX_H_

#include <algorithm>
#include <cstddef>

#include "base/hash.h"
#include "keepsake/bytes.h"

namespace keepsake {

// How many bytes both begin with. Word by word: the memcmp of small C libraries goes byte by byte.
inline std::size_t CommonPrefix(ByteView a, ByteView b) {
  const std::size_t length = std::min(a.size(), b.size());
  std::size_t i = 0;
  while (i + 8 <= length && WordAt(a.data() + i) == WordAt(b.data() + i)) i += 8;
  while (i < length && a[i] == b[i]) ++i;
  return i;
}

}  // namespace keepsake

#endif  // KEEPSAKE_BASE_COMMON_PREFIX_H_
