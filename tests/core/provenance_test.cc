// Where items come from: what is kept of it, what policies make of it, and that all of it can be
// taken back. The same of both stores.
#include "keepsake/provenance.h"

#include <algorithm>

#include "keepsake/scope.h"
#include "store_contract.h"

namespace keepsake {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kStart = 1'700'000'000'000;

const std::string kPage = "https://bad.example/page";

PutOp Note(std::string key, std::string text, std::optional<Provenance> from = std::nullopt) {
  PutOp put{.ns = {"n"}, .key = std::move(key), .value = R"({"text":")" + text + "\"}"};
  put.provenance = std::move(from);
  return put;
}

PutOp WithVector(PutOp put, std::vector<float> vector) {
  put.vectors.push_back({"$", std::move(vector)});
  return put;
}

PutOp Supersedes(PutOp put, std::string key) {
  put.supersedes = ItemRef{put.ns, std::move(key)};
  return put;
}

Provenance From(Origin origin, std::string source = "") { return {origin, std::move(source)}; }
Provenance Quarantined() { return {Origin::kWeb, kPage, true}; }

template <typename Backend>
class ProvenanceTest : public testing::Test {
 protected:
  ProvenanceTest() {
    StoreOptions options;
    options.clock = &clock_;
    IndexConfig index;
    index.dims = 2;
    options.index = index;
    store_ = backend_.Open(options);
  }

  Status Put(PutOp put) {
    const Operation operation = std::move(put);
    const auto done = store_->Batch({&operation, 1});
    clock_.Advance(1000);
    return done ? Status() : done.error();
  }

  std::vector<std::string> Keys(SearchOp search) {
    std::vector<std::string> keys;
    const auto hits = store_->Search(std::move(search));
    EXPECT_TRUE(hits.has_value()) << hits.error().message();
    if (hits) {
      for (const SearchItem& hit : *hits) keys.push_back(hit.item.key);
    }
    return keys;
  }
  std::vector<std::string> All() {
    std::vector<std::string> keys =
        Keys({.ns_prefix = {"n"}, .include_superseded = true, .include_quarantined = true});
    std::ranges::sort(keys);
    return keys;
  }

  std::optional<Provenance> OriginOf(const std::string& key) {
    return (*store_->Get({"n"}, key))->provenance;
  }
  std::string ValueOf(const std::string& key) { return (*store_->Get({"n"}, key))->value; }

  // A dry run says the same.
  ErasedItems Revoke(const ProvenanceFilter& from, const std::string& filter = "") {
    const std::vector<Namespace> everything = {{}};
    const auto dry = store_->Erase(everything, filter, from, true);
    const auto erased = store_->Erase(everything, filter, from, false);
    EXPECT_TRUE(dry && erased);
    if (!dry || !erased) return {};
    EXPECT_EQ(dry->items, erased->items);
    EXPECT_EQ(dry->versions, erased->versions);
    EXPECT_EQ(dry->restored, erased->restored);
    EXPECT_EQ(dry->bytes, erased->bytes);
    return *erased;
  }

  ScopedStore In(std::vector<OriginRule> origins, Namespace place = {"user", "ada"}) {
    Policy policy;
    policy.origins = std::move(origins);
    scopes_.push_back(std::make_unique<Scope>(*Scope::Make({{std::move(place), policy}})));
    return ScopedStore(*store_, *scopes_.back());
  }

  ManualClock clock_{kStart};
  Backend backend_;
  std::unique_ptr<Store> store_;
  std::vector<std::unique_ptr<Scope>> scopes_;
};
using Backends = testing::Types<InMemoryBackend, SqliteBackend>;
TYPED_TEST_SUITE(ProvenanceTest, Backends);

