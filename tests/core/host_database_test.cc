// The host adapter over a fake host: SQLite itself, spoken to through the table
// of functions, with savepoints for nested transactions as Durable Objects have.
#include "sql/host_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace keepsake::sql {
namespace {

using testing::HasSubstr;

class FakeHost {
 public:
  FakeHost() { sqlite3_open(":memory:", &connection_); }
  ~FakeHost() { sqlite3_close(connection_); }
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  HostSql Table() {
    return HostSql{.context = this,
                   .run = Run,
                   .transaction = Transact,
                   .size = [](void*) { return 4096.0; },
                   .message =
                       [](void* context) {
                         return std::string_view(sqlite3_errmsg(Self(context).connection_));
                       }};
  }

  bool rows_are_malformed = false;
  int failures = 0;

 private:
  static FakeHost& Self(void* context) { return *static_cast<FakeHost*>(context); }
  static std::uint16_t Code(StatusCode code) { return std::to_underlying(code); }

  template <typename T>
  static T Take(ByteView* bytes) {
    T value;
    std::memcpy(&value, bytes->data(), sizeof(value));
    *bytes = bytes->subspan(sizeof(value));
    return value;
  }

  static void Bind(sqlite3_stmt* statement, ByteView params) {
    for (int position = 1; !params.empty(); ++position) {
      const auto tag = Take<std::uint8_t>(&params);
      if (tag == 0) sqlite3_bind_null(statement, position);
      if (tag == 1) sqlite3_bind_int64(statement, position, Take<std::int64_t>(&params));
      if (tag == 2) sqlite3_bind_double(statement, position, Take<double>(&params));
      if (tag < 3) continue;
      const auto size = Take<std::uint32_t>(&params);
      const int length = static_cast<int>(size);
      const auto* bytes = size > 0 ? params.data() : reinterpret_cast<const std::uint8_t*>("");
      if (tag == 3) {
        sqlite3_bind_text(statement, position, reinterpret_cast<const char*>(bytes), length,
                          SQLITE_TRANSIENT);
      } else {
        sqlite3_bind_blob(statement, position, bytes, length, SQLITE_TRANSIENT);
      }
      params = params.subspan(size);
    }
  }

  template <typename T>
  static void Append(Bytes* bytes, T value) {
    std::array<std::uint8_t, sizeof(T)> raw;
    std::memcpy(raw.data(), &value, sizeof(T));
    bytes->insert(bytes->end(), raw.begin(), raw.end());
  }

  static Bytes EncodeRow(sqlite3_stmt* statement) {
    Bytes row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      switch (sqlite3_column_type(statement, i)) {
        case SQLITE_NULL:
          row.push_back(0);
          break;
        case SQLITE_INTEGER:
          row.push_back(1);
          Append(&row, std::int64_t{sqlite3_column_int64(statement, i)});
          break;
        case SQLITE_FLOAT:
          row.push_back(2);
          Append(&row, sqlite3_column_double(statement, i));
          break;
        default: {
          row.push_back(sqlite3_column_type(statement, i) == SQLITE_TEXT ? 3 : 4);
          const auto* bytes = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement, i));
          const auto size = static_cast<std::uint32_t>(sqlite3_column_bytes(statement, i));
          Append(&row, size);
          if (size > 0) row.insert(row.end(), bytes, bytes + size);
        }
      }
    }
    return row;
  }

  static std::uint16_t Run(void* context, std::string_view sql, ByteView params,
                           HostSql::TakeRow take_row, void* taker) {
    FakeHost& self = Self(context);
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(self.connection_, sql.data(), static_cast<int>(sql.size()), &statement,
                       nullptr);
    if (statement == nullptr) ++self.failures;
    if (statement == nullptr) return Code(StatusCode::kInternal);
    Bind(statement, params);
    int result_code = sqlite3_step(statement);
    while (result_code == SQLITE_ROW) {
      if (take_row == nullptr) break;
      const Bytes row = self.rows_are_malformed ? Bytes{3, 255, 255, 0, 0} : EncodeRow(statement);
      if (!take_row(taker, row)) break;
      result_code = sqlite3_step(statement);
    }
    const bool failed = result_code != SQLITE_ROW && result_code != SQLITE_DONE;
    sqlite3_finalize(statement);
    return Code(failed ? StatusCode::kInternal : StatusCode::kOk);
  }

  static std::uint16_t Transact(void* context, HostSql::Body body, void* argument) {
    sqlite3* connection = Self(context).connection_;
    sqlite3_exec(connection, "SAVEPOINT s", nullptr, nullptr, nullptr);
    if (!body(argument)) sqlite3_exec(connection, "ROLLBACK TO s", nullptr, nullptr, nullptr);
    sqlite3_exec(connection, "RELEASE s", nullptr, nullptr, nullptr);
    return Code(StatusCode::kOk);
  }

  sqlite3* connection_ = nullptr;
};

