// When facts hold, and that none outranks what superseded it.
#ifndef KEEPSAKE_STORE_VALIDITY_H_
#define KEEPSAKE_STORE_VALIDITY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "keepsake/operation.h"

namespace keepsake {

// As stored, the origin of what is in quarantine is so much more than its number. Persistent.
inline constexpr std::int64_t kQuarantine = 16;

// What a search lets through: what began by the one time, and ended after the other, and is not
// in quarantine.
struct ValidityRange {
  // All numbers of a Durable Object are doubles: this is less than 2^53, and no validity's.
  static constexpr std::int64_t kEver = Validity::kMostMs + 1;

  std::int64_t begun_by_ms = kEver;
  std::int64_t ended_after_ms = -kEver;
  std::int64_t origin_below = kQuarantine;

  static ValidityRange At(std::int64_t at_ms) { return {at_ms, at_ms}; }
  bool Lets(const Validity& validity, bool is_quarantined) const {
    return (!is_quarantined || origin_below > kQuarantine) &&
           validity.from_ms.value_or(-kEver) <= begun_by_ms &&
           validity.until_ms.value_or(kEver) > ended_after_ms;
  }
};

// That of an item which is superseded at that time.
inline Validity EndedAt(Validity validity, std::int64_t at_ms) {
  validity.until_ms = std::min(validity.until_ms.value_or(at_ms), at_ms);
  return validity;
}

// Says of a superseded item what its successor is called, and holds no byte of that: 1…2^52.
std::int64_t MarkOf(std::string_view encoded_ns, std::string_view key);

// A hit: its own mark, and that of what superseded it, or 0.
struct FactMarks {
  std::int64_t own = 0;
  std::int64_t successor = 0;
};

inline constexpr std::size_t kNoHit = SIZE_MAX;

// For each hit the one that superseded it, or kNoHit if that is none of them.
std::vector<std::size_t> SuccessorsOf(std::span<const FactMarks> hits);
// Whether one has a successor that is none of them.
bool LacksSuccessor(std::span<const FactMarks> hits, std::span<const std::size_t> successors);
// The order of hits in which each that came before its successor comes behind it.
std::vector<std::size_t> BehindSuccessors(std::span<const std::size_t> successors);

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_VALIDITY_H_
