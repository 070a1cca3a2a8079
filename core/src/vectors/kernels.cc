#include "vectors/kernels.h"

#include <bit>
#include <cstring>

#include "vectors/lanes.h"

namespace keepsake::search {
namespace {

#if defined(KEEPSAKE_NO_SIMD)

constexpr std::size_t kLanes = 1;
using FloatLanes = float;

float Sum(float lanes) { return lanes; }

#else

// Four floats at once on every target: SSE, NEON and wasm SIMD alike.
constexpr std::size_t kLanes = 4;
using FloatLanes = float __attribute__((vector_size(16)));

float Sum(FloatLanes lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

#endif

FloatLanes Load(const float* from) {
  FloatLanes lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

// Adds up term(a, b) over all dimensions. Four sums hide the latency of an addition.
template <typename Term>
float SumOfTerms(std::span<const float> a, std::span<const float> b, Term term) {
  FloatLanes sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 * kLanes <= a.size(); i += 4 * kLanes) {
    for (std::size_t s = 0; s < 4; ++s) {
      const std::size_t at = i + s * kLanes;
      sums[s] += term(Load(&a[at]), Load(&b[at]));
    }
  }
  float total = Sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; i < a.size(); ++i) total += term(a[i], b[i]);
  return total;
}

// Products of eight dimensions go to one sum, the next eight to the next one.
struct Int8Row {
  static constexpr std::size_t kBytes = kDimsPerBlock;

  template <std::size_t kSums>
  static void AddProducts(const std::int16_t* query, const std::uint8_t* row,
                          Int32Sum (&sums)[kSums]) {
    const WideLanes first = LoadWidened(row), second = LoadWidened(row + 16);
    sums[0].AddProducts(LoadInt16(query), first.low);
    sums[1 % kSums].AddProducts(LoadInt16(query + 8), first.high);
    sums[2 % kSums].AddProducts(LoadInt16(query + 16), second.low);
    sums[3 % kSums].AddProducts(LoadInt16(query + 24), second.high);
  }
};

struct Int4Row {
  static constexpr std::size_t kBytes = kDimsPerBlock / 2;

  template <std::size_t kSums>
  static void AddProducts(const std::int16_t* query, const std::uint8_t* row,
                          Int32Sum (&sums)[kSums]) {
    const Int8Lanes packed = Int8Lanes::Load(row);
    const Int8Lanes first = packed.LowNibbles(), second = packed.HighNibbles();
    sums[0].AddProducts(LoadInt16(query), first.Low());
    sums[1 % kSums].AddProducts(LoadInt16(query + 8), first.High());
    sums[2 % kSums].AddProducts(LoadInt16(query + 16), second.Low());
    sums[3 % kSums].AddProducts(LoadInt16(query + 24), second.High());
  }
};

template <typename RowCode>
std::int32_t DotOfCode(std::span<const std::int16_t> query, const std::uint8_t* row) {
  Int32Sum sums[4];
  for (std::size_t i = 0; i < query.size(); i += kDimsPerBlock, row += RowCode::kBytes) {
    RowCode::AddProducts(&query[i], row, sums);
  }
  return (sums[0].Total() + sums[1].Total()) + (sums[2].Total() + sums[3].Total());
}

// One sum for each of four rows: as many in flight, and as many as there are registers.
template <typename RowCode>
CodeDots DotOfCodes(std::span<const std::int16_t> query, const CodeRows& rows) {
  Int32Sum sums[kBlock][1];
  std::size_t offset = 0;
  for (std::size_t i = 0; i < query.size(); i += kDimsPerBlock, offset += RowCode::kBytes) {
    for (std::size_t r = 0; r < kBlock; ++r) {
      RowCode::AddProducts(&query[i], rows[r] + offset, sums[r]);
    }
  }
  return {sums[0][0].Total(), sums[1][0].Total(), sums[2][0].Total(), sums[3][0].Total()};
}

}  // namespace

float Dot(std::span<const float> a, std::span<const float> b) {
  return SumOfTerms(a, b, [](auto x, auto y) { return x * y; });
}

float L2Squared(std::span<const float> a, std::span<const float> b) {
  return SumOfTerms(a, b, [](auto x, auto y) { return (x - y) * (x - y); });
}

std::int32_t DotInt8(std::span<const std::int16_t> query, const std::uint8_t* row) {
  return DotOfCode<Int8Row>(query, row);
}

std::int32_t DotInt4(std::span<const std::int16_t> query, const std::uint8_t* row) {
  return DotOfCode<Int4Row>(query, row);
}

CodeDots DotInt8Block(std::span<const std::int16_t> query, const CodeRows& rows) {
  return DotOfCodes<Int8Row>(query, rows);
}

CodeDots DotInt4Block(std::span<const std::int16_t> query, const CodeRows& rows) {
  return DotOfCodes<Int4Row>(query, rows);
}

std::uint32_t Hamming(std::span<const std::uint64_t> a, const std::uint64_t* b) {
  std::uint32_t differing = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint64_t word;
    std::memcpy(&word, b + i, sizeof(word));
    differing += static_cast<std::uint32_t>(std::popcount(a[i] ^ word));
  }
  return differing;
}

std::uint64_t EqualBits(const std::uint16_t* values, std::uint16_t wanted) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 64; i += 16) {
    bits |= std::uint64_t{EqualLanes16(values + i, wanted)} << i;
  }
  return bits;
}

std::uint64_t BitsWithin(const float* values, float least, float most) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 64; i += 4) {
    bits |= std::uint64_t{LanesWithin4(values + i, least, most)} << i;
  }
  return bits;
}

}  // namespace keepsake::search
