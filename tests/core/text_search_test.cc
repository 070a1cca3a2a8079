// Searches by text and by text and vector, the same of both stores.
#include <algorithm>
#include <random>

#include "store_contract.h"

namespace keepsake {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

IndexConfig IndexOf(std::uint32_t dims) {
  IndexConfig index;
  index.dims = dims;
  return index;
}

template <typename Backend>
class TextSearchTest : public testing::Test {
 protected:
  void Open(TextConfig text = {}, std::optional<IndexConfig> index = std::nullopt) {
    StoreOptions options;
    options.clock = &clock_;
    options.text = std::move(text);
    options.index = std::move(index);
    store_ = backend_.Open(options);
  }

  void Put(const std::string& key, const std::string& value, Namespace ns = {"n"}) {
    ASSERT_TRUE(store_->Put(std::move(ns), key, value).ok());
  }
  void PutText(const std::string& key, const std::string& text, Namespace ns = {"n"}) {
    Put(key, R"({"text":")" + text + "\"}", std::move(ns));
  }

  Result<std::vector<SearchItem>> Find(const std::string& query, Ranking ranking = {},
                                       SearchMode mode = SearchMode::kText) {
    return store_->Search(
        {.ns_prefix = {"n"}, .query = query, .mode = mode, .ranking = std::move(ranking)});
  }
  std::vector<std::string> Keys(const std::string& query, Ranking ranking = {}) {
    return KeysOf(Find(query, std::move(ranking)));
  }

  Backend backend_;
  ManualClock clock_{1'700'000'000'000};
  std::unique_ptr<Store> store_;
};

using Backends = testing::Types<InMemoryBackend, SqliteBackend>;
TYPED_TEST_SUITE(TextSearchTest, Backends);

TYPED_TEST(TextSearchTest, finds_items_by_any_form_of_a_word) {
  this->Open();
  this->PutText("walk", "we walked to the caf\u00E9");
  this->PutText("tea", "green tea");
  EXPECT_THAT(this->Keys("walking"), ElementsAre("walk"));
  EXPECT_THAT(this->Keys("CAFE"), ElementsAre("walk"));
  const auto hits = this->Find("where did they walk?");
  ASSERT_THAT(*hits, SizeIs(1));
  EXPECT_GT((*hits)[0].score, 0);
  EXPECT_LT((*hits)[0].score, 1);
}

TYPED_TEST(TextSearchTest, what_matches_nothing_finds_nothing) {
  this->Open();
  this->PutText("tea", "green tea");
  EXPECT_THAT(this->Keys("bicycle"), IsEmpty());
  EXPECT_THAT(this->Keys("?!"), IsEmpty());
}

TYPED_TEST(TextSearchTest, rare_words_and_short_items_count_more) {
  this->Open();
  this->PutText("common", "tea and cake");
  this->PutText("rare", "tea and samovar");
  for (const char* other : {"milk", "honey", "lemon"}) {
    this->PutText(other, std::string("tea and ") + other);
  }
  this->PutText("long", "samovar with coal, water, steam, brass, handles, taps and a chimney");
  this->PutText("short", "samovar with coal");
  const std::vector<std::string> keys = this->Keys("tea samovar");
  ASSERT_THAT(keys, SizeIs(7));
  EXPECT_EQ(keys[0], "rare");
  EXPECT_EQ(keys[1], "short");
  EXPECT_LT(std::ranges::find(keys, "short"), std::ranges::find(keys, "long"));
}

TYPED_TEST(TextSearchTest, obeys_prefix_filter_limit_and_offset) {
  this->Open();
  this->Put("a", R"({"text":"tea","kind":"x"})");
  this->Put("b", R"({"text":"tea","kind":"y"})");
  this->Put("c", R"({"text":"tea","kind":"z"})", {"n", "below"});
  this->Put("other", R"({"text":"tea","kind":"z"})", {"nn"});
  EXPECT_THAT(this->Keys("tea"), ElementsAre("a", "b", "c"));
  const auto filtered = this->store_->Search(
      {.ns_prefix = {"n"}, .filter = R"({"kind":"y"})", .query = "tea", .mode = SearchMode::kText});
  EXPECT_THAT(KeysOf(filtered), ElementsAre("b"));
  const auto page = this->store_->Search(
      {.ns_prefix = {}, .query = "tea", .limit = 2, .offset = 1, .mode = SearchMode::kText});
  EXPECT_THAT(KeysOf(page), ElementsAre("b", "c"));
}

TYPED_TEST(TextSearchTest, scores_do_not_depend_on_other_namespaces) {
  this->Open();
  this->PutText("a", "green tea");
  this->PutText("b", "black coffee");
  const auto before = this->Find("tea");
  for (int i = 0; i < 20; ++i) this->PutText(std::to_string(i), "tea", {"other"});
  EXPECT_EQ(*this->Find("tea"), *before);
}

TYPED_TEST(TextSearchTest, updates_deletes_and_expiry_leave_no_ghosts) {
  this->Open();
  this->PutText("a", "tea");
  this->PutText("b", "tea");
  EXPECT_THAT(this->Keys("tea"), SizeIs(2));
  this->PutText("a", "coffee");
  ASSERT_TRUE(this->store_->Delete({"n"}, "b").ok());
  EXPECT_THAT(this->Keys("tea"), IsEmpty());
  EXPECT_THAT(this->Keys("coffee"), ElementsAre("a"));
  const Operation mortal =
      PutOp{.ns = {"n"}, .key = "m", .value = R"({"text":"tea"})", .ttl_ms = 10};
  ASSERT_TRUE(this->store_->Batch({&mortal, 1}).has_value());
  EXPECT_THAT(this->Keys("tea"), ElementsAre("m"));
  this->clock_.Advance(100);
  EXPECT_THAT(this->Keys("tea"), IsEmpty());
  EXPECT_EQ(this->store_->SweepExpired(10).value(), 1U);
  this->PutText("m", "coffee");
  EXPECT_THAT(this->Keys("coffee"), UnorderedElementsAre("a", "m"));
  ASSERT_TRUE(this->store_->ClearNamespace({"n"}).has_value());
  EXPECT_THAT(this->Keys("coffee"), IsEmpty());
}

