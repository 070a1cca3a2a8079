#include "text/text_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace keepsake::search {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<std::string> TermsOf(std::string_view text) {
  std::vector<std::string> terms;
  for (const TextTerm& term : ParseTextQuery(text, Language::kEnglish).terms) {
    terms.push_back(term.alternatives[0].token + (term.alternatives[0].is_prefix ? "*" : ""));
  }
  return terms;
}

TEST(TextQuery, drops_stop_words_unless_there_is_nothing_else) {
  EXPECT_THAT(TermsOf("What did the dogs do?"), ElementsAre("dog"));
  EXPECT_THAT(TermsOf("to be or not to be"), ElementsAre("to", "be", "or", "not"));
  EXPECT_THAT(TermsOf("?!"), IsEmpty());
  EXPECT_THAT(TermsOf("tea Tea TEAS"), ElementsAre("tea"));
}

TEST(TextQuery, without_its_common_words_a_message_asks_for_something_or_not) {
  const auto asks = [](std::string_view text, Language language = Language::kEnglish) {
    return !ParseTextQuery(text, language, 1'700'000'000'000).asks_nothing;
  };
  for (const char* text :
       {"Is it?", "Thanks, that's great!", "that makes sense", "Tell me a joke", "How is it going?",
        "See you tomorrow", "that works for me", "What do you know?", "ok", "\u8C22\u8C22"}) {
    EXPECT_FALSE(asks(text)) << text;
  }
  for (const char* text :
       {"Tell me about the sister", "Where did she go?", "Where do I work?", "what is my name",
        "Tell me my name", "What did we do yesterday?", "What happened on 8 May 2023?", "name",
        "\"that is great\"", "What time do I get up? Thanks", "tea", "\u59B9\u59B9"}) {
    EXPECT_TRUE(asks(text)) << text;
  }
  EXPECT_FALSE(asks("Danke, das ist super!", Language::kGerman));
  EXPECT_FALSE(asks("Danke, das ist super!")) << "in a store for English";
  EXPECT_TRUE(asks("?!")) << "nothing is known of it";
  EXPECT_TRUE(asks("Wo wohnt sie?", Language::kGerman));
  EXPECT_FALSE(asks("Muchas gracias", Language::kSpanish));
}

TEST(TextQuery, a_star_takes_words_that_begin_so) {
  const TextQuery query = ParseTextQuery("photo* happy*", Language::kEnglish);
  ASSERT_EQ(query.terms.size(), 2U);
  EXPECT_TRUE(query.terms[0].alternatives[0].Matches("photograph"));
  EXPECT_FALSE(query.terms[0].alternatives[0].Matches("phot"));
  EXPECT_THAT(TermsOf("a * b"), ElementsAre("b"));
}

TEST(TextQuery, what_a_question_quotes_need_not_be_in_its_answer) {
  for (const char* mark : {"?", " ? \n", "\uFF1F", "\u061F"}) {
    const TextQuery query = ParseTextQuery(
        "When did Jon read \"The Lean Startup\"" + std::string(mark), Language::kEnglish);
    EXPECT_THAT(query.phrases, IsEmpty()) << mark;
    EXPECT_THAT(query.terms, SizeIs(4)) << mark;
  }
}

