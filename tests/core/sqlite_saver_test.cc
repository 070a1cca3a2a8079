#include "keepsake/sqlite_saver.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>

#include "checkpoint/content_logs.h"
#include "checkpointer_contract.h"
#include "forwarding_database.h"

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
    saver_ = MakeSqliteSaver(*database_).value();
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
  const auto other = MakeSqliteSaver(*database_).value();
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

// Of a value that stands in a log.
std::string LongText(char letter) { return "\"" + std::string(5000, letter) + "\""; }

TEST_F(SqliteSaverFile, a_damaged_row_is_an_error_and_not_a_wrong_answer) {
  const std::string damage[] = {
      "DELETE FROM content",
      "UPDATE content SET bytes = substr(bytes, 2)",
      "UPDATE content SET bytes = CAST(replace(bytes, 'aaaa', 'aaba') AS BLOB)",
      "UPDATE content SET chunk = chunk + 1000000000",
      "UPDATE checkpoints SET checkpoint = x'01FF'",
      "UPDATE checkpoints SET checkpoint = x''",
      "UPDATE checkpoints SET checkpoint = substr(checkpoint, 1, length(checkpoint) - 1)",
      "UPDATE writes SET writes = x'0102'",
  };
  for (const std::string& sql : damage) {
    SCOPED_TRACE(sql);
    ASSERT_TRUE(saver_->Put(At("t", "", "1").New("a", "1", LongText('a'))).ok());
    ASSERT_TRUE(saver_->PutWrites({"t", "", "1"}, std::vector{Write("w", 0, "a", "1")}).ok());
    Close();
    Open();
    ASSERT_TRUE(database_->Run(sql).ok());
    EXPECT_EQ(saver_->GetTuple({"t", "", "1"}).error().code(), StatusCode::kCorrupt);
    EXPECT_EQ(saver_->List({}).error().code(), StatusCode::kCorrupt);
    EXPECT_TRUE(saver_->DeleteThread("t").ok());
  }
}

// What a saver knows of its last put may be of the past: another one wrote since.
TEST_F(SqliteSaverFile, a_child_is_put_upon_what_is_stored_and_not_what_was_put) {
  const auto other = MakeSqliteSaver(*database_).value();
  const auto first = [&](Checkpointer& saver, char letter) {
    ASSERT_TRUE(saver.Put(At("t", "", "1").New("a", "1", LongText(letter))).ok());
  };
  const auto child = [&]() -> std::vector<std::string> {
    const auto next = At("t", "", "2").Parent("1").Unchanged("a", "1").New("b", "2", LongText('b'));
    EXPECT_TRUE(saver_->Put(next).ok());
    const auto tuple = other->GetTuple({"t", "", "2"});
    EXPECT_TRUE(tuple && *tuple);
    EXPECT_TRUE(saver_->DeleteThread("t").ok());
    return tuple && *tuple ? Values(**tuple) : std::vector<std::string>();
  };
  first(*saver_, 'x');
  first(*other, 'y');
  EXPECT_THAT(child(), ElementsAre("a@1=" + LongText('y'), "b@2=" + LongText('b'))) << "replaced";

  first(*saver_, 'x');
  ASSERT_TRUE(other->DeleteThread("t").ok());
  EXPECT_THAT(child(), ElementsAre("b@2=" + LongText('b'))) << "deleted";

  first(*saver_, 'x');
  ASSERT_TRUE(other->RenameThread("t", "u").ok());
  EXPECT_THAT(child(), ElementsAre("b@2=" + LongText('b'))) << "renamed";
  EXPECT_THAT(Values(**other->GetTuple({"u", "", ""})), ElementsAre("a@1=" + LongText('x')));
  ASSERT_TRUE(other->DeleteThread("u").ok());

  const Status undone = database_->InTransaction([&]() -> Status {
    first(*saver_, 'x');
    return {StatusCode::kInternal, "changed my mind"};
  });
  ASSERT_FALSE(undone.ok());
  ASSERT_TRUE(other->Put(At("u", "", "1").New("a", "1", LongText('x'))).ok());
  EXPECT_THAT(child(), ElementsAre("b@2=" + LongText('b'))) << "undone, and its number given out";
  EXPECT_EQ(*other->GetTuple({"u", "", "2"}), std::nullopt);
}

