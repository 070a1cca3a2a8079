#include "sql/host_database.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace keepsake::sql {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie");

enum class Tag : std::uint8_t { kNull = 0, kInt = 1, kReal = 2, kText = 3, kBlob = 4 };

class ParamEncoder {
 public:
  void operator()(std::monostate) { PutTag(Tag::kNull); }
  void operator()(std::int64_t value) {
    PutTag(Tag::kInt);
    Put(&value, sizeof(value));
  }
  void operator()(double value) {
    PutTag(Tag::kReal);
    Put(&value, sizeof(value));
  }
  void operator()(std::string_view value) { PutSized(Tag::kText, value.data(), value.size()); }
  void operator()(ByteView value) { PutSized(Tag::kBlob, value.data(), value.size()); }

  ByteView bytes() const { return bytes_; }

 private:
  void PutTag(Tag tag) { bytes_.push_back(std::to_underlying(tag)); }
  void Put(const void* from, std::size_t size) {
    const auto* bytes = static_cast<const std::uint8_t*>(from);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  }
  void PutSized(Tag tag, const void* from, std::size_t size) {
    const auto length = static_cast<std::uint32_t>(size);
    PutTag(tag);
    Put(&length, sizeof(length));
    if (size > 0) Put(from, size);
  }

  Bytes bytes_;
};

// A row as the host wrote it. A column that is not there reads as NULL.
class EncodedRow final : public Row {
 public:
  // False if `row` is not a sequence of values.
  bool Parse(ByteView row) {
    columns_.clear();
    while (!row.empty()) {
      Column column{.tag = static_cast<Tag>(row[0])};
      row = row.subspan(1);
      std::uint32_t size = FixedSize(column.tag);
      if (column.tag == Tag::kText || column.tag == Tag::kBlob) {
        if (row.size() < sizeof(size)) return false;
        std::memcpy(&size, row.data(), sizeof(size));
        row = row.subspan(sizeof(size));
      }
      if (column.tag > Tag::kBlob || row.size() < size) return false;
      column.bytes = row.first(size);
      row = row.subspan(size);
      columns_.push_back(column);
    }
    return true;
  }

  bool IsNull(int column) const override { return At(column).tag == Tag::kNull; }
  std::int64_t Int(int column) const override {
    const Column value = At(column);
    return value.tag == Tag::kReal ? static_cast<std::int64_t>(As<double>(value))
                                   : As<std::int64_t>(value);
  }
  double Real(int column) const override {
    const Column value = At(column);
    return value.tag == Tag::kInt ? static_cast<double>(As<std::int64_t>(value))
                                  : As<double>(value);
  }
  std::string_view Text(int column) const override {
    const ByteView bytes = Blob(column);
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  ByteView Blob(int column) const override {
    const Column value = At(column);
    return value.tag == Tag::kText || value.tag == Tag::kBlob ? value.bytes : ByteView();
  }

 private:
  struct Column {
    Tag tag = Tag::kNull;
    ByteView bytes;
  };

  static std::uint32_t FixedSize(Tag tag) { return tag == Tag::kInt || tag == Tag::kReal ? 8 : 0; }
  template <typename T>
  static T As(const Column& column) {
    T value = 0;
    if (FixedSize(column.tag) == sizeof(T)) std::memcpy(&value, column.bytes.data(), sizeof(T));
    return value;
  }
  Column At(int column) const {
    const auto index = static_cast<std::size_t>(column);
    return index < columns_.size() ? columns_[index] : Column();
  }

  std::vector<Column> columns_;
};

// Of the table that a failed statement named first, or "".
std::string MissingTable(const Status& status) {
  constexpr std::string_view kBeginning = "no such table: ";
  std::string_view name = status.message();
  if (status.code() != StatusCode::kInternal || !name.starts_with(kBeginning)) return {};
  name.remove_prefix(kBeginning.size());
  constexpr std::string_view kOfTrigger = "main.";
  if (name.starts_with(kOfTrigger)) name.remove_prefix(kOfTrigger.size());
  return std::string(name.substr(0, name.find(':')));
}

// The table that a deletion deletes from, or "".
std::string_view TableOfDeletion(std::string_view sql) {
  constexpr std::string_view kBeginning = "DELETE FROM ";
  if (!sql.starts_with(kBeginning)) return {};
  sql.remove_prefix(kBeginning.size());
  return sql.substr(0, sql.find(' '));
}

Status NamesAreTaken(const Status& status) {
  return Status(StatusCode::kForeignFile,
                "the host's database has tables of our names: " + status.message());
}

class HostDatabase final : public Database {
 public:
  HostDatabase(const HostSql& host, Schema schema) : host_(host), schema_(schema) {}

  using Database::Run;
  // Nothing is remembered of the tables that are there: a transaction around us may be
  // undone. A statement fails before its first row if one is missing.
  Status Run(std::string_view sql, std::span<const Param> params,
             const RowCallback& on_row) override {
    const std::string_view emptied = TableOfDeletion(sql);
    if (WasMissing(emptied) && IsMissing(emptied)) return Status();
    Status failure;
    Status status = RunOnce(sql, params, on_row, failure);
    for (;;) {
      if (!failure.ok()) return failure;
      const std::string missing = MissingTable(status);
      const std::optional<TableGroup> group = GroupOfTable(missing, schema_);
      if (!group || *group == TableGroup::kMeta) return status;
      if (missing == emptied) {
        // It finds nothing, so that the table need not be made.
        missing_.push_back(missing);
        return Status();
      }
      if (Status made = MakeMissing(*group); !made.ok()) return made;
      status = RunOnce(sql, params, on_row, failure);
      if (MissingTable(status) == missing) return status;
    }
  }

