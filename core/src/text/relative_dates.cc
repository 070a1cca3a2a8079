#include "text/relative_dates.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <optional>

#include "text/dates.h"
#include "text/languages/language.h"
#include "text/languages/other_scripts.h"
#include "text/unicode.h"

namespace keepsake::search {
namespace {

// Of a group of units, from 1 on.
constexpr std::array<DateUnit, 5> kUnitOfGroup = {DateUnit::kDay, DateUnit::kDay, DateUnit::kWeek,
                                                  DateUnit::kMonth, DateUnit::kYear};
constexpr int kMostAgo = 1000;
constexpr int kDaysOfWeek = 7;
// Years with four digits.
constexpr std::int64_t kFirstDay = -719'162, kLastDay = 2'932'896;

using std::chrono::days;
using std::chrono::sys_days;

std::string Folded(std::string_view text) {
  std::string folded = " ";
  while (!text.empty()) {
    const Character character = FirstCharacter(text);
    text.remove_prefix(character.length);
    const CharacterClass kind = ClassOf(character.code_point);
    if (kind == CharacterClass::kLetter || kind == CharacterClass::kDigit) {
      AppendFolded(character.code_point, folded);
    } else if (kind != CharacterClass::kIgnored && folded.back() != ' ') {
      folded += ' ';
    }
  }
  if (folded.back() != ' ') folded += ' ';
  return folded;
}

std::vector<std::string_view> WordsOf(std::string_view folded) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 1; begin < folded.size();) {
    const std::size_t end = folded.find(' ', begin);
    words.push_back(folded.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// Whether the part was in the text. It is a space then, wherever it was.
bool TakeOut(std::string_view part, std::string& text) {
  bool was_there = false;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.replace(at, part.size(), " ");
    was_there = true;
  }
  return was_there;
}

class Names {
 public:
  explicit Names(std::int64_t today) : today_(days(static_cast<int>(today))) {}

  void Add(DateUnit unit, int by) {
    const std::chrono::year_month_day date(today_);
    switch (unit) {
      case DateUnit::kDay:
        return AddDays(today_ + days(by), 1);
      case DateUnit::kWeek:
        return AddDays(Monday() + days(kDaysOfWeek * by), kDaysOfWeek);
      case DateUnit::kWeekend:
        return AddDays(Monday() + days(kDaysOfWeek * by + 5), 2);
      case DateUnit::kMonth: {
        const auto month = date.year() / date.month() + std::chrono::months(by);
        const std::string day = NameOf(sys_days(month / 1));
        return AddName(day.substr(0, day.rfind('-')));
      }
      case DateUnit::kYear:
        return AddName("d" + std::to_string(static_cast<int>(date.year()) + by));
    }
  }

  void AddWeekdayBefore(int weekday) {
    const auto since = ((today_ - Monday()).count() - weekday + kDaysOfWeek - 1) % kDaysOfWeek;
    AddDays(today_ - days(since + 1), 1);
  }
  void AddWeekdayOfLastWeek(int weekday) { AddDays(Monday() + days(weekday - kDaysOfWeek), 1); }

  std::vector<std::string> Take() { return std::move(names_); }

 private:
  static std::string NameOf(sys_days day) { return NameOfDay(day.time_since_epoch().count()); }
  sys_days Monday() const { return today_ - (std::chrono::weekday(today_) - std::chrono::Monday); }
  void AddDays(sys_days first, int count) {
    for (int i = 0; i < count; ++i) AddName(NameOf(first + days(i)));
  }
  void AddName(std::string name) {
    if (std::ranges::find(names_, name) == names_.end()) names_.push_back(std::move(name));
  }

  sys_days today_;
  std::vector<std::string> names_;
};

// From Monday on, which is 0.
std::optional<int> WeekdayNamed(std::string_view word) {
  static const WordsOfAll names(&LanguageWords::weekdays);
  const std::uint32_t number = names.NumberOf(word);
  if (number == 0) return std::nullopt;
  return static_cast<int>(number) - 1;
}

int NumberOf(std::string_view word) {
  static const WordsOfAll counts(&LanguageWords::counts);
  if (const std::uint32_t count = counts.NumberOf(word); count > 0) return static_cast<int>(count);
  int number = 0;
  const char* const end = word.data() + word.size();
  const auto [parsed_to, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && parsed_to == end && number <= kMostAgo ? number : 0;
}

// "three days ago", "vor drei Tagen", "il y a trois jours", "hace tres dias".
void AddAgo(const std::vector<std::string_view>& words, Names& names) {
  static const WordsOfAll units(&LanguageWords::units), before(&LanguageWords::before_ago),
      behind(&LanguageWords::behind_ago);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::uint32_t unit = units.NumberOf(words[i + 1]);
    const int number = unit == 0 ? 0 : NumberOf(words[i]);
    if (number == 0) continue;
    const bool is_past =
        (i + 2 < words.size() && behind.Has(words[i + 2])) || (i > 0 && before.Has(words[i - 1])) ||
        (i > 1 && before.Has(std::string(words[i - 2]).append("_").append(words[i - 1])));
    if (is_past) names.Add(kUnitOfGroup[unit], -number);
  }
}

// "last Friday", "letzten Freitag", "vendredi dernier".
void AddWeekdays(const std::vector<std::string_view>& words, Names& names) {
  static const WordsOfAll before(&LanguageWords::last_before), behind(&LanguageWords::last_behind);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::optional<int> weekday = WeekdayNamed(words[i]);
    if (!weekday) continue;
    const bool is_last =
        (i > 0 && before.Has(words[i - 1])) || (i + 1 < words.size() && behind.Has(words[i + 1]));
    if (is_last) names.AddWeekdayBefore(*weekday);
  }
}

// 上周三. It is taken out of the text: it is not all of that week.
void AddWeekdaySigns(std::string& text, Names& names) {
  for (const std::string_view week : LastWeekSigns()) {
    for (std::size_t at = text.find(week); at != std::string::npos; at = text.find(week, at + 1)) {
      const std::string_view behind = std::string_view(text).substr(at + week.size());
      const std::optional<int> weekday = WeekdayOfSign(behind);
      if (!weekday) continue;
      names.AddWeekdayOfLastWeek(*weekday);
      text.replace(at, week.size(), " ");
    }
  }
}

}  // namespace

std::vector<std::string> RelativeDatesIn(std::string_view text, std::int64_t today) {
  if (today < kFirstDay || today > kLastDay) return {};
  Names names(today);
  std::string folded = Folded(text);
  for (const LanguageWords* language : kAllWords) {
    for (const RelativeDate& date : language->relative_dates) {
      if (TakeOut(' ' + std::string(date.text) + ' ', folded)) names.Add(date.unit, date.by);
    }
  }
  const std::vector<std::string_view> words = WordsOf(folded);
  AddAgo(words, names);
  AddWeekdays(words, names);
  std::string signs(text);
  AddWeekdaySigns(signs, names);
  for (const RelativeDate& sign : RelativeDateSigns()) {
    if (TakeOut(sign.text, signs)) names.Add(sign.unit, sign.by);
  }
  return names.Take();
}

}  // namespace keepsake::search
