// The contract of Store, run over every backend.
#include "store_contract.h"

#include <cmath>
#include <limits>

namespace keepsake {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr std::int64_t kStart = 1'700'000'000'000;
constexpr std::int64_t kMinute = 60'000;

// Made outside of the tests' templates, in which GCC 12 fails on nested initialisers.
StoreOptions WithIndex(std::uint32_t dims, std::vector<std::string> fields = {"$"},
                       Embedder* embedder = nullptr) {
  StoreOptions options;
  options.index = IndexConfig{.dims = dims, .fields = std::move(fields)};
  options.embedder = embedder;
  return options;
}

StoreOptions WithTtl(std::int64_t default_ttl_ms, bool refresh_on_read = true) {
  StoreOptions options;
  options.ttl = {.default_ttl_ms = default_ttl_ms, .refresh_on_read = refresh_on_read};
  return options;
}

template <typename Backend>
class StoreContractTest : public testing::Test {
 protected:
  StoreContractTest() { Open({}); }

  void Open(StoreOptions options) {
    options.clock = &clock_;
    store_ = backend_.Open(std::move(options));
    ASSERT_NE(store_, nullptr);
  }

  void OpenWithIndex(std::vector<std::string> fields = {"$"}) {
    Open(WithIndex(WordEmbedder::kDims, std::move(fields), &embedder_));
  }

  void Put(Namespace ns, std::string key, std::string value) {
    const Status status = store_->Put(std::move(ns), std::move(key), std::move(value));
    ASSERT_TRUE(status.ok()) << status.message();
  }

  void Put(PutOp op) { Batch({std::move(op)}); }

  std::vector<OperationResult> Batch(std::vector<Operation> operations) {
    auto results = store_->Batch(operations);
    EXPECT_TRUE(results) << MessageOf(results);
    return results.value_or(std::vector<OperationResult>(operations.size()));
  }

  std::optional<std::string> ValueOf(Namespace ns, std::string key) {
    const auto item = store_->Get(std::move(ns), std::move(key));
    EXPECT_TRUE(item) << MessageOf(item);
    return item && *item ? std::optional((*item)->value) : std::nullopt;
  }

  std::vector<std::string> Found(SearchOp search) { return KeysOf(store_->Search(search)); }

  std::vector<std::string> Filtered(std::string filter) {
    return Found({.ns_prefix = {"n"}, .filter = std::move(filter)});
  }

  std::vector<std::optional<double>> Scores(SearchOp search) {
    std::vector<std::optional<double>> scores;
    const auto found = store_->Search(std::move(search));
    EXPECT_TRUE(found) << MessageOf(found);
    for (const SearchItem& hit : found.value_or(std::vector<SearchItem>())) {
      scores.push_back(hit.score);
    }
    return scores;
  }

  std::vector<Namespace> Namespaces(ListNamespacesOp list = {}) {
    const auto namespaces = store_->ListNamespaces(std::move(list));
    EXPECT_TRUE(namespaces) << MessageOf(namespaces);
    return namespaces.value_or(std::vector<Namespace>());
  }

  StoreStats Stats() { return store_->Stats().value_or(StoreStats{.items = 999}); }

  ManualClock clock_{kStart};
  WordEmbedder embedder_;
  Backend backend_;
  std::unique_ptr<Store> store_;
};

using Backends = testing::Types<InMemoryBackend, SqliteBackend>;

struct BackendNames {
  template <typename Backend>
  static std::string GetName(int) {
    return std::is_same_v<Backend, InMemoryBackend> ? "InMemoryStore" : "SqliteStore";
  }
};

TYPED_TEST_SUITE(StoreContractTest, Backends, BackendNames);

// --- Items ---

TYPED_TEST(StoreContractTest, cap_1_a_value_needs_no_index) {
  this->Put({"users", "u1"}, "profile", R"({"name":"Ada"})");
  EXPECT_THAT(this->ValueOf({"users", "u1"}, "profile"),
              Optional(std::string(R"({"name":"Ada"})")));
  EXPECT_EQ(this->Stats().vectors, 0U);
}

TYPED_TEST(StoreContractTest, cap_2_a_key_is_unique_within_its_namespace_only) {
  this->Put({"u1", "memories"}, "k", "1");
  this->Put({"u1", "preferences"}, "k", "2");
  this->Put({"u2", "memories"}, "k", "3");
  EXPECT_THAT(this->ValueOf({"u1", "memories"}, "k"), Optional(std::string("1")));
  EXPECT_THAT(this->ValueOf({"u1", "preferences"}, "k"), Optional(std::string("2")));
  EXPECT_THAT(this->ValueOf({"u2", "memories"}, "k"), Optional(std::string("3")));
}

TYPED_TEST(StoreContractTest, cap_3_put_overwrites) {
  this->Put({"n"}, "k", "1");
  this->Put({"n"}, "k", "2");
  EXPECT_THAT(this->ValueOf({"n"}, "k"), Optional(std::string("2")));
  EXPECT_EQ(this->Stats().items, 1U);
}

TYPED_TEST(StoreContractTest, cap_4_get_of_a_missing_key_is_null) {
  this->Put({"n"}, "k", "1");
  EXPECT_EQ(this->ValueOf({"n"}, "other"), std::nullopt);
  EXPECT_EQ(this->ValueOf({"other"}, "k"), std::nullopt);
}

TYPED_TEST(StoreContractTest, cap_5_list_gives_the_sorted_keys_of_exactly_this_namespace) {
  this->Put({"a"}, "z", "1");
  this->Put({"a"}, "\xC3\xA9", "1");          // é
  this->Put({"a"}, "\xF0\x9F\x98\x80", "1");  // beyond U+FFFF, last by code point
  this->Put({"a"}, "\xEF\xBD\x81", "1");      // U+FF41
  this->Put({"a"}, "B", "1");
  this->Put({"a", "below"}, "x", "1");
  this->Put({"ab"}, "y", "1");
  EXPECT_THAT(this->store_->List({"a"}).value(),
              ElementsAre("B", "z", "\xC3\xA9", "\xEF\xBD\x81", "\xF0\x9F\x98\x80"));
  EXPECT_THAT(this->store_->List({"nothing"}).value(), IsEmpty());
}

TYPED_TEST(StoreContractTest, cap_6_search_takes_namespace_query_and_limit) {
  for (const char* key : {"a", "b", "c"}) this->Put({"n"}, key, R"("tea")");
  this->Put({"n"}, "d", R"("coffee")");
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .query = "tea", .limit = 2}), ElementsAre("a", "b"));
}

TYPED_TEST(StoreContractTest, cap_7_a_hit_has_key_value_and_no_score_unless_it_is_ranked) {
  this->Put({"n"}, "k", R"({"x":1})");
  const auto found = this->store_->Search({.ns_prefix = {"n"}}).value();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].item.key, "k");
  EXPECT_EQ(found[0].item.value, R"({"x":1})");
  EXPECT_EQ(found[0].score, std::nullopt);
}

TYPED_TEST(StoreContractTest, cap_8_any_json_value_comes_back_byte_by_byte) {
  for (const char* value :
       {"null", "true", "-0.50e+1", R"("text")", "[1, [ ] ]", R"({"b":1,  "a":{"b":1,"b":2}})",
        R"("lone \ud83d and \u0000 and \/")", "\"\xF0\x9F\x98\x80\xE2\x80\xA8\""}) {
    this->Put({"n"}, "k", value);
    EXPECT_THAT(this->ValueOf({"n"}, "k"), Optional(std::string(value)));
  }
}

TYPED_TEST(StoreContractTest, cap_9_an_empty_query_lists_and_embeds_nothing) {
  this->OpenWithIndex();
  this->Put(PutOp{.ns = {"n"}, .key = "a", .value = "1", .index = {IndexChoice::Kind::kNone}});
  this->Put(PutOp{.ns = {"n"}, .key = "b", .value = "1", .index = {IndexChoice::Kind::kNone}});
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .query = "", .limit = 1}), ElementsAre("a"));
  EXPECT_THAT(this->Scores({.ns_prefix = {"n"}}), ElementsAre(std::nullopt, std::nullopt));
  EXPECT_THAT(this->embedder_.query_calls, IsEmpty());
  EXPECT_THAT(this->embedder_.document_calls, IsEmpty());
}

TYPED_TEST(StoreContractTest, cap_10_contains_looks_into_key_and_serialised_value) {
  this->Put({"n"}, "Tea time", "1");
  this->Put({"n"}, "b", R"({"drink":"green TEA"})");
  this->Put({"n"}, "c", R"({"hot":["Steam"]})");
  this->Put({"n"}, "d", R"("coffee")");
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .query = "tEa", .mode = SearchMode::kContains}),
              ElementsAre("Tea time", "b", "c"));
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .query = R"("drink":)"}), ElementsAre("b"));
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .query = "nowhere"}), IsEmpty());
}