TYPED_TEST(TextSearchTest, phrases_prefixes_and_typos) {
  this->Open();
  this->PutText("green", "a cup of green tea");
  this->PutText("swapped", "tea from a green cup");
  EXPECT_THAT(this->Keys("\"green tea\""), ElementsAre("green"));
  EXPECT_THAT(this->Keys("gre*"), UnorderedElementsAre("green", "swapped"));
  EXPECT_THAT(this->Keys("graen"), UnorderedElementsAre("green", "swapped"));
  EXPECT_THAT(this->Keys("tae"), IsEmpty()) << "too short to be a slip";
}

TYPED_TEST(TextSearchTest, a_beginning_that_is_a_common_word_itself_is_as_sure_as_another) {
  this->Open();
  this->PutText("lena", "Lena goes to kindergarten");
  this->PutText("max", "Max likes thinking");
  const auto score = [&](const std::string& query) { return *this->Find(query)->at(0).score; };
  EXPECT_EQ(score("kind*"), score("kinderg*"));
  EXPECT_GT(score("think*"), 0.3);
}

TYPED_TEST(TextSearchTest, chinese_by_pair_and_by_character) {
  this->Open();
  this->PutText("tea", "\u6211\u559C\u6B22\u559D\u8336");
  this->PutText("beer", "\u4ED6\u559D\u5564\u9152");
  EXPECT_THAT(this->Keys("\u559D\u8336"), ElementsAre("tea", "beer"));
  EXPECT_THAT(this->Keys("\u8336"), ElementsAre("tea"));
  EXPECT_THAT(this->Keys("\u5564\u9152"), ElementsAre("beer"));
}

TYPED_TEST(TextSearchTest, fields_have_weights_and_others_are_not_read) {
  this->Open({.fields = {{"title", 3}, {"text", 1}}});
  this->Put("title", R"({"title":"tea","text":"cake"})");
  this->Put("text", R"({"title":"cake","text":"tea"})");
  this->Put("note", R"({"note":"tea"})");
  EXPECT_THAT(this->Keys("tea"), ElementsAre("title", "text"));
}

TYPED_TEST(TextSearchTest, neighbours_and_speakers_raise_a_hit) {
  this->Open({.fields = {{"text", 1}}, .group = "session", .position = "turn", .speaker = "who"});
  const auto turn = [&](int session, int number, const std::string& who, const std::string& text) {
    this->Put(std::to_string(session) + "." + std::to_string(number),
              R"({"session":)" + std::to_string(session) + R"(,"turn":)" + std::to_string(number) +
                  R"(,"who":")" + who + R"(","text":")" + text + "\"}");
  };
  turn(1, 1, "Ann", "Where did you buy the samovar?");
  turn(1, 2, "Bob", "At a shop downtown");
  turn(1, 3, "Ann", "Lovely");
  turn(2, 1, "Ann", "A samovar is heavy");
  turn(2, 2, "Bob", "Indeed");
  const std::vector<std::string> keys = this->Keys("samovar");
  ASSERT_GE(keys.size(), 3U);
  EXPECT_LT(std::ranges::find(keys, "1.2"), std::ranges::find(keys, "2.2"))
      << "the answer to a question that holds the word";
  EXPECT_EQ(this->Keys("What did Ann say of the samovar?")[0].substr(2), "1");
  EXPECT_EQ(this->Keys("Bob samovar")[0], "1.2");
}

TYPED_TEST(TextSearchTest, the_day_that_is_asked_for_and_those_after_it_count) {
  this->Open();
  this->PutText("then", "rome 8 May 2023");
  this->PutText("after", "rome 10 May 2023");
  this->PutText("before", "rome 1 May 2023");
  EXPECT_THAT(this->Keys("Rome on May 8th, 2023"), ElementsAre("then", "after", "before"));
}

TYPED_TEST(TextSearchTest, a_threshold_leaves_weak_hits_out) {
  this->Open();
  this->PutText("both", "green tea");
  this->PutText("one", "green field with cows");
  const auto all = this->Find("green tea");
  ASSERT_THAT(*all, SizeIs(2));
  EXPECT_THAT(this->Keys("green tea", {.min_score = *(*all)[0].score}), ElementsAre("both"));
  EXPECT_THAT(this->Keys("green tea", {.min_score = 0.99}), IsEmpty());
}

TYPED_TEST(TextSearchTest, recency_and_boosts_weigh_when_reading) {
  this->Open();
  this->Put("old", R"({"text":"tea","importance":1})");
  this->clock_.Advance(1000);
  this->Put("new", R"({"text":"tea","importance":0.1})");
  EXPECT_THAT(this->Keys("tea", {.recency = 0.5, .half_life_ms = 500}), ElementsAre("new", "old"));
  EXPECT_THAT(this->Keys("tea", {.boosts = {{"importance", 1}}}), ElementsAre("old", "new"));
  EXPECT_THAT(this->Keys("tea", {.boosts = {{"importance", -1}}}), ElementsAre("new", "old"));
}

