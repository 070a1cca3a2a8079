#include "keepsake/memory_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "keepsake/in_memory_store.h"
#include "keepsake/memory.h"

namespace keepsake {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> KeysOf(const std::vector<MemoryEntry>& entries) {
  std::vector<std::string> keys;
  for (const MemoryEntry& entry : entries) keys.push_back(entry.key);
  return keys;
}

TEST(MemoryProvider, cap_90_a_missing_id_is_named) {
  const auto missing = ResolveNamespace(MemoryScope::kConversation, {.user_id = "ada"});
  EXPECT_EQ(missing.error().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(missing.error().message(), HasSubstr("conversation_id is not set"));
  EXPECT_THAT(ResolveNamespace(MemoryScope::kUser, {}).error().message(),
              HasSubstr("user_id is not set"));
}

TEST(MemoryProvider, cap_91_a_scope_s_namespace_begins_with_its_name) {
  const ScopeVariables who = {.conversation_id = "42", .user_id = "ada@example.com"};
  EXPECT_EQ(*ResolveNamespace(MemoryScope::kConversation, who), "conv:42");
  EXPECT_EQ(*ResolveNamespace(MemoryScope::kUser, who), "user:ada@example.com");
  EXPECT_EQ(*ResolveNamespace(MemoryScope::kGlobal, who), "global:default");
  EXPECT_EQ(*ResolveNamespace(MemoryScope::kGlobal, {.app_id = "shop"}), "global:shop");
  EXPECT_EQ(*ResolveNamespace(MemoryScope::kUser, {.store_namespace = "own"}), "own");
  EXPECT_THAT(*PlaceOf("user:ada@example.com"), ElementsAre("user", "ada@example%2Ecom"));
  EXPECT_THAT(*PlaceOf("user:a:b"), ElementsAre("user", "a%3Ab"));
  EXPECT_FALSE(PlaceOf("").has_value());
}

TEST(MemoryProvider, any_text_is_a_label_and_back) {
  for (const std::string text : {"", "*", "%", "%2E", "a.b:c", "ada@example.com", "日本"}) {
    EXPECT_EQ(DecodeLabel(EncodeLabel(text)), text);
    EXPECT_TRUE(ValidateNamespace({EncodeLabel(text)}).ok()) << text;
  }
  const std::string with_nul("a\0b", 3);
  EXPECT_EQ(DecodeLabel(EncodeLabel(with_nul)), with_nul);
}

TEST(MemoryProvider, cap_84_an_entry_takes_the_place_of_the_one_before) {
  const std::unique_ptr<Store> store = MakeInMemoryStore({});
  MemoryProvider provider(*store);
  ASSERT_TRUE(provider.Put("user:ada", "tea", "\"green\"", R"({"class":"a"})").ok());
  ASSERT_TRUE(provider.Put("user:ada", "tea", "\"black\"", R"({"class":"b"})").ok());
  const auto entries = *provider.Recall({.ns = "user:ada", .key = "tea"});
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].value, "\"black\"");
  EXPECT_EQ(entries[0].metadata, R"({"class":"b"})");
  EXPECT_EQ(provider.Put("user:ada", "x", "{", "").code(), StatusCode::kInvalidValue);
  EXPECT_EQ(provider.Put("user:ada", "x", "1", "[]").code(), StatusCode::kInvalidValue);
  EXPECT_EQ(provider.Put("user:ada", "x", "1}", R"({})").code(), StatusCode::kInvalidValue);
}

