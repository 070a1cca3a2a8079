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
      {Param(table)}, [&](const Row&) { is_virtual = true; });
  if (!status.ok()) return std::unexpected(std::move(status));
  Columns columns{.is_table = is_virtual};
  if (is_virtual) return columns;
  std::vector<std::string_view> missing(names.begin(), names.end());
  status =
      database.Run("SELECT name FROM pragma_table_info(?)", {Param(table)}, [&](const Row& row) {
        columns.is_table = true;
        std::erase(missing, row.Text(0));
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

Status AboutTable(StatusCode code, std::string_view table, std::string_view rule) {
  return Status(code, std::string("table ").append(table).append(" ").append(rule));
}

Status CheckPlain(Database& database, std::string_view table) {
  const Result<std::string> oddity = OddityOf(database, table);
  if (!oddity) return oddity.error();
  if (oddity->empty()) return Status();
  return AboutTable(
      StatusCode::kInvalidArgument, table,
      "must be a plain table, and is " + *oddity + ": copy its rows into a plain one");
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
// Counted at once, some milliseconds of work.
constexpr std::uint32_t kPortionRows = 4096;
// How many times the size of the file its rows may claim. Numbers are longer as texts, and what a
// column has by default is not in the file.
constexpr std::int64_t kMostClaims = 4;

// Where a page begins: behind the row with this number, or at the first.
struct RowCursor {
  static Result<RowCursor> Parse(const std::string& cursor) {
    RowCursor place;
    if (cursor.empty()) return place;
    const char* end = cursor.data() + cursor.size();
    const auto [rest, error] = std::from_chars(cursor.data(), end, place.rowid);
    if (error == std::errc() && rest == end) {
      place.is_behind = true;
      return place;
    }
    return Error(StatusCode::kInvalidArgument, "cursor must be that of a page: " + cursor);
  }

  std::int64_t rowid = INT64_MIN;
  bool is_behind = false;
};

// A table, and how the row with a number is read.
struct TableSql {
  std::string_view name;
  std::string_view row;
};

constexpr TableSql kCheckpoints = {
    "checkpoints",
    "SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,"
    " metadata FROM checkpoints WHERE _rowid_ = ?"};
constexpr TableSql kWrites = {
    "writes",
    "SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value"
    " FROM writes WHERE _rowid_ = ?"};
constexpr TableSql kStore = {
    "store",
    "SELECT prefix, key, value,"
    " created_at, CAST(round(1000 * unixepoch(created_at, 'subsec')) AS INTEGER),"
    " updated_at, CAST(round(1000 * unixepoch(updated_at, 'subsec')) AS INTEGER),"
    " NULL, NULL, NULL FROM store WHERE _rowid_ = ?"};
constexpr TableSql kStoreWithTtl = {
    "store",
    "SELECT prefix, key, value,"
    " created_at, CAST(round(1000 * unixepoch(created_at, 'subsec')) AS INTEGER),"
    " updated_at, CAST(round(1000 * unixepoch(updated_at, 'subsec')) AS INTEGER),"
    " expires_at, CAST(round(1000 * unixepoch(expires_at, 'subsec')) AS INTEGER), ttl_minutes"
    " FROM store WHERE _rowid_ = ?"};
constexpr TableSql kPlain = {"store_kv", "SELECT ns, key, value FROM store_kv WHERE _rowid_ = ?"};

Status OutOfOrder(std::string_view table) {
  return AboutTable(StatusCode::kCorrupt, table,
                    "has rows out of order: it is damaged, or was written to meanwhile");
}

// Goes over the numbers and sizes of a table's rows, without reading what they hold. In a damaged
// file a page may be named by many others, and SQLite would read it as often, in effect without
// end. But each page has a row at least, and the number of a row that comes again is too low.
class RowScan {
 public:
  // REQUIRES: `table` is plain.
  RowScan(Database& database, std::string_view table) : database_(database), table_(table) {}

  // Called with a row's number and its bytes.
  using OnRow = Visitor<std::int64_t, std::int64_t>;

  // Gives `limit` rows at most.
  Status Run(const RowCursor& place, std::uint32_t limit, OnRow on_row) const {
    std::string sql;
    int columns = 0;
    Status status = database_.Run(
        "SELECT 'SELECT _rowid_, '"
        " || group_concat('octet_length(\"' || replace(name, '\"', '\"\"') || '\")')"
        " || ' FROM ' || ?1 || ' WHERE _rowid_ >= ? ORDER BY _rowid_ LIMIT ?', count(*)"
        " FROM pragma_table_info(?1)",
        {Param(table_)}, [&](const Row& row) {
          sql = row.Text(0);
          columns = static_cast<int>(row.Int(1));
          return false;
        });
    if (!status.ok()) return status;
    // The last row comes once more: if it is not found, neither are those behind it.
    bool is_sound = !place.is_behind;
    std::optional<std::int64_t> last;
    status = database_.Run(
        sql, {Param(place.rowid), Param(std::int64_t{limit} + (place.is_behind ? 1 : 0))},
        [&](const Row& row) -> Result<bool> {
          const std::int64_t rowid = row.Int(0);
          const bool is_again = place.is_behind && !last;
          is_sound = is_again ? rowid == place.rowid : !last || rowid > *last;
          last = rowid;
          if (!is_sound || is_again) return is_sound;
          std::int64_t bytes = 0;
          for (int column = 1; column <= columns; ++column) bytes += row.Int(column);
          return on_row(rowid, bytes);
        });
    return !status.ok() || is_sound ? status : OutOfOrder(table_);
  }

 private:
  Database& database_;
  std::string_view table_;
};

// What a row brings from other tables.
std::int64_t BytesBeside(const ForeignItem& item) {
  std::size_t bytes = 0;
  for (const FieldVector& vector : item.vectors) bytes += vector.values.size() * sizeof(float);
  return static_cast<std::int64_t>(bytes);
}
std::int64_t BytesBeside(const ForeignCheckpoint&) { return 0; }
std::int64_t BytesBeside(const ForeignWrite&) { return 0; }

// What a page has beside its rows.
struct PageEnd {
  std::vector<ForeignSkip> skipped;
  std::string cursor;
  bool done = true;
};

// Goes over the rows of one page, and collects those that break a rule.
class PageReader {
 public:
  PageReader(Database& database, const TableSql& sql, RowCursor place)
      : database_(database), sql_(sql), place_(place) {}

  // `keep` says how many bytes a row brings from other tables.
  Result<PageEnd> Read(std::uint32_t limit, FunctionRef<Result<std::int64_t>(const Row&)> keep) {
    Status status =
        RowScan(database_, sql_.name)
            .Run(place_, limit, [&](std::int64_t rowid, std::int64_t bytes) -> Result<bool> {
              place_ = {.rowid = rowid, .is_behind = true};
              bytes_ += bytes;
              if (Status added = Add(bytes, keep); !added.ok()) {
                return std::unexpected(std::move(added));
              }
              end_.done = ++count_ < limit && bytes_ < kPageBytes;
              return end_.done;
            });
    if (!status.ok()) return std::unexpected(AboutFile(std::move(status)));
    if (place_.is_behind) end_.cursor = std::to_string(place_.rowid);
    return std::move(end_);
  }

 private:
  // Fails only if the file can't be read any further.
  Status Add(std::int64_t size, FunctionRef<Result<std::int64_t>(const Row&)> keep) {
    if (size > kMaxForeignRowBytes) {
      Skip("it takes " + std::to_string(size) + " bytes, and a row may take " +
           std::to_string(kMaxForeignRowBytes));
      return Status();
    }
    bool is_found = false;
    Status status = database_.Run(sql_.row, {Param(place_.rowid)}, [&](const Row& row) {
      is_found = true;
      const Result<std::int64_t> beside = keep(row);
      if (beside) bytes_ += *beside;
      if (!beside) Skip(beside.error().message());
      return false;
    });
    return !status.ok() || is_found ? status : OutOfOrder(sql_.name);
  }

  void Skip(std::string why) {
    end_.skipped.push_back(
        {"row " + std::to_string(place_.rowid) + " of table " + std::string(sql_.name),
         std::move(why)});
  }

  Database& database_;
  const TableSql& sql_;
  RowCursor place_;
  std::uint32_t count_ = 0;
  std::int64_t bytes_ = 0;
  PageEnd end_;
};

class SqliteForeignFile final : public ForeignFile {
 public:
  SqliteForeignFile(std::unique_ptr<Database> database, std::string path)
      : database_(std::move(database)), path_(std::move(path)) {}

  Status FindTables() {
    Status status = Find(ForeignTable::kSaverCheckpoints, kCheckpoints, kCheckpointColumns);
    if (status.ok()) status = Find(ForeignTable::kSaverWrites, kWrites, kWriteColumns);
    if (status.ok()) status = Find(ForeignTable::kPythonStore, kStore, kStoreColumns);
    if (status.ok()) status = Find(ForeignTable::kPlainStoreKv, kPlain, kPlainColumns);
    if (status.ok()) status = FindStoreExtras();
    return status.ok() ? RequireAny() : status;
  }

  bool IsBegun(std::string_view path) const override {
    return path_ == path && counting_ < to_count_.size();
  }

  Status CountRows() override {
    const Result<std::uint64_t> file_bytes = database_->SizeBytes();
    if (!file_bytes) return file_bytes.error();
    most_bytes_ = kMostClaims * static_cast<std::int64_t>(*file_bytes);
    for (; counting_ < to_count_.size(); ++counting_, counted_ = {}) {
      const Result<bool> is_counted = CountSome();
      if (!is_counted) return is_counted.error();
      if (!*is_counted) return {StatusCode::kIndexing, "rows are being counted: ask again"};
    }
    return Status();
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
    tables_.readable.push_back({.table = table});
    return Add(sql.name);
  }

  Status Add(std::string_view table) {
    to_count_.push_back(table);
    return CheckPlain(*database_, table);
  }

  Status RequireAny() const {
    if (!tables_.readable.empty()) return Status();
    std::string message = "file must have one of the tables checkpoints, writes, store, store_kv";
    for (const ForeignSkip& skip : tables_.skipped) message += "; " + skip.row + ": " + skip.why;
    return Status(StatusCode::kInvalidArgument, message + ": \"" + path_ + "\"");
  }

  // True when the table has no more.
  Result<bool> CountSome() {
    const std::string_view table = to_count_[counting_];
    std::uint64_t rows = 0;
    std::int64_t bytes = 0;
    bool is_end = true;
    Status status =
        RowScan(*database_, table)
            .Run(counted_.place, kPortionRows, [&](std::int64_t rowid, std::int64_t row_bytes) {
              counted_.place = {.rowid = rowid, .is_behind = true};
              bytes += row_bytes;
              is_end = ++rows < kPortionRows && bytes < kPageBytes;
              return is_end;
            });
    if (status.ok()) status = Claim(table, bytes, &counted_.bytes);
    if (!status.ok()) return std::unexpected(std::move(status));
    if (counting_ < tables_.readable.size()) tables_.readable[counting_].rows += rows;
    return is_end;
  }

  // Rows may say that they go on in the same pages, all of them.
  Status Claim(std::string_view table, std::int64_t bytes, std::int64_t* sum) const {
    *sum += bytes;
    if (*sum <= most_bytes_) return Status();
    return AboutTable(StatusCode::kInvalidArgument, table,
                      "has rows that claim more than the file has: copy them into a new table");
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
    Status status = Add("store_vectors");
    return status.ok() ? CheckFindsVectors() : status;
  }

  // Each item looks for its own: without an index, among those of all.
  Status CheckFindsVectors() {
    bool is_indexed = false;
    Status status = database_->Run(
        "SELECT 1 FROM pragma_index_list('store_vectors') AS list WHERE NOT partial"
        " AND (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(list.name)"
        "  WHERE seqno < 2 ORDER BY seqno)) IN ('prefix,key', 'key,prefix')",
        {}, [&](const Row&) { is_indexed = true; });
    if (!status.ok() || is_indexed) return status;
    return Status(StatusCode::kInvalidArgument,
                  "table store_vectors must have an index that begins with prefix and key, as "
                  "Python's store makes it: CREATE INDEX v ON store_vectors(prefix, key)");
  }

  template <typename T>
  Result<ForeignPage<T>> Read(ForeignTable table, const TableSql& sql, const std::string& cursor,
                              std::uint32_t limit, FunctionRef<Result<T>(const Row&)> make) {
    ForeignPage<T> page;
    auto end = ReadPage(table, sql, cursor, limit, [&](const Row& row) -> Result<std::int64_t> {
      Result<T> made = make(row);
      if (!made) return std::unexpected(std::move(made.error()));
      const std::int64_t beside = BytesBeside(*made);
      page.rows.push_back(std::move(*made));
      return beside;
    });
    if (!end) return std::unexpected(std::move(end.error()));
    page.skipped = std::move(end->skipped);
    page.cursor = std::move(end->cursor);
    page.done = end->done;
    return page;
  }

  Result<PageEnd> ReadPage(ForeignTable table, const TableSql& sql, const std::string& cursor,
                           std::uint32_t limit,
                           FunctionRef<Result<std::int64_t>(const Row&)> keep) {
    const auto is_asked_for = [&](const ForeignTableInfo& info) { return info.table == table; };
    if (std::ranges::none_of(tables_.readable, is_asked_for)) {
      return Error(StatusCode::kInvalidArgument, "file has no table " + std::string(sql.name));
    }
    const Result<RowCursor> place = RowCursor::Parse(cursor);
    if (!place) return std::unexpected(place.error());
    if (!place->is_behind) vector_bytes_ = 0;
    return PageReader(*database_, sql, *place).Read(limit, keep);
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
    // A damaged index may find the same ones again and again.
    std::int64_t bytes = 0, count = 0;
    Status status = database_->Run(
        "SELECT sum(bytes), count(*) FROM"
        " (SELECT ifnull(octet_length(field_name), 0) + ifnull(octet_length(embedding), 0) AS bytes"
        "   FROM store_vectors WHERE prefix = ? AND key = ? LIMIT ?)",
        {Param(prefix), Param(key), Param(kMaxForeignVectors + 1)}, [&](const Row& row) {
          bytes = row.Int(0);
          count = row.Int(1);
          return false;
        });
    if (status.ok()) status = Claim("store_vectors", bytes + count, &vector_bytes_);
    if (!status.ok()) return std::unexpected(std::move(status));
    if (count > kMaxForeignVectors) {
      return std::unexpected(Invalid("it has more than 10000 vectors"));
    }
    if (bytes > kMaxForeignRowBytes) {
      return std::unexpected(Invalid("its vectors take " + std::to_string(bytes) +
                                     " bytes, and they may take " +
                                     std::to_string(kMaxForeignRowBytes)));
    }
    status = database_->Run(
        "SELECT field_name, embedding FROM store_vectors WHERE prefix = ? AND key = ?"
        " ORDER BY _rowid_",
        {Param(prefix), Param(key)}, [&](const Row& row) -> Status {
          Result<std::vector<float>> values = FloatsOf(row.Blob(1));
          if (!values) return values.error();
          vectors.push_back({.path = std::string(row.Text(0)), .values = std::move(*values)});
          return {};
        });
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

  struct Counted {
    RowCursor place;
    std::int64_t bytes = 0;
  };

  std::unique_ptr<Database> database_;
  std::string path_;
  ForeignTables tables_;
  std::vector<std::string_view> to_count_;  // what is readable, and the vectors
  std::size_t counting_ = 0;                // in to_count_
  Counted counted_;                         // of it
  std::int64_t most_bytes_ = 0;
  std::int64_t vector_bytes_ = 0;  // found since the first page of items
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

Result<std::unique_ptr<ForeignFile>> OpenFile(const sql::OpenOptions& options) {
  auto database = sql::SqliteDatabase::OpenForReading(options);
  if (!database) return std::unexpected(std::move(database.error()));
  Status status = (*database)->LoadSchema();
  if (status.ok()) status = RefuseOurs(**database, options.path);
  if (!status.ok()) return std::unexpected(std::move(status));
  auto file = std::make_unique<SqliteForeignFile>(std::move(*database), options.path);
  status = file->FindTables();
  if (!status.ok()) return std::unexpected(AboutFile(std::move(status)));
  return file;
}

}  // namespace

Result<ForeignTables> ForeignFile::Open(const sql::OpenOptions& options,
                                        std::unique_ptr<ForeignFile>* file) {
  if (*file == nullptr || !(*file)->IsBegun(options.path)) {
    auto opened = OpenFile(options);
    if (!opened) return std::unexpected(std::move(opened.error()));
    *file = std::move(*opened);
  }
  Status status = (*file)->CountRows();
  if (status.ok()) return (*file)->tables();
  if (status.code() != StatusCode::kIndexing) file->reset();
  return std::unexpected(AboutFile(std::move(status)));
}

}  // namespace keepsake::import
