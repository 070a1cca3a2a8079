// Engine: what a frame does as a whole. What its operations do is
// tested where they are implemented.
#include "keepsake/engine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "../golden/golden_frames.h"
#include "file_vfs_test_files.h"
#include "sample_operations.h"

namespace keepsake {
namespace {

using sample::Checkpoint;
using sample::Get;
using sample::Put;
using wire::RequestBuilder;
using wire::Tag;

constexpr std::int64_t kNow = 1'700'000'000'000;

wire::RequestHeader Header(std::int64_t now_ms = kNow) {
  return {.client_id = 7, .sequence = 42, .now_ms = now_ms};
}
RequestBuilder Frame() { return RequestBuilder(Header()); }

Bytes OpenFrame(std::optional<sql::OpenOptions> database) {
  return RequestBuilder({.kind = wire::FrameKind::kOpen, .sequence = 41})
      .Add(Tag::kOpen, wire::Open{std::move(database)})
      .Build();
}

// A response with its bytes.
struct Answers {
  explicit Answers(ByteView response)
      : bytes(response.begin(), response.end()), parsed(wire::ParseResponse(bytes)) {}

  wire::FrameKind kind() const { return parsed->header.kind; }
  std::size_t size() const { return parsed->results.size(); }
  StatusCode code(std::size_t position) const { return parsed->results.at(position).code; }
  std::string message(std::size_t position) const { return parsed->results.at(position).message(); }
  template <typename T>
  T As(std::size_t position) const {
    return wire::Decode<T>(parsed->results.at(position).body).value();
  }
  std::optional<Item> item(std::size_t position) const { return As<std::optional<Item>>(position); }

  Bytes bytes;
  Result<wire::Response> parsed;
};

// Over the engine in memory and the one over SQLite.
class EngineTest : public testing::TestWithParam<bool> {
 protected:
  static std::optional<sql::OpenOptions> Database() {
    if (!GetParam()) return std::nullopt;
    return sql::OpenOptions{.path = ":memory:", .vfs = ""};
  }
  void SetUp() override { ASSERT_EQ(Answers(session_.Open(OpenFrame(Database()))).code(0), kOk); }
  Answers Execute(const RequestBuilder& frame) { return Answers(session_.Execute(frame.Build())); }
  std::uint64_t Checkpoints() {
    const Answers answers = Execute(Frame().Add(Tag::kCheckpointerStats, wire::Nothing{}));
    return answers.As<CheckpointerStats>(0).checkpoints;
  }

  static constexpr StatusCode kOk = StatusCode::kOk;
  Engine session_;
};

INSTANTIATE_TEST_SUITE_P(Engines, EngineTest, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Sqlite" : "InMemory";
});

TEST_P(EngineTest, a_response_repeats_version_kind_and_sequence) {
  const Answers answers = Execute(Frame());
  EXPECT_EQ(answers.parsed->header.version, wire::kVersion);
  EXPECT_EQ(answers.kind(), wire::FrameKind::kExecute);
  EXPECT_EQ(answers.parsed->header.sequence, 42U);
  EXPECT_EQ(answers.size(), 0U);
}

TEST_P(EngineTest, a_malformed_frame_is_answered_by_one_status_and_its_sequence) {
  Bytes frame = Frame().Add(Tag::kPut, Put("k", "1")).Build();
  frame.pop_back();
  const Answers answers(session_.Execute(frame));
  EXPECT_EQ(answers.kind(), wire::FrameKind::kFailed);
  EXPECT_EQ(answers.parsed->header.sequence, 42U);
  EXPECT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers.code(0), StatusCode::kMalformedFrame);
  EXPECT_EQ(Execute(Frame().Add(Tag::kGet, Get("k"))).item(0), std::nullopt);
}

TEST_P(EngineTest, an_open_frame_is_not_executed) {
  const Answers answers(session_.Execute(OpenFrame(std::nullopt)));
  EXPECT_EQ(answers.kind(), wire::FrameKind::kFailed);
  EXPECT_EQ(answers.code(0), StatusCode::kMalformedFrame);
}

