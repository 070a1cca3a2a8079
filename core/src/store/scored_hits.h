// ScoredHits collects the scored hits of a search, in any order, and cuts out what was
// asked for: by score descending, then by the caller's order, in which no two are equal.
#ifndef KEEPSAKE_STORE_SCORED_HITS_H_
#define KEEPSAKE_STORE_SCORED_HITS_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "base/heap_sort.h"

namespace keepsake {

template <typename Id>
class ScoredHits {
 public:
  struct Entry {
    double score;
    Id id;
  };

  void Push(double score, Id id) { entries_.push_back({score, std::move(id)}); }

  // Whether `count` hits score higher than all that could still come.
  bool IsSettled(std::size_t count, double bound) const {
    const auto above = [bound](const Entry& entry) { return entry.score > bound; };
    return static_cast<std::size_t>(std::ranges::count_if(entries_, above)) >= count;
  }

  std::size_t size() const { return entries_.size(); }

  // ComesFirst(a, b): of two with equal scores a comes before b.
  template <typename ComesFirst>
  std::vector<Entry> Take(std::size_t offset, std::size_t limit, ComesFirst comes_first) {
    HeapSort(entries_, [&](const Entry& a, const Entry& b) {
      return a.score != b.score ? a.score > b.score : comes_first(a.id, b.id);
    });
    const std::size_t begin = std::min(offset, entries_.size());
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(begin));
    if (entries_.size() > limit) {
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(limit), entries_.end());
    }
    return std::move(entries_);
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SCORED_HITS_H_
