#include "vectors/quantizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace keepsake::search {
namespace {

constexpr int kInt8Max = 127;
constexpr int kInt4Max = 7;

// What a vector is multiplied by on its way to a code.
struct Levels {
  CodeScale scale;
  double factor = 0;
};

Levels LevelsOf(std::span<const float> vector, bool normalize, int max_level) {
  // Four sums hide the latency of an addition, and are the same ones everywhere.
  std::array<double, 4> sums = {};
  std::array<float, 4> most = {};
  for (std::size_t i = 0; i < vector.size(); ++i) {
    sums[i % 4] += double{vector[i]} * vector[i];
    most[i % 4] = std::max(most[i % 4], std::fabs(vector[i]));
  }
  const double squares = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  const float largest = *std::ranges::max_element(most);
  if (largest == 0) return {};
  const double norm = std::sqrt(squares);
  const double length = normalize ? norm : 1;
  return {.scale = {.scale = static_cast<float>(largest / length / max_level),
                    .norm = static_cast<float>(norm / length)},
          .factor = max_level / double{largest}};
}

// In wasm an instruction, which lrint() is not.
int LevelOf(float x, double factor) { return static_cast<int>(std::rint(x * factor)); }

}  // namespace

CodeScale Quantizer::Encode(std::span<const float> vector, bool normalize,
                            std::uint8_t* code) const {
  const Levels levels = LevelsOf(vector, normalize, kind_ == CodeKind::kInt8 ? kInt8Max : kInt4Max);
  if (kind_ == CodeKind::kInt8) {
    std::memset(code, 0, code_bytes());
    for (std::size_t i = 0; i < vector.size(); ++i) {
      code[i] = static_cast<std::uint8_t>(LevelOf(vector[i], levels.factor));
    }
    return levels.scale;
  }
  std::memset(code, 0x88, code_bytes());
  for (std::size_t i = 0; i < vector.size(); ++i) {
    std::uint8_t& byte = code[i / kDimsPerBlock * 16 + i % 16];
    const int nibble = LevelOf(vector[i], levels.factor) + 8;
    byte = static_cast<std::uint8_t>(i % kDimsPerBlock < 16 ? (byte & 0xF0) | nibble
                                                            : (byte & 0x0F) | nibble << 4);
  }
  return levels.scale;
}

CodeScale Quantizer::EncodeQuery(std::span<const float> query, bool normalize,
                                 std::vector<std::int16_t>* code) const {
  const Levels levels = LevelsOf(query, normalize, kInt8Max);
  code->assign(PaddedDims(dims_), 0);
  for (std::size_t i = 0; i < query.size(); ++i) {
    (*code)[i] = static_cast<std::int16_t>(LevelOf(query[i], levels.factor));
  }
  return levels.scale;
}

// An error of rounding is uniform over a scale, so that its deviation is scale/√12 in
// each dimension; six of them are √3 times the scale and the other vector's length. In a
// few dimensions all of them at their worst are less: half a scale times √dims.
DotError::DotError(CodeScale query, std::size_t dims)
    : query_(query),
      few_dims_(dims <= 6 ? static_cast<float>(std::sqrt(static_cast<double>(dims)) / 2) : 0) {}

}  // namespace keepsake::search
