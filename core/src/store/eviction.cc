#include "keepsake/eviction.h"

#include <utility>
#include <variant>

#include "json/json.h"
#include "keepsake/store.h"
#include "store/embedding.h"
#include "store/item_table.h"

namespace keepsake {
namespace {

constexpr NamespaceRules kAnyPrefix = {.allow_empty = true, .allow_reserved_root = true};

double NumberAt(std::string_view raw, std::string_view name) {
  const auto member = json::FindMember(raw, name);
  return member && json::KindOf(*member) == json::Kind::kNumber ? json::ToDouble(*member) : 0;
}

JudgedItem JudgementOf(const ItemTrace& item, Namespace ns) {
  const std::string_view raw = json::Root(item.value);
  return {.item = {std::move(ns), std::string(item.key)},
          .bytes = item.key.size() + item.value.size(),
          .updated_at_ms = item.updated_at_ms,
          .fingerprint = FingerprintOf(item.value, {}),
          .is_pinned = json::FindMember(raw, "pinned") == "true",
          .uses = NumberAt(raw, "uses"),
          .importance = NumberAt(raw, "importance")};
}

}  // namespace

Result<std::vector<JudgedItem>> Store::Judge(const JudgeItems& page) {
  Status status = ValidateNamespace(page.ns_prefix, kAnyPrefix);
  if (status.ok() && page.after) status = ValidateNamespace(page.after->ns, kAnyPrefix);
  if (!status.ok()) return std::unexpected(std::move(status));
  constexpr std::size_t kMostBytes = std::size_t{4} << 20;  // looked at in one call
  const std::int64_t now_ms = options_.clock->NowMs();
  std::optional<ItemName> after;
  if (page.after) after = {EncodeNamespace(page.after->ns), page.after->key};
  std::vector<JudgedItem> judged;
  std::size_t bytes = 0;
  status = items().ReadBelow(EncodeNamespace(page.ns_prefix), after ? &*after : nullptr,
                             [&](const ItemTrace& item) -> Result<bool> {
                               if (judged.size() == page.limit || bytes > kMostBytes) return false;
                               if (item.expires_at_ms <= now_ms) return true;
                               Result<Namespace> ns = DecodeNamespace(item.encoded_ns);
                               Status room =
                                   ns ? TakeRoomOfItem(item.encoded_ns, item.key, {}) : ns.error();
                               if (!room.ok()) return std::unexpected(std::move(room));
                               judged.push_back(JudgementOf(item, *std::move(ns)));
                               bytes += judged.back().bytes;
                               return true;
                             });
  if (!status.ok()) return std::unexpected(std::move(status));
  return judged;
}

Result<std::vector<std::string>> Store::FindUnchanged(const EvictItems& judged) {
  std::vector<Operation> reads;
  for (const EvictItems::Judged& item : judged.items) {
    reads.push_back(GetOp{.ns = judged.ns, .key = item.key, .refresh_ttl = false});
  }
  const Result<std::vector<OperationResult>> found = Batch(reads);
  if (!found) return std::unexpected(found.error());
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const auto& [key, updated_at_ms, fingerprint] = judged.items[i];
    const auto& item = std::get<std::optional<Item>>((*found)[i]);
    const bool is_same = item && item->updated_at_ms == updated_at_ms &&
                         FingerprintOf(item->value, {}) == fingerprint;
    if (is_same) keys.push_back(key);
  }
  return keys;
}

}  // namespace keepsake
