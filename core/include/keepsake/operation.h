// What can be asked of a Store, and what it answers.
// Values and filters are JSON text; the store keeps a value byte by byte.
#ifndef KEEPSAKE_OPERATION_H_
#define KEEPSAKE_OPERATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "keepsake/namespace.h"
#include "keepsake/provenance.h"
#include "keepsake/ranking.h"

namespace keepsake {

// When a fact holds: from `from_ms` on, until before `until_ms`. Without one it has no such end.
// Both are milliseconds since 1970, within what Validity::kMostMs allows.
struct Validity {
  static constexpr std::int64_t kMostMs = 8'640'000'000'000'000;  // as a Date of JavaScript

  std::optional<std::int64_t> from_ms{};
  std::optional<std::int64_t> until_ms{};

  bool Holds(std::int64_t at_ms) const {
    return (!from_ms || *from_ms <= at_ms) && (!until_ms || at_ms < *until_ms);
  }
  bool operator==(const Validity&) const = default;
};

struct Item {
  Namespace ns;
  std::string key;
  std::string value;  // JSON, as it was put
  std::int64_t created_at_ms = 0;
  std::int64_t updated_at_ms = 0;
  std::optional<Validity> validity{};      // none: it holds at any time
  std::optional<Provenance> provenance{};  // none: nobody said where it comes from

  bool operator==(const Item&) const = default;
};

struct SearchItem {
  Item item;
  std::optional<double> score;       // higher is better; see SearchMode
  std::vector<ScorePart> parts{};    // if Ranking::explain asks for them
  std::optional<Snippet> snippet{};  // if Ranking::snippet_length does
  std::string plan{};                // how the hits were looked for, for people; if explained

  bool operator==(const SearchItem&) const = default;
};

struct ItemRef {  // where an item is
  Namespace ns;
  std::string key;

  bool operator==(const ItemRef&) const = default;
};

// nullopt if there is no such item, or it has expired. Neither validity nor quarantine hides
// anything from a get.
struct GetOp {
  Namespace ns;
  std::string key;
  bool refresh_ttl = true;  // restart the item's TTL, if the store refreshes on read
};

// Which texts of a value are embedded.
struct IndexChoice {
  enum class Kind : std::uint8_t { kStoreDefault = 0, kNone = 1, kPaths = 2 };  // persistent
  Kind kind = Kind::kStoreDefault;
  std::vector<std::string> paths;  // kPaths: "title", "a.b", "turns[*].text", "[-1]", "$"
};

// A vector of one text of an item. An item's score is that of its best vector.
struct FieldVector {
  std::string path;           // "text"; "turns[*].text.3" for the fourth of several texts
  std::vector<float> values;  // as many as the index has dimensions
};

// Creates or overwrites; without `value` deletes. Deleting what is absent is fine.
struct PutOp {
  static constexpr std::int64_t kDefaultTtl = -1;  // the store's
  static constexpr std::int64_t kNoTtl = 0;        // never expires
  // The default of whoever puts it, which a policy may replace or cap as it may the store's.
  static constexpr std::int64_t AsDefault(std::int64_t ttl_ms) {
    return ttl_ms == kNoTtl ? kDefaultTtl : ~ttl_ms;
  }

  Namespace ns;
  std::string key;
  std::optional<std::string> value;
  IndexChoice index;
  std::int64_t ttl_ms = kDefaultTtl;  // or its own, or AsDefault()
  // Filled by the caller from PrepareEmbedding(), or by the store's Embedder.
  std::vector<FieldVector> vectors;
  // Searches leave out what does not hold at their time: SearchOp::as_of_ms.
  std::optional<Validity> validity{};
  // Ends the validity of this item, if it is there, where that of the new one begins. That is
  // now, if `validity` does not say. The order of a batch counts: what it puts may be superseded
  // by what it puts later. An item can't supersede itself: kInvalidArgument.
  std::optional<ItemRef> supersedes{};
  // Where the new value comes from; nothing is kept of where the one before it came from.
  std::optional<Provenance> provenance{};

  bool has_own_ttl() const { return ttl_ms >= 0; }
  std::int64_t TtlIn(std::int64_t store_default_ms) const {
    if (has_own_ttl()) return ttl_ms;
    return ttl_ms == kDefaultTtl ? store_default_ms : ~ttl_ms;
  }
};

// kAuto: kVector if the operation has a query and the store an index, kContains
// if it has a query and the store none, and a listing without a query.
// kContains looks into the names of members only if the query has a quote.
// A listing is ordered by updated_at descending, then namespace, then key.
// Persistent, never renumber.
enum class SearchMode : std::uint8_t {
  kAuto = 0,
  kVector = 1,    // score: cosine −1…1; items without vectors follow, unscored
  kContains = 2,  // query is part of key or value, case and accents folded; unscored
  kText = 3,      // by the words of the query; score: 0…1; what matches nothing is no hit
  kHybrid = 4,    // kText and kVector fused, score 0…1, or kText in a store without an index
};

// How a search by vector finds its candidates. Their scores are exact whatever it is.
// Persistent, never renumber.
enum class SearchPlan : std::uint8_t {
  kAuto = 0,   // what costs least
  kExact = 1,  // all rows
  kCodes = 2,  // the codes of all, then the rows of the best; finds the same
  kGraph = 3,  // the codes that a graph leads to, and those it does not cover; may miss some
};

struct SearchOp {
  Namespace ns_prefix;  // {}: the whole store
  std::string filter;   // JSON object, "" for none: {"kind":"a","n":{"$gte":2}}
  std::string query;    // "" for none
  std::uint32_t limit = 10;
  std::uint32_t offset = 0;
  SearchMode mode = SearchMode::kAuto;
  bool refresh_ttl = true;
  std::vector<float> query_vector;   // as PutOp::vectors, or the caller's own
  std::optional<Ranking> ranking{};  // of kText and kHybrid; min_score of kVector, too
  // Searches by the vectors of this item (their mean direction), which is no hit itself.
  // An item without vectors is kInvalidArgument.
  std::optional<ItemRef> near{};
  // Of searches by vector. Where there is no graph, kGraph is kAuto.
  SearchPlan plan = SearchPlan::kAuto;
  // Of kGraph, "ef" in the paper: how many of what is found are held in view. More raises
  // recall and costs in proportion; 0 for as many as the vectors need: 64 to 640, and at least
  // 4 · wanted.
  std::uint32_t ef_search = 0;
  // Hits are what was valid then; nullopt: what is valid now.
  std::optional<std::int64_t> as_of_ms{};
  // Hits are valid or not. One that was superseded comes after its successor, and scores no
  // higher, if that is a hit, too. Excludes as_of_ms.
  bool include_superseded = false;
  // Hits may be in quarantine: Provenance::is_quarantined.
  bool include_quarantined = false;
};

struct ListNamespacesOp {
  std::vector<MatchCondition> match_conditions;  // all must hold
  std::optional<std::uint32_t> max_depth;        // deeper ones are cut, then made distinct
  std::uint32_t limit = 100;
  std::uint32_t offset = 0;
};

using Operation = std::variant<GetOp, PutOp, SearchOp, ListNamespacesOp>;

// Of the i-th operation: optional<Item> of a GetOp, monostate of a PutOp,
// SearchItems of a SearchOp, Namespaces (sorted) of a ListNamespacesOp.
using OperationResult = std::variant<std::monostate, std::optional<Item>, std::vector<SearchItem>,
                                     std::vector<Namespace>>;

}  // namespace keepsake

#endif  // KEEPSAKE_OPERATION_H_
