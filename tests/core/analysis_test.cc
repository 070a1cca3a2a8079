#include "text/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "json/utf8.h"
#include "text/dates.h"
#include "text/unicode.h"

namespace keepsake::search {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> Texts(std::string_view text, Language language = Language::kEnglish) {
  std::vector<std::string> texts;
  for (const Token& token : Analyze(text, language)) texts.push_back(token.text);
  return texts;
}

std::vector<std::string> Dates(std::string_view text) {
  std::vector<std::string> dates;
  for (const Token& token : Analyze(text, Language::kEnglish)) {
    if (token.kind == Token::Kind::kDate) dates.push_back(token.text);
  }
  return dates;
}

TEST(Analysis, folds_case_marks_and_width) {
  EXPECT_THAT(Texts("\u00C9COLE Stra\u00DFe \u00C6r\u00F8 \uFF21\uFF22\uFF23 \u2460 \uFB01n"),
              ElementsAre("ecol", "strass", "aero", "abc", "1", "fin"));
  EXPECT_EQ(Texts("re\u0301sume\u0301"), Texts("r\u00E9sum\u00E9")) << "composed or not";
  EXPECT_THAT(Texts("\u039F\u03B4\u03CC\u03C2"), ElementsAre("\u03BF\u03B4\u03BF\u03C3"));
  EXPECT_THAT(Texts("\u0401\u043B\u043A\u0438"), ElementsAre("\u0435\u043B\u043A"));
  EXPECT_THAT(Texts("\u0627\u0644\u0639\u064E\u0631\u064E\u0628\u0650\u064A\u064E\u0651\u0629"),
              ElementsAre("\u0639\u0631\u0628\u064A\u0629"))
      << "nor is the article a part of it";
  EXPECT_THAT(Texts("\u05E9\u05C1\u05B8\u05DC\u05D5\u05B9\u05DD"),
              ElementsAre("\u05E9\u05DC\u05D5\u05DD"));
  EXPECT_THAT(Texts("\u0939\u093F\u0928\u094D\u0926\u0940"),
              ElementsAre("\u0939\u093F\u0928\u094D\u0926\u0940"))
      << "vowel signs are no marks";
  EXPECT_THAT(Texts("\u0664\u0662 \u096A\u0968"), ElementsAre("42", "42"))
      << "digits of any script";
}

TEST(Analysis, scripts_without_spaces_give_characters_and_pairs) {
  EXPECT_THAT(Texts("\u559D\u8336\u5427"),
              ElementsAre("\u559D", "\u559D\u8336", "\u8336", "\u8336\u5427", "\u5427"));
  EXPECT_THAT(Texts("\uD55C\uAD6D"), ElementsAre("\uD55C", "\uD55C\uAD6D", "\uAD6D"));
  EXPECT_THAT(Texts("\u0E44\u0E17"), ElementsAre("\u0E44", "\u0E44\u0E17", "\u0E17"));
  EXPECT_THAT(Texts("\u7528Node\u5199"), ElementsAre("\u7528", "node", "\u5199"))
      << "mixed without spaces";
  EXPECT_EQ(Texts("\uFF76\uFF9E"), Texts("\u30AC")) << "half-width kana";
  EXPECT_EQ(Texts("\u304B\u3099"), Texts("\u304C")) << "decomposed kana";
  EXPECT_NE(Texts("\u304B"), Texts("\u304C"));
}

TEST(Analysis, compounds_are_found_as_a_whole_and_by_their_parts) {
  EXPECT_THAT(Texts("getUserName"), ElementsAre("getusername", "get", "user", "name"));
  EXPECT_THAT(Texts("HTTPServer URLs"), ElementsAre("httpserver", "http", "server", "url"));
  EXPECT_THAT(Texts("max_tokens"), ElementsAre("maxtokens", "max", "token"));
  EXPECT_THAT(Texts("e-mail"), ElementsAre("email", "e", "mail"));
  EXPECT_THAT(Texts("ann.lee@example.com"),
              ElementsAre("ann.lee@example.com", "ann", "lee", "exampl", "com"));
  EXPECT_THAT(Texts("U.S.A. gpt4"), ElementsAre("usa", "u", "s", "a", "gpt4"));
  EXPECT_THAT(Texts("a,b c:d"), ElementsAre("a", "b", "c", "d"));
}

TEST(Analysis, apostrophes_join_or_drop) {
  EXPECT_THAT(Texts("Ann's don\u2019t O'Brien l'eau"), ElementsAre("ann", "dont", "obrien", "eau"));
}

TEST(Analysis, numbers_are_equal_however_they_are_written) {
  EXPECT_THAT(Texts("1,234,567 3rd three 3.14 10:30 \uFF13"),
              ElementsAre("1234567", "3", "3", "3.14", "3", "14", "10:30", "10", "30", "3"));
}

TEST(Analysis, dates_are_equal_however_they_are_written) {
  for (const char* text : {"8 May 2023", "May 8th, 2023", "2023-05-08", "1:56 pm on 8 May, 2023",
                           "the 8th of May 2023", "2023\u5E745\u67088\u65E5", "08.05.2023",
                           "8.5.2023", "2023/05/08", "05/08/2023", "8. Mai 2023", "8 mai 2023"}) {
    EXPECT_THAT(Dates(text),
                testing::IsSupersetOf({"d2023-05", "d2023-05-08", "d-05-08", "d2023", "d-05"}))
        << text;
  }
  EXPECT_THAT(Dates("in May 2023"),
              testing::UnorderedElementsAre("d-05", "d-05", "d2023", "d2023-05"));
  EXPECT_THAT(Dates("what was in April?"), ElementsAre("d-04"));
  EXPECT_THAT(Dates("24/01/2024"), testing::Not(testing::Contains("d2024-24-01")));
  EXPECT_THAT(Dates("04/12/2022"), testing::IsSupersetOf({"d2022-04-12", "d2022-12-04"}));
  EXPECT_THAT(Dates("on 24 Dec"), ElementsAre("d-12-24"));
  for (const char* text : {"at 10:30", "I may be 8", "5 of 8", "1.250", "3.14"}) {
    EXPECT_THAT(Dates(text), IsEmpty()) << text;
  }
}

TEST(Analysis, names_of_days_are_days) {
  EXPECT_EQ(DayOfName("d1970-01-02"), 1);
  EXPECT_EQ(DayOfName("d2024-02-29"), 19782);
  for (const char* name :
       {"d2023-02-29", "d2023-05", "d-05-08", "d2023-05-0x", "", "dddddddddddd"}) {
    EXPECT_EQ(DayOfName(name), std::nullopt) << name;
  }
}

TEST(Analysis, emoji_are_tokens_without_their_colour) {
  EXPECT_THAT(Texts("tea\U0001F44D\U0001F3FD ok"), ElementsAre("tea", "\U0001F44D", "ok"));
  EXPECT_EQ(Texts("\u2764\uFE0F"), Texts("\u2764"));
  EXPECT_THAT(Texts("\U0001F1E9\U0001F1EA"), ElementsAre("\U0001F1E9\U0001F1EA"));
}

TEST(Analysis, says_where_a_token_stands) {
  const std::vector<Token> tokens = Analyze("The caf\u00E9 is maxTokens", Language::kEnglish);
  ASSERT_EQ(tokens.size(), 6U);
  EXPECT_TRUE(tokens[0].is_stop_word);
  EXPECT_EQ(tokens[1].begin, 4U);
  EXPECT_EQ(tokens[1].end, 9U);
  EXPECT_EQ(tokens[3].kind, Token::Kind::kCompound);
  EXPECT_EQ(tokens[3].position, tokens[4].position);
  EXPECT_EQ(tokens[5].position, tokens[4].position + 1);
}

TEST(Analysis, stop_words_are_those_of_the_language) {
  EXPECT_TRUE(Analyze("der", Language::kGerman)[0].is_stop_word);
  EXPECT_FALSE(Analyze("der", Language::kEnglish)[0].is_stop_word);
  EXPECT_TRUE(Analyze("\u7684", Language::kEnglish)[0].is_stop_word);
}

TEST(Analysis, tokens_are_bounded) {
  const std::vector<Token> long_word = Analyze(std::string(1000, 'x'), Language::kNone);
  ASSERT_EQ(long_word.size(), 1U);
  EXPECT_EQ(long_word[0].text.size(), kMaxTokenBytes);
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "\u0939";
  EXPECT_TRUE(json::IsWellFormedUtf8(Texts(wide).at(0)));
  std::string many;
  for (std::size_t i = 0; i < kMaxTokens; ++i) many += "a b-c ";
  EXPECT_LE(Analyze(many, Language::kNone).size(), kMaxTokens + 32);
}

// What is no UTF-8 parts words, and nothing of it comes into a token.
TEST(Analysis, any_bytes_give_well_formed_tokens_in_order) {
  EXPECT_THAT(Texts("tea\xFFgreen \xC3"), ElementsAre("tea", "green"));
  std::mt19937 random(7);
  const std::string alphabet(
      "aB1-_.@':,\u00E9\u8336\u30AB\uFF9E\u3099\U0001F44D\u0301\u5E74\xFF\xC3\xE8 ");
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::size_t length = random() % 60; length > 0; --length) {
      const bool any = random() % 4 == 0;
      text += any ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
    }
    for (const Token& token : Analyze(text, Language::kEnglish)) {
      ASSERT_FALSE(token.text.empty());
      ASSERT_TRUE(json::IsWellFormedUtf8(token.text)) << json::Quoted(text);
      ASSERT_LE(token.begin, token.end);
      ASSERT_LE(token.end, text.size());
    }
  }
}

TEST(Analysis, an_analysed_token_is_analysed_alike) {
  for (const char* text : {"getUserName", "\u8336", "ann.lee@example.com", "\u00C9COLE"}) {
    for (const std::string& token : Texts(text, Language::kNone)) {
      EXPECT_THAT(Texts(token, Language::kNone), Contains(token)) << text;
    }
  }
  EXPECT_THAT(Texts("tea"), Not(Contains("te")));
}

TEST(UnicodeTest, only_what_stands_in_a_folded_block_is_folded) {
  for (char32_t c = 0x80; c < 0x10000; ++c) {
    std::string plain, folded;
    json::AppendCodePoint(c, plain);
    AppendFolded(c, folded);
    if (plain != folded) {
      ASSERT_TRUE(FoldedBlocks().test(c / kFoldBlock)) << static_cast<std::uint32_t>(c);
    }
  }
  EXPECT_FALSE(FoldedBlocks().test(0x4E00 / kFoldBlock)) << "Han";
}

}  // namespace
}  // namespace keepsake::search
