#include "store/checked_batch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "base/heap_sort.h"
#include "json/json.h"
#include "json/utf8.h"
#include "vectors/kernels.h"

namespace keepsake {
namespace {

// Far beyond any use, and far from the end of a 64-bit count of milliseconds.
constexpr std::int64_t kMaxTtlMs = std::int64_t{1} << 52;

constexpr NamespaceRules kExact = {.allow_empty = false, .allow_reserved_root = true};
constexpr NamespaceRules kScope = {.allow_empty = true, .allow_reserved_root = true};

Status Invalid(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }

Status CheckKey(std::string_view key) {
  const auto invalid = [](std::string message) {
    return Status(StatusCode::kInvalidKey, std::move(message));
  };
  if (key.size() > kMaxKeyBytes) {
    return invalid("key must not take more than " + std::to_string(kMaxKeyBytes) + " bytes");
  }
  if (key.find('\0') != key.npos) return invalid("key must not contain NUL");
  if (json::IsWellFormedUtf8(key)) return {};
  return invalid(json::HasEncodedSurrogate(key)
                     ? "key must not contain a lone surrogate"
                     : "key must be well-formed UTF-8: " + json::Quoted(key));
}

Status CheckValue(std::string_view value) {
  if (value.size() > kMaxValueBytes) {
    return {StatusCode::kTooLarge, "value must not take more than " +
                                       std::to_string(kMaxValueBytes) + " bytes: it has " +
                                       std::to_string(value.size())};
  }
  const Status valid = json::Validate(value);
  return valid.ok() ? Status() : Status(valid.code(), "value is " + valid.message());
}

Status CheckTtl(std::int64_t ttl_ms) {
  if (ttl_ms >= 0 && ttl_ms <= kMaxTtlMs) return {};
  return Invalid("ttl must be between 0 and " + std::to_string(kMaxTtlMs) +
                 " milliseconds: " + std::to_string(ttl_ms));
}

Status CheckPath(std::string_view path) {
  if (path.size() > kMaxKeyBytes) {
    return Invalid("index path must not take more than " + std::to_string(kMaxKeyBytes) + " bytes");
  }
  if (json::IsWellFormedUtf8(path) && path.find('\0') == path.npos) return {};
  return Invalid("index path must be well-formed UTF-8 without NUL: " + json::Quoted(path));
}

// They are kept with the item until its texts are embedded.
constexpr std::size_t kMaxPathsBytes = 4096;

Status CheckPaths(std::span<const std::string> paths) {
  std::size_t bytes = 0;
  for (const std::string& path : paths) {
    if (Status status = CheckPath(path); !status.ok()) return status;
    bytes += path.size() + 1;
  }
  if (bytes <= kMaxPathsBytes) return {};
  return Invalid("index paths of an item must not take more than " +
                 std::to_string(kMaxPathsBytes) + " bytes, and one for each: they take " +
                 std::to_string(bytes));
}

Status CheckText(const TextConfig& text) {
  if (text.fields.size() > TextConfig::kMaxFields) {
    return Invalid("text must not have more than " + std::to_string(TextConfig::kMaxFields) +
                   " fields: it has " + std::to_string(text.fields.size()));
  }
  for (const TextField& field : text.fields) {
    if (Status status = CheckPath(field.path); !status.ok()) return status;
    if (!(field.weight >= 0 && field.weight <= TextField::kMaxWeight)) {
      return Invalid("weight of a text field must be between 0 and 100: " +
                     json::Quoted(field.path));
    }
  }
  for (const std::string* path : {&text.group, &text.position, &text.speaker}) {
    if (Status status = CheckPath(*path); !status.ok()) return status;
  }
  return {};
}

Status CheckVector(std::span<const float> vector, const StoreOptions& options) {
  if (!options.index) return Invalid("a vector needs a store with an index");
  if (vector.size() != options.index->dims) {
    return {StatusCode::kDimensionMismatch,
            "vector must have the index's " + std::to_string(options.index->dims) +
                " dimensions: it has " + std::to_string(vector.size()) +
                "; index.dims must be how many numbers the embedding model gives"};
  }
  // What is not finite makes no finite sum; squares of large numbers don't either.
  const bool finite = std::isfinite(search::Dot(vector, vector)) ||
                      std::ranges::all_of(vector, [](float x) { return std::isfinite(x); });
  return finite ? Status() : Invalid("vector must not contain NaN or Infinity");
}

bool IsTime(std::int64_t ms) { return ms >= -Validity::kMostMs && ms <= Validity::kMostMs; }

Status NoTime(const std::string& name, std::int64_t ms) {
  return Invalid(name + " must lie within " + std::to_string(Validity::kMostMs) +
                 " milliseconds of 1970: " + std::to_string(ms));
}

constexpr std::size_t kMaxModelBytes = 1024;

bool IsWithin(double number, double least, double most) {
  return number >= least && number <= most;
}

Status CheckRanking(const Ranking& ranking) {
  if (ranking.min_score && !std::isfinite(*ranking.min_score)) {
    return Invalid("min_score must be a number");
  }
  if (!IsWithin(ranking.vector_weight, 0, 1))
    return Invalid("vector_weight must be between 0 and 1");
  if (!IsWithin(ranking.recency, 0, 1)) return Invalid("recency must be between 0 and 1");
  if (!IsWithin(ranking.diversity, 0, 1)) return Invalid("diversity must be between 0 and 1");
  if (ranking.half_life_ms <= 0) return Invalid("half_life must be positive");
  for (const Boost& boost : ranking.boosts) {
    if (Status status = CheckPath(boost.path); !status.ok()) return status;
    if (!IsWithin(boost.weight, -1, 1)) {
      return Invalid("weight of a boost must be between -1 and 1: " + json::Quoted(boost.path));
    }
  }
  for (const OriginWeight& of : ranking.origins) {
    if (!IsWithin(of.weight, 0, 1)) return Invalid("weight of an origin must be between 0 and 1");
  }
  return {};
}

// More than any store has. Sums of these, and what is some times as many, fit into 32 bits.
constexpr std::uint32_t kMost = 1U << 28;
constexpr std::uint32_t kMostEf = 1U << 24;

// Whether it says more than a search without words can do.
bool NeedsText(const Ranking& ranking) {
  return ranking.recency != 0 || !ranking.boosts.empty() || ranking.diversity != 0 ||
         ranking.snippet_length != 0;
}

class Checker {
 public:
  Checker(const StoreOptions& options, QueryVectors query_vectors)
      : options_(options), query_vectors_(query_vectors) {
    batch_.now_ms = options_.clock->NowMs();
  }

