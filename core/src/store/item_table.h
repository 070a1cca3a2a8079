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
#include <unordered_map>
#include <vector>

#include "base/answer_room.h"
#include "base/page.h"
#include "keepsake/function_ref.h"
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
using ItemHits = std::vector<Hit>;

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

// What is known of an item that may be erased or evicted. Views are valid while it is offered.
struct ItemTrace {
  std::int64_t id = 0;
  std::string_view encoded_ns;
  std::string_view key;
  std::string_view value;
  std::int64_t updated_at_ms = 0;
  std::int64_t expires_at_ms = 0;  // kNeverExpires
  std::uint64_t vectors = 0;
  std::optional<Provenance> provenance{};
};

struct ExpiringItem {
  std::int64_t id = 0;
  ItemName name;
  std::int64_t expires_at_ms = 0;  // kNeverExpires
};

// Items that a search read to rank them, by id, so that a hit is read once. A value that is
// large is left out, and "" then, which no value is.
struct KeptItem {
  std::string encoded_ns;
  FoundItem found;
};
using KeptItems = std::unordered_map<std::int64_t, KeptItem>;

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

// What is nearest to a query, best first.
struct NearItem {
  std::int64_t id = 0;
  double score = 0;
};
struct NearItems {
  std::vector<NearItem> items;
  float bound = 0;          // what is not among them scores no more
  std::size_t vectors = 0;  // among which they were found
};

// How a search finds candidates by an index of vectors, whose items are ids.
struct IndexUse {
  std::optional<NearItems> near;               // found without an index
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
  virtual Result<std::vector<FoundItem>> ReadHits(const ItemHits& hits, KeptItems kept) = 0;
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
  // The page of a search, by listing or by vector, out of all items below the prefix.
  virtual Result<ItemHits> RankAll(const CheckedSearch& search) = 0;
  // The index is valid until the search ends.
  virtual Result<IndexUse> UseIndex(const CheckedSearch& search) = 0;
  // Adds those candidates that the search wants, each with its best vector's score. The ranking
  // borrows from what is kept.
  virtual Status ScoreCandidates(std::span<const std::uint64_t> ids, const CheckedSearch& search,
                                 const search::CosineQuery& query, ScoredHits<RankedItem>& ranking,
                                 KeptItems& kept) = 0;
  // Adds those without a vector that the search wants. False if they are too many for that,
  // so that RankAll() is to answer.
  virtual Result<bool> AddUnindexed(const CheckedSearch& search, Page& page) = 0;
  // The `most` best hits.
  virtual Result<std::vector<search::TextHit>> RankByText(const CheckedSearch& search,
                                                          std::size_t most,
                                                          const search::Meaning& meaning,
                                                          search::TextPlan& plan) = 0;

  // Reads for writes.

  // All items of exactly this namespace, expired ones, too; and those that have expired.
  virtual Result<std::vector<ExpiringItem>> ReadNamespace(std::string_view encoded_ns) = 0;
  virtual Result<std::vector<ExpiringItem>> ReadExpired(std::uint32_t max_items,
                                                        std::int64_t now_ms) = 0;
  // Offers all items whose namespace begins so, expired ones, too, by namespace and key: those
  // behind `after`, or all if it is null.
  virtual Status ReadBelow(std::string_view encoded_prefix, const ItemName* after,
                           Visitor<const ItemTrace&> offer) = 0;
  // What was superseded by items with these marks, which are sorted: by namespace and key.
  virtual Result<std::vector<ItemName>> SupersededBy(std::span<const std::int64_t> marks) = 0;

  // Writes, each within InOperation(), which change what is made of items, too: item_writes.h
  // has the rules that they follow.

  // All of it is done, or nothing. Says which operation it was, 0 if it left no version.
  // `is_single`: it changes one item.
  virtual Result<std::int64_t> InOperation(FunctionRef<Status()> body, bool is_single = false) = 0;
  // Called without InOperation(): writes the put and answers true, if one statement is enough for
  // that and it leaves no version.
  virtual Result<bool> WriteAlone(const CheckedPut& put, std::int64_t now_ms) = 0;
  // Restarts the TTLs of those items that have one. May be called without InOperation().
  virtual Status RestartTtls(std::span<const std::int64_t> ids, std::int64_t now_ms) = 0;
  // REQUIRES: it has a value.
  virtual Status PutItem(const CheckedPut& put, std::int64_t now_ms) = 0;
  // Makes an item what it was. Borrows both until the operation has ended. REQUIRES: its vectors
  // are of the index.
  virtual Status PutState(const ItemName& name, const ItemState& state) = 0;
  virtual Status DeleteItem(std::string_view encoded_ns, std::string_view key) = 0;
  virtual Status DeleteItems(std::span<const std::int64_t> ids) = 0;
  // Ends the item that a put supersedes, if it is there.
  virtual Status Supersede(const CheckedPut& put, std::int64_t now_ms) = 0;
  virtual Status Reopen(const ReopenedItem& item) = 0;
  // What was superseded by items with these marks, which are sorted, says so no longer.
  virtual Status ForgetSuccessors(std::span<const std::int64_t> marks) = 0;
  // Gives up what is made of many items, and may hold something of those that are forgotten.
  // REQUIRES: these were deleted.
  virtual Status ForgetDerived() = 0;

  // History.

  virtual HistoryTable& history() = 0;
  // An item, expired or not; nothing if there is none.
  virtual Result<std::optional<ItemState>> ReadState(const ItemName& name) = 0;
  // All items whose namespace begins so, expired ones, too.
  virtual Status ReadStates(std::string_view encoded_prefix,
                            Visitor<const ItemName&, const ItemState&> offer) = 0;

 protected:
  ~ItemTable() = default;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_ITEM_TABLE_H_
