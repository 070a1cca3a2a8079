// After every acknowledged commit the bytes that reached the files are opened in
// a fresh instance. The cache is tiny, so that transactions spill into the log
// before they commit, and SQLite rewrites checksums behind the commit frame.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "file_vfs_test_files.h"
#include "keepsake/database.h"

namespace keepsake::sql {
namespace {

constexpr std::uint32_t kSeed = 7;
constexpr int kTransactions = 1000;

using Rows = std::map<std::int64_t, std::string>;

std::unique_ptr<Database> OpenOn(const std::string& vfs, const Bytes& keys) {
  auto database = OpenDatabase({.path = "crash", .vfs = vfs, .keys = keys});
  EXPECT_TRUE(database.has_value()) << database.error().message();
  return database ? std::move(*database) : nullptr;
}

Rows ReadRows(Database& database) {
  Rows rows;
  const Status status = database.Run("SELECT id, v FROM t", {},
                                     [&](const Row& row) { rows[row.Int(0)] = row.Text(1); });
  EXPECT_TRUE(status.ok()) << status.message();
  return rows;
}

std::string IntegrityOf(Database& database) {
  std::string verdict;
  const Status status =
      database.Run("PRAGMA integrity_check", {}, [&](const Row& row) { verdict = row.Text(0); });
  return status.ok() ? verdict : status.message();
}

class RandomWriter {
 public:
  explicit RandomWriter(std::uint32_t seed) : random_(seed) {}

  // One transaction; one in eight is rolled back on purpose.
  void Transact(Database& database, Rows* acknowledged) {
    Rows rows = *acknowledged;
    const bool roll_back = Below(8) == 0;
    const Status status = database.InTransaction([&]() -> Status {
      for (std::uint32_t i = 0, count = 1 + Below(60); i < count; ++i) {
        if (Status put = PutOne(database, &rows); !put.ok()) return put;
      }
      return roll_back ? Status(StatusCode::kNotFound, "on purpose") : Status();
    });
    ASSERT_EQ(status.code(), roll_back ? StatusCode::kNotFound : StatusCode::kOk)
        << status.message();
    if (!roll_back) *acknowledged = std::move(rows);
  }

 private:
  std::uint32_t Below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_()) % bound; }

  Status PutOne(Database& database, Rows* rows) {
    const std::int64_t id = Below(120);
    const std::string text(Below(3000), static_cast<char>('a' + Below(26)));
    (*rows)[id] = text;
    return database.Run("INSERT OR REPLACE INTO t(id, v) VALUES(?, ?)",
                        {Param(id), Param(std::string_view(text))});
  }

  std::mt19937 random_;
};

void ExpectRows(MemoryFiles image, const Rows& rows, const Bytes& keys) {
  auto vfs = FileVfs::Register("crash-image", image.Host());
  ASSERT_TRUE(vfs.has_value());
  std::unique_ptr<Database> recovered = OpenOn("crash-image", keys);
  ASSERT_NE(recovered, nullptr);
  ASSERT_EQ(ReadRows(*recovered), rows);
  ASSERT_EQ(IntegrityOf(*recovered), "ok");
}

void CrashAfterEveryCommit(Durability durability, int transactions = kTransactions,
                           const Bytes& keys = {}) {
  MemoryFiles files("crash");
  auto vfs = FileVfs::Register("crash-writer", files.Host());
  ASSERT_TRUE(vfs.has_value());
  auto opened = OpenDatabase(
      {.path = "crash", .durability = durability, .vfs = "crash-writer", .keys = keys});
  ASSERT_TRUE(opened.has_value()) << opened.error().message();
  std::unique_ptr<Database> database = std::move(*opened);
  ASSERT_TRUE(database->Run("PRAGMA cache_size = 8").ok());
  ASSERT_TRUE(database->Run("PRAGMA wal_autocheckpoint = 400").ok());
  ASSERT_TRUE(database->Run("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)").ok());

  Rows acknowledged;
  RandomWriter writer(kSeed);
  for (int i = 0; i < transactions; ++i) {
    ASSERT_NO_FATAL_FAILURE(writer.Transact(*database, &acknowledged));
    SCOPED_TRACE("after transaction " + std::to_string(i));
    ASSERT_NO_FATAL_FAILURE(ExpectRows(files.CopyOfBytes(), acknowledged, keys));
    if (files.HasUnflushedTruncation()) {
      ASSERT_NO_FATAL_FAILURE(ExpectRows(files.CopyWithoutTruncations(), acknowledged, keys));
    }
  }
}

TEST(CrashImage, every_acknowledged_commit_is_recoverable_from_the_bytes_written_so_far) {
  CrashAfterEveryCommit(Durability::kRelaxed);
}

TEST(CrashImage, every_acknowledged_commit_is_recoverable_in_strict_durability) {
  CrashAfterEveryCommit(Durability::kStrict);
}

TEST(CrashImage, every_acknowledged_commit_of_an_encrypted_file_is_recoverable) {
  constexpr int kFewer = 250;
  const Bytes keys = EncodeKeys(std::vector{FileKey{.key = Bytes(FileKey::kBytes, 7)}});
  CrashAfterEveryCommit(Durability::kRelaxed, kFewer, keys);
  CrashAfterEveryCommit(Durability::kStrict, kFewer, keys);
}

}  // namespace
}  // namespace keepsake::sql
