// Columns of fields that filters ask about: what is read, and that nothing is missed.
#include "store/sqlite/sqlite_field_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "forwarding_database.h"
#include "store_contract.h"

namespace keepsake::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kItems = 1500;
const Namespace kNs = {"user", "ada"};

// Counts the rows that statements give, those of whole scans apart.
class CountingDatabase final : public ForwardingDatabase {
 public:
  explicit CountingDatabase(std::unique_ptr<sql::Database> database)
      : ForwardingDatabase(*database), owned_(std::move(database)) {}

  using ForwardingDatabase::Run;
  Status Run(std::string_view sql, std::span<const sql::Param> params,
             const sql::RowCallback& on_row) override {
    ++statements;
    if (on_row == nullptr) return database_.Run(sql, params, on_row);
    const bool reads_items = sql.contains("value") && sql.contains("store_kv");
    return database_.Run(sql, params, [&](const sql::Row& row) {
      if (reads_items) ++items_read;
      return on_row(row);
    });
  }

  int items_read = 0;
  int statements = 0;

 private:
  std::unique_ptr<sql::Database> owned_;
};

class SqliteFieldColumnsTest : public ::testing::Test {
 protected:
  SqliteFieldColumnsTest() : database_(sql::OpenDatabase({.path = ":memory:"}).value()) { Open(); }

  void Open() {
    StoreOptions options;
    options.clock = &clock_;
    store_ = MakeSqliteStore(database_, options).value();
  }

  void Put(int i, std::string_view kind, const Namespace& ns = kNs) {
    ASSERT_TRUE(store_
                    ->Put(ns, "k" + std::to_string(i),
                          R"({"kind":")" + std::string(kind) + R"(","n":)" + std::to_string(i) +
                              R"(,"text":"tea"})")
                    .ok());
  }
  void Fill() {
    for (int i = 0; i < kItems; ++i) Put(i, i % 500 == 0 ? "rare" : "common");
  }
  std::vector<std::string> Keys(const std::string& filter, Namespace prefix = {"user"}) {
    database_.items_read = 0;
    return KeysOf(store_->Search({.ns_prefix = std::move(prefix), .filter = filter, .limit = 50}));
  }
  // The second filter that names a field makes its column.
  void MakeColumn() {
    Fill();
    for (int i = 0; i < 2; ++i) (void)Keys(kRare);
  }
  std::int64_t Number(std::string_view sql) {
    std::int64_t number = -1;
    EXPECT_TRUE(database_.Run(sql, {}, [&](const sql::Row& row) { number = row.Int(0); }).ok());
    return number;
  }

  static constexpr const char* kRare = R"({"kind":"rare"})";
  ManualClock clock_{1'700'000'000'000};
  CountingDatabase database_;
  std::unique_ptr<Store> store_;
};

TEST_F(SqliteFieldColumnsTest, no_row_is_read_of_an_item_that_a_known_filter_leaves_out) {
  Fill();
  EXPECT_THAT(Keys(kRare), SizeIs(3));
  EXPECT_GE(database_.items_read, kItems) << "the first one reads them all";
  EXPECT_THAT(Keys(kRare), SizeIs(3));
  EXPECT_THAT(Keys(kRare), SizeIs(3));
  EXPECT_LE(database_.items_read, 3 + 3) << "each hit, and its value";
  Open();
  EXPECT_THAT(Keys(kRare), SizeIs(3)) << "of a store that was opened anew";
  EXPECT_LE(database_.items_read, 3 + 3);
  EXPECT_THAT(Keys(R"({"kind":{"$in":["rare","never"]}})"), SizeIs(3));
  EXPECT_LE(database_.items_read, 3 + 3);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Keys(R"({"n":{"$gte":1495}})"), SizeIs(5));
  EXPECT_LE(database_.items_read, 5 + 5);
  EXPECT_THAT(Keys(R"({"kind":"rare","n":{"$lt":400}})"), ElementsAre("k0"));
  EXPECT_LE(database_.items_read, 1 + 1) << "two columns together";
}

