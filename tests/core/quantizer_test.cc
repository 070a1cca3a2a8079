#include "vectors/quantizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "clustered_vectors.h"

namespace keepsake::search {
namespace {

double Dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

double Cosine(const std::vector<float>& a, const std::vector<float>& b) {
  return Dot(a, b) / std::sqrt(Dot(a, a) * Dot(b, b));
}

class QuantizerTest : public testing::TestWithParam<CodeKind> {
 protected:
  struct Estimate {
    double value;
    double error;
  };

  static Estimate Product(const std::vector<float>& query, const std::vector<float>& row,
                          bool normalize) {
    const Quantizer quantizer(GetParam(), query.size());
    std::vector<std::int16_t> query_code;
    std::vector<std::uint8_t> code(quantizer.code_bytes());
    const CodeScale q = quantizer.EncodeQuery(query, normalize, &query_code);
    const CodeScale r = quantizer.Encode(row, normalize, code.data());
    return {double{q.scale} * r.scale * quantizer.Dot(query_code, code.data()),
            DotError(q, query.size()).Of(r)};
  }
};

TEST_P(QuantizerTest, the_error_of_a_product_is_within_what_is_said_at_any_length) {
  for (const std::size_t dims : {1, 2, 3, 5, 6, 7, 8, 31, 32, 33, 100, 513}) {
    ClusteredVectors vectors(dims, 8, 3);
    for (int i = 0; i < 200; ++i) {
      const std::vector<float> a = vectors.Next(), b = vectors.Next();
      const Estimate cosine = Product(a, b, true), product = Product(a, b, false);
      ASSERT_NEAR(cosine.value, Cosine(a, b), cosine.error) << dims;
      ASSERT_NEAR(product.value, Dot(a, b), product.error) << dims;
    }
  }
}

TEST_P(QuantizerTest, the_error_is_small_enough_to_tell_neighbours_apart) {
  ClusteredVectors vectors(512, 8, 3);
  const Estimate estimate = Product(vectors.Next(), vectors.Next(), true);
  EXPECT_LT(estimate.error, GetParam() == CodeKind::kInt8 ? 0.005 : 0.05);
}

TEST_P(QuantizerTest, one_dimension_that_outweighs_all_others_leaves_them_their_part) {
  ClusteredVectors vectors(256, 8, 5);
  for (int i = 0; i < 100; ++i) {
    std::vector<float> a = vectors.Next(), b = vectors.Next();
    a[17] = b[17] = 40;
    const Estimate cosine = Product(a, b, true);
    ASSERT_NEAR(cosine.value, Cosine(a, b), cosine.error);
  }
}

TEST_P(QuantizerTest, a_zero_vector_has_no_product_and_no_error) {
  const std::vector<float> zero(40, 0), one(40, 1);
  for (const bool normalize : {false, true}) {
    EXPECT_EQ(Product(zero, one, normalize).value, 0);
    EXPECT_EQ(Product(one, zero, normalize).value, 0);
    EXPECT_EQ(Product(one, zero, normalize).error, 0);
  }
}

TEST_P(QuantizerTest, cosines_survive_every_scale_of_floats) {
  for (const float scale : {1e-45F, 1e-38F, 1e-20F, 1.0F, 1e20F, 3e38F}) {
    const std::vector<float> a(33, scale), b(33, -0.3F);
    const Estimate estimate = Product(a, b, true);
    EXPECT_NEAR(estimate.value, -1, estimate.error) << scale;
    EXPECT_LT(estimate.error, 0.5) << scale;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, QuantizerTest, testing::Values(CodeKind::kInt8, CodeKind::kInt4));

}  // namespace
}  // namespace keepsake::search
