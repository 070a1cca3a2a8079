#include "store/sqlite/vector_budget.h"

#include <algorithm>

namespace keepsake {

VectorBudget& VectorBudget::OfThisThread() {
  thread_local VectorBudget budget;
  return budget;
}

void VectorBudget::SetLimit(std::size_t bytes) {
  limit_ = bytes;
  GiveUpOldest();
}

void VectorBudget::Use(Member& member) {
  if (members_.empty() || members_.back() != &member) {
    Forget(member);
    members_.push_back(&member);
  }
  GiveUpOldest();
}

void VectorBudget::Forget(Member& member) { std::erase(members_, &member); }

void VectorBudget::GiveUpOldest() {
  if (limit_ == std::numeric_limits<std::size_t>::max()) return;
  std::size_t bytes = 0;
  for (const Member* member : members_) bytes += member->IndexBytes();
  while (bytes > limit_ && members_.size() > 1) {
    bytes -= members_.front()->IndexBytes();
    members_.front()->GiveUpIndex();
    members_.erase(members_.begin());
  }
}

}  // namespace keepsake