TYPED_TEST(ProvenanceTest, an_item_has_the_origin_of_its_last_put) {
  ASSERT_TRUE(this->Put(Note("a", "x", From(Origin::kWeb, kPage))).ok());
  ASSERT_TRUE(this->Put(Note("b", "x", From(Origin::kTool))).ok());
  ASSERT_TRUE(this->Put(Note("c", "x", From(Origin::kUnknown, "a file"))).ok());
  ASSERT_TRUE(this->Put(Note("d", "x", Provenance())).ok());
  EXPECT_EQ(this->OriginOf("a"), From(Origin::kWeb, kPage));
  EXPECT_EQ(this->OriginOf("b"), From(Origin::kTool));
  EXPECT_EQ(this->OriginOf("c"), From(Origin::kUnknown, "a file"));
  EXPECT_EQ(this->OriginOf("d"), std::nullopt) << "nobody said anything";
  const auto hits = this->store_->Search({.ns_prefix = {"n"}, .filter = R"({"text":"x"})"});
  ASSERT_TRUE(hits.has_value());
  EXPECT_EQ((*hits)[3].item.provenance, From(Origin::kWeb, kPage));
  ASSERT_TRUE(this->Put(Note("a", "y")).ok());
  EXPECT_EQ(this->OriginOf("a"), std::nullopt);
}

TYPED_TEST(ProvenanceTest, a_source_is_short_text_and_a_deletion_has_none) {
  const auto refused = [&](PutOp put, const char* why) {
    const Status status = this->Put(std::move(put));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(why));
  };
  ASSERT_TRUE(this->Put(Note("k", "x", From(Origin::kWeb, std::string(1024, 'a')))).ok());
  refused(Note("k", "x", From(Origin::kWeb, std::string(1025, 'a'))), "1024 bytes: it has 1025");
  refused(Note("k", "x", From(Origin::kWeb, "\xff")), "well-formed UTF-8");
  refused(Note("k", "x", From(Origin::kWeb, std::string(1, '\0'))), "without NUL");
  PutOp deletion{.ns = {"n"}, .key = "k"};
  deletion.provenance = From(Origin::kWeb);
  refused(deletion, "a deletion has no origin");
}

TYPED_TEST(ProvenanceTest, no_search_finds_what_is_in_quarantine_unless_it_asks_for_it) {
  ASSERT_TRUE(this->Put(WithVector(Note("good", "green tea"), {1, 0})).ok());
  ASSERT_TRUE(this->Put(WithVector(Note("bad", "green tea", Quarantined()), {1, 0})).ok());
  ASSERT_TRUE(this->Put(Note("bad too", "green tea", Quarantined())).ok());
  for (const SearchMode mode : {SearchMode::kAuto, SearchMode::kContains, SearchMode::kText,
                                SearchMode::kHybrid, SearchMode::kVector}) {
    for (const SearchPlan plan : {SearchPlan::kAuto, SearchPlan::kExact, SearchPlan::kCodes}) {
      for (const char* filter : {"", R"({"text":"green tea"})"}) {
        SearchOp search{.ns_prefix = {"n"}, .filter = filter, .query = "tea", .mode = mode};
        search.query_vector = mode == SearchMode::kVector || mode == SearchMode::kHybrid
                                  ? std::vector<float>{1, 0.5F}
                                  : std::vector<float>();
        if (mode == SearchMode::kAuto) search.query.clear();
        search.plan = plan;
        EXPECT_THAT(this->Keys(search), ElementsAre("good")) << static_cast<int>(mode);
        search.include_superseded = true;
        EXPECT_THAT(this->Keys(search), ElementsAre("good")) << "it is no fact that is over";
        search.include_superseded = false;
        search.include_quarantined = true;
        EXPECT_EQ(this->Keys(search).size(), 3U) << static_cast<int>(mode);
      }
    }
  }
  EXPECT_EQ(this->OriginOf("bad"), Quarantined()) << "a get tells";
  SearchOp search{.ns_prefix = {"n"}, .query = "tea", .mode = SearchMode::kText};
  EXPECT_EQ(this->store_->ExplainAbsence(search, {{"n"}, "bad"})->absence, Absence::kQuarantined);
  ASSERT_TRUE(this->Put(Note("bad", "green tea", From(Origin::kUser))).ok());
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}}), ElementsAre("bad", "good")) << "put again";
}

