#include "vectors/vector_index.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <utility>

namespace keepsake::search {
namespace {

// Few more than are wanted settle most searches; a filter asks for many more.
constexpr std::size_t kPortionGrowth = 3;
// Reading one row in this many by its key costs what reading all in order does.
constexpr std::size_t kRowsPerLookup = 8;
constexpr std::size_t kLookupsAlways = 256;

constexpr std::size_t kEfPerWanted = 4;

// Questions to a graph are asked when it has grown by so small a part; the last so many of each
// kind count.
constexpr std::size_t kTrialFrom = 1000;
constexpr std::size_t kTrialPart = 256;
constexpr std::size_t kTrialQuestions = 50;
constexpr std::size_t kTrialWanted = 10;
// Four standard errors below the recall of .99 that is hoped for.
constexpr double kTrialRecall = .97;
// A narrower walk must find nearly all, and that also where no vectors are: queries need not be
// like what is stored.
constexpr double kNarrowRecall = .995;
constexpr double kNarrowRecallBetween = .99;
// Of the same code, by other sums.
constexpr float kRounding = 1e-5F;

// A list is long enough for items that have several vectors, or have just expired.
constexpr std::size_t kListed = 3;
constexpr std::size_t kListedMore = 16;

// Without what rounding may hide.
float ScoreOf(const Candidate& candidate) { return (candidate.bound + candidate.floor) / 2; }

// The score of the last of the best `wanted`; of none if there are fewer.
std::optional<float> LastOfBest(const std::vector<Candidate>& candidates, std::size_t wanted) {
  if (candidates.size() < wanted) return std::nullopt;
  std::vector<float> scores;
  for (const Candidate& candidate : candidates) scores.push_back(ScoreOf(candidate));
  const auto last = scores.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
  std::ranges::nth_element(scores, last, std::greater());
  return *last;
}

}  // namespace

VectorSearch::VectorSearch(const VectorIndex& index, const VectorQuery& query,
                           const PlanFacts& facts)
    : index_(index), query_(query), facts_(facts), plan_(ChoosePlan(facts, query.forced)) {
  if (plan_ == Plan::kGraph) {
    Shortlist list;
    index.Walk(query, list);
    Use(std::move(list));
  } else if (plan_ == Plan::kCodes) {
    // What a filter hides can't be told from codes: any of them may be wanted.
    Scan(query.is_filtered && query.among == nullptr);
  }
}

void VectorSearch::Scan(bool all) {
  has_all_ = all;
  Shortlist list = all ? Shortlist() : Shortlist(kListed * query_.wanted + kListedMore);
  by_signs_ = index_.Scan(query_, all, list);
  Use(std::move(list));
}

void VectorSearch::Use(Shortlist list) {
  rest_bound_ = list.rest_bound();
  candidates_ = list.Take();
  if (plan_ == Plan::kCodes && rest_bound_ == kNothing) has_all_ = true;
  taken_ = 0;
  end_ = candidates_.size();
  portion_ = FirstPortion();
  if (query_.forced == Plan::kAuto && has_all_ && plan_ == Plan::kCodes) {
    end_ =
        std::min(end_, std::max({facts_.in_namespaces / kRowsPerLookup, portion_, kLookupsAlways}));
  }
}

std::size_t VectorSearch::FirstPortion() {
  const std::size_t wanted = std::max<std::size_t>(query_.wanted, 1);
  if (query_.is_filtered && query_.among == nullptr) return 2 * wanted + 8;
  if (candidates_.size() <= wanted) return candidates_.size();
  std::vector<float> floors;
  for (const Candidate& candidate : candidates_) floors.push_back(candidate.floor);
  const auto last = floors.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
  std::ranges::nth_element(floors, last, std::greater());
  return static_cast<std::size_t>(std::ranges::count_if(
      candidates_, [&](const Candidate& candidate) { return candidate.bound >= *last; }));
}

std::span<const std::uint64_t> VectorSearch::Next() {
  items_.clear();
  while (items_.empty()) {
    if (taken_ == end_) {
      // The list was too short, or a filter left out too many of a graph's candidates.
      if (has_all_ || plan_ == Plan::kExact) break;
      plan_ = Plan::kCodes;
      Scan(true);
      if (end_ == 0) break;
    }
    const auto begin = candidates_.begin() + static_cast<std::ptrdiff_t>(taken_);
    const std::size_t count = std::min(portion_, end_ - taken_);
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    // And the next one, which bounds the rest.
    std::partial_sort(begin, end == candidates_.end() ? end : end + 1, candidates_.end(),
                      [](const Candidate& a, const Candidate& b) { return a.bound > b.bound; });
    for (const Candidate& candidate : std::ranges::subrange(begin, end)) {
      const std::uint64_t item = index_.codes_.OwnerOf(candidate.slot).item;
      if (seen_.insert(item).second) items_.push_back(item);
    }
    taken_ += count;
    portion_ = std::max(portion_, query_.wanted) * kPortionGrowth;
    bound_ = taken_ == candidates_.size() ? rest_bound_ : end->bound;
  }
  return items_;
}

void VectorIndex::Add(Slot slot, std::uint64_t item, std::string_view ns,
                      std::span<const float> vector) {
  codes_.Add(slot, {.item = item, .group = GroupOf(ns, slot)}, vector);
}

void VectorIndex::AddCode(Slot slot, std::uint64_t item, std::string_view ns, CodeScale scale,
                          std::span<const std::uint8_t> code) {
  codes_.AddCode(slot, {.item = item, .group = GroupOf(ns, slot)}, scale, code);
}

std::uint32_t VectorIndex::GroupOf(std::string_view ns, Slot slot) {
  auto entry = buckets_.find(ns);
  if (entry == buckets_.end()) {
    entry = buckets_.try_emplace(std::string(ns)).first;
    if (free_groups_.empty()) {
      free_groups_.push_back(static_cast<std::uint32_t>(groups_.size()));
      groups_.emplace_back();
    }
    entry->second.group = free_groups_.back();
    free_groups_.pop_back();
    groups_[entry->second.group] = entry;
  }
  entry->second.slots.push_back(slot);
  ++entry->second.living;
  return entry->second.group;
}

void VectorIndex::Remove(Slot slot) {
  if (!codes_.Has(slot)) return;
  const auto entry = groups_[codes_.OwnerOf(slot).group];
  codes_.Remove(slot);
  if (--entry->second.living == 0) {
    free_groups_.push_back(entry->second.group);
    buckets_.erase(entry);
  } else {
    DropDeadSlots(entry->second);
  }
}

void VectorIndex::Move(Slot from, Slot to) {
  if (!codes_.Has(from)) return;
  Bucket& bucket = groups_[codes_.OwnerOf(from).group]->second;
  codes_.Move(from, to);
  bucket.slots.push_back(to);
  DropDeadSlots(bucket);
}

// Only when half of them are dead, so that a removal costs the same at any size.
void VectorIndex::DropDeadSlots(Bucket& bucket) const {
  if (bucket.slots.size() < 2 * bucket.living) return;
  std::erase_if(bucket.slots, [&](Slot slot) { return !codes_.Has(slot); });
}

std::ranges::subrange<VectorIndex::Buckets::const_iterator> VectorIndex::BucketsBelow(
    std::string_view prefix) const {
  if (prefix.empty()) return {buckets_.begin(), buckets_.end()};
  std::string end(prefix);
  ++end.back();  // no label's end any more, but greater than all that begins with it
  return {buckets_.lower_bound(prefix), buckets_.lower_bound(end)};
}

std::size_t VectorIndex::CountBelow(std::string_view encoded_prefix) const {
  std::size_t count = 0;
  for (const auto& [ns, bucket] : BucketsBelow(encoded_prefix)) count += bucket.living;
  return count;
}

VectorSearch VectorIndex::Search(const VectorQuery& query) const {
  PlanFacts facts{
      .in_namespaces = CountBelow(query.encoded_prefix),
      .vectors = codes_.size(),
      .in_graph = in_graph(),
      .wanted = query.wanted,
      .dims = codes_.dims(),
      .is_graph_trusted = graph_ == nullptr || graph_->width() > 0 || query.ef_search > 0};
  facts.candidates = facts.in_namespaces;
  if (query.among != nullptr) facts.candidates = std::min(facts.candidates, query.among->Count());
  return VectorSearch(*this, query, facts);
}

std::vector<bool> VectorIndex::GroupsBelow(std::string_view prefix) const {
  std::vector<bool> groups(groups_.size());
  for (const auto& [ns, bucket] : BucketsBelow(prefix)) groups[bucket.group] = true;
  return groups;
}

bool VectorIndex::Scan(const VectorQuery& query, bool all, Shortlist& candidates) const {
  const std::size_t in_namespaces = CountBelow(query.encoded_prefix);
  const std::size_t in_filter = query.among == nullptr ? codes_.size() : query.among->Count();
  const bool everywhere = in_namespaces == codes_.size();

  FlatIndex::Scope scope{.among = query.among, .count = std::min(in_namespaces, in_filter)};
  std::vector<bool> groups;
  if (!everywhere && in_filter < in_namespaces) {
    groups = GroupsBelow(query.encoded_prefix);
    scope.groups = &groups;
  } else if (!everywhere) {
    scope.has_lists = true;
    for (const auto& [ns, bucket] : BucketsBelow(query.encoded_prefix)) {
      scope.lists.emplace_back(bucket.slots);
    }
  }
  if (query.forced == Plan::kAuto && scope.count <= std::max(query.wanted, query.few)) {
    codes_.List(scope, candidates);
    return false;
  }
  const bool by_signs = !all && query.forced == Plan::kAuto;
  return codes_.Scan(codes_.Encode(query.vector), scope, by_signs ? query.wanted : 0, candidates);
}

void VectorIndex::Walk(const VectorQuery& query, Shortlist& candidates) const {
  std::vector<bool> groups;
  if (!query.encoded_prefix.empty()) groups = GroupsBelow(query.encoded_prefix);
  const CodedQuery coded = codes_.Encode(query.vector);
  const std::size_t width = graph_->width() > 0 ? graph_->width() : HnswIndex::kMaxWidth;
  const std::size_t ef = query.ef_search > 0 ? std::max(query.ef_search, query.wanted)
                                             : std::max(width, kEfPerWanted * query.wanted);
  graph_->Search(coded, ef, {groups.empty() ? nullptr : &groups, query.among}, candidates);
  // What came after the graph is scanned.
  std::vector<Slot> rest;
  for (auto slot = codes_.FirstFrom(graph_->covered_to() + 1); slot;
       slot = codes_.FirstFrom(*slot + 1)) {
    if (groups.empty() || groups[codes_.OwnerOf(*slot).group]) rest.push_back(*slot);
  }
  codes_.Scan(coded, {.lists = {rest}, .among = query.among, .has_lists = true}, 0, candidates);
}

std::size_t VectorIndex::in_graph() const {
  return graph_ == nullptr ? 0 : codes_.size() - codes_.CountFrom(graph_->covered_to() + 1);
}

bool VectorIndex::ImproveGraph(std::size_t vectors, bool is_wanted) {
  const bool is_worn = graph_ != nullptr && in_graph() * 4 < graph_->size() * 3;
  if (graph_ == nullptr || is_worn) {
    AdoptGraph(nullptr);
    const bool is_enough = is_wanted || is_worn || IsGraphWanted(codes_.size(), codes_.dims());
    if (codes_.size() == 0 || !is_enough) return false;
    graph_ = std::make_unique<HnswIndex>(codes_);
    vectors = std::max<std::size_t>(vectors, 1);
  }
  auto slot = codes_.FirstFrom(graph_->size() == 0 ? 0 : graph_->covered_to() + 1);
  for (; slot && vectors > 0; --vectors) {
    if (const std::size_t nodes = graph_->size();
        graph_->width() > 0 && nodes >= kTrialFrom &&
        nodes % (std::bit_floor(nodes) / kTrialPart) == 0) {
      AskGraph(*slot);
    }
    graph_->Insert(*slot);
    slot = codes_.FirstFrom(*slot + 1);
  }
  return slot.has_value();
}

void VectorIndex::AskGraph(Slot slot) {
  constexpr std::uint64_t kSpread = 0x9E37'79B9'7F4A'7C15;  // any of them, the same everywhere
  const Slot other = graph_->slots()[(slot * kSpread >> 32) % graph_->size()];
  if (near_trial_.asked > between_trial_.asked && codes_.Has(other)) {
    Ask(codes_.QueryBetween(slot, other), between_trial_);
  } else {
    Ask(codes_.QueryOf(slot), near_trial_);
  }
  if (near_trial_.asked >= kTrialQuestions) ChooseWidth();
}

// Widths to try, in ascending order: narrower ones, and the one that is walked without any trial.
std::size_t VectorIndex::WidthAt(std::size_t place) const {
  return place < Trial::kWide ? Trial::kNarrower[place]
                              : std::max(graph_->width(), HnswIndex::kWidth);
}

void VectorIndex::Ask(const CodedQuery& query, Trial& trial) const {
  Shortlist best(kTrialWanted);
  codes_.Scan(query, {.lists = {graph_->slots()}, .has_lists = true, .count = graph_->size()},
              kTrialWanted, best);
  const std::optional<float> last = LastOfBest(best.Take(), kTrialWanted);
  if (!last) return;
  const std::size_t remembered = std::min(++trial.asked, kTrialQuestions);
  for (std::size_t at = 0; at < trial.recall.size(); ++at) {
    Shortlist walked;
    graph_->Search(query, WidthAt(at), {}, walked);
    const auto found = std::ranges::count_if(walked.candidates(), [&](const Candidate& near) {
      return ScoreOf(near) >= *last - kRounding;
    });
    const double share = std::min(1.0, static_cast<double>(found) / kTrialWanted);
    trial.recall[at] += (share - trial.recall[at]) / static_cast<double>(remembered);
  }
}

void VectorIndex::ChooseWidth() {
  const std::size_t wide = WidthAt(Trial::kWide);
  if (near_trial_.recall[Trial::kWide] < kTrialRecall) {
    graph_->set_width(wide >= HnswIndex::kMaxWidth ? 0 : 2 * wide);
    near_trial_ = between_trial_ = {};
    return;
  }
  if (between_trial_.asked < kTrialQuestions) return;
  std::size_t at = 0;
  while (at < Trial::kWide && (near_trial_.recall[at] < kNarrowRecall ||
                               between_trial_.recall[at] < kNarrowRecallBetween)) {
    ++at;
  }
  graph_->set_width(WidthAt(at));
}

}  // namespace keepsake::search
