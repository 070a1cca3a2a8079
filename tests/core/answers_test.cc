// Requests that are sent again, by clients that never heard the answer: to the
// same engine, or to the next one on the file.
#include "engine/answers.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "../golden/golden_frames.h"
#include "file_vfs_test_files.h"
#include "keepsake/engine.h"
#include "sample_operations.h"

namespace keepsake {
namespace {

using sample::Checkpoint;
using sample::Get;
using sample::Put;
using wire::RequestBuilder;
using wire::Tag;

constexpr std::int64_t kNow = 1'700'000'000'000;
constexpr std::int64_t kHour = 60 * 60 * 1000;
constexpr std::uint64_t kClient = 7;

Bytes OpenFrame(std::optional<sql::OpenOptions> database) {
  return RequestBuilder({.kind = wire::FrameKind::kOpen})
      .Add(Tag::kOpen, wire::Open{std::move(database)})
      .Build();
}

RequestBuilder Frame(std::uint64_t sequence, std::int64_t now_ms = kNow,
                     std::uint64_t client_id = kClient) {
  return RequestBuilder({.client_id = client_id, .sequence = sequence, .now_ms = now_ms});
}
// To be remembered; nothing is acknowledged.
RequestBuilder Remembered(std::uint64_t sequence, std::int64_t now_ms = kNow,
                          std::uint64_t client_id = kClient) {
  return Frame(sequence, now_ms, client_id).Remember(0);
}

wire::OneNamespace All() { return {{"a"}}; }

wire::ResultView ResultAt(const Bytes& response, std::size_t position) {
  return wire::ParseResponse(response)->results.at(position);
}
StatusCode CodeOf(const Bytes& response, std::size_t position = 0) {
  return ResultAt(response, position).code;
}
template <typename T>
T AnswerOf(const Bytes& response, std::size_t position = 0) {
  return wire::Decode<T>(ResultAt(response, position).body).value();
}

// A database on files in memory, which one engine after the other owns.
class AnswersTest : public testing::Test {
 protected:
  AnswersTest() : files_("memory.db"), vfs_(*sql::FileVfs::Register("answers", files_.Host())) {
    Open();
  }
  ~AnswersTest() override { session_->Close(); }

  static sql::OpenOptions Options() { return {.path = "memory.db", .vfs = "answers"}; }
  void Open() {
    session_ = std::make_unique<Engine>();
    ASSERT_EQ(CodeOf(Copy(session_->Open(OpenFrame(Options())))), StatusCode::kOk);
  }
  void Reopen() {
    session_->Close();
    Open();
  }
  // As if the owner had died: what it had written is there, but it closed nothing.
  void Crash() {
    MemoryFiles image = files_.CopyOfBytes();
    session_->Close();
    files_ = std::move(image);
    Open();
  }

  static Bytes Copy(ByteView response) { return Bytes(response.begin(), response.end()); }
  Bytes Execute(const RequestBuilder& frame) { return Copy(session_->Execute(frame.Build())); }
  std::optional<Item> ItemAt(const std::string& key) {
    return AnswerOf<std::optional<Item>>(Execute(Frame(99).Add(Tag::kGet, Get(key))));
  }
  // So many answers the file holds.
  int Rows() {
    session_->Close();
    int rows = -1;
    {
      auto database = sql::OpenDatabase(Options());
      EXPECT_TRUE((*database)
                      ->Run("SELECT count(*) FROM answers", {},
                            [&](const sql::Row& row) { rows = static_cast<int>(row.Int(0)); })
                      .ok());
    }
    Open();
    return rows;
  }

