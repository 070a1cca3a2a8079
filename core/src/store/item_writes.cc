#include "store/item_writes.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/heap_sort.h"
#include "sql/cannot_write.h"
#include "store/validity.h"

namespace keepsake {
namespace {

// To be called before a change. It costs nothing where no history is kept.
Status Note(ItemTable& table, Change change, std::string_view encoded_ns, std::string_view key,
            std::int64_t at_ms) {
  const auto rules = table.history().Rules();
  if (!rules) return rules.error();
  const HistoryRule* rule = (*rules)->Find(encoded_ns);
  return rule == nullptr ? Status() : table.history().Record(*rule, change, encoded_ns, key, at_ms);
}

Status InOperation(ItemTable& table, FunctionRef<Status()> body, bool is_single = false) {
  const Result<std::int64_t> operation = table.InOperation(body, is_single);
  return operation ? Status() : operation.error();
}

// An item that is superseded is noted only if it is there.
Status Supersede(ItemTable& table, const CheckedPut& put, std::int64_t now_ms) {
  const auto rules = table.history().Rules();
  if (!rules) return rules.error();
  const std::string& key = put.op->supersedes->key;
  if (const HistoryRule* rule = (*rules)->Find(put.superseded_ns)) {
    const Result<std::optional<ItemState>> state = table.ReadState({put.superseded_ns, key});
    if (!state) return state.error();
    if (!*state || (*state)->expires_at_ms <= now_ms) return {};
    Status noted =
        table.history().Record(*rule, Change::kSupersede, put.superseded_ns, key, now_ms);
    if (!noted.ok()) return noted;
  }
  return table.Supersede(put, now_ms);
}

Status WriteOne(ItemTable& table, const CheckedPut& put, std::int64_t now_ms) {
  const bool is_deletion = !put.op->value;
  Status status = Note(table, is_deletion ? Change::kDelete : Change::kPut, put.encoded_ns,
                       put.op->key, now_ms);
  if (!status.ok()) return status;
  if (is_deletion) return table.DeleteItem(put.encoded_ns, put.op->key);
  status = table.PutItem(put, now_ms);
  return status.ok() && put.op->supersedes ? Supersede(table, put, now_ms) : status;
}

// An item that had expired was gone when it expired, and not only now.
Status DeleteAll(ItemTable& table, std::span<const ExpiringItem> items, std::int64_t now_ms) {
  if (items.empty()) return {};
  return InOperation(table, [&]() -> Status {
    ItemIds ids;
    for (const auto& [id, name, expires_at_ms] : items) {
      const Change change = expires_at_ms <= now_ms ? Change::kExpire : Change::kDelete;
      Status status =
          Note(table, change, name.encoded_ns, name.key, std::min(expires_at_ms, now_ms));
      if (!status.ok()) return status;
      ids.push_back(id);
    }
    return table.DeleteItems(ids);
  });
}

}  // namespace

Status WriteBatch(ItemTable& table, const CheckedBatch& batch,
                  std::span<const std::int64_t> refreshed) {
  if (batch.puts.empty()) {
    // A read does not wait for another connection that writes, nor for room on the disk: the next
    // one restarts them.
    Status status = table.RestartTtls(refreshed, batch.now_ms);
    return sql::CannotWrite(status) ? Status() : status;
  }
  const bool is_one = batch.puts.size() == 1;
  if (is_one && refreshed.empty()) {
    const Result<bool> is_done = table.WriteAlone(batch.puts.front(), batch.now_ms);
    if (!is_done || *is_done) return is_done ? Status() : is_done.error();
  }
  const auto write = [&] {
    Status status = refreshed.empty() ? Status() : table.RestartTtls(refreshed, batch.now_ms);
    for (const CheckedPut& put : batch.puts) {
      if (status.ok()) status = WriteOne(table, put, batch.now_ms);
    }
    return status;
  };
  return InOperation(table, write, is_one && !batch.puts.front().op->supersedes);
}

Result<std::uint64_t> DeleteNamespace(ItemTable& table, std::string_view encoded_ns,
                                      std::int64_t now_ms) {
  const Result<std::vector<ExpiringItem>> items = table.ReadNamespace(encoded_ns);
  if (!items) return std::unexpected(items.error());
  Status status = DeleteAll(table, *items, now_ms);
  if (!status.ok()) return std::unexpected(std::move(status));
  const auto is_there = [&](const ExpiringItem& item) { return item.expires_at_ms > now_ms; };
  return static_cast<std::uint64_t>(std::ranges::count_if(*items, is_there));
}

Result<std::uint64_t> SweepExpired(ItemTable& table, std::uint32_t max_items, std::int64_t now_ms) {
  const Result<std::vector<ExpiringItem>> items = table.ReadExpired(max_items, now_ms);
  if (!items) return std::unexpected(items.error());
  Status status = DeleteAll(table, *items, now_ms);
  if (status.ok()) status = table.history().DropOld(now_ms);
  if (!status.ok()) return std::unexpected(std::move(status));
  return items->size();
}

Status EraseItems(ItemTable& table, ItemErasure erasure, std::size_t dims, std::int64_t now_ms) {
  HeapSort(erasure.marks, std::less());
  for (StoredVersion& version : erasure.put_back) FitVectors(*version.before, dims);
  return InOperation(table, [&]() -> Status {
    Status status = table.history().Erase(erasure.versions);
    if (status.ok() && !erasure.marks.empty()) status = table.ForgetSuccessors(erasure.marks);
    for (const ReopenedItem& item : erasure.reopened) {
      const auto& [encoded_ns, key] = item.name;
      if (status.ok()) status = Note(table, Change::kUndo, encoded_ns, key, now_ms);
      if (status.ok()) status = table.Reopen(item);
    }
    if (status.ok()) status = table.DeleteItems(erasure.ids);
    for (const StoredVersion& version : erasure.put_back) {
      if (status.ok()) status = table.PutState(version.name, *version.before);
    }
    // The index of words gives up what it knows to be gone.
    return status.ok() ? table.ForgetDerived() : status;
  });
}

Result<std::int64_t> PutBack(ItemTable& table, std::vector<StoredVersion> versions,
                             std::size_t dims, std::int64_t now_ms) {
  for (StoredVersion& version : versions) {
    if (version.before) FitVectors(*version.before, dims);
  }
  return table.InOperation([&] {
    Status status;
    for (std::size_t i = versions.size(); i-- > 0 && status.ok();) {
      const auto& [encoded_ns, key] = versions[i].name;
      status = Note(table, Change::kUndo, encoded_ns, key, now_ms);
      if (!status.ok()) break;
      status = versions[i].before ? table.PutState(versions[i].name, *versions[i].before)
                                  : table.DeleteItem(encoded_ns, key);
    }
    return status;
  });
}

}  // namespace keepsake