TYPED_TEST(TextSearchTest, diversity_puts_near_duplicates_last) {
  this->Open();
  this->PutText("a", "green tea with lemon");
  this->PutText("b", "green tea with lemon");
  this->PutText("c", "tea from a samovar in winter");
  EXPECT_THAT(this->Keys("green tea"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(this->Keys("green tea", {.diversity = 0.9}), ElementsAre("a", "c", "b"));
}

TYPED_TEST(TextSearchTest, explains_a_score_if_asked_to) {
  this->Open();
  this->PutText("a", "tea");
  EXPECT_THAT((*this->Find("tea"))[0].parts, IsEmpty());
  const auto explained = this->Find("tea", {.recency = 0.5, .explain = true});
  std::vector<std::string> names;
  for (const ScorePart& part : (*explained)[0].parts) names.push_back(part.name);
  EXPECT_THAT(names, ElementsAre("words", "context", "cues", "recency"));
  EXPECT_GT((*explained)[0].parts[0].value, 0);
}

TYPED_TEST(TextSearchTest, snippets_show_what_was_found) {
  this->Open();
  this->PutText("a", "one two three four five six seven eight nine ten green teas eleven twelve");
  const auto hits = this->Find("green tea", {.snippet_length = 24});
  ASSERT_THAT(*hits, SizeIs(1));
  const Snippet& snippet = (*hits)[0].snippet.value();
  EXPECT_LT(snippet.text.size(), 32U);
  std::vector<std::string> marked;
  for (const auto& [begin, end] : snippet.highlights) {
    marked.push_back(snippet.text.substr(begin, end - begin));
  }
  EXPECT_THAT(marked, ElementsAre("green", "teas"));
  EXPECT_EQ((*this->Find("green tea"))[0].snippet, std::nullopt);
}

TYPED_TEST(TextSearchTest, a_snippet_is_of_the_passage_that_a_long_text_is_found_by) {
  this->Open();
  std::string filler;
  for (int i = 0; i < 90; ++i) filler += "word" + std::to_string(i) + " ";
  // Frequent words stand close to each other here, and the rare one with them there.
  for (int i = 0; i < 20; ++i) this->PutText("o" + std::to_string(i), "green tea");
  this->PutText("a", "Green tea is here, tea of all kinds. " + filler +
                         "Oolong is for guests, and a tea that is not green for her. " + filler);
  const auto hits = this->Find("green oolong tea", {.snippet_length = 40});
  ASSERT_EQ((*hits)[0].item.key, "a");
  EXPECT_THAT((*hits)[0].snippet->text, HasSubstr("Oolong is for guests"));
  const auto misspelled = this->Find("oolonge", {.snippet_length = 40});
  ASSERT_THAT(*misspelled, SizeIs(1));
  EXPECT_THAT((*misspelled)[0].snippet->text, HasSubstr("Oolong is for guests"));
  EXPECT_THAT((*misspelled)[0].snippet->highlights, SizeIs(1));
}

TYPED_TEST(TextSearchTest, a_snippet_begins_with_a_word_or_with_its_text) {
  this->Open();
  this->PutText("a", "Not on the tenth of this month, please, that is where the green tea is");
  this->PutText(
      "b",
      "\u201cGreen tea\u201d, she said, \u201cand nothing else for me, today or tomorrow\u201d");
  const auto hits = this->Find("green tea", {.snippet_length = 36});
  ASSERT_THAT(*hits, SizeIs(2));
  std::vector<std::string> texts;
  for (const SearchItem& item : *hits) texts.push_back(item.snippet->text);
  EXPECT_THAT(texts, UnorderedElementsAre(StartsWith("the green tea is"),
                                          StartsWith("\u201cGreen tea\u201d, she said")));
}

TYPED_TEST(TextSearchTest, a_snippet_of_an_endless_word_ends) {
  this->Open();
  std::string word = "green";
  for (int i = 0; i < 10'000; ++i) word += "\u00E4";
  this->PutText("a", word);
  const auto hits = this->Find("green*", {.snippet_length = 36});
  ASSERT_THAT(*hits, SizeIs(1));
  EXPECT_EQ((*hits)[0].snippet->text.substr(0, 5), "green");
  EXPECT_THAT((*hits)[0].snippet->text, SizeIs(35)) << "36 would be within a character";
}

TYPED_TEST(TextSearchTest, wrong_rankings_are_refused) {
  this->Open();
  for (const Ranking& ranking :
       {Ranking{.vector_weight = 2}, Ranking{.recency = -1}, Ranking{.half_life_ms = 0},
        Ranking{.boosts = {{"a", 2}}}, Ranking{.diversity = 1.5},
        Ranking{.min_score = std::numeric_limits<double>::quiet_NaN()}}) {
    EXPECT_EQ(CodeOf(this->Find("tea", ranking)), StatusCode::kInvalidArgument);
  }
}

TYPED_TEST(TextSearchTest, hybrid_is_by_text_in_a_store_without_an_index) {
  this->Open();
  this->PutText("a", "tea");
  this->PutText("b", "coffee");
  EXPECT_EQ(*this->Find("tea", {}, SearchMode::kHybrid), *this->Find("tea"));
}

// Twelve groups of words; vectors of words of one group are alike.
class HybridWorld {
 public:
  static constexpr std::uint32_t kDims = 12;
  static constexpr int kItems = 240;

  explicit HybridWorld(std::uint32_t seed) : random_(seed) {}

  static std::vector<float> VectorOf(int topic) {
    std::vector<float> vector(kDims, 0.05F);
    vector[static_cast<std::size_t>(topic)] = 1;
    return vector;
  }
  std::vector<float> RandomVector() {
    std::normal_distribution<float> normal;
    std::vector<float> vector(kDims);
    for (float& x : vector) x = normal(random_);
    return vector;
  }
  std::string Word(int topic) {
    return "w" + std::to_string(topic) + "x" + std::to_string(random_() % 6);
  }
  int Topic(int item) const { return item % static_cast<int>(kDims); }

 private:
  std::mt19937 random_;
};

// How many of ten hits are of the topic that is asked for, over all topics.
template <typename Test>
int HitsOfTopic(Test& test, bool by_vector, bool is_random, HybridWorld& world) {
  int right = 0;
  for (int topic = 0; topic < static_cast<int>(HybridWorld::kDims); ++topic) {
    SearchOp search{.ns_prefix = {"n"},
                    .query = "w" + std::to_string(topic) + "x0 w" + std::to_string(topic) + "x1",
                    .mode = by_vector ? SearchMode::kHybrid : SearchMode::kText};
    if (by_vector) {
      search.query_vector = is_random ? world.RandomVector() : HybridWorld::VectorOf(topic);
    }
    const auto hits = test.store_->Search(search);
    for (const SearchItem& hit : hits.value()) {
      right += world.Topic(std::stoi(hit.item.key)) == topic ? 1 : 0;
    }
  }
  return right;
}

template <typename Backend>
class HybridTest : public TextSearchTest<Backend> {
 public:
  using TextSearchTest<Backend>::store_;

  void Fill(HybridWorld& world, bool is_random) {
    this->Open(TextConfig(), IndexOf(HybridWorld::kDims));
    for (int i = 0; i < HybridWorld::kItems; ++i) {
      const int topic = world.Topic(i);
      const Operation put = PutOp{
          .ns = {"n"},
          .key = std::to_string(i),
          .value = R"({"text":")" + world.Word(topic) + " " + world.Word(i * 7 % 12) + "\"}",
          .vectors = {{"$", is_random ? world.RandomVector() : HybridWorld::VectorOf(topic)}}};
      ASSERT_TRUE(store_->Batch({&put, 1}).has_value());
    }
  }

  // Words of a topic are near each other, if the embedder knows anything; every vector is
  // another one.
  void FillWithSentences(HybridWorld& world, bool is_random) {
    this->Open(TextConfig(), IndexOf(HybridWorld::kDims));
    for (int i = 0; i < HybridWorld::kItems; ++i) {
      std::string text;
      for (int word = 0; word < 3; ++word) text += " " + world.Word(world.Topic(i));
      std::vector<float> vector = world.RandomVector();
      const std::vector<float> meaning = HybridWorld::VectorOf(world.Topic(i));
      for (std::size_t d = 0; d < vector.size() && !is_random; ++d) {
        vector[d] = meaning[d] + vector[d] / 5;
      }
      const Operation put = PutOp{.ns = {"n"},
                                  .key = std::to_string(i),
                                  .value = R"({"text":")" + text + "\"}",
                                  .vectors = {{"$", std::move(vector)}}};
      ASSERT_TRUE(store_->Batch({&put, 1}).has_value());
    }
  }
};
TYPED_TEST_SUITE(HybridTest, Backends);

TYPED_TEST(HybridTest, a_good_embedder_finds_more_and_a_random_one_no_less) {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    HybridWorld good(seed);
    this->Fill(good, false);
    const int without = HitsOfTopic(*this, false, false, good);
    EXPECT_GT(HitsOfTopic(*this, true, false, good), without) << seed;
    HybridWorld random(seed);
    this->Fill(random, true);
    const int without_random = HitsOfTopic(*this, false, true, random);
    EXPECT_GE(HitsOfTopic(*this, true, true, random), without_random) << seed;
  }
}

