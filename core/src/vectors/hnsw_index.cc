#include "vectors/hnsw_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/heap_sort.h"
#include "base/varint.h"

namespace keepsake::search {
namespace {

constexpr float kWorst = -std::numeric_limits<float>::infinity();
constexpr Slot kMaxSlot = Slot{1} << 62;

// Spreads the bits of a number (splitmix64): levels are as good as random, and the same
// on every machine.
std::uint64_t Spread(std::uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15;
  x = (x ^ x >> 30) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ x >> 27) * 0x94D0'49BB'1331'11EB;
  return x ^ x >> 31;
}

}  // namespace

HnswIndex::HnswIndex(const FlatIndex& codes, HnswOptions options)
    : codes_(codes), M_(options.M), ef_construction_(options.ef_construction) {}

HnswIndex::Links HnswIndex::LinksOf(Node node, std::uint32_t level) const {
  if (level == 0) {
    return &base_links_[node / kPageNodes][node % kPageNodes * (1 + MaxLinks(0))];
  }
  return const_cast<Links>(&upper_links_[upper_at_[node] + (level - 1) * (1 + M_)]);
}

// A level has one in M of the nodes of the level below.
std::uint32_t HnswIndex::LevelOf(Slot slot) const {
  constexpr std::uint32_t kMaxLevel = 16;
  std::uint64_t random = Spread(slot);
  std::uint32_t level = 0;
  while (level < kMaxLevel && random % M_ == 0) {
    ++level;
    random = Spread(random);
  }
  return level;
}

HnswIndex::Node HnswIndex::AddNode(Slot slot, std::uint32_t level) {
  const Node node = static_cast<Node>(slots_.size());
  slots_.push_back(slot);
  twins_.push_back(0);
  visited_.push_back(0);
  if (node % kPageNodes == 0) {
    base_links_.push_back(std::make_unique<std::uint32_t[]>(kPageNodes * (1 + MaxLinks(0))));
  }
  upper_at_.push_back(static_cast<std::uint32_t>(upper_links_.size()));
  upper_links_.resize(upper_links_.size() + level * (1 + M_));
  return node;
}

void HnswIndex::Insert(Slot slot) {
  const std::uint32_t level = LevelOf(slot);
  const bool is_first = slots_.empty();
  const Node node = AddNode(slot, level);
  if (!is_first) {
    std::vector<std::int16_t> code;
    WidenCode(node, &code);
    Near near{.score = 0, .node = entry_};
    Score(code, {&entry_, 1}, &near.score);
    for (std::uint32_t at = top_level_; at > level; --at) near = Descend(code, near, at);
    std::vector<std::vector<Near>> found(std::min(level, top_level_) + 1);
    for (std::uint32_t at = static_cast<std::uint32_t>(found.size()); at-- > 0;) {
      found[at] = SearchLevel(code, near, at, ef_construction_, [](Node) { return true; });
      near = found[at].front();
    }
    if (const std::optional<Node> same = SameAs(node, code, found[0])) {
      AddTwin(node, *same);
      return;
    }
    for (std::uint32_t at = 0; at < found.size(); ++at) {
      Connect(node, SelectNeighbors(node, found[at], M_), at);
    }
  }
  if (is_first || level > top_level_) {
    entry_ = node;
    top_level_ = level;
  }
}

std::optional<HnswIndex::Node> HnswIndex::SameAs(Node node, Code code,
                                                 std::span<const Near> found) const {
  constexpr float kRounding = 1e-4F;
  float self = 0;
  Score(code, {&node, 1}, &self);
  const std::uint8_t* own = CodeOf(node).code;
  for (const Near& near : found) {
    if (near.score < self * (1 - kRounding)) break;
    const std::uint8_t* other = CodeOf(near.node).code;
    if (other != nullptr && std::equal(own, own + codes_.code_bytes(), other)) return near.node;
  }
  return std::nullopt;
}

void HnswIndex::AddTwin(Node twin, Node of) {
  LinksOf(twin, 0)[1] = of + 1;
  twins_[twin] = twins_[of];
  twins_[of] = twin;
}

