// The order of the items of a shelf, as they are put, replaced and removed; and what a search asks
// of a store.
#include "text/text_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "text/text_record.h"
#include "text/text_search.h"

namespace keepsake::search {
namespace {

// Session and place of an item.
using Where = std::pair<int, int>;

Bytes RecordOf(const Where& where, const TextConfig& config) {
  return MakeTextEntry(R"({"text":"tea","session":"s)" + std::to_string(where.first) +
                           R"(","turn":)" + std::to_string(where.second) + "}",
                       config)
      .record;
}

TEST(TextIndexTest, items_stand_by_group_and_position_whatever_was_put_and_removed) {
  const TextConfig config{.group = "session", .position = "turn"};
  std::mt19937 random(7);
  const auto below = [&](int end) {
    return std::uniform_int_distribution<int>(0, end - 1)(random);
  };
  for (int round = 0; round < 20; ++round) {
    TextShelf shelf;
    std::map<std::int64_t, Where> there;
    std::map<int, int> sessions;  // in the order in which they are first met
    for (int step = 0; step < 3000; ++step) {
      const std::int64_t id = 1 + below(1500);
      if (below(4) == 0) {
        shelf.Remove(id);
        there.erase(id);
      } else {
        const Where where{below(3), below(100)};
        sessions.try_emplace(where.first, static_cast<int>(sessions.size()));
        shelf.Put(id, RecordOf(where, config), config);
        there[id] = where;
      }
      if (below(200) != 0) continue;

      std::vector<std::tuple<int, int, std::int64_t>> expected;
      for (const auto& [known, at] : there) {
        expected.emplace_back(sessions[at.first], at.second, known);
      }
      std::ranges::sort(expected);
      const std::vector<std::uint32_t>& sequence = shelf.Sequence();
      ASSERT_EQ(sequence.size(), expected.size());
      for (std::size_t place = 0; place < sequence.size(); ++place) {
        ASSERT_EQ(shelf.item(sequence[place]).id, std::get<2>(expected[place]));
        ASSERT_EQ(shelf.Places()[sequence[place]], place);
      }
      const auto removed =
          static_cast<std::size_t>(std::ranges::count(shelf.Places(), TextShelf::kNowhere));
      ASSERT_EQ(removed, shelf.size() - shelf.live());
    }
  }
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
  Status Embedded(std::span<const std::int64_t>, EmbedderCheck&) override { return {}; }

  std::size_t asked = 0, wanted = 0;
};

TEST(TextIndexTest, a_phrase_is_looked_for_where_all_its_words_are) {
  const TextConfig config{.fields = {{.path = "text"}, {.path = "title", .weight = 0}}};
  TextIndex index;
  const auto put = [&](std::int64_t id, const std::string& value) {
    index.Put(id, "n", MakeTextEntry(value, config).record, config);
  };
  for (int id = 1; id <= 200; ++id) put(id, R"({"text":"green tea"})");
  put(201, R"({"text":"green tea from a samovar"})");
  put(202, R"({"text":"tea","title":"green samovar"})");
  const TextQuery query = ParseTextQuery(R"(tea "green samovar")", config.language);
  ASSERT_EQ(query.phrases.size(), 1U);
  CountingSource source;
  TextPlan plan;
  const auto hits = SearchText(index, "n", query, config, source, 10, plan);
  EXPECT_EQ(hits->size(), 2U);
  EXPECT_EQ(source.asked, 2U);
}

TEST(TextIndexTest, a_search_has_no_more_items_read_than_it_takes) {
  TextIndex index;
  for (int id = 1; id <= 200; ++id) {
    index.Put(id, "n", MakeTextEntry(R"({"text":"green tea"})", {}).record, {});
  }
  CountingSource source;
  TextPlan plan;
  const auto hits = SearchText(index, "n", ParseTextQuery("tea", {}), {}, source, 3, plan);
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
  Status Embedded(std::span<const std::int64_t>, EmbedderCheck&) override { return {}; }

  std::map<std::int64_t, Bytes> records;
};

TEST(TextIndexTest, the_best_score_of_a_message_does_not_grow_with_what_is_like_it) {
  TextIndex index;
  RecordSource source;
  for (const char* text :
       {"a plan for the samovar of brass from Tula", "a plan for brass from Tula", "a plan to sew",
        "a plan to sail", "nothing of it"}) {
    const auto id = static_cast<std::int64_t>(source.records.size()) + 1;
    source.records[id] = MakeTextEntry('"' + std::string(text) + '"', {}).record;
    index.Put(id, "n", source.records[id], {});
  }
  const TextQuery query =
      ParseTextQuery("Great, the samovar plan sounds really doable at last.", {});
  const auto hits_with = [&](double likeness) {
    TextWeights weights;
    weights.likeness = likeness;
    TextPlan plan;
    return *SearchText(index, "n", query, {}, source, 10, plan, {}, weights);
  };
  const std::vector<TextHit> without = hits_with(0), with = hits_with(2);
  ASSERT_EQ(with.size(), 4U);
  EXPECT_NEAR(with[0].score, without[0].score, 1e-9);
  EXPECT_EQ(with[1].id, 2);
  EXPECT_GT(with[1].score, without[1].score);
}

}  // namespace
}  // namespace keepsake::search