TEST_P(EngineTest, cap_37_store_operations_of_a_frame_are_one_batch_with_results_in_place) {
  Execute(Frame().Add(Tag::kPut, Put("k", "\"before\"")));
  const Answers answers = Execute(Frame()
                                      .Add(Tag::kPut, Put("k", "\"first\""))
                                      .Add(Tag::kGet, Get("k"))
                                      .Add(Tag::kCheckpointerStats, wire::Nothing{})
                                      .Add(Tag::kPut, Put("k", "\"last\""))
                                      .Add(Tag::kGet, Get("other")));
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_EQ(answers.item(1)->value, "\"before\"");
  EXPECT_EQ(answers.As<CheckpointerStats>(2).checkpoints, 0U);
  EXPECT_EQ(answers.item(4), std::nullopt);
  EXPECT_EQ(Execute(Frame().Add(Tag::kGet, Get("k"))).item(0)->value, "\"last\"");
}

TEST_P(EngineTest, a_batch_runs_where_its_first_operation_stands) {
  const Answers answers = Execute(Frame()
                                      .Add(Tag::kListKeys, wire::OneNamespace{{"a"}})
                                      .Add(Tag::kPut, Put("k", "1"))
                                      .Add(Tag::kListKeys, wire::OneNamespace{{"a"}}));
  EXPECT_EQ(answers.As<std::vector<std::string>>(0).size(), 0U);
  EXPECT_EQ(answers.As<std::vector<std::string>>(2), std::vector<std::string>{"k"});
}

TEST_P(EngineTest, a_failing_batch_gives_all_its_operations_the_same_status_and_no_others) {
  const Answers answers = Execute(Frame()
                                      .Add(Tag::kPut, Put("k", "1"))
                                      .Add(Tag::kPutCheckpoint, Checkpoint("t"))
                                      .Add(Tag::kPut, Put("k2", "not JSON"))
                                      .Add(Tag::kGet, Get("k")));
  EXPECT_EQ(answers.code(0), StatusCode::kInvalidValue);
  EXPECT_EQ(answers.code(1), kOk);
  EXPECT_EQ(answers.code(2), StatusCode::kInvalidValue);
  EXPECT_EQ(answers.code(3), StatusCode::kInvalidValue);
  EXPECT_EQ(answers.message(0), answers.message(2));
  EXPECT_EQ(Execute(Frame().Add(Tag::kGet, Get("k"))).item(0), std::nullopt);
  EXPECT_EQ(Checkpoints(), 1U);
}

TEST_P(EngineTest, a_store_operation_that_cannot_be_decoded_fails_its_batch) {
  const Answers answers = Execute(
      Frame().Add(Tag::kPut, Put("k", "1")).AddRaw(std::to_underlying(Tag::kGet), {1, 2, 3}));
  EXPECT_EQ(answers.code(0), StatusCode::kMalformedFrame);
  EXPECT_EQ(answers.code(1), StatusCode::kMalformedFrame);
  EXPECT_EQ(Execute(Frame().Add(Tag::kGet, Get("k"))).item(0), std::nullopt);
}

TEST_P(EngineTest, a_wrong_payload_or_an_unknown_tag_fails_at_its_position_only) {
  RequestBuilder frame = Frame();
  frame.Add(Tag::kPut, Put("k", "1")).AddRaw(std::to_underlying(Tag::kDeleteThread), {9});
  constexpr std::array<std::uint8_t, 11> kUnknown = {0, 1, 15, 45, 63, 78, 127, 160, 191, 197, 255};
  for (const std::uint8_t tag : kUnknown) frame.AddRaw(tag, {});
  const Answers answers = Execute(frame);
  EXPECT_EQ(answers.code(0), kOk);
  EXPECT_EQ(answers.code(1), StatusCode::kMalformedFrame);
  for (std::size_t i = 0; i < kUnknown.size(); ++i) {
    EXPECT_EQ(answers.code(i + 2), StatusCode::kInvalidOperation);
    EXPECT_EQ(answers.message(i + 2), "no operation has the tag " + std::to_string(kUnknown[i]));
  }
  EXPECT_EQ(Execute(Frame().Add(Tag::kGet, Get("k"))).item(0)->value, "1");
}

TEST_P(EngineTest, time_comes_with_the_frame) {
  PutOp put = Put("k", "1");
  put.ttl_ms = 1000;
  Execute(Frame().Add(Tag::kPut, put));
  const auto item_at = [&](std::int64_t now_ms) {
    GetOp get = Get("k");
    get.refresh_ttl = false;
    return Execute(RequestBuilder(Header(now_ms)).Add(Tag::kGet, get)).item(0);
  };
  EXPECT_EQ(item_at(kNow + 999)->created_at_ms, kNow);
  EXPECT_EQ(item_at(kNow + 1000), std::nullopt);
}

