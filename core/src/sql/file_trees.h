// FileTrees reads the rows of a SQLite file past pages that are damaged: not through SQLite,
// which ends at the first one, but page by page. The format is that of
// https://www.sqlite.org/fileformat2.html. A file may come from anybody: no number in it is
// believed before it was compared with the size of what it counts.
// SQLite's recover extension is not used, since it gets pages through SQLite's pager, to which one
// with a wrong checksum is an error, and would add some 4,000 lines of C to each module.
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

// The bytes of a database's file, as they lie beside SQLite.
class RawFile {
 public:
  virtual ~RawFile() = default;

  // At the end of each page, which are not SQLite's in a file that was made here.
  virtual std::uint32_t reserved_bytes() const = 0;
  // The file as it is, without a look at checksums: its size in bytes, and some of them. kCorrupt
  // if it is encrypted, and is not what was written.
  virtual Result<std::uint64_t> FileBytes() = 0;
  virtual Status ReadFile(std::uint64_t offset, std::span<std::uint8_t> into) = 0;
  // All of the log beside it, empty if there is none. REQUIRES: nothing was read by SQL yet.
  virtual Bytes ReadLogFile() = 0;
};

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

  // Borrows a file whose log was moved into it.
  static Result<std::unique_ptr<FileTrees>> Of(RawFile& file);
  // Borrows a file that nobody else reads, with what its log has. Nothing is changed.
  static Result<std::unique_ptr<FileTrees>> WithLog(RawFile& file);
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

  explicit FileTrees(RawFile& file) : file_(file) {}
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

  RawFile& file_;
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