TYPED_TEST(HybridTest, an_embedder_that_knows_nothing_leaves_the_words_result) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    HybridWorld world(seed);
    this->FillWithSentences(world, true);
    const std::string query = world.Word(3) + " " + world.Word(4);
    SearchOp search{.ns_prefix = {"n"}, .query = query, .limit = 100, .mode = SearchMode::kText};
    const auto words = this->store_->Search(search);
    ASSERT_FALSE(words->empty());
    search.mode = SearchMode::kHybrid;
    search.query_vector = world.RandomVector();
    EXPECT_EQ(*this->store_->Search(search), *words) << seed << ": the same hits and scores";

    search.ranking = Ranking{.explain = true};
    const auto explained = this->store_->Search(search);
    EXPECT_NE((*explained)[0].plan.find("by words alone"), std::string::npos);
    for (const SearchItem& hit : *explained) {
      if (hit.parts.back().name != "cues") {
        EXPECT_EQ(hit.parts.back(), (ScorePart{"agreement", 0}));
      }
    }
    std::string other = "0";
    while (std::ranges::any_of(*words, [&](const auto& hit) { return hit.item.key == other; })) {
      other = std::to_string(std::stoi(other) + 1);
    }
    EXPECT_EQ(this->store_->ExplainAbsence(search, {{"n"}, other})->absence, Absence::kNoMatch);
  }
}

TYPED_TEST(HybridTest, an_embedder_that_knows_the_items_counts_in_full) {
  HybridWorld world(1);
  this->FillWithSentences(world, false);
  SearchOp search{
      .ns_prefix = {"n"}, .query = "w3x0", .limit = 20, .mode = SearchMode::kText, .ranking = {}};
  const auto of_topic = [&](const std::vector<SearchItem>& hits) {
    return std::ranges::count_if(
        hits, [&](const SearchItem& hit) { return world.Topic(std::stoi(hit.item.key)) == 3; });
  };
  const auto words = this->store_->Search(search);
  EXPECT_LT(of_topic(*words), 15) << "the others have other words of the topic";
  search.mode = SearchMode::kHybrid;
  search.query_vector = HybridWorld::VectorOf(3);
  search.ranking = Ranking{.explain = true};
  const auto hits = this->store_->Search(search);
  EXPECT_EQ(of_topic(*hits), 20);
  EXPECT_EQ((*hits)[0].parts.back(), (ScorePart{"agreement", 1}));
  EXPECT_EQ((*hits)[0].plan.find("by words alone"), std::string::npos);
}

