#include "import/foreign_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace keepsake::import {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The schema of the JavaScript and the Python SqliteSaver.
constexpr const char* kSaverSchema =
    "CREATE TABLE checkpoints(thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '',"
    " checkpoint_id TEXT NOT NULL, parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB,"
    " metadata BLOB, PRIMARY KEY(thread_id, checkpoint_ns, checkpoint_id));"
    "CREATE TABLE writes(thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '',"
    " checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL, idx INTEGER NOT NULL,"
    " channel TEXT NOT NULL, type TEXT, value BLOB,"
    " PRIMARY KEY(thread_id, checkpoint_ns, checkpoint_id, task_id, idx));";

// The schema of Python's SqliteStore after all its migrations.
constexpr const char* kStoreSchema =
    "CREATE TABLE store(prefix text NOT NULL, key text NOT NULL, value text NOT NULL,"
    " created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,"
    " updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,"
    " expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY(prefix, key));"
    "CREATE TABLE store_vectors(prefix text NOT NULL, key text NOT NULL, field_name text NOT NULL,"
    " embedding BLOB, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,"
    " updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY(prefix, key, field_name));";

constexpr std::uint32_t kAll = 1000;

class ForeignFileTest : public testing::Test {
 protected:
  ForeignFileTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / "keepsake-foreign-file-test" / test->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~ForeignFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Path() const { return folder_ / "foreign.db"; }

