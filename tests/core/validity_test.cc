// Facts that hold for a while, and what superseded them. The same of both stores.
#include "store/validity.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "keepsake/scope.h"
#include "store_contract.h"

namespace keepsake {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::int64_t kStart = 1'700'000'000'000;
constexpr std::int64_t kDay = 86'400'000;

IndexConfig TwoDimensions() {
  IndexConfig index;
  index.dims = 2;
  return index;
}

PutOp Fact(std::string key, std::string text) {
  return {.ns = {"n"}, .key = std::move(key), .value = R"({"text":")" + text + "\"}"};
}

PutOp During(PutOp put, std::optional<std::int64_t> from, std::optional<std::int64_t> until) {
  put.validity = Validity{from, until};
  return put;
}

PutOp Superseding(PutOp put, std::string key, Namespace ns = {"n"}) {
  put.supersedes = ItemRef{std::move(ns), std::move(key)};
  return put;
}

PutOp WithVector(PutOp put, std::vector<float> vector) {
  put.vectors.push_back({"$", std::move(vector)});
  return put;
}

SearchOp AsOf(std::int64_t time_ms) { return {.ns_prefix = {"n"}, .as_of_ms = time_ms}; }
SearchOp WithSuperseded() { return {.ns_prefix = {"n"}, .include_superseded = true}; }

template <typename Backend>
class ValidityTest : public testing::Test {
 protected:
  ValidityTest() {
    StoreOptions options;
    options.clock = &clock_;
    options.index = TwoDimensions();
    store_ = backend_.Open(options);
  }

