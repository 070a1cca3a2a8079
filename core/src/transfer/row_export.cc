#include "transfer/row_export.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/varint.h"
#include "transfer/piece.h"
#include "transfer/tables.h"

namespace keepsake::transfer {
namespace {

using sql::Param;
using sql::Row;

constexpr std::int64_t kDayMs = 24 * 60 * 60 * 1000;

// When it began, and its id.
constexpr std::string_view kReadRunning = "SELECT value FROM meta WHERE name = 'transfer_export'";
constexpr std::string_view kWriteRunning =
    "INSERT INTO meta(name, value) VALUES('transfer_export', ?)";
constexpr std::string_view kDeleteRunning = "DELETE FROM meta WHERE name = 'transfer_export'";
constexpr std::string_view kCreateChanges =
    "CREATE TABLE IF NOT EXISTS transfer_changes("
    "  seq INTEGER PRIMARY KEY, number INTEGER NOT NULL, k1 ANY, k2 ANY, k3 ANY"
    ") STRICT";
// Not dropped: somebody may be reading another table of the host's.
constexpr std::string_view kForgetChanges = "DELETE FROM transfer_changes";
constexpr std::string_view kReadChanges =
    "SELECT seq, number, k1, k2, k3 FROM transfer_changes WHERE seq > ? ORDER BY seq";

constexpr std::string_view kEvents[] = {"INSERT", "UPDATE", "DELETE"};

std::string TriggerName(const Table& table, std::string_view event) {
  return "transfer_" + std::string(table.name) + "_" + std::string(event);
}

// The key of a row as columns of transfer_changes.
std::string KeyOf(const Table& table, std::string_view row) {
  std::string key = std::to_string(table.number);
  for (std::size_t i = 0; i < kMaxKeyColumns; ++i) {
    key += ", ";
    key += i < table.key_columns ? std::string(row) + "." + std::string(table.columns[i].name)
                                 : "NULL";
  }
  return key;
}

std::string Trigger(const Table& table, std::string_view event) {
  const std::string select = event == "INSERT"   ? "SELECT " + KeyOf(table, "new")
                             : event == "DELETE" ? "SELECT " + KeyOf(table, "old")
                                                 : "SELECT " + KeyOf(table, "old") +
                                                       " UNION SELECT " + KeyOf(table, "new");
  return "CREATE TRIGGER " + TriggerName(table, event) + " AFTER " + std::string(event) + " ON " +
         std::string(table.name) + " BEGIN INSERT INTO transfer_changes(number, k1, k2, k3) " +
         select + "; END";
}

// A key out of a row, kept.
class Key {
 public:
  Key(const Table& table, const Row& row, int first) : is_text_(table.key_columns) {
    for (std::size_t i = 0; i < table.key_columns; ++i) {
      const int at = first + static_cast<int>(i);
      is_text_[i] = !table.columns[i].is_integer;
      numbers_[i] = is_text_[i] ? 0 : row.Int(at);
      texts_[i] = is_text_[i] ? row.Text(at) : std::string_view();
    }
  }
  Key(const Table& table, ByteReader& reader) : is_text_(table.key_columns) {
    for (std::size_t i = 0; i < table.key_columns; ++i) {
      is_text_[i] = !table.columns[i].is_integer;
      if (is_text_[i])
        texts_[i] = reader.Text();
      else
        numbers_[i] = static_cast<std::int64_t>(reader.U64());
    }
  }

  // Views of this key.
  std::vector<Param> Params() const {
    std::vector<Param> params;
    for (std::size_t i = 0; i < is_text_.size(); ++i) {
      params.push_back(is_text_[i] ? Param(std::string_view(texts_[i])) : Param(numbers_[i]));
    }
    return params;
  }

  void AppendTo(Bytes& out) const {
    for (std::size_t i = 0; i < is_text_.size(); ++i) {
      if (is_text_[i])
        AppendText(texts_[i], out);
      else
        keepsake::AppendU64(static_cast<std::uint64_t>(numbers_[i]), out);
    }
  }

 private:
  std::vector<bool> is_text_;
  std::int64_t numbers_[kMaxKeyColumns] = {};
  std::string texts_[kMaxKeyColumns];
};

// Where the next piece begins:
//   cursor := varint(number of a table) key     behind that row
//           | varint(0) varint(seq)             behind that change
class PieceReader {
 public:
  PieceReader(sql::Database& database, ByteView cursor) : database_(database), cursor_(cursor) {}

  Status Run() {
    const auto tables = Tables();
    if (cursor_.empty()) return ReadTables(tables, std::nullopt);
    ByteReader reader(cursor_);
    const std::uint64_t number = reader.Varint();
    if (number == 0) {
      const std::int64_t behind = reader.Id();
      return reader.ok() ? ReadChanges(behind) : BadCursor();
    }
    const auto found = std::ranges::find(tables, number, &Table::number);
    if (found == tables.end()) return BadCursor();
    const Key behind(*found, reader);
    return reader.ok() ? ReadTables({found, tables.end()}, behind) : BadCursor();
  }

  bool is_last() const { return is_last_; }
  ByteView next() const { return next_; }
  const PieceWriter& piece() const { return piece_; }

 private:
  static Status BadCursor() {
    return {StatusCode::kInvalidArgument, "place to resume an export from is none"};
  }

