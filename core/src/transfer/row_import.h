// Takes the pieces of an export, in order, and replaces everything by them when all
// are there. Until then they wait in `transfer_pieces`, and nothing else is changed: an
// import that is cut short goes on with the next piece, in another process too.
#ifndef KEEPSAKE_TRANSFER_ROW_IMPORT_H_
#define KEEPSAKE_TRANSFER_ROW_IMPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "keepsake/bytes.h"
#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake::transfer {

// What waits, and what it waits for.
struct ImportState {
  std::string export_id;
  std::uint64_t next = 0;  // the number of the next piece
  Bytes cursor;            // where it begins, for RowExport
  bool is_complete = false;
};

class RowImport {
 public:
  // `database` is borrowed.
  explicit RowImport(sql::Database& database) : database_(database) {}

  // None if nothing waits.
  Result<std::optional<ImportState>> State();
  // Keeps a piece, and says which is the next; one that is here already does no harm.
  // The first piece of another export takes the place of what waits. kNotFound if one
  // before it is missing; as ParsePiece() for what is wrong.
  Result<std::uint64_t> Put(ByteView piece);
  // Replaces everything by what waits; all or nothing. Again for the same export does
  // nothing. Says whether anything was done.
  Result<bool> Commit(std::string_view export_id);
  // Forgets what waits.
  Status Discard();

 private:
  Result<bool> HasPieces();
  Result<Bytes> ReadPiece(std::uint64_t number);
  Status Keep(std::uint64_t number, ByteView piece);
  Status Replace(const ImportState& state);
  Status Empty();
  Result<bool> WasDone(std::string_view export_id);

  sql::Database& database_;
};

}  // namespace keepsake::transfer

#endif  // KEEPSAKE_TRANSFER_ROW_IMPORT_H_
