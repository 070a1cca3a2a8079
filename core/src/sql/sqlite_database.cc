#include "sql/sqlite_database.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sql/file_pages.h"
#include "sql/file_scrub.h"
#include "sql/migrations.h"
#include "sql/sqlite_status.h"

namespace keepsake::sql {
namespace {

// Frames in the log after which a commit moves it into the database file.
constexpr int kCheckpointFrames = 4000;
// The same while pages are scrubbed, so that no portion takes long.
constexpr int kScrubbingFrames = 1000;
constexpr std::string_view kMemoryPath = ":memory:";
constexpr std::size_t kLogHeader = 32, kFrameHeader = 24, kPageBytes = 4096;

class SqliteRow final : public Row {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}

  bool IsNull(int column) const override {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  std::int64_t Int(int column) const override { return sqlite3_column_int64(statement_, column); }
  double Real(int column) const override { return sqlite3_column_double(statement_, column); }
  std::string_view Text(int column) const override {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return text == nullptr ? std::string_view() : std::string_view(text, Size(column));
  }
  ByteView Blob(int column) const override {
    const auto* bytes = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
    return bytes == nullptr ? ByteView() : ByteView(bytes, Size(column));
  }

 private:
  std::size_t Size(int column) const {
    return static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  }

  sqlite3_stmt* statement_;
};

// Binds one parameter without copying it: it outlives the statement's run.
class Binder {
 public:
  Binder(sqlite3_stmt* statement, int position) : statement_(statement), position_(position) {}

  int operator()(std::monostate) const { return sqlite3_bind_null(statement_, position_); }
  int operator()(std::int64_t value) const {
    return sqlite3_bind_int64(statement_, position_, value);
  }
  int operator()(double value) const { return sqlite3_bind_double(statement_, position_, value); }
  int operator()(std::string_view value) const {
    // A null pointer would bind NULL, also for an empty text.
    return sqlite3_bind_text64(statement_, position_, value.data() == nullptr ? "" : value.data(),
                               value.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  int operator()(ByteView value) const {
    if (value.empty()) return sqlite3_bind_zeroblob(statement_, position_, 0);
    return sqlite3_bind_blob64(statement_, position_, value.data(), value.size(), SQLITE_STATIC);
  }

 private:
  sqlite3_stmt* statement_;
  int position_;
};

int BindAll(sqlite3_stmt* statement, std::span<const Param> params) {
  if (static_cast<std::size_t>(sqlite3_bind_parameter_count(statement)) != params.size()) {
    return SQLITE_RANGE;
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    const int result_code = std::visit(Binder(statement, static_cast<int>(i) + 1), params[i]);
    if (result_code != SQLITE_OK) return result_code;
  }
  return SQLITE_OK;
}

int StepAll(sqlite3_stmt* statement, const RowCallback& on_row, Status& failure) {
  const SqliteRow row(statement);
  int result_code = sqlite3_step(statement);
  while (result_code == SQLITE_ROW) {
    if (on_row != nullptr && !on_row.GoesOn(failure, row)) return SQLITE_OK;
    result_code = sqlite3_step(statement);
  }
  return result_code == SQLITE_DONE ? SQLITE_OK : result_code;
}

sqlite3_file* MainFile(sqlite3* connection) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return file;
}

// The log, if it is open.
sqlite3_file* LogFile(sqlite3* connection) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
  return file == nullptr || file->pMethods == nullptr ? nullptr : file;
}

// SQLite on Unix takes a file of one byte for an empty one, and would overwrite it.
bool HoldsOneByte(sqlite3_file* file) {
  sqlite3_int64 size = 0;
  char byte = 0;
  return file->pMethods->xFileSize(file, &size) == SQLITE_OK && size == 0 &&
         file->pMethods->xRead(file, &byte, 1, 0) == SQLITE_OK;
}

sqlite3_vfs* VfsOf(sqlite3* connection) {
  sqlite3_vfs* vfs = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
  return vfs;
}

const char* LogName(sqlite3* connection) {
  return sqlite3_filename_wal(sqlite3_db_filename(connection, "main"));
}

bool Exists(sqlite3_vfs* vfs, const char* name) {
  int exists = 0;
  return vfs->xAccess(vfs, name, SQLITE_ACCESS_EXISTS, &exists) == SQLITE_OK && exists != 0;
}

// The log of a database, before SQLite opens it.
class OpenedLog {
 public:
  explicit OpenedLog(sqlite3* connection) {
    sqlite3_vfs* vfs = VfsOf(connection);
    if (!Exists(vfs, LogName(connection))) return;
    slot_.resize(static_cast<std::size_t>(vfs->szOsFile));
    constexpr int kFlags = SQLITE_OPEN_WAL | SQLITE_OPEN_READWRITE;
    if (vfs->xOpen(vfs, LogName(connection), file(), kFlags, nullptr) != SQLITE_OK) slot_.clear();
  }
  ~OpenedLog() {
    if (!slot_.empty()) file()->pMethods->xClose(file());
  }
  OpenedLog(const OpenedLog&) = delete;
  OpenedLog& operator=(const OpenedLog&) = delete;

  std::uint64_t size() const {
    sqlite3_int64 size = 0;
    const bool is_known = !slot_.empty() && file()->pMethods->xFileSize(file(), &size) == SQLITE_OK;
    return is_known ? static_cast<std::uint64_t>(size) : 0;
  }
  bool Read(std::uint64_t at, std::span<std::uint8_t> into) const {
    return file()->pMethods->xRead(file(), into.data(), static_cast<int>(into.size()),
                                   static_cast<sqlite3_int64>(at)) == SQLITE_OK;
  }

 private:
  sqlite3_file* file() const { return reinterpret_cast<sqlite3_file*>(slot_.data()); }

