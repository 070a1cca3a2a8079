#include "vectors/cosine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace keepsake::search {
namespace {

double Reference(const std::vector<float>& a, const std::vector<float>& b) {
  double dot = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return dot / std::sqrt(aa) / std::sqrt(bb);
}

TEST(Cosine, agrees_with_doubles_at_every_length) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> number(-1, 1);
  for (std::size_t dims = 1; dims <= 70; ++dims) {
    std::vector<float> a(dims), b(dims);
    for (float& x : a) x = number(random);
    for (float& x : b) x = number(random);
    EXPECT_NEAR(CosineQuery(a).Score(b), Reference(a, b), 1e-6) << dims;
  }
}

TEST(Cosine, is_zero_for_a_zero_vector) {
  const std::vector<float> zero(5, 0), one(5, 1);
  EXPECT_EQ(CosineQuery(zero).Score(one), 0);
  EXPECT_EQ(CosineQuery(one).Score(zero), 0);
  EXPECT_EQ(CosineQuery(zero).Score(zero), 0);
}

TEST(Cosine, stays_within_one_and_is_finite_at_every_scale) {
  for (const float scale : {1e-45F, 1e-30F, 1e-10F, 1.0F, 1e10F, 1e30F, 3e38F}) {
    const std::vector<float> a(33, scale), b(33, 0.3F);
    EXPECT_NEAR(CosineQuery(a).Score(b), 1, 1e-6) << scale;
    EXPECT_LE(CosineQuery(a).Score(a), 1) << scale;
    EXPECT_NEAR(CosineQuery(b).Score(a), 1, 1e-6) << scale;
  }
}

}  // namespace
}  // namespace keepsake::search
