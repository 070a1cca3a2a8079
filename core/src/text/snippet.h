// The piece of an item's text that holds most of what was asked for.
#ifndef KEEPSAKE_TEXT_SNIPPET_H_
#define KEEPSAKE_TEXT_SNIPPET_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "keepsake/ranking.h"
#include "keepsake/text_config.h"
#include "text/text_query.h"

namespace keepsake::search {

// About `length` bytes, cut between words; nullopt if the value has no text. It is of the
// passage that an item is found by (TextWeights::passage): where the terms that weigh most are.
// Without a word that was asked for, the beginning. `terms`: as TextPlan has them.
std::optional<Snippet> MakeSnippet(std::string_view value, std::span<const TextTerm> terms,
                                   const TextConfig& config, std::uint32_t length);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_SNIPPET_H_
