#include "search/hnsw_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "search/heap_sort.h"
#include "varint.h"

namespace keepsake::search {
namespace {

constexpr float kWorst = -std::numeric_limits<float>::infinity();
constexpr Slot kMaxSlot = Slot{1} << 62;

struct WorseFirst {
  template <typename Near>
  bool operator()(const Near& a, const Near& b) const {
    return a.score > b.score;
  }
};

struct BetterFirst {
  template <typename Near>
  bool operator()(const Near& a, const Near& b) const {
    return a.score < b.score;
  }
};

// A binary heap whose front is what Order puts first.
template <typename Near, typename Order>
class Heap {
 public:
  void Push(const Near& near) {
    values_.push_back(near);
    std::ranges::push_heap(values_, Order());
  }
  Near Pop() {
    std::ranges::pop_heap(values_, Order());
    const Near near = values_.back();
    values_.pop_back();
    return near;
  }
  const Near& front() const { return values_.front(); }
  std::size_t size() const { return values_.size(); }
  std::vector<Near> TakeSorted() {
    std::ranges::sort_heap(values_, Order());
    return std::move(values_);
  }

 private:
  std::vector<Near> values_;
};

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
    for (std::uint32_t at = std::min(level, top_level_) + 1; at-- > 0;) {
      const std::vector<Near> found =
          SearchLevel(code, near, at, ef_construction_, [](Node) { return true; });
      Connect(node, SelectNeighbors(node, found, M_), at);
      near = found.front();
    }
  }
  if (is_first || level > top_level_) {
    entry_ = node;
    top_level_ = level;
  }
}

void HnswIndex::WidenCode(Node node, std::vector<std::int16_t>* code) const {
  const FlatIndex::CodeRow row = codes_.RowOf(slots_[node]);
  code->resize(codes_.code_bytes());
  for (std::size_t i = 0; i < code->size(); ++i) {
    (*code)[i] = row.code == nullptr ? 0 : static_cast<std::int8_t>(row.code[i]);
  }
}

