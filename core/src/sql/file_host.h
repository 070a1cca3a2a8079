// A FileHost is what our VFS asks of the place where files live: a table of
// functions with the shape of the web's FileSystemSyncAccessHandle. Files are
// known by name, and open, before a database is.
// Offsets and sizes are doubles, exact up to 2^53, because JavaScript has no other.
#ifndef KEEPSAKE_SQL_FILE_HOST_H_
#define KEEPSAKE_SQL_FILE_HOST_H_

namespace keepsake::sql {

// What a function answers when it fails. Known to the JavaScript side: never renumber.
enum FileError : int {
  kFileFailed = -1,
  kFileFull = -2,  // no room, or no quota
  kFileReadOnly = -3,
  kFileChanged = -4,  // only of check()
};

struct FileHost {
  void* context;  // handed to every function

  int (*lookup)(void* context, const char* name);  // a handle ≥ 0, or kFileFailed
  int (*read)(void* context, int handle, void* into, int size, double offset);         // bytes read
  int (*write)(void* context, int handle, const void* from, int size, double offset);  // written
  int (*truncate)(void* context, int handle, double size);                             // 0
  int (*flush)(void* context, int handle);                                             // 0
  double (*size)(void* context, int handle);                                           // bytes
  // 0 if the file is still the one that was opened and last written by us:
  // linked, of the size we left it with, a log with the header that we wrote.
  int (*check)(void* context, int handle);

  void (*random)(void* context, void* into, int size);
  double (*now_ms)(void* context);
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_FILE_HOST_H_
