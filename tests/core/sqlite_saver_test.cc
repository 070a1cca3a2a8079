#include "keepsake/sqlite_saver.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>

#include "checkpoint/channel_refs.h"
#include "checkpointer_contract.h"

namespace keepsake::testing {
namespace {

using ::testing::ElementsAre;

class SqliteSaverFile : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() /
            ("sqlite_saver_" +
             std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + "_" +
             std::to_string(reinterpret_cast<std::uintptr_t>(this)) + ".db");
    RemoveFiles();
    Open();
  }

  void TearDown() override {
    Close();
    RemoveFiles();
  }

  void Open() {
    auto database = sql::OpenDatabase({.path = path_.string()});
    ASSERT_TRUE(database.has_value()) << database.error().message();
    database_ = *std::move(database);
    saver_ = MakeSqliteSaver(*database_);
  }

  void Close() {
    saver_.reset();
    database_.reset();
  }

  void RemoveFiles() const {
    for (const char* suffix : {"", "-wal", "-shm", "-journal", ".lock"}) {
      std::filesystem::remove(path_.string() + suffix);
    }
  }

  std::filesystem::path path_;
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<Checkpointer> saver_;
};

TEST_F(SqliteSaverFile, cap_75_a_thread_is_there_after_reopening_the_file) {
  ASSERT_TRUE(saver_->Put(At("t", "", "1").New("a", "1", "\"a1\"").New("b", "1", "1")).ok());
  ASSERT_TRUE(
      saver_->Put(At("t", "", "2").Parent("1").Unchanged("a", "1").New("b", "2", "2")).ok());
  ASSERT_TRUE(saver_->PutWrites({"t", "", "2"}, std::vector{Write("w", -3, "i", "1", "~p")}).ok());
  const auto before = saver_->List({});
  ASSERT_TRUE(before && before->size() == 2);
  Close();
  Open();
  EXPECT_EQ(*saver_->List({}), *before);
  EXPECT_THAT(Values(**saver_->GetTuple({"t", "", ""})), ElementsAre("a@1=\"a1\"", "b@2=2"));
  ASSERT_TRUE(saver_->Put(At("t", "", "3").Parent("2").Unchanged("a", "1")).ok());
  EXPECT_THAT(Values(**saver_->GetTuple({"t", "", ""})), ElementsAre("a@1=\"a1\""));
}

TEST_F(SqliteSaverFile, cap_75_two_savers_over_one_database_see_the_same) {
  const auto other = MakeSqliteSaver(*database_);
  ASSERT_TRUE(saver_->Put(At("t", "", "1").New("a", "1", "1")).ok());
  EXPECT_EQ(*other->GetTuple({"t", "", ""}), *saver_->GetTuple({"t", "", ""}));
}

TEST_F(SqliteSaverFile, a_put_within_a_transaction_that_fails_leaves_nothing) {
  const Status failed = database_->InTransaction([&]() -> Status {
    EXPECT_TRUE(saver_->Put(At("t", "", "1").New("a", "1", "1")).ok());
    EXPECT_TRUE(saver_->PutWrites({"t", "", "1"}, std::vector{Write("w", 0, "a", "1")}).ok());
    return {StatusCode::kInternal, "changed my mind"};
  });
  EXPECT_EQ(failed.code(), StatusCode::kInternal);
  EXPECT_EQ(*saver_->Stats(), CheckpointerStats());
}

TEST_F(SqliteSaverFile, a_damaged_row_is_an_error_and_not_a_wrong_answer) {
  ASSERT_TRUE(saver_->Put(At("t", "", "1").New("a", "1", "1")).ok());
  ASSERT_TRUE(database_->Run("DELETE FROM checkpoint_blobs").ok());
  EXPECT_EQ(saver_->GetTuple({"t", "", "1"}).error().code(), StatusCode::kCorrupt);
  EXPECT_EQ(saver_->List({}).error().code(), StatusCode::kCorrupt);
  EXPECT_EQ(saver_->CopyThread("t", "u").code(), StatusCode::kCorrupt);
  EXPECT_EQ(saver_->Stats()->checkpoints, 1u) << "a copy is whole or not at all";
  ASSERT_TRUE(database_->Run("UPDATE checkpoints SET channels = x'01FF'").ok());
  EXPECT_EQ(saver_->GetTuple({"t", "", "1"}).error().code(), StatusCode::kCorrupt);
  EXPECT_EQ(saver_->Put(At("t", "", "2").Parent("1")).code(), StatusCode::kCorrupt);
  EXPECT_EQ(saver_->Prune(std::vector<std::string>{"t"}, PruneStrategy::kKeepLatest).value(), 0u);
  EXPECT_TRUE(saver_->DeleteThread("t").ok());
}

