// FileSeal is a SQLite VFS over another one. What it writes to a database file and to its log is
// encrypted and authenticated; what it reads is what was written there, or an error.
//
//   file  := block page*
//   block := magic (16) … bond at 64 (20) … slot at 512 … slot at 1024 …            4096 bytes
//   slot  := sequence u32, kind u8, 0 (3), iterations u32, salt (16),
//            nonce (24), the file's key encrypted (32), tag (16), HashOf all that u64
//   page  := text encrypted, nonce (24), tag (16)                 kPageBytes
//   log   := header of SQLite's (32) frame*
//   frame := page number, database size, salts (16); checksum encrypted (8), page
//
// The text of a page is what SQLite keeps in it, the last 8 bytes of the page (its checksum, see
// file_sums.h), and 8 bytes more: of a frame the first frame of its transaction, else zeros. So
// kSealBytes at the end of each page are not SQLite's. A tag also covers what the text belongs
// to: the number of the page; of a frame its place and its 16 plain bytes. Integers are little
// endian.
//
// The file's key is random, and never changes: the user's key encrypts it. Both slots hold the
// same, so that a damaged one costs nothing. A change of the user's key writes one after the
// other: cut off in between, either key opens the file, and the one that does is made that of
// both by the next write.
//
// The bond of page 1 with the log (file_sums.h) is written alone, and so where nothing is
// encrypted: all that it tells are salts, which are plain in the log, too.
//
// A new file gets its first page before its block. So one that ends within these two was cut off,
// and is kCorrupt; without a block nothing was ever stored in it.
//
// A frame that is not what was written ends the log if it may have been cut off by a crash: if
// no transaction began after it. Else the log is damaged. The header of the log is SQLite's own
// and plain. A journal is never written, and never read.
//
// SQLite3 Multiple Ciphers and SQLCipher are not used, since each brings an SQLite of its own,
// writes all pages anew to change a key, and does not bind a frame of the log to its place.
#ifndef KEEPSAKE_SQL_FILE_SEAL_H_
#define KEEPSAKE_SQL_FILE_SEAL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake::sql {

// Whether this is the beginning of an encrypted file.
bool IsSealed(ByteView beginning);

class FileSeal {
 public:
  // Registers a VFS over `vfs`, "" for the default, for one database that one of `keys` opens; a
  // new one gets the first. kInternal if there is no VFS of that name, kInvalidArgument if there
  // is no key, or one that is malformed.
  static Result<std::unique_ptr<FileSeal>> Over(const std::string& vfs, ByteView keys);
  // REQUIRES: no database of it is open.
  ~FileSeal();
  FileSeal(const FileSeal&) = delete;
  FileSeal& operator=(const FileSeal&) = delete;

  const char* name() const;

  // Why the database could not be opened, beside what SQLite says: kWrongKey, kCorrupt,
  // kNewerSchema. Nothing was written then.
  const Status& problem() const;
  // From now on `key` opens the open database, and no other. Answers SQLite's result code; if it
  // is an error, the key before still does, and nothing was changed. If only the second copy of it
  // can't be written, the key before may open the file, too, until something is written.
  int ChangeKey(const FileKey& key);

 private:
  struct Impl;
  explicit FileSeal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_FILE_SEAL_H_
