// A Quantizer makes codes of float32 vectors: integers within ±127 (int8) or ±7
// (int4) times a scale of the vector's own. Nothing is learned from data, so nothing
// goes stale as data change; README.md has what that costs against a learned scale.
//
//   int8   one byte per dimension
//   int4   16 bytes per 32 dimensions: byte i holds dimension i in its low half and
//          dimension 16 + i in its high one, each as 1…15 for −7…7
//
// Both are filled up with zeros to a multiple of kDimsPerBlock dimensions.
#ifndef KEEPSAKE_VECTORS_QUANTIZER_H_
#define KEEPSAKE_VECTORS_QUANTIZER_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vectors/kernels.h"

namespace keepsake::search {

enum class CodeKind : std::uint8_t { kInt8, kInt4 };

// A code times its scale is near the vector. The error of a product of two codes is
// that of rounding: each product of a dimension is off by at most half a scale.
struct CodeScale {
  float scale = 0;
  float norm = 0;  // Euclidean, of the vector that was coded
};

class Quantizer {
 public:
  Quantizer(CodeKind kind, std::size_t dims) : kind_(kind), dims_(dims) {}

  CodeKind kind() const { return kind_; }
  std::size_t dims() const { return dims_; }
  std::size_t code_bytes() const {
    return kind_ == CodeKind::kInt8 ? PaddedDims(dims_) : PaddedDims(dims_) / 2;
  }

  // Writes code_bytes() to `code`. With `normalize`, the code is of the vector at
  // length one; a zero vector stays zero. REQUIRES: vector is finite, dims() long.
  CodeScale Encode(std::span<const float> vector, bool normalize, std::uint8_t* code) const;

  // The query's side is int8 for all kinds, widened once for the kernels.
  CodeScale EncodeQuery(std::span<const float> query, bool normalize,
                        std::vector<std::int16_t>* code) const;

  std::int32_t Dot(std::span<const std::int16_t> query, const std::uint8_t* row) const {
    return kind_ == CodeKind::kInt8 ? DotInt8(query, row) : DotInt4(query, row);
  }
  CodeDots DotBlock(std::span<const std::int16_t> query, const CodeRows& rows) const {
    return kind_ == CodeKind::kInt8 ? DotInt8Block(query, rows) : DotInt4Block(query, rows);
  }

 private:
  CodeKind kind_;
  std::size_t dims_;
};

// How far Dot() times both scales may be from the product of the vectors: six standard
// deviations of its rounding.
class DotError {
 public:
  DotError(CodeScale query, std::size_t dims);

  float Of(CodeScale row) const {
    const float by_row = query_.norm * row.scale, by_query = query_.scale * row.norm;
    const float rounding = few_dims_ ? few_dims_ * (by_row + by_query)
                                     : std::sqrt(3 * (by_row * by_row + by_query * by_query));
    return rounding + kSinglePrecision * query_.norm * row.norm;
  }

 private:
  static constexpr float kSinglePrecision = 1e-5F;

  CodeScale query_;
  float few_dims_;  // 0 if there are more
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_QUANTIZER_H_
