// Sixteen bytes at once, as the target has them: what the integer kernels need, and
// no more. Plain loops where there is no SIMD, or where KEEPSAKE_SIMD=OFF asks for them.
#ifndef KEEPSAKE_VECTORS_LANES_H_
#define KEEPSAKE_VECTORS_LANES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(KEEPSAKE_NO_SIMD)
#define KEEPSAKE_LANES_PLAIN
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#else
#define KEEPSAKE_LANES_PLAIN
#endif

namespace keepsake::search {

#if defined(KEEPSAKE_LANES_PLAIN)

struct Int16Lanes {
  std::int16_t values[8];
};

struct Int8Lanes {
  std::int8_t values[16];

  static Int8Lanes Load(const void* from) {
    Int8Lanes lanes;
    std::memcpy(lanes.values, from, sizeof(lanes.values));
    return lanes;
  }
  Int16Lanes Low() const { return Widened(0); }
  Int16Lanes High() const { return Widened(8); }
  // Codes of four bits, which are stored as 1…15 for −7…7.
  Int8Lanes LowNibbles() const { return Nibbles(0); }
  Int8Lanes HighNibbles() const { return Nibbles(4); }

 private:
  Int16Lanes Widened(std::size_t first) const {
    Int16Lanes lanes;
    for (std::size_t i = 0; i < 8; ++i) lanes.values[i] = values[first + i];
    return lanes;
  }
  Int8Lanes Nibbles(int shift) const {
    Int8Lanes lanes;
    for (std::size_t i = 0; i < 16; ++i) {
      const int nibble = (static_cast<std::uint8_t>(values[i]) >> shift) & 15;
      lanes.values[i] = static_cast<std::int8_t>(nibble - 8);
    }
    return lanes;
  }
};

inline Int16Lanes LoadInt16(const std::int16_t* from) {
  Int16Lanes lanes;
  std::memcpy(lanes.values, from, sizeof(lanes.values));
  return lanes;
}

class Int32Sum {
 public:
  void AddProducts(Int16Lanes a, Int16Lanes b) {
    for (std::size_t i = 0; i < 8; ++i) sum_ += std::int32_t{a.values[i]} * b.values[i];
  }
  std::int32_t Total() const { return sum_; }

 private:
  std::int32_t sum_ = 0;
};

// Bit i says whether lane i passes.
inline std::uint32_t EqualLanes16(const std::uint16_t* from, std::uint16_t wanted) {
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < 16; ++i) bits |= std::uint32_t{from[i] == wanted} << i;
  return bits;
}

inline std::uint32_t LanesWithin4(const float* from, float least, float most) {
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    bits |= std::uint32_t{from[i] >= least && from[i] <= most} << i;
  }
  return bits;
}

#elif defined(__wasm_simd128__)

inline std::uint32_t EqualLanes16(const std::uint16_t* from, std::uint16_t wanted) {
  const v128_t lanes = wasm_u16x8_splat(wanted);
  const v128_t low = wasm_i16x8_eq(wasm_v128_load(from), lanes);
  const v128_t high = wasm_i16x8_eq(wasm_v128_load(from + 8), lanes);
  return wasm_i8x16_bitmask(wasm_i8x16_narrow_i16x8(low, high));
}

inline std::uint32_t LanesWithin4(const float* from, float least, float most) {
  const v128_t lanes = wasm_v128_load(from);
  return wasm_i32x4_bitmask(wasm_v128_and(wasm_f32x4_ge(lanes, wasm_f32x4_splat(least)),
                                          wasm_f32x4_le(lanes, wasm_f32x4_splat(most))));
}

using Int16Lanes = v128_t;

struct Int8Lanes {
  v128_t values;

  static Int8Lanes Load(const void* from) { return {wasm_v128_load(from)}; }
  Int16Lanes Low() const { return wasm_i16x8_extend_low_i8x16(values); }
  Int16Lanes High() const { return wasm_i16x8_extend_high_i8x16(values); }
  Int8Lanes LowNibbles() const {
    return {wasm_i8x16_sub(wasm_v128_and(values, wasm_i8x16_splat(15)), wasm_i8x16_splat(8))};
  }
  Int8Lanes HighNibbles() const {
    return {wasm_i8x16_sub(wasm_u8x16_shr(values, 4), wasm_i8x16_splat(8))};
  }
};