TYPED_TEST(ProvenanceTest, quarantine_leaves_validity_as_it_is) {
  PutOp later = Note("later", "x", Quarantined());
  later.validity = Validity{kStart + 50'000, {}};
  ASSERT_TRUE(this->Put(later).ok());
  ASSERT_TRUE(this->Put(Note("now", "x", Quarantined())).ok());
  SearchOp search{.ns_prefix = {"n"}, .include_quarantined = true};
  EXPECT_THAT(this->Keys(search), ElementsAre("now"));
  search.as_of_ms = kStart + 50'000;
  EXPECT_THAT(this->Keys(search), ElementsAre("now", "later"));
  EXPECT_EQ((*this->store_->Get({"n"}, "later"))->validity, later.validity);
  EXPECT_EQ((*this->store_->Get({"n"}, "now"))->validity, std::nullopt);
}

TYPED_TEST(ProvenanceTest, a_hit_is_worth_what_its_origin_is) {
  ASSERT_TRUE(this->Put(WithVector(Note("a", "green tea"), {0.8F, 0.6F})).ok());
  ASSERT_TRUE(this->Put(WithVector(Note("w", "green tea", From(Origin::kWeb)), {1, 0})).ok());
  ASSERT_TRUE(this->Put(WithVector(Note("x", "tea", From(Origin::kWeb)), {-1, 0})).ok());
  Ranking ranking;
  ranking.origins = {{Origin::kWeb, 0.5}};
  SearchOp by_vector{
      .ns_prefix = {"n"}, .query = "tea", .mode = SearchMode::kVector, .query_vector = {1, 0}};
  EXPECT_THAT(this->Keys(by_vector), ElementsAre("w", "a", "x"));
  by_vector.ranking = ranking;
  EXPECT_THAT(this->Keys(by_vector), ElementsAre("a", "w", "x"));
  const auto hits = this->store_->Search(by_vector);
  EXPECT_DOUBLE_EQ(*(*hits)[1].score, 0.5);
  EXPECT_DOUBLE_EQ(*(*hits)[2].score, -1.5) << "what is less than 0 becomes less";
  by_vector.limit = 1;
  by_vector.offset = 1;
  EXPECT_THAT(this->Keys(by_vector), ElementsAre("w"));

  SearchOp by_words{.ns_prefix = {"n"}, .query = "green tea", .mode = SearchMode::kText};
  by_words.ranking = ranking;
  by_words.ranking->explain = true;
  const auto found = this->store_->Search(by_words);
  ASSERT_EQ((*found)[0].item.key, "a");
  EXPECT_EQ((*found)[1].parts.back(), (ScorePart{"origin", 0.5}));
  by_words.ranking->origins = {{Origin::kWeb, 2}};
  EXPECT_EQ(this->store_->Search(by_words).error().code(), StatusCode::kInvalidArgument);
}

TYPED_TEST(ProvenanceTest, a_policy_refuses_an_origin_and_ranks_by_it) {
  ScopedStore scoped = this->In({{Origin::kUnknown, Trust::kRefuse}, {Origin::kWeb, {}, 0.25}});
  const auto put = [&](PutOp op) {
    const Operation operation = std::move(op);
    const auto done = scoped.Batch({&operation, 1});
    return done ? Status() : done.error();
  };
  EXPECT_EQ(put(Note("k", "tea")).code(), StatusCode::kAccessDenied);
  EXPECT_THAT(put(Note("k", "tea")).message(), HasSubstr("origin unknown is refused"));
  EXPECT_TRUE(put(PutOp{.ns = {"n"}, .key = "k"}).ok()) << "a deletion comes from nowhere";
  ASSERT_TRUE(put(Note("user", "tea", From(Origin::kUser))).ok());
  ASSERT_TRUE(put(Note("web", "tea", From(Origin::kWeb))).ok());
  const auto hits = scoped.Search({.ns_prefix = {}, .query = "tea", .mode = SearchMode::kText});
  ASSERT_TRUE(hits.has_value());
  EXPECT_EQ((*hits)[0].item.key, "user");
  EXPECT_DOUBLE_EQ(*(*hits)[1].score, *(*hits)[0].score / 4);
  // The strictest of all levels holds, and weights are multiplied.
  const auto scope = Scope::Make(
      {{{"user", "ada"}, {.origins = {{Origin::kWeb, {}, 0.5}}}},
       {{"t"}, {.origins = {{Origin::kWeb, {}, 0.5}, {Origin::kTool, Trust::kRefuse}}}}});
  ScopedStore inner(*this->store_, *scope);
  const Operation tool = Note("k", "tea", From(Origin::kTool));
  EXPECT_EQ(inner.Batch({&tool, 1}).error().code(), StatusCode::kAccessDenied);
  const Operation web = Note("web", "tea", From(Origin::kWeb));
  const Operation user = Note("user", "tea", From(Origin::kUser));
  ASSERT_TRUE(inner.Batch(std::vector{web, user}).has_value());
  const auto within = inner.Search({.ns_prefix = {}, .query = "tea", .mode = SearchMode::kText});
  EXPECT_DOUBLE_EQ(*(*within)[1].score, *(*within)[0].score / 4);
  EXPECT_EQ(Scope::Make({{{"a"}, {.origins = {{Origin::kWeb, {}, -1}}}}}).error().code(),
            StatusCode::kInvalidArgument);
}

TYPED_TEST(ProvenanceTest, what_goes_into_quarantine_changes_nothing_outside) {
  ScopedStore scoped = this->In({{Origin::kWeb, Trust::kQuarantine}});
  const auto put = [&](PutOp op) {
    const Operation operation = std::move(op);
    const auto done = scoped.Batch({&operation, 1});
    return done ? Status() : done.error();
  };
  ASSERT_TRUE(put(Note("bank", "the true one", From(Origin::kUser))).ok());
  const Status replacing = put(Note("bank", "another", From(Origin::kWeb)));
  EXPECT_EQ(replacing.code(), StatusCode::kAccessDenied);
  EXPECT_THAT(replacing.message(), HasSubstr("replaces nothing outside"));
  PutOp superseding = Note("new bank", "another", From(Origin::kWeb));
  superseding.supersedes = ItemRef{{"n"}, "bank"};
  EXPECT_EQ(put(superseding).code(), StatusCode::kAccessDenied);

  ASSERT_TRUE(put(Note("page", "first", From(Origin::kWeb, kPage))).ok());
  ASSERT_TRUE(put(Note("page", "second", From(Origin::kWeb, kPage))).ok()) << "within quarantine";
  EXPECT_EQ((*scoped.Get({"n"}, "page"))->provenance, Quarantined());
  EXPECT_EQ(scoped.Search({.ns_prefix = {}})->size(), 1U);
  // For whoever has another policy, too.
  EXPECT_EQ(this->store_->Search({.ns_prefix = {}})->size(), 1U);
  EXPECT_EQ(scoped.Search({.ns_prefix = {}, .include_quarantined = true})->size(), 2U);
  ASSERT_TRUE(put(Note("page", "second", From(Origin::kUser))).ok()) << "somebody vouches for it";
  EXPECT_EQ(scoped.Search({.ns_prefix = {}})->size(), 2U);
}

TYPED_TEST(ProvenanceTest, an_undo_brings_nothing_back_that_the_policy_refuses) {
  ASSERT_TRUE(this->store_->KeepHistory({.ns = {}}).ok());
  ScopedStore open = this->In({});
  const Operation web = Note("k", "from the web", From(Origin::kWeb));
  ASSERT_TRUE(open.Batch({&web, 1}).has_value());
  const Operation user = Note("k", "from a user", From(Origin::kUser));
  ASSERT_TRUE(open.Batch({&user, 1}).has_value());
  const auto versions = open.History({{"n"}, "k"}, 10);
  ASSERT_EQ(versions->size(), 2U);
  EXPECT_EQ((*versions)[1].item->provenance, From(Origin::kWeb));
  const Undo undo{.operation = (*versions)[0].operation};
  for (const Trust trust : {Trust::kRefuse, Trust::kQuarantine}) {
    EXPECT_EQ(this->In({{Origin::kWeb, trust}}).UndoOperation(undo).error().code(),
              StatusCode::kAccessDenied);
  }
  ASSERT_TRUE(open.UndoOperation(undo).has_value());
  EXPECT_EQ((*open.Get({"n"}, "k"))->provenance, From(Origin::kWeb));
}

TYPED_TEST(ProvenanceTest, what_comes_from_a_source_is_taken_back) {
  ASSERT_TRUE(this->Put(WithVector(Note("a", "x", From(Origin::kWeb, kPage)), {1, 0})).ok());
  ASSERT_TRUE(this->Put(Note("b", "x", From(Origin::kWeb, kPage + "?2"))).ok());
  ASSERT_TRUE(this->Put(Note("c", "x", From(Origin::kTool, kPage))).ok());
  ASSERT_TRUE(this->Put(Note("d", "x", Quarantined())).ok());
  ASSERT_TRUE(this->Put(Note("e", "x")).ok());
  EXPECT_EQ(this->Revoke({Origin::kWeb, kPage}).items, 2U);
  EXPECT_THAT(this->All(), ElementsAre("b", "c", "e"));
  EXPECT_EQ(this->Revoke({Origin::kTool, "other"}).items, 0U);
  EXPECT_EQ(this->Revoke({Origin::kUnknown, "https://bad.", true}, R"({"text":"y"})").items, 0U);
  EXPECT_EQ(this->Revoke({Origin::kUnknown, "https://bad.", true}).items, 2U);
  EXPECT_THAT(this->All(), ElementsAre("e"));
  ASSERT_TRUE(this->Put(Note("f", "x", From(Origin::kModel))).ok());
  EXPECT_EQ(this->Revoke({.origin = Origin::kModel}).items, 1U);
  EXPECT_THAT(this->All(), ElementsAre("e"));
}

TYPED_TEST(ProvenanceTest, what_was_replaced_has_its_earlier_value_again) {
  ASSERT_TRUE(this->store_->KeepHistory({.ns = {}}).ok());
  ASSERT_TRUE(
      this->Put(WithVector(Note("bank", "the true one", From(Origin::kUser)), {1, 0})).ok());
  ASSERT_TRUE(this->Put(Note("bank", "poison", From(Origin::kWeb, kPage))).ok());
  ASSERT_TRUE(this->Put(Note("bank", "more poison", From(Origin::kWeb, kPage))).ok());
  ASSERT_TRUE(this->Put(Note("mended", "poison", From(Origin::kWeb, kPage))).ok());
  ASSERT_TRUE(this->Put(Note("mended", "by a user", From(Origin::kUser))).ok());
  ASSERT_TRUE(this->Put(Note("deleted", "poison", From(Origin::kWeb, kPage))).ok());
  ASSERT_TRUE(this->Put({.ns = {"n"}, .key = "deleted"}).ok());
  ASSERT_TRUE(this->Put(Note("gone", "by a user")).ok());
  ASSERT_TRUE(this->Put({.ns = {"n"}, .key = "gone"}).ok());
  ASSERT_TRUE(this->Put(Note("gone", "poison", From(Origin::kWeb, kPage))).ok());
  PutOp brief = Note("brief", "by a user");
  brief.ttl_ms = 1500;
  ASSERT_TRUE(this->Put(brief).ok());
  ASSERT_TRUE(this->Put(Note("brief", "poison", From(Origin::kWeb, kPage))).ok());
  ASSERT_TRUE(this->Put(Note("untouched", "x")).ok());
  ASSERT_TRUE(this->Put(Note("untouched", "y")).ok());

  const ErasedItems erased = this->Revoke({Origin::kUnknown, kPage});
  EXPECT_EQ(erased.items, 3U);
  EXPECT_EQ(erased.restored, 1U);
  EXPECT_THAT(this->All(), ElementsAre("bank", "mended", "untouched"));
  EXPECT_EQ(this->ValueOf("bank"), R"({"text":"the true one"})");
  EXPECT_EQ(this->OriginOf("bank"), From(Origin::kUser));
  EXPECT_EQ((*this->store_->Get({"n"}, "bank"))->created_at_ms, kStart);
  EXPECT_EQ(this->ValueOf("mended"), R"({"text":"by a user"})");
  SearchOp by_vector{.ns_prefix = {"n"}, .mode = SearchMode::kVector, .query_vector = {1, 0}};
  EXPECT_EQ((*this->store_->Search(by_vector))[0].item.key, "bank") << "with its vector";
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}, .query = "true", .mode = SearchMode::kText}),
              ElementsAre("bank"));
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}, .query = "poison", .mode = SearchMode::kText}),
              IsEmpty());
  // Histories in which it stood are gone as a whole, others are there.
  for (const char* key : {"bank", "mended"}) {
    const auto versions = this->store_->History({{"n"}, key}, 10);
    ASSERT_EQ(versions->size(), 1U) << key;
    EXPECT_EQ((*versions)[0].change, Change::kEarlier);
  }
  EXPECT_THAT(*this->store_->History({{"n"}, "deleted"}, 10), IsEmpty());
  EXPECT_EQ(this->store_->History({{"n"}, "untouched"}, 10)->size(), 2U);
  EXPECT_EQ(this->Revoke({Origin::kUnknown, kPage}).versions, 0U);
}

