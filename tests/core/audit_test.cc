// The audit log: what a frame leaves in it, how long it is kept, who sees it, and what an erasure
// makes of it.
#include "keepsake/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../golden/golden_frames.h"
#include "../golden/request_builder.h"
#include "engine/audit_trail.h"
#include "engine/operation_table.h"
#include "file_vfs_test_files.h"
#include "keepsake/engine.h"
#include "keepsake/scope.h"
#include "sample_operations.h"
#include "wire/reader.h"

namespace keepsake::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using sample::Checkpoint;
using sample::Get;
using sample::Put;
using sql::FileVfs;
using sql::MemoryFiles;
using wire::RequestBuilder;
using wire::Tag;

constexpr std::int64_t kNow = 1'700'000'000'000;
using Levels = std::vector<ScopeLevel>;

RequestBuilder Frame(std::int64_t now_ms = kNow) { return RequestBuilder({.now_ms = now_ms}); }
RequestBuilder ByAda() { return Frame().By("ada", "agent"); }

PutOp PutIn(Namespace ns, const std::string& key) {
  return {.ns = std::move(ns), .key = key, .value = "{\"v\":1}", .index = {}, .vectors = {}};
}

// An engine, and what it answers.
class Opened {
 public:
  explicit Opened(std::optional<sql::OpenOptions> database) {
    const Bytes open = RequestBuilder({.kind = wire::FrameKind::kOpen})
                           .Add(Tag::kOpen, wire::Open{std::move(database)})
                           .Build();
    engine_.Open(open);
  }

  StatusCode Run(const RequestBuilder& frame, std::size_t result = 0) {
    const ByteView response = engine_.Execute(frame.Build());
    answered_.assign(response.begin(), response.end());
    return wire::ParseResponse(answered_)->results.at(result).code;
  }
  void Keep(std::optional<AuditRule> rule = AuditRule{}, std::int64_t now_ms = kNow) {
    ASSERT_EQ(Run(Frame(now_ms).Add(Tag::kKeepAudit, wire::KeepAudit{rule})), StatusCode::kOk);
  }
  std::vector<AuditEntry> Log(AuditQuery query = {}, Levels levels = {},
                              std::int64_t now_ms = kNow) {
    RequestBuilder frame = Frame(now_ms);
    if (!levels.empty()) frame.Within(levels);
    EXPECT_EQ(Run(frame.Add(Tag::kAuditLog, query)), StatusCode::kOk);
    return Answer<std::vector<AuditEntry>>();
  }
  template <typename T>
  T Answer() {
    return wire::Decode<T>(wire::ParseResponse(answered_)->results[0].body).value();
  }
  std::optional<AuditEntry> Last() {
    const auto entries = Log({.limit = 1});
    return entries.empty() ? std::nullopt : std::optional(entries.front());
  }

 private:
  Engine engine_;
  Bytes answered_;
};

class AuditTest : public ::testing::TestWithParam<bool> {
 protected:
  AuditTest() : opened_(Database()) {}
  static std::optional<sql::OpenOptions> Database() {
    if (!GetParam()) return std::nullopt;
    return sql::OpenOptions{.path = ":memory:", .vfs = ""};
  }

  Opened opened_;
};

INSTANTIATE_TEST_SUITE_P(Engines, AuditTest, ::testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Sqlite" : "InMemory";
});

TEST_P(AuditTest, nothing_is_kept_unless_it_was_asked_for) {
  opened_.Run(ByAda().Add(Tag::kPut, Put("k")));
  EXPECT_THAT(opened_.Log(), IsEmpty());
  opened_.Keep();
  EXPECT_THAT(opened_.Log(), IsEmpty());
  opened_.Run(ByAda().Add(Tag::kPut, Put("k")));
  EXPECT_THAT(opened_.Log(), SizeIs(1));
  opened_.Keep(std::nullopt);
  EXPECT_THAT(opened_.Log(), IsEmpty());
  opened_.Run(ByAda().Add(Tag::kPut, Put("k")));
  opened_.Keep();
  EXPECT_THAT(opened_.Log(), IsEmpty());
}