inline Int16Lanes LoadInt16(const std::int16_t* from) { return wasm_v128_load(from); }

class Int32Sum {
 public:
  void AddProducts(Int16Lanes a, Int16Lanes b) {
    sum_ = wasm_i32x4_add(sum_, wasm_i32x4_dot_i16x8(a, b));
  }
  std::int32_t Total() const {
    return wasm_i32x4_extract_lane(sum_, 0) + wasm_i32x4_extract_lane(sum_, 1) +
           wasm_i32x4_extract_lane(sum_, 2) + wasm_i32x4_extract_lane(sum_, 3);
  }

 private:
  v128_t sum_ = wasm_i32x4_splat(0);
};

#else

inline std::uint32_t EqualLanes16(const std::uint16_t* from, std::uint16_t wanted) {
  const __m128i lanes = _mm_set1_epi16(static_cast<std::int16_t>(wanted));
  const auto load = [](const std::uint16_t* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  };
  const __m128i low = _mm_cmpeq_epi16(load(from), lanes);
  const __m128i high = _mm_cmpeq_epi16(load(from + 8), lanes);
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
}

inline std::uint32_t LanesWithin4(const float* from, float least, float most) {
  const __m128 lanes = _mm_loadu_ps(from);
  const __m128 within =
      _mm_and_ps(_mm_cmpge_ps(lanes, _mm_set1_ps(least)), _mm_cmple_ps(lanes, _mm_set1_ps(most)));
  return static_cast<std::uint32_t>(_mm_movemask_ps(within));
}

using Int16Lanes = __m128i;

struct Int8Lanes {
  __m128i values;

  static Int8Lanes Load(const void* from) {
    return {_mm_loadu_si128(static_cast<const __m128i*>(from))};
  }
  // SSE2 has no sign extension: a byte beside itself, shifted down.
  Int16Lanes Low() const { return _mm_srai_epi16(_mm_unpacklo_epi8(values, values), 8); }
  Int16Lanes High() const { return _mm_srai_epi16(_mm_unpackhi_epi8(values, values), 8); }
  Int8Lanes LowNibbles() const {
    return {_mm_sub_epi8(_mm_and_si128(values, _mm_set1_epi8(15)), _mm_set1_epi8(8))};
  }
  Int8Lanes HighNibbles() const {
    const __m128i shifted = _mm_and_si128(_mm_srli_epi16(values, 4), _mm_set1_epi8(15));
    return {_mm_sub_epi8(shifted, _mm_set1_epi8(8))};
  }
};

inline Int16Lanes LoadInt16(const std::int16_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

class Int32Sum {
 public:
  void AddProducts(Int16Lanes a, Int16Lanes b) { sum_ = _mm_add_epi32(sum_, _mm_madd_epi16(a, b)); }
  std::int32_t Total() const {
    const __m128i pairs = _mm_add_epi32(sum_, _mm_shuffle_epi32(sum_, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(pairs, _mm_shuffle_epi32(pairs, 0xB1)));
  }

 private:
  __m128i sum_ = _mm_setzero_si128();
};

#endif

// Sixteen codes of eight bits, the first and the second half of them.
struct WideLanes {
  Int16Lanes low, high;
};
inline WideLanes LoadWidened(const std::uint8_t* from) {
#if defined(__wasm_simd128__) && !defined(KEEPSAKE_LANES_PLAIN)
  // Widening is part of the load: it costs an instruction more for what is loaded already.
  return {wasm_i16x8_load8x8(from), wasm_i16x8_load8x8(from + 8)};
#else
  const Int8Lanes lanes = Int8Lanes::Load(from);
  return {lanes.Low(), lanes.High()};
#endif
}

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_LANES_H_
