// Substrings with ASCII letters folded, as the mode `contains` looks for them.
#ifndef KEEPSAKE_SEARCH_SUBSTRING_H_
#define KEEPSAKE_SEARCH_SUBSTRING_H_

#include <string>
#include <string_view>

namespace keepsake::search {

std::string ToLowerAscii(std::string_view text);

// Whether `lower`, in ASCII lower case, is part of `text` in any case.
bool ContainsFolded(std::string_view text, std::string_view lower);

}  // namespace keepsake::search

#endif  // KEEPSAKE_SEARCH_SUBSTRING_H_
