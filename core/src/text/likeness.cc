#include "text/likeness.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/heap_sort.h"
#include "text/text_record.h"
#include "text/text_weights.h"

namespace keepsake::search {
namespace {

double CountIn(const TextShelf::Postings& postings, std::uint32_t slot) {
  double count = 0;
  for (auto posting = std::ranges::lower_bound(postings, slot, {}, &TextShelf::Posting::slot);
       posting != postings.end() && posting->slot == slot; ++posting) {
    count += posting->weight;
  }
  return count;
}

}  // namespace

Likeness::Likeness(std::span<const TextShelf* const> shelves, const TextConfig& config,
                   const Norm& norm)
    : shelves_(shelves), config_(config), norm_(norm) {
  for (const TextShelf* texts : shelves_) blocks_ += static_cast<double>(texts->blocks());
}

void Likeness::Choose(ByteView record) {
  terms_.clear();
  RecordReader reader(record);
  const double norm = norm_.Of(reader.length());
  while (reader.Next()) {
    const double count = reader.Weighted(config_);
    if (count == 0) continue;
    const double idf = IdfOf(reader.token());
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

// By blocks, which the index can count at once.
double Likeness::IdfOf(std::string_view token) const {
  double holding = 0;
  for (const TextShelf* texts : shelves_) {
    const TextShelf::Postings* postings = texts->Find(token);
    holding += postings == nullptr ? 0 : static_cast<double>(postings->size());
  }
  return Idf(blocks_, holding);
}

std::vector<double> Likeness::Of(std::span<const Place> items) const {
  std::vector<double> likeness(items.size());
  for (const Term& term : terms_) {
    const TextShelf* texts = nullptr;
    const TextShelf::Postings* postings = nullptr;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (std::exchange(texts, items[i].texts) != items[i].texts)
        postings = texts->Find(term.token);
      const double count = postings == nullptr ? 0 : CountIn(*postings, items[i].slot);
      if (count == 0) continue;
      const double norm = norm_.Of(texts->item(items[i].slot).length);
      likeness[i] += term.weight * term.idf * Saturated(count, norm, kTextWeights.k1) / whole_;
    }
  }
  return likeness;
}

}  // namespace keepsake::search
