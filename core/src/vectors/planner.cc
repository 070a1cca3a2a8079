#include "vectors/planner.h"

#include <algorithm>

namespace keepsake::search {
namespace {

// A graph is walked past what a namespace leaves out: below one in this many it pays
// to scan the codes of what it leaves in.
constexpr std::size_t kGraphSelectivity = 3;
// Of a graph's results; further down the list a scan is as good.
constexpr std::size_t kGraphWanted = 200;

bool GraphPays(const PlanFacts& facts) {
  // A walk goes over as many more as are left out, a scan over fewer.
  const std::size_t vectors = std::max(facts.vectors, facts.candidates);
  const std::uint64_t worth =
      std::uint64_t{facts.candidates} * facts.candidates / std::max<std::size_t>(vectors, 1);
  return facts.is_graph_trusted && IsGraphWanted(static_cast<std::size_t>(worth), facts.dims) &&
         facts.wanted <= kGraphWanted && facts.candidates * kGraphSelectivity >= facts.vectors &&
         // What it does not cover is scanned beside it.
         (facts.vectors - facts.in_graph) * 4 <= facts.vectors;
}

}  // namespace

std::string_view PlanName(Plan plan) {
  switch (plan) {
    case Plan::kExact:
      return "exact";
    case Plan::kCodes:
      return "codes";
    case Plan::kGraph:
      return "graph";
    case Plan::kAuto:
      break;
  }
  return "auto";
}

Plan ChoosePlan(const PlanFacts& facts, Plan forced) {
  if (forced == Plan::kGraph && facts.in_graph == 0) forced = Plan::kAuto;
  if (forced != Plan::kAuto) return forced;
  return facts.in_graph > 0 && GraphPays(facts) ? Plan::kGraph : Plan::kCodes;
}

}  // namespace keepsake::search