  Status Add(const Operation& operation, std::size_t position) {
    return std::visit([&](const auto& op) { return AddOne(op, position); }, operation);
  }

  CheckedBatch Take(std::size_t size) {
    batch_.size = size;
    KeepLastPuts();
    return std::move(batch_);
  }

 private:
  Status AddOne(const GetOp& op, std::size_t position) {
    if (Status status = ValidateNamespace(op.ns, kExact); !status.ok()) return status;
    if (Status status = CheckKey(op.key); !status.ok()) return status;
    batch_.gets.push_back({position, &op.ns, EncodeNamespace(op.ns), op.key,
                           op.refresh_ttl && options_.ttl.refresh_on_read});
    return {};
  }

  Status AddOne(const PutOp& op, std::size_t position) {
    if (Status status = ValidateNamespace(op.ns, kExact); !status.ok()) return status;
    if (Status status = CheckKey(op.key); !status.ok()) return status;
    const std::int64_t ttl_ms = op.TtlIn(options_.ttl.default_ttl_ms);
    if (Status status = CheckTtl(ttl_ms); !status.ok()) return status;
    if (op.value) {
      if (Status status = CheckValue(*op.value); !status.ok()) return status;
      if (Status status = CheckPaths(op.index.paths); !status.ok()) return status;
      if (Status status = CheckVectors(op.vectors, options_); !status.ok()) return status;
    }
    if (op.provenance) {
      if (Status status = CheckProvenance(op); !status.ok()) return status;
    }
    CheckedPut put{
        .position = position, .op = &op, .encoded_ns = EncodeNamespace(op.ns), .ttl_ms = ttl_ms};
    if (op.validity || op.supersedes) {
      if (Status status = SetValidity(put); !status.ok()) return status;
    }
    batch_.puts.push_back(std::move(put));
    return {};
  }

  static Status CheckProvenance(const PutOp& op) {
    if (!op.value) return Invalid("a deletion has no origin and no source");
    const std::string& source = op.provenance->source;
    if (source.size() <= Provenance::kMaxSourceBytes && json::IsWellFormedUtf8(source) &&
        source.find('\0') == source.npos) {
      return {};
    }
    return Invalid("source must be well-formed UTF-8 without NUL, and not take more than " +
                   std::to_string(Provenance::kMaxSourceBytes) + " bytes: it has " +
                   std::to_string(source.size()));
  }

