// What is said of an embedder by the items it embedded.
#include "text/embedder_check.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <sstream>

namespace keepsake::search {
namespace {

constexpr std::size_t kDims = 32;
constexpr int kVocabulary = 60;

// Items of some words each, and vectors that know of them as much as is said.
class World {
 public:
  explicit World(std::uint32_t seed) : random_(seed) {
    for (int word = 0; word < kVocabulary; ++word) meanings_.push_back(Noise());
  }

  // `noise` in parts of what a word adds to a vector.
  void Add(EmbedderCheck& check, double meaning, double noise) {
    std::string text;
    std::vector<float> vector(kDims);
    for (int i = 0; i < 6; ++i) {
      const auto word = random_() % kVocabulary;
      text += " w" + std::to_string(word);
      for (std::size_t d = 0; d < kDims; ++d) {
        vector[d] += static_cast<float>(meaning) * meanings_[word][d];
      }
    }
    const std::vector<float> random = Noise();
    for (std::size_t d = 0; d < kDims; ++d) vector[d] += static_cast<float>(noise) * random[d];
    check.Add(SketchOf(text), vector);
  }

  // Of words that a space ends.
  static std::vector<std::uint16_t> SketchOf(const std::string& text) {
    static std::map<std::string, std::uint16_t> numbers;
    std::set<std::uint16_t> words;
    std::istringstream stream(text);
    for (std::string word; stream >> word;) {
      words.insert(
          numbers.try_emplace(word, static_cast<std::uint16_t>(numbers.size())).first->second);
    }
    return {words.begin(), words.end()};
  }

  std::vector<float> Noise() {
    std::normal_distribution<float> normal;
    std::vector<float> vector(kDims);
    for (float& x : vector) x = normal(random_);
    return vector;
  }

 private:
  std::mt19937 random_;
  std::vector<std::vector<float>> meanings_;
};

std::optional<double> KnowledgeOf(std::uint32_t seed, double meaning, double noise,
                                  std::size_t items = EmbedderCheck::kItems) {
  World world(seed);
  EmbedderCheck check;
  for (std::size_t i = 0; i < items; ++i) world.Add(check, meaning, noise);
  return check.Knowledge();
}

TEST(EmbedderCheckTest, tells_vectors_that_know_the_words_from_random_ones) {
  double sum = 0;
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    const double random = KnowledgeOf(seed, 0, 1).value();
    EXPECT_LT(random, 4) << seed;
    sum += random;
    EXPECT_GT(KnowledgeOf(seed, 1, 0).value(), 6) << seed;
    EXPECT_GT(KnowledgeOf(seed, 1, 1).value(), 6) << seed;
  }
  EXPECT_LT(std::abs(sum / 100), 0.5) << "no opinion of what knows nothing";
}

TEST(EmbedderCheckTest, the_more_noise_the_less_is_known) {
  EXPECT_GT(KnowledgeOf(1, 1, 1), KnowledgeOf(1, 1, 3));
  EXPECT_GT(KnowledgeOf(1, 1, 3), KnowledgeOf(1, 1, 20));
}

TEST(EmbedderCheckTest, few_items_tell_nothing) {
  EXPECT_EQ(KnowledgeOf(1, 1, 0, 31), std::nullopt);
  EXPECT_NE(KnowledgeOf(1, 1, 0, 32), std::nullopt);
}

// Of 64 items with random vectors, whose texts begin so and end with a number.
std::optional<double> KnowledgeOfNumbered(const std::string& beginning) {
  World world(1);
  EmbedderCheck check;
  for (int i = 0; i < 64; ++i) {
    check.Add(World::SketchOf(beginning + std::to_string(i)), world.Noise());
  }
  return check.Knowledge();
}

TEST(EmbedderCheckTest, items_that_share_no_words_tell_nothing) {
  EXPECT_EQ(KnowledgeOfNumbered("word"), std::nullopt);
}

TEST(EmbedderCheckTest, texts_that_share_all_as_much_tell_nothing) {
  EXPECT_EQ(KnowledgeOfNumbered("likes thing"), std::nullopt);
}

TEST(EmbedderCheckTest, equal_texts_have_equal_vectors_whatever_the_embedder_knows) {
  World world(1);
  EmbedderCheck check;
  for (int i = 0; i < 8; ++i) {
    const std::vector<float> vector = world.Noise();
    const auto sketch = World::SketchOf("same" + std::to_string(i));
    for (int copy = 0; copy < 8; ++copy) check.Add(sketch, vector);
  }
  EXPECT_EQ(check.Knowledge(), std::nullopt);
}

TEST(EmbedderCheckTest, items_without_words_and_vectors_of_zeros_do_no_harm) {
  World world(1);
  EmbedderCheck wordless, empty;
  for (int i = 0; i < 64; ++i) {
    wordless.Add({}, world.Noise());
    empty.Add(World::SketchOf("tea"), std::vector<float>(kDims));
  }
  EXPECT_EQ(wordless.Knowledge(), std::nullopt);
  EXPECT_EQ(empty.Knowledge(), std::nullopt);
}

TEST(EmbedderCheckTest, what_is_set_apart_without_exception_is_known) {
  EmbedderCheck check;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::string number = std::to_string(i), topic = std::to_string(i / 8);
    std::vector<float> vector(72);
    vector[i / 8] = 1;
    vector[8 + i] = 1;
    check.Add(World::SketchOf("topic" + topic + " own" + number), vector);
  }
  EXPECT_GT(check.Knowledge(), 1e6);
}

}  // namespace
}  // namespace keepsake::search
