// ItemTable is what a store keeps its items in: the rules of a batch and the flow of a
// search stand once, in store.cc and item_search.cc, and ask this of a table.
//
// An item is named by its id: 1…, given when it is first put. An item that has expired is
// not there, deleted or not. A search is checked already, has a limit, and names no item as
// its query: `near` was resolved.
#ifndef KEEPSAKE_STORE_ITEM_TABLE_H_
#define KEEPSAKE_STORE_ITEM_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/answer_room.h"
#include "base/page.h"
#include "keepsake/operation.h"
#include "keepsake/status.h"
#include "keepsake/visitor.h"
#include "store/checked_batch.h"
#include "store/scored_hits.h"
#include "store/versions.h"
#include "text/text_search.h"
#include "vectors/cosine.h"
#include "vectors/vector_index.h"

namespace keepsake {

using ItemIds = std::vector<std::int64_t>;
using ItemHits = std::vector<Hit<std::int64_t>>;
using ItemPage = Page<std::int64_t>;

struct FoundItem {
  std::int64_t id = 0;
  bool has_ttl = false;
  Item item;
  std::int64_t successor = 0;  // as FactMarks has it
};

// kTooLarge if the answer has no room for one more item.
inline Status TakeRoomOfItem(std::string_view encoded_ns, std::string_view key,
                             std::string_view value, std::string_view source = {}) {
  constexpr std::size_t kBeside = 256;  // its labels, times and score
  return AnswerRoom::Take(encoded_ns.size() + key.size() + value.size() + source.size() + kBeside);
}

// What is known of an item that may be erased. Views are valid while it is offered.
struct ItemTrace {
  std::int64_t id = 0;
  std::string_view encoded_ns;
  std::string_view key;
  std::string_view value;
  std::uint64_t vectors = 0;
  std::optional<Provenance> provenance{};
};

// What an erasure writes.
struct ItemErasure {
  ItemIds ids;
  std::vector<std::int64_t> versions;
  std::vector<StoredVersion> put_back;  // some of these items, as they were before these versions
  std::vector<ReopenedItem> reopened;   // what one of these items superseded
};

// The vectors of an item, one after the other, in the order of their paths.
struct ItemAndVectors {
  std::int64_t id = 0;
  std::vector<float> vectors;
};

// A hit, and where it stands among those with an equal score. Its views are valid until
// the search ends.
struct RankedItem {
  std::int64_t id = 0;
  std::string_view encoded_ns;
  std::string_view key;

  bool operator<(const RankedItem& other) const {
    return std::tie(encoded_ns, key) < std::tie(other.encoded_ns, other.key);
  }
};

// How a search finds candidates by an index of vectors, whose items are ids.
struct IndexUse {
  const search::VectorIndex* index = nullptr;  // null: rows are read
  std::optional<search::SlotSet> among;        // what the filter leaves; nullopt for all
  std::size_t few_rows = 0;                    // as VectorQuery::few
};

class ItemTable {
 public:
  // Reads.

  virtual Result<std::optional<FoundItem>> ReadItem(const CheckedGet& get, std::int64_t now_ms) = 0;
  // No vectors if there is no such item, or it has none.
  virtual Result<ItemAndVectors> ReadVectors(const ItemRef& item, std::int64_t now_ms) = 0;
  // The items of hits, in their order; without an id where a damaged file has none.
  virtual Result<std::vector<FoundItem>> ReadHits(const ItemHits& hits) = 0;
  // Sorted by code point.
  virtual Result<std::vector<std::string>> ReadKeys(std::string_view encoded_ns,
                                                    std::int64_t now_ms) = 0;
  // Of exactly this namespace, or of all that begin so.
  virtual Result<StoreUsage> Measure(std::string_view encoded_ns, bool below,
                                     std::int64_t now_ms) = 0;
  // Namespaces that begin so and have an item, in order.
  virtual Status ReadNamespaces(std::string_view encoded_prefix, std::int64_t now_ms,
                                Visitor<const Namespace&> offer) = 0;

  // Searches.

  // Whether an item may be there that another superseded.
  virtual Result<bool> HasSuperseded() = 0;
  // Before the first step of each.
  virtual void BeginSearch() {}
  // The page of a search, by listing or by vector, out of all items below the prefix.
  virtual Result<ItemHits> RankAll(const CheckedSearch& search) = 0;
  // The index is valid until the search ends.
  virtual Result<IndexUse> UseIndex(const CheckedSearch& search) = 0;
  // Adds those candidates that the search wants, each with its best vector's score.
  virtual Status ScoreCandidates(std::span<const std::uint64_t> ids, const CheckedSearch& search,
                                 const search::CosineQuery& query,
                                 ScoredHits<RankedItem>& ranking) = 0;
  // Adds those without a vector that the search wants. False if they are too many for that,
  // so that RankAll() is to answer.
  virtual Result<bool> AddUnindexed(const CheckedSearch& search, ItemPage& page) = 0;
  // The `most` best hits.
  virtual Result<std::vector<search::TextHit>> RankByText(const CheckedSearch& search,
                                                          std::size_t most,
                                                          const search::Meaning& meaning,
                                                          search::TextPlan& plan) = 0;

  // Writes: all that one is told, or nothing.

  // Restarts the TTLs of `refreshed` that have one, then puts and deletes.
  virtual Status Write(const CheckedBatch& batch, std::span<const std::int64_t> refreshed) = 0;
  // All items whose namespace begins so, expired ones, too.
  virtual Status ReadBelow(std::string_view encoded_prefix, Visitor<const ItemTrace&> offer) = 0;
  // What was superseded by items with these marks, which are sorted: by namespace and key.
  virtual Result<std::vector<ItemName>> SupersededBy(std::span<const std::int64_t> marks) = 0;
  // Deletes items, and whatever was made of them or of others that went before; and versions.
  virtual Status Erase(const ItemErasure& erasure, std::int64_t now_ms) = 0;
  // Says how many items there were.
  virtual Result<std::uint64_t> DeleteNamespace(std::string_view encoded_ns,
                                                std::int64_t now_ms) = 0;

  // History. Writes above leave versions where a rule wants them.

  virtual HistoryTable& history() = 0;
  // An item, expired or not; nothing if there is none.
  virtual Result<std::optional<ItemState>> ReadState(const ItemName& name) = 0;
  // All items whose namespace begins so, expired ones, too.
  virtual Status ReadStates(std::string_view encoded_prefix,
                            Visitor<const ItemName&, const ItemState&> offer) = 0;
  // Makes items again what they were before these versions, the last one first. That leaves
  // versions, too: of the operation that it answers.
  virtual Result<std::int64_t> PutBack(std::span<const StoredVersion> versions,
                                       std::int64_t now_ms) = 0;

 protected:
  ~ItemTable() = default;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_ITEM_TABLE_H_
