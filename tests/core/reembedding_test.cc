// Vectors of another model: refused, or given up and made anew, in steps.
#include "store_contract.h"

namespace keepsake {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ItemVectors Vectors(const PendingEmbedding& item, std::vector<FieldVector> vectors) {
  return {item.id, item.fingerprint, std::move(vectors)};
}

class ReembeddingTest : public testing::Test {
 protected:
  ReembeddingTest() {
    auto opened = sql::OpenDatabase({.path = ":memory:"});
    database_ = std::move(*opened);
  }

  Result<std::unique_ptr<Store>> Open(std::uint32_t dims, const std::string& model,
                                      bool replace = false) {
    StoreOptions options;
    options.index =
        IndexConfig{.dims = dims, .fields = {"text"}, .model = model, .replace_vectors = replace};
    return MakeSqliteStore(*database_, std::move(options));
  }

  static void Put(Store& store, const std::string& key, std::vector<FieldVector> vectors,
                  const std::string& value = "") {
    PutOp put{.ns = {"n"},
              .key = key,
              .value = value.empty() ? R"({"text":"text of )" + key + "\"}" : value};
    put.vectors = std::move(vectors);
    const Operation operation = std::move(put);
    ASSERT_TRUE(store.Batch({&operation, 1}).has_value());
  }

  // Opened with another model, with vectors of two items to be made anew.
  std::unique_ptr<Store> OpenReplaced() {
    {
      auto store = Open(2, "old");
      Put(**store, "a", {{"text", {1, 0}}});
      Put(**store, "b", {{"text", {0, 1}}});
      Put(**store, "none", {}, "1");
    }
    auto store = Open(3, "new", true);
    EXPECT_TRUE(store.has_value()) << store.error().message();
    return std::move(*store);
  }

  std::unique_ptr<sql::Database> database_;
};

TEST_F(ReembeddingTest, cap_29_another_model_is_refused_while_there_are_vectors) {
  Put(**Open(2, "old"), "a", {{"text", {1, 0}}});
  const auto other = Open(2, "new");
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code(), StatusCode::kModelMismatch);
  EXPECT_THAT(other.error().message(), HasSubstr("\"old\""));
  EXPECT_THAT(other.error().message(), HasSubstr("reembed()"));
  EXPECT_EQ(Open(3, "old").error().code(), StatusCode::kDimensionMismatch);
  EXPECT_TRUE(Open(2, "old").has_value());
}

TEST_F(ReembeddingTest, a_model_without_a_name_is_taken_for_any) {
  Put(**Open(2, ""), "a", {{"text", {1, 0}}});
  EXPECT_TRUE(Open(2, "old").has_value());  // and is the model from now on
  EXPECT_TRUE(Open(2, "").has_value());
  EXPECT_EQ(Open(2, "new").error().code(), StatusCode::kModelMismatch);
}

TEST_F(ReembeddingTest, replaced_vectors_are_gone_and_their_items_wait) {
  const auto store = OpenReplaced();
  EXPECT_EQ(store->Stats()->vectors, 0);
  EXPECT_EQ(store->Stats()->pending, 2);
  const auto first = store->ReadPending(1);
  ASSERT_THAT(first->items, SizeIs(1));
  EXPECT_EQ(first->left, 2);
  EXPECT_THAT(first->items[0].paths, ElementsAre("text"));
  EXPECT_THAT(first->items[0].texts, ElementsAre("text of a"));
  const auto hits = store->Search({.ns_prefix = {"n"}, .query_vector = {1, 0, 0}});
  EXPECT_THAT(*hits, SizeIs(3));
}

