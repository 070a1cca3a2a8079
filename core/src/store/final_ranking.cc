#include "store/final_ranking.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "base/heap_sort.h"
#include "base/order.h"
#include "json/json.h"
#include "json/path.h"
#include "text/snippet.h"
#include "text/text_record.h"

namespace keepsake {
namespace {

constexpr std::uint64_t kLeastToRank = 50;
constexpr std::uint64_t kRankedPerHit = 4;

bool ChangesOrder(const Ranking& ranking) {
  return ranking.recency > 0 || !ranking.boosts.empty() || ranking.diversity > 0 ||
         !ranking.origins.empty();
}

void Multiply(SearchItem& item, std::string name, double factor) {
  *item.score *= factor;
  item.parts.push_back({std::move(name), factor});
}

void ApplyRecency(const Ranking& ranking, std::int64_t now_ms, SearchItem& item) {
  if (ranking.recency == 0) return;
  const double age = std::max(0.0, static_cast<double>(now_ms - item.item.updated_at_ms));
  const double left = std::exp2(-age / static_cast<double>(ranking.half_life_ms));
  Multiply(item, "recency", 1 - ranking.recency * (1 - left));
}

// 0 if there is no number at the path.
double NumberAt(const std::string& value, const std::string& path) {
  const Result<std::vector<std::string>> texts = json::TextsAtPath(value, path);
  if (!texts || texts->empty() || !json::Validate(texts->front()).ok()) return 0;
  const std::string_view text = json::Root(texts->front());
  if (json::KindOf(text) != json::Kind::kNumber) return 0;
  return std::clamp(json::ToDouble(text), -1.0, 1.0);
}

void ApplyBoosts(const Ranking& ranking, SearchItem& item) {
  for (const Boost& boost : ranking.boosts) {
    const double raised = 1 + boost.weight * NumberAt(item.item.value, boost.path);
    Multiply(item, boost.path, raised / (1 + std::abs(boost.weight)));
  }
}

void ApplyOrigin(const Ranking& ranking, SearchItem& item) {
  const Origin origin = item.item.provenance ? item.item.provenance->origin : Origin::kUnknown;
  double weight = 1;
  for (const OriginWeight& of : ranking.origins) {
    if (of.origin == origin) weight *= of.weight;
  }
  // What is less than 0 becomes less, too.
  if (weight < 1) Multiply(item, "origin", *item.score < 0 ? 2 - weight : weight);
}

using Tokens = std::vector<std::string>;  // sorted, distinct

Tokens TokensOf(std::string_view value, const TextConfig& config) {
  Tokens tokens;
  const Bytes record = search::MakeTextRecord(value, config);
  for (search::RecordReader reader(record); reader.Next();) tokens.emplace_back(reader.token());
  HeapSort(tokens, std::less());
  return tokens;
}

// Shared tokens among all of both, 0…1.
double Similarity(const Tokens& a, const Tokens& b) {
  const auto shared = static_cast<double>(std::ranges::count_if(
      a, [&](const std::string& token) { return std::ranges::binary_search(b, token); }));
  const double all = static_cast<double>(a.size() + b.size()) - shared;
  return all > 0 ? shared / all : 0;
}

// Takes hit by hit the one that is worth most beside those taken (maximal marginal
// relevance).
void ApplyDiversity(const Ranking& ranking, const TextConfig& config,
                    std::vector<SearchItem>& items, std::vector<std::size_t>& order) {
  std::vector<Tokens> tokens;
  for (const SearchItem& item : items) {
    tokens.push_back(TokensOf(item.item.value, config));
  }
  std::vector<double> most_similar(items.size(), 0);
  const auto worth = [&](std::size_t i) {
    return *items[i].score * (1 - ranking.diversity * most_similar[i]);
  };
  for (auto next = order.begin(); next != order.end() && items[*next].score; ++next) {
    const auto unscored =
        std::find_if(next, order.end(), [&](std::size_t i) { return !items[i].score; });
    const auto best = std::max_element(
        next, unscored, [&](std::size_t a, std::size_t b) { return worth(a) < worth(b); });
    std::rotate(next, best, best + 1);
    Multiply(items[*next], "diversity", 1 - ranking.diversity * most_similar[*next]);
    for (auto later = next + 1; later != unscored; ++later) {
      most_similar[*later] =
          std::max(most_similar[*later], Similarity(tokens[*next], tokens[*later]));
    }
  }
}

}  // namespace

std::uint64_t HitsToRank(const CheckedSearch& search) {
  const std::uint64_t page = std::uint64_t{search.offset} + search.limit;
  return ChangesOrder(search.ranking) ? std::max(kLeastToRank, kRankedPerHit * page) : page;
}

std::string Describe(const CheckedSearch& search, const search::TextPlan& plan) {
  std::string text = search.by_vector ? "words and vectors: " : "words: ";
  text += std::to_string(plan.candidates);
  text += plan.candidates == 1 ? " candidate of " : " candidates of ";
  text += std::to_string(plan.items);
  text += plan.items == 1 ? " item" : " items";
  text += plan.notes;
  if (plan.knows_nothing) text += ", by words alone: their vectors know nothing of them";
  return text;
}

std::string Describe(const search::PlanTaken& taken) {
  std::string text = "vectors: ";
  text += search::PlanName(taken.plan);
  if (taken.plan == search::Plan::kExact) return text;
  text += " of " + std::to_string(taken.vectors);
  if (taken.by_signs) text += ", chosen by their signs";
  if (taken.plan == search::Plan::kGraph) {
    text += ", " + std::to_string(taken.in_graph) + " in the graph";
  }
  return text;
}

std::vector<std::size_t> RankFinally(const CheckedSearch& search, const TextConfig& config,
                                     std::span<const search::TextTerm> terms,
                                     std::vector<SearchItem>& items) {
  const Ranking& ranking = search.ranking;
  for (SearchItem& item : items) {
    if (!item.score) continue;
    ApplyRecency(ranking, search.now_ms, item);
    ApplyBoosts(ranking, item);
    ApplyOrigin(ranking, item);
  }
  std::vector<std::size_t> order = OrderOf(items.size(), [&](std::size_t a, std::size_t b) {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    return items[a].score.value_or(kNone) > items[b].score.value_or(kNone);
  });
  if (ranking.diversity > 0) ApplyDiversity(ranking, config, items, order);
  if (ranking.min_score) {
    std::erase_if(order, [&](std::size_t i) {
      return !items[i].score || *items[i].score < *ranking.min_score;
    });
  }
  order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                 search.offset, order.size())));
  if (order.size() > search.limit) order.resize(search.limit);
  for (const std::size_t i : order) {
    if (!ranking.explain) items[i].parts.clear();
    if (ranking.snippet_length > 0) {
      items[i].snippet =
          search::MakeSnippet(items[i].item.value, terms, config, ranking.snippet_length);
    }
  }
  return order;
}

}  // namespace keepsake
