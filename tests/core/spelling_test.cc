#include "text/spelling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>

namespace keepsake::search {
namespace {

// By all ways that there are.
std::size_t Distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::string_view x = a.substr(1), y = b.substr(1);
  std::size_t least = std::min(Distance(x, b), Distance(a, y)) + 1;
  least = std::min(least, Distance(x, y) + (a[0] == b[0] ? 0 : 1));
  const bool is_swap = a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0];
  return is_swap ? std::min(least, Distance(a.substr(2), b.substr(2)) + 1) : least;
}

std::size_t DistanceBetween(std::string_view a, std::string_view b, std::size_t most) {
  return Spelling(a, most).DistanceTo(b);
}

class Words {
 public:
  std::string One(std::size_t most) {
    std::string letters(random_() % (most + 1), 'a');
    for (char& letter : letters) letter = static_cast<char>('a' + random_() % 4);
    return letters;
  }

 private:
  std::mt19937 random_{7};
};

TEST(Spelling, counts_wrong_letters_of_any_two_words) {
  Words words;
  for (int round = 0; round < 2000; ++round) {
    const std::string a = words.One(5), b = words.One(5);
    for (const std::size_t most : {1U, 2U}) {
      ASSERT_EQ(DistanceBetween(a, b, most), std::min(Distance(a, b), most + 1)) << a << ", " << b;
    }
  }
}

TEST(Spelling, answers_the_same_after_any_other_words) {
  Words words;
  for (int round = 0; round < 200; ++round) {
    const std::string written = words.One(6);
    for (const std::size_t most : {1U, 2U}) {
      Spelling spelling(written, most);
      for (int other = 0; other < 50; ++other) {
        const std::string word = words.One(7);
        ASSERT_EQ(spelling.DistanceTo(word), DistanceBetween(written, word, most))
            << written << ", " << word;
      }
    }
  }
}

TEST(Spelling, says_which_beginnings_are_of_no_word_that_is_near) {
  Words words;
  std::size_t skipped = 0;
  for (int round = 0; round < 50; ++round) {
    const std::string written = words.One(6);
    std::set<std::string> all;
    for (int i = 0; i < 300; ++i) all.insert(words.One(7));
    Spelling spelling(written, 1);
    std::string beginning;
    for (const std::string& word : all) {
      if (!beginning.empty() && word.starts_with(beginning)) {
        ASSERT_EQ(DistanceBetween(written, word, 1), 2U) << written << ", " << word;
        ++skipped;
        continue;
      }
      spelling.DistanceTo(word);
      beginning = word.substr(0, spelling.hopeless());
    }
  }
  EXPECT_GT(skipped, 50U * 300 / 4) << "most words need not be compared";
}

TEST(Spelling, counts_letters_up_to_a_bound) {
  EXPECT_EQ(DistanceBetween("coffee", "coffee", 2), 0U);
  EXPECT_EQ(DistanceBetween("coffee", "cofee", 2), 1U);
  EXPECT_EQ(DistanceBetween("coffee", "cofefe", 2), 1U) << "two letters swapped";
  EXPECT_EQ(DistanceBetween("coffee", "toffees", 2), 2U);
  EXPECT_EQ(DistanceBetween("coffee", "tea", 2), 3U);
  EXPECT_EQ(DistanceBetween("\u00FCber", "uber", 1), 1U) << "letters, not bytes";
  EXPECT_EQ(DistanceBetween("\u041C\u043E\u0441", "\u041C\u043E\u043A", 1), 1U);
  EXPECT_EQ(DistanceBetween("", "", 0), 0U);
  EXPECT_EQ(AllowedTypos("tea"), 0U);
  EXPECT_EQ(AllowedTypos("2023"), 0U);
  EXPECT_EQ(AllowedTypos("coffe"), 1U);
  EXPECT_EQ(AllowedTypos("restaurant"), 2U);
}

}  // namespace
}  // namespace keepsake::search
