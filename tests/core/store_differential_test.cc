// InMemoryStore and SqliteStore give the same answers to the same random batches.
#include <random>

#include "store_contract.h"

namespace keepsake {
namespace {

constexpr std::int64_t kStart = 1'700'000'000'000;

// Draws from small sets, so that operations meet each other.
class RandomOperations {
 public:
  explicit RandomOperations(std::uint32_t seed) : random_(seed) {}

  std::uint32_t Below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  std::vector<Operation> Batch() {
    std::vector<Operation> operations;
    for (std::uint32_t count = Below(5) + 1; count > 0; --count) operations.push_back(One());
    return operations;
  }

  Namespace Labels(std::uint32_t min, std::uint32_t max) {
    static const std::vector<std::string> kLabels = {"a",    "ab",       "b",  "\x1F",
                                                     "\x1E", "\xC3\xA9", "z z"};
    Namespace ns;
    for (std::uint32_t count = min + Below(max - min + 1); count > 0; --count) {
      ns.push_back(Pick(kLabels));
    }
    return ns;
  }

  std::string Key() {
    static const std::vector<std::string> kKeys = {
        "", "1", "10", "2", "Tea", "\xF0\x9F\x98\x80", "\xEF\xBD\x81"};
    return Pick(kKeys);
  }

 private:
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[Below(static_cast<std::uint32_t>(from.size()))];
  }

  Operation One() {
    switch (Below(10)) {
      case 0:
      case 1:
        return GetOp{Labels(1, 3), Key(), Below(2) == 0};
      case 2:
      case 3:
        return Search();
      case 4:
        return List();
      case 5:
        return PutOp{.ns = Labels(1, 3), .key = Key()};
      default:
        return Put();
    }
  }

  PutOp Put() {
    PutOp put{.ns = Labels(1, 3), .key = Key(), .value = Value()};
    if (Below(3) == 0) put.ttl_ms = 1 + Below(50);
    if (Below(8) == 0) put.ttl_ms = PutOp::kNoTtl;
    for (std::uint32_t i = Below(3); i > 0; --i)
      put.vectors.push_back({std::to_string(i), Vector()});
    if (Below(100) == 0) put.ns.push_back("in.valid");
    if (Below(4) == 0) put.validity = Validity{OptionalTime(), OptionalTime()};
    if (Below(4) == 0) put.supersedes = ItemRef{Labels(1, 3), Key()};
    if (Below(3) == 0) {
      put.provenance =
          Provenance{static_cast<Origin>(Below(5)), Below(2) == 0 ? "" : "s", Below(3) == 0};
    }
    return put;
  }

  // Around the times that the clock will show.
  std::int64_t Time() { return kStart - 200 + Below(3000); }
  std::optional<std::int64_t> OptionalTime() {
    return Below(2) == 0 ? std::nullopt : std::optional(Time());
  }

  Operation Search() {
    static const std::vector<std::string> kFilters = {"",
                                                      "",
                                                      "{}",
                                                      R"({"n":1})",
                                                      R"({"n":{"$gt":0,"$lte":2}})",
                                                      R"({"o":{"k":{"$ne":2}}})",
                                                      R"({"s":{"$in":["tea",1]}})",
                                                      R"({"t":["x",1]})",
                                                      R"({"s":{"$gt":"coffee"}})",
                                                      R"({"o":{}})",
                                                      R"({"n":{"$bad":1}})"};
    static const std::vector<std::string> kQueries = {"", "tea", "T", "%", "\"n\":1", "none"};
    SearchOp search{.ns_prefix = Labels(0, 2),
                    .filter = Pick(kFilters),
                    .limit = Below(8),
                    .offset = Below(4),
                    .refresh_ttl = Below(2) == 0};
    const std::uint32_t kind = Below(6);
    search.plan = static_cast<SearchPlan>(Below(4));
    search.ef_search = Below(2) * 64;
    search.include_superseded = Below(3) == 0;
    search.include_quarantined = Below(2) == 0;
    if (!search.include_superseded && Below(3) == 0) search.as_of_ms = Time();
    if (kind < 2) {
      search.query_vector = Vector();
      if (Below(2) == 0) search.ranking = AnyRanking();
    } else if (kind < 4) {
      search.query = Words();
      search.mode = kind == 2 ? SearchMode::kText : SearchMode::kHybrid;
      if (search.mode == SearchMode::kHybrid) search.query_vector = Vector();
      if (Below(2) == 0) search.ranking = AnyRanking();
    } else {
      search.query = Pick(kQueries);
      search.mode = SearchMode::kContains;
    }
    // What costs least is not the same in both.
    if (search.ranking && search.ranking->explain) search.plan = SearchPlan::kExact;
    return search;
  }

  Operation List() {
    ListNamespacesOp list{.limit = Below(10), .offset = Below(3)};
    for (std::uint32_t i = Below(3); i > 0; --i) {
      Namespace path = Labels(1, 2);
      if (Below(3) == 0) path[0] = "*";
      list.match_conditions.push_back(
          {Below(2) == 0 ? MatchType::kPrefix : MatchType::kSuffix, path});
    }
    if (Below(2) == 0) list.max_depth = 1 + Below(3);
    return list;
  }

