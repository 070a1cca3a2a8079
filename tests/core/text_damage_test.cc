// Bits that flip where a SqliteStore keeps what it finds texts by: whatever is damaged, a
// search finds what an InMemoryStore finds, with the same scores, or says that it is corrupt.
#include <filesystem>
#include <fstream>
#include <random>

#include "store_contract.h"

namespace keepsake {
namespace {

struct Column {
  const char *table, *name;
};

void PrintTo(const Column& column, std::ostream* out) {
  *out << column.table << '.' << column.name;
}

class TextDamageTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kItems = 120, kWords = 150;

  TextDamageTest() : memory_(MakeInMemoryStore(Options())) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string("keepsake_text_") + test->name() + ".db";
    std::ranges::replace(name, '/', '_');
    path_ = (std::filesystem::path(testing::TempDir()) / name).string();
    Remove();
    Reopen();
    for (std::uint32_t item = 0; item < kItems; ++item) PutItem(item);
  }
  ~TextDamageTest() override {
    Close();
    Remove();
  }

  StoreOptions Options() {
    StoreOptions options;
    options.clock = &clock_;
    options.text = {.fields = {{.path = "text", .weight = 1}},
                    .group = "session",
                    .position = "turn",
                    .speaker = "who"};
    return options;
  }

  void Remove() {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  void Close() {
    store_.reset();
    database_.reset();
  }
  void Reopen() {
    Close();
    auto database = sql::OpenDatabase({.path = path_});
    ASSERT_TRUE(database) << MessageOf(database);
    database_ = std::move(*database);
    auto store = MakeSqliteStore(*database_, Options());
    ASSERT_TRUE(store) << MessageOf(store);
    store_ = std::move(*store);
  }

  std::uint32_t Below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  // Rare ones and common ones.
  std::string Word() { return "w" + std::to_string(Below(1 + Below(kWords))) + "x"; }
  std::string Words(std::uint32_t count) {
    std::string words;
    for (std::uint32_t i = 0; i < count; ++i) (words += Word()) += ' ';
    return words;
  }

  static Namespace NamespaceOf(std::uint32_t item) {
    return {"users", std::to_string(item % 3), "turns"};
  }
  void PutItem(std::uint32_t item) {
    const std::string value = R"({"text":")" + Words(12) + R"(","session":"s)" +
                              std::to_string(item / 30) + R"(","turn":)" + std::to_string(item) +
                              R"(,"who":")" + (item % 2 == 0 ? "ann" : "bob") + "\"}";
    for (Store* store : {memory_.get(), store_.get()}) {
      const Status status = store->Put(NamespaceOf(item), std::to_string(item), value);
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }
  void DeleteItem(std::uint32_t item) {
    for (Store* store : {memory_.get(), store_.get()}) {
      const Status status = store->Delete(NamespaceOf(item), std::to_string(item));
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }

  void ExpectSameAnswers() {
    for (int i = 0; i < 3; ++i) {
      SearchOp search{.query = Words(2), .limit = 1000, .mode = SearchMode::kText};
      search.ns_prefix = i % 3 == 0   ? Namespace{}
                         : i % 3 == 1 ? Namespace{"users"}
                                      : NamespaceOf(i);
      const auto expected = memory_->Search(search);
      const auto found = store_->Search(search);
      ASSERT_TRUE(found) << MessageOf(found);
      ASSERT_EQ(found->size(), expected->size()) << search.query;
      for (std::size_t hit = 0; hit < found->size(); ++hit) {
        ASSERT_EQ((*found)[hit].item.key, (*expected)[hit].item.key) << search.query;
        ASSERT_EQ((*found)[hit].item.value, (*expected)[hit].item.value);
        ASSERT_NEAR(*(*found)[hit].score, *(*expected)[hit].score, 1e-6);
      }
    }
  }

  Bytes BytesOf(const std::string& sql) {
    Bytes bytes;
    const Status status = database_->Run(sql, {}, [&](const sql::Row& row) {
      bytes.assign(row.Blob(0).begin(), row.Blob(0).end());
      return true;
    });
    EXPECT_TRUE(status.ok()) << status.message();
    return bytes;
  }
  std::string TextOf(const std::string& sql) {
    const Bytes bytes = BytesOf(sql);
    return {bytes.begin(), bytes.end()};
  }

  // Of a value in a row of chance; "" if there is none.
  std::string FlipBit(const Column& column) {
    const std::string name = column.name, table = column.table;
    const std::string type =
        TextOf("SELECT typeof(" + name + ") FROM " + table + " ORDER BY 1 DESC LIMIT 1");
    // The row is named by the value that it had.
    const std::string old = TextOf("SELECT quote(" + name + ") FROM " + table + " WHERE " + name +
                                   " IS NOT NULL ORDER BY random() LIMIT 1");
    if (old.empty()) return old;
    std::string flipped;
    if (type == "integer") {
      flipped = std::to_string(std::stoll(old) ^ std::int64_t{1} << Below(Below(2) == 0 ? 12 : 63));
    } else if (type == "real") {
      flipped = std::to_string(std::stod(old) + (1 << Below(8)));
    } else {
      Bytes bytes = BytesOf("SELECT CAST(" + old + " AS BLOB)");
      if (bytes.empty()) return "";
      bytes[Below(static_cast<std::uint32_t>(bytes.size()))] ^=
          static_cast<std::uint8_t>(1U << Below(8));
      flipped = "x'";
      for (const std::uint8_t byte : bytes) {
        flipped += "0123456789abcdef"[byte >> 4];
        flipped += "0123456789abcdef"[byte & 15];
      }
      flipped += "'";
      if (type == "text") flipped = "CAST(" + flipped + " AS TEXT)";
    }
    const std::string damage = "UPDATE OR IGNORE " + table + " SET " + name + " = " + flipped +
                               " WHERE " + name + " IS " + old;
    const Status status = database_->Run(damage);
    EXPECT_TRUE(status.ok()) << damage << ": " << status.message();
    return damage;
  }

  std::mt19937 random_{6};
  ManualClock clock_{1'700'000'000'000};
  std::unique_ptr<Store> memory_;
  std::string path_;
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<Store> store_;
};

