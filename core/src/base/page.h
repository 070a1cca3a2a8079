// Page orders the candidates of a search and cuts out what was asked for.
// The sequence is: scored candidates by score descending, then unscored ones by
// updated_at descending; what is equal keeps the order in which it was pushed.
// Offset and limit count over the whole sequence.
#ifndef KEEPSAKE_BASE_PAGE_H_
#define KEEPSAKE_BASE_PAGE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/top.h"

namespace keepsake {

struct Hit {
  std::int64_t id;
  std::optional<double> score;
};

class Page {
 public:
  Page(std::uint32_t offset, std::uint32_t limit)
      : offset_(offset),
        limit_(limit),
        scored_(limit == 0 ? 0 : std::uint64_t{offset} + limit),
        unscored_(limit == 0 ? 0 : std::uint64_t{offset} + limit) {}

  // REQUIRES: candidates are pushed in the order of (namespace, key).
  void PushScored(std::int64_t id, double score) { scored_.Push({score, pushed_++, id}); }
  void PushUnscored(std::int64_t id, std::int64_t updated_at_ms) {
    unscored_.Push({updated_at_ms, pushed_++, id});
  }

  void Push(std::int64_t id, const std::optional<double>& score, std::int64_t updated_at_ms) {
    score ? PushScored(id, *score) : PushUnscored(id, updated_at_ms);
  }

  std::vector<Hit> Take() {
    std::vector<Hit> hits;
    std::uint64_t skip = offset_;
    for (const auto& candidate : scored_.TakeSorted()) {
      Add({candidate.id, candidate.rank}, skip, hits);
    }
    for (const auto& candidate : unscored_.TakeSorted()) {
      Add({candidate.id, std::nullopt}, skip, hits);
    }
    return hits;
  }

 private:
  template <typename Rank>
  struct Candidate {
    Rank rank;
    std::uint64_t pushed;
    std::int64_t id;
  };

  struct IsBefore {
    template <typename Rank>
    bool operator()(const Candidate<Rank>& a, const Candidate<Rank>& b) const {
      return a.rank != b.rank ? a.rank > b.rank : a.pushed < b.pushed;
    }
  };

  void Add(const Hit& hit, std::uint64_t& skip, std::vector<Hit>& hits) const {
    if (skip > 0) {
      --skip;
    } else if (hits.size() < limit_) {
      hits.push_back(hit);
    }
  }

  std::uint32_t offset_;
  std::uint32_t limit_;
  std::uint64_t pushed_ = 0;
  Top<Candidate<double>, IsBefore> scored_;
  Top<Candidate<std::int64_t>, IsBefore> unscored_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_BASE_PAGE_H_
