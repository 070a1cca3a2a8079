// An HnswIndex is a graph over the codes of a FlatIndex, in which near vectors are
// neighbors: Malkov and Yashunin, "Efficient and robust approximate nearest neighbor
// search using Hierarchical Navigable Small World graphs", 2016 (arXiv 1603.09320). It
// holds neighbors only, no codes; it reads them four at a time.
// Our own, because hnswlib throws, locks and keeps a copy of each code: README.md. It is
// the judge of this one in tests/core/hnsw_judge_test.cc.
//
// Slots are inserted in ascending order, at most covered_to() so far; who searches scans
// the rest. A vector that dies stays as a tombstone, which is walked over and never
// found; an index with too many of them is to be built anew.
//
// As bytes, it is a shape and pages of kPageNodes nodes, all numbers varints:
//   shape := M nodes entry top_level covered_to, and width() if it is not kWidth
//   page  := node*
//   node  := slot (less that of the node before, in its page) links, one for each level
//            from 0 to that of the slot
//   links := count node*, or of a twin in place of all its links: 2M + 1 and whose it is
//
// A vector whose code a node has already is a twin of that node: it has no links, and is
// found with it. So a text that is stored a thousand times takes one place in the graph;
// as many nodes, equally near to everything, would have links to each other only.
#ifndef KEEPSAKE_VECTORS_HNSW_INDEX_H_
#define KEEPSAKE_VECTORS_HNSW_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "keepsake/bytes.h"
#include "vectors/flat_index.h"

namespace keepsake {
class ByteReader;
}

namespace keepsake::search {

struct HnswOptions {
  // Neighbors of a node on upper levels, twice as many (M0) on the lowest. Memory is
  // about 8 · M bytes a vector; more raises recall where vectors have many dimensions.
  std::uint32_t M = 16;
  // Candidates for neighbors. Building costs in proportion.
  std::uint32_t ef_construction = 200;
};

class HnswIndex {
 public:
  // `codes` is borrowed, and of Metric::kCosine and CodeKind::kInt8.
  explicit HnswIndex(const FlatIndex& codes, HnswOptions options = {});

  // REQUIRES: codes.Has(slot), and slot > covered_to().
  void Insert(Slot slot);

  // Nodes, tombstones included, and their slots, in ascending order.
  std::size_t size() const { return slots_.size(); }
  std::span<const Slot> slots() const { return slots_; }
  // The last slot that was inserted.
  Slot covered_to() const { return slots_.empty() ? 0 : slots_.back(); }

  // The ef_search that searches of these vectors need at least; 0 if none finds enough.
  static constexpr std::size_t kWidth = 160;  // enough for texts: bench/README.md
  static constexpr std::size_t kMaxWidth = 4 * kWidth;
  std::size_t width() const { return width_; }
  void set_width(std::size_t width) { width_ = width; }

  // Bytes of what is there, for HnswReader.
  void WriteShape(Bytes& out) const;
  std::size_t pages() const { return base_links_.size(); }
  void WritePage(std::size_t page, Bytes& out) const;
  // Nodes that were inserted since this was last said.
  std::size_t unsaved() const { return slots_.size() - saved_; }
  void MarkSaved() { saved_ = slots_.size(); }

  // Which nodes a search may find.
  struct Scope {
    const std::vector<bool>* groups = nullptr;  // whose group is in them, or all
    const SlotSet* among = nullptr;             // that are in this set, or all
  };
  // Gives up to ef_search candidates that live. REQUIRES: the query is of `codes`.
  void Search(const CodedQuery& query, std::size_t ef_search, const Scope& scope,
              Shortlist& candidates) const;
  // Nodes scored so far, by searches and insertions: the work that they were.
  std::size_t scored() const { return scored_; }

 private:
  friend class HnswReader;

  using Node = std::uint32_t;
  using Code = std::span<const std::int16_t>;
  struct Near {
    float score;  // in units of the query's scale
    Node node;
  };
  // Of a node on a level: their number, then they.
  using Links = std::uint32_t*;
  class Beam;
  static constexpr std::size_t kPageNodes = 1024;
  static constexpr std::size_t kMaxNodes = std::size_t{1} << 30;

