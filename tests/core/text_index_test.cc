// What an index answers, whatever happened to its segments; and what a search asks of a store.
#include "text/text_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "page_table.h"
#include "text/text_record.h"
#include "text/text_search.h"

namespace keepsake::search {
namespace {

// What a question is answered with, to the bit.
std::string Answer(TextIndex& index, std::string_view prefix, const std::string& question,
                   const TextConfig& config, TextSource& source) {
  const auto texts = index.View(prefix);
  EXPECT_TRUE(texts) << texts.error().message();
  if (!texts) return "";
  TextPlan plan;
  const auto hits =
      SearchText(**texts, ParseTextQuery(question, config.language), config, source, 20, plan);
  EXPECT_TRUE(hits) << hits.error().message();
  std::string answer = std::to_string(plan.items) + " " + plan.notes;
  for (const TextHit& hit : *hits) {
    answer += " " + std::to_string(hit.id) + ":" +
              std::to_string(std::bit_cast<std::uint64_t>(hit.score));
  }
  return answer;
}

// Counts what it is asked for.
class CountingSource final : public TextSource {
 public:
  Result<std::vector<bool>> Wanted(std::span<const std::int64_t> ids, std::size_t enough) override {
    asked += ids.size();
    wanted = enough;
    return std::vector<bool>(std::min(ids.size(), enough), true);
  }
  Status RecordOf(std::int64_t, FunctionRef<void(ByteView)>) override { return {}; }
  Status VectorsOf(std::span<const std::int64_t>,
                   FunctionRef<void(std::int64_t, std::span<const float>)>) override {
    return {};
  }

  std::size_t asked = 0, wanted = 0;
};

TEST(TextIndexTest, a_phrase_is_looked_for_where_all_its_words_are) {
  const TextConfig config{.fields = {{.path = "text"}, {.path = "title", .weight = 0}}};
  TextIndex index;
  index.Use(config);
  const auto put = [&](std::int64_t id, const std::string& value) {
    index.Put(id, "n", MakeTextRecord(value, config));
  };
  for (int id = 1; id <= 200; ++id) put(id, R"({"text":"green tea"})");
  put(201, R"({"text":"green tea from a samovar"})");
  put(202, R"({"text":"tea","title":"green samovar"})");
  const TextQuery query = ParseTextQuery(R"(tea "green samovar")", config.language);
  ASSERT_EQ(query.phrases.size(), 1U);
  CountingSource source;
  TextPlan plan;
  const auto hits = SearchText(**index.View("n"), query, config, source, 10, plan);
  EXPECT_EQ(hits->size(), 2U);
  EXPECT_EQ(source.asked, 2U);
}

TEST(TextIndexTest, a_search_has_no_more_items_read_than_it_takes) {
  TextIndex index;
  for (int id = 1; id <= 200; ++id) {
    index.Put(id, "n", MakeTextRecord(R"({"text":"green tea"})", {}));
  }
  CountingSource source;
  TextPlan plan;
  const auto hits = SearchText(**index.View("n"), ParseTextQuery("tea", {}), {}, source, 3, plan);
  EXPECT_EQ(hits->size(), 3U);
  EXPECT_EQ(source.wanted, 3U);
}

// Gives the records that it was given.
class RecordSource final : public TextSource {
 public:
  Result<std::vector<bool>> Wanted(std::span<const std::int64_t> ids, std::size_t) override {
    return std::vector<bool>(ids.size(), true);
  }
  Status RecordOf(std::int64_t id, FunctionRef<void(ByteView)> use) override {
    use(records.at(id));
    return {};
  }
  Status VectorsOf(std::span<const std::int64_t>,
                   FunctionRef<void(std::int64_t, std::span<const float>)>) override {
    return {};
  }

