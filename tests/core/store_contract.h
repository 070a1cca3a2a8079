// What the tests of the stores share: the backends, a fake embedder, short names.
#ifndef KEEPSAKE_TESTS_CORE_STORE_CONTRACT_H_
#define KEEPSAKE_TESTS_CORE_STORE_CONTRACT_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keepsake/database.h"
#include "keepsake/in_memory_store.h"
#include "keepsake/sqlite_store.h"
#include "keepsake/store.h"

namespace keepsake {

// Counts words: the vector of a text says how often each of four words is in it.
class WordEmbedder final : public Embedder {
 public:
  static constexpr std::uint32_t kDims = 4;

  static std::vector<float> VectorOf(std::string_view text) {
    constexpr std::array<std::string_view, kDims> kWords = {"tea", "coffee", "music", "rain"};
    std::vector<float> vector(kDims, 0);
    for (std::size_t i = 0; i < kDims; ++i) {
      for (std::size_t at = text.find(kWords[i]); at != text.npos;
           at = text.find(kWords[i], at + 1)) {
        ++vector[i];
      }
    }
    return vector;
  }

  Result<std::vector<std::vector<float>>> EmbedDocuments(
      std::span<const std::string> texts) override {
    document_calls.emplace_back(texts.begin(), texts.end());
    std::vector<std::vector<float>> vectors;
    for (const std::string& text : texts) vectors.push_back(VectorOf(text));
    return vectors;
  }

  Result<std::vector<float>> EmbedQuery(const std::string& text) override {
    query_calls.push_back(text);
    return VectorOf(text);
  }

  std::vector<std::vector<std::string>> document_calls;
  std::vector<std::string> query_calls;
};

struct InMemoryBackend {
  std::unique_ptr<Store> Open(StoreOptions options) {
    return MakeInMemoryStore(std::move(options));
  }
};

struct SqliteBackend {
  std::unique_ptr<Store> Open(StoreOptions options) {
    auto opened = sql::OpenDatabase({.path = ":memory:"});
    if (!opened) return Fail(opened.error());
    auto store = MakeSqliteStore(**opened, std::move(options));
    if (!store) return Fail(store.error());
    databases.push_back(std::move(*opened));
    return std::move(*store);
  }

  std::unique_ptr<Store> Fail(const Status& status) {
    ADD_FAILURE() << status.message();
    return nullptr;
  }

  std::vector<std::unique_ptr<sql::Database>> databases;
};

inline StatusCode CodeOf(const Status& status) { return status.code(); }
template <typename T>
StatusCode CodeOf(const Result<T>& result) {
  return result ? StatusCode::kOk : result.error().code();
}

template <typename T>
std::string MessageOf(const Result<T>& result) {
  return result ? "" : result.error().message();
}
inline std::string MessageOf(const Status& status) { return status.message(); }

inline std::vector<std::string> KeysOf(const Result<std::vector<SearchItem>>& found) {
  std::vector<std::string> keys;
  if (!found) {
    ADD_FAILURE() << found.error().message();
    return keys;
  }
  for (const SearchItem& hit : *found) keys.push_back(hit.item.key);
  return keys;
}

inline Operation PutOperation(Namespace ns, std::string key, std::string value) {
  return PutOp{.ns = std::move(ns), .key = std::move(key), .value = std::move(value)};
}

inline Operation DeleteOperation(Namespace ns, std::string key) {
  return PutOp{.ns = std::move(ns), .key = std::move(key)};
}

}  // namespace keepsake

#endif  // KEEPSAKE_TESTS_CORE_STORE_CONTRACT_H_
