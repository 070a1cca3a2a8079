// What a store costs without the boundary: the same batches over both backends.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "keepsake/database.h"
#include "keepsake/in_memory_store.h"
#include "keepsake/sqlite_store.h"

namespace keepsake {
namespace {

constexpr std::int64_t kStoredItems = 10'000;
constexpr std::int64_t kItemsPerNamespace = 100;

class InMemoryBackend {
 public:
  Store& store() { return *store_; }

 private:
  std::unique_ptr<Store> store_ = MakeInMemoryStore();
};

// Over ":memory:", so that SQLite and our SQL are measured, not the disk.
class SqliteBackend {
 public:
  Store& store() { return *store_; }

 private:
  std::unique_ptr<sql::Database> database_ = sql::OpenDatabase({.path = ":memory:"}).value();
  std::unique_ptr<Store> store_ = MakeSqliteStore(*database_).value();
};

Namespace NamespaceOf(std::int64_t item) {
  return {"users", std::to_string(item / kItemsPerNamespace)};
}

PutOp PutOf(std::int64_t item) {
  return {.ns = NamespaceOf(item),
          .key = "item-" + std::to_string(item),
          .value = R"({"kind":"note","n":)" + std::to_string(item % kItemsPerNamespace) +
                   R"(,"text":"The user likes long walks and short answers."})"};
}

void PutAll(Store& store, std::int64_t count) {
  std::vector<Operation> puts;
  for (std::int64_t item = 0; item < count; ++item) puts.emplace_back(PutOf(item));
  benchmark::DoNotOptimize(store.Batch(puts).value());
}

template <typename Backend>
void PutOne(benchmark::State& state) {
  Backend backend;
  std::int64_t item = 0;
  for (auto _ : state) {
    const Operation put = PutOf(item++ % kStoredItems);
    benchmark::DoNotOptimize(backend.store().Batch({&put, 1}).value());
  }
  state.SetItemsProcessed(state.iterations());
}

template <typename Backend>
void PutBatchOfHundred(benchmark::State& state) {
  Backend backend;
  for (auto _ : state) PutAll(backend.store(), 100);
  state.SetItemsProcessed(state.iterations() * 100);
}

template <typename Backend>
void GetOne(benchmark::State& state) {
  Backend backend;
  PutAll(backend.store(), kStoredItems);
  std::int64_t item = 0;
  for (auto _ : state) {
    const PutOp stored = PutOf(item++ % kStoredItems);
    benchmark::DoNotOptimize(backend.store().Get(stored.ns, stored.key).value());
  }
  state.SetItemsProcessed(state.iterations());
}

template <typename Backend>
void SearchWithFilter(benchmark::State& state) {
  Backend backend;
  PutAll(backend.store(), kStoredItems);
  for (auto _ : state) {
    SearchOp search{.ns_prefix = NamespaceOf(kStoredItems / 2), .filter = R"({"n":{"$gte":90}})"};
    benchmark::DoNotOptimize(backend.store().Search(search).value());
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(PutOne<InMemoryBackend>);
BENCHMARK(PutOne<SqliteBackend>);
BENCHMARK(PutBatchOfHundred<InMemoryBackend>);
BENCHMARK(PutBatchOfHundred<SqliteBackend>);
BENCHMARK(GetOne<InMemoryBackend>);
BENCHMARK(GetOne<SqliteBackend>);
BENCHMARK(SearchWithFilter<InMemoryBackend>);
BENCHMARK(SearchWithFilter<SqliteBackend>);

}  // namespace
}  // namespace keepsake
