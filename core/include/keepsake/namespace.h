// A Namespace is a path of labels: {"users", "u1", "memories"}.
// A prefix is compared label by label, so {"user"} is no prefix of {"users"}.
#ifndef KEEPSAKE_NAMESPACE_H_
#define KEEPSAKE_NAMESPACE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/status.h"

namespace keepsake {

using Namespace = std::vector<std::string>;

// Which of two rules are waived; all others always hold.
struct NamespaceRules {
  bool allow_empty = false;          // {} names the whole store in a search
  bool allow_reserved_root = false;  // first label "langgraph"
};

inline constexpr std::size_t kMaxNamespaceLabels = 1000;
inline constexpr std::size_t kMaxNamespaceBytes = 64 * 1024;  // encoded

// kInvalidNamespace unless every label is non-empty well-formed UTF-8 without
// '.', ':' and NUL, and the limits above hold.
Status ValidateNamespace(const Namespace& ns, NamespaceRules rules = {});

// The stored form. Injective, and a prefix of labels is a prefix of bytes:
//   namespace := label*        label := escaped U+001F
//   escaped   := the label with U+001E as U+001E '0' and U+001F as U+001E '1'
// Persistent.
std::string EncodeNamespace(const Namespace& ns);
// kCorrupt if `encoded` is not the encoding of any namespace.
Result<Namespace> DecodeNamespace(std::string_view encoded);

// Whether the first labels of `ns` are those of `prefix`, as they stand.
bool BeginsWith(const Namespace& ns, const Namespace& prefix);

enum class MatchType : std::uint8_t { kPrefix = 0, kSuffix = 1 };  // persistent

// `path` matches the first (prefix) or last (suffix) labels; "*" stands for
// exactly one label.
struct MatchCondition {
  MatchType match_type = MatchType::kPrefix;
  Namespace path;
};

bool Matches(const MatchCondition& condition, const Namespace& ns);

}  // namespace keepsake

#endif  // KEEPSAKE_NAMESPACE_H_