TEST_P(EngineTest, a_failing_operation_undoes_itself_and_no_other) {
  const Answers answers =
      Execute(Frame()
                  .Add(Tag::kPutCheckpoint, Checkpoint("source"))
                  .Add(Tag::kPutCheckpoint, Checkpoint("target"))
                  .Add(Tag::kCopyThread, wire::CopyThread{"source", "target"})
                  .Add(Tag::kPut, Put("k", "1"))
                  .Add(Tag::kPutWrites, wire::PutWrites{{"t", "", "c"}, {golden::AnyWrite(), {}}}));
  EXPECT_EQ(answers.code(0), kOk);
  EXPECT_EQ(answers.code(1), kOk);
  EXPECT_EQ(answers.code(2), StatusCode::kInvalidArgument);
  EXPECT_EQ(answers.code(3), kOk);
  EXPECT_EQ(answers.code(4), StatusCode::kInvalidArgument);
  EXPECT_EQ(Execute(Frame().Add(Tag::kGet, Get("k"))).item(0)->value, "1");
  const Answers stats = Execute(Frame().Add(Tag::kCheckpointerStats, wire::Nothing{}));
  EXPECT_EQ(stats.As<CheckpointerStats>(0).checkpoints, 2U);
  EXPECT_EQ(stats.As<CheckpointerStats>(0).writes, 0U);
}

TEST_P(EngineTest, a_failing_write_of_a_superstep_undoes_itself_and_no_other) {
  const PendingWrite write = golden::AnyWrite();
  PendingWrite wrong = write;
  wrong.task_id.clear();
  const Answers answers =
      Execute(Frame()
                  .Add(Tag::kPutCheckpoint, Checkpoint("t"))
                  .Add(Tag::kPutWrites, wire::PutWrites{{"t", "", "c"}, {wrong}})
                  .Add(Tag::kPutWrites, wire::PutWrites{{"t", "", "c"}, {write}})
                  .Add(Tag::kPutCheckpoint, Checkpoint("u")));
  EXPECT_EQ(answers.code(0), kOk);
  EXPECT_EQ(answers.code(1), StatusCode::kInvalidArgument);
  EXPECT_EQ(answers.code(2), kOk);
  EXPECT_EQ(answers.code(3), kOk);
  const Answers stats = Execute(Frame().Add(Tag::kCheckpointerStats, wire::Nothing{}));
  EXPECT_EQ(stats.As<CheckpointerStats>(0).checkpoints, 2U);
  EXPECT_EQ(stats.As<CheckpointerStats>(0).writes, 1U);
}

TEST_P(EngineTest, what_needs_the_whole_database_must_be_alone_in_its_frame) {
  const Answers answers =
      Execute(Frame()
                  .Add(Tag::kFlush, wire::Nothing{})
                  .Add(Tag::kBeginExport, wire::Nothing{})
                  .Add(Tag::kImportFrom, sql::OpenOptions{.path = "x", .vfs = ""})
                  .Add(Tag::kPut, Put("k", "1")));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(answers.code(i), StatusCode::kInvalidOperation);
    EXPECT_EQ(
        answers.message(i),
        "flush, begin_export, import_from, finish_import and forget must be alone in a frame");
  }
  EXPECT_EQ(answers.code(3), kOk);
  EXPECT_EQ(Execute(Frame().Add(Tag::kFlush, wire::Nothing{})).code(0), kOk);
}

TEST_P(EngineTest, the_store_is_configured_by_frames) {
  const wire::ConfigureStore configure{IndexConfig{2, {"text"}}};
  EXPECT_EQ(Execute(Frame().Add(Tag::kConfigureStore, configure)).code(0), kOk);
  const wire::ConfigureStore other{IndexConfig{3, {"text"}}};
  EXPECT_EQ(Execute(Frame().Add(Tag::kConfigureStore, other)).code(0),
            StatusCode::kConflictingOptions);
}

