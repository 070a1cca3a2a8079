// What was forgotten is in no byte of a file any more; what is held is not forgotten.
#include "keepsake/erasure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/varint.h"
#include "checkpointer_contract.h"
#include "engine/engine_state.h"
#include "file_vfs_test_files.h"
#include "keepsake/scope.h"

namespace keepsake::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using sql::FileVfs;
using sql::MemoryFiles;

constexpr std::int64_t kNow = 1'700'000'000'000;
// In all that belongs to Ada, and in nothing else.
// A word as it stands in an index of words, too.
constexpr std::string_view kSecret = "secretofada";

std::string Secret(int i) { return std::string(kSecret) + "-" + std::to_string(i); }

bool Holds(const std::vector<std::uint8_t>& bytes, std::string_view text) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).contains(text);
}

bool AnyHolds(MemoryFiles& files, std::string_view text) {
  return Holds(files[0].bytes, text) || Holds(files[1].bytes, text) || Holds(files[2].bytes, text);
}

// An engine over files, or in memory without any.
struct Opened {
  explicit Opened(MemoryFiles* files = nullptr, const std::string& vfs_name = "erasure",
                  const Bytes& keys = {}) {
    std::unique_ptr<sql::Database> database;
    if (files != nullptr) {
      vfs = FileVfs::Register(vfs_name, files->Host()).value();
      database = sql::OpenDatabase({.path = "erasure", .vfs = vfs_name, .keys = keys}).value();
    }
    state = std::make_unique<EngineState>(std::move(database));
    EXPECT_TRUE(state->Start().ok());
    state->clock().Set(kNow);
    const IndexConfig index{.dims = 4, .fields = {"text"}};
    EXPECT_TRUE(state->store().Configure(index).ok());
  }

  std::unique_ptr<FileVfs> vfs;
  std::unique_ptr<EngineState> state;
};

std::vector<float> VectorOf(int i) { return {1.0F, 0.25F * static_cast<float>(i), 0.5F, 0.125F}; }

void PutItem(Store& store, const Namespace& ns, const std::string& key, const std::string& text,
             int i) {
  const Operation put =
      PutOp{.ns = ns,
            .key = key,
            .value = "{\"text\":\"" + text + "\",\"n\":" + std::to_string(i) + "}",
            .index = {},
            .vectors = {{.path = "text", .values = VectorOf(i)}}};
  const auto done = store.Batch({&put, 1});
  ASSERT_TRUE(done.has_value()) << done.error().message();
}

void PutCheckpoint(Checkpointer& saver, const std::string& thread, int step,
                   const std::string& text) {
  const std::string id = std::to_string(100 + step);
  At next = At(thread, "", id).Parent(step == 0 ? "" : std::to_string(99 + step));
  ASSERT_TRUE(saver.Put(next.New("messages", id, text)).ok());
  ASSERT_TRUE(saver.PutWrites({thread, "", id}, std::vector{Write("w", 0, "a", text)}).ok());
}

// Ada's and Bob's items and threads; Bob has a fork of a thread of Ada's, of its first half.
void Fill(EngineState& state) {
  ASSERT_TRUE(state.store().KeepHistory({.ns = {"user"}}).ok());
  std::string told = "[";
  for (int i = 0; i < 40; ++i) {
    PutItem(state.store(), {"user", "ada", "facts"}, Secret(i), "told " + Secret(i), i);
    PutItem(state.store(), {"user", "bob", "facts"}, "k" + std::to_string(i), "bob's own", i);
    told += "\"" + (i < 20 ? "shared-" + std::to_string(i) : Secret(i)) + "\",";
    PutCheckpoint(state.saver(), "user/ada/t", i, told + "\"\"]");
    PutCheckpoint(state.saver(), "user/bob/t", i, "[\"bob's own\"]");
  }
  // What was overwritten and deleted before is in free pages.
  PutItem(state.store(), {"user", "ada", "facts"}, Secret(0), "else", 0);
  ASSERT_TRUE(state.store().Delete({"user", "ada", "facts"}, Secret(1)).ok());
  PutItem(state.store(), {"user", "bob", "facts"}, "k1", "bob's own", 1);
  ASSERT_TRUE(state.saver().ForkThread("user/ada/t", "119", "user/bob/fork").ok());
  const auto hits =
      state.store().Search({.ns_prefix = {}, .query = "told", .mode = SearchMode::kText});
  ASSERT_TRUE(hits.has_value());
}

