// Days that a text names by how far away they are: yesterday, last week, three months ago,
// gestern, vor drei Tagen, 上周. In English, German, French, Spanish, Italian, Portuguese and
// Chinese. Weeks begin on Monday.
#ifndef KEEPSAKE_TEXT_RELATIVE_DATES_H_
#define KEEPSAKE_TEXT_RELATIVE_DATES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keepsake::search {

// The names (text/dates.h) of what the text names, seen from `today`, in days since 1970: of
// each day, of a month or of a year, each once. A week is its seven days.
std::vector<std::string> RelativeDatesIn(std::string_view text, std::int64_t today);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_RELATIVE_DATES_H_
