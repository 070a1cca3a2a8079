// Searches by vector with filters and namespaces, in both stores: the answers are those of
// reading every row, whatever was written, refused, expired or reopened meanwhile.
#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include "clustered_vectors.h"
#include "json/filter.h"
#include "store_contract.h"
#include "vectors/cosine.h"

namespace keepsake {
namespace {

constexpr std::uint32_t kDims = 16;
constexpr std::uint32_t kItems = 1600;

// Every item, searched one by one.
class Model {
 public:
  struct Entry {
    std::string value;
    std::vector<FieldVector> vectors;
    std::int64_t updated_at_ms = 0;
    std::int64_t expires_at_ms = INT64_MAX;
  };

  std::map<std::pair<Namespace, std::string>, Entry> entries;

  std::vector<std::string> Search(const SearchOp& search, std::int64_t now_ms) const {
    const json::Filter filter = json::Filter::Parse(search.filter).value();
    const search::CosineQuery query(search.query_vector);
    std::vector<std::tuple<bool, double, std::string, std::string>> hits;
    for (const auto& [place, entry] : entries) {
      const auto& [ns, key] = place;
      const bool below = ns.size() >= search.ns_prefix.size() &&
                         std::equal(search.ns_prefix.begin(), search.ns_prefix.end(), ns.begin());
      if (!below || entry.expires_at_ms <= now_ms || !filter.Matches(entry.value)) continue;
      double best = -1;
      for (const FieldVector& vector : entry.vectors) {
        best = std::max(best, query.Score(vector.values));
      }
      const bool unscored = entry.vectors.empty();
      const double rank = unscored ? static_cast<double>(entry.updated_at_ms) : best;
      hits.emplace_back(unscored, -rank, EncodeNamespace(ns), key);
    }
    std::ranges::sort(hits);
    std::vector<std::string> keys;
    for (std::size_t i = search.offset; i < hits.size() && keys.size() < search.limit; ++i) {
      keys.push_back(std::get<3>(hits[i]));
    }
    return keys;
  }
};

class SelectiveSearchTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  SelectiveSearchTest() {
    path_ = (std::filesystem::path(testing::TempDir()) /
             ("keepsake_selective_" + std::to_string(GetParam()) + ".db"))
                .string();
    Remove();
    in_memory_ = MakeInMemoryStore(Options());
    Reopen();
  }

  ~SelectiveSearchTest() override {
    sqlite_.reset();
    database_.reset();
    Remove();
  }

  StoreOptions Options() const {
    return {
        .index = IndexConfig{.dims = kDims}, .ttl = {.refresh_on_read = false}, .clock = &clock_};
  }

  // With a trigger by which a write fails. A file that has one is not opened.
  void Reopen() {
    if (database_) {
      EXPECT_TRUE(database_->Run("DROP TRIGGER refuse").ok());
    }
    sqlite_.reset();
    database_.reset();
    database_ = sql::OpenDatabase({.path = path_}).value();
    EXPECT_TRUE(database_
                    ->Run("CREATE TRIGGER refuse BEFORE INSERT ON store_kv WHEN NEW.key = 'bad'"
                          " BEGIN SELECT RAISE(ABORT, 'refused'); END")
                    .ok());
    sqlite_ = MakeSqliteStore(*database_, Options()).value();
  }

  void Remove() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }

  std::uint32_t Below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  static Namespace NamespaceOf(std::uint32_t item) {
    if (item % 200 == 0) return {"a", "b", "c"};
    if (item % 20 == 0) return {"a", "b"};
    return item % 2 == 0 ? Namespace{"a"} : Namespace{"z", std::to_string(item % 7)};
  }

  std::string Value() {
    static constexpr const char* kTags[] = {R"(["x"])", R"(["x","y"])", "{}", R"({"deep":1})"};
    if (Below(20) == 0) return R"({"user":null})";
    std::string value = R"({"user":"u)" + std::to_string(Below(60)) + R"(","n":)" +
                        std::to_string(Below(300)) + R"(,"half":)" +
                        (Below(2) == 0 ? "true" : "false") + R"(,"time":)" +
                        std::to_string(1'700'000'000'000 + Below(1'000'000));
    if (Below(3) == 0) value += std::string(R"(,"tags":)") + kTags[Below(4)];
    return value + "}";
  }

