#include "import/foreign_file.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "json/json.h"
#include "sql/migrations.h"
#include "sql/sqlite_database.h"

namespace keepsake::import {
namespace {

using sql::Database;
using sql::Param;
using sql::Row;

static_assert(std::endian::native == std::endian::little, "vectors are read as they lie");

constexpr double kMsPerMinute = 60'000.0;

constexpr std::string_view kCheckpointColumns[] = {
    "thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id",
    "type",      "checkpoint",    "metadata"};
constexpr std::string_view kWriteColumns[] = {
    "thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "value"};
constexpr std::string_view kStoreColumns[] = {"prefix", "key", "value", "created_at", "updated_at"};
constexpr std::string_view kVectorColumns[] = {"prefix", "key", "field_name", "embedding"};
constexpr std::string_view kPlainColumns[] = {"ns", "key", "value"};

Status AtRow(std::string_view table, std::int64_t rowid, const Status& status) {
  return Status(status.code(), "row " + std::to_string(rowid) + " of table " + std::string(table) +
                                   ": " + status.message());
}

Status Invalid(std::string message) {
  return Status(StatusCode::kInvalidValue, std::move(message));
}

Result<bool> HasColumns(Database& database, std::string_view table,
                        std::span<const std::string_view> columns) {
  std::size_t found = 0;
  Status status =
      database.Run("SELECT name FROM pragma_table_info(?)", {Param(table)}, [&](const Row& row) {
        for (std::string_view column : columns) found += row.Text(0) == column ? 1u : 0u;
        return true;
      });
  if (!status.ok()) return std::unexpected(std::move(status));
  return found == columns.size();
}

Result<std::uint64_t> CountRows(Database& database, std::string_view count_sql) {
  std::uint64_t rows = 0;
  Status status = database.Run(count_sql, {}, [&](const Row& row) {
    rows = static_cast<std::uint64_t>(row.Int(0));
    return true;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return rows;
}

Bytes CopyOf(ByteView bytes) { return Bytes(bytes.begin(), bytes.end()); }

// Both savers leave the type NULL for JSON, in old files.
Blob TypedBlob(const Row& row, int type_column, int value_column) {
  return Blob{.type = row.IsNull(type_column) ? "json" : std::string(row.Text(type_column)),
              .bytes = CopyOf(row.Blob(value_column))};
}

// JSON whether it was stored as text or as bytes.
Blob MetadataBlob(const Row& row, int column) {
  if (!row.IsNull(column)) return Blob{.type = "json", .bytes = CopyOf(row.Blob(column))};
  return Blob{.type = "json", .bytes = {'{', '}'}};
}

CheckpointKey KeyOf(const Row& row, int first_column) {
  return CheckpointKey{.thread_id = std::string(row.Text(first_column)),
                       .checkpoint_ns = std::string(row.Text(first_column + 1)),
                       .checkpoint_id = std::string(row.Text(first_column + 2))};
}

Namespace SplitAtDots(std::string_view prefix) {
  Namespace labels;
  for (std::size_t begin = 0;;) {
    const std::size_t dot = prefix.find('.', begin);
    labels.emplace_back(prefix.substr(begin, dot - begin));
    if (dot == prefix.npos) return labels;
    begin = dot + 1;
  }
}

Result<Namespace> LabelsOfJson(std::string_view text) {
  if (!json::Validate(text).ok() || json::KindOf(json::Root(text)) != json::Kind::kArray) {
    return Error(StatusCode::kInvalidNamespace,
                 "namespace must be a JSON array of labels: " + std::string(text));
  }
  Namespace labels;
  json::ArrayReader reader(json::Root(text));
  while (reader.Next()) {
    if (json::KindOf(reader.value()) != json::Kind::kString) {
      return Error(StatusCode::kInvalidNamespace,
                   "namespace label must be a string: " + std::string(reader.value()));
    }
    labels.push_back(json::Unescape(reader.value()));
  }
  return labels;
}

Status CheckItem(const Item& item) {
  // Upstream writes there too, through its own batch().
  if (Status status = ValidateNamespace(item.ns, {.allow_reserved_root = true}); !status.ok()) {
    return status;
  }
  return json::Validate(item.value);
}

Result<std::vector<float>> FloatsOf(ByteView bytes) {
  if (bytes.size() % sizeof(float) != 0) {
    return std::unexpected(Invalid("vector must be whole float32 numbers, not " +
                                   std::to_string(bytes.size()) + " bytes"));
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// A time of Python's: text that SQLite could not read came out as NULL.
Result<std::int64_t> TimeOf(const Row& row, int text_column, int ms_column) {
  if (row.IsNull(text_column)) return 0;
  if (!row.IsNull(ms_column)) return row.Int(ms_column);
  return std::unexpected(
      Invalid("time must be ISO 8601: \"" + std::string(row.Text(text_column)) + "\""));
}

// Collects the rows of one page; the first row that breaks a rule ends it.
template <typename T>
class PageBuilder {
 public:
  PageBuilder(std::string_view table, std::int64_t cursor, std::uint32_t limit)
      : table_(table), limit_(limit) {
    page_.cursor = cursor;
  }

  bool Add(std::int64_t rowid, Result<T> row) {
    if (!row) {
      error_ = AtRow(table_, rowid, row.error());
      return false;
    }
    page_.rows.push_back(std::move(*row));
    page_.cursor = rowid;
    return true;
  }

  Result<ForeignPage<T>> Finish(Status status) {
    if (status.ok()) status = error_;
    if (!status.ok()) return std::unexpected(std::move(status));
    page_.done = page_.rows.size() < limit_;
    return std::move(page_);
  }

 private:
  std::string_view table_;
  std::uint32_t limit_;
  ForeignPage<T> page_;
  Status error_;
};

class SqliteForeignFile final : public ForeignFile {
 public:
  explicit SqliteForeignFile(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  Status FindTables() {
    if (Status status = Find(ForeignTable::kSaverCheckpoints, "checkpoints", kCheckpointColumns,
                             "SELECT count(*) FROM checkpoints");
        !status.ok()) {
      return status;
    }
    if (Status status = Find(ForeignTable::kSaverWrites, "writes", kWriteColumns,
                             "SELECT count(*) FROM writes");
        !status.ok()) {
      return status;
    }
    if (Status status =
            Find(ForeignTable::kPythonStore, "store", kStoreColumns, "SELECT count(*) FROM store");
        !status.ok()) {
      return status;
    }
    if (Status status = Find(ForeignTable::kPlainStoreKv, "store_kv", kPlainColumns,
                             "SELECT count(*) FROM store_kv");
        !status.ok()) {
      return status;
    }
    return FindStoreExtras();
  }

  const std::vector<ForeignTableInfo>& tables() const override { return tables_; }

  Result<ForeignPage<ForeignItem>> Items(ForeignTable table, std::int64_t cursor,
                                         std::uint32_t limit) override {
    if (table == ForeignTable::kPythonStore) return PythonItems(cursor, limit);
    if (table == ForeignTable::kPlainStoreKv) return PlainItems(cursor, limit);
    return Error(StatusCode::kInvalidArgument, "only the tables store and store_kv hold items");
  }

  Result<ForeignPage<ForeignCheckpoint>> Checkpoints(std::int64_t cursor,
                                                     std::uint32_t limit) override {
    if (Status status = Require(ForeignTable::kSaverCheckpoints, "checkpoints"); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    PageBuilder<ForeignCheckpoint> page("checkpoints", cursor, limit);
    return page.Finish(database_->Run(
        "SELECT rowid, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type,"
        " checkpoint, metadata FROM checkpoints WHERE rowid > ? ORDER BY rowid LIMIT ?",
        {Param(cursor), Param(std::int64_t{limit})}, [&](const Row& row) {
          return page.Add(row.Int(0),
                          ForeignCheckpoint{.key = KeyOf(row, 1),
                                            .parent_checkpoint_id = std::string(row.Text(4)),
                                            .checkpoint = TypedBlob(row, 5, 6),
                                            .metadata = MetadataBlob(row, 7)});
        }));
  }

  Result<ForeignPage<ForeignWrite>> Writes(std::int64_t cursor, std::uint32_t limit) override {
    if (Status status = Require(ForeignTable::kSaverWrites, "writes"); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    PageBuilder<ForeignWrite> page("writes", cursor, limit);
    return page.Finish(database_->Run(
        "SELECT rowid, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value"
        " FROM writes WHERE rowid > ? ORDER BY rowid LIMIT ?",
        {Param(cursor), Param(std::int64_t{limit})}, [&](const Row& row) {
          return page.Add(row.Int(0),
                          ForeignWrite{.key = KeyOf(row, 1),
                                       .write = {.task_id = std::string(row.Text(4)),
                                                 .idx = static_cast<std::int32_t>(row.Int(5)),
                                                 .channel = std::string(row.Text(6)),
                                                 .value = TypedBlob(row, 7, 8)}});
        }));
  }

 private:
  Status Find(ForeignTable table, std::string_view name, std::span<const std::string_view> columns,
              std::string_view count_sql) {
    const Result<bool> is_there = HasColumns(*database_, name, columns);
    if (!is_there) return is_there.error();
    if (!*is_there) return Status();
    const Result<std::uint64_t> rows = CountRows(*database_, count_sql);
    if (!rows) return rows.error();
    tables_.push_back({.table = table, .rows = *rows});
    return Status();
  }

  // What Python's store got in later versions.
  Status FindStoreExtras() {
    constexpr std::string_view kTtlColumns[] = {"expires_at", "ttl_minutes"};
    const Result<bool> has_ttl = HasColumns(*database_, "store", kTtlColumns);
    if (!has_ttl) return has_ttl.error();
    const Result<bool> has_vectors = HasColumns(*database_, "store_vectors", kVectorColumns);
    if (!has_vectors) return has_vectors.error();
    store_has_ttl_ = *has_ttl;
    store_has_vectors_ = *has_vectors;
    return Status();
  }

  Status Require(ForeignTable table, std::string_view name) const {
    for (const ForeignTableInfo& info : tables_) {
      if (info.table == table) return Status();
    }
    return Status(StatusCode::kInvalidArgument, "file has no table " + std::string(name));
  }

  Result<ForeignPage<ForeignItem>> PythonItems(std::int64_t cursor, std::uint32_t limit) {
    if (Status status = Require(ForeignTable::kPythonStore, "store"); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    constexpr std::string_view kWithTtl =
        "SELECT rowid, prefix, key, value,"
        " created_at, CAST(round(1000 * unixepoch(created_at, 'subsec')) AS INTEGER),"
        " updated_at, CAST(round(1000 * unixepoch(updated_at, 'subsec')) AS INTEGER),"
        " expires_at, CAST(round(1000 * unixepoch(expires_at, 'subsec')) AS INTEGER), ttl_minutes"
        " FROM store WHERE rowid > ? ORDER BY rowid LIMIT ?";
    constexpr std::string_view kWithoutTtl =
        "SELECT rowid, prefix, key, value,"
        " created_at, CAST(round(1000 * unixepoch(created_at, 'subsec')) AS INTEGER),"
        " updated_at, CAST(round(1000 * unixepoch(updated_at, 'subsec')) AS INTEGER),"
        " NULL, NULL, NULL"
        " FROM store WHERE rowid > ? ORDER BY rowid LIMIT ?";
    PageBuilder<ForeignItem> page("store", cursor, limit);
    return page.Finish(database_->Run(
        store_has_ttl_ ? kWithTtl : kWithoutTtl, {Param(cursor), Param(std::int64_t{limit})},
        [&](const Row& row) { return page.Add(row.Int(0), PythonItem(row)); }));
  }

  Result<ForeignItem> PythonItem(const Row& row) {
    const Result<std::int64_t> created_at = TimeOf(row, 4, 5);
    if (!created_at) return std::unexpected(created_at.error());
    const Result<std::int64_t> updated_at = TimeOf(row, 6, 7);
    if (!updated_at) return std::unexpected(updated_at.error());
    const Result<std::int64_t> expires_at = TimeOf(row, 8, 9);
    if (!expires_at) return std::unexpected(expires_at.error());
    ForeignItem foreign;
    foreign.item = Item{.ns = SplitAtDots(row.Text(1)),
                        .key = std::string(row.Text(2)),
                        .value = std::string(row.Text(3)),
                        .created_at_ms = *created_at,
                        .updated_at_ms = *updated_at};
    foreign.expires_at_ms = *expires_at;
    if (!row.IsNull(10)) foreign.ttl_ms = std::llround(row.Real(10) * kMsPerMinute);
    if (Status status = CheckItem(foreign.item); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    auto vectors = VectorsOf(row.Text(1), row.Text(2));
    if (!vectors) return std::unexpected(std::move(vectors.error()));
    foreign.vectors = std::move(*vectors);
    return foreign;
  }

  Result<std::vector<FieldVector>> VectorsOf(std::string_view prefix, std::string_view key) {
    std::vector<FieldVector> vectors;
    if (!store_has_vectors_) return vectors;
    Status broken;
    Status status = database_->Run(
        "SELECT field_name, embedding FROM store_vectors WHERE prefix = ? AND key = ?"
        " ORDER BY rowid",
        {Param(prefix), Param(key)}, [&](const Row& row) {
          Result<std::vector<float>> values = FloatsOf(row.Blob(1));
          if (!values) {
            broken = values.error();
            return false;
          }
          vectors.push_back({.path = std::string(row.Text(0)), .values = std::move(*values)});
          return true;
        });
    if (status.ok()) status = broken;
    if (!status.ok()) return std::unexpected(std::move(status));
    return vectors;
  }

  Result<ForeignPage<ForeignItem>> PlainItems(std::int64_t cursor, std::uint32_t limit) {
    if (Status status = Require(ForeignTable::kPlainStoreKv, "store_kv"); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    PageBuilder<ForeignItem> page("store_kv", cursor, limit);
    return page.Finish(database_->Run(
        "SELECT rowid, ns, key, value FROM store_kv WHERE rowid > ? ORDER BY rowid LIMIT ?",
        {Param(cursor), Param(std::int64_t{limit})},
        [&](const Row& row) { return page.Add(row.Int(0), PlainItem(row)); }));
  }

  static Result<ForeignItem> PlainItem(const Row& row) {
    Result<Namespace> labels = LabelsOfJson(row.Text(1));
    if (!labels) return std::unexpected(std::move(labels.error()));
    ForeignItem foreign;
    foreign.item = Item{.ns = std::move(*labels),
                        .key = std::string(row.Text(2)),
                        .value = std::string(row.Text(3))};
    if (Status status = CheckItem(foreign.item); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    return foreign;
  }

  std::unique_ptr<Database> database_;
  std::vector<ForeignTableInfo> tables_;
  bool store_has_ttl_ = false;
  bool store_has_vectors_ = false;
};

Status RefuseOurs(Database& database, const std::string& path) {
  const Result<std::int64_t> version = sql::ReadSchemaVersion(database, path);
  const bool is_ours = version ? *version > 0 : version.error().code() == StatusCode::kNewerSchema;
  if (is_ours) {
    return Status(
        StatusCode::kInvalidArgument,
        "file was made by keepsake: import() its bytes, which replaces everything here: \"" + path +
            "\"");
  }
  if (version || version.error().code() == StatusCode::kForeignFile) return Status();
  return version.error();
}

}  // namespace

Result<std::unique_ptr<ForeignFile>> ForeignFile::Open(const sql::OpenOptions& options) {
  auto database = sql::SqliteDatabase::OpenForReading(options);
  if (!database) return std::unexpected(std::move(database.error()));
  if (Status status = RefuseOurs(**database, options.path); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  auto file = std::make_unique<SqliteForeignFile>(std::move(*database));
  if (Status status = file->FindTables(); !status.ok()) return std::unexpected(std::move(status));
  if (file->tables().empty()) {
    return Error(StatusCode::kInvalidArgument,
                 "file must have one of the tables checkpoints, writes, store, store_kv: \"" +
                     options.path + "\"");
  }
  return file;
}

}  // namespace keepsake::import
