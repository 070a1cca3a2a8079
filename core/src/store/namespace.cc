#include "keepsake/namespace.h"

#include <algorithm>

#include "json/utf8.h"

namespace keepsake {
namespace {

constexpr char kEndOfLabel = '\x1F';
constexpr char kEscape = '\x1E';
constexpr char kEscapedEscape = '0';
constexpr char kEscapedEnd = '1';
constexpr std::string_view kReservedRoot = "langgraph";

Status Invalid(std::string message) { return {StatusCode::kInvalidNamespace, std::move(message)}; }

// What nearly all labels are: nothing in it is forbidden, and nothing to escape. One look at
// each byte, on the way of every get and put.
bool IsPlain(std::string_view label) {
  for (const char c : label) {
    if (c < ' ' || c > '~' || c == '.' || c == ':') return false;
  }
  return true;
}

Status ValidateLabel(std::string_view label) {
  if (label.empty()) return Invalid("namespace label must not be empty");
  if (IsPlain(label)) return {};
  for (const char forbidden : {'.', ':'}) {
    if (label.find(forbidden) != label.npos) {
      return Invalid("namespace label must not contain '" + std::string(1, forbidden) +
                     "': " + json::Quoted(label));
    }
  }
  if (label.find('\0') != label.npos) return Invalid("namespace label must not contain NUL");
  if (json::IsWellFormedUtf8(label)) return {};
  return Invalid(json::HasEncodedSurrogate(label)
                     ? "namespace label must not contain a lone surrogate"
                     : "namespace label must be well-formed UTF-8: " + json::Quoted(label));
}

bool NeedsEscape(char c) { return c == kEndOfLabel || c == kEscape; }

std::size_t EncodedSize(std::string_view label) {
  if (IsPlain(label)) return label.size() + 1;
  return label.size() + 1 + static_cast<std::size_t>(std::ranges::count_if(label, NeedsEscape));
}

// Reads the labels of an encoded namespace; false if it is none.
bool DecodeLabels(std::string_view encoded, Namespace& labels) {
  std::string label;
  for (std::size_t at = 0; at < encoded.size(); ++at) {
    const char c = encoded[at];
    if (c == kEndOfLabel) {
      if (label.empty()) return false;
      labels.push_back(std::move(label));
      label.clear();
    } else if (c != kEscape) {
      label += c;
    } else {
      ++at;
      const char escaped = at < encoded.size() ? encoded[at] : '\0';
      if (escaped != kEscapedEscape && escaped != kEscapedEnd) return false;
      label += escaped == kEscapedEscape ? kEscape : kEndOfLabel;
    }
  }
  return label.empty();
}

}  // namespace

Status ValidateNamespace(const Namespace& ns, NamespaceRules rules) {
  if (ns.empty()) return rules.allow_empty ? Status() : Invalid("namespace must not be empty");
  if (ns.size() > kMaxNamespaceLabels) {
    return Invalid("namespace must not have more than " + std::to_string(kMaxNamespaceLabels) +
                   " labels: it has " + std::to_string(ns.size()));
  }
  std::size_t encoded_size = 0;
  for (const std::string& label : ns) {
    encoded_size += EncodedSize(label);
    if (encoded_size > kMaxNamespaceBytes) {
      return Invalid("namespace must not take more than " + std::to_string(kMaxNamespaceBytes) +
                     " bytes");
    }
    if (Status status = ValidateLabel(label); !status.ok()) return status;
  }
  if (!rules.allow_reserved_root && ns.front() == kReservedRoot) {
    return Invalid("namespace must not begin with the reserved label \"langgraph\"");
  }
  return {};
}

std::string EncodeNamespace(const Namespace& ns) {
  std::string encoded;
  std::size_t size = 0;
  for (const std::string& label : ns) size += label.size() + 1;
  encoded.reserve(size);
  for (const std::string& label : ns) {
    if (IsPlain(label)) {
      encoded += label;
    } else {
      for (const char c : label) {
        if (NeedsEscape(c)) encoded += kEscape;
        encoded += c == kEscape ? kEscapedEscape : c == kEndOfLabel ? kEscapedEnd : c;
      }
    }
    encoded += kEndOfLabel;
  }
  return encoded;
}

Result<Namespace> DecodeNamespace(std::string_view encoded) {
  Namespace labels;
  if (!DecodeLabels(encoded, labels)) {
    return Error(StatusCode::kCorrupt, "stored namespace is not one: " + json::Quoted(encoded));
  }
  return labels;
}

bool BeginsWith(const Namespace& ns, const Namespace& prefix) {
  return prefix.size() <= ns.size() && std::equal(prefix.begin(), prefix.end(), ns.begin());
}

bool Matches(const MatchCondition& condition, const Namespace& ns) {
  const Namespace& path = condition.path;
  if (path.size() > ns.size()) return false;
  const std::size_t skipped =
      condition.match_type == MatchType::kPrefix ? 0 : ns.size() - path.size();
  const auto matches = [](const std::string& wanted, const std::string& label) {
    return wanted == "*" || wanted == label;
  };
  return std::equal(path.begin(), path.end(), ns.begin() + static_cast<std::ptrdiff_t>(skipped),
                    matches);
}

}  // namespace keepsake
