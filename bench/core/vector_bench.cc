// What finding candidates costs without a store: kernels, scans and the graph.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "vectors/kernels.h"
#include "vectors/vector_index.h"

namespace keepsake::search {
namespace {

constexpr std::size_t kDims = 512;

std::vector<float> RandomVector(std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> vector(kDims);
  for (float& x : vector) x = normal(random);
  return vector;
}

// Clusters of 50, without which everything is as far from everything.
std::unique_ptr<VectorIndex> MakeIndex(std::size_t count, std::mt19937& random) {
  auto index = std::make_unique<VectorIndex>(kDims);
  std::vector<float> centre;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 50 == 0) centre = RandomVector(random);
    std::vector<float> vector = RandomVector(random);
    for (std::size_t d = 0; d < kDims; ++d) vector[d] = centre[d] + vector[d] / 2;
    index->Add(i + 1, i + 1, i % 100 == 0 ? "rare\x1F" : "often\x1F", vector);
  }
  return index;
}

void DotOfFloats(benchmark::State& state) {
  std::mt19937 random(1);
  const std::vector<float> a = RandomVector(random), b = RandomVector(random);
  for (auto _ : state) benchmark::DoNotOptimize(Dot(a, b));
}

void DotOfInt8BlockOfFour(benchmark::State& state) {
  const std::vector<std::int16_t> query(kDims, 3);
  const std::vector<std::uint8_t> codes(4 * kDims, 5);
  const CodeRows rows = {&codes[0], &codes[kDims], &codes[2 * kDims], &codes[3 * kDims]};
  for (auto _ : state) benchmark::DoNotOptimize(DotInt8Block(query, rows));
}

void SearchByPlan(benchmark::State& state, Plan plan, const char* prefix) {
  std::mt19937 random(1);
  const auto index = MakeIndex(static_cast<std::size_t>(state.range(0)), random);
  while (plan == Plan::kGraph && index->ImproveGraph(1000, true)) {
  }
  const std::vector<float> query = RandomVector(random);
  for (auto _ : state) {
    VectorSearch search =
        index->Search({.vector = query, .encoded_prefix = prefix, .wanted = 10, .forced = plan});
    benchmark::DoNotOptimize(search.Next());
  }
}

void BuildGraph(benchmark::State& state) {
  std::mt19937 random(1);
  for (auto _ : state) {
    state.PauseTiming();
    const auto index = MakeIndex(static_cast<std::size_t>(state.range(0)), random);
    state.ResumeTiming();
    while (index->ImproveGraph(1000, true)) {
    }
  }
}

BENCHMARK(DotOfFloats);
BENCHMARK(DotOfInt8BlockOfFour);
BENCHMARK_CAPTURE(SearchByPlan, codes, Plan::kCodes, "")->Arg(1000)->Arg(10'000);
BENCHMARK_CAPTURE(SearchByPlan, codes_of_one_percent, Plan::kCodes, "rare\x1F")->Arg(10'000);
BENCHMARK_CAPTURE(SearchByPlan, graph, Plan::kGraph, "")->Arg(10'000);
BENCHMARK(BuildGraph)->Arg(10'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace keepsake::search