inline FlatIndex::CodeRow HnswIndex::CodeOf(Node node) const {
  const FlatIndex::CodeRow row = codes_.RowOf(slots_[node]);
  return row.scale.scale != 0 ? row : CodeOfTwin(node, row);
}

FlatIndex::CodeRow HnswIndex::CodeOfTwin(Node node, FlatIndex::CodeRow row) const {
  // One that died before its chunk was written has no code in it but zeros.
  const auto is_lost = [&] {
    return row.code == nullptr || (row.scale.scale == 0 && !codes_.Has(slots_[node]));
  };
  while (is_lost() && twins_[node] != 0) {
    node = twins_[node];
    row = codes_.RowOf(slots_[node]);
  }
  return row;
}

void HnswIndex::WidenCode(Node node, std::vector<std::int16_t>* code) const {
  const FlatIndex::CodeRow row = CodeOf(node);
  code->resize(codes_.code_bytes());
  for (std::size_t i = 0; i < code->size(); ++i) {
    (*code)[i] = row.code == nullptr ? 0 : static_cast<std::int8_t>(row.code[i]);
  }
}

void HnswIndex::Score(Code query, std::span<const Node> nodes, float* scores) const {
  scored_ += nodes.size();
  CodeRows rows;
  std::array<float, kBlock> scales;
  std::array<float*, kBlock> results;
  std::size_t count = 0;
  const auto score_block = [&] {
    if (count == 1) {
      *results[0] = static_cast<float>(DotInt8(query, rows[0])) * scales[0];
    } else if (count > 1) {
      std::fill(rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end(), rows[0]);
      const CodeDots dots = DotInt8Block(query, rows);
      for (std::size_t r = 0; r < count; ++r) {
        *results[r] = static_cast<float>(dots[r]) * scales[r];
      }
    }
    count = 0;
  };
  for (const Node node : nodes) {
    const FlatIndex::CodeRow row = CodeOf(node);
    *scores = kWorst;
    rows[count] = row.code;
    scales[count] = row.scale.scale;
    results[count] = scores++;
    count += row.code != nullptr;
    if (count == kBlock) score_block();
  }
  score_block();
}

HnswIndex::Near HnswIndex::Descend(Code query, Near from, std::uint32_t level) const {
  std::vector<float> scores(MaxLinks(level));
  for (bool better = true; better;) {
    better = false;
    const Links links = LinksOf(from.node, level);
    const std::span<const Node> neighbors(links + 1, links[0]);
    Score(query, neighbors, scores.data());
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
      if (scores[i] <= from.score) continue;
      from = {scores[i], neighbors[i]};
      better = true;
    }
  }
  return from;
}

// The best nodes that a walk has met, best first: each is expanded, which adds neighbors of
// it, or is yet to be. Those that may be found are at most ef; the others are only walked
// over, and so many that a walk which finds nothing comes to an end.
class HnswIndex::Beam {
 public:
  explicit Beam(std::size_t ef) : ef_(ef) {}

  // Whether one is left to expand; TakeNext() is the best of them.
  bool HasNext() const { return next_ < kept_.size(); }
  Node TakeNext() {
    kept_[next_].is_expanded = true;
    const Node node = kept_[next_].node;
    SkipExpanded();
    return node;
  }

  // What scores no better is of no use.
  float least() const {
    const bool is_full = found_ == ef_ || kept_.size() == kMostPerFound * ef_;
    return is_full ? kept_.back().score : kWorst;
  }

  // Takes nodes that score better than least() to the next Merge().
  void Add(Near near, bool may_be_found) {
    found_ += may_be_found;
    std::size_t at = added_.size();
    added_.emplace_back();
    for (; at > 0 && added_[at - 1].score < near.score; --at) added_[at] = added_[at - 1];
    added_[at] = {.score = near.score, .node = near.node, .may_be_found = may_be_found};
  }

