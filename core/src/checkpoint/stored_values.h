// Values in the database: each as its difference from one that is there.
//
//   value  := 0:u8                                           none
//           | 1:u8 text(type) text(bytes)                    a short one: itself
//           | 2:u8 text(type) stamp:u64 pieces
//           | 3:u8 text(type) stamp:u64 range                of a log, where `pieces` are
//   pieces := piece*                                         whose bytes, joined, are the value
//   piece  := varint(2 * length + 1) byte*                   bytes of its own
//           | varint(2 * length) varint(log) varint(offset)  of a log
//   range  := varint(log) varint(offset) varint(length)
//
// A new version of a list is the pieces of its predecessor and one for what was
// appended, which is merged with the last one, since the log goes on where that
// ended. What follows it (the "]") is too short for a log: it would lie between.
// Equal stamps mean equal bytes. Persistent.
#ifndef KEEPSAKE_CHECKPOINT_STORED_VALUES_H_
#define KEEPSAKE_CHECKPOINT_STORED_VALUES_H_

#include <cstdint>
#include <list>
#include <span>
#include <string_view>
#include <vector>

#include "checkpoint/content_logs.h"
#include "keepsake/bytes.h"
#include "keepsake/checkpointer.h"
#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake::checkpoint {

inline constexpr std::uint8_t kNoValue = 0;
// A whole value of up to so many bytes stands where it is told of, without a stamp.
inline constexpr std::size_t kShortValue = 128;
// That is in a row of writes as long as all of it fits into a quarter of a page, which is
// what SQLite keeps in one place: one row for a task, and none for its values.
inline constexpr std::size_t kShortWrites = 768;

// Where a value goes, and what it may be stored as a difference from.
struct ValuePlace {
  NamespaceId ns = 0;
  std::string_view channel;
  ByteView base;               // a `value` of another form than none, or empty
  NamespaceId base_space = 0;  // whose it is
};

class StoredValues {
 public:
  explicit StoredValues(sql::Database& database) : logs_(database) {}

  ContentLogs& logs() { return logs_; }

  // Adds the `value` to `out`. kNotFound if it is a difference from another base.
  Status Put(const ValuePlace& place, const NewValue& value, Bytes& out);
  // A value that stands alone; out of the log with up to `most` bytes.
  Status Put(NamespaceId ns, const Blob& value, Bytes& out, std::size_t most = kShortValue);
  Result<Blob> Read(ByteView value);
  // Adds what of logs the value refers to.
  Status CollectRanges(ByteView value, std::vector<LogRange>& ranges);

  // How many bytes of `encoded` the value at its beginning takes, 0 if it is none.
  static std::size_t SizeOf(ByteView encoded);

 private:
  struct Piece {
    ByteView literal;
    LogRange range;  // if `literal` is empty

    std::uint64_t length() const { return literal.empty() ? range.length : literal.size(); }
  };

  struct Stored {
    std::uint8_t form = kNoValue;
    std::string_view type;
    std::uint64_t stamp = 0;
    std::vector<Piece> pieces;
    LogRange table;     // of form 3
    Bytes table_bytes;  // what `pieces` are views of

    std::uint64_t length() const;
  };

  struct Kept {
    std::uint64_t stamp;
    Bytes bytes;
  };

  Result<Stored> Decode(ByteView value);
  Status ReadPieces(const Stored& stored, Bytes& out);
  Status Encode(NamespaceId ns, std::string_view type, std::uint64_t stamp,
                std::span<const Piece> pieces, Bytes& out);
  Status PutAlone(NamespaceId ns, std::string_view type, std::uint64_t stamp, ByteView bytes,
                  Bytes& out, std::size_t most = kShortValue);
  Status PutWhole(const ValuePlace& place, const NewValue& value, Bytes& out);
  Status PutDifference(const ValuePlace& place, const NewValue& value, Bytes& out);
  struct NewPieces;
  Status AddCopy(const Stored& base, std::uint64_t offset, std::uint64_t length, NewPieces& pieces);
  Status AddShort(const Piece& part, NewPieces& pieces);
  Status AddNew(const ValuePlace& place, ByteView bytes, NewPieces& pieces);
  Status MoveLongLiterals(const ValuePlace& place, NewPieces& pieces);
  Status AddUsers(const ValuePlace& place, const NewPieces& pieces);
  // The bytes of `stored`, from the latest ones if they are among them.
  Result<ByteView> BytesFor(const Stored& stored, Bytes& buffer);
  void Keep(std::uint64_t stamp, ByteView bytes);

  ContentLogs logs_;
  std::list<Kept> latest_;
  std::size_t latest_bytes_ = 0;
};

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_STORED_VALUES_H_
