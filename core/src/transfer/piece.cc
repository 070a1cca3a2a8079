#include "transfer/piece.h"

#include <algorithm>
#include <cstring>
#include <variant>

#include "base/hash.h"
#include "base/varint.h"

namespace keepsake::transfer {
namespace {

using sql::Param;

constexpr std::string_view kMagic = "KSPR";
constexpr std::uint8_t kLast = 1;
enum Kind : std::uint8_t { kNull = 0, kInteger = 1, kBytes = 2 };

void AppendInteger(std::int64_t value, Bytes& out) {
  const auto bits = static_cast<std::uint64_t>(value);
  out.push_back(kInteger);
  AppendVarint((bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0), out);
}

std::int64_t ReadInteger(ByteReader& reader) {
  const std::uint64_t zigzag = reader.Varint();
  return static_cast<std::int64_t>((zigzag >> 1) ^ (0 - (zigzag & 1)));
}

void AppendBytes(std::string_view bytes, Bytes& out) {
  out.push_back(kBytes);
  AppendText(bytes, out);
}

Status Damaged(std::string_view what) {
  return {StatusCode::kCorrupt, std::string("piece of an export ").append(what)};
}

// Where each row is put, with statements made once.
class RowReader {
 public:
  RowReader(sql::Database& database, std::span<const Table> tables, std::uint8_t layout)
      : database_(database), tables_(tables) {
    for (const Table& table : tables) {
      const auto newer = std::ranges::find_if(
          table.columns, [&](const Column& column) { return column.since > layout; });
      columns_.push_back(static_cast<std::size_t>(newer - table.columns.begin()));
      puts_.push_back(Put(table, columns_.back()));
      deletions_.push_back(DeleteOne(table));
    }
  }

  Status Apply(ByteReader& reader) {
    const std::uint64_t tag = reader.Varint();
    const auto found = std::ranges::find(tables_, tag / 2, &Table::number);
    if (found == tables_.end()) return Damaged("has a row of no known table");
    const auto position = static_cast<std::size_t>(found - tables_.begin());
    const bool is_row = tag % 2 == 1;
    const auto columns = found->columns.first(is_row ? columns_[position] : found->key_columns);
    if (!ReadValues(columns, reader)) return Damaged("has a row that is none of its table");
    Status status =
        database_.Run(is_row ? puts_[position] : deletions_[position], values_, nullptr);
    // NULL where its table has none, for example.
    if (status.code() == StatusCode::kInternal) return Damaged("has a row that its table refuses");
    return status;
  }

 private:
  bool ReadValues(std::span<const Column> columns, ByteReader& reader) {
    values_.clear();
    for (const Column& column : columns) {
      const ByteView kind = reader.Take(1);
      if (kind.empty()) return false;
      if (kind[0] == kNull) {
        values_.emplace_back();
      } else if (kind[0] == kInteger && column.is_integer) {
        values_.emplace_back(ReadInteger(reader));
      } else if (kind[0] == kBytes && !column.is_integer) {
        const std::string_view text = reader.Text();
        values_.push_back(column.is_blob ? Param(keepsake::BytesOf(text)) : Param(text));
      } else {
        return false;
      }
    }
    return reader.ok();
  }

  sql::Database& database_;
  std::span<const Table> tables_;
  std::vector<std::size_t> columns_;  // of each table, how many the layout has
  std::vector<std::string> puts_;
  std::vector<std::string> deletions_;
  std::vector<Param> values_;
};

}  // namespace

void PieceWriter::AddRow(const Table& table, const sql::Row& row) {
  AppendVarint(2 * std::uint64_t{table.number} + 1, rows_);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const int at = static_cast<int>(i);
    if (row.IsNull(at)) {
      rows_.push_back(kNull);
    } else if (column.is_integer) {
      AppendInteger(row.Int(at), rows_);
    } else {
      AppendBytes(column.is_blob ? keepsake::TextOf(row.Blob(at)) : row.Text(at), rows_);
    }
  }
}

void PieceWriter::AddDeletion(const Table& table, std::span<const Param> key) {
  AppendVarint(2 * std::uint64_t{table.number}, rows_);
  for (const Param& value : key) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) AppendInteger(*number, rows_);
    if (const auto* text = std::get_if<std::string_view>(&value)) AppendBytes(*text, rows_);
  }
}

Bytes PieceWriter::Finish(std::string_view export_id, std::uint64_t number, ByteView cursor,
                          bool is_last) const {
  Bytes piece(kHeaderBytes);
  AppendText(export_id, piece);
  AppendVarint(number, piece);
  AppendText(keepsake::TextOf(cursor), piece);
  keepsake::Append(rows_, piece);
  const ByteView body = ByteView(piece).subspan(kHeaderBytes);
  const auto size = static_cast<std::uint32_t>(body.size());
  const std::uint8_t flags = is_last ? kLast : 0;
  const std::uint64_t checksum = HashOf(body, flags);
  std::memcpy(piece.data(), kMagic.data(), kMagic.size());
  piece[4] = kLayout;
  piece[5] = flags;
  std::memcpy(&piece[8], &size, sizeof(size));
  std::memcpy(&piece[12], &checksum, sizeof(checksum));
  return piece;
}

Result<PieceView> ParsePiece(ByteView piece) {
  const bool is_piece = keepsake::TextOf(piece).starts_with(kMagic);
  if (!is_piece) return Error(StatusCode::kForeignFile, "these bytes are no piece of an export");
  if (piece.size() < kHeaderBytes) return std::unexpected(Damaged("ends too early"));
  if (piece[4] > kLayout) {
    return Error(StatusCode::kNewerSchema, "export was made by a newer keepsake: it has layout " +
                                               std::to_string(piece[4]) + ", this one reads " +
                                               std::to_string(kLayout));
  }
  const std::uint8_t flags = piece[5];
  std::uint32_t size = 0;
  std::memcpy(&size, &piece[8], sizeof(size));
  const ByteView body = piece.subspan(kHeaderBytes);
  const bool is_sound = piece[4] > 0 && flags <= kLast && piece[6] == 0 && piece[7] == 0 &&
                        size == body.size() && WordAt(&piece[12]) == HashOf(body, flags);
  if (!is_sound) return std::unexpected(Damaged("is damaged"));
  ByteReader reader(body);
  PieceView view;
  view.layout = piece[4];
  view.export_id = reader.Text();
  view.number = reader.Varint();
  view.cursor = keepsake::BytesOf(reader.Text());
  view.is_last = flags == kLast;
  view.rows = reader.rest();
  if (!reader.ok()) return std::unexpected(Damaged("has no layout"));
  return view;
}

Status ApplyRows(const PieceView& piece, sql::Database& database, std::span<const Table> tables) {
  RowReader row_reader(database, tables, piece.layout);
  for (ByteReader reader(piece.rows); !reader.done();) {
    if (Status status = row_reader.Apply(reader); !status.ok()) return status;
  }
  return {};
}

}  // namespace keepsake::transfer
