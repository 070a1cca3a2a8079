#include "sql/sqlite_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "keepsake/database.h"
#include "sql/migrations.h"

namespace keepsake::sql {
namespace {

using testing::HasSubstr;

class SqliteDatabaseTest : public testing::Test {
 protected:
  SqliteDatabaseTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::temp_directory_path() / "keepsake-sqlite-database-test" / test->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~SqliteDatabaseTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name = "memory.db") const { return folder_ / name; }

  std::unique_ptr<Database> Open(const std::string& path) {
    auto database = OpenDatabase({.path = path});
    EXPECT_TRUE(database.has_value()) << database.error().message();
    if (!database) return nullptr;
    EXPECT_TRUE((*database)->Run("CREATE TABLE IF NOT EXISTS t(v)").ok());
    return std::move(*database);
  }

  static StatusCode OpenError(const std::string& path, std::string* message = nullptr) {
    const auto database = OpenDatabase({.path = path});
    if (database) return StatusCode::kOk;
    if (message != nullptr) *message = database.error().message();
    return database.error().code();
  }

  static void Execute(const std::string& path, const char* sql) {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection);
    ASSERT_EQ(sqlite3_close(connection), SQLITE_OK);
  }

  static std::string BytesOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  static void WriteBytes(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

  // Only what keepsake makes, as a file to import must be.
  std::unique_ptr<Database> OpenAsMade(const std::string& path) {
    auto database = OpenDatabase({.path = path});
    EXPECT_TRUE(database.has_value()) << database.error().message();
    return database ? std::move(*database) : nullptr;
  }

  static Status Note(Database& database, std::string_view text) {
    return database.Run(
        "INSERT INTO store_kv(ns, key, value, created_at, updated_at, ttl)"
        " SELECT 'notes', count(*), ?, 0, 0, 0 FROM store_kv",
        {Param(text)});
  }

  static std::string Notes(Database& database) {
    return Read(database, "SELECT value FROM store_kv ORDER BY item_id");
  }

  static Status Insert(Database& database, std::string_view text) {
    return database.Run("INSERT INTO t(v) VALUES(?)", {Param(text)});
  }

  static std::string Contents(Database& database) {
    return Read(database, "SELECT v FROM t ORDER BY rowid");
  }

  static std::string Read(Database& database, std::string_view sql) {
    std::string all;
    const Status status =
        database.Run(sql, {}, [&](const Row& row) { all.append(row.Text(0)).append(" "); });
    return status.ok() ? all : status.message();
  }

  std::filesystem::path folder_;
};

TEST_F(SqliteDatabaseTest, every_kind_of_value_comes_back_as_it_was_bound) {
  auto database = Open(":memory:");
  const std::array<std::uint8_t, 3> bytes = {0, 255, 1};
  const std::string text("a\0b", 3);
  int rows = 0;
  const Status status = database->Run(
      "SELECT ?, ?, ?, ?, ?, typeof(?6), typeof(?7)",
      {Param(), Param(std::int64_t{INT64_MIN}), Param(0.1), Param(std::string_view(text)),
       Param(ByteView(bytes)), Param(std::string_view()), Param(ByteView())},
      [&](const Row& row) {
        ++rows;
        EXPECT_TRUE(row.IsNull(0));
        EXPECT_FALSE(row.IsNull(1));
        EXPECT_EQ(row.Int(1), INT64_MIN);
        EXPECT_EQ(row.Real(2), 0.1);
        EXPECT_EQ(row.Text(3), text);
        EXPECT_TRUE(std::ranges::equal(row.Blob(4), bytes));
        EXPECT_EQ(row.Text(5), "text");
        EXPECT_EQ(row.Text(6), "blob");
      });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(rows, 1);
}

TEST_F(SqliteDatabaseTest, a_statement_may_run_while_another_of_the_same_text_does) {
  auto database = Open(":memory:");
  for (std::string_view text : {"a", "b", "c"}) ASSERT_TRUE(Insert(*database, text).ok());
  constexpr std::string_view kAll = "SELECT v FROM t ORDER BY v";
  std::string pairs;
  const Status status = database->Run(kAll, {}, [&](const Row& outer) {
    const std::string first(outer.Text(0));
    const Status inner = database->Run(
        kAll, {}, [&](const Row& row) { pairs.append(first).append(row.Text(0)).append(" "); });
    EXPECT_TRUE(inner.ok()) << inner.message();
    EXPECT_EQ(outer.Text(0), first);
    return true;
  });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(pairs, "aa ab ac ba bb bc ca cb cc ");
}

TEST_F(SqliteDatabaseTest, a_callback_that_answers_false_stops_the_statement) {
  auto database = Open(":memory:");
  for (std::string_view text : {"a", "b"}) ASSERT_TRUE(Insert(*database, text).ok());
  int rows = 0;
  const Status status = database->Run("SELECT v FROM t", {}, [&](const Row&) {
    ++rows;
    return false;
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(rows, 1);
}

TEST_F(SqliteDatabaseTest, more_texts_than_the_cache_holds_still_run) {
  auto database = Open(":memory:");
  for (int i = 0; i < 600; ++i) {
    std::int64_t answer = -1;
    const std::string sql = "SELECT " + std::to_string(i);
    ASSERT_TRUE(database->Run(sql, {}, [&](const Row& row) { answer = row.Int(0); }).ok());
    ASSERT_EQ(answer, i);
  }
}

TEST_F(SqliteDatabaseTest, two_statements_in_one_text_are_refused) {
  auto database = Open(":memory:");
  const Status status = database->Run("INSERT INTO t(v) VALUES(1); INSERT INTO t(v) VALUES(2)");
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("not exactly one statement"));
  EXPECT_EQ(Contents(*database), "");
}

TEST_F(SqliteDatabaseTest, a_wrong_number_of_parameters_is_refused) {
  auto database = Open(":memory:");
  const Status status = database->Run("INSERT INTO t(v) VALUES(?)");
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("wrong number of parameters"));
}

TEST_F(SqliteDatabaseTest, a_transaction_commits_if_its_body_succeeds) {
  auto database = Open(Path());
  ASSERT_TRUE(database->InTransaction([&] { return Insert(*database, "kept"); }).ok());
  database.reset();
  EXPECT_EQ(Contents(*Open(Path())), "kept ");
}

TEST_F(SqliteDatabaseTest, a_transaction_rolls_back_and_says_why_if_its_body_fails) {
  auto database = Open(":memory:");
  const Status status = database->InTransaction([&]() -> Status {
    EXPECT_TRUE(Insert(*database, "lost").ok());
    return Status(StatusCode::kInvalidKey, "on purpose");
  });
  EXPECT_EQ(status.code(), StatusCode::kInvalidKey);
  EXPECT_EQ(status.message(), "on purpose");
  EXPECT_EQ(Contents(*database), "");
  EXPECT_TRUE(database->InTransaction([&] { return Insert(*database, "kept"); }).ok());
  EXPECT_EQ(Contents(*database), "kept ");
}

TEST_F(SqliteDatabaseTest, a_failing_statement_fails_its_transaction) {
  auto database = Open(":memory:");
  const Status status = database->InTransaction([&]() -> Status {
    if (Status inserted = Insert(*database, "lost"); !inserted.ok()) return inserted;
    return database->Run("INSERT INTO no_such_table VALUES(1)");
  });
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("no_such_table"));
  EXPECT_EQ(Contents(*database), "");
}

