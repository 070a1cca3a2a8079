// The last steps of a search: the final score of a hit, with what its own value, age and origin
// add, its snippet, and what is told about it.
#ifndef KEEPSAKE_STORE_FINAL_RANKING_H_
#define KEEPSAKE_STORE_FINAL_RANKING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "keepsake/operation.h"
#include "keepsake/text_config.h"
#include "store/checked_batch.h"
#include "text/text_search.h"
#include "vectors/planner.h"

namespace keepsake {

// How many of the best hits must be there for the page that is asked for: recency,
// boosts, origins and diversity change their order.
std::uint64_t HitsToRank(const CheckedSearch& search);

// Gives `items`, the best first, their final scores, parts and snippets. Returns which
// of them are the page, in its order. Parts come in with what is known of them.
// `terms`: those of TextPlan.
std::vector<std::size_t> RankFinally(const CheckedSearch& search, const TextConfig& config,
                                     std::span<const search::TextTerm> terms,
                                     std::vector<SearchItem>& items);

// SearchItem::plan of a search by text.
std::string Describe(const CheckedSearch& search, const search::TextPlan& plan);
// The same of a search by vector.
std::string Describe(const search::PlanTaken& taken);

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_FINAL_RANKING_H_
