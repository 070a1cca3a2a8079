// Versions as stores keep them.
//
// A version is what an operation replaced: the item as it was before, or that there was none.
// It held from the operation before it until this one, so that the versions of an item say
// what it was at any time since the first of them began, and the item itself what it is.
// Nothing is kept twice, and the oldest can be dropped without looking at the others.
#ifndef KEEPSAKE_STORE_VERSIONS_H_
#define KEEPSAKE_STORE_VERSIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/filter.h"
#include "keepsake/history.h"
#include "keepsake/operation.h"
#include "keepsake/status.h"
#include "keepsake/store.h"
#include "keepsake/visitor.h"

namespace keepsake {

// All that a store keeps of an item.
struct ItemState {
  std::string value;
  std::int64_t created_at_ms = 0;
  std::int64_t updated_at_ms = 0;
  std::int64_t ttl_ms = PutOp::kNoTtl;
  std::int64_t expires_at_ms = 0;  // kNeverExpires
  Validity validity{};
  std::int64_t successor = 0;  // as FactMarks has it
  std::optional<Provenance> provenance{};
  std::vector<FieldVector> vectors{};  // by path
  std::vector<std::string> awaited{};  // as PathsToAwait()
};

struct ItemName {
  std::string encoded_ns;
  std::string key;

  auto operator<=>(const ItemName&) const = default;
};

// An item that was superseded, and holds again: until when, and what says so from then on.
struct ReopenedItem {
  ItemName name;
  std::optional<std::int64_t> until_ms;
  std::int64_t successor = 0;  // as FactMarks has it
};

struct StoredItem {
  ItemName name;
  ItemState state;
};

struct StoredVersion {
  std::int64_t id = 0;         // in the order of time, never given again
  std::int64_t operation = 0;  // the id of its first version; the others follow
  bool is_last = false;        // of its operation
  Change change = Change::kPut;
  std::string actor;
  ItemName name;
  std::int64_t number = 0;            // of the versions of this item, from 1
  std::int64_t from_ms = 0;           // since when it was what is `before`
  std::int64_t at_ms = 0;             // when it was changed
  std::optional<ItemState> before{};  // nothing: there was no item
};

// What an erasure asks of a version. Views are valid while it is offered.
struct VersionTrace {
  std::int64_t id = 0;
  std::string_view encoded_ns;
  std::string_view key;
  std::optional<std::string_view> value{};
  std::optional<Provenance> provenance{};
};

// Of which items and versions something is asked.
struct Wanted {
  const json::Filter& filter;
  const ProvenanceFilter& from;

  bool is_everything() const { return filter.empty() && from.empty(); }
  bool Matches(std::string_view value, const std::optional<Provenance>& provenance) const {
    return from.Matches(provenance) && filter.Matches(value);
  }
};

// Rules by namespace, each longer one before those that it lies in.
class HistoryRules {
 public:
  struct Row {
    std::string encoded_ns;
    HistoryRule rule;
  };

  HistoryRules() = default;
  explicit HistoryRules(std::vector<Row> rows);

  // Null where no history is kept.
  const HistoryRule* Find(std::string_view encoded_ns) const;
  const std::vector<Row>& rows() const { return rows_; }
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<Row> rows_;
};

// What is older is not told any more, dropped or not.
std::int64_t HorizonOf(const HistoryRule& rule, std::int64_t now_ms);

// What a store keeps its versions in.
class HistoryTable {
 public:
  // Before an item is changed, within an operation.
  virtual Status Record(const HistoryRule& rule, Change change, std::string_view encoded_ns,
                        std::string_view key, std::int64_t at_ms) = 0;
  // Versions that are erased, within an operation.
  virtual Status Erase(std::span<const std::int64_t> ids) = 0;
  // Drops what is too old of all there is.
  virtual Status DropOld(std::int64_t now_ms) = 0;

  // Valid until one is put or dropped.
  virtual Result<const HistoryRules*> Rules() = 0;
  virtual Status PutRule(const HistoryRule& rule) = 0;
  // With the versions that no other rule keeps. Without such a rule it does nothing.
  virtual Status DropRule(std::string_view encoded_ns) = 0;

  // Of an item, the newest first.
  virtual Status ReadVersions(const ItemName& name, Visitor<const StoredVersion&> offer) = 0;
  // From this id on, in order, without what was before them.
  virtual Status ReadFrom(std::int64_t id, Visitor<const StoredVersion&> offer) = 0;
  virtual Result<std::optional<StoredVersion>> ReadVersion(std::int64_t id) = 0;
  // Below a prefix, of changes after that time: by namespace, key and number.
  virtual Status ReadChangesAfter(std::string_view encoded_prefix, std::int64_t at_ms,
                                  Visitor<const StoredVersion&> offer) = 0;
  // The id that this operation has by now. It is another one where operations were carried out
  // again in another order: replicated.h.
  virtual Result<std::int64_t> CurrentId(std::int64_t operation) { return operation; }
  // By namespace, key and number.
  virtual Status ReadTraces(std::string_view encoded_prefix,
                            Visitor<const VersionTrace&> offer) = 0;

 protected:
  ~HistoryTable() = default;
};

// Vectors of another length than `dims`, that of an index, are awaited instead.
void FitVectors(ItemState& state, std::size_t dims);

// An item, as an operation puts it back.
Item ItemOf(const ItemRef& name, const ItemState& state);

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_VERSIONS_H_
