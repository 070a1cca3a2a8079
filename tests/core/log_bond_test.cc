// A log beside a file that is not the one it was written for: after a copy was put back. What was
// put there is not mixed with the log, and neither is lost.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "file_vfs_test_files.h"
#include "keepsake/database.h"
#include "sql/file_sums.h"
#include "transfer/file_salvage.h"

namespace keepsake::sql {
namespace {

class LogBondTest : public testing::TestWithParam<bool> {
 protected:
  struct Opened {
    Opened(MemoryFiles& files, Bytes keys) : vfs(*FileVfs::Register("bond-test", files.Host())) {
      auto opened = OpenDatabase({.path = "bond", .vfs = "bond-test", .keys = std::move(keys)});
      if (opened) {
        database = *std::move(opened);
      } else {
        error = opened.error();
      }
    }
    std::unique_ptr<FileVfs> vfs;
    Status error;
    std::unique_ptr<Database> database;
  };

  Bytes Keys() const {
    if (!GetParam()) return {};
    return EncodeKeys(std::vector{FileKey{.key = Bytes(FileKey::kBytes, 7)}});
  }
  std::unique_ptr<Opened> Open(MemoryFiles& files) const {
    return std::make_unique<Opened>(files, Keys());
  }

  static void Insert(Opened& opened, std::string_view text) {
    const Status status = opened.database->Run(
        "INSERT INTO meta VALUES('row-' || (SELECT count(*) FROM meta), ?)", {Param(text)});
    ASSERT_TRUE(status.ok()) << status.message();
  }

  std::string Rows(MemoryFiles& files) const {
    auto opened = Open(files);
    if (opened->database == nullptr) return opened->error.message();
    std::string rows;
    (void)opened->database->Run(
        "SELECT value FROM meta WHERE name LIKE 'row-%' ORDER BY CAST(substr(name, 5) AS INTEGER)",
        {}, [&](const Row& row) { rows += std::string(row.Text(0)) + ' '; });
    return rows;
  }

  // A file that was closed.
  MemoryFiles Closed(std::string_view text) {
    MemoryFiles files("bond");
    Insert(*Open(files), text);
    return files;
  }

  // The same as a process that was killed leaves it, after another row.
  MemoryFiles Killed(MemoryFiles files, std::string_view text) {
    auto opened = Open(files);
    Insert(*opened, text);
    return files.CopyOfBytes();
  }