class HostDatabaseTest : public testing::Test {
 protected:
  HostDatabaseTest() {
    auto database = OpenHostDatabase(host_.Table());
    EXPECT_TRUE(database.has_value()) << database.error().message();
    if (!database) return;
    database_ = std::move(*database);
    EXPECT_TRUE(database_->Run("CREATE TABLE t(v)").ok());
  }

  Status Insert(std::string_view text) {
    return database_->Run("INSERT INTO t(v) VALUES(?)", {Param(text)});
  }

  std::string Contents() {
    std::string all;
    const Status status = database_->Run("SELECT v FROM t ORDER BY rowid", {}, [&](const Row& row) {
      all.append(row.Text(0)).append(" ");
    });
    return status.ok() ? all : status.message();
  }

  std::string Tables() {
    std::string tables;
    const Status status =
        database_->Run("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", {},
                       [&](const Row& row) { tables.append(row.Text(0)).append(" "); });
    return status.ok() ? tables : status.message();
  }

  static constexpr std::string_view kInsertItem =
      "INSERT INTO store_kv(ns, key, value, created_at, updated_at, ttl)"
      " VALUES('n', 'k', '1', 0, 0, 0)";

  static std::vector<SchemaVersion> Then(SchemaVersion version) {
    std::vector<SchemaVersion> schema(kSchema.begin(), kSchema.end());
    schema.push_back(version);
    return schema;
  }

  FakeHost host_;
  std::unique_ptr<Database> database_;
};

TEST_F(HostDatabaseTest, opening_makes_the_table_of_the_version_alone) {
  EXPECT_EQ(Tables(), "meta t ");
}

// So that no read has to write.
TEST(UnbilledHostTest, all_tables_are_made_at_once) {
  FakeHost host;
  HostSql table = host.Table();
  table.bills_rows = false;
  const auto database = OpenHostDatabase(table);
  ASSERT_TRUE(database);
  std::set<std::string> made;
  EXPECT_TRUE(
      (*database)
          ->Run("SELECT name FROM sqlite_master WHERE type = 'table'", {},
                [&](const Row& row) { return made.insert(std::string(row.Text(0))).second; })
          .ok());
  for (const SchemaVersion& version : kSchema) {
    for (const SchemaStatement& statement : version) {
      constexpr std::string_view kTable = "CREATE TABLE ";
      // A host's database can't sync.
      if (!statement.sql.starts_with(kTable) || statement.group == TableGroup::kSync) continue;
      const std::string_view name = statement.sql.substr(kTable.size());
      EXPECT_TRUE(made.contains(std::string(name.substr(0, name.find('('))))) << name;
    }
  }
}

TEST_F(HostDatabaseTest, tables_are_made_by_the_first_statement_that_needs_them) {
  EXPECT_TRUE(database_->Run("DELETE FROM store_vectors WHERE item_id = 1").ok());
  EXPECT_EQ(Tables(), "meta t ") << "there is nothing to delete";
  EXPECT_TRUE(database_->Run(kInsertItem).ok());
  EXPECT_EQ(Tables(), "meta store_kv t ");
  int rows = 0;
  EXPECT_TRUE(database_
                  ->Run("SELECT 1 FROM store_kv i WHERE NOT EXISTS"
                        " (SELECT 1 FROM store_vectors v WHERE v.item_id = i.item_id)"
                        " AND NOT EXISTS (SELECT 1 FROM answers)",
                        {}, [&](const Row&) { return ++rows > 0; })
                  .ok());
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(Tables(),
            "answers graph_chunks meta store_kv store_vectors t vector_chunks vector_pending ");
}

TEST_F(HostDatabaseTest, all_groups_of_tables_are_those_of_a_file) {
  for (std::string_view needs :
       {"SELECT 1 FROM answers", "SELECT 1 FROM store_kv", "SELECT 1 FROM graph_chunks",
        "SELECT 1 FROM text_pages", "SELECT 1 FROM content", "SELECT 1 FROM field_columns"}) {
    EXPECT_TRUE(database_->Run(needs).ok()) << needs;
  }
  EXPECT_EQ(Tables(),
            "answers checkpoints content field_changes field_columns graph_chunks log_users meta "
            "store_kv store_vectors t text_changes text_pages thread_namespaces vector_chunks "
            "vector_pending writes ");
}

TEST_F(HostDatabaseTest, tables_that_were_undone_are_made_again) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Status undone = database_->InTransaction([&]() -> Status {
      EXPECT_TRUE(database_->Run(kInsertItem).ok());
      return Status(StatusCode::kNotFound, "on purpose");
    });
    EXPECT_EQ(undone.code(), StatusCode::kNotFound);
    EXPECT_EQ(Tables(), "meta t ");
  }
  EXPECT_TRUE(database_->Run(kInsertItem).ok());
  EXPECT_EQ(Tables(), "meta store_kv t ");
}

