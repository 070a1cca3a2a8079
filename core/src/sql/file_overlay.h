// FileOverlay is a database file as it is without its log, for a second connection. What that one
// writes stays in memory, page by page.
#ifndef KEEPSAKE_SQL_FILE_OVERLAY_H_
#define KEEPSAKE_SQL_FILE_OVERLAY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "keepsake/bytes.h"
#include "keepsake/status.h"
#include "sql/file_host.h"
#include "sql/file_vfs.h"

struct sqlite3_file;

namespace keepsake::sql {

class FileOverlay {
 public:
  // `file` is borrowed: of the database, as SQLite reads it. It must not change meanwhile.
  explicit FileOverlay(sqlite3_file* file) : file_(file) {}
  FileOverlay(const FileOverlay&) = delete;
  FileOverlay& operator=(const FileOverlay&) = delete;

  // Answers SQLite's result code. The connection is to open `kPath` of the VFS `vfs_name()`.
  int Open();
  const std::string& vfs_name() const { return vfs_name_; }
  static constexpr const char* kPath = "then";

  // When that connection is closed: how many pages the database has, which of them it wrote, and
  // what is in one. Page 1 is that of a database with a log again.
  std::uint32_t page_count() const;
  std::size_t page_size() const { return page_size_; }
  const std::map<std::uint32_t, Bytes>& written() const { return written_; }
  int ReadPage(std::uint32_t number, std::span<std::uint8_t> into);
  // Why a page of the file could not be read, SQLITE_OK if all could.
  int failure() const { return failure_; }

 private:
  int ReadBelow(std::uint32_t number, std::span<std::uint8_t> into);
  // The bytes of a page that is written.
  Bytes* Written(std::uint32_t number);
  int Read(std::span<std::uint8_t> into, std::uint64_t offset);
  int Write(ByteView from, std::uint64_t offset);
  FileHost Host();

  sqlite3_file* file_;
  std::size_t page_size_ = 0;
  std::uint64_t bytes_ = 0;
  int failure_ = 0;
  Bytes first_page_;  // as it is in the file
  std::map<std::uint32_t, Bytes> written_;
  std::string vfs_name_;
  std::unique_ptr<FileVfs> vfs_;
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_FILE_OVERLAY_H_