TYPED_TEST(StoreContractTest, what_only_a_name_of_a_member_contains_is_no_hit) {
  this->Put({"n"}, "a", R"({"text":"zebra","te":{"te":1e+30},"done":true,"none":null})");
  this->Put({"n"}, "b", R"({ "text" : "a note: te" })");
  this->Put({"n"}, "c", R"({"n":["x","te \" : y"]})");
  for (const SearchMode mode : {SearchMode::kContains, SearchMode::kAuto}) {
    const auto found = [&](std::string query) {
      return this->Found({.ns_prefix = {"n"}, .query = std::move(query), .mode = mode});
    };
    EXPECT_THAT(found("te"), UnorderedElementsAre("b", "c"));
    EXPECT_THAT(found("ru"), IsEmpty());
    EXPECT_THAT(found("nul"), IsEmpty());
    EXPECT_THAT(found("zeb"), ElementsAre("a"));
    EXPECT_THAT(found("e+3"), ElementsAre("a"));
    EXPECT_THAT(found(R"("done":tr)"), ElementsAre("a"));
  }
}

TYPED_TEST(StoreContractTest, contains_compares_letters_of_all_scripts_and_quotes) {
  this->Put({"n"}, "a", "{\"text\":\"the Caf\u00C9 of ZO\u00CB\"}");
  this->Put({"n"}, "b", R"({"text":"the cafe"})");
  this->Put({"n"}, "Zo\u00EB", R"({"text":"tea"})");
  this->Put({"n"}, "d", R"({"text":"say \"Tea\" twice"})");
  const auto found = [&](const char* query) {
    return this->Found({.ns_prefix = {"n"}, .query = query, .mode = SearchMode::kContains});
  };
  EXPECT_THAT(found("CAFE"), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(found("caf\u00E9"), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(found("zoe"), UnorderedElementsAre("a", "Zo\u00EB"));
  EXPECT_THAT(found(R"("tEa")"), UnorderedElementsAre("Zo\u00EB", "d"));
  EXPECT_THAT(found("\u00EA"), UnorderedElementsAre("a", "b", "Zo\u00EB", "d"));
}

TYPED_TEST(StoreContractTest, cap_11_metacharacters_in_a_query_are_literal) {
  this->Put({"n"}, "percent", R"("100%")");
  this->Put({"n"}, "under_score", "1");
  this->Put({"n"}, "plain", R"("100")");
  this->Put({"n"}, "glob", R"("*?[a]' OR 1=1 --")");
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .query = "%"}), ElementsAre("percent"));
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .query = "_"}), ElementsAre("under_score"));
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .query = "' OR 1=1 --"}), ElementsAre("glob"));
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .query = "*?["}), ElementsAre("glob"));
}

TYPED_TEST(StoreContractTest, cap_12_the_greatest_limit_gives_everything) {
  for (int i = 0; i < 150; ++i) this->Put({"n"}, std::to_string(i), "1");
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .limit = UINT32_MAX}), SizeIs(150));
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .limit = UINT32_MAX, .offset = UINT32_MAX}),
              IsEmpty());
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}}), SizeIs(10));
}

TYPED_TEST(StoreContractTest, cap_13_contains_finds_a_prefix_of_a_key) {
  this->Put({"n"}, "mem_1", "1");
  this->Put({"n"}, "pref_theme", "1");
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .query = "mem_"}), ElementsAre("mem_1"));
}

TYPED_TEST(StoreContractTest, cap_14_results_come_from_the_addressed_namespace_only) {
  this->Put({"tenant", "a"}, "k", R"("tea")");
  this->Put({"tenant", "b"}, "k", R"("tea")");
  const auto found = this->store_->Search({.ns_prefix = {"tenant", "b"}, .query = "tea"}).value();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].item.ns, (Namespace{"tenant", "b"}));
  EXPECT_THAT(this->store_->List({"tenant"}).value(), IsEmpty());
}

TYPED_TEST(StoreContractTest, cap_15_keys_may_carry_their_type_as_a_prefix) {
  this->Put({"u1"}, "pref_theme", R"("dark")");
  this->Put({"u1"}, "mem_42", R"("likes tea")");
  EXPECT_THAT(this->store_->List({"u1"}).value(), ElementsAre("mem_42", "pref_theme"));
}

TYPED_TEST(StoreContractTest, cap_16_no_key_collides_with_another_namespace) {
  this->Put({"a"}, "b::c", "1");
  this->Put({"a", "b"}, "c", "2");
  this->Put({"a"}, R"(["b"]::c)", "3");
  this->Put({"a\x1F"},
            "b\x1F"
            "c",
            "4");
  this->Put({"a",
             "\x1E"
             "1b"},
            "c", "5");
  this->Put({"a"}, "", "6");
  EXPECT_THAT(this->ValueOf({"a"}, "b::c"), Optional(std::string("1")));
  EXPECT_THAT(this->ValueOf({"a", "b"}, "c"), Optional(std::string("2")));
  EXPECT_THAT(this->ValueOf({"a"}, R"(["b"]::c)"), Optional(std::string("3")));
  EXPECT_THAT(this->ValueOf({"a\x1F"},
                            "b\x1F"
                            "c"),
              Optional(std::string("4")));
  EXPECT_THAT(this->ValueOf({"a",
                             "\x1E"
                             "1b"},
                            "c"),
              Optional(std::string("5")));
  EXPECT_THAT(this->ValueOf({"a"}, ""), Optional(std::string("6")));
  EXPECT_EQ(this->Stats().items, 6U);
}

TYPED_TEST(StoreContractTest, cap_17_errors_are_typed_and_name_the_rule) {
  const Status status = this->store_->Put({"n"}, "k", "{oops}");
  EXPECT_EQ(status.code(), StatusCode::kInvalidValue);
  EXPECT_EQ(StatusCodeName(status.code()), "invalid_value");
  EXPECT_EQ(status.message(), "value is not JSON: unexpected character at byte 1");
}

TYPED_TEST(StoreContractTest, what_was_read_does_not_change_with_the_store) {
  this->Put({"n"}, "k", "1");
  const auto before = this->store_->Get({"n"}, "k").value();
  const auto found = this->store_->Search({.ns_prefix = {"n"}}).value();
  this->Put({"n"}, "k", "2");
  EXPECT_EQ(before->value, "1");
  EXPECT_EQ(found[0].item.value, "1");
}

TYPED_TEST(StoreContractTest, what_was_put_does_not_change_with_its_operation) {
  std::vector<Operation> operations = {PutOperation({"n"}, "k", "1")};
  ASSERT_TRUE(this->store_->Batch(operations));
  *std::get<PutOp>(operations[0]).value = "2";
  EXPECT_THAT(this->ValueOf({"n"}, "k"), Optional(std::string("1")));
}

TYPED_TEST(StoreContractTest, a_large_value_comes_back) {
  const std::string value = "\"" + std::string(3'000'000, 'x') + "\"";
  this->Put({"n"}, "k", value);
  EXPECT_EQ(this->ValueOf({"n"}, "k"), value);
}

TYPED_TEST(StoreContractTest, clearing_a_namespace_leaves_those_below_and_beside_it) {
  this->OpenWithIndex();
  this->Put({"a"}, "1", R"("tea")");
  this->Put({"a"}, "2", R"("tea")");
  this->Put({"a", "b"}, "3", R"("tea")");
  this->Put({"ab"}, "4", R"("tea")");
  EXPECT_EQ(this->store_->ClearNamespace({"a"}), 2U);
  EXPECT_EQ(this->store_->ClearNamespace({"a"}), 0U);
  EXPECT_THAT(this->Found({.query = "tea"}), ElementsAre("3", "4"));
  EXPECT_EQ(this->Stats().vectors, 2U);
}

TYPED_TEST(StoreContractTest, stats_count_items_namespaces_and_vectors) {
  this->OpenWithIndex({"texts[*]"});
  this->Put({"a"}, "1", R"({"texts":["tea","rain"]})");
  this->Put({"a"}, "2", R"({"texts":["tea"]})");
  this->Put({"b"}, "1", "{}");
  const StoreStats stats = this->Stats();
  EXPECT_EQ(stats.items, 3U);
  EXPECT_EQ(stats.namespaces, 2U);
  EXPECT_EQ(stats.vectors, 3U);
}

// --- Batches ---

TYPED_TEST(StoreContractTest, cap_36_results_come_in_the_order_of_the_operations) {
  this->Put({"n"}, "a", "1");
  const auto results =
      this->Batch({SearchOp{.ns_prefix = {"n"}}, PutOperation({"n"}, "b", "2"), GetOp{{"n"}, "a"},
                   ListNamespacesOp{}, GetOp{{"n"}, "no"}, DeleteOperation({"n"}, "no")});
  ASSERT_THAT(results, SizeIs(6));
  EXPECT_THAT(std::get<std::vector<SearchItem>>(results[0]), SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(results[1]));
  EXPECT_EQ(std::get<std::optional<Item>>(results[2])->value, "1");
  EXPECT_THAT(std::get<std::vector<Namespace>>(results[3]), ElementsAre(Namespace{"n"}));
  EXPECT_EQ(std::get<std::optional<Item>>(results[4]), std::optional<Item>());
  EXPECT_TRUE(std::holds_alternative<std::monostate>(results[5]));
  EXPECT_THAT(this->Batch({}), IsEmpty());
}