TEST_F(SqliteSaverFile, what_an_undone_transaction_left_in_memory_is_no_base) {
  const auto put = [&](const std::string& id, const std::string& parent, char letter) {
    EXPECT_TRUE(saver_->Put(At("t", "", id).Parent(parent).New("a", id, LongText(letter))).ok());
  };
  const Status undone = database_->InTransaction([&]() -> Status {
    put("1", "", 'x');
    put("2", "1", 'x');
    return {StatusCode::kInternal, "changed my mind"};
  });
  ASSERT_FALSE(undone.ok());
  put("1", "", 'y');
  put("2", "1", 'y');
  put("3", "2", 'z');
  Close();
  Open();
  EXPECT_THAT(Values(**saver_->GetTuple({"t", "", "2"})), ElementsAre("a@2=" + LongText('y')));
  EXPECT_THAT(Values(**saver_->GetTuple({"t", "", "3"})), ElementsAre("a@3=" + LongText('z')));
}

// A list of messages, as text.
std::string Messages(int count) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ",") + std::string("{\"type\":\"human\",\"content\":\"message ") +
            std::to_string(i * 7919) + std::string(200, static_cast<char>('a' + i % 26)) + "\"}";
  }
  return text + "]";
}

TEST_F(SqliteSaverFile, cap_75_a_growing_list_costs_what_is_new) {
  std::vector<std::uint64_t> bytes;
  for (int i = 1; i <= 1000; ++i) {
    At next = At("t", "", std::to_string(1000 + i)).Parent(i == 1 ? "" : std::to_string(999 + i));
    ASSERT_TRUE(saver_->Put(next.New("messages", std::to_string(i), Messages(i))).ok());
    if (i % 100 == 0) bytes.push_back(saver_->Stats()->bytes);
  }
  EXPECT_LT(bytes.back(), 2 * Messages(1000).size());
  const std::uint64_t early = bytes[1] - bytes[0];
  const std::uint64_t late = bytes[9] - bytes[8];
  EXPECT_LT(late, early + early / 10) << "and the thousandth no more than the hundredth";
  EXPECT_EQ(Text((**saver_->GetTuple({"t", "", "1500"})).values[0].value), Messages(500));
}