Erasure OfAda() {
  return {
      .id = "e1", .digest = "d1", .namespaces = {{"user", "ada"}}, .thread_prefix = "user/ada/"};
}

std::vector<CheckpointTuple> ListOf(EngineState& state, const std::string& thread) {
  return state.saver().List({.thread_id = thread}).value();
}

// Nothing if it is not known.
std::optional<Scrubbed> ScrubbedOf(EngineState& state) {
  const auto record = state.erasures().Find("e1");
  if (!record || !*record) return std::nullopt;
  return (*record)->scrubbed;
}

// Forgets her, and goes on until nothing is left to do.
Result<Erased> ForgetAda(EngineState& state, std::uint32_t pages_at_once = 16) {
  Result<Erased> erased = state.Forget(OfAda());
  while (erased && state.erasures().Scrub(pages_at_once) == Scrubbed::kPending) {
  }
  return erased;
}

// Tables and indexes fit together, and each page has its checksum.
void ExpectSound(EngineState& state) {
  const auto check = state.database()->CheckPages(1, 1'000'000, false);
  ASSERT_TRUE(check.has_value()) << check.error().message();
  EXPECT_THAT(check->damaged, IsEmpty());
  EXPECT_EQ(check->problem, "");
}

// In plain, with all that pages hold.
Bytes Exported(EngineState& state) {
  const auto size = state.BeginExport();
  const auto bytes = state.ReadExport({.offset = 0, .length = static_cast<std::uint32_t>(*size)});
  state.database()->EndExport();
  return *bytes;
}

void ExpectOnlyBob(EngineState& state) {
  EXPECT_EQ(state.store().Stats()->items, 40);
  EXPECT_EQ(state.store().Measure({"user", "ada"}, true)->items, 0);
  EXPECT_THAT(ListOf(state, "user/ada/t"), IsEmpty());
  EXPECT_THAT(ListOf(state, "user/bob/t"), SizeIs(40));
  const auto hits = state.store().Search(
      {.ns_prefix = {}, .query = "own", .limit = 50, .mode = SearchMode::kText});
  EXPECT_THAT(*hits, SizeIs(40));
  EXPECT_THAT(*state.store().History({{"user", "ada", "facts"}, Secret(0)}, 100), IsEmpty());
  EXPECT_THAT(*state.store().History({{"user", "bob", "facts"}, "k1"}, 100), SizeIs(2));
  const auto near = state.store().Search(
      {.ns_prefix = {}, .limit = 50, .mode = SearchMode::kVector, .query_vector = VectorOf(3)});
  EXPECT_THAT(*near, SizeIs(40));
}

TEST(Erasure, leaves_no_byte_of_what_was_forgotten) {
  MemoryFiles files("erasure");
  Opened opened(&files);
  Fill(*opened.state);
  const auto fork = ListOf(*opened.state, "user/bob/fork");
  const auto own = ListOf(*opened.state, "user/bob/t");
  ASSERT_TRUE(AnyHolds(files, kSecret));

  const auto erased = opened.state->Forget(OfAda());
  ASSERT_TRUE(erased.has_value()) << erased.error().message();
  EXPECT_EQ(erased->items, 39);
  EXPECT_EQ(erased->vectors, 39);
  EXPECT_EQ(erased->versions, 42);
  EXPECT_EQ(erased->threads, 1);
  EXPECT_EQ(erased->checkpoints, 40);
  EXPECT_EQ(erased->at_ms, kNow);
  EXPECT_EQ(ScrubbedOf(*opened.state), Scrubbed::kPending);
  ASSERT_EQ(*ForgetAda(*opened.state), *erased) << "answered as before";
  EXPECT_FALSE(AnyHolds(files, kSecret));
  ExpectOnlyBob(*opened.state);
  EXPECT_EQ(ListOf(*opened.state, "user/bob/fork"), fork) << "what is shared stays";
  EXPECT_EQ(ListOf(*opened.state, "user/bob/t"), own);

  const auto record = opened.state->erasures().Find("e1");
  ASSERT_TRUE(*record);
  EXPECT_EQ((*record)->digest, "d1");
  EXPECT_EQ((*record)->erased, *erased);
  EXPECT_EQ((*record)->scrubbed, Scrubbed::kPages);
  ExpectSound(*opened.state);
}

