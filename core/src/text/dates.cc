#include "text/dates.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "text/languages/language.h"

namespace keepsake::search {
namespace {

std::uint32_t ToNumber(std::string_view digits) {
  std::uint32_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [parsed_to, error] = std::from_chars(digits.data(), end, number);
  return error == std::errc() && parsed_to == end ? number : 0;
}

bool ComesBeforeMonth(std::string_view word) {
  static const WordsOfAll words(&LanguageWords::before_month);
  return words.Has(word);
}

std::string TwoDigits(std::uint32_t number) {
  return {static_cast<char>('0' + number / 10 % 10), static_cast<char>('0' + number % 10)};
}

std::string YearAndMonth(std::uint32_t year, std::uint32_t month) {
  return "d" + std::to_string(year) + "-" + TwoDigits(month);
}

// Of a folded word, 1 for January; 0 if it names none. Three letters are enough.
std::uint32_t MonthNamed(std::string_view word) {
  static const WordsOfAll months(&LanguageWords::months);
  return months.NumberOf(word);
}

}  // namespace

void DateReader::Forget() { year_ = month_ = day_ = number_ = first_ = 0; }

void DateReader::Word(std::string_view word, char joint) {
  if (joint == 0) joint = std::exchange(slash_, '\0');
  const bool is_announced = std::exchange(announces_, false);
  if (joint == ':') return Forget();                                     // a time
  if (year_ != 0 && month_ != 0) word = word.substr(0, word.find('t'));  // 2023-05-08T10:00
  if (const std::uint32_t number = ToNumber(word); number > 0) return Number(number, joint);
  if (const std::uint32_t month = MonthNamed(word); month > 0) {
    if (month_ != 0) Forget();
    const std::uint32_t day = std::exchange(number_, 0);
    if (is_announced) names_.push_back("d-" + TwoDigits(month));
    Month(month);
    if (day != 0) Day(day);
    return;
  }
  announces_ = ComesBeforeMonth(word);
  if (word != "of" && word != "the") Forget();
}

void DateReader::Number(std::uint32_t number, char joint) {
  const bool is_joined = joint == '.' || joint == '/' || joint == '-';
  if (number >= 1900 && number < 2200) {
    if (is_joined && first_ != 0) return Numeric(number, joint);
    Year(number);
  } else if (number > 31) {
    Forget();
  } else if (year_ != 0 && is_joined) {
    month_ == 0 ? Month(number) : Day(number);
  } else if (month_ != 0 && day_ == 0 && year_ == 0) {
    Day(number);
  } else if (is_joined && number_ != 0) {
    first_ = std::exchange(number_, number);
  } else {
    number_ = number;
  }
}

// 24.01.2024 and 24-01-2024 begin with the day. So does 24/01/2024, but 04/12/2022 may be
// either: it is both.
void DateReader::Numeric(std::uint32_t year, char joint) {
  const std::uint32_t first = first_, second = number_;
  Forget();
  const bool may_be_day_first = second <= 12;
  const bool may_be_month_first = first <= 12 && (joint == '/' || !may_be_day_first);
  const auto add = [&](std::uint32_t month, std::uint32_t day) {
    month_ = month;
    Day(day);
    Year(year);
  };
  if (may_be_day_first) add(second, first);
  if (may_be_month_first && first != second) add(first, second);
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
  slash_ = code_point == U'/' ? '/' : '\0';
  if (code_point != U' ' && code_point != U',' && code_point != U'/' && code_point != U'.')
    Forget();
}

void DateReader::Year(std::uint32_t year) {
  const std::uint32_t month = month_, day = day_;
  Forget();
  year_ = year;
  names_.push_back("d" + std::to_string(year));
  if (month == 0) return;
  names_.push_back("d-" + TwoDigits(month));
  names_.push_back(YearAndMonth(year, month));
  if (day != 0) names_.push_back(YearAndMonth(year, month) + "-" + TwoDigits(day));
  Forget();
}

void DateReader::Month(std::uint32_t month) {
  if (month > 12) return Forget();
  month_ = month;
  if (year_ != 0) names_.push_back("d-" + TwoDigits(month));
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

std::string NameOfDay(std::int64_t day) {
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(day)))};
  return YearAndMonth(static_cast<std::uint32_t>(static_cast<int>(date.year())),
                      static_cast<unsigned>(date.month())) +
         "-" + TwoDigits(static_cast<unsigned>(date.day()));
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
