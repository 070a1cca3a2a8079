#include "transfer/row_import.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/varint.h"
#include "transfer/piece.h"
#include "transfer/tables.h"

namespace keepsake::transfer {
namespace {

using sql::Row;

// A piece takes rows of what every host allows; `id` is its number and that of the row.
constexpr std::size_t kPartBytes = 1'000'000;
constexpr int kPartBits = 12;

constexpr std::string_view kHasPieces =
    "SELECT 1 FROM sqlite_master WHERE name = 'transfer_pieces'";
constexpr std::string_view kCreatePieces =
    "CREATE TABLE IF NOT EXISTS transfer_pieces(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) "
    "STRICT";
// Not dropped: somebody may be reading another table of the host's.
constexpr std::string_view kForgetPieces = "DELETE FROM transfer_pieces";
constexpr std::string_view kLastId = "SELECT id FROM transfer_pieces ORDER BY id DESC LIMIT 1";
constexpr std::string_view kReadPiece =
    "SELECT bytes FROM transfer_pieces WHERE id >= ? AND id < ? ORDER BY id";
constexpr std::string_view kWritePart = "INSERT INTO transfer_pieces(id, bytes) VALUES(?, ?)";

constexpr std::string_view kReadDone =
    "SELECT 1 FROM meta WHERE name = 'transfer_import'"
    " AND value = ?";
constexpr std::string_view kWriteDone =
    "INSERT OR REPLACE INTO meta(name, value) VALUES('transfer_import', ?)";

// What is made anew, or tells of the rows that were here.
constexpr std::string_view kEmptyDerived[] = {
    "DELETE FROM text_pages",   "DELETE FROM text_changes",  "DELETE FROM answers",
    "DELETE FROM graph_chunks", "DELETE FROM field_columns", "DELETE FROM field_changes",
};
// Rows of `meta` that are this database's own.
constexpr std::string_view kReadOwn =
    "SELECT name, value FROM meta WHERE name IN ('format', 'schema_version')";
constexpr std::string_view kWriteOwn = "INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)";
constexpr std::string_view kDropNotOurs =
    "DELETE FROM meta WHERE name IN ('text_index', 'field_columns') OR name LIKE 'transfer%'";

std::int64_t FirstId(std::uint64_t number) {
  return static_cast<std::int64_t>(number << kPartBits);
}

}  // namespace

Result<bool> RowImport::HasPieces() {
  bool found = false;
  Status status = database_.Run(kHasPieces, {}, [&](const Row&) { found = true; });
  if (!status.ok()) return std::unexpected(std::move(status));
  return found;
}

Result<Bytes> RowImport::ReadPiece(std::uint64_t number) {
  Bytes piece;
  Status status = database_.Run(kReadPiece, {FirstId(number), FirstId(number + 1)},
                                [&](const Row& row) { keepsake::Append(row.Blob(0), piece); });
  if (!status.ok()) return std::unexpected(std::move(status));
  return piece;
}

Result<std::optional<ImportState>> RowImport::State() {
  const Result<bool> has_pieces = HasPieces();
  if (!has_pieces) return std::unexpected(has_pieces.error());
  if (!*has_pieces) return std::nullopt;
  std::int64_t last_id = -1;
  Status status = database_.Run(kLastId, {}, [&](const Row& row) { last_id = row.Int(0); });
  if (!status.ok()) return std::unexpected(std::move(status));
  if (last_id < 0) return std::nullopt;
  const Result<Bytes> bytes = ReadPiece(static_cast<std::uint64_t>(last_id) >> kPartBits);
  if (!bytes) return std::unexpected(bytes.error());
  const Result<PieceView> piece = ParsePiece(*bytes);
  if (!piece) return std::unexpected(piece.error());
  return ImportState{.export_id = std::string(piece->export_id),
                     .next = piece->number + 1,
                     .cursor = Bytes(piece->cursor.begin(), piece->cursor.end()),
                     .is_complete = piece->is_last};
}

Result<std::uint64_t> RowImport::Put(ByteView bytes) {
  const Result<PieceView> piece = ParsePiece(bytes);
  if (!piece) return std::unexpected(piece.error());
  Result<std::optional<ImportState>> state = State();
  // What waits and can't be read is given up for another export.
  if (!state && piece->number == 0) state = std::nullopt;
  if (!state) return std::unexpected(state.error());
  const bool goes_on = *state && (*state)->export_id == piece->export_id;
  const std::uint64_t next = goes_on ? (*state)->next : 0;
  if (piece->number < next) return next;
  if (piece->number > next) {
    return Error(StatusCode::kNotFound, "a piece of this export is missing: number " +
                                            std::to_string(next) + " of those before " +
                                            std::to_string(piece->number));
  }
  if (goes_on && (*state)->is_complete) {
    return Error(StatusCode::kCorrupt, "export goes on after its last piece");
  }
  Status status = database_.InTransaction([&]() -> Status {
    if (next == 0) {
      if (Status made = database_.Run(kCreatePieces); !made.ok()) return made;
      if (Status made = Discard(); !made.ok()) return made;
    }
    return Keep(next, bytes);
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return next + 1;
}

Status RowImport::Keep(std::uint64_t number, ByteView piece) {
  if (piece.size() > kPartBytes << kPartBits) {
    return {StatusCode::kTooLarge, "piece of an export is too large to be kept"};
  }
  for (std::int64_t id = FirstId(number); !piece.empty(); ++id) {
    const ByteView part = piece.first(std::min(piece.size(), kPartBytes));
    if (Status status = database_.Run(kWritePart, {id, part}); !status.ok()) return status;
    piece = piece.subspan(part.size());
  }
  return {};
}

Result<bool> RowImport::Commit(std::string_view export_id) {
  const Result<std::optional<ImportState>> state = State();
  if (!state) return std::unexpected(state.error());
  if (!*state) {
    const Result<bool> done = WasDone(export_id);
    if (!done) return std::unexpected(done.error());
    if (*done) return false;
  }
  if (!*state || (*state)->export_id != export_id || !(*state)->is_complete) {
    return Error(StatusCode::kNotFound, "the pieces of this export are not all here");
  }
  Status status = database_.InTransaction([&] { return Replace(**state); });
  if (!status.ok()) return std::unexpected(std::move(status));
  return true;
}

Result<bool> RowImport::WasDone(std::string_view export_id) {
  bool done = false;
  Status status = database_.Run(kReadDone, {export_id}, [&](const Row&) { done = true; });
  if (!status.ok()) return std::unexpected(std::move(status));
  return done;
}

Status RowImport::Replace(const ImportState& state) {
  std::vector<std::pair<std::string, std::string>> own;
  Status status = database_.Run(
      kReadOwn, {}, [&](const Row& row) { own.emplace_back(row.Text(0), row.Text(1)); });
  if (status.ok()) status = Empty();
  for (std::uint64_t number = 0; status.ok() && number < state.next; ++number) {
    const Result<Bytes> bytes = ReadPiece(number);
    if (!bytes) return bytes.error();
    const Result<PieceView> piece = ParsePiece(*bytes);
    if (!piece) return piece.error();
    status = ApplyRows(*piece, database_);
  }
  if (status.ok()) status = database_.Run(kDropNotOurs);
  for (const auto& [name, value] : own) {
    if (!status.ok()) return status;
    status = database_.Run(kWriteOwn, {std::string_view(name), std::string_view(value)});
  }
  if (status.ok()) status = database_.Run(kWriteDone, {std::string_view(state.export_id)});
  return status.ok() ? Discard() : status;
}

Status RowImport::Empty() {
  for (const Table& table : Tables()) {
    if (Status status = database_.Run(DeleteAll(table)); !status.ok()) return status;
  }
  for (const std::string_view sql : kEmptyDerived) {
    if (Status status = database_.Run(sql); !status.ok()) return status;
  }
  return {};
}

Status RowImport::Discard() {
  const Result<bool> has_pieces = HasPieces();
  if (!has_pieces) return has_pieces.error();
  return *has_pieces ? database_.Run(kForgetPieces) : Status();
}

}  // namespace keepsake::transfer