TEST(Erasure, leaves_no_name_of_a_place_that_was_searched) {
  MemoryFiles files("erasure");
  Opened opened(&files);
  Store& store = opened.state->store();
  for (const std::string& user : {std::string("bob"), std::string(kSecret)}) {
    ASSERT_TRUE(store.Put({"user", user}, Secret(1), R"({"text":"green tea"})").ok());
    const SearchOp search{.ns_prefix = {"user", user}, .query = "tea", .mode = SearchMode::kText};
    ASSERT_THAT(*store.Search(search), SizeIs(1));
  }
  ASSERT_TRUE(store.Delete({"user", "bob"}, Secret(1)).ok());
  ASSERT_TRUE(store.Put({"user", "bob"}, "k", R"({"text":"green tea"})").ok());
  ASSERT_TRUE(AnyHolds(files, kSecret));
  ASSERT_TRUE(
      opened.state
          ->Forget({.id = "e1", .digest = "d", .namespaces = {{"user", std::string(kSecret)}}})
          .has_value());
  while (opened.state->erasures().Scrub(16) == Scrubbed::kPending) {
  }
  EXPECT_FALSE(AnyHolds(files, kSecret));
  const SearchOp search{.ns_prefix = {"user"}, .query = "tea", .mode = SearchMode::kText};
  EXPECT_THAT(*opened.state->store().Search(search), SizeIs(1));
}

TEST(Erasure, leaves_no_name_of_a_place_among_codes_of_vectors) {
  MemoryFiles files("erasure");
  Opened opened(&files);
  constexpr int kItems = 2500;  // in more chunks than one
  for (int i = 0; i < kItems; ++i) {
    const Namespace ns = {"user", i % 2 == 0 ? std::string(kSecret) : "tom"};
    PutItem(opened.state->store(), ns, std::to_string(i), "green tea", i);
  }
  std::vector<bool> are_named;
  ASSERT_TRUE(opened.state->database()
                  ->Run("SELECT codes FROM vector_chunks", {},
                        [&](const sql::Row& row) {
                          are_named.push_back(TextOf(row.Blob(0)).contains(kSecret));
                        })
                  .ok());
  ASSERT_EQ(are_named, std::vector({true, true}));
  ASSERT_TRUE(
      opened.state
          ->Forget({.id = "e1", .digest = "d", .namespaces = {{"user", std::string(kSecret)}}})
          .has_value());
  while (opened.state->erasures().Scrub(16) == Scrubbed::kPending) {
  }
  EXPECT_FALSE(AnyHolds(files, kSecret));
  const auto near = opened.state->store().Search(
      {.ns_prefix = {"user"}, .limit = 5, .query_vector = VectorOf(3)});
  EXPECT_THAT(*near, SizeIs(5));
}

TEST(Erasure, leaves_no_name_of_where_an_analysis_goes_on) {
  MemoryFiles files("erasure");
  Opened opened(&files);
  Store& store = opened.state->store();
  for (int i = 0; i < 900; ++i) {
    const Namespace ns = {"user", i < 600 ? std::string(kSecret) : "tom"};
    ASSERT_TRUE(store.Put(ns, Secret(i), R"({"text":"green tea"})").ok());
  }
  const SearchOp search{.ns_prefix = {"user"}, .query = "tea", .mode = SearchMode::kText};
  store.LimitTextWork(4000);
  ASSERT_EQ(store.Search(search).error().code(), StatusCode::kIndexing);
  for (int i = 600; i < 900; ++i) ASSERT_TRUE(store.Delete({"user", "tom"}, Secret(i)).ok());
  ASSERT_TRUE(store.Put({"user", "tom"}, "k", R"({"text":"green tea"})").ok());
  ASSERT_TRUE(
      opened.state
          ->Forget({.id = "e1", .digest = "d", .namespaces = {{"user", std::string(kSecret)}}})
          .has_value());
  while (opened.state->erasures().Scrub(16) == Scrubbed::kPending) {
  }
  EXPECT_FALSE(AnyHolds(files, kSecret));
  opened.state->store().LimitTextWork(std::nullopt);
  EXPECT_THAT(*opened.state->store().Search(search), SizeIs(1));
}