TYPED_TEST(HybridTest, a_rough_embedder_decides_where_words_are_unsure) {
  HybridWorld world(1);
  this->FillWithSentences(world, false);
  const auto first_topic = [&](const std::string& query) {
    const auto hits =
        this->store_->Search({.ns_prefix = {"n"},
                              .query = query,
                              .mode = SearchMode::kHybrid,
                              .query_vector = HybridWorld::VectorOf(3),
                              .ranking = Ranking{.fusion = Fusion::kStandout, .explain = true}});
    EXPECT_EQ((*hits)[0].plan.find("by words alone"), std::string::npos);
    return world.Topic(std::stoi((*hits)[0].item.key));
  };
  EXPECT_EQ(first_topic("w7x0"), 7);
  EXPECT_EQ(first_topic("zebras, giraffes, leopards, antelopes, crocodiles, ostriches, flamingos, "
                        "rhinoceroses, hyenas, warthogs, meerkats and w7x0"),
            3);
}

TYPED_TEST(HybridTest, with_a_rough_embedder_a_score_says_how_sure_the_words_are) {
  HybridWorld world(1);
  this->FillWithSentences(world, false);
  const auto best = [&](SearchMode mode, std::vector<float> vector) {
    const auto hits = this->store_->Search({.ns_prefix = {"n"},
                                            .query = "w7x0",
                                            .mode = mode,
                                            .query_vector = std::move(vector),
                                            .ranking = Ranking{.fusion = Fusion::kStandout}});
    return (*hits)[0].score.value_or(0);
  };
  EXPECT_DOUBLE_EQ(best(SearchMode::kHybrid, HybridWorld::VectorOf(3)),
                   best(SearchMode::kText, {}));
}

TYPED_TEST(HybridTest, of_a_rough_embedder_alone_a_score_has_no_more_than_its_weight) {
  HybridWorld world(1);
  this->FillWithSentences(world, false);
  const auto best = [&](Fusion fusion) {
    const auto hits = this->store_->Search({.ns_prefix = {"n"},
                                            .query = "zebras",
                                            .mode = SearchMode::kHybrid,
                                            .query_vector = HybridWorld::VectorOf(3),
                                            .ranking = Ranking{.fusion = fusion}});
    return (*hits)[0].score.value_or(0);
  };
  EXPECT_GT(best(Fusion::kWeighted), 0.8);
  EXPECT_NEAR(best(Fusion::kStandout), 0.3 * best(Fusion::kWeighted), 1e-9);
}

TYPED_TEST(HybridTest, who_asks_for_nothing_is_sure_of_nothing_however_near_it_is) {
  HybridWorld world(1);
  this->FillWithSentences(world, false);
  const auto hits = this->store_->Search({.ns_prefix = {"n"},
                                          .query = "Thanks, that's great!",
                                          .mode = SearchMode::kHybrid,
                                          .query_vector = HybridWorld::VectorOf(3),
                                          .ranking = {}});
  ASSERT_THAT(*hits, testing::Not(IsEmpty()));
  EXPECT_LT((*hits)[0].score.value_or(1), 0.07);
}

TYPED_TEST(HybridTest, what_stands_beside_the_nearest_rises_with_it) {
  this->Open({.fields = {{"text", 1}}, .group = "session", .position = "turn"}, IndexOf(2));
  const auto turn = [&](const char* session, int number, const char* text,
                        std::vector<float> vector) {
    const Operation put = PutOp{.ns = {"n"},
                                .key = session + std::to_string(number),
                                .value = R"({"session":")" + std::string(session) + R"(","turn":)" +
                                         std::to_string(number) + R"(,"text":")" + text + "\"}",
                                .vectors = {{"$", std::move(vector)}}};
    ASSERT_TRUE(this->store_->Batch({&put, 1}).has_value());
  };
  turn("a", 1, "samovar", {0.5, 0.9F});
  turn("a", 2, "indeed", {0, 1});
  turn("b", 1, "samovar", {1, 0});
  turn("b", 2, "indeed", {0, 1});
  EXPECT_THAT(this->Keys("samovar"), ElementsAre("a1", "b1", "a2", "b2"));
  const auto hits = this->store_->Search({.ns_prefix = {"n"},
                                          .query = "samovar",
                                          .mode = SearchMode::kHybrid,
                                          .query_vector = {1, 0},
                                          .ranking = Ranking{.explain = true}});
  EXPECT_THAT(KeysOf(hits), ElementsAre("b1", "a1", "b2", "a2"));
  EXPECT_EQ((*hits)[0].parts.back(), (ScorePart{"agreement", 1}));
}

TYPED_TEST(HybridTest, fills_the_tail_with_what_only_vectors_find) {
  this->Open(TextConfig(), IndexOf(2));
  const std::vector<Operation> puts = {
      PutOp{.ns = {"n"}, .key = "text", .value = R"({"t":"tea"})", .vectors = {{"$", {1, 0}}}},
      PutOp{.ns = {"n"}, .key = "near", .value = R"({"t":"x"})", .vectors = {{"$", {1, 0.1F}}}},
      PutOp{.ns = {"n"}, .key = "plain", .value = R"({"t":"y"})"}};
  ASSERT_TRUE(this->store_->Batch(puts).has_value());
  for (const Fusion fusion : {Fusion::kWeighted, Fusion::kReciprocalRank, Fusion::kStandout}) {
    const auto hits = this->store_->Search({.ns_prefix = {"n"},
                                            .query = "tea",
                                            .mode = SearchMode::kHybrid,
                                            .query_vector = {1, 0},
                                            .ranking = Ranking{.fusion = fusion}});
    EXPECT_THAT(KeysOf(hits), ElementsAre("text", "near", "plain"));
    EXPECT_EQ((*hits)[2].score, std::nullopt);
  }
}

class SqliteTextIndexTest : public testing::Test {
 protected:
  std::unique_ptr<Store> Open(TextConfig text = {}) {
    StoreOptions options;
    options.text = std::move(text);
    return MakeSqliteStore(*database_, options).value();
  }
  std::int64_t Count(std::string_view sql) {
    std::int64_t count = -1;
    EXPECT_TRUE(database_->Run(sql, {}, [&](const sql::Row& row) { count = row.Int(0); }).ok());
    return count;
  }

