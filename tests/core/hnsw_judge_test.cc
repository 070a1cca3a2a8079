// hnswlib judges our graph: over the same vectors, with the same M and ef_construction, ours
// must find as many of the nearest with the same work. Work is the number of vectors scored,
// on the way down the levels, too; ef_search is what each graph needs for so much of it.
// hnswlib is in tests only. Compiled without sanitizers, which would take ten times as long.
#include <gtest/gtest.h>

// Its prefetching reads one neighbor beyond the end of a list.
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "clustered_vectors.h"
#include "vectors/hnsw_index.h"

namespace keepsake::search {
namespace {

constexpr std::size_t kDims = 64, kVectors = 3000, kQueries = 1000, kWanted = 10;
constexpr HnswOptions kOptions = {.M = 16, .ef_construction = 200};

using Vector = std::vector<float>;
using Positions = std::vector<std::size_t>;
using NextVector = std::function<Vector()>;
using MakeCorpus = std::function<NextVector(std::uint32_t seed)>;

Vector Normalized(Vector vector) {
  const float square = std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0F);
  for (float& x : vector) x /= std::sqrt(square);
  return vector;
}

// The cosine, since all are of length 1.
float Score(const float* a, const float* b) {
  std::array<float, 8> sums{};  // side by side, in one register
  for (std::size_t i = 0; i < kDims; ++i) sums[i % 8] += a[i] * b[i];
  return std::reduce(sums.begin(), sums.end());
}

// How well a graph did.
struct Outcome {
  double recall = 0;  // recall@10
  double scored = 0;  // vectors, for each query
};

// Vectors, queries, and what a scan of all finds.
class Trial {
 public:
  explicit Trial(const NextVector& next) {
    for (std::size_t i = 0; i < kVectors; ++i) stored_.push_back(Normalized(next()));
    for (std::size_t i = 0; i < kQueries; ++i) queries_.push_back(Normalized(next()));
    Positions all(kVectors);
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (const Vector& query : queries_) least_.push_back(BestScores(query, all).back());
  }

  const std::vector<Vector>& stored() const { return stored_; }

  // `graph` finds positions for a query, and adds how many vectors it scored. Of vectors that
  // are as near as the tenth, any counts.
  template <typename Graph>
  Outcome Judge(Graph& graph, std::size_t ef_search) const {
    constexpr float kRounding = 1e-6F;
    std::size_t found = 0, scored = 0;
    for (std::size_t i = 0; i < kQueries; ++i) {
      const Positions positions = graph.Find(queries_[i], ef_search, &scored);
      for (const float score : BestScores(queries_[i], positions)) {
        found += score >= least_[i] - kRounding;
      }
    }
    return {static_cast<double>(found) / (kQueries * kWanted),
            static_cast<double>(scored) / kQueries};
  }

 private:
  std::vector<float> BestScores(const Vector& query, const Positions& positions) const {
    std::vector<float> scores;
    for (const std::size_t at : positions) {
      scores.push_back(Score(query.data(), stored_[at].data()));
    }
    std::ranges::sort(scores, std::greater());
    scores.resize(std::min(kWanted, scores.size()));
    return scores;
  }

  std::vector<Vector> stored_;
  std::vector<Vector> queries_;
  std::vector<float> least_;  // by query: the score of the tenth
};

class OurGraph {
 public:
  explicit OurGraph(const std::vector<Vector>& vectors) {
    for (Slot slot = 0; slot < vectors.size(); ++slot) {
      codes_.Add(slot, {}, vectors[slot]);
      graph_.Insert(slot);
    }
  }

  Positions Find(const Vector& query, std::size_t ef_search, std::size_t* scored) {
    const std::size_t before = graph_.scored();
    Shortlist found;
    graph_.Search(codes_.Encode(query), ef_search, {}, found);
    *scored += graph_.scored() - before;
    Positions positions;
    for (const Candidate& candidate : found.candidates()) positions.push_back(candidate.slot);
    return positions;
  }

 private:
  FlatIndex codes_{kDims, Metric::kCosine, CodeKind::kInt8};
  HnswIndex graph_{codes_, kOptions};
};

// Counts what is scored. hnswlib's own count has all neighbors, also those met before.
class CountingSpace final : public hnswlib::SpaceInterface<float> {
 public:
  std::size_t get_data_size() override { return kDims * sizeof(float); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return Distance; }
  void* get_dist_func_param() override { return &count_; }
  std::size_t count() const { return count_; }

 private:
  static float Distance(const void* a, const void* b, const void* count) {
    ++*static_cast<std::size_t*>(const_cast<void*>(count));
    return 1 - Score(static_cast<const float*>(a), static_cast<const float*>(b));
  }

  std::size_t count_ = 0;
};

class TheirGraph {
 public:
  explicit TheirGraph(const std::vector<Vector>& vectors) {
    for (std::size_t i = 0; i < vectors.size(); ++i) graph_.addPoint(vectors[i].data(), i);
  }

  Positions Find(const Vector& query, std::size_t ef_search, std::size_t* scored) {
    const std::size_t before = space_.count();
    auto nearest = graph_.searchKnn(query.data(), ef_search);
    *scored += space_.count() - before;
    Positions positions;
    for (; !nearest.empty(); nearest.pop()) positions.push_back(nearest.top().second);
    return positions;
  }