TEST_P(AuditTest, cap_103_a_batch_is_an_entry_for_each_kind_and_namespace) {
  opened_.Keep();
  RequestBuilder frame = ByAda();
  for (int i = 0; i < 20; ++i) {
    frame.Add(Tag::kPut, PutIn({i % 2 == 0 ? "even" : "odd"}, std::to_string(i)));
  }
  frame.Add(Tag::kGet, Get("k")).Add(Tag::kPut, PutOp{.ns = {"odd"}, .key = "gone"});
  ASSERT_EQ(opened_.Run(frame), StatusCode::kOk);
  const AuditEntry even{.id = 1,
                        .at_ms = kNow,
                        .operation = Audited::kStore,
                        .ns = Namespace{"even"},
                        .actor = "ada",
                        .node_id = "agent",
                        .count = 10};
  AuditEntry odd = even, deleted = even;
  odd.id = 2;
  odd.ns = Namespace{"odd"};
  deleted.id = 3;
  deleted.operation = Audited::kDelete;
  deleted.ns = Namespace{"odd"};
  deleted.count = 1;
  EXPECT_THAT(opened_.Log(), ElementsAre(deleted, odd, even));
}

TEST_P(AuditTest, cap_103_each_kind_of_write_is_told_and_reads_are_not) {
  opened_.Keep();
  opened_.Run(ByAda().Add(Tag::kPut, Put("k")));
  opened_.Run(ByAda().Add(Tag::kGet, Get("k")));
  opened_.Run(ByAda().Add(Tag::kSearch, SearchOp{.ns_prefix = {}}));
  opened_.Run(ByAda().Add(Tag::kStoreStats, wire::Nothing{}));
  EXPECT_THAT(opened_.Log(), SizeIs(1));

  const auto told = [&](const RequestBuilder& frame) {
    EXPECT_EQ(opened_.Run(frame), StatusCode::kOk);
    const AuditEntry entry = opened_.Last().value();
    const std::string where =
        entry.ns ? entry.ns->empty() ? "[]" : entry.ns->back() : entry.thread_id.value_or("-");
    return std::pair(entry.operation, where + " " + std::to_string(entry.count));
  };
  using Told = std::pair<Audited, std::string>;
  EXPECT_EQ(told(Frame().Add(Tag::kClearNamespace, wire::OneNamespace{{"a"}})),
            Told(Audited::kClear, "a 1"));
  EXPECT_EQ(told(Frame().Add(Tag::kPutCheckpoint, Checkpoint("t1"))),
            Told(Audited::kStore, "t1 1"));
  EXPECT_EQ(told(Frame().Add(Tag::kCopyThread, wire::CopyThread{"t1", "t2"})),
            Told(Audited::kStore, "t2 1"));
  EXPECT_EQ(told(Frame().Add(Tag::kRenameThread, wire::RenameThread{"t2", "t3"})),
            Told(Audited::kStore, "t3 1"));
  EXPECT_EQ(told(Frame().Add(Tag::kForkThread, wire::ForkThread{"t1", "c1", "t4"})),
            Told(Audited::kStore, "t4 1"));
  EXPECT_EQ(told(Frame().Add(Tag::kDeleteThread, wire::DeleteThread{"t4"})),
            Told(Audited::kDelete, "t4 1"));
  EXPECT_EQ(told(Frame().Add(Tag::kPrune, RetentionRules{.thread_ids = {{"t1", "t3"}},
                                                         .strategy = PruneStrategy::kDelete})),
            Told(Audited::kDelete, "- 2"));
  EXPECT_EQ(told(Frame().Add(Tag::kKeepHistory, HistoryRule{.ns = {}})),
            Told(Audited::kConfigure, "[] 1"));
  opened_.Run(Frame().Add(Tag::kPut, Put("k")));
  EXPECT_EQ(told(Frame().Add(Tag::kUndo, Undo{.operation = 1})), Told(Audited::kUndo, "- 1"));
  EXPECT_EQ(told(Frame().Add(Tag::kHold, Hold{{"a"}, "case 7", 0})), Told(Audited::kHold, "a 1"));
  EXPECT_EQ(told(Frame().Add(Tag::kRelease, wire::OneNamespace{{"a"}})),
            Told(Audited::kRelease, "a 1"));
  EXPECT_EQ(told(Frame().Add(Tag::kKeepAudit, wire::KeepAudit{AuditRule{}})),
            Told(Audited::kConfigure, "- 1"));
  opened_.Run(Frame().Add(Tag::kPut, Put("k")));
  EXPECT_EQ(
      told(Frame().Add(Tag::kForget, Erasure{.id = "e", .digest = "", .namespaces = {{"a"}}})),
      Told(Audited::kForget, "- 1"));
  const std::size_t entries = opened_.Log().size();
  opened_.Run(Frame().Add(Tag::kClearNamespace, wire::OneNamespace{{"a"}}));
  opened_.Run(Frame().Add(Tag::kSweepExpired, wire::SweepExpired{100}));
  opened_.Run(Frame().Add(Tag::kPut, PutOp{.ns = {"a"}, .key = "k", .value = "no JSON"}));
  EXPECT_THAT(opened_.Log(), SizeIs(entries)) << "what changed nothing, or is a mistake";
}