class TextTableDamageTest : public TextDamageTest, public testing::WithParamInterface<Column> {};

TEST_P(TextTableDamageTest, bits_that_flip_change_no_answer) {
  ExpectSameAnswers();
  for (int round = 0; round < 6; ++round) {
    std::string damage = FlipBit(GetParam());
    if (round % 3 == 2) damage += "; " + FlipBit(GetParam());
    SCOPED_TRACE(damage);
    Reopen();
    // What is written may be the first to find it.
    if (round % 2 == 1) {
      for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(PutItem(Below(kItems)));
      ASSERT_NO_FATAL_FAILURE(DeleteItem(Below(kItems)));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSameAnswers());
    for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(PutItem(Below(kItems)));
    ASSERT_NO_FATAL_FAILURE(ExpectSameAnswers());
    Reopen();
    ASSERT_NO_FATAL_FAILURE(ExpectSameAnswers());
  }
}

constexpr Column kColumns[] = {
    {"store_text", "item_id"},
    {"store_text", "ns"},
    {"store_text", "group_key"},
    {"store_text", "position"},
    {"store_text", "length"},
    {"store_text", "record"},
    {"text_scope", "ns"},
    {"text_scope", "items"},
    {"text_scope", "length"},
    {"store_text_index_data", "id"},
    {"store_text_index_data", "block"},
    {"store_text_index_idx", "segid"},
    {"store_text_index_idx", "term"},
    {"store_text_index_idx", "pgno"},
    {"store_text_index_docsize", "id"},
    {"store_text_index_docsize", "sz"},
    {"store_text_index_docsize", "origin"},
    {"store_text_index_config", "k"},
    {"store_text_index_config", "v"},
};
INSTANTIATE_TEST_SUITE_P(All, TextTableDamageTest, testing::ValuesIn(kColumns),
                         [](const auto& chosen) {
                           return std::string(chosen.param.table) + "_" + chosen.param.name;
                         });