  // What supersedes holds from now on, unless it says since when.
  Status SetValidity(CheckedPut& put) const {
    const PutOp& op = *put.op;
    if (!op.value) return Invalid("a deletion has no validity, and supersedes nothing");
    put.validity = op.validity.value_or(Validity());
    if (op.supersedes) {
      if (Status status = CheckSuperseded(*op.supersedes, op); !status.ok()) return status;
      put.superseded_ns = EncodeNamespace(op.supersedes->ns);
      if (!put.validity.from_ms) put.validity.from_ms = batch_.now_ms;
    }
    const auto [from, until] = put.validity;
    for (const auto& time : {from, until}) {
      if (time && !IsTime(*time)) return NoTime("the validity of an item", *time);
    }
    if (!from || !until || *from < *until) return {};
    return Invalid("the validity of an item must end after it begins: it begins at " +
                   std::to_string(*from) + " and ends at " + std::to_string(*until));
  }

  static Status CheckSuperseded(const ItemRef& superseded, const PutOp& op) {
    if (Status status = ValidateNamespace(superseded.ns, kExact); !status.ok()) return status;
    if (Status status = CheckKey(superseded.key); !status.ok()) return status;
    if (superseded != ItemRef{op.ns, op.key}) return {};
    return Invalid("an item must not supersede itself (put the new fact under a key of its own): " +
                   json::Quoted(op.key));
  }

  Status AddOne(const SearchOp& op, std::size_t position) {
    if (Status status = ValidateNamespace(op.ns_prefix, kScope); !status.ok()) return status;
    if (op.as_of_ms && op.include_superseded) {
      return Invalid("as_of and include_superseded exclude each other");
    }
    if (op.as_of_ms && !IsTime(*op.as_of_ms)) return NoTime("as_of", *op.as_of_ms);
    Result<json::Filter> filter = json::Filter::Parse(op.filter);
    if (!filter) return filter.error();
    const Result<bool> by_vector = IsByVector(op);
    if (!by_vector) return by_vector.error();
    // Without vectors the usual mode is by words, and what contains the query is a hit.
    const bool is_usual = op.mode == SearchMode::kAuto && !*by_vector;
    const bool by_text = !op.query.empty() && (op.mode == SearchMode::kText ||
                                               op.mode == SearchMode::kHybrid || is_usual);
    const bool contains = op.mode == SearchMode::kContains || is_usual;
    if (op.near || !op.query_vector.empty()) {
      if (Status status = CheckNear(op, *by_vector); !status.ok()) return status;
    }
    batch_.searches.push_back(
        {.position = position,
         .encoded_prefix = EncodeNamespace(op.ns_prefix),
         .filter = std::move(*filter),
         .contains = contains ? search::Substring(op.query) : search::Substring(),
         .by_vector = *by_vector,
         .by_text = by_text,
         .query = op.query,
         .query_vector = op.query_vector,
         .near = op.near ? &*op.near : nullptr,
         .limit = std::min(op.limit, kMost),
         .offset = std::min(op.offset, kMost),
         .refresh_ttl = op.refresh_ttl && options_.ttl.refresh_on_read,
         .ranking = op.ranking.value_or(Ranking()),
         .plan = op.plan,
         .ef_search = std::min(op.ef_search, kMostEf),
         .now_ms = batch_.now_ms,
         .validity = RangeOf(op),
         .include_superseded = op.include_superseded});
    if (!op.ranking) return {};
    const bool is_listing = op.query.empty() && !*by_vector;
    if (!by_text && !is_listing && NeedsText(*op.ranking)) {
      return Invalid(
          "recency, boosts, diversity and snippet are of searches by words: modes text and hybrid, "
          "with a query");
    }
    return CheckRanking(*op.ranking);
  }

  ValidityRange RangeOf(const SearchOp& op) const {
    ValidityRange range;
    if (!op.include_superseded) range = ValidityRange::At(op.as_of_ms.value_or(batch_.now_ms));
    if (op.include_quarantined) range.origin_below = 2 * kQuarantine;
    return range;
  }

  Status CheckNear(const SearchOp& op, bool by_vector) const {
    if (!by_vector) return Invalid("near needs a search by vector, and a store with an index");
    if (!op.near) return CheckVector(op.query_vector, options_);
    if (!op.query_vector.empty()) return Invalid("near and a query vector exclude each other");
    if (Status status = ValidateNamespace(op.near->ns, kExact); !status.ok()) return status;
    return CheckKey(op.near->key);
  }

