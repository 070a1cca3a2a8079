// Where an item comes from, as whoever put it says. It travels with the item into every version
// of it, every copy and every answer.
#ifndef KEEPSAKE_PROVENANCE_H_
#define KEEPSAKE_PROVENANCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keepsake {

// Persistent, never renumber. At most 15.
enum class Origin : std::uint8_t { kUnknown = 0, kUser = 1, kTool = 2, kWeb = 3, kModel = 4 };

struct Provenance {
  static constexpr std::size_t kMaxSourceBytes = 1024;

  Origin origin = Origin::kUnknown;
  std::string source{};  // well-formed UTF-8 without NUL: a URL, a tool, a file, a run; "" for none
  // Only searches with SearchOp::include_quarantined find it, until it is put again.
  bool is_quarantined = false;

  bool operator==(const Provenance&) const = default;
};

// Items that come from there. All that is said must hold; without anything it is every item.
struct ProvenanceFilter {
  Origin origin = Origin::kUnknown;  // for any
  std::string source{};              // "" for any
  bool is_prefix = false;            // sources that begin with `source`

  bool empty() const { return origin == Origin::kUnknown && source.empty(); }
  bool Matches(const std::optional<Provenance>& provenance) const {
    if (empty()) return true;
    if (!provenance) return false;
    if (origin != Origin::kUnknown && origin != provenance->origin) return false;
    const std::string_view known = provenance->source;
    return source.empty() || (is_prefix ? known.starts_with(source) : known == source);
  }
};

}  // namespace keepsake

#endif  // KEEPSAKE_PROVENANCE_H_
