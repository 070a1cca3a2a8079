// What a batch needs embedded, and embedding it with the store's own Embedder.
#include "store/embedding.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/hash.h"
#include "base/varint.h"
#include "json/path.h"
#include "store/checked_batch.h"

namespace keepsake {
namespace {

// Texts without repetition, numbered in the order in which they first came.
class DistinctTexts {
 public:
  explicit DistinctTexts(std::vector<std::string>& texts) : texts_(texts) {}

  std::size_t Number(std::string text) {
    const auto [entry, is_new] = numbers_.try_emplace(std::move(text), texts_.size());
    if (is_new) texts_.push_back(entry->first);
    return entry->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::size_t> numbers_;
};

std::span<const std::string> PathsOf(const PutOp& op, const IndexConfig& index) {
  switch (op.index.kind) {
    case IndexChoice::Kind::kNone:
      return {};
    case IndexChoice::Kind::kPaths:
      return op.index.paths;
    case IndexChoice::Kind::kStoreDefault:
      break;
  }
  return index.fields;
}

Result<EmbeddingPlan::Put> PlanPut(const CheckedPut& put, const IndexConfig& index,
                                   DistinctTexts& numbers) {
  Result<PathTexts> texts = TextsToEmbed(*put.op->value, PathsOf(*put.op, index));
  if (!texts) return std::unexpected(std::move(texts.error()));
  EmbeddingPlan::Put plan{.position = put.position, .paths = std::move(texts->paths), .texts = {}};
  for (std::string& text : texts->texts) plan.texts.push_back(numbers.Number(std::move(text)));
  return plan;
}

Status CheckCount(std::size_t vectors, std::size_t texts) {
  if (vectors == texts) return {};
  return {StatusCode::kInvalidArgument,
          "embedder must return one vector per text: " + std::to_string(vectors) + " for " +
              std::to_string(texts)};
}

}  // namespace

Result<PathTexts> TextsToEmbed(std::string_view value, std::span<const std::string> paths) {
  PathTexts found;
  std::unordered_set<std::string> seen;
  for (const std::string& path : paths) {
    Result<std::vector<std::string>> texts = json::TextsAtPath(value, path);
    if (!texts) return std::unexpected(std::move(texts.error()));
    for (std::size_t i = 0; i < texts->size(); ++i) {
      std::string text_path = texts->size() == 1 ? path : path + "." + std::to_string(i);
      if (!seen.insert(text_path).second) continue;
      found.paths.push_back(std::move(text_path));
      found.texts.push_back(std::move((*texts)[i]));
    }
  }
  return found;
}

std::vector<std::string> PathsOfTexts(std::span<const std::string> text_paths) {
  std::vector<std::string> paths;
  for (const std::string& text_path : text_paths) {
    const std::size_t digits = text_path.find_last_not_of("0123456789") + 1;
    const bool is_numbered =
        digits > 0 && digits < text_path.size() && text_path[digits - 1] == '.';
    const std::string path = is_numbered ? text_path.substr(0, digits - 1) : text_path;
    const bool has_several = path.find_first_of("*{") != path.npos;
    const std::string& base = has_several ? path : text_path;
    if (std::ranges::find(paths, base) == paths.end()) paths.push_back(base);
  }
  return paths;
}

std::vector<std::string> PathsToAwait(const PutOp& op, const IndexConfig* index, bool is_indexed) {
  const bool by_default = op.index.kind == IndexChoice::Kind::kStoreDefault;
  if (!op.vectors.empty() || (by_default && !is_indexed)) return {};
  if (index != nullptr) {
    const Result<PathTexts> texts = TextsToEmbed(*op.value, PathsOf(op, *index));
    if (!texts || texts->texts.empty()) return {};
  }
  if (by_default) return {std::string(kIndexFields)};
  if (op.index.kind == IndexChoice::Kind::kNone || op.index.paths.empty()) {
    if (is_indexed) return {};
    return {std::string(kNoTextPath)};
  }
  std::set<std::string> paths;
  for (const std::string& path : op.index.paths) paths.insert(path.empty() ? "$" : path);
  return {paths.begin(), paths.end()};
}

PathTexts TextsAwaited(std::string_view value, std::span<const std::string> paths,
                       std::span<const std::string> index_fields) {
  std::vector<std::string> all = PathsOfTexts(paths);
  if (std::erase(all, kIndexFields) > 0) {
    all.insert(all.end(), index_fields.begin(), index_fields.end());
  }
  Result<PathTexts> texts = TextsToEmbed(value, all);
  return texts ? *std::move(texts) : PathTexts();
}

std::uint32_t FingerprintOf(std::string_view value, std::span<const std::string> paths) {
  // Not std::hash: devices of other kinds are told of it.
  std::uint64_t hash = HashOf(BytesOf(value));
  for (const std::string& path : paths) hash = HashOf(BytesOf(path), hash);
  return static_cast<std::uint32_t>(hash);
}

Result<EmbeddingPlan> Store::PrepareEmbedding(std::span<const Operation> operations) const {
  EmbeddingPlan plan;
  const Result<CheckedBatch> batch = CheckBatch(operations, options_, QueryVectors::kMayComeLater);
  if (!batch) return std::unexpected(batch.error());
  if (!options_.index) return plan;

  DistinctTexts text_numbers(plan.texts);
  for (const CheckedPut& put : batch->puts) {
    if (!put.op->value || !put.op->vectors.empty()) continue;
    Result<EmbeddingPlan::Put> planned = PlanPut(put, *options_.index, text_numbers);
    if (!planned) return std::unexpected(std::move(planned.error()));
    if (!planned->paths.empty()) plan.puts.push_back(std::move(*planned));
  }
  DistinctTexts query_numbers(plan.queries);
  for (const CheckedSearch& search : batch->searches) {
    const bool has_vector = !search.query_vector.empty() || search.near != nullptr;
    if (!search.by_vector || has_vector || search.limit == 0) continue;
    plan.query_positions.push_back(search.position);
    plan.query_of.push_back(query_numbers.Number(std::string(search.query)));
  }
  return plan;
}

// The operations with their vectors in place.
Result<std::vector<Operation>> Store::Embed(std::span<const Operation> operations) {
  const Result<EmbeddingPlan> plan = PrepareEmbedding(operations);
  if (!plan) return std::unexpected(plan.error());
  std::vector<Operation> embedded(operations.begin(), operations.end());

  if (!plan->texts.empty()) {
    const auto vectors = options_.embedder->EmbedDocuments(plan->texts);
    if (!vectors) return std::unexpected(vectors.error());
    if (Status status = CheckCount(vectors->size(), plan->texts.size()); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    for (const EmbeddingPlan::Put& put : plan->puts) {
      auto& target = std::get<PutOp>(embedded[put.position]).vectors;
      for (std::size_t i = 0; i < put.paths.size(); ++i) {
        target.push_back({.path = put.paths[i], .values = (*vectors)[put.texts[i]]});
      }
    }
  }

  std::vector<std::vector<float>> query_vectors;
  for (const std::string& query : plan->queries) {
    Result<std::vector<float>> vector = options_.embedder->EmbedQuery(query);
    if (!vector) return std::unexpected(std::move(vector.error()));
    query_vectors.push_back(std::move(*vector));
  }
  for (std::size_t i = 0; i < plan->query_positions.size(); ++i) {
    std::get<SearchOp>(embedded[plan->query_positions[i]]).query_vector =
        query_vectors[plan->query_of[i]];
  }
  return embedded;
}

}  // namespace keepsake
