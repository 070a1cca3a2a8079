// Cosine of float32 vectors, exact. Both stores score with these very functions,
// so that they give the same bits.
#ifndef KEEPSAKE_SEARCH_COSINE_H_
#define KEEPSAKE_SEARCH_COSINE_H_

#include <span>

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

}  // namespace keepsake::search

#endif  // KEEPSAKE_SEARCH_COSINE_H_