TYPED_TEST(StoreContractTest, cap_36_listing_options_alone_do_not_shift_results) {
  this->Put({"n"}, "a", "1");
  const auto results = this->Batch({ListNamespacesOp{.limit = 5}, GetOp{{"n"}, "a"}});
  EXPECT_THAT(std::get<std::vector<Namespace>>(results[0]), SizeIs(1));
  EXPECT_EQ(std::get<std::optional<Item>>(results[1])->value, "1");
}

TYPED_TEST(StoreContractTest, cap_37_reads_see_the_state_before_the_batch) {
  this->Put({"n"}, "old", "1");
  const auto results =
      this->Batch({PutOperation({"n"}, "new", "2"), DeleteOperation({"n"}, "old"),
                   GetOp{{"n"}, "new"}, GetOp{{"n"}, "old"}, SearchOp{.ns_prefix = {"n"}}});
  EXPECT_EQ(std::get<std::optional<Item>>(results[2]), std::optional<Item>());
  EXPECT_EQ(std::get<std::optional<Item>>(results[3])->value, "1");
  EXPECT_THAT(std::get<std::vector<SearchItem>>(results[4]), SizeIs(1));
  EXPECT_THAT(this->store_->List({"n"}).value(), ElementsAre("new"));
}

TYPED_TEST(StoreContractTest, cap_37_the_last_put_of_a_key_wins) {
  this->Batch({PutOperation({"n"}, "k", "1"), PutOperation({"m"}, "k", "2"),
               PutOperation({"n"}, "k", "3")});
  EXPECT_THAT(this->ValueOf({"n"}, "k"), Optional(std::string("3")));
  EXPECT_THAT(this->ValueOf({"m"}, "k"), Optional(std::string("2")));
  this->Batch({PutOperation({"n"}, "k", "4"), DeleteOperation({"n"}, "k")});
  EXPECT_EQ(this->ValueOf({"n"}, "k"), std::nullopt);
}

TYPED_TEST(StoreContractTest, cap_37_a_delete_before_a_put_in_one_batch_does_not_make_a_new_item) {
  this->Put({"n"}, "k", "1");
  this->clock_.Advance(10);
  this->Batch({DeleteOperation({"n"}, "k"), PutOperation({"n"}, "k", "2")});
  EXPECT_EQ(this->store_->Get({"n"}, "k").value()->created_at_ms, kStart);
}

TYPED_TEST(StoreContractTest, a_batch_with_an_invalid_operation_changes_nothing) {
  const std::vector<Operation> operations = {PutOperation({"n"}, "a", "1"),
                                             PutOperation({"n"}, "b", "[1,]")};
  const auto results = this->store_->Batch(operations);
  EXPECT_EQ(CodeOf(results), StatusCode::kInvalidValue);
  EXPECT_EQ(MessageOf(results), "operation 1: value is not JSON: unexpected character at byte 3");
  EXPECT_EQ(this->Stats().items, 0U);
}

TYPED_TEST(StoreContractTest, cap_30_a_batch_with_an_invalid_operation_embeds_nothing) {
  this->OpenWithIndex();
  const std::vector<Operation> operations = {PutOperation({"n"}, "a", R"("tea")"),
                                             GetOp{{"n."}, "b"}};
  EXPECT_EQ(CodeOf(this->store_->Batch(operations)), StatusCode::kInvalidNamespace);
  EXPECT_THAT(this->embedder_.document_calls, IsEmpty());
}

TYPED_TEST(StoreContractTest, cap_38_get_gives_the_item_or_null) {
  this->Put({"n"}, "k", R"({"a":1})");
  const auto item = this->store_->Get({"n"}, "k").value();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->ns, Namespace{"n"});
  EXPECT_EQ(item->key, "k");
  EXPECT_EQ(item->value, R"({"a":1})");
  EXPECT_EQ(this->store_->Get({"n"}, "j").value(), std::nullopt);
}

TYPED_TEST(StoreContractTest, cap_39_index_says_what_is_embedded) {
  this->OpenWithIndex({"text"});
  const std::string value = R"({"text":"tea","title":"rain"})";
  this->Put(PutOp{.ns = {"n"}, .key = "default", .value = value});
  this->Put(PutOp{.ns = {"n"}, .key = "none", .value = value, .index = {IndexChoice::Kind::kNone}});
  this->Put(PutOp{.ns = {"n"},
                  .key = "paths",
                  .value = value,
                  .index = {IndexChoice::Kind::kPaths, {"title"}}});
  EXPECT_THAT(this->embedder_.document_calls, ElementsAre(ElementsAre("tea"), ElementsAre("rain")));
  EXPECT_THAT(this->Scores({.ns_prefix = {"n"}, .query = "rain"}),
              ElementsAre(Optional(1.0), Optional(0.0), std::nullopt));
}

TYPED_TEST(StoreContractTest, index_paths_of_an_item_are_short) {
  const auto put = [&](std::size_t paths) {
    PutOp op{.ns = {"n"}, .key = "k", .value = R"({"text":"tea"})"};
    op.index = {IndexChoice::Kind::kPaths, std::vector<std::string>(paths, std::string(63, 'p'))};
    const Operation operation = std::move(op);
    const auto done = this->store_->Batch({&operation, 1});
    return done ? Status() : done.error();
  };
  EXPECT_TRUE(put(64).ok());
  const Status refused = put(65);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("4096 bytes, and one for each: they take 4160"));
}

TYPED_TEST(StoreContractTest, cap_40_search_covers_the_subtree_of_whole_labels) {
  this->Put({"user"}, "root", "1");
  this->Put({"user", "a"}, "below", "1");
  this->Put({"user", "a", "b"}, "deep", "1");
  this->Put({"users"}, "sibling", "1");
  this->Put({"user-2"}, "other", "1");
  this->Put({"User"}, "case", "1");
  EXPECT_THAT(this->Found({.ns_prefix = {"user"}}), ElementsAre("root", "below", "deep"));
  EXPECT_THAT(this->Found({.ns_prefix = {"user", "a"}}), ElementsAre("below", "deep"));
  EXPECT_THAT(this->Found({}), SizeIs(6));
  EXPECT_THAT(this->Found({.ns_prefix = {"us"}}), IsEmpty());
}

TYPED_TEST(StoreContractTest, cap_40_metacharacters_in_labels_match_only_themselves) {
  for (const char* label : {"a%", "a_", "a*", "a?", "a[b]", "a", "ab"}) {
    this->Put({label}, label, "1");
  }
  for (const char* label : {"a%", "a_", "a*", "a?", "a[b]", "a"}) {
    EXPECT_THAT(this->Found({.ns_prefix = {label}}), ElementsAre(label));
  }
}

TYPED_TEST(StoreContractTest, cap_40_the_default_limit_is_10_and_pages_follow_each_other) {
  for (int i = 0; i < 25; ++i) {
    this->Put({"n"}, std::to_string(i), "1");
    this->clock_.Advance(1);
  }
  std::vector<std::string> paged;
  for (std::uint32_t offset = 0; offset < 30; offset += 10) {
    for (std::string& key : this->Found({.ns_prefix = {"n"}, .offset = offset})) {
      paged.push_back(std::move(key));
    }
  }
  std::vector<std::string> newest_first;
  for (int i = 24; i >= 0; --i) newest_first.push_back(std::to_string(i));
  EXPECT_EQ(paged, newest_first);
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .limit = 0}), IsEmpty());
}

TYPED_TEST(StoreContractTest, a_listing_is_ordered_by_update_then_namespace_then_key) {
  this->Put({"b"}, "1", "1");
  this->Put({"a"}, "2", "1");
  this->Put({"a"}, "1", "1");
  this->Put({"a"}, "0", "1");
  this->clock_.Advance(1);
  this->Put({"b"}, "9", "1");
  this->Put({"a"}, "0", "2");
  EXPECT_THAT(this->Found({}), ElementsAre("0", "9", "1", "2", "1"));
  EXPECT_THAT(this->Found({.filter = R"({"x":{"$ne":1}})"}), ElementsAre("0", "9", "1", "2", "1"));
}

TYPED_TEST(StoreContractTest, cap_41_filter_conditions_are_anded) {
  this->Put({"n"}, "a", R"({"kind":"note","n":1})");
  this->Put({"n"}, "b", R"({"kind":"note","n":2})");
  this->Put({"n"}, "c", R"({"kind":"task","n":2})");
  EXPECT_THAT(this->Filtered(R"({"kind":"note"})"), ElementsAre("a", "b"));
  EXPECT_THAT(this->Filtered(R"({"kind":"note","n":2})"), ElementsAre("b"));
  EXPECT_THAT(this->Filtered(R"({"kind":{"$eq":"task"},"n":{"$gt":1,"$lte":2}})"),
              ElementsAre("c"));
  EXPECT_THAT(this->Filtered(R"({"n":{"$gte":2}})"), ElementsAre("b", "c"));
  EXPECT_THAT(this->Filtered(R"({"n":{"$lt":2}})"), ElementsAre("a"));
  EXPECT_THAT(this->Filtered(R"({"n":{"$ne":2}})"), ElementsAre("a"));
  EXPECT_THAT(this->Filtered(R"({"n":{"$in":[0,2]},"kind":{"$nin":["task"]}})"), ElementsAre("b"));
  EXPECT_THAT(this->Filtered("{}"), ElementsAre("a", "b", "c"));
}