  void Merge() {
    if (added_.empty()) return;
    std::size_t from = kept_.size(), to = from + added_.size();
    kept_.resize(to);
    for (; !added_.empty(); added_.pop_back()) {
      const Kept& worst = added_.back();
      while (from > 0 && kept_[from - 1].score < worst.score) kept_[--to] = kept_[--from];
      kept_[--to] = worst;
    }
    next_ = std::min(next_, to);
    DropWorst();
    SkipExpanded();
  }

  std::vector<Near> Found() const {
    std::vector<Near> found;
    found.reserve(found_);
    for (const Kept& kept : kept_) {
      if (kept.may_be_found) found.push_back({kept.score, kept.node});
    }
    return found;
  }

 private:
  struct Kept {
    float score;
    Node node : 30;
    Node may_be_found : 1;
    Node is_expanded : 1;
  };
  // Of all that are kept, one in so many may be found.
  static constexpr std::size_t kMostPerFound = 16;

  void SkipExpanded() {
    while (HasNext() && kept_[next_].is_expanded) ++next_;
  }
  void DropWorst() {
    while (found_ > ef_ || (found_ == ef_ && !kept_.back().may_be_found) ||
           kept_.size() > kMostPerFound * ef_) {
      found_ -= kept_.back().may_be_found;
      kept_.pop_back();
    }
  }

  std::size_t ef_;
  std::size_t found_ = 0;
  std::size_t next_ = 0;
  std::vector<Kept> kept_;
  std::vector<Kept> added_;  // best first
};

template <typename Accepts>
std::vector<HnswIndex::Near> HnswIndex::SearchLevel(Code query, Near entry, std::uint32_t level,
                                                    std::size_t ef, Accepts accepts) const {
  if (++visit_ == 0) {
    std::ranges::fill(visited_, 0);
    visit_ = 1;
  }
  Beam beam(std::min(ef, slots_.size()));
  std::vector<Node> fresh(MaxLinks(level));
  std::vector<float> scores(MaxLinks(level));
  visited_[entry.node] = visit_;
  beam.Add(entry, accepts(entry.node));
  for (beam.Merge(); beam.HasNext(); beam.Merge()) {
    const std::size_t count = TakeUnvisited(LinksOf(beam.TakeNext(), level), fresh.data());
    Score(query, {fresh.data(), count}, scores.data());
    const float least = beam.least();
    for (std::size_t i = 0; i < count; ++i) {
      if (scores[i] > least) beam.Add({scores[i], fresh[i]}, accepts(fresh[i]));
    }
  }
  return beam.Found();
}

// Without a branch, which would be mispredicted once in three times.
std::size_t HnswIndex::TakeUnvisited(Links links, Node* unvisited) const {
  const Visit visit = visit_;
  Visit* const visited = visited_.data();
  std::size_t count = 0;
  for (const Node *next = links + 1, *end = next + links[0]; next != end; ++next) {
    const Node node = *next;
    unvisited[count] = node;
    count += visited[node] != visit;
    visited[node] = visit;
  }
  return count;
}

std::vector<HnswIndex::Near> HnswIndex::SelectNeighbors(Node center,
                                                        std::span<const Near> candidates,
                                                        std::size_t count) const {
  const float center_scale = CodeOf(center).scale.scale;
  std::vector<Near> selected;
  std::vector<Node> nodes;
  std::vector<std::int16_t> code;
  std::vector<float> scores(count);
  std::size_t ties = 0;
  std::size_t last = 0;  // of nodes, that kept one out: half of the time it keeps out the next
  for (const Near& candidate : candidates) {
    if (selected.size() == count) break;
    const float scale = CodeOf(candidate.node).scale.scale;
    const float to_center = candidate.score * center_scale;
    float nearest = kWorst;
    if (!nodes.empty()) {
      WidenCode(candidate.node, &code);
      Score(code, {&nodes[last], 1}, &nearest);
      nearest *= scale;
    }
    // In blocks, because one of the first is near enough most of the time.
    for (std::size_t i = 0; i < nodes.size() && nearest <= to_center; i += kBlock) {
      const std::size_t block = std::min(kBlock, nodes.size() - i);
      Score(code, {&nodes[i], block}, scores.data());
      for (std::size_t r = 0; r < block; ++r) {
        if (scores[r] * scale > to_center) last = i + r;
        nearest = std::max(nearest, scores[r] * scale);
      }
    }
    if (nearest > to_center) continue;
    // Equal vectors must not take all places: no way would lead from them to others.
    if (nearest == to_center && ++ties > count / 2) continue;
    selected.push_back(candidate);
    nodes.push_back(candidate.node);
  }
  return selected;
}