void HnswIndex::Score(Code query, std::span<const Node> nodes, float* scores) const {
  for (std::size_t i = 0; i < nodes.size(); i += kBlock) {
    const std::size_t count = std::min(kBlock, nodes.size() - i);
    CodeRows rows;
    std::array<float, kBlock> scales;
    const std::uint8_t* any = nullptr;
    for (std::size_t r = 0; r < count; ++r) {
      const FlatIndex::CodeRow row = codes_.RowOf(slots_[nodes[i + r]]);
      rows[r] = row.code;
      scales[r] = row.scale.scale;
      if (row.code != nullptr) any = row.code;
    }
    if (any == nullptr) {
      std::fill_n(scores + i, count, kWorst);
      continue;
    }
    std::array<bool, kBlock> gone = {};
    for (std::size_t r = 0; r < kBlock; ++r) {
      gone[r] = r < count && rows[r] == nullptr;
      if (r >= count || gone[r]) rows[r] = any;
    }
    const CodeDots dots = DotInt8Block(query, rows);
    for (std::size_t r = 0; r < count; ++r) {
      scores[i + r] = gone[r] ? kWorst : static_cast<float>(dots[r]) * scales[r];
    }
  }
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

bool HnswIndex::MarkVisited(Node node) const {
  if (visited_[node] == visit_) return false;
  visited_[node] = visit_;
  return true;
}

template <typename Accepts>
std::vector<HnswIndex::Near> HnswIndex::SearchLevel(Code query, Near entry, std::uint32_t level,
                                                    std::size_t ef, Accepts accepts) const {
  if (++visit_ == 0) {
    std::ranges::fill(visited_, 0);
    visit_ = 1;
  }
  Heap<Near, BetterFirst> frontier;
  Heap<Near, WorseFirst> found;
  std::vector<Node> fresh(MaxLinks(level));
  std::vector<float> scores(MaxLinks(level));
  MarkVisited(entry.node);
  frontier.Push(entry);
  if (accepts(entry.node)) found.Push(entry);
  while (frontier.size() > 0) {
    const Near near = frontier.Pop();
    if (found.size() == ef && near.score < found.front().score) break;
    const Links links = LinksOf(near.node, level);
    std::size_t count = 0;
    for (std::uint32_t i = 1; i <= links[0]; ++i) {
      if (MarkVisited(links[i])) fresh[count++] = links[i];
    }
    Score(query, {fresh.data(), count}, scores.data());
    for (std::size_t i = 0; i < count; ++i) {
      const bool has_room = found.size() < ef;
      if (scores[i] == kWorst || (!has_room && scores[i] <= found.front().score)) continue;
      frontier.Push({scores[i], fresh[i]});
      if (!accepts(fresh[i])) continue;
      found.Push({scores[i], fresh[i]});
      if (!has_room) found.Pop();
    }
  }
  return found.TakeSorted();
}

std::vector<HnswIndex::Near> HnswIndex::SelectNeighbors(Node center,
                                                        std::span<const Near> candidates,
                                                        std::size_t count) const {
  const float center_scale = codes_.RowOf(slots_[center]).scale.scale;
  std::vector<Near> selected;
  std::vector<Node> nodes;
  std::vector<std::int16_t> code;
  std::vector<float> scores(count);
  std::size_t ties = 0;
  for (const Near& candidate : candidates) {
    if (selected.size() == count) break;
    const float scale = codes_.RowOf(slots_[candidate.node]).scale.scale;
    const float to_center = candidate.score * center_scale;
    float nearest = kWorst;
    if (!nodes.empty()) WidenCode(candidate.node, &code);
    // In blocks, because one of the first is near enough most of the time.
    for (std::size_t i = 0; i < nodes.size() && nearest <= to_center; i += kBlock) {
      const std::size_t block = std::min(kBlock, nodes.size() - i);
      Score(code, {&nodes[i], block}, scores.data());
      for (std::size_t r = 0; r < block; ++r) nearest = std::max(nearest, scores[r] * scale);
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
  HeapSort(candidates, WorseFirst());
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
  for (const Near& found : SearchLevel(query.code, near, 0, ef_search, accepts)) {
    const Slot slot = slots_[found.node];
    const float score = found.score * query.scale.scale;
    const float error = query.error.Of(codes_.RowOf(slot).scale);
    candidates.Push({slot, score + error, score - error});
  }
}

void HnswIndex::WriteShape(Bytes& out) const {
  AppendVarint(M_, out);
  AppendVarint(slots_.size(), out);
  AppendVarint(entry_, out);
  AppendVarint(top_level_, out);
  AppendVarint(covered_to(), out);
}

void HnswIndex::WritePage(std::size_t page, Bytes& out) const {
  const std::size_t end = std::min(slots_.size(), (page + 1) * kPageNodes);
  Slot before = 0;
  for (std::size_t node = page * kPageNodes; node < end; ++node) {
    const Slot slot = slots_[node];
    AppendVarint(slot - before, out);
    before = slot;
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
  const bool sound = reader.ok() && reader.done() && M == options_.M && nodes > 0 &&
                     nodes <= std::numeric_limits<std::uint32_t>::max() && entry < nodes &&
                     covered_to_ < kMaxSlot;
  if (!sound) return false;
  nodes_ = static_cast<std::size_t>(nodes);
  index_ = std::make_unique<HnswIndex>(codes_, options_);
  index_->entry_ = static_cast<std::uint32_t>(entry);
  index_->top_level_ = static_cast<std::uint32_t>(top_level);
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
    for (std::uint32_t level = 0; level <= top; ++level) {
      if (!ReadLinks(reader, index.LinksOf(node, level), index.MaxLinks(level))) return false;
    }
  }
  return reader.done();
}

bool HnswReader::ReadLinks(ByteReader& reader, std::uint32_t* links, std::uint32_t most) const {
  const std::uint64_t count = reader.Varint();
  if (count > most) return false;
  links[0] = static_cast<std::uint32_t>(count);
  for (std::uint32_t i = 1; i <= count; ++i) {
    const std::uint64_t node = reader.Varint();
    if (node >= nodes_) return false;
    links[i] = static_cast<std::uint32_t>(node);
  }
  return reader.ok();
}

std::unique_ptr<HnswIndex> HnswReader::Finish() {
  HnswIndex& index = *index_;
  const bool whole = index.size() == nodes_ && index.covered_to() == covered_to_;
  if (!whole || index.LevelOf(index.slots_[index.entry_]) != index.top_level_) return nullptr;
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
