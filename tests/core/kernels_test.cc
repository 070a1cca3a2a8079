#include "vectors/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace keepsake::search {
namespace {

class KernelsTest : public testing::Test {
 protected:
  std::vector<float> Floats(std::size_t count) {
    std::uniform_real_distribution<float> number(-1, 1);
    std::vector<float> floats(count);
    for (float& x : floats) x = number(random_);
    return floats;
  }

  int Below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  std::mt19937 random_{7};
};

double DotInDoubles(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

double L2InDoubles(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return sum;
}

TEST_F(KernelsTest, floats_agree_with_doubles_at_every_length) {
  for (std::size_t dims = 0; dims <= 130; ++dims) {
    const std::vector<float> a = Floats(dims), b = Floats(dims);
    EXPECT_NEAR(Dot(a, b), DotInDoubles(a, b), 1e-5) << dims;
    EXPECT_NEAR(L2Squared(a, b), L2InDoubles(a, b), 1e-4) << dims;
  }
}

TEST_F(KernelsTest, floats_need_no_alignment) {
  const std::vector<float> a = Floats(77), b = Floats(77);
  std::vector<std::uint8_t> bytes(a.size() * sizeof(float) + 16);
  for (std::size_t shift = 4; shift < 16; shift += 4) {
    std::memcpy(bytes.data() + shift, a.data(), a.size() * sizeof(float));
    const std::span<const float> moved(reinterpret_cast<const float*>(bytes.data() + shift),
                                       a.size());
    EXPECT_EQ(Dot(moved, b), Dot(a, b)) << shift;
    EXPECT_EQ(L2Squared(moved, b), L2Squared(a, b)) << shift;
  }
}

TEST_F(KernelsTest, nan_and_infinity_are_never_swallowed) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (std::size_t at = 0; at < 37; ++at) {
    std::vector<float> a(37, 1), b(37, 1);
    a[at] = kNan;
    EXPECT_TRUE(std::isnan(Dot(a, b))) << at;
    EXPECT_TRUE(std::isnan(L2Squared(a, b))) << at;
    a[at] = kInfinity;
    EXPECT_EQ(Dot(a, b), kInfinity) << at;
    EXPECT_EQ(L2Squared(a, b), kInfinity) << at;
    b[at] = 0;
    EXPECT_TRUE(std::isnan(Dot(a, b))) << at;
    b[at] = kInfinity;
    EXPECT_TRUE(std::isnan(L2Squared(a, b))) << at;
  }
}

TEST_F(KernelsTest, int8_and_int4_dots_are_exact_at_every_length_and_alignment) {
  for (std::size_t dims = kDimsPerBlock; dims <= 8 * kDimsPerBlock; dims += kDimsPerBlock) {
    for (std::size_t shift = 0; shift < 3; ++shift) {
      std::vector<std::int16_t> query(dims);
      for (std::int16_t& x : query) x = static_cast<std::int16_t>(Below(255) - 127);
      std::vector<std::uint8_t> bytes(shift + dims), nibbles(shift + dims / 2);
      std::int32_t expected8 = 0, expected4 = 0;
      for (std::size_t i = 0; i < dims; ++i) {
        const int level8 = Below(255) - 127, level4 = Below(15) - 7;
        bytes[shift + i] = static_cast<std::uint8_t>(level8);
        std::uint8_t& byte = nibbles[shift + i / 32 * 16 + i % 16];
        byte = static_cast<std::uint8_t>(byte | (level4 + 8) << (i % 32 < 16 ? 0 : 4));
        expected8 += query[i] * level8;
        expected4 += query[i] * level4;
      }
      EXPECT_EQ(DotInt8(query, &bytes[shift]), expected8) << dims;
      EXPECT_EQ(DotInt4(query, &nibbles[shift]), expected4) << dims;
    }
  }
}

TEST_F(KernelsTest, a_block_is_four_single_rows) {
  constexpr std::size_t kDims = 96;
  std::vector<std::int16_t> query(kDims);
  for (std::int16_t& x : query) x = static_cast<std::int16_t>(Below(255) - 127);
  std::vector<std::uint8_t> memory(kBlock * (kDims + 1));
  for (std::uint8_t& byte : memory) byte = static_cast<std::uint8_t>(Below(255) + 1);
  CodeRows rows;
  for (std::size_t r = 0; r < kBlock; ++r) rows[r] = &memory[(kBlock - 1 - r) * (kDims + 1)];
  const CodeDots int8 = DotInt8Block(query, rows), int4 = DotInt4Block(query, rows);
  for (std::size_t r = 0; r < kBlock; ++r) {
    EXPECT_EQ(int8[r], DotInt8(query, rows[r])) << r;
    EXPECT_EQ(int4[r], DotInt4(query, rows[r])) << r;
  }
}

TEST_F(KernelsTest, the_largest_dot_of_codes_fits) {
  const std::vector<std::int16_t> query(65536, 127);
  const std::vector<std::uint8_t> row(65536, 127), opposite(65536, 0x81);
  EXPECT_EQ(DotInt8(query, row.data()), 65536 * 127 * 127);
  EXPECT_EQ(DotInt8(query, opposite.data()), -65536 * 127 * 127);
}

}  // namespace
}  // namespace keepsake::search