  Status TryPut(PutOp put) {
    const Operation operation = std::move(put);
    const auto results = store_->Batch({&operation, 1});
    return results ? Status() : results.error();
  }
  void Put(PutOp put) {
    const Status status = TryPut(std::move(put));
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::vector<std::string> Keys(SearchOp search) { return KeysOf(store_->Search(search)); }
  std::vector<std::string> Now() { return Keys({.ns_prefix = {"n"}}); }

  Backend backend_;
  ManualClock clock_{kStart};
  std::unique_ptr<Store> store_;
};

using Backends = testing::Types<InMemoryBackend, SqliteBackend>;
TYPED_TEST_SUITE(ValidityTest, Backends);

TYPED_TEST(ValidityTest, an_interval_begins_at_from_and_ends_before_until) {
  this->Put(During(Fact("job", "Bern"), kStart, kStart + kDay));
  EXPECT_THAT(this->Keys(AsOf(kStart - 1)), IsEmpty());
  EXPECT_THAT(this->Keys(AsOf(kStart)), ElementsAre("job"));
  EXPECT_THAT(this->Keys(AsOf(kStart + kDay - 1)), ElementsAre("job"));
  EXPECT_THAT(this->Keys(AsOf(kStart + kDay)), IsEmpty());
  EXPECT_THAT(this->Now(), ElementsAre("job"));
  this->clock_.Advance(kDay);
  EXPECT_THAT(this->Now(), IsEmpty());
}

TYPED_TEST(ValidityTest, either_end_may_be_open) {
  this->Put(During(Fact("since", "a"), kStart, {}));
  this->Put(During(Fact("until", "b"), {}, kStart));
  this->Put(Fact("always", "c"));
  EXPECT_THAT(this->Keys(AsOf(kStart - 1)), UnorderedElementsAre("until", "always"));
  EXPECT_THAT(this->Keys(AsOf(kStart)), UnorderedElementsAre("since", "always"));
  EXPECT_THAT(this->Keys(WithSuperseded()), UnorderedElementsAre("since", "until", "always"));
}

TYPED_TEST(ValidityTest, a_get_finds_what_is_not_valid_and_says_when_it_was) {
  this->Put(During(Fact("job", "Bern"), kStart - kDay, kStart));
  const auto item = this->store_->Get({"n"}, "job");
  ASSERT_TRUE(item && *item);
  EXPECT_EQ((*item)->validity, (Validity{kStart - kDay, kStart}));
  this->Put(Fact("plain", "tea"));
  EXPECT_EQ((*this->store_->Get({"n"}, "plain"))->validity, std::nullopt);
}

TYPED_TEST(ValidityTest, a_successor_ends_the_older_fact_now) {
  this->Put(Fact("home", "lives in Bern"));
  this->clock_.Advance(kDay);
  this->Put(Superseding(Fact("home-2", "lives in Basel"), "home"));
  EXPECT_THAT(this->Now(), ElementsAre("home-2"));
  EXPECT_THAT(this->Keys(AsOf(kStart)), ElementsAre("home"));
  const auto hits = this->store_->Search(WithSuperseded());
  ASSERT_THAT(KeysOf(hits), ElementsAre("home-2", "home"));
  EXPECT_EQ((*hits)[0].item.validity, (Validity{kStart + kDay, {}}));
  EXPECT_EQ((*hits)[1].item.validity, (Validity{{}, kStart + kDay}));
  EXPECT_EQ((*hits)[1].item.updated_at_ms, kStart);
}

TYPED_TEST(ValidityTest, a_successor_ends_the_older_fact_where_it_begins) {
  this->Put(During(Fact("a", "x"), kStart - kDay, kStart + 9 * kDay));
  this->Put(During(Superseding(Fact("b", "y"), "a"), kStart + kDay, {}));
  EXPECT_THAT(this->Now(), ElementsAre("a"));
  EXPECT_THAT(this->Keys(AsOf(kStart + kDay)), ElementsAre("b"));
}

TYPED_TEST(ValidityTest, a_successor_makes_no_interval_longer) {
  this->Put(During(Fact("a", "x"), kStart - kDay, kStart));
  this->Put(During(Superseding(Fact("b", "y"), "a"), kStart + kDay, {}));
  EXPECT_THAT(this->Keys(AsOf(kStart)), IsEmpty());
}

TYPED_TEST(ValidityTest, what_is_corrected_from_its_beginning_was_never_valid) {
  this->Put(During(Fact("a", "x"), kStart, {}));
  this->Put(During(Superseding(Fact("b", "y"), "a"), kStart - kDay, {}));
  for (const std::int64_t days : {-2, -1, 0, 1}) {
    EXPECT_THAT(this->Keys(AsOf(kStart + days * kDay)), testing::Not(testing::Contains("a")));
  }
}

TYPED_TEST(ValidityTest, a_fact_that_is_put_again_has_the_validity_of_that_put) {
  this->Put(Fact("a", "x"));
  this->Put(Superseding(Fact("b", "y"), "a"));
  this->Put(Fact("a", "x again"));
  EXPECT_THAT(this->Now(), UnorderedElementsAre("a", "b"));
  EXPECT_EQ((*this->store_->Get({"n"}, "a"))->validity, std::nullopt);
}

TYPED_TEST(ValidityTest, the_superseded_fact_may_be_elsewhere_or_missing_or_expired) {
  PutOp other = Fact("a", "x");
  other.ns = {"n", "deep"};
  this->Put(other);
  this->Put(Superseding(Fact("b", "y"), "a", {"n", "deep"}));
  this->Put(Superseding(Fact("c", "z"), "missing"));
  EXPECT_THAT(this->Now(), UnorderedElementsAre("b", "c"));
  PutOp brief = Fact("d", "x");
  brief.ttl_ms = 1000;
  this->Put(brief);
  this->clock_.Advance(1000);
  this->Put(Superseding(Fact("e", "y"), "d"));
  EXPECT_EQ(*this->store_->Get({"n"}, "d"), std::nullopt);
}

TYPED_TEST(ValidityTest, the_puts_of_a_batch_come_one_after_the_other) {
  const Operation forth[] = {Fact("a", "x"), Superseding(Fact("b", "y"), "a")};
  ASSERT_TRUE(this->store_->Batch(forth));
  EXPECT_THAT(this->Now(), ElementsAre("b"));
  // Of the same moment, the key decides: "a" would be first.
  EXPECT_THAT(this->Keys(WithSuperseded()), ElementsAre("b", "a"));
  const Operation back[] = {Superseding(Fact("b", "y"), "a"), Fact("a", "x")};
  ASSERT_TRUE(this->store_->Batch(back));
  EXPECT_THAT(this->Now(), UnorderedElementsAre("a", "b"));
}

TYPED_TEST(ValidityTest, no_page_shows_a_fact_before_its_successor) {
  this->Put(WithVector(Fact("old", "tea tea tea"), {1, 0}));
  this->Put(WithVector(Superseding(Fact("new", "tea or rather coffee, who knows"), "old"), {1, 1}));
  this->Put(WithVector(Fact("other", "tea, always"), {2, 1}));
  for (const SearchMode mode :
       {SearchMode::kVector, SearchMode::kText, SearchMode::kHybrid, SearchMode::kContains}) {
    SCOPED_TRACE(static_cast<int>(mode));
    SearchOp search = WithSuperseded();
    search.query = "tea";
    search.mode = mode;
    if (mode != SearchMode::kText && mode != SearchMode::kContains) search.query_vector = {1, 0};
    const auto all = this->store_->Search(search);
    const std::vector<std::string> keys = KeysOf(all);
    ASSERT_EQ(keys.size(), 3U);
    const auto place = [&](const char* key) { return std::ranges::find(keys, key); };
    EXPECT_LT(place("new"), place("old"));
    if (const auto score = (*all)[static_cast<std::size_t>(place("old") - keys.begin())].score) {
      EXPECT_LE(*score, (*all)[static_cast<std::size_t>(place("new") - keys.begin())].score);
    }
    search.limit = 1;
    for (search.offset = 0; search.offset < 3; ++search.offset) {
      EXPECT_THAT(this->Keys(search), ElementsAre(keys[search.offset]));
    }
    search.include_superseded = false;
    search.offset = 0;
    search.limit = 10;
    EXPECT_THAT(this->Keys(search), UnorderedElementsAre("new", "other"));
  }
}

TYPED_TEST(ValidityTest, a_fact_whose_successor_is_no_hit_keeps_its_place) {
  this->Put(Fact("old", "tea"));
  this->Put(Superseding(Fact("new", "coffee"), "old"));
  this->Put(Fact("other", "iced tea and more"));
  SearchOp search = WithSuperseded();
  search.query = "tea";
  search.mode = SearchMode::kText;
  EXPECT_THAT(this->Keys(search), ElementsAre("old", "other"));
  ASSERT_TRUE(this->store_->Delete({"n"}, "new").ok());
  EXPECT_THAT(this->Keys(search), ElementsAre("old", "other"));
  EXPECT_THAT(this->Now(), ElementsAre("other"));
}

TYPED_TEST(ValidityTest, a_chain_is_shown_from_its_end) {
  this->Put(Fact("c", "tea tea tea"));
  this->Put(Superseding(Fact("b", "tea tea"), "c"));
  this->Put(Superseding(Fact("a", "tea and so on and on"), "b"));
  SearchOp search = WithSuperseded();
  search.query = "tea";
  search.mode = SearchMode::kText;
  EXPECT_THAT(this->Keys(search), ElementsAre("a", "b", "c"));
}

TYPED_TEST(ValidityTest, near_and_filters_leave_out_what_is_not_valid) {
  this->Put(WithVector(Fact("east", "x"), {1, 0}));
  this->Put(WithVector(During(Fact("past", "x"), {}, kStart), {1, 0}));
  this->Put(WithVector(During(Fact("future", "x"), kStart + 1, {}), {1, 0}));
  this->Put(WithVector(Fact("north", "x"), {0, 1}));
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}, .near = ItemRef{{"n"}, "east"}}),
              ElementsAre("north"));
  // What is named need not be valid.
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}, .near = ItemRef{{"n"}, "past"}}),
              ElementsAre("east", "north"));
  EXPECT_THAT(this->Keys({.ns_prefix = {"n"}, .filter = R"({"text":"x"})"}),
              UnorderedElementsAre("east", "north"));
}

