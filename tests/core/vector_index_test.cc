// The index and its planner: whatever plan is taken, the items found are those that
// reading all vectors finds; the graph's recall has a floor.
#include "vectors/vector_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "clustered_vectors.h"
#include "store/scored_hits.h"
#include "vectors/cosine.h"

namespace keepsake::search {
namespace {

constexpr std::size_t kDims = 32, kWanted = 10;

using Scores = std::vector<double>;

class VectorIndexTest : public testing::Test {
 protected:
  struct Row {
    std::uint64_t item;
    std::string ns;
    std::vector<float> vector;
  };

  // Half of the items have two vectors.
  void Put(std::uint64_t item) {
    Delete(item);
    const std::string ns = "user\x1F" + std::to_string(item % 7) + "\x1F";
    for (std::uint64_t i = 0; i < 1 + item % 2; ++i) {
      const Row& row = rows_[next_] = {item, ns, vectors_.Next()};
      index_.Add(next_++, item, ns, row.vector);
    }
  }

  void Delete(std::uint64_t item) {
    std::erase_if(rows_, [&](const auto& entry) {
      if (entry.second.item != item) return false;
      index_.Remove(entry.first);
      return true;
    });
  }

  std::map<std::uint64_t, double> BestScores(const std::vector<float>& query,
                                             const std::string& prefix) const {
    const CosineQuery cosine(query);
    std::map<std::uint64_t, double> best;
    for (const auto& [slot, row] : rows_) {
      if (!row.ns.starts_with(prefix)) continue;
      const double score = cosine.Score(row.vector);
      const auto [entry, is_new] = best.try_emplace(row.item, score);
      if (!is_new) entry->second = std::max(entry->second, score);
    }
    return best;
  }

  Scores Exact(const std::vector<float>& query, const std::string& prefix) const {
    Scores scores;
    for (const auto& [item, score] : BestScores(query, prefix)) scores.push_back(score);
    std::ranges::sort(scores, std::greater());
    scores.resize(std::min(kWanted, scores.size()));
    return scores;
  }

  // As a store does it. Items of which `keeps` is false are hidden by a filter, of which
  // `among` is what is known.
  template <typename Keeps>
  Scores Find(const std::vector<float>& query, const std::string& prefix, Plan plan, Keeps keeps,
              bool is_filtered = true, const SlotSet* among = nullptr) const {
    VectorSearch search = index_.Search({.vector = query,
                                         .encoded_prefix = prefix,
                                         .among = among,
                                         .is_filtered = is_filtered,
                                         .wanted = kWanted,
                                         .forced = plan});
    if (plan != Plan::kAuto) {
      EXPECT_EQ(search.taken().plan, plan);
    }
    const std::map<std::uint64_t, double> best = BestScores(query, prefix);
    ScoredHits<std::uint64_t> ranking;
    std::vector<std::uint64_t> items;
    while (!ranking.IsSettled(kWanted, search.bound())) {
      const auto portion = search.Next();
      if (portion.empty()) break;
      for (const std::uint64_t item : portion) {
        EXPECT_TRUE(best.contains(item)) << "a ghost, or of another namespace: " << item;
        items.push_back(item);
        if (keeps(item)) ranking.Push(best.at(item), item);
      }
    }
    std::ranges::sort(items);
    EXPECT_EQ(std::ranges::adjacent_find(items), items.end());
    Scores scores;
    for (const auto& entry : ranking.Take(0, kWanted, std::less())) scores.push_back(entry.score);
    return scores;
  }
  Scores Find(const std::vector<float>& query, const std::string& prefix, Plan plan) const {
    return Find(query, prefix, plan, [](std::uint64_t) { return true; }, false);
  }

  double GraphRecall(const std::string& prefix) {
    std::size_t found = 0, wanted = 0;
    for (int i = 0; i < 40; ++i) {
      const std::vector<float> query = vectors_.Next();
      const Scores exact = Exact(query, prefix);
      wanted += exact.size();
      for (const double score : Find(query, prefix, Plan::kGraph)) found += score >= exact.back();
    }
    return static_cast<double>(found) / static_cast<double>(wanted);
  }

