#include "vectors/hnsw_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "clustered_vectors.h"

namespace keepsake::search {
namespace {

constexpr std::size_t kDims = 64, kVectors = 4000, kQueries = 60, kWanted = 10;
constexpr std::uint32_t kSeed = 5;

// Recall@10 against a scan of the same codes. M 16, ef_construction 200, 4,000 vectors
// of 64 dimensions in 30 clusters.
class HnswIndexTest : public testing::Test {
 protected:
  void Fill(std::size_t count) {
    for (Slot slot = 1; slot <= count; ++slot) {
      codes_.Add(slot, {.item = slot, .group = static_cast<std::uint32_t>(slot % 4)},
                 vectors_.Next());
      hnsw_.Insert(slot);
    }
  }

  static std::vector<float> BestOf(const std::vector<Candidate>& candidates) {
    std::vector<float> bounds;
    for (const Candidate& candidate : candidates) bounds.push_back(candidate.bound);
    std::ranges::sort(bounds, std::greater());
    bounds.resize(std::min(kWanted, bounds.size()));
    return bounds;
  }

  double Recall(std::size_t ef_search, const std::vector<bool>& groups = {}) {
    std::size_t found = 0, wanted = 0;
    for (std::size_t i = 0; i < kQueries; ++i) {
      const CodedQuery query = codes_.Encode(vectors_.Next());
      Shortlist scanned, found_by_graph;
      codes_.Scan(query, scanned);
      std::vector<Candidate> all = scanned.Take();
      if (!groups.empty()) {
        std::erase_if(all, [&](const Candidate& c) { return !groups[c.slot % 4]; });
      }
      hnsw_.Search(query, ef_search, {groups.empty() ? nullptr : &groups}, found_by_graph);
      const std::vector<Candidate> walked = found_by_graph.Take();
      for (const Candidate& candidate : walked) EXPECT_TRUE(codes_.Has(candidate.slot));
      const std::vector<float> truth = BestOf(all);
      wanted += truth.size();
      for (const float bound : BestOf(walked)) found += bound >= truth.back() - 1e-6F;
    }
    return static_cast<double>(found) / static_cast<double>(wanted);
  }

