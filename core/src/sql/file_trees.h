// FileTrees reads the rows of a SQLite file past pages that are damaged: not through SQLite,
// which ends at the first one, but page by page. The format is that of
// https://www.sqlite.org/fileformat2.html. A file may come from anybody: no number in it is
// believed before it was compared with the size of what it counts.
#ifndef KEEPSAKE_SQL_FILE_TREES_H_
#define KEEPSAKE_SQL_FILE_TREES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/database.h"
#include "keepsake/function_ref.h"
#include "keepsake/status.h"

namespace keepsake::sql {

class SqliteDatabase;

// A row of a table, or an entry of an index.
struct TreeRow {
  std::optional<std::int64_t> row_id;  // of a table; its first column is NULL where it is this
  std::vector<Param> values;           // borrowed until the callback returns
};

// Where a database has its trees.
struct TreeRoot {
  std::string name;
  std::uint32_t page = 0;
  bool is_index = false;  // an index, or a table without row ids
};
using TreeLayout = std::vector<TreeRoot>;

class FileTrees {
 public:
  // Gets the name of the table or index.
  using OnRow = FunctionRef<void(std::string_view tree, const TreeRow& row)>;

  // Opens a file to read it, with what its log has. Nothing is changed.
  static Result<std::unique_ptr<FileTrees>> Open(const OpenOptions& options);
  // Reads that of an open database, which is borrowed and has moved its log.
  static Result<std::unique_ptr<FileTrees>> Of(SqliteDatabase& database);
  ~FileTrees();
  FileTrees(const FileTrees&) = delete;
  FileTrees& operator=(const FileTrees&) = delete;

  // Reads all trees. A row is left out if any of its pages is damaged. What a damaged inner
  // page led to is found by what it looks like. If page 1 is damaged, which says where the
  // trees are, they are looked for as in `usual`, the first that fits. Call it once.
  void ReadAll(const OnRow& on_row, std::span<const TreeLayout> usual = {});

  // The damaged pages that a tree needs, after ReadAll(). Of a free page nothing is lost.
  const std::vector<DamagedPage>& damaged() const { return damaged_; }
  // What a page is part of, after ReadAll(): "free", the name of a tree, or "" if no tree has it.
  std::string HeldBy(std::uint32_t page) const;

 private:
  enum class Kind : std::uint8_t { kNone, kTable, kIndex };
  struct Tree {
    std::string name;
    std::uint32_t root = 0;
    bool is_damaged = false;
    Kind kind = Kind::kNone;
    std::vector<std::uint8_t> shape;  // the types of the columns of its first row
  };
  struct Page;

  FileTrees() = default;
  Status ReadHeader();
  void ReadLog();
  bool Read(std::uint32_t number, Page* page);
  bool Take(std::uint32_t number, std::uint16_t tree);
  void NoteDamage(std::uint32_t number, std::uint16_t tree);
  void ReadSchema(std::span<const TreeLayout> usual);
  bool Fits(const TreeLayout& layout);
  void AddTree(const TreeRow& row);
  void ReadTree(std::uint16_t tree, const OnRow& on_row);
  void ReadCells(const Page& page, std::uint16_t tree, const OnRow& on_row);
  void ReadPayload(const Page& page, std::size_t at, std::uint64_t size, std::uint16_t tree,
                   std::optional<std::int64_t> row_id, const OnRow& on_row);
  bool Gather(std::uint32_t overflow, std::uint64_t missing, std::uint16_t tree, Bytes* payload);
  bool TakeFreePages();
  void ReadOrphans(const OnRow& on_row);

  std::unique_ptr<SqliteDatabase> opened_;
  SqliteDatabase* database_ = nullptr;
  std::uint32_t page_size_ = 0;
  std::uint32_t reserved_ = 0;  // bytes at the end of each page that are not SQLite's
  std::uint32_t page_count_ = 0;
  std::map<std::uint32_t, Bytes> in_log_;
  std::vector<Tree> trees_;             // the first two are what no tree has
  std::vector<std::uint16_t> held_by_;  // of each page, its place in trees_
  std::vector<DamagedPage> damaged_;
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_FILE_TREES_H_