void HnswIndex::Connect(Node node, std::span<const Near> neighbors, std::uint32_t level) {
  const Links links = LinksOf(node, level);
  for (const Near& neighbor : neighbors) links[++links[0]] = neighbor.node;
  for (const Near& neighbor : neighbors) AddLink(neighbor.node, {neighbor.score, node}, level);
}

void HnswIndex::AddLink(Node from, Near to, std::uint32_t level) {
  const Links links = LinksOf(from, level);
  if (links[0] < MaxLinks(level)) {
    links[++links[0]] = to.node;
    return;
  }
  // Full: the neighbors are selected anew, the new one among them.
  std::vector<std::int16_t> code;
  WidenCode(from, &code);
  std::vector<Node> nodes(links + 1, links + 1 + links[0]);
  nodes.push_back(to.node);
  std::vector<float> scores(nodes.size());
  Score(code, nodes, scores.data());
  std::vector<Near> candidates;
  for (std::size_t i = 0; i < nodes.size(); ++i) candidates.push_back({scores[i], nodes[i]});
  HeapSort(candidates, [](const Near& a, const Near& b) { return a.score > b.score; });
  const std::vector<Near> selected = SelectNeighbors(from, candidates, MaxLinks(level));
  links[0] = 0;
  for (const Near& near : selected) links[++links[0]] = near.node;
}

void HnswIndex::Search(const CodedQuery& query, std::size_t ef_search, const Scope& scope,
                       Shortlist& candidates) const {
  if (slots_.empty()) return;
  Near near{.score = 0, .node = entry_};
  Score(query.code, {&entry_, 1}, &near.score);
  for (std::uint32_t level = top_level_; level > 0; --level)
    near = Descend(query.code, near, level);
  const auto accepts = [&](Node node) {
    const Slot slot = slots_[node];
    return codes_.Has(slot) && (scope.among == nullptr || scope.among->Has(slot)) &&
           (scope.groups == nullptr || (*scope.groups)[codes_.OwnerOf(slot).group]);
  };
  const auto accepts_any = [&](Node node) {
    while (!accepts(node)) {
      if (twins_[node] == 0) return false;
      node = twins_[node];
    }
    return true;
  };
  std::size_t left = ef_search;
  for (const Near& found : SearchLevel(query.code, near, 0, ef_search, accepts_any)) {
    const float score = found.score * query.scale.scale;
    Node node = found.node;
    do {
      if (accepts(node)) {
        const Slot slot = slots_[node];
        const float error = query.error.Of(codes_.RowOf(slot).scale);
        candidates.Push({slot, score + error, score - error});
        if (--left == 0) return;
      }
      node = twins_[node];
    } while (node != 0);
  }
}

void HnswIndex::WriteShape(Bytes& out) const {
  AppendVarint(M_, out);
  AppendVarint(slots_.size(), out);
  AppendVarint(entry_, out);
  AppendVarint(top_level_, out);
  AppendVarint(covered_to(), out);
  if (width_ != kWidth) AppendVarint(width_, out);
}

void HnswIndex::WritePage(std::size_t page, Bytes& out) const {
  const std::size_t end = std::min(slots_.size(), (page + 1) * kPageNodes);
  Slot before = 0;
  for (std::size_t node = page * kPageNodes; node < end; ++node) {
    const Slot slot = slots_[node];
    AppendVarint(slot - before, out);
    before = slot;
    if (IsTwin(static_cast<Node>(node))) {
      AppendVarint(MaxLinks(0) + 1, out);
      AppendVarint(LinksOf(static_cast<Node>(node), 0)[1] - 1, out);
      continue;
    }
    for (std::uint32_t level = 0; level <= LevelOf(slot); ++level) {
      const Links links = LinksOf(static_cast<Node>(node), level);
      for (std::uint32_t i = 0; i <= links[0]; ++i) AppendVarint(links[i], out);
    }
  }
}