  std::string Filter() {
    const auto number = [&](std::uint32_t bound) { return std::to_string(Below(bound)); };
    switch (Below(12)) {
      case 0:
        return R"({"user":"u)" + number(61) + R"("})";
      case 1:
        return R"({"user":{"$in":["u1","u2",null,"u)" + number(60) + R"("]}})";
      case 2:
        return R"({"n":{"$lt":)" + number(20) + "}}";
      case 3:
        return R"({"n":{"$gte":)" + number(300) + R"(},"half":true})";
      case 4:
        return R"({"half":false})";
      case 5:
        return R"({"time":{"$gt":1700000000000,"$lte":)" +
               std::to_string(1'700'000'000'000 + Below(50'000)) + "}}";
      case 6:
        return R"({"tags":["x"]})";
      case 7:
        return R"({"tags":{"deep":1}})";
      case 8:
        return R"({"user":{"$ne":"u3"},"n":)" + number(300) + "}";
      case 9:
        return R"({"n":{"$ne":7}})";
      case 10:
        return R"({"user":{"$gt":"u58"}})";
      default:
        return "";
    }
  }

  SearchOp Search() {
    static const std::vector<Namespace> kPrefixes = {
        {}, {}, {"a"}, {"a", "b"}, {"a", "b", "c"}, {"z"}, {"z", "3"}, {"none"}};
    return {.ns_prefix = kPrefixes[Below(8)],
            .filter = Filter(),
            .limit = 1 + Below(25),
            .offset = Below(4) == 0 ? Below(20) : 0,
            .query_vector = vectors_.Next()};
  }

  PutOp Put(std::uint32_t item) {
    PutOp put{.ns = NamespaceOf(item), .key = std::to_string(item), .value = Value()};
    if (Below(10) == 0) put.ttl_ms = 1 + Below(3000);
    const std::uint32_t vectors = Below(40) == 0 ? 0 : 1 + Below(8) / 7;
    for (std::uint32_t i = 0; i < vectors; ++i) {
      put.vectors.push_back({std::to_string(i), vectors_.Next()});
    }
    return put;
  }

  void Write(const std::vector<Operation>& operations) {
    ASSERT_TRUE(in_memory_->Batch(operations));
    const auto results = sqlite_->Batch(operations);
    ASSERT_TRUE(results) << MessageOf(results);
    for (const Operation& operation : operations) {
      const PutOp& put = std::get<PutOp>(operation);
      if (!put.value) {
        model_.entries.erase({put.ns, put.key});
        continue;
      }
      model_.entries[{put.ns, put.key}] = {
          *put.value, put.vectors, clock_.NowMs(),
          put.ttl_ms > 0 ? clock_.NowMs() + put.ttl_ms : INT64_MAX};
    }
  }

  void WriteSome() {
    std::vector<Operation> operations;
    const std::uint32_t begin = Below(kItems);
    for (std::uint32_t item = begin; item < begin + 60; ++item) {
      if (Below(4) == 0) {
        operations.emplace_back(PutOp{.ns = NamespaceOf(item), .key = std::to_string(item)});
      } else {
        operations.emplace_back(Put(item));
      }
    }
    Write(operations);
  }

  void FailToWriteSome() {
    std::vector<Operation> operations;
    const std::uint32_t begin = Below(kItems);
    for (std::uint32_t item = begin; item < begin + 60; ++item) operations.emplace_back(Put(item));
    operations.emplace_back(PutOp{.ns = {"a"}, .key = "bad", .value = "{}"});
    ASSERT_FALSE(sqlite_->Batch(operations));
  }

  void ExpectModelsAnswer(const SearchOp& search) {
    const std::vector<std::string> expected = model_.Search(search, clock_.NowMs());
    for (Store* store : {in_memory_.get(), sqlite_.get()}) {
      const auto found = store->Search(search);
      ASSERT_TRUE(found) << MessageOf(found);
      std::vector<std::string> keys;
      for (const SearchItem& hit : *found) keys.push_back(hit.item.key);
      ASSERT_EQ(keys, expected) << search.filter << " in " << search.ns_prefix.size()
                                << (store == sqlite_.get() ? " SQLite" : " memory");
    }
    found_ += expected.size();
    short_ += expected.size() < search.limit;
  }

  ManualClock clock_{1'700'000'000'000};
  std::mt19937 random_{GetParam()};
  ClusteredVectors vectors_{kDims, 20, GetParam()};
  Model model_;
  std::string path_;
  std::unique_ptr<Store> in_memory_;
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<Store> sqlite_;
  std::size_t found_ = 0, short_ = 0;
};

TEST_P(SelectiveSearchTest, answers_are_those_of_all_rows_through_any_changes) {
  std::vector<Operation> puts;
  for (std::uint32_t item = 0; item < kItems; ++item) puts.emplace_back(Put(item));
  ASSERT_NO_FATAL_FAILURE(Write(puts));
  for (int step = 0; step < 120; ++step) {
    SCOPED_TRACE(step);
    switch (Below(8)) {
      case 0:
        Reopen();
        break;
      case 1:
        clock_.Advance(200);
        ASSERT_TRUE(in_memory_->SweepExpired(20));
        ASSERT_TRUE(sqlite_->SweepExpired(20));
        break;
      case 2:
        ASSERT_NO_FATAL_FAILURE(FailToWriteSome());
        break;
      case 3:
      case 4:
        ASSERT_NO_FATAL_FAILURE(WriteSome());
        break;
      default:
        clock_.Advance(1);
    }
    for (int i = 0; i < 6; ++i) ASSERT_NO_FATAL_FAILURE(ExpectModelsAnswer(Search()));
  }
  EXPECT_GT(found_, 2000U);
  EXPECT_GT(short_, 50U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SelectiveSearchTest, testing::Range(1U, 5U));

}  // namespace
}  // namespace keepsake