TYPED_TEST(StoreContractTest, cap_41_a_bad_filter_is_refused_with_its_operator) {
  const auto found = this->store_->Search({.filter = R"({"a":{"$near":1}})"});
  EXPECT_EQ(CodeOf(found), StatusCode::kInvalidFilter);
  EXPECT_THAT(MessageOf(found), HasSubstr("$near"));
}

TYPED_TEST(StoreContractTest, cap_41_filters_are_values_not_sql) {
  this->Put({"n"}, "k", R"({"it's":"' OR 1=1; DROP TABLE store_kv; --"})");
  EXPECT_THAT(this->Filtered(R"({"it's":"' OR 1=1; DROP TABLE store_kv; --"})"), ElementsAre("k"));
  EXPECT_THAT(this->Filtered(R"({"x' OR '1'='1":"1"})"), IsEmpty());
}

TYPED_TEST(StoreContractTest, cap_42_prefix_filter_and_query_combine) {
  this->OpenWithIndex({"text"});
  this->Put({"u1", "a"}, "1", R"({"text":"tea","n":1})");
  this->Put({"u1", "b"}, "2", R"({"text":"tea rain","n":1})");
  this->Put({"u1", "b"}, "3", R"({"text":"tea","n":2})");
  this->Put({"u2"}, "4", R"({"text":"tea","n":1})");
  EXPECT_THAT(this->Found({.ns_prefix = {"u1"}, .filter = R"({"n":1})", .query = "tea"}),
              ElementsAre("1", "2"));
}

TYPED_TEST(StoreContractTest, cap_42_filter_and_contains_combine) {
  this->Put({"n"}, "1", R"({"text":"tea","n":1})");
  this->Put({"n"}, "2", R"({"text":"tea","n":2})");
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .filter = R"({"n":2})", .query = "tea"}),
              ElementsAre("2"));
}

// --- Namespaces ---

TYPED_TEST(StoreContractTest, cap_43_namespaces_are_listed_in_order_and_in_pages) {
  for (int i = 0; i < 120; ++i) {
    this->Put({"n", std::to_string(1000 + i)}, "k", "1");
    this->Put({"n", std::to_string(1000 + i)}, "l", "1");
  }
  EXPECT_THAT(this->Namespaces(), SizeIs(100));
  EXPECT_THAT(this->Namespaces({.limit = 2, .offset = 1}),
              ElementsAre(Namespace{"n", "1001"}, Namespace{"n", "1002"}));
  EXPECT_THAT(this->Namespaces({.offset = 119}), ElementsAre(Namespace{"n", "1119"}));
  EXPECT_THAT(this->Namespaces({.limit = 0}), IsEmpty());
  EXPECT_THAT(this->Namespaces({.offset = UINT32_MAX}), IsEmpty());
}

TYPED_TEST(StoreContractTest, cap_44_prefix_and_suffix_match_whole_labels) {
  this->Put({"users", "u1", "prefs"}, "k", "1");
  this->Put({"users", "u2", "prefs"}, "k", "1");
  this->Put({"users", "u2", "memories"}, "k", "1");
  this->Put({"docs", "prefs"}, "k", "1");
  this->Put({"users2", "x"}, "k", "1");
  const MatchCondition users = {MatchType::kPrefix, {"users"}};
  const MatchCondition prefs = {MatchType::kSuffix, {"prefs"}};
  EXPECT_THAT(this->Namespaces({.match_conditions = {users}}),
              ElementsAre(Namespace{"users", "u1", "prefs"}, Namespace{"users", "u2", "memories"},
                          Namespace{"users", "u2", "prefs"}));
  EXPECT_THAT(this->Namespaces({.match_conditions = {users, prefs}}),
              ElementsAre(Namespace{"users", "u1", "prefs"}, Namespace{"users", "u2", "prefs"}));
  EXPECT_THAT(this->Namespaces({.match_conditions = {{MatchType::kPrefix, {"*", "u2"}}}}),
              SizeIs(2));
  EXPECT_THAT(this->Namespaces({.match_conditions = {{MatchType::kSuffix, {"*", "prefs"}}}}),
              SizeIs(3));
  EXPECT_THAT(this->Namespaces({.match_conditions = {{MatchType::kPrefix, {"docs", "*", "*"}}}}),
              IsEmpty());
}

TYPED_TEST(StoreContractTest, cap_45_max_depth_cuts_and_makes_distinct) {
  this->Put({"a"}, "k", "1");
  this->Put({"a", "b", "c"}, "k", "1");
  this->Put({"a", "b", "d"}, "k", "1");
  this->Put({"a", "e"}, "k", "1");
  EXPECT_THAT(this->Namespaces({.max_depth = 1}), ElementsAre(Namespace{"a"}));
  EXPECT_THAT(this->Namespaces({.max_depth = 2}),
              ElementsAre(Namespace{"a"}, Namespace{"a", "b"}, Namespace{"a", "e"}));
  EXPECT_THAT(this->Namespaces({.max_depth = 2, .limit = 1, .offset = 1}),
              ElementsAre(Namespace{"a", "b"}));
  EXPECT_EQ(CodeOf(this->store_->ListNamespaces({.max_depth = 0})), StatusCode::kInvalidArgument);
}

TYPED_TEST(StoreContractTest, an_emptied_namespace_is_no_longer_listed) {
  this->Put({"a"}, "k", "1");
  ASSERT_TRUE(this->store_->Delete({"a"}, "k").ok());
  EXPECT_THAT(this->Namespaces(), IsEmpty());
  EXPECT_EQ(this->Stats().namespaces, 0U);
}

TYPED_TEST(StoreContractTest, cap_46_an_update_keeps_created_at_and_moves_updated_at) {
  this->Put({"n"}, "k", "1");
  this->clock_.Advance(5);
  this->Put({"n"}, "k", "2");
  const Item item = *this->store_->Get({"n"}, "k").value();
  EXPECT_EQ(item.created_at_ms, kStart);
  EXPECT_EQ(item.updated_at_ms, kStart + 5);
  ASSERT_TRUE(this->store_->Delete({"n"}, "k").ok());
  this->Put({"n"}, "k", "3");
  EXPECT_EQ(this->store_->Get({"n"}, "k").value()->created_at_ms, kStart + 5);
}

TYPED_TEST(StoreContractTest, a_clock_that_is_set_back_puts_no_update_before_the_creation) {
  this->Put({"n"}, "k", "1");
  this->clock_.Set(kStart - 5);
  this->Put({"n"}, "k", "2");
  const Item item = *this->store_->Get({"n"}, "k").value();
  EXPECT_EQ(item.value, "2");
  EXPECT_EQ(item.created_at_ms, kStart);
  EXPECT_EQ(item.updated_at_ms, kStart);
}

// --- Vectors ---

TYPED_TEST(StoreContractTest, cap_47_a_ranked_item_has_its_score_and_all_of_an_item) {
  this->OpenWithIndex();
  this->Put({"n"}, "k", R"("tea")");
  const auto found = this->store_->Search({.ns_prefix = {"n"}, .query = "tea"}).value();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_DOUBLE_EQ(*found[0].score, 1.0);
  EXPECT_EQ(found[0].item.created_at_ms, kStart);
}

TYPED_TEST(StoreContractTest, cap_48_the_whole_value_is_embedded_by_default) {
  this->OpenWithIndex();
  this->Put({"n"}, "k", R"({"a":"tea","b":[]})");
  EXPECT_THAT(this->embedder_.document_calls,
              ElementsAre(ElementsAre("{\n  \"a\": \"tea\",\n  \"b\": []\n}")));
}

TYPED_TEST(StoreContractTest, cap_48_paths_reach_into_objects_and_arrays) {
  this->OpenWithIndex({"a.b", "turns[*].text", "tags[-1]", "missing.path"});
  this->Put(
      {"n"}, "k",
      R"({"a":{"b":"one"},"turns":[{"text":"two"},{},{"text":"three"}],"tags":["x","four"]})");
  EXPECT_THAT(this->embedder_.document_calls,
              ElementsAre(ElementsAre("one", "two", "three", "four")));
  EXPECT_EQ(this->Stats().vectors, 4U);
}

