// How to make some bytes out of others: what of the base can be copied, and what
// is new. Work is bounded by the lengths, not by their product.
#ifndef KEEPSAKE_CHECKPOINT_DIFF_H_
#define KEEPSAKE_CHECKPOINT_DIFF_H_

#include <cstddef>
#include <vector>

#include "keepsake/bytes.h"

namespace keepsake::checkpoint {

struct Edit {
  bool is_copy = false;    // of the base, or else of the target
  std::size_t offset = 0;  // there
  std::size_t length = 0;

  bool operator==(const Edit&) const = default;
};

// Edits which make `target`, in order; none is empty. The common beginning and
// end are always copied; between them only what has at least `min_copy` bytes
// and `window` consecutive ones at a multiple of `window` in the base's middle.
// REQUIRES: window is a multiple of 8, and window <= min_copy.
std::vector<Edit> Diff(ByteView base, ByteView target, std::size_t window, std::size_t min_copy);

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_DIFF_H_