 private:
  CountingSpace space_;
  hnswlib::HierarchicalNSW<float> graph_{&space_, kVectors, kOptions.M, kOptions.ef_construction};
};

// Recall of our graph where it scores so many vectors on average. Linear between two widths of
// its beam that are so near that it makes no difference: on the whole, recall is a curve.
double RecallWithWork(double scored, std::size_t near_width, OurGraph& graph, const Trial& trial) {
  std::size_t narrow = near_width / 2, wide = near_width * 2;
  Outcome less = trial.Judge(graph, narrow), more = trial.Judge(graph, wide);
  while (wide - narrow > 1 + near_width / 32) {
    const std::size_t middle = std::midpoint(narrow, wide);
    const Outcome outcome = trial.Judge(graph, middle);
    (outcome.scored < scored ? narrow : wide) = middle;
    (outcome.scored < scored ? less : more) = outcome;
  }
  EXPECT_LE(less.scored, scored) << "ours scores more, however narrow its beam";
  // A graph in pieces comes to an end before it has scored so many.
  const double share = std::min(1.0, (scored - less.scored) / (more.scored - less.scored));
  return std::lerp(less.recall, more.recall, share);
}

// What a corpus is judged by: our recall@10 less hnswlib's with the same work, the mean over
// widths and builds. Each build is of other vectors.
struct Rule {
  // hnswlib's ef_search, where it finds nearly all: graphs differ there, and chance does little.
  std::vector<std::size_t> widths;
  std::uint32_t builds;
  double least;
};

double Lead(const MakeCorpus& corpus, const Rule& rule) {
  double lead = 0;
  for (std::uint32_t seed = 1; seed <= rule.builds; ++seed) {
    const Trial trial(corpus(seed));
    OurGraph our_graph(trial.stored());
    TheirGraph their_graph(trial.stored());
    for (const std::size_t width : rule.widths) {
      const Outcome theirs = trial.Judge(their_graph, width);
      lead += RecallWithWork(theirs.scored, width, our_graph, trial) - theirs.recall;
    }
  }
  return lead / static_cast<double>(rule.builds * rule.widths.size());
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

// The words of TypeScript's messages in languages that use Latin letters: some 15,000.
std::vector<std::string> RealWords() {
  std::set<std::string> words;
  for (const char* language : {"cs", "de", "es", "fr", "it", "pl", "pt-br", "tr"}) {
    std::ifstream file(KEEPSAKE_NODE_MODULES "/typescript/lib/" + std::string(language) +
                       "/diagnosticMessages.generated.json");
    for (const auto& message : nlohmann::json::parse(file)) {
      std::string word;
      for (const char c : message.get<std::string>() + " ") {
        if (IsLetter(c)) {
          word += c;
        } else if (!word.empty()) {
          words.insert(std::exchange(word, ""));
        }
      }
    }
  }
  return {words.begin(), words.end()};
}

// The sum of a direction for each three to five bytes of a word, as fastText has it: words that
// share stems and endings are near.
Vector VectorOf(const std::string& word) {
  const std::string text = "<" + word + ">";
  Vector vector(kDims);
  for (std::size_t length = 3; length <= 5; ++length) {
    for (std::size_t at = 0; at + length <= text.size(); ++at) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data()) + at;
      const std::uint64_t signs = HashOf({bytes, length});
      for (std::size_t i = 0; i < kDims; ++i) vector[i] += (signs >> i & 1) != 0 ? 1 : -1;
    }
  }
  return vector;
}

NextVector Clustered(std::uint32_t seed) {
  return [vectors = ClusteredVectors(kDims, 30, seed)]() mutable { return vectors.Next(); };
}

NextVector Words(std::uint32_t seed) {
  std::vector<std::string> words = RealWords();
  std::ranges::shuffle(words, std::mt19937(seed));
  return [words, at = std::size_t{0}]() mutable { return VectorOf(words[at++]); };
}

// A third as many texts as vectors; queries are others.
NextVector Copies(std::uint32_t seed) {
  NextVector next = Clustered(seed);
  std::vector<Vector> texts(kVectors / 3);
  std::ranges::generate(texts, next);
  return [next, texts, random = std::mt19937(seed), at = std::size_t{0}]() mutable {
    return at++ < kVectors ? texts[random() % texts.size()] : next();
  };
}

NextVector Unordered(std::uint32_t seed) {
  return [random = std::mt19937(seed)]() mutable {
    std::normal_distribution<float> noise;
    Vector vector(kDims);
    std::ranges::generate(vector, [&] { return noise(random); });
    return vector;
  };
}

// Beside each: the mean and the standard deviation of single builds, measured over 12 (words,
// no order) or 4. `least` is three standard errors or more below the mean.

TEST(HnswJudge, clustered_vectors_are_found_as_hnswlib_finds_them) {
  const Rule rule{.widths = {14, 20, 28}, .builds = 4, .least = 0.002};  // +.0029, .0005
  EXPECT_GE(Lead(Clustered, rule), rule.least);
}

TEST(HnswJudge, real_words_are_found_as_hnswlib_finds_them) {
  ASSERT_GT(RealWords().size(), kVectors + kQueries);
  const Rule rule{.widths = {56, 80, 112}, .builds = 8, .least = -0.0004};  // +.0003, .0006
  EXPECT_GE(Lead(Words, rule), rule.least);
}

TEST(HnswJudge, copies_are_found_as_hnswlib_finds_them) {
  const Rule rule{.widths = {14, 20, 28}, .builds = 4, .least = 0.0003};  // +.0009, .0004
  EXPECT_GE(Lead(Copies, rule), rule.least);
}

TEST(HnswJudge, vectors_without_order_are_found_as_hnswlib_finds_them) {
  const Rule rule{.widths = {80, 112, 150}, .builds = 4, .least = -0.0002};  // +.0004, .0004
  EXPECT_GE(Lead(Unordered, rule), rule.least);
}

}  // namespace
}  // namespace keepsake::search
