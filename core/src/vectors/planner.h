// The planner chooses how a search by vector finds its candidates. All ways give the
// same answer but the graph, and codes that are chosen by their signs (flat_index.h), whose
// recall is measured (see README.md); they differ in what they cost.
#ifndef KEEPSAKE_VECTORS_PLANNER_H_
#define KEEPSAKE_VECTORS_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "keepsake/operation.h"

namespace keepsake::search {

using Plan = SearchPlan;

// "exact", "codes", "graph", "auto".
std::string_view PlanName(Plan plan);

// Whether a graph over so many vectors is worth its building: scanning the codes of fewer takes
// less than a tenth of a millisecond, and finds all. 5,000 of 100 dimensions, 5,938 of 64.
inline bool IsGraphWanted(std::size_t vectors, std::size_t dims) {
  constexpr std::size_t kFewest = 5'000;
  constexpr std::size_t kRowCost = 128;  // of a row, whatever its dimensions
  constexpr std::size_t kTenthOfMillisecond = kFewest * (100 + kRowCost);
  return vectors >= kFewest && vectors * (dims + kRowCost) >= kTenthOfMillisecond;
}

// What was done, for people.
struct PlanTaken {
  Plan plan = Plan::kExact;
  std::size_t vectors = 0;   // in the namespaces that were searched
  std::size_t in_graph = 0;  // in all namespaces
  bool by_signs = false;     // codes were chosen by their signs
};

struct PlanFacts {
  std::size_t in_namespaces = 0;  // vectors in the namespaces that are searched
  std::size_t candidates = 0;     // of them, those that a filter leaves, if that is known
  std::size_t vectors = 0;        // in all namespaces
  std::size_t in_graph = 0;       // of them, those that a graph covers
  std::size_t wanted = 0;         // offset + limit
  std::size_t dims = 0;
  bool is_graph_trusted = true;  // false if it was found to miss too many
};

// Rows are read by who has no codes, or if they are asked for.
// A forced plan is taken where it is possible at all: a graph must be there.
Plan ChoosePlan(const PlanFacts& facts, Plan forced);

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_PLANNER_H_
