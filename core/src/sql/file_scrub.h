// FileScrub goes over the pages of an open database, and zeroes what nothing in them uses: free
// pages, the gaps between rows, the ends of overflow chains. So what was deleted is gone, and all
// else stays where it is. It goes through SQLite's own pager and log: cut off anywhere, a page is
// the one before or the one after. VACUUM did this before: of a file of 1 GB it took 24 s at a
// stretch and 1.3 GB of memory. In portions 2 GB took 16 s in all, and 20 MB.
//
// Between two portions others may write, and SQLite then moves pages: with a page moves what
// nothing in it uses, also to where the scrub has been already. So whoever scrubs clears what
// reaches the file, too, from the first portion to the last (FileSums::KeepClean()).
#ifndef KEEPSAKE_SQL_FILE_SCRUB_H_
#define KEEPSAKE_SQL_FILE_SCRUB_H_

#include <cstdint>
#include <vector>

#include "keepsake/database.h"
#include "keepsake/status.h"

struct sqlite3;

namespace keepsake::sql {

class FileScrub {
 public:
  // Both are borrowed; `database` runs on `connection`.
  FileScrub(Database& database, sqlite3* connection)
      : database_(database), connection_(connection) {}

  // Clears up to `count` pages from `first` on, and where rows that begin in them end. Answers
  // the next page, 0 after the last one. REQUIRES: within a transaction.
  Result<std::uint32_t> Clear(std::uint32_t first, std::uint32_t count);

 private:
  enum class Kind : std::uint8_t { kOther, kFree, kTrunk };

  Status ReadHeader();
  // Of the pages in the portion.
  Status FindFreePages();
  Status ClearPage(std::uint32_t number);
  Status ClearEnd(std::uint32_t overflow, std::uint64_t bytes);
  Status Read(std::uint32_t number);
  Status Write(std::uint32_t number);
  // Zeroes the page that was read from `begin` on, up to the bytes that are not SQLite's.
  Status ClearFrom(std::uint32_t number, std::size_t begin);
  std::size_t usable() const { return page_.size() - reserved_; }

  Database& database_;
  sqlite3* connection_;
  Bytes page_;  // that was read last
  std::uint32_t reserved_ = 0;
  std::uint32_t page_count_ = 0;
  std::uint32_t first_free_ = 0;  // the first trunk of the list of free pages
  std::uint32_t first_ = 0;       // of the portion
  std::vector<Kind> kinds_;
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_FILE_SCRUB_H_