  std::unique_ptr<sql::Database> database_ = sql::OpenDatabase({.path = ":memory:"}).value();
};

TEST_F(SqliteTextIndexTest, nothing_is_analysed_before_the_first_search_by_text) {
  const auto store = Open();
  for (int i = 0; i < 1200; ++i) {
    ASSERT_TRUE(store->Put({"a"}, std::to_string(i), R"({"t":"tea"})").ok());
  }
  ASSERT_TRUE(store->Put({"b"}, "k", R"({"t":"tea"})").ok());
  EXPECT_EQ(Count("SELECT count(*) FROM text_pages"), 0);
  EXPECT_THAT(
      KeysOf(store->Search({.ns_prefix = {"b"}, .query = "tea", .mode = SearchMode::kText})),
      ElementsAre("k"));
  constexpr std::string_view kBytes = "SELECT sum(length(bytes)) FROM text_pages";
  EXPECT_LT(Count(kBytes), 300) << "only what the search covers";
  EXPECT_EQ(
      store->Search({.ns_prefix = {}, .query = "tea", .limit = 5000, .mode = SearchMode::kText})
          ->size(),
      1201U);
  EXPECT_GT(Count(kBytes), 5000);
}

TEST_F(SqliteTextIndexTest, another_language_has_the_texts_analysed_anew) {
  ASSERT_TRUE(Open()->Put({"a"}, "k", R"({"t":"Freundinnen"})").ok());
  const SearchOp search{
      .ns_prefix = {"a"}, .query = "Wer war der Freund?", .mode = SearchMode::kText};
  EXPECT_THAT(KeysOf(Open()->Search(search)), IsEmpty());
  EXPECT_THAT(KeysOf(Open({.language = Language::kGerman})->Search(search)), ElementsAre("k"));
}

TEST_F(SqliteTextIndexTest, a_store_opened_again_goes_on_with_its_index) {
  const SearchOp search{.ns_prefix = {"a"}, .query = "tea", .mode = SearchMode::kText};
  {
    const auto store = Open();
    ASSERT_TRUE(store->Put({"a"}, "k", R"({"t":"tea"})").ok());
    EXPECT_THAT(KeysOf(store->Search(search)), ElementsAre("k"));
  }
  const auto store = Open();
  ASSERT_TRUE(store->Put({"a"}, "l", R"({"t":"tea"})").ok());
  EXPECT_EQ(Count("SELECT count(*) FROM text_changes"), 1) << "a put costs no analysis";
  EXPECT_THAT(KeysOf(store->Search(search)), ElementsAre("k", "l"));
  EXPECT_THAT(KeysOf(Open()->Search(search)), ElementsAre("k", "l"));
}

TYPED_TEST(TextSearchTest, a_rare_word_counts_among_many_items_and_a_filter_is_obeyed) {
  this->Open();
  constexpr int kItems = 12'000;
  std::vector<Operation> puts;
  for (int i = 0; i < kItems; ++i) {
    const std::string rare = i == 7 ? " samovar" : "";
    puts.push_back(
        PutOp{.ns = {"n"},
              .key = std::to_string(i),
              .value = R"({"text":"tea)" + rare + R"(","i":)" + std::to_string(i) + "}"});
  }
  ASSERT_TRUE(this->store_->Batch(puts).has_value());
  const auto rare = this->Find("tea samovar", {.explain = true});
  ASSERT_THAT(*rare, SizeIs(10));
  EXPECT_EQ((*rare)[0].item.key, "7");
  EXPECT_GT(*(*rare)[0].score, 3 * *(*rare)[1].score);
  EXPECT_EQ((*rare)[0].plan, "words: 12000 candidates of 12000 items");
  const auto filtered = this->store_->Search({.ns_prefix = {"n"},
                                              .filter = R"({"i":{"$gt":11996}})",
                                              .query = "tea",
                                              .mode = SearchMode::kText});
  EXPECT_THAT(KeysOf(filtered), ElementsAre("11997", "11998", "11999"));
}

TYPED_TEST(TextSearchTest, what_is_usual_without_an_index_is_by_words_and_by_pieces) {
  this->Open();
  this->PutText("a", "Ann moved to Berlin in September");
  this->PutText("favourite-tea", "oolong");
  const auto find = [&](const std::string& query) {
    return KeysOf(this->Find(query, {}, SearchMode::kAuto));
  };
  EXPECT_THAT(find("Where did Ann move?"), ElementsAre("a")) << "words";
  EXPECT_THAT(find("ptemb"), ElementsAre("a")) << "a piece of a word";
  EXPECT_THAT(find("favourite"), ElementsAre("favourite-tea")) << "a piece of a key";
  EXPECT_THAT(find("bicycle"), IsEmpty());
}

TYPED_TEST(TextSearchTest, dates_of_an_item_are_found_by_day_month_and_year) {
  this->Open();
  this->Put("a", R"({"text":"John ran","date":"9:52 am on 12 April, 2022"})");
  this->Put("b", R"({"text":"John swam","createdAt":"2023-05-08T10:00:00Z"})");
  this->Put("c", R"({"text":"John sang","timestamp":1700000000000})");
  EXPECT_THAT(this->Keys("What did John do in April?"), testing::Contains("a"));
  EXPECT_EQ(this->Keys("What did John do in April?")[0], "a");
  EXPECT_EQ(this->Keys("What did John do on 12 April 2022?")[0], "a");
  EXPECT_EQ(this->Keys("What did John do on 04/12/2022?")[0], "a");
  EXPECT_EQ(this->Keys("What did John do on 08.05.2023?")[0], "b");
  EXPECT_EQ(this->Keys("What did John do in November 2023?")[0], "c");
  EXPECT_THAT(this->Keys("2022"), ElementsAre("a"));
  EXPECT_THAT(this->Keys("in November"), ElementsAre("c"));
}