TEST_P(EngineTest, foreign_rows_need_an_open_foreign_file) {
  const Answers answers = Execute(Frame().Add(Tag::kForeignCheckpoints, wire::ForeignRows{"", 10}));
  EXPECT_EQ(answers.code(0), StatusCode::kInvalidArgument);
  EXPECT_EQ(answers.message(0), "no foreign file is open");
  EXPECT_EQ(Execute(Frame().Add(Tag::kForeignClose, wire::Nothing{})).code(0), kOk);
}

TEST_P(EngineTest, a_large_response_is_complete) {
  const std::string value = "\"" + std::string(3'000'000, 'x') + "\"";
  Execute(Frame().Add(Tag::kPut, Put("k", value)));
  EXPECT_EQ(Execute(Frame().Add(Tag::kGet, Get("k"))).item(0)->value, value);
  EXPECT_EQ(Execute(Frame().Add(Tag::kGet, Get("none"))).item(0), std::nullopt);
}

TEST(InMemoryEngine, has_no_file_to_size_export_or_import) {
  Engine session;
  session.Open(OpenFrame(std::nullopt));
  const auto execute = [&](const RequestBuilder& frame) {
    return Answers(session.Execute(frame.Build()));
  };
  EXPECT_EQ(execute(Frame().Add(Tag::kSize, wire::Nothing{})).As<std::uint64_t>(0), 0U);
  EXPECT_EQ(execute(Frame().Add(Tag::kBeginExport, wire::Nothing{})).code(0),
            StatusCode::kUnsupported);
  EXPECT_EQ(execute(Frame().Add(Tag::kReadExport, wire::ReadExport{0, 1})).code(0),
            StatusCode::kUnsupported);
  EXPECT_EQ(
      execute(Frame().Add(Tag::kImportFrom, sql::OpenOptions{.path = "x", .vfs = ""})).code(0),
      StatusCode::kUnsupported);
}

TEST(SqliteEngine, exports_itself_in_pieces) {
  Engine session;
  session.Open(OpenFrame(sql::OpenOptions{.path = ":memory:", .vfs = ""}));
  const auto execute = [&](const RequestBuilder& frame) {
    return Answers(session.Execute(frame.Build()));
  };
  const auto size = execute(Frame().Add(Tag::kBeginExport, wire::Nothing{})).As<std::uint64_t>(0);
  EXPECT_EQ(execute(Frame().Add(Tag::kSize, wire::Nothing{})).As<std::uint64_t>(0), size);
  const Answers piece = execute(Frame().Add(Tag::kReadExport, wire::ReadExport{0, 15}));
  EXPECT_EQ(piece.As<Bytes>(0), golden::BytesOf("SQLite format 3"));
  const Answers rest =
      execute(Frame().Add(Tag::kReadExport, wire::ReadExport{15, wire::kMaxExportPiece}));
  EXPECT_EQ(rest.As<Bytes>(0).size(), size - 15);
  const Answers huge =
      execute(Frame().Add(Tag::kReadExport, wire::ReadExport{0, wire::kMaxExportPiece + 1}));
  EXPECT_EQ(huge.message(0), "a piece of an export must be at most 16777216 bytes: 16777217");
  EXPECT_EQ(execute(Frame().Add(Tag::kEndExport, wire::Nothing{})).code(0), StatusCode::kOk);
  EXPECT_EQ(execute(Frame().Add(Tag::kReadExport, wire::ReadExport{0, 1})).code(0),
            StatusCode::kInvalidArgument);
}

// A database on files in memory that can be told to fail.
class FailingDisk : public testing::Test {
 protected:
  FailingDisk() : files_("memory.db"), vfs_(*sql::FileVfs::Register("failing", files_.Host())) {
    session_.Open(OpenFrame(Options()));
  }
  ~FailingDisk() override { session_.Close(); }
  static sql::OpenOptions Options() { return {.path = "memory.db", .vfs = "failing"}; }
  Answers Execute(const RequestBuilder& frame) { return Answers(session_.Execute(frame.Build())); }

  sql::MemoryFiles files_;
  std::unique_ptr<sql::FileVfs> vfs_;
  Engine session_;
};

