#include "vectors/flat_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "clustered_vectors.h"

namespace keepsake::search {
namespace {

constexpr std::size_t kDims = 48;

double ScoreOf(Metric metric, const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  if (metric == Metric::kIp) return ab;
  return metric == Metric::kCosine ? ab / std::sqrt(aa * bb) : -(aa + bb - 2 * ab);
}

using Rows = std::map<Slot, std::vector<float>>;

std::vector<Slot> SlotsOf(const std::vector<Candidate>& candidates) {
  std::vector<Slot> slots;
  for (const Candidate& candidate : candidates) slots.push_back(candidate.slot);
  std::ranges::sort(slots);
  return slots;
}

std::vector<Slot> KeysOf(const Rows& rows) {
  std::vector<Slot> slots;
  for (const auto& [slot, vector] : rows) slots.push_back(slot);
  return slots;
}

struct Setting {
  Metric metric;
  CodeKind kind;
};

class FlatIndexTest : public testing::TestWithParam<Setting> {
 protected:
  void Add(Slot slot) {
    const std::vector<float>& vector = rows_[slot] = vectors_.Next();
    index_.Add(slot, {.item = slot * 3, .group = static_cast<std::uint32_t>(slot % 5)}, vector);
  }

  void Remove(Slot slot) { EXPECT_EQ(index_.Remove(slot), rows_.erase(slot) == 1); }

  std::vector<Candidate> Scan(const std::vector<float>& query) const {
    Shortlist candidates;
    index_.Scan(index_.Encode(query), candidates);
    return candidates.Take();
  }

