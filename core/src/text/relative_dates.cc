#include "text/relative_dates.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <optional>

#include "text/dates.h"
#include "text/unicode.h"
#include "text/word_list.h"

namespace keepsake::search {
namespace {

enum class Unit : std::uint8_t { kDay, kWeek, kWeekend, kMonth, kYear };

struct Phrase {
  std::string_view text;  // folded, words between single spaces
  Unit unit;
  int by;
};

// What is in another phrase comes behind it.
constexpr Phrase kPhrases[] = {
    {"day before yesterday", Unit::kDay, -2},
    {"today", Unit::kDay, 0},
    {"this morning", Unit::kDay, 0},
    {"tonight", Unit::kDay, 0},
    {"yesterday", Unit::kDay, -1},
    {"last night", Unit::kDay, -1},
    {"this week", Unit::kWeek, 0},
    {"last week", Unit::kWeek, -1},
    {"last weekend", Unit::kWeekend, -1},
    {"this month", Unit::kMonth, 0},
    {"last month", Unit::kMonth, -1},
    {"this year", Unit::kYear, 0},
    {"last year", Unit::kYear, -1},
    {"heute", Unit::kDay, 0},
    {"gestern", Unit::kDay, -1},
    {"vorgestern", Unit::kDay, -2},
    {"diese woche", Unit::kWeek, 0},
    {"letzte woche", Unit::kWeek, -1},
    {"vorige woche", Unit::kWeek, -1},
    {"letztes wochenende", Unit::kWeekend, -1},
    {"diesen monat", Unit::kMonth, 0},
    {"letzten monat", Unit::kMonth, -1},
    {"vorigen monat", Unit::kMonth, -1},
    {"dieses jahr", Unit::kYear, 0},
    {"letztes jahr", Unit::kYear, -1},
    {"voriges jahr", Unit::kYear, -1},
    {"aujourd hui", Unit::kDay, 0},
    {"avant hier", Unit::kDay, -2},
    {"cette semaine", Unit::kWeek, 0},
    {"semaine derniere", Unit::kWeek, -1},
    {"mois dernier", Unit::kMonth, -1},
    {"cette annee", Unit::kYear, 0},
    {"annee derniere", Unit::kYear, -1},
    {"hoy", Unit::kDay, 0},
    {"ayer", Unit::kDay, -1},
    {"anteayer", Unit::kDay, -2},
    {"esta semana", Unit::kWeek, 0},
    {"semana pasada", Unit::kWeek, -1},
    {"este mes", Unit::kMonth, 0},
    {"mes pasado", Unit::kMonth, -1},
    {"este ano", Unit::kYear, 0},
    {"ano pasado", Unit::kYear, -1},
    {"oggi", Unit::kDay, 0},
    {"ieri", Unit::kDay, -1},
    {"questa settimana", Unit::kWeek, 0},
    {"settimana scorsa", Unit::kWeek, -1},
    {"mese scorso", Unit::kMonth, -1},
    {"anno scorso", Unit::kYear, -1},
    {"hoje", Unit::kDay, 0},
    {"ontem", Unit::kDay, -1},
    {"semana passada", Unit::kWeek, -1},
    {"mes passado", Unit::kMonth, -1},
    {"ano passado", Unit::kYear, -1},
};

// Written without spaces, wherever they stand; in the same order.
constexpr Phrase kSigns[] = {
    {"今天", Unit::kDay, 0},   {"昨天", Unit::kDay, -1},     {"前天", Unit::kDay, -2},
    {"这周", Unit::kWeek, 0},  {"本周", Unit::kWeek, 0},     {"上周末", Unit::kWeekend, -1},
    {"上周", Unit::kWeek, -1}, {"上星期", Unit::kWeek, -1},  {"这个月", Unit::kMonth, 0},
    {"本月", Unit::kMonth, 0}, {"上个月", Unit::kMonth, -1}, {"上月", Unit::kMonth, -1},
    {"今年", Unit::kYear, 0},  {"去年", Unit::kYear, -1},
};

// 1 for the first group.
constexpr std::array<std::string_view, 12> kNumbers = {
    " 1 a an one ein eine einem einer un une una uno um uma ",
    " 2 two zwei deux dos due dois duas ",
    " 3 three drei trois tres tre ",
    " 4 four vier quatre cuatro quattro quatro ",
    " 5 five fuenf funf cinq cinco cinque ",
    " 6 six sechs seis sei ",
    " 7 seven sieben sept siete sette sete ",
    " 8 eight acht huit ocho otto oito ",
    " 9 nine neun neuf nueve nove ",
    " 10 ten zehn dix diez dieci dez ",
    " 11 eleven elf onze once undici ",
    " 12 twelve zwolf zwoelf douze doce dodici doze "};
constexpr std::array<std::string_view, 4> kUnits = {
    " day days tag tage tagen jour jours dia dias giorno giorni ",
    " week weeks woche wochen semaine semaines semana semanas settimana settimane ",
    " month months monat monate monaten mois mes meses mese mesi ",
    " year years jahr jahre jahren an ans annee annees ano anos anno anni "};
constexpr std::array<Unit, 5> kUnitOfGroup = {Unit::kDay, Unit::kDay, Unit::kWeek, Unit::kMonth,
                                              Unit::kYear};
constexpr std::string_view kAfter[] = {" ago fa atras "};
// Around a weekday: the last one before today.
constexpr std::string_view kLastOnes[] = {" last past letzten vorigen vergangenen "};
constexpr std::string_view kLastBehind[] = {" dernier pasado scorso scorsa passada passado "};
// The same of a weekday of last week.
constexpr std::string_view kLastWeeks[] = {"上周", "上星期", "上个星期", "上礼拜", "上週"};
// Not "ha" of Portuguese: in Italian it tells an age.
constexpr std::string_view kBefore[] = {" vor hace "};
constexpr int kMostAgo = 1000;
constexpr int kDaysOfWeek = 7;
// Monday is 0.
constexpr std::array<std::string_view, kDaysOfWeek> kWeekdays = {
    " monday mondays montag montags lundi lunes lunedi segunda ",
    " tuesday tuesdays dienstag dienstags mardi martes martedi terca ",
    " wednesday wednesdays mittwoch mittwochs mercredi miercoles mercoledi quarta ",
    " thursday thursdays donnerstag donnerstags jeudi jueves giovedi quinta ",
    " friday fridays freitag freitags vendredi viernes venerdi sexta ",
    " saturday saturdays samstag samstags sonnabend sonnabends samedi sabado sabato ",
    " sunday sundays sonntag sonntags dimanche domingo domenica "};
// Behind 周; the last two are Sunday.
constexpr std::array<std::string_view, kDaysOfWeek + 1> kWeekdaySigns = {"一", "二", "三", "四",
                                                                         "五", "六", "日", "天"};
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