  std::string Value() {
    static const std::vector<std::string> kValues = {R"({"n":1,"s":"tea"})",
                                                     R"({"n":2.0,"o":{"k":2}})",
                                                     R"({"s":"coffee","t":["x",1]})",
                                                     R"({"o":{"k":"TEA"}})",
                                                     R"({"n":"1"})",
                                                     "null",
                                                     R"(["tea"])",
                                                     R"("lone \ud83d")"};
    return Below(2) == 0 ? Pick(kValues) : TextValue();
  }

  // Of few words, so that items share them.
  std::string Words() {
    static const std::vector<std::string> kWords = {
        "tea",        "green",         "walking",
        "walked",     "Ann",           "bob",
        "when",       "coffee",        "cofee",
        "yesterday",  "\"green tea\"", "wal*",
        "8 May 2023", "\xE8\x8C\xB6",  "\xE5\x96\x9D\xE8\x8C\xB6",
        "maxTokens",  "the",           "\xF0\x9F\x98\x80",
        "?"};
    std::string words = Pick(kWords);
    for (std::uint32_t count = Below(4); count > 0; --count) words += ' ' + Pick(kWords);
    return words;
  }

  std::string TextValue() {
    std::string words = Words();
    std::erase(words, '"');
    return R"({"text":")" + words + R"(","session":)" + std::to_string(Below(3)) + R"(,"turn":)" +
           std::to_string(Below(6)) + R"(,"speaker":")" + (Below(2) == 0 ? "Ann" : "Bob") +
           R"(","n":)" + std::to_string(Below(3)) + "}";
  }

  Ranking AnyRanking() {
    Ranking ranking{.fusion = static_cast<Fusion>(Below(3)),
                    .recency = Below(3) == 0 ? 0.5 : 0,
                    .half_life_ms = 20,
                    .diversity = Below(3) == 0 ? 0.4 : 0,
                    .explain = Below(2) == 0,
                    .snippet_length = Below(2) == 0 ? 12U : 0};
    if (Below(4) == 0) ranking.min_score = 0.3;
    if (Below(4) == 0) ranking.boosts = {{"n", 0.5}};
    if (Below(3) == 0) ranking.origins = {{Origin::kWeb, 0.5}, {Origin::kUnknown, 0.25}};
    return ranking;
  }

  std::vector<float> Vector() {
    std::vector<float> vector(3);
    for (float& x : vector) x = static_cast<float>(Below(5)) - 2;
    return vector;
  }

  std::mt19937 random_;
};

class StoreDifferentialTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  StoreDifferentialTest() {
    StoreOptions options;
    options.index = IndexConfig{.dims = 3};
    options.ttl.default_ttl_ms = 200;
    options.text = {.fields = {},
                    .group = "session",
                    .position = "turn",
                    .speaker = "speaker",
                    .language = Language::kEnglish};
    options.clock = &clock_;
    in_memory_ = InMemoryBackend().Open(options);
    sqlite_ = sqlite_backend_.Open(options);
  }

  ManualClock clock_{kStart};
  SqliteBackend sqlite_backend_;
  std::unique_ptr<Store> in_memory_;
  std::unique_ptr<Store> sqlite_;
};

template <typename T>
void ExpectSame(const Result<T>& a, const Result<T>& b) {
  ASSERT_EQ(CodeOf(a), CodeOf(b)) << MessageOf(a) << " / " << MessageOf(b);
  ASSERT_EQ(MessageOf(a), MessageOf(b));
  if (a) {
    ASSERT_TRUE(*a == *b);
  }
}

TEST_P(StoreDifferentialTest, both_stores_answer_alike) {
  RandomOperations random(GetParam());
  std::size_t items_seen = 0;
  for (int step = 0; step < 1500; ++step) {
    SCOPED_TRACE(step);
    const std::vector<Operation> operations = random.Batch();
    ExpectSame(in_memory_->Batch(operations), sqlite_->Batch(operations));
    if (HasFatalFailure()) return;
    clock_.Advance(random.Below(4));
    if (step % 10 != 0) continue;
    const Namespace ns = random.Labels(1, 2);
    ExpectSame(in_memory_->List(ns), sqlite_->List(ns));
    if (random.Below(3) == 0) {
      // How many expired items there are differs not; which go first is nobody's business.
      ExpectSame(in_memory_->SweepExpired(UINT32_MAX), sqlite_->SweepExpired(UINT32_MAX));
    }
    if (random.Below(5) == 0)
      ExpectSame(in_memory_->ClearNamespace(ns), sqlite_->ClearNamespace(ns));
    const StoreStats a = in_memory_->Stats().value();
    const StoreStats b = sqlite_->Stats().value();
    ASSERT_EQ(a.items, b.items);
    ASSERT_EQ(a.namespaces, b.namespaces);
    ASSERT_EQ(a.vectors, b.vectors);
    items_seen += a.items;
  }
  EXPECT_GT(items_seen, 1000U);  // or the stores agreed about nothing
}

INSTANTIATE_TEST_SUITE_P(Seeds, StoreDifferentialTest, testing::Range(1U, 7U));

}  // namespace
}  // namespace keepsake