  ClusteredVectors vectors_{kDims, 20, 11};
  FlatIndex index_{kDims, GetParam().metric, GetParam().kind};
  Rows rows_;
};

TEST_P(FlatIndexTest, every_score_is_within_its_bound) {
  for (Slot slot = 1; slot <= 1500; ++slot) Add(slot);
  for (int i = 0; i < 10; ++i) {
    const std::vector<float> query = vectors_.Next();
    for (const Candidate& candidate : Scan(query)) {
      ASSERT_GE(candidate.bound, ScoreOf(GetParam().metric, query, rows_[candidate.slot]));
    }
  }
}

TEST_P(FlatIndexTest, reading_rows_until_no_bound_reaches_what_is_found_is_exact) {
  for (Slot slot = 1; slot <= 3000; ++slot) Add(slot);
  std::size_t rows_read = 0;
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> query = vectors_.Next();
    std::vector<double> exact;
    for (const auto& [slot, vector] : rows_) {
      exact.push_back(ScoreOf(GetParam().metric, query, vector));
    }
    std::ranges::sort(exact, std::greater());
    std::vector<Candidate> candidates = Scan(query);
    std::ranges::sort(candidates, std::greater(), &Candidate::bound);
    std::vector<double> found;
    for (const Candidate& candidate : candidates) {
      std::ranges::sort(found, std::greater());
      if (found.size() >= 10 && found[9] > double{candidate.bound}) break;
      found.push_back(ScoreOf(GetParam().metric, query, rows_[candidate.slot]));
      ++rows_read;
    }
    for (std::size_t k = 0; k < 10; ++k) ASSERT_EQ(found[k], exact[k]) << k;
  }
  // Of 3,000 rows each time; the codes must be of use.
  EXPECT_LT(rows_read / 20, GetParam().kind == CodeKind::kInt8 ? 40U : 400U);
}

TEST_P(FlatIndexTest, random_changes_leave_no_ghosts_and_lose_nothing) {
  std::mt19937 random(5);
  Slot next = 5000;
  for (int step = 0; step < 6000; ++step) {
    if (random() % 5 < 3 || rows_.empty()) {
      Add(next++);
    } else {
      auto row = rows_.lower_bound(random() % next);
      if (row == rows_.end()) row = rows_.begin();
      if (random() % 8 == 0) {
        index_.Move(row->first, next);
        rows_[next++] = row->second;
        rows_.erase(row);
      } else {
        Remove(row->first);
      }
    }
    if (step % 500 != 0) continue;
    ASSERT_EQ(index_.size(), rows_.size());
    ASSERT_EQ(SlotsOf(Scan(vectors_.Next())), KeysOf(rows_));
  }
  for (const auto& [slot, vector] : rows_) ASSERT_TRUE(index_.Has(slot));
  EXPECT_FALSE(index_.Has(next));
  EXPECT_FALSE(index_.Has(0));
  EXPECT_FALSE(index_.Remove(next));
}

TEST_P(FlatIndexTest, a_scan_of_some_slots_leaves_out_the_dead_and_the_unknown) {
  for (Slot slot = 1; slot <= 30; ++slot) Add(slot);
  Remove(7);
  const std::vector<Slot> slots = {29, 7, 3, 4711};
  Shortlist candidates;
  index_.Scan(index_.Encode(vectors_.Next()), {.lists = {slots}, .has_lists = true}, 0, candidates);
  EXPECT_EQ(SlotsOf(candidates.Take()), (std::vector<Slot>{3, 29}));
  EXPECT_EQ(index_.OwnerOf(29).item, 87U);
  EXPECT_EQ(index_.OwnerOf(29).group, 4U);
}

TEST_P(FlatIndexTest, memory_of_a_chunk_goes_with_its_last_vector) {
  for (Slot slot = 0; slot < 4096; ++slot) Add(slot);
  EXPECT_EQ(index_.capacity(), 4096U);
  for (Slot slot = 0; slot < 2048; ++slot) Remove(slot);
  for (Slot slot = 3072; slot < 4096; ++slot) Remove(slot);
  EXPECT_EQ(index_.capacity(), 1024U);
  EXPECT_EQ(index_.SlotsIn(2).size(), 1024U);
  EXPECT_TRUE(index_.SlotsIn(0).empty());
  for (Slot slot = 2048; slot < 3072; ++slot) Remove(slot);
  EXPECT_EQ(index_.capacity(), 0U);
  Add(100);  // below what was there
  Add(50);
  EXPECT_EQ(SlotsOf(Scan(vectors_.Next())), KeysOf(rows_));
}

TEST_P(FlatIndexTest, what_follows_a_slot_is_counted_and_found) {
  EXPECT_EQ(index_.FirstFrom(0), std::nullopt);
  for (const Slot slot : {3000, 3001, 3063, 3064, 6000, 9000}) Add(slot);
  for (Slot from = 0; from < 9100; from += from % 7 + 1) {
    const auto next = rows_.lower_bound(from);
    EXPECT_EQ(index_.CountFrom(from), std::distance(next, rows_.end())) << from;
    const auto first = next == rows_.end() ? std::nullopt : std::optional<Slot>(next->first);
    EXPECT_EQ(index_.FirstFrom(from), first) << from;
  }
}

TEST_P(FlatIndexTest, the_sparsest_chunk_is_one_worth_emptying) {
  for (Slot slot = 0; slot < 4096; ++slot) Add(slot);
  for (Slot slot = 0; slot < 767; ++slot) Remove(slot);
  EXPECT_EQ(index_.SparsestChunk({}), std::nullopt);
  Remove(767);
  EXPECT_EQ(index_.SparsestChunk({}), 0U);
  for (Slot slot = 2048; slot < 3070; ++slot) Remove(slot);
  for (Slot slot = 3072; slot < 4095; ++slot) Remove(slot);
  EXPECT_EQ(index_.SparsestChunk({}), 2U);
  EXPECT_EQ(index_.SparsestChunk({2}), 0U);
  EXPECT_EQ(index_.SparsestChunk({0, 2}), std::nullopt);  // the last is being filled
}

TEST_P(FlatIndexTest, a_code_that_is_put_back_is_the_vector_it_was_made_of) {
  Add(1);
  std::vector<std::uint8_t> code(index_.code_bytes());
  const CodeScale scale = index_.EncodeRow(rows_[1], code.data());
  index_.AddCode(2, {}, scale, code);
  const std::vector<Candidate> candidates = Scan(vectors_.Next());
  ASSERT_EQ(candidates.size(), 2U);
  EXPECT_EQ(candidates[0].bound, candidates[1].bound);
}

INSTANTIATE_TEST_SUITE_P(Settings, FlatIndexTest,
                         testing::Values(Setting{Metric::kCosine, CodeKind::kInt8},
                                         Setting{Metric::kCosine, CodeKind::kInt4},
                                         Setting{Metric::kIp, CodeKind::kInt8},
                                         Setting{Metric::kL2sq, CodeKind::kInt8}));

}  // namespace
}  // namespace keepsake::search