  std::mt19937 random_{9};
  ClusteredVectors vectors_{kDims, 25, 23};
  VectorIndex index_{kDims};
  std::map<Slot, Row> rows_;
  Slot next_ = 1;
};

TEST_F(VectorIndexTest, codes_are_exact_through_random_changes) {
  for (std::uint64_t item = 0; item < 1500; ++item) Put(item);
  for (int step = 0; step < 3000; ++step) {
    const std::uint64_t item = random_() % 2000;
    if (random_() % 3 == 0) {
      Delete(item);
    } else {
      Put(item);
    }
    if (step % 100 != 0) continue;
    const std::vector<float> query = vectors_.Next();
    for (const std::string prefix : {"", "user\x1F",
                                     "user\x1F"
                                     "3\x1F",
                                     "nobody\x1F"}) {
      ASSERT_EQ(Find(query, prefix, Plan::kCodes), Exact(query, prefix)) << step;
    }
  }
}

// M 16, ef_construction 200, ef_search 160, 3,000 vectors of 32 dimensions.
TEST_F(VectorIndexTest, the_graph_keeps_its_recall_through_changes_and_finds_what_is_new) {
  for (std::uint64_t item = 0; item < 1600; ++item) Put(item);
  while (index_.ImproveGraph(500, true)) {
  }
  EXPECT_EQ(index_.in_graph(), index_.codes().size());
  EXPECT_GE(GraphRecall(""), 0.99);
  for (std::uint64_t item = 0; item < 300; ++item) Put(item);
  for (std::uint64_t item = 1000; item < 1100; ++item) Delete(item);
  EXPECT_LT(index_.in_graph(), index_.codes().size());
  EXPECT_GE(GraphRecall(""), 0.99);
  EXPECT_GE(GraphRecall("user\x1F"
                        "3\x1F"),
            0.99);
  // More than a quarter is dead: it is built anew.
  for (std::uint64_t item = 0; item < 700; ++item) Put(item);
  while (index_.ImproveGraph(500, true)) {
  }
  EXPECT_EQ(index_.in_graph(), index_.codes().size());
  EXPECT_GE(GraphRecall(""), 0.99);
}

// 4,000 vectors of 32 dimensions.
TEST_F(VectorIndexTest, cap_60_a_graph_that_finds_enough_is_walked_as_narrowly_as_it_may_be) {
  for (std::uint64_t item = 0; item < 4000; ++item) Put(item);
  index_.ImproveGraph(1000, true);
  EXPECT_EQ(index_.graph()->width(), HnswIndex::kWidth);  // nothing was asked yet
  while (index_.ImproveGraph(500, true)) {
  }
  EXPECT_LT(index_.graph()->width(), HnswIndex::kWidth);
  EXPECT_GE(GraphRecall(""), 0.99);
}

// 3,000 vectors of 128 dimensions in 50 clusters, then 8,000 without any order, seed 9. No text
// has such.
TEST(VectorIndex, cap_60_a_graph_that_misses_too_many_is_walked_more_widely) {
  constexpr std::size_t kManyDims = 128;
  std::mt19937 random(9);
  std::normal_distribution<float> normal;
  ClusteredVectors clustered(kManyDims, 50, 9);
  VectorIndex index(kManyDims);
  for (Slot slot = 1; slot <= 3000; ++slot) index.Add(slot, slot, "n", clustered.Next());
  EXPECT_FALSE(index.ImproveGraph(500));  // too few
  while (index.ImproveGraph(500, true)) {
  }
  EXPECT_LT(index.graph()->width(), HnswIndex::kWidth);
  for (Slot slot = 3001; slot <= 11'000; ++slot) {
    std::vector<float> vector(kManyDims);
    for (float& x : vector) x = normal(random);
    index.Add(slot, slot, "n", vector);
  }
  while (index.ImproveGraph(500, true)) {
  }
  EXPECT_GT(index.graph()->width(), HnswIndex::kWidth);

  Bytes bytes;
  index.graph()->WriteShape(bytes);
  HnswReader reader(index.codes());
  ASSERT_TRUE(reader.ReadShape(bytes));
  for (std::size_t page = 0; page < index.graph()->pages(); ++page) {
    bytes.clear();
    index.graph()->WritePage(page, bytes);
    ASSERT_TRUE(reader.ReadPage(bytes));
  }
  EXPECT_EQ(reader.Finish()->width(), index.graph()->width());
}

TEST_F(VectorIndexTest, a_graph_whose_candidates_a_filter_hides_is_followed_by_a_scan) {
  for (std::uint64_t item = 0; item < 1600; ++item) Put(item);
  while (index_.ImproveGraph(500, true)) {
  }
  const std::vector<float> query = vectors_.Next();
  const auto rare = [](std::uint64_t item) { return item % 100 == 0; };
  Scores expected;
  for (const auto& [item, score] : BestScores(query, "")) {
    if (rare(item)) expected.push_back(score);
  }
  std::ranges::sort(expected, std::greater());
  expected.resize(kWanted);
  EXPECT_EQ(Find(query, "", Plan::kGraph, rare), expected);
}

TEST_F(VectorIndexTest, a_move_changes_no_answer) {
  for (std::uint64_t item = 0; item < 500; ++item) Put(item);
  for (Slot slot = 100; slot < 200; ++slot) {
    index_.Move(slot, next_);
    rows_[next_++] = rows_[slot];
    rows_.erase(slot);
  }
  const std::vector<float> query = vectors_.Next();
  for (const std::string prefix : {"",
                                   "user\x1F"
                                   "3\x1F"}) {
    EXPECT_EQ(Find(query, prefix, Plan::kCodes), Exact(query, prefix));
  }
}

TEST_F(VectorIndexTest, without_a_forced_plan_the_caller_is_told_when_to_read_all_rows) {
  for (std::uint64_t item = 0; item < 4000; ++item) Put(item);
  VectorSearch search = index_.Search({.vector = std::vector<float>(kDims, 1),
                                       .encoded_prefix = "",
                                       .is_filtered = true,
                                       .wanted = kWanted});
  std::size_t items = 0;
  while (const std::size_t portion = search.Next().size()) items += portion;
  EXPECT_GT(items, 256U);
  EXPECT_LT(items, 1000U);
  EXPECT_FALSE(search.is_exhausted());
}

TEST_F(VectorIndexTest, what_a_filter_leaves_is_found_even_if_it_hides_some_of_that_too) {
  for (std::uint64_t item = 0; item < 3000; ++item) Put(item);
  for (std::uint64_t item = 0; item < 3000; item += 3) Delete(item);
  SlotSet among;
  for (std::size_t chunk = 0; chunk * kChunkSlots < next_; ++chunk) {
    ChunkBits bits = {};
    for (Slot slot = chunk * kChunkSlots; slot < (chunk + 1) * kChunkSlots; ++slot) {
      const auto row = rows_.find(slot);
      const bool is_in = row == rows_.end() || row->second.item % 10 == 1;
      bits[slot % kChunkSlots / 64] |= std::uint64_t{is_in} << slot % 64;
    }
    among.Append(chunk, bits);
  }
  const auto expected = [&](const std::vector<float>& query, const std::string& prefix,
                            auto keeps) {
    Scores scores;
    for (const auto& [item, score] : BestScores(query, prefix)) {
      if (keeps(item)) scores.push_back(score);
    }
    std::ranges::sort(scores, std::greater());
    scores.resize(std::min(kWanted, scores.size()));
    return scores;
  };
  const auto tenth = [](std::uint64_t item) { return item % 10 == 1; };
  const auto hundredth = [](std::uint64_t item) { return item % 100 == 41; };
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> query = vectors_.Next();
    for (const std::string prefix : {"",
                                     "user\x1F"
                                     "3\x1F"}) {
      EXPECT_EQ(Find(query, prefix, Plan::kCodes, tenth, true, &among),
                expected(query, prefix, tenth));
      EXPECT_EQ(Find(query, prefix, Plan::kCodes, hundredth, true, &among),
                expected(query, prefix, hundredth));
    }
  }
}

// 20,000 vectors of 256 dimensions in 200 clusters, seed 5.
TEST(Signs, of_many_vectors_the_best_are_found_and_where_signs_tell_nothing_all_are_scored) {
  constexpr std::size_t kCount = 20'000, kQueries = 30, kSignDims = 256;
  for (const bool like_a_model : {true, false}) {
    ClusteredVectors vectors(kSignDims, like_a_model ? 200 : 1, 5);
    VectorIndex index(kSignDims);
    std::map<std::uint64_t, std::vector<float>> rows;
    for (Slot slot = 1; slot <= kCount; ++slot) {
      std::vector<float> vector = vectors.Next();
      // All signs alike.
      if (!like_a_model) {
        for (float& x : vector) x = 5 + x;
      }
      index.Add(slot, slot, slot % 3 == 0 ? "a\x1F" : "b\x1F", vector);
      rows[slot] = std::move(vector);
    }
    for (Slot slot = 2; slot <= kCount; slot += 5) {
      index.Remove(slot);
      rows.erase(slot);
    }
    std::size_t found = 0, by_signs = 0;
    for (std::size_t i = 0; i < kQueries; ++i) {
      std::vector<float> query = vectors.Next();
      if (!like_a_model) {
        for (float& x : query) x = 5 + x;
      }
      const CosineQuery cosine(query);
      Scores exact;
      for (const auto& [slot, vector] : rows) {
        if (i % 2 == 0 || slot % 3 == 0) exact.push_back(cosine.Score(vector));
      }
      std::ranges::partial_sort(exact, exact.begin() + kWanted, std::greater());
      VectorSearch search = index.Search(
          {.vector = query, .encoded_prefix = i % 2 == 0 ? "" : "a\x1F", .wanted = kWanted});
      by_signs += search.taken().by_signs;
      ScoredHits<std::uint64_t> ranking;
      while (!ranking.IsSettled(kWanted, search.bound())) {
        const auto items = search.Next();
        ASSERT_FALSE(items.empty());
        for (const std::uint64_t item : items) ranking.Push(cosine.Score(rows.at(item)), item);
      }
      for (const auto& entry : ranking.Take(0, kWanted, std::less())) {
        found += entry.score >= exact[kWanted - 1];
      }
    }
    EXPECT_GE(static_cast<double>(found) / (kWanted * kQueries), like_a_model ? 0.99 : 1.0);
    EXPECT_EQ(by_signs, like_a_model ? kQueries : 0);
  }
}

TEST(Planner, the_plan_follows_counts_and_can_be_forced) {
  PlanFacts facts{.candidates = 60, .vectors = 100'000, .wanted = 10, .dims = 512};
  EXPECT_EQ(ChoosePlan(facts, Plan::kAuto), Plan::kCodes);
  facts.candidates = 100'000;
  EXPECT_EQ(ChoosePlan(facts, Plan::kAuto), Plan::kCodes);
  EXPECT_EQ(ChoosePlan(facts, Plan::kGraph), Plan::kCodes);  // there is none
  facts.in_graph = 90'000;
  EXPECT_EQ(ChoosePlan(facts, Plan::kAuto), Plan::kGraph);
  EXPECT_EQ(ChoosePlan(facts, Plan::kExact), Plan::kExact);
  facts.is_graph_trusted = false;
  EXPECT_EQ(ChoosePlan(facts, Plan::kAuto), Plan::kCodes);
  EXPECT_EQ(ChoosePlan(facts, Plan::kGraph), Plan::kGraph);
  facts.is_graph_trusted = true;
  facts.candidates = 20'000;  // of five one
  EXPECT_EQ(ChoosePlan(facts, Plan::kAuto), Plan::kCodes);
  EXPECT_EQ(ChoosePlan(facts, Plan::kGraph), Plan::kGraph);
  facts.candidates = 100'000;
  facts.wanted = 1000;
  EXPECT_EQ(ChoosePlan(facts, Plan::kAuto), Plan::kCodes);
  facts.wanted = 10;
  facts.vectors = facts.in_graph = 10'000;
  facts.candidates = 5'000;  // walked past as many others
  EXPECT_EQ(ChoosePlan(facts, Plan::kAuto), Plan::kCodes);
  facts.candidates = 8'000;
  EXPECT_EQ(ChoosePlan(facts, Plan::kAuto), Plan::kGraph);
  EXPECT_TRUE(IsGraphWanted(5'000, 100));
  EXPECT_FALSE(IsGraphWanted(4'999, 1536));
  EXPECT_FALSE(IsGraphWanted(5'900, 64));  // short codes are scanned sooner
  EXPECT_TRUE(IsGraphWanted(6'000, 64));
  EXPECT_EQ(PlanName(Plan::kExact), "exact");
  EXPECT_EQ(PlanName(Plan::kCodes), "codes");
  EXPECT_EQ(PlanName(Plan::kGraph), "graph");
  EXPECT_EQ(PlanName(Plan::kAuto), "auto");
}

}  // namespace
}  // namespace keepsake::search
