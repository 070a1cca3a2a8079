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
#include "sql/sqlite_database.h"

namespace keepsake::sql {
namespace {

using ::testing::HasSubstr;

class MigrationsTest : public ::testing::Test {
 protected:
  MigrationsTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
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
                        [&](const Row& row) { tables.append(row.Text(0)).append(" "); })
                  .ok());
  EXPECT_THAT(tables, HasSubstr("answers audit_log checkpoints content erasures field_changes "
                                "field_columns graph_chunks history_rules holds log_users meta "
                                "store_kv store_vectors "));
  EXPECT_THAT(tables,
              HasSubstr(" store_vectors store_versions text_changes text_pages thread_namespaces "
                        "vector_chunks vector_pending version_vectors writes "));
  EXPECT_EQ(ReadSchemaVersion(**database, Path()), NewestVersion(kSchema));
}

TEST_F(MigrationsTest, opening_again_changes_nothing) {
  ASSERT_TRUE(OpenDatabase({.path = Path()}).has_value());
  const std::string before = BytesOf(Path());
  ASSERT_TRUE(OpenDatabase({.path = Path()}).has_value());
  EXPECT_TRUE(BytesOf(Path()) == before);
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

TEST_F(MigrationsTest, a_newer_schema_is_refused_untouched) {
  ASSERT_TRUE(OpenDatabase({.path = Path()}).has_value());
  const std::string next = std::to_string(NewestVersion(kSchema) + 1);
  Execute("UPDATE meta SET value = '" + next + "' WHERE name = 'schema_version'");
  const Status status = Refused();
  EXPECT_EQ(status.code(), StatusCode::kNewerSchema);
  EXPECT_THAT(status.message(), HasSubstr("schema version " + next));
}

TEST_F(MigrationsTest, a_schema_version_that_is_no_number_is_corrupt) {
  ASSERT_TRUE(OpenDatabase({.path = Path()}).has_value());
  for (const char* version : {"0", "-1", "one", "1x", ""}) {
    Execute("UPDATE meta SET value = '" + std::string(version) + "' WHERE name = 'schema_version'");
    EXPECT_EQ(Refused().code(), StatusCode::kCorrupt) << version;
  }
}

// A version that is not there yet, as the next one will be written.
constexpr SchemaStatement kInvented[] = {
    {TableGroup::kItems, "ALTER TABLE store_kv ADD COLUMN color TEXT NOT NULL DEFAULT 'red'"},
    {TableGroup::kAnswers, "CREATE INDEX answers_time ON answers(answered_at_ms)"},
};
constexpr SchemaStatement kFailing[] = {
    {TableGroup::kItems, "ALTER TABLE store_kv ADD COLUMN color TEXT"},
    {TableGroup::kItems, "CREATE TABLE store_kv(v)"},
};

std::int64_t Number(Database& database, std::string_view sql) {
  std::int64_t number = -1;
  const Status status = database.Run(sql, {}, [&](const Row& row) { number = row.Int(0); });
  EXPECT_TRUE(status.ok()) << status.message();
  return number;
}

class NextVersionTest : public MigrationsTest {
 protected:
  NextVersionTest() {
    auto database = OpenDatabase({.path = Path()});
    EXPECT_TRUE(database.has_value());
    EXPECT_TRUE((*database)
                    ->Run("INSERT INTO store_kv(ns, key, value, created_at, updated_at, ttl)"
                          " VALUES('n', 'k', '1', 0, 0, 0)")
                    .ok());
  }

  // Opens the file and brings it to the version of `schema`.
  Result<std::unique_ptr<SqliteDatabase>> Migrated(Schema schema) const {
    auto database = SqliteDatabase::OpenForWriting({.path = Path()});
    if (!database) return database;
    const auto version = ReadSchemaVersion(**database, Path(), schema);
    if (!version) return std::unexpected(version.error());
    Status status = (*database)->StartWriting(Durability::kRelaxed);
    if (status.ok()) status = Migrate(**database, *version, schema);
    if (!status.ok()) return std::unexpected(std::move(status));
    return database;
  }

  static std::vector<SchemaVersion> Then(std::initializer_list<SchemaVersion> versions) {
    std::vector<SchemaVersion> schema(kSchema.begin(), kSchema.end());
    schema.insert(schema.end(), versions);
    return schema;
  }

  const std::vector<SchemaVersion> next_ = Then({kInvented});
  const std::vector<SchemaVersion> failing_ = Then({kInvented, kFailing});
};

TEST_F(NextVersionTest, a_file_of_the_version_before_is_migrated_and_keeps_its_rows) {
  for (int opening = 0; opening < 2; ++opening) {
    const auto database = Migrated(next_);
    ASSERT_TRUE(database.has_value()) << database.error().message();
    EXPECT_EQ(ReadSchemaVersion(**database, Path(), next_), NewestVersion(next_));
    EXPECT_EQ(Number(**database, "SELECT count(*) FROM store_kv WHERE color = 'red'"), 1);
  }
}

TEST_F(NextVersionTest, a_new_file_is_as_a_migrated_one) {
  constexpr std::string_view kMade = "SELECT sum(length(sql)) FROM sqlite_master";
  const auto migrated = Migrated(next_);
  const auto made = SqliteDatabase::OpenForWriting({.path = ":memory:"});
  ASSERT_TRUE(migrated.has_value() && made.has_value());
  ASSERT_TRUE(Migrate(**made, 0, next_).ok());
  EXPECT_EQ(Number(**made, kMade), Number(**migrated, kMade));
}

TEST_F(NextVersionTest, a_migrated_file_is_refused_untouched_by_the_version_before) {
  ASSERT_TRUE(Migrated(next_).has_value());
  EXPECT_EQ(Refused().code(), StatusCode::kNewerSchema);
}

TEST_F(NextVersionTest, a_step_that_fails_leaves_the_file_as_it_was) {
  const std::string before = BytesOf(Path());
  const auto failed = Migrated(failing_);
  EXPECT_FALSE(failed.has_value());
  EXPECT_TRUE(BytesOf(Path()) == before) << "not even the step before it was made";
  const auto database = OpenDatabase({.path = Path()});
  ASSERT_TRUE(database.has_value()) << database.error().message();
  EXPECT_EQ(Number(**database, "SELECT count(*) FROM store_kv"), 1);
  EXPECT_EQ(ReadSchemaVersion(**database, Path()), NewestVersion(kSchema));
}

TEST_F(NextVersionTest, a_step_that_was_interrupted_is_done_again) {
  // As it is when the process ends before the transaction does.
  Execute("BEGIN; ALTER TABLE store_kv ADD COLUMN color TEXT NOT NULL DEFAULT 'red'", true);
  const auto database = Migrated(next_);
  ASSERT_TRUE(database.has_value()) << database.error().message();
  EXPECT_EQ(Number(**database, "SELECT count(*) FROM store_kv WHERE color = 'red'"), 1);
}

}  // namespace
}  // namespace keepsake::sql
