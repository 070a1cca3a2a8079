// What items were, and what was undone. The same of both stores.
#include "keepsake/history.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "keepsake/scope.h"
#include "store_contract.h"

namespace keepsake {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kStart = 1'700'000'000'000;
constexpr std::uint32_t kAll = 1'000;

template <typename Backend>
class HistoryTest : public testing::Test {
 protected:
  HistoryTest() { SetUpAgain(); }

  void SetUpAgain() {
    clock_.Set(kStart);
    StoreOptions options;
    options.clock = &clock_;
    IndexConfig index;
    index.dims = 2;
    options.index = index;
    store_ = backend_.Open(options);
  }

  Status Keep(HistoryRule rule) { return store_->KeepHistory(rule); }
  void Do(std::vector<Operation> operations) {
    clock_.Advance(10);
    const auto done = store_->Batch(operations);
    ASSERT_TRUE(done.has_value()) << done.error().message();
  }
  void Put(const std::string& key, const std::string& value) {
    Do({PutOperation({"n"}, key, value)});
  }
  void Delete(const std::string& key) { Do({DeleteOperation({"n"}, key)}); }
  std::vector<Version> History(const std::string& key) {
    const auto versions = store_->History({{"n"}, key}, kAll);
    EXPECT_TRUE(versions.has_value()) << MessageOf(versions);
    return versions.value_or(std::vector<Version>());
  }
  // Its values, from the newest to the oldest.
  std::vector<std::string> ValuesOf(const std::string& key) {
    std::vector<std::string> values;
    for (const Version& version : History(key)) {
      values.push_back(version.item ? version.item->value : "none");
    }
    return values;
  }
  std::string ValueAsOf(const std::string& key, std::int64_t at_ms) {
    const auto item = store_->GetAsOf({.ns = {"n"}, .key = key}, at_ms);
    if (!item) return std::string(StatusCodeName(item.error().code()));
    return *item ? (*item)->value : "none";
  }
  std::string Now(const std::string& key) {
    const auto item = store_->Get({"n"}, key);
    return *item ? (*item)->value : "none";
  }
  std::int64_t Newest(const std::string& key) { return History(key).front().operation; }
  Result<Undone> Undo(std::int64_t operation, bool force = false) {
    clock_.Advance(10);
    return store_->UndoOperation({operation, force});
  }

