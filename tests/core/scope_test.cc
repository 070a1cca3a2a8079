// Scopes: what one sees is what a memory of its own would show, and policies hold.
#include "keepsake/scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "../fuzz/frame_fuzz.h"
#include "../golden/golden_frames.h"
#include "keepsake/clock.h"
#include "keepsake/in_memory_store.h"
#include "keepsake/memory_saver.h"
#include "keepsake/sqlite_saver.h"
#include "keepsake/sqlite_store.h"

namespace keepsake {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- against a memory of its own

using Levels = std::vector<ScopeLevel>;

// Of a policy.
const std::vector<Namespace> kNothing;

// None lies in another. Some look alike, or like what separates them.
const std::vector<Levels>& Scopes() {
  static const std::vector<Levels> kScopes = {
      {{{"user", "a"}, {}}},
      {{{"user", "ab"}, {}}},
      {{{"user", "a/b"}, {}}},
      {{{"user", "a%2Fb"}, {}}},
      {{{"users"}, {}}},
      {{{"user", "\x1f"}, {}}},
      {{{"user", "\x1e"}, {}}},
      {{{"user", "\x1e\x31"}, {}}},
      {{{"conv"}, {}}, {{"x", "y"}, {}}},
      {{{"conv", "x"}, {}}, {{"z"}, {}}},
  };
  return kScopes;
}

bool IsOfWhole(std::uint8_t tag) {
  switch (static_cast<wire::Tag>(tag)) {
    case wire::Tag::kSweepExpired:
    case wire::Tag::kConfigureStore:
    case wire::Tag::kStoreStats:
    case wire::Tag::kImproveIndex:
    case wire::Tag::kReadPending:
    case wire::Tag::kEmbedPending:
    case wire::Tag::kKeepHistory:
    case wire::Tag::kDropHistory:
    case wire::Tag::kHistoryRules:
    case wire::Tag::kKeepAudit:
    case wire::Tag::kAuditRule:
    case wire::Tag::kUndo:  // operations have numbers of the whole memory: see UndoLast()
    case wire::Tag::kCheckpointerStats:
      return true;
    default:
      return false;
  }
}

// The frame, sent by `client` from within a scope.
Bytes Scoped(ByteView frame, std::uint64_t client, const Levels& levels) {
  const Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
  wire::RequestHeader header = request->header;
  header.client_id = client;
  header.flags = 0;
  wire::RequestBuilder builder(header);
  if (request->acknowledged) builder.Remember(*request->acknowledged);
  if (!levels.empty()) builder.Within(levels);
  for (const wire::OperationView& view : request->operations) {
    builder.AddRaw(view.tag, Bytes(view.payload.begin(), view.payload.end()));
  }
  return builder.Build();
}

// An answer as text, without what a scope does not tell: the plan of a search, and the room
// that a prune makes, which is shared. Of a failure, its code; which of two mistakes is told
// first is no matter.
std::string Told(std::uint8_t tag, const wire::ResultView& result) {
  const std::string code(StatusCodeName(result.code));
  if (code.starts_with("invalid_") || code == "dimension_mismatch") return "invalid";
  if (result.code != StatusCode::kOk) return code;
  if (tag == std::to_underlying(wire::Tag::kSearch)) {
    auto hits = wire::Decode<std::vector<SearchItem>>(result.body);
    for (SearchItem& hit : *hits) hit.plan.clear();
    const Bytes bytes = wire::Encode(*hits);
    return std::string(bytes.begin(), bytes.end());
  }
  if (tag == std::to_underlying(wire::Tag::kHistory)) {
    auto versions = wire::Decode<std::vector<Version>>(result.body);
    for (Version& version : *versions) version.operation = version.operation > 0 ? 1 : 0;
    const Bytes bytes = wire::Encode(*versions);
    return std::string(bytes.begin(), bytes.end());
  }
  if (tag == std::to_underlying(wire::Tag::kUndo)) {
    return std::to_string(wire::Decode<Undone>(result.body)->items);
  }
  if (tag == std::to_underlying(wire::Tag::kAuditLog)) {
    auto entries = wire::Decode<std::vector<AuditEntry>>(result.body);
    for (AuditEntry& entry : *entries) entry.id = 0;
    const Bytes bytes = wire::Encode(*entries);
    return std::string(bytes.begin(), bytes.end());
  }
  if (tag == std::to_underlying(wire::Tag::kPrune)) {
    return std::to_string(wire::Decode<Pruned>(result.body)->checkpoints);
  }
  if (tag == std::to_underlying(wire::Tag::kListThreads)) {
    std::string ids;
    const auto threads = wire::Decode<std::vector<ThreadInfo>>(result.body);
    for (const ThreadInfo& thread : *threads) {
      ids += thread.thread_id + "@" + thread.newest_checkpoint_id + " ";
    }
    return ids;
  }
  return std::string(result.body.begin(), result.body.end());
}

std::vector<std::string> ToldBy(Engine& engine, ByteView frame) {
  const Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
  const ByteView answered = engine.Execute(frame);
  const Bytes response(answered.begin(), answered.end());
  const Result<wire::Response> parsed = wire::ParseResponse(response);
  std::vector<std::string> told;
  if (!parsed) return {"malformed"};
  for (std::size_t i = 0; i < parsed->results.size(); ++i) {
    const bool is_whole = parsed->results.size() == request->operations.size();
    told.push_back(Told(is_whole ? request->operations[i].tag : 0, parsed->results[i]));
  }
  return told;
}

Bytes Configuration() {
  const wire::ConfigureStore configure{.index = IndexConfig{.dims = 3}};
  return wire::RequestBuilder({.now_ms = 1}).Add(wire::Tag::kConfigureStore, configure).Build();
}

std::optional<sql::OpenOptions> InMemorySqlite() {
  return sql::OpenOptions{.path = ":memory:", .vfs = ""};
}

// One engine for all scopes, and one for each.
class Isolation {
 public:
  Isolation(std::optional<sql::OpenOptions> database, std::uint64_t seed) : random_(seed) {
    Start(shared_, database);
    for (std::size_t i = 0; i < Scopes().size(); ++i) {
      inputs_.push_back(RandomBytes());
      sources_.push_back(std::make_unique<fuzz::ByteSource>(inputs_.back()));
      generators_.push_back(std::make_unique<fuzz::OperationGenerator>(*sources_.back(), true));
      own_.push_back(std::make_unique<Engine>());
      Start(*own_.back(), database);
    }
  }