TYPED_TEST(ProvenanceTest, what_was_superseded_holds_again) {
  ASSERT_TRUE(this->Put(Note("bern", "lives in Bern", From(Origin::kUser))).ok());
  ASSERT_TRUE(this->Put(Supersedes(Note("rome", "Rome", From(Origin::kWeb, kPage)), "bern")).ok());
  ASSERT_TRUE(this->Put(Supersedes(Note("oslo", "Oslo", From(Origin::kWeb, kPage)), "rome")).ok());
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}}), ElementsAre("oslo"));
  const ErasedItems erased = this->Revoke({Origin::kWeb});
  EXPECT_EQ(erased.items, 2U);
  EXPECT_EQ(erased.restored, 1U);
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}}), ElementsAre("bern"));
  EXPECT_EQ((*this->store_->Get({"n"}, "bern"))->validity, std::nullopt);
}

TYPED_TEST(ProvenanceTest,
           what_was_superseded_ends_where_something_that_stays_superseded_the_rest) {
  ASSERT_TRUE(this->Put(Note("bern", "lives in Bern", From(Origin::kUser))).ok());
  ASSERT_TRUE(this->Put(Supersedes(Note("rome", "Rome", From(Origin::kWeb, kPage)), "bern")).ok());
  ASSERT_TRUE(this->Put(Supersedes(Note("oslo", "Oslo", From(Origin::kTool)), "rome")).ok());
  ASSERT_TRUE(this->Put(Supersedes(Note("basel", "Basel", From(Origin::kUser)), "oslo")).ok());
  const std::int64_t basel_ms = kStart + 3000;
  EXPECT_EQ(this->Revoke({Origin::kWeb}).restored, 1U);
  EXPECT_EQ(this->Revoke({Origin::kTool}).restored, 1U);
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}}), ElementsAre("basel"));
  EXPECT_EQ((*this->store_->Get({"n"}, "bern"))->validity,
            (Validity{.from_ms = std::nullopt, .until_ms = basel_ms}));
  // And says so in its turn.
  EXPECT_EQ(this->Revoke({Origin::kUser}, R"({"text":"Basel"})").restored, 1U);
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}}), ElementsAre("bern"));
}

