// SQLite's operating system: our VFS over the files that JavaScript hands in.
// The functions are in host_vfs.js.
#include <sqlite3.h>

#include <memory>

#include "sql/file_vfs.h"

extern "C" {

int keepsake_file_lookup(const char* name);
int keepsake_file_read(int handle, void* into, int size, double offset);
int keepsake_file_write(int handle, const void* from, int size, double offset);
int keepsake_file_truncate(int handle, double size);
int keepsake_file_flush(int handle);
double keepsake_file_size(int handle);
int keepsake_file_check(int handle);
void keepsake_random(void* into, int size);
double keepsake_now_ms();

}  // extern "C"

namespace {

using keepsake::sql::FileHost;
using keepsake::sql::FileVfs;

FileHost JavaScriptFiles() {
  return FileHost{
      .context = nullptr,
      .lookup = [](void*, const char* name) { return keepsake_file_lookup(name); },
      .read = [](void*, int handle, void* into, int size,
                 double offset) { return keepsake_file_read(handle, into, size, offset); },
      .write = [](void*, int handle, const void* from, int size,
                  double offset) { return keepsake_file_write(handle, from, size, offset); },
      .truncate = [](void*, int handle,
                     double size) { return keepsake_file_truncate(handle, size); },
      .flush = [](void*, int handle) { return keepsake_file_flush(handle); },
      .size = [](void*, int handle) { return keepsake_file_size(handle); },
      .check = [](void*, int handle) { return keepsake_file_check(handle); },
      .random = [](void*, void* into, int size) { keepsake_random(into, size); },
      .now_ms = [](void*) { return keepsake_now_ms(); },
  };
}

}  // namespace

extern "C" int sqlite3_os_init() {
  // An instance has one VFS for as long as it lives.
  static const auto vfs = FileVfs::Register("files", JavaScriptFiles(), true);
  return vfs ? SQLITE_OK : SQLITE_ERROR;
}

extern "C" int sqlite3_os_end() { return SQLITE_OK; }