TYPED_TEST(StoreContractTest, cap_49_an_item_scores_as_its_best_vector_and_appears_once) {
  this->OpenWithIndex({"texts[*]"});
  this->Put({"n"}, "many", R"({"texts":["rain","tea","coffee"]})");
  this->Put({"n"}, "one", R"({"texts":["tea rain"]})");
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .query = "tea"}), ElementsAre("many", "one"));
  EXPECT_THAT(this->Scores({.ns_prefix = {"n"}, .query = "tea"}),
              ElementsAre(Optional(testing::DoubleNear(1.0, 1e-6)),
                          Optional(testing::DoubleNear(std::sqrt(0.5), 1e-6))));
}

TYPED_TEST(StoreContractTest, cap_49_items_without_vectors_fill_the_tail_once_over_all_pages) {
  this->OpenWithIndex();
  for (const char* key : {"a", "b", "c"}) this->Put({"n"}, key, R"("tea")");
  for (const char* key : {"x", "y", "z"}) {
    this->Put(PutOp{.ns = {"n"}, .key = key, .value = "1", .index = {IndexChoice::Kind::kNone}});
    this->clock_.Advance(1);
  }
  std::vector<std::string> paged;
  for (std::uint32_t offset = 0; offset < 8; offset += 2) {
    for (std::string& key : this->Found({.query = "tea", .limit = 2, .offset = offset})) {
      paged.push_back(std::move(key));
    }
  }
  EXPECT_THAT(paged, ElementsAre("a", "b", "c", "z", "y", "x"));
}

TYPED_TEST(StoreContractTest, cap_49_equal_scores_are_ordered_by_namespace_and_key) {
  this->OpenWithIndex();
  this->Put({"b"}, "1", R"("tea")");
  this->Put({"a"}, "2", R"("tea")");
  this->Put({"a"}, "1", R"("tea")");
  const auto found = this->store_->Search({.query = "tea"}).value();
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].item.ns[0] + found[0].item.key, "a1");
  EXPECT_EQ(found[1].item.ns[0] + found[1].item.key, "a2");
  EXPECT_EQ(found[2].item.ns[0] + found[2].item.key, "b1");
}

TYPED_TEST(StoreContractTest, cap_50_texts_are_embedded_once_per_batch_without_repetition) {
  this->OpenWithIndex();
  this->Batch({PutOperation({"n"}, "a", R"("tea")"), PutOperation({"n"}, "b", R"("rain")"),
               PutOperation({"n"}, "c", R"("tea")"), PutOperation({"n"}, "b", R"("music")"),
               SearchOp{.query = "q1"}, SearchOp{.query = "q2"}, SearchOp{.query = "q1"},
               SearchOp{.query = "q3", .limit = 0}});
  EXPECT_THAT(this->embedder_.document_calls, ElementsAre(ElementsAre("\"tea\"", "\"music\"")));
  EXPECT_THAT(this->embedder_.query_calls, ElementsAre("q1", "q2"));
  EXPECT_THAT(this->Found({.query = "music", .limit = 1}), ElementsAre("b"));
}

TYPED_TEST(StoreContractTest, cap_51_deleting_what_is_absent_is_fine) {
  EXPECT_TRUE(this->store_->Delete({"n"}, "k").ok());
  this->Put({"n"}, "k", "1");
  EXPECT_TRUE(this->store_->Delete({"n"}, "k").ok());
  EXPECT_TRUE(this->store_->Delete({"n"}, "k").ok());
  EXPECT_EQ(this->ValueOf({"n"}, "k"), std::nullopt);
}

TYPED_TEST(StoreContractTest, cap_31_the_text_field_or_the_whole_value_is_embedded) {
  this->OpenWithIndex({"text"});
  this->Put({"n"}, "a", R"({"text":"tea","other":"rain"})");
  EXPECT_THAT(this->embedder_.document_calls, ElementsAre(ElementsAre("tea")));
  this->OpenWithIndex();
  this->Put({"n"}, "b", R"("rain")");
  EXPECT_THAT(this->embedder_.document_calls.back(), ElementsAre("\"rain\""));
}

TYPED_TEST(StoreContractTest, cap_32_get_and_list_need_no_embedding) {
  this->OpenWithIndex();
  this->Put({"n"}, "a", R"("tea")");
  const auto calls = this->embedder_.document_calls.size();
  EXPECT_THAT(this->ValueOf({"n"}, "a"), Optional(std::string(R"("tea")")));
  EXPECT_THAT(this->store_->List({"n"}).value(), ElementsAre("a"));
  EXPECT_EQ(this->embedder_.document_calls.size(), calls);
  EXPECT_THAT(this->embedder_.query_calls, IsEmpty());
}

TYPED_TEST(StoreContractTest, cap_33_the_nearest_of_the_namespace_come_first_with_scores) {
  this->OpenWithIndex();
  this->Put({"n"}, "far", R"("rain rain tea")");
  this->Put({"n"}, "near", R"("tea tea rain")");
  this->Put({"n"}, "opposite", R"("music")");
  this->Put({"m"}, "elsewhere", R"("tea")");
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .query = "tea", .limit = 2}),
              ElementsAre("near", "far"));
  EXPECT_THAT(this->Scores({.ns_prefix = {"n"}, .query = "tea"}),
              ElementsAre(Optional(testing::DoubleNear(2 / std::sqrt(5), 1e-6)),
                          Optional(testing::DoubleNear(1 / std::sqrt(5), 1e-6)), Optional(0.0)));
}

TYPED_TEST(StoreContractTest, a_deleted_item_takes_its_vectors_along) {
  this->OpenWithIndex();
  this->Put({"n"}, "k", R"("tea")");
  ASSERT_TRUE(this->store_->Delete({"n"}, "k").ok());
  this->Put(PutOp{.ns = {"n"}, .key = "k", .value = "1", .index = {IndexChoice::Kind::kNone}});
  EXPECT_THAT(this->Scores({.query = "tea"}), ElementsAre(std::nullopt));
  EXPECT_EQ(this->Stats().vectors, 0U);
}

TYPED_TEST(StoreContractTest, a_shorter_array_leaves_no_vectors_behind) {
  this->OpenWithIndex({"texts[*]"});
  this->Put({"n"}, "k", R"({"texts":["rain","tea"]})");
  this->Put({"n"}, "k", R"({"texts":["rain"]})");
  EXPECT_THAT(this->Scores({.query = "tea"}), ElementsAre(Optional(0.0)));
  EXPECT_EQ(this->Stats().vectors, 1U);
}

TYPED_TEST(StoreContractTest, an_update_without_embedding_drops_the_vectors_of_the_old_value) {
  this->OpenWithIndex();
  this->Put({"n"}, "k", R"("tea")");
  this->Put(PutOp{.ns = {"n"}, .key = "k", .value = "1", .index = {IndexChoice::Kind::kNone}});
  EXPECT_THAT(this->Scores({.query = "tea"}), ElementsAre(std::nullopt));
}

TYPED_TEST(StoreContractTest, a_zero_vector_scores_zero) {
  this->OpenWithIndex();
  this->Put({"n"}, "k", R"("nothing known")");
  EXPECT_THAT(this->Scores({.query = "tea"}), ElementsAre(Optional(0.0)));
  EXPECT_THAT(this->Scores({.query = "unknown"}), ElementsAre(Optional(0.0)));
}

TYPED_TEST(StoreContractTest, vectors_may_come_from_outside) {
  this->Open(WithIndex(2, {"text", "tags[*]"}));
  std::vector<Operation> operations = {
      PutOperation({"n"}, "a", R"({"text":"tea","tags":["x","y"]})"),
      PutOperation({"n"}, "a", R"({"text":"rain","tags":["tea"]})"),
      PutOperation({"n"}, "b", R"({"text":"rain"})"), DeleteOperation({"n"}, "c"),
      SearchOp{.query = "q"}};
  const EmbeddingPlan plan = this->store_->PrepareEmbedding(operations).value();
  EXPECT_THAT(plan.texts, ElementsAre("rain", "tea"));
  EXPECT_THAT(plan.queries, ElementsAre("q"));
  EXPECT_THAT(plan.query_positions, ElementsAre(4));
  EXPECT_THAT(plan.query_of, ElementsAre(0));
  ASSERT_THAT(plan.puts, SizeIs(2));
  EXPECT_EQ(plan.puts[0].position, 1U);
  EXPECT_THAT(plan.puts[0].paths, ElementsAre("text", "tags[*]"));
  EXPECT_THAT(plan.puts[0].texts, ElementsAre(0, 1));
  EXPECT_EQ(plan.puts[1].position, 2U);

  std::get<PutOp>(operations[1]).vectors = {{"text", {0, 1}}, {"tags[*]", {1, 0}}};
  std::get<PutOp>(operations[2]).vectors = {{"text", {0, 1}}};
  std::get<SearchOp>(operations[4]).query_vector = {1, 0};
  EXPECT_THAT(this->store_->PrepareEmbedding(operations).value().texts, IsEmpty());
  this->Batch(operations);
  EXPECT_THAT(this->Found({.query_vector = {1, 0}}), ElementsAre("a", "b"));
}

