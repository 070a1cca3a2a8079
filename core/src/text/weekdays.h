// Days of the week by their names: Monday, Dienstag, 星期三. Monday is 0.
#ifndef KEEPSAKE_TEXT_WEEKDAYS_H_
#define KEEPSAKE_TEXT_WEEKDAYS_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace keepsake::search {

// Of a folded word, in the plural, too.
std::optional<int> WeekdayNamed(std::string_view word);
// Of those that stand in a text in Chinese: a bit each, Monday's the lowest.
std::uint8_t WeekdaysOfSigns(std::string_view text);
// Of a sign behind 周: 三 is 2. nullopt for any other.
std::optional<int> WeekdayOfSign(std::string_view text);
// Of a day since 1970.
int WeekdayOf(std::int64_t day);
std::string_view NameOfWeekday(int weekday);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_WEEKDAYS_H_
