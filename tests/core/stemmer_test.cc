#include "text/stemmer.h"

#include <gtest/gtest.h>

#include <string>

namespace keepsake::search {
namespace {

std::string Stemmed(Language language, std::string word) {
  Stem(language, word);
  return word;
}

struct Example {
  const char* word;
  const char* stem;
};

// Of the description of Porter2, and one for each rule that it has none for.
TEST(Stemmer, english_follows_porter2) {
  for (const auto& [word, stem] : {Example{"consign", "consign"},
                                   {"consigned", "consign"},
                                   {"consistency", "consist"},
                                   {"consolation", "consol"},
                                   {"knightly", "knight"},
                                   {"knots", "knot"},
                                   {"caresses", "caress"},
                                   {"ties", "tie"},
                                   {"cries", "cri"},
                                   {"gas", "gas"},
                                   {"kiwis", "kiwi"},
                                   {"agreed", "agre"},
                                   {"feed", "feed"},
                                   {"hopping", "hop"},
                                   {"hoping", "hope"},
                                   {"luxuriating", "luxuri"},
                                   {"bed", "bed"},
                                   {"happy", "happi"},
                                   {"by", "by"},
                                   {"say", "say"},
                                   {"saying", "say"},
                                   {"nationalization", "nation"},
                                   {"relational", "relat"},
                                   {"generously", "generous"},
                                   {"communities", "communiti"},
                                   {"hopefulness", "hope"},
                                   {"analogies", "analog"},
                                   {"electricity", "electr"},
                                   {"formative", "format"},
                                   {"adoption", "adopt"},
                                   {"opinion", "opinion"},
                                   {"replacement", "replac"},
                                   {"controll", "control"},
                                   {"skies", "sky"},
                                   {"dying", "die"},
                                   {"news", "news"},
                                   {"exceeding", "exceed"},
                                   {"youth", "youth"}}) {
    EXPECT_EQ(Stemmed(Language::kEnglish, word), stem) << word;
  }
}

TEST(Stemmer, irregular_english_forms_share_the_stem_of_the_regular_ones) {
  for (const auto& [irregular, regular] : {Example{"went", "going"},
                                           {"bought", "buys"},
                                           {"children", "child"},
                                           {"written", "writing"},
                                           {"won", "winning"},
                                           {"chosen", "choose"}}) {
    EXPECT_EQ(Stemmed(Language::kEnglish, irregular), Stemmed(Language::kEnglish, regular));
  }
}

struct Forms {
  Language language;
  const char* one;
  const char* other;
};

TEST(Stemmer, forms_of_a_word_share_a_stem) {
  for (const auto& [language, one, other] : {Forms{Language::kGerman, "kindern", "kinder"},
                                             {Language::kGerman, "freundinnen", "freund"},
                                             {Language::kFrench, "chevaux", "cheval"},
                                             {Language::kFrench, "heureuse", "heureux"},
                                             {Language::kSpanish, "gatos", "gata"},
                                             {Language::kItalian, "ragazze", "ragazzo"},
                                             {Language::kPortuguese, "coracoes", "coracao"},
                                             {Language::kEnglish, "книгами", "книга"},
                                             {Language::kGerman, "новая", "новыи"}}) {
    EXPECT_EQ(Stemmed(language, one), Stemmed(language, other)) << one;
    EXPECT_NE(Stemmed(language, one), "") << one;
  }
}

TEST(Stemmer, leaves_what_is_no_word_of_its_alphabet) {
  for (const char* word : {"", "a", "mp3s", "caf\xC3\xA9s", "\xE8\x8C\xB6", "\xFF\xFE", "12s"}) {
    EXPECT_EQ(Stemmed(Language::kEnglish, word), word);
  }
  EXPECT_EQ(Stemmed(Language::kNone, "running"), "running");
}

}  // namespace
}  // namespace keepsake::search