TEST_F(HostDatabaseTest, two_databases_of_one_host_share_what_either_makes) {
  const auto other = OpenHostDatabase(host_.Table());
  ASSERT_TRUE(other.has_value());
  EXPECT_TRUE((*other)->Run(kInsertItem).ok());
  EXPECT_TRUE(database_->Run("DELETE FROM store_kv").ok());
  EXPECT_TRUE(database_->Run(kInsertItem).ok()) << "nobody has remembered that it was missing";
}

TEST_F(HostDatabaseTest, a_deletion_from_a_table_that_is_not_there_fails_once) {
  constexpr std::string_view kDelete = "DELETE FROM store_vectors WHERE item_id = 1 RETURNING 1";
  const auto deleted = [&] {
    int count = 0;
    const Status status = database_->Run(kDelete, {}, [&](const Row&) { return ++count > 0; });
    EXPECT_TRUE(status.ok()) << status.message();
    return count;
  };
  EXPECT_EQ(deleted(), 0);
  EXPECT_EQ(host_.failures, 1);
  EXPECT_EQ(deleted(), 0);
  EXPECT_EQ(host_.failures, 1) << "it is asked whether it is there";
  const auto other = OpenHostDatabase(host_.Table());
  ASSERT_TRUE(other.has_value());
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE((*other)
                    ->Run("INSERT INTO store_vectors(vector_id, item_id, path, vector)"
                          " VALUES(1, 1, '', x'00')")
                    .ok());
    EXPECT_EQ(deleted(), 1) << "somebody else has made it";
  }
}

TEST_F(HostDatabaseTest, nothing_is_made_in_a_database_that_was_emptied) {
  EXPECT_TRUE(database_->Run("DROP TABLE meta").ok());
  const Status status = database_->Run(kInsertItem);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(status.message(), "no such table: meta") << "by which the host knows it";
  EXPECT_EQ(Tables(), "t ");
}

TEST_F(HostDatabaseTest, a_table_that_got_one_of_our_names_later_is_left_alone) {
  EXPECT_TRUE(database_->Run("CREATE TABLE writes(v)").ok());
  EXPECT_EQ(database_->Run("SELECT 1 FROM content").code(), StatusCode::kForeignFile);
  EXPECT_EQ(Tables(), "meta t writes ");
}

TEST_F(HostDatabaseTest, the_next_version_changes_only_tables_that_are_there) {
  constexpr SchemaStatement kInvented[] = {
      {TableGroup::kItems, "ALTER TABLE store_kv ADD COLUMN color TEXT"},
      {TableGroup::kAnswers, "ALTER TABLE answers ADD COLUMN color TEXT"},
  };
  const auto versions = Then(kInvented);
  EXPECT_TRUE(database_->Run(kInsertItem).ok());
  const auto next = OpenHostDatabase(host_.Table(), versions);
  ASSERT_TRUE(next.has_value()) << next.error().message();
  EXPECT_EQ(Tables(), "meta store_kv t ");
  EXPECT_TRUE((*next)->Run("SELECT color FROM store_kv").ok());
  EXPECT_TRUE((*next)->Run("SELECT color FROM answers").ok()) << "made as the version has it";
  EXPECT_TRUE(OpenHostDatabase(host_.Table(), versions).has_value());
  EXPECT_EQ(OpenHostDatabase(host_.Table()).error().code(), StatusCode::kNewerSchema);
}

TEST_F(HostDatabaseTest, a_step_that_fails_leaves_the_tables_as_they_were) {
  constexpr SchemaStatement kFailing[] = {
      {TableGroup::kItems, "ALTER TABLE store_kv ADD COLUMN color TEXT"},
      {TableGroup::kItems, "CREATE TABLE store_kv(v)"},
  };
  const auto versions = Then(kFailing);
  EXPECT_TRUE(database_->Run(kInsertItem).ok());
  EXPECT_FALSE(OpenHostDatabase(host_.Table(), versions).has_value());
  EXPECT_FALSE(database_->Run("SELECT color FROM store_kv").ok());
  EXPECT_TRUE(OpenHostDatabase(host_.Table()).has_value());
}

TEST_F(HostDatabaseTest, opening_again_finds_its_own_schema) {
  EXPECT_TRUE(OpenHostDatabase(host_.Table()).has_value());
}

TEST_F(HostDatabaseTest, the_host_may_have_tables_of_its_own) {
  FakeHost host;
  const HostSql table = host.Table();
  ASSERT_EQ(table.run(&host, "CREATE TABLE notes(v)", {}, nullptr, nullptr), 0);
  EXPECT_TRUE(OpenHostDatabase(table).has_value());
}