TEST(Audit, each_operation_that_writes_is_audited) {
  // Vectors of items that were put before.
  const std::set<Tag> exempt = {Tag::kEmbedPending};
  for (const OperationRow& row : Operations()) {
    const bool writes = row.Has(kWrites) && !exempt.contains(row.tag);
    if (writes) {
      EXPECT_NE(row.audited.operation, Audited::kRecall) << static_cast<int>(row.tag);
    }
    if (!row.Has(kWrites | kBeyondRows)) {
      EXPECT_EQ(row.audited.operation, Audited::kRecall) << static_cast<int>(row.tag);
    }
  }
}

// By the golden frames, which all name the same one.
TEST(Audit, each_operation_that_begins_with_a_namespace_says_so) {
  std::size_t found = 0;
  for (const golden::GoldenFrame& golden : golden::GoldenFrames()) {
    const auto request = wire::ParseRequest(golden.request, wire::FrameKind::kExecute);
    if (!request) continue;  // it opens
    for (const wire::OperationView& view : request->operations) {
      Namespace ns;
      if (!wire::Reader(view.payload).Get(ns) || ns != golden::AnyNamespace()) continue;
      EXPECT_EQ(FindOperation(view.tag)->audited.place, Place::kNamespace) << golden.name;
      ++found;
    }
  }
  EXPECT_GT(found, 5U);
}

TEST_P(AuditTest, cap_103_cap_104_what_a_rule_refuses_is_told_and_changes_nothing) {
  opened_.Keep();
  const Levels ada = {{{"user", "ada"}, {.writable = {{{"notes"}}}, .max_value_bytes = 10}}};
  const auto in_scope = [&] { return std::move(Frame().Within(ada).By("eve", "")); };
  ASSERT_EQ(opened_.Run(in_scope().Add(Tag::kPut, PutIn({"notes"}, "k"))), StatusCode::kOk);
  EXPECT_EQ(opened_.Run(in_scope().Add(Tag::kPut, PutIn({"facts"}, "k"))),
            StatusCode::kAccessDenied);
  PutOp large = PutIn({"notes"}, "large");
  large.value = "\"0123456789\"";
  RequestBuilder batch = in_scope();
  batch.Add(Tag::kPut, PutIn({"notes"}, "beside")).Add(Tag::kPut, large);
  EXPECT_EQ(opened_.Run(batch), StatusCode::kQuotaExceeded);
  EXPECT_EQ(opened_.Run(in_scope().Add(Tag::kHistoryRules, wire::Nothing{})),
            StatusCode::kAccessDenied);
  ASSERT_EQ(opened_.Run(Frame().Add(Tag::kHold, Hold{{"user", "ada"}, "case 7", 0})),
            StatusCode::kOk);
  const Erasure erasure{.id = "e", .digest = "", .namespaces = {{"user", "ada"}}};
  EXPECT_EQ(opened_.Run(Frame().Add(Tag::kForget, erasure)), StatusCode::kHeld);
  Erasure dry = erasure;
  dry.dry_run = true;
  EXPECT_EQ(opened_.Run(Frame().Add(Tag::kForget, dry)), StatusCode::kHeld) << "only asks";

  AuditEntry entry{
      .id = 6, .at_ms = kNow, .operation = Audited::kForget, .code = StatusCode::kHeld};
  std::vector<AuditEntry> log = opened_.Log();
  ASSERT_THAT(log, SizeIs(6));
  EXPECT_EQ(log[0], entry);
  entry = {.id = 4,
           .at_ms = kNow,
           .operation = Audited::kRecall,
           .place = {"user", "ada"},
           .actor = "eve",
           .code = StatusCode::kAccessDenied};
  EXPECT_EQ(log[2], entry) << "a read that is of the whole memory";
  entry.id = 3;
  entry.operation = Audited::kStore;
  entry.ns = Namespace{"user", "ada", "notes"};
  entry.code = StatusCode::kQuotaExceeded;
  entry.count = 2;
  EXPECT_EQ(log[3], entry);
  entry.id = 2;
  entry.ns = Namespace{"user", "ada", "facts"};
  entry.code = StatusCode::kAccessDenied;
  entry.count = 1;
  EXPECT_EQ(log[4], entry);
  opened_.Run(in_scope().Add(Tag::kListKeys, wire::OneNamespace{{"notes"}}));
}

