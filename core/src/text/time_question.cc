#include "text/time_question.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <utility>

#include "text/analysis.h"
#include "text/dates.h"
#include "text/unicode.h"
#include "text/weekdays.h"
#include "text/word_list.h"

namespace keepsake::search {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kFirstOfYear = 101, kLastOfYear = 1231;

// What stands before a date or between two, by Role.
enum class Role : std::uint8_t {
  kOther,
  kBefore,
  kUntil,
  kAfter,
  kSince,
  kFrom,
  kAnd,
  kTo,
  kFiller,
  kLast
};
constexpr std::array<std::string_view, 9> kRoles = {
    " before vor avant antes prima ",
    " until till bis jusqu hasta fino ate ",
    " after nach apres despues dopo depois ",
    " since seit depuis desde ",
    " between from zwischen von entre tra de da dal ",
    " and und et y e ",
    " to through a al ",
    " the of in on at im am der dem den le la el il o early late mid du del di do anfang ende "
    "mitte "
    "this during wahrend ",
    " last past letzten letzter vorigen vergangenen "};

// The same behind a date, or before it, in Chinese.
struct Sign {
  std::string_view text;
  Role role;
  bool is_behind;
};
constexpr Sign kSigns[] = {
    {"之前", Role::kBefore, true}, {"以前", Role::kBefore, true}, {"之后", Role::kAfter, true},
    {"以后", Role::kAfter, true},  {"以来", Role::kSince, true},  {"之後", Role::kAfter, true},
    {"以後", Role::kAfter, true},  {"为止", Role::kUntil, true},  {"自从", Role::kSince, false},
    {"从", Role::kFrom, false},    {"到", Role::kTo, false},      {"至", Role::kTo, false},
    {"和", Role::kAnd, false}};

// Spring, summer, autumn and winter begin in March, June, September and December.
constexpr std::array<std::string_view, 4> kSeasons = {
    " spring fruhling fruhjahr printemps primavera ", " summer sommer ete verano estate verao ",
    " autumn fall herbst automne otono autunno outono ", " winter hiver invierno inverno "};
constexpr std::string_view kSeasonSigns[] = {"春", "夏", "秋", "冬"};
constexpr std::uint32_t kMonthsOfSeason = 3;

// "The week before 3 August" is near that day.
constexpr std::string_view kUnits[] = {
    " day days night nights week weeks weekend weekends month months year years tag tage tagen "
    "woche wochen wochenende monat monate monaten jahr jahre jahren jour jours semaine semaines "
    "mois "
    "dia dias semana semanas mes meses giorno giorni settimana settimane mese mesi "};
constexpr std::string_view kWeekendWords[] = {"weekend", "weekends", "wochenende"};

// Folded, words between single spaces.
constexpr std::string_view kEarliestWords[] = {
    " first time ",    " earliest ",   " zuerst ",      " erste mal ",    " ersten mal ",
    " premiere fois ", " primera vez", " prima volta ", " primeira vez ", " at first ",
    " fruheste ",      " originally ", " initially ",   " ursprunglich "};
constexpr std::string_view kEarliestSigns[] = {"第一次", "最早", "首次", "最初"};
constexpr std::string_view kLatestWords[] = {
    " latest ",      " most recent ",  " most recently ", " last time ",    " newest ",
    " zuletzt ",     " letzte mal ",   " letzten mal ",   " neueste ",      " neuesten ",
    " jungste ",     " jungsten ",     " derniere fois ", " ultima vez ",   " ultima volta ",
    " now ",         " currently ",    " nowadays ",      " these days ",   " at the moment ",
    " at present ",  " right now ",    " as of today ",   " still ",        " jetzt ",
    " derzeit ",     " aktuell ",      " aktuelle ",      " aktuellen ",    " momentan ",
    " zurzeit ",     " zur zeit ",     " heutzutage ",    " gegenwartig ",  " immer noch ",
    " inzwischen ",  " mittlerweile ", " maintenant ",    " actuellement ", " ahora ",
    " actualmente ", " adesso ",       " attualmente ",   " agora ",        " atualmente "};
constexpr std::string_view kLatestSigns[] = {"最近一次", "最后一次", "上一次", "最新", "现在",
                                             "目前",     "当前",     "如今",   "最近"};

// As much of a date as is known: 0 for what is not.
struct Mention {
  int year = 0;
  std::uint32_t month = 0, day = 0;
  std::uint32_t months = 1;        // a season has more
  std::vector<std::string> names;  // by which a DateReader knows it

