#include "text/word_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace keepsake::search {
namespace {

using ::testing::ElementsAreArray;

// Words of few letters, so that many begin alike, in several blocks.
class WordTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 5000; ++i) words_[Word(9)] = i;
    WordTableWriter writer;
    for (const auto& [word, number] : words_) {
      Bytes payload;
      AppendVarint(static_cast<std::uint64_t>(number), payload);
      writer.Add(word, payload);
    }
    SegmentWriter segment(pages_, 1);
    writer.Finish(segment);
    segment.Finish();
    writer.AppendTable(where_);
    ByteReader reader(where_);
    ASSERT_TRUE(table_.Open(pages_, 1, reader));
  }

  std::string Word(std::size_t most) {
    std::string word(1 + random_() % most, 'a');
    for (char& letter : word) letter = static_cast<char>('a' + random_() % 5);
    return word;
  }

  std::mt19937 random_{7};
  std::map<std::string, int> words_;
  SegmentPages pages_{nullptr};
  Bytes where_;
  WordTable table_;
};

TEST_F(WordTableTest, visits_the_words_that_begin_so) {
  for (const std::string beginning : {"", "a", "bc", "eeee", "x"}) {
    std::vector<std::pair<std::string, int>> expected, visited;
    for (const auto& each : words_) {
      if (each.first.starts_with(beginning)) expected.push_back(each);
    }
    const Status status =
        table_.Visit(beginning, [&](std::string_view word, ByteView payload) -> std::size_t {
          visited.emplace_back(word, static_cast<int>(ByteReader(payload).Varint()));
          return 0;
        });
    ASSERT_TRUE(status.ok());
    EXPECT_THAT(visited, ElementsAreArray(expected)) << beginning;
  }
}

TEST_F(WordTableTest, leaves_out_what_begins_as_a_word_whose_beginning_was_skipped) {
  for (int round = 0; round < 20; ++round) {
    std::map<std::string, std::size_t> skips;
    for (const auto& [word, number] : words_) {
      if (random_() % 3 == 0) skips[word] = 1 + random_() % word.size();
    }
    std::vector<std::string> expected, visited;
    std::string skipped;
    for (const auto& [word, number] : words_) {
      if (!skipped.empty() && word.starts_with(skipped)) continue;
      expected.push_back(word);
      skipped = skips.contains(word) ? word.substr(0, skips[word]) : "";
    }
    const Status status = table_.Visit("", [&](std::string_view word, ByteView payload) {
      EXPECT_EQ(words_[std::string(word)], static_cast<int>(ByteReader(payload).Varint()));
      visited.emplace_back(word);
      const auto skip = skips.find(visited.back());
      return skip == skips.end() ? std::size_t{0} : skip->second;
    });
    ASSERT_TRUE(status.ok());
    ASSERT_THAT(visited, ElementsAreArray(expected));
  }
}

}  // namespace
}  // namespace keepsake::search