  std::size_t undone() const { return undone_; }

  // Says how many operations it compared.
  std::size_t Step() {
    const std::size_t i = random_() % Scopes().size();
    if (random_() % 20 == 0) return UndoLast(i);
    const Bytes frame = NextFrame(i);
    const Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    for (const wire::OperationView& view : request->operations) {
      if (IsOfWhole(view.tag)) return 0;
    }
    const auto wanted = ToldBy(*own_[i], Scoped(frame, i + 1, {}));
    const auto told = ToldBy(shared_, Scoped(frame, i + 1, Scopes()[i]));
    EXPECT_EQ(told, wanted) << "scope " << i << ", tag "
                            << static_cast<int>(request->operations[0].tag);
    return request->operations.size();
  }

 private:
  static void Start(Engine& engine, const std::optional<sql::OpenOptions>& database) {
    engine.Open(fuzz::OpenFrame(database));
    engine.Execute(Configuration());
    engine.Execute(wire::RequestBuilder({.now_ms = 1})
                       .Add(wire::Tag::kKeepHistory, HistoryRule{.ns = {}, .max_versions = 5})
                       .Add(wire::Tag::kKeepAudit, wire::KeepAudit{AuditRule{}})
                       .Build());
  }

  // The last operation on an item, whose number differs; often a put of this moment.
  std::size_t UndoLast(std::size_t i) {
    if (random_() % 2 == 0) {
      const PutOp put{.ns = {"a"}, .key = "k", .value = "{}", .index = {}, .vectors = {}};
      const Bytes frame = Ask(wire::Tag::kPut, put);
      EXPECT_EQ(ToldBy(shared_, Scoped(frame, i + 1, Scopes()[i])),
                ToldBy(*own_[i], Scoped(frame, i + 1, {})));
    }
    const wire::History history{{{"a"}, random_() % 2 == 0 ? "k" : ""}, 1};
    const bool force = random_() % 2 == 0;
    std::vector<std::string> told;
    for (const bool is_shared : {true, false}) {
      Engine& engine = is_shared ? shared_ : *own_[i];
      const Levels levels = is_shared ? Scopes()[i] : Levels();
      const Bytes ask = Ask(wire::Tag::kHistory, history);
      const ByteView answered = engine.Execute(Scoped(ask, i + 1, levels));
      const Bytes response(answered.begin(), answered.end());
      const auto versions =
          wire::Decode<std::vector<Version>>(wire::ParseResponse(response)->results[0].body);
      if (!versions || versions->empty()) return 0;
      const Undo undo{versions->front().operation, force};
      told.push_back(ToldBy(engine, Scoped(Ask(wire::Tag::kUndo, undo), i + 1, levels)).front());
    }
    EXPECT_EQ(told[0], told[1]) << "scope " << i << ", an undo";
    if (told[0] == "1") ++undone_;
    return 2;
  }

  template <typename Payload>
  static Bytes Ask(wire::Tag tag, const Payload& payload) {
    return wire::RequestBuilder({.sequence = 0, .now_ms = 1'800'000'000'000})
        .Add(tag, payload)
        .Build();
  }

