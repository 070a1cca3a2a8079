// Searches by the vectors of an item or by the caller's own, with a threshold, and why an
// item is no hit. The same of both stores.
#include "store_contract.h"

namespace keepsake {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

IndexConfig IndexOf(std::uint32_t dims) {
  IndexConfig index;
  index.dims = dims;
  return index;
}

template <typename Backend>
class NearSearchTest : public testing::Test {
 protected:
  NearSearchTest() {
    StoreOptions options;
    options.clock = &clock_;
    options.index = IndexOf(2);
    store_ = backend_.Open(options);
  }

  void Put(const std::string& key, std::vector<std::vector<float>> vectors, Namespace ns = {"n"},
           std::int64_t ttl_ms = PutOp::kNoTtl) {
    PutOp put{.ns = std::move(ns), .key = key, .value = R"({"text":"tea )" + key + "\"}"};
    put.ttl_ms = ttl_ms;
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      put.vectors.push_back({std::to_string(i), std::move(vectors[i])});
    }
    const Operation operation = std::move(put);
    ASSERT_TRUE(store_->Batch({&operation, 1}).has_value());
  }

  void PutFour() {
    Put("east", {{1, 0}});
    Put("northeast", {{1, 1}});
    Put("north", {{0, 1}});
    Put("none", {});
  }

  SearchOp Near(const std::string& key, Namespace ns = {"n"}) {
    return {.ns_prefix = {"n"}, .near = ItemRef{std::move(ns), key}};
  }

  Backend backend_;
  ManualClock clock_{1'700'000'000'000};
  std::unique_ptr<Store> store_;
};

using Backends = testing::Types<InMemoryBackend, SqliteBackend>;
TYPED_TEST_SUITE(NearSearchTest, Backends);

TYPED_TEST(NearSearchTest, cap_58_an_item_finds_what_is_like_it_but_not_itself) {
  this->PutFour();
  const auto hits = this->store_->Search(this->Near("east"));
  ASSERT_THAT(KeysOf(hits), ElementsAre("northeast", "north", "none"));
  EXPECT_NEAR(*(*hits)[0].score, 0.70710678, 1e-6);
  EXPECT_EQ((*hits)[2].score, std::nullopt);
}

TYPED_TEST(NearSearchTest, pages_count_without_the_item_itself) {
  this->PutFour();
  SearchOp near = this->Near("east");
  near.limit = 1;
  near.offset = 1;
  EXPECT_THAT(KeysOf(this->store_->Search(near)), ElementsAre("north"));
}

TYPED_TEST(NearSearchTest, several_vectors_of_an_item_ask_for_the_middle_between_them) {
  this->PutFour();
  this->Put("both", {{5, 0}, {0, 1}});
  const auto hits = this->store_->Search(this->Near("both"));
  ASSERT_EQ(KeysOf(hits)[0], "northeast");
  EXPECT_NEAR(*(*hits)[0].score, 1, 1e-6);
}

TYPED_TEST(NearSearchTest, an_item_of_another_namespace_may_be_named) {
  this->PutFour();
  this->Put("north", {{0, 1}}, {"elsewhere"});
  EXPECT_EQ(KeysOf(this->store_->Search(this->Near("north", {"elsewhere"})))[0], "north");
}

TYPED_TEST(NearSearchTest, with_a_query_words_count_too) {
  this->PutFour();
  SearchOp near = this->Near("east");
  near.query = "north";
  near.mode = SearchMode::kHybrid;
  // By vector alone it is the second.
  EXPECT_THAT(KeysOf(this->store_->Search(near)), ElementsAre("north", "northeast", "none"));
}