TEST_F(SqliteDatabaseTest, a_nested_transaction_that_fails_undoes_only_itself) {
  auto database = Open(":memory:");
  const Status status = database->InTransaction([&]() -> Status {
    EXPECT_TRUE(Insert(*database, "outer").ok());
    const Status nested = database->InTransaction([&]() -> Status {
      EXPECT_TRUE(Insert(*database, "inner").ok());
      const Status innermost =
          database->InTransaction([&] { return Insert(*database, "innermost"); });
      EXPECT_TRUE(innermost.ok());
      return Status(StatusCode::kNotFound, "on purpose");
    });
    EXPECT_EQ(nested.code(), StatusCode::kNotFound);
    return database->InTransaction([&] { return Insert(*database, "later"); });
  });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(Contents(*database), "outer later ");
}

TEST_F(SqliteDatabaseTest, without_savepoints_a_nested_transaction_that_fails_undoes_all) {
  auto database = Open(":memory:");
  Status nested;
  const Status status = database->InOneTransaction([&]() -> Status {
    EXPECT_TRUE(Insert(*database, "outer").ok());
    nested = database->InTransaction([&] { return Status(StatusCode::kNotFound, "on purpose"); });
    return database->InTransaction([&] { return Insert(*database, "later"); });
  });
  EXPECT_EQ(nested.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(Contents(*database), "");
  EXPECT_TRUE(database
                  ->InOneTransaction([&] {
                    return database->InTransaction([&] { return Insert(*database, "kept"); });
                  })
                  .ok());
  EXPECT_EQ(Contents(*database), "kept ");
}

TEST_F(SqliteDatabaseTest, a_transaction_that_sqlite_ended_itself_is_not_half_committed) {
  auto database = Open(Path());
  ASSERT_TRUE(database->Run("CREATE TABLE u(v UNIQUE)").ok());
  const Status status = database->InTransaction([&]() -> Status {
    EXPECT_TRUE(Insert(*database, "before").ok());
    EXPECT_TRUE(database->Run("INSERT INTO u VALUES(1)").ok());
    EXPECT_FALSE(database->Run("INSERT OR ROLLBACK INTO u VALUES(1)").ok());
    // The body goes on as if nothing had happened.
    EXPECT_FALSE(Insert(*database, "after").ok());
    EXPECT_FALSE(database->InTransaction([&] { return Insert(*database, "nested"); }).ok());
    return Status();
  });
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(Contents(*database), "");
  EXPECT_TRUE(Insert(*database, "fresh").ok());
  EXPECT_EQ(Contents(*database), "fresh ");
}

TEST_F(SqliteDatabaseTest, closing_leaves_one_plain_file) {
  Open(Path());
  EXPECT_THAT(Files(), testing::ElementsAre("memory.db"));
}

TEST_F(SqliteDatabaseTest, a_missing_folder_cannot_be_opened) {
  std::string message;
  EXPECT_EQ(OpenError(Path("missing/memory.db"), &message), StatusCode::kCannotOpen);
  EXPECT_THAT(message, HasSubstr("missing/memory.db"));
}

TEST_F(SqliteDatabaseTest, a_folder_cannot_be_opened) {
  EXPECT_EQ(OpenError(folder_), StatusCode::kCannotOpen);
}

TEST_F(SqliteDatabaseTest, an_unknown_vfs_cannot_be_used) {
  EXPECT_FALSE(OpenDatabase({.path = Path(), .vfs = "no such vfs"}).has_value());
}

TEST_F(SqliteDatabaseTest, a_file_that_is_open_already_is_busy) {
  auto database = Open(Path());
  EXPECT_EQ(OpenError(Path()), StatusCode::kBusy);
}

TEST_F(SqliteDatabaseTest, garbage_is_not_a_database_and_stays_as_it_is) {
  for (const std::string& garbage : {std::string("x"), std::string(10'000, 'g')}) {
    WriteBytes(Path(), garbage);
    std::string message;
    EXPECT_EQ(OpenError(Path(), &message), StatusCode::kNotADatabase);
    EXPECT_EQ(message, "file is not a SQLite database: \"" + Path() + "\"");
    EXPECT_TRUE(BytesOf(Path()) == garbage);
    EXPECT_THAT(Files(), testing::ElementsAre("memory.db"));
  }
}

TEST_F(SqliteDatabaseTest, an_empty_file_becomes_a_database) {
  WriteBytes(Path(), "");
  EXPECT_EQ(OpenError(Path()), StatusCode::kOk);
  EXPECT_GT(BytesOf(Path()).size(), 0u);
}

TEST_F(SqliteDatabaseTest, an_export_is_a_plain_file_of_that_moment) {
  auto database = Open(Path());
  ASSERT_TRUE(Insert(*database, "before").ok());
  const Result<std::uint64_t> size = database->BeginExport();
  ASSERT_TRUE(size.has_value()) << size.error().message();
  std::string bytes;
  constexpr std::uint32_t kPiece = 5'000;  // not a multiple of a page
  while (bytes.size() < *size) {
    ASSERT_TRUE(Insert(*database, std::string(3'000, 'x')).ok());
    ASSERT_TRUE(database->Flush().ok());
    const Result<Bytes> piece = database->ReadExport(bytes.size(), kPiece);
    ASSERT_TRUE(piece.has_value()) << piece.error().message();
    ASSERT_FALSE(piece->empty());
    bytes.append(piece->begin(), piece->end());
  }
  EXPECT_EQ(bytes.size(), *size);
  const Result<Bytes> past_the_end = database->ReadExport(*size + 7, 10);
  ASSERT_TRUE(past_the_end.has_value());
  EXPECT_TRUE(past_the_end->empty());
  database->EndExport();
  EXPECT_FALSE(database->ReadExport(0, 10).has_value());

  WriteBytes(Path("copy.db"), bytes);
  EXPECT_EQ(bytes[18], 1) << "an export must not ask for a log";
  EXPECT_EQ(Contents(*Open(Path("copy.db"))), "before ");
  EXPECT_THAT(Contents(*database), testing::StartsWith("before xxx"));
}

TEST_F(SqliteDatabaseTest, an_in_memory_database_can_be_exported) {
  auto database = Open(":memory:");
  ASSERT_TRUE(Insert(*database, "kept").ok());
  const Result<std::uint64_t> size = database->BeginExport();
  ASSERT_TRUE(size.has_value()) << size.error().message();
  const Result<Bytes> bytes = database->ReadExport(0, static_cast<std::uint32_t>(*size) + 99);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(bytes->size(), *size);
  database->EndExport();
  WriteBytes(Path("copy.db"), std::string(bytes->begin(), bytes->end()));
  EXPECT_EQ(Contents(*Open(Path("copy.db"))), "kept ");
}

TEST_F(SqliteDatabaseTest, the_size_is_that_of_the_file) {
  auto database = Open(Path());
  ASSERT_TRUE(database->Flush().ok());
  const Result<std::uint64_t> size = database->SizeBytes();
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(*size, std::filesystem::file_size(Path()));
}

TEST_F(SqliteDatabaseTest, flush_moves_the_log_into_the_file) {
  auto database = Open(Path());
  ASSERT_TRUE(Insert(*database, "one").ok());
  EXPECT_GT(std::filesystem::file_size(Path() + "-wal"), 0u);
  ASSERT_TRUE(database->Flush().ok());
  EXPECT_EQ(std::filesystem::file_size(Path() + "-wal"), 0u);
}

TEST_F(SqliteDatabaseTest, flush_export_and_import_are_refused_within_a_transaction) {
  auto database = Open(Path());
  const Status status = database->InTransaction([&]() -> Status {
    EXPECT_EQ(database->Flush().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(database->BeginExport().error().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(database->ImportFrom({.path = Path("other.db")}).code(),
              StatusCode::kInvalidArgument);
    return Status();
  });
  EXPECT_TRUE(status.ok());
}

TEST_F(SqliteDatabaseTest, an_import_replaces_everything) {
  {
    auto source = OpenAsMade(Path("source.db"));
    ASSERT_TRUE(Note(*source, "imported").ok());
  }
  const std::string source_bytes = BytesOf(Path("source.db"));
  auto database = OpenAsMade(Path());
  ASSERT_TRUE(Note(*database, "replaced").ok());
  const Status status = database->ImportFrom({.path = Path("source.db")});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(Notes(*database), "imported ");
  EXPECT_TRUE(BytesOf(Path("source.db")) == source_bytes);
  ASSERT_TRUE(Note(*database, "more").ok());
  database.reset();
  EXPECT_EQ(Notes(*OpenAsMade(Path())), "imported more ");
  EXPECT_THAT(Files(), testing::ElementsAre("memory.db", "source.db"));
}

TEST_F(SqliteDatabaseTest, a_file_can_be_imported_into_memory) {
  {
    auto source = OpenAsMade(Path("source.db"));
    ASSERT_TRUE(Note(*source, "imported").ok());
  }
  auto database = OpenAsMade(":memory:");
  const Status status = database->ImportFrom({.path = Path("source.db")});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(Notes(*database), "imported ");
}

TEST_F(SqliteDatabaseTest, a_file_of_the_first_schema_is_imported_and_migrated) {
  {
    auto source = SqliteDatabase::OpenForWriting({.path = Path("source.db")});
    ASSERT_TRUE(source.has_value());
    ASSERT_TRUE((*source)->Run("PRAGMA application_id = 1264936304").ok());
    ASSERT_TRUE(Migrate(**source, 0, kSchema.first(1)).ok());
    ASSERT_TRUE(Note(**source, "imported").ok());
  }
  auto database = OpenAsMade(Path());
  const Status status = database->ImportFrom({.path = Path("source.db")});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(Notes(*database), "imported ");
  EXPECT_EQ(ReadSchemaVersion(*database, Path()), NewestVersion(kSchema));
}

TEST_F(SqliteDatabaseTest, an_import_that_is_refused_changes_nothing) {
  WriteBytes(Path("garbage.db"), std::string(9'000, 'g'));
  WriteBytes(Path("empty.db"), "");
  Execute(Path("foreign.db"), "CREATE TABLE notes(text)");
  OpenAsMade(Path("newer.db"));
  Execute(Path("newer.db"), "UPDATE meta SET value = '999' WHERE name = 'schema_version'");
  OpenAsMade(Path("encoding.db"));
  std::string bytes = BytesOf(Path("encoding.db"));
  bytes[59] = '\4';  // of the text encoding in the header
  WriteBytes(Path("encoding.db"), bytes);
  OpenAsMade(Path("collation.db"));
  Execute(Path("collation.db"),
          "PRAGMA writable_schema = ON;"
          "UPDATE sqlite_schema SET sql = replace(sql, 'key TEXT', 'key TEXT COLLATE none')"
          " WHERE name = 'store_kv'");
  auto database = OpenAsMade(Path());
  ASSERT_TRUE(Note(*database, "kept").ok());
  const std::pair<const char*, StatusCode> cases[] = {
      {"encoding.db", StatusCode::kForeignFile}, {"collation.db", StatusCode::kForeignFile},
      {"garbage.db", StatusCode::kNotADatabase}, {"empty.db", StatusCode::kInvalidArgument},
      {"foreign.db", StatusCode::kForeignFile},  {"newer.db", StatusCode::kNewerSchema},
      {"missing.db", StatusCode::kCannotOpen},   {"memory.db", StatusCode::kBusy},
  };
  for (const auto& [name, code] : cases) {
    const Status status = database->ImportFrom({.path = Path(name)});
    EXPECT_EQ(status.code(), code) << name << ": " << status.message();
    EXPECT_THAT(status.message(), HasSubstr(name));
    EXPECT_EQ(Notes(*database), "kept ");
  }
}

TEST_F(SqliteDatabaseTest, sql_that_could_damage_the_file_does_nothing) {
  auto database = OpenAsMade(Path());
  ASSERT_TRUE(database->Run("PRAGMA writable_schema = ON").ok());
  EXPECT_FALSE(database->Run("DELETE FROM sqlite_schema").ok());
  std::string found;
  for (const char* pragma : {"trusted_schema", "cell_size_check"}) {
    (void)database->Run(std::string("PRAGMA ") + pragma, {},
                        [&](const Row& row) { found += row.Text(0); });
  }
  EXPECT_EQ(found, "01");
}

TEST_F(SqliteDatabaseTest, a_trigger_or_a_view_of_a_file_that_is_read_does_not_run) {
  Execute(Path("theirs.db"),
          "CREATE TABLE t(x); INSERT INTO t VALUES(1); CREATE VIEW v AS SELECT 2 AS x FROM t");
  auto theirs = SqliteDatabase::OpenForReading({.path = Path("theirs.db")});
  ASSERT_TRUE(theirs.has_value());
  EXPECT_TRUE((*theirs)->Run("SELECT x FROM t").ok());
  EXPECT_FALSE((*theirs)->Run("SELECT x FROM v").ok());
}

TEST_F(SqliteDatabaseTest, a_file_that_ends_in_the_middle_of_a_page_is_not_imported) {
  // Its last pages are of one large row, and integrity is checked by structure only.
  {
    ASSERT_TRUE(Note(*OpenAsMade(Path("source.db")), std::string(20'000, 'x')).ok());
  }
  const std::string bytes = BytesOf(Path("source.db"));
  auto database = OpenAsMade(Path());
  ASSERT_TRUE(Note(*database, "kept").ok());
  for (const std::size_t missing : {1, 500, 4095}) {
    WriteBytes(Path("source.db"), bytes.substr(0, bytes.size() - missing));
    const Status status = database->ImportFrom({.path = Path("source.db")});
    EXPECT_EQ(status.code(), StatusCode::kCorrupt);
    EXPECT_THAT(status.message(), HasSubstr("page"));
    EXPECT_EQ(Notes(*database), "kept ");
  }
}

TEST_F(SqliteDatabaseTest, a_damaged_file_is_not_imported) {
  {
    auto source = OpenAsMade(Path("source.db"));
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(Note(*source, std::string(2'000, 'x')).ok());
  }
  std::string bytes = BytesOf(Path("source.db"));
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end(), '\x5a');
  WriteBytes(Path("source.db"), bytes);
  auto database = OpenAsMade(Path());
  ASSERT_TRUE(Note(*database, "kept").ok());
  EXPECT_EQ(database->ImportFrom({.path = Path("source.db")}).code(), StatusCode::kCorrupt);
  EXPECT_EQ(Notes(*database), "kept ");
}

}  // namespace
}  // namespace keepsake::sql
