// Cosine of float32 vectors, exact. Both stores score with these very functions,
// so that they give the same bits.
#ifndef KEEPSAKE_VECTORS_COSINE_H_
#define KEEPSAKE_VECTORS_COSINE_H_

#include <cstddef>
#include <span>
#include <vector>

namespace keepsake::search {

// A vector to compare others with. Borrows it.
class CosineQuery {
 public:
  explicit CosineQuery(std::span<const float> query);

  // −1…1; 0 if either vector is zero. REQUIRES: as long as the query, finite.
  double Score(std::span<const float> vector) const;

 private:
  std::span<const float> query_;
  float squared_norm_;
};

// The direction between vectors of `dims` numbers each, one after the other: the sum of
// them at length 1. Zeros if there are none.
std::vector<float> MeanDirection(std::span<const float> vectors, std::size_t dims);

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_COSINE_H_