TEST(Erasure, leaves_nothing_of_what_filters_asked_for) {
  MemoryFiles files("erasure");
  Opened opened(&files);
  Store& store = opened.state->store();
  const std::string field = Secret(0);
  for (int i = 0; i < 600; ++i) {
    const std::string value = "{\"" + field + "\":" + std::to_string(i % 10) + "}";
    ASSERT_TRUE(store.Put({"user", "ada"}, std::to_string(i), value).ok());
  }
  const auto filtered = [&] {
    return store.Search({.ns_prefix = {}, .filter = "{\"" + field + "\":3}", .limit = 100});
  };
  for (int i = 0; i < 3; ++i) EXPECT_THAT(*filtered(), SizeIs(60));
  ASSERT_TRUE(ForgetAda(*opened.state).has_value());
  EXPECT_FALSE(AnyHolds(files, kSecret));
}

TEST(Erasure, is_done_while_an_export_is_read_and_scrubbed_afterwards) {
  MemoryFiles files("erasure");
  Opened opened(&files);
  Fill(*opened.state);
  ASSERT_TRUE(opened.state->BeginExport().has_value());
  const auto erased = opened.state->Forget(OfAda());
  ASSERT_TRUE(erased.has_value()) << erased.error().message();
  EXPECT_EQ(erased->items, 39);
  ExpectOnlyBob(*opened.state);
  EXPECT_EQ(opened.state->erasures().Scrub(16).error().code(), StatusCode::kBusy);
  EXPECT_EQ(ScrubbedOf(*opened.state), Scrubbed::kPending);
  EXPECT_TRUE(AnyHolds(files, kSecret));
  opened.state->database()->EndExport();
  EXPECT_EQ(*ForgetAda(*opened.state), *erased);
  EXPECT_EQ(ScrubbedOf(*opened.state), Scrubbed::kPages);
  EXPECT_FALSE(AnyHolds(files, kSecret));
}

TEST(Erasure, is_done_on_a_full_disk_and_scrubbed_when_there_is_room) {
  MemoryFiles files("erasure");
  Opened opened(&files);
  Fill(*opened.state);
  ASSERT_TRUE(opened.state->Forget(OfAda()).has_value());
  int refused = 0;
  for (std::int64_t room = 0; ScrubbedOf(*opened.state) == Scrubbed::kPending; room += 20'011) {
    files.room = room;
    const auto scrubbed = opened.state->erasures().Scrub(16);
    files.room.reset();
    if (scrubbed) continue;
    ASSERT_EQ(scrubbed.error().code(), StatusCode::kStorageFull);
    ++refused;
    ExpectOnlyBob(*opened.state);
  }
  EXPECT_GT(refused, 0);
  EXPECT_FALSE(AnyHolds(files, kSecret));
}

std::string TextOf(int i, std::string_view word) {
  std::string text;
  while (text.size() < static_cast<std::size_t>(i * 677 % 6000)) text += word;
  return text;
}

