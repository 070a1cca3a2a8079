// What Batch() makes of its operations before a store sees them: every rule that
// does not depend on what is stored has been checked, once for all stores.
// Borrows from the operations.
#ifndef KEEPSAKE_STORE_CHECKED_BATCH_H_
#define KEEPSAKE_STORE_CHECKED_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/filter.h"
#include "keepsake/operation.h"
#include "keepsake/status.h"
#include "keepsake/store.h"
#include "store/validity.h"
#include "text/substring.h"

namespace keepsake {

struct CheckedGet {
  std::size_t position;
  const Namespace* ns;
  std::string encoded_ns;
  std::string_view key;
  bool refresh_ttl;
};

struct CheckedPut {
  std::size_t position;
  const PutOp* op;
  std::string encoded_ns;
  std::int64_t ttl_ms;  // PutOp::kNoTtl or positive
  Validity validity{};
  std::string superseded_ns{};  // encoded, of what PutOp::supersedes names
};

// By text, what else contains the query is a hit, too, if `contains` is not empty. Of none of
// these, it is a listing.
struct CheckedSearch {
  std::size_t position;
  std::string encoded_prefix;
  json::Filter filter;
  search::Substring contains;
  bool by_vector;
  bool by_text;
  std::string_view query;
  std::span<const float> query_vector;
  const ItemRef* near;  // whose vectors are the query's, or null
  std::uint32_t limit;
  std::uint32_t offset;
  bool refresh_ttl;
  Ranking ranking;
  SearchPlan plan = SearchPlan::kAuto;
  std::uint32_t ef_search = 0;
  std::int64_t excluded_id = 0;  // of the item that `near` names; ids begin at 1
  std::int64_t now_ms = 0;       // as CheckedBatch has it
  ValidityRange validity{};
  bool include_superseded = false;
};

// Whether the search may find an item by its value, and by its key where it must contain
// something. Says nothing of words and phrases.
bool Wants(const CheckedSearch& search, std::int64_t item_id, std::string_view key,
           std::string_view value);

struct CheckedListNamespaces {
  std::size_t position;
  const ListNamespacesOp* op;
};

struct CheckedBatch {
  std::size_t size = 0;
  std::int64_t now_ms = 0;
  std::vector<CheckedGet> gets;
  std::vector<CheckedSearch> searches;
  std::vector<CheckedListNamespaces> lists;
  std::vector<CheckedPut> puts;  // one per namespace and key: the last
};

// Whether a search by vector must have its vector by now.
enum class QueryVectors : bool { kMayComeLater, kMustBeThere };

Result<CheckedBatch> CheckBatch(std::span<const Operation> operations, const StoreOptions& options,
                                QueryVectors query_vectors);

Status CheckOptions(const StoreOptions& options);

// The length of the index's vectors, 0 without one.
inline std::size_t DimsOf(const StoreOptions& options) {
  return options.index ? options.index->dims : 0;
}
Status CheckVectors(std::span<const FieldVector> vectors, const StoreOptions& options);

// The names of namespaces that a caller addresses exactly.
Status CheckExactNamespace(const Namespace& ns);

// When an item expires that is written or read now.
inline constexpr std::int64_t kNeverExpires = INT64_MAX;
std::int64_t ExpiryOf(std::int64_t ttl_ms, std::int64_t now_ms);

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_CHECKED_BATCH_H_
