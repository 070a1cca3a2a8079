// FileSums is a SQLite VFS over another one. It keeps a checksum in the last 8 bytes of each
// page of a database file. If asked to, it refuses to read a page whose bytes are not those that
// were written. The log and the journal have SQLite's own checksums, and pass through.
//
//   page := content, HashOf(content, its number) as 8 bytes, little endian
//
// Bytes 16 to 23 of page 1 are left out: SQLite checks them itself, and an export changes two.
// It is the place that SQLite's cksumvfs uses; the hash differs, so that a page in the wrong
// place is found, too. A file has sums if its application id says that it is ours.
#ifndef KEEPSAKE_SQL_FILE_SUMS_H_
#define KEEPSAKE_SQL_FILE_SUMS_H_

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
inline constexpr std::uint32_t kSumBytes = 8;
// Bytes at the end of each page that are not SQLite's, of which the last are the sum: so many, or
// what an encrypted file needs and leaves empty in its exports.
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