TYPED_TEST(ValidityTest, an_index_finds_enough_where_most_are_superseded) {
  std::mt19937 random(7);
  const auto number = [&] { return static_cast<float>(random() % 1000) - 500; };
  for (int i = 0; i < 1500; ++i) {
    PutOp put = WithVector(Fact(std::to_string(i), "tea"), {number(), number()});
    if (i % 10 != 0) put.supersedes = ItemRef{{"n"}, std::to_string(i - 1)};
    this->Put(std::move(put));
  }
  ASSERT_TRUE(this->store_->ImproveIndex({.vectors = 1500, .is_wanted = true}));
  SearchOp search{.ns_prefix = {"n"}, .limit = 20, .query_vector = {1, 2}};
  search.plan = SearchPlan::kExact;
  const std::vector<std::string> wanted = this->Keys(search);
  ASSERT_EQ(wanted.size(), 20U);
  for (const SearchPlan plan : {SearchPlan::kAuto, SearchPlan::kCodes, SearchPlan::kGraph}) {
    search.plan = plan;
    EXPECT_EQ(this->Keys(search), wanted) << static_cast<int>(plan);
  }
  search.limit = 1000;
  EXPECT_EQ(this->Keys(search).size(), 150U);
  search.include_superseded = true;
  search.limit = 3;
  const std::vector<std::string> first = this->Keys(search);
  search.limit = 2000;
  const std::vector<std::string> all = this->Keys(search);
  ASSERT_EQ(all.size(), 1500U);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin()));
}

