#include "store/sqlite/sqlite_field_columns.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/varint.h"
#include "sql/cannot_write.h"
#include "sql/prefix_range.h"
#include "store/sqlite/id_list.h"
#include "store/sqlite/read_int.h"

namespace keepsake {
namespace {

using search::FieldColumns;
using search::kChunkSlots;
using sql::Row;

constexpr std::string_view kIsMade = "SELECT 1 FROM meta WHERE name = 'field_columns'";
constexpr std::string_view kNoteMade =
    "INSERT OR REPLACE INTO meta(name, value) VALUES('field_columns', '1')";
constexpr std::string_view kForgetMade = "DELETE FROM meta WHERE name = 'field_columns'";
constexpr std::string_view kReadHead =
    "SELECT covered, bytes FROM field_columns WHERE chunk_id = 0";
constexpr std::string_view kReadPieces =
    "SELECT chunk_id, bytes FROM field_columns WHERE chunk_id > 0";
constexpr std::string_view kWrite =
    "INSERT OR REPLACE INTO field_columns(chunk_id, covered, bytes) VALUES(?, ?, ?)";
constexpr std::string_view kClear = "DELETE FROM field_columns";
constexpr std::string_view kClearPieces = "DELETE FROM field_columns WHERE chunk_id > 0";
constexpr std::string_view kClearChanges = "DELETE FROM field_changes";
constexpr std::string_view kReadChanges = "SELECT item_id FROM field_changes WHERE item_id > ?";
constexpr std::string_view kReadNew = "SELECT item_id FROM store_kv WHERE item_id > ?";
constexpr std::string_view kLastId = "SELECT max(item_id) FROM store_kv";
constexpr std::string_view kValues =
    "SELECT i.item_id, i.value, i.ns FROM json_each(?) c"
    " CROSS JOIN store_kv i ON i.item_id = c.value";
constexpr std::string_view kAllValues =
    "SELECT item_id, value, ns FROM store_kv WHERE item_id > ? ORDER BY item_id";
constexpr std::string_view kNamespaces =
    "WITH RECURSIVE found(ns) AS ("
    "  SELECT min(ns) FROM store_kv WHERE ns >= ? AND ns < ?"
    "  UNION ALL"
    "  SELECT (SELECT min(ns) FROM store_kv WHERE ns > found.ns AND ns < ?)"
    "  FROM found WHERE found.ns IS NOT NULL)"
    " SELECT ns FROM found WHERE ns IS NOT NULL";
// The statement that fires a trigger says what happens to a conflict in it: hence no OR IGNORE.
constexpr std::string_view kTriggers[] = {
    "CREATE TRIGGER IF NOT EXISTS keepsake_fields_insert AFTER INSERT ON store_kv"
    " WHEN new.item_id <= (SELECT covered FROM field_columns WHERE chunk_id = 0)"
    " BEGIN INSERT INTO field_changes(item_id) SELECT new.item_id WHERE NOT EXISTS"
    " (SELECT 1 FROM field_changes WHERE item_id = new.item_id); END",
    "CREATE TRIGGER IF NOT EXISTS keepsake_fields_update AFTER UPDATE OF ns, value ON store_kv"
    " WHEN new.item_id <= (SELECT covered FROM field_columns WHERE chunk_id = 0)"
    " BEGIN INSERT INTO field_changes(item_id) SELECT new.item_id WHERE NOT EXISTS"
    " (SELECT 1 FROM field_changes WHERE item_id = new.item_id); END",
    "CREATE TRIGGER IF NOT EXISTS keepsake_fields_delete AFTER DELETE ON store_kv"
    " WHEN old.item_id <= (SELECT covered FROM field_columns WHERE chunk_id = 0)"
    " BEGIN INSERT INTO field_changes(item_id) SELECT old.item_id WHERE NOT EXISTS"
    " (SELECT 1 FROM field_changes WHERE item_id = old.item_id); END"};

// Fewer items than this, or than so small a part of all, are read sooner than columns are made.
constexpr std::int64_t kLeastItems = 512;
constexpr std::int64_t kLeastPart = 8;
// More changes than this are taken into the columns by the next search.
constexpr std::size_t kMostChanges = 64;
// Items of one row: 16 KB of hashes, 32 of numbers. Persistent.
constexpr std::size_t kChunksOfPiece = 8;
constexpr std::size_t kItemsOfPiece = kChunksOfPiece * kChunkSlots;
constexpr std::size_t kMostAsked = 32;
constexpr std::size_t kMostNamespaces = 64;
// Columns of so many bytes may stay in memory between searches: reading them again takes about a
// millisecond.
constexpr std::size_t kMostBytes = 4 << 20;
constexpr int kColumnBits = 32;

std::int64_t IdOfPiece(std::size_t column, std::size_t number) {
  return static_cast<std::int64_t>(std::uint64_t{column} << kColumnBits | (number + 1));
}

void AppendNames(const std::vector<FieldColumns::Name>& names, Bytes& out) {
  AppendVarint(names.size(), out);
  for (const FieldColumns::Name& name : names) {
    AppendVarint(std::to_underlying(name.kind), out);
    AppendVarint(name.path.size(), out);
    for (const std::string& label : name.path) AppendText(label, out);
  }
}

std::vector<FieldColumns::Name> ReadNames(ByteReader& reader) {
  std::vector<FieldColumns::Name> names;
  for (std::uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) {
    FieldColumns::Name name;
    name.kind = reader.Varint() == 0 ? FieldColumns::Kind::kHash : FieldColumns::Kind::kNumber;
    for (std::uint64_t labels = reader.Varint(); labels > 0 && reader.ok(); --labels) {
      name.path.emplace_back(reader.Text());
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::uint64_t AppendSeal(std::int64_t chunk_id, Bytes& bytes) {
  const std::uint64_t seal = HashOf(bytes, static_cast<std::uint64_t>(chunk_id));
  AppendU64(seal, bytes);
  return seal;
}

// The bytes before the seal; nullopt if they are damaged.
std::optional<ByteView> Unsealed(std::int64_t chunk_id, ByteView sealed) {
  constexpr std::size_t kSeal = 8;
  if (sealed.size() < kSeal) return std::nullopt;
  const ByteView bytes = sealed.first(sealed.size() - kSeal);
  const std::uint64_t seal = HashOf(bytes, static_cast<std::uint64_t>(chunk_id));
  if (WordAt(sealed.data() + bytes.size()) != seal) return std::nullopt;
  return bytes;
}

bool Holds(const std::vector<FieldColumns::Name>& names, const FieldColumns::Name& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

void SqliteFieldColumns::Drop() {
  columns_.Clear();
  version_ = 0;
}

Status SqliteFieldColumns::Clear() {
  Drop();
  const Result<std::int64_t> is_made = ReadInt(database_, kIsMade);
  if (!is_made) return is_made.error();
  if (*is_made == 0) return {};
  return database_.InTransaction([&]() -> Status {
    Status status = database_.Run(kClear);
    if (status.ok()) status = database_.Run(kClearChanges);
    return status.ok() ? database_.Run(kForgetMade) : status;
  });
}

Result<std::optional<SqliteFieldColumns::Head>> SqliteFieldColumns::ReadHead() {
  const Result<std::int64_t> is_made = ReadInt(database_, kIsMade);
  if (!is_made) return std::unexpected(is_made.error());
  std::optional<Head> head;
  if (*is_made == 0) return head;
  Status status = database_.Run(kReadHead, {}, [&](const Row& row) {
    const std::optional<ByteView> bytes = Unsealed(0, row.Blob(1));
    if (!bytes) return false;
    ByteReader reader(*bytes);
    head = {.covered = row.Int(0), .version = reader.U64(), .columns = {}, .asked = {}};
    head->columns = ReadNames(reader);
    head->asked = ReadNames(reader);
    if (!reader.ok()) head.reset();
    return false;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return head;
}

Status SqliteFieldColumns::WriteHead(const Head& head) {
  Bytes bytes;
  AppendU64(head.version, bytes);
  AppendNames(head.columns, bytes);
  AppendNames(head.asked, bytes);
  AppendSeal(0, bytes);
  Status status = database_.Run(kWrite, {std::int64_t{0}, head.covered, ByteView(bytes)});
  return status.ok() ? database_.Run(kNoteMade) : status;
}

Result<std::optional<std::vector<std::int64_t>>> SqliteFieldColumns::Select(
    const CheckedSearch& search) {
  Result<std::optional<Ids>> ids = SelectByColumns(search);
  if (ids || !sql::CannotWrite(ids.error())) return ids;
  Drop();
  return std::nullopt;
}

Result<std::optional<std::vector<std::int64_t>>> SqliteFieldColumns::SelectByColumns(
    const CheckedSearch& search) {
  const Names names = FieldColumns::NamesOf(search.filter);
  if (names.empty()) return std::nullopt;
  Result<std::optional<Head>> head = ReadHead();
  if (!head) return std::unexpected(std::move(head.error()));
  if (!*head) return std::nullopt;
  // The changes are read before the head that counts, so that one which another process takes in
  // meanwhile is seen twice, and not never.
  Result<Ids> changed = ReadIds(kReadChanges, 0);
  if (!changed) return std::unexpected(std::move(changed.error()));
  head = ReadHead();
  if (!head) return std::unexpected(std::move(head.error()));
  if (!*head) return std::nullopt;

  const bool makes = std::ranges::any_of(names, [&](const FieldColumns::Name& name) {
    return Holds((*head)->asked, name) && !Holds((*head)->columns, name);
  });
  if (makes) {
    if (Status status = Make(**head, names); !status.ok()) return std::unexpected(status);
    changed->clear();
  }
  const bool is_known = std::ranges::any_of(
      names, [&](const FieldColumns::Name& name) { return Holds((*head)->columns, name); });
  if (!is_known) return std::nullopt;
  const Result<bool> is_whole = Load(**head);
  if (!is_whole) return std::unexpected(is_whole.error());
  if (!*is_whole) {
    if (Status status = Clear(); !status.ok()) return std::unexpected(status);
    return std::nullopt;
  }
  Result<Ids> added = ReadIds(kReadNew, (*head)->covered);
  if (!added) return std::unexpected(std::move(added.error()));
  if (changed->size() + added->size() > kMostChanges) {
    if (Status status = TakeIn(**head, *changed); !status.ok()) return std::unexpected(status);
    changed->clear();
    added->clear();
  }
  const Result<std::optional<search::SlotSet>> slots = SelectSlots(search);
  if (!slots) return std::unexpected(slots.error());
  if (!*slots) return std::nullopt;
  Ids ids;
  for (const search::Slot slot : (*slots)->Slots()) {
    const auto id = static_cast<std::int64_t>(slot);
    if (!std::ranges::binary_search(*changed, id)) ids.push_back(id);
  }
  ids.insert(ids.end(), changed->begin(), changed->end());
  ids.insert(ids.end(), added->begin(), added->end());
  if (columns_.bytes() > kMostBytes) Drop();
  return ids;
}

Result<std::optional<search::SlotSet>> SqliteFieldColumns::SelectSlots(
    const CheckedSearch& search) {
  std::optional<search::SlotSet> slots = columns_.Select(search.filter);
  if (!slots) return std::nullopt;
  const auto namespaces = NamespacesBelow(search.encoded_prefix);
  if (!namespaces) return std::unexpected(namespaces.error());
  if (*namespaces) slots->Intersect(columns_.SelectNamespaces(**namespaces));
  return slots;
}

Status SqliteFieldColumns::NoteScan(const json::Filter& filter, std::int64_t items) {
  if (items < kLeastItems) return {};
  const Names names = FieldColumns::NamesOf(filter);
  if (names.empty()) return {};
  const Result<std::int64_t> last = ReadInt(database_, kLastId);
  if (!last) return last.error();
  if (items < *last / kLeastPart) return {};
  Result<std::optional<Head>> found = ReadHead();
  if (!found) return std::move(found.error());
  Head head = found->value_or(Head());
  bool is_new = false;
  for (const FieldColumns::Name& name : names) {
    if (Holds(head.columns, name) || Holds(head.asked, name)) continue;
    if (head.asked.size() == kMostAsked) head.asked.erase(head.asked.begin());
    head.asked.push_back(name);
    is_new = true;
  }
  if (!is_new) return {};
  Status status = database_.InTransaction([&] { return WriteHead(head); });
  return sql::CannotWrite(status) ? Status() : status;
}

Status SqliteFieldColumns::Make(Head& head, const Names& names) {
  Names columns = head.columns;
  if (columns.empty()) columns.push_back({});  // the namespaces
  for (const FieldColumns::Name& name : names) {
    if (!Holds(head.asked, name) || Holds(columns, name)) continue;
    // The oldest goes first, but for the namespaces.
    if (columns.size() > FieldColumns::kMaxColumns) columns.erase(columns.begin() + 1);
    columns.push_back(name);
    std::erase(head.asked, name);
  }
  head.columns = std::move(columns);
  head.covered = 0;
  columns_.Clear();
  for (const FieldColumns::Name& name : head.columns) columns_.Open(name);
  return database_.InTransaction([&]() -> Status {
    // Tables first: no trigger is without them.
    Status status = WriteHead(head);
    if (status.ok()) status = database_.Run(kClearPieces);
    for (const std::string_view trigger : kTriggers) {
      if (status.ok()) status = database_.Run(trigger);
    }
    return status.ok() ? TakeIn(head, {}) : status;
  });
}

Result<bool> SqliteFieldColumns::Load(const Head& head) {
  if (version_ == head.version && columns_.size() == head.columns.size()) return true;
  columns_.Clear();
  for (const FieldColumns::Name& name : head.columns) columns_.Open(name);
  bool is_whole = true;
  Status status = database_.Run(kReadPieces, {}, [&](const Row& row) {
    const std::int64_t id = row.Int(0);
    const auto column = static_cast<std::size_t>(id >> kColumnBits);
    const auto number = static_cast<std::size_t>(id & 0xFFFF'FFFF) - 1;
    const std::optional<ByteView> words = Unsealed(id, row.Blob(1));
    is_whole = words && column < head.columns.size();
    if (is_whole) columns_.SetWords(head.columns[column], number * kChunksOfPiece, *words);
    return is_whole;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  version_ = is_whole ? head.version : 0;
  return is_whole;
}

Status SqliteFieldColumns::TakeIn(Head& head, const Ids& changed) {
  Status status = database_.InTransaction([&]() -> Status {
    std::set<std::size_t> pieces;
    const auto piece_of = [](std::int64_t id) {
      return static_cast<std::size_t>(static_cast<std::uint64_t>(id) / kItemsOfPiece);
    };
    for (const std::int64_t id : changed) {
      columns_.Unset(static_cast<search::Slot>(id));
      pieces.insert(piece_of(id));
    }
    const auto take = [&](const Row& row) {
      const std::int64_t id = row.Int(0);
      columns_.Set(static_cast<search::Slot>(id), row.Text(1), row.Text(2));
      pieces.insert(piece_of(id));
      head.covered = std::max(head.covered, id);
    };
    const std::string list = IdList(changed);
    const std::int64_t covered = head.covered;
    Status done;
    if (!changed.empty()) done = database_.Run(kValues, {list}, take);
    if (done.ok()) done = database_.Run(kAllValues, {covered}, take);
    if (done.ok()) done = database_.Run(kClearChanges);
    return done.ok() ? WritePieces(head, {pieces.begin(), pieces.end()}) : done;
  });
  if (!status.ok()) Drop();
  return status;
}

Status SqliteFieldColumns::WritePieces(Head& head, const std::vector<std::size_t>& pieces) {
  for (std::size_t column = 0; column < head.columns.size(); ++column) {
    for (const std::size_t number : pieces) {
      Bytes bytes = columns_.Words(head.columns[column], number * kChunksOfPiece, kChunksOfPiece);
      const std::int64_t id = IdOfPiece(column, number);
      head.version = Mix(head.version, AppendSeal(id, bytes)) | 1;
      Status status = database_.Run(kWrite, {id, std::int64_t{0}, ByteView(bytes)});
      if (!status.ok()) return status;
    }
  }
  if (pieces.empty()) head.version |= 1;
  version_ = head.version;
  return WriteHead(head);
}

Result<std::vector<std::int64_t>> SqliteFieldColumns::ReadIds(std::string_view sql,
                                                              std::int64_t from) {
  Ids ids;
  Status status = database_.Run(sql, {from}, [&](const Row& row) { ids.push_back(row.Int(0)); });
  if (!status.ok()) return std::unexpected(std::move(status));
  return ids;
}

Result<std::optional<std::vector<std::string>>> SqliteFieldColumns::NamespacesBelow(
    const std::string& prefix) {
  std::vector<std::string> namespaces;
  if (prefix.empty()) return std::nullopt;
  const sql::PrefixRange range(prefix);
  Status status =
      database_.Run(kNamespaces, {range.first(), range.end(), range.end()}, [&](const Row& row) {
        namespaces.emplace_back(row.Text(0));
        return namespaces.size() <= kMostNamespaces;
      });
  if (!status.ok()) return std::unexpected(std::move(status));
  if (namespaces.size() > kMostNamespaces) return std::nullopt;
  return namespaces;
}

}  // namespace keepsake