  std::map<std::int64_t, Bytes> records;
};

// Puts, replaces and removes items of some namespaces; flushes, merges, purges, writes and opens
// again whenever it likes. Whatever it did, it answers as an index that was made at once.
TEST(TextIndexTest, answers_as_one_that_was_made_at_once_whatever_its_segments) {
  constexpr const char* kWords[] = {"tea",    "coal",    "rain",   "harbours", "samovar", "ladder",
                                    "milk",   "boats",   "lamp",   "windows",  "bridge",  "cake",
                                    "tables", "singing", "salmon", "green"};
  constexpr const char* kNamespaces[] = {"a\x1F", "a\x1Fx\x1F", "a\x1Fy\x1F", "b\x1F"};
  constexpr const char* kPrefixes[] = {"", "a\x1F", "a\x1Fy\x1F", "b\x1F"};
  constexpr const char* kQuestions[] = {"Who makes green tea?",
                                        "samovars and a ladder",
                                        "harb*",
                                        "lader",
                                        "boat",
                                        "amov",
                                        "What does Bob say of Ann's rain?"};
  constexpr const char* kSpeakers[] = {"Ann", "Bob", "Eve", "Tim"};
  const TextConfig config{.group = "session", .position = "turn"};
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t end) { return random() % end; };
    PageTable table;
    auto index = std::make_unique<TextIndex>(&table);
    index->Use(config);
    RecordSource source;
    std::map<std::int64_t, std::string> namespaces;
    for (int step = 0; step < 2500; ++step) {
      const auto id = static_cast<std::int64_t>(1 + below(700));
      if (below(4) == 0) {
        index->Remove(id);
        source.records.erase(id);
      } else {
        std::string text;
        for (std::size_t i = below(25); i-- > 0;) {
          text.append(kWords[below(std::size(kWords))]).append(" ");
        }
        if (below(10) == 0) text += "word" + std::to_string(below(100));
        std::string value = R"({"text":")" + text + "\"";
        if (below(2) == 0) value += R"(,"session":"s)" + std::to_string(below(3)) + "\"";
        if (below(3) == 0) value += R"(,"turn":)" + std::to_string(below(50));
        if (below(40) == 0) {
          value += R"(,"speaker":")" + std::string(kSpeakers[below(std::size(kSpeakers))]) + "\"";
        }
        source.records[id] = MakeTextRecord(value + "}", config);
        namespaces[id] = kNamespaces[below(std::size(kNamespaces))];
        index->Put(id, namespaces[id], source.records[id]);
      }
      if (below(40) == 0 || index->IsFull()) ASSERT_TRUE(index->Flush().ok());
      if (below(60) == 0) ASSERT_TRUE(index->Merge());
      if (below(500) == 0) ASSERT_TRUE(index->Purge().ok());
      if (below(150) == 0) {
        ASSERT_TRUE(index->Flush().ok());
        table.Keep(*index);
        if (below(2) == 0) {
          index = std::make_unique<TextIndex>(&table);
          index->Use(config);
          ASSERT_TRUE(index->Restore(table.state));
        }
      }
      // What is kept of it is brought up to date by the next question.
      if (below(5) == 0) ASSERT_TRUE(index->View(kPrefixes[below(std::size(kPrefixes))]));
      if (below(100) != 0) continue;

      TextIndex anew;
      anew.Use(config);
      for (const auto& [known, record] : source.records) anew.Put(known, namespaces[known], record);
      for (const std::string_view prefix : kPrefixes) {
        for (const char* question : kQuestions) {
          ASSERT_EQ(Answer(*index, prefix, question, config, source),
                    Answer(anew, prefix, question, config, source))
              << question << " seed " << seed << " step " << step;
        }
      }
    }
    // What was removed is in no page.
    std::vector<std::int64_t> ids;
    for (const auto& [known, record] : source.records) ids.push_back(known);
    for (const std::int64_t id : ids) index->Remove(id);
    ASSERT_TRUE(index->Purge().ok());
    table.Keep(*index);
    EXPECT_TRUE(table.pages.empty());
  }
}