TYPED_TEST(ValidityTest, an_absence_is_explained_by_validity) {
  this->Put(During(Fact("past", "tea"), {}, kStart));
  SearchOp search{.ns_prefix = {"n"}, .query = "tea", .mode = SearchMode::kText};
  const ItemRef past{{"n"}, "past"};
  EXPECT_EQ(this->store_->ExplainAbsence(search, past)->absence, Absence::kNotValid);
  search.as_of_ms = kStart - 1;
  EXPECT_EQ(this->store_->ExplainAbsence(search, past)->absence, Absence::kNone);
  search.query = "coffee";
  EXPECT_EQ(this->store_->ExplainAbsence(search, past)->absence, Absence::kNoMatch);
}

TYPED_TEST(ValidityTest, only_hits_of_the_page_have_their_time_to_live_restarted) {
  const auto brief = [](PutOp put) {
    put.ttl_ms = 1000;
    return put;
  };
  this->Put(brief(Fact("old", "tea")));
  this->Put(brief(Superseding(Fact("new", "tea"), "old")));
  this->clock_.Advance(600);
  SearchOp search = WithSuperseded();
  search.limit = 1;
  EXPECT_THAT(this->Keys(search), ElementsAre("new"));
  this->clock_.Advance(600);
  EXPECT_NE(*this->store_->Get({"n"}, "new"), std::nullopt);
  EXPECT_EQ(*this->store_->Get({"n"}, "old"), std::nullopt);
}

TYPED_TEST(ValidityTest, what_makes_no_sense_is_refused_and_changes_nothing) {
  this->Put(Fact("a", "x"));
  const auto refused = [&](const PutOp& put) {
    const Status status = this->TryPut(put);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  };
  EXPECT_THAT(refused(During(Fact("a", "y"), kStart, kStart)), HasSubstr("end after it begins"));
  EXPECT_THAT(refused(During(Superseding(Fact("b", "y"), "a"), {}, kStart)),
              HasSubstr("end after it begins"));
  EXPECT_THAT(refused(Superseding(Fact("a", "y"), "a")), HasSubstr("key of its own"));
  EXPECT_THAT(refused(During(Fact("a", "y"), Validity::kMostMs + 1, {})), HasSubstr("1970"));
  EXPECT_THAT(refused(Superseding(PutOp{.ns = {"n"}, .key = "b"}, "a")), HasSubstr("deletion"));
  const auto found = this->store_->Search(WithSuperseded());
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().item.value, R"({"text":"x"})");
  EXPECT_EQ(found->front().item.validity, std::nullopt);

  SearchOp both = WithSuperseded();
  both.as_of_ms = kStart;
  EXPECT_EQ(CodeOf(this->store_->Search(both)), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(this->store_->Search(AsOf(-Validity::kMostMs - 1))),
            StatusCode::kInvalidArgument);
}

TYPED_TEST(ValidityTest, what_is_forgotten_is_nobodys_successor_any_more) {
  this->Put(Fact("a", "tea"));
  this->Put(Superseding(Fact("b", "forgotten tea"), "a"));
  const Namespace everything[] = {{}};
  ASSERT_TRUE(this->store_->Erase(everything, R"({"text":"forgotten tea"})", {}, false));
  EXPECT_THAT(this->Keys(WithSuperseded()), ElementsAre("a"));
  EXPECT_THAT(this->Now(), IsEmpty());
  // Of the name alone nothing is known.
  this->clock_.Advance(-kDay);
  this->Put(Fact("b", "tea"));
  EXPECT_THAT(this->Keys(WithSuperseded()), ElementsAre("a", "b"));
}

TYPED_TEST(ValidityTest, a_scope_supersedes_only_what_it_may_write) {
  Policy policy;
  policy.writable = std::vector<Namespace>{{"mine"}};
  std::vector<ScopeLevel> levels(1);
  levels[0] = {{"user", "ada"}, policy};
  const Result<Scope> scope = Scope::Make(levels);
  ASSERT_TRUE(scope);
  ScopedStore scoped(*this->store_, *scope);
  PutOp theirs = Fact("a", "x");
  theirs.ns = {"user", "ada", "theirs"};
  this->Put(theirs);
  PutOp mine = Superseding(Fact("b", "y"), "a", {"theirs"});
  mine.ns = {"mine"};
  const Operation refused = mine;
  EXPECT_EQ(CodeOf(scoped.Batch({&refused, 1})), StatusCode::kAccessDenied);
  mine.supersedes = ItemRef{{"mine"}, "c"};
  PutOp older = Fact("c", "z");
  older.ns = {"mine"};
  const Operation allowed[] = {older, mine};
  ASSERT_TRUE(scoped.Batch(allowed));
  EXPECT_THAT(KeysOf(scoped.Search({.ns_prefix = {"mine"}})), ElementsAre("b"));
}

