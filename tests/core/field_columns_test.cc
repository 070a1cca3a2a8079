// Columns of fields: what they leave out never matches, and what they let through does but
// for a few.
#include "vectors/field_columns.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace keepsake::search {
namespace {

json::Filter Parsed(const std::string& text) { return json::Filter::Parse(text).value(); }

class FieldColumnsTest : public testing::Test {
 protected:
  void Put(Slot slot, const std::string& value) {
    columns_.Add(slot, value);
    values_[slot] = value;
  }

  void Remove(Slot slot) {
    columns_.Remove(slot);
    values_.erase(slot);
  }

  void Move(Slot from, Slot to) {
    columns_.Move(from, to);
    values_[to] = values_[from];
    values_.erase(from);
  }

  // As a store does it. Says whether columns were filled.
  bool Ask(const json::Filter& filter) {
    if (!columns_.Begin(filter)) return false;
    for (const auto& [slot, value] : values_) columns_.Fill(slot, value);
    columns_.EndFill();
    return true;
  }

  void AskTwice(const std::string& filter) {
    Ask(Parsed(filter));
    Ask(Parsed(filter));
  }

  // Slots that are let through; every one that matches is among them.
  std::size_t LetThrough(const std::string& text) {
    const json::Filter filter = Parsed(text);
    const std::optional<SlotSet> slots = columns_.Select(filter);
    if (!slots) return values_.size();
    std::size_t count = 0;
    for (const auto& [slot, value] : values_) {
      count += slots->Has(slot);
      EXPECT_TRUE(slots->Has(slot) || !filter.Matches(value)) << text << " " << value;
    }
    return count;
  }

  std::size_t Matching(const std::string& text) const {
    const json::Filter filter = Parsed(text);
    std::size_t count = 0;
    for (const auto& [slot, value] : values_) count += filter.Matches(value);
    return count;
  }

