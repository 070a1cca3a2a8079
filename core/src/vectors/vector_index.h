// A VectorIndex knows whose every vector is and in which namespace, and finds the items
// whose vectors are nearest to a query. It answers candidates, not scores: the caller
// has the float32 rows, scores items by their best vector, and leaves out what a filter
// or an expiry hides. It goes on asking until Ranking::IsSettled().
#ifndef KEEPSAKE_VECTORS_VECTOR_INDEX_H_
#define KEEPSAKE_VECTORS_VECTOR_INDEX_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vectors/flat_index.h"
#include "vectors/hnsw_index.h"
#include "vectors/planner.h"

namespace keepsake::search {

struct VectorQuery {
  std::span<const float> vector;
  std::string_view encoded_prefix;  // of namespaces; "" for all
  const SlotSet* among = nullptr;   // what a filter leaves, if it is known; may be too many
  bool is_filtered = false;         // a filter may hide any of them
  std::size_t wanted = 0;           // offset + limit
  std::size_t few = 0;              // rows of so many are read sooner than their codes
  Plan forced = Plan::kAuto;
  std::size_t ef_search = 0;  // 0 for what suits `wanted`
};

class VectorIndex;

// The candidates of one search, best first, in growing portions.
class VectorSearch {
 public:
  // As far as the search went. For kExact there are no candidates: the caller reads all rows.
  PlanTaken taken() const {
    return {.plan = plan_,
            .vectors = facts_.candidates,
            .in_graph = facts_.in_graph,
            .by_signs = by_signs_};
  }
  // Items which were not returned yet; none if there are no more, or so many were of no
  // use that reading all rows is cheaper. Valid until the next call.
  std::span<const std::uint64_t> Next();
  // Whether there are no more: every item with a vector was returned.
  bool is_exhausted() const { return has_all_ && taken_ == candidates_.size(); }
  // What the items that were not returned score at most; as far as a graph knows.
  float bound() const { return bound_; }

 private:
  friend class VectorIndex;
  static constexpr float kNothing = -std::numeric_limits<float>::infinity();

  VectorSearch(const VectorIndex& index, const VectorQuery& query, const PlanFacts& facts);

  // A list of those that may be best, or of all.
  void Scan(bool all);
  void Use(Shortlist list);
  // How many of the best there is no doubt about that they must be looked at.
  std::size_t FirstPortion();

  const VectorIndex& index_;
  VectorQuery query_;
  PlanFacts facts_;
  Plan plan_;
  bool has_all_ = false;
  bool by_signs_ = false;
  std::vector<Candidate> candidates_;
  std::size_t taken_ = 0;
  std::size_t portion_ = 0;
  std::size_t end_ = 0;
  float rest_bound_ = kNothing;  // of those that are no candidates
  float bound_ = -kNothing;
  std::vector<std::uint64_t> items_;
  std::unordered_set<std::uint64_t> seen_;
};

class VectorIndex {
 public:
  explicit VectorIndex(std::size_t dims) : codes_(dims, Metric::kCosine, CodeKind::kInt8) {}

  // Each vector of an item is added by itself. `ns` is encoded.
  // REQUIRES: as FlatIndex.
  void Add(Slot slot, std::uint64_t item, std::string_view ns, std::span<const float> vector);
  void AddCode(Slot slot, std::uint64_t item, std::string_view ns, CodeScale scale,
               std::span<const std::uint8_t> code);
  void AddDeadCode(Slot slot, CodeScale scale, std::span<const std::uint8_t> code) {
    codes_.AddDeadCode(slot, scale, code);
  }
  // Both do nothing where no vector is.
  void Remove(Slot slot);
  void Move(Slot from, Slot to);

  const FlatIndex& codes() const { return codes_; }
  // Vectors of the namespaces that begin so; all if it is empty.
  std::size_t CountBelow(std::string_view encoded_prefix) const;
  // About what it takes in memory.
  std::size_t bytes() const {
    constexpr std::size_t kPerSlot = sizeof(CodeScale) + sizeof(Owner) + sizeof(Slot);
    constexpr std::size_t kPerNode = 160;  // links of M = 16
    const std::size_t signs = codes_.code_bytes() / 8;
    const std::size_t nodes = graph_ == nullptr ? 0 : graph_->size();
    return codes_.capacity() * (codes_.code_bytes() + signs + kPerSlot) + nodes * kPerNode;
  }

  // Inserts up to `vectors` into the graph, which is begun when IsGraphWanted(), or if somebody
  // wants it, and anew when a quarter of it is dead. True if more is left to do. Its width is
  // what walks of several widths find of what is nearest to vectors that are about to be
  // inserted, and to points between two vectors. Where they miss too many it is doubled: of
  // vectors without any order, in many dimensions, no walk that is worth it finds enough.
  bool ImproveGraph(std::size_t vectors, bool is_wanted = false);
  // Null if there is none.
  HnswIndex* graph() { return graph_.get(); }
  // One of these codes, in place of the one that is there.
  void AdoptGraph(std::unique_ptr<HnswIndex> graph) {
    graph_ = std::move(graph);
    near_trial_ = between_trial_ = {};
  }
  // Vectors that a search finds by the graph.
  std::size_t in_graph() const;

  // Lives no longer than the next change of the index.
  VectorSearch Search(const VectorQuery& query) const;

 private:
  friend class VectorSearch;

  struct Bucket {
    std::uint32_t group = 0;
    std::size_t living = 0;
    std::vector<Slot> slots;  // with some dead ones
  };
  using Buckets = std::map<std::string, Bucket, std::less<>>;

  std::uint32_t GroupOf(std::string_view ns, Slot slot);
  std::ranges::subrange<Buckets::const_iterator> BucketsBelow(std::string_view prefix) const;
  void DropDeadSlots(Bucket& bucket) const;
  // Which groups are below a prefix, by number.
  std::vector<bool> GroupsBelow(std::string_view prefix) const;
  // `all`: no one may be left out. True if signs chose them.
  bool Scan(const VectorQuery& query, bool all, Shortlist& candidates) const;
  void Walk(const VectorQuery& query, Shortlist& candidates) const;

  // What share of the best `wanted` of a scan a walk of each width finds, of the last questions.
  struct Trial {
    static constexpr std::array<std::size_t, 3> kNarrower = {64, 96, 128};
    static constexpr std::size_t kWide = kNarrower.size();  // the place of wide()

    std::size_t asked = 0;
    std::array<double, kNarrower.size() + 1> recall = {};
  };
  // Asks the graph for what is nearest to a vector that it does not have, or, every other time,
  // to a point between that one and another.
  void AskGraph(Slot slot);
  void Ask(const CodedQuery& query, Trial& trial) const;
  std::size_t WidthAt(std::size_t place) const;
  void ChooseWidth();

  FlatIndex codes_;
  std::unique_ptr<HnswIndex> graph_;
  Trial near_trial_, between_trial_;
  Buckets buckets_;
  std::vector<Buckets::iterator> groups_;  // by Owner::group
  std::vector<std::uint32_t> free_groups_;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_VECTOR_INDEX_H_