// Notes what runs, so that tests can tell how much work an answer was.
class WatchedDatabase final : public sql::Database {
 public:
  explicit WatchedDatabase(sql::Database& database) : database_(database) {}

  using Database::Run;
  Status Run(std::string_view sql, std::span<const sql::Param> params,
             const sql::RowCallback& on_row) override {
    statements.emplace_back(sql);
    return database_.Run(sql, params, [&](const sql::Row& row) {
      ++rows;
      return on_row == nullptr || on_row(row);
    });
  }
  Status InTransaction(const std::function<Status()>& body) override {
    ++transactions;
    return database_.InTransaction(body);
  }
  Status Flush() override { return database_.Flush(); }
  Result<std::uint64_t> SizeBytes() override { return database_.SizeBytes(); }
  Result<std::uint64_t> BeginExport() override { return database_.BeginExport(); }
  Result<Bytes> ReadExport(std::uint64_t offset, std::uint32_t length) override {
    return database_.ReadExport(offset, length);
  }
  void EndExport() override { database_.EndExport(); }
  Status ImportFrom(const sql::OpenOptions& source) override {
    return database_.ImportFrom(source);
  }

  void Forget() {
    statements.clear();
    rows = 0;
    transactions = 0;
  }

  // How SQLite goes about everything that ran, a line for each loop.
  std::string Plans() {
    std::string plans;
    for (const std::string& sql : statements) {
      const std::vector<sql::Param> params(std::ranges::count(sql, '?'));
      const Status s = database_.Run("EXPLAIN QUERY PLAN " + sql, params, [&](const sql::Row& row) {
        plans += std::string(row.Text(3)) + "\n";
        return true;
      });
      EXPECT_TRUE(s.ok()) << s.message();
    }
    return plans;
  }

  std::vector<std::string> statements;
  int rows = 0;
  int transactions = 0;

 private:
  sql::Database& database_;
};

class SqliteSaverWork : public SqliteSaverFile {
 protected:
  void SetUp() override {
    SqliteSaverFile::SetUp();
    watched_ = std::make_unique<WatchedDatabase>(*database_);
    saver_ = MakeSqliteSaver(*watched_);
    for (int i = 100; i < 200; ++i) PutNext(i);
    watched_->Forget();
  }

  void PutNext(int i) {
    const std::string id = std::to_string(i);
    At next = At("t", "", id).Parent(std::to_string(i - 1));
    next.New("messages", id, "[]").NewWithoutValue("delta", id);
    ASSERT_TRUE(
        saver_->Put(i == 100 ? next.New("user", "1", "1") : next.Unchanged("user", "1")).ok());
    ASSERT_TRUE(saver_->PutWrites({"t", "", id}, std::vector{Write("a", 0, "delta", id)}).ok());
  }

  std::unique_ptr<WatchedDatabase> watched_;
};

TEST_F(SqliteSaverWork, a_superstep_is_few_statements_in_one_transaction_each) {
  PutNext(200);
  EXPECT_EQ(watched_->transactions, 2);
  EXPECT_EQ(watched_->statements.size(), 4u) << "relatives, one new value, checkpoint; one write";
}

TEST_F(SqliteSaverWork, cap_76_the_latest_checkpoint_is_found_by_index) {
  ASSERT_TRUE(saver_->GetTuple({"t", "", ""}).has_value());
  EXPECT_EQ(watched_->statements.size(), 4u) << "checkpoint, writes, two values";
  EXPECT_EQ(watched_->rows, 4);
}

TEST_F(SqliteSaverWork, cap_76_a_page_reads_no_more_than_it_returns) {
  const ListCheckpoints page = {.thread_id = "t",
                                .checkpoint_ns = "",
                                .before = "190",
                                .cursor = CheckpointKey{"t", "", "150"},
                                .limit = 1};
  EXPECT_THAT(Shown(*saver_->List(page)), ElementsAre("t//149"));
  EXPECT_LE(watched_->rows, 5) << "key, checkpoint, writes, two values";
  watched_->Forget();
  ASSERT_EQ(saver_->List({.thread_id = "t", .limit = 2})->size(), 2u);
  EXPECT_LE(watched_->rows, 10);
}

