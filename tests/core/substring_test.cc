#include "text/substring.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace keepsake::search {
namespace {

TEST(Substring, is_found_where_a_plain_search_finds_it) {
  std::mt19937 random(7);
  const auto letters = [&](std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += static_cast<char>('a' + random() % 2);
    return text;
  };
  int found = 0;
  for (int round = 0; round < 400; ++round) {
    const std::string text = letters(400);
    const std::size_t length = 60 + random() % 80;
    std::string piece = text.substr(random() % 200, length);
    if (round % 2 == 0) piece[random() % length] ^= 'a' ^ 'b';
    const bool is_in = text.find(piece) != std::string::npos;
    EXPECT_EQ(Substring(piece).IsIn(text), is_in);
    EXPECT_EQ(Substring(piece).IsIn(text + "é"), is_in);
    found += is_in ? 1 : 0;
  }
  EXPECT_GE(found, 200);
  EXPECT_LT(found, 400);
}

TEST(Substring, of_a_long_piece_ignores_case_and_accents) {
  std::string piece, text;
  for (int i = 0; i < 30; ++i) {
    piece += "cafe latte ";
    text += "CAFÉ Latte ";
  }
  EXPECT_TRUE(Substring(piece).IsIn("so: " + text));
  EXPECT_TRUE(Substring(text).IsIn("so: " + piece));
  EXPECT_FALSE(Substring(piece + "x").IsIn(text));
}

// A search that begins anew at each place takes 90 billion steps here.
TEST(Substring, of_a_long_piece_is_looked_for_in_linear_time) {
  const std::string piece = std::string(300'000, 'a') + "b";
  const std::string text(600'000, 'a');
  EXPECT_FALSE(Substring(piece).IsIn(text));
  EXPECT_FALSE(Substring(piece).IsIn(text + "é"));
  EXPECT_TRUE(Substring(piece).IsIn(text + "b"));
}

}  // namespace
}  // namespace keepsake::search