TEST_P(AuditTest, what_fails_beside_others_takes_nothing_of_theirs) {
  opened_.Keep();
  const Levels reader = {{{"user", "ada"}, {.writable = {{{"facts"}}}}}};
  RequestBuilder frame = std::move(Frame().Within(reader));
  frame.Add(Tag::kPutCheckpoint, Checkpoint("t")).Add(Tag::kPut, PutIn({"notes"}, "k"));
  ASSERT_EQ(opened_.Run(frame, 0), StatusCode::kOk);
  const std::vector<AuditEntry> log = opened_.Log();
  ASSERT_THAT(log, SizeIs(2));
  EXPECT_EQ(log[0].code, StatusCode::kAccessDenied);
  EXPECT_EQ(log[1].thread_id, "user/ada/t");
  EXPECT_EQ(log[1].code, StatusCode::kOk);
}

TEST_P(AuditTest, the_oldest_go_by_number_and_by_age) {
  opened_.Keep(AuditRule{.max_entries = 3});
  for (int i = 0; i < 5; ++i) opened_.Run(Frame(kNow + i).Add(Tag::kPut, Put("k")));
  const auto ids = [&](std::int64_t now_ms) {
    std::vector<std::int64_t> found;
    for (const AuditEntry& entry : opened_.Log({}, {}, now_ms)) found.push_back(entry.id);
    return found;
  };
  EXPECT_THAT(ids(kNow + 5), ElementsAre(5, 4, 3));
  opened_.Keep(AuditRule{.max_entries = 10, .max_age_ms = 100}, kNow + 50);
  EXPECT_THAT(ids(kNow + 60), ElementsAre(6, 5, 4, 3)) << "the new rule is told, too";
  EXPECT_THAT(ids(kNow + 103), ElementsAre(6, 5, 4));
  EXPECT_THAT(ids(kNow + 200), IsEmpty());
  opened_.Run(Frame(kNow + 200).Add(Tag::kPut, Put("k")));
  opened_.Keep(AuditRule{.max_entries = 10}, kNow + 200);
  EXPECT_THAT(ids(kNow + 200), ElementsAre(8, 7)) << "they are gone";
  opened_.Keep(AuditRule{.max_entries = 1}, kNow + 201);
  EXPECT_THAT(ids(kNow + 201), ElementsAre(9));
}

TEST_P(AuditTest, refusals_of_one_do_not_push_out_what_others_did) {
  opened_.Keep({{.max_entries = 50}});
  const Levels ada = {{{"user", "ada"}, {.read_only = true}}, {{"conv", "1"}, {}}};
  opened_.Run(Frame().Within({{{"user", "bob"}, {}}}).Add(Tag::kPut, Put("k")));
  for (int i = 0; i < 200; ++i) {
    const Levels deeper = {ada[0], {{"conv", std::to_string(i)}, {}}};
    const PutOp put = PutIn({"n" + std::to_string(i)}, "k");
    EXPECT_EQ(
        opened_.Run(Frame().By("a" + std::to_string(i), "").Within(deeper).Add(Tag::kPut, put)),
        StatusCode::kAccessDenied);
  }
  const Levels eve = {{{"user", "eve"}, {.read_only = true}}};
  opened_.Run(Frame().Within(eve).Add(Tag::kPut, Put("k")));
  const auto log = opened_.Log();
  ASSERT_THAT(log, SizeIs(7)) << "of bob, five refusals of ada, and one of eve";
  EXPECT_EQ(log.back().place, (Namespace{"user", "bob"}));
  EXPECT_EQ(log.front().place, (Namespace{"user", "eve"}));
  EXPECT_EQ(log[1].count, 196u) << "it and those that came later";
  EXPECT_EQ(log[1].ns, std::nullopt);
  EXPECT_EQ(log[2].count, 1u);
}

