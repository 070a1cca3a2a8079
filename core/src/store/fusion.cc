#include "store/fusion.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/order.h"

namespace keepsake::search {
namespace {

constexpr double kRankOffset = 60;
// At equal weights the nearest hit of a rough embedder counts as much as words that are so sure.
constexpr double kSureAsNearest = 0.07;
constexpr double kLeastOfWords = 1e-3;  // a weight may be 1

using Scores = std::span<const Hit>;

Scores Scored(Scores vectors) {
  const auto unscored =
      std::ranges::find_if(vectors, [](const auto& hit) { return !hit.score.has_value(); });
  return {vectors.begin(), unscored};
}

// Gathers what both rankings give an item.
class Fused {
 public:
  FusedHit& Of(std::int64_t id) {
    const auto [entry, is_new] = index_of_.try_emplace(id, hits_.size());
    if (is_new) hits_.push_back({.id = id, .score = std::nullopt, .parts = {}});
    return hits_[entry->second];
  }
  void Add(std::int64_t id, double score) {
    FusedHit& hit = Of(id);
    hit.score = hit.score.value_or(0) + score;
  }

  // Brings the best score to this one, and the others along.
  void Scale(double best) {
    double most = 0;
    for (const FusedHit& hit : hits_) most = std::max(most, hit.score.value_or(0));
    if (most == 0 || best == 0) return;
    for (FusedHit& hit : hits_) {
      if (hit.score) *hit.score *= best / most;
    }
  }

  std::vector<FusedHit> Take() {
    return InOrder(hits_, OrderOf(hits_.size(), [&](std::size_t a, std::size_t b) {
                     return hits_[a].score.value_or(-1) > hits_[b].score.value_or(-1);
                   }));
  }

 private:
  std::vector<FusedHit> hits_;
  std::unordered_map<std::int64_t, std::size_t> index_of_;
};

std::vector<ScorePart> PartsOf(const TextScore& score) {
  return {{"words", score.words}, {"context", score.context}, {"cues", score.cues}};
}

void AddByRank(std::span<const TextHit> text, Scores vectors, Fused& fused) {
  const auto share = [](std::size_t rank) {
    return (kRankOffset + 1) / (kRankOffset + 1 + static_cast<double>(rank)) / 2;
  };
  for (std::size_t i = 0; i < text.size(); ++i) fused.Add(text[i].id, share(i));
  for (std::size_t i = 0; i < vectors.size(); ++i) fused.Add(vectors[i].id, share(i));
}

// REQUIRES: `text` is not empty, and has the vectors in it: see Meaning.
void AddByScore(std::span<const TextHit> text, Scores vectors, double weight, double trust,
                Fused& fused) {
  if (weight == 0) {
    for (const TextHit& hit : text) fused.Add(hit.id, hit.score);
    return;
  }
  const double nearest = vectors.empty() ? 0 : trust * std::max(*vectors.front().score, 0.0);
  // The best hit of all keeps the score that the stronger side gives it.
  const double scale = std::max(text.front().score, weight * nearest);
  const double best = text.front().parts.total;
  for (const TextHit& hit : text) fused.Add(hit.id, best > 0 ? scale * hit.parts.total / best : 0);
}

// Of a rough embedder: what words are sure of, and how near it is among all that is near, from 0
// for the last to a little for the first. So where words are sure vectors move little, and where
// words hold little of the question vectors decide. A score says how sure the words are all the
// same: of a sum of words the nearest is about as near where nothing answers. REQUIRES: `text` is
// not empty, and has no vectors in it.
void AddRough(std::span<const TextHit> text, Scores vectors, double weight, Fused& fused) {
  for (const TextHit& hit : text) fused.Add(hit.id, hit.score);
  if (vectors.empty() || weight == 0) return;
  const double first = *vectors.front().score, last = *vectors.back().score;
  const double most = kSureAsNearest * weight / std::max(1 - weight, kLeastOfWords);
  for (const Hit& hit : vectors) {
    fused.Add(hit.id, most * (first > last ? (*hit.score - last) / (first - last) : 1));
  }
  fused.Scale(text.front().score);
}

// No item holds a word of the question. A rough embedder is as sure of it as its weight says:
// to such a one something is near to every question.
void AddVectors(Scores vectors, const Ranking& ranking, double trust, Fused& fused) {
  const double sure = ranking.fusion == Fusion::kStandout ? ranking.vector_weight : 1;
  for (const auto& hit : vectors) fused.Add(hit.id, trust * sure * std::max(*hit.score, 0.0));
}

std::vector<Hit> AmongHits(Scores vectors, std::span<const TextHit> text) {
  std::unordered_set<std::int64_t> ids;
  for (const TextHit& hit : text) ids.insert(hit.id);
  std::vector<Hit> among;
  std::ranges::copy_if(vectors, std::back_inserter(among),
                       [&](const auto& hit) { return ids.contains(hit.id); });
  return among;
}

}  // namespace

Meaning MeaningOf(Scores vectors, const Ranking& ranking) {
  if (ranking.fusion != Fusion::kWeighted) return {};
  // A meaning measures by the mean of these hits, and by the last one. So they are as many on each
  // page, and for whyNot.
  const Scores scored = Scored(vectors);
  return {.nearest = scored.first(std::min<std::size_t>(scored.size(), kVectorHits)),
          .weight = ranking.vector_weight};
}

std::vector<FusedHit> Fuse(std::span<const TextHit> text, Scores vectors, const Ranking& ranking,
                           const TextPlan& plan) {
  std::vector<Hit> among_hits;
  if (plan.has_phrases || plan.knows_nothing) {
    among_hits = AmongHits(vectors, text);
    vectors = among_hits;
  }
  const Scores scored = Scored(vectors);
  Fused fused;
  if (ranking.fusion == Fusion::kReciprocalRank) {
    AddByRank(text, scored, fused);
  } else if (text.empty()) {
    AddVectors(scored, ranking, plan.trust, fused);
  } else if (ranking.fusion == Fusion::kStandout) {
    AddRough(text, scored.first(std::min<std::size_t>(scored.size(), kVectorHits)),
             ranking.vector_weight, fused);
  } else {
    AddByScore(text, scored, ranking.vector_weight * plan.agreement, plan.trust, fused);
  }
  for (const TextHit& hit : text) fused.Of(hit.id).parts = PartsOf(hit.parts);
  for (const auto& hit : scored) {
    FusedHit& near = fused.Of(hit.id);
    if (!near.score) near.score = 0;
    near.parts.push_back({"vector", *hit.score});
    if (ranking.fusion == Fusion::kWeighted) near.parts.push_back({"agreement", plan.agreement});
  }
  for (const auto& hit : vectors.subspan(scored.size())) fused.Of(hit.id);
  return fused.Take();
}

std::vector<FusedHit> FromText(std::span<const TextHit> text) {
  std::vector<FusedHit> hits;
  for (const TextHit& hit : text) hits.push_back({hit.id, hit.score, PartsOf(hit.parts)});
  return hits;
}

}  // namespace keepsake::search