TEST_F(SqliteFieldColumnsTest, few_items_get_no_columns) {
  for (int i = 0; i < 100; ++i) Put(i, "rare");
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Keys(kRare), SizeIs(50));
  EXPECT_EQ(Number("SELECT count(*) FROM field_columns"), 0);
}

TEST_F(SqliteFieldColumnsTest, what_is_written_later_is_found) {
  MakeColumn();
  Put(1, "rare");
  Put(500, "common");
  Put(kItems, "rare");
  ASSERT_TRUE(store_->Delete(kNs, "k0").ok());
  EXPECT_THAT(Keys(kRare), ::testing::UnorderedElementsAre("k1", "k1000", "k1500"));
  // So many that they are taken into the columns.
  for (int i = 0; i < 200; ++i) Put(i, i % 100 == 0 ? "rare" : "common");
  for (int i = 2000; i < 2200; ++i) Put(i, i % 100 == 0 ? "rare" : "common");
  const auto expected =
      ::testing::UnorderedElementsAre("k0", "k100", "k1000", "k1500", "k2000", "k2100");
  EXPECT_THAT(Keys(kRare), expected);
  EXPECT_EQ(Number("SELECT count(*) FROM field_changes"), 0);
  EXPECT_THAT(Keys(kRare), expected);
  EXPECT_LE(database_.items_read, 12);
}

TEST_F(SqliteFieldColumnsTest, an_id_that_is_given_again_is_read_again) {
  MakeColumn();
  ASSERT_TRUE(store_->Delete(kNs, "k" + std::to_string(kItems - 1)).ok());
  Put(9999, "rare");
  ASSERT_EQ(Number("SELECT max(item_id) FROM store_kv"), kItems);
  EXPECT_THAT(Keys(kRare), ::testing::Contains("k9999"));
}

TEST_F(SqliteFieldColumnsTest, namespaces_are_told_apart) {
  MakeColumn();
  for (int i = 0; i < 100; ++i) Put(i, "rare", {"user", "bob"});
  EXPECT_THAT(Keys(kRare), SizeIs(50));  // takes them in
  EXPECT_THAT(Keys(kRare, {"user", "ada"}), SizeIs(3));
  EXPECT_LE(database_.items_read, 3 + 3);
  EXPECT_THAT(Keys(kRare, {"user", "nobody"}), IsEmpty());
}

TEST_F(SqliteFieldColumnsTest, what_another_store_wrote_is_found) {
  MakeColumn();
  StoreOptions options;
  options.clock = &clock_;
  const auto other = MakeSqliteStore(database_, options).value();
  ASSERT_TRUE(other->Put(kNs, "k1", kRare).ok());
  EXPECT_THAT(Keys(kRare), ::testing::Contains("k1"));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(other->Put(kNs, "k" + std::to_string(2 + i), kRare).ok());
  }
  ASSERT_TRUE(other->Search({.ns_prefix = kNs, .filter = kRare}).has_value());
  ASSERT_EQ(Number("SELECT count(*) FROM field_changes"), 0) << "the other took them in";
  EXPECT_THAT(Keys(kRare), SizeIs(50));
}

TEST_F(SqliteFieldColumnsTest, what_was_undone_is_not_remembered) {
  MakeColumn();
  const Status undone = database_.InTransaction([&]() -> Status {
    for (int i = 0; i < 200; ++i) Put(i, "rare");
    EXPECT_THAT(Keys(kRare), SizeIs(50));
    return {StatusCode::kInternal, "undone"};
  });
  EXPECT_FALSE(undone.ok());
  EXPECT_THAT(Keys(kRare), SizeIs(3));
  for (int i = 200; i < 400; ++i) Put(i, i == 300 ? "rare" : "common");
  EXPECT_THAT(Keys(kRare), SizeIs(4));
}

