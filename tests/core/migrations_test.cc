#include "sql/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "checkpointer_contract.h"
#include "keepsake/database.h"
#include "keepsake/sqlite_store.h"
#include "keepsake/store.h"
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
  EXPECT_THAT(
      tables,
      HasSubstr(
          "answers checkpoints content graph_chunks log_users meta spaces store_kv store_text "));
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

// As version 1 made it; `channels` is a list of (name, 2 * version, blob_id).
constexpr const char* kVersion1 = R"(
  CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  INSERT INTO meta(name, value) VALUES('format', 'keepsake'), ('schema_version', '1');
  CREATE TABLE store_kv(item_id INTEGER PRIMARY KEY, ns TEXT NOT NULL, key TEXT NOT NULL,
    value TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    ttl INTEGER NOT NULL, expires_at INTEGER) STRICT;
  CREATE UNIQUE INDEX store_kv_key ON store_kv(ns, key);
  CREATE INDEX store_kv_expiry ON store_kv(expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE store_vectors(item_id INTEGER NOT NULL, path TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY(item_id, path)) STRICT;
  CREATE TABLE checkpoints(thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL, parent_checkpoint_id TEXT NOT NULL, type TEXT NOT NULL,
    checkpoint BLOB NOT NULL, metadata_type TEXT NOT NULL, metadata BLOB NOT NULL,
    channels BLOB NOT NULL, PRIMARY KEY(thread_id, checkpoint_ns, checkpoint_id)) STRICT;
  CREATE TABLE checkpoint_blobs(blob_id INTEGER PRIMARY KEY, thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL, channel TEXT NOT NULL, version TEXT NOT NULL, type TEXT NOT NULL,
    value BLOB NOT NULL) STRICT;
  CREATE INDEX checkpoint_blobs_version
    ON checkpoint_blobs(thread_id, checkpoint_ns, channel, version);
  CREATE TABLE writes(thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL, idx INTEGER NOT NULL,
    channel TEXT NOT NULL, type TEXT NOT NULL, value BLOB NOT NULL, task_path TEXT NOT NULL,
    PRIMARY KEY(thread_id, checkpoint_ns, checkpoint_id, task_id, idx)) STRICT;
  INSERT INTO checkpoint_blobs VALUES(1, 't', '', 'a', '1', 'json', CAST(printf('%.1000c', 'x') AS BLOB)),
    (2, 't', '', 'b', '1', 'bytes', x'00ff'), (3, 't', '', 'b', '2', 'json', CAST('3' AS BLOB)),
    (4, 't', '', 'b', '2', 'json', CAST('4' AS BLOB));
  INSERT INTO checkpoints VALUES
    ('t', '', '1', '', 'json', CAST('{"id":"1"}' AS BLOB), 'json', CAST('{"step":1}' AS BLOB),
     x'010161020101620202'),
    ('t', '', '2', '1', 'json', CAST('{"id":"2"}' AS BLOB), 'json', CAST('{"step":2}' AS BLOB),
     x'01016102010162040301630200'),
    ('t', '', '3', '1', 'json', CAST('{"id":"3"}' AS BLOB), 'json', CAST('{"step":2}' AS BLOB),
     x'010161020101620404'),
    ('t', 'gone parent', '5', '4', 'json', CAST('{}' AS BLOB), 'json', CAST('{}' AS BLOB),
     x'0101610201');
  INSERT INTO writes VALUES('t', '', '3', 'w', -3, '__interrupt__', 'json', CAST('"q"' AS BLOB), '~1'),
    ('t', '', '3', 'w', 0, 'a', 'bytes', x'ff', '~1'), ('u', '', '1', 'w', 0, 'a', 'json', x'31', '');
)";

