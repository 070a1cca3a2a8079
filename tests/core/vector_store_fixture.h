// A SqliteStore with some thousand vectors, beside a model that reads all of them.
#ifndef KEEPSAKE_TESTS_CORE_VECTOR_STORE_FIXTURE_H_
#define KEEPSAKE_TESTS_CORE_VECTOR_STORE_FIXTURE_H_

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "clustered_vectors.h"
#include "store/sqlite/vector_chunk.h"
#include "store_contract.h"

namespace keepsake {

inline constexpr std::uint32_t kDims = 24;
inline constexpr std::int64_t kSlotsPerChunk = 1024;
inline constexpr std::int64_t kStart = 1'700'000'000'000;

inline double Cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return aa * bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

// What was put, searched by reading all of it.
class Model {
 public:
  struct Entry {
    std::string kind;
    std::vector<FieldVector> vectors;
    std::int64_t expires_at_ms;
  };
  using Key = std::pair<Namespace, std::string>;

  std::map<Key, Entry> entries;

  std::vector<std::pair<Key, double>> Search(const SearchOp& search, const std::string& kind,
                                             std::int64_t now_ms) const {
    std::vector<std::tuple<double, Key>> hits;
    for (const auto& [key, entry] : entries) {
      const bool below =
          key.first.size() >= search.ns_prefix.size() &&
          std::equal(search.ns_prefix.begin(), search.ns_prefix.end(), key.first.begin());
      const bool wanted = below && entry.expires_at_ms > now_ms && !entry.vectors.empty() &&
                          (kind.empty() || entry.kind == kind);
      if (!wanted) continue;
      double best = -1;
      for (const FieldVector& vector : entry.vectors) {
        best = std::max(best, Cosine(search.query_vector, vector.values));
      }
      hits.emplace_back(-best, key);
    }
    std::ranges::sort(hits);
    std::vector<std::pair<Key, double>> page;
    for (std::size_t i = search.offset; i < hits.size() && page.size() < search.limit; ++i) {
      page.emplace_back(std::get<1>(hits[i]), -std::get<0>(hits[i]));
    }
    return page;
  }
};

class VectorStoreTest : public ::testing::Test {
 protected:
  VectorStoreTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = (std::filesystem::path(::testing::TempDir()) /
             (std::string("keepsake_vectors_") + test->name() + ".db"))
                .string();
    Remove();
    Reopen();
  }

  ~VectorStoreTest() override {
    Close();
    Remove();
  }

  void Close() {
    store_.reset();
    database_.reset();
  }

  void Reopen() {
    Close();
    auto database = sql::OpenDatabase({.path = path_});
    ASSERT_TRUE(database) << MessageOf(database);
    database_ = std::move(*database);
    auto store = MakeSqliteStore(
        *database_,
        {.index = IndexConfig{.dims = kDims}, .ttl = {.refresh_on_read = false}, .clock = &clock_});
    ASSERT_TRUE(store) << MessageOf(store);
    store_ = std::move(*store);
  }

  void Remove() {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }

  std::uint32_t Below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  PutOp MakePut(std::uint32_t item) {
    const std::string kind = item % 16 == 0 ? "rare" : item % 2 == 0 ? "even" : "odd";
    PutOp put{.ns = {"users", std::to_string(item % 3)},
              .key = std::to_string(item),
              .value = R"({"kind":")" + kind + R"("})"};
    if (Below(10) == 0) put.ttl_ms = 1 + Below(2000);
    const std::uint32_t vectors = Below(20) == 0 ? 0 : 1 + Below(8) / 7;
    for (std::uint32_t i = 0; i < vectors; ++i) {
      put.vectors.push_back({std::to_string(i), vectors_.Next()});
    }
    model_.entries[{put.ns, put.key}] = {kind, put.vectors,
                                         put.ttl_ms > 0 ? clock_.NowMs() + put.ttl_ms : INT64_MAX};
    return put;
  }

  void PutItems(std::uint32_t begin, std::uint32_t end) {
    std::vector<Operation> puts;
    for (std::uint32_t item = begin; item < end; ++item) puts.emplace_back(MakePut(item));
    const auto results = store_->Batch(puts);
    ASSERT_TRUE(results) << MessageOf(results);
  }

  void DeleteItem(std::uint32_t item) {
    const Namespace ns = {"users", std::to_string(item % 3)};
    ASSERT_TRUE(store_->Delete(ns, std::to_string(item)).ok());
    model_.entries.erase({ns, std::to_string(item)});
  }

  void ExpectModelsAnswer(const SearchOp& search, const std::string& kind = "") {
    const auto expected = model_.Search(search, kind, clock_.NowMs());
    const auto found = store_->Search(search);
    ASSERT_TRUE(found) << MessageOf(found);
    ASSERT_GE(found->size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const SearchItem& hit = (*found)[i];
      ASSERT_TRUE(hit.score) << i;
      ASSERT_EQ(hit.item.key, expected[i].first.second) << i;
      ASSERT_NEAR(*hit.score, expected[i].second, 1e-6) << i;
    }
  }

  void ExpectModelsAnswers() {
    ExpectModelsAnswer({.query_vector = vectors_.Next()});
    ExpectModelsAnswer({.limit = 25, .offset = 7, .query_vector = vectors_.Next()});
    ExpectModelsAnswer({.ns_prefix = {"users", "1"}, .query_vector = vectors_.Next()});
    for (const std::string kind : {"odd", "rare", "none"}) {
      ExpectModelsAnswer(
          {.filter = R"({"kind":")" + kind + R"("})", .query_vector = vectors_.Next()}, kind);
    }
  }

  std::int64_t Number(std::string_view sql) {
    std::int64_t number = -1;
    const Status status =
        database_->Run(sql, {}, [&](const sql::Row& row) { number = row.Int(0); });
    EXPECT_TRUE(status.ok()) << status.message();
    return number;
  }
  std::int64_t Chunks() { return Number("SELECT count(*) FROM vector_chunks"); }

  // That the codes of the chunks are those of the rows.
  void ExpectSoundChunks() {
    const VectorChunk::Layout layout(kDims);
    std::map<std::int64_t, Bytes> vectors;
    Status status =
        database_->Run("SELECT vector_id, vector FROM store_vectors", {}, [&](const sql::Row& row) {
          const ByteView bytes = row.Blob(1);
          vectors[row.Int(0)].assign(bytes.begin(), bytes.end());
        });
    ASSERT_TRUE(status.ok());
    status = database_->Run(
        "SELECT first_id, checksum, codes FROM vector_chunks", {}, [&](const sql::Row& row) {
          const ByteView bytes = row.Blob(2);
          EXPECT_EQ(row.Int(1), ChunkChecksum(row.Int(0), kDims, bytes));
          for (auto it = vectors.lower_bound(row.Int(0));
               it != vectors.end() && it->first < row.Int(0) + kSlotsPerChunk; ++it) {
            std::vector<float> vector(kDims);
            std::memcpy(vector.data(), it->second.data(), it->second.size());
            Bytes record(layout.record_bytes());
            layout.WriteRecord(vector, record.data());
            const auto at = static_cast<std::size_t>(it->first - row.Int(0)) * record.size();
            EXPECT_TRUE(std::ranges::equal(record, bytes.subspan(at, record.size())));
          }
        });
    ASSERT_TRUE(status.ok());
  }

  std::mt19937 random_{3};
  ClusteredVectors vectors_{kDims, 40, 17};
  Model model_;
  ManualClock clock_{kStart};
  std::string path_;
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<Store> store_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_TESTS_CORE_VECTOR_STORE_FIXTURE_H_