  Status ReadTables(std::span<const Table> tables, std::optional<Key> behind) {
    for (const Table& table : tables) {
      Status status = ReadTable(table, behind);
      if (!status.ok() || piece_.is_full()) return status;
      behind.reset();
    }
    return ReadChanges(0);
  }

  Status ReadTable(const Table& table, const std::optional<Key>& behind) {
    const std::vector<Param> params = behind ? behind->Params() : std::vector<Param>();
    return database_.Run(behind ? SelectBehind(table) : SelectAll(table), params,
                         [&](const Row& row) {
                           piece_.AddRow(table, row);
                           if (!piece_.is_full()) return true;
                           AppendVarint(table.number, next_);
                           Key(table, row, 0).AppendTo(next_);
                           return false;
                         });
  }

  Status ReadChanges(std::int64_t behind) {
    Status status = database_.Run(kReadChanges, {behind}, [&](const Row& row) -> Result<bool> {
      behind = row.Int(0);
      if (Status read = ReadChange(row); !read.ok()) return std::unexpected(std::move(read));
      return !piece_.is_full();
    });
    is_last_ = !piece_.is_full();
    AppendVarint(0, next_);
    AppendVarint(static_cast<std::uint64_t>(behind), next_);
    return status;
  }

  Status ReadChange(const Row& row) {
    const auto number = static_cast<std::uint8_t>(row.Int(1));
    for (const Table& table : Tables()) {
      if (table.number != number) continue;
      const Key key(table, row, 2);
      Bytes bytes = {number};
      key.AppendTo(bytes);
      return sent_.insert(std::move(bytes)).second ? SendNow(table, key) : Status();
    }
    return {StatusCode::kCorrupt, "a change was noted of no known table"};
  }

  // The row as it is, or that there is none.
  Status SendNow(const Table& table, const Key& key) {
    const std::vector<Param> params = key.Params();
    bool found = false;
    Status status = database_.Run(SelectOne(table), params, [&](const Row& row) {
      piece_.AddRow(table, row);
      return found = true;
    });
    if (status.ok() && !found) piece_.AddDeletion(table, params);
    return status;
  }

  sql::Database& database_;
  ByteView cursor_;
  PieceWriter piece_;
  Bytes next_;
  std::set<Bytes> sent_;  // of the changes, in this piece
  bool is_last_ = false;
};

}  // namespace

Result<Bytes> RowExport::Read(std::string_view export_id, std::uint64_t number, ByteView cursor,
                              std::int64_t now_ms) {
  if (cursor.empty()) {
    if (Status status = Begin(export_id, now_ms); !status.ok()) return std::unexpected(status);
  } else {
    const Result<bool> runs = Runs(export_id);
    if (!runs) return std::unexpected(runs.error());
    if (!*runs) {
      return Error(StatusCode::kNotFound, "this export was ended meanwhile: begin another one");
    }
  }
  PieceReader reader(database_, cursor);
  if (Status status = reader.Run(); !status.ok()) return std::unexpected(std::move(status));
  return reader.piece().Finish(export_id, number, reader.next(), reader.is_last());
}

Status RowExport::Begin(std::string_view export_id, std::int64_t now_ms) {
  return database_.InTransaction([&]() -> Status {
    if (Status status = database_.Run(kCreateChanges); !status.ok()) return status;
    if (Status status = End(); !status.ok()) return status;
    for (const Table& table : Tables()) {
      for (const std::string_view event : kEvents) {
        if (Status status = database_.Run(Trigger(table, event)); !status.ok()) return status;
      }
    }
    const std::string running = std::to_string(now_ms) + " " + std::string(export_id);
    return database_.Run(kWriteRunning, {std::string_view(running)});
  });
}

Result<bool> RowExport::Runs(std::string_view export_id) {
  bool runs = false;
  Status status = database_.Run(kReadRunning, {}, [&](const Row& row) {
    const std::string_view running = row.Text(0);
    runs = running.substr(std::min(running.find(' ') + 1, running.size())) == export_id;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return runs;
}

Status RowExport::End(std::string_view export_id) {
  const Result<bool> runs = Runs(export_id);
  if (!runs) return runs.error();
  return *runs ? End() : Status();
}

Status RowExport::End() {
  bool runs = false;
  Status found = database_.Run(kReadRunning, {}, [&](const Row&) { runs = true; });
  if (!found.ok() || !runs) return found;
  return database_.InTransaction([&]() -> Status {
    for (const Table& table : Tables()) {
      for (const std::string_view event : kEvents) {
        const std::string sql = "DROP TRIGGER IF EXISTS " + TriggerName(table, event);
        if (Status status = database_.Run(sql); !status.ok()) return status;
      }
    }
    Status status = database_.Run(kForgetChanges);
    return status.ok() ? database_.Run(kDeleteRunning) : status;
  });
}

Status RowExport::EndAbandoned(std::int64_t now_ms) {
  std::int64_t began_ms = now_ms;
  Status status = database_.Run(kReadRunning, {}, [&](const Row& row) {
    const std::string_view running = row.Text(0);
    std::from_chars(running.data(), running.data() + running.size(), began_ms);
  });
  if (!status.ok() || now_ms - began_ms < kDayMs) return status;
  return End();
}

}  // namespace keepsake::transfer
