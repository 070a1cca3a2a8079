#include "sql/statement_cache.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/hash.h"

namespace keepsake::sql {
namespace {

// More texts than the core has; a bound for callers that make theirs.
constexpr std::size_t kMaxEntries = 256;

// By words, which is quicker than to hash them, or than the memcmp() of small C libraries.
bool IsSame(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto* left = reinterpret_cast<const std::uint8_t*>(a.data());
  const auto* right = reinterpret_cast<const std::uint8_t*>(b.data());
  std::size_t i = 0;
  for (; i + 8 <= a.size(); i += 8) {
    if (WordAt(left + i) != WordAt(right + i)) return false;
  }
  return std::equal(left + i, left + a.size(), right + i);
}

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n;") == text.npos; }

}  // namespace

void StatementFinalizer::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

StatementCache::Lease::~Lease() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  if (entry_ != nullptr) entry_->leased = false;
}

int StatementCache::Borrow(std::string_view sql, Lease* lease) {
  Entry* entry = nullptr;
  const Seen& seen = SeenAt(sql.data());
  if (seen.data == sql.data() && IsSame(seen.text, sql)) {
    entry = seen.entry;
  } else if (const int result_code = FindOrPrepare(sql, &entry); result_code != SQLITE_OK) {
    return result_code;
  }
  if (entry->leased) {
    const int result_code = Prepare(sql, &lease->own_);
    lease->statement_ = lease->own_.get();
    return result_code;
  }
  entry->leased = true;
  lease->entry_ = entry;
  lease->statement_ = entry->statement.get();
  return SQLITE_OK;
}

StatementCache::Seen& StatementCache::SeenAt(const char* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  return seen_[(address ^ (address >> 6)) % seen_.size()];
}

int StatementCache::FindOrPrepare(std::string_view sql, Entry** entry) {
  auto found = entries_.find(sql);
  if (found == entries_.end()) {
    StatementPtr statement;
    const int result_code = Prepare(sql, &statement);
    if (result_code != SQLITE_OK) return result_code;
    MakeRoom();
    found = entries_.emplace(sql, Entry{.statement = std::move(statement)}).first;
  }
  *entry = &found->second;
  SeenAt(sql.data()) = {sql.data(), found->first, *entry};
  return SQLITE_OK;
}

int StatementCache::Prepare(std::string_view sql, StatementPtr* statement) {
  sqlite3_stmt* prepared = nullptr;
  const char* tail = nullptr;
  const int result_code = sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()),
                                             SQLITE_PREPARE_PERSISTENT, &prepared, &tail);
  statement->reset(prepared);
  if (result_code != SQLITE_OK) return result_code;
  const std::string_view rest(tail, static_cast<std::size_t>(sql.data() + sql.size() - tail));
  if (prepared != nullptr && IsBlank(rest)) return SQLITE_OK;
  statement->reset();
  return SQLITE_MISUSE;
}

void StatementCache::MakeRoom() {
  if (entries_.size() < kMaxEntries) return;
  seen_ = {};
  std::erase_if(entries_, [](const auto& entry) { return !entry.second.leased; });
}

}  // namespace keepsake::sql