TEST_F(SqliteFieldColumnsTest, damage_and_loss_change_no_answer) {
  for (const char* harm :
       {"UPDATE field_columns SET bytes = zeroblob(length(bytes))",
        "UPDATE field_columns SET bytes = zeroblob(length(bytes)) WHERE chunk_id > 0",
        "UPDATE field_columns SET bytes = x'' WHERE chunk_id > 4294967296",
        "DELETE FROM field_columns", "DELETE FROM field_columns WHERE chunk_id = 0",
        "UPDATE field_columns SET chunk_id = chunk_id + 1 WHERE chunk_id > 4294967296"}) {
    MakeColumn();
    ASSERT_TRUE(database_.Run(harm).ok());
    Open();
    for (int i = 0; i < 4; ++i) EXPECT_THAT(Keys(kRare), SizeIs(3)) << harm;
    EXPECT_LE(database_.items_read, 3 + 3) << "made anew after " << harm;
  }
}

TEST_F(SqliteFieldColumnsTest, words_with_a_filter_read_what_it_lets_through) {
  MakeColumn();
  const auto hits = [&] {
    database_.items_read = 0;
    return KeysOf(store_->Search({.ns_prefix = kNs,
                                  .filter = kRare,
                                  .query = "tea",
                                  .limit = 50,
                                  .mode = SearchMode::kText}));
  };
  EXPECT_THAT(hits(), SizeIs(3));
  EXPECT_THAT(hits(), SizeIs(3));
  EXPECT_LE(database_.items_read, 3 + 3);
}

TEST_F(SqliteFieldColumnsTest, columns_are_dropped_where_items_are_forgotten) {
  MakeColumn();
  ASSERT_GT(Number("SELECT count(*) FROM field_columns"), 0);
  ASSERT_TRUE(store_->Erase(std::vector<Namespace>{kNs}, "", {}, false).has_value());
  EXPECT_EQ(Number("SELECT count(*) FROM field_columns"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM field_changes"), 0);
  EXPECT_THAT(Keys(kRare), IsEmpty());
}

// Random writes and filters, compared with a store in memory, which has columns of its own.
TEST_F(SqliteFieldColumnsTest, answers_as_a_store_that_reads_everything) {
  StoreOptions options;
  options.clock = &clock_;
  const auto judge = MakeInMemoryStore(options);
  std::mt19937 random(18);
  const auto any = [&](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  const auto put = [&](Store& store, const Namespace& ns, const std::string& key,
                       const std::string& value) { ASSERT_TRUE(store.Put(ns, key, value).ok()); };
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 150; ++i) {
      const Namespace ns = {"user", any(2) == 0 ? "ada" : "bob"};
      const std::string key = "k" + std::to_string(any(1200));
      clock_.Set(clock_.NowMs() + any(2));
      if (any(8) == 0) {
        ASSERT_TRUE(store_->Delete(ns, key).ok());
        ASSERT_TRUE(judge->Delete(ns, key).ok());
        continue;
      }
      const std::string value = R"({"a":)" + std::to_string(any(20)) + R"(,"b":{"c":")" +
                                std::string(1, static_cast<char>('a' + any(5))) + "\"}}";
      put(*store_, ns, key, value);
      put(*judge, ns, key, value);
    }
    if (any(6) == 0) Open();
    for (const std::string& filter :
         {std::string(R"({"a":)") + std::to_string(any(20)) + "}",
          std::string(R"({"b":{"c":"a"}})"), std::string(R"({"a":{"$gt":17},"b":{"c":"b"}})"),
          std::string(R"({"a":{"$ne":3}})"), std::string(R"({"a":{"$in":[1,2.0,"x",null]}})")}) {
      for (const Namespace& prefix : {Namespace{}, Namespace{"user", "ada"}}) {
        const auto wanted =
            judge->Search({.ns_prefix = prefix, .filter = filter, .limit = 30, .offset = 2});
        const auto found =
            store_->Search({.ns_prefix = prefix, .filter = filter, .limit = 30, .offset = 2});
        EXPECT_EQ(KeysOf(found), KeysOf(wanted)) << filter;
      }
    }
  }
  EXPECT_GT(Number("SELECT count(*) FROM field_columns"), 1);
}

}  // namespace
}  // namespace keepsake::testing