TEST(TextQuery, phrases_hold_their_words_in_order) {
  const TextQuery query = ParseTextQuery("\"green tea\" cake", Language::kEnglish);
  ASSERT_EQ(query.phrases.size(), 1U);
  const TextConfig config;
  EXPECT_TRUE(HoldsPhrases(query, R"({"a":"we had Green Teas"})", config));
  EXPECT_FALSE(HoldsPhrases(query, R"({"a":"tea, green"})", config));
  EXPECT_FALSE(HoldsPhrases(query, R"({"a":"green","b":"tea"})", config)) << "of one text";
  const TextQuery with_stop_word = ParseTextQuery("\"cup of tea\"", Language::kEnglish);
  EXPECT_TRUE(HoldsPhrases(with_stop_word, R"({"a":"a cup of tea"})", config));
  EXPECT_FALSE(HoldsPhrases(with_stop_word, R"({"a":"a cup with tea"})", config));
  const TextQuery chinese = ParseTextQuery("\"\u559D\u8336\"", Language::kEnglish);
  EXPECT_TRUE(HoldsPhrases(chinese, "{\"a\":\"\u4ED6\u559D\u8336\"}", config));
  EXPECT_FALSE(HoldsPhrases(chinese, "{\"a\":\"\u8336\u559D\"}", config));
  EXPECT_THAT(ParseTextQuery("a 5\" disk", Language::kEnglish).phrases, IsEmpty());
  EXPECT_THAT(ParseTextQuery("\"why green tea?\"", Language::kEnglish).phrases, SizeIs(1));
  for (const char* said : {"I keep thinking of that \"balanced thought\".",
                           "The \"green tea\" was good. More of it, please."}) {
    EXPECT_THAT(ParseTextQuery(said, Language::kEnglish).phrases, IsEmpty()) << said;
  }
  for (const char* quoted : {"\u201Cgreen tea\u201D", "\u201Egreen tea\u201C cake",
                             "a 5\" disk \u00ABgreen tea\u00BB"}) {
    const TextQuery typographic = ParseTextQuery(quoted, Language::kEnglish);
    ASSERT_EQ(typographic.phrases.size(), 1U) << quoted;
    EXPECT_FALSE(HoldsPhrases(typographic, R"({"a":"tea, green"})", config)) << quoted;
  }
}

TEST(TextQuery, knows_the_dates_that_are_asked_for) {
  const TextQuery dated = ParseTextQuery("on 8 May 2023", Language::kEnglish);
  EXPECT_THAT(dated.days, ElementsAre(19485));
  EXPECT_THAT(dated.periods, IsEmpty()) << "a day is narrower";
  EXPECT_THAT(ParseTextQuery("in May 2023", Language::kEnglish).periods, ElementsAre("d2023-05"));
  EXPECT_THAT(ParseTextQuery("in April", Language::kEnglish).periods, ElementsAre("d-04"));
  EXPECT_THAT(ParseTextQuery("all of 2023", Language::kEnglish).periods, ElementsAre("d2023"));
}

TEST(TextQuery, of_a_pasted_document_the_beginning_and_the_end_count) {
  std::string text = "lighthouse";
  for (int i = 0; i < 100; ++i) text += " word" + std::to_string(i) + "x";
  EXPECT_EQ(TermsOf(text + " harbour").size(), 64U);
  EXPECT_EQ(TermsOf(text + " harbour").front(), TermsOf("lighthouse").front());
  EXPECT_EQ(TermsOf(text + " harbour").back(), TermsOf("harbour").back());
  // A quotation that the cut goes through makes no phrase of words from both sides of it.
  const std::string quoted =
      R"(he said \"left )" + std::string(9000, 'x') + R"( and right\" in the \"red house\")";
  std::string asked = quoted;
  std::erase(asked, '\\');
  const TextQuery query = ParseTextQuery(asked, Language::kEnglish);
  EXPECT_THAT(query.phrases, Not(IsEmpty()));
  EXPECT_TRUE(HoldsPhrases(query, R"({"text":")" + quoted + R"("})", {}));
  // Characters of three bytes, cut anywhere.
  for (std::size_t i = 0; i < 20'000; ++i) text += "\u706F";
  for (const std::string end : {" harbour", "x harbour", "xx harbour"}) {
    const std::vector<std::string> terms = TermsOf(text + end);
    EXPECT_EQ(terms.front(), TermsOf("lighthouse").front());
    EXPECT_EQ(terms.back(), TermsOf("harbour").back());
  }
}

}  // namespace
}  // namespace keepsake::search