  Links LinksOf(Node node, std::uint32_t level) const;
  // A twin has no links; where the first would be is whose it is, plus one.
  bool IsTwin(Node node) const { return LinksOf(node, 0)[0] == 0 && LinksOf(node, 0)[1] != 0; }
  void AddTwin(Node twin, Node of);
  // Of those found near a node, the one with the same code.
  std::optional<Node> SameAs(Node node, Code code, std::span<const Near> found) const;
  // The code of a node; where it is gone with its chunk, that of a twin, or null.
  FlatIndex::CodeRow CodeOf(Node node) const;
  FlatIndex::CodeRow CodeOfTwin(Node node, FlatIndex::CodeRow row) const;
  std::uint32_t MaxLinks(std::uint32_t level) const { return level == 0 ? 2 * M_ : M_; }
  std::uint32_t LevelOf(Slot slot) const;
  Node AddNode(Slot slot, std::uint32_t level);

  // Scores of nodes, four at a time; −∞ for one whose code is gone with its chunk.
  void Score(Code query, std::span<const Node> nodes, float* scores) const;
  void WidenCode(Node node, std::vector<std::int16_t>* code) const;

  // The node on `level` that no neighbor of it is better than.
  Near Descend(Code query, Near from, std::uint32_t level) const;
  // The best ef nodes that `accepts` has, best first.
  template <typename Accepts>
  std::vector<Near> SearchLevel(Code query, Near entry, std::uint32_t level, std::size_t ef,
                                Accepts accepts) const;
  // Of candidates, best first, at most `count` that are nearer to the center than to
  // each other: the heuristic of the paper, algorithm 4.
  std::vector<Near> SelectNeighbors(Node center, std::span<const Near> candidates,
                                    std::size_t count) const;
  void Connect(Node node, std::span<const Near> neighbors, std::uint32_t level);
  void AddLink(Node from, Near to, std::uint32_t level);
  // Of neighbors, those that the walk has not met so far; now it has.
  std::size_t TakeUnvisited(Links links, Node* unvisited) const;

  const FlatIndex& codes_;
  std::uint32_t M_;
  std::uint32_t ef_construction_;
  std::vector<Slot> slots_;                                   // by node
  std::vector<Node> twins_;                                   // by node: the next one, or 0
  std::vector<std::unique_ptr<std::uint32_t[]>> base_links_;  // pages of nodes
  std::vector<std::uint32_t> upper_links_;
  std::vector<std::uint32_t> upper_at_;  // by node, into upper_links_
  Node entry_ = 0;
  std::uint32_t top_level_ = 0;
  std::size_t saved_ = 0;
  std::size_t width_ = kWidth;

  // Of the search that runs.
  using Visit = std::uint8_t;  // so that many of them fit into a cache
  mutable std::vector<Visit> visited_;
  mutable Visit visit_ = 0;
  mutable std::size_t scored_ = 0;
};

// Makes an HnswIndex of its bytes. Whatever they are, no walk over it leaves its nodes.
class HnswReader {
 public:
  explicit HnswReader(const FlatIndex& codes, HnswOptions options = {})
      : codes_(codes), options_(options) {}

  // False for a shape that is not sound.
  bool ReadShape(ByteView bytes);
  Slot covered_to() const { return covered_to_; }
  // Pages in order. False for one that is not sound.
  bool ReadPage(ByteView bytes);
  // Null unless all pages are there, and a node for every vector that lives and is covered.
  std::unique_ptr<HnswIndex> Finish();

 private:
  bool ReadLinks(ByteReader& reader, std::uint32_t node, std::uint32_t level);

  const FlatIndex& codes_;
  HnswOptions options_;
  std::unique_ptr<HnswIndex> index_;
  std::size_t nodes_ = 0;
  Slot covered_to_ = 0;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_HNSW_INDEX_H_