TYPED_TEST(TextSearchTest, a_slip_is_mended_by_the_word_not_by_its_stem) {
  this->Open();
  this->PutText("a", "That is important to me");
  this->PutText("b", "They were impostors");
  EXPECT_THAT(this->Keys("Who was the imposter?"), ElementsAre("b"));
}

TYPED_TEST(TextSearchTest, german_compounds_are_found_by_their_parts) {
  this->Open({.language = Language::kGerman});
  this->PutText("a", "Meine Krankenversicherung wird teurer");
  this->PutText("b", "Das Wetter wird besser");
  EXPECT_THAT(this->Keys("Was kostet die Versicherung?"), ElementsAre("a"));
}

TYPED_TEST(TextSearchTest, a_long_text_is_found_by_its_best_passage) {
  this->Open();
  std::string filler;
  for (int i = 0; i < 300; ++i) filler += "word" + std::to_string(i) + " ";
  this->PutText("together", filler + "the green samovar " + filler);
  this->PutText("apart", "green " + filler + filler + " samovar");
  EXPECT_EQ(this->Keys("Where is the green samovar?")[0], "together");
}

// 40 turns in pairs that share a word, none of which holds the question's but one.
TYPED_TEST(TextSearchTest, where_neighbours_belong_together_a_match_lends_to_them) {
  this->Open();
  for (int i = 0; i < 40; ++i) {
    const std::string topic = "topic" + std::to_string(i / 4);
    this->PutText(std::to_string(i), topic + (i == 13 ? " wedding" : " and more"));
  }
  const auto hits = this->Find("Whose wedding was it?");
  ASSERT_GE(hits->size(), 2U);
  EXPECT_EQ((*hits)[0].item.key, "13");
  EXPECT_LT(*(*hits)[1].score, *(*hits)[0].score);
  this->Put("alone", R"({"text":"a wedding","session":"other"})");
  const std::vector<std::string> keys = this->Keys("Whose wedding was it?");
  EXPECT_THAT(keys, testing::IsSupersetOf({"13", "alone"}));
}

TYPED_TEST(TextSearchTest, who_wrote_something_is_found_by_name) {
  this->Open();
  this->Put("emma", R"({"author":"Jane Austen","title":"Emma"})");
  this->Put("war", R"({"author":"Leo Tolstoy","title":"War and Peace"})");
  this->Put("mine", R"({"text":"a book of mine"})");
  EXPECT_EQ(this->Keys("Which books are by Jane Austen?")[0], "emma");
  EXPECT_THAT(this->Keys("Jane Austen"), ElementsAre("emma"));
}

TYPED_TEST(TextSearchTest, what_the_user_said_counts_more_if_the_user_asks) {
  this->Open();
  this->Put("a", R"({"role":"assistant","content":"a budget of 100 is usual"})");
  this->Put("u", R"({"role":"user","content":"a budget of 50 is usual"})");
  EXPECT_THAT(this->Keys("What is my budget?"), ElementsAre("u", "a"));
}

TYPED_TEST(TextSearchTest, what_helps_a_talk_is_left_out_where_nobody_speaks) {
  this->Open();
  this->PutText("address", "the address of the dentist");
  this->PutText("meal", "I never eat before the dentist");
  EXPECT_EQ(this->Keys("What is the address of my dentist?")[0], "address");
  this->PutText("older", "a plan for the samovar");
  this->PutText("newer", "a plan for the samovar");
  EXPECT_THAT(this->Keys("I like the samovar plan"), ElementsAre("older", "newer"));
  this->PutText("list", "a list of dogs");
  this->PutText("dogs", "two dogs sleep here");
  EXPECT_EQ(this->Keys("list the dogs")[0], "list");
}

TYPED_TEST(TextSearchTest, the_author_of_a_document_is_no_speaker_of_a_talk) {
  this->Open();
  this->Put("by him", R"({"author":"Leo Tolstoy","text":"war, war and a peace of few words"})");
  this->Put("of him", R"({"author":"Jane Doe","text":"Leo on war and peace: war, peace, Leo"})");
  EXPECT_EQ(this->Keys("Leo on war and peace")[0], "of him");
}

TYPED_TEST(TextSearchTest, what_is_said_again_where_it_is_said_counts_more) {
  this->Open();
  this->PutText("kettle", "a kettle stands here");
  this->PutText("other kettle", "one more kettle stands there");
  this->PutText("samovar", "a samovar stands here");
  this->PutText("other samovar", "samovar samovar samovar stands there");
  const std::vector<std::string> keys = this->Keys("kettle or samovar?");
  EXPECT_LT(std::ranges::find(keys, "samovar"), std::ranges::find(keys, "kettle"));
}

TYPED_TEST(TextSearchTest, what_one_says_comes_before_what_one_only_asks) {
  this->Open();
  this->Put("asks", R"({"speaker":"Ann","text":"Is the samovar heavy?"})");
  this->Put("says", R"({"speaker":"Bob","text":"The samovar is heavy."})");
  EXPECT_THAT(this->Keys("heavy samovar"), ElementsAre("says", "asks"));
  // A note may be a question.
  ASSERT_TRUE(this->store_->Delete({"n"}, "asks").ok());
  ASSERT_TRUE(this->store_->Delete({"n"}, "says").ok());
  this->PutText("asks", "Is the samovar heavy?");
  this->PutText("says", "The samovar is heavy.");
  EXPECT_THAT(this->Keys("heavy samovar"), ElementsAre("asks", "says"));
}