  void ExpectRefused(MemoryFiles& files) {
    const MemoryFiles before = files.CopyOfBytes();
    {
      auto opened = Open(files);
      ASSERT_EQ(opened->database, nullptr);
      EXPECT_EQ(opened->error.code(), StatusCode::kCannotOpen);
      EXPECT_NE(opened->error.message().find("the log beside the file is of another database"),
                std::string::npos);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(files[i].bytes, MemoryFiles(before)[i].bytes) << i;
    }
  }
};

TEST_P(LogBondTest, a_file_and_its_log_are_opened_wherever_they_are) {
  MemoryFiles killed = Killed(Closed("a"), "b");
  ASSERT_FALSE(killed.log().bytes.empty());
  MemoryFiles copy = killed.CopyOfBytes();
  EXPECT_EQ(Rows(copy), "a b ");
  // An older pair over a newer one.
  MemoryFiles newer = Killed(killed.CopyOfBytes(), "c");
  for (std::size_t i = 0; i < 3; ++i) newer[i].bytes = killed[i].bytes;
  EXPECT_EQ(Rows(newer), "a b ");
}

TEST_P(LogBondTest, a_copy_that_is_put_beside_the_log_of_another_state_is_not_mixed_with_it) {
  MemoryFiles backup = Closed("a");
  const MemoryFiles killed = Killed(backup.CopyOfBytes(), "b");
  MemoryFiles restored = killed.CopyOfBytes();
  restored.database().bytes = backup.database().bytes;
  ExpectRefused(restored);
  // As the message says, either.
  MemoryFiles alone = restored.CopyOfBytes();
  alone.log().bytes.clear();
  EXPECT_EQ(Rows(alone), "a ");
  restored.database().bytes = MemoryFiles(killed).database().bytes;
  EXPECT_EQ(Rows(restored), "a b ");
}

TEST_P(LogBondTest, a_log_of_an_older_state_is_not_put_over_a_newer_one) {
  MemoryFiles older = Killed(Closed("a"), "b");
  MemoryFiles newer = older.CopyOfBytes();
  ASSERT_EQ(Rows(newer), "a b ");
  newer = Killed(newer.CopyOfBytes(), "c");
  newer.log().bytes = older.log().bytes;
  ExpectRefused(newer);
}

TEST_P(LogBondTest, no_log_belongs_to_an_export) {
  MemoryFiles killed("bond"), exported("bond");
  {
    MemoryFiles files = Closed("a");
    auto opened = Open(files);
    const auto size = opened->database->BeginExport();
    Insert(*opened, "b");  // begins the next log
    exported.database().bytes = *opened->database->ReadExport(0, static_cast<std::uint32_t>(*size));
    opened->database->EndExport();
    killed = files.CopyOfBytes();
  }
  ASSERT_FALSE(killed.log().bytes.empty());
  exported.log().bytes = killed.log().bytes;
  EXPECT_EQ(Rows(killed), "a b ");
  const Opened opened(exported, {});
  EXPECT_EQ(opened.error.code(), StatusCode::kCannotOpen);
}

TEST_P(LogBondTest, a_salvage_does_not_read_the_log_of_another_either) {
  MemoryFiles backup = Closed("a");
  MemoryFiles restored = Killed(backup.CopyOfBytes(), "b");
  restored.database().bytes = backup.database().bytes;
  auto vfs = FileVfs::Register("bond-test", restored.Host());
  auto target = *OpenDatabase({.path = ":memory:"});
  const auto salvage =
      transfer::SalvageRows(*target, {.path = "bond", .vfs = "bond-test", .keys = Keys()}, 0);
  EXPECT_EQ(salvage.error().code(), StatusCode::kCannotOpen);
}

TEST_P(LogBondTest, another_program_that_crashed_left_shared_memory_and_its_log_is_read) {
  MemoryFiles backup = Closed("a");
  MemoryFiles theirs = Killed(backup.CopyOfBytes(), "b");
  theirs.database().bytes = backup.database().bytes;
  theirs.Add("bond-shm", Bytes(1));
  MemoryFiles copy = theirs;
  EXPECT_EQ(Rows(copy), "a b ");
  // What we add is ours.
  MemoryFiles ours = Killed(theirs, "c");
  EXPECT_EQ(Rows(ours), "a b c ");
}

TEST_P(LogBondTest, a_flipped_bit_does_not_cost_the_log) {
  MemoryFiles killed = Killed(Closed("a"), "b");
  const std::size_t at = GetParam() ? 64 : kBondAt;
  for (std::size_t bit = 0; bit < kBondBytes * 8; bit += 5) {
    MemoryFiles flipped = killed.CopyOfBytes();
    flipped.database().bytes[at + bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_EQ(Rows(flipped), "a b ") << bit;
  }
}

TEST_P(LogBondTest, the_bond_changes_with_each_log_and_whenever_one_is_moved) {
  MemoryFiles files = Closed("a");
  const std::size_t at = GetParam() ? 64 : kBondAt;
  const auto bond = [&] {
    const auto begin = files.database().bytes.begin() + static_cast<std::ptrdiff_t>(at);
    return Bytes(begin, begin + kBondBytes);
  };
  const Bytes closed = bond();
  auto opened = Open(files);
  Insert(*opened, "b");
  const Bytes begun = bond();
  EXPECT_NE(begun, closed);
  Insert(*opened, "c");
  EXPECT_EQ(bond(), begun);
  ASSERT_TRUE(opened->database->Run("PRAGMA wal_checkpoint(PASSIVE)").ok());
  EXPECT_NE(bond(), begun);
}

// At each write of a log that begins anew again and again.
TEST_P(LogBondTest, a_crash_at_any_write_leaves_a_file_with_its_own_log) {
  MemoryFiles files = Closed("a");
  auto opened = Open(files);
  ASSERT_TRUE(opened->database->Run("PRAGMA wal_autocheckpoint = 3").ok());
  std::string stored = "a ";
  std::vector<std::pair<MemoryFiles, std::string>> images;
  files.after_write = [&] { images.emplace_back(files.CopyOfBytes(), stored); };
  for (int i = 0; i < 12; ++i) {
    const std::string text = "row" + std::to_string(i);
    Insert(*opened, text);
    stored += text + ' ';
  }
  files.after_write = nullptr;
  ASSERT_GT(images.size(), 30u);
  for (auto& [image, least] : images) {
    const std::string found = Rows(image);
    EXPECT_TRUE(found.starts_with(least)) << found << " after " << least;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, LogBondTest, testing::Bool(),
                         [](const auto& param) { return param.param ? "encrypted" : "plain"; });

}  // namespace
}  // namespace keepsake::sql
