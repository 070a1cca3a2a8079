// Database is the port through which all SQL runs: SQLite compiled in, or the
// host's own. Its SQL is the subset that Durable Objects allow: positional
// parameters, at most 100 of them, no BEGIN, PRAGMA, TEMP or custom functions.
// Not thread-safe.
#ifndef KEEPSAKE_DATABASE_H_
#define KEEPSAKE_DATABASE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/function_ref.h"
#include "keepsake/status.h"
#include "keepsake/visitor.h"

namespace keepsake::sql {

// NULL, INTEGER, REAL, TEXT, BLOB. Borrowed for the duration of Run().
using Param = std::variant<std::monostate, std::int64_t, double, std::string_view, ByteView>;

// The current row. Views are valid until the row callback returns.
class Row {
 public:
  virtual ~Row() = default;
  virtual bool IsNull(int column) const = 0;
  virtual std::int64_t Int(int column) const = 0;
  virtual double Real(int column) const = 0;
  virtual std::string_view Text(int column) const = 0;
  virtual ByteView Blob(int column) const = 0;
};

// A page of the file that is not as it was written.
struct DamagedPage {
  std::uint32_t number = 0;  // from 1
  std::string held;          // the name of the table or index that needs it, "" if unknown
};

// What CheckPages() found.
struct PageCheck {
  std::uint32_t pages = 0;  // that the file has
  std::vector<DamagedPage> damaged;
  std::string problem;  // what does not fit together, in SQLite's words, "" if all does
};

// Called for each row. A failure that it answers is the answer of Run().
using RowCallback = Visitor<const Row&>;

class Database {
 public:
  virtual ~Database() = default;

  // Runs one statement to its end. `sql` should be a literal: statements are
  // cached by their text. The callback may call Run() again.
  virtual Status Run(std::string_view sql, std::span<const Param> params,
                     const RowCallback& on_row) = 0;
  Status Run(std::string_view sql, std::initializer_list<Param> params = {},
             const RowCallback& on_row = nullptr) {
    return RunFlat(sql.data(), sql.size(), params.begin(), params.size(), on_row);
  }

  // How many rows statements put, changed or deleted so far, also those that were undone; 0 where
  // nobody counts.
  virtual std::uint64_t changes() const { return 0; }

  // Whether the host keeps copies of what it stores and mends it, so that nobody need go
  // over it: reading costs money where hosts do so.
  virtual bool is_guarded() const { return false; }

  // Commits if `body` succeeds, else rolls back and returns its Status. Nested
  // calls are savepoints. Success means stored, as durable as was asked for.
  virtual Status InTransaction(FunctionRef<Status()> body) = 0;
  // The same, without savepoints, which cost as much as a short statement: a nested call that
  // fails undoes all of it.
  virtual Status InOneTransaction(FunctionRef<Status()> body) { return InTransaction(body); }

  // Moves the log into the database file, and flushes. If a good part of the file
  // is free, it is made smaller first.
  virtual Status Flush() = 0;
  // Goes over the next `pages` pages, and zeroes what nothing in them uses, so that no byte of what
  // was deleted is left. True when all were gone over and none is left in the log, either; a host
  // that has its own SQLite does nothing. It begins where the row 'scrub' of `meta` says, from 1
  // on, and deletes that row at the end: so what was cut off goes on. Others may write in between.
  // kBusy while an export is read. Not within a transaction.
  virtual Result<bool> Scrub(std::uint32_t pages) = 0;
  // Compares the checksums of `count` pages from page `first` (from 1) on, in the order of the
  // file. Before the first page the log is moved. With the last one, and only if none of these
  // is damaged, SQLite says whether tables and indexes fit together.
  // With `accepts`, a page is given the checksum of what it holds now: for a file that another
  // program wrote to. kUnsupported where the host guards its own storage.
  virtual Result<PageCheck> CheckPages(std::uint32_t first, std::uint32_t count, bool accepts) = 0;
  // Size of the database file in bytes.
  virtual Result<std::uint64_t> SizeBytes() = 0;

  // The database as one plain SQLite file, in pieces. BeginExport() flushes, says
  // how many bytes there are, and keeps the file as it is (later commits stay in
  // the log) until EndExport().
  virtual Result<std::uint64_t> BeginExport() = 0;
  virtual Result<Bytes> ReadExport(std::uint64_t offset, std::uint32_t length) = 0;
  virtual void EndExport() = 0;
  // Replaces the whole content by that of another keepsake file, which is checked
  // first; all or nothing. Not within a transaction.
  virtual Status ImportFrom(const struct OpenOptions& source) = 0;

 private:
  // Where views travel by address, a call with their parts is shorter; there are 200.
  Status RunFlat(const char* sql, std::size_t sql_size, const Param* params,
                 std::size_t param_count, const RowCallback& on_row);
};

enum class Durability : std::uint8_t {  // persistent
  kRelaxed = 0,  // survives the process; a power cut may cost the last moment
  kStrict = 1,   // flushed at each commit
};

// What opens an encrypted file: 32 bytes that were derived from what the user has. The file
// keeps the rest in plain, for whoever derives them again; it means nothing to us.
struct FileKey {
  static constexpr std::size_t kBytes = 32, kSaltBytes = 16;

  Bytes key;  // kBytes
  std::uint8_t kind = 0;
  std::uint32_t iterations = 0;
  Bytes salt;  // kSaltBytes, or none for zeros
};

// As they travel, one after another:
//   key := kind u8, iterations u32 little endian, salt (16), key (32)
Bytes EncodeKeys(std::span<const FileKey> keys);
// kInvalidArgument if these are none.
Result<std::vector<FileKey>> DecodeKeys(ByteView bytes);

struct OpenOptions {
  std::string path;  // ":memory:" keeps nothing
  Durability durability = Durability::kRelaxed;
  std::string vfs;  // name of a registered SQLite VFS, "" for the default
  // Whether a page whose checksum is wrong is kCorrupt when it is read. Where other SQLite
  // programs write to the file, which know no checksums, only CheckPages() compares them.
  bool verifies = false;
  // What EncodeKeys() makes: one of them opens the file, the first is that of a new one. Without,
  // the file is plain. A file of the other kind is an error: kKeyRequired, kWrongKey.
  Bytes keys = {};
};

// Opens or creates a keepsake database and brings its schema up to date.
// A file without keepsake's `meta` table is kForeignFile and one of a newer
// schema kNewerSchema, both left untouched.
Result<std::unique_ptr<Database>> OpenDatabase(const OpenOptions& options);

// From now on `key` opens the file, and no other. It is done when this returns; cut off in its
// middle, the key before opens it, or this one, or both, and nothing is lost. What is in the file
// is not encrypted anew: that takes an export into a new one.
// kUnsupported if the file is not encrypted. Not within a transaction.
Status ChangeKey(Database& database, const FileKey& key);

}  // namespace keepsake::sql

#endif  // KEEPSAKE_DATABASE_H_