TYPED_TEST(ProvenanceTest, what_holds_again_keeps_its_own_end) {
  ASSERT_TRUE(this->store_->KeepHistory({.ns = {}}).ok());
  const auto until = [](PutOp put, std::int64_t until_ms) {
    put.validity = Validity{.from_ms = std::nullopt, .until_ms = until_ms};
    return put;
  };
  const std::int64_t past = kStart - 1000, soon = kStart + 1'000'000;
  ASSERT_TRUE(this->Put(until(Note("over", "x", From(Origin::kUser)), past)).ok());
  ASSERT_TRUE(this->Put(until(Note("contract", "x", From(Origin::kUser)), soon)).ok());
  ASSERT_TRUE(this->Put(Supersedes(Note("a", "x", From(Origin::kWeb)), "over")).ok());
  ASSERT_TRUE(this->Put(Supersedes(Note("b", "x", From(Origin::kWeb)), "contract")).ok());
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}}), ElementsAre("b", "a"));
  EXPECT_EQ(this->Revoke({Origin::kWeb}).restored, 1U);
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}}), ElementsAre("contract"));
  EXPECT_EQ((*this->store_->Get({"n"}, "contract"))->validity->until_ms, soon);
  EXPECT_EQ((*this->store_->Get({"n"}, "over"))->validity->until_ms, past);
}

