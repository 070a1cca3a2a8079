#include "store/namespace_listing.h"

#include <algorithm>

#include "base/answer_room.h"

namespace keepsake {

std::string NamespaceListing::EncodedPrefix() const {
  Namespace longest;
  for (const MatchCondition& condition : op_.match_conditions) {
    if (condition.match_type != MatchType::kPrefix) continue;
    const Namespace& path = condition.path;
    Namespace literal(path.begin(), std::ranges::find(path, "*"));
    if (literal.size() > longest.size()) longest = std::move(literal);
  }
  return EncodeNamespace(longest);
}

Result<bool> NamespaceListing::Offer(const Namespace& ns) {
  if (listed_.size() >= op_.limit) return false;
  const auto matches = [&ns](const MatchCondition& condition) { return Matches(condition, ns); };
  if (!std::ranges::all_of(op_.match_conditions, matches)) return true;

  const std::size_t depth = std::min<std::size_t>(ns.size(), op_.max_depth.value_or(UINT32_MAX));
  const auto end = ns.begin() + static_cast<std::ptrdiff_t>(depth);
  if (std::ranges::equal(last_.begin(), last_.end(), ns.begin(), end)) return true;
  last_.assign(ns.begin(), end);
  if (skipped_ < op_.offset) {
    ++skipped_;
  } else {
    std::size_t bytes = sizeof(last_);
    for (const std::string& label : last_) bytes += sizeof(label) + label.size();
    if (Status room = AnswerRoom::Take(bytes); !room.ok()) return std::unexpected(std::move(room));
    listed_.push_back(last_);
  }
  return listed_.size() < op_.limit;
}

}  // namespace keepsake