TYPED_TEST(NearSearchTest, an_item_that_is_missing_expired_or_without_vectors_is_an_error) {
  this->PutFour();
  this->Put("short", {{1, 0}}, {"n"}, 1000);
  this->clock_.Advance(2000);
  for (const char* key : {"missing", "none", "short"}) {
    const auto hits = this->store_->Search(this->Near(key));
    ASSERT_FALSE(hits.has_value()) << key;
    EXPECT_EQ(hits.error().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(hits.error().message(), HasSubstr(key));
  }
}

TYPED_TEST(NearSearchTest, near_needs_a_search_by_vector_and_no_other_vector) {
  this->PutFour();
  SearchOp by_text = this->Near("east");
  by_text.mode = SearchMode::kText;
  EXPECT_EQ(this->store_->Search(by_text).error().code(), StatusCode::kInvalidArgument);
  SearchOp twice = this->Near("east");
  twice.query_vector = {1, 0};
  EXPECT_EQ(this->store_->Search(twice).error().code(), StatusCode::kInvalidArgument);
}

TYPED_TEST(NearSearchTest, cap_54_hits_below_the_threshold_are_left_out) {
  this->PutFour();
  SearchOp search{.ns_prefix = {"n"}, .query_vector = {1, 0}};
  search.ranking = Ranking{.min_score = 0.5};
  EXPECT_THAT(KeysOf(this->store_->Search(search)), ElementsAre("east", "northeast"));
  search.ranking = Ranking{.min_score = 1.5};
  EXPECT_THAT(KeysOf(this->store_->Search(search)), IsEmpty());
}

TYPED_TEST(NearSearchTest, an_absence_has_a_reason) {
  this->PutFour();
  SearchOp search{.ns_prefix = {"n"}, .query_vector = {1, 0}};
  search.limit = 1;
  const auto why = [&](const std::string& key, Namespace ns = {"n"}) {
    const auto answer = this->store_->ExplainAbsence(search, {std::move(ns), key});
    EXPECT_TRUE(answer.has_value());
    return answer ? *answer : WhyNot();
  };
  EXPECT_EQ(why("east").absence, Absence::kNone);
  EXPECT_EQ(why("missing").absence, Absence::kNoItem);
  EXPECT_EQ(why("northeast").absence, Absence::kNotOnPage);
  EXPECT_EQ(why("northeast").rank, 1);
  EXPECT_NEAR(*why("northeast").score, 0.70710678, 1e-6);
  EXPECT_NEAR(*why("northeast").last_score, 1, 1e-6);
  search.ranking = Ranking{.min_score = 0.9};
  EXPECT_EQ(why("northeast").absence, Absence::kBelowMinScore);
  search.filter = R"({"text":"coffee"})";
  EXPECT_EQ(why("east").absence, Absence::kFiltered);
  this->Put("east", {{1, 0}}, {"m"});
  EXPECT_EQ(why("east", {"m"}).absence, Absence::kOutside);
  const SearchOp words{.ns_prefix = {"n"}, .query = "north", .mode = SearchMode::kText};
  EXPECT_EQ(this->store_->ExplainAbsence(words, {{"n"}, "east"})->absence, Absence::kNoMatch);
  const auto hit = this->store_->ExplainAbsence(words, {{"n"}, "north"});
  EXPECT_EQ(hit->absence, Absence::kNone);
  EXPECT_THAT(hit->parts, testing::Not(IsEmpty()));
}

TYPED_TEST(NearSearchTest, an_item_without_score_is_below_a_threshold_if_the_search_leaves_it_out) {
  this->Put("plain", {}, {"n"});
  SearchOp search{.ns_prefix = {"n"}, .query_vector = {1, 0}};
  search.ranking = Ranking{.min_score = 0.5};
  ASSERT_THAT(KeysOf(this->store_->Search(search)), IsEmpty());
  const ItemRef plain{{"n"}, "plain"};
  EXPECT_EQ(this->store_->ExplainAbsence(search, plain)->absence, Absence::kBelowMinScore);
  search.query_vector.clear();  // a listing, which knows no threshold
  ASSERT_THAT(KeysOf(this->store_->Search(search)), ElementsAre("plain"));
  EXPECT_EQ(this->store_->ExplainAbsence(search, plain)->absence, Absence::kNone);
}

TYPED_TEST(NearSearchTest, an_absence_restarts_no_time_to_live) {
  this->Put("short", {{1, 0}}, {"n"}, 1000);
  this->clock_.Advance(900);
  const SearchOp search{.ns_prefix = {"n"}, .query_vector = {1, 0}};
  ASSERT_EQ(this->store_->ExplainAbsence(search, {{"n"}, "short"})->absence, Absence::kNone);
  this->clock_.Advance(200);
  EXPECT_EQ(this->store_->ExplainAbsence(search, {{"n"}, "short"})->absence, Absence::kNoItem);
}

}  // namespace
}  // namespace keepsake