// ---- random histories against a model

struct Known {
  std::string value;
  Validity validity;
  std::optional<ItemRef> successor;
  std::vector<float> vector;
};

using Place = std::pair<Namespace, std::string>;

class Model {
 public:
  void Put(const PutOp& put, std::int64_t now_ms) {
    const Place place{put.ns, put.key};
    if (!put.value) {
      items_.erase(place);
      return;
    }
    Known known{*put.value, put.validity.value_or(Validity()), std::nullopt, {}};
    if (!put.vectors.empty()) known.vector = put.vectors.front().values;
    if (put.supersedes && !known.validity.from_ms) known.validity.from_ms = now_ms;
    const std::int64_t from = known.validity.from_ms.value_or(0);
    items_[place] = std::move(known);
    if (!put.supersedes) return;
    const auto older = items_.find({put.supersedes->ns, put.supersedes->key});
    if (older == items_.end()) return;
    auto& until = older->second.validity.until_ms;
    if (!until || *until > from) until = from;
    older->second.successor = ItemRef{put.ns, put.key};
  }

  // What a search is to find; nullopt for what is valid at any time or never.
  template <typename Matches>
  std::set<Place> Find(std::optional<std::int64_t> at_ms, Matches matches) const {
    std::set<Place> found;
    for (const auto& [place, known] : items_) {
      const auto [from, until] = known.validity;
      const bool holds = !at_ms || ((!from || *from <= *at_ms) && (!until || *at_ms < *until));
      if (holds && matches(place, known)) found.insert(place);
    }
    return found;
  }

  const Known& At(const Place& place) const { return items_.at(place); }

 private:
  std::map<Place, Known> items_;
};

class RandomFacts {
 public:
  explicit RandomFacts(std::uint32_t seed) : random_(seed) {}

  std::uint32_t Below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  Namespace Ns() { return Below(3) == 0 ? Namespace{"n", "deep"} : Namespace{"n"}; }
  std::string Key() { return std::string(1, static_cast<char>('a' + Below(12))); }
  std::int64_t Time() { return kStart + Below(200); }

  PutOp Put(std::int64_t now_ms) {
    PutOp put{.ns = Ns(), .key = Key()};
    if (Below(8) == 0) return put;
    put.value = R"({"n":)" + std::to_string(Below(3)) + R"(,"text":")" + Words() + "\"}";
    if (Below(4) != 0) {
      put.vectors.push_back(
          {"$", {1.0F + static_cast<float>(Below(4)), static_cast<float>(Below(5)) - 2.0F}});
    }
    if (Below(3) == 0) {
      const std::int64_t from = Time();
      put.validity = Validity{from, from + 1 + Below(80)};
      if (Below(3) == 0) put.validity->from_ms.reset();
      if (Below(3) == 0) put.validity->until_ms.reset();
    }
    const ItemRef older{Ns(), Key()};
    const bool is_open = !put.validity || !put.validity->until_ms || put.validity->from_ms ||
                         *put.validity->until_ms > now_ms;
    if (Below(2) == 0 && is_open && older != ItemRef{put.ns, put.key}) put.supersedes = older;
    return put;
  }

 private:
  std::string Words() {
    std::string words = Below(2) == 0 ? "tea" : "coffee";
    for (std::uint32_t i = Below(4); i > 0; --i) words += Below(2) == 0 ? " tea" : " with milk";
    return words;
  }

  std::mt19937 random_;
};

bool HasTea(const Place&, const Known& known) {
  return known.value.find("tea") != std::string::npos;
}
bool IsOne(const Place&, const Known& known) { return known.value.starts_with(R"({"n":1,)"); }
bool IsAny(const Place&, const Known&) { return true; }

struct Path {
  SearchOp search;
  bool (*matches)(const Place&, const Known&);
};