TEST(MemoryProvider, cap_85_recalls_by_key_or_by_search_filter_and_top_k) {
  const std::unique_ptr<Store> store = MakeInMemoryStore({});
  MemoryProvider provider(*store);
  ASSERT_TRUE(provider.Put("n", "1", R"({"text":"green tea"})", R"({"class":"drink"})").ok());
  ASSERT_TRUE(provider.Put("n", "2", R"({"text":"a walk"})", R"({"class":"sport"})").ok());
  ASSERT_TRUE(provider.Put("n:deeper", "3", R"({"text":"tea"})").ok());
  EXPECT_THAT(KeysOf(*provider.Recall({.ns = "n", .query_text = "tea?"})), ElementsAre("1"));
  EXPECT_THAT(KeysOf(*provider.Recall({.ns = "n", .filter = R"({"class":"sport"})"})),
              ElementsAre("2"));
  EXPECT_EQ(provider.Recall({.ns = "n", .top_k = 1})->size(), 1u);
  EXPECT_EQ(provider.Recall({.ns = "n"})->size(), 2u);
  EXPECT_THAT(*provider.Recall({.ns = "n", .key = "none"}), IsEmpty());
  EXPECT_EQ(provider.Recall({.ns = "n", .filter = "{"}).error().code(), StatusCode::kInvalidFilter);
}

TEST(MemoryProvider, cap_86_delete_and_clear_are_separate) {
  const std::unique_ptr<Store> store = MakeInMemoryStore({});
  MemoryProvider provider(*store);
  for (const char* key : {"1", "2", "3"}) ASSERT_TRUE(provider.Put("n", key, "1").ok());
  EXPECT_TRUE(provider.Delete("n", "1").ok());
  const Status missing = provider.Delete("n", "1");
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_EQ(missing.message(), "Memory not found: namespace=n, key=1");
  EXPECT_EQ(*provider.ClearNamespace("n"), 2u);
}

TEST(MemoryProvider, cap_87_an_entry_has_id_metadata_time_and_score) {
  const std::unique_ptr<Store> store = MakeInMemoryStore({});
  MemoryProvider provider(*store);
  ASSERT_TRUE(provider.Put("user:ada", "k", "\"tea\"").ok());
  const auto entries = *provider.Recall({.ns = "user:ada", .query_text = "tea"});
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].id, "user:ada/k");
  EXPECT_EQ(entries[0].ns, "user:ada");
  EXPECT_EQ(entries[0].metadata, "{}");
  EXPECT_GT(entries[0].updated_at_ms, 0);
  EXPECT_GT(*entries[0].score, 0);
  EXPECT_LE(*entries[0].score, 1);
}

TEST(MemoryProvider, cap_88_a_scope_s_refusals_have_their_codes) {
  const std::unique_ptr<Store> store = MakeInMemoryStore({});
  const auto scope =
      Scope::Make({{{"user", "ada"}, {.writable = {{{"a"}}}, .max_value_bytes = 40}}});
  ScopedStore scoped(*store, *scope);
  MemoryProvider provider(scoped);
  EXPECT_TRUE(provider.Put("a", "k", "1").ok());
  EXPECT_EQ(provider.Put("b", "k", "1").code(), StatusCode::kAccessDenied);
  EXPECT_EQ(provider.Put("a", "k", "\"" + std::string(40, 'x') + "\"").code(),
            StatusCode::kQuotaExceeded);
}

// One node stores, a later one recalls, whichever way each of them came to the memory.
TEST(MemoryProvider, cap_97_what_a_node_stores_is_seen_by_the_next_one) {
  auto memory = Memory::Open({.path = ":memory:"});
  ASSERT_TRUE(memory.has_value()) << memory.error().message();
  const auto scope = Scope::Make({{{"user", "ada"}, {}}});
  ScopedStore scoped(memory->store(), *scope);
  MemoryProvider hers(scoped);
  MemoryProvider whole(memory->store());
  for (const char* text : {"\"tea\"", "\"green tea\""}) {
    ASSERT_TRUE(hers.Put("facts", "drink", text).ok());
    for (const MemoryQuery& query :
         {MemoryQuery{.ns = "user:ada", .key = "none"}, MemoryQuery{.ns = "facts", .key = "drink"},
          MemoryQuery{.ns = "facts", .query_text = "tea"}, MemoryQuery{.ns = "facts"}}) {
      const auto entries = hers.Recall(query);
      ASSERT_TRUE(entries.has_value());
      if (query.ns != "facts") {
        EXPECT_THAT(*entries, IsEmpty());
        continue;
      }
      ASSERT_EQ(entries->size(), 1U);
      EXPECT_EQ(entries->at(0).value, text);
    }
  }
  EXPECT_EQ(whole.Recall({.ns = "user:ada.facts"})->size(), 0U);
  EXPECT_TRUE(memory->store().Get({"user", "ada", "facts"}, "drink")->has_value());
  ASSERT_TRUE(hers.Delete("facts", "drink").ok());
  EXPECT_THAT(*hers.Recall({.ns = "facts", .query_text = "tea"}), IsEmpty());
}

