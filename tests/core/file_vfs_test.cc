#include "sql/file_vfs.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "file_vfs_test_files.h"
#include "keepsake/database.h"

namespace keepsake::sql {
namespace {

class FileVfsTest : public testing::Test {
 protected:
  FileVfsTest() : files_("db") {
    auto vfs = FileVfs::Register("file-vfs-test", files_.Host());
    EXPECT_TRUE(vfs.has_value());
    vfs_ = std::move(*vfs);
  }

  std::unique_ptr<Database> Open(Durability durability = Durability::kRelaxed) {
    auto database = OpenDatabase({.path = "db", .durability = durability, .vfs = "file-vfs-test"});
    EXPECT_TRUE(database.has_value()) << database.error().message();
    if (!database) return nullptr;
    EXPECT_TRUE((*database)->Run("CREATE TABLE IF NOT EXISTS t(v TEXT)").ok());
    return std::move(*database);
  }

  static Status Insert(Database& database, std::string_view text) {
    return database.Run("INSERT INTO t(v) VALUES(?)", {Param(text)});
  }

  static std::string Contents(Database& database) {
    std::string all;
    const Status status = database.Run("SELECT v FROM t ORDER BY rowid", {}, [&](const Row& row) {
      all.append(row.Text(0)).append(" ");
    });
    return status.ok() ? all : status.message();
  }