  bool is_known() const { return year != 0 || month != 0; }
};

// Of what stands between two words.
struct Element {
  Role role = Role::kOther;
  bool is_behind = false;  // a role that follows its date
  std::string word;        // folded
  Mention mention;         // which ends here
  std::uint32_t season = 0;
};

std::int64_t DayOf(std::chrono::year_month_day date) {
  return sys_days(date).time_since_epoch().count();
}

std::chrono::year_month MonthOf(int year, std::uint32_t month) {
  return std::chrono::year(year) / std::chrono::month(month);
}

std::int64_t FirstDayOf(std::chrono::year_month month) { return DayOf(month / 1); }
std::int64_t LastDayOf(std::chrono::year_month month) {
  return FirstDayOf(month + std::chrono::months(1)) - 1;
}

// "2023", "05" or "08" of a name.
std::uint32_t NumberAt(std::string_view name, std::size_t begin, std::size_t count) {
  std::uint32_t number = 0;
  for (const char c : name.substr(begin, count)) {
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return number;
}

bool HasDigitAt(std::string_view name, std::size_t at) {
  return at < name.size() && name[at] >= '0' && name[at] <= '9';
}

// Of the narrowest name.
void ReadNames(Mention& mention) {
  std::string_view name;
  for (const std::string& each : mention.names) {
    if (each.size() > name.size()) name = each;
  }
  constexpr std::size_t kYear = 5;  // bytes of "d2023"
  if (HasDigitAt(name, 1)) {
    mention.year = static_cast<int>(NumberAt(name, 1, 4));
    if (name.size() > kYear) mention.month = NumberAt(name, 6, 2);
    if (name.size() > kYear + 3) mention.day = NumberAt(name, 9, 2);
  } else if (!name.empty()) {
    mention.month = NumberAt(name, 2, 2);
    if (name.size() > kYear) mention.day = NumberAt(name, 5, 2);
  }
}

// REQUIRES: it is known.
TimeSpan SpanOf(const Mention& mention) {
  if (mention.year == 0) {
    const std::uint32_t last = (mention.month + mention.months - 2) % 12 + 1;
    return {mention.month * 100 + (mention.day != 0 ? mention.day : 1),
            last * 100 + (mention.day != 0 ? mention.day : 31), true};
  }
  const auto first = MonthOf(mention.year, mention.month != 0 ? mention.month : 1);
  if (mention.day != 0) {
    const std::int64_t day = DayOf(first / std::chrono::day(mention.day));
    return {day, day, false};
  }
  const auto months = std::chrono::months(mention.month != 0 ? mention.months : 12);
  return {FirstDayOf(first), LastDayOf(first + months - std::chrono::months(1)), false};
}

TimeSpan Before(const TimeSpan& span) {
  return {span.is_of_any_year ? kFirstOfYear : -kEver, span.first - 1, span.is_of_any_year};
}
TimeSpan Until(const TimeSpan& span) {
  return {Before(span).first, span.last, span.is_of_any_year};
}
TimeSpan Since(const TimeSpan& span) {
  return {span.first, span.is_of_any_year ? kLastOfYear : kEver, span.is_of_any_year};
}
TimeSpan After(const TimeSpan& span) {
  return {span.last + 1, Since(span).last, span.is_of_any_year};
}

// Cuts a question into words, roles and dates.
class ElementReader {
 public:
  explicit ElementReader(std::string_view text) : text_(text) {}

  std::vector<Element> Read() {
    while (at_ < text_.size()) {
      const Character character = FirstCharacter(text_.substr(at_));
      switch (ClassOf(character.code_point)) {
        case CharacterClass::kLetter:
        case CharacterClass::kDigit:
          ReadWord();
          break;
        case CharacterClass::kUnspaced:
          ReadSign(character);
          break;
        default:
          if (character.code_point == U'\u2013') AddElement({.role = Role::kTo, .word = "-"});
          gap_.push_back(character.code_point);
          at_ += character.length;
      }
    }
    return std::move(elements_);
  }

 private:
  void AddElement(Element element) { elements_.push_back(std::move(element)); }

  void ReadWord() {
    static const WordList roles(kRoles), seasons(kSeasons);
    Element element;
    while (at_ < text_.size()) {
      const Character character = FirstCharacter(text_.substr(at_));
      const CharacterClass kind = ClassOf(character.code_point);
      const bool is_word = kind == CharacterClass::kLetter || kind == CharacterClass::kDigit;
      if (!is_word && kind != CharacterClass::kIgnored) break;
      if (is_word) AppendFolded(character.code_point, element.word);
      at_ += character.length;
    }
    CutOrdinal(element.word);
    const char joint = Joint();
    element.role = static_cast<Role>(roles.GroupOf(element.word));
    element.season = seasons.GroupOf(element.word);
    dates_.Word(element.word, joint);
    // "before May", where "May I" is no month.
    if (element.role != Role::kOther) dates_.Announce();
    Take(element);
    AddElement(std::move(element));
  }

  // What joins two words into one date, as Analyze() has it.
  char Joint() {
    const std::u32string gap = std::exchange(gap_, {});
    if (gap.size() == 1 && std::u32string_view(U"-./:").contains(gap[0])) {
      return static_cast<char>(gap[0]);
    }
    for (const char32_t c : gap) dates_.Interrupt(c);
    return 0;
  }

  void ReadSign(const Character& character) {
    for (const char32_t c : std::exchange(gap_, {})) dates_.Interrupt(c);
    const std::string_view rest = text_.substr(at_);
    for (const Sign& sign : kSigns) {
      if (!rest.starts_with(sign.text)) continue;
      AddElement({.role = sign.role, .is_behind = sign.is_behind, .word = std::string(sign.text)});
      dates_.Interrupt(U';');
      at_ += sign.text.size();
      return;
    }
    Element element;
    for (std::size_t season = 0; season < std::size(kSeasonSigns); ++season) {
      if (!rest.starts_with(kSeasonSigns[season])) continue;
      element.season = static_cast<std::uint32_t>(season + 1);
    }
    element.word = std::string(rest.substr(0, character.length));
    dates_.Sign(character.code_point);
    Take(element);
    // A month without a year has no name elsewhere: it may be how long something took.
    if (character.code_point == U'月' && element.mention.names.empty() && !elements_.empty()) {
      const std::string& number = elements_.back().word;
      if (number.size() <= 2 && HasDigitAt(number, 0)) {
        element.mention.month = NumberAt(number, 0, number.size());
        if (element.mention.month > 12) element.mention.month = 0;
      }
    }
    AddElement(std::move(element));
    at_ += character.length;
  }

  void Take(Element& element) {
    element.mention.names = dates_.Take();
    ReadNames(element.mention);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::u32string gap_;  // since the last word
  DateReader dates_;
  std::vector<Element> elements_;
};

class TimeReader {
 public:
  TimeReader(std::string_view text, std::optional<std::int64_t> today)
      : today_(today), elements_(ElementReader(text).Read()) {}

  TimeQuestion Read() {
    ReadMonths();
    ReadSeasons();
    JoinMentions();
    for (at_ = 0; at_ < elements_.size(); ++at_) {
      if (elements_[at_].mention.is_known()) ReadSpan();
      ReadWeekday();
    }
    MeetBounds();
    return std::move(question_);
  }

 private:
  // "After 2020 and before 2023" is one span.
  void MeetBounds() {
    std::vector<TimeSpan>& spans = question_.spans;
    if (spans.size() != 2 || !spans[0].is_open() || !spans[1].is_open()) return;
    if (spans[0].is_of_any_year || spans[1].is_of_any_year) return;
    const TimeSpan both{std::max(spans[0].first, spans[1].first),
                        std::min(spans[0].last, spans[1].last), false};
    if (both.first <= both.last && !both.is_open()) spans = {both};
  }

  // "8 May 2023" is known step by step, and is one mention where the last word of it stands.
  void JoinMentions() {
    for (std::size_t i = 0; i + 1 < elements_.size(); ++i) {
      Mention& mention = elements_[i].mention;
      if (!mention.is_known()) continue;
      std::size_t next = i + 1;
      while (next < elements_.size() && next < i + 3 && !elements_[next].mention.is_known() &&
             IsPartOfDate(elements_[next])) {
        ++next;
      }
      if (next == elements_.size() || !elements_[next].mention.is_known()) continue;
      Mention& longer = elements_[next].mention;
      const bool goes_on = longer.month == mention.month || mention.month == 0 || longer.month == 0;
      const bool is_season = mention.months > 1 && longer.month == 0;
      if (is_season) {
        mention.year = mention.year != 0 ? mention.year : longer.year;
        std::swap(mention, longer);
        longer.names.clear();
      } else if (longer.months > 1 && mention.month == 0) {
        longer.year = mention.year;
      } else if (!goes_on || longer.names.empty()) {
        continue;
      } else {
        longer.names.insert(longer.names.end(), mention.names.begin(), mention.names.end());
        ReadNames(longer);
      }
      mention = {};
      elements_[i].role = Role::kFiller;
    }
  }

  static bool IsPartOfDate(const Element& element) {
    return MonthNamed(element.word) > 0 || element.word == "of" || element.word == "de" ||
           element.word == "年" || element.word == "月" || element.word == "日" ||
           HasDigitAt(element.word, 0);
  }

  // "May to July 2023".
  void ReadMonths() {
    for (std::size_t i = 0; i + 2 < elements_.size(); ++i) {
      const std::uint32_t month = MonthNamed(elements_[i].word);
      const bool is_range =
          elements_[i + 1].role == Role::kTo || elements_[i + 1].role == Role::kUntil;
      if (month != 0 && is_range && MonthNamed(elements_[i + 2].word) != 0 &&
          !elements_[i].mention.is_known()) {
        elements_[i].mention.month = month;
      }
    }
  }

  void ReadSeasons() {
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      Element& element = elements_[i];
      if (element.season == 0) continue;
      const bool is_announced = i > 0 && elements_[i - 1].role != Role::kOther;
      const bool has_year = i + 1 < elements_.size() && elements_[i + 1].mention.year != 0;
      const bool is_sign = !HasDigitAt(element.word, 0) && element.word[0] < 0;
      if (!is_announced && !has_year && !is_sign) continue;
      element.mention.month = element.season * kMonthsOfSeason;
      element.mention.months = kMonthsOfSeason;
      const bool is_last = i > 0 && elements_[i - 1].role == Role::kLast;
      if (is_last && today_) element.mention.year = YearOfLast(element.mention.month);
    }
  }

  // Of the last season that begins with this month and is over.
  int YearOfLast(std::uint32_t month) const {
    const std::chrono::year_month_day now{sys_days(days(static_cast<int>(*today_)))};
    const int year = static_cast<int>(now.year());
    const auto end = MonthOf(year, month) + std::chrono::months(kMonthsOfSeason);
    return FirstDayOf(end) <= *today_ ? year : year - 1;
  }

  // The role of what stands before a date, but for fillers.
  Role RoleBefore(std::size_t at, std::size_t& place) const {
    place = at;
    while (place-- > 0) {
      const Element& element = elements_[place];
      if (element.role == Role::kFiller || element.role == Role::kLast) continue;
      if (IsPartOfDate(element) && !element.mention.is_known()) continue;  // 3 May
      return element.is_behind ? Role::kOther : element.role;
    }
    return Role::kOther;
  }

  Role RoleBehind(std::size_t at) const {
    for (std::size_t place = at + 1; place < elements_.size() && place < at + 3; ++place) {
      const Element& element = elements_[place];
      if (element.is_behind) return element.role;
      if (!IsPartOfDate(element)) break;
    }
    return Role::kOther;
  }

  void ReadSpan() {
    std::size_t place = 0;
    Role role = RoleBefore(at_, place);
    if (const Role behind = RoleBehind(at_); behind != Role::kOther) role = behind;
    if (const auto end = EndOfRange()) return AddRange(*end);
    if (IsCountedFrom(place)) return;
    const Mention& mention = elements_[at_].mention;
    if (const std::uint32_t day = FirstOfDays(); day != 0) {
      Mention first = mention;
      first.day = day;
      return AddBound({SpanOf(first).first, SpanOf(mention).last, mention.year == 0});
    }
    const TimeSpan span = SpanOf(mention);
    switch (role) {
      case Role::kBefore:
        return AddBound(Before(span));
      case Role::kUntil:
        return AddBound(Until(span));
      case Role::kAfter:
        return AddBound(After(span));
      case Role::kSince:
        return AddBound(Since(span));
      default:
        if (mention.months > 1) question_.spans.push_back(span);
    }
  }

  // "Two weeks before".
  bool IsCountedFrom(std::size_t role) const {
    static const WordList units(kUnits);
    if (role == 0 || role >= elements_.size()) return false;
    const std::string& word = elements_[role - 1].word;
    return units.GroupOf(word) > 0 || WeekdayNamed(word);
  }

  // "From 3 to 10 May": 3. Or 0.
  std::uint32_t FirstOfDays() const {
    if (elements_[at_].mention.day == 0) return 0;
    std::size_t place = at_;
    while (place > 0 && IsPartOfDate(elements_[place - 1])) --place;
    if (place < 2) return 0;
    const Role role = elements_[place - 1].role;
    const std::string& number = elements_[place - 2].word;
    const bool is_day =
        number.size() <= 2 && HasDigitAt(number, 0) && HasDigitAt(number, number.size() - 1);
    const bool joins = role == Role::kTo || role == Role::kUntil || role == Role::kAnd;
    return joins && is_day ? NumberAt(number, 0, number.size()) : 0;
  }

  // Where the mention at hand begins a range: the place of the other one.
  std::optional<std::size_t> EndOfRange() const {
    std::size_t place = 0;
    const bool is_between = RoleBefore(at_, place) == Role::kFrom;
    bool is_joined = false;
    for (std::size_t i = at_ + 1; i < elements_.size(); ++i) {
      const Element& element = elements_[i];
      if (element.mention.is_known()) return is_joined ? std::optional(i) : std::nullopt;
      const bool joins = element.role == Role::kTo || element.role == Role::kUntil ||
                         (element.role == Role::kAnd && is_between);
      if (joins && !element.is_behind) {
        is_joined = true;
      } else if (element.role != Role::kFiller && !IsPartOfDate(element)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  void AddRange(std::size_t end) {
    Mention first = elements_[at_].mention;
    const Mention& last = elements_[end].mention;
    if (first.year == 0) first.year = last.year;
    Mention other = last;
    if (other.year == 0) other.year = first.year;
    const TimeSpan from = SpanOf(first), to = SpanOf(other);
    Consume(at_);
    Consume(end);
    at_ = end;
    if (!from.is_of_any_year && from.first > to.last) return;
    question_.spans.push_back({from.first, to.last, from.is_of_any_year});
  }

  void AddBound(const TimeSpan& span) {
    Consume(at_);
    if (span.first <= span.last) question_.spans.push_back(span);
  }

  void Consume(std::size_t at) {
    const Element& element = elements_[at];
    question_.names.insert(question_.names.end(), element.mention.names.begin(),
                           element.mention.names.end());
    question_.words.push_back(element.word);
    while (at-- > 0 && IsPartOfDate(elements_[at])) question_.words.push_back(elements_[at].word);
  }

  void ReadWeekday() {
    const Element& element = elements_[at_];
    if (std::ranges::find(kWeekendWords, element.word) != std::end(kWeekendWords)) {
      if (at_ == 0 || elements_[at_ - 1].role != Role::kLast) question_.weekdays |= 0b110'0000;
      return;
    }
    const std::optional<int> weekday = WeekdayNamed(element.word);
    const bool is_last = at_ > 0 && elements_[at_ - 1].role == Role::kLast;  // a day, by now
    if (weekday && !is_last) question_.weekdays |= static_cast<std::uint8_t>(1 << *weekday);
  }

  std::optional<std::int64_t> today_;
  std::vector<Element> elements_;
  std::size_t at_ = 0;
  TimeQuestion question_;
};

std::string Spaced(std::string_view text) {
  std::string spaced = " ";
  while (!text.empty()) {
    const Character character = FirstCharacter(text);
    text.remove_prefix(character.length);
    const CharacterClass kind = ClassOf(character.code_point);
    if (kind == CharacterClass::kLetter || kind == CharacterClass::kDigit) {
      AppendFolded(character.code_point, spaced);
    } else if (kind != CharacterClass::kIgnored && spaced.back() != ' ') {
      spaced += ' ';
    }
  }
  return spaced += ' ';
}

void ReadOrder(std::string_view text, TimeQuestion& question) {
  using enum TimeQuestion::Order;
  const std::string spaced = Spaced(text);
  const bool is_earliest = HoldsAny(spaced, kEarliestWords) || HoldsAny(text, kEarliestSigns);
  const bool is_latest = HoldsAny(spaced, kLatestWords) || HoldsAny(text, kLatestSigns);
  if (is_earliest != is_latest) {
    question.order = is_earliest ? kEarliest : kLatest;
    return;
  }
  // "When did Ann first …", but not "Ann's first name".
  const bool is_when = spaced.starts_with(" when ") || spaced.starts_with(" wann ");
  if (is_earliest || !is_when) return;
  if (spaced.contains(" first ")) question.order = kEarliest;
  if (spaced.contains(" last ") && !spaced.contains(" first ")) question.order = kLatest;
  question.is_only_hinted = question.order != kNone;
}

std::string NameOf(const TimeSpan& span, std::int64_t end) {
  if (end == kEver || end == -kEver) return "";
  if (!span.is_of_any_year) return NameOfDay(end).substr(1);
  return std::to_string(end / 100) + '-' + std::to_string(end % 100);
}

}  // namespace

bool TimeSpan::is_open() const {
  return is_of_any_year ? first == kFirstOfYear || last == kLastOfYear
                        : first == -kEver || last == kEver;
}

bool TimeSpan::Holds(std::string_view name) const {
  const bool is_name = name.size() >= 5 && name[0] == 'd' && HasDigitAt(name, 1);
  if (!is_name) return false;
  const bool has_month = name.size() == 8 && name[5] == '-';
  const std::optional<std::int64_t> day = DayOfName(name);
  if (is_of_any_year) {
    if (!day) return false;
    const std::int64_t date = NumberAt(name, 6, 2) * 100 + NumberAt(name, 9, 2);
    return first <= last ? first <= date && date <= last : first <= date || date <= last;
  }
  if (day) return first <= *day && *day <= last;
  if (!has_month && name.size() != 5) return false;
  const bool is_all_digits = std::ranges::all_of(
      name.substr(1), [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
  if (!is_all_digits) return false;
  Mention mention;
  mention.names = {std::string(name)};
  ReadNames(mention);
  if (has_month && (mention.month < 1 || mention.month > 12)) return false;
  const TimeSpan whole = SpanOf(mention);
  return first <= whole.first && whole.last <= last;
}

TimeQuestion ReadTimeQuestion(std::string_view text, std::optional<std::int64_t> today) {
  TimeQuestion question = TimeReader(text, today).Read();
  question.weekdays |= WeekdaysOfSigns(text);
  ReadOrder(text, question);
  return question;
}

std::vector<TextTime> TimesOf(const TextShelf& shelf, const TimeQuestion& question) {
  std::vector<TextTime> times(shelf.size());
  std::vector<bool> is_own(shelf.size());
  const TextShelf::Tokens& tokens = shelf.tokens();
  for (auto token = tokens.lower_bound("d0"); token != tokens.end() && token->first < "d:";
       ++token) {
    const std::string& name = token->first;
    const std::optional<std::int64_t> day = DayOfName(name);
    const bool is_in_span =
        std::ranges::any_of(question.spans, [&](const TimeSpan& s) { return s.Holds(name); });
    const bool is_on_weekday = day && (question.weekdays >> WeekdayOf(*day) & 1) != 0;
    for (const TextShelf::Posting& posting : token->second) {
      TextTime& time = times[posting.slot];
      time.is_in_span |= is_in_span;
      time.is_on_weekday |= is_on_weekday;
      if (!day) continue;
      // Days come in their order, and an item's own is none that it tells.
      const bool is_told = posting.weight > 0;
      if (is_told && is_own[posting.slot]) continue;
      is_own[posting.slot] = !is_told;
      time.day = day;
    }
  }
  return times;
}

std::string Describe(const TimeQuestion& question) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const TimeSpan& span : question.spans) {
    add(NameOf(span, span.first) + "\u2026" + NameOf(span, span.last));
  }
  for (int weekday = 0; weekday < 7; ++weekday) {
    if ((question.weekdays >> weekday & 1) != 0) add(std::string(NameOfWeekday(weekday)));
  }
  if (question.order == TimeQuestion::Order::kEarliest) add("the earliest first");
  if (question.order == TimeQuestion::Order::kLatest) add("the latest first");
  return text;
}

}  // namespace keepsake::search