  mutable Bytes slot_;
};

Status ReadText(Database& database, std::string_view sql, std::string* text) {
  return database.Run(sql, {}, [&](const Row& row) { *text = row.Text(0); });
}

// Without it nobody would notice a damaged page.
Status RequireSums(Database& database, std::string_view path) {
  std::int64_t id = 0;
  Status status =
      database.Run("PRAGMA application_id", {}, [&](const Row& row) { id = row.Int(0); });
  if (!status.ok() || id == kApplicationId) return status;
  return SqliteStatus(SQLITE_CORRUPT, path, "its header does not say that keepsake made it");
}

// A new one. All of it or none.
Status MakeSchema(SqliteDatabase& database) {
  const std::string mark = "PRAGMA application_id = " + std::to_string(kApplicationId);
  return database.InTransaction([&]() -> Status {
    const Status status = database.Run(mark);
    return status.ok() ? Migrate(database, 0) : status;
  });
}

// A file in pieces should be readable wherever it lands, also where no log can be
// made beside it; bytes 18 and 19 say whether a reader must look for one. None belongs to it.
void MarkAsPlain(std::uint64_t offset, Bytes* piece) {
  constexpr std::uint64_t kWriteVersion = 18, kReadVersion = 19;
  constexpr std::uint8_t kRollbackJournal = 1;
  const auto put = [&](std::uint64_t at, std::uint8_t byte) {
    if (at >= offset && at - offset < piece->size()) (*piece)[at - offset] = byte;
  };
  for (const std::uint64_t at : {kWriteVersion, kReadVersion}) put(at, kRollbackJournal);
  for (std::uint64_t at = kBondAt; at < kBondAt + kBondBytes; ++at) put(at, 0);
}

// Null where the file is to be plain.
Result<std::unique_ptr<FileSeal>> SealOf(const OpenOptions& options) {
  if (options.keys.empty()) return nullptr;
  if (options.path != kMemoryPath) return FileSeal::Over(options.vfs, options.keys);
  return Error(StatusCode::kUnsupported,
               "key must not be given for a database in memory, of which no file is written");
}

// A trigger may leave out or undo a write that was answered. Ours have such names.
Status RefuseTriggers(Database& database, const std::string& path) {
  std::string found;
  Status status = database.Run(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
      " AND name NOT GLOB 'keepsake_fields_*' AND name NOT GLOB 'transfer_*'",
      {}, [&](const Row& row) {
        found = row.Text(0);
        return false;
      });
  if (!status.ok() || found.empty()) return status;
  return Status(StatusCode::kForeignFile, "file must have no trigger of another program's: drop " +
                                              found + " in \"" + path + "\"");
}

}  // namespace

void ConnectionCloser::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

SqliteDatabase::SqliteDatabase(std::unique_ptr<FileSeal> seal, std::unique_ptr<FileSums> sums,
                               ConnectionPtr connection, std::string path)
    : path_(std::move(path)),
      seal_(std::move(seal)),
      sums_(std::move(sums)),
      connection_(std::move(connection)),
      statements_(connection_.get()) {}

SqliteDatabase::~SqliteDatabase() {
  if (!writing_) DeleteLogWeMade();
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::OpenForReading(const OpenOptions& options) {
  // Writable, because SQLite can't lock a read-only file whose log it has to read.
  auto database = Open(options, SQLITE_OPEN_READWRITE);
  if (!database) return database;
  if (Status status = (*database)->Run("PRAGMA query_only = 1"); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  // Nothing that somebody else wrote there runs.
  for (const int what : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW}) {
    sqlite3_db_config((*database)->connection_.get(), what, 0, nullptr);
  }
  return database;
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::OpenForWriting(const OpenOptions& options) {
  auto database = Open(options, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!database) return database;
  if (Status status =
          FileSums::MakeRoom((*database)->connection_.get(), (*database)->reserved_bytes());
      !status.ok()) {
    return std::unexpected(std::move(status));
  }
  return database;
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(const OpenOptions& options,
                                                             int flags) {
  // The default VFS is registered by then.
  if (sqlite3_initialize() != SQLITE_OK) {
    return Error(StatusCode::kInternal, "SQLite could not be initialized");
  }
  auto seal = SealOf(options);
  if (!seal) return std::unexpected(std::move(seal.error()));
  auto sums = FileSums::Over(*seal == nullptr ? options.vfs : (*seal)->name());
  if (!sums) return std::unexpected(std::move(sums.error()));
  sqlite3* opened = nullptr;
  const int result_code = sqlite3_open_v2(options.path.c_str(), &opened,
                                          flags | SQLITE_OPEN_EXRESCODE, (*sums)->name());
  ConnectionPtr connection(opened);
  if (connection == nullptr) return Error(StatusCode::kInternal, "out of linear memory");
  if (*seal != nullptr && !(*seal)->problem().ok()) {
    const Status& problem = (*seal)->problem();
    return Error(problem.code(), problem.message() + ": \"" + options.path + "\"");
  }
  if (result_code != SQLITE_OK) {
    return std::unexpected(
        SqliteStatus(result_code, options.path, sqlite3_errmsg(connection.get())));
  }
  std::unique_ptr<SqliteDatabase> database(
      new SqliteDatabase(std::move(*seal), std::move(*sums), std::move(connection), options.path));
  database->SetCheckpoints();
  database->Defend(true);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // What is encrypted is authenticated anyway. The checksum tells a page of zeros.
  FileSums::Verify(opened, options.verifies || database->seal_ != nullptr);
  if (!database->InMemory()) {
    database->log_existed_ = Exists(VfsOf(opened), LogName(opened));
    if (HoldsOneByte(MainFile(opened))) {
      return std::unexpected(SqliteStatus(SQLITE_NOTADB, options.path, ""));
    }
    Status status = database->RequireKey();
    if (status.ok()) status = database->RequireOwnLog();
    if (!status.ok()) return std::unexpected(std::move(status));
  }
  // The first before the first read: only so is a log possible without shared memory.
  for (std::string_view pragma :
       {"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA cell_size_check = ON"}) {
    if (Status status = database->Run(pragma); !status.ok()) {
      return std::unexpected(std::move(status));
    }
  }
  return database;
}

Status SqliteDatabase::RequireKey() {
  std::array<std::uint8_t, 16> beginning;
  const bool is_sealed = seal_ == nullptr &&
                         MainFile(connection_.get())
                                 ->pMethods->xRead(MainFile(connection_.get()), beginning.data(),
                                                   beginning.size(), 0) == SQLITE_OK &&
                         IsSealed(beginning);
  if (!is_sealed) return Status();
  return Status(StatusCode::kKeyRequired,
                "the file is encrypted: give the key that it was made with, or that changeKey() "
                "gave it last: \"" +
                    path_ + "\"");
}

Status SqliteDatabase::StartWriting(Durability durability) {
  if (sqlite3_db_readonly(connection_.get(), "main") == 1) {
    return SqliteStatus(SQLITE_READONLY, path_, "opened read-only");
  }
  std::string journal_mode;
  if (seal_ != nullptr) {
    // What begins a log would write a journal first, in plain. There is nothing to undo yet.
    const Result<std::uint64_t> bytes = FileBytes();
    if (!bytes) return bytes.error();
    if (*bytes == 0) {
      Defend(false);
      Status status = Run("PRAGMA journal_mode = OFF");
      Defend(true);
      if (!status.ok()) return status;
    }
  }
  if (Status status = ReadText(*this, "PRAGMA journal_mode = WAL", &journal_mode); !status.ok()) {
    return status;
  }
  if (journal_mode != "wal" && !InMemory()) {
    return Status(StatusCode::kIoError,
                  "file must allow journal_mode=WAL, not " + journal_mode + ": \"" + path_ + "\"");
  }
  for (std::string_view pragma : {durability == Durability::kStrict ? "PRAGMA synchronous = FULL"
                                                                    : "PRAGMA synchronous = NORMAL",
                                  "PRAGMA cache_size = -16000", "PRAGMA temp_store = MEMORY",
                                  "PRAGMA journal_size_limit = 16777216"}) {
    if (Status status = Run(pragma); !status.ok()) return status;
  }
  writing_ = true;
  SetCheckpoints();
  return Status();
}

Status SqliteDatabase::Run(std::string_view sql, std::span<const Param> params,
                           const RowCallback& on_row) {
  if (!unusable_.ok()) return unusable_;
  if (!rolled_back_.ok()) return rolled_back_;
  StatementCache::Lease lease;
  int result_code = statements_.Borrow(sql, &lease);
  if (result_code == SQLITE_OK) result_code = BindAll(lease.get(), params);
  Status failure;
  if (result_code == SQLITE_OK) result_code = StepAll(lease.get(), on_row, failure);
  if (result_code == SQLITE_OK) return failure;
  if (result_code == SQLITE_MISUSE || result_code == SQLITE_RANGE) {
    // These are ours, the connection knows nothing of them.
    return SqliteStatus(
        result_code, path_,
        result_code == SQLITE_RANGE ? "wrong number of parameters" : "not exactly one statement");
  }
  return Remember(LastStatus(connection_.get(), path_));
}

Status SqliteDatabase::Remember(Status status) {
  if (status.code() == StatusCode::kChangedOutside) {
    // What the file holds is no longer ours to change, not even by closing it.
    unusable_ = status;
    SetCheckpoints();
  }
  if (depth_ > 0 && sqlite3_get_autocommit(connection_.get()) != 0) rolled_back_ = status;
  return status;
}

Status SqliteDatabase::InTransaction(FunctionRef<Status()> body) {
  return depth_ == 0 ? RunOutermost(body) : RunNested(body);
}

Status SqliteDatabase::InOneTransaction(FunctionRef<Status()> body) {
  if (depth_ > 0) return RunNested(body);
  has_savepoints_ = false;
  Status status = RunOutermost(body);
  has_savepoints_ = true;
  return status;
}

Status SqliteDatabase::RunOutermost(FunctionRef<Status()> body) {
  if (Status status = Run("BEGIN"); !status.ok()) return status;
  ++depth_;
  Status status = body();
  if (status.ok()) status = rolled_back_;
  if (status.ok()) status = Run("COMMIT");
  --depth_;
  rolled_back_ = Status();
  if (sqlite3_get_autocommit(connection_.get()) == 0) {
    // Not through Run(), which refuses an unusable connection.
    sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  return status;
}

Status SqliteDatabase::RunNested(FunctionRef<Status()> body) {
  if (!has_savepoints_) {
    Status status = body();
    if (!status.ok() && rolled_back_.ok()) rolled_back_ = status;
    return status;
  }
  // The innermost savepoint of a name is meant, so that one name does for all.
  if (Status status = Run("SAVEPOINT nested"); !status.ok()) return status;
  ++depth_;
  Status status = body();
  if (status.ok()) status = Run("RELEASE nested");
  if (!status.ok() && rolled_back_.ok() && unusable_.ok()) {
    Status undone = Run("ROLLBACK TO nested");
    if (undone.ok()) undone = Run("RELEASE nested");
    // Half of a nested transaction must never be committed with the outer one.
    if (!undone.ok()) rolled_back_ = undone;
  }
  --depth_;
  return status;
}

Status SqliteDatabase::Flush() {
  if (!unusable_.ok()) return unusable_;
  if (Status status = RequireNoTransaction("flush"); !status.ok()) return status;
  if (InMemory()) return Status();
  if (exporting_ || is_held_) return FlushLog();
  // Where there is no room for that, the log must move all the same: that makes some. It must
  // also move where a page is damaged.
  const Status status = GiveBackFreePages();
  if (!status.ok() && status.code() != StatusCode::kStorageFull &&
      status.code() != StatusCode::kCorrupt) {
    return status;
  }
  return MoveLog();
}

Status SqliteDatabase::MoveHeldLog() {
  if (!unusable_.ok()) return unusable_;
  if (Status status = RequireNoTransaction("flush"); !status.ok()) return status;
  if (InMemory()) return Status();
  if (!is_file_exported()) return MoveLog();
  return Status(StatusCode::kBusy, "an export is being read: the file stays as it is");
}

Result<bool> SqliteDatabase::ResumeScrub() {
  bool is_pending = false;
  Status status =
      Run("SELECT 1 FROM meta WHERE name = 'scrub'", {}, [&](const Row&) { is_pending = true; });
  if (status.ok() && is_pending != keeps_clean_) status = KeepClean(is_pending);
  if (!status.ok()) return std::unexpected(std::move(status));
  return is_pending;
}

// What is freed meanwhile is cleared by SQLite, so that no part of it comes to a cleared page.
Status SqliteDatabase::KeepClean(bool wanted) {
  keeps_clean_ = wanted;
  FileSums::KeepClean(connection_.get(), wanted);
  SetCheckpoints();
  return Run(wanted ? "PRAGMA secure_delete = ON" : "PRAGMA secure_delete = OFF");
}

Result<bool> SqliteDatabase::Scrub(std::uint32_t pages) {
  if (!unusable_.ok()) return std::unexpected(unusable_);
  if (Status status = RequireNoTransaction("scrub"); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  const Result<bool> is_pending = ResumeScrub();
  if (!is_pending || !*is_pending) return is_pending ? true : is_pending;
  if (exporting_) {
    return Error(StatusCode::kBusy, "an export is being read: pages are scrubbed when it ends");
  }
  bool is_last = false;
  int is_defensive = 0;
  sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_DEFENSIVE, -1, &is_defensive);
  sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);  // writes pages
  Status status = InTransaction([&] { return ScrubPortion(pages, &is_last); });
  sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_DEFENSIVE, is_defensive, nullptr);
  if (status.ok() && !is_last) return false;
  if (status.ok() && !InMemory()) status = MoveLog();
  // A page in the cache may have more than its copy in the file, and is written from there.
  sqlite3_db_release_memory(connection_.get());
  if (status.ok()) status = Run("DELETE FROM meta WHERE name = 'scrub'");
  if (status.ok()) status = KeepClean(false);
  if (!status.ok()) return std::unexpected(std::move(status));
  return true;
}

// The last portion stays the last one until the log is moved, so that there is one to move.
Status SqliteDatabase::ScrubPortion(std::uint32_t pages, bool* is_last) {
  std::int64_t first = 1;
  Status status = Run("SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'scrub'", {},
                      [&](const Row& row) { first = row.Int(0); });
  if (!status.ok()) return status;
  FileScrub scrub(*this, connection_.get());
  const Result<std::uint32_t> next = scrub.Clear(
      static_cast<std::uint32_t>(std::max<std::int64_t>(first, 1)), std::max(pages, 1U));
  if (!next) return next.error();
  *is_last = *next == 0;
  const std::string value = std::to_string(*is_last ? first : *next);
  return Run("UPDATE meta SET value = ? WHERE name = 'scrub'", {std::string_view(value)});
}

// To the database file; none of it is left in the log.
Status SqliteDatabase::MoveLog() {
  const int result_code = sqlite3_wal_checkpoint_v2(connection_.get(), "main",
                                                    SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  return result_code == SQLITE_OK ? Status() : Remember(LastStatus(connection_.get(), path_));
}

// VACUUM needs as much linear memory as there are pages in use.
Status SqliteDatabase::GiveBackFreePages() {
  constexpr std::int64_t kWorthwhile = 64, kMostInUse = 32'768;
  std::int64_t all = 0, free = 0;
  Status status =
      Run("SELECT page_count, freelist_count FROM pragma_page_count, pragma_freelist_count", {},
          [&](const Row& row) {
            all = row.Int(0);
            free = row.Int(1);
          });
  const bool pays = free >= kWorthwhile && free >= all / 4 && all - free <= kMostInUse;
  if (!status.ok() || !pays) return status;
  status = Run("VACUUM");
  // It moves pages as it likes.
  return status.ok() && keeps_clean_ ? Run("UPDATE meta SET value = '1' WHERE name = 'scrub'")
                                     : status;
}

Status SqliteDatabase::FlushLog() {
  sqlite3_file* log = LogFile(connection_.get());
  if (log == nullptr) return Status();
  const int result_code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  return result_code == SQLITE_OK ? Status()
                                  : Remember(SqliteStatus(result_code, path_, "flush failed"));
}

Result<std::uint64_t> SqliteDatabase::FileBytes() {
  sqlite3_file* file = MainFile(connection_.get());
  sqlite3_int64 size = 0;
  const int result_code = file->pMethods->xFileSize(file, &size);
  if (result_code == SQLITE_OK) return static_cast<std::uint64_t>(size);
  return std::unexpected(SqliteStatus(result_code, path_, "size unknown"));
}

Status SqliteDatabase::ReadFile(std::uint64_t offset, std::span<std::uint8_t> into) {
  const int result_code = FileSums::ReadRaw(connection_.get(), into, offset);
  return result_code == SQLITE_OK ? Status() : SqliteStatus(result_code, path_, "read failed");
}

Bytes SqliteDatabase::ReadLogFile() {
  const OpenedLog file(connection_.get());
  Bytes log;
  // Piece by piece, up to one that is damaged.
  constexpr std::uint64_t kFrame = kFrameHeader + kPageBytes;
  const std::uint64_t size = file.size();
  for (std::uint64_t at = 0, piece = kLogHeader; at < size; at += piece, piece = kFrame) {
    piece = std::min(piece, size - at);
    log.resize(static_cast<std::size_t>(at + piece));
    if (file.Read(at, std::span(log).last(static_cast<std::size_t>(piece)))) continue;
    log.resize(static_cast<std::size_t>(at));
    break;
  }
  return log;
}

Status SqliteDatabase::RequireOwnLog() {
  // Another program that crashed left shared memory, which we never make.
  const std::string shared_memory =
      std::string(sqlite3_db_filename(connection_.get(), "main")) + "-shm";
  if (Exists(VfsOf(connection_.get()), shared_memory.c_str())) return Status();
  const OpenedLog log(connection_.get());
  std::array<std::uint8_t, kLogHeader> header;
  constexpr std::array<std::uint8_t, 3> kMagic = {0x37, 0x7F, 0x06};
  // In what is a header alone there is nothing.
  if (log.size() <= kLogHeader || !log.Read(0, header) ||
      !std::equal(kMagic.begin(), kMagic.end(), header.begin()) ||
      FileSums::IsBound(connection_.get(), header)) {
    return Status();
  }
  return Status(
      StatusCode::kCannotOpen,
      "the log beside the file is of another database, as after a copy was put in the "
      "file's place: move \"" +
          path_ +
          "-wal\" away to open the file as it is, or put "
          "back the file that the log belongs to; a log that another program wrote is taken "
          "when that program opens and closes the file: \"" +
          path_ + "\"");
}

Result<PageCheck> SqliteDatabase::CheckPages(std::uint32_t first, std::uint32_t count,
                                             bool accepts) {
  if (!unusable_.ok()) return std::unexpected(unusable_);
  if (Status status = RequireNoTransaction("check"); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  if (first == 1 && !InMemory() && !exporting_) {
    if (Status status = MoveLog(); !status.ok()) return std::unexpected(std::move(status));
  }
  Result<PageCheck> check = InMemory() ? PageCheck() : ComparePages(first, count, accepts);
  if (!check || !check->damaged.empty()) return check;
  if (std::uint64_t{first} + count <= check->pages) return check;
  Status status = ReadText(*this, "PRAGMA integrity_check(1)", &check->problem);
  if (!status.ok()) return std::unexpected(std::move(status));
  if (check->problem == "ok") check->problem.clear();
  return check;
}

Result<PageCheck> SqliteDatabase::ComparePages(std::uint32_t first, std::uint32_t count,
                                               bool accepts) {
  std::int64_t page_size = 0, pages = 0;
  Status status = Run("SELECT page_size, page_count FROM pragma_page_size, pragma_page_count", {},
                      [&](const Row& row) {
                        page_size = row.Int(0);
                        pages = row.Int(1);
                      });
  const Result<std::uint64_t> bytes = FileBytes();
  if (!bytes) status = bytes.error();
  if (!status.ok()) return std::unexpected(std::move(status));
  // A file is longer than its database if a power cut undid that it was shortened.
  const std::uint64_t in_file = *bytes / static_cast<std::uint64_t>(page_size);
  PageCheck check{
      .pages = static_cast<std::uint32_t>(std::min(in_file, static_cast<std::uint64_t>(pages)))};
  Bytes page(static_cast<std::size_t>(page_size));
  const std::uint64_t end = std::uint64_t{first} + count;
  for (std::uint32_t number = first; number < end && number <= check.pages; ++number) {
    if (IsLockPage(number, page.size())) continue;
    status = ReadFile(std::uint64_t{number - 1} * page.size(), page);
    const bool is_lost = status.code() == StatusCode::kCorrupt;
    if (!status.ok() && !is_lost) return std::unexpected(std::move(status));
    if (!is_lost && HasSum(page, number)) continue;
    if (!accepts || is_lost) {
      check.damaged.push_back({.number = number, .held = {}});
    } else if (FileSums::WritePage(connection_.get(), page, number) != SQLITE_OK) {
      return Error(StatusCode::kIoError,
                   "page " + std::to_string(number) + " could not be written");
    }
  }
  if (check.damaged.empty()) return check;
  const auto trees = FileTrees::Of(*this);
  if (!trees) return std::unexpected(trees.error());
  (*trees)->ReadAll([](std::string_view, const TreeRow&) {});
  for (DamagedPage& page_found : check.damaged) {
    page_found.held = (*trees)->HeldBy(page_found.number);
  }
  return check;
}

Result<std::uint64_t> SqliteDatabase::SizeBytes() {
  std::uint64_t bytes = 0;
  Status status = Run("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", {},
                      [&](const Row& row) { bytes = static_cast<std::uint64_t>(row.Int(0)); });
  if (!status.ok()) return std::unexpected(std::move(status));
  return bytes;
}

Result<std::uint64_t> SqliteDatabase::BeginExport() {
  if (exporting_) {
    return Error(StatusCode::kInvalidArgument, "export must end before the next one begins");
  }
  if (Status status = Flush(); !status.ok()) return std::unexpected(std::move(status));
  const Result<std::uint64_t> log = is_held_ ? LogBytes() : 0;
  if (!log) return log;
  if (InMemory() || *log > 0) {
    if (Status status = ExportFromMemory(); !status.ok()) return std::unexpected(std::move(status));
    return memory_export_->size();
  }
  Result<std::uint64_t> bytes = FileBytes();
  if (!bytes) return bytes;
  exporting_ = true;
  SetCheckpoints();
  return bytes;
}

Result<Bytes> SqliteDatabase::ReadExport(std::uint64_t offset, std::uint32_t length) {
  if (!exporting_)
    return Error(StatusCode::kInvalidArgument, "export must begin before it is read");
  Bytes piece(length);
  if (memory_export_) {
    const auto from = std::min<std::uint64_t>(offset, memory_export_->size());
    piece.resize(std::min<std::uint64_t>(length, memory_export_->size() - from));
    std::copy_n(memory_export_->begin() + static_cast<std::ptrdiff_t>(from), piece.size(),
                piece.begin());
  } else {
    const Result<std::uint64_t> size = FileBytes();
    if (!size) return std::unexpected(size.error());
    const auto from = std::min(offset, *size);
    piece.resize(std::min<std::uint64_t>(length, *size - from));
    if (!piece.empty()) {
      if (Status status = ReadPages(from, piece); !status.ok()) {
        return std::unexpected(std::move(status));
      }
    }
  }
  MarkAsPlain(offset, &piece);
  return piece;
}

// A page that can't be decrypted is left empty, which its checksum tells, as it does of any page
// that is damaged.
Status SqliteDatabase::ReadPages(std::uint64_t offset, std::span<std::uint8_t> into) {
  Status status = ReadFile(offset, into);
  if (seal_ == nullptr || status.code() != StatusCode::kCorrupt) return status;
  constexpr std::size_t kPage = 4096;
  for (std::size_t at = 0; at < into.size();) {
    const std::size_t left = kPage - static_cast<std::size_t>((offset + at) % kPage);
    const std::size_t size = std::min(into.size() - at, left);
    const std::span<std::uint8_t> part = into.subspan(at, size);
    status = ReadFile(offset + at, part);
    if (status.code() == StatusCode::kCorrupt) std::ranges::fill(part, std::uint8_t{0});
    if (!status.ok() && status.code() != StatusCode::kCorrupt) return status;
    at += size;
  }
  return Status();
}

void SqliteDatabase::EndExport() {
  exporting_ = false;
  memory_export_.reset();
  SetCheckpoints();
}

Status SqliteDatabase::ExportFromMemory() {
  sqlite3_int64 size = 0;
  unsigned char* image = sqlite3_serialize(connection_.get(), "main", &size, 0);
  if (image == nullptr) {
    return Status(StatusCode::kTooLarge, "database does not fit into linear memory twice");
  }
  memory_export_.emplace(image, image + size);
  sqlite3_free(image);
  PutSums(*memory_export_);
  exporting_ = true;
  return Status();
}

Status SqliteDatabase::ImportFrom(const OpenOptions& options) {
  if (!unusable_.ok()) return unusable_;
  if (Status status = RequireNoTransaction("import"); !status.ok()) return status;
  if (exporting_) {
    return Status(StatusCode::kInvalidArgument, "export must end before an import begins");
  }
  Result<std::unique_ptr<SqliteDatabase>> source = OpenForReading(options);
  if (!source) return source.error();
  if (Status status = CheckImportable(**source); !status.ok()) return status;
  if (Status status = CopyPagesFrom(**source); !status.ok()) return status;
  Result<std::int64_t> version = ReadSchemaVersion(*this, path_);
  return version ? Migrate(*this, *version) : version.error();
}

Status SqliteDatabase::LoadSchema() {
  // Of SQLite's machine, which takes about ten for a table or an index.
  constexpr int kMostSteps = 1'000'000;
  bool is_endless = false;
  const auto stop = [](void* flag) { return static_cast<int>(*static_cast<bool*>(flag) = true); };
  sqlite3_progress_handler(connection_.get(), kMostSteps, stop, &is_endless);
  Status status = Run("SELECT 1 FROM sqlite_schema LIMIT 1");
  sqlite3_progress_handler(connection_.get(), 0, nullptr, nullptr);
  return is_endless ? SqliteStatus(SQLITE_CORRUPT, path_, "its schema has no end") : status;
}

Status SqliteDatabase::CheckImportable(SqliteDatabase& source) {
  if (Status status = source.LoadSchema(); !status.ok()) return status;
  const Result<std::int64_t> version = ReadSchemaVersion(source, source.path_);
  if (!version) return version.error();
  if (*version == 0) {
    return Status(StatusCode::kInvalidArgument,
                  "file to import must not be empty: \"" + source.path_ + "\"");
  }
  if (Status status = RequireSums(source, source.path_); !status.ok()) return status;
  if (Status status = CheckLayout(source); !status.ok()) return status;
  if (Status status = CheckTables(source, *version); !status.ok()) return status;
  // Last: it needs what the tables name, which may be anything.
  std::string verdict;
  Status status = ReadText(source, "PRAGMA quick_check(1)", &verdict);
  if (!status.ok() || verdict == "ok") return status;
  return SqliteStatus(SQLITE_CORRUPT, source.path_, verdict);
}

Status SqliteDatabase::CheckLayout(SqliteDatabase& source) {
  std::string ours, theirs;
  if (Status status = ReadText(*this, "PRAGMA page_size", &ours); !status.ok()) return status;
  if (Status status = ReadText(source, "PRAGMA page_size", &theirs); !status.ok()) return status;
  if (ours != theirs) {
    return Status(StatusCode::kInvalidArgument, "file to import must have pages of " + ours +
                                                    " bytes, not " + theirs + ": \"" +
                                                    source.path_ + "\"");
  }
  // SQLite reads a last page that ends early as if zeros followed.
  const Result<std::uint64_t> size = source.FileBytes();
  if (!size) return size.error();
  if (*size % std::strtoull(ours.c_str(), nullptr, 10) != 0) {
    return SqliteStatus(SQLITE_CORRUPT, source.path_, "it ends in the middle of a page");
  }
  if (source.seal_ != nullptr) return Status();  // nobody else wrote it
  // SQLite takes other numbers for UTF-8, too, until it reads the schema again.
  constexpr std::uint64_t kEncodingOffset = 56;
  constexpr std::array<std::uint8_t, 4> kUtf8 = {0, 0, 0, 1};
  std::array<std::uint8_t, 4> encoding{};
  Status status = source.ReadFile(kEncodingOffset, encoding);
  if (!status.ok() || encoding == kUtf8) return status;
  return Status(StatusCode::kForeignFile,
                "file to import must have its texts as UTF-8: \"" + source.path_ + "\"");
}

// A missing table would fail every later call, and a trigger could undo a write.
// A file of an older schema is measured by that one, and migrated when it is here.
Status SqliteDatabase::CheckTables(SqliteDatabase& source, std::int64_t version) {
  auto plain =
      OpenForWriting({.path = std::string(kMemoryPath), .vfs = VfsOf(connection_.get())->zName});
  if (!plain) return plain.error();
  if (Status status = Migrate(**plain, 0, kSchema.first(static_cast<std::size_t>(version)));
      !status.ok())
    return status;
  constexpr std::string_view kEverythingMade =
      "SELECT group_concat(type || ' ' || name || sql, ', ')"
      " FROM (SELECT type, name, sql FROM sqlite_schema"
      " WHERE name NOT LIKE 'sqlite_%' AND NOT (type = 'table' AND"
      "  name IN ('transfer_pieces', 'transfer_changes', 'sync_state', 'sync_outbox',"
      "   'sync_set_aside')) ORDER BY type, name)";
  std::string ours, theirs;
  if (Status status = ReadText(**plain, kEverythingMade, &ours); !status.ok()) return status;
  if (Status status = ReadText(source, kEverythingMade, &theirs); !status.ok()) return status;
  if (ours == theirs) return Status();
  return Status(StatusCode::kForeignFile,
                "file to import must have the tables and indexes of"
                " keepsake, and nothing else: \"" +
                    source.path_ + "\"");
}

// Pages of another layout are made anew in memory, where no key is needed. What another file has of
// syncing is its own.
Status SqliteDatabase::CopyPagesFrom(SqliteDatabase& source) {
  const Result<bool> syncs = HasTables(source, TableGroup::kSync);
  if (!syncs) return syncs.error();
  if (seal_ == nullptr && !*syncs) return CopyPages(source);
  auto scratch = CopyInMemory(source);
  if (!scratch) return scratch.error();
  const Status status = FitPages(**scratch);
  return status.ok() ? CopyPages(**scratch) : status;
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::CopyInMemory(SqliteDatabase& source) {
  auto scratch =
      OpenForWriting({.path = std::string(kMemoryPath), .vfs = VfsOf(connection_.get())->zName});
  if (!scratch) return scratch;
  Status status = (*scratch)->CopyPages(source);
  if (status.ok()) status = DropTables(**scratch, TableGroup::kSync);
  if (status.ok()) status = (*scratch)->Run("DELETE FROM meta WHERE name = 'log_held'");
  if (!status.ok()) return std::unexpected(std::move(status));
  return scratch;
}

Status SqliteDatabase::FitPages(SqliteDatabase& scratch) {
  if (seal_ == nullptr) return Status();
  const Status status = FileSums::MakeRoom(scratch.connection_.get(), kSealBytes);
  return status.ok() ? scratch.Run("VACUUM") : status;
}

Status SqliteDatabase::CopyPages(SqliteDatabase& source) {
  constexpr int kAllPages = -1;
  sqlite3* target = connection_.get();
  sqlite3_backup* backup = sqlite3_backup_init(target, "main", source.connection_.get(), "main");
  if (backup == nullptr) return Remember(LastStatus(target, path_));
  FileSums::AllowBlankPages(source.connection_.get(), true);
  sqlite3_backup_step(backup, kAllPages);
  FileSums::AllowBlankPages(source.connection_.get(), false);
  const int result_code = sqlite3_backup_finish(backup);
  return result_code == SQLITE_OK ? Status()
                                  : Remember(SqliteStatus(result_code, path_, "import failed"));
}

std::uint64_t SqliteDatabase::changes() const {
  return static_cast<std::uint64_t>(sqlite3_total_changes64(connection_.get()));
}

Result<std::uint64_t> SqliteDatabase::LogBytes() {
  int frames = 0;
  if (!InMemory()) {
    const int result_code = sqlite3_wal_checkpoint_v2(connection_.get(), "main",
                                                      SQLITE_CHECKPOINT_NOOP, &frames, nullptr);
    if (result_code != SQLITE_OK) {
      return std::unexpected(Remember(LastStatus(connection_.get(), path_)));
    }
  }
  return frames <= 0 ? 0 : static_cast<std::uint64_t>(frames) * (kFrameHeader + kPageBytes);
}

Status SqliteDatabase::GoBack(FunctionRef<Status(Database& then)> keep) {
  if (!unusable_.ok()) return unusable_;
  if (Status status = RequireNoTransaction("going back"); !status.ok()) return status;
  if (InMemory()) {
    return Status(StatusCode::kUnsupported, "a database in memory has no file to go back to");
  }
  FileOverlay overlay(MainFile(connection_.get()));
  FileSums::AllowBlankPages(connection_.get(), true);
  Status status;
  if (const int result_code = overlay.Open(); result_code != SQLITE_OK) {
    status = SqliteStatus(result_code, path_, "what the file is without its log can't be read");
  }
  if (status.ok()) status = RunOver(overlay, keep);
  if (status.ok()) status = WritePages(overlay);
  if (!status.ok() && overlay.failure() == SQLITE_IOERR_DATA) {
    status = DamagedPageStatus(FileSums::DamagedPage(connection_.get()), path_);
  }
  FileSums::AllowBlankPages(connection_.get(), false);
  return status;
}

Status SqliteDatabase::RunOver(FileOverlay& overlay, FunctionRef<Status(Database& then)> keep) {
  auto then = Open({.path = FileOverlay::kPath, .vfs = overlay.vfs_name()}, SQLITE_OPEN_READWRITE);
  if (!then) return then.error();
  Status status = (*then)->Run("PRAGMA journal_mode = MEMORY");
  if (!status.ok()) return status;
  const Result<std::int64_t> version = ReadSchemaVersion(**then, path_);
  if (!version) return version.error();
  status = Migrate(**then, *version);
  return status.ok() ? (*then)->InTransaction([&] { return keep(**then); }) : status;
}

Result<std::set<std::uint32_t>> SqliteDatabase::PagesInLog() {
  std::set<std::uint32_t> pages;
  const Result<std::uint64_t> bytes = LogBytes();
  if (!bytes) return std::unexpected(bytes.error());
  sqlite3_file* log = LogFile(connection_.get());
  std::array<std::uint8_t, 4> number;
  for (std::uint64_t at = 0; at < *bytes; at += kFrameHeader + kPageBytes) {
    const int result_code = log->pMethods->xRead(log, number.data(), number.size(),
                                                 static_cast<sqlite3_int64>(kLogHeader + at));
    if (result_code != SQLITE_OK) {
      return std::unexpected(SqliteStatus(result_code, path_, "the log can't be read"));
    }
    pages.insert(Big32(number.data()));
  }
  return pages;
}

// No statement but these two runs in that transaction, and page 1 says nothing of another schema
// until it is over: nothing that SQLite knows of the pages is used before it is given up.
Status SqliteDatabase::WritePages(FileOverlay& overlay) {
  constexpr std::string_view kRead = "SELECT data FROM sqlite_dbpage WHERE pgno = ?";
  constexpr std::string_view kWrite = "INSERT INTO sqlite_dbpage(pgno, data) VALUES(?, ?)";
  constexpr std::size_t kSchemaCookieAt = 40, kSchemaCookieBytes = 4;
  Result<std::set<std::uint32_t>> pages = PagesInLog();
  if (!pages) return pages.error();
  for (const auto& [number, bytes] : overlay.written()) pages->insert(number);
  const std::uint32_t count = overlay.page_count();
  const auto content = static_cast<std::ptrdiff_t>(overlay.page_size() - reserved_bytes());
  Bytes then(overlay.page_size()), now;
  const auto write = [&](std::uint32_t number) -> Status {
    if (const int result_code = overlay.ReadPage(number, then); result_code != SQLITE_OK) {
      return SqliteStatus(result_code, path_, "what the file is without its log can't be read");
    }
    now.clear();
    Status status = Run(kRead, {std::int64_t{number}}, [&](const Row& row) {
      const ByteView bytes = row.Blob(0);
      now.assign(bytes.begin(), bytes.end());
    });
    if (!status.ok()) return status;
    if (number == 1) {
      std::copy_n(now.begin() + kSchemaCookieAt, kSchemaCookieBytes,
                  then.begin() + kSchemaCookieAt);
    }
    const bool is_same =
        now.size() == then.size() && std::equal(then.begin(), then.begin() + content, now.begin());
    if (is_same) return status;
    return Run(kWrite, {std::int64_t{number}, ByteView(then)});
  };
  Defend(false);
  Status status = InTransaction([&]() -> Status {
    Status written;
    for (const std::uint32_t number : *pages) {
      if (number > count || IsLockPage(number, then.size())) continue;
      if (written.ok()) written = write(number);
    }
    std::int64_t before = 0;
    if (written.ok()) {
      written = Run("SELECT page_count FROM pragma_page_count", {},
                    [&](const Row& row) { before = row.Int(0); });
    }
    // The last statement: only so is it heeded.
    if (written.ok() && before > std::int64_t{count}) {
      written = Run(kWrite, {std::int64_t{count} + 1, std::monostate()});
    }
    return written;
  });
  Defend(true);
  sqlite3_db_release_memory(connection_.get());
  const Status renewed = Run("PRAGMA writable_schema = RESET");
  if (status.ok()) status = renewed;
  if (status.ok()) {
    const Result<bool> is_pending = ResumeScrub();
    if (!is_pending) status = is_pending.error();
  }
  return status;
}

Status SqliteDatabase::GoBackTo(const OpenOptions& image,
                                FunctionRef<Status(Database& then)> keep) {
  if (!unusable_.ok()) return unusable_;
  if (Status status = RequireNoTransaction("going back"); !status.ok()) return status;
  Result<std::unique_ptr<SqliteDatabase>> source = OpenForReading(image);
  if (!source) return source.error();
  if (Status status = CheckImportable(**source); !status.ok()) return status;
  auto then = CopyInMemory(**source);
  if (!then) return then.error();
  const Result<std::int64_t> version = ReadSchemaVersion(**then, image.path);
  if (!version) return version.error();
  Status status = Migrate(**then, *version);
  if (status.ok()) status = (*then)->InTransaction([&] { return keep(**then); });
  if (status.ok()) status = FitPages(**then);
  if (status.ok()) status = CopyPages(**then);
  if (!status.ok()) return status;
  const Result<bool> is_pending = ResumeScrub();
  return is_pending ? Status() : is_pending.error();
}

Status SqliteDatabase::ChangeKey(const FileKey& key) {
  if (!unusable_.ok()) return unusable_;
  if (Status status = RequireNoTransaction("changeKey"); !status.ok()) return status;
  if (seal_ == nullptr) {
    return Status(StatusCode::kUnsupported,
                  "changeKey() is of an encrypted file: import an export of this one into a new "
                  "one that is opened with a key");
  }
  const int result_code = seal_->ChangeKey(key);
  return result_code == SQLITE_OK
             ? Status()
             : Remember(SqliteStatus(result_code, path_, "the key could not be changed"));
}

bool SqliteDatabase::InMemory() const {
  return path_ == kMemoryPath || sqlite3_db_filename(connection_.get(), "main")[0] == '\0';
}

Status SqliteDatabase::RequireNoTransaction(std::string_view method) const {
  if (depth_ == 0) return Status();
  return Status(StatusCode::kInvalidArgument,
                std::string(method) + " must not be called within a transaction");
}

void SqliteDatabase::Defend(bool enabled) {
  sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_DEFENSIVE, enabled ? 1 : 0, nullptr);
}

void SqliteDatabase::SetCheckpoints() {
  const int frames = keeps_clean_ ? kScrubbingFrames : kCheckpointFrames;
  const bool may_move = writing_ && !is_held_ && unusable_.ok();
  sqlite3_wal_autocheckpoint(connection_.get(), may_move && !exporting_ ? frames : 0);
  sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, may_move ? 0 : 1, nullptr);
}

void SqliteDatabase::HoldLog(bool wanted) {
  is_held_ = wanted;
  SetCheckpoints();
}

Status SqliteDatabase::ResumeHold() {
  bool is_held = false;
  Status status =
      Run("SELECT 1 FROM meta WHERE name = 'log_held'", {}, [&](const Row&) { is_held = true; });
  if (status.ok()) HoldLog(is_held);
  return status;
}

void SqliteDatabase::DeleteLogWeMade() {
  if (InMemory() || log_existed_) return;
  // Only if we have it open, and so the file to ourselves.
  if (LogFile(connection_.get()) == nullptr) return;
  sqlite3_vfs* vfs = VfsOf(connection_.get());
  vfs->xDelete(vfs, LogName(connection_.get()), 0);
}

Status ChangeKey(Database& database, const FileKey& key) {
  if (!database.is_guarded()) return static_cast<SqliteDatabase&>(database).ChangeKey(key);
  return Status(StatusCode::kUnsupported, "changeKey() is of a file; here the host encrypts");
}

Result<std::unique_ptr<Database>> OpenDatabase(const OpenOptions& options) {
  auto database = SqliteDatabase::OpenForWriting(options);
  if (!database) return std::unexpected(std::move(database.error()));
  if (Status status = (*database)->LoadSchema(); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  const Result<std::int64_t> version = ReadSchemaVersion(**database, options.path);
  if (!version) return std::unexpected(version.error());
  if (*version > 0) {
    // Before anything moves the log.
    const Result<bool> is_pending = (*database)->ResumeScrub();
    if (!is_pending) return std::unexpected(is_pending.error());
    if (Status status = (*database)->ResumeHold(); !status.ok()) {
      return std::unexpected(std::move(status));
    }
  }
  if (Status status = (*database)->StartWriting(options.durability); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  Status status = *version == 0 ? MakeSchema(**database) : RequireSums(**database, options.path);
  if (status.ok() && *version > 0) status = RefuseTriggers(**database, options.path);
  if (status.ok() && *version > 0) status = Migrate(**database, *version);
  if (!status.ok()) return std::unexpected(std::move(status));
  return std::unique_ptr<Database>(std::move(*database));
}

}  // namespace keepsake::sql
