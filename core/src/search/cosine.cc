#include "search/cosine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace keepsake::search {
namespace {

// Four floats at once on every target: SSE, NEON and wasm SIMD alike.
using Lanes = float __attribute__((vector_size(16)));
constexpr std::size_t kLanes = 4;

Lanes Load(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

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

float Dot(std::span<const float> a, std::span<const float> b) {
  // Four sums hide the latency of an addition.
  Lanes sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 * kLanes <= a.size(); i += 4 * kLanes) {
    for (std::size_t s = 0; s < 4; ++s) {
      const std::size_t at = i + s * kLanes;
      sums[s] += Load(&a[at]) * Load(&b[at]);
    }
  }
  const Lanes sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  for (; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}

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