  void Add(Unit unit, int by) {
    const std::chrono::year_month_day date(today_);
    switch (unit) {
      case Unit::kDay:
        return AddDays(today_ + days(by), 1);
      case Unit::kWeek:
        return AddDays(Monday() + days(kDaysOfWeek * by), kDaysOfWeek);
      case Unit::kWeekend:
        return AddDays(Monday() + days(kDaysOfWeek * by + 5), 2);
      case Unit::kMonth: {
        const auto month = date.year() / date.month() + std::chrono::months(by);
        const std::string day = NameOf(sys_days(month / 1));
        return AddName(day.substr(0, day.rfind('-')));
      }
      case Unit::kYear:
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

std::optional<int> WeekdayNamed(std::string_view word) {
  static const WordList names(kWeekdays);
  const std::uint32_t group = names.GroupOf(word);
  if (group == 0) return std::nullopt;
  return static_cast<int>(group) - 1;
}

std::optional<int> WeekdayOfSign(std::string_view text) {
  for (std::size_t i = 0; i < kWeekdaySigns.size(); ++i) {
    if (text.starts_with(kWeekdaySigns[i])) return std::min(static_cast<int>(i), kDaysOfWeek - 1);
  }
  return std::nullopt;
}

int NumberOf(std::string_view word) {
  static const WordList numbers(kNumbers);
  if (const std::uint32_t group = numbers.GroupOf(word); group > 0) return static_cast<int>(group);
  int number = 0;
  const char* const end = word.data() + word.size();
  const auto [parsed_to, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && parsed_to == end && number <= kMostAgo ? number : 0;
}

// "three days ago", "vor drei Tagen", "il y a trois jours", "hace tres dias".
void AddAgo(const std::vector<std::string_view>& words, Names& names) {
  static const WordList units(kUnits), after(kAfter), before(kBefore);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::uint32_t unit = units.GroupOf(words[i + 1]);
    const int number = unit == 0 ? 0 : NumberOf(words[i]);
    if (number == 0) continue;
    const bool is_before = i + 2 < words.size() && after.GroupOf(words[i + 2]) > 0;
    const bool is_after = i > 0 && before.GroupOf(words[i - 1]) > 0;
    const bool is_french = i > 2 && words[i - 1] == "a" && words[i - 2] == "y";
    if (is_before || is_after || is_french) names.Add(kUnitOfGroup[unit], -number);
  }
}

// "last Friday", "letzten Freitag", "vendredi dernier".
void AddWeekdays(const std::vector<std::string_view>& words, Names& names) {
  static const WordList before(kLastOnes), behind(kLastBehind);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::optional<int> weekday = WeekdayNamed(words[i]);
    if (!weekday) continue;
    const bool is_last = (i > 0 && before.GroupOf(words[i - 1]) > 0) ||
                         (i + 1 < words.size() && behind.GroupOf(words[i + 1]) > 0);
    if (is_last) names.AddWeekdayBefore(*weekday);
  }
}

// 上周三. It is taken out of the text: it is not all of that week.
void AddWeekdaySigns(std::string& text, Names& names) {
  for (const std::string_view week : kLastWeeks) {
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
  for (const Phrase& phrase : kPhrases) {
    if (TakeOut(' ' + std::string(phrase.text) + ' ', folded)) names.Add(phrase.unit, phrase.by);
  }
  const std::vector<std::string_view> words = WordsOf(folded);
  AddAgo(words, names);
  AddWeekdays(words, names);
  std::string signs(text);
  AddWeekdaySigns(signs, names);
  for (const Phrase& sign : kSigns) {
    if (TakeOut(sign.text, signs)) names.Add(sign.unit, sign.by);
  }
  return names.Take();
}

}  // namespace keepsake::search
