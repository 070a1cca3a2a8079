#include "keepsake/scope.h"

#include <algorithm>
#include <utility>

#include "json/utf8.h"

namespace keepsake {
namespace {

constexpr std::string_view kAnyLabel = "*";

void AppendAsUrl(std::string_view label, std::string& out) {
  for (const char c : label) {
    if (c == '%')
      out += "%25";
    else if (c == '/')
      out += "%2F";
    else
      out += c;
  }
}

Status CheckPlace(const Namespace& place) {
  if (Status status = ValidateNamespace(place); !status.ok()) return status;
  if (std::ranges::find(place, kAnyLabel) == place.end()) return {};
  return {StatusCode::kInvalidNamespace, "the place of a scope must not have the label \"*\""};
}

Status CheckPolicy(const Policy& policy) {
  for (const auto* prefixes : {&policy.readable, &policy.writable}) {
    if (!*prefixes) continue;
    for (const Namespace& prefix : **prefixes) {
      constexpr NamespaceRules kPrefix = {.allow_empty = true, .allow_reserved_root = true};
      if (Status status = ValidateNamespace(prefix, kPrefix); !status.ok()) return status;
    }
  }
  for (const OriginRule& rule : policy.origins) {
    if (rule.weight >= 0 && rule.weight <= 1) continue;
    return {StatusCode::kInvalidArgument, "weight of an origin must be between 0 and 1"};
  }
  for (const auto& [name, ttl] : {std::pair("default_ttl_ms", policy.default_ttl_ms),
                                  std::pair("max_ttl_ms", policy.max_ttl_ms)}) {
    if (!ttl || *ttl > 0) continue;
    return {StatusCode::kInvalidArgument,
            std::string(name) + " of a policy must be more than 0: " + std::to_string(*ttl)};
  }
  return {};
}

}  // namespace

std::string ThreadPrefixOf(const Namespace& place) {
  std::string prefix;
  for (const std::string& label : place) {
    AppendAsUrl(label, prefix);
    prefix += '/';
  }
  return prefix;
}

Result<Scope> Scope::Make(std::vector<ScopeLevel> levels) {
  if (levels.empty() || levels.size() > kMaxLevels) {
    return Error(StatusCode::kInvalidArgument, "a scope has 1 to " + std::to_string(kMaxLevels) +
                                                   " levels: " + std::to_string(levels.size()));
  }
  Scope scope;
  for (const ScopeLevel& level : levels) {
    if (Status status = CheckPlace(level.place); !status.ok()) return std::unexpected(status);
    if (Status status = CheckPolicy(level.policy); !status.ok()) return std::unexpected(status);
    scope.place_.insert(scope.place_.end(), level.place.begin(), level.place.end());
  }
  if (Status status = ValidateNamespace(scope.place_); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  scope.thread_prefix_ = ThreadPrefixOf(scope.place_);
  scope.levels_ = std::move(levels);
  return scope;
}

Status Scope::CheckThreads(Access access) const {
  const auto asks_for = [&](Access one) {
    return (std::to_underlying(access) & std::to_underlying(one)) != 0;
  };
  const auto denied = [](const char* what) {
    return Status(StatusCode::kAccessDenied,
                  std::string("memory access denied: threads may not be ") + what);
  };
  for (const auto& [place, policy] : levels_) {
    if (asks_for(Access::kRead) && policy.readable && policy.readable->empty()) {
      return denied("read: the policy allows to read nothing");
    }
    if (!asks_for(Access::kWrite)) continue;
    if (policy.read_only) return denied("written: the policy is read only");
    if (policy.writable && policy.writable->empty()) {
      return denied("written: the policy allows to write nothing");
    }
  }
  return {};
}

// As messages show namespaces.
std::string Scope::Within(std::string message) const {
  const auto replace = [&](const std::string& what, std::string_view by) {
    for (std::size_t at = 0; (at = message.find(what, at)) != std::string::npos; at += by.size()) {
      message.replace(at, what.size(), by);
    }
  };
  std::string shown = "[";
  for (const std::string& label : place_) {
    if (shown.size() > 1) shown += ", ";
    shown += json::Quoted(label);
  }
  replace(shown + ", ", "[");
  replace(shown + "]", "[]");
  return message;
}

const StoreUsage* UsageCache::Find(std::string_view encoded_ns, bool below) const {
  for (const Known& known : known_) {
    if (known.below == below && known.encoded_ns == encoded_ns) return &known.usage;
  }
  return nullptr;
}

void UsageCache::Keep(std::string_view encoded_ns, bool below, StoreUsage usage) {
  // A tenant is soon counted anew; thousands of them are not looked through at each write.
  constexpr std::size_t kMost = 64;
  if (known_.size() >= kMost) known_.clear();
  known_.push_back({std::string(encoded_ns), below, usage});
}

void UsageCache::Forget(std::string_view encoded_ns) {
  std::erase_if(known_,
                [&](const Known& known) { return encoded_ns.starts_with(known.encoded_ns); });
}

}  // namespace keepsake
