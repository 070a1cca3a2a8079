// SqliteFieldColumns keeps columns of the fields that filters ask about (FieldColumns, whose
// slots are ids of items), so that a filter reads no row of an item that it leaves out. The
// second filter over many items that names a field makes its column, of all items.
//
//   field_columns := head piece*
//   head          := chunk_id 0: covered, and in bytes
//                    version:u64 names (the columns) names (asked for once) seal:u64
//   names         := count:varint (kind:varint count:varint label:text*)*
//   piece         := chunk_id column << 32 | number: words:byte* seal:u64
//                    of the items number * kItemsOfPiece and on; column 0 has namespaces
//   field_changes := ids up to `covered` that changed since, or are gone
//
// A seal is HashOf() what stands before it, from chunk_id on. Triggers note the changes,
// whoever writes, as soon as there is a column. What is in neither is told by its id: it is
// greater than `covered`. Both are read as rows, and taken into the columns when they are more
// than a few. All of it is made of store_kv, and may be missing.
#ifndef KEEPSAKE_STORE_SQLITE_SQLITE_FIELD_COLUMNS_H_
#define KEEPSAKE_STORE_SQLITE_SQLITE_FIELD_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/database.h"
#include "keepsake/status.h"
#include "store/checked_batch.h"
#include "store/sqlite/item_follower.h"
#include "vectors/field_columns.h"

namespace keepsake {

class SqliteFieldColumns final : public ItemFollower {
 public:
  // `database` is borrowed.
  explicit SqliteFieldColumns(sql::Database& database) : database_(database) {}

  // The items below the prefix of a search that its filter may let through, ascending: perhaps
  // too many. nullopt if columns know nothing of it.
  // While another connection writes, nothing is noted, and columns that would have to be written
  // are none.
  Result<std::optional<std::vector<std::int64_t>>> Select(const CheckedSearch& search);
  // A search with this filter has read the rows of so many items.
  Status NoteScan(const json::Filter& filter, std::int64_t items);
  // Columns are made anew when they are asked for. What happens to an item triggers note.
  Status Clear() override;
  Status EndTransaction(bool committed) override {
    if (!committed) Drop();
    return {};
  }

 private:
  using Names = std::vector<search::FieldColumns::Name>;
  using Ids = std::vector<std::int64_t>;

  struct Head {
    std::int64_t covered = 0;
    std::uint64_t version = 0;
    Names columns;
    Names asked;
  };

  Result<std::optional<Ids>> SelectByColumns(const CheckedSearch& search);
  // The same, as far as the columns cover items.
  Result<std::optional<search::SlotSet>> SelectSlots(const CheckedSearch& search);
  Result<std::optional<Head>> ReadHead();
  Status WriteHead(const Head& head);
  // Makes columns of these and of what there is.
  Status Make(Head& head, const Names& names);
  // Reads the pieces that a head tells of. False if one is damaged.
  Result<bool> Load(const Head& head);
  // Takes all that changed into the columns.
  Status TakeIn(Head& head, const Ids& changed);
  Status WritePieces(Head& head, const std::vector<std::size_t>& pieces);
  Result<Ids> ReadIds(std::string_view sql, std::int64_t from);
  // Namespaces below a prefix, or nullopt if they are too many to be told apart.
  Result<std::optional<std::vector<std::string>>> NamespacesBelow(const std::string& prefix);
  void Drop();

  sql::Database& database_;
  search::FieldColumns columns_;
  std::uint64_t version_ = 0;  // of what is in columns_; 0 for nothing
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_SQLITE_FIELD_COLUMNS_H_