  FieldColumns columns_;
  std::map<Slot, std::string> values_;
};

constexpr const char* kValues[] = {
    R"({"a":1})",
    R"({"a":1.0,"b":"x"})",
    R"({"a":-0,"b":"\u0078"})",
    R"({"a":0})",
    R"({"a":"1"})",
    R"({"a":null})",
    R"({"a":true})",
    R"({"a":false,"a":2})",
    R"({"a":[1,2]})",
    R"({"a":[2]})",
    R"({"a":{"c":1}})",
    R"({"a":{"c":{"d":7}}})",
    R"({"b":"x y"})",
    R"([1])",
    "7",
    R"({"a":1e300})",
    R"({"a":-1e300})",
    R"({"a":1700000000001})",
    R"({"a":16777217})",
    R"({"a":0.1})",
    R"( { "a" : 3 , "b" : "" } )",
};
constexpr const char* kFilters[] = {
    R"({"a":1})",
    R"({"a":0})",
    R"({"b":"x"})",
    R"({"b":{"$eq":"x y"}})",
    R"({"b":""})",
    R"({"a":null})",
    R"({"a":true})",
    R"({"a":[1,2]})",
    R"({"a":{"$eq":{"c":1}}})",
    R"({"a":{"c":1}})",
    R"({"a":{"c":{"d":{"$gte":7}}}})",
    R"({"a":{"$in":[1,"1",null,3]}})",
    R"({"a":{"$in":[]}})",
    R"({"a":{"$in":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,"1"]}})",
    R"({"a":{"$gt":0}})",
    R"({"a":{"$gte":0,"$lt":3}})",
    R"({"a":{"$lte":-1}})",
    R"({"a":{"$gt":1700000000000,"$lt":1700000000002}})",
    R"({"a":{"$gt":16777216}})",
    R"({"a":{"$lt":1e999}})",
    R"({"a":1,"b":"x"})",
};

TEST_F(FieldColumnsTest, nothing_that_matches_is_left_out_through_random_changes) {
  std::mt19937 random(3);
  Slot next = 900;
  std::size_t filled = 0, let_through = 0, matching = 0;
  for (int step = 0; step < 6000; ++step) {
    const auto any = [&] {
      return std::next(values_.begin(), static_cast<std::ptrdiff_t>(random() % values_.size()))
          ->first;
    };
    const std::uint32_t kind = random() % 10;
    if (values_.empty() || kind < 6) {
      Put(next++, kValues[random() % std::size(kValues)]);
    } else if (kind < 8) {
      Remove(any());
    } else {
      Move(any(), next++);
    }
    const std::string filter = kFilters[random() % std::size(kFilters)];
    if (step % 20 == 0) filled += Ask(Parsed(filter));
    if (step % 20 != 0) continue;
    let_through += LetThrough(filter);
    matching += Matching(filter);
    ASSERT_LE(columns_.size(), FieldColumns::kMaxColumns);
  }
  EXPECT_EQ(filled, 5U);  // what is asked for, by kind
  EXPECT_LT(let_through, 2 * matching);
}

TEST_F(FieldColumnsTest, a_column_is_filled_by_the_second_search_for_it) {
  for (Slot slot = 0; slot < 3000; ++slot) Put(slot, R"({"n":)" + std::to_string(slot) + "}");
  const json::Filter filter = Parsed(R"({"n":7})");
  EXPECT_FALSE(Ask(filter));
  EXPECT_FALSE(columns_.Select(filter));
  EXPECT_TRUE(Ask(filter));
  EXPECT_EQ(LetThrough(R"({"n":7})"), 1U);
  EXPECT_EQ(LetThrough(R"({"n":3000})"), 0U);
  EXPECT_FALSE(Ask(filter));
  EXPECT_FALSE(columns_.Select(Parsed(R"({"n":{"$gt":2990}})")));  // another column
  AskTwice(R"({"n":{"$gt":2990}})");
  EXPECT_EQ(LetThrough(R"({"n":{"$gte":2990}})"), 10U);
  EXPECT_EQ(LetThrough(R"({"n":{"$lt":10}})"), 11U);  // a caller looks at the values
}

TEST_F(FieldColumnsTest, both_ends_of_a_range_are_one_question) {
  for (Slot slot = 0; slot < 3000; ++slot) Put(slot, R"({"n":)" + std::to_string(slot) + "}");
  const json::Filter range = Parsed(R"({"n":{"$gte":10,"$lt":20}})");
  EXPECT_FALSE(Ask(range));
  EXPECT_EQ(columns_.bytes(), 0U);
  EXPECT_TRUE(Ask(range));
  EXPECT_EQ(columns_.bytes(), 3 * kChunkSlots * sizeof(float));
}

TEST_F(FieldColumnsTest, what_is_not_asked_for_any_more_goes) {
  Put(1, R"({"n":1})");
  AskTwice(R"({"n":1})");
  for (Slot slot = 2; slot < 20'000; ++slot) {
    Put(slot, "{}");
    if (slot > 10) Remove(slot - 5);
  }
  EXPECT_EQ(columns_.size(), 0U);
  for (int i = 0; i < 50; ++i) {
    AskTwice(R"({"n)" + std::to_string(i) + R"(":1})");
    ASSERT_LE(columns_.size(), FieldColumns::kMaxColumns);
  }
  EXPECT_TRUE(columns_.Select(Parsed(R"({"n49":1})")));
  EXPECT_FALSE(columns_.Select(Parsed(R"({"n1":1})")));
}

TEST_F(FieldColumnsTest, a_comparison_of_which_nothing_is_known_lets_all_through) {
  Put(1, R"({"a":1,"b":2})");
  for (const char* filter : {R"({"a":{"$ne":1}})", R"({"a":{"$nin":[1]}})", R"({"a":{"$gt":"x"}})",
                             R"({"a":{}})", "{}"}) {
    AskTwice(filter);
    EXPECT_FALSE(columns_.Select(Parsed(filter))) << filter;
  }
  AskTwice(R"({"a":1})");
  EXPECT_EQ(LetThrough(R"({"a":1,"b":{"$ne":2}})"), 1U);
}

}  // namespace
}  // namespace keepsake::search
