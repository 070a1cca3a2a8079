#include "engine/audit_trail.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "json/utf8.h"
#include "wire/reader.h"

namespace keepsake {
namespace {

using wire::Tag;

bool IsDeletion(ByteView put) {
  wire::Reader reader(put);
  Namespace ns;
  ByteView key;
  bool has_value = true;
  return reader.Get(ns) && reader.Get(key) && reader.Get(has_value) && !has_value;
}

std::uint64_t CountIn(ByteView answer, Changed changed) {
  if (changed == Changed::kOne) return 1;
  std::uint64_t number = 0;
  wire::Reader reader(answer);
  if (!reader.Get(number) || (changed == Changed::kSecond && !reader.Get(number))) return 0;
  return number;
}

}  // namespace

bool IsDry(const wire::OperationView& operation) {
  const Tag tag{operation.tag};
  if (tag == Tag::kForget) {
    const auto erasure = wire::Decode<Erasure>(operation.payload);
    return erasure && erasure->dry_run;
  }
  if (tag == Tag::kPrune) {
    const auto rules = wire::Decode<RetentionRules>(operation.payload);
    return rules && rules->dry_run;
  }
  if (tag == Tag::kFinishImport) {
    const auto import = wire::Decode<wire::FinishImport>(operation.payload);
    return import && !import->is_wanted;
  }
  return false;
}

// What was refused was not looked at: it may be no name at all.
NamedPlace PlaceIn(const wire::OperationView& operation, Place place) {
  wire::Reader reader(operation.payload);
  NamedPlace named;
  if (place == Place::kNowhere) return named;
  if (place == Place::kNamespace) {
    Namespace ns;
    const bool is_namespace =
        reader.Get(ns) &&
        ValidateNamespace(ns, {.allow_empty = true, .allow_reserved_root = true}).ok() &&
        EncodeNamespace(ns).size() <= AuditEntry::kMostNameBytes;
    if (is_namespace) named.ns = std::move(ns);
    return named;
  }
  std::string text;
  const int before = place == Place::kThread ? 0 : place == Place::kSecondText ? 1 : 2;
  for (int i = 0; i <= before; ++i) {
    if (!reader.Get(text)) return named;
  }
  const bool is_id = !text.empty() && text.size() <= AuditEntry::kMostNameBytes &&
                     json::IsWellFormedUtf8(text) && text.find('\0') == std::string::npos;
  if (is_id) named.thread_id = std::move(text);
  return named;
}

bool IsRefusal(StatusCode code) {
  return code == StatusCode::kAccessDenied || code == StatusCode::kQuotaExceeded ||
         code == StatusCode::kHeld;
}

Result<bool> AuditTrail::WillWrite() {
  if (entries_.empty()) return false;
  const Result<std::optional<AuditRule>> rule = log_.Rule();
  if (!rule) return std::unexpected(rule.error());
  return rule->has_value();
}

Status AuditTrail::Begin(const wire::Request& request, const Scope* scope, bool writes_rows,
                         bool changes_others) {
  Restart();
  request_ = &request;
  scope_ = scope;
  writes_rows_ = writes_rows;
  changes_ = writes_rows || changes_others;
  is_on_ = true;
  if (!writes_rows) return {};
  const Result<std::optional<AuditRule>> rule = log_.Rule();
  if (!rule) return rule.error();
  is_on_ = rule->has_value();
  return {};
}

void AuditTrail::Note(const wire::OperationView& operation, const AuditedAs& audited,
                      ByteView result) {
  if (!is_on_) return;
  StatusCode code{};
  std::memcpy(&code, result.data(), sizeof(code));
  const bool is_done = code == StatusCode::kOk;
  if (is_done ? !changes_ : !IsRefusal(code)) return;
  const Tag tag{operation.tag};
  // An erasure notes itself, in its own transaction.
  if (is_done && (audited.operation == Audited::kRecall || tag == Tag::kForget)) return;
  if (IsDry(operation)) return;
  AuditEntry entry{.operation = audited.operation, .code = code};
  NamedPlace named = PlaceIn(operation, audited.place);
  entry.ns = std::move(named.ns);
  entry.thread_id = std::move(named.thread_id);
  if (tag == Tag::kPut && IsDeletion(operation.payload)) entry.operation = Audited::kDelete;
  if (is_done && tag == Tag::kRenameThread) {
    auto renamed = wire::Decode<wire::RenameThread>(operation.payload);
    if (renamed) renamed_.push_back(*std::move(renamed));
  }
  if (is_done) entry.count = CountIn(result.subspan(wire::kResultHeaderBytes), audited.changed);
  if (entry.count > 0) Add(std::move(entry));
}

void AuditTrail::Note(const Erased& erased) {
  if (is_on_) Add({.operation = Audited::kForget, .count = erased.items + erased.checkpoints});
}

void AuditTrail::Add(AuditEntry entry) {
  // A batch in thousands of namespaces is not compared with all of itself.
  constexpr std::size_t kMostCompared = 32;
  for (std::size_t i = 1; i <= std::min(entries_.size(), kMostCompared); ++i) {
    AuditEntry& known = entries_[entries_.size() - i];
    if (known.operation != entry.operation || known.code != entry.code || known.ns != entry.ns ||
        known.thread_id != entry.thread_id) {
      continue;
    }
    known.count += entry.count;
    return;
  }
  entries_.push_back(std::move(entry));
}

Status AuditTrail::Write() {
  if (entries_.empty()) return {};
  for (AuditEntry& entry : entries_) {
    entry.actor = request_->actor;
    entry.node_id = request_->node_id;
    if (scope_ == nullptr) continue;
    entry.place = scope_->place();
    if (entry.ns) entry.ns->insert(entry.ns->begin(), entry.place.begin(), entry.place.end());
    if (entry.thread_id) entry.thread_id->insert(0, scope_->thread_prefix());
  }
  const Namespace asker = scope_ == nullptr ? Namespace() : scope_->levels().front().place;
  Status status = log_.Record(entries_, request_->header.now_ms, asker);
  entries_.clear();
  const std::string prefix = scope_ == nullptr ? "" : scope_->thread_prefix();
  for (const auto& [source, target] : std::exchange(renamed_, {})) {
    if (status.ok()) status = log_.Rename(prefix + source, prefix + target);
  }
  return status;
}

}  // namespace keepsake
