// What was deleted is in no page after a scrub, wherever SQLite moved pages meanwhile.
#include "sql/file_scrub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "file_vfs_test_files.h"
#include "keepsake/database.h"

namespace keepsake::testing {
namespace {

using sql::FileVfs;
using sql::MemoryFiles;

constexpr std::string_view kSecret = "SECRET-of-a-row";

bool AnyHolds(MemoryFiles& files, std::string_view text) {
  return std::ranges::any_of(std::array{0, 1, 2}, [&](int i) {
    const auto& bytes = files[static_cast<std::size_t>(i)].bytes;
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())
        .contains(text);
  });
}

class FileScrubTest : public ::testing::Test {
 protected:
  void SetUp() override {
    vfs_ = FileVfs::Register("file-scrub", files_.Host()).value();
    database_ = sql::OpenDatabase({.path = "scrubbed", .vfs = "file-scrub"}).value();
  }

  void Do(std::string_view sql, std::initializer_list<sql::Param> params = {}) {
    const Status status = database_->Run(sql, params);
    ASSERT_TRUE(status.ok()) << sql << ": " << status.message();
  }
  std::int64_t Ask(std::string_view sql) {
    std::int64_t answer = -1;
    EXPECT_TRUE(database_->Run(sql, {}, [&](const sql::Row& row) { answer = row.Int(0); }).ok());
    return answer;
  }
  void BeginScrub() { Do("INSERT OR REPLACE INTO meta(name, value) VALUES('scrub', '1')"); }
  // Up to page `end`, or all of it.
  void Scrub(std::int64_t end = 1 << 30) {
    while (Ask("SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'scrub'") < end) {
      const auto is_done = database_->Scrub(1);
      ASSERT_TRUE(is_done.has_value()) << is_done.error().message();
      if (*is_done) break;
    }
  }
  void ExpectClean() {
    EXPECT_FALSE(AnyHolds(files_, kSecret));
    const auto check = database_->CheckPages(1, 100'000, false);
    ASSERT_TRUE(check.has_value()) << check.error().message();
    EXPECT_EQ(check->problem, "");
  }

  MemoryFiles files_{"scrubbed"};
  std::unique_ptr<FileVfs> vfs_;
  std::unique_ptr<sql::Database> database_;
};

// A tree that outgrows its root gets a copy of it in a free page: with all that was deleted there.
TEST_F(FileScrubTest, what_moves_to_where_it_has_been_is_cleared_there) {
  Do("CREATE TABLE low(k INTEGER PRIMARY KEY, v BLOB)");
  Do("INSERT INTO low VALUES(1, zeroblob(200000))");
  Do("CREATE TABLE high(k INTEGER PRIMARY KEY, v)");
  const std::string secret = std::string(kSecret) + std::string(150, 's');
  for (std::int64_t i = 0; i < 20; ++i) {
    Do("INSERT INTO high VALUES(?, ?)", {i, std::string_view(secret)});
  }
  Do("UPDATE high SET v = zeroblob(167) WHERE k % 5 <> 1");
  Do("DELETE FROM high WHERE k % 5 = 1");
  Do("DELETE FROM low");
  ASSERT_TRUE(database_->Flush().ok());
  ASSERT_TRUE(AnyHolds(files_, kSecret));
  const std::int64_t root = Ask("SELECT rootpage FROM sqlite_schema WHERE name = 'high'");
  BeginScrub();
  Scrub(root);
  ASSERT_LT(Ask("SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'scrub'"), root + 1);
  Do("INSERT INTO high VALUES(100, zeroblob(3000))");
  Scrub();
  ASSERT_EQ(Ask("SELECT count(*) FROM meta WHERE name = 'scrub'"), 0);
  ExpectClean();
  // Nor does the cache have it still.
  Do("DELETE FROM high WHERE k > 10");
  ASSERT_TRUE(database_->Flush().ok());
  ExpectClean();
}

// The last page of a long row may be one that another row was in, in the same transaction.
TEST_F(FileScrubTest, the_ends_of_long_rows_are_cleared) {
  Do("CREATE TABLE long(k INTEGER PRIMARY KEY, v TEXT)");
  std::string secret;
  while (secret.size() < 100'000) secret += kSecret;
  Do("INSERT INTO long VALUES(1, ?)", {std::string_view(secret)});
  ASSERT_TRUE(database_
                  ->InTransaction([&]() -> Status {
                    Status status = database_->Run("DELETE FROM long");
                    for (std::int64_t i = 0; status.ok() && i < 12; ++i) {
                      status = database_->Run("INSERT INTO long VALUES(?, zeroblob(?))",
                                              {i, 5000 + 300 * i});
                    }
                    return status;
                  })
                  .ok());
  ASSERT_TRUE(database_->Flush().ok());
  ASSERT_TRUE(AnyHolds(files_, kSecret));
  BeginScrub();
  Scrub();
  ExpectClean();
  EXPECT_EQ(Ask("SELECT sum(length(v)) FROM long"), 12 * 5000 + 300 * 66);
}

}  // namespace
}  // namespace keepsake::testing
