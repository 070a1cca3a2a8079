#include "sql/file_layer.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace keepsake::sql {
namespace {

// Calls the original's function of the same name.
template <auto kFunction, typename... Args>
int Pass(sqlite3_vfs* vfs, Args... args) {
  sqlite3_vfs* original = FileLayer::Of(vfs).original;
  return (original->*kFunction)(original, args...);
}

}  // namespace

Status FileLayer::PlaceOver(const std::string& original_name, std::size_t file_bytes) {
  original = sqlite3_vfs_find(original_name.empty() ? nullptr : original_name.c_str());
  if (original == nullptr) {
    return {StatusCode::kInternal, "there is no VFS of this name: \"" + original_name + "\""};
  }
  vfs.iVersion = std::min(original->iVersion, 2);
  vfs.szOsFile = static_cast<int>(file_bytes) + original->szOsFile;
  vfs.mxPathname = original->mxPathname;
  vfs.pAppData = this;
  vfs.xDelete = Pass<&sqlite3_vfs::xDelete, const char*, int>;
  vfs.xAccess = Pass<&sqlite3_vfs::xAccess, const char*, int, int*>;
  vfs.xFullPathname = Pass<&sqlite3_vfs::xFullPathname, const char*, int, char*>;
  vfs.xRandomness = Pass<&sqlite3_vfs::xRandomness, int, char*>;
  vfs.xSleep = Pass<&sqlite3_vfs::xSleep, int>;
  vfs.xCurrentTime = Pass<&sqlite3_vfs::xCurrentTime, double*>;
  vfs.xGetLastError = Pass<&sqlite3_vfs::xGetLastError, int, char*>;
  vfs.xCurrentTimeInt64 = Pass<&sqlite3_vfs::xCurrentTimeInt64, sqlite3_int64*>;
  return Status();
}

Status FileLayer::Register(std::string_view kind) {
  static std::atomic<std::uint32_t> count = 0;
  name = std::string(kind) + "-" + std::to_string(++count);
  vfs.zName = name.c_str();
  if (sqlite3_vfs_register(&vfs, 0) == SQLITE_OK) return Status();
  return {StatusCode::kInternal, "VFS could not be registered: \"" + name + "\""};
}

}  // namespace keepsake::sql
