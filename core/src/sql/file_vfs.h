// A FileVfs is a SQLite VFS over a FileHost, for one database per process (or
// wasm instance) and file: it needs no shared memory and takes no locks; that
// nobody else has the file open is the host's duty. Our own, because SQLite's know no
// files that are handles of JavaScript, and write to the log page by page. A database
// `x` consists of the host's files `x`, `x-wal` and `x-journal`; an empty file counts
// as absent.
//
// Before the first write of each transaction the host is asked whether its files
// are still what we left; if not, the write fails and so does every later one.
#ifndef KEEPSAKE_SQL_FILE_VFS_H_
#define KEEPSAKE_SQL_FILE_VFS_H_

#include <memory>
#include <string>

#include "keepsake/status.h"
#include "sql/file_host.h"

namespace keepsake::sql {

class FileVfs {
 public:
  // Registers the VFS under `name` (OpenOptions::vfs). What host.context points
  // at is borrowed.
  static Result<std::unique_ptr<FileVfs>> Register(std::string name, const FileHost& host,
                                                   bool as_default = false);
  // REQUIRES: no database of it is open.
  ~FileVfs();
  FileVfs(const FileVfs&) = delete;
  FileVfs& operator=(const FileVfs&) = delete;

 private:
  struct Impl;
  explicit FileVfs(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_FILE_VFS_H_