TEST(TextIndexTest, a_question_reads_a_small_part_of_a_large_index) {
  PageTable table;
  TextIndex index(&table);
  for (int id = 1; id <= 5000; ++id) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += " word" + std::to_string(id * 37 * (i + 1) % 8009);
    index.Put(id, "n", MakeTextRecord(R"({"text":")" + text + "\"}", {}));
    if (index.IsFull()) {
      ASSERT_TRUE(index.Flush().ok());
      table.Keep(index);
    }
  }
  ASSERT_TRUE(index.Flush().ok());
  while (*index.Merge()) continue;
  table.Keep(index);

  class Counting final : public PageSource {
   public:
    explicit Counting(PageTable& table) : table_(table) {}
    Status ReadPage(PageNumber number, FunctionRef<void(ByteView)> use) override {
      ++pages;
      return table_.ReadPage(number, use);
    }
    std::size_t pages = 0;

   private:
    PageTable& table_;
  } counting(table);
  TextIndex opened(&counting);
  ASSERT_TRUE(opened.Restore(table.state));
  CountingSource source;
  TextPlan plan;
  const auto hits = SearchText(**opened.View("n"), ParseTextQuery("word37 and word74?", {}), {},
                               source, 10, plan);
  EXPECT_EQ(hits->size(), 10U);
  EXPECT_EQ(plan.items, 5000U);
  EXPECT_LT(counting.pages, table.pages.size() / 2);
  EXPECT_LT(counting.pages, 40U);
}

// A store flushes after each portion of its analysis, which may be small or large, and somebody may
// ask all the time.
class MergesTest : public testing::TestWithParam<int> {};

TEST_P(MergesTest, segments_stay_few_though_merges_are_left_no_time) {
  PageTable table;
  TextIndex index(&table);
  std::mt19937 random(7);
  std::size_t most = 0;
  for (int id = 1; id <= 6000; ++id) {
    std::string text;
    for (int i = 0; i < 150; ++i) text += " word" + std::to_string(random() % 40'000);
    index.Put(id, "n", MakeTextRecord(R"({"text":")" + text + "\"}", {}));
    if (id % GetParam() != 0) continue;
    ASSERT_TRUE(index.Flush().ok());
    table.Keep(index);
    std::set<PageNumber> segments;
    for (const auto& [number, page] : table.pages) segments.insert(number >> kPageBits);
    most = std::max(most, segments.size());
  }
  // Few of each step, and those of merges that have not ended.
  EXPECT_LE(most, 20U);
}

INSTANTIATE_TEST_SUITE_P(, MergesTest, testing::Values(12, 200));

TEST(TextIndexTest, the_best_score_of_a_message_does_not_grow_with_what_is_like_it) {
  TextIndex index;
  RecordSource source;
  for (const char* text :
       {"a plan for the samovar of brass from Tula", "a plan for brass from Tula", "a plan to sew",
        "a plan to sail", "nothing of it"}) {
    const auto id = static_cast<std::int64_t>(source.records.size()) + 1;
    source.records[id] = MakeTextRecord('"' + std::string(text) + '"', {});
    index.Put(id, "n", source.records[id]);
  }
  const TextQuery query =
      ParseTextQuery("Great, the samovar plan sounds really doable at last.", {});
  const auto hits_with = [&](double likeness) {
    TextWeights weights;
    weights.likeness = likeness;
    TextPlan plan;
    return *SearchText(**index.View("n"), query, {}, source, 10, plan, {}, weights);
  };
  const std::vector<TextHit> without = hits_with(0), with = hits_with(2);
  ASSERT_EQ(with.size(), 4U);
  EXPECT_NEAR(with[0].score, without[0].score, 1e-9);
  EXPECT_EQ(with[1].id, 2);
  EXPECT_GT(with[1].score, without[1].score);
}

}  // namespace
}  // namespace keepsake::search
