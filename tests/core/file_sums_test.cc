// Files in which something is not as it was written: a bit, a page, two pages in each other's
// place. What is read is right, or an error. What can be read is saved.
#include "sql/file_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "file_vfs_test_files.h"
#include "keepsake/sqlite_saver.h"
#include "sql/file_trees.h"
#include "sql/sqlite_database.h"
#include "transfer/file_salvage.h"
#include "transfer/tables.h"

namespace keepsake::sql {
namespace {

using testing::HasSubstr;

constexpr std::size_t kPage = 4096;
constexpr int kItems = 300;

// How many bits to flip: KEEPSAKE_FLIPS, for a long run.
int Flips() {
  const char* wanted = std::getenv("KEEPSAKE_FLIPS");
  return wanted == nullptr ? 600 : std::atoi(wanted);
}

class FileSumsTest : public testing::Test {
 protected:
  void SetUp() override {
    Opened written(files_);
    ASSERT_NE(written.database, nullptr);
    Fill(*written.database);
    ASSERT_TRUE(written.database->Flush().ok());
  }

  // A database on a copy of files, opened for as long as this lives.
  struct Opened {
    explicit Opened(MemoryFiles& files) {
      vfs = *FileVfs::Register("sums-test", files.Host());
      auto opened = OpenDatabase({.path = "sums", .vfs = "sums-test", .verifies = true});
      if (opened)
        database = std::move(*opened);
      else
        error = opened.error();
    }
    std::unique_ptr<FileVfs> vfs;
    Status error;
    std::unique_ptr<Database> database;
  };

  static void Run(Database& database, std::string_view sql,
                  std::initializer_list<Param> params = {}) {
    const Status status = database.Run(sql, params);
    ASSERT_TRUE(status.ok()) << sql << ": " << status.message();
  }

