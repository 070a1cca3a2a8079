// What a language has of its own: all of it stands in languages/<name>.cc. CONTRIBUTING.md has the
// steps to add one.
#ifndef KEEPSAKE_TEXT_LANGUAGES_LANGUAGE_H_
#define KEEPSAKE_TEXT_LANGUAGES_LANGUAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "keepsake/function_ref.h"
#include "keepsake/text_config.h"
#include "text/word_list.h"

namespace keepsake::search {

enum class DateUnit : std::uint8_t { kDay, kWeek, kWeekend, kMonth, kYear };

// "last week"
struct RelativeDate {
  std::string_view text;  // folded, words between single spaces
  DateUnit unit;
  int by;  // units from now
};

// Lists have folded words, each between two spaces. What a language has not is empty. The first
// ones are for stores of this language, and for questions in it.
struct LanguageWords {
  // Questions are asked without them.
  std::string_view stop_words{};
  // See Commonness.
  std::string_view asking{}, talk{}, vague{}, common{};
  // Stems by which an answer is asked for, which need not hold them.
  std::string_view asks_for{};
  // Words for 1 to 12 that are stored as their digits.
  std::array<std::string_view, 12> numerals{};
  // Of a folded word of Latin letters; null leaves it as it is.
  void (*stem)(std::string& word) = nullptr;
  // "Bürgermeisterwahl": what is asked for may be a part of a word.
  bool joins_words = false;

  // The rest counts in every store, whatever language it was opened for.

  // Whoever is neither the one who asks nor the one who answers.
  std::string_view somebody{};
  // By which a question begins, so that it needs no mark.
  std::string_view question_words{};
  // Pieces of a question that is about who asks.
  std::span<const std::string_view> of_user{};

  // January is the first, Monday is.
  std::array<std::string_view, 12> months{};
  // Before a month that stands alone: in May, but not "may I".
  std::string_view before_month{};
  std::array<std::string_view, 7> weekdays{};
  // Around a weekday: the last one before today.
  std::string_view last_before{}, last_behind{};
  // What is in another phrase comes behind it.
  std::span<const RelativeDate> relative_dates{};
  // "three days ago": from 1 to 12; day, week, month, year; and what says that it is past, before
  // the number or behind the unit. Two words have '_' between them.
  std::array<std::string_view, 12> counts{};
  std::array<std::string_view, 4> units{};
  std::string_view before_ago{}, behind_ago{};
};

extern const LanguageWords kEnglishWords, kGermanWords, kFrenchWords, kSpanishWords, kItalianWords,
    kPortugueseWords;

// Of kNone nothing is there.
const LanguageWords& WordsOf(Language language);
// Of all languages, in the order of the enum.
inline constexpr std::array kAllWords = {&kEnglishWords, &kGermanWords,  &kFrenchWords,
                                         &kSpanishWords, &kItalianWords, &kPortugueseWords};
static_assert(kAllWords.size() == static_cast<std::size_t>(kLastLanguage));

// The number that a folded word stands for in the language: LanguageWords::numerals; 0 if none.
std::uint32_t NumeralOf(std::string_view word, Language language);

// A list, or lists, of all languages together.
class WordsOfAll {
 public:
  explicit WordsOfAll(std::string_view LanguageWords::* list)
      : WordsOfAll(1, [list](const LanguageWords& words) { return Lists(&(words.*list), 1); }) {}
  template <std::size_t kCount>
  explicit WordsOfAll(std::array<std::string_view, kCount> LanguageWords::* lists)
      : WordsOfAll(kCount, [lists](const LanguageWords& words) { return Lists(words.*lists); }) {}

  bool Has(std::string_view word) const { return list_.GroupOf(word) > 0; }
  // Which of its language's lists has the word, 1 for the first; 0 if none.
  std::uint32_t NumberOf(std::string_view word) const {
    const std::uint32_t group = list_.GroupOf(word);
    return group == 0 ? 0 : (group - 1) % count_ + 1;
  }

 private:
  using Lists = std::span<const std::string_view>;

  WordsOfAll(std::uint32_t count, FunctionRef<Lists(const LanguageWords& words)> lists_of);

  std::uint32_t count_;
  WordList list_;
};

// Takes the first ending that fits and leaves `min_stem` bytes. The longest come first.
void CutEnding(std::string& word, std::size_t min_stem,
               std::initializer_list<std::string_view> endings);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_LANGUAGES_LANGUAGE_H_