TYPED_TEST(ProvenanceTest, what_superseded_and_was_deleted_is_taken_back_as_far_as_history_goes) {
  ASSERT_TRUE(this->store_->KeepHistory({.ns = {}}).ok());
  ASSERT_TRUE(this->Put(Note("bern", "lives in Bern", From(Origin::kUser))).ok());
  ASSERT_TRUE(this->Put(Supersedes(Note("rome", "Rome", From(Origin::kWeb, kPage)), "bern")).ok());
  ASSERT_TRUE(this->Put({.ns = {"n"}, .key = "rome"}).ok());
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}}), IsEmpty());
  const ErasedItems erased = this->Revoke({Origin::kWeb});
  EXPECT_EQ(erased.items, 0U);
  EXPECT_EQ(erased.restored, 1U);
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}}), ElementsAre("bern"));
}

TYPED_TEST(ProvenanceTest, nothing_outside_of_what_is_asked_for_holds_again) {
  PutOp bern = Note("bern", "lives in Bern", From(Origin::kUser));
  bern.ns = {"other"};
  ASSERT_TRUE(this->Put(bern).ok());
  PutOp poison = Note("rome", "lives in Rome", From(Origin::kWeb, kPage));
  poison.supersedes = ItemRef{{"other"}, "bern"};
  ASSERT_TRUE(this->Put(poison).ok());
  const auto erased = this->store_->Erase(std::vector<Namespace>{{"n"}}, "", {Origin::kWeb}, false);
  ASSERT_TRUE(erased.has_value());
  EXPECT_EQ(erased->restored, 0U);
  EXPECT_THAT(this->Keys({.ns_prefix = {"other"}}), IsEmpty());
}