  // Rows on leaves, inner pages, overflow pages and free pages of tables of both kinds.
  static void Fill(Database& database) {
    for (std::int64_t i = 0; i < kItems; ++i) {
      const std::string key = "key-" + std::to_string(i);
      const std::string value(i % 50 == 0 ? 9'000 : 200, static_cast<char>('a' + i % 26));
      Run(database,
          "INSERT INTO store_kv(item_id, ns, key, value, created_at, updated_at, ttl)"
          " VALUES(?, ?, ?, ?, 1, 1, 0)",
          {Param(i + 1), Param(std::string_view(i % 2 == 0 ? "users\x1f" : "notes\x1f")),
           Param(std::string_view(key)), Param(std::string_view(value))});
      Run(database, "INSERT INTO checkpoints VALUES(?, ?, ?)",
          {Param(std::int64_t{1}), Param(std::string_view(key)), Param(ByteView(BytesOf(value)))});
      Run(database, "INSERT INTO content VALUES(?, 0, ?)",
          {Param(i), Param(ByteView(BytesOf(value)))});
    }
    Run(database,
        "INSERT INTO thread_namespaces(ns_id, thread_id, checkpoint_ns) VALUES(1, 't', '')");
    Run(database, "DELETE FROM content WHERE chunk > 200");
  }

  // Every row of every table, and those of an index; an error's text if one can't be read.
  static std::string ReadAll(Opened& opened) {
    if (opened.database == nullptr) return "error: " + opened.error.message();
    std::string all;
    const auto add = [&](std::string_view sql, int columns) {
      const Status status = opened.database->Run(sql, {}, [&](const Row& row) {
        for (int i = 0; i < columns; ++i) all += std::string(row.Text(i)) + '|';
      });
      if (!status.ok()) all = "error: " + status.message();
      return status.ok();
    };
    for (const transfer::Table& table : transfer::Tables()) {
      if (!add(transfer::SelectAll(table), static_cast<int>(table.columns.size()))) return all;
    }
    add("SELECT ns, key FROM store_kv INDEXED BY store_kv_key WHERE ns > ''", 2);
    return all;
  }

  static ByteView BytesOf(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
  }

  std::size_t Pages() { return files_.database().bytes.size() / kPage; }

  void Damage(std::uint32_t page) { files_.database().bytes[(page - 1) * kPage + 100] ^= 0x10; }

  // The first page that holds a part of `tree`, and is none of its inner pages if `leaf`.
  std::uint32_t PageOf(std::string_view tree, bool leaf = true) {
    Opened opened(files_);
    auto trees = FileTrees::Of(dynamic_cast<SqliteDatabase&>(*opened.database));
    (*trees)->ReadAll([](std::string_view, const TreeRow&) {});
    for (std::uint32_t page = 2; page <= Pages(); ++page) {
      const std::uint8_t type = files_.database().bytes[(page - 1) * kPage];
      const bool is_leaf = type == 10 || type == 13, is_inner = type == 2 || type == 5;
      if ((*trees)->HeldBy(page) == tree && (leaf ? is_leaf : is_inner)) return page;
    }
    return 0;
  }

  // A new database with what can be read.
  static Result<transfer::Salvage> Salvage(MemoryFiles& files, Database& target) {
    auto vfs = FileVfs::Register("salvage-test", files.Host());
    return transfer::SalvageRows(target, {.path = "sums", .vfs = "salvage-test"}, 0);
  }

  static std::unique_ptr<Database> NewDatabase() {
    auto database = OpenDatabase({.path = ":memory:"});
    return std::move(*database);
  }

  static std::int64_t CountItems(Database& database) {
    std::int64_t count = -1;
    Run(database, "SELECT 1");
    (void)database.Run("SELECT count(*) FROM store_kv", {},
                       [&](const Row& row) { count = row.Int(0); });
    return count;
  }

  MemoryFiles files_{"sums"};
};

TEST_F(FileSumsTest, each_page_of_a_file_ends_with_its_checksum) {
  ASSERT_GT(Pages(), 50u);
  std::set<std::uint64_t> sums;
  for (std::uint32_t page = 1; page <= Pages(); ++page) {
    const ByteView bytes(files_.database().bytes.data() + (page - 1) * kPage, kPage);
    EXPECT_TRUE(HasSum(bytes, page)) << page;
    EXPECT_FALSE(HasSum(bytes, page + 1)) << page;
  }
}

TEST_F(FileSumsTest, a_flipped_bit_is_an_error_or_changes_no_answer) {
  MemoryFiles whole = files_.CopyOfBytes();
  Opened untouched(whole);
  const std::string expected = ReadAll(untouched);
  ASSERT_FALSE(expected.starts_with("error"));
  std::mt19937 random(11);
  int errors = 0;
  for (int i = 0; i < Flips(); ++i) {
    MemoryFiles copy = files_.CopyOfBytes();
    auto& bytes = copy.database().bytes;
    const std::size_t at = random() % bytes.size();
    const auto bit = static_cast<std::uint8_t>(1U << (random() % 8));
    bytes[at] ^= bit;
    Opened opened(copy);
    const std::string found = ReadAll(opened);
    if (found == expected) continue;
    ++errors;
    ASSERT_TRUE(found.starts_with("error")) << "byte " << at << " bit " << int{bit};
  }
  // Of free pages nothing is read.
  EXPECT_GT(errors, Flips() / 2);
}

TEST_F(FileSumsTest, each_bit_of_the_header_of_page_1_is_looked_at) {
  MemoryFiles whole = files_.CopyOfBytes();
  Opened untouched(whole);
  const std::string expected = ReadAll(untouched);
  for (std::size_t bit = 0; bit < 100 * 8; ++bit) {
    MemoryFiles copy = files_.CopyOfBytes();
    copy.database().bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    Opened opened(copy);
    const std::string found = ReadAll(opened);
    EXPECT_TRUE(found == expected || found.starts_with("error")) << "bit " << bit;
    // The versions of the format for reading and writing, which an export changes, and the bond,
    // which tells of a log: there is none.
    const bool is_version = bit / 8 == 18 || bit / 8 == 19;
    const bool is_bond = bit / 8 >= kBondAt && bit / 8 < kBondAt + kBondBytes;
    EXPECT_TRUE(is_version || is_bond || found.starts_with("error")) << "bit " << bit;
  }
}

TEST_F(FileSumsTest, a_page_in_the_place_of_another_is_damage) {
  auto& bytes = files_.database().bytes;
  const std::uint32_t page = PageOf("store_kv");
  std::swap_ranges(bytes.begin() + (page - 1) * kPage, bytes.begin() + page * kPage,
                   bytes.begin() + page * kPage);
  Opened opened(files_);
  const std::string found = ReadAll(opened);
  EXPECT_THAT(found, HasSubstr("does not match its checksum: the file is damaged, or another"));
}

TEST_F(FileSumsTest, a_page_of_zeros_is_damage) {
  auto& bytes = files_.database().bytes;
  const std::uint32_t page = PageOf("checkpoints");
  std::fill_n(bytes.begin() + (page - 1) * kPage, kPage, 0);
  Opened opened(files_);
  EXPECT_THAT(ReadAll(opened), HasSubstr("page " + std::to_string(page) + " does not match"));
}

TEST_F(FileSumsTest, a_check_names_what_the_damaged_pages_hold) {
  const std::uint32_t items = PageOf("store_kv"), index = PageOf("store_kv_key");
  Damage(items);
  Damage(index);
  Opened opened(files_);
  const auto all = static_cast<std::uint32_t>(Pages());
  const auto check = opened.database->CheckPages(1, all, false);
  ASSERT_TRUE(check.has_value()) << check.error().message();
  EXPECT_EQ(check->pages, Pages());
  ASSERT_EQ(check->damaged.size(), 2u);
  for (const DamagedPage& page : check->damaged) {
    EXPECT_EQ(page.held, page.number == items ? "store_kv" : "store_kv_key");
  }
}

TEST_F(FileSumsTest, a_check_in_portions_ends_with_whether_all_fits_together) {
  Opened opened(files_);
  std::uint32_t first = 1;
  for (; first <= Pages(); first += 16) {
    const auto check = opened.database->CheckPages(first, 16, false);
    ASSERT_TRUE(check.has_value()) << check.error().message();
    EXPECT_TRUE(check->damaged.empty());
    EXPECT_EQ(check->problem, "");
  }
  opened.database.reset();
  // Our own connection refuses that.
  {
    const auto vfs = *FileVfs::Register("sums-raw", files_.Host());
    const auto sums = *FileSums::Over("sums-raw");
    sqlite3* raw = nullptr;
    sqlite3_open_v2("sums", &raw, SQLITE_OPEN_READWRITE, sums->name());
    EXPECT_EQ(sqlite3_exec(raw,
                           "PRAGMA locking_mode = EXCLUSIVE; PRAGMA writable_schema = ON;"
                           "DELETE FROM sqlite_schema WHERE name = 'store_kv_key'",
                           nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(raw);
  }
  Opened again(files_);
  const auto check = again.database->CheckPages(1, static_cast<std::uint32_t>(Pages()), false);
  ASSERT_TRUE(check.has_value()) << check.error().message();
  EXPECT_THAT(check->problem, HasSubstr("never used"));
}

TEST_F(FileSumsTest, pages_that_another_program_wrote_can_be_accepted) {
  Damage(PageOf("store_kv"));
  Opened opened(files_);
  const auto all = static_cast<std::uint32_t>(Pages());
  ASSERT_EQ(opened.database->CheckPages(1, all, false)->damaged.size(), 1u);
  EXPECT_TRUE(opened.database->CheckPages(1, all, true)->damaged.empty());
  EXPECT_TRUE(opened.database->CheckPages(1, all, false)->damaged.empty());
}

TEST_F(FileSumsTest, an_export_of_a_database_in_memory_has_checksums) {
  auto in_memory = OpenDatabase({.path = ":memory:"});
  ASSERT_TRUE(in_memory.has_value());
  Fill(**in_memory);
  const auto size = (*in_memory)->BeginExport();
  ASSERT_TRUE(size.has_value());
  MemoryFiles exported("sums");
  exported.database().bytes = *(*in_memory)->ReadExport(0, static_cast<std::uint32_t>(*size));
  Opened opened(exported);
  ASSERT_NE(opened.database, nullptr) << opened.error.message();
  const auto check = opened.database->CheckPages(1, 1'000'000, false);
  EXPECT_TRUE(check->damaged.empty());
  EXPECT_FALSE(ReadAll(opened).starts_with("error"));
}

TEST_F(FileSumsTest, an_undamaged_file_is_salvaged_whole) {
  std::unique_ptr<Database> target = NewDatabase();
  const auto salvage = Salvage(files_, *target);
  ASSERT_TRUE(salvage.has_value()) << salvage.error().message();
  EXPECT_TRUE(salvage->damaged.empty());
  EXPECT_EQ(salvage->lost_item_count, 0u);
  Opened source(files_);
  for (const transfer::Table& table : transfer::Tables()) {
    std::string theirs, ours;
    for (auto [database, into] :
         {std::pair{source.database.get(), &theirs}, {target.get(), &ours}}) {
      (void)database->Run(transfer::SelectAll(table), {}, [&](const Row& row) {
        for (int i = 0; i < static_cast<int>(table.columns.size()); ++i) *into += row.Text(i);
      });
    }
    EXPECT_EQ(theirs, ours) << table.name;
  }
}

TEST_F(FileSumsTest, the_items_of_a_damaged_leaf_are_named_and_all_others_saved) {
  Damage(PageOf("store_kv"));
  std::unique_ptr<Database> target = NewDatabase();
  const auto salvage = Salvage(files_, *target);
  ASSERT_TRUE(salvage.has_value()) << salvage.error().message();
  ASSERT_EQ(salvage->damaged.size(), 1u);
  EXPECT_EQ(salvage->damaged[0].held, "store_kv");
  ASSERT_GT(salvage->lost_item_count, 5u);
  EXPECT_EQ(CountItems(*target) + static_cast<std::int64_t>(salvage->lost_item_count), kItems);
  EXPECT_THAT(salvage->lost_items[0].key, HasSubstr("key-"));
}

TEST_F(FileSumsTest, what_a_damaged_inner_page_led_to_is_found) {
  const std::uint32_t inner = PageOf("store_kv", false);
  ASSERT_NE(inner, 0u);
  // A leaf in another tree of the same kind is not taken for one of it.
  Damage(inner);
  std::unique_ptr<Database> target = NewDatabase();
  const auto salvage = Salvage(files_, *target);
  ASSERT_TRUE(salvage.has_value()) << salvage.error().message();
  ASSERT_EQ(salvage->damaged.size(), 1u);
  // The root of a tree whose rows were never seen: nothing says what they look like.
  EXPECT_EQ(CountItems(*target) + static_cast<std::int64_t>(salvage->lost_item_count), kItems);
}

// As ALTER TABLE leaves the rows that are there: they lack the column.
class GrownTableTest : public FileSumsTest {
 protected:
  void SetUp() override {
    Opened written(files_);
    ASSERT_NE(written.database, nullptr);
    Run(*written.database, "DROP TABLE store_kv");
    Run(*written.database,
        "CREATE TABLE store_kv(item_id INTEGER PRIMARY KEY, ns TEXT, key TEXT, value TEXT,"
        " created_at INTEGER, updated_at INTEGER, ttl INTEGER, expires_at INTEGER,"
        " valid_from INTEGER, valid_until INTEGER, superseded_by INTEGER, origin INTEGER)");
    Add(*written.database, 1, kOld);
    Run(*written.database, "ALTER TABLE store_kv ADD COLUMN source TEXT");
    Add(*written.database, kOld + 1, kOld + kNew);
    ASSERT_TRUE(written.database->Flush().ok());
  }

  // A page has one of them.
  static void Add(Database& database, int first, int last) {
    for (std::int64_t i = first; i <= last; ++i) {
      const std::string key = "key-" + std::to_string(i);
      Run(database,
          "INSERT INTO store_kv(item_id, ns, key, value, created_at, updated_at, ttl)"
          " VALUES(?, 'n', ?, printf('%2500d', ?1), 1, 1, 0)",
          {Param(i), Param(std::string_view(key))});
    }
  }

  static constexpr int kOld = 20;
  static constexpr int kNew = 900;
};

TEST_F(GrownTableTest, rows_older_than_a_column_are_salvaged) {
  std::unique_ptr<Database> target = NewDatabase();
  const auto salvage = Salvage(files_, *target);
  ASSERT_TRUE(salvage.has_value()) << salvage.error().message();
  EXPECT_EQ(CountItems(*target), kOld + kNew);
}

TEST_F(GrownTableTest, what_a_damaged_inner_page_led_to_is_found_whatever_its_rows_lack) {
  // Behind the root, whose children are inner pages, too.
  std::uint32_t inner = 0;
  for (std::uint32_t page = PageOf("store_kv", false) + 1; page <= Pages(); ++page) {
    if (files_.database().bytes[(page - 1) * kPage] == 5) inner = page;
  }
  ASSERT_NE(inner, 0u);
  Damage(inner);
  std::unique_ptr<Database> target = NewDatabase();
  const auto salvage = Salvage(files_, *target);
  ASSERT_TRUE(salvage.has_value()) << salvage.error().message();
  ASSERT_EQ(salvage->damaged.size(), 1u);
  EXPECT_EQ(CountItems(*target), kOld + kNew);
}

TEST_F(FileSumsTest, a_damaged_page_1_still_gives_the_rows) {
  Damage(1);
  Opened opened(files_);
  EXPECT_EQ(opened.database, nullptr);
  std::unique_ptr<Database> target = NewDatabase();
  const auto salvage = Salvage(files_, *target);
  ASSERT_TRUE(salvage.has_value()) << salvage.error().message();
  EXPECT_EQ(CountItems(*target), kItems);
}

TEST_F(FileSumsTest, what_only_the_log_has_is_salvaged) {
  MemoryFiles cut = files_.CopyOfBytes();
  {
    Opened opened(files_);
    Run(*opened.database, "UPDATE store_kv SET value = 'from the log' WHERE item_id = 7");
    cut = files_.CopyOfBytes();  // as after a crash
  }
  ASSERT_FALSE(cut.log().bytes.empty());
  std::unique_ptr<Database> target = NewDatabase();
  ASSERT_TRUE(Salvage(cut, *target).has_value());
  std::string value;
  (void)target->Run("SELECT value FROM store_kv WHERE item_id = 7", {},
                    [&](const Row& row) { value = row.Text(0); });
  EXPECT_EQ(value, "from the log");
}

TEST_F(FileSumsTest, any_damage_is_salvaged_without_a_crash_and_without_an_invention) {
  std::mt19937 random(5);
  Opened source(files_);
  std::set<std::string> known;
  (void)source.database->Run("SELECT item_id || ns || key || value FROM store_kv", {},
                             [&](const Row& row) { known.insert(std::string(row.Text(0))); });
  for (int i = 0; i < Flips() / 20; ++i) {
    MemoryFiles copy = files_.CopyOfBytes();
    auto& bytes = copy.database().bytes;
    for (int n = 0; n < 12; ++n) bytes[random() % bytes.size()] ^= 0xFF;
    std::unique_ptr<Database> target = NewDatabase();
    const auto salvage = Salvage(copy, *target);
    ASSERT_TRUE(salvage.has_value()) << salvage.error().message();
    (void)target->Run(
        "SELECT item_id || ns || key || value FROM store_kv", {},
        [&](const Row& row) { EXPECT_TRUE(known.contains(std::string(row.Text(0)))); });
  }
}

TEST_F(FileSumsTest, crafted_pages_with_right_checksums_do_no_harm) {
  std::mt19937 random(3);
  for (int i = 0; i < Flips() / 10; ++i) {
    MemoryFiles copy = files_.CopyOfBytes();
    auto& bytes = copy.database().bytes;
    for (int n = 0; n < 8; ++n) {
      const auto page = static_cast<std::uint32_t>(random() % Pages());
      // Where the numbers of a page stand that lead somewhere.
      for (int k = 0; k < 4; ++k) {
        bytes[page * kPage + random() % 64] = static_cast<std::uint8_t>(random());
      }
      PutSum(std::span(bytes).subspan(page * kPage, kPage), page + 1);
    }
    std::unique_ptr<Database> target = NewDatabase();
    (void)Salvage(copy, *target);
  }
}

}  // namespace
}  // namespace keepsake::sql
