#include "search/embedder_check.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "search/cosine.h"
#include "search/text_record.h"

namespace keepsake::search {
namespace {

constexpr std::size_t kFewestItems = 32;
// The pairs that share most, and as many of those that share least.
constexpr std::size_t kPairs = 128;
constexpr double kFewestPairs = 64;
constexpr double kEqual = 0.9999;
// A prime that divides no number of pairs: such steps come to each of them.
constexpr std::size_t kStride = 1021;

class Mean {
 public:
  void Add(double x) {
    ++count_;
    sum_ += x;
    squares_ += x * x;
  }
  double count() const { return count_; }
  double value() const { return sum_ / count_; }
  double squared_error() const {
    return std::max(squares_ - sum_ * sum_ / count_, 0.0) / (count_ - 1) / count_;
  }

 private:
  double count_ = 0, sum_ = 0, squares_ = 0;
};

// How much greater the first is. None if nothing sets them apart.
std::optional<double> StandardErrors(const Mean& first, const Mean& second) {
  const double difference = first.value() - second.value();
  if (difference == 0) return std::nullopt;
  return difference / std::sqrt(first.squared_error() + second.squared_error());
}

}  // namespace

void EmbedderCheck::Add(ByteView record, std::span<const float> vector) {
  RecordReader reader(record);
  while (reader.Next()) {
    if (reader.Weighted(config_) == 0) continue;
    const auto number = numbers_.try_emplace(std::string(reader.token()), numbers_.size());
    tokens_.push_back(number.first->second);
  }
  ends_.push_back(tokens_.size());
  vectors_.insert(vectors_.end(), vector.begin(), vector.end());
}

Bytes EmbedderCheck::Likeness() const {
  const std::size_t items = ends_.size();
  const std::size_t words = numbers_.size() / 64 + 1;
  std::vector<std::uint64_t> bits(items * words);
  std::vector<double> counts;
  std::size_t token = 0;
  for (std::size_t item = 0; item < items; ++item) {
    counts.push_back(static_cast<double>(ends_[item] - token));
    for (; token < ends_[item]; ++token) {
      bits[item * words + tokens_[token] / 64] |= std::uint64_t{1} << tokens_[token] % 64;
    }
  }
  Bytes likeness;
  for (std::size_t a = 0; a < items; ++a) {
    for (std::size_t b = a + 1; b < items; ++b) {
      int shared = 0;
      for (std::size_t w = 0; w < words; ++w) {
        shared += std::popcount(bits[a * words + w] & bits[b * words + w]);
      }
      const double most = std::max(std::sqrt(counts[a] * counts[b]), 1.0);
      likeness.push_back(static_cast<std::uint8_t>(std::ceil(255 * shared / most)));
    }
  }
  return likeness;
}

std::optional<double> EmbedderCheck::Knowledge() const {
  const std::size_t items = ends_.size();
  if (items < kFewestItems) return std::nullopt;
  const Bytes likeness = Likeness();
  std::vector<std::size_t> pairs;
  for (std::size_t a = 0; a < items; ++a) {
    for (std::size_t b = a + 1; b < items; ++b) pairs.push_back(a * items + b);
  }
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t of_pair : likeness) ++counts[of_pair];
  const std::size_t dims = vectors_.size() / items;
  const auto vector = [&](std::size_t item) {
    return std::span(vectors_).subspan(item * dims, dims);
  };
  // The pairs that share most, or least, share as much as `level` or more so.
  struct Bound {
    int level;
    std::size_t left;  // of those of the level itself
  };
  const auto bound_of = [&](bool is_most) {
    Bound bound{is_most ? 255 : 0, std::min(kPairs, pairs.size() / 4)};
    for (; counts[static_cast<std::size_t>(bound.level)] < bound.left;
         bound.level += is_most ? -1 : 1) {
      bound.left -= counts[static_cast<std::size_t>(bound.level)];
    }
    return bound;
  };
  const Bound most = bound_of(true), least = bound_of(false);
  // Texts that are all alike: both would be the same pairs.
  if (std::max(most.level, 1) <= least.level) return std::nullopt;
  // Of pairs that share as much any: the first items are nearer to the question, and so to
  // each other.
  const auto mean_of = [&](Bound bound, bool is_most) {
    Mean mean;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::size_t at = i * kStride % pairs.size();
      const int shared = likeness[at];
      if (is_most ? shared < std::max(bound.level, 1) : shared > bound.level) continue;
      if (shared == bound.level && bound.left == 0) continue;
      if (shared == bound.level) --bound.left;
      const std::size_t a = pairs[at] / items, b = pairs[at] % items;
      const double cosine = CosineQuery(vector(a)).Score(vector(b));
      if (cosine < kEqual) mean.Add(cosine);
    }
    return mean;
  };
  const Mean alike = mean_of(most, true), unlike = mean_of(least, false);
  if (std::min(alike.count(), unlike.count()) < kFewestPairs) return std::nullopt;
  return StandardErrors(alike, unlike);
}

}  // namespace keepsake::search