  Backend backend_;
  ManualClock clock_{kStart};
  std::unique_ptr<Store> store_;
};

using Backends = testing::Types<InMemoryBackend, SqliteBackend>;
TYPED_TEST_SUITE(HistoryTest, Backends);

TYPED_TEST(HistoryTest, is_kept_where_it_was_asked_for) {
  EXPECT_EQ(CodeOf(this->store_->History({{"n"}, "k"}, kAll)), StatusCode::kNoHistory);
  ASSERT_TRUE(this->Keep({.ns = {"n"}}).ok());
  this->Put("k", "1");
  EXPECT_THAT(this->ValuesOf("k"), ElementsAre("1"));
  EXPECT_EQ(CodeOf(this->store_->History({{"other"}, "k"}, kAll)), StatusCode::kNoHistory);
  EXPECT_THAT(*this->store_->ListHistoryRules(), SizeIs(1));
  ASSERT_TRUE(this->store_->DropHistory({"n"}).ok());
  EXPECT_EQ(CodeOf(this->store_->History({{"n"}, "k"}, kAll)), StatusCode::kNoHistory);
  ASSERT_TRUE(this->Keep({.ns = {"n"}}).ok());
  EXPECT_THAT(this->History("k"), SizeIs(1)) << "what was dropped is gone";
  EXPECT_EQ(this->History("k").front().change, Change::kEarlier);
}

TYPED_TEST(HistoryTest, has_versions_with_time_actor_and_operation) {
  ASSERT_TRUE(this->Keep({.ns = {}}).ok());
  this->store_->SetActor("ada");
  this->Put("k", "1");
  this->store_->SetActor("agent 7");
  this->Put("k", "2");
  this->store_->SetActor("");
  this->Delete("k");
  const auto versions = this->History("k");
  ASSERT_THAT(versions, SizeIs(3));
  EXPECT_EQ(versions[0].change, Change::kDelete);
  EXPECT_EQ(versions[0].item, std::nullopt);
  EXPECT_EQ(versions[0].at_ms, kStart + 30);
  EXPECT_EQ(versions[1].change, Change::kPut);
  EXPECT_EQ(versions[1].actor, "agent 7");
  EXPECT_EQ(versions[1].item->value, "2");
  EXPECT_EQ(versions[1].item->created_at_ms, kStart + 10);
  EXPECT_EQ(versions[2].actor, "ada");
  EXPECT_LT(versions[2].operation, versions[1].operation);
  EXPECT_THAT(*this->store_->History({{"n"}, "k"}, 1), SizeIs(1));
}

TYPED_TEST(HistoryTest, tells_what_was_there_before_it_began) {
  this->Put("k", "0");
  this->clock_.Advance(100);
  ASSERT_TRUE(this->Keep({.ns = {"n"}}).ok());
  EXPECT_THAT(this->ValuesOf("k"), ElementsAre("0"));
  this->Put("k", "1");
  EXPECT_THAT(this->ValuesOf("k"), ElementsAre("1", "0"));
  EXPECT_EQ(this->History("k")[1].operation, 0);
  EXPECT_EQ(this->ValueAsOf("k", kStart + 110), "0");
  EXPECT_EQ(this->ValueAsOf("k", kStart + 109), "no_history") << "nobody knows of that time";
  EXPECT_EQ(MessageOf(this->store_->GetAsOf({.ns = {"n"}, .key = "k"}, -1)),
            "the history of [\"n\"] goes back to 2023-11-14T22:13:20.110Z: asked for what was at "
            "1969-12-31T23:59:59.999Z");
}

TYPED_TEST(HistoryTest, answers_gets_as_of_a_time) {
  ASSERT_TRUE(this->Keep({.ns = {"n"}}).ok());
  this->Put("k", "1");  // at 10
  this->Put("k", "2");  // at 20
  this->Delete("k");    // at 30
  EXPECT_EQ(this->ValueAsOf("k", kStart + 9), "none");
  EXPECT_EQ(this->ValueAsOf("k", kStart + 10), "1");
  EXPECT_EQ(this->ValueAsOf("k", kStart + 19), "1");
  EXPECT_EQ(this->ValueAsOf("k", kStart + 20), "2");
  EXPECT_EQ(this->ValueAsOf("k", kStart + 30), "none");
  EXPECT_EQ(this->ValueAsOf("k", kStart + 99), "none");
  EXPECT_EQ(this->ValueAsOf("k", kStart - 1), "no_history");
  EXPECT_EQ(this->ValueAsOf("other", kStart + 10), "none");
}

TYPED_TEST(HistoryTest, is_bounded_by_the_number_of_versions) {
  ASSERT_TRUE(this->Keep({.ns = {"n"}, .max_versions = 2}).ok());
  for (int i = 1; i <= 5; ++i) this->Put("k", std::to_string(i));
  EXPECT_THAT(this->ValuesOf("k"), ElementsAre("5", "4", "3"));
  EXPECT_EQ(this->History("k")[2].operation, 0) << "who put it was dropped";
  EXPECT_EQ(this->ValueAsOf("k", kStart + 30), "3");
  EXPECT_EQ(this->ValueAsOf("k", kStart + 29), "no_history");
  const auto hits = this->store_->SearchAsOf({.ns_prefix = {"n"}}, kStart + 29);
  EXPECT_EQ(CodeOf(hits), StatusCode::kNoHistory);
  EXPECT_THAT(MessageOf(hits), HasSubstr("maxVersions"));
}

TYPED_TEST(HistoryTest, is_bounded_by_age) {
  ASSERT_TRUE(this->Keep({.ns = {"n"}, .max_age_ms = 100}).ok());
  this->Put("k", "1");  // at 10
  this->Put("k", "2");  // at 20
  this->clock_.Set(kStart + 115);
  EXPECT_THAT(this->ValuesOf("k"), ElementsAre("2", "1"));
  EXPECT_EQ(this->ValueAsOf("k", kStart + 14), "no_history");
  EXPECT_EQ(this->ValueAsOf("k", kStart + 15), "1");
  const std::int64_t operation = this->Newest("k");
  this->clock_.Set(kStart + 200);
  EXPECT_THAT(this->ValuesOf("k"), ElementsAre("2"));
  EXPECT_EQ(CodeOf(this->Undo(operation)), StatusCode::kNotFound);
  ASSERT_TRUE(this->store_->SweepExpired(10).has_value());
  EXPECT_THAT(this->ValuesOf("k"), ElementsAre("2"));
  EXPECT_EQ(CodeOf(this->Undo(operation)), StatusCode::kNotFound) << "it was dropped";
  this->Put("k", "3");
  EXPECT_GT(this->Newest("k"), operation) << "no id is given twice";
  // A longer age does not bring back what went.
  ASSERT_TRUE(this->Keep({.ns = {"n"}, .max_age_ms = 10'000}).ok());
  EXPECT_EQ(this->ValueAsOf("k", kStart + 50), "no_history");
}

TYPED_TEST(HistoryTest, rules_lie_within_each_other) {
  ASSERT_TRUE(this->Keep({.ns = {}}).ok());
  this->Do({PutOperation({"n", "deep"}, "k", "1")});
  ASSERT_TRUE(this->Keep({.ns = {"n"}, .max_versions = 1}).ok());
  for (int i = 2; i < 5; ++i) this->Do({PutOperation({"n", "deep"}, "k", std::to_string(i))});
  EXPECT_THAT(*this->store_->History({{"n", "deep"}, "k"}, kAll), SizeIs(2));
  ASSERT_TRUE(this->store_->DropHistory({}).ok());
  EXPECT_THAT(*this->store_->History({{"n", "deep"}, "k"}, kAll), SizeIs(2));
  EXPECT_EQ(CodeOf(this->store_->SearchAsOf({}, kStart + 40)), StatusCode::kNoHistory);
  EXPECT_EQ(CodeOf(this->Keep({.ns = {"n"}, .max_versions = 0})), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(this->Keep({.ns = {"a.b"}})), StatusCode::kInvalidNamespace);
  EXPECT_EQ(CodeOf(this->Keep({.ns = {"n"}, .max_age_ms = 0})), StatusCode::kInvalidArgument);
}

TYPED_TEST(HistoryTest, undoes_a_put_a_delete_and_a_batch) {
  ASSERT_TRUE(this->Keep({.ns = {"n"}}).ok());
  this->Put("a", "1");
  this->Put("a", "2");
  ASSERT_TRUE(this->Undo(this->Newest("a")).has_value());
  EXPECT_EQ(this->Now("a"), "1");
  EXPECT_EQ((**this->store_->Get({"n"}, "a")).updated_at_ms, kStart + 10) << "as it was";
  EXPECT_EQ(this->History("a").front().change, Change::kUndo);
  // An undo is undone.
  ASSERT_TRUE(this->Undo(this->Newest("a")).has_value());
  EXPECT_EQ(this->Now("a"), "2");

  this->Delete("a");
  ASSERT_TRUE(this->Undo(this->Newest("a")).has_value());
  EXPECT_EQ(this->Now("a"), "2");

  this->Do({PutOperation({"n"}, "a", "3"), PutOperation({"n"}, "b", "3"),
            DeleteOperation({"n"}, "c"), PutOperation({"elsewhere"}, "d", "3")});
  const auto undone = this->Undo(this->Newest("b"));
  ASSERT_TRUE(undone.has_value()) << MessageOf(undone);
  EXPECT_EQ(undone->items, 3) << "elsewhere nothing is kept";
  EXPECT_EQ(this->Now("a"), "2");
  EXPECT_EQ(this->Now("b"), "none");
  EXPECT_EQ(CodeOf(this->Undo(999)), StatusCode::kNotFound);
  EXPECT_EQ(CodeOf(this->Undo(0)), StatusCode::kNotFound);
  EXPECT_EQ(CodeOf(this->Undo(-1)), StatusCode::kNotFound);
}

TYPED_TEST(HistoryTest, undoes_a_clearing_of_a_namespace) {
  ASSERT_TRUE(this->Keep({.ns = {"n"}}).ok());
  this->Put("a", "1");
  this->Put("b", "2");
  ASSERT_EQ(*this->store_->ClearNamespace({"n"}), 2);
  const auto undone = this->Undo(this->Newest("b"));
  ASSERT_TRUE(undone.has_value()) << MessageOf(undone);
  EXPECT_EQ(undone->items, 2);
  EXPECT_EQ(this->Now("a"), "1");
  EXPECT_EQ(this->Now("b"), "2");
}

TYPED_TEST(HistoryTest, refuses_an_undo_of_what_changed_since) {
  ASSERT_TRUE(this->Keep({.ns = {"n"}}).ok());
  this->Put("a", "1");
  const std::int64_t first = this->Newest("a");
  this->Put("a", "2");
  const auto refused = this->Undo(first);
  EXPECT_EQ(CodeOf(refused), StatusCode::kChangedSince);
  EXPECT_THAT(MessageOf(refused), HasSubstr("\"a\""));
  EXPECT_EQ(this->Now("a"), "2");
  ASSERT_TRUE(this->Undo(first, true).has_value());
  EXPECT_EQ(this->Now("a"), "none");
}

TYPED_TEST(HistoryTest, refuses_an_undo_of_which_a_part_is_gone) {
  ASSERT_TRUE(this->Keep({.ns = {"n"}, .max_versions = 2}).ok());
  this->Do({PutOperation({"n"}, "a", "1"), PutOperation({"n"}, "b", "1")});
  const std::int64_t both = this->Newest("a");
  for (int i = 0; i < 3; ++i) this->Put("b", std::to_string(i));
  EXPECT_EQ(CodeOf(this->Undo(both, true)), StatusCode::kNoHistory);
  for (int i = 0; i < 3; ++i) this->Put("a", std::to_string(i));
  EXPECT_EQ(CodeOf(this->Undo(both, true)), StatusCode::kNotFound);
}

TYPED_TEST(HistoryTest, undo_restores_ttl_validity_and_vectors) {
  ASSERT_TRUE(this->Keep({.ns = {"n"}}).ok());
  PutOp put{.ns = {"n"}, .key = "a", .value = R"({"text":"tea"})"};
  put.ttl_ms = 1'000;
  put.vectors = {{"x", {1, 0}}, {"y", {0.5F, 0.5F}}};
  put.validity = Validity{kStart - 5, kStart + 5'000};
  this->Do({put});
  this->Put("a", "2");
  ASSERT_TRUE(this->Undo(this->Newest("a")).has_value());
  const auto near = this->store_->Search({.ns_prefix = {"n"},
                                          .mode = SearchMode::kVector,
                                          .refresh_ttl = false,
                                          .query_vector = {1, 0}});
  ASSERT_THAT(KeysOf(near), ElementsAre("a"));
  EXPECT_DOUBLE_EQ(*near->front().score, 1);
  EXPECT_EQ(near->front().item.validity, put.validity);
  EXPECT_EQ(this->store_->Stats()->vectors, 2);
  const auto by_words = this->store_->Search(
      {.ns_prefix = {"n"}, .query = "tea", .mode = SearchMode::kText, .refresh_ttl = false});
  EXPECT_THAT(KeysOf(by_words), ElementsAre("a"));
  this->clock_.Set(kStart + 1'011);
  EXPECT_EQ(this->Now("a"), "none") << "it expires when it was to";
}

TYPED_TEST(HistoryTest, undo_restores_what_was_superseded) {
  ASSERT_TRUE(this->Keep({.ns = {"n"}}).ok());
  this->Put("old", "1");
  PutOp next{.ns = {"n"}, .key = "new", .value = "2"};
  next.supersedes = ItemRef{{"n"}, "old"};
  this->Do({next});
  EXPECT_THAT(KeysOf(this->store_->Search({.ns_prefix = {"n"}})), ElementsAre("new"));
  EXPECT_EQ(this->History("old").front().change, Change::kSupersede);
  EXPECT_THAT(KeysOf(this->store_->SearchAsOf({.ns_prefix = {"n"}}, kStart + 10)),
              ElementsAre("old"));
  ASSERT_TRUE(this->Undo(this->Newest("new")).has_value());
  EXPECT_THAT(KeysOf(this->store_->Search({.ns_prefix = {"n"}})), ElementsAre("old"));
}

TYPED_TEST(HistoryTest, keeps_what_expired_and_was_swept) {
  ASSERT_TRUE(this->Keep({.ns = {"n"}}).ok());
  PutOp put{.ns = {"n"}, .key = "a", .value = "1"};
  put.ttl_ms = 100;
  this->Do({put});
  this->clock_.Set(kStart + 500);
  EXPECT_EQ(this->ValueAsOf("a", kStart + 109), "1");
  ASSERT_EQ(*this->store_->SweepExpired(10), 1);
  EXPECT_EQ(this->ValueAsOf("a", kStart + 109), "1");
  EXPECT_EQ(this->ValueAsOf("a", kStart + 110), "none");
  EXPECT_EQ(this->History("a").front().change, Change::kExpire);
  EXPECT_EQ(this->History("a").front().at_ms, kStart + 110);
}

TYPED_TEST(HistoryTest, what_was_undone_is_found_by_a_filter_that_was_asked_before) {
  ASSERT_TRUE(this->Keep({.ns = {}}).ok());
  std::vector<Operation> many;
  for (int i = 0; i < 600; ++i) {
    many.push_back(PutOperation({"n"}, "k" + std::to_string(i), R"({"n":1})"));
  }
  this->Do(many);
  this->Put("k7", R"({"n":2})");
  const auto count = [&] {
    return this->store_->Search({.ns_prefix = {"n"}, .filter = R"({"n":1})", .limit = kAll})
        ->size();
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(count(), 599U);
  ASSERT_TRUE(this->Undo(this->History("k7").front().operation).has_value());
  EXPECT_EQ(count(), 600U);
}

TYPED_TEST(HistoryTest, erasing_takes_versions) {
  ASSERT_TRUE(this->Keep({.ns = {"n"}}).ok());
  this->Put("a", R"({"who":"x"})");
  this->Put("a", R"({"who":"y"})");
  this->Put("b", R"({"who":"y"})");
  this->Delete("b");
  const std::vector<Namespace> where = {{"n"}};
  EXPECT_EQ(this->store_->Erase(where, R"({"who":"x"})", {}, true)->versions, 2);
  const auto erased = this->store_->Erase(where, R"({"who":"x"})", {}, false);
  EXPECT_EQ(erased->items, 0) << "it is something else by now";
  EXPECT_EQ(erased->versions, 2) << "a history goes as a whole";
  EXPECT_THAT(this->ValuesOf("a"), ElementsAre(R"({"who":"y"})"));
  EXPECT_EQ(this->ValueAsOf("a", kStart + 10), "no_history");
  EXPECT_THAT(this->ValuesOf("b"), ElementsAre("none", R"({"who":"y"})"));
  EXPECT_EQ(this->store_->Erase(where, "", {}, false)->versions, 2);
  EXPECT_THAT(this->ValuesOf("b"), IsEmpty());
  this->Put("a", "1");
  EXPECT_THAT(this->ValuesOf("a"), ElementsAre("1"));
}

// ---- scopes

TYPED_TEST(HistoryTest, in_a_scope_is_of_what_is_there) {
  ASSERT_TRUE(this->Keep({.ns = {}}).ok());
  const Scope ada = *Scope::Make({{{"user", "ada"}, {}}});
  const Scope bob = *Scope::Make({{{"user", "bob"}, {}}});
  ScopedStore hers(*this->store_, ada), his(*this->store_, bob);
  this->Do(
      {PutOperation({"user", "ada", "n"}, "k", "1"), PutOperation({"user", "bob", "n"}, "k", "2")});
  const auto versions = hers.History({{"n"}, "k"}, kAll);
  ASSERT_THAT(*versions, SizeIs(1));
  EXPECT_EQ(versions->front().item->ns, Namespace{"n"});
  EXPECT_THAT(KeysOf(hers.SearchAsOf({}, kStart + 10)), ElementsAre("k"));
  EXPECT_THAT(KeysOf(hers.SearchAsOf({}, kStart + 9)), IsEmpty());
  EXPECT_EQ((**hers.GetAsOf({.ns = {"n"}, .key = "k"}, kStart + 10)).value, "1");
  EXPECT_THAT(*hers.ListNamespacesAsOf({}, kStart + 10), ElementsAre(Namespace{"n"}));
  EXPECT_THAT(*hers.ListNamespacesAsOf({}, kStart + 9), IsEmpty());
  const std::int64_t both = versions->front().operation;
  EXPECT_EQ(hers.UndoOperation({both})->items, 1) << "what the scope has of it";
  EXPECT_FALSE(*hers.Get({"n"}, "k"));
  EXPECT_EQ((*his.Get({"n"}, "k"))->value, "2");
  this->Do({PutOperation({"user", "bob", "n"}, "k", "3")});
  const std::int64_t last = his.History({{"n"}, "k"}, 1)->front().operation;
  EXPECT_EQ(CodeOf(hers.UndoOperation({last})), StatusCode::kNotFound);
}

TYPED_TEST(HistoryTest, policies_hold_for_an_undo) {
  ASSERT_TRUE(this->Keep({.ns = {}}).ok());
  this->Do({PutOperation({"user", "ada", "n"}, "k", "1")});
  this->Do({DeleteOperation({"user", "ada", "n"}, "k")});
  const std::int64_t deletion =
      this->store_->History({{"user", "ada", "n"}, "k"}, 1)->front().operation;
  const Scope reader = *Scope::Make({{{"user", "ada"}, {.read_only = true}}});
  EXPECT_EQ(CodeOf(ScopedStore(*this->store_, reader).UndoOperation({deletion})),
            StatusCode::kAccessDenied);
  const Scope full = *Scope::Make({{{"user", "ada"}, {.max_entries_per_namespace = 1}}});
  ScopedStore hers(*this->store_, full);
  ASSERT_TRUE(hers.Put({"n"}, "other", "1").ok());
  EXPECT_EQ(CodeOf(hers.UndoOperation({deletion})), StatusCode::kQuotaExceeded);
  ASSERT_TRUE(hers.Delete({"n"}, "other").ok());
  EXPECT_TRUE(hers.UndoOperation({deletion}).has_value());
  const Scope blind = *Scope::Make({{{"user", "ada"}, {.readable = {{{"m"}}}}}});
  ScopedStore unread(*this->store_, blind);
  EXPECT_EQ(CodeOf(unread.History({{"n"}, "k"}, 1)), StatusCode::kAccessDenied);
  EXPECT_EQ(CodeOf(unread.GetAsOf({.ns = {"n"}, .key = "k"}, kStart)), StatusCode::kAccessDenied);
  EXPECT_EQ(CodeOf(unread.SearchAsOf({}, kStart)), StatusCode::kAccessDenied);
}

// ---- against what the store itself answered then

const std::vector<SearchOp>& Questions() {
  static const std::vector<SearchOp> kQuestions = {
      {.limit = kAll},
      {.filter = R"({"n":{"$gte":2}})", .limit = kAll},
      {.query = "te", .limit = kAll, .mode = SearchMode::kContains},
      {.query = "green tea", .limit = kAll, .mode = SearchMode::kText},
      {.limit = kAll, .mode = SearchMode::kVector, .query_vector = {1, 0.5F}},
      {.limit = kAll, .include_superseded = true},
  };
  return kQuestions;
}

std::pair<Namespace, std::string> NameOf(const SearchItem& hit) {
  return {hit.item.ns, hit.item.key};
}

template <typename Ask>
std::vector<std::vector<SearchItem>> AnswersOf(Ask ask) {
  std::vector<std::vector<SearchItem>> answers;
  for (SearchOp question : Questions()) {
    question.refresh_ttl = false;
    const auto hits = ask(question);
    EXPECT_TRUE(hits.has_value()) << MessageOf(hits);
    answers.push_back(hits.value_or(std::vector<SearchItem>()));
    // Words are scored among all texts that are there, also what has expired and was not swept.
    if (question.mode != SearchMode::kText) continue;
    for (SearchItem& hit : answers.back()) hit.score.reset();
    std::ranges::sort(answers.back(), {}, NameOf);
  }
  return answers;
}

class RandomHistory {
 public:
  explicit RandomHistory(std::uint32_t seed) : random_(seed) {}

  std::uint32_t Below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  std::string Key() { return std::string(1, static_cast<char>('a' + Below(4))); }
  Namespace Labels() {
    static const std::vector<Namespace> kNamespaces = {{"n"}, {"n", "m"}, {"nn"}, {"\x1F"}};
    return kNamespaces[Below(4)];
  }
  PutOp Put() {
    static const std::vector<std::string> kTexts = {"green tea", "black tea", "rain", "music"};
    PutOp put{.ns = Labels(), .key = Key()};
    if (Below(5) == 0) return put;
    put.value = "{\"text\":\"" + kTexts[Below(4)] + "\",\"n\":" + std::to_string(Below(4)) + "}";
    if (Below(4) == 0) put.ttl_ms = 1 + Below(60);
    if (Below(2) == 0) put.vectors = {{"$", {1.0F + static_cast<float>(Below(3)), 0.5F}}};
    if (Below(5) == 0) put.supersedes = ItemRef{Labels(), Key()};
    if (put.supersedes == ItemRef{put.ns, put.key}) put.supersedes.reset();
    return put;
  }

 private:
  std::mt19937 random_;
};

// Each step is one operation of its own time.
void RunRandomHistory(Store& store, ManualClock& clock, std::uint32_t seed) {
  RandomHistory random(seed);
  ASSERT_TRUE(store.KeepHistory({.ns = {}, .max_versions = 1'000}).ok());
  std::map<std::int64_t, std::pair<std::vector<std::vector<SearchItem>>, std::vector<Namespace>>>
      then;
  std::vector<std::int64_t> operations;
  for (int step = 0; step < 40; ++step) {
    clock.Advance(1 + random.Below(10));
    switch (random.Below(10)) {
      case 0:
        ASSERT_TRUE(store.SweepExpired(100).has_value());
        break;
      case 1:
        ASSERT_TRUE(store.ClearNamespace(random.Labels()).has_value());
        break;
      case 2:
        if (!operations.empty()) {
          const std::int64_t operation =
              operations[random.Below(static_cast<std::uint32_t>(operations.size()))];
          const StatusCode code = CodeOf(store.UndoOperation({operation, random.Below(2) == 0}));
          ASSERT_TRUE(code == StatusCode::kOk || code == StatusCode::kChangedSince);
        }
        break;
      default: {
        std::vector<Operation> batch;
        for (std::uint32_t count = 1 + random.Below(3); count > 0; --count) {
          batch.emplace_back(random.Put());
        }
        ASSERT_TRUE(store.Batch(batch).has_value());
        const auto& put = std::get<PutOp>(batch.back());
        operations.push_back(store.History({put.ns, put.key}, 1)->front().operation);
      }
    }
    then[clock.NowMs()] = {AnswersOf([&](const SearchOp& op) { return store.Search(op); }),
                           *store.ListNamespaces({.match_conditions = {}, .max_depth = {}})};
  }
  for (const auto& [at_ms, answers] : then) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", at " + std::to_string(at_ms));
    const auto now = AnswersOf([&](const SearchOp& op) { return store.SearchAsOf(op, at_ms); });
    ASSERT_EQ(now.size(), answers.first.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
      ASSERT_EQ(now[i].size(), answers.first[i].size()) << "question " << i;
      for (std::size_t hit = 0; hit < now[i].size(); ++hit) {
        const SearchItem& was = answers.first[i][hit];
        ASSERT_EQ(now[i][hit].item, was.item) << "question " << i;
        ASSERT_NEAR(now[i][hit].score.value_or(-2), was.score.value_or(-2), 1e-6);
      }
    }
    ASSERT_EQ(*store.ListNamespacesAsOf({.match_conditions = {}, .max_depth = {}}, at_ms),
              answers.second);
    for (const SearchItem& hit : answers.first.back()) {
      const auto item = store.GetAsOf({.ns = hit.item.ns, .key = hit.item.key}, at_ms);
      ASSERT_TRUE(item.has_value()) << MessageOf(item);
      ASSERT_EQ(*item, hit.item);
    }
  }
}

TYPED_TEST(HistoryTest, as_of_is_what_the_store_answered_then) {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    this->SetUpAgain();
    RunRandomHistory(*this->store_, this->clock_, seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace keepsake
