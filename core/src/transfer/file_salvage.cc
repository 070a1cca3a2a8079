#include "transfer/file_salvage.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "sql/file_trees.h"
#include "sql/sqlite_database.h"
#include "transfer/tables.h"

namespace keepsake::transfer {
namespace {

using sql::Param;
using sql::Row;
using sql::TreeRow;

// Each entry of these indexes ends with the id of its row.
constexpr std::string_view kItemNames = "store_kv_key";
constexpr std::string_view kHasItem = "SELECT 1 FROM store_kv WHERE item_id = ?";
constexpr std::string_view kVersionNames = "store_versions_item";
constexpr std::string_view kHasVersion = "SELECT 1 FROM store_versions WHERE version_id = ?";
constexpr std::string_view kHasAnything =
    "SELECT 1 FROM store_kv UNION ALL SELECT 1 FROM thread_namespaces LIMIT 1";

constexpr std::string_view kRoots =
    "SELECT s.name, s.rootpage, s.type = 'index' OR l.wr FROM sqlite_schema AS s"
    " LEFT JOIN pragma_table_list AS l ON l.name = s.name AND l.schema = 'main'"
    " WHERE s.rootpage > 0";

// What was before a lost version held until nobody knows when.
constexpr std::string_view kDropOlder =
    "DELETE FROM store_versions WHERE ns = ? AND key = ? AND number < ?";
// Of an item that nothing is left of, nobody knows until when it was there.
constexpr std::string_view kBeginHistory =
    "UPDATE history_rules SET since_ms = ?3"
    " WHERE NOT EXISTS(SELECT 1 FROM store_versions WHERE ns = ?1 AND key = ?2)"
    " AND NOT EXISTS(SELECT 1 FROM store_kv WHERE ns = ?1 AND key = ?2)";

// What belongs to a row that is lost.
constexpr std::string_view kDropLoose[] = {
    "DELETE FROM store_vectors WHERE item_id NOT IN (SELECT item_id FROM store_kv)",
    "DELETE FROM vector_pending WHERE item_id NOT IN (SELECT item_id FROM store_kv)",
    "DELETE FROM version_vectors WHERE version_id NOT IN (SELECT version_id FROM store_versions)",
    "DELETE FROM checkpoints WHERE ns_id NOT IN (SELECT ns_id FROM thread_namespaces)",
    "DELETE FROM writes WHERE ns_id NOT IN (SELECT ns_id FROM thread_namespaces)",
};
constexpr std::string_view kCheckpoints =
    "SELECT thread_id, checkpoint_ns, checkpoint_id, ns_id"
    " FROM checkpoints JOIN thread_namespaces USING(ns_id)";
constexpr std::string_view kDropCheckpoint =
    "DELETE FROM checkpoints WHERE ns_id = ? AND checkpoint_id = ?";
constexpr std::string_view kDropWrites = "DELETE FROM writes WHERE ns_id = ? AND checkpoint_id = ?";
constexpr std::string_view kDropEmpty =
    "DELETE FROM thread_namespaces WHERE ns_id NOT IN (SELECT ns_id FROM checkpoints)"
    " AND ns_id NOT IN (SELECT ns_id FROM writes)";
constexpr std::string_view kCounts =
    "SELECT (SELECT count(*) FROM store_kv), (SELECT count(*) FROM store_vectors),"
    " (SELECT count(*) FROM checkpoints), (SELECT count(*) FROM writes)";

// Codes are made anew from vectors: those of a lost vector would stay.
bool IsMadeAnew(const Table& table) { return table.name == "vector_chunks"; }

// Rows of `meta` that the new database has itself, or that tell of tables that are not copied.
bool IsOfFile(std::string_view name) {
  return name == "format" || name == "schema_version" || name == "text_index" ||
         name == "field_columns" || name.starts_with("transfer");
}

class Copy {
 public:
  explicit Copy(sql::Database& target) : target_(target) {}

