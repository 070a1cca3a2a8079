#include "checkpoint/metadata.h"

#include "json/json.h"

namespace keepsake::checkpoint {
namespace {

// The raw top-level member `key`, if the metadata is a JSON object that has it.
std::optional<std::string_view> Member(std::string_view type, ByteView metadata,
                                       std::string_view key) {
  if (type != "json") return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(metadata.data()), metadata.size());
  return json::FindMember(json::Root(text), key);
}

}  // namespace

Result<MetadataFilter> MetadataFilter::Parse(std::string_view filter) {
  MetadataFilter parsed;
  if (filter.empty()) return parsed;
  if (Status s = json::Validate(filter); !s.ok()) {
    return Error(StatusCode::kInvalidFilter, "filter must be JSON: " + s.message());
  }
  const std::string_view root = json::Root(filter);
  if (json::KindOf(root) != json::Kind::kObject) {
    return Error(StatusCode::kInvalidFilter, "filter must be a JSON object");
  }
  for (auto& [key, value] : json::SortedMembers(root)) {
    parsed.members_.emplace_back(std::move(key), value);
  }
  return parsed;
}

bool MetadataFilter::Matches(std::string_view type, ByteView metadata) const {
  for (const auto& [key, wanted] : members_) {
    const auto value = Member(type, metadata, key);
    if (!value || !json::Equal(*value, wanted)) return false;
  }
  return true;
}

bool RunIds::Own(std::string_view type, ByteView metadata) const {
  const auto run_id = Member(type, metadata, "run_id");
  if (!run_id || json::KindOf(*run_id) != json::Kind::kString) return false;
  return ids_.contains(json::Unescape(*run_id));
}

}  // namespace keepsake::checkpoint
