// A graph is the same wherever it is built: tests/js/vector-index.test.mjs builds it of the
// same vectors in WebAssembly. KEEPSAKE_WRITE_GOLDEN=1 writes the file anew.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "store_contract.h"

namespace keepsake {
namespace {

constexpr std::uint32_t kDims = 24, kItems = 1200;

// Exact in float32 and in float64.
class Vectors {
 public:
  std::vector<float> Next(std::uint32_t i) {
    const std::uint32_t centre = i % 20;
    std::vector<float> vector;
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const int noise = static_cast<int>(Random() % 2001) - 1000;
      const auto at = static_cast<float>((centre + 1) * (d + 3) * 37 % 101);
      vector.push_back(at / 16 - 3 + static_cast<float>(noise) / 512);
    }
    return vector;
  }

 private:
  std::uint32_t Random() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_ >> 8;
  }

  std::uint32_t state_ = 2463534242;
};

TEST(GraphGolden, a_graph_finds_what_it_finds_in_webassembly) {
  SqliteBackend backend;
  const auto store = backend.Open({.index = IndexConfig{.dims = kDims}});
  ASSERT_NE(store, nullptr);
  Vectors vectors;
  std::vector<Operation> puts;
  for (std::uint32_t i = 0; i < kItems; ++i) {
    puts.emplace_back(PutOp{
        .ns = {"n"}, .key = std::to_string(i), .value = "{}", .vectors = {{"v", vectors.Next(i)}}});
  }
  ASSERT_TRUE(store->Batch(puts));
  while (!store->ImproveIndex({.vectors = 7, .is_wanted = true})->is_done) {
  }
  std::string lines;
  for (std::uint32_t i = 0; i < 12; ++i) {
    SearchOp search{.ns_prefix = {"n"}, .query_vector = vectors.Next(i)};
    search.plan = SearchPlan::kGraph;
    search.ef_search = 10;
    const auto hits = store->Search(search);
    ASSERT_TRUE(hits) << MessageOf(hits);
    for (const SearchItem& hit : *hits) {
      std::array<char, 16> score;
      std::snprintf(score.data(), score.size(), "%.5f", *hit.score);
      lines += (&hit == &hits->front() ? "" : ", ") + hit.item.key + " " + score.data();
    }
    lines += "\n";
  }
  const auto path = std::filesystem::path(KEEPSAKE_TESTS_DIR) / "golden" / "graph.txt";
  if (std::getenv("KEEPSAKE_WRITE_GOLDEN") != nullptr) std::ofstream(path) << lines;
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), lines);
}

}  // namespace
}  // namespace keepsake