  using MemoryFiles = sql::MemoryFiles;
  MemoryFiles files_;
  std::unique_ptr<sql::FileVfs> vfs_;
  std::unique_ptr<Engine> session_;
};

TEST_F(AnswersTest, a_request_that_is_sent_again_is_applied_once_and_answered_alike) {
  Execute(Frame(1).Add(Tag::kPut, Put("k")).Add(Tag::kPut, Put("k2")));
  const RequestBuilder clear = Remembered(2).Add(Tag::kClearNamespace, All());
  const Bytes first = Execute(clear);
  EXPECT_EQ(AnswerOf<std::uint64_t>(first), 2U);
  EXPECT_EQ(Execute(clear), first);
  Reopen();
  EXPECT_EQ(Execute(clear), first);
  Crash();
  EXPECT_EQ(Execute(clear), first);
}

TEST_F(AnswersTest, a_request_that_is_sent_again_later_leaves_what_others_wrote_since) {
  const auto put = [](std::int64_t now_ms) {
    return Remembered(1, now_ms).Add(Tag::kPut, Put("k", "\"mine\""));
  };
  const Bytes first = Execute(put(kNow));
  Execute(Remembered(1, kNow + 1, kClient + 1).Add(Tag::kPut, Put("k", "\"theirs\"")));
  Crash();
  EXPECT_EQ(Execute(put(kNow + 2)), first);
  EXPECT_EQ(ItemAt("k")->value, "\"theirs\"");
  EXPECT_EQ(ItemAt("k")->updated_at_ms, kNow + 1);
}

TEST_F(AnswersTest, without_the_flag_a_request_is_run_each_time) {
  Execute(Frame(1).Add(Tag::kPut, Put("k")));
  const RequestBuilder clear = Frame(2).Add(Tag::kClearNamespace, All());
  EXPECT_EQ(AnswerOf<std::uint64_t>(Execute(clear)), 1U);
  EXPECT_EQ(AnswerOf<std::uint64_t>(Execute(clear)), 0U);
  EXPECT_EQ(Rows(), 0);
}

TEST_F(AnswersTest, the_same_sequence_of_another_client_is_another_request) {
  Execute(Remembered(1, kNow, 1).Add(Tag::kPut, Put("one")));
  Execute(Remembered(1, kNow, 2).Add(Tag::kPut, Put("two")));
  EXPECT_TRUE(ItemAt("one"));
  EXPECT_TRUE(ItemAt("two"));
  EXPECT_EQ(Rows(), 2);
}

TEST_F(AnswersTest, a_client_of_another_scope_gets_no_answer_and_takes_none) {
  const std::vector<ScopeLevel> ada = {{{"user", "ada"}, {}}};
  const std::vector<ScopeLevel> bob = {{{"user", "bob"}, {}}};
  Execute(Frame(9).Within(ada).Add(Tag::kPut, Put("secret")));
  const RequestBuilder hers = Remembered(1).Within(ada).Add(Tag::kClearNamespace, All());
  EXPECT_EQ(AnswerOf<std::uint64_t>(Execute(hers)), 1U);
  const RequestBuilder his = Remembered(1).Within(bob).Add(Tag::kPut, Put("k"));
  EXPECT_EQ(ResultAt(Execute(his), 0).body.size(), 0U) << "a put is answered, not a count";
  EXPECT_TRUE(
      AnswerOf<std::optional<Item>>(Execute(Frame(9).Within(bob).Add(Tag::kGet, Get("k")))));
  EXPECT_EQ(CodeOf(Execute(Remembered(1).Add(Tag::kPut, Put("whole")))), StatusCode::kOk);
  EXPECT_TRUE(ItemAt("whole"));
  // What he acknowledges are answers of his own.
  Execute(Frame(5).Remember(4).Within(bob).Add(Tag::kPut, Put("k")));
  EXPECT_EQ(AnswerOf<std::uint64_t>(Execute(hers)), 1U);
  EXPECT_EQ(Rows(), 3);
}

TEST_F(AnswersTest, under_another_policy_a_request_is_judged_anew) {
  const auto in = [](bool is_read_only) {
    Policy policy;
    policy.read_only = is_read_only;
    return Remembered(1).Within(std::vector<ScopeLevel>{{{"user", "ada"}, policy}});
  };
  EXPECT_EQ(CodeOf(Execute(in(false).Add(Tag::kPut, Put("k")))), StatusCode::kOk);
  EXPECT_EQ(CodeOf(Execute(in(true).Add(Tag::kPut, Put("k")))), StatusCode::kAccessDenied);
}

TEST_F(AnswersTest, a_scope_that_is_forgotten_leaves_no_answer_with_its_name) {
  const auto in = [](Namespace place) { return std::vector<ScopeLevel>{{std::move(place), {}}}; };
  Execute(Remembered(1).Within(in({"user", "ada"})).Add(Tag::kPut, Put("k")));
  Execute(Remembered(1).Within(in({"user", "adam"})).Add(Tag::kPut, Put("k")));
  Execute(Remembered(1).Add(Tag::kPut, Put("k")));
  Erasure some{.id = "1", .digest = "d", .namespaces = {{"user", "ada"}}, .filter = "{\"a\":1}"};
  Execute(Frame(2).Add(Tag::kForget, some));
  EXPECT_EQ(Rows(), 3);
  Erasure all{.id = "2", .digest = "d", .namespaces = {{"user", "ada"}}};
  EXPECT_EQ(CodeOf(Execute(Frame(3).Add(Tag::kForget, all))), StatusCode::kOk);
  EXPECT_EQ(Rows(), 2);
}

TEST_F(AnswersTest, what_a_client_acknowledges_is_deleted_and_nothing_else) {
  for (std::uint64_t sequence = 1; sequence <= 4; ++sequence) {
    Execute(Remembered(sequence).Add(Tag::kPut, Put("k")));
  }
  Execute(Remembered(2, kNow, kClient + 1).Add(Tag::kPut, Put("k")));
  EXPECT_EQ(Rows(), 5);
  Execute(Frame(5).Remember(3).Add(Tag::kClearNamespace, All()));
  EXPECT_EQ(Rows(), 3);
  EXPECT_EQ(AnswerOf<std::uint64_t>(Execute(Frame(5).Remember(3).Add(Tag::kClearNamespace, All()))),
            1U);
  Execute(Remembered(4).Add(Tag::kPut, Put("k")));
  EXPECT_FALSE(ItemAt("k")) << "4 was not acknowledged, and was answered before";
}

TEST_F(AnswersTest, old_answers_are_deleted_by_the_first_request_of_an_engine_and_then_daily) {
  Execute(Remembered(1, kNow, 1).Add(Tag::kPut, Put("k")));
  Execute(Remembered(1, kNow + kHour, 2).Add(Tag::kPut, Put("k")));
  Execute(Remembered(1, kNow + 24 * kHour - 1, 3).Add(Tag::kPut, Put("k")));
  EXPECT_EQ(Rows(), 3);  // and a new engine
  Execute(Remembered(1, kNow + 24 * kHour + 1, 4).Add(Tag::kPut, Put("k")));
  EXPECT_EQ(Rows(), 3);
  Execute(Remembered(2, kNow + 30 * kHour, 4).Add(Tag::kPut, Put("k")));
  Execute(Remembered(3, kNow + 53 * kHour, 4).Add(Tag::kPut, Put("k")));
  Execute(Remembered(4, kNow + 54 * kHour, 4).Add(Tag::kPut, Put("k")));
  EXPECT_EQ(Rows(), 3);
}

TEST_F(AnswersTest, an_old_answer_is_still_given_if_its_request_is_the_first) {
  const auto clear = [](std::int64_t now_ms) {
    return Remembered(2, now_ms).Add(Tag::kClearNamespace, All());
  };
  Execute(Frame(1).Add(Tag::kPut, Put("k")));
  const Bytes first = Execute(clear(kNow));
  Reopen();
  EXPECT_EQ(Execute(clear(kNow + 100 * kHour)), first);
}

TEST_F(AnswersTest, a_request_that_did_not_commit_left_neither_writes_nor_an_answer) {
  Execute(Remembered(1).Add(Tag::kPut, Put("warm")));
  const RequestBuilder frame =
      Remembered(2).Add(Tag::kPut, Put("k")).Add(Tag::kPutCheckpoint, Checkpoint("t"));
  files_.room = 0;
  const Bytes failed = Execute(frame);
  EXPECT_EQ(failed[1], std::to_underlying(wire::FrameKind::kFailed));
  EXPECT_EQ(CodeOf(failed), StatusCode::kStorageFull);
  files_.room.reset();
  EXPECT_FALSE(ItemAt("k"));
  const Bytes done = Execute(frame);
  EXPECT_EQ(CodeOf(done, 0), StatusCode::kOk);
  EXPECT_EQ(CodeOf(done, 1), StatusCode::kOk);
  EXPECT_EQ(Rows(), 2);
}

TEST_F(AnswersTest, an_owner_that_dies_before_its_commit_left_neither_writes_nor_an_answer) {
  Execute(Frame(1).Add(Tag::kPut, Put("k")).Add(Tag::kPut, Put("k2")));
  const RequestBuilder clear = Remembered(2).Add(Tag::kClearNamespace, All());
  MemoryFiles before = files_.CopyOfBytes();
  const std::size_t log_before = before.log().bytes.size();
  Execute(clear);
  // The write of the commit, cut short.
  MemoryFiles cut = files_.CopyOfBytes();
  ASSERT_GT(cut.log().bytes.size(), log_before);
  cut.log().bytes.pop_back();
  session_->Close();
  files_ = std::move(cut);
  Open();
  EXPECT_TRUE(ItemAt("k"));
  EXPECT_EQ(AnswerOf<std::uint64_t>(Execute(clear)), 2U);
}

TEST_F(AnswersTest, a_remembered_write_is_one_write_to_the_log_and_takes_one_page_more) {
  const auto cost = [&](const RequestBuilder& frame) {
    const int writes = files_.log().writes;
    const std::size_t bytes = files_.log().bytes.size();
    Execute(frame);
    EXPECT_EQ(files_.log().writes - writes, 1);
    return files_.log().bytes.size() - bytes;
  };
  constexpr std::size_t kPageInLog = 24 + 4096;
  Execute(Remembered(1).Add(Tag::kPut, Put("k")));
  const std::size_t plain = cost(Frame(2).Add(Tag::kPut, Put("k", "2")));
  EXPECT_GT(plain, 0U);
  EXPECT_EQ(cost(Frame(3).Remember(1).Add(Tag::kPut, Put("k", "3"))), plain + kPageInLog);
}

TEST_F(AnswersTest, an_answer_in_which_some_operations_failed_is_kept_whole) {
  Execute(Frame(1).Add(Tag::kPutCheckpoint, Checkpoint("source")));
  const RequestBuilder frame = Remembered(2)
                                   .Add(Tag::kPut, Put("k", "not JSON"))
                                   .Add(Tag::kCopyThread, wire::CopyThread{"source", "target"});
  const Bytes first = Execute(frame);
  EXPECT_EQ(CodeOf(first, 0), StatusCode::kInvalidValue);
  EXPECT_EQ(CodeOf(first, 1), StatusCode::kOk);
  Reopen();
  EXPECT_EQ(Execute(frame), first) << "copied again, it would meet its own target";
}

TEST_F(AnswersTest, nothing_is_kept_of_a_request_that_only_read_or_failed) {
  Execute(Remembered(1).Add(Tag::kGet, Get("k")).Add(Tag::kStoreStats, wire::Nothing{}));
  const RequestBuilder copy = Remembered(2).Add(Tag::kCopyThread, wire::CopyThread{"t", "u"});
  Execute(
      Frame(3).Add(Tag::kPutCheckpoint, Checkpoint("t")).Add(Tag::kPutCheckpoint, Checkpoint("u")));
  EXPECT_EQ(CodeOf(Execute(copy)), StatusCode::kInvalidArgument);
  EXPECT_EQ(Rows(), 0);
  Execute(Frame(4).Add(Tag::kDeleteThread, wire::DeleteThread{"u"}));
  EXPECT_EQ(CodeOf(Execute(copy)), StatusCode::kOk);
  EXPECT_EQ(Rows(), 1);
}

TEST_F(AnswersTest, an_operation_that_fails_alone_undoes_its_writes) {
  const wire::PutWrites writes{{"t", "", "c"}, {golden::AnyWrite(), {}}};
  EXPECT_EQ(CodeOf(Execute(Remembered(1).Add(Tag::kPutWrites, writes))),
            StatusCode::kInvalidArgument);
  const Bytes stats = Execute(Frame(2).Add(Tag::kCheckpointerStats, wire::Nothing{}));
  EXPECT_EQ(AnswerOf<CheckpointerStats>(stats).writes, 0U);
}

TEST_F(AnswersTest, a_long_answer_is_kept_too) {
  const std::string value = "\"" + std::string(1'000'000, 'x') + "\"";
  Execute(Frame(1).Add(Tag::kPut, Put("huge", value)));
  const RequestBuilder frame =
      Remembered(2).Add(Tag::kGet, Get("huge")).Add(Tag::kPut, Put("huge", "2"));
  const Bytes first = Execute(frame);
  EXPECT_EQ(AnswerOf<std::optional<Item>>(first)->value, value);
  Crash();
  EXPECT_EQ(Execute(frame), first);
  EXPECT_EQ(ItemAt("huge")->value, "2");
}

TEST_F(AnswersTest, of_a_longer_answer_it_is_kept_that_it_was_done) {
  const std::vector<ScopeLevel> ada = {{{"user", "ada"}, {}}};
  const auto check = [&](std::size_t size, const auto& within) {
    const std::string value = "\"" + std::string(size, 'x') + "\"";
    Execute(within(Frame(1)).Add(Tag::kPut, Put("huge", value)));
    const RequestBuilder frame =
        within(Remembered(2)).Add(Tag::kGet, Get("huge")).Add(Tag::kPut, Put("huge", "2"));
    EXPECT_EQ(AnswerOf<std::optional<Item>>(Execute(frame))->value, value);
    Execute(within(Frame(3)).Add(Tag::kPut, Put("huge", "3")));
    EXPECT_EQ(CodeOf(Execute(frame)), StatusCode::kNotFound);
    const Bytes now = Execute(within(Frame(4)).Add(Tag::kGet, Get("huge")));
    EXPECT_EQ(AnswerOf<std::optional<Item>>(now)->value, "3");
  };
  check(Answers::kMostBytes, [](RequestBuilder frame) { return frame; });
  check(Answers::kMostBytesInScope, [&](RequestBuilder frame) { return frame.Within(ada); });
}

TEST_F(AnswersTest, a_scope_that_acknowledges_nothing_fills_no_file) {
  const std::vector<ScopeLevel> ada = {{{"user", "ada"}, {}}};
  const std::string value = "\"" + std::string(10'000, 'x') + "\"";
  Execute(Frame(1).Within(ada).Add(Tag::kPut, Put("k", value)));
  Execute(Remembered(1, kNow, 3).Add(Tag::kPut, Put("of the whole memory")));
  for (std::uint64_t i = 1; i <= 600; ++i) {
    std::vector<ScopeLevel> within = ada;
    if (i % 2 == 0) within.push_back({{"s" + std::to_string(i)}, {}});
    Execute(Frame(9).Within(within).Add(Tag::kPut, Put("k", value)));
    Execute(Remembered(1, kNow + static_cast<std::int64_t>(i), 100 + i)
                .Within(within)
                .Add(Tag::kGet, Get("k"))
                .Add(Tag::kPut, Put("other")));
  }
  EXPECT_LT(Rows(), 400) << "of 10 KB each";
}

TEST_F(AnswersTest, a_request_that_changes_more_than_rows_is_run_as_without_the_flag) {
  std::uint64_t sequence = 0;
  const auto code = [&](Tag tag, const auto& payload) {
    return CodeOf(Execute(Remembered(++sequence).Add(tag, payload)));
  };
  EXPECT_EQ(code(Tag::kFlush, wire::Nothing{}), StatusCode::kOk);
  EXPECT_EQ(code(Tag::kBeginExport, wire::Nothing{}), StatusCode::kOk);
  EXPECT_EQ(code(Tag::kReadExport, wire::ReadExport{0, 10}), StatusCode::kOk);
  EXPECT_EQ(code(Tag::kEndExport, wire::Nothing{}), StatusCode::kOk);
  EXPECT_EQ(code(Tag::kForeignClose, wire::Nothing{}), StatusCode::kOk);
  EXPECT_EQ(code(Tag::kSize, wire::Nothing{}), StatusCode::kOk);
  const wire::ConfigureStore configure{IndexConfig{2, {"$"}}};
  const RequestBuilder frame =
      Remembered(++sequence).Add(Tag::kConfigureStore, configure).Add(Tag::kPut, Put("k"));
  EXPECT_EQ(CodeOf(Execute(frame)), StatusCode::kOk);
  EXPECT_EQ(Rows(), 0);
  // The next owner has to be configured, too.
  EXPECT_EQ(CodeOf(Execute(frame)), StatusCode::kOk);
  PutOp put = Put("vector");
  put.vectors = {{"$", {1, 1}}};
  EXPECT_EQ(code(Tag::kPut, put), StatusCode::kOk);
}

TEST_F(AnswersTest, an_import_ends_with_no_answers_of_either_side) {
  sql::MemoryFiles source_files("source.db");
  const auto source_vfs = *sql::FileVfs::Register("answers-source", source_files.Host());
  const sql::OpenOptions source{.path = "source.db", .vfs = "answers-source"};
  {
    Engine session;
    session.Open(OpenFrame(source));
    session.Execute(Remembered(1).Add(Tag::kPut, Put("theirs")).Build());
    session.Close();
  }
  Execute(Remembered(2).Add(Tag::kPut, Put("ours")));
  const RequestBuilder import = Remembered(3).Add(Tag::kImportFrom, source);
  EXPECT_EQ(CodeOf(Execute(import)), StatusCode::kOk);
  EXPECT_EQ(Rows(), 0);
  EXPECT_TRUE(ItemAt("theirs"));
  EXPECT_FALSE(ItemAt("ours"));
  EXPECT_EQ(AnswerOf<std::uint64_t>(Execute(Remembered(1).Add(Tag::kClearNamespace, All()))), 1U)
      << "the first request of this file is not that of the other";
}

TEST_F(AnswersTest, an_exported_file_gives_its_next_owner_the_answers_with_what_they_tell_of) {
  Execute(Frame(1).Add(Tag::kPut, Put("k")));
  const RequestBuilder clear = Remembered(2).Add(Tag::kClearNamespace, All());
  const Bytes first = Execute(clear);
  const auto size =
      AnswerOf<std::uint64_t>(Execute(Frame(3).Add(Tag::kBeginExport, wire::Nothing{})));
  const Bytes file = AnswerOf<Bytes>(Execute(
      Frame(4).Add(Tag::kReadExport, wire::ReadExport{0, static_cast<std::uint32_t>(size)})));
  Execute(Frame(5).Add(Tag::kEndExport, wire::Nothing{}));

  sql::MemoryFiles copy("copy.db");
  copy.database().bytes = file;
  const auto vfs = *sql::FileVfs::Register("answers-copy", copy.Host());
  Engine session;
  session.Open(OpenFrame(sql::OpenOptions{.path = "copy.db", .vfs = "answers-copy"}));
  EXPECT_EQ(Copy(session.Execute(clear.Build())), first);
  session.Close();
}

TEST(InMemoryAnswers, an_engine_in_memory_ignores_the_flag) {
  Engine session;
  session.Open(OpenFrame(std::nullopt));
  const auto execute = [&](const RequestBuilder& frame) {
    const ByteView response = session.Execute(frame.Build());
    return Bytes(response.begin(), response.end());
  };
  execute(Remembered(1).Add(Tag::kPut, Put("k")));
  const RequestBuilder clear = Remembered(2).Add(Tag::kClearNamespace, All());
  EXPECT_EQ(AnswerOf<std::uint64_t>(execute(clear)), 1U);
  EXPECT_EQ(AnswerOf<std::uint64_t>(execute(clear)), 0U);
}

}  // namespace
}  // namespace keepsake