bool HnswReader::ReadShape(ByteView bytes) {
  ByteReader reader(bytes);
  const std::uint64_t M = reader.Varint(), nodes = reader.Varint(), entry = reader.Varint(),
                      top_level = reader.Varint();
  covered_to_ = reader.Varint();
  const std::uint64_t width = reader.done() ? HnswIndex::kWidth : reader.Varint();
  const bool sound = reader.ok() && reader.done() && M == options_.M && nodes > 0 &&
                     nodes <= HnswIndex::kMaxNodes && entry < nodes && covered_to_ < kMaxSlot &&
                     width <= HnswIndex::kMaxWidth;
  if (!sound) return false;
  nodes_ = static_cast<std::size_t>(nodes);
  index_ = std::make_unique<HnswIndex>(codes_, options_);
  index_->entry_ = static_cast<std::uint32_t>(entry);
  index_->top_level_ = static_cast<std::uint32_t>(top_level);
  index_->width_ = static_cast<std::size_t>(width);
  return true;
}

bool HnswReader::ReadPage(ByteView bytes) {
  HnswIndex& index = *index_;
  ByteReader reader(bytes);
  Slot slot = 0;
  for (std::size_t i = 0; i < HnswIndex::kPageNodes && index.size() < nodes_; ++i) {
    slot += reader.Varint();
    const bool ascends = index.size() == 0 || slot > index.covered_to();
    if (!reader.ok() || !ascends) return false;
    const std::uint32_t top = index.LevelOf(slot);
    const auto node = index.AddNode(slot, top);
    for (std::uint32_t level = 0; level <= top && !index.IsTwin(node); ++level) {
      if (!ReadLinks(reader, node, level)) return false;
    }
  }
  return reader.done();
}

bool HnswReader::ReadLinks(ByteReader& reader, std::uint32_t node, std::uint32_t level) {
  const HnswIndex::Links links = index_->LinksOf(node, level);
  const std::uint32_t most = index_->MaxLinks(level);
  const std::uint64_t count = reader.Varint();
  if (level == 0 && count == most + 1) {
    const std::uint64_t of = reader.Varint();
    if (!reader.ok() || of >= node || index_->IsTwin(static_cast<std::uint32_t>(of))) return false;
    index_->AddTwin(node, static_cast<std::uint32_t>(of));
    return true;
  }
  if (count > most) return false;
  links[0] = static_cast<std::uint32_t>(count);
  for (std::uint32_t i = 1; i <= count; ++i) {
    const std::uint64_t other = reader.Varint();
    if (other >= nodes_) return false;
    links[i] = static_cast<std::uint32_t>(other);
  }
  return reader.ok();
}

std::unique_ptr<HnswIndex> HnswReader::Finish() {
  HnswIndex& index = *index_;
  const bool whole = index.size() == nodes_ && index.covered_to() == covered_to_;
  if (!whole || index.IsTwin(index.entry_) ||
      index.LevelOf(index.slots_[index.entry_]) != index.top_level_)
    return nullptr;
  // A level that a link is on, its end is on, too.
  for (HnswIndex::Node node = 0; node < nodes_; ++node) {
    for (std::uint32_t level = index.LevelOf(index.slots_[node]); level > 0; --level) {
      const HnswIndex::Links links = index.LinksOf(node, level);
      for (std::uint32_t i = 1; i <= links[0]; ++i) {
        if (index.LevelOf(index.slots_[links[i]]) < level) return nullptr;
      }
    }
  }
  auto living = codes_.FirstFrom(0);
  for (const Slot slot : index.slots_) {
    if (living && *living < slot) return nullptr;
    if (living == slot) living = codes_.FirstFrom(slot + 1);
  }
  index.MarkSaved();
  return std::move(index_);
}

}  // namespace keepsake::search
