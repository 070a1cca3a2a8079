// The planner chooses how a search by vector finds its candidates. All ways give the
// same answer but the graph, and codes that are chosen by their signs (flat_index.h), whose
// recall is measured (see README.md); they differ in what they cost.
#ifndef KEEPSAKE_SEARCH_PLANNER_H_
#define KEEPSAKE_SEARCH_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "keepsake/operation.h"

namespace keepsake::search {

using Plan = SearchPlan;

// "exact", "codes", "graph", "auto".
std::string_view PlanName(Plan plan);

// With fewer vectors there is no graph: scanning their codes takes less than half a millisecond,
// and finds all.
inline constexpr std::size_t kGraphFrom = 10'000;

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
};

// Rows are read by who has no codes, or if they are asked for.
// A forced plan is taken where it is possible at all: a graph must be there.
Plan ChoosePlan(const PlanFacts& facts, Plan forced);

}  // namespace keepsake::search

#endif  // KEEPSAKE_SEARCH_PLANNER_H_