std::vector<Path> Paths() {
  const SearchOp all{.ns_prefix = {"n"}, .limit = 1000};
  std::vector<Path> paths(7, {all, IsAny});
  paths[1].search.filter = R"({"n":1})";
  paths[1].matches = IsOne;
  for (const std::size_t i : {2U, 3U}) {
    paths[i].search.query = "tea";
    paths[i].search.mode = i == 2 ? SearchMode::kText : SearchMode::kContains;
    paths[i].matches = HasTea;
  }
  for (const std::size_t i : {4U, 5U}) {
    paths[i].search.query_vector = {1, 0};
    paths[i].search.plan = i == 4 ? SearchPlan::kCodes : SearchPlan::kExact;
  }
  paths[6].search.query_vector = {1, 0};
  paths[6].search.filter = R"({"n":1})";
  paths[6].search.plan = SearchPlan::kCodes;
  paths[6].matches = IsOne;
  return paths;
}

std::set<Place> PlacesOf(const std::vector<SearchItem>& hits) {
  std::set<Place> places;
  for (const SearchItem& hit : hits) places.insert({hit.item.ns, hit.item.key});
  return places;
}

// Each after its successor, and with no higher score.
void ExpectInOrder(const std::vector<SearchItem>& hits, const Model& model) {
  std::map<Place, std::size_t> ranks;
  for (std::size_t i = 0; i < hits.size(); ++i) ranks[{hits[i].item.ns, hits[i].item.key}] = i;
  for (const auto& [place, rank] : ranks) {
    const auto& successor = model.At(place).successor;
    const auto found = successor ? ranks.find({successor->ns, successor->key}) : ranks.end();
    if (found == ranks.end()) continue;
    ASSERT_LT(found->second, rank);
    if (hits[rank].score) {
      ASSERT_LE(*hits[rank].score, hits[found->second].score);
    }
  }
}

TYPED_TEST(ValidityTest, random_histories_are_found_as_a_model_says) {
  std::size_t left_out = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    RandomFacts random(seed);
    Model model;
    StoreOptions options;
    options.clock = &this->clock_;
    options.index = TwoDimensions();
    this->store_ = this->backend_.Open(options);
    this->clock_ = ManualClock(kStart);
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " step " << step);
      const std::int64_t now_ms = this->clock_.NowMs();
      const PutOp put = random.Put(now_ms);
      model.Put(put, now_ms);
      this->Put(put);
      this->clock_.Advance(random.Below(5));
      const auto item = this->store_->Get(put.ns, put.key);
      ASSERT_EQ(item->has_value(), put.value.has_value());
      const std::int64_t at_ms = random.Time();
      for (auto [search, matches] : Paths()) {
        const auto found = [&] {
          auto hits = this->store_->Search(search);
          EXPECT_TRUE(hits) << MessageOf(hits);
          return hits.value_or(std::vector<SearchItem>());
        };
        ASSERT_EQ(PlacesOf(found()), model.Find(this->clock_.NowMs(), matches));
        search.as_of_ms = at_ms;
        ASSERT_EQ(PlacesOf(found()), model.Find(at_ms, matches));
        search.as_of_ms.reset();
        search.include_superseded = true;
        const std::vector<SearchItem> all = found();
        ASSERT_EQ(PlacesOf(all), model.Find(std::nullopt, matches));
        left_out += all.size() - model.Find(this->clock_.NowMs(), matches).size();
        ASSERT_NO_FATAL_FAILURE(ExpectInOrder(all, model));
        search.limit = 1 + random.Below(4);
        search.offset = random.Below(6);
        std::vector<std::string> page;
        for (std::size_t i = search.offset;
             i < std::min<std::size_t>(all.size(), search.offset + search.limit); ++i) {
          page.push_back(all[i].item.key);
        }
        ASSERT_EQ(KeysOf(this->store_->Search(search)), page);
      }
    }
  }
  EXPECT_GT(left_out, 1000U);  // or validity was put to no test
}

TEST(ValidityOrderTest, those_that_wait_for_each_other_come_in_the_end) {
  const FactMarks hits[] = {{1, 2}, {2, 1}, {3, 0}, {4, 9}, {5, 5}};
  const std::vector<std::size_t> successors = SuccessorsOf(hits);
  EXPECT_THAT(successors, ElementsAre(1, 0, kNoHit, kNoHit, kNoHit));
  EXPECT_TRUE(LacksSuccessor(hits, successors));
  EXPECT_THAT(BehindSuccessors(successors), UnorderedElementsAre(0, 1, 2, 3, 4));
}

}  // namespace
}  // namespace keepsake