  void Execute(const std::string& sql) const {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(Path().c_str(), &connection), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection);
    ASSERT_EQ(sqlite3_close(connection), SQLITE_OK);
  }

  // Until all rows are counted.
  Result<std::unique_ptr<ForeignFile>> OpenWhole() const {
    std::unique_ptr<ForeignFile> file;
    for (;;) {
      const auto tables = ForeignFile::Open({.path = Path()}, &file);
      if (tables) return file;
      if (tables.error().code() != StatusCode::kIndexing) return std::unexpected(tables.error());
    }
  }

  std::unique_ptr<ForeignFile> Open() const {
    auto file = OpenWhole();
    EXPECT_TRUE(file.has_value()) << file.error().message();
    return file ? std::move(*file) : nullptr;
  }

  std::string BytesOfFile() const {
    std::ifstream file(Path(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  static std::string Text(const Blob& blob) {
    return blob.type + ":" + std::string(blob.bytes.begin(), blob.bytes.end());
  }

  // What the only page of items says of its first bad row.
  std::string ItemError(ForeignTable table) const {
    auto page = Open()->Items(table, "", kAll);
    EXPECT_TRUE(page.has_value()) << page.error().message();
    if (!page || page->skipped.empty()) return "";
    return page->skipped[0].row + ": " + page->skipped[0].why;
  }

  // Why the file is refused.
  std::string OpenError() const {
    const auto file = OpenWhole();
    EXPECT_FALSE(file.has_value());
    return file ? "" : file.error().message();
  }

  std::filesystem::path folder_;
};

TEST_F(ForeignFileTest, checkpoints_and_writes_of_the_savers_come_as_they_are) {
  Execute(std::string(kSaverSchema) +
          "INSERT INTO checkpoints VALUES"
          "('t', '', '1', NULL, 'json', '{\"v\":4}', '{\"step\":-1}'),"
          "('t', 'sub', '2', '1', NULL, x'7b7d', x'7b2273223a317d'),"
          "('t', '', '3', '1', 'msgpack', x'81a17604', NULL);"
          "INSERT INTO writes VALUES"
          "('t', '', '1', 'task', -1, '__error__', 'json', '\"e\"'),"
          "('t', '', '1', 'task', 0, 'c', 'bytes', x'ff00'),"
          "('t', '', '1', 'task', 1, 'd', NULL, '1');");
  auto file = Open();
  ASSERT_EQ(file->tables().readable.size(), 2u);
  EXPECT_EQ(file->tables().readable[0].table, ForeignTable::kSaverCheckpoints);
  EXPECT_EQ(file->tables().readable[0].rows, 3u);
  EXPECT_EQ(file->tables().readable[1].table, ForeignTable::kSaverWrites);

  const auto checkpoints = file->Checkpoints("", kAll);
  ASSERT_TRUE(checkpoints.has_value()) << checkpoints.error().message();
  ASSERT_EQ(checkpoints->rows.size(), 3u);
  EXPECT_TRUE(checkpoints->done);
  EXPECT_EQ(checkpoints->rows[0].key, (CheckpointKey{"t", "", "1"}));
  EXPECT_EQ(checkpoints->rows[0].parent_checkpoint_id, "");
  EXPECT_EQ(Text(checkpoints->rows[0].checkpoint), "json:{\"v\":4}");
  EXPECT_EQ(Text(checkpoints->rows[0].metadata), "json:{\"step\":-1}");
  EXPECT_EQ(checkpoints->rows[1].key, (CheckpointKey{"t", "sub", "2"}));
  EXPECT_EQ(checkpoints->rows[1].parent_checkpoint_id, "1");
  EXPECT_EQ(Text(checkpoints->rows[1].checkpoint), "json:{}");
  EXPECT_EQ(Text(checkpoints->rows[1].metadata), "json:{\"s\":1}");
  EXPECT_EQ(Text(checkpoints->rows[2].checkpoint), "msgpack:\x81\xa1v\x04");
  EXPECT_EQ(Text(checkpoints->rows[2].metadata), "json:{}");

  const auto writes = file->Writes("", kAll);
  ASSERT_TRUE(writes.has_value()) << writes.error().message();
  ASSERT_EQ(writes->rows.size(), 3u);
  EXPECT_EQ(writes->rows[0].key, (CheckpointKey{"t", "", "1"}));
  EXPECT_EQ(writes->rows[0].write.idx, -1);
  EXPECT_EQ(writes->rows[0].write.channel, "__error__");
  EXPECT_EQ(writes->rows[1].write.value, (Blob{"bytes", {0xff, 0x00}}));
  EXPECT_EQ(Text(writes->rows[2].write.value), "json:1");
}

TEST_F(ForeignFileTest, pages_follow_each_other_until_all_rows_were_given) {
  Execute(std::string(kSaverSchema) +
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 7)"
          " INSERT INTO writes SELECT 't', '', '1', 'task', i, 'c', 'json', '1' FROM n;"
          "DELETE FROM writes WHERE idx = 3;");
  auto file = Open();
  std::vector<int> indexes;
  std::vector<std::size_t> page_sizes;
  for (std::string cursor;;) {
    const auto page = file->Writes(cursor, 2);
    ASSERT_TRUE(page.has_value());
    for (const ForeignWrite& row : page->rows) indexes.push_back(row.write.idx);
    page_sizes.push_back(page->rows.size());
    cursor = page->cursor;
    if (page->done) break;
  }
  EXPECT_THAT(indexes, ElementsAre(1, 2, 4, 5, 6, 7));
  EXPECT_THAT(page_sizes, ElementsAre(2u, 2u, 2u, 0u));
}

TEST_F(ForeignFileTest, items_of_pythons_store_keep_times_ttl_and_vectors) {
  Execute(std::string(kStoreSchema) +
          "INSERT INTO store VALUES"
          "('users.u1', 'k', '{\"a\":1}', '2025-01-01 12:00:00', '2025-01-01 12:00:01.500000',"
          " '2030-01-01 14:00:00.123456+02:00', 1.5),"
          "('one', 'k2', '{}', '2025-01-01T12:00:00', '2025-01-01 12:00:00', NULL, NULL);"
          "INSERT INTO store_vectors(prefix, key, field_name, embedding) VALUES"
          "('users.u1', 'k', 'text', x'0000803f000000c0'), ('users.u1', 'k', '$', x'00000000');");
  const auto page = Open()->Items(ForeignTable::kPythonStore, "", kAll);
  ASSERT_TRUE(page.has_value()) << page.error().message();
  ASSERT_EQ(page->rows.size(), 2u);
  const ForeignItem& first = page->rows[0];
  EXPECT_EQ(first.item.ns, (Namespace{"users", "u1"}));
  EXPECT_EQ(first.item.key, "k");
  EXPECT_EQ(first.item.value, "{\"a\":1}");
  EXPECT_EQ(first.item.created_at_ms, 1'735'732'800'000);
  EXPECT_EQ(first.item.updated_at_ms, 1'735'732'801'500);
  EXPECT_EQ(first.expires_at_ms, 1'893'499'200'123);
  EXPECT_EQ(first.ttl_ms, 90'000);
  ASSERT_EQ(first.vectors.size(), 2u);
  EXPECT_EQ(first.vectors[0].path, "text");
  EXPECT_THAT(first.vectors[0].values, ElementsAre(1.0f, -2.0f));
  EXPECT_EQ(first.vectors[1].path, "$");
  const ForeignItem& second = page->rows[1];
  EXPECT_EQ(second.item.ns, (Namespace{"one"}));
  EXPECT_EQ(second.item.created_at_ms, 1'735'732'800'000);
  EXPECT_EQ(second.expires_at_ms, 0);
  EXPECT_EQ(second.ttl_ms, PutOp::kNoTtl);
  EXPECT_TRUE(second.vectors.empty());
}

TEST_F(ForeignFileTest, a_store_of_an_early_python_version_has_no_ttl_and_no_vectors) {
  Execute(
      "CREATE TABLE store(prefix text NOT NULL, key text NOT NULL, value text NOT NULL,"
      " created_at TIMESTAMP, updated_at TIMESTAMP, PRIMARY KEY(prefix, key));"
      "INSERT INTO store VALUES('a', 'k', '{}', '2025-01-01 12:00:00', NULL)");
  const auto page = Open()->Items(ForeignTable::kPythonStore, "", kAll);
  ASSERT_TRUE(page.has_value()) << page.error().message();
  ASSERT_EQ(page->rows.size(), 1u);
  EXPECT_EQ(page->rows[0].ttl_ms, PutOp::kNoTtl);
  EXPECT_EQ(page->rows[0].item.updated_at_ms, 0);
}

TEST_F(ForeignFileTest, a_label_that_breaks_our_rules_is_an_error_that_names_the_row) {
  Execute(std::string(kStoreSchema) +
          "INSERT INTO store(prefix, key, value) VALUES('fine', 'k', '{}'),"
          " ('user:1', 'k', '{}')");
  const std::string message = ItemError(ForeignTable::kPythonStore);
  EXPECT_THAT(message, HasSubstr("row 2 of table store"));
  EXPECT_THAT(message, HasSubstr("user:1"));
}

TEST_F(ForeignFileTest, what_cannot_be_read_is_an_error_that_names_the_row) {
  const std::pair<const char*, const char*> cases[] = {
      {"('', 'k', '{}', NULL, NULL, NULL, NULL)", "row 1 of table store: namespace"},
      {"('a..b', 'k', '{}', NULL, NULL, NULL, NULL)", "row 1 of table store: namespace"},
      {"('a', 'k', 'no json', NULL, NULL, NULL, NULL)", "row 1 of table store"},
      {"('a', 'k', '{}', 'yesterday', NULL, NULL, NULL)",
       "row 1 of table store: time must be ISO 8601, of 1970 or later: \"yesterday\""},
  };
  Execute(kStoreSchema);
  for (const auto& [row, message] : cases) {
    Execute(std::string("DELETE FROM store; INSERT INTO store VALUES") + row);
    EXPECT_THAT(ItemError(ForeignTable::kPythonStore), HasSubstr(message)) << row;
  }
  Execute(
      "DELETE FROM store; INSERT INTO store(prefix, key, value) VALUES('a', 'k', '{}');"
      "INSERT INTO store_vectors(prefix, key, field_name, embedding)"
      " VALUES('a', 'k', '$', x'000000')");
  EXPECT_THAT(ItemError(ForeignTable::kPythonStore),
              HasSubstr("row 1 of table store: vector must be whole float32 numbers, not 3 bytes"));
}

TEST_F(ForeignFileTest, plain_items_have_their_namespace_as_json) {
  Execute(
      "CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT);"
      "INSERT INTO store_kv VALUES('[\"a\", \"b\\u00e4\"]', 'k', '{\"x\":[1,2]}')");
  const auto page = Open()->Items(ForeignTable::kPlainStoreKv, "", kAll);
  ASSERT_TRUE(page.has_value()) << page.error().message();
  ASSERT_EQ(page->rows.size(), 1u);
  EXPECT_EQ(page->rows[0].item.ns, (Namespace{"a", "b\xc3\xa4"}));
  EXPECT_EQ(page->rows[0].item.key, "k");
  EXPECT_EQ(page->rows[0].item.value, "{\"x\":[1,2]}");
  EXPECT_EQ(page->rows[0].item.created_at_ms, 0);
}

TEST_F(ForeignFileTest, a_plain_namespace_that_is_none_is_an_error_that_names_the_row) {
  Execute("CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT)");
  for (const char* ns : {"a", "{}", "[1]", "[\"a.b\"]", "[\"\\ud800\"]", "[]", ""}) {
    Execute(std::string("DELETE FROM store_kv; INSERT INTO store_kv VALUES('") + ns +
            "', 'k', '{}')");
    EXPECT_THAT(ItemError(ForeignTable::kPlainStoreKv), HasSubstr("row 1 of table store_kv")) << ns;
  }
}

TEST_F(ForeignFileTest, a_row_that_breaks_a_rule_costs_no_other_row) {
  Execute(
      "CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT);"
      "INSERT INTO store_kv(rowid, ns, key, value) VALUES"
      "(-9223372036854775808, '[\"a\"]', 'first', '{}'), (0, '[\"a\"]', 'zero', '{}'),"
      "(1, '[\"a\"]', NULL, '{}'), (2, '[\"a\"]', 'list', '[1]'),"
      "(3, '[\"a\"]', x'ff', '{}'), (4, '[\"a\"]', 'good', '{}'),"
      "(9223372036854775807, '[\"a\"]', 'last', '{}')");
  auto file = Open();
  std::vector<std::string> keys, skipped;
  bool done = false;
  for (std::string cursor; !done;) {
    const auto page = file->Items(ForeignTable::kPlainStoreKv, cursor, 1);
    ASSERT_TRUE(page.has_value()) << page.error().message();
    for (const ForeignItem& row : page->rows) keys.push_back(row.item.key);
    for (const ForeignSkip& skip : page->skipped) skipped.push_back(skip.row);
    cursor = page->cursor;
    done = page->done;
  }
  EXPECT_THAT(keys, ElementsAre("first", "zero", "good", "last"));
  EXPECT_THAT(skipped, ElementsAre("row 1 of table store_kv", "row 2 of table store_kv",
                                   "row 3 of table store_kv"));
}

TEST_F(ForeignFileTest, a_row_that_is_too_large_is_skipped_unread_and_a_page_is_bounded) {
  Execute(
      "CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT);"
      "INSERT INTO store_kv VALUES('[\"a\"]', 'huge', zeroblob(70000000));"
      "INSERT INTO store_kv SELECT '[\"a\"]', key, '{\"t\":\"' || hex(zeroblob(1500000)) || '\"}'"
      " FROM (SELECT 'b' AS key UNION SELECT 'c' UNION SELECT 'd')");
  auto file = Open();
  const auto first = file->Items(ForeignTable::kPlainStoreKv, "", kAll);
  ASSERT_TRUE(first.has_value()) << first.error().message();
  ASSERT_EQ(first->skipped.size(), 1u);
  EXPECT_THAT(first->skipped[0].why, HasSubstr("70000009 bytes"));
  EXPECT_FALSE(first->done);
  EXPECT_LT(first->rows.size(), 3u);
}

TEST_F(ForeignFileTest, what_is_no_plain_table_is_refused_by_name) {
  constexpr std::string_view kColumns = "(ns TEXT, key TEXT, value TEXT";
  const std::pair<std::string, const char*> cases[] = {
      {"CREATE VIEW store_kv(ns, key, value) AS WITH RECURSIVE n(i) AS"
       " (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT '[\"a\"]', i, '{}' FROM n",
       "store_kv must be a plain table, and is a view"},
      {"PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES('table', 'store_kv',"
       " 'store_kv', 0, 'CREATE VIRTUAL TABLE store_kv USING fts5(ns, key, value)')",
       "is a virtual"},
      {"CREATE TABLE store_kv" + std::string(kColumns) + ", PRIMARY KEY(ns, key)) WITHOUT ROWID",
       "is WITHOUT ROWID"},
      {"CREATE TABLE store_kv" + std::string(kColumns) + ", _rowid_)", "a column called _rowid_"},
      {"CREATE TABLE store_kv" + std::string(kColumns) + ", big AS (zeroblob(900000000)))",
       "with the generated column big"},
      {"CREATE TABLE store_kv" + std::string(kColumns) +
           "); CREATE TRIGGER late AFTER INSERT ON store_kv BEGIN SELECT 1; END",
       "with the trigger late"},
  };
  for (const auto& [sql, message] : cases) {
    std::filesystem::remove(Path());
    Execute(sql);
    EXPECT_THAT(OpenError(), HasSubstr(message)) << sql;
  }
}

// Reading the generated columns fails, as they are longer than any value may be.
TEST_F(ForeignFileTest, generated_columns_are_never_computed) {
  Execute(
      "CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT);"
      "INSERT INTO store_kv VALUES('[\"a\"]', 'k', '{}');"
      "CREATE TABLE other(x, generated NOT NULL AS (zeroblob(x)));"
      "INSERT INTO other(x) VALUES(1);"
      "PRAGMA writable_schema = ON;"
      "UPDATE sqlite_schema SET sql = replace(sql, '(x)', '(1 << 31)') WHERE name = 'other'");
  const auto page = Open()->Items(ForeignTable::kPlainStoreKv, "", kAll);
  ASSERT_TRUE(page.has_value()) << page.error().message();
  EXPECT_EQ(page->rows.size(), 1u);

  Execute(
      "DROP TABLE store_kv; PRAGMA writable_schema = ON;"
      "UPDATE sqlite_schema SET name = 'store_kv', tbl_name = 'store_kv',"
      " sql = replace(sql, 'other(x', 'store_kv(ns, key, value') WHERE name = 'other'");
  EXPECT_THAT(OpenError(), HasSubstr("with the generated column generated"));
}

TEST_F(ForeignFileTest, a_column_called_rowid_is_a_column) {
  Execute(
      "CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT, rowid TEXT);"
      "INSERT INTO store_kv VALUES('[\"a\"]', 'x', '{}', 'zz'), ('[\"a\"]', 'y', '{}', 'zz')");
  const auto page = Open()->Items(ForeignTable::kPlainStoreKv, "", kAll);
  ASSERT_TRUE(page.has_value()) << page.error().message();
  EXPECT_EQ(page->rows.size(), 2u);
  EXPECT_TRUE(page->done);
}

TEST_F(ForeignFileTest, pages_that_name_each_other_are_damage) {
  Execute(
      "PRAGMA page_size = 512; CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
      " INSERT INTO store_kv SELECT '[\"a\"]', i, '{}' FROM n");
  std::string bytes = BytesOfFile();
  // The table's root, page 2, is an interior page: its rightmost child becomes itself.
  ASSERT_EQ(bytes[512], 5);
  bytes.replace(512 + 8, 4, std::string("\0\0\0\2", 4));
  std::ofstream(Path(), std::ios::binary) << bytes;
  const auto file = OpenWhole();
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code(), StatusCode::kCorrupt);
}

TEST_F(ForeignFileTest, rows_out_of_order_are_damage) {
  Execute(
      "PRAGMA page_size = 512; CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT);"
      "INSERT INTO store_kv VALUES('[\"a\"]', 'x', '{}'), ('[\"a\"]', 'y', '{}')");
  std::string bytes = BytesOfFile();
  // Behind the 8 bytes of its header, the leaf has where its two cells begin.
  ASSERT_EQ(bytes[512], 13);
  std::swap_ranges(bytes.begin() + 520, bytes.begin() + 522, bytes.begin() + 522);
  std::ofstream(Path(), std::ios::binary) << bytes;
  EXPECT_EQ(OpenError(),
            "table store_kv has rows out of order: it is damaged, or was written to meanwhile");
}

TEST_F(ForeignFileTest, rows_that_are_not_where_their_tree_says_are_damage) {
  Execute(
      "PRAGMA page_size = 512; CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
      " INSERT INTO store_kv SELECT '[\"a\"]', i, '{}' FROM n");
  std::string bytes = BytesOfFile();
  // The first cell of the root: the number of a child, and of the last row there.
  ASSERT_EQ(bytes[512], 5);
  const std::size_t cell = 512 + 256 * static_cast<std::uint8_t>(bytes[512 + 12]) +
                           static_cast<std::uint8_t>(bytes[512 + 13]);
  ASSERT_GT(bytes[cell + 4], 8);
  bytes[cell + 4] = 5;
  std::ofstream(Path(), std::ios::binary) << bytes;
  // Rows 6 to 8 are looked for in the next leaf.
  auto file = Open();
  const auto page = file->Items(ForeignTable::kPlainStoreKv, "", kAll);
  ASSERT_FALSE(page.has_value());
  EXPECT_EQ(page.error().message(),
            "table store_kv has rows out of order: it is damaged, or was written to meanwhile");
  EXPECT_EQ(file->Items(ForeignTable::kPlainStoreKv, "7", kAll).error().message(),
            "table store_kv has rows out of order: it is damaged, or was written to meanwhile");
}

TEST_F(ForeignFileTest, rows_that_claim_more_than_the_file_has_are_refused) {
  Execute(
      "CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
      " INSERT INTO store_kv SELECT '[\"a\"]', i, '{}' FROM n;"
      "ALTER TABLE store_kv ADD COLUMN note TEXT DEFAULT '" +
      std::string(10, 'x') + "'");
  EXPECT_EQ(Open()->tables().readable[0].rows, 100u);
  Execute("ALTER TABLE store_kv ADD COLUMN long TEXT DEFAULT '" + std::string(1000, 'x') + "'");
  EXPECT_EQ(
      OpenError(),
      "table store_kv has rows that claim more than the file has: copy them into a new table");
}

// Each of eight pages names the next one sixty times, and the last one has the index of a table.
TEST_F(ForeignFileTest, a_schema_without_end_is_damage) {
  Execute(
      "PRAGMA page_size = 512;"
      "CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT, UNIQUE(ns, key))");
  std::string bytes = BytesOfFile();
  const auto number = [](std::size_t value) {
    return std::string("\0\0", 2) + static_cast<char>(value >> 8) + static_cast<char>(value);
  };
  // An inner page, whose header begins at `at`: all cells are the same one.
  const auto inner = [&](std::string page, std::size_t at, std::size_t cells, std::size_t child,
                         char rowid, std::size_t last) {
    page.resize(512);
    page.replace(at, 12,
                 std::string("\5\0\0\0", 4) + static_cast<char>(cells) +
                     std::string("\1\xfb\0", 3) + number(last));
    for (std::size_t i = 0; i < cells; ++i) page.replace(at + 12 + 2 * i, 2, "\1\xfb");
    return page.replace(507, 5, number(child) + rowid);
  };
  // A leaf with one of the two rows of page 1, which its cells point to from byte 108 on.
  const auto leaf = [&](std::size_t row) {
    std::string page = bytes.substr(100, 412);
    page.replace(0, 5, std::string("\r\0\0\0\1", 5)).replace(8, 2, bytes, 108 + 2 * row, 2);
    return page.insert(10, std::string(100, '\0'));
  };
  const std::size_t table = bytes.size() / 512 + 1;
  std::string made = inner(bytes.substr(0, 100), 100, 1, table, 1, table + 1);
  made += bytes.substr(512) + leaf(0);
  for (std::size_t i = 1; i <= 8; ++i) {
    made += inner(std::string(512, '\0'), 0, 60, table + i + 1, 2, table + i + 1);
  }
  made += leaf(1);
  made.replace(28, 4, number(made.size() / 512));
  std::ofstream(Path(), std::ios::binary) << made;
  EXPECT_THAT(OpenError(), HasSubstr("its schema has no end"));
  EXPECT_EQ(sql::OpenDatabase({.path = Path()}).error().code(), StatusCode::kCorrupt);
}

TEST_F(ForeignFileTest, the_rows_of_a_large_file_are_counted_in_portions) {
  Execute(
      "CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)"
      " INSERT INTO store_kv SELECT '[\"a\"]', i, '{}' FROM n");
  std::unique_ptr<ForeignFile> file;
  for (int i = 0; i < 2; ++i) {
    const auto tables = ForeignFile::Open({.path = Path()}, &file);
    ASSERT_FALSE(tables.has_value());
    EXPECT_EQ(tables.error().code(), StatusCode::kIndexing);
  }
  const auto tables = ForeignFile::Open({.path = Path()}, &file);
  ASSERT_TRUE(tables.has_value()) << tables.error().message();
  EXPECT_EQ(tables->readable[0].rows, 10'000u);
}

TEST_F(ForeignFileTest, an_index_that_finds_the_same_vectors_again_and_again_is_bounded) {
  Execute(std::string(kStoreSchema) +
          "INSERT INTO store(prefix, key, value) VALUES('a', 'k', '{}');"
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= 10000)"
          " INSERT INTO store_vectors(prefix, key, field_name, embedding)"
          " SELECT 'a', 'k', i, x'00000000' FROM n");
  EXPECT_EQ(ItemError(ForeignTable::kPythonStore),
            "row 1 of table store: it has more than 10000 vectors");
}

TEST_F(ForeignFileTest, a_file_in_wal_mode_is_read_and_left_as_it_is) {
  Execute(
      "PRAGMA journal_mode = WAL; CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT);"
      "INSERT INTO store_kv VALUES('[\"a\"]', 'k', '{}')");
  const std::string before = BytesOfFile();
  {
    auto file = Open();
    ASSERT_TRUE(file->Items(ForeignTable::kPlainStoreKv, "", kAll).has_value());
  }
  EXPECT_TRUE(BytesOfFile() == before);
  EXPECT_FALSE(std::filesystem::exists(Path() + "-wal"));
}

TEST_F(ForeignFileTest, rows_that_are_still_in_the_log_are_read) {
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(Path().c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer,
                         "PRAGMA journal_mode = WAL;"
                         "CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT);"
                         "INSERT INTO store_kv VALUES('[\"a\"]', 'k', '{}')",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_db_config(writer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  ASSERT_EQ(sqlite3_close(writer), SQLITE_OK);
  const auto log_size = std::filesystem::file_size(Path() + "-wal");
  ASSERT_GT(log_size, 0u);
  const std::string before = BytesOfFile();
  {
    auto file = Open();
    ASSERT_EQ(file->tables().readable.size(), 1u);
    EXPECT_EQ(file->tables().readable[0].rows, 1u);
  }
  EXPECT_TRUE(BytesOfFile() == before);
  EXPECT_EQ(std::filesystem::file_size(Path() + "-wal"), log_size);
}

TEST_F(ForeignFileTest, asking_for_a_table_that_is_not_there_is_an_error) {
  Execute(kSaverSchema);
  auto file = Open();
  EXPECT_EQ(file->Items(ForeignTable::kPythonStore, "", kAll).error().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(file->Items(ForeignTable::kSaverWrites, "", kAll).error().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(ForeignFileTest, a_file_without_any_of_the_tables_is_refused) {
  for (const char* sql : {"CREATE TABLE notes(v)", "CREATE TABLE store(id, v)"}) {
    std::filesystem::remove(Path());
    Execute(sql);
    const auto file = OpenWhole();
    ASSERT_FALSE(file.has_value()) << sql;
    EXPECT_EQ(file.error().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(file.error().message(), HasSubstr(Path()));
  }
}

TEST_F(ForeignFileTest, a_file_of_ours_is_refused_and_told_the_way_in) {
  ASSERT_TRUE(sql::OpenDatabase({.path = Path()}).has_value());
  const auto file = OpenWhole();
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(file.error().message(), HasSubstr("made by keepsake"));
}

TEST_F(ForeignFileTest, garbage_is_not_a_database) {
  std::ofstream(Path()) << std::string(9'000, 'g');
  const auto file = OpenWhole();
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code(), StatusCode::kNotADatabase);
}

TEST_F(ForeignFileTest, a_missing_file_cannot_be_opened_and_is_not_made) {
  const auto file = OpenWhole();
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code(), StatusCode::kCannotOpen);
  EXPECT_FALSE(std::filesystem::exists(Path()));
}

}  // namespace
}  // namespace keepsake::import
