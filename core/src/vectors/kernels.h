// Kernels compare a query with stored vectors: float32 rows, and the codes that a
// quantizer makes of them (see quantizer.h). Each has a form for four rows at once:
// wasm has no prefetch, and four loads in flight hide what one row's would cost.
//
// SIMD is that of the target, 16 bytes wide: wasm SIMD128, SSE2, else plain loops.
// KEEPSAKE_SIMD=OFF builds the plain loops everywhere; integers come out the same.
//
// NaN and infinities go through float kernels as IEEE 754 has it. Pointers need
// no alignment.
#ifndef KEEPSAKE_VECTORS_KERNELS_H_
#define KEEPSAKE_VECTORS_KERNELS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace keepsake::search {

inline constexpr std::size_t kBlock = 4;
// Codes have whole blocks of dimensions, the last filled up with zeros.
inline constexpr std::size_t kDimsPerBlock = 32;

constexpr std::size_t PaddedDims(std::size_t dims) {
  return (dims + kDimsPerBlock - 1) / kDimsPerBlock * kDimsPerBlock;
}

// Of rows of one length.
float Dot(std::span<const float> a, std::span<const float> b);
float L2Squared(std::span<const float> a, std::span<const float> b);

using CodeRows = std::array<const std::uint8_t*, kBlock>;
using CodeDots = std::array<std::int32_t, kBlock>;

// Of a query's int8 code, widened, with codes of as many dimensions.
// REQUIRES: query.size() is a multiple of kDimsPerBlock, at most 65536; its values
// are within ±127. A row of int8 has query.size() bytes, one of int4 half of them.
std::int32_t DotInt8(std::span<const std::int16_t> query, const std::uint8_t* row);
std::int32_t DotInt4(std::span<const std::int16_t> query, const std::uint8_t* row);
CodeDots DotInt8Block(std::span<const std::int16_t> query, const CodeRows& rows);
CodeDots DotInt4Block(std::span<const std::int16_t> query, const CodeRows& rows);

// How many bits of two sign codes differ. The more, the lower is the cosine.
std::uint32_t Hamming(std::span<const std::uint64_t> a, const std::uint64_t* b);

// Which of 64 values are one that is wanted, or lie in a range; bit i is of value i.
std::uint64_t EqualBits(const std::uint16_t* values, std::uint16_t wanted);
std::uint64_t BitsWithin(const float* values, float least, float most);

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_KERNELS_H_
