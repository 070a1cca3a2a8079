// Dates in a text, read word by word: 8 May 2023, May 8th, May 2023, 2023-05-08,
// 24.01.2024, 01/24/2024, 2023年5月8日. What is found has names that are equal if the dates
// are, however they were written: "d2023-05-08", "d2023-05", "d-05-08", "d2023" and "d-05",
// as far as known.
#ifndef KEEPSAKE_TEXT_DATES_H_
#define KEEPSAKE_TEXT_DATES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keepsake::search {

class DateReader {
 public:
  // A folded word, and what joins it with the last one (0 if nothing does).
  void Word(std::string_view word, char joint);
  // A character of a script without spaces.
  void Sign(char32_t code_point);
  // Any other character.
  void Interrupt(char32_t code_point);

  // The names that the last word or sign made known.
  std::vector<std::string> Take() { return std::exchange(names_, {}); }

 private:
  void Forget();
  void Number(std::uint32_t number, char joint);
  void Numeric(std::uint32_t year, char joint);
  void Year(std::uint32_t year);
  void Month(std::uint32_t month);
  void Day(std::uint32_t day);

  std::uint32_t year_ = 0;  // 0: not known
  std::uint32_t month_ = 0;
  std::uint32_t day_ = 0;
  std::uint32_t number_ = 0;  // the last word, if it may be a day or a month
  std::uint32_t first_ = 0;   // the number that is joined to number_: 24 of 24.01
  char slash_ = 0;            // '/' if only that stands before the next word
  bool announces_ = false;    // the last word stands before months: in
  std::vector<std::string> names_;
};

// "d2023-05-08" of days since 1970.
std::string NameOfDay(std::int64_t day);
// Days since 1970 of a name "d2023-05-08"; nullopt for any other token.
std::optional<std::int64_t> DayOfName(std::string_view name);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_DATES_H_
