// A memory as a stream of pieces, which every host can write and read, also one
// that has no files. A stream may be cut between any two pieces and go on later.
//
//   stream := piece*                       numbers 0, 1, 2, …; the last one says so
//   piece  := "KSPR" layout:u8 flags:u8 0:u16 size:u32 checksum:u64 body     size of the body
//   flags  := 0 | 1 last
//   body   := text(export_id) varint(number) text(cursor) row*
//   row    := varint(2 * table + 1) value*     a row: all columns that the layout has
//           | varint(2 * table) value*         no such row any more: the key
//   value  := 0 | 1 varint(zigzag(integer)) | 2 text(text or blob)
//
// Numbers are little-endian; varint and text are those of core/src/varint.h. A row
// that comes again replaces what came before: an export sends what was written while
// it ran. Persistent.
#ifndef KEEPSAKE_TRANSFER_PIECE_H_
#define KEEPSAKE_TRANSFER_PIECE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/database.h"
#include "keepsake/status.h"
#include "transfer/tables.h"

namespace keepsake::transfer {

inline constexpr std::size_t kHeaderBytes = 20;
// Raised with each column or table more that travels. Pieces of earlier layouts are read.
inline constexpr std::uint8_t kLayout = 1;

class PieceWriter {
 public:
  // Of at most some bytes, and a row.
  static constexpr std::size_t kFullBytes = 512 * 1024;

  void AddRow(const Table& table, const sql::Row& row);
  void AddDeletion(const Table& table, std::span<const sql::Param> key);
  bool is_full() const { return rows_.size() >= kFullBytes; }

  Bytes Finish(std::string_view export_id, std::uint64_t number, ByteView cursor,
               bool is_last) const;

 private:
  Bytes rows_;
};

// What a piece says of itself. Views of the piece.
struct PieceView {
  std::uint8_t layout = kLayout;
  std::string_view export_id;
  std::uint64_t number = 0;
  ByteView cursor;  // where the next one begins
  bool is_last = false;
  ByteView rows;
};

// kForeignFile for what is no piece, kNewerSchema for one of a later layout, kCorrupt
// for one that is damaged.
Result<PieceView> ParsePiece(ByteView piece);

// Puts and deletes the rows. kCorrupt for a row of no known table or shape.
Status ApplyRows(const PieceView& piece, sql::Database& database,
                 std::span<const Table> tables = Tables());

}  // namespace keepsake::transfer

#endif  // KEEPSAKE_TRANSFER_PIECE_H_
