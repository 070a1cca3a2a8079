// What BM25 is made of, for all that scores by words.
#ifndef KEEPSAKE_TEXT_BM25_H_
#define KEEPSAKE_TEXT_BM25_H_

#include <algorithm>
#include <cmath>

namespace keepsake::search {

// The probabilistic weight of a term that `matching` of `all` hold; never negative.
inline double Idf(double all, double matching) {
  return std::log(1 + (std::max(all, matching) - matching + 0.5) / (matching + 0.5));
}

// A penalty for length: 1 for a text of `mean` words.
struct Norm {
  double of_none = 1, of_word = 0;

  Norm() = default;
  Norm(double penalty, double mean) : of_none(1 - penalty), of_word(penalty / mean) {}
  double Of(double words) const { return of_none + of_word * words; }
};

// Of a term that a text has so often: 1 for once in a text of usual length, at most 1 + k1.
inline double Saturated(double count, double norm, double k1) {
  return count * (k1 + 1) / (count + k1 * norm);
}

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_BM25_H_