  ClusteredVectors vectors_{kDims, 30, kSeed};
  FlatIndex codes_{kDims, Metric::kCosine, CodeKind::kInt8};
  HnswIndex hnsw_{codes_};
};

TEST_F(HnswIndexTest, finds_nothing_when_empty_and_the_only_one_when_it_is_alone) {
  const CodedQuery query = codes_.Encode(vectors_.Next());
  Shortlist none, one;
  hnsw_.Search(query, 10, {}, none);
  EXPECT_TRUE(none.Take().empty());
  Fill(1);
  hnsw_.Search(query, 10, {}, one);
  const std::vector<Candidate> candidates = one.Take();
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_EQ(candidates[0].slot, 1U);
  EXPECT_EQ(hnsw_.covered_to(), 1U);
}

TEST_F(HnswIndexTest, recall_has_a_floor_that_rises_with_ef_search) {
  Fill(kVectors);
  EXPECT_EQ(hnsw_.size(), kVectors);
  EXPECT_GE(Recall(32), 0.95);
  EXPECT_GE(Recall(128), 0.99);
}

TEST_F(HnswIndexTest, a_filter_of_groups_is_kept_and_fills_what_was_asked_for) {
  Fill(kVectors);
  EXPECT_GE(Recall(64, {false, true, false, false}), 0.97);
  Shortlist list;
  const std::vector<bool> third = {false, false, true, false};
  hnsw_.Search(codes_.Encode(vectors_.Next()), 64, {&third}, list);
  const std::vector<Candidate> candidates = list.Take();
  EXPECT_EQ(candidates.size(), 64U);
  for (const Candidate& candidate : candidates) EXPECT_EQ(candidate.slot % 4, 2U);
}

TEST_F(HnswIndexTest, what_a_filter_leaves_is_all_that_is_found) {
  Fill(kVectors);
  ChunkBits every_eighth;
  every_eighth.fill(0x0101'0101'0101'0101);
  SlotSet among;
  for (std::size_t chunk = 0; chunk * kChunkSlots <= kVectors; ++chunk) {
    among.Append(chunk, every_eighth);
  }
  Shortlist list;
  hnsw_.Search(codes_.Encode(vectors_.Next()), 64, {.among = &among}, list);
  const std::vector<Candidate> candidates = list.Take();
  EXPECT_EQ(candidates.size(), 64U);
  for (const Candidate& candidate : candidates) EXPECT_EQ(candidate.slot % 8, 0U);
}

TEST_F(HnswIndexTest, a_walk_that_may_find_little_does_not_go_over_all_nodes) {
  Fill(kVectors);
  ChunkBits every_64th;
  every_64th.fill(1);
  SlotSet among;
  for (std::size_t chunk = 0; chunk * kChunkSlots <= kVectors; ++chunk) {
    among.Append(chunk, every_64th);
  }
  Shortlist list;
  hnsw_.Search(codes_.Encode(vectors_.Next()), 32, {.among = &among}, list);
  const std::vector<Candidate> candidates = list.Take();
  EXPECT_GT(candidates.size(), 0U);
  EXPECT_LT(candidates.size(), 32U);  // of which a walk over all would find 32
  for (const Candidate& candidate : candidates) EXPECT_EQ(candidate.slot % 64, 0U);
}

TEST_F(HnswIndexTest, the_dead_are_walked_over_and_never_found) {
  Fill(kVectors);
  for (Slot slot = 1; slot <= kVectors; slot += 4) codes_.Remove(slot);
  EXPECT_GE(Recall(64), 0.97);
  // The vectors of these slots are gone with their chunks.
  for (Slot slot = 1024; slot < 2048; ++slot) codes_.Remove(slot);
  EXPECT_GE(Recall(64), 0.9);
}

TEST_F(HnswIndexTest, equal_vectors_do_not_cut_the_graph) {
  const std::vector<float> same = vectors_.Next();
  for (Slot slot = 1; slot <= 600; ++slot) {
    codes_.Add(slot, {}, slot % 2 == 0 ? same : vectors_.Next());
    hnsw_.Insert(slot);
  }
  EXPECT_GE(Recall(64), 0.95);
}

struct GraphBytes {
  Bytes shape;
  std::vector<Bytes> pages;
};

GraphBytes BytesOf(const HnswIndex& hnsw) {
  GraphBytes bytes;
  hnsw.WriteShape(bytes.shape);
  bytes.pages.resize(hnsw.pages());
  for (std::size_t page = 0; page < hnsw.pages(); ++page) hnsw.WritePage(page, bytes.pages[page]);
  return bytes;
}

std::unique_ptr<HnswIndex> Read(const FlatIndex& codes, const GraphBytes& bytes) {
  HnswReader reader(codes);
  if (!reader.ReadShape(bytes.shape)) return nullptr;
  for (const Bytes& page : bytes.pages) {
    if (!reader.ReadPage(page)) return nullptr;
  }
  return reader.Finish();
}

TEST_F(HnswIndexTest, what_was_written_finds_the_same_and_goes_on_as_if_it_had_not_been) {
  Fill(2500);
  const GraphBytes bytes = BytesOf(hnsw_);
  EXPECT_EQ(bytes.pages.size(), 3U);
  const std::unique_ptr<HnswIndex> read = Read(codes_, bytes);
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->size(), 2500U);
  EXPECT_EQ(read->unsaved(), 0U);
  for (Slot slot = 2501; slot <= 2600; ++slot) {
    codes_.Add(slot, {}, vectors_.Next());
    hnsw_.Insert(slot);
    read->Insert(slot);
  }
  EXPECT_EQ(read->unsaved(), 100U);
  const CodedQuery query = codes_.Encode(vectors_.Next());
  Shortlist one, other;
  hnsw_.Search(query, 64, {}, one);
  read->Search(query, 64, {}, other);
  EXPECT_TRUE(std::ranges::equal(one.candidates(), other.candidates(), {}, &Candidate::slot,
                                 &Candidate::slot));
  EXPECT_EQ(BytesOf(hnsw_).pages, BytesOf(*read).pages);
}

TEST_F(HnswIndexTest, a_graph_without_a_node_for_a_vector_that_lives_is_none) {
  Fill(500);
  const GraphBytes bytes = BytesOf(hnsw_);
  codes_.Remove(7);
  EXPECT_NE(Read(codes_, bytes), nullptr) << "the dead may have nodes";
  FlatIndex more{kDims, Metric::kCosine, CodeKind::kInt8};
  for (Slot slot = 0; slot <= 500; ++slot) more.Add(slot, {}, vectors_.Next());
  EXPECT_EQ(Read(more, bytes), nullptr) << "slot 0 lives, and is not in it";
}

TEST_F(HnswIndexTest, no_bytes_make_a_walk_leave_the_graph) {
  Fill(1200);
  const GraphBytes sound = BytesOf(hnsw_);
  std::mt19937 random(kSeed);
  std::size_t accepted = 0;
  for (int round = 0; round < 400; ++round) {
    GraphBytes bytes = sound;
    Bytes& damaged = round % 4 == 0 ? bytes.shape : bytes.pages[random() % bytes.pages.size()];
    for (std::size_t i = 1 + random() % 3; i > 0; --i) {
      damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    }
    if (round % 7 == 0) damaged.resize(random() % damaged.size());
    const std::unique_ptr<HnswIndex> read = Read(codes_, bytes);
    if (read == nullptr) continue;
    ++accepted;
    Shortlist found;
    read->Search(codes_.Encode(vectors_.Next()), 32, {}, found);
    for (const Candidate& candidate : found.candidates()) ASSERT_TRUE(codes_.Has(candidate.slot));
  }
  EXPECT_GT(accepted, 0U);
  EXPECT_LT(accepted, 400U);
}

// 60 texts, each stored 80 times: more than ef_construction together, and than ef_search.
class TwinsTest : public HnswIndexTest {
 protected:
  static constexpr std::size_t kTexts = 60, kCopies = 80;