TEST_F(SqliteSaverFile, cap_75_an_edit_in_the_middle_costs_the_edit) {
  std::string text = Messages(1000);
  ASSERT_TRUE(saver_->Put(At("t", "", "1").New("messages", "1", text)).ok());
  const std::uint64_t before = saver_->Stats()->bytes;
  text.erase(text.find("{", 100), 300);
  text.replace(100'000, 50, "edited");
  text.insert(5'000, Messages(2));
  ASSERT_TRUE(saver_->Put(At("t", "", "2").Parent("1").New("messages", "2", text)).ok());
  EXPECT_LT(saver_->Stats()->bytes - before, 4'000u);
  EXPECT_THAT(Values(**saver_->GetTuple({"t", "", "2"})), ElementsAre("messages@2=" + text));
}

TEST_F(SqliteSaverFile, cap_75_copies_forks_and_subgraphs_share_their_values) {
  const std::string text = Messages(500);
  ASSERT_TRUE(saver_->Put(At("t", "", "1").New("messages", "1", text)).ok());
  const std::uint64_t once = saver_->Stats()->bytes;
  ASSERT_TRUE(saver_->CopyThread("t", "copy").ok());
  ASSERT_TRUE(saver_->ForkThread("t", "1", "fork").ok());
  const std::string longer = text.substr(0, text.size() - 1) + ",1]";
  ASSERT_TRUE(saver_->Put(At("t", "child:1", "2").New("messages", "1", text)).ok());
  ASSERT_TRUE(saver_->Put(At("t", "child:1|grandchild:1", "3").New("messages", "1", longer)).ok());
  EXPECT_LT(saver_->Stats()->bytes, once + 2'000);
  ASSERT_TRUE(saver_->DeleteThread("t").ok());
  EXPECT_THAT(Values(**saver_->GetTuple({"copy", "", ""})), ElementsAre("messages@1=" + text));
  EXPECT_THAT(Values(**saver_->GetTuple({"fork", "", ""})), ElementsAre("messages@1=" + text));
  ASSERT_TRUE(saver_->DeleteThread("copy").ok());
  ASSERT_TRUE(saver_->DeleteThread("fork").ok());
  EXPECT_EQ(*saver_->Stats(), CheckpointerStats());
}

TEST_F(SqliteSaverFile, a_full_log_is_continued_in_the_next_one) {
  ASSERT_TRUE(saver_->Put(At("t", "", "1").New("messages", "1", Messages(3))).ok());
  const std::int64_t next = checkpoint::ChannelLog(1, "messages") + 1;
  const std::int64_t last_chunk = (next << checkpoint::kChunkBits) - 1;
  const Bytes filler(checkpoint::kChunkBytes - 100, 'x');
  ASSERT_TRUE(database_
                  ->Run("INSERT INTO content(chunk, checksum, bytes) VALUES (?, ?, ?)",
                        {last_chunk, checkpoint::ChecksumOf(last_chunk, filler), filler})
                  .ok());
  for (int i = 4; i < 10; ++i) {
    At at = At("t", "", std::to_string(i)).Parent(i == 4 ? "1" : std::to_string(i - 1));
    ASSERT_TRUE(saver_->Put(at.New("messages", std::to_string(i), Messages(i))).ok());
  }
  ASSERT_TRUE(saver_->ForkThread("t", "9", "fork").ok());
  ASSERT_TRUE(saver_->DeleteThread("t").ok());
  ASSERT_TRUE(saver_->Prune({}).has_value());
  EXPECT_EQ(Text((**saver_->GetTuple({"fork", "", "9"})).values[0].value), Messages(9));
  EXPECT_EQ(Text((**saver_->GetTuple({"fork", "", "6"})).values[0].value), Messages(6));
  ASSERT_TRUE(saver_->DeleteThread("fork").ok());
  EXPECT_EQ(*saver_->Stats(), CheckpointerStats());
}

TEST_F(SqliteSaverFile, numbers_of_spaces_are_used_again_when_all_were_given_out) {
  ASSERT_TRUE(saver_->Put(At("first", "", "1").New("a", "1", LongText('a'))).ok());
  ASSERT_TRUE(
      database_
          ->Run(
              "INSERT INTO thread_namespaces(ns_id, thread_id, checkpoint_ns) VALUES (?, 'x', '')",
              {checkpoint::kMaxNamespace})
          .ok());
  for (const char* thread : {"second", "third"}) {
    ASSERT_TRUE(saver_->Put(At(thread, "", "1").New("a", "1", LongText(thread[0]))).ok());
  }
  std::int64_t greatest = 0;
  ASSERT_TRUE(database_
                  ->Run("SELECT MAX(chunk) FROM content", {},
                        [&](const sql::Row& row) { greatest = row.Int(0); })
                  .ok());
  EXPECT_LT(greatest, std::int64_t{1} << 53);
  for (const char* thread : {"first", "second", "third"}) {
    const char letter = thread[0] == 'f' ? 'a' : thread[0];
    EXPECT_THAT(Values(**saver_->GetTuple({thread, "", ""})),
                ElementsAre("a@1=" + LongText(letter)));
  }
}

// The namespace of a deleted thread may get its number again, while a copy still uses
// its logs: what is new there stands behind, and both keep theirs.
TEST_F(SqliteSaverFile, a_number_that_is_used_again_shares_its_log_with_a_copy) {
  ASSERT_TRUE(saver_->Put(At("t", "", "1").New("a", "1", LongText('a'))).ok());
  ASSERT_TRUE(saver_->CopyThread("t", "copy").ok());
  ASSERT_TRUE(saver_->DeleteThread("t").ok());
  ASSERT_TRUE(
      database_->Run("UPDATE thread_namespaces SET ns_id = 7 WHERE thread_id = 'copy'").ok());
  for (const char* table : {"checkpoints", "log_users"}) {
    ASSERT_TRUE(database_->Run("UPDATE " + std::string(table) + " SET ns_id = 7").ok());
  }
  ASSERT_TRUE(database_
                  ->Run("INSERT INTO thread_namespaces(ns_id, thread_id, checkpoint_ns) "
                        "VALUES (33554431, 'x', '')")
                  .ok());
  ASSERT_TRUE(saver_->Put(At("new", "", "1").New("a", "1", LongText('b'))).ok());
  ASSERT_TRUE(saver_->Prune({}).has_value());
  EXPECT_THAT(Values(**saver_->GetTuple({"copy", "", ""})), ElementsAre("a@1=" + LongText('a')));
  EXPECT_THAT(Values(**saver_->GetTuple({"new", "", ""})), ElementsAre("a@1=" + LongText('b')));
  ASSERT_TRUE(saver_->DeleteThread("copy").ok());
  EXPECT_THAT(Values(**saver_->GetTuple({"new", "", ""})), ElementsAre("a@1=" + LongText('b')));
}

// Notes what runs, so that tests can tell how much work an answer was.
class WatchedDatabase final : public ForwardingDatabase {
 public:
  using ForwardingDatabase::ForwardingDatabase, ForwardingDatabase::Run;
  Status Run(std::string_view sql, std::span<const sql::Param> params,
             const sql::RowCallback& on_row) override {
    statements.emplace_back(sql);
    return database_.Run(sql, params, [&](const sql::Row& row) {
      ++rows;
      return on_row == nullptr ? true : on_row(row);
    });
  }
  Status InTransaction(FunctionRef<Status()> body) override {
    ++transactions;
    return database_.InTransaction(body);
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
      });
      EXPECT_TRUE(s.ok()) << s.message();
    }
    return plans;
  }

  std::vector<std::string> statements;
  int rows = 0;
  int transactions = 0;
};

class SqliteSaverWork : public SqliteSaverFile {
 protected:
  void SetUp() override {
    SqliteSaverFile::SetUp();
    watched_ = std::make_unique<WatchedDatabase>(*database_);
    saver_ = MakeSqliteSaver(*watched_).value();
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
  EXPECT_EQ(watched_->transactions, 1) << "what is one statement needs none";
  EXPECT_EQ(watched_->statements.size(), 2u) << "checkpoint; writes";
  EXPECT_EQ(watched_->rows, 0);
}

TEST_F(SqliteSaverWork, a_list_that_grows_takes_one_statement_more) {
  const auto put = [&](int i) {
    At next = At("grows", "", std::to_string(i)).Parent(std::to_string(i - 1));
    std::string list = "[";
    for (int j = 0; j <= i - 100; ++j)
      list += "\"message " + std::to_string(j) + std::string(200, 'x') + "\",";
    return saver_->Put(next.New("messages", std::to_string(i), list + "]"));
  };
  for (int i = 100; i < 105; ++i) ASSERT_TRUE(put(i).ok());
  watched_->Forget();
  ASSERT_TRUE(put(105).ok());
  EXPECT_EQ(watched_->statements.size(), 2u) << "content, checkpoint";
  EXPECT_EQ(watched_->rows, 0);
}

TEST_F(SqliteSaverWork, writes_of_a_task_that_has_some_join_them) {
  const CheckpointKey key = {"t", "", "199"};
  ASSERT_TRUE(saver_->PutWrites(key, std::vector{Write("a", 1, "more", "1")}).ok());
  ASSERT_TRUE(saver_->PutWrites(key, std::vector{Write("a", 0, "delta", "\"again\"")}).ok());
  const auto writes = saver_->Writes(key, "");
  ASSERT_TRUE(writes && writes->size() == 2);
  EXPECT_EQ((*writes)[0], Write("a", 0, "delta", "199"));
  EXPECT_EQ((*writes)[1], Write("a", 1, "more", "1"));
}

TEST_F(SqliteSaverWork, cap_76_the_latest_checkpoint_is_found_by_index) {
  ASSERT_TRUE(saver_->GetTuple({"t", "", ""}).has_value());
  EXPECT_EQ(watched_->statements.size(), 2u) << "checkpoint, writes";
  EXPECT_EQ(watched_->rows, 2);
}

TEST_F(SqliteSaverWork, cap_76_a_page_reads_no_more_than_it_returns) {
  const ListCheckpoints page = {.thread_id = "t",
                                .checkpoint_ns = "",
                                .before = "190",
                                .cursor = CheckpointKey{"t", "", "150"},
                                .limit = 1};
  EXPECT_THAT(Shown(*saver_->List(page)), ElementsAre("t//149"));
  EXPECT_LE(watched_->rows, 2) << "checkpoint, writes";
  watched_->Forget();
  ASSERT_EQ(saver_->List({.thread_id = "t", .limit = 2})->size(), 2u);
  EXPECT_LE(watched_->rows, 4);
}

TEST_F(SqliteSaverWork, a_delta_history_reads_no_further_than_its_seed) {
  ASSERT_TRUE(saver_->GetDeltaChannelHistory({"t", "", "199"}, std::vector<std::string>{"messages"})
                  .has_value());
  EXPECT_EQ(watched_->statements.size(), 4u) << "ns_id, checkpoint; parent, its writes";
  EXPECT_LE(watched_->rows, 4);
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
  ASSERT_TRUE(saver_->Prune({.thread_ids = {{"copy"}}, .strategy = PruneStrategy::kKeepLatest}));
  ASSERT_TRUE(saver_->DeleteThread("copy").ok());
  for (const std::string& sql : watched_->statements) {
    EXPECT_EQ(sql.find("BEGIN"), std::string::npos);
    EXPECT_LE(std::ranges::count(sql, '?'), 100);
  }
  std::istringstream plans(watched_->Plans());
  for (std::string line; std::getline(plans, line);) {
    if (line == "SCAN CONSTANT ROW") continue;
    EXPECT_FALSE(line.starts_with("SCAN")) << line;
  }
}

}  // namespace
}  // namespace keepsake::testing
