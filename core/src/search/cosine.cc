#include "search/cosine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "search/kernels.h"

namespace keepsake::search {
namespace {

double DotInDoubles(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

// Squares of very small or large floats leave the range of float.
bool IsWellScaled(float squared_norm) { return squared_norm > 1e-30F && squared_norm < 1e30F; }

double Quotient(double dot, double squared_norms) {
  if (squared_norms == 0) return 0;
  return std::clamp(dot / std::sqrt(squared_norms), -1.0, 1.0);
}

}  // namespace

CosineQuery::CosineQuery(std::span<const float> query)
    : query_(query), squared_norm_(Dot(query, query)) {}

double CosineQuery::Score(std::span<const float> vector) const {
  const float squared_norm = Dot(vector, vector);
  if (IsWellScaled(squared_norm) && IsWellScaled(squared_norm_)) {
    return Quotient(Dot(query_, vector), double{squared_norm_} * double{squared_norm});
  }
  return Quotient(DotInDoubles(query_, vector),
                  DotInDoubles(query_, query_) * DotInDoubles(vector, vector));
}

}  // namespace keepsake::search
