// Values as nlohmann::json, for programs that use it. Optional: no other header includes this
// one, and the library neither needs nor brings nlohmann::json.
// kInvalidValue for what is not JSON, or is not the same after it was written and read.
#ifndef KEEPSAKE_JSON_H_
#define KEEPSAKE_JSON_H_

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "keepsake/bytes.h"
#include "keepsake/namespace.h"
#include "keepsake/secrets.h"
#include "keepsake/status.h"
#include "keepsake/store.h"

namespace keepsake {

namespace json_internal {

// What dump() would write as something else.
inline bool HasNoText(const nlohmann::json& value) {
  if (value.is_number_float()) return !std::isfinite(value.get<double>());
  if (value.is_structured()) return std::any_of(value.begin(), value.end(), HasNoText);
  return value.is_binary() || value.is_discarded();
}

}  // namespace json_internal

// The text of a value, as a Put, a filter or metadata takes it. Refuses strings that are no
// UTF-8, NaN, infinity and binary values.
inline Result<std::string> JsonText(const nlohmann::json& value) {
  if (json_internal::HasNoText(value)) {
    return Error(StatusCode::kInvalidValue, "value has a number or bytes that JSON cannot hold");
  }
  try {
    return value.dump();
  } catch (const nlohmann::json::exception& error) {
    return Error(StatusCode::kInvalidValue, error.what());
  }
}

// Refuses halves of surrogate pairs and numbers beyond doubles, which a Store keeps.
inline Result<nlohmann::json> ParseJson(std::string_view text) {
  nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return Error(StatusCode::kInvalidValue, "text is no JSON that nlohmann::json can hold");
  }
  return value;
}

// As Store::Put(). With kMask secrets are masked first: it says of which kinds they were, empty for
// none. With kRefuse a value that holds one is kSecretFound, and nothing is put.
inline Result<SecretKinds> PutJson(Store& store, Namespace ns, std::string key,
                                   const nlohmann::json& value,
                                   SecretHandling secrets = SecretHandling::kAllow) {
  Result<std::string> text = JsonText(value);
  if (!text) return std::unexpected(std::move(text.error()));
  Result<SecretKinds> masked = GuardSecrets(ns, key, *text, secrets);
  if (!masked) return masked;
  Status put = store.Put(std::move(ns), std::move(key), *std::move(text));
  if (!put.ok()) return std::unexpected(std::move(put));
  return masked;
}

// As Store::Get(): nullopt if there is no such item.
inline Result<std::optional<nlohmann::json>> GetJson(Store& store, Namespace ns, std::string key) {
  const Result<std::optional<Item>> item = store.Get(std::move(ns), std::move(key));
  if (!item) return std::unexpected(item.error());
  if (!*item) return std::nullopt;
  return ParseJson((*item)->value);
}

// A value of a checkpoint, of type "json".
inline Result<Blob> JsonBlob(const nlohmann::json& value) {
  Result<std::string> text = JsonText(value);
  if (!text) return std::unexpected(std::move(text.error()));
  return Blob{"json", Bytes(text->begin(), text->end())};
}

inline Result<nlohmann::json> ParseBlob(const Blob& blob) {
  if (blob.type != "json") {
    return Error(StatusCode::kInvalidValue, "blob must be of type \"json\": \"" + blob.type + '"');
  }
  return ParseJson({reinterpret_cast<const char*>(blob.bytes.data()), blob.bytes.size()});
}

}  // namespace keepsake

#endif  // KEEPSAKE_JSON_H_
