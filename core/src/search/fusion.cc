#include "search/fusion.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "search/order.h"

namespace keepsake::search {
namespace {

// So many of the best hits by text are looked for among the vectors.
constexpr std::size_t kWitnesses = 10;
// Where they stand on average, 0 first and 1 last: chance is 0.5, give or take 0.09.
// At kAgreeing the vectors count in full, at kUnrelated nothing.
constexpr double kAgreeing = 0.1;
constexpr double kUnrelated = 0.3;
constexpr double kRankOffset = 60;

using Scores = std::span<const Hit<std::int64_t>>;

Scores Scored(Scores vectors) {
  const auto unscored =
      std::ranges::find_if(vectors, [](const auto& hit) { return !hit.score.has_value(); });
  return {vectors.begin(), unscored};
}

double Agreement(std::span<const TextHit> text, Scores vectors) {
  if (text.empty()) return 1;  // there are no words to agree with
  std::unordered_map<std::int64_t, std::size_t> rank_of;
  for (std::size_t rank = 0; rank < vectors.size(); ++rank) rank_of[vectors[rank].id] = rank;
  const auto witnesses = text.first(std::min(kWitnesses, text.size()));
  double sum = 0;
  for (const TextHit& hit : witnesses) {
    const auto rank = rank_of.find(hit.id);
    sum += rank == rank_of.end()
               ? 1
               : static_cast<double>(rank->second) / static_cast<double>(vectors.size());
  }
  const double place = sum / static_cast<double>(witnesses.size());
  return std::clamp((kUnrelated - place) / (kUnrelated - kAgreeing), 0.0, 1.0);
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

void AddByScore(std::span<const TextHit> text, Scores vectors, double weight, Fused& fused) {
  const double best_text = text.empty() ? 0 : text.front().parts.total;
  const double best = vectors.empty() ? 0 : *vectors.front().score;
  double mean = 0;
  for (const auto& hit : vectors) mean += *hit.score / static_cast<double>(vectors.size());
  // The best hit of all keeps the score that the stronger side gives it.
  const double scale =
      std::max(text.empty() ? 0 : text.front().score, weight * std::max(best, 0.0));
  for (const TextHit& hit : text) {
    fused.Add(hit.id, scale * (1 - weight) * hit.parts.total / best_text);
  }
  const double spread = best - mean;
  for (const auto& hit : vectors) {
    const double share = spread > 0 ? std::max(0.0, *hit.score - mean) / spread : 0;
    fused.Add(hit.id, scale * weight * share);
  }
}

}  // namespace

std::vector<FusedHit> Fuse(std::span<const TextHit> text, Scores vectors, const Ranking& ranking) {
  const Scores scored = Scored(vectors);
  const double agreement = Agreement(text, scored);
  Fused fused;
  if (ranking.fusion == Fusion::kReciprocalRank) {
    AddByRank(text, scored, fused);
  } else {
    AddByScore(text, scored, text.empty() ? 1 : ranking.vector_weight * agreement, fused);
  }
  for (const TextHit& hit : text) fused.Of(hit.id).parts = PartsOf(hit.parts);
  for (const auto& hit : scored) {
    std::vector<ScorePart>& parts = fused.Of(hit.id).parts;
    parts.push_back({"vector", *hit.score});
    parts.push_back({"agreement", agreement});
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
