// What is particular to SqliteStore; the contract is in store_contract_test.cc.
#include "keepsake/sqlite_store.h"

#include <filesystem>
#include <string>

#include "store_contract.h"

namespace keepsake {
namespace {

using testing::ElementsAre;

class SqliteStoreTest : public testing::Test {
 protected:
  SqliteStoreTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = (std::filesystem::path(testing::TempDir()) /
             (std::string("keepsake_store_") + test->name() + ".db"))
                .string();
    Remove();
    Reopen();
  }

  ~SqliteStoreTest() override {
    Close();
    Remove();
  }

  void Close() {
    store_.reset();
    database_.reset();
  }

  void Reopen(StoreOptions options = {}) {
    Close();
    auto database = sql::OpenDatabase({.path = path_});
    ASSERT_TRUE(database) << MessageOf(database);
    database_ = std::move(*database);
    auto store = MakeSqliteStore(*database_, std::move(options));
    ASSERT_TRUE(store) << MessageOf(store);
    store_ = std::move(*store);
  }

  void Remove() {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }

  void Damage(std::string_view sql) {
    const Status status = database_->Run(sql);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  std::string path_;
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<Store> store_;
};

TEST_F(SqliteStoreTest, cap_22_reopening_is_harmless) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store_->Put({"n"}, std::to_string(i), "1").ok());
    Reopen();
  }
  EXPECT_THAT(store_->List({"n"}).value(), ElementsAre("0", "1", "2"));
}

TEST_F(SqliteStoreTest, cap_23_namespace_and_value_are_readable_text_in_the_table) {
  ASSERT_TRUE(store_->Put({"users", "u1"}, "k", R"({"a": 1})").ok());
  ASSERT_TRUE(store_->Put({"users", "u1"}, "k", R"({"a": 2})").ok());
  std::vector<std::string> rows;
  const Status status =
      database_->Run("SELECT ns, key, value FROM store_kv", {}, [&](const sql::Row& row) {
        rows.push_back(std::string(row.Text(0)) + "|" + std::string(row.Text(1)) + "|" +
                       std::string(row.Text(2)));
      });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(rows, ElementsAre("users\x1Fu1\x1F|k|{\"a\": 2}"));
}

TEST_F(SqliteStoreTest, cap_26_items_times_and_vectors_survive_a_restart) {
  ManualClock clock(1000);
  const StoreOptions options = {.index = IndexConfig{.dims = 2}, .clock = &clock};
  Reopen(options);
  const std::vector<Operation> operations = {
      PutOp{.ns = {"n"}, .key = "k", .value = "1", .ttl_ms = 5000, .vectors = {{"$", {3, 4}}}}};
  ASSERT_TRUE(store_->Batch(operations));
  clock.Advance(4999);
  Reopen(options);
  const auto found = store_->Search({.query_vector = {1, 0}}).value();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].item.created_at_ms, 1000);
  EXPECT_FLOAT_EQ(static_cast<float>(*found[0].score), 0.6F);
  clock.Advance(5000);
  Reopen(options);
  EXPECT_EQ(store_->Get({"n"}, "k").value(), std::nullopt);
}

TEST_F(SqliteStoreTest, cap_35_order_and_scores_are_the_same_after_a_restart) {
  const StoreOptions options = {.index = IndexConfig{.dims = 2}};
  Reopen(options);
  std::vector<Operation> puts;
  for (int i = 0; i < 20; ++i) {
    puts.push_back(PutOp{.ns = {"n"},
                         .key = std::to_string(i),
                         .value = "1",
                         .vectors = {{"$", {static_cast<float>(i % 7), 3}}}});
  }
  ASSERT_TRUE(store_->Batch(puts));
  const SearchOp search{.query_vector = {1, 1}};
  const std::vector<SearchItem> before = store_->Search(search).value();
  Reopen(options);
  EXPECT_EQ(store_->Search(search).value(), before);
}

TEST_F(SqliteStoreTest, an_index_of_other_dimensions_is_refused_while_there_are_vectors) {
  Reopen({.index = IndexConfig{.dims = 2}});
  const std::vector<Operation> operations = {
      PutOp{.ns = {"n"}, .key = "k", .value = "1", .vectors = {{"$", {3, 4}}}}};
  ASSERT_TRUE(store_->Batch(operations));
  const auto mismatched = MakeSqliteStore(*database_, {.index = IndexConfig{.dims = 3}});
  EXPECT_EQ(CodeOf(mismatched), StatusCode::kDimensionMismatch);
  EXPECT_EQ(MessageOf(mismatched),
            "index must have the 2 dimensions of the vectors stored already: it has 3; `replace`"
            " gives those up, and reembed() makes new ones");
  Reopen();
  EXPECT_EQ(store_->Configure(IndexConfig{.dims = 3}, {}).code(), StatusCode::kDimensionMismatch);
  EXPECT_EQ(store_->options().index, std::nullopt);
  ASSERT_TRUE(store_->Delete({"n"}, "k").ok());
  EXPECT_TRUE(store_->Configure(IndexConfig{.dims = 3}, {}).ok());
}

TEST_F(SqliteStoreTest, a_put_without_an_index_drops_vectors_of_the_old_value) {
  Reopen({.index = IndexConfig{.dims = 1}});
  const std::vector<Operation> operations = {
      PutOp{.ns = {"n"}, .key = "k", .value = "1", .vectors = {{"$", {3}}}}};
  ASSERT_TRUE(store_->Batch(operations));
  Reopen();
  ASSERT_TRUE(store_->Put({"n"}, "k", "2").ok());
  EXPECT_EQ(store_->Stats().value().vectors, 0U);
}

TEST_F(SqliteStoreTest, a_batch_that_fails_half_way_is_rolled_back) {
  Damage(
      "CREATE TRIGGER refuse BEFORE INSERT ON store_kv WHEN NEW.key = 'bad'"
      " BEGIN SELECT RAISE(ABORT, 'refused'); END");
  const std::vector<Operation> operations = {PutOperation({"n"}, "good", "1"),
                                             PutOperation({"n"}, "bad", "1")};
  EXPECT_FALSE(store_->Batch(operations));
  EXPECT_EQ(store_->Stats().value().items, 0U);
}

TEST_F(SqliteStoreTest, damaged_rows_are_corrupt_and_never_crash) {
  Reopen({.index = IndexConfig{.dims = 2}});
  const std::vector<Operation> operations = {
      PutOp{.ns = {"n"}, .key = "k", .value = R"({"a":1})", .vectors = {{"$", {3, 4}}}}};
  ASSERT_TRUE(store_->Batch(operations));
  Damage("UPDATE store_vectors SET vector = x'000000'");
  EXPECT_EQ(CodeOf(store_->Search({.query_vector = {1, 0}})), StatusCode::kCorrupt);
  Damage("UPDATE store_kv SET value = '{\"a\":[1,{\"'");
  EXPECT_TRUE(store_->Search({.filter = R"({"a":[1,2]})"}).value().empty());
  Damage("UPDATE store_kv SET ns = 'no end'");
  EXPECT_EQ(CodeOf(store_->Search({})), StatusCode::kCorrupt);
  EXPECT_EQ(CodeOf(store_->ListNamespaces()), StatusCode::kCorrupt);
}

}  // namespace
}  // namespace keepsake