  void Take(std::string_view tree, const TreeRow& row) {
    if (!status_.ok()) return;
    if (tree == kItemNames || tree == kVersionNames) return NoteName(row);
    const auto table = std::ranges::find(Tables(), tree, &Table::name);
    if (table == Tables().end() || IsMadeAnew(*table)) return;
    found_any_ = true;
    if (row.values.size() < table->key_columns) return;
    // A row lacks the columns that its table got later: SQLite writes no row for them.
    const std::size_t columns = std::min(row.values.size(), table->columns.size());
    std::vector<Param> values(row.values.begin(),
                              row.values.begin() + static_cast<std::ptrdiff_t>(columns));
    if (row.row_id) values[0] = *row.row_id;
    const auto* name = std::get_if<std::string_view>(values.data());
    if (table->name == "meta" && name != nullptr && IsOfFile(*name)) return;
    constexpr std::string_view kReplace = "INSERT OR REPLACE";
    const std::string sql = "INSERT OR IGNORE" + Put(*table, columns).substr(kReplace.size());
    Status put = target_.Run(sql, values, nullptr);
    // A row that its table does not take is no row of ours, and the page is none either.
    if (!put.ok() && put.code() != StatusCode::kInternal) status_ = std::move(put);
  }

  const Status& status() const { return status_; }
  bool found_any() const { return found_any_; }

  // Lists items that an index names, and no table has; drops versions that would answer for one
  // that is lost.
  void NoteLost(Salvage* salvage, std::int64_t now_ms) {
    for (const Named& row : named_) {
      if (IsHere(row)) continue;
      const Param ns = std::string_view(row.ns);
      const Param key = std::string_view(row.key);
      if (row.number) {
        Run(kDropOlder, {ns, key, Param(*row.number)});
        Run(kBeginHistory, {ns, key, Param(now_ms)});
      } else if (Result<Namespace> labels = DecodeNamespace(row.ns)) {
        ++salvage->lost_item_count;
        if (salvage->lost_items.size() == kMostLostNames) continue;
        salvage->lost_items.push_back(ItemRef{.ns = *std::move(labels), .key = row.key});
      }
    }
  }

 private:
  struct Named {
    std::int64_t id = 0;
    std::string ns;
    std::string key;
    std::optional<std::int64_t> number;  // of a version
  };

  // An entry of an index: namespace, key, the number of a version, row id.
  void NoteName(const TreeRow& row) {
    const std::size_t columns = row.values.size();
    if (columns != 3 && columns != 4) return;
    const auto* ns = std::get_if<std::string_view>(&row.values[0]);
    const auto* key = std::get_if<std::string_view>(&row.values[1]);
    const auto* number = std::get_if<std::int64_t>(&row.values[2]);
    const auto* id = std::get_if<std::int64_t>(&row.values.back());
    if (ns == nullptr || key == nullptr || number == nullptr || id == nullptr) return;
    Named named{*id, std::string(*ns), std::string(*key), {}};
    if (columns == 4) named.number = *number;
    if (!IsHere(named)) named_.push_back(std::move(named));
  }

  bool IsHere(const Named& row) {
    bool found = false;
    Run(row.number ? kHasVersion : kHasItem, {Param(row.id)}, [&](const Row&) { found = true; });
    return found;
  }

  void Run(std::string_view sql, std::initializer_list<Param> params,
           const sql::RowCallback& on_row = nullptr) {
    if (status_.ok()) status_ = target_.Run(sql, params, on_row);
  }

