// One ranking out of two: by text and by vector.
//
// An embedder may be worth little, and nothing says so beforehand. So each search asks the
// items that it finds by vector whether those that share words are nearer to each other
// (embedder_check.h): of an embedder of which that is not so the vectors count nothing, and
// the answer is the words' alone. Where there are too few items to tell, the vectors count as
// far as they agree with the words of the question (text_search.h).
//
// A rough embedder (Fusion::kStandout), a table of words, is known to be no chance. Its vectors are
// no part of the ranking by text, but added to it: see AddRough(). What was tried before, only what
// is much nearer than most within that ranking, found of 100 questions in other words 52 among 100
// facts, where vectors alone found 75 and this finds 72: a check that asks whether items which
// share words are near says nothing of facts that share none.
#ifndef KEEPSAKE_STORE_FUSION_H_
#define KEEPSAKE_STORE_FUSION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/page.h"
#include "keepsake/ranking.h"
#include "text/text_search.h"

namespace keepsake::search {

struct FusedHit {
  std::int64_t id;
  std::optional<double> score;  // 0…1
  std::vector<ScorePart> parts;
};

// As many hits by vector should be known as this, whatever is asked for.
inline constexpr std::uint32_t kVectorHits = 200;

// What SearchText() is to be told of `vectors`: nothing if ranks are fused.
Meaning MeaningOf(std::span<const Hit> vectors, const Ranking& ranking);

// `text`, which SearchText() made with MeaningOf(vectors) and `plan`, and `vectors`, both with the
// best first; the vectors' unscored ones come last, as they do in the result. What is
// equal keeps its order.
std::vector<FusedHit> Fuse(std::span<const TextHit> text, std::span<const Hit> vectors,
                           const Ranking& ranking, const TextPlan& plan);

// The same without vectors.
std::vector<FusedHit> FromText(std::span<const TextHit> text);

}  // namespace keepsake::search

#endif  // KEEPSAKE_STORE_FUSION_H_
