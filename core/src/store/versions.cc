#include "store/versions.h"

#include <algorithm>
#include <utility>

#include "base/heap_sort.h"
#include "store/embedding.h"

namespace keepsake {

Item ItemOf(const ItemRef& name, const ItemState& state) {
  return {.ns = name.ns,
          .key = name.key,
          .value = state.value,
          .created_at_ms = state.created_at_ms,
          .updated_at_ms = state.updated_at_ms,
          .validity = state.validity == Validity() ? std::nullopt : std::optional(state.validity),
          .provenance = state.provenance};
}

void FitVectors(ItemState& state, std::size_t dims) {
  const bool fit = std::ranges::all_of(
      state.vectors, [&](const FieldVector& vector) { return vector.values.size() == dims; });
  if (fit) return;
  state.vectors.clear();
  if (std::ranges::find(state.awaited, kIndexFields) == state.awaited.end()) {
    state.awaited.insert(state.awaited.begin(), std::string(kIndexFields));
  }
}

HistoryRules::HistoryRules(std::vector<Row> rows) : rows_(std::move(rows)) {
  HeapSort(rows_, [](const Row& a, const Row& b) { return a.encoded_ns > b.encoded_ns; });
}

// In descending order what begins with another comes before it.
const HistoryRule* HistoryRules::Find(std::string_view encoded_ns) const {
  for (const Row& row : rows_) {
    if (encoded_ns.starts_with(row.encoded_ns)) return &row.rule;
  }
  return nullptr;
}

std::int64_t HorizonOf(const HistoryRule& rule, std::int64_t now_ms) {
  return rule.max_age_ms ? now_ms - *rule.max_age_ms : INT64_MIN;
}

}  // namespace keepsake