TEST_F(ReembeddingTest, what_is_embedded_is_found_and_the_rest_goes_on_after_a_restart) {
  {
    const auto store = OpenReplaced();
    const auto pending = store->ReadPending(1);
    EXPECT_EQ(store->EmbedPending({{Vectors(pending->items[0], {{"text", {0, 0, 1}}})}}), 1);
    const auto hits = store->Search({.ns_prefix = {"n"}, .limit = 1, .query_vector = {0, 0, 1}});
    EXPECT_THAT(KeysOf(hits), ElementsAre("a"));
    EXPECT_NEAR(*(*hits)[0].score, 1, 1e-6);
  }
  const auto store = *Open(3, "new", true);
  EXPECT_EQ(store->Stats()->vectors, 1);
  const auto pending = store->ReadPending(10);
  ASSERT_THAT(pending->items, SizeIs(1));
  EXPECT_EQ(pending->left, 1);
  EXPECT_EQ(store->EmbedPending({{Vectors(pending->items[0], {{"text", {1, 0, 0}}})}}), 1);
  EXPECT_THAT(store->ReadPending(10)->items, IsEmpty());
  EXPECT_EQ(store->Stats()->pending, 0);
}

TEST_F(ReembeddingTest, an_item_that_was_put_or_deleted_meanwhile_waits_no_more) {
  const auto store = OpenReplaced();
  const auto pending = store->ReadPending(10);
  ASSERT_THAT(pending->items, SizeIs(2));
  Put(*store, "a", {{"text", {1, 0, 0}}});
  ASSERT_TRUE(store->Delete({"n"}, "b").ok());
  std::vector<ItemVectors> late;
  for (const PendingEmbedding& item : pending->items) {
    late.push_back(Vectors(item, {{"text", {0, 1, 0}}}));
  }
  EXPECT_EQ(store->EmbedPending(late), 0);
  const auto hits = store->Search({.ns_prefix = {"n"}, .limit = 1, .query_vector = {1, 0, 0}});
  EXPECT_NEAR(*(*hits)[0].score, 1, 1e-6);
  EXPECT_EQ(store->Stats()->vectors, 1);
  EXPECT_EQ(store->Stats()->pending, 0);
}

TEST_F(ReembeddingTest, a_cleared_namespace_and_expired_items_wait_no_more) {
  {
    const auto store = OpenReplaced();
    EXPECT_EQ(store->ClearNamespace({"n"}), 3);
    EXPECT_EQ(store->Stats()->pending, 0);
  }
}

TEST_F(ReembeddingTest, several_texts_of_a_path_are_embedded_each) {
  {
    auto store = Open(2, "old");
    Put(**store, "a", {{"list[*].0", {1, 0}}, {"list[*].1", {0, 1}}, {"text", {1, 1}}},
        R"({"list":["one","two"],"text":"three"})");
  }
  const auto store = *Open(2, "new", true);
  const auto pending = store->ReadPending(10);
  ASSERT_THAT(pending->items, SizeIs(1));
  EXPECT_THAT(pending->items[0].paths, ElementsAre("list[*].0", "list[*].1", "text"));
  EXPECT_THAT(pending->items[0].texts, ElementsAre("one", "two", "three"));
}

TEST_F(ReembeddingTest, vectors_of_another_length_are_refused_whole) {
  const auto store = OpenReplaced();
  const auto pending = store->ReadPending(10);
  const std::vector<ItemVectors> wrong = {Vectors(pending->items[0], {{"text", {1, 0, 0}}}),
                                          Vectors(pending->items[1], {{"text", {1, 0}}})};
  EXPECT_EQ(store->EmbedPending(wrong).error().code(), StatusCode::kDimensionMismatch);
  EXPECT_EQ(store->Stats()->pending, 2);
}

// All of a value is "" as well as "$".
TEST_F(ReembeddingTest, the_whole_value_stays_what_is_embedded) {
  {
    auto store = Open(2, "old");
    Put(**store, "a", {{"", {1, 0}}}, R"({"text":"one","more":2})");
  }
  const auto store = *Open(2, "new", true);
  const auto pending = store->ReadPending(10);
  ASSERT_THAT(pending->items, SizeIs(1));
  ASSERT_THAT(pending->items[0].texts, SizeIs(1));
  EXPECT_THAT(pending->items[0].texts[0], HasSubstr("more"));
}