TYPED_TEST(ProvenanceTest, a_scope_puts_nothing_back_that_its_policy_does_not_let) {
  ASSERT_TRUE(this->store_->KeepHistory({.ns = {}}).ok());
  const auto put = [&](PutOp op) {
    op.ns = {"user", "ada", "n"};
    return this->Put(op);
  };
  const std::string long_text(100, 'x');
  PutOp ever = Note("ever", "x", From(Origin::kUser)),
        brief = Note("brief", "x", From(Origin::kUser));
  brief.ttl_ms = 1'000'000;
  ASSERT_TRUE(put(Note("long", long_text, From(Origin::kUser))).ok());
  ASSERT_TRUE(put(ever).ok());
  ASSERT_TRUE(put(brief).ok());
  for (const char* key : {"long", "ever", "brief"}) {
    PutOp poison = Note(key, "bad", From(Origin::kWeb));
    poison.ttl_ms = 1'000'000;
    ASSERT_TRUE(put(poison).ok());
  }
  Policy policy;
  policy.max_value_bytes = 50;
  policy.max_ttl_ms = 2'000'000;
  const auto scope = *Scope::Make({{{"user", "ada"}, policy}});
  ScopedStore open(*this->store_, scope);
  const auto versions = open.History({{"n"}, "ever"}, 10);
  ASSERT_TRUE(versions.has_value());
  EXPECT_EQ(open.UndoOperation({.operation = versions->front().operation}).error().code(),
            StatusCode::kQuotaExceeded);
  const auto may = [&](const PutOp& op) { return open.MayPutBack({&op, 1}).ok(); };
  const auto erased =
      this->store_->Erase(std::vector<Namespace>{{"user"}}, "", {Origin::kWeb}, false, may);
  ASSERT_TRUE(erased.has_value());
  EXPECT_EQ(erased->items, 3U);
  EXPECT_EQ(erased->restored, 1U);
  EXPECT_THAT(this->Keys({.ns_prefix = {"user"}}), ElementsAre("brief"));
}

TYPED_TEST(ProvenanceTest, a_vector_in_a_scope_with_quotas_is_of_a_text_of_its_item) {
  Policy policy;
  policy.max_bytes = 1000;
  const auto scope = *Scope::Make({{{"user", "ada"}, policy}});
  ScopedStore open(*this->store_, scope);
  const auto put = [&](std::string path) {
    const Operation operation = WithVector(Note("k", "x"), {1, 0});
    PutOp op = std::get<PutOp>(operation);
    op.vectors[0].path = std::move(path);
    const Operation put = op;
    const auto done = open.Batch({&put, 1});
    return done ? Status() : done.error();
  };
  EXPECT_TRUE(put("$").ok());
  const Status refused = put("elsewhere");
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("\"elsewhere\""));
}

}  // namespace
}  // namespace keepsake
