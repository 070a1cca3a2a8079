// Where an item or a version comes from, as columns `origin` and `source`. Most have neither; what
// has a source has an origin, if only 0, so that a reader looks at one column.
#ifndef KEEPSAKE_STORE_SQLITE_PROVENANCE_COLUMNS_H_
#define KEEPSAKE_STORE_SQLITE_PROVENANCE_COLUMNS_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "keepsake/database.h"
#include "keepsake/provenance.h"
#include "store/validity.h"

namespace keepsake {

// Borrows the source.
inline std::array<sql::Param, 2> ProvenanceParams(const std::optional<Provenance>& provenance) {
  std::array<sql::Param, 2> params{};
  if (!provenance || *provenance == Provenance()) return params;
  const auto number = std::int64_t{std::to_underlying(provenance->origin)} +
                      (provenance->is_quarantined ? kQuarantine : 0);
  params[0] = number;
  if (!provenance->source.empty()) params[1] = std::string_view(provenance->source);
  return params;
}

// Of two columns, one beside the other. "" if there is none.
inline std::string_view SourceIn(const sql::Row& row, int origin) {
  return row.IsNull(origin) ? std::string_view() : row.Text(origin + 1);
}
inline std::optional<Provenance> ProvenanceIn(const sql::Row& row, int origin) {
  if (row.IsNull(origin)) return std::nullopt;
  const std::int64_t number = row.Int(origin);
  return Provenance{.origin = static_cast<Origin>(number % kQuarantine),
                    .source = std::string(row.Text(origin + 1)),
                    .is_quarantined = number >= kQuarantine};
}

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_PROVENANCE_COLUMNS_H_
