// SqliteDatabase is the Database over SQLite compiled in.
// Any SQLite file can be opened with it; OpenDatabase() is what insists on a
// keepsake file and brings its schema up to date.
#ifndef KEEPSAKE_SQL_SQLITE_DATABASE_H_
#define KEEPSAKE_SQL_SQLITE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "keepsake/database.h"
#include "sql/file_overlay.h"
#include "sql/file_seal.h"
#include "sql/file_sums.h"
#include "sql/file_trees.h"
#include "sql/statement_cache.h"

struct sqlite3;

namespace keepsake::sql {

struct ConnectionCloser {
  void operator()(sqlite3* connection) const;
};
using ConnectionPtr = std::unique_ptr<sqlite3, ConnectionCloser>;

class SqliteDatabase final : public Database, public RawFile {
 public:
  // Opens a file that must exist, only to read it. It stays as it is, whoever
  // made it: a log beside it is read, but neither moved into it nor deleted.
  static Result<std::unique_ptr<SqliteDatabase>> OpenForReading(const OpenOptions& options);
  // Opens or creates a file and owns it alone. Until StartWriting() it stays as it is.
  static Result<std::unique_ptr<SqliteDatabase>> OpenForWriting(const OpenOptions& options);
  ~SqliteDatabase() override;

  // Reads the schema, of a file that anybody may have made. kCorrupt if it has no end: SQLite reads
  // a page of it as often as others name it.
  Status LoadSchema();
  // Whether a scrub was begun, which from now on goes on. REQUIRES: the tables are there.
  Result<bool> ResumeScrub();
  // Whether the log is to be held: whether there is a row 'log_held' in `meta`. REQUIRES: as
  // before.
  Status ResumeHold();
  // Sets the log and the durability. kReadOnly if the file can't be written.
  Status StartWriting(Durability durability);

  using Database::Run;
  Status Run(std::string_view sql, std::span<const Param> params,
             const RowCallback& on_row) override;
  Status InTransaction(FunctionRef<Status()> body) override;
  Status InOneTransaction(FunctionRef<Status()> body) override;
  Status Flush() override;
  Result<bool> Scrub(std::uint32_t pages) override;
  Result<PageCheck> CheckPages(std::uint32_t first, std::uint32_t count, bool accepts) override;
  Result<std::uint64_t> SizeBytes() override;
  Result<std::uint64_t> BeginExport() override;
  Result<Bytes> ReadExport(std::uint64_t offset, std::uint32_t length) override;
  void EndExport() override;
  Status ChangeKey(const FileKey& key);
  Status ImportFrom(const OpenOptions& source) override;
  std::uint64_t changes() const override;

  // As long as the log is held, what is committed stays there, also when the database is closed:
  // the file is what it was. Flush() flushes the log then, and an export is made in memory.
  void HoldLog(bool wanted);
  bool InMemory() const;
  // Moves the log whether it is held or not. kBusy while the file is read by an export.
  Status MoveHeldLog();
  // What is in the log, in bytes.
  Result<std::uint64_t> LogBytes();
  bool is_file_exported() const { return exporting_ && !memory_export_; }
  // Makes the database what its file is without the log. `keep` writes to that first, in a
  // transaction. All of it is one of this database. Not within a transaction.
  Status GoBack(FunctionRef<Status(Database& then)> keep);
  // The same, but to what another keepsake file is, which is checked first, without what it has of
  // syncing.
  Status GoBackTo(const OpenOptions& image, FunctionRef<Status(Database& then)> keep);

  std::uint32_t reserved_bytes() const override {
    return seal_ == nullptr ? kSumBytes : kSealBytes;
  }
  Result<std::uint64_t> FileBytes() override;
  Status ReadFile(std::uint64_t offset, std::span<std::uint8_t> into) override;
  Bytes ReadLogFile() override;

 private:
  SqliteDatabase(std::unique_ptr<FileSeal> seal, std::unique_ptr<FileSums> sums,
                 ConnectionPtr connection, std::string path);
  static Result<std::unique_ptr<SqliteDatabase>> Open(const OpenOptions& options, int flags);

  Status RequireKey();
  Status RequireOwnLog();
  Status RunOutermost(FunctionRef<Status()> body);
  Status RunNested(FunctionRef<Status()> body);
  // Remembers what makes this connection, or this transaction, unusable.
  Status Remember(Status status);
  Status RequireNoTransaction(std::string_view method) const;
  // Whether SQL that could damage the file is refused, as SQLite advises for files of others. It
  // is, except where we write pages ourselves.
  void Defend(bool enabled);
  // Says SQLite when to move the log by itself.
  void SetCheckpoints();
  void DeleteLogWeMade();

  Result<PageCheck> ComparePages(std::uint32_t first, std::uint32_t count, bool accepts);
  Status GiveBackFreePages();
  Status MoveLog();
  Status KeepClean(bool wanted);
  Status ScrubPortion(std::uint32_t pages, bool* is_last);
  Status FlushLog();
  Status ExportFromMemory();
  Status ReadPages(std::uint64_t offset, std::span<std::uint8_t> into);
  Status CheckImportable(SqliteDatabase& source);
  Status CheckLayout(SqliteDatabase& source);
  Status CheckTables(SqliteDatabase& source, std::int64_t version);
  Status CopyPagesFrom(SqliteDatabase& source);
  Status CopyPages(SqliteDatabase& source);
  Result<std::unique_ptr<SqliteDatabase>> CopyInMemory(SqliteDatabase& source);
  // Gives pages room for what an encrypted file has at their end.
  Status FitPages(SqliteDatabase& scratch);

  Status RunOver(FileOverlay& overlay, FunctionRef<Status(Database& then)> keep);
  Result<std::set<std::uint32_t>> PagesInLog();
  Status WritePages(FileOverlay& overlay);

  std::string path_;                // as it was asked for
  std::unique_ptr<FileSeal> seal_;  // of an encrypted file; what sums_ is over
  std::unique_ptr<FileSums> sums_;  // outlives the connection
  ConnectionPtr connection_;
  StatementCache statements_;
  int depth_ = 0;  // of InTransaction()
  bool has_savepoints_ = true;
  Status rolled_back_;  // why the transaction can't be committed
  Status unusable_;     // why every later call fails
  bool log_existed_ = false;
  bool writing_ = false;
  bool exporting_ = false;
  bool is_held_ = false;
  bool keeps_clean_ = false;  // a scrub was begun, and has not ended
  std::optional<Bytes> memory_export_;
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_SQLITE_DATABASE_H_