  Result<bool> IsByVector(const SearchOp& op) const {
    const bool has_query = !op.query.empty() || !op.query_vector.empty() || op.near;
    switch (op.mode) {
      case SearchMode::kContains:
      case SearchMode::kText:
        return false;
      case SearchMode::kAuto:
      case SearchMode::kHybrid:
        if (!has_query || !options_.index) return false;
        break;
      case SearchMode::kVector:
        if (!options_.index)
          return Error(StatusCode::kInvalidArgument,
                       "search by vector needs a store with an index");
        if (!has_query)
          return Error(StatusCode::kInvalidArgument, "search by vector needs a query");
        break;
      default:
        return Error(StatusCode::kInvalidArgument,
                     "search mode is none of auto, vector, contains, text, hybrid");
    }
    const bool lacks_vector = op.query_vector.empty() && !op.near && op.limit > 0;
    if (lacks_vector && query_vectors_ == QueryVectors::kMustBeThere) {
      // Nobody embeds here, though another who was here did: the words are left.
      if (op.mode == SearchMode::kAuto) return false;
      return Error(StatusCode::kInvalidArgument,
                   "search by vector needs the query's vector: this store has an index, so "
                   "open it with the same index, or search by mode text");
    }
    return true;
  }

  Status AddOne(const ListNamespacesOp& op, std::size_t position) {
    for (const MatchCondition& condition : op.match_conditions) {
      if (Status status = ValidateNamespace(condition.path, kScope); !status.ok()) return status;
    }
    if (op.max_depth == 0) return Invalid("max_depth must be at least 1");
    batch_.lists.push_back({position, &op});
    return {};
  }

  void KeepLastPuts() {
    if (batch_.puts.size() < 2) return;
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> last;
    for (const CheckedPut& put : batch_.puts) last[{put.encoded_ns, put.op->key}] = put.position;
    if (last.size() == batch_.puts.size()) return;
    std::vector<CheckedPut> kept;
    kept.reserve(last.size());
    for (CheckedPut& put : batch_.puts) {
      if (last.find({put.encoded_ns, put.op->key})->second == put.position) kept.push_back(put);
    }
    batch_.puts = std::move(kept);
  }

  const StoreOptions& options_;
  QueryVectors query_vectors_;
  CheckedBatch batch_;
};

}  // namespace

Result<CheckedBatch> CheckBatch(std::span<const Operation> operations, const StoreOptions& options,
                                QueryVectors query_vectors) {
  if (Status status = CheckOptions(options); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  Checker checker(options, query_vectors);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Status status = checker.Add(operations[i], i);
    if (status.ok()) continue;
    if (operations.size() == 1) return std::unexpected(status);
    return Error(status.code(), "operation " + std::to_string(i) + ": " + status.message());
  }
  return checker.Take(operations.size());
}

Status CheckOptions(const StoreOptions& options) {
  if (options.embedder != nullptr && !options.index) return Invalid("embedder needs an index");
  if (Status status = CheckTtl(options.ttl.default_ttl_ms); !status.ok()) return status;
  if (Status status = CheckText(options.text); !status.ok()) return status;
  if (!options.index) return {};
  if (options.index->dims == 0 || options.index->dims > kMaxDims) {
    return Invalid("index dims must be between 1 and " + std::to_string(kMaxDims) + ": " +
                   std::to_string(options.index->dims));
  }
  const std::string& model = options.index->model;
  if (model.size() > kMaxModelBytes || !json::IsWellFormedUtf8(model)) {
    return Invalid("index model must be well-formed UTF-8 of at most " +
                   std::to_string(kMaxModelBytes) + " bytes");
  }
  for (const std::string& path : options.index->fields) {
    if (Status status = CheckPath(path); !status.ok()) return status;
  }
  return {};
}

Status CheckVectors(std::span<const FieldVector> vectors, const StoreOptions& options) {
  std::vector<std::string_view> paths;
  for (const FieldVector& vector : vectors) {
    if (Status status = CheckPath(vector.path); !status.ok()) return status;
    if (Status status = CheckVector(vector.values, options); !status.ok()) return status;
    paths.push_back(vector.path);
  }
  HeapSort(paths, std::less());
  const auto repeated = std::ranges::adjacent_find(paths);
  if (repeated == paths.end()) return {};
  return Invalid("vectors of one item must have different paths: " + json::Quoted(*repeated));
}

bool Wants(const CheckedSearch& search, std::int64_t item_id, std::string_view key,
           std::string_view value) {
  return item_id != search.excluded_id && search.filter.Matches(value) &&
         (search.contains.empty() || search.contains.IsIn(key) || search.contains.IsInJson(value));
}

Status CheckExactNamespace(const Namespace& ns) { return ValidateNamespace(ns, kExact); }

std::int64_t ExpiryOf(std::int64_t ttl_ms, std::int64_t now_ms) {
  if (ttl_ms == PutOp::kNoTtl || now_ms > kNeverExpires - ttl_ms) return kNeverExpires;
  return now_ms + ttl_ms;
}

}  // namespace keepsake
