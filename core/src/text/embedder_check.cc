#include "text/embedder_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "vectors/cosine.h"

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

// The pairs that share most, or least: all beyond a level, and some of that level.
struct Extreme {
  bool is_most;
  int level;
  std::size_t left;  // of those of the level itself

  // Whether a pair is one of them, which takes a place.
  bool Takes(int shared) {
    if (is_most ? shared < std::max(level, 1) : shared > level) return false;
    if (shared != level) return true;
    if (left == 0) return false;
    --left;
    return true;
  }
};

Extreme ExtremeOf(const Bytes& likeness, bool is_most) {
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t of_pair : likeness) ++counts[of_pair];
  Extreme extreme{is_most, is_most ? 255 : 0, std::min(kPairs, likeness.size() / 4)};
  const auto of_level = [&] { return counts[static_cast<std::size_t>(extreme.level)]; };
  for (; of_level() < extreme.left; extreme.level += is_most ? -1 : 1) extreme.left -= of_level();
  return extreme;
}

}  // namespace

void EmbedderCheck::Add(Sketch sketch, std::span<const float> vector) {
  std::bitset<kSketchHashes>& tokens = tokens_.emplace_back();
  for (const std::uint16_t hash : sketch) tokens.set(hash % kSketchHashes);
  vectors_.insert(vectors_.end(), vector.begin(), vector.end());
}

Bytes EmbedderCheck::Likeness() const {
  Bytes likeness;
  for (std::size_t a = 0; a < tokens_.size(); ++a) {
    for (std::size_t b = a + 1; b < tokens_.size(); ++b) {
      const auto shared = static_cast<double>((tokens_[a] & tokens_[b]).count());
      const auto counts = static_cast<double>(tokens_[a].count() * tokens_[b].count());
      const double most = std::max(std::sqrt(counts), 1.0);
      likeness.push_back(static_cast<std::uint8_t>(std::ceil(255 * shared / most)));
    }
  }
  return likeness;
}

std::optional<double> EmbedderCheck::Knowledge() const {
  const std::size_t items = tokens_.size();
  if (items < kFewestItems) return std::nullopt;
  const Bytes likeness = Likeness();
  Extreme most = ExtremeOf(likeness, true), least = ExtremeOf(likeness, false);
  // Texts that are all alike: both would be the same pairs.
  if (std::max(most.level, 1) <= least.level) return std::nullopt;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t a = 0; a < items; ++a) {
    for (std::size_t b = a + 1; b < items; ++b) pairs.emplace_back(a, b);
  }
  const std::size_t dims = vectors_.size() / items;
  const auto vector = [&](std::size_t item) {
    return std::span(vectors_).subspan(item * dims, dims);
  };
  Mean alike, unlike;
  // Of pairs that share as much any: the first items are nearer to the question, and so to
  // each other.
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::size_t at = i * kStride % pairs.size();
    const bool is_alike = most.Takes(likeness[at]);
    if (!is_alike && !least.Takes(likeness[at])) continue;
    const double cosine = CosineQuery(vector(pairs[at].first)).Score(vector(pairs[at].second));
    if (cosine < kEqual) (is_alike ? alike : unlike).Add(cosine);
  }
  if (std::min(alike.count(), unlike.count()) < kFewestPairs) return std::nullopt;
  return StandardErrors(alike, unlike);
}

}  // namespace keepsake::search
