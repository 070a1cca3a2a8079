#include "keepsake/memory_provider.h"

#include <algorithm>
#include <utility>

#include "json/json.h"
#include "json/utf8.h"

namespace keepsake {
namespace {

constexpr std::string_view kEmptyLabel = "%";
constexpr std::string_view kDefaultApp = "default";
constexpr std::string_view kHexDigits = "0123456789ABCDEF";

int HexValue(char digit) {
  const auto at = kHexDigits.find(digit);
  return at == kHexDigits.npos ? -1 : static_cast<int>(at);
}

Result<std::string> Prefixed(std::string_view prefix, const std::string& id,
                             std::string_view variable, std::string_view scope) {
  if (!id.empty()) return std::string(prefix) + id;
  return Error(StatusCode::kInvalidArgument, std::string(variable) + " is not set: the scope " +
                                                 std::string(scope) + " needs it");
}

std::string_view MemberOf(const Item& item, std::string_view name, std::string_view otherwise) {
  return json::FindMember(json::Root(item.value), name).value_or(otherwise);
}

MemoryEntry EntryOf(const std::string& ns, const Item& item, std::optional<double> score) {
  MemoryEntry entry{.id = ns + "/" + item.key, .ns = ns, .key = item.key};
  entry.value = MemberOf(item, "value", "null");
  entry.metadata = MemberOf(item, "metadata", "{}");
  entry.updated_at_ms = item.updated_at_ms;
  if (score) entry.score = std::clamp(*score, 0.0, 1.0);
  return entry;
}

bool Succeeded(const Status& status) { return status.ok(); }
template <typename T>
bool Succeeded(const Result<T>& result) {
  return result.has_value();
}

}  // namespace

std::string EncodeLabel(std::string_view text) {
  if (text.empty()) return std::string(kEmptyLabel);
  if (text == "*") return "%2A";  // stands for any label in a list of namespaces
  std::string label;
  for (const char c : text) {
    if (c != '%' && c != '.' && c != ':' && c != '\0') {
      label += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    label += '%';
    label += kHexDigits[byte / 16];
    label += kHexDigits[byte % 16];
  }
  return label;
}

std::string DecodeLabel(std::string_view label) {
  if (label == kEmptyLabel) return "";
  std::string text;
  for (std::size_t at = 0; at < label.size(); ++at) {
    const bool has_digits = label[at] == '%' && at + 2 < label.size();
    const int high = has_digits ? HexValue(label[at + 1]) : -1;
    const int low = has_digits ? HexValue(label[at + 2]) : -1;
    if (high < 0 || low < 0) {
      text += label[at];
      continue;
    }
    text += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return text;
}

Result<std::string> ResolveNamespace(MemoryScope scope, const ScopeVariables& variables) {
  if (!variables.store_namespace.empty()) return variables.store_namespace;
  switch (scope) {
    case MemoryScope::kConversation:
      return Prefixed("conv:", variables.conversation_id, "conversation_id", "conversation");
    case MemoryScope::kUser:
      return Prefixed("user:", variables.user_id, "user_id", "user");
    case MemoryScope::kGlobal:
      break;
  }
  return "global:" + (variables.app_id.empty() ? std::string(kDefaultApp) : variables.app_id);
}

Result<Namespace> PlaceOf(std::string_view resolved) {
  if (resolved.empty()) return Error(StatusCode::kInvalidArgument, "namespace must not be empty");
  const auto at = resolved.find(':');
  if (at == resolved.npos) return Namespace{EncodeLabel(resolved)};
  return Namespace{EncodeLabel(resolved.substr(0, at)), EncodeLabel(resolved.substr(at + 1))};
}

template <typename Call, typename Count>
auto MemoryProvider::Told(MemoryAccess::Operation operation, const std::string& ns, Call call,
                          Count count) {
  MemoryAccess access{.operation = operation, .ns = ns, .node_id = node_id_};
  if (listener_) listener_(access);
  auto outcome = call();
  if (!listener_) return outcome;
  access.success = Succeeded(outcome);
  if (*access.success) access.count = count(outcome);
  listener_(access);
  return outcome;
}

Status MemoryProvider::Put(const std::string& ns, const std::string& key, const std::string& value,
                           const std::string& metadata) {
  return Told(
      MemoryAccess::Operation::kStore, ns, [&] { return PutEntry(ns, key, value, metadata); },
      [](const Status&) { return 1; });
}

Status MemoryProvider::PutEntry(const std::string& ns, const std::string& key,
                                const std::string& value, const std::string& metadata) {
  Result<Namespace> place = PlaceOf(ns);
  if (!place) return std::move(place.error());
  const std::string_view object = metadata.empty() ? "{}" : std::string_view(metadata);
  for (const std::string_view json : {std::string_view(value), object}) {
    if (Status status = json::Validate(json); !status.ok()) return status;
  }
  if (json::KindOf(json::Root(object)) != json::Kind::kObject) {
    return {StatusCode::kInvalidValue, "metadata must be a JSON object"};
  }
  std::string entry = "{\"value\":" + value + ",\"metadata\":" + std::string(object) + "}";
  return On([&](auto& store) { return store.Put(*place, key, std::move(entry)); });
}

Result<std::vector<MemoryEntry>> MemoryProvider::Recall(const MemoryQuery& query) {
  return Told(
      MemoryAccess::Operation::kRecall, query.ns, [&] { return Find(query); },
      [](const auto& entries) { return entries->size(); });
}

Result<std::vector<MemoryEntry>> MemoryProvider::Find(const MemoryQuery& query) {
  const Result<Namespace> place = PlaceOf(query.ns);
  if (!place) return std::unexpected(place.error());
  std::vector<MemoryEntry> entries;
  if (query.key) {
    const auto item = On([&](auto& store) { return store.Get(*place, *query.key); });
    if (!item) return std::unexpected(item.error());
    if (*item) entries.push_back(EntryOf(query.ns, **item, std::nullopt));
    return entries;
  }
  SearchOp search{.ns_prefix = *place, .query = query.query_text, .limit = query.top_k};
  if (!query.filter.empty()) search.filter = "{\"metadata\":" + query.filter + "}";
  if (!query.query_text.empty()) search.mode = SearchMode::kText;
  // What lies deeper is of other namespaces.
  while (entries.size() < query.top_k) {
    const auto page = On([&](auto& store) { return store.Search(search); });
    if (!page) return std::unexpected(page.error());
    for (const SearchItem& hit : *page) {
      if (hit.item.ns.size() != place->size() || entries.size() == query.top_k) continue;
      entries.push_back(EntryOf(query.ns, hit.item, hit.score));
    }
    if (page->size() < query.top_k) break;
    search.offset += query.top_k;
  }
  return entries;
}

Status MemoryProvider::Delete(const std::string& ns, const std::string& key) {
  return Told(
      MemoryAccess::Operation::kDelete, ns, [&] { return DeleteEntry(ns, key); },
      [](const Status&) { return 1; });
}

Status MemoryProvider::DeleteEntry(const std::string& ns, const std::string& key) {
  const Result<Namespace> place = PlaceOf(ns);
  if (!place) return place.error();
  const auto item = On([&](auto& store) { return store.Get(*place, key); });
  if (!item) return item.error();
  if (!*item) {
    return {StatusCode::kNotFound, "Memory not found: namespace=" + ns + ", key=" + key};
  }
  return On([&](auto& store) { return store.Delete(*place, key); });
}

Result<std::uint64_t> MemoryProvider::ClearNamespace(const std::string& ns) {
  const auto clear = [&]() -> Result<std::uint64_t> {
    const Result<Namespace> place = PlaceOf(ns);
    if (!place) return std::unexpected(place.error());
    return On([&](auto& store) { return store.ClearNamespace(*place); });
  };
  return Told(MemoryAccess::Operation::kClear, ns, clear,
              [](const Result<std::uint64_t>& cleared) { return *cleared; });
}

}  // namespace keepsake
