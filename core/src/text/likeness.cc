#include "text/likeness.h"

#include <algorithm>
#include <tuple>

#include "base/heap_sort.h"
#include "text/text_weights.h"

namespace keepsake::search {

void Likeness::Choose(ByteView record) {
  terms_.clear();
  RecordReader reader(record);
  const double norm = norm_.Of(reader.length());
  while (reader.Next()) {
    const double count = reader.Weighted(weights_);
    if (count == 0) continue;
    const auto holding = static_cast<double>(texts_.CountHolders(reader.token()));
    const double idf = Idf(static_cast<double>(texts_.items().size()), holding);
    terms_.push_back(
        {std::string(reader.token()), idf, idf * Saturated(count, norm, kTextWeights.k1)});
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