TEST_P(AuditTest, is_read_in_pages_and_since_a_time) {
  opened_.Keep();
  for (int i = 0; i < 5; ++i) opened_.Run(Frame(kNow + i).Add(Tag::kPut, Put("k")));
  std::vector<AuditEntry> page = opened_.Log({.limit = 2});
  ASSERT_THAT(page, SizeIs(2));
  EXPECT_EQ(page.back().id, 4);
  page = opened_.Log({.before_id = page.back().id, .limit = 2});
  EXPECT_EQ(page.front().id, 3);
  EXPECT_THAT(opened_.Log({.since_ms = kNow + 3}), SizeIs(2));
  EXPECT_THAT(opened_.Log({.limit = 0}), IsEmpty());
}

TEST_P(AuditTest, cap_52_a_scope_sees_what_is_of_it) {
  opened_.Keep();
  const Levels ada = {{{"user", "ada"}, {}}}, bob = {{{"user", "bob"}, {}}};
  opened_.Run(ByAda().Within(ada).Add(Tag::kPut, PutIn({"notes"}, "k")));
  opened_.Run(Frame().Within(bob).Add(Tag::kPut, PutIn({"notes"}, "k")));
  opened_.Run(Frame().Within(ada).Add(Tag::kPutCheckpoint, Checkpoint("t")));
  opened_.Run(Frame().Add(Tag::kPut, PutIn({"user", "ada", "facts"}, "k")));
  opened_.Run(Frame().Add(Tag::kPut, PutIn({"user"}, "k")));
  const auto log = opened_.Log({}, ada);
  ASSERT_THAT(log, SizeIs(3));
  EXPECT_EQ(log[0].ns, Namespace{"facts"});
  EXPECT_EQ(log[0].place, Namespace{}) << "from around it";
  EXPECT_EQ(log[1].thread_id, "t");
  EXPECT_EQ(log[2].ns, Namespace{"notes"});
  EXPECT_THAT(opened_.Log({.ns_prefix = {"user", "ada"}}), SizeIs(3));
  EXPECT_EQ(opened_.Log({.ns_prefix = {"user", "ada"}}).back().place, (Namespace{"user", "ada"}));
  EXPECT_THAT(opened_.Log({}, bob), SizeIs(1));

  const Levels some = {{{"user", "ada"}, {.readable = {{{"notes"}}}}}};
  EXPECT_EQ(opened_.Run(Frame().Within(some).Add(Tag::kAuditLog, AuditQuery{})),
            StatusCode::kAccessDenied);
  EXPECT_THAT(opened_.Log({.ns_prefix = {"notes"}}, some), SizeIs(1));
  EXPECT_EQ(opened_.Run(Frame().Within(ada).Add(Tag::kKeepAudit, wire::KeepAudit{})),
            StatusCode::kAccessDenied);
}

TEST_P(AuditTest, a_name_that_is_none_is_left_out) {
  opened_.Keep();
  const Levels ada = {{{"user", "ada"}, {}}};
  const wire::OneNamespace wrong{{"a\xff"}};
  EXPECT_EQ(opened_.Run(Frame().Within(ada).Add(Tag::kDropHistory, wrong)),
            StatusCode::kAccessDenied);
  const AuditEntry entry = opened_.Last().value();
  EXPECT_EQ(entry.operation, Audited::kConfigure);
  EXPECT_EQ(entry.ns, std::nullopt);
  opened_.Run(Frame().Add(Tag::kPut, PutIn({std::string(AuditEntry::kMostNameBytes, 'x')}, "k")));
  EXPECT_EQ(opened_.Last()->ns, std::nullopt);
}