TEST(MemoryProvider, cap_101_without_a_query_the_newest_come_first_and_are_cut) {
  ManualClock clock(1000);
  const std::unique_ptr<Store> store = MakeInMemoryStore({.clock = &clock});
  MemoryProvider provider(*store);
  for (int i = 0; i < 12; ++i) {
    clock.Advance(1);
    ASSERT_TRUE(provider.Put("conv:1", "k" + std::to_string(i), std::to_string(i)).ok());
  }
  clock.Advance(1);
  ASSERT_TRUE(provider.Put("conv:1", "k3", "\"again\"").ok());
  EXPECT_THAT(KeysOf(*provider.Recall({.ns = "conv:1", .top_k = 3})),
              ElementsAre("k3", "k11", "k10"));
  EXPECT_EQ(provider.Recall({.ns = "conv:1"})->size(), 10U) << "by default";
  const auto all = *provider.Recall({.ns = "conv:1", .top_k = 100});
  EXPECT_EQ(all.size(), 12U);
  for (const MemoryEntry& entry : all) EXPECT_EQ(entry.score, std::nullopt) << "nothing is ranked";
}

TEST(MemoryProvider, cap_103_each_access_is_told_before_and_after) {
  const std::unique_ptr<Store> store = MakeInMemoryStore({});
  MemoryProvider provider(*store);
  std::vector<std::string> told;
  provider.Tell(
      [&](const MemoryAccess& access) {
        std::string line = std::to_string(static_cast<int>(access.operation)) + " " + access.ns +
                           " " + access.node_id;
        if (access.success) {
          line += (*access.success ? " done " : " failed ") + std::to_string(access.count);
        }
        told.push_back(std::move(line));
      },
      "node");
  ASSERT_TRUE(provider.Put("n", "k", "\"secret\"").ok());
  ASSERT_TRUE(provider.Recall({.ns = "n"}).has_value());
  ASSERT_FALSE(provider.Delete("n", "none").ok());
  ASSERT_TRUE(provider.ClearNamespace("n").has_value());
  EXPECT_THAT(told, ElementsAre("1 n node", "1 n node done 1", "0 n node", "0 n node done 1",
                                "2 n node", "2 n node failed 0", "3 n node", "3 n node done 1"));
}

TEST(MemoryProvider, cap_108_entries_are_there_in_the_next_run) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("keepsake-provider-" + std::to_string(::getpid()) + ".db");
  const sql::OpenOptions file = {.path = path.string(), .vfs = ""};
  {
    auto memory = Memory::Open(file);
    ASSERT_TRUE(memory.has_value()) << memory.error().message();
    MemoryProvider provider(memory->store());
    ASSERT_TRUE(provider.Put("user:ada", "k", "1").ok());
  }
  {
    auto memory = Memory::Open(file);
    ASSERT_TRUE(memory.has_value()) << memory.error().message();
    MemoryProvider provider(memory->store());
    EXPECT_THAT(KeysOf(*provider.Recall({.ns = "user:ada"})), ElementsAre("k"));
  }
  for (const char* suffix : {"", "-wal", "-journal", "-shm"}) {
    std::filesystem::remove(path.string() + suffix);
  }
}

}  // namespace
}  // namespace keepsake
