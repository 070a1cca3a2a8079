#include "store/validity.h"

#include "base/hash.h"
#include "base/order.h"
#include "base/varint.h"

namespace keepsake {

std::int64_t MarkOf(std::string_view encoded_ns, std::string_view key) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 52) - 1;
  const std::uint64_t hash = HashOf(BytesOf(key), HashOf(BytesOf(encoded_ns)));
  return static_cast<std::int64_t>(hash & kMask) + 1;
}

std::vector<std::size_t> SuccessorsOf(std::span<const FactMarks> hits) {
  const std::vector<std::size_t> by_mark =
      OrderOf(hits.size(), [&](std::size_t a, std::size_t b) { return hits[a].own < hits[b].own; });
  std::vector<std::size_t> successors(hits.size(), kNoHit);
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const auto found = std::ranges::lower_bound(by_mark, hits[i].successor, {},
                                                [&](std::size_t hit) { return hits[hit].own; });
    const bool is_there = found != by_mark.end() && hits[*found].own == hits[i].successor;
    if (is_there && *found != i) successors[i] = *found;
  }
  return successors;
}

bool LacksSuccessor(std::span<const FactMarks> hits, std::span<const std::size_t> successors) {
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (hits[i].successor != 0 && successors[i] == kNoHit) return true;
  }
  return false;
}

std::vector<std::size_t> BehindSuccessors(std::span<const std::size_t> successors) {
  // The last place of any on the way from a hit over its successors, and how far that one is.
  struct Standing {
    std::size_t place;
    std::size_t steps;
  };
  std::vector<Standing> standings;
  for (std::size_t i = 0; i < successors.size(); ++i) {
    Standing standing{i, 0};
    std::size_t hit = successors[i];
    // Marks that are the same by chance may lead in a circle.
    for (std::size_t steps = 1; hit != kNoHit && steps < successors.size(); ++steps) {
      if (hit > standing.place) standing = {hit, steps};
      hit = successors[hit];
    }
    standings.push_back(standing);
  }
  return OrderOf(successors.size(), [&](std::size_t a, std::size_t b) {
    const Standing& x = standings[a];
    const Standing& y = standings[b];
    return x.place != y.place ? x.place < y.place : x.steps < y.steps;
  });
}

}  // namespace keepsake