  sql::Database& target_;
  Status status_;
  bool found_any_ = false;
  std::vector<Named> named_;  // by an index, and not in their table then
};

Result<sql::TreeLayout> LayoutOf(sql::Database& database) {
  sql::TreeLayout layout;
  Status status = database.Run(kRoots, {}, [&](const Row& row) {
    layout.push_back({.name = std::string(row.Text(0)),
                      .page = static_cast<std::uint32_t>(row.Int(1)),
                      .is_index = row.Int(2) != 0});
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return layout;
}

// Where a new file has its tables, and one that was built anew.
Result<std::vector<sql::TreeLayout>> UsualLayouts() {
  auto scratch = sql::OpenDatabase({.path = ":memory:"});
  if (!scratch) return std::unexpected(std::move(scratch.error()));
  Result<sql::TreeLayout> fresh = LayoutOf(**scratch);
  if (!fresh) return std::unexpected(std::move(fresh.error()));
  if (Status status = (*scratch)->Run("VACUUM"); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  Result<sql::TreeLayout> rebuilt = LayoutOf(**scratch);
  if (!rebuilt) return std::unexpected(std::move(rebuilt.error()));
  return std::vector<sql::TreeLayout>{*std::move(fresh), *std::move(rebuilt)};
}

Status RequireNew(sql::Database& target) {
  bool found = false;
  Status status = target.Run(kHasAnything, {}, [&](const Row&) { found = true; });
  if (!status.ok() || !found) return status;
  return Status(StatusCode::kInvalidArgument, "a memory to salvage into must be new");
}

}  // namespace

Result<Salvage> SalvageRows(sql::Database& target, const sql::OpenOptions& source,
                            std::int64_t now_ms) {
  if (Status status = RequireNew(target); !status.ok()) return std::unexpected(std::move(status));
  const auto file = sql::SqliteDatabase::OpenForReading(source);
  if (!file) return std::unexpected(file.error());
  auto trees = sql::FileTrees::WithLog(**file);
  if (!trees) return std::unexpected(std::move(trees.error()));
  const auto usual = UsualLayouts();
  if (!usual) return std::unexpected(usual.error());
  Salvage salvage;
  Status status = target.InTransaction([&]() -> Status {
    Copy copy(target);
    (*trees)->ReadAll([&](std::string_view tree, const TreeRow& row) { copy.Take(tree, row); },
                      *usual);
    copy.NoteLost(&salvage, now_ms);
    if (!copy.status().ok()) return copy.status();
    if (!copy.found_any()) {
      return Status(StatusCode::kForeignFile,
                    "no table of keepsake can be read in the file: \"" + source.path + "\"");
    }
    for (const std::string_view sql : kDropLoose) {
      if (Status dropped = target.Run(sql); !dropped.ok()) return dropped;
    }
    return Status();
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  salvage.damaged = (*trees)->damaged();
  return salvage;
}

Status DropUnreadable(sql::Database& target, Checkpointer& saver, Salvage& salvage) {
  std::vector<std::pair<CheckpointKey, std::int64_t>> all;
  Status status = target.Run(kCheckpoints, {}, [&](const Row& row) {
    all.push_back({CheckpointKey{.thread_id = std::string(row.Text(0)),
                                 .checkpoint_ns = std::string(row.Text(1)),
                                 .checkpoint_id = std::string(row.Text(2))},
                   row.Int(3)});
  });
  if (!status.ok()) return status;
  return target.InTransaction([&]() -> Status {
    for (const auto& [key, ns_id] : all) {
      if (saver.GetTuple(key).has_value()) continue;
      ++salvage.lost_checkpoint_count;
      if (salvage.lost_checkpoints.size() < kMostLostNames) salvage.lost_checkpoints.push_back(key);
      for (const std::string_view sql : {kDropCheckpoint, kDropWrites}) {
        Status dropped =
            target.Run(sql, {Param(ns_id), Param(std::string_view(key.checkpoint_id))});
        if (!dropped.ok()) return dropped;
      }
    }
    if (Status dropped = target.Run(kDropEmpty); !dropped.ok()) return dropped;
    return target.Run(kCounts, {}, [&](const Row& row) {
      salvage.items = static_cast<std::uint64_t>(row.Int(0));
      salvage.vectors = static_cast<std::uint64_t>(row.Int(1));
      salvage.checkpoints = static_cast<std::uint64_t>(row.Int(2));
      salvage.writes = static_cast<std::uint64_t>(row.Int(3));
    });
  });
}

}  // namespace keepsake::transfer
