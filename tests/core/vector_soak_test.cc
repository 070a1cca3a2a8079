// Very many puts, updates and deletions, with a graph that is improved beside them: in the
// end it finds what a graph of the same vectors finds that was built at once, and takes no
// more room. KEEPSAKE_SOAK=200000 is the number of operations; without it, a slice of them.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "clustered_vectors.h"
#include "store_contract.h"

// Not under AddressSanitizer, which keeps what was freed.
#if defined(__has_feature)
#define KEEPSAKE_MEASURES_MEMORY !__has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define KEEPSAKE_MEASURES_MEMORY 0
#else
#define KEEPSAKE_MEASURES_MEMORY 1
#endif

namespace keepsake {
namespace {

constexpr std::uint32_t kDims = 48, kQueries = 200, kWanted = 10, kSeed = 41;

struct Size {
  std::uint32_t operations, keys;
};

Size SizeOfSoak() {
  const char* operations = std::getenv("KEEPSAKE_SOAK");
  if (operations == nullptr) return {4'000, 1'200};
  return {static_cast<std::uint32_t>(std::atoi(operations)), 12'000};
}

class OpenStore {
 public:
  explicit OpenStore(const std::string& path) {
    auto opened = sql::OpenDatabase({.path = path});
    EXPECT_TRUE(opened) << MessageOf(opened);
    database = std::move(*opened);
    auto made = MakeSqliteStore(*database, {.index = IndexConfig{.dims = kDims}});
    EXPECT_TRUE(made) << MessageOf(made);
    store = std::move(*made);
  }

  // Up to `steps` of what a host does when it is idle, or all that is left.
  void Improve(int steps, bool is_wanted) {
    for (bool more = true; more && steps != 0; --steps) {
      const auto progress = store->ImproveIndex({.vectors = 32, .is_wanted = is_wanted});
      ASSERT_TRUE(progress) << MessageOf(progress);
      more = !progress->is_done;
    }
  }

  std::int64_t Number(std::string_view sql) const {
    std::int64_t number = -1;
    EXPECT_TRUE(database->Run(sql, {}, [&](const sql::Row& row) { number = row.Int(0); }).ok());
    return number;
  }

  std::unique_ptr<sql::Database> database;
  std::unique_ptr<Store> store;
};

class VectorSoakTest : public testing::Test {
 protected:
  VectorSoakTest() : path_(std::filesystem::path(testing::TempDir()) / "keepsake_soak.db") {
    Remove();
  }
  ~VectorSoakTest() override { Remove(); }

  void Remove() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }

  PutOp MakePut(std::uint32_t key) {
    PutOp put{.ns = {"n"}, .key = std::to_string(key), .value = "1"};
    put.vectors = {{"$", vectors_.Next()}};
    vector_of_[key] = put.vectors[0].values;
    return put;
  }

  // Of three operations one deletes; a put is an update if the key is there.
  std::vector<Operation> MakeBatch(std::uint32_t operations, std::uint32_t keys) {
    std::vector<Operation> batch;
    for (std::uint32_t i = 0; i < operations; ++i) {
      const auto key = static_cast<std::uint32_t>(random_() % keys);
      if (random_() % 3 == 0) {
        batch.emplace_back(PutOp{.ns = {"n"}, .key = std::to_string(key), .value = {}});
        vector_of_.erase(key);
      } else {
        batch.emplace_back(MakePut(key));
      }
    }
    return batch;
  }

  double Recall(Store& store, std::uint32_t ef_search) {
    ClusteredVectors queries(kDims, 60, kSeed);
    std::size_t found = 0;
    for (std::uint32_t i = 0; i < kQueries; ++i) {
      SearchOp search{.limit = kWanted, .query_vector = queries.Next()};
      const std::vector<float> other = queries.Next();  // or it would be one that was put
      for (std::uint32_t d = 0; d < kDims; ++d) search.query_vector[d] += other[d] / 2;
      search.plan = SearchPlan::kExact;
      const auto exact = store.Search(search);
      search.plan = SearchPlan::kGraph;
      search.ef_search = ef_search;
      const auto hits = store.Search(search);
      EXPECT_TRUE(exact && hits);
      if (!exact || !hits || hits->size() != kWanted) continue;
      for (const SearchItem& hit : *hits) found += *hit.score >= *exact->back().score - 1e-9;
    }
    return static_cast<double>(found) / (kQueries * kWanted);
  }

  static std::int64_t ResidentKb() {
    std::ifstream statm("/proc/self/statm");
    std::int64_t pages = 0, resident = 0;
    statm >> pages >> resident;
    return resident * 4;
  }

  std::string path_;
  std::mt19937 random_{kSeed};
  ClusteredVectors vectors_{kDims, 60, kSeed};
  std::map<std::uint32_t, std::vector<float>> vector_of_;
};

TEST_F(VectorSoakTest, recall_and_room_are_those_of_a_fresh_build_after_any_number_of_changes) {
  const auto [operations, keys] = SizeOfSoak();
  constexpr std::uint32_t kBatch = 50;
  auto soaked = std::make_unique<OpenStore>(path_);
  ASSERT_TRUE(soaked->store->Batch(MakeBatch(keys, keys)));
  ASSERT_NO_FATAL_FAILURE(soaked->Improve(-1, true));
  std::int64_t resident_early = 0;
  for (std::uint32_t done = 0; done < operations; done += kBatch) {
    ASSERT_TRUE(soaked->store->Batch(MakeBatch(kBatch, keys)));
    ASSERT_NO_FATAL_FAILURE(soaked->Improve(6, false));
    if (done % (operations / 8) < kBatch) {
      soaked.reset();
      soaked = std::make_unique<OpenStore>(path_);
      Recall(*soaked->store, 128);  // reads the index
      if (done >= operations / 4 && resident_early == 0) resident_early = ResidentKb();
    }
  }
  ASSERT_NO_FATAL_FAILURE(soaked->Improve(-1, false));
  const std::int64_t resident_late = ResidentKb();

  OpenStore fresh(":memory:");
  std::vector<Operation> puts;
  for (const auto& [key, vector] : vector_of_) {
    puts.emplace_back(
        PutOp{.ns = {"n"}, .key = std::to_string(key), .value = "1", .vectors = {{"$", vector}}});
  }
  ASSERT_TRUE(fresh.store->Batch(puts));
  ASSERT_NO_FATAL_FAILURE(fresh.Improve(-1, true));

  const auto live = static_cast<std::int64_t>(vector_of_.size());
  EXPECT_EQ(soaked->store->Stats()->vectors, vector_of_.size());
  for (const std::uint32_t ef_search : {32U, 128U}) {
    const double soaked_recall = Recall(*soaked->store, ef_search);
    const double fresh_recall = Recall(*fresh.store, ef_search);
    std::printf("recall@10 at ef_search %u: %.4f, built at once %.4f\n", ef_search, soaked_recall,
                fresh_recall);
    EXPECT_GE(soaked_recall, fresh_recall - 0.01);
  }
  // Chunks of 1,024 slots of which fewer than a quarter live are emptied.
  const std::int64_t chunks =
      soaked->Number("SELECT count(DISTINCT vector_id / 1024) FROM store_vectors");
  const std::int64_t graph = soaked->Number("SELECT sum(length(bytes)) FROM graph_chunks");
  const std::int64_t fresh_graph = fresh.Number("SELECT sum(length(bytes)) FROM graph_chunks");
  std::printf(
      "%u operations, %lld items, %lld chunks; graph %lld bytes, built at once %lld;"
      " resident %lld KB after a quarter, %lld KB at the end\n",
      operations, static_cast<long long>(live), static_cast<long long>(chunks),
      static_cast<long long>(graph), static_cast<long long>(fresh_graph),
      static_cast<long long>(resident_early), static_cast<long long>(resident_late));
  EXPECT_LE(chunks, live / 256 + 3);
  EXPECT_LE(graph, fresh_graph * 3 / 2);
#if KEEPSAKE_MEASURES_MEMORY
  EXPECT_LE(resident_late, resident_early * 5 / 4 + 4096);
#endif
}

}  // namespace
}  // namespace keepsake