// Others write between any two portions, and the machine stops there. Rows of all sizes come to
// where hers were, so that trees are balanced, and overflow chains are freed and made.
TEST(Erasure, is_scrubbed_in_portions_with_others_writing_and_kills_in_between) {
  for (const bool is_encrypted : {false, true}) {
    SCOPED_TRACE(is_encrypted ? "encrypted" : "plain");
    const Bytes keys =
        is_encrypted ? sql::EncodeKeys(std::array{sql::FileKey{.key = Bytes(32, 7)}}) : Bytes();
    MemoryFiles files("erasure");
    auto opened = std::make_unique<Opened>(&files, "erasure-0", keys);
    Fill(*opened->state);
    for (int i = 0; i < 100; ++i) {
      PutItem(opened->state->store(), {"user", "ada", "notes"}, Secret(i), TextOf(i, kSecret), i);
      PutItem(opened->state->store(), {"user", "adb"}, std::to_string(i), TextOf(i, "b"), i);
    }
    ASSERT_TRUE(opened->state->Forget(OfAda()).has_value());
    Scrubbed scrubbed = Scrubbed::kPending;
    int portion = 0;
    while (scrubbed == Scrubbed::kPending) {
      ++portion;
      const auto done = opened->state->erasures().Scrub(portion % 5 == 0 ? 1 : 7);
      ASSERT_TRUE(done.has_value()) << done.error().message();
      scrubbed = *done;
      Store& store = opened->state->store();
      for (int i = portion; i < portion + 3; ++i) {
        const std::string user = i % 2 == 0 ? "adb" : "ad";
        PutItem(store, {"user", user}, std::to_string(i * 7 % 100), TextOf(i * 11, "c"), i);
        ASSERT_TRUE(store.Delete({"user", "adb"}, std::to_string(i * 13 % 100)).ok());
      }
      if (portion % 3 != 0) continue;
      MemoryFiles image = files.CopyOfBytes();
      opened.reset();
      files = image;
      opened = std::make_unique<Opened>(&files, "erasure-" + std::to_string(portion), keys);
    }
    EXPECT_GT(portion, 20);
    ASSERT_TRUE(opened->state->database()->Flush().ok());
    ExpectSound(*opened->state);
    EXPECT_EQ(opened->state->store().Measure({"user", "ada"}, true)->items, 0);
    EXPECT_THAT(ListOf(*opened->state, "user/bob/t"), SizeIs(40));
    EXPECT_FALSE(Holds(Exported(*opened->state), kSecret));
    EXPECT_FALSE(AnyHolds(files, kSecret));
  }
}

TEST(Erasure, in_memory_forgets_the_same) {
  Opened opened;
  Fill(*opened.state);
  const auto fork = ListOf(*opened.state, "user/bob/fork");
  const auto erased = opened.state->Forget(OfAda());
  ASSERT_TRUE(erased.has_value()) << erased.error().message();
  EXPECT_EQ(erased->items, 39);
  EXPECT_EQ(erased->vectors, 39);
  EXPECT_EQ(erased->versions, 42);
  EXPECT_EQ(erased->threads, 1);
  EXPECT_EQ(erased->checkpoints, 40);
  ExpectOnlyBob(*opened.state);
  EXPECT_EQ(ListOf(*opened.state, "user/bob/fork"), fork);
}

TEST(Erasure, a_dry_run_says_what_would_go_and_keeps_it) {
  MemoryFiles files("erasure");
  for (MemoryFiles* where : {&files, static_cast<MemoryFiles*>(nullptr)}) {
    Opened opened(where);
    Fill(*opened.state);
    Erasure erasure = OfAda();
    erasure.dry_run = true;
    const auto would = opened.state->Forget(erasure);
    ASSERT_TRUE(would.has_value()) << would.error().message();
    EXPECT_EQ(opened.state->store().Stats()->items, 79);
    EXPECT_EQ(*opened.state->erasures().Find("e1"), std::nullopt);
    EXPECT_EQ(opened.state->Forget(OfAda()), *would);
  }
}

TEST(Erasure, goes_by_filter_and_by_thread) {
  Opened opened;
  Fill(*opened.state);
  const Erasure some{.id = "some",
                     .digest = "",
                     .namespaces = {{"user", "ada"}, {"user"}},
                     .filter = R"({"n":{"$gte":38}})",
                     .threads = {"user/bob/t", "user/nobody/t"}};
  const auto erased = opened.state->Forget(some);
  ASSERT_TRUE(erased.has_value()) << erased.error().message();
  EXPECT_EQ(erased->items, 4) << "each once";
  EXPECT_EQ(erased->threads, 1);
  EXPECT_EQ(opened.state->store().Stats()->items, 75);
  EXPECT_THAT(ListOf(*opened.state, "user/ada/t"), SizeIs(40));
}

