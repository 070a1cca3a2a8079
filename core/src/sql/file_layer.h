// FileLayer is a SQLite VFS over another one. What it has no function of its own for passes
// through.
#ifndef KEEPSAKE_SQL_FILE_LAYER_H_
#define KEEPSAKE_SQL_FILE_LAYER_H_

#include <sqlite3.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "keepsake/status.h"

namespace keepsake::sql {

struct FileLayer {
  std::string name;
  sqlite3_vfs* original = nullptr;
  sqlite3_vfs vfs = {};  // its xOpen is to be set, and whatever else does not pass through

  FileLayer() = default;
  FileLayer(const FileLayer&) = delete;
  FileLayer& operator=(const FileLayer&) = delete;
  ~FileLayer() { sqlite3_vfs_unregister(&vfs); }  // which may never have been registered

  // Over the VFS of this name, "" for the default; kInternal if there is none. A file of it takes
  // `file_bytes`, and the original's lies behind them.
  Status PlaceOver(const std::string& original_name, std::size_t file_bytes);
  // As "`kind`-1" and so on. kInternal if SQLite refuses it.
  Status Register(std::string_view kind);

  static FileLayer& Of(sqlite3_vfs* vfs) { return *static_cast<FileLayer*>(vfs->pAppData); }
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_FILE_LAYER_H_
