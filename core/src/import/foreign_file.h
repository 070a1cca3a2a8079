// A ForeignFile reads memories that other programs wrote to SQLite: LangGraph's
// JavaScript and Python SqliteSaver, Python's SqliteStore, and a plain
// store_kv(ns, key, value) table. One file may hold several of them.
// Nothing is written. Rows come in pages; a page's cursor is that of its last row.
// A file may come from anybody. Its rows must come in order and take no more than the file has, so
// that reading it takes time in proportion to what is there; and what only looks like a table
// (a view, a virtual table, one with triggers or generated columns) is refused by name.
#ifndef KEEPSAKE_IMPORT_FOREIGN_FILE_H_
#define KEEPSAKE_IMPORT_FOREIGN_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/checkpointer.h"
#include "keepsake/database.h"
#include "keepsake/store.h"

namespace keepsake::import {

// Persistent, never renumber.
enum class ForeignTable : std::uint8_t {
  kSaverCheckpoints = 1,  // checkpoints, of the JavaScript or Python SqliteSaver
  kSaverWrites = 2,       // writes, of either
  kPythonStore = 3,       // store (and store_vectors)
  kPlainStoreKv = 4,      // store_kv(ns, key, value)
};

struct ForeignTableInfo {
  ForeignTable table;
  std::uint64_t rows = 0;
};

// A row that breaks a rule, or a table of which no row can be read.
struct ForeignSkip {
  std::string row;  // "row 7 of table store", "table store"
  std::string why;
};

// What a file holds.
struct ForeignTables {
  std::vector<ForeignTableInfo> readable;
  std::vector<ForeignSkip> skipped;  // tables of a known name that lack a column
};

struct ForeignItem {
  Item item;
  std::int64_t ttl_ms = PutOp::kNoTtl;
  std::int64_t expires_at_ms = 0;  // 0: never
  std::vector<FieldVector> vectors;
};

// `checkpoint` still holds its channel_values; splitting it needs the serde.
struct ForeignCheckpoint {
  CheckpointKey key;
  std::string parent_checkpoint_id;
  Blob checkpoint;
  Blob metadata;
};

struct ForeignWrite {
  CheckpointKey key;
  PendingWrite write;
};

template <typename T>
struct ForeignPage {
  std::vector<T> rows;
  std::vector<ForeignSkip> skipped;  // together with `rows`, all up to the cursor
  std::string cursor;                // pass it to get the next page
  bool done = false;
};

// Rows that take more are skipped.
inline constexpr std::int64_t kMaxForeignRowBytes = std::int64_t{64} * 1024 * 1024;
// Items that have more are skipped.
inline constexpr std::int64_t kMaxForeignVectors = 10'000;

class ForeignFile {
 public:
  // Opens a file, or goes on with `*file` of the same path, and counts some of its rows, in a few
  // milliseconds. kIndexing until all are counted: call it again. Fails with kNotADatabase,
  // kCorrupt if its rows don't fit together, or kInvalidArgument if it holds none of the tables
  // with all columns, or one that is not plain.
  static Result<ForeignTables> Open(const sql::OpenOptions& options,
                                    std::unique_ptr<ForeignFile>* file);
  virtual ~ForeignFile() = default;

  // Whether Open() goes on with it.
  virtual bool IsBegun(std::string_view path) const = 0;
  // As Open().
  virtual Status CountRows() = 0;
  virtual const ForeignTables& tables() const = 0;
  // Begin with cursor "". A page has `limit` rows at most, fewer if they are large.
  // kPythonStore or kPlainStoreKv only.
  virtual Result<ForeignPage<ForeignItem>> Items(ForeignTable table, const std::string& cursor,
                                                 std::uint32_t limit) = 0;
  virtual Result<ForeignPage<ForeignCheckpoint>> Checkpoints(const std::string& cursor,
                                                             std::uint32_t limit) = 0;
  virtual Result<ForeignPage<ForeignWrite>> Writes(const std::string& cursor,
                                                   std::uint32_t limit) = 0;
};

}  // namespace keepsake::import

#endif  // KEEPSAKE_IMPORT_FOREIGN_FILE_H_