TEST_F(FailingDisk, a_frame_whose_commit_fails_keeps_nothing_and_gives_one_status_for_all) {
  files_.room = 0;
  const Answers failed = Execute(Frame()
                                     .Add(Tag::kPutCheckpoint, Checkpoint("t"))
                                     .Add(Tag::kPut, Put("k", "1"))
                                     .Add(Tag::kGet, Get("k")));
  EXPECT_EQ(failed.kind(), wire::FrameKind::kFailed);
  EXPECT_EQ(failed.parsed->header.sequence, 42U);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed.code(0), StatusCode::kStorageFull) << failed.message(0);
  files_.room.reset();
  const Answers after =
      Execute(Frame().Add(Tag::kCheckpointerStats, wire::Nothing{}).Add(Tag::kGet, Get("k")));
  EXPECT_EQ(after.As<CheckpointerStats>(0).checkpoints, 0U);
  EXPECT_EQ(after.item(1), std::nullopt);
}

TEST_F(FailingDisk, a_frame_is_one_write_to_the_log) {
  Execute(Frame().Add(Tag::kPut, Put("warm", "1")));
  const int before = files_.log().writes;
  Execute(Frame()
              .Add(Tag::kPutCheckpoint, Checkpoint("t"))
              .Add(Tag::kPut, Put("k", "1"))
              .Add(Tag::kPutCheckpoint, Checkpoint("u")));
  EXPECT_EQ(files_.log().writes - before, 1);
}

TEST_F(FailingDisk, what_was_answered_is_there_after_opening_again) {
  Execute(Frame().Add(Tag::kPutCheckpoint, Checkpoint("t")).Add(Tag::kPut, Put("k", "1")));
  session_.Close();
  EXPECT_EQ(Answers(session_.Open(OpenFrame(Options()))).code(0), StatusCode::kOk);
  const Answers answers =
      Execute(Frame().Add(Tag::kGet, Get("k")).Add(Tag::kCheckpointerStats, wire::Nothing{}));
  EXPECT_EQ(answers.item(0)->value, "1");
  EXPECT_EQ(answers.As<CheckpointerStats>(1).checkpoints, 1U);
}

// A keepsake file of one item with a vector of `dims` dimensions.
class ImportedFile {
 public:
  explicit ImportedFile(std::uint32_t dims)
      : path_(std::filesystem::path(testing::TempDir()) /
              ("keepsake-import-" + std::to_string(getpid()) + ".db")) {
    Remove();
    Engine session;
    session.Open(OpenFrame(options()));
    session.Execute(Frame().Add(Tag::kConfigureStore, Index(dims)).Build());
    PutOp put = Put("imported", "1");
    put.vectors = {{"$", std::vector<float>(dims, 1.0F)}};
    session.Execute(Frame().Add(Tag::kPut, put).Build());
  }
  ~ImportedFile() { Remove(); }

  sql::OpenOptions options() const { return {.path = path_.string(), .vfs = ""}; }
  static wire::ConfigureStore Index(std::uint32_t dims) { return {IndexConfig{dims, {"$"}}}; }

 private:
  void Remove() const {
    for (const char* suffix : {"", "-wal", "-journal"}) {
      std::filesystem::remove(path_.string() + suffix);
    }
  }

  std::filesystem::path path_;
};

class Import : public testing::Test {
 protected:
  Import() { session_.Open(OpenFrame(sql::OpenOptions{.path = ":memory:", .vfs = ""})); }
  Answers Execute(const RequestBuilder& frame) { return Answers(session_.Execute(frame.Build())); }
  Engine session_;
};

TEST_F(Import, brings_the_items_and_keeps_the_index_that_was_configured) {
  const ImportedFile file(3);
  Execute(Frame().Add(Tag::kConfigureStore, ImportedFile::Index(3)));
  EXPECT_EQ(Execute(Frame().Add(Tag::kImportFrom, file.options())).code(0), StatusCode::kOk);
  EXPECT_EQ(Execute(Frame().Add(Tag::kGet, Get("imported"))).item(0)->value, "1");
  SearchOp search{.ns_prefix = {}, .filter = "", .query = "q", .query_vector = {1, 1, 1}};
  const auto hits = Execute(Frame().Add(Tag::kSearch, search)).As<std::vector<SearchItem>>(0);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_NEAR(hits[0].score.value(), 1.0, 1e-6);
}

