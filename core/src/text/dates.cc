#include "text/dates.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace keepsake::search {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

std::uint32_t ToNumber(std::string_view digits) {
  std::uint32_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [parsed_to, error] = std::from_chars(digits.data(), end, number);
  return error == std::errc() && parsed_to == end ? number : 0;
}

// 0 if it is none. Three letters are enough.
std::uint32_t MonthOf(std::string_view word) {
  if (word == "sept") return 9;
  for (std::uint32_t i = 0; i < kMonths.size(); ++i) {
    if (word == kMonths[i] || word == kMonths[i].substr(0, 3)) return i + 1;
  }
  return 0;
}

std::string TwoDigits(std::uint32_t number) {
  return {static_cast<char>('0' + number / 10 % 10), static_cast<char>('0' + number % 10)};
}

std::string YearAndMonth(std::uint32_t year, std::uint32_t month) {
  return "d" + std::to_string(year) + "-" + TwoDigits(month);
}

}  // namespace

void DateReader::Forget() { year_ = month_ = day_ = number_ = 0; }

void DateReader::Word(std::string_view word, char joint) {
  if (joint == ':') return Forget();  // a time
  if (const std::uint32_t number = ToNumber(word); number > 0) return Number(number, joint);
  if (const std::uint32_t month = MonthOf(word); month > 0) {
    if (month_ != 0) Forget();
    const std::uint32_t day = std::exchange(number_, 0);
    Month(month);
    if (day != 0) Day(day);
  } else if (word != "of" && word != "the") {
    Forget();
  }
}

void DateReader::Number(std::uint32_t number, char joint) {
  if (number >= 1900 && number < 2200) {
    Year(number);
  } else if (number > 31) {
    Forget();
  } else if (year_ != 0 && joint == '-') {
    month_ == 0 ? Month(number) : Day(number);
  } else if (month_ != 0 && day_ == 0 && year_ == 0) {
    Day(number);
  } else {
    number_ = number;
  }
}

void DateReader::Sign(char32_t code_point) {
  const std::uint32_t number = std::exchange(number_, 0);
  if (code_point == U'年' || code_point == U'년') return;
  if ((code_point == U'月' || code_point == U'월') && number != 0) return Month(number);
  if ((code_point == U'日' || code_point == U'号' || code_point == U'일') && number != 0) {
    return Day(number);
  }
  Forget();
}

void DateReader::Interrupt(char32_t code_point) {
  if (code_point != U' ' && code_point != U',') Forget();
}

void DateReader::Year(std::uint32_t year) {
  const std::uint32_t month = month_, day = day_;
  Forget();
  year_ = year;
  if (month == 0) return;
  names_.push_back(YearAndMonth(year, month));
  if (day != 0) names_.push_back(YearAndMonth(year, month) + "-" + TwoDigits(day));
  Forget();
}

void DateReader::Month(std::uint32_t month) {
  if (month > 12) return Forget();
  month_ = month;
  if (year_ != 0) names_.push_back(YearAndMonth(year_, month));
}

void DateReader::Day(std::uint32_t day) {
  if (month_ == 0) return Forget();
  day_ = day;
  names_.push_back("d-" + TwoDigits(month_) + "-" + TwoDigits(day));
  if (year_ == 0) return;
  names_.push_back(YearAndMonth(year_, month_) + "-" + TwoDigits(day));
  Forget();
}

std::optional<std::int64_t> DayOfName(std::string_view name) {
  if (name.size() != 11 || name[0] != 'd' || name[5] != '-' || name[8] != '-') return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year(static_cast<int>(ToNumber(name.substr(1, 4)))),
      std::chrono::month(ToNumber(name.substr(6, 2))),
      std::chrono::day(ToNumber(name.substr(9, 2)))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

}  // namespace keepsake::search