TEST_P(AuditTest, a_rule_that_is_none_is_refused) {
  for (const AuditRule rule : {AuditRule{.max_entries = 0}, AuditRule{.max_entries = 1'000'001},
                               AuditRule{.max_age_ms = 0}, AuditRule{.max_age_ms = -1}}) {
    EXPECT_EQ(opened_.Run(Frame().Add(Tag::kKeepAudit, wire::KeepAudit{rule})),
              StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(opened_.Log(), IsEmpty());
}

TEST(Audit, a_request_that_is_sent_again_is_told_once) {
  Opened opened(sql::OpenOptions{.path = ":memory:", .vfs = ""});
  opened.Keep();
  const Levels reader = {{{"user", "ada"}, {.read_only = true}}};
  const auto request = [&](std::uint64_t sequence) {
    return std::move(
        RequestBuilder({.client_id = 7, .sequence = sequence, .now_ms = kNow}).Remember(1));
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(opened.Run(request(2).Add(Tag::kPut, Put("k"))), StatusCode::kOk);
    EXPECT_EQ(opened.Run(request(3).Within(reader).Add(Tag::kPut, Put("k"))),
              StatusCode::kAccessDenied);
  }
  EXPECT_THAT(opened.Log(), SizeIs(2));
}

// ---- in files

std::optional<sql::OpenOptions> InFiles(const std::string& vfs_name) {
  return sql::OpenOptions{.path = "audit", .vfs = vfs_name};
}

bool Holds(MemoryFiles& files, std::string_view text) {
  for (auto& file : {&files[0].bytes, &files[1].bytes, &files[2].bytes}) {
    const auto* data = reinterpret_cast<const char*>(file->data());
    if (std::string_view(data, file->size()).contains(text)) return true;
  }
  return false;
}

TEST(Audit, an_entry_is_there_with_what_it_tells_of_or_neither) {
  MemoryFiles filled("audit");
  {
    auto vfs = FileVfs::Register("audit-filler", filled.Host()).value();
    Opened opened(InFiles("audit-filler"));
    opened.Keep();
    opened.Run(Frame().Add(Tag::kPut, PutIn({"before"}, "k")));
  }
  bool done = false;
  int neither = 0;
  for (std::int64_t room = 0; !done; room += 1'009) {
    SCOPED_TRACE("after " + std::to_string(room) + " bytes");
    MemoryFiles files = filled.CopyOfBytes();
    {
      auto vfs = FileVfs::Register("audit-writer", files.Host()).value();
      Opened opened(InFiles("audit-writer"));
      files.room = room;
      done = opened.Run(Frame().Add(Tag::kPut, PutIn({"after"}, "k"))) == StatusCode::kOk;
      files.room = 0;
    }
    MemoryFiles image = files.CopyOfBytes();
    auto vfs = FileVfs::Register("audit-recovered", image.Host()).value();
    Opened recovered(InFiles("audit-recovered"));
    RequestBuilder keys = Frame();
    const bool is_there =
        recovered.Run(keys.Add(Tag::kGet, GetOp{{"after"}, "k"})) == StatusCode::kOk &&
        recovered.Answer<std::optional<Item>>().has_value();
    EXPECT_EQ(recovered.Log().size(), is_there ? 2U : 1U);
    EXPECT_TRUE(is_there || !done);
    if (!is_there) ++neither;
  }
  EXPECT_GT(neither, 0);
}

TEST(Audit, an_erasure_leaves_no_name_of_what_it_took) {
  MemoryFiles files("audit");
  auto vfs = FileVfs::Register("audit", files.Host()).value();
  Opened opened(InFiles("audit"));
  opened.Keep();
  const Levels ada = {{{"user", "SECRET-ada"}, {}}};
  const auto by_ada = [&] { return std::move(Frame().Within(ada).By("SECRET-actor", "SECRET-n")); };
  opened.Run(by_ada().Add(Tag::kPut, PutIn({"SECRET-facts"}, "k")));
  opened.Run(by_ada().Add(Tag::kPutCheckpoint, Checkpoint("SECRET-t")));
  opened.Run(by_ada().Add(Tag::kSweepExpired, wire::SweepExpired{1}));
  opened.Run(Frame()
                 .By("SECRET-eve", "")
                 .Add(Tag::kPut, PutIn({"user", "SECRET-ada", "SECRET-facts"}, "l")));
  opened.Run(Frame().By("bob", "").Add(Tag::kPut, PutIn({"user", "bob"}, "k")));
  ASSERT_TRUE(Holds(files, "SECRET"));
  ASSERT_THAT(opened.Log(), SizeIs(5));

  const Erasure erasure{.id = "e", .digest = "", .namespaces = {{}}, .thread_prefix = ""};
  ASSERT_EQ(opened.Run(by_ada().Add(Tag::kForget, erasure)), StatusCode::kOk);
  ASSERT_EQ(opened.Run(by_ada().Add(Tag::kScrub, wire::Scrub{1024})), StatusCode::kOk);
  EXPECT_FALSE(Holds(files, "SECRET"));
  const auto log = opened.Log();
  ASSERT_THAT(log, SizeIs(6)) << "that something was done is still told";
  EXPECT_EQ(log[0],
            (AuditEntry{.id = 6, .at_ms = kNow, .operation = Audited::kForget, .count = 3}));
  EXPECT_EQ(log[1].actor, "bob");
  EXPECT_EQ(log[1].ns, (Namespace{"user", "bob"}));
  EXPECT_EQ(log[5], (AuditEntry{.id = 1, .at_ms = kNow}));
}

TEST_P(AuditTest, who_erased_is_told_if_that_was_asked_from_outside) {
  opened_.Keep();
  opened_.Run(ByAda().Add(Tag::kPut, PutIn({"user", "ada"}, "k")));
  opened_.Run(ByAda().Add(Tag::kPutCheckpoint, Checkpoint("t")));
  const Erasure everything{
      .id = "e", .digest = "", .namespaces = {{}}, .threads = {"t"}, .thread_prefix = std::nullopt};
  ASSERT_EQ(opened_.Run(Frame().By("officer", "").Add(Tag::kForget, everything)), StatusCode::kOk);
  const auto log = opened_.Log();
  EXPECT_EQ(log[0].actor, "officer");
  EXPECT_EQ(log[1].actor, "");
  EXPECT_EQ(log[1].thread_id, std::nullopt);
  EXPECT_EQ(log[2].actor, "");
  EXPECT_EQ(log[2].ns, std::nullopt);
  ASSERT_EQ(opened_.Run(Frame().Add(Tag::kForget, everything)), StatusCode::kOk);
  EXPECT_THAT(opened_.Log(), SizeIs(3)) << "the same again is answered as before";
}

TEST_P(AuditTest, a_namespace_of_which_something_is_left_keeps_its_name) {
  opened_.Keep();
  opened_.Run(ByAda().Add(Tag::kPut, PutIn({"a", "some"}, "k")));
  PutOp other = PutIn({"a", "some"}, "l");
  other.value = "{\"v\":2}";
  opened_.Run(ByAda().Add(Tag::kPut, other));
  opened_.Run(ByAda().Add(Tag::kPut, PutIn({"a", "all"}, "k")));
  const Erasure erasure{
      .id = "e", .digest = "", .namespaces = {{"a"}}, .filter = "{\"v\":1}", .threads = {}};
  ASSERT_EQ(opened_.Run(Frame().Add(Tag::kForget, erasure)), StatusCode::kOk);
  const auto log = opened_.Log();
  EXPECT_EQ(log[1].ns, std::nullopt);
  EXPECT_EQ(log[2].ns, (Namespace{"a", "some"}));
  EXPECT_EQ(log[3].actor, "ada");
  // Of everything, too: the root is no name.
  const Erasure rest{.id = "rest",
                     .digest = "",
                     .namespaces = {{}},
                     .filter = "{\"v\":2}",
                     .threads = {},
                     .thread_prefix = std::nullopt};
  ASSERT_EQ(opened_.Run(Frame().By("officer", "").Add(Tag::kForget, rest)), StatusCode::kOk);
  EXPECT_EQ(opened_.Log()[3].ns, std::nullopt);
  EXPECT_EQ(opened_.Log()[0].actor, "officer");
}

TEST_P(AuditTest, a_thread_that_was_renamed_is_forgotten_by_the_name_that_it_has) {
  const Levels ada = {{{"user", "ada"}, {}}};
  opened_.Keep();
  opened_.Run(ByAda().Within(ada).Add(Tag::kPutCheckpoint, Checkpoint("born 1970")));
  opened_.Run(ByAda().Within(ada).Add(Tag::kRenameThread, wire::RenameThread{"born 1970", "t2"}));
  for (const AuditEntry& entry : opened_.Log()) EXPECT_EQ(entry.thread_id, "user/ada/t2");
  const Erasure erasure{.id = "e",
                        .digest = "",
                        .namespaces = {},
                        .threads = {"user/ada/t2"},
                        .thread_prefix = std::nullopt};
  ASSERT_EQ(opened_.Run(Frame().Add(Tag::kForget, erasure)), StatusCode::kOk);
  for (const AuditEntry& entry : opened_.Log()) EXPECT_EQ(entry.thread_id, std::nullopt);
}

}  // namespace
}  // namespace keepsake::testing