TEST(Erasure, takes_what_has_expired_and_was_not_swept) {
  MemoryFiles files("erasure");
  Opened opened(&files);
  const Operation put = PutOp{.ns = {"user", "ada"},
                              .key = "k",
                              .value = "\"" + Secret(1) + "\"",
                              .index = {},
                              .ttl_ms = 1,
                              .vectors = {}};
  ASSERT_TRUE(opened.state->store().Batch({&put, 1}).has_value());
  opened.state->clock().Set(kNow + 1000);
  const auto erased = ForgetAda(*opened.state);
  ASSERT_TRUE(erased.has_value());
  EXPECT_EQ(erased->items, 1);
  EXPECT_FALSE(AnyHolds(files, kSecret));
}

TEST(Erasure, a_hold_refuses_it_and_everything_stays) {
  MemoryFiles files("erasure");
  for (MemoryFiles* where : {&files, static_cast<MemoryFiles*>(nullptr)}) {
    Opened opened(where);
    Fill(*opened.state);
    Erasures& erasures = opened.state->erasures();
    ASSERT_TRUE(erasures.Put({{"user", "ada", "facts"}, "case 7", kNow}).ok());
    const auto refused = opened.state->Forget(OfAda());
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), StatusCode::kHeld);
    EXPECT_THAT(refused.error().message(), HasSubstr(R"(["user", "ada", "facts"]: case 7)"));
    EXPECT_EQ(opened.state->store().Stats()->items, 79);
    EXPECT_THAT(ListOf(*opened.state, "user/ada/t"), SizeIs(40));

    ASSERT_TRUE(erasures.Put({{"user", "ada"}, "case 8", kNow}).ok());
    const Erasure of_thread{.id = "t", .digest = "", .threads = {"user/ada/t"}};
    EXPECT_EQ(opened.state->Forget(of_thread).error().code(), StatusCode::kHeld);
    const Erasure of_bob{
        .id = "b", .digest = "", .namespaces = {{"user", "bob"}}, .thread_prefix = "user/bob/"};
    EXPECT_TRUE(opened.state->Forget(of_bob).has_value());

    EXPECT_THAT(*erasures.Holds(), SizeIs(2));
    ASSERT_TRUE(erasures.Release({"user", "ada", "facts"}).ok());
    ASSERT_TRUE(erasures.Release({"user", "ada"}).ok());
    EXPECT_THAT(*erasures.Holds(), IsEmpty());
    EXPECT_TRUE(opened.state->Forget(OfAda()).has_value());
  }
}

TEST(Erasure, in_a_scope_reaches_what_is_there) {
  Opened opened;
  Fill(*opened.state);
  const Scope ada = Scope::Make({{{"user", "ada"}, {}}}).value();
  ScopedStore scoped(opened.state->store(), ada);
  Erasure everything{.id = "e", .digest = "", .namespaces = {{}}, .thread_prefix = ""};
  ASSERT_TRUE(scoped.Enter(everything).ok());
  EXPECT_THAT(everything.namespaces, ElementsAre(Namespace{"user", "ada"}));
  EXPECT_EQ(everything.thread_prefix, "user/ada/");
  ASSERT_TRUE(opened.state->Forget(everything).has_value());
  ExpectOnlyBob(*opened.state);

  const Scope reader = Scope::Make({{{"user", "bob"}, {.read_only = true}}}).value();
  Erasure refused{.id = "r", .digest = "", .namespaces = {{}}};
  EXPECT_EQ(ScopedStore(opened.state->store(), reader).Enter(refused).code(),
            StatusCode::kAccessDenied);
}

