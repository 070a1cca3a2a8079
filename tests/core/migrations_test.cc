#include "sql/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "keepsake/database.h"
#include "keepsake/sqlite_store.h"
#include "keepsake/store.h"
#include "sql/sqlite_database.h"

namespace keepsake::sql {
namespace {

using testing::HasSubstr;

class MigrationsTest : public testing::Test {
 protected:
  MigrationsTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / "keepsake-migrations-test" / test->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~MigrationsTest() override { std::filesystem::remove_all(folder_); }

  std::string Path() const { return folder_ / "memory.db"; }

  void Execute(const std::string& sql, bool leave_log = false) const {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(Path().c_str(), &connection), SQLITE_OK);
    if (leave_log) {
      sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    }
    ASSERT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection);
    ASSERT_EQ(sqlite3_close(connection), SQLITE_OK);
  }

  // Leaves a file as an older version made it, with what `sql` adds.
  void MakeFileOf(std::int64_t version, std::string_view sql) const {
    auto older = SqliteDatabase::OpenForWriting({.path = Path()});
    ASSERT_TRUE(older.has_value());
    ASSERT_TRUE(Migrate(**older, 0, version).ok());
    ASSERT_EQ(ReadSchemaVersion(**older, Path()), version);
    ASSERT_TRUE((*older)->Run(sql).ok());
  }

  static std::string BytesOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

  // Opens the file, which must be refused and left alone.
  Status Refused() const {
    const std::string before = BytesOf(Path());
    const std::string log_before = BytesOf(Path() + "-wal");
    const std::vector<std::string> files_before = Files();
    const auto database = OpenDatabase({.path = Path()});
    EXPECT_FALSE(database.has_value());
    EXPECT_TRUE(BytesOf(Path()) == before);
    EXPECT_TRUE(BytesOf(Path() + "-wal") == log_before);
    EXPECT_EQ(Files(), files_before);
    return database ? Status() : database.error();
  }

  std::filesystem::path folder_;
};

TEST_F(MigrationsTest, a_new_file_gets_the_current_schema) {
  auto database = OpenDatabase({.path = Path()});
  ASSERT_TRUE(database.has_value()) << database.error().message();
  std::string tables;
  ASSERT_TRUE((*database)
                  ->Run("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", {},
                        [&](const Row& row) {
                          tables.append(row.Text(0)).append(" ");
                          return true;
                        })
                  .ok());
  EXPECT_THAT(tables, HasSubstr("answers checkpoint_blobs checkpoints meta store_kv store_text "));
  EXPECT_THAT(
      tables,
      HasSubstr(" store_vectors text_pending text_scope vector_chunks vector_pending writes "));
  EXPECT_EQ(ReadSchemaVersion(**database, Path()), kSchemaVersion);
}

TEST_F(MigrationsTest, a_file_of_the_first_schema_is_migrated_and_keeps_its_rows) {
  MakeFileOf(schema::kFirst,
             "INSERT INTO store_kv(ns, key, value, created_at, updated_at, ttl)"
             " VALUES('n', 'k', '1', 0, 0, 0)");
  auto database = OpenDatabase({.path = Path()});
  ASSERT_TRUE(database.has_value()) << database.error().message();
  EXPECT_EQ(ReadSchemaVersion(**database, Path()), kSchemaVersion);
  int rows = 0;
  const auto count = [&](const Row& row) {
    rows += static_cast<int>(row.Int(0));
    return true;
  };
  EXPECT_TRUE((*database)->Run("SELECT count(*) FROM store_kv", {}, count).ok());
  EXPECT_EQ(rows, 1);
  EXPECT_TRUE((*database)->Run("SELECT count(*) FROM answers", {}, count).ok());
  EXPECT_EQ(rows, 1);
}

TEST_F(MigrationsTest, opening_again_changes_nothing) {
  ASSERT_TRUE(OpenDatabase({.path = Path()}).has_value());
  const std::string before = BytesOf(Path());
  ASSERT_TRUE(OpenDatabase({.path = Path()}).has_value());
  EXPECT_TRUE(BytesOf(Path()) == before);
}

TEST_F(MigrationsTest, a_file_from_before_the_text_tables_gets_them_and_keeps_its_items) {
  MakeFileOf(
      schema::kTexts - 1,
      "INSERT INTO store_kv VALUES(1, 'n' || char(31), 'k', '{\"t\":\"tea\"}', 1, 1, 0, NULL)");
  const auto database = OpenDatabase({.path = Path()});
  ASSERT_TRUE(database.has_value()) << database.error().message();
  EXPECT_EQ(ReadSchemaVersion(**database, Path()), kSchemaVersion);
  const auto store = MakeSqliteStore(**database);
  const auto hits =
      (*store)->Search({.ns_prefix = {"n"}, .query = "tea", .mode = SearchMode::kText});
  ASSERT_TRUE(hits.has_value()) << hits.error().message();
  EXPECT_EQ(hits->size(), 1U);
}

