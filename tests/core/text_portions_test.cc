// An index of texts that is made in portions, while items are put and deleted, finds what one
// finds that was made at once.
#include <random>

#include "store/prefix_set.h"
#include "store_contract.h"

namespace keepsake {
namespace {

constexpr const char* kWords[] = {"tea",  "coal", "rain", "harbour", "samovar", "ladder",
                                  "milk", "boat", "lamp", "window",  "bridge",  "cake"};
constexpr std::size_t kAsked = 10'000;

template <typename Backend>
class TextPortionsTest : public testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options;
    options.clock = &clock_;
    whole_ = whole_backend_.Open(options);
    store_ = backend_.Open(options);
  }

  std::size_t Random(std::size_t below) { return random_() % below; }
  std::string Text() {
    std::string text;
    for (std::size_t i = 0; i < 3 + Random(20); ++i) {
      text.append(kWords[Random(std::size(kWords))]).append(" ");
    }
    return R"({"text":")" + text + "\"}";
  }
  Namespace RandomNamespace() { return {"a", std::string(1, static_cast<char>('a' + Random(3)))}; }

  void PutOrDelete(const Namespace& ns, const std::string& key) {
    if (Random(4) == 0) {
      ASSERT_TRUE(store_->Delete(ns, key).ok());
      ASSERT_TRUE(whole_->Delete(ns, key).ok());
      return;
    }
    const std::string value = Text();
    ASSERT_TRUE(store_->Put(ns, key, value).ok());
    ASSERT_TRUE(whole_->Put(ns, key, value).ok());
  }

  // A search that may look at little text, as often as it takes but `most` times at most.
  Result<std::vector<SearchItem>> Ask(const SearchOp& search, std::size_t most) {
    Result<std::vector<SearchItem>> hits = Error(StatusCode::kIndexing, "not asked");
    for (std::size_t i = 0; i < most && !hits; ++i) {
      store_->LimitTextWork(1 + Random(300));
      hits = store_->Search(search);
      store_->LimitTextWork(std::nullopt);
      if (hits) break;
      EXPECT_EQ(hits.error().code(), StatusCode::kIndexing);
      ++portions_;
    }
    return hits;
  }

  std::mt19937 random_{7};
  ManualClock clock_{1'700'000'000'000};
  Backend backend_, whole_backend_;
  std::unique_ptr<Store> store_, whole_;
  std::size_t portions_ = 0;
};

using Backends = testing::Types<InMemoryBackend, SqliteBackend>;
TYPED_TEST_SUITE(TextPortionsTest, Backends);

TYPED_TEST(TextPortionsTest, finds_what_one_finds_that_was_made_at_once) {
  for (int round = 0; round < 400; ++round) {
    for (std::size_t i = 0; i < this->Random(8); ++i) {
      this->PutOrDelete(this->RandomNamespace(), "k" + std::to_string(this->Random(60)));
    }
    const Namespace prefix = this->Random(2) == 0 ? Namespace{"a"} : this->RandomNamespace();
    const SearchOp search{.ns_prefix = prefix,
                          .query = kWords[this->Random(std::size(kWords))],
                          .limit = 100,
                          .mode = SearchMode::kText};
    const bool gives_up = this->Random(2) == 0;
    const auto hits = this->Ask(search, gives_up ? 1 : kAsked);
    if (!hits) continue;
    EXPECT_EQ(KeysOf(hits), KeysOf(this->whole_->Search(search))) << "round " << round;
  }
  EXPECT_GT(this->portions_, 100U);
}

TYPED_TEST(TextPortionsTest, two_searches_in_turns_both_end) {
  for (int i = 0; i < 50; ++i) {
    this->PutOrDelete({"a", "a"}, "k" + std::to_string(i));
    this->PutOrDelete({"a", "b"}, "k" + std::to_string(i));
  }
  const SearchOp one{.ns_prefix = {"a", "a"}, .query = "tea", .mode = SearchMode::kText};
  const SearchOp other{.ns_prefix = {"a", "b"}, .query = "tea", .mode = SearchMode::kText};
  bool has_one = false, has_other = false;
  for (int turn = 0; turn < 500 && !(has_one && has_other); ++turn) {
    has_one = this->Ask(one, 1).has_value() || has_one;
    has_other = this->Ask(other, 1).has_value() || has_other;
  }
  EXPECT_TRUE(has_one);
  EXPECT_TRUE(has_other);
}

TYPED_TEST(TextPortionsTest, what_is_put_later_is_analysed_while_nobody_calls) {
  const SearchOp search{.ns_prefix = {"a"}, .query = "tea", .mode = SearchMode::kText};
  ASSERT_TRUE(this->store_->Search(search));
  for (int i = 0; i < 200; ++i) this->PutOrDelete({"a", "a"}, "k" + std::to_string(i));
  int steps = 0;
  while (!this->store_->ImproveIndex({.vectors = 1})->is_done) ++steps;
  EXPECT_GT(steps, 1);
  this->store_->LimitTextWork(1);
  EXPECT_TRUE(this->store_->Search(search));
}

TYPED_TEST(TextPortionsTest, a_batch_that_is_asked_again_writes_once) {
  for (int i = 0; i < 50; ++i) this->PutOrDelete({"a"}, "k" + std::to_string(i));
  const Operation batch[] = {
      SearchOp{.ns_prefix = {"a"}, .query = "tea", .mode = SearchMode::kText},
      PutOp{.ns = {"a"}, .key = "new", .value = R"({"text":"tea"})"}};
  this->store_->LimitTextWork(300);
  const auto results = this->store_->Batch(batch);
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().code(), StatusCode::kIndexing);
  EXPECT_FALSE((*this->store_->Get({"a"}, "new")).has_value());
  this->store_->LimitTextWork(std::nullopt);
  EXPECT_TRUE(this->store_->Batch(batch));
  EXPECT_TRUE((*this->store_->Get({"a"}, "new")).has_value());
}

TEST(PrefixSetTest, covers_what_begins_with_one_of_them) {
  std::mt19937 random(3);
  const auto text = [&] {
    std::string made;
    for (std::size_t i = 0; i < random() % 6; ++i) made += static_cast<char>('a' + random() % 2);
    return made;
  };
  for (int round = 0; round < 300; ++round) {
    PrefixSet set;
    std::vector<std::string> all;
    for (std::size_t i = 0; i < random() % 6; ++i) {
      all.push_back(text());
      set.Add(all.back());
    }
    for (int i = 0; i < 30; ++i) {
      const std::string asked = text();
      const bool is_covered = std::ranges::any_of(
          all, [&](const std::string& prefix) { return asked.starts_with(prefix); });
      EXPECT_EQ(set.Covers(asked), is_covered) << asked;
    }
  }
}

}  // namespace
}  // namespace keepsake