TEST(Erasure, takes_the_rules_of_history_that_name_what_it_takes) {
  MemoryFiles files("erasure");
  for (MemoryFiles* file : {static_cast<MemoryFiles*>(nullptr), &files}) {
    Opened opened(file);
    const auto ruled = [&] {
      std::vector<Namespace> namespaces;
      const auto rules = opened.state->store().ListHistoryRules();
      for (const HistoryRule& rule : *rules) namespaces.push_back(rule.ns);
      return namespaces;
    };
    for (const Namespace& ns :
         std::vector<Namespace>{{}, {"user"}, {"user", "ada"}, {"user", "ada", "notes"}}) {
      ASSERT_TRUE(opened.state->store().KeepHistory({.ns = ns}).ok());
    }
    const Namespace user = {"user"}, ada = {"user", "ada"}, notes = {"user", "ada", "notes"};
    Erasure some = OfAda();
    some.id = "some";
    some.filter = "{\"n\":1}";
    ASSERT_TRUE(opened.state->Forget(some).has_value());
    EXPECT_THAT(ruled(), ElementsAre(Namespace(), user, ada, notes));
    ASSERT_TRUE(opened.state->Forget(OfAda()).has_value());
    EXPECT_THAT(ruled(), ElementsAre(Namespace(), user));
  }
}

TEST(Erasure, of_many_namespaces_takes_no_time_for_each_pair) {
  Opened opened;
  Erasure erasure{.id = "e", .digest = "", .namespaces = {}, .threads = {}};
  for (int i = 0; i < 100'000; ++i) {
    erasure.namespaces.push_back({"user", std::to_string(i)});
    erasure.threads.push_back("t" + std::to_string(i));
  }
  erasure.namespaces.push_back({"user", "7", "within"});
  PutItem(opened.state->store(), {"user", "7", "within"}, "k", "x", 1);
  EXPECT_EQ(opened.state->Forget(erasure)->items, 1U);
}

TEST(Erasure, survives_reopening_with_its_record_and_holds) {
  MemoryFiles files("erasure");
  {
    Opened opened(&files);
    Fill(*opened.state);
    ASSERT_TRUE(ForgetAda(*opened.state).has_value());
    ASSERT_TRUE(opened.state->erasures().Put({{"user", "bob"}, "case 9", kNow}).ok());
  }
  Opened again(&files);
  ExpectOnlyBob(*again.state);
  EXPECT_EQ((**again.state->erasures().Find("e1")).scrubbed, Scrubbed::kPages);
  ASSERT_THAT(*again.state->erasures().Holds(), SizeIs(1));
  EXPECT_EQ(again.state->erasures().Holds()->front().reason, "case 9");
}

// Wherever the machine stops: all is there, or nothing, and no byte when it was opened again.
TEST(Erasure, is_done_or_not_at_all_wherever_it_is_cut_off) {
  MemoryFiles filled("erasure");
  {
    Opened opened(&filled, "erasure-filler");
    Fill(*opened.state);
  }
  bool done = false;
  int kept = 0, continued = 0;
  for (std::int64_t room = 0; !done; room += 30'011) {
    SCOPED_TRACE("after " + std::to_string(room) + " bytes");
    MemoryFiles files = filled.CopyOfBytes();
    bool erased = false;
    {
      Opened opened(&files, "erasure-writer");
      files.room = room;
      erased = ForgetAda(*opened.state).has_value();
      done = erased && ScrubbedOf(*opened.state) == Scrubbed::kPages;
      ASSERT_EQ(ScrubbedOf(*opened.state).has_value(), erased) << "refused is not done";
      files.room = 0;
    }
    MemoryFiles image = files.CopyOfBytes();
    Opened recovered(&image, "erasure-recovered");
    const auto record = recovered.state->erasures().Find("e1");
    ASSERT_TRUE(record.has_value());
    if (!*record) {
      ASSERT_FALSE(erased);
      ASSERT_EQ(recovered.state->store().Stats()->items, 79);
      ASSERT_THAT(ListOf(*recovered.state, "user/ada/t"), SizeIs(40));
      ++kept;
      continue;
    }
    ASSERT_TRUE(erased);
    if (!done) ++continued;
    ASSERT_TRUE(ForgetAda(*recovered.state).has_value());
    ASSERT_EQ(ScrubbedOf(*recovered.state), Scrubbed::kPages);
    ASSERT_FALSE(AnyHolds(image, kSecret));
    ExpectOnlyBob(*recovered.state);
    ExpectSound(*recovered.state);
  }
  EXPECT_GT(kept, 0);
  EXPECT_GT(continued, 0);
}

}  // namespace
}  // namespace keepsake::testing