  Bytes RandomBytes() {
    Bytes bytes(100'000);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
    return bytes;
  }

  // Mostly of the generator, and of what that doesn't make.
  Bytes NextFrame(std::size_t i) {
    if (random_() % 10 > 0) return generators_[i]->Frame();
    wire::RequestBuilder builder({.sequence = 0, .now_ms = 1'800'000'000'000});
    switch (random_() % 4) {
      case 0:
        return builder.Add(wire::Tag::kListThreads, ListThreads{}).Build();
      case 1:
        return builder.Add(wire::Tag::kRenameThread, wire::RenameThread{"t1", "t2"}).Build();
      case 2:
        return builder.Add(wire::Tag::kForkThread, wire::ForkThread{"t2", "c2", "t1"}).Build();
      default:
        return builder.Add(wire::Tag::kPrune, RetentionRules{.keep_last = 2}).Build();
    }
  }

  std::mt19937_64 random_;
  std::size_t undone_ = 0;
  Engine shared_;
  std::vector<std::unique_ptr<Engine>> own_;
  std::vector<Bytes> inputs_;
  std::vector<std::unique_ptr<fuzz::ByteSource>> sources_;
  std::vector<std::unique_ptr<fuzz::OperationGenerator>> generators_;
};

// KEEPSAKE_SCOPE_OPERATIONS=100000 compares so many on each backend.
std::size_t OperationsToCompare() {
  const char* wanted = std::getenv("KEEPSAKE_SCOPE_OPERATIONS");
  return wanted == nullptr ? 4'000 : static_cast<std::size_t>(std::atoll(wanted));
}

void ExpectIsolation(const std::optional<sql::OpenOptions>& database) {
  std::size_t compared = 0, undone = 0;
  for (std::uint64_t seed = 1; compared < OperationsToCompare(); ++seed) {
    Isolation isolation(database, seed);
    for (int step = 0; step < 2'000 && compared < OperationsToCompare(); ++step) {
      compared += isolation.Step();
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << ", step " << step;
    }
    undone += isolation.undone();
  }
  EXPECT_GT(undone, 0U);
}

TEST(Scope, cap_52_in_memory_is_as_a_memory_of_its_own) { ExpectIsolation(std::nullopt); }
TEST(Scope, cap_52_over_sqlite_is_as_a_memory_of_its_own) { ExpectIsolation(InMemorySqlite()); }

// ---- what may not be read, against what is not there

// What an engine answers, with what it says of failures.
std::vector<std::string> AnswersOf(Engine& engine, ByteView frame) {
  const ByteView answered = engine.Execute(frame);
  const Bytes response(answered.begin(), answered.end());
  const Result<wire::Response> parsed = wire::ParseResponse(response);
  std::vector<std::string> answers;
  if (!parsed) return {"malformed"};
  for (const wire::ResultView& result : parsed->results) {
    answers.push_back(std::string(StatusCodeName(result.code)) + " " +
                      std::string(result.body.begin(), result.body.end()));
  }
  return answers;
}

// Each operation has a golden frame, so that a new one is tried here, too.
void ExpectThatUnreadableLooksEmpty(const std::optional<sql::OpenOptions>& database) {
  const Namespace place = {"user", "ada"};
  const Levels open = {{place, {}}};
  const std::vector<Policy> policies = {{.readable = kNothing},
                                        {.readable = {{{"notes"}}}},
                                        {.readable = kNothing,
                                         .max_entries = 100,
                                         .max_entries_per_namespace = 100,
                                         .max_bytes = 1'000'000}};
  for (const Policy& policy : policies) {
    Engine full, empty;
    for (Engine* engine : {&full, &empty}) {
      engine->Open(fuzz::OpenFrame(database));
      engine->Execute(Configuration());
      engine->Execute(wire::RequestBuilder({.now_ms = 1})
                          .Add(wire::Tag::kKeepHistory, HistoryRule{.ns = {}, .max_versions = 5})
                          .Build());
    }
    const auto fill = [&](Engine& engine) {
      for (const golden::GoldenFrame& golden : golden::GoldenFrames()) {
        const auto request = wire::ParseRequest(golden.request, wire::FrameKind::kExecute);
        if (!request || request->operations.empty()) continue;
        const auto tag = static_cast<wire::Tag>(request->operations[0].tag);
        if (tag == wire::Tag::kPut || tag == wire::Tag::kPutCheckpoint ||
            tag == wire::Tag::kPutWrites) {
          engine.Execute(Scoped(golden.request, 1, open));
        }
      }
      PutOp put = golden::AnyPut();
      put.vectors = {};
      put.index = {};
      engine.Execute(wire::RequestBuilder({.now_ms = 1'700'000'000'123})
                         .Within(open)
                         .Add(wire::Tag::kPut, put)
                         .Build());
    };
    std::size_t tried = 0;
    for (const golden::GoldenFrame& golden : golden::GoldenFrames()) {
      const auto request = wire::ParseRequest(golden.request, wire::FrameKind::kExecute);
      if (!request || request->operations.size() != 1) continue;
      const std::uint8_t tag = request->operations[0].tag;
      // Threads are readable where `readable` names anything at all.
      const bool is_of_threads = tag >= std::to_underlying(wire::Tag::kPutCheckpoint) &&
                                 tag <= std::to_underlying(wire::Tag::kCheckpointerStats);
      if (is_of_threads && !policy.readable->empty()) continue;
      fill(full);
      const Bytes frame = Scoped(golden.request, 1, {{place, policy}});
      EXPECT_EQ(AnswersOf(full, frame), AnswersOf(empty, frame)) << golden.name;
      ++tried;
    }
    EXPECT_GT(tried, 20u);
    // By their numbers nobody learns of operations on what may not be read.
    const auto undo = [&](std::int64_t operation) {
      const Bytes ask = wire::RequestBuilder({.now_ms = 1'700'000'000'200})
                            .Within({{place, policy}})
                            .Add(wire::Tag::kUndo, Undo{operation, true})
                            .Build();
      return AnswersOf(full, ask);
    };
    for (std::int64_t operation = 1; operation < 5; ++operation) {
      EXPECT_THAT(undo(operation), ElementsAre(HasSubstr("not_found")));
    }
  }
}

TEST(Scope, what_is_unreadable_in_memory_is_answered_as_what_is_not_there) {
  ExpectThatUnreadableLooksEmpty(std::nullopt);
}
TEST(Scope, what_is_unreadable_over_sqlite_is_answered_as_what_is_not_there) {
  ExpectThatUnreadableLooksEmpty(InMemorySqlite());
}

TEST(Scope, a_forgetting_that_only_asks_may_not_read_by_its_filter) {
  Engine engine;
  engine.Open(fuzz::OpenFrame(InMemorySqlite()));
  const Levels open = {{{"user", "ada"}, {}}};
  const Levels writer = {{{"user", "ada"}, {.readable = {{{"notes"}}}}}};
  const PutOp pin{.ns = {"secrets"}, .key = "pin", .value = R"({"pin":"4711"})"};
  engine.Execute(
      wire::RequestBuilder({.now_ms = 1}).Within(open).Add(wire::Tag::kPut, pin).Build());
  for (const bool dry_run : {true, false}) {
    const Erasure guess{.id = "1",
                        .digest = "",
                        .namespaces = {{"secrets"}},
                        .filter = R"({"pin":{"$lt":"5"}})",
                        .threads = {},
                        .dry_run = dry_run};
    const Bytes frame =
        wire::RequestBuilder({.now_ms = 2}).Within(writer).Add(wire::Tag::kForget, guess).Build();
    EXPECT_THAT(AnswersOf(engine, frame), ElementsAre(HasSubstr("may not be read")));
  }
  const Bytes clear = wire::RequestBuilder({.now_ms = 2})
                          .Within(writer)
                          .Add(wire::Tag::kClearNamespace, wire::OneNamespace{{"secrets"}})
                          .Build();
  EXPECT_THAT(AnswersOf(engine, clear), ElementsAre(HasSubstr("may not be read")));
}

// ---- what is around

TEST(Scope, errors_name_nothing_that_is_around) {
  Engine engine;
  engine.Open(fuzz::OpenFrame(InMemorySqlite()));
  const auto run = [&](wire::Tag tag, const auto& payload, const Levels& levels) {
    wire::RequestBuilder builder({.now_ms = 5});
    if (!levels.empty()) builder.Within(levels);
    return AnswersOf(engine, builder.Add(tag, payload).Build()).front();
  };
  const Levels ada = {{{"tenant", "acme"}, {}}, {{"user", "ada"}, {}}};
  const auto expect_silence = [](const std::string& answer) {
    EXPECT_THAT(answer, ::testing::Not(HasSubstr("acme")));
    EXPECT_THAT(answer, ::testing::Not(HasSubstr("ada")));
    EXPECT_THAT(answer, ::testing::Not(HasSubstr("fraud")));
  };
  run(wire::Tag::kHold, Hold{{"tenant", "acme"}, "fraud"}, {});
  const Erasure everything{
      .id = "1", .digest = "", .namespaces = {{}}, .filter = "", .threads = {}};
  const std::string above = run(wire::Tag::kForget, everything, ada);
  EXPECT_THAT(above, HasSubstr("held nothing may be forgotten while a hold is on all of this"));
  expect_silence(above);
  run(wire::Tag::kRelease, wire::OneNamespace{{"tenant", "acme"}}, {});
  run(wire::Tag::kHold, Hold{{"tenant", "acme", "user", "ada", "tax"}, "fraud"}, {});
  const std::string within = run(wire::Tag::kForget, everything, ada);
  EXPECT_THAT(within, HasSubstr(R"(while a hold is on ["tax"]: who)"));
  expect_silence(within);
  EXPECT_THAT(run(wire::Tag::kForget, everything, {}), HasSubstr("fraud; release() it first"));

  const std::string history = run(wire::Tag::kHistory, wire::History{{{"notes"}, "k"}, 1}, ada);
  EXPECT_THAT(history, HasSubstr(R"(below ["notes"])"));
  expect_silence(history);
  const std::string thread = run(wire::Tag::kCopyThread, wire::CopyThread{"t", "u"}, ada);
  EXPECT_THAT(thread, HasSubstr(R"(there is no thread "t")"));
  expect_silence(thread);
  const Levels long_name = {{{"user", std::string(200, 'x')}, {}}};
  const auto copy = wire::CopyThread{"t", "u"};
  const PendingWrite write{"a", 0, "x", {"json", {0x31}}, ""};
  EXPECT_THAT(run(wire::Tag::kCopyThread, copy, long_name), HasSubstr(R"(there is no thread "t")"));
  run(wire::Tag::kPutWrites, wire::PutWrites{{"u", "", "1"}, {write}}, long_name);
  run(wire::Tag::kPutWrites, wire::PutWrites{{"t", "", "1"}, {write}}, long_name);
  EXPECT_THAT(run(wire::Tag::kCopyThread, copy, long_name), HasSubstr(R"(or writes: "u")"));
  EXPECT_THAT(run(wire::Tag::kForkThread, wire::ForkThread{"t", "9", "v"}, long_name),
              HasSubstr(R"(thread "t" has no such checkpoint in the root namespace: "9")"));
  const Levels inner = {{{"tenant", "acme"}, {.readable = {{{"user", "ada"}, {"boss"}}}}},
                        {{"user", "bob"}, {}}};
  const std::string denied = run(wire::Tag::kListKeys, wire::OneNamespace{{"notes"}}, inner);
  EXPECT_THAT(denied, HasSubstr(R"(["notes"] may not be read: a policy around this scope)"));
  EXPECT_THAT(denied, ::testing::Not(HasSubstr("boss")));
}

// ---- quotas of a whole scope

TEST(Scope, labels_ids_and_threads_take_room) {
  for (const bool in_memory : {true, false}) {
    Engine engine;
    engine.Open(fuzz::OpenFrame(in_memory ? std::nullopt : InMemorySqlite()));
    const Levels small = {{{"user", "ada"}, {.max_entries = 5, .max_bytes = 3'000}}};
    const auto run = [&](wire::Tag tag, const auto& payload) {
      return AnswersOf(engine,
                       wire::RequestBuilder({.now_ms = 5}).Within(small).Add(tag, payload).Build())
          .front();
    };
    const auto put = [&](const std::string& label, const std::string& key) {
      const PutOp op{.ns = {label}, .key = key, .value = "{}"};
      return run(wire::Tag::kPut, op);
    };
    EXPECT_THAT(put(std::string(1'000, 'l'), "k"), HasSubstr("ok"));
    EXPECT_THAT(put("l", std::string(1'000, 'k')), HasSubstr("ok"));
    EXPECT_THAT(put(std::string(1'000, 'm'), "k"), HasSubstr("bytes of items and threads"));
    NewCheckpoint next;
    next.key = {"t", "", "1"};
    next.checkpoint = golden::JsonBlob(std::string(400, '1'));
    EXPECT_THAT(run(wire::Tag::kPutCheckpoint, next), HasSubstr("ok"));
    next.key.thread_id = std::string(700, 't');
    EXPECT_THAT(run(wire::Tag::kPutCheckpoint, next), HasSubstr("quota_exceeded"));
    PendingWrite write = golden::AnyWrite();
    write.value.bytes = Bytes(900, 1);
    EXPECT_THAT(run(wire::Tag::kPutWrites, wire::PutWrites{{"t", "", "1"}, {write}}),
                HasSubstr("quota_exceeded"));
    EXPECT_THAT(run(wire::Tag::kCopyThread, wire::CopyThread{"t", "u"}), HasSubstr("ok"));
    EXPECT_THAT(run(wire::Tag::kCopyThread, wire::CopyThread{"t", std::string(900, 'v')}),
                HasSubstr("quota_exceeded"));
    EXPECT_THAT(run(wire::Tag::kDeleteThread, wire::DeleteThread{"u"}), HasSubstr("ok"));
    EXPECT_THAT(run(wire::Tag::kDeleteThread, wire::DeleteThread{"t"}), HasSubstr("ok"));
    for (const char* label : {"a", "b", "c"}) EXPECT_THAT(put(label, "k"), HasSubstr("ok"));
    EXPECT_THAT(put("d", "k"), HasSubstr("the scope would have 6 entries, which exceeds max 5"));
  }
}

// ---- policies, over both stores

struct InMemory {
  static std::unique_ptr<Store> Make(sql::Database&, StoreOptions options) {
    return MakeInMemoryStore(std::move(options));
  }
};
struct OverSqlite {
  static std::unique_ptr<Store> Make(sql::Database& database, StoreOptions options) {
    return *MakeSqliteStore(database, std::move(options));
  }
};

template <typename Backend>
class ScopePolicy : public ::testing::Test {
 protected:
  ScopePolicy()
      : database_(*sql::OpenDatabase({.path = ":memory:", .vfs = ""})),
        store_(Backend::Make(*database_, {.clock = &clock_})) {
    clock_.Set(1000);
  }

  // Scopes live as long as the test.
  ScopedStore In(Policy policy, Namespace place = {"user", "ada"}) {
    scopes_.push_back(
        std::make_unique<Scope>(*Scope::Make({{std::move(place), std::move(policy)}})));
    return ScopedStore(*store_, *scopes_.back(), &usage_);
  }

  ManualClock clock_;
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<Store> store_;
  UsageCache usage_;
  std::vector<std::unique_ptr<Scope>> scopes_;
};
using Backends = ::testing::Types<InMemory, OverSqlite>;
TYPED_TEST_SUITE(ScopePolicy, Backends);

TYPED_TEST(ScopePolicy, what_is_put_lies_below_the_place) {
  ASSERT_TRUE(this->In({}).Put({"notes"}, "k", "1").ok());
  EXPECT_EQ((*this->store_->Get({"user", "ada", "notes"}, "k"))->value, "1");
  EXPECT_EQ((*this->In({}).Get({"notes"}, "k"))->ns, Namespace{"notes"});
  EXPECT_FALSE(*this->In({}, {"user", "bob"}).Get({"notes"}, "k"));
}

TYPED_TEST(ScopePolicy, a_suffix_does_not_reach_into_the_place) {
  ASSERT_TRUE(this->In({}).Put({"notes"}, "k", "1").ok());
  const auto found = this->In({}).ListNamespaces(
      {.match_conditions = {{MatchType::kSuffix, {"ada", "notes"}}}, .max_depth = {}});
  EXPECT_THAT(*found, IsEmpty());
}

TYPED_TEST(ScopePolicy, cap_104_only_what_is_allowed_is_read_and_written) {
  const Policy policy{.readable = {{{"notes"}, {"facts"}}}, .writable = {{{"notes"}}}};
  ScopedStore scoped = this->In(policy);
  EXPECT_TRUE(scoped.Put({"notes", "a"}, "k", "1").ok());
  const Status refused = scoped.Put({"facts"}, "k", "1");
  EXPECT_EQ(refused.code(), StatusCode::kAccessDenied);
  EXPECT_THAT(refused.message(), HasSubstr(R"(["facts"] may not be written)"));
  EXPECT_THAT(refused.message(), HasSubstr(R"(["notes"])"));
  EXPECT_TRUE(scoped.Get({"facts"}, "k").has_value());
  EXPECT_EQ(scoped.Get({"secrets"}, "k").error().code(), StatusCode::kAccessDenied);
  EXPECT_EQ(scoped.Search({.ns_prefix = {}}).error().code(), StatusCode::kAccessDenied);
  EXPECT_EQ(scoped.ListNamespaces().error().code(), StatusCode::kAccessDenied);
  EXPECT_EQ(scoped.List({"secrets"}).error().code(), StatusCode::kAccessDenied);
  EXPECT_EQ(scoped.ClearNamespace({"facts"}).error().code(), StatusCode::kAccessDenied);
  EXPECT_EQ(scoped.ExplainAbsence({.ns_prefix = {"notes"}}, {{"secrets"}, "k"}).error().code(),
            StatusCode::kAccessDenied);
  const SearchOp near{.ns_prefix = {"notes"}, .near = ItemRef{{"secrets"}, "k"}};
  EXPECT_EQ(scoped.Search(near).error().code(), StatusCode::kAccessDenied);
  const auto found = scoped.ListNamespaces(
      {.match_conditions = {{MatchType::kPrefix, {"notes"}}}, .max_depth = {}});
  EXPECT_THAT(*found, ElementsAre(Namespace{"notes", "a"}));
}

TYPED_TEST(ScopePolicy, what_is_read_only_changes_nothing_be_it_a_time_to_live) {
  ScopedStore writer = this->In({});
  const Operation put = PutOp{.ns = {"a"}, .key = "k", .value = "1", .ttl_ms = 100};
  ASSERT_TRUE(writer.Batch({&put, 1}).has_value());
  ScopedStore reader = this->In({.read_only = true});
  this->clock_.Set(1090);
  ASSERT_TRUE(*reader.Get({"a"}, "k"));
  ASSERT_EQ(reader.Search({.ns_prefix = {"a"}})->size(), 1u);
  this->clock_.Set(1101);
  EXPECT_FALSE(*reader.Get({"a"}, "k"));
  EXPECT_THAT(reader.Put({"a"}, "k", "1").message(), HasSubstr("read only"));
  EXPECT_EQ(reader.Delete({"a"}, "k").code(), StatusCode::kAccessDenied);
}

TYPED_TEST(ScopePolicy, cap_105_a_value_is_no_larger_than_allowed) {
  ScopedStore scoped = this->In({.max_value_bytes = 5});
  EXPECT_TRUE(scoped.Put({"a"}, "k", "12345").ok());
  const Status refused = scoped.Put({"a"}, "k", "123456");
  EXPECT_EQ(refused.code(), StatusCode::kQuotaExceeded);
  EXPECT_THAT(refused.message(), HasSubstr("Value size 6 exceeds max 5"));
  EXPECT_EQ((*scoped.Get({"a"}, "k"))->value, "12345");
}

TYPED_TEST(ScopePolicy, cap_88_a_namespace_has_no_more_entries_than_allowed) {
  ScopedStore scoped = this->In({.max_entries_per_namespace = 2});
  EXPECT_TRUE(scoped.Put({"a"}, "1", "1").ok());
  EXPECT_TRUE(scoped.Put({"a"}, "2", "1").ok());
  EXPECT_TRUE(scoped.Put({"a"}, "2", "2").ok()) << "it replaces one";
  EXPECT_TRUE(scoped.Put({"a", "b"}, "1", "1").ok()) << "another namespace";
  const Status refused = scoped.Put({"a"}, "3", "1");
  EXPECT_EQ(refused.code(), StatusCode::kQuotaExceeded);
  EXPECT_THAT(refused.message(), HasSubstr(R"(["a"] would have 3 entries, which exceeds max 2)"));
  ASSERT_TRUE(scoped.Delete({"a"}, "1").ok());
  EXPECT_TRUE(scoped.Put({"a"}, "3", "1").ok());
  // Of one batch all or nothing.
  const Operation both[] = {PutOp{.ns = {"c"}, .key = "1", .value = "1"},
                            PutOp{.ns = {"c"}, .key = "2", .value = "1"},
                            PutOp{.ns = {"c"}, .key = "3", .value = "1"}};
  EXPECT_EQ(scoped.Batch(both).error().code(), StatusCode::kQuotaExceeded);
  EXPECT_THAT(*scoped.List({"c"}), IsEmpty());
}

TYPED_TEST(ScopePolicy, what_expired_takes_no_room) {
  ScopedStore scoped = this->In({.max_entries_per_namespace = 1});
  const Operation put = PutOp{.ns = {"a"}, .key = "k", .value = "1", .ttl_ms = 100};
  ASSERT_TRUE(scoped.Batch({&put, 1}).has_value());
  EXPECT_FALSE(scoped.Put({"a"}, "2", "1").ok());
  this->clock_.Set(1101);
  EXPECT_TRUE(scoped.Put({"a"}, "2", "1").ok());
}

TYPED_TEST(ScopePolicy, a_scope_has_no_more_bytes_than_allowed_and_may_always_have_less) {
  const std::size_t ns = EncodeNamespace({"user", "ada", "a"}).size();
  ScopedStore scoped = this->In({.max_bytes = 20 + 3 * ns});
  EXPECT_TRUE(scoped.Put({"a"}, "k", "123456789").ok());
  EXPECT_TRUE(scoped.Put({"b"}, "k", "123456789").ok());
  EXPECT_EQ(scoped.Put({"b"}, "l", "1").code(), StatusCode::kQuotaExceeded);
  EXPECT_TRUE(this->In({}).Put({"b"}, "more", "123456789").ok());
  EXPECT_TRUE(scoped.Put({"b"}, "k", "1").ok()) << "less than before";
  EXPECT_TRUE(scoped.Delete({"b"}, "more").ok());
  EXPECT_TRUE(scoped.Put({"b"}, "l", "1234567").ok());
  EXPECT_EQ(this->store_->Measure({"user", "ada"}, true)->bytes, 20 + 3 * ns);
}

TYPED_TEST(ScopePolicy, a_time_to_live_is_no_longer_than_allowed) {
  ScopedStore scoped = this->In({.default_ttl_ms = 50, .max_ttl_ms = 100});
  ASSERT_TRUE(scoped.Put({"a"}, "k", "1").ok());
  const Operation longer = PutOp{.ns = {"a"}, .key = "l", .value = "1", .ttl_ms = 101};
  const auto refused = scoped.Batch({&longer, 1});
  EXPECT_EQ(refused.error().code(), StatusCode::kQuotaExceeded);
  EXPECT_THAT(refused.error().message(), HasSubstr("101 ms exceeds max 100 ms"));
  const Operation forever = PutOp{.ns = {"a"}, .key = "l", .value = "1", .ttl_ms = PutOp::kNoTtl};
  EXPECT_EQ(scoped.Batch({&forever, 1}).error().code(), StatusCode::kQuotaExceeded);
  this->clock_.Set(1051);
  EXPECT_FALSE(*scoped.Get({"a"}, "k"));
  ScopedStore without_default = this->In({.max_ttl_ms = 100});
  ASSERT_TRUE(without_default.Put({"a"}, "m", "1").ok());
  this->clock_.Set(1152);
  EXPECT_FALSE(*without_default.Get({"a"}, "m"));
}

// A caller's own default is no more than a wish, unlike a TTL that a put asks for.
TYPED_TEST(ScopePolicy, a_callers_default_yields_to_the_policy) {
  const auto put = [](ScopedStore scoped, std::string key, std::int64_t default_ms) {
    const Operation operation = PutOp{
        .ns = {"a"}, .key = std::move(key), .value = "1", .ttl_ms = PutOp::AsDefault(default_ms)};
    return scoped.Batch({&operation, 1}).has_value();
  };
  ScopedStore all = this->In({});
  EXPECT_TRUE(put(all, "by its own", 30));
  EXPECT_TRUE(put(all, "for ever", PutOp::kNoTtl));
  EXPECT_TRUE(put(this->In({.default_ttl_ms = 50}), "by the policy's", 200));
  EXPECT_TRUE(put(this->In({.max_ttl_ms = 100}), "capped", 200));
  EXPECT_TRUE(put(this->In({.max_ttl_ms = 100}), "capped, too", PutOp::kNoTtl));
  EXPECT_TRUE(put(this->In({.max_ttl_ms = 100}), "shorter", 30));
  const auto left = [&](std::int64_t after_ms) {
    this->clock_.Set(1000 + after_ms);
    return *all.List({"a"});
  };
  using testing::ElementsAre;
  EXPECT_THAT(left(31), ElementsAre("by the policy's", "capped", "capped, too", "for ever"));
  EXPECT_THAT(left(51), ElementsAre("capped", "capped, too", "for ever"));
  EXPECT_THAT(left(101), ElementsAre("for ever"));
}

TYPED_TEST(ScopePolicy, an_inner_scope_has_both_policies) {
  const auto scope = Scope::Make(
      {{{"user", "ada"}, {.max_value_bytes = 3}}, {{"conv", "1"}, {.writable = {{{"notes"}}}}}});
  ScopedStore scoped(*this->store_, *scope);
  EXPECT_EQ(scoped.Put({"notes"}, "k", "1234").code(), StatusCode::kQuotaExceeded);
  EXPECT_EQ(scoped.Put({"facts"}, "k", "1").code(), StatusCode::kAccessDenied);
  ASSERT_TRUE(scoped.Put({"notes"}, "k", "1").ok());
  EXPECT_TRUE(*this->store_->Get({"user", "ada", "conv", "1", "notes"}, "k"));
}

TEST(Scope, a_place_is_a_namespace_that_stands_for_no_other) {
  EXPECT_FALSE(Scope::Make({}).has_value());
  EXPECT_FALSE(Scope::Make({{{}, {}}}).has_value());
  EXPECT_EQ(Scope::Make({{{"user", "*"}, {}}}).error().code(), StatusCode::kInvalidNamespace);
  EXPECT_EQ(Scope::Make({{{"a.b"}, {}}}).error().code(), StatusCode::kInvalidNamespace);
  EXPECT_EQ(Scope::Make({{{"a"}, {.max_ttl_ms = 0}}}).error().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Scope::Make({{{"a/b", "c%"}, {}}})->thread_prefix(), "a%2Fb/c%25/");
}

TEST(Scope, threads_of_a_read_only_scope_are_read_only) {
  const std::unique_ptr<Checkpointer> saver = MakeMemorySaver();
  const auto open = Scope::Make({{{"user", "ada"}, {}}});
  const auto closed = Scope::Make({{{"user", "ada"}, {.read_only = true}}});
  ScopedCheckpointer writer(*saver, *open);
  ScopedCheckpointer reader(*saver, *closed);
  NewCheckpoint next;
  next.key = {"t", "", "1"};
  EXPECT_EQ(reader.Put(next).code(), StatusCode::kAccessDenied);
  ASSERT_TRUE(writer.Put(next).ok());
  const auto blind = Scope::Make({{{"user", "ada"}, {.readable = kNothing}}});
  EXPECT_EQ(ScopedCheckpointer(*saver, *blind).GetTuple({"t", "", ""}).error().code(),
            StatusCode::kAccessDenied);
  const auto mute = Scope::Make({{{"user", "ada"}, {.writable = kNothing}}});
  EXPECT_EQ(ScopedCheckpointer(*saver, *mute).Put(next).code(), StatusCode::kAccessDenied);
  EXPECT_TRUE(ScopedCheckpointer(*saver, *mute).GetTuple({"t", "", ""}).has_value());
  EXPECT_EQ((**reader.GetTuple({"t", "", ""})).key.thread_id, "t");
  EXPECT_EQ(reader.PutWrites(next.key, {}).code(), StatusCode::kAccessDenied);
  EXPECT_EQ(reader.DeleteThread("t").code(), StatusCode::kAccessDenied);
  EXPECT_EQ(reader.CopyThread("t", "u").code(), StatusCode::kAccessDenied);
  EXPECT_EQ(reader.RenameThread("t", "u").code(), StatusCode::kAccessDenied);
  EXPECT_EQ(reader.ForkThread("t", "1", "u").code(), StatusCode::kAccessDenied);
  const std::vector<std::string> runs = {"r"};
  EXPECT_EQ(reader.Prune({.keep_last = 1}).error().code(), StatusCode::kAccessDenied);
  EXPECT_TRUE(reader.Prune({.keep_last = 1, .dry_run = true}).has_value());
  EXPECT_EQ(reader.DeleteForRuns(runs, "").error().code(), StatusCode::kAccessDenied);
  EXPECT_EQ(saver->Threads({})->front().thread_id, "user/ada/t");
}

TEST(Scope, what_is_of_the_whole_memory_is_denied_by_an_engine) {
  Engine engine;
  engine.Open(fuzz::OpenFrame(InMemorySqlite()));
  for (const wire::Tag tag : {wire::Tag::kStoreStats, wire::Tag::kSize, wire::Tag::kBeginExport,
                              wire::Tag::kCheckpointerStats, wire::Tag::kForeignClose}) {
    const Bytes frame = wire::RequestBuilder({.now_ms = 1})
                            .Within({{{"user", "ada"}, {}}})
                            .Add(tag, wire::Nothing{})
                            .Build();
    EXPECT_THAT(ToldBy(engine, frame), ElementsAre("access_denied"));
  }
}

TEST(Scope, a_scope_that_is_none_fails_the_whole_request) {
  Engine engine;
  engine.Open(fuzz::OpenFrame(InMemorySqlite()));
  const GetOp get{.ns = {"a"}, .key = "k"};
  const Bytes wrong = wire::RequestBuilder({.now_ms = 1})
                          .Within({{{"user", "*"}, {}}})
                          .Add(wire::Tag::kGet, get)
                          .Build();
  EXPECT_THAT(ToldBy(engine, wrong), ElementsAre("invalid"));
  const Bytes unscoped = wire::RequestBuilder({.now_ms = 1}).Add(wire::Tag::kGet, get).Build();
  EXPECT_EQ(ToldBy(engine, unscoped).size(), 1u);
}

}  // namespace
}  // namespace keepsake
