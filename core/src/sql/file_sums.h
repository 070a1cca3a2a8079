// FileSums is a SQLite VFS over another one. It keeps a checksum in the last 8 bytes of each
// page of a database file. If asked to, it refuses to read a page whose bytes are not those that
// were written. The log and the journal have SQLite's own checksums.
//
//   page := content, HashOf(content, its number) as 8 bytes, little endian
//   bond := salts of the log (8), the same again, how often a log was moved here u32
//
// A log belongs to one database: the one whose page 1 has the log's salts in its bond, in bytes
// that SQLite leaves empty. So a log that was left beside a file, which was then replaced by a
// copy, is not taken for the copy's. Before a log begins anew, the header of the one before is
// cleared and the new bond is written, each for good: cut off anywhere, no log has another's
// place. Each time that the log is moved, the bond changes before any page does, so that a copy
// that was put over an open file is noticed by these bytes. They are there twice, so that a
// damaged one does not cost the log.
//
// Of page 1, bytes 16 to 23 have no part in the checksum: SQLite checks them itself, and an export
// changes two. The bond has none either.
// It is the place that SQLite's cksumvfs uses; the hash differs, so that a page in the wrong
// place is found, too. A file has sums if its application id says that it is ours.
#ifndef KEEPSAKE_SQL_FILE_SUMS_H_
#define KEEPSAKE_SQL_FILE_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "keepsake/bytes.h"
#include "keepsake/status.h"

struct sqlite3;

namespace keepsake::sql {

// Of the header of each file that we make.
inline constexpr std::uint32_t kApplicationId = 0x4B656570;  // "Keep"
// At the end of each page, which are not SQLite's and end with the sum: of a file as it is, and of
// an encrypted one, as file_seal.h says.
inline constexpr std::uint32_t kSumBytes = 8, kSealBytes = 56;
// Where the bond lies in page 1.
inline constexpr std::size_t kBondAt = 72, kBondBytes = 20;
// Either of them: an export of an encrypted file leaves the others empty.
bool HasRoomForSum(std::uint32_t reserved);

// The page that holds byte 2^30, on which SQLite takes its locks: nothing is ever written to it.
// So a database that is larger has one page without a sum.
bool IsLockPage(std::uint32_t number, std::size_t page_size);

// Whether `page`, which has the number `number` (from 1), ends with its checksum.
bool HasSum(ByteView page, std::uint32_t number);
// Writes it there.
void PutSum(std::span<std::uint8_t> page, std::uint32_t number);
// Of an image of a whole database, in place. Does nothing if it has no room for sums.
void PutSums(std::span<std::uint8_t> image);

class FileSums {
 public:
  // Registers a VFS over `vfs`, "" for the default. kInternal if there is none of that name.
  static Result<std::unique_ptr<FileSums>> Over(const std::string& vfs);
  // REQUIRES: no database of it is open.
  ~FileSums();
  FileSums(const FileSums&) = delete;
  FileSums& operator=(const FileSums&) = delete;

  const char* name() const;

  // Whether a page whose sum is wrong can be read. It can, until this is called.
  static void Verify(sqlite3* connection, bool wanted);
  // Makes room for sums in a database that is not written yet, or for `bytes` that end with them.
  static Status MakeRoom(sqlite3* connection, std::uint32_t bytes = kSumBytes);
  // The page whose sum was wrong when it was last read, 0 if none was.
  static std::uint32_t DamagedPage(sqlite3* connection);
  // Whether a page of zeros may be read. A page that was freed before it was ever written is
  // one, and only a copy of a whole file reads those.
  static void AllowBlankPages(sqlite3* connection, bool allowed);
  // From now on what nothing uses in a page of a tree is zeros when the page reaches the file.
  static void KeepClean(sqlite3* connection, bool wanted);
  // Whether a log with this header, as it is in a file, may be the database's: it is, or the
  // database is of a program that tells nothing of its log.
  static bool IsBound(sqlite3* connection, ByteView log_header);
  // Reads bytes of the file as they are, unchecked. Answers SQLite's result code.
  static int ReadRaw(sqlite3* connection, std::span<std::uint8_t> into, std::uint64_t offset);
  // Writes a page of the file with the checksum of what it holds. Answers the same.
  static int WritePage(sqlite3* connection, std::span<std::uint8_t> page, std::uint32_t number);

 private:
  struct Impl;
  explicit FileSums(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_FILE_SUMS_H_