TYPED_TEST(StoreContractTest, several_texts_of_a_path_are_numbered) {
  this->Open(WithIndex(2, {"t[*]", "t[*]"}));
  const std::vector<Operation> operations = {PutOperation({"n"}, "a", R"({"t":["x","y"]})")};
  const EmbeddingPlan plan = this->store_->PrepareEmbedding(operations).value();
  EXPECT_THAT(plan.puts[0].paths, ElementsAre("t[*].0", "t[*].1"));
}

TYPED_TEST(StoreContractTest, a_plan_is_empty_without_an_index) {
  const std::vector<Operation> operations = {PutOperation({"n"}, "a", R"("tea")"),
                                             SearchOp{.query = "q"}};
  const EmbeddingPlan plan = this->store_->PrepareEmbedding(operations).value();
  EXPECT_THAT(plan.texts, IsEmpty());
  EXPECT_THAT(plan.queries, IsEmpty());
}

TYPED_TEST(StoreContractTest, vectors_are_checked_before_anything_is_stored) {
  this->Open(WithIndex(2));
  const auto put = [&](std::vector<FieldVector> vectors) {
    const std::vector<Operation> operations = {
        PutOp{.ns = {"n"}, .key = "k", .value = "1", .vectors = std::move(vectors)}};
    return CodeOf(this->store_->Batch(operations));
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(put({{"$", {1, 2, 3}}}), StatusCode::kDimensionMismatch);
  EXPECT_EQ(put({{"$", {}}}), StatusCode::kDimensionMismatch);
  EXPECT_EQ(put({{"$", {1, nan}}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(put({{"$", {1, infinity}}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(put({{"a", {1, 2}}, {"a", {1, 2}}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(this->store_->Search({.query_vector = {1}})), StatusCode::kDimensionMismatch);
  EXPECT_EQ(CodeOf(this->store_->Search({.query_vector = {1, nan}})), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(this->store_->Search({.query = "q", .mode = SearchMode::kVector})),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(this->store_->Search({.query = "q"})), StatusCode::kOk) << "by words";
  EXPECT_EQ(CodeOf(this->store_->Search({.mode = SearchMode::kVector})),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(this->Stats().items, 0U);
}

TYPED_TEST(StoreContractTest, a_search_by_vector_needs_an_index) {
  const auto found = this->store_->Search({.query = "q", .mode = SearchMode::kVector});
  EXPECT_EQ(CodeOf(found), StatusCode::kInvalidArgument);
  EXPECT_EQ(MessageOf(found), "search by vector needs a store with an index");
  const std::vector<Operation> operations = {
      PutOp{.ns = {"n"}, .key = "k", .value = "1", .vectors = {{"$", {1}}}}};
  EXPECT_EQ(CodeOf(this->store_->Batch(operations)), StatusCode::kInvalidArgument);
}

TYPED_TEST(StoreContractTest, contains_can_be_asked_of_a_store_with_an_index) {
  this->OpenWithIndex();
  this->Put({"n"}, "k", R"("tea")");
  this->Put({"n"}, "l", R"("rain")");
  EXPECT_THAT(this->Found({.query = "tea", .mode = SearchMode::kContains}), ElementsAre("k"));
  EXPECT_THAT(this->embedder_.query_calls, IsEmpty());
}

TYPED_TEST(StoreContractTest, an_embedder_that_fails_leaves_the_store_as_it_was) {
  class Failing final : public Embedder {
   public:
    Result<std::vector<std::vector<float>>> EmbedDocuments(std::span<const std::string>) override {
      return documents;
    }
    Result<std::vector<float>> EmbedQuery(const std::string&) override {
      return Error(StatusCode::kIoError, "no model");
    }
    Result<std::vector<std::vector<float>>> documents = Error(StatusCode::kIoError, "no model");
  };
  Failing embedder;
  this->Open(WithIndex(2, {"$"}, &embedder));
  EXPECT_EQ(this->store_->Put({"n"}, "k", "1").code(), StatusCode::kIoError);
  EXPECT_EQ(CodeOf(this->store_->Search({.query = "q"})), StatusCode::kIoError);
  embedder.documents = std::vector<std::vector<float>>();
  EXPECT_EQ(this->store_->Put({"n"}, "k", "1").code(), StatusCode::kInvalidArgument);
  embedder.documents = std::vector<std::vector<float>>{{1, 2, 3}};
  EXPECT_EQ(this->store_->Put({"n"}, "k", "1").code(), StatusCode::kDimensionMismatch);
  EXPECT_EQ(this->Stats().items, 0U);
}

// --- Rules ---

TYPED_TEST(StoreContractTest, cap_52_namespaces_are_validated) {
  const auto put = [&](Namespace ns) { return this->store_->Put(std::move(ns), "k", "1"); };
  EXPECT_EQ(put({"a.b"}).message(), R"(namespace label must not contain '.': "a.b")");
  EXPECT_EQ(put({"a", "b:c"}).message(), R"(namespace label must not contain ':': "b:c")");
  EXPECT_EQ(put({"a\xED\xA0\xBD"}).message(), "namespace label must not contain a lone surrogate");
  for (const Namespace& ns : std::vector<Namespace>{{},
                                                    {""},
                                                    {"a", ""},
                                                    {std::string("a\0b", 3)},
                                                    {"\xFF"},
                                                    {"langgraph", "x"},
                                                    Namespace(1001, "a")}) {
    EXPECT_EQ(put(ns).code(), StatusCode::kInvalidNamespace);
  }
  EXPECT_EQ(CodeOf(this->store_->Get({}, "k")), StatusCode::kInvalidNamespace);
  EXPECT_EQ(CodeOf(this->store_->Search({.ns_prefix = {"a."}})), StatusCode::kInvalidNamespace);
  EXPECT_EQ(
      CodeOf(this->store_->ListNamespaces({.match_conditions = {{MatchType::kSuffix, {"a:"}}}})),
      StatusCode::kInvalidNamespace);
  EXPECT_EQ(CodeOf(this->store_->List({})), StatusCode::kInvalidNamespace);
  EXPECT_EQ(CodeOf(this->store_->ClearNamespace({})), StatusCode::kInvalidNamespace);
  EXPECT_EQ(this->Stats().items, 0U);
}

TYPED_TEST(StoreContractTest, cap_52_a_batch_may_use_the_reserved_root) {
  this->Batch({PutOperation({"langgraph", "x"}, "k", "1")});
  EXPECT_THAT(this->ValueOf({"langgraph", "x"}, "k"), Optional(std::string("1")));
  EXPECT_THAT(this->Found({.ns_prefix = {"langgraph"}}), ElementsAre("k"));
}

TYPED_TEST(StoreContractTest, keys_are_validated) {
  const auto put = [&](std::string key) { return this->store_->Put({"n"}, std::move(key), "1"); };
  EXPECT_EQ(put(std::string("a\0b", 3)).code(), StatusCode::kInvalidKey);
  EXPECT_EQ(put("\xC0\xAF").code(), StatusCode::kInvalidKey);
  EXPECT_EQ(put("\xED\xB0\x80").message(), "key must not contain a lone surrogate");
  EXPECT_EQ(put(std::string(kMaxKeyBytes + 1, 'k')).code(), StatusCode::kInvalidKey);
  EXPECT_TRUE(put(std::string(kMaxKeyBytes, 'k')).ok());
  EXPECT_TRUE(put("dots.and:colons are fine").ok());
  EXPECT_EQ(this->Stats().items, 2U);
}

TYPED_TEST(StoreContractTest, values_are_validated) {
  for (const char* value : {"", " ", "{", "undefined", "NaN", "{'a':1}", "\"\xFF\"", "1 2"}) {
    EXPECT_EQ(this->store_->Put({"n"}, "k", value).code(), StatusCode::kInvalidValue) << value;
  }
  EXPECT_EQ(this->store_->Put({"n"}, "k", std::string(kMaxValueBytes + 1, '1')).code(),
            StatusCode::kTooLarge);
  EXPECT_EQ(this->Stats().items, 0U);
}

TYPED_TEST(StoreContractTest, bad_options_are_refused) {
  EXPECT_EQ(this->store_->Configure(*WithIndex(0).index, {}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(this->store_->Configure(*WithIndex(kMaxDims + 1).index, {}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(this->store_->options().index, std::nullopt);
}

TYPED_TEST(StoreContractTest, a_store_is_configured_once_and_the_same_again_is_fine) {
  const IndexConfig index = *WithIndex(3).index;
  const TextConfig text = {.group = "session"};
  EXPECT_TRUE(this->store_->Configure(index, {}).ok());
  EXPECT_TRUE(this->store_->Configure(index, text).ok());
  EXPECT_TRUE(this->store_->Configure(index, text).ok());
  EXPECT_TRUE(this->store_->Configure({}, {}).ok());
  EXPECT_EQ(this->store_->Configure(*WithIndex(4).index, {}).code(),
            StatusCode::kConflictingOptions);
  EXPECT_EQ(this->store_->Configure({}, TextConfig{}).code(), StatusCode::kConflictingOptions);
  EXPECT_EQ(this->store_->options().index, index);
  EXPECT_EQ(this->store_->options().text, text);
}

// --- Patterns ---

TYPED_TEST(StoreContractTest, cap_54_a_profile_accumulates_by_get_merge_put) {
  this->Put({"u1"}, "profile", R"({"name":"Ada"})");
  const std::string known = this->ValueOf({"u1"}, "profile").value_or("{}");
  this->Put({"u1"}, "profile", known.substr(0, known.size() - 1) + R"(,"likes":"tea"})");
  EXPECT_THAT(this->ValueOf({"u1"}, "profile"),
              Optional(std::string(R"({"name":"Ada","likes":"tea"})")));
}

TYPED_TEST(StoreContractTest, cap_54_shared_knowledge_is_cut_at_a_score) {
  this->OpenWithIndex();
  this->Put({"knowledge"}, "good", R"("tea")");
  this->Put({"knowledge"}, "bad", R"("rain rain tea")");
  std::vector<std::string> kept;
  const auto found = this->store_->Search({.query = "tea"}).value();
  for (const SearchItem& hit : found) {
    if (hit.score > 0.8) kept.push_back(hit.item.key);
  }
  EXPECT_THAT(kept, ElementsAre("good"));
}

// What an agent does in a session, told by its answers.
std::vector<std::string> Session(Store& store) {
  std::vector<std::string> answers;
  const std::vector<Operation> batch = {PutOperation({"ada", "facts"}, "tea", R"({"t":"tea"})"),
                                        PutOperation({"ada", "facts"}, "rain", R"({"t":"rain"})"),
                                        PutOperation({"bob"}, "k", "1")};
  answers.push_back(store.Batch(batch) ? "put" : "refused");
  answers.push_back(store.Get({"ada", "facts"}, "tea").value()->value);
  SearchOp search;
  search.query = "rain";
  for (const SearchMode mode : {SearchMode::kVector, SearchMode::kText, SearchMode::kContains}) {
    search.mode = mode;
    answers.push_back(KeysOf(store.Search(search)).front());
  }
  search.query = "";
  search.mode = SearchMode::kAuto;
  search.filter = R"({"t":{"$ne":"tea"}})";
  for (const std::string& key : KeysOf(store.Search(search))) answers.push_back(key);
  const std::vector<Namespace> namespaces = store.ListNamespaces().value();
  for (const Namespace& ns : namespaces) answers.push_back(ns.front());
  answers.push_back(store.Delete({"bob"}, "k").ok() ? "deleted" : "refused");
  answers.push_back(std::to_string(store.ClearNamespace({"ada", "facts"}).value()));
  answers.push_back(store.Put({"a.b"}, "k", "1").message());
  return answers;
}

TYPED_TEST(StoreContractTest, cap_55_the_same_code_runs_on_every_backend) {
  this->OpenWithIndex();
  EXPECT_THAT(Session(*this->store_),
              ElementsAre("put", R"({"t":"tea"})", "rain", "rain", "rain", "rain", "k", "ada",
                          "bob", "deleted", "2", R"(namespace label must not contain '.': "a.b")"));
}

TYPED_TEST(StoreContractTest, cap_65_rewards_weigh_when_reading) {
  this->Open(WithIndex(2));
  const auto record = [&](std::string key, std::string reward, std::vector<float> vector) {
    PutOp put;
    put.ns = {"episodes"};
    put.key = std::move(key);
    put.value = R"({"state":"a locked door","reward":)" + reward + "}";
    put.vectors = {{"state", std::move(vector)}};
    this->Put(std::move(put));
  };
  record("failed", "-1", {1, 0});
  record("tried", "0", {1, 0});
  record("worked", "1", {0.9F, 0.1F});
  SearchOp search;
  search.query = "locked door";
  for (const SearchMode mode : {SearchMode::kText, SearchMode::kHybrid}) {
    search.mode = mode;
    if (mode == SearchMode::kHybrid) search.query_vector = {1, 0};
    search.ranking = Ranking{};
    search.ranking->boosts = {{"reward", 0.5}};
    EXPECT_THAT(this->Found(search), ElementsAre("worked", "tried", "failed"));
    const auto scores = this->Scores(search);
    EXPECT_GT(*scores.at(0), *scores.at(1));
    EXPECT_GT(*scores.at(1), *scores.at(2));
    search.ranking->boosts = {{"reward", -0.5}};
    EXPECT_THAT(this->Found(search), ElementsAre("failed", "tried", "worked"));
  }
  search.ranking->boosts = {{"reward", 0.5}};
  record("failed", "1", {1, 0});
  record("worked", "-1", {0.9F, 0.1F});
  EXPECT_THAT(this->Found(search), ElementsAre("failed", "tried", "worked"));
}

TYPED_TEST(StoreContractTest, cap_58_an_episode_is_found_by_its_own_embedding) {
  this->Open(WithIndex(2));
  this->Put(PutOp{.ns = {"episodes"},
                  .key = "won",
                  .value = R"({"reward":1,"state":"a"})",
                  .vectors = {{"state", {1, 0}}}});
  this->Put(PutOp{.ns = {"episodes"},
                  .key = "lost",
                  .value = R"({"reward":-1,"state":"b"})",
                  .vectors = {{"state", {0, 1}}}});
  EXPECT_THAT(this->Found({.limit = 1, .mode = SearchMode::kVector, .query_vector = {0.9F, 0.1F}}),
              ElementsAre("won"));
  EXPECT_THAT(this->Found({.filter = R"({"reward":{"$lt":0}})", .query_vector = {0.9F, 0.1F}}),
              ElementsAre("lost"));
}

TYPED_TEST(StoreContractTest, cap_59_put_writes_item_and_vectors_together) {
  this->OpenWithIndex({"a", "b"});
  this->Put({"n"}, "k", R"({"a":"tea","b":"rain"})");
  EXPECT_TRUE(this->ValueOf({"n"}, "k"));
  EXPECT_EQ(this->Stats().vectors, 2U);
}

TYPED_TEST(StoreContractTest, cap_60_without_a_query_only_namespace_and_filter_decide) {
  this->OpenWithIndex();
  this->Put({"n"}, "a", R"({"t":"tea","n":1})");
  this->Put({"n"}, "b", R"({"t":"tea","n":2})");
  EXPECT_THAT(this->Found({.ns_prefix = {"n"}, .filter = R"({"n":2})"}), ElementsAre("b"));
  EXPECT_THAT(this->Scores({.ns_prefix = {"n"}}), ElementsAre(std::nullopt, std::nullopt));
}

TYPED_TEST(StoreContractTest, cap_61_deleted_items_are_not_found_by_vector) {
  this->OpenWithIndex();
  this->Put({"n"}, "a", R"("tea")");
  this->Put({"n"}, "b", R"("tea")");
  ASSERT_TRUE(this->store_->Delete({"n"}, "a").ok());
  EXPECT_THAT(this->Found({.query = "tea"}), ElementsAre("b"));
}

TYPED_TEST(StoreContractTest, cap_62_fields_with_internal_looking_names_collide_with_nothing) {
  const std::string value = R"({"__namespace":"x","__key":"y","ns":1,"key":2,"value":3})";
  this->Put({"n"}, "k", value);
  EXPECT_THAT(this->Filtered(R"({"__key":"y","key":2})"), ElementsAre("k"));
  EXPECT_THAT(this->ValueOf({"n"}, "k"), Optional(value));
}

TYPED_TEST(StoreContractTest, cap_63_the_score_is_the_cosine) {
  this->Open(WithIndex(2));
  for (const auto& [key, vector] : std::vector<std::pair<std::string, std::vector<float>>>{
           {"same", {2, 0}}, {"across", {0, 5}}, {"against", {-3, 0}}, {"between", {3, 4}}}) {
    this->Put(PutOp{.ns = {"n"}, .key = key, .value = "1", .vectors = {{"$", vector}}});
  }
  EXPECT_THAT(this->Found({.query_vector = {1, 0}}),
              ElementsAre("same", "between", "across", "against"));
  EXPECT_THAT(this->Scores({.query_vector = {1, 0}}),
              ElementsAre(Optional(1.0), Optional(testing::DoubleNear(0.6, 1e-7)), Optional(0.0),
                          Optional(-1.0)));
}

// --- Time to live ---

TYPED_TEST(StoreContractTest, cap_56_an_expired_item_is_visible_nowhere) {
  this->OpenWithIndex();
  this->Put(PutOp{.ns = {"n"}, .key = "k", .value = R"("tea")", .ttl_ms = kMinute});
  this->clock_.Advance(kMinute - 1);
  EXPECT_EQ(this->Stats().items, 1U);
  this->clock_.Advance(1);
  EXPECT_EQ(this->ValueOf({"n"}, "k"), std::nullopt);
  EXPECT_THAT(this->Found({}), IsEmpty());
  EXPECT_THAT(this->Found({.filter = "{}", .query = "tea"}), IsEmpty());
  EXPECT_THAT(this->Found({.query = "tea", .mode = SearchMode::kContains}), IsEmpty());
  EXPECT_THAT(this->Namespaces(), IsEmpty());
  EXPECT_THAT(this->store_->List({"n"}).value(), IsEmpty());
  EXPECT_EQ(this->Stats().items + this->Stats().namespaces + this->Stats().vectors, 0U);
  EXPECT_EQ(this->store_->ClearNamespace({"n"}), 0U);
}

TYPED_TEST(StoreContractTest, cap_56_a_get_restarts_the_ttl) {
  this->Put(PutOp{.ns = {"n"}, .key = "k", .value = "1", .ttl_ms = kMinute});
  for (int i = 0; i < 5; ++i) {
    this->clock_.Advance(kMinute - 1);
    EXPECT_TRUE(this->ValueOf({"n"}, "k"));
  }
  this->clock_.Advance(kMinute);
  EXPECT_FALSE(this->ValueOf({"n"}, "k"));
}

TYPED_TEST(StoreContractTest, cap_56_a_search_restarts_the_ttl_of_what_it_returns) {
  for (const char* key : {"a", "b"}) {
    this->Put(PutOp{.ns = {"n"}, .key = key, .value = "1", .ttl_ms = kMinute});
  }
  this->clock_.Advance(kMinute - 1);
  EXPECT_THAT(this->Found({.limit = 1}), ElementsAre("a"));
  this->clock_.Advance(1);
  EXPECT_THAT(this->Found({}), ElementsAre("a"));
}

TYPED_TEST(StoreContractTest, cap_56_a_read_that_does_not_refresh_leaves_the_ttl_running) {
  this->Put(PutOp{.ns = {"n"}, .key = "k", .value = "1", .ttl_ms = kMinute});
  this->clock_.Advance(kMinute - 1);
  this->Batch({GetOp{.ns = {"n"}, .key = "k", .refresh_ttl = false},
               SearchOp{.ns_prefix = {"n"}, .refresh_ttl = false}});
  EXPECT_THAT(this->store_->List({"n"}).value(), ElementsAre("k"));
  this->clock_.Advance(1);
  EXPECT_FALSE(this->ValueOf({"n"}, "k"));
}

TYPED_TEST(StoreContractTest, cap_56_a_store_may_refuse_to_refresh_on_read) {
  this->Open(WithTtl(kMinute, false));
  this->Put({"n"}, "k", "1");
  this->clock_.Advance(kMinute - 1);
  EXPECT_TRUE(this->ValueOf({"n"}, "k"));
  this->clock_.Advance(1);
  EXPECT_FALSE(this->ValueOf({"n"}, "k"));
}

TYPED_TEST(StoreContractTest, cap_56_the_default_ttl_can_be_overridden) {
  this->Open(WithTtl(kMinute));
  this->Put({"n"}, "default", "1");
  this->Put(PutOp{.ns = {"n"}, .key = "longer", .value = "1", .ttl_ms = 2 * kMinute});
  this->Put(PutOp{.ns = {"n"}, .key = "forever", .value = "1", .ttl_ms = PutOp::kNoTtl});
  this->clock_.Advance(kMinute);
  EXPECT_THAT(this->store_->List({"n"}).value(), ElementsAre("forever", "longer"));
  this->clock_.Advance(kMinute);
  EXPECT_THAT(this->store_->List({"n"}).value(), ElementsAre("forever"));
}

TYPED_TEST(StoreContractTest, cap_56_an_update_brings_its_own_ttl) {
  this->Put(PutOp{.ns = {"n"}, .key = "k", .value = "1", .ttl_ms = kMinute});
  this->Put({"n"}, "k", "2");
  this->clock_.Advance(10 * kMinute);
  EXPECT_THAT(this->ValueOf({"n"}, "k"), Optional(std::string("2")));
}

TYPED_TEST(StoreContractTest, cap_56_an_item_put_after_its_expiry_is_a_new_one) {
  this->Put(PutOp{.ns = {"n"}, .key = "k", .value = "1", .ttl_ms = kMinute});
  this->clock_.Advance(kMinute);
  this->Put({"n"}, "k", "2");
  EXPECT_EQ(this->store_->Get({"n"}, "k").value()->created_at_ms, kStart + kMinute);
}

TYPED_TEST(StoreContractTest, cap_56_a_sweep_deletes_what_has_expired_in_portions) {
  this->OpenWithIndex();
  for (int i = 0; i < 5; ++i) {
    this->Put(PutOp{.ns = {"n"}, .key = std::to_string(i), .value = R"("tea")", .ttl_ms = kMinute});
  }
  this->Put({"n"}, "stays", "1");
  EXPECT_EQ(this->store_->SweepExpired(100), 0U);
  this->clock_.Advance(kMinute);
  EXPECT_EQ(this->store_->SweepExpired(0), 0U);
  EXPECT_EQ(this->store_->SweepExpired(3), 3U);
  EXPECT_EQ(this->store_->SweepExpired(100), 2U);
  EXPECT_EQ(this->store_->SweepExpired(100), 0U);
  EXPECT_THAT(this->store_->List({"n"}).value(), ElementsAre("stays"));
}

TYPED_TEST(StoreContractTest, a_ttl_out_of_range_is_refused) {
  for (const std::int64_t ttl_ms : {PutOp::AsDefault(INT64_MAX - 1), INT64_MIN, INT64_MAX}) {
    const std::vector<Operation> operations = {
        PutOp{.ns = {"n"}, .key = "k", .value = "1", .ttl_ms = ttl_ms}};
    EXPECT_EQ(CodeOf(this->store_->Batch(operations)), StatusCode::kInvalidArgument);
  }
}

// ---- what an eviction goes by

TYPED_TEST(StoreContractTest, an_eviction_is_told_of_items_page_by_page) {
  this->Put({"a"}, "", R"({"pinned": true, "uses": 3, "importance": 0.5})");
  this->Put({"a"}, "b", R"({"pinned": 1, "uses": "3"})");
  this->Put({"a", "b"}, "k", "[1]");
  this->Put({"ab"}, "k", "1");
  this->Put(PutOp{.ns = {"b"}, .key = "gone", .value = "1", .ttl_ms = kMinute});
  this->clock_.Advance(kMinute);
  std::vector<JudgedItem> items;
  JudgeItems page{.ns_prefix = {}, .limit = 2};
  for (;;) {
    const auto judged = this->store_->Judge(page);
    ASSERT_TRUE(judged) << MessageOf(judged);
    if (judged->empty()) break;
    EXPECT_LE(judged->size(), 2U);
    items.insert(items.end(), judged->begin(), judged->end());
    page.after = items.back().item;
  }
  ASSERT_THAT(items, SizeIs(4));
  EXPECT_EQ(items[0].item, (ItemRef{{"a"}, ""}));
  EXPECT_TRUE(items[0].is_pinned);
  EXPECT_EQ(items[0].uses, 3);
  EXPECT_EQ(items[0].importance, 0.5);
  EXPECT_EQ(items[0].updated_at_ms, kStart);
  EXPECT_EQ(items[1].item, (ItemRef{{"a"}, "b"}));
  EXPECT_FALSE(items[1].is_pinned);
  EXPECT_EQ(items[1].uses, 0);
  EXPECT_EQ(items[1].bytes, 1 + std::string_view(R"({"pinned": 1, "uses": "3"})").size());
  EXPECT_EQ(items[2].item, (ItemRef{{"a", "b"}, "k"}));
  const auto within = this->store_->Judge({{"a"}, ItemRef{{"a"}, ""}, 9});
  ASSERT_TRUE(within) << MessageOf(within);
  ASSERT_THAT(*within, SizeIs(2));
  EXPECT_EQ(within->front().item, (ItemRef{{"a"}, "b"}));
  EXPECT_THAT(this->store_->Judge({{"a", "b"}, ItemRef{{"a", "b"}, "k"}, 9}).value(), IsEmpty());
  EXPECT_EQ(CodeOf(this->store_->Judge({.ns_prefix = {""}, .limit = 9})),
            StatusCode::kInvalidNamespace);
}

TYPED_TEST(StoreContractTest, what_changed_since_it_was_judged_is_told_apart) {
  for (const char* key : {"same", "other", "later", "gone"}) this->Put({"n"}, key, "1");
  const auto judged = this->store_->Judge({.ns_prefix = {"n"}, .limit = 9});
  ASSERT_TRUE(judged) << MessageOf(judged);
  EvictItems wanted{.ns = {"n"}};
  for (const JudgedItem& item : *judged) {
    wanted.items.push_back({item.item.key, item.updated_at_ms, item.fingerprint});
  }
  this->Put({"n"}, "other", "2");
  ASSERT_TRUE(this->store_->Delete({"n"}, "gone").ok());
  this->clock_.Advance(1);
  this->Put({"n"}, "later", "1");
  EXPECT_THAT(this->store_->FindUnchanged(wanted).value(), ElementsAre("same"));
}

}  // namespace
}  // namespace keepsake