TEST_F(Import, of_vectors_that_the_index_does_not_fit_says_so_and_leaves_the_store_without_one) {
  const ImportedFile file(3);
  Execute(Frame().Add(Tag::kConfigureStore, ImportedFile::Index(2)));
  EXPECT_EQ(Execute(Frame().Add(Tag::kImportFrom, file.options())).code(0),
            StatusCode::kDimensionMismatch);
  EXPECT_EQ(Execute(Frame().Add(Tag::kGet, Get("imported"))).item(0)->value, "1");
  EXPECT_EQ(Execute(Frame().Add(Tag::kConfigureStore, ImportedFile::Index(3))).code(0),
            StatusCode::kOk);
}

TEST_F(Import, of_a_file_that_is_not_there_changes_nothing) {
  Execute(Frame().Add(Tag::kPut, Put("k", "1")));
  const sql::OpenOptions missing{.path = testing::TempDir() + "/keepsake-missing.db", .vfs = ""};
  EXPECT_EQ(Execute(Frame().Add(Tag::kImportFrom, missing)).code(0), StatusCode::kCannotOpen);
  EXPECT_EQ(Execute(Frame().Add(Tag::kGet, Get("k"))).item(0)->value, "1");
}

TEST(Engine, answers_closed_before_it_is_opened_and_after_it_is_closed) {
  Engine session;
  const Bytes frame = Frame().Add(Tag::kGet, Get("k")).Add(Tag::kGet, Get("k")).Build();
  const auto expect_closed = [&] {
    const Answers answers(session.Execute(frame));
    EXPECT_EQ(answers.kind(), wire::FrameKind::kFailed);
    EXPECT_EQ(answers.parsed->header.sequence, 42U);
    EXPECT_EQ(answers.code(0), StatusCode::kClosed);
  };
  expect_closed();
  EXPECT_EQ(Answers(session.Open(OpenFrame(std::nullopt))).code(0), StatusCode::kOk);
  EXPECT_EQ(Answers(session.Execute(frame)).code(0), StatusCode::kOk);
  session.Close();
  session.Close();
  expect_closed();
}

TEST(Engine, opens_by_a_frame_that_is_answered_in_kind) {
  Engine session;
  const Answers answers(session.Open(OpenFrame(std::nullopt)));
  EXPECT_EQ(answers.kind(), wire::FrameKind::kOpen);
  EXPECT_EQ(answers.parsed->header.sequence, 41U);
  EXPECT_EQ(answers.size(), 1U);
}

TEST(Engine, refuses_to_be_opened_twice_and_goes_on) {
  Engine session;
  session.Open(OpenFrame(std::nullopt));
  session.Execute(Frame().Add(Tag::kPut, Put("k", "1")).Build());
  EXPECT_EQ(Answers(session.Open(OpenFrame(std::nullopt))).code(0),
            StatusCode::kConflictingOptions);
  const Answers answers(session.Execute(Frame().Add(Tag::kGet, Get("k")).Build()));
  EXPECT_EQ(answers.item(0)->value, "1");
}

TEST(Engine, that_could_not_be_opened_may_be_opened_again) {
  Engine session;
  const sql::OpenOptions missing{.path = testing::TempDir() + "/no-such-folder/memory.db",
                                 .vfs = ""};
  EXPECT_EQ(Answers(session.Open(OpenFrame(missing))).code(0), StatusCode::kCannotOpen);
  EXPECT_EQ(Answers(session.Open(OpenFrame(std::nullopt))).code(0), StatusCode::kOk);
}

TEST(Engine, refuses_a_frame_that_does_not_open) {
  Engine session;
  const auto code_of = [&](const Bytes& frame) { return Answers(session.Open(frame)).code(0); };
  const wire::RequestHeader open{.kind = wire::FrameKind::kOpen};
  EXPECT_EQ(code_of({}), StatusCode::kMalformedFrame);
  EXPECT_EQ(code_of(Frame().Add(Tag::kGet, Get("k")).Build()), StatusCode::kMalformedFrame);
  EXPECT_EQ(code_of(RequestBuilder(open).Build()), StatusCode::kMalformedFrame);
  EXPECT_EQ(code_of(RequestBuilder(open).Add(Tag::kFlush, wire::Nothing{}).Build()),
            StatusCode::kMalformedFrame);
  EXPECT_EQ(code_of(RequestBuilder(open).AddRaw(std::to_underlying(Tag::kOpen), {2}).Build()),
            StatusCode::kMalformedFrame);
}

}  // namespace
}  // namespace keepsake
