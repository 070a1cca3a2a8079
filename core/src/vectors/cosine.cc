#include "vectors/cosine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "vectors/kernels.h"

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

std::vector<float> MeanDirection(std::span<const float> vectors, std::size_t dims) {
  std::vector<double> sum(dims);
  for (; vectors.size() >= dims; vectors = vectors.subspan(dims)) {
    const std::span<const float> vector = vectors.first(dims);
    const double length = std::sqrt(DotInDoubles(vector, vector));
    if (length == 0) continue;
    for (std::size_t i = 0; i < dims; ++i) sum[i] += double{vector[i]} / length;
  }
  double squared = 0;
  for (const double x : sum) squared += x * x;
  std::vector<float> mean(dims);
  for (std::size_t i = 0; i < dims && squared > 0; ++i) {
    mean[i] = static_cast<float>(sum[i] / std::sqrt(squared));
  }
  return mean;
}

}  // namespace keepsake::search
