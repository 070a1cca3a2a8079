// A CodeScan scores codes: each gets an upper and a lower bound of its score, which are its
// product with the query and what rounding may hide.
#ifndef KEEPSAKE_VECTORS_CODE_SCAN_H_
#define KEEPSAKE_VECTORS_CODE_SCAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vectors/metric.h"
#include "vectors/quantizer.h"
#include "vectors/shortlist.h"

namespace keepsake::search {

// A query as the kernels want it.
struct CodedQuery {
  std::vector<std::int16_t> code;
  std::vector<std::uint64_t> signs;  // of its dimensions; none of few
  CodeScale scale;
  DotError error;
};

// Collects rows until there is a block of them, and scores it.
class CodeScan {
 public:
  // Borrows all of them.
  CodeScan(const Quantizer& quantizer, Metric metric, const CodedQuery& query,
           Shortlist& candidates)
      : quantizer_(quantizer), metric_(metric), query_(query), candidates_(candidates) {}

  // Borrows the code until Flush().
  void Add(Slot slot, CodeScale scale, const std::uint8_t* code) {
    slots_[count_] = slot;
    scales_[count_] = scale;
    rows_[count_] = code;
    if (++count_ == kBlock) Flush();
  }

  void Flush() {
    if (count_ == 0) return;
    for (std::size_t r = count_; r < kBlock; ++r) rows_[r] = rows_[0];
    const CodeDots dots = quantizer_.DotBlock(query_.code, rows_);
    for (std::size_t r = 0; r < count_; ++r) candidates_.Push(CandidateOf(r, dots[r]));
    count_ = 0;
  }

 private:
  Candidate CandidateOf(std::size_t r, std::int32_t dot) const {
    const CodeScale row = scales_[r];
    const float product = static_cast<float>(dot) * query_.scale.scale * row.scale;
    const float error = query_.error.Of(row);
    if (metric_ != Metric::kL2sq) return {slots_[r], product + error, product - error};
    const float norms = query_.scale.norm * query_.scale.norm + row.norm * row.norm;
    return {slots_[r], 2 * (product + error) - norms, 2 * (product - error) - norms};
  }

  const Quantizer& quantizer_;
  Metric metric_;
  const CodedQuery& query_;
  Shortlist& candidates_;
  std::size_t count_ = 0;
  std::array<Slot, kBlock> slots_;
  std::array<CodeScale, kBlock> scales_;
  CodeRows rows_;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_CODE_SCAN_H_
