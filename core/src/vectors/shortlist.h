// A Shortlist collects the candidates of a scan. Each has two bounds of its score; one
// whose upper bound is below the lower bounds of as many others as are wanted can't be
// among the best, and is left out.
#ifndef KEEPSAKE_VECTORS_SHORTLIST_H_
#define KEEPSAKE_VECTORS_SHORTLIST_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "vectors/slot_set.h"

namespace keepsake::search {

struct Candidate {
  Slot slot;
  float bound;  // its score is at most this
  float floor;  // and at least this
};

class Shortlist {
 public:
  // Leaves nothing out.
  Shortlist() = default;
  explicit Shortlist(std::size_t wanted) : wanted_(wanted) {}

  // What is left out scores less than this.
  float rest_bound() const { return threshold_; }

  void Push(const Candidate& candidate) {
    if (candidate.bound < threshold_) return;
    candidates_.push_back(candidate);
    if (wanted_ != 0) Raise(candidate.floor);
  }

  const std::vector<Candidate>& candidates() const { return candidates_; }
  // In no order.
  std::vector<Candidate> Take() {
    std::erase_if(candidates_, [&](const Candidate& c) { return c.bound < threshold_; });
    return std::move(candidates_);
  }

 private:
  // Keeps the best `wanted_` floors; the heap's front is the least of them.
  void Raise(float floor) {
    if (floors_.size() == wanted_) {
      if (floor <= floors_.front()) return;
      std::ranges::pop_heap(floors_, std::greater());
      floors_.pop_back();
    }
    floors_.push_back(floor);
    std::ranges::push_heap(floors_, std::greater());
    if (floors_.size() == wanted_) threshold_ = floors_.front();
  }

  std::size_t wanted_ = 0;  // 0 for all
  float threshold_ = -std::numeric_limits<float>::infinity();
  std::vector<float> floors_;
  std::vector<Candidate> candidates_;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_SHORTLIST_H_
