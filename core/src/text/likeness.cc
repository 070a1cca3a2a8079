#include "text/likeness.h"

#include <algorithm>
#include <tuple>

#include "base/heap_sort.h"
#include "text/text_weights.h"

namespace keepsake::search {
namespace {

// Of a long text only the words that it has most often are looked up.
constexpr std::size_t kMostWords = 128;
// A word that a greater part of all items holds tells nearly nothing, and its postings take the
// longest to read. Where so few items hold it, reading them takes no time.
constexpr double kMostHolders = 1.0 / 16, kFewHolders = 64;

struct Word {
  std::string token;
  double count;
};

}  // namespace

void Likeness::Choose(ByteView record) {
  terms_.clear();
  RecordReader reader(record);
  const double norm = norm_.Of(reader.length());
  std::vector<Word> words;
  while (reader.Next()) {
    const double count = reader.Weighted(weights_);
    if (count > 0) words.push_back({std::string(reader.token()), count});
  }
  if (words.size() > kMostWords) {
    HeapSort(words, [](const Word& a, const Word& b) {
      return std::tie(b.count, a.token) < std::tie(a.count, b.token);
    });
    words.resize(kMostWords);
  }
  const auto items = static_cast<double>(texts_.items().size());
  for (Word& word : words) {
    const auto holding = static_cast<double>(texts_.CountHolders(word.token));
    if (holding > std::max(kFewHolders, kMostHolders * items)) continue;
    const double idf = Idf(items, holding);
    const double weight = idf * Saturated(word.count, norm, kTextWeights.k1);
    terms_.push_back({std::move(word.token), idf, weight});
  }
  HeapSort(terms_, [](const Term& a, const Term& b) {
    return std::tie(b.weight, a.token) < std::tie(a.weight, b.token);
  });
  terms_.resize(std::min(terms_.size(), kTerms));
  whole_ = 0;
  for (const Term& term : terms_) whole_ += term.weight * term.weight;
}

std::vector<double> Likeness::Of(std::span<const std::uint32_t> items) const {
  std::vector<double> likeness(items.size());
  for (const Term& term : terms_) {
    const std::vector<Held> held = texts_.Find(term.token, weights_);
    for (std::size_t i = 0; i < items.size(); ++i) {
      double count = 0;
      for (auto at = std::ranges::lower_bound(held, items[i], {}, &Held::item);
           at != held.end() && at->item == items[i]; ++at) {
        count += at->count;
      }
      if (count == 0) continue;
      const double norm = norm_.Of(texts_.items()[items[i]].length);
      likeness[i] += term.weight * term.idf * Saturated(count, norm, kTextWeights.k1) / whole_;
    }
  }
  return likeness;
}

}  // namespace keepsake::search