TEST_F(MigrationsTest, a_creation_that_was_cut_short_is_made_good) {
  // The file as it is after journal_mode=WAL and before the first transaction.
  Execute("PRAGMA journal_mode = WAL");
  ASSERT_TRUE(OpenDatabase({.path = Path()}).has_value());
}

TEST_F(MigrationsTest, a_foreign_file_is_refused_untouched_and_told_the_way_in) {
  Execute("CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT)");
  const Status status = Refused();
  EXPECT_EQ(status.code(), StatusCode::kForeignFile);
  EXPECT_THAT(status.message(), HasSubstr("importFrom"));
  EXPECT_THAT(status.message(), HasSubstr(Path()));
}

TEST_F(MigrationsTest, a_foreign_file_in_wal_mode_is_refused_untouched) {
  Execute("PRAGMA journal_mode = WAL; CREATE TABLE checkpoints(thread_id TEXT)");
  EXPECT_EQ(Refused().code(), StatusCode::kForeignFile);
}

TEST_F(MigrationsTest, a_foreign_file_that_has_a_log_is_refused_untouched) {
  Execute("PRAGMA journal_mode = WAL; CREATE TABLE checkpoints(thread_id TEXT)", true);
  ASSERT_GT(BytesOf(Path() + "-wal").size(), 0u);
  std::filesystem::remove(Path() + "-shm");
  EXPECT_EQ(Refused().code(), StatusCode::kForeignFile);
}

TEST_F(MigrationsTest, a_meta_table_of_somebody_else_is_foreign) {
  for (const char* sql :
       {"CREATE TABLE meta(id INTEGER, title TEXT)", "CREATE TABLE meta(name TEXT, value TEXT)",
        "CREATE TABLE meta(name TEXT, value TEXT); INSERT INTO meta VALUES('format', 'other')"}) {
    std::filesystem::remove(Path());
    Execute(sql);
    EXPECT_EQ(Refused().code(), StatusCode::kForeignFile) << sql;
  }
}

TEST_F(MigrationsTest, vectors_from_before_their_ids_get_them) {
  MakeFileOf(schema::kVectorIds - 1,
             "INSERT INTO store_vectors VALUES(7, 'b', x'01'), (7, 'a', x'02'), (3, 'a', x'03')");
  auto database = OpenDatabase({.path = Path()});
  ASSERT_TRUE(database.has_value()) << database.error().message();
  EXPECT_EQ(ReadSchemaVersion(**database, Path()), kSchemaVersion);
  std::vector<std::string> rows;
  ASSERT_TRUE((*database)
                  ->Run("SELECT item_id || path || hex(vector) FROM store_vectors"
                        " WHERE vector_id > 0 ORDER BY item_id, path",
                        {},
                        [&](const Row& row) {
                          rows.emplace_back(row.Text(0));
                          return true;
                        })
                  .ok());
  EXPECT_EQ(rows, (std::vector<std::string>{"3a03", "7a02", "7b01"}));
  EXPECT_FALSE((*database)->Run("INSERT INTO store_vectors VALUES(9, 7, 'b', x'00')").ok());
  EXPECT_TRUE((*database)->Run("SELECT first_id, checksum, codes FROM vector_chunks").ok());
}

TEST_F(MigrationsTest, a_newer_schema_is_refused_untouched) {
  ASSERT_TRUE(OpenDatabase({.path = Path()}).has_value());
  Execute("UPDATE meta SET value = '7' WHERE name = 'schema_version'");
  const Status status = Refused();
  EXPECT_EQ(status.code(), StatusCode::kNewerSchema);
  EXPECT_THAT(status.message(), HasSubstr("schema version 7"));
}

TEST_F(MigrationsTest, a_schema_version_that_is_no_number_is_corrupt) {
  ASSERT_TRUE(OpenDatabase({.path = Path()}).has_value());
  for (const char* version : {"0", "-1", "one", "1x", ""}) {
    Execute("UPDATE meta SET value = '" + std::string(version) + "' WHERE name = 'schema_version'");
    EXPECT_EQ(Refused().code(), StatusCode::kCorrupt) << version;
  }
}

}  // namespace
}  // namespace keepsake::sql