TEST_F(TextDamageTest, bits_that_flip_in_what_waits_to_be_analysed_lose_nothing) {
  for (int round = 0; round < 6; ++round) {
    ASSERT_TRUE(database_->Run("UPDATE meta SET value = '' WHERE name = 'text_index'").ok());
    ASSERT_TRUE(
        store_->Search({.ns_prefix = {"users", "0"}, .query = "w", .mode = SearchMode::kText}));
    const std::string damage = FlipBit({"text_pending", "item_id"});
    ASSERT_NE(damage, "");
    SCOPED_TRACE(damage);
    Reopen();
    ASSERT_NO_FATAL_FAILURE(ExpectSameAnswers());
  }
}

TEST_F(TextDamageTest, a_large_index_is_checked_by_and_by_while_it_is_written) {
  constexpr std::uint32_t kMany = 1500;
  ExpectSameAnswers();
  for (std::uint32_t item = kItems; item < kMany; ++item) ASSERT_NO_FATAL_FAILURE(PutItem(item));
  Reopen();
  const std::string made = TextOf("SELECT value FROM meta WHERE name = 'text_index'");
  for (int i = 0; i < 12; ++i) {
    ASSERT_NO_FATAL_FAILURE(ExpectSameAnswers());
    ASSERT_NO_FATAL_FAILURE(PutItem(Below(kMany)));
    ASSERT_NO_FATAL_FAILURE(DeleteItem(Below(kMany)));
    const PutOp refused{.ns = NamespaceOf(0), .key = "refused", .value = "{\"text\":\"w0x\"}"};
    ASSERT_TRUE(database_
                    ->Run("CREATE TRIGGER refuse BEFORE INSERT ON store_kv WHEN NEW.key ="
                          " 'refused' BEGIN SELECT RAISE(ABORT, 'refused'); END")
                    .ok());
    const std::vector<Operation> batch = {
        PutOp{.ns = NamespaceOf(1), .key = "1", .value = "{\"text\":\"w1x\"}"}, refused};
    ASSERT_FALSE(store_->Batch(batch));
    ASSERT_TRUE(database_->Run("DROP TRIGGER refuse").ok());
  }
  EXPECT_EQ(TextOf("SELECT count(*) FROM text_pending"), "0") << "it was not made again";
  EXPECT_EQ(TextOf("SELECT value FROM meta WHERE name = 'text_index'"), made);
}

// Pages of all tables: what is damaged may be the rows themselves.
TEST_F(TextDamageTest, no_bit_of_the_file_makes_it_crash) {
  ExpectSameAnswers();
  ASSERT_TRUE(database_->Flush().ok());
  Close();
  std::ifstream in(path_, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (int round = 0; round < 60; ++round) {
    std::string damaged = whole;
    const std::uint32_t at = 100 + Below(static_cast<std::uint32_t>(damaged.size()) - 100);
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << Below(8)));
    SCOPED_TRACE(at);
    Remove();
    std::ofstream(path_, std::ios::binary) << damaged;
    auto database = sql::OpenDatabase({.path = path_});
    if (!database) continue;
    auto store = MakeSqliteStore(**database, Options());
    if (!store) continue;
    for (int i = 0; i < 3; ++i) {
      const auto found = (*store)->Search({.query = Words(2), .mode = SearchMode::kText});
      EXPECT_TRUE(found || CodeOf(found) == StatusCode::kCorrupt) << MessageOf(found);
      const Status put = (*store)->Put(NamespaceOf(i), std::to_string(i), "{\"text\":\"w1x\"}");
      EXPECT_TRUE(put.ok() || put.code() == StatusCode::kCorrupt) << put.message();
    }
  }
}

}  // namespace
}  // namespace keepsake