  TwinsTest() {
    for (std::size_t i = 0; i < kTexts; ++i) texts_.push_back(vectors_.Next());
    for (Slot slot = 1; slot <= kTexts * kCopies; ++slot) {
      codes_.Add(slot, {}, texts_[TextOf(slot)]);
      hnsw_.Insert(slot);
    }
  }

  static std::size_t TextOf(Slot slot) { return static_cast<std::size_t>(slot - 1) / kCopies; }

  void ExpectCopiesOfEach(const HnswIndex& hnsw, std::size_t from, std::size_t count) {
    for (std::size_t i = from; i < kTexts; ++i) {
      Shortlist list;
      hnsw.Search(codes_.Encode(texts_[i]), 32, {}, list);
      std::vector<Candidate> found = list.Take();
      EXPECT_EQ(found.size(), 32U);
      std::ranges::sort(found, std::greater(), &Candidate::bound);
      ASSERT_GE(found.size(), count);
      for (std::size_t c = 0; c < count; ++c) EXPECT_EQ(TextOf(found[c].slot), i);
    }
  }

  std::vector<std::vector<float>> texts_;
};

TEST_F(TwinsTest, copies_of_a_vector_take_one_place_and_cut_nothing_off) {
  EXPECT_EQ(hnsw_.size(), kTexts * kCopies);
  ExpectCopiesOfEach(hnsw_, 0, 32);
}

TEST_F(TwinsTest, the_last_copy_that_lives_stands_for_all_that_are_gone) {
  for (std::size_t i = 0; i < kTexts; ++i) {
    for (Slot slot = i * kCopies + 1; slot < (i + 1) * kCopies; ++slot) codes_.Remove(slot);
  }
  for (std::size_t i = 0; i < kTexts; ++i) {
    Shortlist list;
    hnsw_.Search(codes_.Encode(texts_[i]), 16, {}, list);
    const std::vector<Candidate> found = list.Take();
    EXPECT_EQ(found.size(), 16U);
    EXPECT_EQ(std::ranges::max(found, {}, &Candidate::bound).slot, (i + 1) * kCopies);
  }
}

TEST_F(TwinsTest, a_chunk_that_is_gone_takes_none_along_whose_first_copy_it_had) {
  // Text 12 begins in the first chunk, which is given up, and goes on in the second one.
  for (Slot slot = 1; slot < kChunkSlots; ++slot) codes_.Remove(slot);
  ASSERT_EQ(codes_.RowOf(1).code, nullptr);
  ExpectCopiesOfEach(hnsw_, TextOf(kChunkSlots), 16);
}

TEST_F(TwinsTest, a_copy_is_found_although_the_code_of_the_first_was_not_kept) {
  // As after opening: who died before the chunk was written has zeros in it.
  FlatIndex living{kDims, Metric::kCosine, CodeKind::kInt8};
  for (Slot slot = 1; slot <= kTexts * kCopies; ++slot) {
    if (slot % kCopies != 1) living.Add(slot, {}, texts_[TextOf(slot)]);
  }
  ASSERT_NE(living.RowOf(kCopies + 1).code, nullptr);
  const GraphBytes bytes = BytesOf(hnsw_);
  const std::unique_ptr<HnswIndex> read = Read(living, bytes);
  ASSERT_NE(read, nullptr);
  codes_ = std::move(living);
  ExpectCopiesOfEach(*Read(codes_, bytes), 0, 32);
}

TEST_F(TwinsTest, what_was_written_is_found_again) {
  const std::unique_ptr<HnswIndex> read = Read(codes_, BytesOf(hnsw_));
  ASSERT_NE(read, nullptr);
  ExpectCopiesOfEach(*read, 0, 32);
  EXPECT_EQ(BytesOf(*read).pages, BytesOf(hnsw_).pages);
}

TEST_F(TwinsTest, no_bytes_make_a_walk_go_in_circles) {
  const GraphBytes sound = BytesOf(hnsw_);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 300; ++round) {
    GraphBytes bytes = sound;
    Bytes& damaged = bytes.pages[random() % bytes.pages.size()];
    damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    const std::unique_ptr<HnswIndex> read = Read(codes_, bytes);
    if (read == nullptr) continue;
    Shortlist found;
    read->Search(codes_.Encode(vectors_.Next()), 32, {}, found);
    for (const Candidate& candidate : found.candidates()) ASSERT_TRUE(codes_.Has(candidate.slot));
  }
}

}  // namespace
}  // namespace keepsake::search
