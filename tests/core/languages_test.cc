// What is said of a language in its one file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "text/analysis.h"
#include "text/languages/language.h"
#include "text/relative_dates.h"

namespace keepsake::search {
namespace {

std::vector<std::string_view> ListsOf(const LanguageWords& words) {
  std::vector<std::string_view> lists = {words.stop_words, words.asking,         words.talk,
                                         words.vague,      words.common,         words.asks_for,
                                         words.somebody,   words.question_words, words.before_ago,
                                         words.behind_ago, words.before_month,   words.last_before,
                                         words.last_behind};
  lists.insert(lists.end(), words.months.begin(), words.months.end());
  lists.insert(lists.end(), words.weekdays.begin(), words.weekdays.end());
  lists.insert(lists.end(), words.counts.begin(), words.counts.end());
  lists.insert(lists.end(), words.units.begin(), words.units.end());
  lists.insert(lists.end(), words.numerals.begin(), words.numerals.end());
  return lists;
}

TEST(Languages, each_of_the_enum_has_its_words) {
  EXPECT_EQ(kAllWords.size(), static_cast<std::size_t>(kLastLanguage));
  std::set<const LanguageWords*> seen;
  for (std::size_t number = 1; number <= kAllWords.size(); ++number) {
    const LanguageWords& words = WordsOf(static_cast<Language>(number));
    EXPECT_TRUE(seen.insert(&words).second);
    EXPECT_FALSE(words.stop_words.empty());
    EXPECT_NE(words.stem, nullptr);
    for (const std::string_view list :
         {words.months[11], words.weekdays[6], words.counts[10], words.units[3]}) {
      EXPECT_FALSE(list.empty());
    }
  }
  EXPECT_TRUE(WordsOf(Language::kNone).stop_words.empty());
}

TEST(Languages, lists_have_folded_words_between_single_spaces) {
  for (const LanguageWords* words : kAllWords) {
    for (const std::string_view list : ListsOf(*words)) {
      if (list.empty()) continue;
      EXPECT_EQ(list.front(), ' ') << list;
      EXPECT_EQ(list.back(), ' ') << list;
      EXPECT_FALSE(list.contains("  ")) << list;
      for (const char c : list) EXPECT_TRUE(c == ' ' || c == '_' || (c >= 'a' && c <= 'z')) << list;
    }
  }
}

TEST(Languages, a_word_is_numbered_within_the_lists_of_its_language) {
  const WordsOfAll months(&LanguageWords::months);
  for (const char* may : {"may", "mai", "mayo", "maggio", "maio"})
    EXPECT_EQ(months.NumberOf(may), 5);
  EXPECT_EQ(months.NumberOf("dezembro"), 12);
  EXPECT_EQ(months.NumberOf("tea"), 0);
  EXPECT_TRUE(WordsOfAll(&LanguageWords::question_words).Has("warum"));
}

// 15 November 2023, a Wednesday.
constexpr std::int64_t kToday = 19'676;

TEST(Languages, three_days_ago_is_said_in_each) {
  for (const char* text : {"three days ago", "vor drei Tagen", "il y a trois jours",
                           "hace tres días", "tre giorni fa", "três dias atrás"}) {
    EXPECT_THAT(RelativeDatesIn(text, kToday), testing::ElementsAre("d2023-11-12")) << text;
  }
  EXPECT_THAT(RelativeDatesIn("il a trois jours", kToday), testing::IsEmpty());
}

TEST(Languages, number_words_are_digits_where_the_language_says_so) {
  const auto token = [](std::string_view text, Language language) {
    return Analyze(text, language).front().text;
  };
  EXPECT_EQ(token("two", Language::kEnglish), "2");
  EXPECT_EQ(token("two", Language::kGerman), "two");
  EXPECT_EQ(token("one", Language::kEnglish), "one");
}

}  // namespace
}  // namespace keepsake::search
