#include "import/foreign_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "json/json.h"
#include "json/utf8.h"
#include "sql/migrations.h"
#include "sql/sqlite_database.h"

namespace keepsake::import {
namespace {

using sql::Database;
using sql::Param;
using sql::Row;

static_assert(std::endian::native == std::endian::little, "vectors are read as they lie");

constexpr double kMsPerMinute = 60'000.0;
constexpr double kMostMinutes = 1e12;
// The end of the year 9999.
constexpr std::int64_t kMostMs = 253'402'300'799'999;

constexpr std::string_view kCheckpointColumns[] = {
    "thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id",
    "type",      "checkpoint",    "metadata"};
constexpr std::string_view kWriteColumns[] = {
    "thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "value"};
constexpr std::string_view kStoreColumns[] = {"prefix", "key", "value", "created_at", "updated_at"};
constexpr std::string_view kVectorColumns[] = {"prefix", "key", "field_name", "embedding"};
constexpr std::string_view kPlainColumns[] = {"ns", "key", "value"};

Status Invalid(std::string message) {
  return Status(StatusCode::kInvalidValue, std::move(message));
}

// What a table with this name has of these columns.
struct Columns {
  bool is_table = false;  // whether there is one
  std::string lacking;    // "key, value", "" if it has all
};

Result<Columns> FindColumns(Database& database, std::string_view table,
                            std::span<const std::string_view> names) {
  // The columns of a virtual one are known to its module only, and CheckPlain() refuses it.
  bool is_virtual = false;
  Status status = database.Run(
      "SELECT 1 FROM sqlite_schema WHERE name = ? COLLATE NOCASE AND sql LIKE 'CREATE VIRTUAL %'",
      {Param(table)}, [&](const Row&) { return is_virtual = true; });
  if (!status.ok()) return std::unexpected(std::move(status));
  Columns columns{.is_table = is_virtual};
  if (is_virtual) return columns;
  std::vector<std::string_view> missing(names.begin(), names.end());
  status =
      database.Run("SELECT name FROM pragma_table_info(?)", {Param(table)}, [&](const Row& row) {
        columns.is_table = true;
        std::erase(missing, row.Text(0));
        return true;
      });
  if (!status.ok()) return std::unexpected(std::move(status));
  for (std::string_view name : missing) {
    columns.lacking.append(columns.lacking.empty() ? "" : ", ").append(name);
  }
  return columns;
}

// "" if there is none, else what a table with this name is instead of a plain one.
Result<std::string> OddityOf(Database& database, std::string_view table) {
  std::string oddity;
  const auto note = [&](const Row& row) {
    oddity = row.Text(0);
    return false;
  };
  Status status = database.Run(
      "SELECT CASE WHEN wr THEN 'WITHOUT ROWID' WHEN type = 'table' THEN '' ELSE 'a ' || type END"
      " FROM pragma_table_list WHERE schema = 'main' AND name = ?",
      {Param(table)}, note);
  if (status.ok() && oddity.empty()) {
    status = database.Run(
        "SELECT 'with the trigger ' || name FROM sqlite_schema"
        " WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE"
        " UNION ALL SELECT 'with the generated column ' || name FROM pragma_table_xinfo(?1)"
        " WHERE hidden IN (2, 3)"
        " UNION ALL SELECT 'with a column called _rowid_' FROM pragma_table_info(?1)"
        " WHERE name = '_rowid_' COLLATE NOCASE",
        {Param(table)}, note);
  }
  if (!status.ok()) return std::unexpected(std::move(status));
  return oddity;
}

// A table whose own SQL asks for what is not here, such as another program's collation.
Status AboutFile(Status status) {
  if (status.code() != StatusCode::kInternal) return status;
  return Status(StatusCode::kCorrupt, "file has a table that can't be read: " + status.message());
}

Status CheckPlain(Database& database, std::string_view table) {
  const Result<std::string> oddity = OddityOf(database, table);
  if (!oddity) return oddity.error();
  if (oddity->empty()) return Status();
  return Status(StatusCode::kInvalidArgument, "table " + std::string(table) +
                                                  " must be a plain table, and is " + *oddity +
                                                  ": copy its rows into a plain one");
}

// Reading a damaged tree may never end: a page that two others name is found here. Of other tables
// nothing is read, whose generated columns may take any time. REQUIRES: `table` is plain.
Status CheckPages(Database& database, std::string_view table) {
  std::string verdict;
  Status status = database.Run("SELECT quick_check FROM pragma_quick_check(?)", {Param(table)},
                               [&](const Row& row) {
                                 verdict = row.Text(0);
                                 return false;
                               });
  if (!status.ok() || verdict == "ok") return status;
  return Status(StatusCode::kCorrupt,
                "table " + std::string(table) + " is damaged (" + verdict + ")");
}

Status CheckTable(Database& database, std::string_view table) {
  Status status = CheckPlain(database, table);
  return status.ok() ? CheckPages(database, table) : status;
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
                 "namespace must be a JSON array of labels: " + json::Quoted(text));
  }
  Namespace labels;
  json::ArrayReader reader(json::Root(text));
  while (reader.Next()) {
    if (json::KindOf(reader.value()) != json::Kind::kString) {
      return Error(StatusCode::kInvalidNamespace,
                   "namespace label must be a string: " + json::Quoted(reader.value()));
    }
    labels.push_back(json::Unescape(reader.value()));
  }
  return labels;
}

Status CheckText(std::string_view what, std::string_view text) {
  if (json::IsWellFormedUtf8(text) && text.find('\0') == text.npos) return Status();
  return Invalid(std::string(what) + " must be UTF-8 text without NUL: " + json::Quoted(text));
}

Status CheckKeys(const CheckpointKey& key) {
  for (const std::string* part : {&key.thread_id, &key.checkpoint_ns, &key.checkpoint_id}) {
    if (Status status = CheckText("name of a checkpoint", *part); !status.ok()) return status;
  }
  return Status();
}

Status NotNull(const Row& row, std::initializer_list<std::string_view> columns) {
  int number = 0;
  for (const std::string_view column : columns) {
    if (row.IsNull(number++)) return Invalid(std::string(column) + " must not be NULL");
  }
  return Status();
}

Status CheckItem(const Item& item) {
  if (Status status = CheckText("key", item.key); !status.ok()) return status;
  // Upstream writes there too, through its own batch().
  if (Status status = ValidateNamespace(item.ns, {.allow_reserved_root = true}); !status.ok()) {
    return status;
  }
  if (Status status = json::Validate(item.value); !status.ok()) return status;
  if (json::KindOf(json::Root(item.value)) == json::Kind::kObject) return Status();
  return Invalid("value must be a JSON object: " + json::Quoted(item.value));
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

// A time of Python's: text that SQLite could not read came out as NULL. 0 stands for none.
Result<std::int64_t> TimeOf(const Row& row, int text_column, int ms_column) {
  if (row.IsNull(text_column)) return 0;
  const std::int64_t ms = row.IsNull(ms_column) ? -1 : row.Int(ms_column);
  if (ms >= 0 && ms <= kMostMs) return ms;
  return std::unexpected(
      Invalid("time must be ISO 8601, of 1970 or later: " + json::Quoted(row.Text(text_column))));
}

// As much is held at once, and a row more.
constexpr std::int64_t kPageBytes = 4 * 1024 * 1024;

// Where a page begins: behind the row with this number, or at the first.
struct Place {
  static Result<Place> Parse(const std::string& cursor) {
    Place place;
    if (cursor.empty()) return place;
    const char* end = cursor.data() + cursor.size();
    const auto [rest, error] = std::from_chars(cursor.data(), end, place.rowid);
    if (error == std::errc() && rest == end) {
      place.is_behind = true;
      return place;
    }
    return Error(StatusCode::kInvalidArgument, "cursor must be that of a page: " + cursor);
  }

  // Of the first row that may come. REQUIRES: !IsEnd()
  std::int64_t first() const { return is_behind ? rowid + 1 : rowid; }
  bool IsEnd() const { return is_behind && rowid == INT64_MAX; }

  std::int64_t rowid = INT64_MIN;
  bool is_behind = false;
};

// How the rows of a table are read: `scan` lists the numbers and sizes of rows from a number on,
// so many at most; `row` reads the one with a number.
struct TableSql {
  std::string_view name;
  std::string_view count;
  std::string_view scan;
  std::string_view row;
};

constexpr TableSql kCheckpoints = {
    "checkpoints", "SELECT count(*) FROM checkpoints",
    "SELECT _rowid_, ifnull(octet_length(thread_id), 0) + ifnull(octet_length(checkpoint_ns), 0)"
    " + ifnull(octet_length(checkpoint_id), 0) + ifnull(octet_length(parent_checkpoint_id), 0)"
    " + ifnull(octet_length(type), 0) + ifnull(octet_length(checkpoint), 0)"
    " + ifnull(octet_length(metadata), 0)"
    " FROM checkpoints WHERE _rowid_ >= ? ORDER BY _rowid_ LIMIT ?",
    "SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,"
    " metadata FROM checkpoints WHERE _rowid_ = ?"};
constexpr TableSql kWrites = {
    "writes", "SELECT count(*) FROM writes",
    "SELECT _rowid_, ifnull(octet_length(thread_id), 0) + ifnull(octet_length(checkpoint_ns), 0)"
    " + ifnull(octet_length(checkpoint_id), 0) + ifnull(octet_length(task_id), 0)"
    " + ifnull(octet_length(channel), 0) + ifnull(octet_length(type), 0)"
    " + ifnull(octet_length(value), 0)"
    " FROM writes WHERE _rowid_ >= ? ORDER BY _rowid_ LIMIT ?",
    "SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value"
    " FROM writes WHERE _rowid_ = ?"};
constexpr std::string_view kScanStore =
    "SELECT _rowid_, ifnull(octet_length(prefix), 0) + ifnull(octet_length(key), 0)"
    " + ifnull(octet_length(value), 0)"
    " FROM store WHERE _rowid_ >= ? ORDER BY _rowid_ LIMIT ?";
constexpr TableSql kStore = {
    "store", "SELECT count(*) FROM store", kScanStore,
    "SELECT prefix, key, value,"
    " created_at, CAST(round(1000 * unixepoch(created_at, 'subsec')) AS INTEGER),"
    " updated_at, CAST(round(1000 * unixepoch(updated_at, 'subsec')) AS INTEGER),"
    " NULL, NULL, NULL FROM store WHERE _rowid_ = ?"};
constexpr TableSql kStoreWithTtl = {
    "store", "SELECT count(*) FROM store", kScanStore,
    "SELECT prefix, key, value,"
    " created_at, CAST(round(1000 * unixepoch(created_at, 'subsec')) AS INTEGER),"
    " updated_at, CAST(round(1000 * unixepoch(updated_at, 'subsec')) AS INTEGER),"
    " expires_at, CAST(round(1000 * unixepoch(expires_at, 'subsec')) AS INTEGER), ttl_minutes"
    " FROM store WHERE _rowid_ = ?"};
constexpr TableSql kPlain = {
    "store_kv", "SELECT count(*) FROM store_kv",
    "SELECT _rowid_, ifnull(octet_length(ns), 0) + ifnull(octet_length(key), 0)"
    " + ifnull(octet_length(value), 0)"
    " FROM store_kv WHERE _rowid_ >= ? ORDER BY _rowid_ LIMIT ?",
    "SELECT ns, key, value FROM store_kv WHERE _rowid_ = ?"};

// What a row brings from other tables.
std::int64_t BytesBeside(const ForeignItem& item) {
  std::size_t bytes = 0;
  for (const FieldVector& vector : item.vectors) bytes += vector.values.size() * sizeof(float);
  return static_cast<std::int64_t>(bytes);
}
std::int64_t BytesBeside(const ForeignCheckpoint&) { return 0; }
std::int64_t BytesBeside(const ForeignWrite&) { return 0; }

// Collects the rows of one page, and those that break a rule.
template <typename T>
class PageReader {
 public:
  PageReader(Database& database, const TableSql& sql, Place place, std::uint32_t limit)
      : database_(database), sql_(sql), place_(place), limit_(limit) {}

  // `make` makes a T of a row.
  Result<ForeignPage<T>> Read(FunctionRef<Result<T>(const Row&)> make) {
    page_.done = true;
    Status failure;
    if (!place_.IsEnd()) {
      Status status = database_.Run(sql_.scan, {Param(place_.first()), Param(std::int64_t{limit_})},
                                    [&](const Row& row) {
                                      place_ = {.rowid = row.Int(0), .is_behind = true};
                                      bytes_ += row.Int(1);
                                      failure = Add(row.Int(1), make);
                                      page_.done = ++count_ < limit_ && bytes_ < kPageBytes;
                                      return page_.done && failure.ok();
                                    });
      if (status.ok()) status = failure;
      if (!status.ok()) return std::unexpected(AboutFile(std::move(status)));
    }
    if (place_.is_behind) page_.cursor = std::to_string(place_.rowid);
    return std::move(page_);
  }

 private:
  // Fails only if the file can't be read any further.
  Status Add(std::int64_t size, FunctionRef<Result<T>(const Row&)> make) {
    if (size > kMaxForeignRowBytes) {
      Skip("it takes " + std::to_string(size) + " bytes, and a row may take " +
           std::to_string(kMaxForeignRowBytes));
      return Status();
    }
    return database_.Run(sql_.row, {Param(place_.rowid)}, [&](const Row& row) {
      Result<T> made = make(row);
      if (made) {
        bytes_ += BytesBeside(*made);
        page_.rows.push_back(std::move(*made));
      } else {
        Skip(made.error().message());
      }
      return true;
    });
  }

  void Skip(std::string why) {
    page_.skipped.push_back(
        {"row " + std::to_string(place_.rowid) + " of table " + std::string(sql_.name),
         std::move(why)});
  }

  Database& database_;
  const TableSql& sql_;
  Place place_;
  std::uint32_t limit_;
  std::uint32_t count_ = 0;
  std::int64_t bytes_ = 0;
  ForeignPage<T> page_;
};

class SqliteForeignFile final : public ForeignFile {
 public:
  explicit SqliteForeignFile(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  Status FindTables() {
    // Whether rows keep them is not our concern.
    Status status = database_->Run("PRAGMA ignore_check_constraints = 1");
    if (status.ok())
      status = Find(ForeignTable::kSaverCheckpoints, kCheckpoints, kCheckpointColumns);
    if (status.ok()) status = Find(ForeignTable::kSaverWrites, kWrites, kWriteColumns);
    if (status.ok()) status = Find(ForeignTable::kPythonStore, kStore, kStoreColumns);
    if (status.ok()) status = Find(ForeignTable::kPlainStoreKv, kPlain, kPlainColumns);
    return status.ok() ? FindStoreExtras() : status;
  }

  const ForeignTables& tables() const override { return tables_; }

  Result<ForeignPage<ForeignItem>> Items(ForeignTable table, const std::string& cursor,
                                         std::uint32_t limit) override {
    if (table == ForeignTable::kPythonStore) {
      return Read<ForeignItem>(table, store_has_ttl_ ? kStoreWithTtl : kStore, cursor, limit,
                               [this](const Row& row) { return PythonItem(row); });
    }
    if (table == ForeignTable::kPlainStoreKv) {
      return Read<ForeignItem>(table, kPlain, cursor, limit,
                               [](const Row& row) { return PlainItem(row); });
    }
    return Error(StatusCode::kInvalidArgument, "only the tables store and store_kv hold items");
  }

  Result<ForeignPage<ForeignCheckpoint>> Checkpoints(const std::string& cursor,
                                                     std::uint32_t limit) override {
    return Read<ForeignCheckpoint>(ForeignTable::kSaverCheckpoints, kCheckpoints, cursor, limit,
                                   [](const Row& row) { return CheckpointOf(row); });
  }

  Result<ForeignPage<ForeignWrite>> Writes(const std::string& cursor,
                                           std::uint32_t limit) override {
    return Read<ForeignWrite>(ForeignTable::kSaverWrites, kWrites, cursor, limit,
                              [](const Row& row) { return WriteOf(row); });
  }

 private:
  Status Find(ForeignTable table, const TableSql& sql, std::span<const std::string_view> columns) {
    const Result<bool> is_there = Has(sql.name, columns);
    if (!is_there) return is_there.error();
    if (!*is_there) return Status();
    if (Status status = CheckTable(*database_, sql.name); !status.ok()) return status;
    const Result<std::uint64_t> rows = CountRows(*database_, sql.count);
    if (!rows) return rows.error();
    tables_.readable.push_back({.table = table, .rows = *rows});
    return Status();
  }

  // A table that lacks some of the columns is noted as skipped.
  Result<bool> Has(std::string_view table, std::span<const std::string_view> names) {
    const Result<Columns> columns = FindColumns(*database_, table, names);
    if (!columns) return std::unexpected(columns.error());
    if (!columns->is_table) return false;
    if (columns->lacking.empty()) return true;
    tables_.skipped.push_back(
        {.row = "table " + std::string(table),
         .why = "none of its rows can be read: it lacks " + columns->lacking});
    return false;
  }

  // What Python's store got in later versions.
  Status FindStoreExtras() {
    constexpr std::string_view kTtlColumns[] = {"expires_at", "ttl_minutes"};
    const Result<Columns> ttl = FindColumns(*database_, "store", kTtlColumns);
    if (!ttl) return ttl.error();
    const Result<bool> has_vectors = Has("store_vectors", kVectorColumns);
    if (!has_vectors) return has_vectors.error();
    store_has_ttl_ = ttl->lacking.empty();
    store_has_vectors_ = *has_vectors;
    if (!store_has_vectors_) return Status();
    Status status = CheckTable(*database_, "store_vectors");
    return status.ok() ? CheckFindsVectors() : status;
  }

  // Each item looks for its own: without an index, among those of all.
  Status CheckFindsVectors() {
    bool is_indexed = false;
    Status status = database_->Run(
        "SELECT 1 FROM pragma_index_list('store_vectors') AS list WHERE NOT partial"
        " AND (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(list.name)"
        "  WHERE seqno < 2 ORDER BY seqno)) IN ('prefix,key', 'key,prefix')",
        {}, [&](const Row&) { return is_indexed = true; });
    if (!status.ok() || is_indexed) return status;
    return Status(StatusCode::kInvalidArgument,
                  "table store_vectors must have an index that begins with prefix and key, as "
                  "Python's store makes it: CREATE INDEX v ON store_vectors(prefix, key)");
  }

  template <typename T>
  Result<ForeignPage<T>> Read(ForeignTable table, const TableSql& sql, const std::string& cursor,
                              std::uint32_t limit, FunctionRef<Result<T>(const Row&)> make) {
    const auto is_asked_for = [&](const ForeignTableInfo& info) { return info.table == table; };
    if (std::ranges::none_of(tables_.readable, is_asked_for)) {
      return Error(StatusCode::kInvalidArgument, "file has no table " + std::string(sql.name));
    }
    const Result<Place> place = Place::Parse(cursor);
    if (!place) return std::unexpected(place.error());
    return PageReader<T>(*database_, sql, *place, limit).Read(make);
  }

  static Result<ForeignCheckpoint> CheckpointOf(const Row& row) {
    ForeignCheckpoint foreign{.key = KeyOf(row, 0),
                              .parent_checkpoint_id = std::string(row.Text(3)),
                              .checkpoint = TypedBlob(row, 4, 5),
                              .metadata = MetadataBlob(row, 6)};
    Status status = NotNull(row, {"thread_id", "checkpoint_ns", "checkpoint_id"});
    if (status.ok()) status = CheckKeys(foreign.key);
    if (status.ok()) status = CheckText("parent_checkpoint_id", foreign.parent_checkpoint_id);
    if (status.ok()) status = CheckText("type", foreign.checkpoint.type);
    if (!status.ok()) return std::unexpected(std::move(status));
    return foreign;
  }

  static Result<ForeignWrite> WriteOf(const Row& row) {
    const std::int64_t idx = row.Int(4);
    ForeignWrite foreign{.key = KeyOf(row, 0),
                         .write = {.task_id = std::string(row.Text(3)),
                                   .idx = static_cast<std::int32_t>(idx),
                                   .channel = std::string(row.Text(5)),
                                   .value = TypedBlob(row, 6, 7)}};
    Status status =
        NotNull(row, {"thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel"});
    if (status.ok()) status = CheckKeys(foreign.key);
    if (status.ok()) status = CheckText("task_id", foreign.write.task_id);
    if (status.ok()) status = CheckText("channel", foreign.write.channel);
    if (status.ok()) status = CheckText("type", foreign.write.value.type);
    if (status.ok() && row.Text(4) != std::to_string(foreign.write.idx)) {
      status = Invalid("idx must be a whole number of 32 bits: " + json::Quoted(row.Text(4)));
    }
    if (status.ok() && row.IsNull(7) && foreign.write.value.type != "null") {
      status = Invalid("value must not be NULL");
    }
    if (!status.ok()) return std::unexpected(std::move(status));
    return foreign;
  }

  Result<ForeignItem> PythonItem(const Row& row) {
    if (Status status = NotNull(row, {"prefix", "key", "value"}); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    const Result<std::int64_t> created_at = TimeOf(row, 3, 4);
    if (!created_at) return std::unexpected(created_at.error());
    const Result<std::int64_t> updated_at = TimeOf(row, 5, 6);
    if (!updated_at) return std::unexpected(updated_at.error());
    const Result<std::int64_t> expires_at = TimeOf(row, 7, 8);
    if (!expires_at) return std::unexpected(expires_at.error());
    ForeignItem foreign;
    foreign.item = Item{.ns = SplitAtDots(row.Text(0)),
                        .key = std::string(row.Text(1)),
                        .value = std::string(row.Text(2)),
                        .created_at_ms = *created_at,
                        .updated_at_ms = *updated_at};
    foreign.expires_at_ms = *expires_at;
    if (!row.IsNull(9)) {
      const double minutes = row.Real(9);
      if (!(std::abs(minutes) <= kMostMinutes)) {
        return std::unexpected(Invalid("ttl_minutes must be a number of minutes"));
      }
      foreign.ttl_ms = std::llround(minutes * kMsPerMinute);
    }
    if (Status status = CheckItem(foreign.item); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    auto vectors = VectorsOf(row.Text(0), row.Text(1));
    if (!vectors) return std::unexpected(std::move(vectors.error()));
    foreign.vectors = std::move(*vectors);
    return foreign;
  }

  Result<std::vector<FieldVector>> VectorsOf(std::string_view prefix, std::string_view key) {
    std::vector<FieldVector> vectors;
    if (!store_has_vectors_) return vectors;
    std::int64_t bytes = 0;
    Status status = database_->Run(
        "SELECT sum(ifnull(octet_length(field_name), 0) + ifnull(octet_length(embedding), 0))"
        " FROM store_vectors WHERE prefix = ? AND key = ?",
        {Param(prefix), Param(key)}, [&](const Row& row) {
          bytes = row.Int(0);
          return true;
        });
    if (!status.ok()) return std::unexpected(std::move(status));
    if (bytes > kMaxForeignRowBytes) {
      return std::unexpected(Invalid("its vectors take " + std::to_string(bytes) +
                                     " bytes, and they may take " +
                                     std::to_string(kMaxForeignRowBytes)));
    }
    Status broken;
    status = database_->Run(
        "SELECT field_name, embedding FROM store_vectors WHERE prefix = ? AND key = ?"
        " ORDER BY _rowid_",
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

  static Result<ForeignItem> PlainItem(const Row& row) {
    if (Status status = NotNull(row, {"ns", "key", "value"}); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    Result<Namespace> labels = LabelsOfJson(row.Text(0));
    if (!labels) return std::unexpected(std::move(labels.error()));
    ForeignItem foreign;
    foreign.item = Item{.ns = std::move(*labels),
                        .key = std::string(row.Text(1)),
                        .value = std::string(row.Text(2))};
    if (Status status = CheckItem(foreign.item); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    return foreign;
  }

  std::unique_ptr<Database> database_;
  ForeignTables tables_;
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
  if (Status status = file->FindTables(); !status.ok()) {
    return std::unexpected(AboutFile(std::move(status)));
  }
  if (file->tables().readable.empty()) {
    std::string message = "file must have one of the tables checkpoints, writes, store, store_kv";
    for (const ForeignSkip& skip : file->tables().skipped) {
      message += "; " + skip.row + ": " + skip.why;
    }
    return Error(StatusCode::kInvalidArgument, message + ": \"" + options.path + "\"");
  }
  return file;
}

}  // namespace keepsake::import