TEST_F(MigrationsTest, checkpoints_of_version_1_are_the_same_in_a_file_of_today) {
  using keepsake::testing::Values;
  Execute(kVersion1);
  for (int opening = 0; opening < 2; ++opening) {
    const auto database = OpenDatabase({.path = Path()});
    ASSERT_TRUE(database.has_value()) << database.error().message();
    const auto saver = MakeSqliteSaver(**database);
    ASSERT_TRUE(saver.has_value()) << saver.error().message();
    const std::string a = "a@1=" + std::string(1000, 'x');
    const auto values = [&](const char* id) { return Values(**(*saver)->GetTuple({"t", "", id})); };
    EXPECT_THAT(values("1"), ::testing::ElementsAre(a, std::string("b@1=\0\xff", 6)));
    EXPECT_THAT(values("2"), ::testing::ElementsAre(a, "b@2=3"));
    EXPECT_THAT(values("3"), ::testing::ElementsAre(a, "b@2=4"));
    const auto newest = *(*saver)->GetTuple({"t", "", ""});
    EXPECT_EQ(newest->parent_checkpoint_id, "1");
    EXPECT_EQ(newest->metadata, keepsake::testing::Json("{\"step\":2}"));
    EXPECT_THAT(keepsake::testing::Shown(newest->pending_writes),
                ::testing::ElementsAre("w/-3 __interrupt__=\"q\"", "w/0 a=\xff"));
    EXPECT_THAT(Values(**(*saver)->GetTuple({"t", "gone parent", ""})), ::testing::ElementsAre(a));
    CheckpointerStats counts = (*saver)->Stats().value();
    EXPECT_LT(counts.bytes, 4'000u) << "shared values are stored once in each namespace";
    counts.bytes = 0;
    EXPECT_EQ(counts, (CheckpointerStats{2, 4, 3}));
    EXPECT_EQ(ReadSchemaVersion(**database, Path()), kSchemaVersion);
  }
}

TEST_F(MigrationsTest, a_file_of_version_1_can_be_imported) {
  Execute(kVersion1);
  const auto database = OpenDatabase({.path = ":memory:"});
  ASSERT_TRUE(database.has_value());
  const Status status = (*database)->ImportFrom({.path = Path()});
  ASSERT_TRUE(status.ok()) << status.message();
  const auto saver = MakeSqliteSaver(**database);
  ASSERT_TRUE(saver.has_value()) << saver.error().message();
  EXPECT_EQ((*saver)->Stats()->checkpoints, 4u);
  Execute("CREATE TRIGGER harm AFTER INSERT ON writes BEGIN DELETE FROM checkpoints; END");
  EXPECT_EQ((*database)->ImportFrom({.path = Path()}).code(), StatusCode::kForeignFile);
}

TEST_F(MigrationsTest, a_damaged_file_of_version_1_is_left_for_a_later_attempt) {
  Execute(std::string(kVersion1) + "DELETE FROM checkpoint_blobs WHERE blob_id = 3");
  for (int opening = 0; opening < 2; ++opening) {
    const auto database = OpenDatabase({.path = Path()});
    ASSERT_TRUE(database.has_value()) << database.error().message();
    EXPECT_EQ(MakeSqliteSaver(**database).error().code(), StatusCode::kCorrupt);
  }
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

TEST_F(MigrationsTest, a_file_from_before_graphs_keeps_its_vectors_and_gets_one) {
  MakeFileOf(schema::kGraphs - 1,
             "INSERT INTO store_kv SELECT value, 'n' || char(31), value, '1', 1, 1, 0, NULL"
             " FROM json_each('[1,2,3]')");
  Execute(
      "INSERT INTO meta VALUES('index_dims', '2');"
      "INSERT INTO store_vectors SELECT item_id, item_id, '$', x'0000803f00000040' FROM store_kv");
  const auto database = OpenDatabase({.path = Path()});
  ASSERT_TRUE(database.has_value()) << database.error().message();
  EXPECT_EQ(ReadSchemaVersion(**database, Path()), kSchemaVersion);
  const auto store = MakeSqliteStore(**database, {.index = IndexConfig{.dims = 2}});
  ASSERT_TRUE(store.has_value()) << store.error().message();
  while (!(*store)->ImproveIndex({.vectors = 10, .is_wanted = true})->is_done) {
  }
  EXPECT_EQ((*store)->Stats()->in_graph, 3U);
  SearchOp search{.ns_prefix = {"n"}, .query_vector = {1, 2}};
  search.plan = SearchPlan::kGraph;
  EXPECT_EQ((*store)->Search(search)->size(), 3U);
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
