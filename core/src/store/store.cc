#include "keepsake/store.h"

#include <utility>

#include "store/checked_batch.h"

namespace keepsake {
namespace {

// The answer to a batch of one.
template <typename T>
Result<T> Only(Result<std::vector<OperationResult>> results) {
  if (!results) return std::unexpected(std::move(results.error()));
  return std::get<T>(std::move(results->front()));
}

Status StatusOf(const Result<std::vector<OperationResult>>& results) {
  return results ? Status() : results.error();
}

}  // namespace

Result<std::vector<OperationResult>> Store::Batch(std::span<const Operation> operations) {
  std::vector<Operation> embedded;
  if (options_.embedder != nullptr) {
    Result<std::vector<Operation>> result = Embed(operations);
    if (!result) return std::unexpected(std::move(result.error()));
    embedded = std::move(*result);
    operations = embedded;
  }
  const Result<CheckedBatch> batch = CheckBatch(operations, options_, QueryVectors::kMustBeThere);
  if (!batch) return std::unexpected(batch.error());
  return Apply(*batch);
}

Result<std::optional<Item>> Store::Get(Namespace ns, std::string key) {
  const Operation operation = GetOp{.ns = std::move(ns), .key = std::move(key)};
  return Only<std::optional<Item>>(Batch({&operation, 1}));
}

Status Store::Put(Namespace ns, std::string key, std::string value) {
  if (Status status = ValidateNamespace(ns); !status.ok()) return status;
  const Operation operation =
      PutOp{.ns = std::move(ns), .key = std::move(key), .value = std::move(value)};
  return StatusOf(Batch({&operation, 1}));
}

Status Store::Delete(Namespace ns, std::string key) {
  const Operation operation = PutOp{.ns = std::move(ns), .key = std::move(key)};
  return StatusOf(Batch({&operation, 1}));
}

Result<std::vector<SearchItem>> Store::Search(SearchOp search) {
  const Operation operation = std::move(search);
  return Only<std::vector<SearchItem>>(Batch({&operation, 1}));
}

Result<std::vector<Namespace>> Store::ListNamespaces(ListNamespacesOp list) {
  const Operation operation = std::move(list);
  return Only<std::vector<Namespace>>(Batch({&operation, 1}));
}

Status Store::Configure(const std::optional<IndexConfig>& index,
                        const std::optional<TtlConfig>& ttl,
                        const std::optional<TextConfig>& text) {
  if (index && options_.index && *index != *options_.index) {
    return {StatusCode::kConflictingOptions, "store has another index configuration already"};
  }
  if (ttl && ttl_configured_ && *ttl != options_.ttl) {
    return {StatusCode::kConflictingOptions, "store has another ttl configuration already"};
  }
  if (text && text_configured_ && *text != options_.text) {
    return {StatusCode::kConflictingOptions, "store has another text configuration already"};
  }
  StoreOptions configured = options_;
  if (index) configured.index = index;
  if (ttl) configured.ttl = *ttl;
  if (text) configured.text = *text;
  if (Status status = CheckOptions(configured); !status.ok()) return status;
  if (index && !options_.index) {
    if (Status status = CheckIndex(*index); !status.ok()) return status;
  }
  options_ = std::move(configured);
  ttl_configured_ = ttl_configured_ || ttl.has_value();
  text_configured_ = text_configured_ || text.has_value();
  return {};
}

}  // namespace keepsake
