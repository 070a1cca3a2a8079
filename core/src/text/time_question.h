// What a question says of time, beside the dates that it names (text/dates.h): before May
// 2023, between 3 May and 10 June, in spring, on a Monday, the first time, now. In English,
// German, French, Spanish, Italian, Portuguese and Chinese.
#ifndef KEEPSAKE_TEXT_TIME_QUESTION_H_
#define KEEPSAKE_TEXT_TIME_QUESTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_index.h"

namespace keepsake::search {

// Days since 1970, both included; or month * 100 + day, if the question names no year. Then
// the end may come before the beginning: November to February.
struct TimeSpan {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool is_of_any_year = false;

  bool is_open() const;  // it has one end only
  // Whether all of a date is in it: "d2023-05-08", and "d2023-05" or "d2023" where a year is
  // named. Other names are not.
  bool Holds(std::string_view name) const;

  bool operator==(const TimeSpan&) const = default;
};

struct TimeQuestion {
  enum class Order : std::uint8_t { kNone, kEarliest, kLatest };

  std::vector<TimeSpan> spans;
  std::uint8_t weekdays = 0;  // a bit each, Monday's the lowest
  Order order = Order::kNone;
  bool is_only_hinted = false;     // the order, by a word that also says other things: first
  std::vector<std::string> names;  // of dates that only bound a span
  std::vector<std::string> words;  // by which they are written, folded

  bool has_when() const { return !spans.empty() || weekdays != 0; }
};

// `today`, in days since 1970: what "last summer" is seen from; without, it is any summer.
TimeQuestion ReadTimeQuestion(std::string_view text, std::optional<std::int64_t> today);

// What a text says of time, as far as it is asked for.
struct TextTime {
  bool is_in_span = false;
  bool is_on_weekday = false;
  std::optional<std::int64_t> day;  // its own; if it has none, the last that it names
};
// By slot.
std::vector<TextTime> TimesOf(const TextShelf& shelf, const TimeQuestion& question);

// For people: "3 May 2023 to …". The same everywhere.
std::string Describe(const TimeQuestion& question);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TIME_QUESTION_H_
