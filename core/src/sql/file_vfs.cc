#include "sql/file_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/log_buffer.h"
#include "sql/page_run.h"

namespace keepsake::sql {
namespace {

constexpr int kSectorSize = 4096;
constexpr int kMaxPath = 1024;
constexpr std::string_view kLogSuffix = "-wal";
// SQLite counts milliseconds from noon of 24 November, 4714 BC.
constexpr sqlite3_int64 kUnixEpochMs = 210866760000000;

// What the files of one VFS share.
struct Shared {
  FileHost host;
  std::vector<int> open_databases;  // handles
};

int ErrorCode(int file_error, int otherwise) {
  switch (file_error) {
    case kFileFull:
      return SQLITE_FULL;
    case kFileReadOnly:
      return SQLITE_READONLY;
    case kFileChanged:
      return SQLITE_READONLY_DBMOVED;
    default:
      return otherwise;
  }
}

// One open file: the database itself, its log or its journal.
class File {
 public:
  File(Shared* shared, int handle, int partner, int open_flags)
      : shared_(shared),
        handle_(handle),
        partner_(partner),
        is_database_((open_flags & SQLITE_OPEN_MAIN_DB) != 0),
        is_log_((open_flags & SQLITE_OPEN_WAL) != 0) {
    if (is_database_) shared_->open_databases.push_back(handle_);
  }
  ~File() {
    if (is_database_) std::erase(shared_->open_databases, handle_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int Read(void* into, int size, sqlite3_int64 offset) {
    if (is_log_ && log_.Read(into, size, offset)) return SQLITE_OK;
    if (const int result_code = Drain(); result_code != SQLITE_OK) return SQLITE_IOERR_READ;
    if (ReadAhead(into, size, offset)) return SQLITE_OK;
    const int read = ReadIn(into, size, offset);
    if (read < 0 || read > size) return SQLITE_IOERR_READ;
    if (read == size) return SQLITE_OK;
    std::memset(static_cast<char*>(into) + read, 0, static_cast<std::size_t>(size - read));
    return SQLITE_IOERR_SHORT_READ;
  }

  int Write(const void* from, int size, sqlite3_int64 offset) {
    if (const int result_code = CheckBeforeWrite(offset); result_code != SQLITE_OK) {
      return result_code;
    }
    ahead_.Clear();
    if (is_log_) return WriteLog(from, size, offset);
    return is_database_ ? WritePage(from, size, offset) : WriteOut(from, size, offset);
  }

  int Truncate(sqlite3_int64 size) {
    if (const int result_code = Drain(); result_code != SQLITE_OK) return result_code;
    if (const int result_code = CheckUnchanged(); result_code != SQLITE_OK) return result_code;
    const int error = host().truncate(host().context, handle_, static_cast<double>(size));
    if (error != 0) return ErrorCode(error, SQLITE_IOERR_TRUNCATE);
    ahead_.Clear();
    log_.Truncated(size);
    return is_journal() ? Sync() : SQLITE_OK;
  }

  int Sync() {
    if (const int result_code = Drain(); result_code != SQLITE_OK) return result_code;
    checked_ = false;
    const int error = host().flush(host().context, handle_);
    return error == 0 ? SQLITE_OK : ErrorCode(error, SQLITE_IOERR_FSYNC);
  }

  int Size(sqlite3_int64* size) {
    if (const int result_code = Drain(); result_code != SQLITE_OK) return result_code;
    const double bytes = host().size(host().context, handle_);
    if (bytes < 0) return SQLITE_IOERR_FSTAT;
    *size = static_cast<sqlite3_int64>(bytes);
    return SQLITE_OK;
  }

  // What is still held back of a log belongs to no commit.
  int Finish() { return is_log_ ? SQLITE_OK : Drain(); }

  // Writes out what is held back. If that fails it is gone: SQLite rolls back, or does the
  // checkpoint again.
  int Drain() {
    if (pages_.size() > 0) {
      const int result_code = WriteOut(pages_.bytes(), pages_.size(), pages_.offset());
      pages_.Clear();
      if (result_code != SQLITE_OK) return result_code;
    }
    if (log_.held_size() == 0) return SQLITE_OK;
    const int result_code = WriteOut(log_.held(), log_.held_size(), log_.held_offset());
    log_.Clear();
    return result_code;
  }

 private:
  const FileHost& host() const { return shared_->host; }

  // A journal that comes back after a power cut undoes what was committed since.
  bool is_journal() const { return !is_database_ && !is_log_; }

  int ReadIn(void* into, int size, sqlite3_int64 offset) {
    return host().read(host().context, handle_, into, size, static_cast<double>(offset));
  }

  // A checkpoint and a recovery read the log nearly from its beginning to its end, and a large
  // value lies in pages that follow each other.
  bool ReadAhead(void* into, int size, sqlite3_int64 offset) {
    if (ahead_.Read(into, size, offset)) return true;
    const int room = is_log_ ? ahead_.RoomNear(size, offset) : ahead_.RoomBehind(size, offset);
    if (room <= size) return false;
    ahead_.Begin(offset, room, [&](void* bytes) { return ReadIn(bytes, room, offset); });
    return ahead_.Read(into, size, offset);
  }

  // A checkpoint writes pages in their order, and flushes the file before it relies on them.
  int WritePage(const void* from, int size, sqlite3_int64 offset) {
    if (pages_.Append(from, size, offset)) return SQLITE_OK;
    if (const int result_code = Drain(); result_code != SQLITE_OK) return result_code;
    return pages_.Append(from, size, offset) ? SQLITE_OK : WriteOut(from, size, offset);
  }

  int WriteOut(const void* from, int size, sqlite3_int64 offset) {
    const int written =
        host().write(host().context, handle_, from, size, static_cast<double>(offset));
    if (written == size) return SQLITE_OK;
    // A short write is how some hosts say that there is no room.
    return written >= 0 ? SQLITE_FULL : ErrorCode(written, SQLITE_IOERR_WRITE);
  }

  int WriteLog(const void* from, int size, sqlite3_int64 offset) {
    LogBuffer::Plan plan = log_.PlanWrite(size, offset);
    if (plan == LogBuffer::Plan::kDrainFirst) {
      if (const int result_code = Drain(); result_code != SQLITE_OK) return result_code;
      plan = log_.PlanWrite(size, offset);
    }
    if (plan == LogBuffer::Plan::kPassThrough) {
      if (const int result_code = Drain(); result_code != SQLITE_OK) return result_code;
      log_.NotePassedThrough(from, size, offset);
      return WriteOut(from, size, offset);
    }
    log_.Append(from, size, offset);
    return plan == LogBuffer::Plan::kHoldAndDrain ? Drain() : SQLITE_OK;
  }

  int CheckBeforeWrite(sqlite3_int64 offset) {
    if (is_log_) return log_.MayBeginTransaction(offset) ? CheckUnchanged() : SQLITE_OK;
    if (!is_database_ || checked_) return SQLITE_OK;
    const int result_code = CheckUnchanged();
    checked_ = result_code == SQLITE_OK;  // until the next Sync(), which ends each checkpoint
    return result_code;
  }

  int CheckUnchanged() {
    for (const int handle : {handle_, partner_}) {
      if (handle < 0) continue;
      if (host().check(host().context, handle) != 0) return SQLITE_READONLY_DBMOVED;
    }
    return SQLITE_OK;
  }

  Shared* shared_;
  int handle_;
  int partner_;  // the log of a database, the database of a log; negative for none
  bool is_database_;
  bool is_log_;
  bool checked_ = false;
  LogBuffer log_;
  PageRun pages_;  // of the database
  PageRun ahead_;
};

// What SQLite allocates for us: its base, and where our File is.
struct FileSlot {
  sqlite3_file base;
  File* file;
};

File& Of(sqlite3_file* slot) { return *reinterpret_cast<FileSlot*>(slot)->file; }

int Close(sqlite3_file* slot) {
  const int result_code = Of(slot).Finish();
  delete &Of(slot);
  slot->pMethods = nullptr;
  return result_code;
}
int Read(sqlite3_file* slot, void* into, int size, sqlite3_int64 offset) {
  return Of(slot).Read(into, size, offset);
}
int Write(sqlite3_file* slot, const void* from, int size, sqlite3_int64 offset) {
  return Of(slot).Write(from, size, offset);
}
int Truncate(sqlite3_file* slot, sqlite3_int64 size) { return Of(slot).Truncate(size); }
int Sync(sqlite3_file* slot, int) { return Of(slot).Sync(); }
int FileSize(sqlite3_file* slot, sqlite3_int64* size) { return Of(slot).Size(size); }
int Lock(sqlite3_file*, int) { return SQLITE_OK; }
int Unlock(sqlite3_file*, int) { return SQLITE_OK; }
int CheckReservedLock(sqlite3_file*, int* reserved) {
  *reserved = 0;
  return SQLITE_OK;
}
int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int SectorSize(sqlite3_file*) { return kSectorSize; }
int DeviceCharacteristics(sqlite3_file*) {
  // The second one also keeps SQLite from padding the log to whole sectors.
  return SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN | SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 1,  // no shared memory, no memory mapping
    .xClose = Close,
    .xRead = Read,
    .xWrite = Write,
    .xTruncate = Truncate,
    .xSync = Sync,
    .xFileSize = FileSize,
    .xLock = Lock,
    .xUnlock = Unlock,
    .xCheckReservedLock = CheckReservedLock,
    .xFileControl = FileControl,
    .xSectorSize = SectorSize,
    .xDeviceCharacteristics = DeviceCharacteristics,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

Shared& SharedOf(sqlite3_vfs* vfs) { return *static_cast<Shared*>(vfs->pAppData); }

int Lookup(const FileHost& host, const std::string& name) {
  return host.lookup(host.context, name.c_str());
}

int PartnerOf(const FileHost& host, const std::string& name, int open_flags) {
  if ((open_flags & SQLITE_OPEN_MAIN_DB) != 0) return Lookup(host, name + std::string(kLogSuffix));
  if ((open_flags & SQLITE_OPEN_WAL) == 0) return -1;
  return Lookup(host, name.substr(0, name.size() - kLogSuffix.size()));
}

bool IsOpen(const Shared& shared, int handle) {
  return std::ranges::find(shared.open_databases, handle) != shared.open_databases.end();
}

int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* slot, int flags, int* out_flags) {
  slot->pMethods = nullptr;
  Shared& shared = SharedOf(vfs);
  const int handle = name == nullptr ? -1 : Lookup(shared.host, name);
  if (handle < 0) return SQLITE_CANTOPEN;
  const bool is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  if (is_database && IsOpen(shared, handle)) return SQLITE_BUSY;
  File* file = new (std::nothrow) File(&shared, handle, PartnerOf(shared.host, name, flags), flags);
  if (file == nullptr) return SQLITE_NOMEM;
  reinterpret_cast<FileSlot*>(slot)->file = file;
  slot->pMethods = &kMethods;
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int Delete(sqlite3_vfs* vfs, const char* name, int) {
  const FileHost& host = SharedOf(vfs).host;
  const int handle = Lookup(host, name);
  if (handle < 0) return SQLITE_IOERR_DELETE_NOENT;
  if (host.check(host.context, handle) != 0) return SQLITE_READONLY_DBMOVED;
  int error = host.truncate(host.context, handle, 0);
  // Until then a power cut may bring a journal back, which undoes what was committed since.
  if (error == 0) error = host.flush(host.context, handle);
  return error == 0 ? SQLITE_OK : ErrorCode(error, SQLITE_IOERR_DELETE);
}

int Access(sqlite3_vfs* vfs, const char* name, int, int* result) {
  const FileHost& host = SharedOf(vfs).host;
  const int handle = Lookup(host, name);
  *result = handle >= 0 && host.size(host.context, handle) > 0;
  return SQLITE_OK;
}

int FullPathname(sqlite3_vfs*, const char* name, int capacity, char* into) {
  sqlite3_snprintf(capacity, into, "%s", name);
  return SQLITE_OK;
}

int Randomness(sqlite3_vfs* vfs, int size, char* into) {
  const FileHost& host = SharedOf(vfs).host;
  host.random(host.context, into, size);
  return size;
}

int Sleep(sqlite3_vfs*, int) { return 0; }

int CurrentTimeInt64(sqlite3_vfs* vfs, sqlite3_int64* now) {
  const FileHost& host = SharedOf(vfs).host;
  *now = kUnixEpochMs + static_cast<sqlite3_int64>(host.now_ms(host.context));
  return SQLITE_OK;
}

int CurrentTime(sqlite3_vfs* vfs, double* days) {
  constexpr double kMsPerDay = 86400000.0;
  sqlite3_int64 now = 0;
  CurrentTimeInt64(vfs, &now);
  *days = static_cast<double>(now) / kMsPerDay;
  return SQLITE_OK;
}

int GetLastError(sqlite3_vfs*, int, char*) { return 0; }

}  // namespace

struct FileVfs::Impl {
  std::string name;
  Shared shared;
  sqlite3_vfs vfs = {};
};

FileVfs::FileVfs(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

FileVfs::~FileVfs() { sqlite3_vfs_unregister(&impl_->vfs); }

Result<std::unique_ptr<FileVfs>> FileVfs::Register(std::string name, const FileHost& host,
                                                   bool as_default) {
  auto impl = std::make_unique<Impl>();
  impl->name = std::move(name);
  impl->shared.host = host;
  impl->vfs.iVersion = 2;
  impl->vfs.szOsFile = sizeof(FileSlot);
  impl->vfs.mxPathname = kMaxPath;
  impl->vfs.zName = impl->name.c_str();
  impl->vfs.pAppData = &impl->shared;
  impl->vfs.xOpen = Open;
  impl->vfs.xDelete = Delete;
  impl->vfs.xAccess = Access;
  impl->vfs.xFullPathname = FullPathname;
  impl->vfs.xRandomness = Randomness;
  impl->vfs.xSleep = Sleep;
  impl->vfs.xCurrentTime = CurrentTime;
  impl->vfs.xCurrentTimeInt64 = CurrentTimeInt64;
  impl->vfs.xGetLastError = GetLastError;
  if (sqlite3_vfs_register(&impl->vfs, as_default ? 1 : 0) != SQLITE_OK) {
    return Error(StatusCode::kInternal, "VFS could not be registered: \"" + impl->name + "\"");
  }
  return std::unique_ptr<FileVfs>(new FileVfs(std::move(impl)));
}

}  // namespace keepsake::sql