TYPED_TEST(TextSearchTest, what_is_like_the_first_hits_of_a_message_rises) {
  this->Open();
  this->PutText("tent", "The tent leaked, the plan was to sew canvas with wax.");
  this->PutText("first", "A plan for the samovar: order brass, solder the spout in Tula.");
  this->PutText("later", "The plan was to polish brass, and Tula sent solder.");
  this->PutText("unasked", "Solder the brass spout, order more of it from Tula.");
  const std::string message = "Great, finally the samovar plan sounds really doable, thanks a lot.";
  EXPECT_THAT(this->Keys(message), ElementsAre("first", "later", "tent"));
  // Few words are about themselves.
  EXPECT_THAT(this->Keys("the plan of it"), ElementsAre("tent", "later", "first"));
}

TEST_F(SqliteTextIndexTest, a_damaged_record_is_made_anew_from_its_item) {
  const SearchOp search{.ns_prefix = {"a"}, .query = "tea", .mode = SearchMode::kText};
  ASSERT_TRUE(Open()->Put({"a"}, "k", R"({"t":"tea"})").ok());
  EXPECT_THAT(KeysOf(Open()->Search(search)), ElementsAre("k"));
  ASSERT_TRUE(database_->Run("UPDATE text_pages SET bytes = zeroblob(40)").ok());
  EXPECT_THAT(KeysOf(Open()->Search(search)), ElementsAre("k"));
  EXPECT_EQ(Count("SELECT count(*) FROM text_pages WHERE bytes = zeroblob(40)"), 0);
}

TEST_F(SqliteTextIndexTest, a_write_that_is_undone_leaves_no_word_behind) {
  const SearchOp search{.ns_prefix = {"a"}, .query = "tea", .mode = SearchMode::kText};
  const auto store = Open();
  ASSERT_TRUE(store->Put({"a"}, "k", R"({"t":"tea"})").ok());
  EXPECT_THAT(KeysOf(store->Search(search)), ElementsAre("k"));
  const Status undone = database_->InTransaction([&]() -> Status {
    EXPECT_TRUE(store->Put({"a"}, "l", R"({"t":"tea"})").ok());
    EXPECT_TRUE(store->Delete({"a"}, "k").ok());
    return {StatusCode::kInternal, "undo"};
  });
  EXPECT_FALSE(undone.ok());
  EXPECT_THAT(KeysOf(Open()->Search(search)), ElementsAre("k"));
}

// A day of 2023 for each: one text, so that only time tells them apart.
TYPED_TEST(TextSearchTest, a_slip_is_read_as_the_nearest_word) {
  this->Open();
  this->PutText("impostors", "two impostors at the door");
  this->PutText("important", "an important letter");
  this->PutText("posters", "many posters");
  EXPECT_THAT(this->Keys("impostor"), ElementsAre("impostors"));
  EXPECT_THAT(this->Keys("imposter"), ElementsAre("impostors"));
  const auto hits = this->Find("lettre", {.explain = true});
  ASSERT_THAT(*hits, SizeIs(1));
  EXPECT_THAT((*hits)[0].plan, testing::HasSubstr("\"lettre\" read as \"letter\""));
}

TYPED_TEST(TextSearchTest, a_compound_is_found_by_its_end_in_every_language) {
  this->Open();
  this->PutText("street", "wir wohnen in der Hauptstra\u00DFe");
  this->PutText("cover", "meine Krankenversicherung");
  EXPECT_THAT(this->Keys("strasse"), ElementsAre("street"));
  EXPECT_THAT(this->Keys("Stra\u00DFe"), ElementsAre("street"));
  EXPECT_THAT(this->Keys("HAUPTSTRASSE"), ElementsAre("street"));
  EXPECT_THAT(this->Keys("Versicherung"), ElementsAre("cover"));
}

TYPED_TEST(TextSearchTest, the_arabic_article_is_no_part_of_a_word) {
  this->Open();
  this->PutText("school", "ذهبنا إلى المدرسة");
  this->PutText("house", "البيت كبير");
  EXPECT_THAT(this->Keys("مدرسة"), ElementsAre("school"));
  EXPECT_THAT(this->Keys("للمدرسة"), ElementsAre("school"));
  EXPECT_THAT(this->Keys("والبيت"), ElementsAre("house"));
}

TYPED_TEST(TextSearchTest, numbers_are_the_same_in_every_spelling) {
  this->Open();
  this->PutText("points", "es kostet 1.250 Euro");
  this->PutText("commas", "it costs 1,250 dollars");
  this->PutText("plain", "about 1250 pieces");
  this->PutText("other", "about 125 pieces");
  for (const char* query : {"1250", "1,250", "1.250"}) {
    const std::vector<std::string> keys = this->Keys(query);
    EXPECT_THAT(keys, testing::IsSupersetOf({"points", "commas", "plain"})) << query;
    EXPECT_THAT(keys, testing::Not(testing::Contains("other"))) << query;
  }
  this->PutText("phone", "call +49 170 1234567 tomorrow");
  this->PutText("office", "the office has (555) 123-4567");
  for (const char* query :
       {"+491701234567", "0170 1234567", "0049-170-1234567", "0170/123 45 67"}) {
    EXPECT_EQ(this->Keys(query)[0], "phone") << query;
  }
  EXPECT_EQ(this->Keys("555-123-4567")[0], "office");
  EXPECT_EQ(this->Keys("5551234567")[0], "office");
}

TYPED_TEST(TextSearchTest, what_a_question_quotes_is_no_condition) {
  this->Open();
  this->PutText("book", "the lean startup is a book for founders, which we all liked very much");
  this->PutText("lean", "a startup must be fast. Jon said that it was a startup. A startup, yes.");
  EXPECT_THAT(this->Keys("When did Jon read \"The Lean Startup\"?"), SizeIs(2));
  EXPECT_THAT(this->Keys("\"lean startup\""), ElementsAre("book"));
  EXPECT_THAT(this->Keys("\u300Clean startup\u300D"), ElementsAre("book"));
}

}  // namespace
}  // namespace keepsake
