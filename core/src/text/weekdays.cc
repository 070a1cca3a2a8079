#include "text/weekdays.h"

#include <array>
#include <cstddef>

#include "text/word_list.h"

namespace keepsake::search {
namespace {

constexpr int kDays = 7;
constexpr std::array<std::string_view, kDays> kNames = {
    " monday mondays montag montags lundi lunes lunedi segunda ",
    " tuesday tuesdays dienstag dienstags mardi martes martedi terca ",
    " wednesday wednesdays mittwoch mittwochs mercredi miercoles mercoledi quarta ",
    " thursday thursdays donnerstag donnerstags jeudi jueves giovedi quinta ",
    " friday fridays freitag freitags vendredi viernes venerdi sexta ",
    " saturday saturdays samstag samstags sonnabend sonnabends samedi sabado sabato ",
    " sunday sundays sonntag sonntags dimanche domingo domenica "};
constexpr std::array<std::string_view, kDays> kEnglish = {
    "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"};
constexpr std::string_view kWeeks[] = {"星期", "周", "礼拜", "週"};
constexpr std::array<std::string_view, kDays + 1> kSigns = {"一", "二", "三", "四",
                                                            "五", "六", "日", "天"};

}  // namespace

std::optional<int> WeekdayNamed(std::string_view word) {
  static const WordList names(kNames);
  const std::uint32_t group = names.GroupOf(word);
  if (group == 0) return std::nullopt;
  return static_cast<int>(group) - 1;
}

std::optional<int> WeekdayOfSign(std::string_view text) {
  for (std::size_t i = 0; i < kSigns.size(); ++i) {
    if (text.starts_with(kSigns[i])) return static_cast<int>(i < kDays ? i : kDays - 1);
  }
  return std::nullopt;
}

std::uint8_t WeekdaysOfSigns(std::string_view text) {
  std::uint8_t weekdays = 0;
  for (const std::string_view week : kWeeks) {
    for (std::size_t at = text.find(week); at != std::string_view::npos;
         at = text.find(week, at + week.size())) {
      const std::optional<int> day = WeekdayOfSign(text.substr(at + week.size()));
      // 上周三 is a day, and seen from another one.
      const bool is_last =
          text.substr(0, at).ends_with("上") || text.substr(0, at).ends_with("上个");
      if (day && !is_last) weekdays |= static_cast<std::uint8_t>(1 << *day);
    }
  }
  return weekdays;
}

int WeekdayOf(std::int64_t day) {
  const std::int64_t since_monday = (day + 3) % kDays;  // 1970 began on a Thursday
  return static_cast<int>(since_monday < 0 ? since_monday + kDays : since_monday);
}

std::string_view NameOfWeekday(int weekday) { return kEnglish[static_cast<std::size_t>(weekday)]; }

}  // namespace keepsake::search
