#include "keepsake/serializer.h"

namespace keepsake {
namespace {

constexpr std::string_view kJsonType = "json";

}  // namespace

Result<Blob> JsonSerializer::Dumps(std::string_view json) const {
  return Blob{std::string(kJsonType), Bytes(json.begin(), json.end())};
}

Result<std::string> JsonSerializer::Loads(const Blob& blob) const {
  if (blob.type != kJsonType) {
    return Error(StatusCode::kInvalidValue,
                 "JsonSerializer reads only blobs of type \"json\": \"" + blob.type + "\"");
  }
  return std::string(blob.bytes.begin(), blob.bytes.end());
}

}  // namespace keepsake