TEST_F(SqliteSaverWork, a_delta_history_reads_no_further_than_its_seed) {
  ASSERT_TRUE(saver_->GetDeltaChannelHistory({"t", "", "199"}, std::vector<std::string>{"messages"})
                  .has_value());
  EXPECT_EQ(watched_->statements.size(), 2u) << "the walk, and one seed";
  EXPECT_LE(watched_->rows, 3);
}

TEST_F(SqliteSaverWork, no_call_about_one_thread_looks_through_others) {
  PutNext(200);
  ASSERT_TRUE(saver_->Put(At("t", "", "200").Unchanged("user", "1")).ok());
  ASSERT_TRUE(saver_->GetTuple({"t", "", ""}).has_value());
  ASSERT_TRUE(saver_->GetTuple({"t", "", "150"}).has_value());
  ASSERT_TRUE(saver_->List({.thread_id = "t", .checkpoint_ns = ""}).has_value());
  ASSERT_TRUE(
      saver_->GetDeltaChannelHistory({"t", "", ""}, std::vector<std::string>{"delta"}).has_value());
  ASSERT_TRUE(saver_->CopyThread("t", "copy").ok());
  ASSERT_TRUE(
      saver_->Prune(std::vector<std::string>{"copy"}, PruneStrategy::kKeepLatest).has_value());
  ASSERT_TRUE(saver_->DeleteThread("copy").ok());
  for (const std::string& sql : watched_->statements) {
    EXPECT_EQ(sql.find("BEGIN"), std::string::npos);
    EXPECT_LE(std::ranges::count(sql, '?'), 100);
  }
  std::istringstream plans(watched_->Plans());
  for (std::string line; std::getline(plans, line);) {
    if (line == "SCAN chain" || line == "SCAN CONSTANT ROW") continue;
    EXPECT_FALSE(line.starts_with("SCAN")) << line;
  }
}

// --- the layout of `channels`

using checkpoint::ChannelRef;
using checkpoint::DecodeChannelRefs;
using checkpoint::EncodeChannelRefs;

TEST(ChannelRefs, the_layout_is_the_documented_one) {
  const std::vector<ChannelRef> refs = {{"ab", "7", 300}, {"c", "07", 0}};
  EXPECT_EQ(EncodeChannelRefs(refs),
            (Bytes{1, 2, 'a', 'b', 14, 0xAC, 0x02, 1, 'c', 5, '0', '7', 0}));
  EXPECT_EQ(EncodeChannelRefs({}), Bytes{1});
}

TEST(ChannelRefs, what_was_encoded_is_decoded) {
  const std::vector<ChannelRef> refs = {
      {"messages", "1", 1},
      {"branch:to:model", "", 0},
      {std::string(300, 'x'), "0", INT64_MAX},
      {"\u7248", "4611686018427387903", 127},
      {"big", "4611686018427387904", 128},
      {"py", "00000000000000000000000000000005.0.9", 5},
  };
  EXPECT_EQ(DecodeChannelRefs(EncodeChannelRefs(refs)), refs);
}

TEST(ChannelRefs, cut_or_foreign_bytes_are_corrupt) {
  const Bytes whole = EncodeChannelRefs(std::vector<ChannelRef>{{"ab", "v1", 300}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (size == 1) continue;  // no channels at all
    const auto cut = DecodeChannelRefs(ByteView(whole).first(size));
    ASSERT_FALSE(cut.has_value()) << size;
    EXPECT_EQ(cut.error().code(), StatusCode::kCorrupt);
  }
  EXPECT_FALSE(DecodeChannelRefs(Bytes{2}).has_value());
  EXPECT_FALSE(
      DecodeChannelRefs(Bytes{1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF})
          .has_value());
}

TEST(ChannelRefs, a_channel_costs_its_name_and_a_few_bytes) {
  const std::vector<ChannelRef> refs = {{"messages", "412", 70'000}};
  EXPECT_LE(EncodeChannelRefs(refs).size(), 1 + refs[0].channel.size() + 6);
}

}  // namespace
}  // namespace keepsake::testing