TEST_F(ReembeddingTest, what_is_put_by_a_store_without_the_index_of_its_file_waits_for_it) {
  ASSERT_TRUE(Open(2, "old").has_value());
  {
    const auto store = MakeSqliteStore(*database_, {});
    const auto put = [&](const std::string& key, IndexChoice choice) {
      const Operation operation = PutOp{.ns = {"n"},
                                        .key = key,
                                        .value = R"({"text":")" + key + R"(","title":"two"})",
                                        .index = std::move(choice)};
      ASSERT_TRUE((*store)->Batch({&operation, 1}).has_value());
    };
    put("usual", {});
    put("chosen", {.kind = IndexChoice::Kind::kPaths, .paths = {"title", "title", ""}});
    put("none", {.kind = IndexChoice::Kind::kNone});
    put("no path", {.kind = IndexChoice::Kind::kPaths});
    put("usual", {});
    EXPECT_THAT((*store)->ReadPending(10)->items, IsEmpty());  // whose index it would be
    EXPECT_EQ((*store)->Stats()->pending, 0);
  }
  const auto store = *Open(2, "old");
  EXPECT_EQ(store->Stats()->pending, 2);
  const auto pending = store->ReadPending(10);
  ASSERT_THAT(pending->items, SizeIs(2));
  EXPECT_THAT(pending->items[0].texts, ElementsAre("usual"));
  EXPECT_THAT(pending->items[1].paths, ElementsAre("$", "title"));
  EXPECT_THAT(pending->items[1].texts, ElementsAre(HasSubstr("chosen"), "two"));
}

// A model that arrives later than the items.
class LateIndexTest : public testing::TestWithParam<bool> {
 protected:
  LateIndexTest() {
    auto opened = sql::OpenDatabase({.path = ":memory:"});
    database_ = std::move(*opened);
    store_ = GetParam() ? MakeInMemoryStore({}) : *MakeSqliteStore(*database_, {});
  }

  Status Configure() {
    return store_->Configure(IndexConfig{.dims = 2, .fields = {"text", "title"}});
  }

  void Put(const std::string& key, const std::string& value, IndexChoice choice = {}) {
    const Operation put = PutOp{.ns = {"n"}, .key = key, .value = value, .index = choice};
    ASSERT_TRUE(store_->Batch({&put, 1}).has_value());
  }

  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Stores, LateIndexTest, testing::Bool());

TEST_P(LateIndexTest, cap_29_items_from_before_the_index_wait_for_its_vectors) {
  Put("a", R"({"text":"one","title":"two"})");
  Put("b", R"({"text":"three"})");
  Put("c", R"({"other":1})");
  EXPECT_EQ(store_->Stats()->pending, 0);
  EXPECT_THAT(store_->ReadPending(10)->items, IsEmpty());
  ASSERT_TRUE(Configure().ok());

  EXPECT_EQ(store_->Stats()->pending, 3);
  const auto first = store_->ReadPending(2);
  ASSERT_THAT(first->items, SizeIs(2));
  EXPECT_EQ(first->left, 3);
  EXPECT_THAT(first->items[0].paths, ElementsAre("text", "title"));
  EXPECT_THAT(first->items[0].texts, ElementsAre("one", "two"));
  EXPECT_THAT(first->items[1].texts, ElementsAre("three"));
  EXPECT_EQ(store_->EmbedPending({{Vectors(first->items[0], {{"text", {0, 1}}, {"title", {1, 1}}}),
                                   Vectors(first->items[1], {{"text", {1, 0}}})}}),
            2);

  const auto rest = store_->ReadPending(10);
  ASSERT_THAT(rest->items, SizeIs(1));
  EXPECT_THAT(rest->items[0].texts, IsEmpty());
  EXPECT_EQ(store_->EmbedPending({{Vectors(rest->items[0], {})}}), 1);
  EXPECT_EQ(store_->Stats()->pending, 0);
  EXPECT_EQ(store_->Stats()->vectors, 3);
  const auto hits = store_->Search({.ns_prefix = {"n"}, .query_vector = {1, 0}});
  EXPECT_THAT(KeysOf(hits), ElementsAre("b", "a", "c"));
}