  MemoryFiles files_;
  std::unique_ptr<FileVfs> vfs_;
};

TEST_F(FileVfsTest, what_was_written_is_there_after_reopening) {
  {
    auto database = Open();
    ASSERT_TRUE(Insert(*database, "one").ok());
    ASSERT_TRUE(Insert(*database, "two").ok());
  }
  EXPECT_EQ(Contents(*Open()), "one two ");
}

TEST_F(FileVfsTest, closing_moves_the_log_into_the_database_file) {
  Open();
  EXPECT_TRUE(files_.log().bytes.empty());
  EXPECT_GT(files_.database().bytes.size(), 0u);
}

TEST_F(FileVfsTest, a_transaction_is_one_write) {
  auto database = Open();
  ASSERT_TRUE(Insert(*database, "first").ok());
  const int before = files_.total_writes();
  const std::string large(50'000, 'x');
  ASSERT_TRUE(Insert(*database, large).ok());
  EXPECT_EQ(files_.total_writes() - before, 1);
}

TEST_F(FileVfsTest, relaxed_durability_does_not_flush_at_a_commit) {
  auto database = Open(Durability::kRelaxed);
  const int before = files_.log().flushes;
  ASSERT_TRUE(Insert(*database, "one").ok());
  EXPECT_EQ(files_.log().flushes, before);
}

TEST_F(FileVfsTest, strict_durability_flushes_at_each_commit) {
  auto database = Open(Durability::kStrict);
  const int before = files_.log().flushes;
  ASSERT_TRUE(Insert(*database, "one").ok());
  ASSERT_TRUE(Insert(*database, "two").ok());
  EXPECT_EQ(files_.log().flushes, before + 2);
}

TEST_F(FileVfsTest, a_flush_that_fails_fails_a_strict_commit) {
  auto database = Open(Durability::kStrict);
  files_.flush_fails = true;
  EXPECT_EQ(Insert(*database, "one").code(), StatusCode::kIoError);
}

TEST_F(FileVfsTest, a_full_disk_is_storage_full_and_leaves_the_previous_state) {
  auto database = Open();
  ASSERT_TRUE(Insert(*database, "kept").ok());
  files_.room = 1000;
  const Status status = Insert(*database, std::string(20'000, 'x'));
  EXPECT_EQ(status.code(), StatusCode::kStorageFull) << status.message();
  EXPECT_EQ(status.message(), "storage is full; nothing was changed: \"db\"");
  EXPECT_EQ(Contents(*database), "kept ");
  files_.room.reset();
  ASSERT_TRUE(Insert(*database, "later").ok());
  EXPECT_EQ(Contents(*database), "kept later ");
  database.reset();
  EXPECT_EQ(Contents(*Open()), "kept later ");
}

TEST_F(FileVfsTest, a_full_disk_in_the_middle_of_a_spilled_transaction_rolls_all_of_it_back) {
  auto database = Open();
  ASSERT_TRUE(Insert(*database, "kept").ok());
  ASSERT_TRUE(database->Run("PRAGMA cache_size = 8").ok());
  files_.room = 300'000;
  const Status status = database->InTransaction([&]() -> Status {
    for (int i = 0; i < 200; ++i) {
      if (Status inserted = Insert(*database, std::string(9'000, 'x')); !inserted.ok()) {
        return inserted;
      }
    }
    return Status();
  });
  EXPECT_EQ(status.code(), StatusCode::kStorageFull) << status.message();
  files_.room.reset();
  EXPECT_EQ(Contents(*database), "kept ");
  ASSERT_TRUE(Insert(*database, "later").ok());
  database.reset();
  EXPECT_EQ(Contents(*Open()), "kept later ");
}

TEST_F(FileVfsTest, a_host_without_quota_is_storage_full) {
  auto database = Open();
  files_.write_error = kFileFull;
  EXPECT_EQ(Insert(*database, "one").code(), StatusCode::kStorageFull);
}

TEST_F(FileVfsTest, a_read_only_host_is_read_only) {
  auto database = Open();
  files_.write_error = kFileReadOnly;
  EXPECT_EQ(Insert(*database, "one").code(), StatusCode::kReadOnly);
}

TEST_F(FileVfsTest, a_failing_host_is_an_io_error) {
  auto database = Open();
  files_.write_error = kFileFailed;
  EXPECT_EQ(Insert(*database, "one").code(), StatusCode::kIoError);
}

TEST_F(FileVfsTest, a_nested_transaction_of_many_pages_needs_no_temporary_file) {
  auto database = Open();
  const Status status = database->InTransaction([&]() -> Status {
    for (int i = 0; i < 100; ++i) {
      if (Status inserted = Insert(*database, std::string(5'000, 'x')); !inserted.ok()) {
        return inserted;
      }
    }
    const Status nested = database->InTransaction([&]() -> Status {
      if (Status deleted = database->Run("DELETE FROM t"); !deleted.ok()) return deleted;
      return Status(StatusCode::kNotFound, "on purpose");
    });
    EXPECT_EQ(nested.code(), StatusCode::kNotFound) << nested.message();
    return Status();
  });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(Contents(*database).size(), 100u * 5'001u);
}

TEST_F(FileVfsTest, names_that_the_host_does_not_know_cannot_be_opened) {
  const auto database = OpenDatabase({.path = "other", .vfs = "file-vfs-test"});
  ASSERT_FALSE(database.has_value());
  EXPECT_EQ(database.error().code(), StatusCode::kCannotOpen);
}

TEST_F(FileVfsTest, a_database_that_is_open_already_is_busy) {
  auto database = Open();
  const auto second = OpenDatabase({.path = "db", .vfs = "file-vfs-test"});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), StatusCode::kBusy);
}

TEST_F(FileVfsTest, a_change_from_outside_is_refused_and_nothing_is_overwritten) {
  auto database = Open();
  ASSERT_TRUE(Insert(*database, "ours").ok());
  files_.log().changed_outside = true;
  const MemoryFiles before = files_.CopyOfBytes();
  const Status status = Insert(*database, "lost");
  EXPECT_EQ(status.code(), StatusCode::kChangedOutside) << status.message();

  // Not even when what was changed looks the same again.
  files_.log().changed_outside = false;
  EXPECT_EQ(Insert(*database, "lost").code(), StatusCode::kChangedOutside);
  EXPECT_EQ(database->Run("SELECT 1").code(), StatusCode::kChangedOutside);
  EXPECT_EQ(database->Flush().code(), StatusCode::kChangedOutside);
  EXPECT_EQ(database->InTransaction([] { return Status(); }).code(), StatusCode::kChangedOutside);
  EXPECT_EQ(database->SizeBytes().error().code(), StatusCode::kChangedOutside);
  EXPECT_EQ(database->BeginExport().error().code(), StatusCode::kChangedOutside);
  database.reset();

  MemoryFiles expected = before;
  EXPECT_EQ(files_.database().bytes, expected.database().bytes);
  EXPECT_EQ(files_.log().bytes, expected.log().bytes);
}

TEST_F(FileVfsTest, a_change_of_the_database_file_alone_is_noticed_too) {
  auto database = Open();
  files_.database().changed_outside = true;
  EXPECT_EQ(Insert(*database, "lost").code(), StatusCode::kChangedOutside);
}

TEST_F(FileVfsTest, a_change_from_outside_is_noticed_when_the_log_would_be_moved) {
  auto database = Open();
  ASSERT_TRUE(Insert(*database, "ours").ok());
  MemoryFiles before = files_.CopyOfBytes();
  files_.database().changed_outside = true;
  EXPECT_EQ(database->Flush().code(), StatusCode::kChangedOutside);
  database.reset();
  EXPECT_EQ(files_.database().bytes, before.database().bytes);
  EXPECT_EQ(files_.log().bytes, before.log().bytes);
}

TEST_F(FileVfsTest, closing_a_file_that_was_changed_outside_changes_nothing) {
  auto database = Open();
  ASSERT_TRUE(Insert(*database, "ours").ok());
  MemoryFiles before = files_.CopyOfBytes();
  files_.log().changed_outside = true;
  database.reset();
  EXPECT_EQ(files_.database().bytes, before.database().bytes);
  EXPECT_EQ(files_.log().bytes, before.log().bytes);
}

TEST_F(FileVfsTest, the_host_is_asked_once_per_file_and_transaction) {
  auto database = Open();
  ASSERT_TRUE(Insert(*database, "warm").ok());
  for (int i = 0; i < 3; ++i) {
    const int before = files_.log().checks;
    ASSERT_TRUE(Insert(*database, std::string(30'000, 'x')).ok());
    EXPECT_EQ(files_.log().checks, before + 1);
  }
}

TEST_F(FileVfsTest, the_host_is_asked_again_after_a_transaction_was_rolled_back) {
  auto database = Open();
  ASSERT_TRUE(database->Run("PRAGMA cache_size = 8").ok());
  const Status status = database->InTransaction([&]() -> Status {
    for (int i = 0; i < 50; ++i) {
      if (Status inserted = Insert(*database, std::string(9'000, 'x')); !inserted.ok()) {
        return inserted;
      }
    }
    return Status(StatusCode::kNotFound, "on purpose");
  });
  ASSERT_EQ(status.code(), StatusCode::kNotFound) << status.message();
  files_.log().changed_outside = true;
  EXPECT_EQ(Insert(*database, "lost").code(), StatusCode::kChangedOutside);
}

TEST_F(FileVfsTest, a_refused_file_stays_as_it_is_and_gets_no_log) {
  const std::string garbage(5'000, 'g');
  files_.database().bytes.assign(garbage.begin(), garbage.end());
  const auto database = OpenDatabase({.path = "db", .vfs = "file-vfs-test"});
  ASSERT_FALSE(database.has_value());
  EXPECT_EQ(database.error().code(), StatusCode::kNotADatabase);
  EXPECT_EQ(std::string(files_.database().bytes.begin(), files_.database().bytes.end()), garbage);
  EXPECT_EQ(files_.total_writes(), 0);
}

}  // namespace
}  // namespace keepsake::sql
