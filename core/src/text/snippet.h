// The piece of an item's text that holds most of what was asked for.
#ifndef KEEPSAKE_TEXT_SNIPPET_H_
#define KEEPSAKE_TEXT_SNIPPET_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "keepsake/ranking.h"
#include "keepsake/text_config.h"

namespace keepsake::search {

// About `length` bytes, cut between words; nullopt if the value has no text. Without a
// word that was asked for, the beginning.
std::optional<Snippet> MakeSnippet(std::string_view value, std::string_view query,
                                   const TextConfig& config, std::uint32_t length);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_SNIPPET_H_