TEST_P(LateIndexTest, what_was_chosen_before_the_index_counts) {
  Put("a", R"({"text":"one"})", {.kind = IndexChoice::Kind::kNone});
  Put("b", R"({"text":"two","x":{"y":"three"}})",
      {.kind = IndexChoice::Kind::kPaths, .paths = {"x.y"}});
  Put("c", R"({"text":"four"})", {.kind = IndexChoice::Kind::kPaths});
  Put("d", R"({"text":"five"})", {.kind = IndexChoice::Kind::kNone});
  Put("d", R"({"text":"six"})");
  EXPECT_EQ(store_->Stats()->pending, 0);
  ASSERT_TRUE(Configure().ok());
  EXPECT_EQ(store_->Stats()->pending, 2);
  const auto pending = store_->ReadPending(10);
  ASSERT_THAT(pending->items, SizeIs(2));
  EXPECT_THAT(pending->items[0].paths, ElementsAre("x.y"));
  EXPECT_THAT(pending->items[0].texts, ElementsAre("three"));
  EXPECT_THAT(pending->items[1].texts, ElementsAre("six"));
}

TEST_P(LateIndexTest, what_is_put_or_deleted_with_the_index_waits_no_more) {
  Put("a", R"({"text":"one"})");
  Put("b", R"({"text":"two"})");
  Put("c", R"({"text":"three"})");
  ASSERT_TRUE(Configure().ok());
  const auto pending = store_->ReadPending(10);
  Put("a", R"({"text":"four"})", {.kind = IndexChoice::Kind::kNone});
  ASSERT_TRUE(store_->Delete({"n"}, "b").ok());
  EXPECT_EQ(store_->Stats()->pending, 1);
  std::vector<ItemVectors> late;
  for (const PendingEmbedding& item : pending->items) {
    late.push_back(Vectors(item, {{"text", {0, 1}}}));
  }
  EXPECT_EQ(store_->EmbedPending(late), 1);
  EXPECT_EQ(store_->Stats()->vectors, 1);
}

// By somebody who has no model: another tab, or another Worker.
TEST_P(LateIndexTest, texts_that_are_put_without_their_vectors_wait) {
  ASSERT_TRUE(Configure().ok());
  Put("a", R"({"text":"one"})");
  Put("b", R"({"other":"two"})");
  EXPECT_EQ(store_->Stats()->pending, 1);
  const auto first = store_->ReadPending(10);
  ASSERT_THAT(first->items, SizeIs(1));
  EXPECT_EQ(store_->EmbedPending({{Vectors(first->items[0], {{"text", {0, 1}}})}}), 1);
  Put("a", R"({"text":"three"})");
  EXPECT_EQ(store_->Stats()->vectors, 0);
  ASSERT_THAT(store_->ReadPending(10)->items, SizeIs(1));
  // Of the value that was there before.
  EXPECT_EQ(store_->EmbedPending({{Vectors(first->items[0], {{"text", {0, 1}}})}}), 0);
  // Of the same value, of which something else was chosen.
  Put("a", R"({"text":"one"})", {.kind = IndexChoice::Kind::kPaths, .paths = {"text", "$"}});
  EXPECT_EQ(store_->EmbedPending({{Vectors(first->items[0], {{"text", {0, 1}}})}}), 0);
  EXPECT_EQ(store_->Stats()->pending, 1);
}

TEST_P(LateIndexTest, texts_that_would_be_too_much_end_the_waiting) {
  std::string many = R"({"text":[)";
  for (int i = 0; i < 2'100'000; ++i) many += "1,";
  Put("a", many + "1]}", {.kind = IndexChoice::Kind::kPaths, .paths = {"text[*]"}});
  Put("b", R"({"text":"one"})");
  ASSERT_TRUE(Configure().ok());
  const auto pending = store_->ReadPending(10);
  ASSERT_THAT(pending->items, SizeIs(2));
  EXPECT_THAT(pending->items[0].texts, IsEmpty());
  EXPECT_THAT(pending->items[1].texts, ElementsAre("one"));
}

}  // namespace
}  // namespace keepsake