  Status InTransaction(FunctionRef<Status()> body) override {
    Transaction transaction{.body = body};
    const std::uint16_t code =
        host_.transaction(host_.context, &HostDatabase::RunBody, &transaction);
    return transaction.status.ok() ? StatusOf(code) : transaction.status;
  }

  bool is_guarded() const override { return true; }

  Status Flush() override { return Status(); }
  Result<bool> Scrub(std::uint32_t) override { return true; }

  Result<std::uint64_t> SizeBytes() override {
    return static_cast<std::uint64_t>(std::max(0.0, host_.size(host_.context)));
  }

  Result<PageCheck> CheckPages(std::uint32_t, std::uint32_t, bool) override {
    return Error(StatusCode::kUnsupported,
                 "the host checks what it stores itself; PRAGMA integrity_check does it by hand");
  }
  Result<std::uint64_t> BeginExport() override { return std::unexpected(NoFile()); }
  Result<Bytes> ReadExport(std::uint64_t, std::uint32_t) override {
    return std::unexpected(NoFile());
  }
  void EndExport() override {}
  Status ImportFrom(const OpenOptions&) override { return NoFile(); }

 private:
  // `failure` is what `on_row` answers.
  Status RunOnce(std::string_view sql, std::span<const Param> params, const RowCallback& on_row,
                 Status& failure) {
    ParamEncoder encoder;
    for (const Param& param : params) std::visit(encoder, param);
    RowTaker taker{.on_row = on_row, .failure = failure};
    const std::uint16_t code =
        host_.run(host_.context, sql, encoder.bytes(),
                  on_row == nullptr ? nullptr : &HostDatabase::TakeRow, &taker);
    if (taker.is_malformed) return Status(StatusCode::kInternal, "the host's row has no layout");
    return StatusOf(code);
  }

  // Asking costs a Durable Object 3 us and no row, a statement that fails 42 us.
  bool WasMissing(std::string_view table) const {
    return std::ranges::find(missing_, table) != missing_.end();
  }
  bool IsMissing(std::string_view table) {
    bool is_missing = true;
    Status failure;
    const Status status = RunOnce(
        "PRAGMA table_info(" + std::string(table) + ")", {},
        [&](const Row&) { return is_missing = false; }, failure);
    if (!is_missing) std::erase(missing_, table);
    return status.ok() && is_missing;
  }

  // Not in a database that was emptied under us: this engine remembers what was there.
  Status MakeMissing(TableGroup group) {
    Status failure;
    Status status = RunOnce("SELECT 1 FROM meta LIMIT 1", {}, nullptr, failure);
    if (!status.ok()) return status;
    status = MakeTables(*this, group, schema_);
    return status.code() == StatusCode::kInternal ? NamesAreTaken(status) : status;
  }

  struct RowTaker {
    const RowCallback& on_row;
    Status& failure;
    EncodedRow row;
    bool is_malformed = false;
  };
  struct Transaction {
    FunctionRef<Status()> body;
    Status status;
  };

  static bool TakeRow(void* context, ByteView row) {
    auto& taker = *static_cast<RowTaker*>(context);
    taker.is_malformed = !taker.row.Parse(row);
    if (taker.is_malformed) return false;
    return taker.on_row.GoesOn(taker.failure, taker.row);
  }

  static bool RunBody(void* argument) {
    auto& transaction = *static_cast<Transaction*>(argument);
    transaction.status = transaction.body();
    return transaction.status.ok();
  }

  static Status NoFile() {
    return Status(StatusCode::kUnsupported,
                  "the host's own SQLite has no file to export or to import into");
  }

  Status StatusOf(std::uint16_t code) const {
    if (code == std::to_underlying(StatusCode::kOk)) return Status();
    return Status(static_cast<StatusCode>(code), std::string(host_.message(host_.context)));
  }

  HostSql host_;
  Schema schema_;
  std::vector<std::string> missing_;  // when it was deleted from; somebody may have made it since
};

// What the host's database has before we write to it.
struct Names {
  bool has_meta = false;
  bool has_others_of_ours = false;
};

Result<Names> FindNames(Database& database, Schema schema) {
  Names found;
  // The first one that is made.
  Status status = database.Run("SELECT name FROM sqlite_master", {}, [&](const Row& row) {
    const std::optional<TableGroup> group = GroupOfTable(row.Text(0), schema);
    found.has_meta = group == TableGroup::kMeta;
    found.has_others_of_ours |= group && !found.has_meta;
    return !found.has_meta;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return found;
}

// 0 also beside tables of somebody else.
Result<std::int64_t> ReadVersion(Database& database, Schema schema) {
  const Result<Names> found = FindNames(database, schema);
  if (!found) return std::unexpected(found.error());
  if (found->has_meta) return ReadVersionInMeta(database, "the host's database", schema);
  if (!found->has_others_of_ours) return 0;
  return std::unexpected(NamesAreTaken(Status(StatusCode::kInternal, "and no table meta")));
}

}  // namespace

Result<std::unique_ptr<Database>> OpenHostDatabase(const HostSql& host, Schema schema) {
  auto database = std::make_unique<HostDatabase>(host, schema);
  const Result<std::int64_t> version = ReadVersion(*database, schema);
  if (!version) return std::unexpected(version.error());
  Status status = Migrate(*database, *version, schema,
                          host.bills_rows ? NewTables::kMetaOnly : NewTables::kAll);
  if (!status.ok()) return std::unexpected(std::move(status));
  return database;
}

}  // namespace keepsake::sql