TEST_F(HostDatabaseTest, a_table_of_our_name_that_is_not_ours_is_a_foreign_file) {
  for (std::string_view create : {"CREATE TABLE meta(v)", "CREATE TABLE writes(v)"}) {
    FakeHost host;
    const HostSql table = host.Table();
    ASSERT_EQ(table.run(&host, create, {}, nullptr, nullptr), 0);
    const auto database = OpenHostDatabase(table);
    ASSERT_FALSE(database.has_value());
    EXPECT_EQ(database.error().code(), StatusCode::kForeignFile) << create;
    // All or nothing: what was there is there alone.
    EXPECT_NE(table.run(&host, "SELECT * FROM store_kv", {}, nullptr, nullptr), 0);
  }
}

TEST_F(HostDatabaseTest, every_kind_of_value_comes_back_as_it_was_bound) {
  const std::array<std::uint8_t, 3> bytes = {0, 255, 1};
  const std::string text("a\0b", 3);
  int rows = 0;
  const Status status = database_->Run(
      "SELECT ?, ?, ?, ?, ?, ?, typeof(?6), typeof(?7)",
      {Param(), Param(std::int64_t{INT64_MIN}), Param(0.1), Param(std::string_view(text)),
       Param(ByteView(bytes)), Param(std::string_view()), Param(ByteView())},
      [&](const Row& row) {
        ++rows;
        EXPECT_TRUE(row.IsNull(0));
        EXPECT_EQ(row.Int(1), INT64_MIN);
        EXPECT_EQ(row.Real(2), 0.1);
        EXPECT_EQ(row.Int(2), 0);
        EXPECT_EQ(row.Text(3), text);
        EXPECT_TRUE(std::ranges::equal(row.Blob(4), bytes));
        EXPECT_EQ(row.Text(5), "");
        EXPECT_FALSE(row.IsNull(5));
        EXPECT_EQ(row.Text(6), "text");
        EXPECT_EQ(row.Text(7), "blob");
        EXPECT_TRUE(row.IsNull(8)) << "a column that is not there";
      });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(rows, 1);
}

TEST_F(HostDatabaseTest, a_statement_may_run_while_another_does) {
  for (std::string_view text : {"a", "b"}) ASSERT_TRUE(Insert(text).ok());
  std::string pairs;
  const Status status = database_->Run("SELECT v FROM t", {}, [&](const Row& outer) {
    const Status inner = database_->Run("SELECT v FROM t", {}, [&](const Row& row) {
      pairs.append(outer.Text(0)).append(row.Text(0)).append(" ");
    });
    EXPECT_TRUE(inner.ok());
    return true;
  });
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(pairs, "aa ab ba bb ");
}

TEST_F(HostDatabaseTest, a_callback_that_answers_false_stops_the_statement) {
  for (std::string_view text : {"a", "b"}) ASSERT_TRUE(Insert(text).ok());
  int rows = 0;
  EXPECT_TRUE(database_
                  ->Run("SELECT v FROM t", {},
                        [&](const Row&) {
                          ++rows;
                          return false;
                        })
                  .ok());
  EXPECT_EQ(rows, 1);
}

TEST_F(HostDatabaseTest, a_nested_transaction_that_fails_undoes_only_itself) {
  const Status status = database_->InTransaction([&]() -> Status {
    EXPECT_TRUE(Insert("outer").ok());
    const Status nested = database_->InTransaction([&]() -> Status {
      EXPECT_TRUE(Insert("inner").ok());
      return Status(StatusCode::kNotFound, "on purpose");
    });
    EXPECT_EQ(nested.code(), StatusCode::kNotFound);
    EXPECT_EQ(nested.message(), "on purpose");
    return Insert("later");
  });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(Contents(), "outer later ");
}

TEST_F(HostDatabaseTest, a_failing_statement_says_what_the_host_says) {
  const Status status = database_->Run("INSERT INTO no_such_table VALUES(1)");
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("no_such_table"));
}

TEST_F(HostDatabaseTest, a_row_without_layout_is_an_error) {
  ASSERT_TRUE(Insert("a").ok());
  host_.rows_are_malformed = true;
  const Status status = database_->Run("SELECT v FROM t", {}, [](const Row&) {});
  EXPECT_EQ(status.code(), StatusCode::kInternal);
}

TEST_F(HostDatabaseTest, what_needs_a_file_is_unsupported) {
  EXPECT_TRUE(database_->Flush().ok());
  EXPECT_EQ(database_->SizeBytes(), 4096u);
  EXPECT_EQ(database_->BeginExport().error().code(), StatusCode::kUnsupported);
  EXPECT_EQ(database_->ReadExport(0, 1).error().code(), StatusCode::kUnsupported);
  EXPECT_EQ(database_->ImportFrom({.path = "x"}).code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace keepsake::sql
